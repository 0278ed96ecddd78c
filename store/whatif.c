/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/whatif.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>

#include "store/store_int.h"

enum { PPM = 1000000 };

static const char *const sql =
    "INSERT INTO whatif(grid, scenario, file, profile, procs, cpus, quota_us, seed, verdict,"
    " as_expected, makespan_ns, user_ns, throttled_ns, fingerprint, name, count, p50_ns, p90_ns,"
    " p99_ns, p999_ns, max_ns, rate, policy, nr_periods, nr_throttled,"
    " warmup_ns)"
    " SELECT ifnull(max(grid), 0) + ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
    " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26 FROM whatif";

static void bind_text(sqlite3_stmt *st, int at, const char *text)
{
    sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
}

static void bind_run(sqlite3_stmt *st, const struct whatif_row *row)
{
    char profile[16], seed[24], fingerprint[24];
    const struct whatif_run *w = row->run;
    snprintf(profile, sizeof profile, "go1.%d", w->release);
    snprintf(seed, sizeof seed, "%" PRIu64, w->seed);
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, w->fingerprint);
    const int64_t numbers[] = {w->procs, w->cpus, w->quota_us};
    const int64_t more[] = {w->complaints == 0, w->makespan_ns, w->p_ns[PC_USER], w->throttled_ns};
    bind_text(st, 4, profile);
    for (int i = 0; i < 3; i++)
        sqlite3_bind_int64(st, 5 + i, numbers[i]);
    bind_text(st, 8, seed);
    bind_text(st, 9, w->verdict);
    for (int i = 0; i < 4; i++)
        sqlite3_bind_int64(st, 10 + i, more[i]);
    bind_text(st, 14, fingerprint);
    sqlite3_bind_double(st, 22, (double)row->rate_ppm / PPM);
    bind_text(st, 23, row->policy);
    sqlite3_bind_int64(st, 24, w->nr_periods);
    sqlite3_bind_int64(st, 25, w->nr_throttled);
}

static bool put(sqlite3_stmt *st, const struct whatif_row *row, const char *name, size_t series,
                bool first)
{
    const struct whatif_series *s = &row->run->series[series];
    sqlite3_bind_int(st, 1, first);
    bind_run(st, row);
    bind_text(st, 15, name);
    sqlite3_bind_int64(st, 16, (int64_t)s->count);
    for (int i = 0; i < WHATIF_POINTS; i++)
        sqlite3_bind_int64(st, 17 + i, s->ns[i]);
    bool ok = sqlite3_step(st) == SQLITE_DONE;
    sqlite3_reset(st);
    return ok;
}

bool whatif_store(struct store *s, struct failure *f, const struct whatif_info *info,
                  const struct whatif_row *rows, size_t count)
{
    sqlite3_stmt *st;
    store_be_patient_(s);
    if (!store_exec_(s, f, "BEGIN IMMEDIATE"))
        return false;
    bool ok = sqlite3_prepare_v2(store_db(s), sql, -1, &st, NULL) == SQLITE_OK;
    if (ok) {
        bind_text(st, 2, info->scenario);
        bind_text(st, 3, info->file);
        sqlite3_bind_int64(st, 26, info->warmup_ns);
    }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; ok && k < info->nseries; k++)
            ok = put(st, &rows[i], info->names[k], k, i == 0 && k == 0);
    if (!ok)
        store_error_(s, f);
    sqlite3_finalize(st);
    if (ok)
        return store_exec_(s, f, "COMMIT");
    sqlite3_exec(store_db(s), "ROLLBACK", NULL, NULL, NULL);
    return false;
}
