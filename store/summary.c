/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/summary.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PS_PER_NS = 1000, PPM = 1000000 };

/* Prepares, binds by format and runs one statement: s text (NULL allowed), i int64_t. */
static bool run_sql(sqlite3 *db, const char *sql, const char *format, ...)
{
    sqlite3_stmt *st;
    va_list ap;
    if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) != SQLITE_OK)
        return false;
    va_start(ap, format);
    for (int i = 0; format[i] != 0; i++) {
        if (format[i] == 's')
            sqlite3_bind_text(st, i + 1, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
        else
            sqlite3_bind_int64(st, i + 1, va_arg(ap, int64_t));
    }
    va_end(ap);
    int rc = sqlite3_step(st);
    return sqlite3_finalize(st) == SQLITE_OK && rc == SQLITE_DONE;
}

static void now_text(char *buf, size_t size)
{
    time_t t = time(NULL);
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

int64_t summary_begin(sqlite3 *db, const struct store_run *info)
{
    char created[32], seed[24];
    now_text(created, sizeof created);
    snprintf(seed, sizeof seed, "%" PRIu64, info->seed);
    bool ok = run_sql(db,
                      "INSERT INTO runs(created, version, scenario, file, profile, rules, repeat,"
                      " seed, host, sched, procs, cpus, quota_us, period_us, warmup_ns)"
                      " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                      "ssssssssssiiiii", created, info->version, info->scenario, info->file,
                      info->profile, info->rules, info->repeat, seed, info->host, info->sched,
                      (int64_t)info->procs, (int64_t)info->cpus, info->quota_us, info->period_us,
                      info->warmup_ns);
    return ok ? sqlite3_last_insert_rowid(db) : 0;
}

/* ---- latencies ---- */

static bool put_quantile(sqlite3 *db, int64_t run, const char *kind, const char *name,
                         struct hist *h, uint32_t ppm)
{
    return run_sql(db, "INSERT OR REPLACE INTO quantiles VALUES(?,?,?,?,?)", "issii", run, kind,
                   name, (int64_t)ppm, hist_percentile(h, ppm));
}

/* Every percent, then in ever finer steps up to the slowest of 100000. */
static bool put_quantiles(sqlite3 *db, int64_t run, const char *kind, const char *name,
                          struct hist *h)
{
    bool ok = true;
    for (uint32_t ppm = 0; ok && ppm <= 990000; ppm += 10000)
        ok = put_quantile(db, run, kind, name, h, ppm);
    for (uint32_t rest = 1000; rest > 0; rest /= 10)
        for (uint32_t k = 9; ok && k > 0; k--)
            ok = put_quantile(db, run, kind, name, h, PPM - k * rest);
    return ok && put_quantile(db, run, kind, name, h, PPM);
}

static bool put_buckets(sqlite3 *db, int64_t run, const char *kind, const char *name,
                        const struct hist *h)
{
    bool ok = true;
    for (uint32_t b = 0; ok && b < HIST_GO_BUCKETS; b++)
        if (h->go[b] > 0)
            ok = run_sql(db, "INSERT INTO histograms VALUES(?,?,?,?,?)", "issii", run, kind, name,
                         b == 0 ? INT64_C(-1) : hist_go_bound(b), (int64_t)h->go[b]);
    return ok;
}

/* A percentile where there are enough values for it: p99.9 of 200 is the maximum. */
static bool put_hist(sqlite3 *db, int64_t run, const char *kind, const char *name, struct hist *h)
{
    if (h->count == 0)
        return true;
    return run_sql(db,
                   "INSERT INTO latencies VALUES(?,?,?,?4,?,?,?,?,iif(?4 < 10, NULL, ?9),"
                   " iif(?4 < 100, NULL, ?10), iif(?4 < 1000, NULL, ?11), ?12)",
                   "issiiiiiiiii", run, kind, name, (int64_t)h->count, (int64_t)hist_is_exact(h),
                   h->min, hist_mean(h), hist_percentile(h, PPM / 2),
                   hist_percentile(h, PPM / 10 * 9), hist_percentile(h, PPM / 100 * 99),
                   hist_percentile(h, PPM / 1000 * 999), h->max) &&
           put_quantiles(db, run, kind, name, h) && put_buckets(db, run, kind, name, h);
}

static bool put_latencies(sqlite3 *db, int64_t run, const struct run_result *r)
{
    bool ok = put_hist(db, run, "runq_wait", "all", r->runq_wait);
    for (size_t i = 0; ok && i < r->nspans; i++)
        ok = put_hist(db, run, "span", r->spans[i].name, r->spans[i].latency);
    for (size_t i = 0; ok && i < r->ngroups; i++)
        ok = put_hist(db, run, "life", r->groups[i].name, r->groups[i].life) &&
             put_hist(db, run, "wait", r->groups[i].name, r->groups[i].wait);
    return ok;
}

static bool put_parts(sqlite3 *db, int64_t run, const struct run_result *r)
{
    bool ok = true;
    for (size_t i = 0; i < r->nspans; i++) {
        const struct run_attribution *w = &r->spans[i].went;
        for (int p = 0; ok && w->slow > 0 && p < SP_COUNT; p++)
            if (w->all_ps[p] > 0)
                ok = run_sql(db, "INSERT INTO span_parts VALUES(?,?,?,?,?,?)", "issiii", run,
                             r->spans[i].name, span_part_names[p],
                             (int64_t)(w->all_ps[p] / PS_PER_NS / w->count), (int64_t)w->slow,
                             (int64_t)(w->slow_ps[p] / PS_PER_NS / w->slow));
    }
    return ok;
}

static bool put_waits(sqlite3 *db, int64_t run, const struct run_result *r)
{
    bool ok = true;
    for (size_t i = 0; i < r->nspans; i++) {
        const struct run_attribution *w = &r->spans[i].went;
        for (int b = 0; ok && b < w->nblames; b++) {
            const struct run_blame *is = &w->blames[b];
            char line[32];
            snprintf(line, sizeof line, "line %" PRIu32, is->line);
            ok = run_sql(db, "INSERT INTO span_waits VALUES(?,?,?,?,?,?,?)", "ississs", run,
                         r->spans[i].name, span_part_names[is->part],
                         (int64_t)(is->ps / PS_PER_NS / w->slow), is->who, is->object,
                         is->place != NULL ? is->place
                         : is->line != 0   ? line
                                           : NULL);
        }
    }
    return ok;
}

/* ---- the rest ---- */

static int64_t ns(uint64_t ps) { return (int64_t)(ps / PS_PER_NS); }

static bool put_counters(sqlite3 *db, int64_t run, const struct run_result *r)
{
    bool ok = true;
    if (r->end == END_RECORDED)
        return true; /* nobody counted */
    for (int c = 0; ok && c < COUNTER_COUNT; c++)
        ok = run_sql(db, "INSERT INTO counters VALUES(?,?,?)", "isi", run, counter_names[c],
                     (int64_t)r->counters[c]);
    return ok;
}

static bool put_groups(sqlite3 *db, int64_t run, const struct run_result *r)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->ngroups; i++) {
        const struct run_group *g = &r->groups[i];
        ok = run_sql(db,
                     "INSERT INTO groups VALUES(?1,?2,?3,?4,?5,?6,?7,?8)"
                     " ON CONFLICT DO UPDATE SET created = created + ?3, ended = ended + ?4,"
                     " running_ns = running_ns + ?5, runnable_ns = runnable_ns + ?6,"
                     " waiting_ns = waiting_ns + ?7, syscall_ns = syscall_ns + ?8",
                     "isiiiiii", run, g->name, (int64_t)g->created, (int64_t)g->exited,
                     ns(g->running_ps), ns(g->runnable_ps), ns(g->waiting_ps), ns(g->syscall_ps));
    }
    return ok;
}

static bool put_blocked(sqlite3 *db, int64_t run, const struct run_result *r)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->ngs; i++) {
        const struct run_g *g = &r->gs[i];
        ok = run_sql(db, "INSERT INTO blocked VALUES(?,?,?,?,?,?,?,?)", "iisssiii", run,
                     (int64_t)g->goid, g->is->group, g->is->status, g->is->reason, g->since_ns,
                     (int64_t)g->is->line, (int64_t)g->is->blocked);
    }
    return ok;
}

static bool put_findings(sqlite3 *db, int64_t run, const struct run_result *r,
                         const char *complaints)
{
    bool ok = true;
    if (r->end != END_STOPPED && r->end != END_TIME && r->end != END_RECORDED)
        ok = run_sql(db, "INSERT INTO findings VALUES(?,?,?,?)", "issi", run, run_verdict(r),
                     r->text, ns(r->now_ps));
    if (ok && complaints[0] != 0)
        ok = run_sql(db, "INSERT INTO findings VALUES(?,?,?,?)", "issi", run, "expectation",
                     complaints, ns(r->now_ps));
    return ok;
}

bool summary_end(sqlite3 *db, int64_t run, const struct run_result *r, const char *complaints)
{
    char fingerprint[24] = ""; /* of a recording there is none */
    if (r->end != END_RECORDED)
        snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, r->fingerprint);
    return put_counters(db, run, r) && put_latencies(db, run, r) && put_parts(db, run, r) &&
           put_waits(db, run, r) && put_groups(db, run, r) && put_blocked(db, run, r) &&
           put_findings(db, run, r, complaints) &&
           run_sql(db,
                   "UPDATE runs SET complete = 1, verdict = ?2, text = ?3, complaints = ?4,"
                   " makespan_ns = ?5, fingerprint = ?6, threads = ?7, runnable_max = ?8,"
                   " nr_periods = ?9, nr_throttled = ?10, throttled_ns = ?11, procs = ?12"
                   " WHERE id = ?1",
                   "isssisiiiiii", run, run_verdict(r), r->text, complaints, ns(r->now_ps),
                   fingerprint, (int64_t)r->threads, (int64_t)r->runnable_max,
                   (int64_t)r->nr_periods, (int64_t)r->nr_throttled, ns(r->throttled_ps),
                   (int64_t)r->procs);
}
