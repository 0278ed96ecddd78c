/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/starved.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/host.h"
#include "sim/explore/explore.h"

/* A point takes as long as a turn: a slice of 10 ms is ten thousand of them, and not a million.
 * Where nobody at all gets on, nobody is in anybody's way, and a few slices are long enough. Else a
 * goroutine may have to wait for 61 slices of each of the others, as in a run. */
enum { POINT_NS = 1000, NOBODY_NS = 100000000, GS_SHOWN = 8 };

#define PS_PER_NS UINT64_C(1000)

static bool computes(uint64_t goid)
{
    for (int tid = 0; tid < ex_threads(); tid++) {
        struct look_p p;
        int32_t id = ex_computes_on(tid);
        if (id < 0)
            continue;
        host_explore.window->p(core_explore.runtime(), id, &p);
        if (p.curg == goid)
            return true;
    }
    return false;
}

static bool could_go_on(const struct run_g *g)
{
    return strcmp(g->is->status, "runnable") == 0 ||
           (strcmp(g->is->status, "running") == 0 && !computes(g->goid));
}

static void forget(struct starved *s, uint64_t goid)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->goid[i] == goid)
            s->goid[i] = s->goid[--s->count];
}

static bool gets_on(void *arg, int32_t id)
{
    struct starved *s = arg;
    struct look_p p;
    host_explore.window->p(core_explore.runtime(), id, &p);
    if (p.curg == 0)
        return true;
    if (!s->others)
        ex_fair_until(STARVED_PS * s->all);
    s->others = true;
    forget(s, p.curg);
    return s->count > 0;
}

bool starved_begin(struct starved *s, const struct program *p)
{
    size_t n;
    struct run_g *gs = host_explore.window->gs(core_explore.runtime(), p, /*system*/ false, &n);
    *s = (struct starved){.program = p};
    for (size_t i = 0; i < n && s->count < LOOK_RUNNABLE_MAX; i++)
        if (could_go_on(&gs[i]))
            s->goid[s->count++] = gs[i].goid;
    free(gs);
    s->all = s->count;
    if (s->count == 0)
        return false;
    struct ex_fair how = {.point_ps = POINT_NS * PS_PER_NS * s->all,
                          .until_ps = NOBODY_NS * PS_PER_NS * s->all,
                          .gets_on = gets_on,
                          .arg = s};
    ex_go_fairly(&how);
    return true;
}

/* ---- words ---- */

static bool is_watched(const struct starved *s, uint64_t goid)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->goid[i] == goid)
            return true;
    return false;
}

size_t say_goroutine(const struct run_g *g, const char *before, char *buf, size_t size)
{
    if (g->is->line == 0 && g->is->group[0] == 0)
        return (size_t)snprintf(buf, size, "%sgoroutine %" PRIu64 " of the runtime", before,
                                g->goid);
    return (size_t)snprintf(buf, size, "%sgoroutine %" PRIu64 " in %.60s at line %" PRIu32, before,
                            g->goid, g->is->group, g->is->line);
}

/* Runnable ones first: they wait for nobody but the scheduler. */
static const struct run_g *who(const struct starved *s, const struct run_result *r,
                               const char *status)
{
    for (size_t i = 0; i < r->ngs; i++)
        if (is_watched(s, r->gs[i].goid) && strcmp(r->gs[i].is->status, status) == 0 &&
            could_go_on(&r->gs[i]))
            return &r->gs[i];
    return NULL;
}

const char *starved_judge(const struct starved *s, const struct run_result *r, char *buf,
                          size_t size)
{
    const struct run_g *runnable = who(s, r, "runnable"), *runs = who(s, r, "running");
    if (!ex_fair_over() || (runnable == NULL && runs == NULL))
        return NULL;
    const struct run_g *g = runnable != NULL ? runnable : runs;
    bool starves = runnable != NULL || s->others;
    size_t n = say_goroutine(g, starves ? "starvation: " : "livelock: ", buf, size);
    n += (size_t)snprintf(buf + n, size - n, "%s, %s",
                          runnable != NULL ? " is runnable and nobody lets it run"
                                           : " runs and does not get to its next instruction",
                          s->others ? "though others get on" : "nor does anybody else get on");
    for (size_t i = 0, shown = 0; i < r->ngs && shown < GS_SHOWN && n < size; i++)
        if (&r->gs[i] != g)
            n += say_goroutine(&r->gs[i], shown++ == 0 ? "; also there: " : ", ", buf + n,
                               size - n);
    return starves ? "starvation" : "livelock";
}
