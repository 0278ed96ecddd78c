/* SPDX-License-Identifier: BSD-3-Clause */
/* The public library's exploration: include/gmpsim.h over hunt.h, shrink.h and history.h. */
#include <stdlib.h>
#include <string.h>

#include "run/guest.h"
#include "scenarios/faults.h"
#include "search/history.h"
#include "search/kept.h"
#include "search/shrink.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { SHRINK_RUNS = 5000, FLIPS = 300, ROWS = 200 };

struct gmpsim_explore {
    const gmpsim_scenario *s;
    struct hunt_opts o;
    bool one_strategy; /* o.strategy; else one after the other */
    bool found, exhausted;
    uint64_t runs;
    struct finding finding;
    struct shrink_result shrunk;
    struct history history;
    char *page;
};

/* ---- settings ---- */

gmpsim_explore *gmpsim_explore_new(const gmpsim_scenario *s)
{
    struct failure f = {0};
    gmpsim_explore *volatile x = NULL; /* a longjmp may come back */
    if (s == NULL)
        return NULL;
    guest_enter();
    if (setjmp(guest_no_memory) == 0) {
        gmpsim_explore *made = x_alloc(sizeof *made);
        memset(made, 0, sizeof *made);
        made->s = s;
        made->o = (struct hunt_opts){.world = {.scenario = s->s,
                                               .procs = s->s->procs != 0 ? s->s->procs : 2,
                                               .granularity = GRANULARITY_SYNC,
                                               .seed = 1,
                                               .faults = s->s->faults,
                                               .late_max_ns = 500000000,
                                               .until_ns = s->s->until_ns,
                                               .steps_max = 100000},
                                     .seed = 1,
                                     .depth = 3,
                                     .preemptions = 2,
                                     .runs_max = 2000};
        if (!scenario_profile(&f, s->s, 0, &made->o.world.profile)) {
            free(made);
            made = NULL;
        }
        x = made;
    }
    guest_leave();
    return x;
}

static void forget(gmpsim_explore *x)
{
    if (x->found) {
        history_free(&x->history);
        finding_release(&x->finding);
    }
    free(x->page);
    x->page = NULL;
    x->found = x->exhausted = false;
    x->runs = 0;
}

void gmpsim_explore_free(gmpsim_explore *x)
{
    if (x == NULL)
        return;
    forget(x);
    free(x);
}

int gmpsim_explore_set(gmpsim_explore *x, const char *name, uint64_t value)
{
    if (x == NULL || name == NULL)
        return GMPSIM_BAD;
    struct explored_opts *w = &x->o.world;
    const struct {
        const char *name;
        uint64_t min, max;
    } ranges[] = {{"procs", 1, PROCS_MAX},
                  {"runs", 0, UINT64_MAX},
                  {"seed", 0, UINT64_MAX},
                  {"preemptions", 0, DFS_UNBOUNDED},
                  {"depth", 1, PCT_DEPTH_MAX},
                  {"max_steps", 1, INT64_MAX / 1000},
                  {"late_ns", 0, INT64_MAX / 1000},
                  {"until_ns", 0, INT64_MAX / 1000},
                  {"checks", 0, 1}};
    size_t i = 0, n = sizeof ranges / sizeof *ranges;
    while (i < n && strcmp(ranges[i].name, name) != 0)
        i++;
    if (i == n || value < ranges[i].min || value > ranges[i].max)
        return GMPSIM_BAD;
    switch (i) {
    case 0: w->procs = (int32_t)value; break;
    case 1: x->o.runs_max = value; break;
    case 2: x->o.seed = w->seed = value; break;
    case 3: x->o.preemptions = (uint32_t)value; break;
    case 4: x->o.depth = (uint32_t)value; break;
    case 5: w->steps_max = value; break;
    case 6: w->late_max_ns = (int64_t)value; break;
    case 7: w->until_ns = value != 0 ? (int64_t)value : x->s->s->until_ns; break;
    default: w->checks = value != 0; break;
    }
    return GMPSIM_OK;
}

/* The place of value among these names, -1: none. */
static int place(const char *value, int count, const char *(*name)(int i))
{
    for (int i = 0; i < count; i++)
        if (strcmp(name(i), value) == 0)
            return i;
    return -1;
}

static const char *granularity_at(int i) { return granularity_name((enum granularity)i); }
static const char *memory_at(int i) { return mm_kind_name((enum mm_kind)i); }
static const char *start_at(int i) { return explored_start_name((enum explored_start)i); }
static const char *strategy_at(int i) { return hunt_strategy_name((enum hunt_strategy)i); }

static int set_profile(gmpsim_explore *x, const char *value)
{
    struct failure f = {0};
    int release = profile_parse(value);
    bool ok = release > 0 && scenario_profile(&f, x->s->s, release, &x->o.world.profile);
    return ok ? GMPSIM_OK : GMPSIM_BAD;
}

static int set_strategy(gmpsim_explore *x, const char *value)
{
    int at = place(value, HUNT_STRATEGIES, strategy_at);
    if (at < 0 && value[0] != 0)
        return GMPSIM_BAD;
    x->one_strategy = at >= 0;
    if (at >= 0)
        x->o.strategy = (enum hunt_strategy)at;
    return GMPSIM_OK;
}

int gmpsim_explore_set_text(gmpsim_explore *x, const char *name, const char *value)
{
    int at = -1;
    if (x == NULL || name == NULL || value == NULL)
        return GMPSIM_BAD;
    if (strcmp(name, "faults") == 0) {
        struct failure f = {0};
        return faults_add(&f, &x->o.world.faults, value) ? GMPSIM_OK : GMPSIM_BAD;
    }
    if (strcmp(name, "strategy") == 0)
        return set_strategy(x, value);
    if (strcmp(name, "profile") == 0)
        return set_profile(x, value);
    if (strcmp(name, "granularity") == 0 && (at = place(value, GRANULARITIES, granularity_at)) >= 0)
        x->o.world.granularity = (enum granularity)at;
    if (strcmp(name, "memory") == 0 && (at = place(value, MM_KINDS, memory_at)) >= 0)
        x->o.world.memory = (enum mm_kind)at;
    if (strcmp(name, "start") == 0 && (at = place(value, START_KINDS, start_at)) >= 0)
        x->o.world.start = (enum explored_start)at;
    return at >= 0 ? GMPSIM_OK : GMPSIM_BAD;
}

int gmpsim_explore_set_rule(gmpsim_explore *x, const char *rule, int64_t value)
{
    if (x == NULL || rule == NULL)
        return GMPSIM_BAD;
    return profile_set(&x->o.world.profile, rule, value) == 0 ? GMPSIM_OK : GMPSIM_BAD;
}

/* ---- searching ---- */

static bool make_page(struct failure *f, gmpsim_explore *x)
{
    size_t size = 0;
    if (!history_make(f, &x->finding, FLIPS, &x->history)) {
        finding_release(&x->finding);
        return false;
    }
    x->found = true;
    FILE *to = x_memstream(&x->page, &size);
    fprintf(to, "%s: %s\n\n", text_line(x->s->s->name), x->finding.verdict.what);
    text_put(to, TEXT_LINES, x->finding.verdict.text);
    fputs("\n\n", to);
    history_print(to, &x->history, x->s->path, ROWS);
    x_memstream_close(to, &x->page);
    return true;
}

/* False: f says what is wrong. *done: there is a finding. */
static bool hunt_with(struct failure *f, gmpsim_explore *x, enum hunt_strategy s, bool *done)
{
    struct hunt_opts o = x->o;
    struct hunt_result r;
    o.strategy = s;
    if (o.runs_max == 0 && s != HUNT_DFS && s != HUNT_TIME && !x->one_strategy)
        o.runs_max = 2000; /* the others have no end */
    if (!hunt(f, &o, &r))
        return false;
    x->runs += r.runs;
    x->exhausted |= r.end == HUNT_EXHAUSTED && s == HUNT_DFS;
    *done = r.end == HUNT_FOUND;
    if (r.end == HUNT_DIVERGED) {
        fail(f, E_INTERNAL, "the world did not repeat itself: a bug of the simulator");
        return false;
    }
    if (!*done)
        return true;
    x->exhausted = false;
    x->finding = r.finding;
    return shrink(f, &x->finding, SHRINK_RUNS, &x->shrunk) && make_page(f, x);
}

static bool hunt_all(struct failure *f, gmpsim_explore *x)
{
    bool done = false;
    if (x->one_strategy)
        return hunt_with(f, x, x->o.strategy, &done);
    for (int s = 0; s < HUNT_STRATEGIES && !done; s++)
        if (!hunt_with(f, x, (enum hunt_strategy)s, &done))
            return false;
    return true;
}

static bool replay_file(struct failure *f, gmpsim_explore *x, const char *path)
{
    static struct schedule s;
    struct verdict v;
    bool same = false;
    schedule_init(&s);
    if (schedule_load(&s, f, path) < 0)
        return false;
    bool ok = finding_load(f, &s, x->s->s, /*anyway*/ false, &x->finding);
    schedule_release(&s);
    if (!ok)
        return false;
    x->runs = 1;
    ok = finding_replay(f, &x->finding, &v, &same);
    if (ok && !same)
        fail(f, E_INTERNAL, "%s: another run than the one that was recorded", path);
    if (!ok || !same || v.kind != VERDICT_FINDING) {
        finding_release(&x->finding);
        return ok && same;
    }
    x->finding.verdict = v;
    return make_page(f, x);
}

static int search(gmpsim_explore *x, const char *path, char *error)
{
    struct failure f = {0};
    volatile int status = GMPSIM_OK;
    if (x == NULL)
        return guest_said_null(error, "the exploration");
    guest_enter();
    if (setjmp(guest_no_memory) == 0) {
        forget(x);
        if (!(path != NULL ? replay_file(&f, x, path) : hunt_all(&f, x)))
            status = guest_say(error, &f);
    } else {
        ex_free();
        x->found = false;
        status = guest_said_no_memory(error);
    }
    guest_leave();
    return status;
}

int gmpsim_explore_go(gmpsim_explore *x, char *error) { return search(x, NULL, error); }

int gmpsim_explore_replay(gmpsim_explore *x, const char *path, char *error)
{
    if (path == NULL)
        return guest_said_null(error, "path");
    return search(x, path, error);
}

/* ---- results ---- */

int gmpsim_explore_found(const gmpsim_explore *x) { return x != NULL && x->found; }

int gmpsim_explore_exhausted(const gmpsim_explore *x) { return x != NULL && x->exhausted; }

uint64_t gmpsim_explore_schedules(const gmpsim_explore *x) { return x != NULL ? x->runs : 0; }

const char *gmpsim_finding_verdict(const gmpsim_explore *x)
{
    return x != NULL && x->found ? x->finding.verdict.what : "";
}

const char *gmpsim_finding_text(const gmpsim_explore *x)
{
    return x != NULL && x->found ? x->finding.verdict.text : "";
}

const char *gmpsim_finding_page(const gmpsim_explore *x)
{
    return x != NULL && x->found && x->page != NULL ? x->page : "";
}

size_t gmpsim_finding_stuck_count(const gmpsim_explore *x)
{
    return x != NULL && x->found ? x->history.nstuck : 0;
}

gmpsim_stuck gmpsim_finding_stuck(const gmpsim_explore *x, size_t index)
{
    if (index >= gmpsim_finding_stuck_count(x))
        return (gmpsim_stuck){.group = "", .reason = "", .object = ""};
    const struct history_stuck *s = &x->history.stuck[index];
    return (gmpsim_stuck){.goid = s->goid,
                          .group = s->name,
                          .reason = s->reason,
                          .object = s->on,
                          .line = s->line,
                          .held_by = s->holders > 0 ? s->holder[0].goid : 0,
                          .held_since = s->holders > 0 ? s->holder[0].line : 0};
}

int gmpsim_schedule_save(const gmpsim_explore *x, const char *path, char *error)
{
    static struct schedule s;
    struct failure f = {0};
    volatile int status = GMPSIM_OK;
    if (x == NULL || path == NULL)
        return guest_said_null(error, x == NULL ? "the exploration" : "path");
    if (!x->found) {
        fail(&f, E_USAGE, "there is no finding");
        return guest_say(error, &f);
    }
    guest_enter();
    if (setjmp(guest_no_memory) == 0) {
        schedule_init(&s);
        if (finding_save(&f, &x->finding, x->s->path, &s) < 0 || schedule_save(&s, &f, path) < 0)
            status = guest_say(error, &f);
        schedule_release(&s);
    } else {
        status = guest_said_no_memory(error);
    }
    guest_leave();
    return status;
}
