/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/codes.h"

#include <sqlite3.h>
#include <stddef.h>

#include "run/transitions.h"

bool codes_put(sqlite3 *db, const struct transitions *t)
{
    sqlite3_stmt *st;
    bool ok = sqlite3_prepare_v2(db, "INSERT OR IGNORE INTO reasons(text) VALUES(?)", -1, &st,
                                 NULL) == SQLITE_OK;
    for (uint16_t i = 1; ok && i < t->nreasons; i++) {
        sqlite3_bind_text(st, 1, tr_reason(t, i), -1, SQLITE_STATIC);
        ok = sqlite3_step(st) == SQLITE_DONE;
        sqlite3_reset(st);
    }
    sqlite3_finalize(st);
    return ok;
}

/* A trace may have any number of reasons: so many numbers are left for those that later versions of
 * ours have. */
enum { OF_OURS = 55 };

static int64_t code_in(sqlite3 *db, const char *reason)
{
    sqlite3_stmt *st;
    int64_t code = 0;
    if (sqlite3_prepare_v2(db, "SELECT code FROM reasons WHERE text = ?", -1, &st, NULL) !=
        SQLITE_OK)
        return 0;
    sqlite3_bind_text(st, 1, reason, -1, SQLITE_STATIC);
    if (sqlite3_step(st) == SQLITE_ROW)
        code = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    return code;
}

static void add_code(sqlite3 *db, const char *reason)
{
    sqlite3_stmt *st;
    if (sqlite3_prepare_v2(db,
                           "INSERT OR IGNORE INTO reasons(code, text)"
                           " SELECT m + 1, ?1 FROM (SELECT max(code) AS m FROM reasons)"
                           " WHERE m < ?2",
                           -1, &st, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_text(st, 1, reason, -1, SQLITE_STATIC);
    sqlite3_bind_int(st, 2, WHY_MASK - OF_OURS);
    (void)sqlite3_step(st);
    sqlite3_finalize(st);
}

uint8_t codes_of(sqlite3 *db, const char *reason)
{
    int64_t code = code_in(db, reason);
    if (code == 0) {
        add_code(db, reason);
        code = code_in(db, reason);
    }
    return code > 0 && code <= WHY_MASK ? (uint8_t)code : 0;
}

bool codes_get(sqlite3 *db, const struct transitions *t, uint8_t why[WHY_MASK + 1])
{
    why[0] = 0;
    for (uint16_t i = 1; i < t->nreasons && i <= WHY_MASK; i++) {
        int64_t code = code_in(db, tr_reason(t, i));
        if (code <= 0 || code > WHY_MASK)
            return false;
        why[i] = (uint8_t)code;
    }
    return true;
}
