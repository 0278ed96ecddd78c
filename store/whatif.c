/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/whatif.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

#include "store/store_int.h"

static const char *const sql =
    "INSERT INTO whatif(grid, scenario, file, profile, procs, cpus, quota_us, seed, verdict,"
    " as_expected, makespan_ns, user_ns, throttled_ns, fingerprint, name, count, p50_ns, p90_ns,"
    " p99_ns, p999_ns, max_ns) SELECT ifnull(max(grid), 0) + ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
    " ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21 FROM whatif";

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
    sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
}

static bool put(sqlite3_stmt *st, const struct whatif_run *w, size_t series, bool first)
{
    char profile[16], seed[24], fingerprint[24];
    const struct whatif_series *s = &w->series[series];
    snprintf(profile, sizeof profile, "go1.%d", w->release);
    snprintf(seed, sizeof seed, "%" PRIu64, w->seed);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, w->fingerprint);
    const int64_t numbers[] = {w->procs, w->cpus, w->quota_us};
    const int64_t more[] = {w->complaints == 0, w->makespan_ns, w->p_ns[PC_USER], w->throttled_ns};
    sqlite3_bind_int(st, 1, first);
    bind_text(st, 4, profile);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(st, 5 + i, numbers[i]);
    bind_text(st, 8, seed);
    bind_text(st, 9, w->verdict);
    for (int i = 0; i < 4; i++)
        sqlite3_bind_int64(st, 10 + i, more[i]);
    bind_text(st, 14, fingerprint);
    bind_text(st, 15, s->name);
    sqlite3_bind_int64(st, 16, (int64_t)s->count);
    for (int i = 0; i < WHATIF_POINTS; i++)
        sqlite3_bind_int64(st, 17 + i, s->ns[i]);
    bool ok = sqlite3_step(st) == SQLITE_DONE;
    sqlite3_reset(st);
    return ok;
}

bool whatif_store(struct store *s, struct failure *f, const char *scenario, const char *file,
                  const void *runs, size_t size, size_t count, size_t nseries)
{
    sqlite3_stmt *st;
    if (!store_exec_(s, f, "BEGIN IMMEDIATE"))
        return false;
    bool ok = sqlite3_prepare_v2(store_db(s), sql, -1, &st, NULL) == SQLITE_OK;
    if (ok) {
        bind_text(st, 2, scenario);
        bind_text(st, 3, file);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; ok && k < nseries; k++)
            ok = put(st, (const void *)((const unsigned char *)runs + i * size), k,
                     i == 0 && k == 0);
    if (!ok)
        store_error_(s, f);
    sqlite3_finalize(st);
    if (ok)
        return store_exec_(s, f, "COMMIT");
    sqlite3_exec(store_db(s), "ROLLBACK", NULL, NULL, NULL);
    return false;
}
