/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim whatif: a grid of settings, each over several seeds, in child processes; and gmpsim merge,
 * which puts together what ran in parts. What is printed depends on the runs alone: not on which
 * came first, nor where. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/csv.h"
#include "cli/capacity.h"
#include "cli/check.h"
#include "cli/db.h"
#include "cli/explore_seeds.h"
#include "cli/gridshow.h"
#include "cli/jobs.h"
#include "cli/journal.h"
#include "cli/retrace.h"
#include "cli/scale.h"
#include "cli/shard.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { RUNS_DEFAULT = 5, RUNS_PRECISE = 50, RUNS_CAPACITY = 3 };

struct whatif {
    struct grid g;
    struct shard shard;
    struct journal journal;
    int64_t *begun; /* per cell: how many of its runs */
    int64_t jobs, done, todo;
};

/* ---- which run is next ---- */

static bool have(const struct whatif *w, size_t cell, int64_t run)
{
    return w->g.t.have[cell * (size_t)w->g.t.runs + (size_t)run] != 0;
}

/* With a precision a cell's runs depend on each other: whole cells are somebody's. */
static bool is_ours(const struct whatif *w, size_t cell, int64_t run)
{
    return shard_has(&w->shard,
                     w->g.t.precision > 0 ? (int64_t)cell : (int64_t)cell * w->g.t.runs + run);
}

/* The next run of this cell that is to be done; -1: none. */
static int64_t next_of(struct whatif *w, size_t cell)
{
    while (w->begun[cell] < w->g.t.runs &&
           (have(w, cell, w->begun[cell]) || !is_ours(w, cell, w->begun[cell])))
        w->begun[cell]++;
    return w->begun[cell] < w->g.t.runs ? w->begun[cell] : -1;
}

/* Without a precision cell after cell; with one, the cell of which fewest have begun. */
static int64_t next(void *arg)
{
    struct whatif *w = arg;
    const struct table *t = &w->g.t;
    size_t best = SIZE_MAX;
    for (size_t c = 0; c < t->ncells; c++) {
        if ((t->precision > 0 && table_decide(t, c) != 0) || next_of(w, c) < 0)
            continue;
        if (best == SIZE_MAX || (t->precision > 0 && w->begun[c] < w->begun[best]))
            best = c;
        if (t->precision <= 0)
            break;
    }
    if (best == SIZE_MAX)
        return JOBS_NONE;
    return (int64_t)best * t->runs + w->begun[best]++;
}

static bool task(void *arg, int64_t index, void *out)
{
    const struct whatif *w = arg;
    size_t cell = (size_t)(index / w->g.t.runs);
    return grid_run(&w->g, cell, index % w->g.t.runs, w->g.t.cells[cell].rate_ppm, out);
}

static void done(void *arg, int64_t index, const void *result)
{
    struct whatif *w = arg;
    size_t cell = (size_t)(index / w->g.t.runs);
    int64_t run = index % w->g.t.runs;
    table_put(&w->g.t, cell, run, result);
    journal_put(&w->journal, cell, run, result);
    w->done++;
}

static void far(void *arg, int64_t *how, int64_t *total)
{
    const struct whatif *w = arg;
    *how = w->done;
    *total = w->g.t.precision > 0 ? 0 : w->todo;
}

/* ---- options ---- */

/* "5%" or "0.05". */
static double precision_of(const char *text)
{
    char *end = NULL;
    double v = *text >= '0' && *text <= '9' ? strtod(text, &end) : -1;
    if (end != NULL && v > 0 && strcmp(end, "%") == 0)
        v /= 100;
    else if (end == NULL || *end != 0)
        v = -1;
    if (!(v >= 0.001 && v <= 0.5))
        cli_die(EXIT_USAGE, "--precision: want from 0.1%% to 50%%, such as 5%%, got '%s'", text);
    return v;
}

/* "p50,p99.9" as bits. */
static uint32_t points_of(const char *text)
{
    uint32_t points = 0;
    char *copy = x_strdup(text);
    for (char *save, *word = strtok_r(copy, ",", &save); word != NULL;
         word = strtok_r(NULL, ",", &save)) {
        int k = 0;
        while (k < WHATIF_POINTS && strcmp(point_names[k], word) != 0)
            k++;
        if (k == WHATIF_POINTS)
            cli_die(EXIT_USAGE, "--for: want some of p50,p90,p99,p99.9,max, got '%s'", text);
        points |= 1u << k;
    }
    free(copy);
    return points;
}

/* FNV-1a over all that decides what a run is and is not in the table. */
static void mix(uint64_t *hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
}

static void mix_file(uint64_t *hash, const char *path)
{
    char buf[1 << 16];
    struct stat st;
    FILE *from = path != NULL ? fopen(path, "rb") : NULL;
    if (from == NULL)
        return;
    if (fstat(fileno(from), &st) == 0 && S_ISREG(st.st_mode))
        for (size_t n; (n = fread(buf, 1, sizeof buf, from)) > 0;)
            mix(hash, buf, n);
    fclose(from);
}

static const char *hash_of(const struct machine *m, const struct run_opts *o, char buf[24])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    mix_file(&hash, m->file);
    mix_file(&hash, m->costs);
    for (int i = 0; i < m->rules.count; i++)
        mix(&hash, m->rules.items[i], strlen(m->rules.items[i]) + 1);
    mix(&hash, &o->noise_permille, sizeof o->noise_permille);
    snprintf(buf, 24, "%016" PRIx64, hash);
    return buf;
}

/* ---- the end ---- */

static void count_runs(struct table *t)
{
    for (size_t c = 0; c < t->ncells; c++) {
        int64_t n = table_decide(t, c);
        t->counts[c] = n != 0 ? n : table_prefix(t, c);
    }
}

/* A grid may hold hours of work: what its store cannot take goes into another one. */
static void put_elsewhere(const struct failure *why, const char *path,
                          const struct whatif_info *info, const struct whatif_row *rows, size_t n)
{
    struct failure f = {0};
    char *other = db_other_name(path);
    fprintf(stderr, GMPSIM_NAME ": %s\n", why->text);
    struct store *s = db_to_write(other, 0);
    if (!whatif_store(s, &f, info, rows, n))
        cli_fail(&f);
    store_close(s);
    cli_die(EXIT_USAGE, "the grid is in %s instead", text_line(other));
}

static void put_into(struct store *s, const char *path, const struct table *t)
{
    struct failure f = {0};
    struct whatif_info info = {t->scenario, t->file, t->names, t->nseries, t->warmup_ns};
    size_t n = 0;
    for (size_t c = 0; c < t->ncells; c++)
        n += (size_t)t->counts[c];
    struct whatif_row *rows = x_alloc(n * sizeof *rows);
    n = 0;
    for (size_t c = 0; c < t->ncells; c++)
        for (int64_t i = 0; i < t->counts[c]; i++)
            rows[n++] = (struct whatif_row){table_run(t, c, i), t->cells[c].policy,
                                            t->cells[c].rate_ppm};
    if (!whatif_store(s, &f, &info, rows, n))
        put_elsewhere(&f, path, &info, rows, n);
    free(rows);
}

/* Before the first run: a grid takes long, and a file that cannot be written is known at once. */
static struct store *open_store(const char *path, int64_t wait_ns)
{
    return path != NULL ? db_to_write(path, wait_ns) : NULL;
}

#define PLOT_OPT(to)                                                       \
    {                                                                      \
        "plot", "FILE", "draw it, .svg or .png (gnuplot)", OPT_TEXT, &(to) \
    }

/* What is to become of a table. */
struct wish {
    enum grid_form form;
    const char *span, *db, *plot;
};

static int finish(struct table *t, const struct wish *w, struct store *s)
{
    count_runs(t);
    table_choose_span(t, w->span);
    grid_show(t, w->form);
    if (s != NULL)
        put_into(s, w->db, t);
    if (w->plot != NULL)
        grid_plot(t, w->plot);
    return grid_status(t);
}

/* ---- the command ---- */

static void run_all_of(struct whatif *w)
{
    struct jobs j = {.at_once = (int)w->jobs,
                     .size = w->g.t.size,
                     .what = GMPSIM_NAME " whatif",
                     .arg = w,
                     .next = next,
                     .task = task,
                     .done = done,
                     .far = far};
    w->begun = x_alloc(w->g.t.ncells * sizeof *w->begun);
    for (size_t c = 0; c < w->g.t.ncells; c++)
        for (int64_t i = 0; i < w->g.t.runs; i++)
            w->todo += is_ours(w, c, i) && !have(w, c, i);
    int status = jobs_run(&j);
    journal_close(&w->journal);
    if (status != EXIT_CLEAN)
        cli_die(status, "whatif: a run failed");
    free(w->begun);
}

struct asked {
    int64_t runs, db_wait_ns;
    const char *precision, *points, *span, *capacity, *journal, *shard, *db, *plot;
    bool json, csv, anyway;
};

static enum grid_form form_of(bool json, bool csv)
{
    if (json && csv)
        cli_die(EXIT_USAGE, "--json and --csv: one of them");
    return json ? GRID_JSON : csv ? GRID_CSV : GRID_TEXT;
}

static void check(const struct asked *a, struct whatif *w)
{
    if (a->shard != NULL && a->journal == NULL)
        cli_die(EXIT_USAGE, "--shard: a part is written to --journal FILE; gmpsim merge then"
                            " prints the table");
    if (a->capacity != NULL &&
        (a->precision != NULL || a->journal != NULL || a->db != NULL || a->plot != NULL))
        cli_die(EXIT_USAGE, "--capacity goes without --precision, --journal, --db and --plot");
    if (a->shard != NULL && (a->db != NULL || a->plot != NULL))
        cli_die(EXIT_USAGE, "--shard goes without --db and --plot, which gmpsim merge has");
    if (w->g.o.host != NULL && w->jobs > 1)
        cli_die(EXIT_USAGE, "--jobs: on threads one run at a time has the machine");
    if (w->g.o.host != NULL)
        w->jobs = 1;
}

static int64_t runs_of(const struct asked *a)
{
    if (a->runs > 0)
        return a->runs;
    if (a->capacity != NULL)
        return RUNS_CAPACITY;
    return a->precision != NULL ? RUNS_PRECISE : RUNS_DEFAULT;
}

static int run_grid(struct whatif *w, const struct asked *a)
{
    struct table *t = &w->g.t;
    char hash[24];
    struct wish wish = {form_of(a->json, a->csv), a->span, a->db, a->plot};
    w->shard = shard_of(a->shard);
    t->precision = a->precision != NULL ? precision_of(a->precision) : 0;
    t->points = points_of(a->points);
    struct store *s = open_store(a->db, a->db_wait_ns);
    if (a->journal != NULL)
        journal_open(&w->journal, a->journal, t, hash_of(&w->g.m, &w->g.o, hash));
    run_all_of(w);
    if (w->shard.count > 0) {
        printf("%" PRId64 " runs into %s; gmpsim merge puts the parts together\n", w->done,
               a->journal);
        return EXIT_CLEAN;
    }
    int status = finish(t, &wish, s);
    store_close(s);
    return status;
}

static int find_capacity(struct whatif *w, const struct asked *a)
{
    const struct csv_wish wish = {.csv = a->csv};
    bool document = csv_or_json(&wish, a->json, "cells");
    return capacity_search(&w->g, a->capacity, (int)w->jobs, document);
}

int command_whatif(const struct command *v, int argc, char **argv)
{
    struct whatif w = {0};
    struct asked a = {.points = "p50,p99"};
    struct grid *g = &w.g;
    const struct opt table[] = {
        {"procs", "LIST", "GOMAXPROCS: 1-4,8; default, node, automaxprocs, go1.25", OPT_TEXT,
         &g->procs.given},
        {"profile", "LIST", "Go releases: go1.19,latest; go1.24..go1.27", OPT_TEXT,
         &g->profile.given},
        {"cpus", "LIST", "CPUs of the host; dedicated: one per thread", OPT_TEXT, &g->cpus.given},
        {"quota", "LIST", "CPU quotas: CPUs (1.5, 500m), time per period (150ms), none", OPT_TEXT,
         &g->quota.given},
        {"rate", "LIST", "load, in times of the scenario's: 0.5x,1x; 0.5x..2x", OPT_TEXT,
         &g->rate.given},
        {"capacity", "RULE", "the most load at which this holds: request:p99<20ms", OPT_TEXT,
         &a.capacity},
        {"period", "TIME", "period of the quota (default 100ms)", OPT_LENGTH, &g->m.period_ns},
        {"rule", "NAME=VALUE", "one rule of every profile; repeatable", OPT_REPEATED, &g->m.rules},
        {"runs", "N", "seeds per cell (default 5; 50 with --precision, 3 with --capacity)",
         OPT_COUNT, &a.runs},
        {"precision", "P", "a cell ends when its numbers are known to 5%", OPT_TEXT, &a.precision},
        {"for", "POINTS", "which numbers those are (default p50,p99)", OPT_TEXT, &a.points},
        {"span", "NAME", "the span to decide by (default: the one with most time)", OPT_TEXT,
         &a.span},
        {"seed", "SEED", "the first seed", OPT_SEED, &g->m.seed},
        {"costs", "FILE", "cost table (default: the reference table)", OPT_TEXT, &g->m.costs},
        {"noise", "WHAT", "on (default), off or 1 to 1000: times vary as measured", OPT_TEXT,
         &g->m.noise},
        {"memory", "SIZE", "what a simulated world may take of yours (default 2GB)", OPT_TEXT,
         &g->m.memory},
        {"until", "TIME", "stop each run at this virtual time", OPT_LENGTH, &g->m.until_ns},
        WARMUP_OPT(g->m),
        {"jobs", "J", "processes at a time (default: one per CPU)", OPT_COUNT, &w.jobs},
        {"journal", "FILE", "keep finished runs there, and go on from what it has", OPT_TEXT,
         &a.journal},
        {"shard", "I/N", "only part I of N, or auto; with --journal", OPT_TEXT, &a.shard},
        {"db", "FILE", "add the runs to this store, table whatif", OPT_TEXT, &a.db},
        DB_WAIT_OPT(a.db_wait_ns),
        PLOT_OPT(a.plot),
        {"anyway", NULL, "of a recorded trace: although the answer is worthless", OPT_FLAG,
         &a.anyway},
        {"csv", NULL, "the table as CSV", OPT_FLAG, &a.csv},
        {"json", NULL, "the table as JSON", OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    g->m.quota_later = g->quota.given != NULL;
    machine_load(&g->m, argv[first], &g->o);
    machine_of_many(&g->m, &g->o);
    check(&a, &w);
    grid_build(g, runs_of(&a));
    retrace_trust(g->m.file, &g->procs, a.anyway);
    int status = a.capacity != NULL ? find_capacity(&w, &a) : run_grid(&w, &a);
    grid_release(g);
    return status;
}

static void warn_missing(const struct table *t)
{
    for (size_t c = 0; c < t->ncells; c++)
        if (table_decide(t, c) == 0) {
            char label[200];
            cli_die(EXIT_USAGE,
                    "merge: runs are missing: of %s there are %" PRId64
                    " without a gap; is a part not there, or not ready?",
                    cell_label(t, c, label, sizeof label), table_prefix(t, c));
        }
}

/* Journals are of a grid, of seeds that were searched, or of scenarios that were checked. */
static bool is_of(const char *path, const char *what)
{
    char head[200] = "", want[100];
    FILE *from = fopen(path, "r");
    size_t n = from != NULL ? fread(head, 1, sizeof head - 1, from) : 0;
    if (from != NULL)
        fclose(from);
    head[n] = 0;
    snprintf(want, sizeof want, "{\"gmpsim\":\"%s\"", what);
    return strncmp(head, want, strlen(want)) == 0;
}

int command_merge(const struct command *v, int argc, char **argv)
{
    bool json = false, csv = false;
    const char *into = NULL;
    struct wish wish = {0};
    const struct opt table[] = {
        {"into", "FILE", "of explore: all of it as one journal, from which explore goes on",
         OPT_TEXT, &into},
        {"span", "NAME", "the span to decide by (default: the one with most time)", OPT_TEXT,
         &wish.span},
        {"db", "FILE", "add the runs to this store, table whatif", OPT_TEXT, &wish.db},
        PLOT_OPT(wish.plot),
        {"csv", NULL, "the table as CSV", OPT_FLAG, &csv},
        {"json", NULL, "the table as JSON", OPT_FLAG, &json},
        {0},
    };
    struct table t = {0};
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1 << 20);
    if (is_of(argv[first], SEEDS_WHAT))
        return seeds_merge(argv + first, argc - first, into, json);
    if (into != NULL)
        cli_die(EXIT_USAGE, "--into: of journals of gmpsim explore");
    if (is_of(argv[first], CHECKED_WHAT))
        return scenarios_check_merge(argv + first, argc - first, json);
    journals_merge(&t, argv + first, argc - first);
    warn_missing(&t);
    struct store *s = open_store(wish.db, 0);
    wish.form = form_of(json, csv);
    int status = finish(&t, &wish, s);
    store_close(s);
    table_release(&t);
    return status;
}
