/* SPDX-License-Identifier: BSD-3-Clause */
/* The public library's exploration: include/gmpsim.h over plan.h, shrink.h and history.h. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "run/guest.h"
#include "scenarios/faults.h"
#include "search/by_turns.h"
#include "search/history.h"
#include "search/kept.h"
#include "search/plan.h"
#include "search/shrink.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { SHRINK_RUNS = 5000, FLIPS = 300, ROWS = 200 };

struct gmpsim_explore {
    const gmpsim_scenario *s;
    struct hunt_opts o;
    char strategy[100], granularity[20], procs[20]; /* as in plan_wish; "": nobody has said */
    bool runs_said;
    int64_t for_ns, began_ns;
    bool found, exhausted;
    uint64_t runs;
    struct finding finding;
    struct shrink_result shrunk;
    struct history history;
    char *page, *covered;
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
                                               .seed = 1,
                                               .faults = s->s->faults,
                                               .late_max_ns = 500000000,
                                               .until_ns = s->s->until_ns,
                                               .steps_max = 100000},
                                     .seed = 1,
                                     .depth = 3,
                                     .preemptions = 2,
                                     .runs_max = PLAN_RUNS};
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
    free(x->covered);
    x->page = x->covered = NULL;
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
    } ranges[] = {{"procs", 1, PROCS_MAX},          {"runs", 0, UINT64_MAX},
                  {"seed", 0, UINT64_MAX},          {"preemptions", 0, DFS_UNBOUNDED},
                  {"depth", 1, PCT_DEPTH_MAX},      {"max_steps", 1, INT64_MAX / 1000},
                  {"late_ns", 0, INT64_MAX / 1000}, {"until_ns", 0, INT64_MAX / 1000},
                  {"for_ns", 0, INT64_MAX / 1000},  {"checks", 0, 1}};
    size_t i = 0, n = sizeof ranges / sizeof *ranges;
    while (i < n && strcmp(ranges[i].name, name) != 0)
        i++;
    if (i == n || value < ranges[i].min || value > ranges[i].max)
        return GMPSIM_BAD;
    switch (i) {
    case 0: snprintf(x->procs, sizeof x->procs, "%" PRIu64, value); break;
    case 1:
        x->o.runs_max = value;
        x->runs_said = true;
        break;
    case 2: x->o.seed = w->seed = value; break;
    case 3: x->o.preemptions = (uint32_t)value; break;
    case 4: x->o.depth = (uint32_t)value; break;
    case 5: w->steps_max = value; break;
    case 6: w->late_max_ns = (int64_t)value; break;
    case 7: w->until_ns = value != 0 ? (int64_t)value : x->s->s->until_ns; break;
    case 8: x->for_ns = (int64_t)value; break;
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

static int set_profile(gmpsim_explore *x, const char *value)
{
    struct failure f = {0};
    int release = profile_parse(value);
    bool ok = release > 0 && scenario_profile(&f, x->s->s, release, &x->o.world.profile);
    return ok ? GMPSIM_OK : GMPSIM_BAD;
}

/* Keeps a list of names; "": nobody has said. */
static int set_list(char *to, size_t size, const char *value, bool ok)
{
    if (strlen(value) >= size || (!ok && value[0] != 0))
        return GMPSIM_BAD;
    snprintf(to, size, "%s", value);
    return GMPSIM_OK;
}

int gmpsim_explore_set_text(gmpsim_explore *x, const char *name, const char *value)
{
    struct failure f = {0};
    int at = -1;
    if (x == NULL || name == NULL || value == NULL)
        return GMPSIM_BAD;
    if (strcmp(name, "faults") == 0)
        return faults_add(&f, &x->o.world.faults, value) ? GMPSIM_OK : GMPSIM_BAD;
    if (strcmp(name, "strategy") == 0)
        return set_list(x->strategy, sizeof x->strategy, value, plan_strategies(&f, value));
    if (strcmp(name, "granularity") == 0)
        return set_list(x->granularity, sizeof x->granularity, value,
                        strcmp(value, "sync,op") == 0 ||
                            place(value, GRANULARITIES, granularity_at) >= 0);
    if (strcmp(name, "profile") == 0)
        return set_profile(x, value);
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

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static bool is_over(void *arg, uint64_t runs)
{
    const gmpsim_explore *x = arg;
    (void)runs;
    return x->for_ns > 0 && now_ns() - x->began_ns >= x->for_ns;
}

static const char *said(const char *list) { return list[0] != 0 ? list : NULL; }

/* Without a limit on runs: a search that comes to an end goes there, and so does who was named;
 * others have none. */
static void without_limit(gmpsim_explore *x, struct portfolio *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct hunt_opts *o = &p->slices[i].o;
        bool no_end = plan_is_portfolio(said(x->strategy)) && !hunt_is_tree(o->strategy);
        o->runs_max = no_end ? PLAN_RUNS : UINT64_MAX;
    }
}

static bool plan(struct failure *f, gmpsim_explore *x, struct portfolio *p)
{
    const struct plan_wish wish = {said(x->strategy), said(x->granularity), said(x->procs)};
    struct hunt_opts base = x->o;
    *p = (struct portfolio){.look = is_over, .arg = x, .endless = x->for_ns > 0 && !x->runs_said};
    base.points_max = x->runs_said || x->for_ns > 0 ? 0 : PLAN_POINTS;
    if (!plan_add(f, p, &base, &wish))
        return false;
    if (x->runs_said && x->o.runs_max == 0)
        without_limit(x, p);
    return true;
}

static void say_covered(gmpsim_explore *x, const struct portfolio *p)
{
    char text[500];
    size_t size = 0;
    FILE *to = x_memstream(&x->covered, &size);
    for (uint32_t at = 0; portfolio_says(p, &at, text, sizeof text);)
        fprintf(to, "%s\n", text);
    x_memstream_close(to, &x->covered);
}

static bool make_small(struct failure *f, gmpsim_explore *x, bool by_operations)
{
    bool found;
    bool both = plan_is_portfolio(said(x->strategy)) && said(x->granularity) == NULL;
    return (!both || !by_operations || finding_by_turns(f, &x->finding, &found)) &&
           shrink(f, &x->finding, SHRINK_RUNS, &x->shrunk) && make_page(f, x);
}

static bool hunt_all(struct failure *f, gmpsim_explore *x)
{
    static struct portfolio p;
    const struct search_slice *by;
    x->began_ns = now_ns();
    if (!plan(f, x, &p))
        return false;
    enum portfolio_end end = portfolio_search(f, &p, &x->finding, &by);
    x->runs = p.runs;
    if (end == PORTFOLIO_DIVERGED)
        fail(f, E_INTERNAL, "the world did not repeat itself: a bug of the simulator");
    if (end == PORTFOLIO_FOUND)
        return make_small(f, x, by->o.world.granularity == GRANULARITY_OP);
    say_covered(x, &p);
    x->exhausted = portfolio_is_exhausted(&p);
    return end == PORTFOLIO_NOTHING;
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

const char *gmpsim_explore_covered(const gmpsim_explore *x)
{
    return x != NULL && x->covered != NULL ? x->covered : "";
}

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
