/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: which orders of memory the scheduler, the poller, system calls, locks, semaphores and
 * timers need, and that with all of them no memory model shows anything wrong. Method: whole
 * programs (orders/), searched at random under the memory of each port; then the same with one part
 * of one site's order left out. The run queue has worlds of its own (tests/explore/orders_cases.c).
 *
 * GMPSIM_ORDERS names a file that gets a row for each part when it is done, and whose parts are not
 * done again (tests/explore/orders.py); GMPSIM_ORDERS_RUNS: schedules of a world and strategy.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "search/hunt.h"
#include "search/shrink.h"
#include "sim/explore/site.h"

enum {
    RUNS_MARK = 50, /* schedules that say which sites a world has */
    RUNS_CLEAN = 60,
    RUNS = 100,
    SHRINK_RUNS = 300,
    STEPS = 30000, /* of a schedule */
    SITES_MAX = 4096,
    LINE_SIZE = 600
};

static const char *const names[] = {"mutex",          "rwmutex",   "semaphore", "channel",
                                    "wake",           "wake-many", "netpoll",   "syscall",
                                    "stop-the-world", "timers"};
enum { WORLDS = sizeof names / sizeof *names };

static struct scenario *worlds[WORLDS];
static bool reached[WORLDS][SITES_MAX];

static const struct {
    unsigned bit;
    const char *name;
} parts[] = {{MM_DRAIN, "drain"},
             {MM_ACQ, "acquire"},
             {MM_REL, "release"},
             {MM_SYNC, "sync"},
             {MM_LWSYNC, "lwsync"},
             {MM_ISYNC, "isync"},
             {MM_LWSYNC_AFTER, "lwsync after"}};

static enum cost_port port_of(enum mm_kind memory)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    return ports[memory];
}

static void load_worlds(void)
{
    for (int i = 0; i < WORLDS && worlds[i] == NULL; i++) {
        struct failure f = {0};
        char path[LINE_SIZE], text[1 << 14];
        snprintf(path, sizeof path, "%s/%s.json", ORDERS_DIR, names[i]);
        FILE *from = fopen(path, "r");
        if (from == NULL)
            FAIL_CASE("%s: cannot be read", path);
        size_t n = fread(text, 1, sizeof text, from);
        fclose(from);
        worlds[i] = scenario_load(&f, path, text, n);
        if (worlds[i] == NULL)
            FAIL_CASE("%s", f.text);
    }
}

static struct explored_opts world_opts_of(int world, enum mm_kind memory)
{
    struct failure f = {0};
    struct explored_opts o = {.scenario = worlds[world],
                              .procs = 2,
                              .seed = 1,
                              .granularity = GRANULARITY_OP,
                              .memory = memory,
                              .late_max_ns = 100000,
                              .until_ns = worlds[world]->until_ns,
                              .no_races = true,
                              .steps_max = STEPS};
    CHECK(scenario_profile(&f, worlds[world], 0, &o.profile));
    return o;
}

/* ---- which sites a world has ---- */

static void mark(void *arg, const struct traced_op *op)
{
    const struct ex_site *s = (const struct ex_site *)(const void *)((const char *)op->site -
                                                                     offsetof(struct ex_site,
                                                                              told));
    ((bool *)arg)[s->id] = true;
}

static void mark_sites(int world)
{
    struct failure f = {0};
    struct explored x;
    struct strategy_random random;
    struct explored_opts o = world_opts_of(world, MM_SC);
    const struct traced_to to = {.op = mark, .arg = reached[world]};
    if (!explored_open(&f, &x, &o))
        FAIL_CASE("%s", f.text);
    ex_listen(&to);
    strategy_random_init(&random, 1, RUNS_MARK);
    while (explored_run(&x, &random.s))
        ;
    ex_listen(NULL);
    explored_close(&x);
}

/* ---- a search ---- */

struct row {
    int world; /* -1: nothing found */
    uint64_t runs;
    size_t preemptions;
    char what[80];
};

static void first_line(const struct finding *x, char *buf, size_t size)
{
    static const char end[] = "it ended with: ";
    const char *text = strstr(x->verdict.text, end);
    text = text != NULL ? text + strlen(end) : x->verdict.what;
    snprintf(buf, size, "%.*s", (int)strcspn(text, "\n\t|"), text);
}

/* Schedules of one world by one strategy. True: one is a finding. */
static bool search_world(int world, enum mm_kind memory, enum hunt_strategy strategy, uint64_t runs,
                         struct row *row)
{
    struct failure f = {0};
    struct hunt_result r;
    struct shrink_result s;
    struct hunt_opts o = {
        .world = world_opts_of(world, memory), .strategy = strategy, .seed = 1, .runs_max = runs};
    if (!hunt(&f, &o, &r))
        FAIL_CASE("%s", f.text);
    row->runs += r.runs;
    if (r.end != HUNT_FOUND)
        return false;
    first_line(&r.finding, row->what, sizeof row->what);
    row->world = world;
    if (shrink(&f, &r.finding, SHRINK_RUNS, &s))
        row->preemptions = s.after.preemptions;
    finding_release(&r.finding);
    return true;
}

static const enum hunt_strategy strategies[] = {HUNT_RANDOM, HUNT_POS};

/* All worlds that have the site; 0: all. */
static struct row search_worlds(uint32_t site, enum mm_kind memory, uint64_t runs)
{
    struct row row = {.world = -1};
    for (int w = 0; w < WORLDS; w++)
        for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
            if ((site == 0 || reached[w][site]) &&
                search_world(w, memory, strategies[i], runs, &row))
                return row;
    return row;
}

static struct row search_without(struct ex_site *s, unsigned bit, enum mm_kind memory,
                                 uint64_t runs)
{
    s->without = (uint8_t)bit;
    struct row row = search_worlds(s->id, memory, runs);
    s->without = 0;
    return row;
}

/* ---- all of them ---- */

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

static bool is_reached(const struct ex_site *s)
{
    bool any = false;
    for (int w = 0; w < WORLDS; w++)
        any |= reached[w][s->id];
    return any && strcmp(base_name(s->file), "runq.c") != 0;
}

/* One of several sites of a function with this verb: the how manieth. */
static int which_of(const struct ex_site *s)
{
    int n = 1;
    for (uint32_t id = 1; id < s->id; id++) {
        const struct ex_site *o = site_get(id);
        n += o->verb == s->verb && strcmp(o->func, s->func) == 0;
    }
    return n;
}

static bool is_done(const char *path, const char *name)
{
    char line[LINE_SIZE];
    bool done = false;
    FILE *from = fopen(path, "r");
    while (from != NULL && !done && fgets(line, sizeof line, from) != NULL)
        done = strncmp(line, name, strlen(name)) == 0;
    if (from != NULL)
        fclose(from);
    return done;
}

static void do_part(const char *path, struct ex_site *s, enum mm_kind memory, unsigned bit,
                    const char *part, uint64_t runs)
{
    char name[LINE_SIZE];
    snprintf(name, sizeof name, "%s\t%s\t%s\t%d\t%s\t%s\t%s\t", base_name(s->file), s->func,
             verb_name(s->verb), which_of(s), s->told.field, mm_kind_name(memory), part);
    if (is_done(path, name))
        return;
    struct row row = search_without(s, bit, memory, runs);
    FILE *to = fopen(path, "a");
    if (to == NULL)
        FAIL_CASE("%s: cannot be written", path);
    fprintf(to, "%s%s\t%s\t%zu\t%" PRIu64 "\n", name, row.world < 0 ? "nothing" : row.what,
            row.world < 0 ? "" : names[row.world], row.preemptions, row.runs);
    fclose(to);
}

static void every_part(const char *path, uint64_t runs)
{
    for (int memory = MM_TSO; memory < MM_KINDS; memory++)
        for (uint32_t id = 1; id <= site_count(); id++)
            for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
                struct ex_site *s = site_get(id);
                unsigned has = verb_bits(port_of((enum mm_kind)memory), (enum ex_verb)s->verb);
                if (is_reached(s) && (has & parts[i].bit) != 0)
                    do_part(path, s, (enum mm_kind)memory, parts[i].bit, parts[i].name, runs);
            }
}

static void prepare(void)
{
    CHECK_LT(site_count(), SITES_MAX);
    load_worlds();
    for (int w = 0; w < WORLDS; w++)
        mark_sites(w);
}

TEST_CASE(Orders, NothingIsWrongWithAllOfThem)
{
    prepare();
    for (int memory = MM_SC; memory < MM_KINDS; memory++) {
        struct row row = search_worlds(0, (enum mm_kind)memory, RUNS_CLEAN);
        if (row.world >= 0)
            FAIL_CASE("%s, %s: %s", names[row.world], mm_kind_name((enum mm_kind)memory), row.what);
    }
}

static struct ex_site *site_of(const char *func, enum ex_verb verb)
{
    for (uint32_t id = 1; id <= site_count(); id++)
        if (site_get(id)->verb == verb && strcmp(site_get(id)->func, func) == 0)
            return site_get(id);
    FAIL_CASE("%s has no %s", func, verb_name(verb));
    return NULL;
}

/* Without what a lock publishes at its end, an old value is seen under it. */
TEST_CASE(Orders, OneLeftOutIsFound)
{
    const char *path = getenv("GMPSIM_ORDERS"), *runs = getenv("GMPSIM_ORDERS_RUNS");
    prepare();
    struct ex_site *s = site_of("mutex_unlock_inner", VERB_add);
    CHECK(search_without(s, MM_REL, MM_ARM, RUNS).world >= 0);
    if (path != NULL)
        every_part(path, runs != NULL ? strtoull(runs, NULL, 10) : RUNS);
}
