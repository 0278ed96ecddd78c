/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim trace: what a recorded Go execution trace says. */
#include "cli/csv.h"
#include "cli/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/trace_run.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

struct trace *trace_open_or_die(const char *path, bool strict)
{
    struct failure f = {.code = E_OK};
    struct trace *t = trace_open(&f, path, &(struct trace_opts){.strict = strict});
    if (t == NULL)
        cli_fail(&f);
    return t;
}

void trace_done_or_die(const char *path, bool whole, const struct failure *f)
{
    if (!whole)
        cli_die(fail_exit_code(f->code), "%s: %s",
                strcmp(path, "-") == 0 ? "standard input" : text_line(path), f->text);
}

const char *trace_name_of(const struct totals *t, uint32_t string)
{
    return string == TRACE_NO_INDEX ? "(others)" : trace_string(t->trace, string, NULL);
}

/* ---- goroutines, the busiest first ---- */

static const struct totals *sorting; /* qsort has no argument */

static int64_t busy(const struct goroutine_total *g)
{
    return g->ns[SPENT_RUNNING] + g->ns[SPENT_RUNNABLE] + g->ns[SPENT_SYSCALL];
}

static int busiest_first(const void *a, const void *b)
{
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int64_t x = busy(totals_goroutine(sorting, i)), y = busy(totals_goroutine(sorting, k));
    return x != y ? (x > y ? -1 : 1) : i < k ? -1 : i > k;
}

uint32_t *trace_goroutines(const struct totals *t, size_t max, size_t *count)
{
    uint32_t *list = NULL;
    size_t n = 0, room = 0;
    for (uint32_t i = 0; i < t->goroutines; i++) {
        if (totals_goroutine(t, i) == NULL)
            continue;
        X_ROOM(list, n, room, 1024);
        list[n++] = i;
    }
    sorting = t;
    if (n > 1)
        qsort(list, n, sizeof *list, busiest_first);
    *count = n < max ? n : max;
    return list;
}

/* ---- info ---- */

/* Which Ps were idle as the trace began is said where they are first used, or at the end of the
 * first generation: a file can be looked at twice. */
static void look_ahead(const char *path, struct totals *t)
{
    if (strcmp(path, "-") == 0)
        return;
    struct trace *first = trace_open_or_die(path, /*strict*/ false);
    totals_look_ahead(t, first);
    trace_close(first);
}

struct info_args {
    const char *path, *db, *explain;
    bool strict, json;
    int64_t rows, db_wait_ns;
};

static int64_t account(const struct info_args *i, struct account *a)
{
    struct trace_file file = {i->path, i->strict};
    struct store *db = i->db != NULL ? db_to_write(i->db, i->db_wait_ns) : NULL;
    int64_t run = trace_account(a, &file, db);
    store_close(db);
    return run;
}

static int info(const struct info_args *i)
{
    static struct totals t;
    static struct account a;
    const char *path = i->path;
    struct failure f = {.code = E_OK};
    bool again = strcmp(path, "-") != 0 || i->db != NULL;
    if (i->explain != NULL) {
        trace_explain(&(struct trace_file){path, i->strict}, i->explain);
        return EXIT_CLEAN;
    }
    struct trace *trace = trace_open_or_die(path, i->strict);
    if (!totals_init(&f, &t, trace))
        cli_fail(&f);
    look_ahead(path, &t);
    trace_done_or_die(path, trace_each(trace, &f, totals_feed, &t), &f);
    totals_end(&t);
    int64_t run = again ? account(i, &a) : 0;
    (i->json ? trace_info_json : trace_info_text)(trace, path, &t, i->rows,
                                                  again ? &a.result : NULL);
    if (run != 0 && !i->json)
        printf("\nrecorded: run %" PRId64 " in %s\n", run, text_line(i->db));
    if (again)
        account_close(&a);
    totals_release(&t);
    trace_close(trace);
    return EXIT_CLEAN;
}

/* ---- the command ---- */

int command_trace(const struct command *v, int argc, char **argv)
{
    enum { INFO, EXPORT, CUT, IMPORT };
    static const char *const words[] = {"info", "export", "cut", "import", NULL};
    static struct trace_words w = {.period_ns = 1000000};
    struct info_args in = {.rows = 10};
    bool explore = false;
    struct csv_wish table_wish = {0};
    const struct opt table[] = {
        {"json", NULL, "info: as JSON", OPT_FLAG, &in.json},
        {"table", "NAME", "info: this table of the JSON document, as CSV", OPT_TEXT,
         &table_wish.table},
        {"rows", "N", "info: rows of each list (10; JSON: 10000)", OPT_COUNT, &in.rows},
        {"db", "FILE", "info: also a run of this SQLite file (docs/store.md)", OPT_TEXT, &in.db},
        DB_WAIT_OPT(in.db_wait_ns),
        {"explain", "WHAT",
         "info: only the waits of the slowest task or region, or of goroutine g17", OPT_TEXT,
         &in.explain},
        {"strict", NULL, "refuse an incomplete last generation", OPT_FLAG, &w.strict},
        {"perfetto", "FILE", "export: for ui.perfetto.dev", OPT_TEXT, &w.perfetto},
        {"csv", "FILE", "export: a line per change of a goroutine", OPT_TEXT, &w.csv},
        {"jsonl", "FILE", "export: an object per event", OPT_TEXT, &w.jsonl},
        {"schedtrace", "FILE", "export: lines as of GODEBUG=schedtrace", OPT_TEXT, &w.schedtrace},
        {"period", "TIME", "export: time between lines of --schedtrace (1ms)", OPT_LENGTH,
         &w.period_ns},
        {"from", "TIME", "cut: from here on, since the beginning", OPT_TIME, &w.from_ns},
        {"to", "TIME", "cut: up to here", OPT_LENGTH, &w.to_ns},
        {"out", "FILE", "cut: the new trace; import: the scenario", OPT_TEXT, &w.out},
        {"explore", NULL, "import: as explore searches it, without times", OPT_FLAG, &explore},
        {"anonymize", NULL, "cut: names of functions, files, tasks, logs become numbers", OPT_FLAG,
         &w.anonymize},
        {"header", "N", "cut: write go 1.N trace: 22, 23, 25 or 26 (23)", OPT_COUNT, &w.version},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 2, 2);
    int which = cli_choice("trace: no", argv[first], words);
    const char *path = argv[first + 1];
    if (which == EXPORT)
        return trace_export(path, &w);
    if (which == CUT)
        return trace_cut(path, &w);
    if (which == IMPORT)
        return trace_import(path, w.out, explore);
    in.path = path;
    in.strict = w.strict;
    in.json = csv_or_json(&table_wish, in.json, NULL);
    if (in.json && in.rows == 10)
        in.rows = 10000;
    return info(&in);
}
