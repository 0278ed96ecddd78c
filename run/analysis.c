/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/analysis.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { PS_PER_NS = 1000 };
static const size_t arena_max = (size_t)8 << 30;

static struct hist *new_hist(struct analysis *a)
{
    struct hist *h = x_alloc(sizeof *h);
    hist_init(h, &a->arena, HIST_SAMPLES_DEFAULT);
    return h;
}

static struct run_group *group_of(struct analysis *a, uint32_t index)
{
    struct run_group *g = &a->groups[index < a->ngroups ? index : 0];
    if (g->life == NULL) {
        g->name = a->of->names->group(a->of->names->of, index);
        g->life = new_hist(a);
        g->wait = new_hist(a);
    }
    return g;
}

/* ---- work conservation ---- */

/* Adds up the time until now in which a P was idle and a goroutine runnable; called before the
 * number of either changes. */
static void beside_until(struct analysis *a, uint64_t now)
{
    if (now <= a->beside_at)
        return;
    uint64_t took = now - a->beside_at;
    a->beside_at = now;
    if (a->idle_ps == 0 || a->runnable == 0) {
        a->beside_stretch = 0;
        return;
    }
    a->beside.sum_ps += took;
    a->beside_stretch += took;
    if (a->beside_stretch > a->beside.longest_ps)
        a->beside.longest_ps = a->beside_stretch;
}

/* ---- goroutines ---- */

static void runnable_add(struct analysis *a, uint64_t now, int delta)
{
    beside_until(a, now);
    if (now > a->runnable_since) {
        uint64_t ns = (now - a->runnable_since) / PS_PER_NS;
        a->runnable_area += a->runnable * ns;
        /* a look (delta 0) leaves the rest of a nanosecond to the next call */
        a->runnable_since = delta != 0 ? now : a->runnable_since + ns * PS_PER_NS;
    }
    a->runnable += (uint64_t)(int64_t)delta;
    if (a->runnable > a->runnable_max)
        a->runnable_max = a->runnable;
    if (a->runnable > a->runnable_peak)
        a->runnable_peak = a->runnable;
}

/* ---- the warm-up ---- */

static void sum_ps(struct analysis *a, uint64_t now_ps, uint64_t sum[PC_COUNT]);

/* Sums that somebody wants from the beginning (the store's samples) are kept as they are then. */
static void mark(struct analysis *a)
{
    a->mark_at = UINT64_MAX;
    sum_ps(a, a->from_ps, a->before.p_ps);
    runnable_add(a, a->from_ps, 0);
    a->before.area = a->runnable_area;
    a->runnable_max = a->runnable;
    a->before.beside_ps = a->beside.sum_ps;
    a->beside_stretch = a->beside.longest_ps = 0;
}

/* To be called before anything that happens at this time is counted. */
static void at(struct analysis *a, uint64_t time)
{
    if (time >= a->mark_at)
        mark(a);
}

static uint64_t counted(const struct analysis *a, uint64_t since, uint64_t time)
{
    if (since < a->from_ps)
        since = a->from_ps;
    return time > since ? time - since : 0;
}

/* ---- goroutines, again ---- */

/* It was runnable up to now; still: and is, at the end. */
static void starved(struct analysis *a, uint32_t id, const struct tr_g *g, uint64_t time,
                    bool still)
{
    uint64_t ps = time - g->now.since;
    if (ps <= a->starved.ps || g->group == 0 || g->now.since < a->from_ps)
        return;
    const struct naming *n = a->of->names;
    a->starved = (struct run_starved){.goid = names_goid(n, id),
                                      .group = n->group(n->of, g->group),
                                      .since_ps = g->now.since,
                                      .ps = ps,
                                      .place = g->now.place,
                                      .p = g->now.p,
                                      .still = still};
}

static void waited(struct analysis *a, struct run_group *group, const struct tr_g *g, uint64_t time)
{
    int64_t ns = (int64_t)((time - g->now.since) / PS_PER_NS);
    if (g->now.since < a->from_ps)
        return;
    hist_record(group->wait, ns);
    if (g->group != 0)
        hist_record(&a->runq_wait, ns);
}

/* Nobody is in GS_NOTEXIST for any time, so GS_NOTEXIST may have any sum. */
static uint64_t *sum_of(struct run_group *g, uint8_t state)
{
    static const uint8_t at[GS_STATES] = {[GS_RUNNABLE] = offsetof(struct run_group, runnable_ps),
                                          [GS_RUNNING] = offsetof(struct run_group, running_ps),
                                          [GS_WAITING] = offsetof(struct run_group, waiting_ps),
                                          [GS_SYSCALL] = offsetof(struct run_group, syscall_ps),
                                          [GS_NOTEXIST] = offsetof(struct run_group, waiting_ps)};
    return (uint64_t *)((char *)g + at[state]);
}

static void g_changes(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next,
                      uint64_t time)
{
    struct analysis *a = arg;
    struct run_group *group = group_of(a, g->group);
    at(a, time);
    *sum_of(group, g->now.state) += counted(a, g->now.since, time);
    if (g->now.state == GS_RUNNABLE)
        starved(a, id, g, time, next == NULL);
    if (next == NULL)
        return;
    if (g->now.state == GS_NOTEXIST && time >= a->from_ps)
        group->created++;
    if (next->state == GS_NOTEXIST && time >= a->from_ps)
        group->exited++;
    if (next->state == GS_NOTEXIST && g->born >= a->from_ps)
        hist_record(group->life, (int64_t)((time - g->born) / PS_PER_NS));
    if (g->now.state == GS_RUNNABLE && next->state == GS_RUNNING)
        waited(a, group, g, time);
    bool was = g->now.state == GS_RUNNABLE, is = next->state == GS_RUNNABLE;
    if (was != is)
        runnable_add(a, time, is ? 1 : -1);
}

/* ---- Ps ---- */

static uint64_t *p_of(struct analysis *a, uint16_t id)
{
    X_REACH(a->ps, a->nps, id, id + 1U);
    return a->ps[id];
}

static void p_changes(void *arg, uint16_t id, const struct p_now *now, const struct p_now *next,
                      uint64_t time)
{
    struct analysis *a = arg;
    enum p_class c = p_class_of(now);
    at(a, time);
    if (c != PC_COUNT)
        p_of(a, id)[c] += time - now->since;
    bool was = now->doing == PD_IDLE, is = next != NULL ? next->doing == PD_IDLE : was;
    if (was == is)
        return;
    beside_until(a, time);
    if (is)
        a->idle_ps++;
    else
        a->idle_ps--;
}

static void sum_ps(struct analysis *a, uint64_t now_ps, uint64_t sum[PC_COUNT])
{
    const struct transitions *t = a->of;
    for (int c = 0; c < PC_COUNT; c++)
        sum[c] = 0;
    for (size_t i = 0; i < a->nps; i++)
        for (int c = 0; c < PC_COUNT; c++)
            sum[c] += a->ps[i][c];
    for (size_t i = 0; i < t->nps; i++) {
        enum p_class c = p_class_of(&t->ps[i]);
        if (c != PC_COUNT && now_ps > t->ps[i].since)
            sum[c] += now_ps - t->ps[i].since;
    }
}

void analysis_ps_until(struct analysis *a, uint64_t now_ps, uint64_t sum[PC_COUNT])
{
    at(a, now_ps);
    runnable_add(a, now_ps, 0);
    sum_ps(a, now_ps, sum);
}

void analysis_after_warmup(struct analysis *a, uint64_t now_ps, struct run_result *to)
{
    analysis_ps_until(a, now_ps, to->p_ps);
    bool none = now_ps < a->from_ps; /* the run was over before the warm-up */
    for (int c = 0; c < PC_COUNT; c++)
        to->p_ps[c] = none ? 0 : to->p_ps[c] - a->before.p_ps[c];
    to->runnable_area = none ? 0 : a->runnable_area - a->before.area;
    to->runnable_max = none ? 0 : a->runnable_max;
    to->beside = a->beside;
    to->beside.sum_ps = none ? 0 : a->beside.sum_ps - a->before.beside_ps;
}

/* ---- spans ---- */

static void span_ends(void *arg, const struct tr_span *s, uint32_t by, uint64_t time, bool open)
{
    struct analysis *a = arg;
    const struct run_span *of = &a->span_stats[s->span];
    (void)by;
    if (s->began >= a->from_ps)
        hist_record(open ? of->open : of->latency,
                    (int64_t)(time / PS_PER_NS) - (int64_t)(s->began / PS_PER_NS));
}

/* ---- the result ---- */

/* Of one name there is one group: a program may call its own "main" or "runtime", and a function is
 * a group of its name. */
static void add_group(struct run_result *q, const struct run_group *g)
{
    struct run_group *to = q->groups;
    while (to < q->groups + q->ngroups && strcmp(to->name, g->name) != 0)
        to++;
    if (to == q->groups + q->ngroups) {
        *to = *g;
        q->ngroups++;
        return;
    }
    to->created += g->created;
    to->exited += g->exited;
    to->running_ps += g->running_ps;
    to->runnable_ps += g->runnable_ps;
    to->waiting_ps += g->waiting_ps;
    to->syscall_ps += g->syscall_ps;
    hist_merge(to->life, g->life);
    hist_merge(to->wait, g->wait);
}

static bool was_there(const struct run_group *g)
{
    return g->created + g->exited + g->running_ps + g->runnable_ps + g->waiting_ps + g->syscall_ps >
           0;
}

void analysis_fill(struct analysis *a, struct run_result *q)
{
    q->starved = a->starved;
    q->spans = a->span_stats;
    q->nspans = a->nspans;
    q->runq_wait = &a->runq_wait;
    q->groups = x_alloc(a->ngroups * sizeof *q->groups);
    for (size_t i = 1; i <= a->ngroups; i++) { /* the runtime's own come last */
        const struct run_group *g = &a->groups[i % a->ngroups];
        if (was_there(g))
            add_group(q, g);
    }
}

/* ---- life ---- */

bool analysis_init(struct analysis *a, struct transitions *t, uint64_t warmup_ps, struct failure *f)
{
    const struct naming *names = t->names;
    memset(a, 0, sizeof *a);
    if (arena_init(&a->arena, arena_max, 0, f) != 0)
        return false;
    a->of = t;
    a->from_ps = warmup_ps;
    a->mark_at = warmup_ps > 0 ? warmup_ps : UINT64_MAX;
    a->groups = x_alloc(names->ngroups * sizeof *a->groups);
    a->ngroups = names->ngroups;
    a->span_stats = x_alloc(names->nspans * sizeof *a->span_stats);
    a->nspans = names->nspans;
    for (uint32_t i = 0; i < a->nspans; i++)
        a->span_stats[i] = (struct run_span){
            .name = names->span(names->of, i), .latency = new_hist(a), .open = new_hist(a)};
    hist_init(&a->runq_wait, &a->arena, HIST_SAMPLES_DEFAULT);
    transitions_listen(
        t, &(struct listener){.arg = a, .g = g_changes, .p = p_changes, .span_ends = span_ends});
    return true;
}

void analysis_release(struct analysis *a)
{
    for (size_t i = 0; i < a->ngroups; i++) {
        free(a->groups[i].life);
        free(a->groups[i].wait);
    }
    for (size_t i = 0; i < a->nspans; i++) {
        free(a->span_stats[i].latency);
        free(a->span_stats[i].open);
    }
    free(a->groups);
    free(a->span_stats);
    free(a->ps);
    arena_release(&a->arena);
    memset(a, 0, sizeof *a);
}
