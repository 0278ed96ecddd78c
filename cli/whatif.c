/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim whatif: a grid of settings, each over several seeds, in child processes; and gmpsim merge,
 * which puts together what ran in parts. What is printed depends on the runs alone: not on which
 * came first, nor where. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/capacity.h"
#include "cli/gridshow.h"
#include "cli/jobs.h"
#include "cli/journal.h"
#include "cli/scale.h"
#include "cli/shard.h"
#include "sim/base/alloc.h"

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

static const char *hash_of(const struct machine *m, char buf[24])
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    mix_file(&hash, m->file);
    mix_file(&hash, m->costs);
    for (int i = 0; i < m->rules.count; i++)
        mix(&hash, m->rules.items[i], strlen(m->rules.items[i]) + 1);
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

static void put_into(struct store *s, const struct table *t)
{
    struct failure f = {0};
    struct whatif_info info = {t->scenario, t->file, t->names, t->nseries};
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
        cli_fail(&f);
    free(rows);
}

/* Before the first run: a grid takes long, and a file that cannot be written is known at once. */
static struct store *open_store(const char *path)
{
    struct failure f = {0};
    struct store *s = path != NULL ? store_open(&f, path, STORE_WRITE) : NULL;
    if (path != NULL && s == NULL)
        cli_fail(&f);
    return s;
}

static int finish(struct table *t, const char *span, enum grid_form form, struct store *s)
{
    count_runs(t);
    table_choose_span(t, span);
    grid_show(t, form);
    if (s != NULL)
        put_into(s, t);
    return grid_status(t);
}

/* ---- the verbs ---- */

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
    int64_t runs;
    const char *precision, *points, *span, *capacity, *journal, *shard, *db;
    bool json, csv;
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
    if (a->capacity != NULL && (a->precision != NULL || a->journal != NULL || a->db != NULL))
        cli_die(EXIT_USAGE, "--capacity goes without --precision, --journal and --db");
    if (w->g.o.host != NULL && w->jobs > 1)
        cli_die(EXIT_USAGE, "--jobs: on threads one run at a time has the machine");
    if (w->g.o.host != NULL)
        w->jobs = 1;
}

static int run_grid(struct whatif *w, const struct asked *a)
{
    struct table *t = &w->g.t;
    char hash[24];
    w->shard = shard_of(a->shard);
    t->precision = a->precision != NULL ? precision_of(a->precision) : 0;
    t->points = points_of(a->points);
    struct store *s = open_store(a->db);
    if (a->journal != NULL)
        journal_open(&w->journal, a->journal, t, hash_of(&w->g.m, hash));
    run_all_of(w);
    if (w->shard.count > 0) {
        printf("%" PRId64 " runs into %s; gmpsim merge puts the parts together\n", w->done,
               a->journal);
        return EXIT_CLEAN;
    }
    int status = finish(t, a->span, form_of(a->json, a->csv), s);
    store_close(s);
    return status;
}

int verb_whatif(const struct verb *v, int argc, char **argv)
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
        {"memory", "SIZE", "what a simulated world may take of yours (default 2GB)", OPT_TEXT,
         &g->m.memory},
        {"until", "TIME", "stop each run at this virtual time", OPT_LENGTH, &g->m.until_ns},
        {"jobs", "J", "processes at a time (default: one per CPU)", OPT_COUNT, &w.jobs},
        {"journal", "FILE", "keep finished runs there, and go on from what it has", OPT_TEXT,
         &a.journal},
        {"shard", "I/N", "only part I of N, or auto; with --journal", OPT_TEXT, &a.shard},
        {"db", "FILE", "add the runs to this store, table whatif", OPT_TEXT, &a.db},
        {"csv", NULL, "the table as CSV", OPT_FLAG, &a.csv},
        {"json", NULL, "the table as JSON", OPT_FLAG, &a.json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    g->m.quota_later = g->quota.given != NULL;
    machine_load(&g->m, argv[first], &g->o);
    check(&a, &w);
    int64_t runs = a.runs > 0            ? a.runs
                   : a.capacity != NULL  ? RUNS_CAPACITY
                   : a.precision != NULL ? RUNS_PRECISE
                                         : RUNS_DEFAULT;
    grid_build(g, runs);
    int status = a.capacity != NULL ? capacity_search(g, a.capacity, (int)w.jobs, a.json)
                                    : run_grid(&w, &a);
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

int verb_merge(const struct verb *v, int argc, char **argv)
{
    bool json = false, csv = false;
    const char *db = NULL, *span = NULL;
    const struct opt table[] = {
        {"span", "NAME", "the span to decide by (default: the one with most time)", OPT_TEXT,
         &span},
        {"db", "FILE", "add the runs to this store, table whatif", OPT_TEXT, &db},
        {"csv", NULL, "the table as CSV", OPT_FLAG, &csv},
        {"json", NULL, "the table as JSON", OPT_FLAG, &json},
        {0},
    };
    struct table t = {0};
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1 << 20);
    journals_merge(&t, argv + first, argc - first);
    warn_missing(&t);
    struct store *s = open_store(db);
    int status = finish(&t, span, form_of(json, csv), s);
    store_close(s);
    table_release(&t);
    return status;
}
