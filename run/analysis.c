/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "sim/base/event_get.h"

enum { PS_PER_NS = 1000, GROUPS_FIXED = 1 }; /* group 0: the runtime's goroutines */
static const size_t arena_max = (size_t)8 << 30;

enum gstate { GS_RUNNABLE, GS_RUNNING, GS_WAITING, GS_SYSCALL };

/* ---- groups: the runtime's, the program's, and one per function for goroutines without ---- */

uint32_t analysis_group(const struct program *p, const struct event_rec *r)
{
    struct got_g_create x = get_g_create(r);
    uint32_t func = (uint32_t)x.func;
    if (x.kind == EV_born_runtime)
        return 0;
    if (x.group >= 0 && (uint32_t)x.group < p->ngroups && func != p->main)
        return GROUPS_FIXED + (uint32_t)x.group;
    return GROUPS_FIXED + p->ngroups + (func < p->nfuncs ? func : p->main);
}

const char *analysis_group_name(const struct program *p, uint32_t index)
{
    if (index < GROUPS_FIXED)
        return "runtime";
    index -= GROUPS_FIXED;
    return index < p->ngroups ? p->groups[index] : p->funcs[index - p->ngroups].name;
}

static struct hist *new_hist(struct analysis *a)
{
    struct hist *h = x_alloc(sizeof *h);
    hist_init(h, &a->arena, HIST_SAMPLES_DEFAULT);
    return h;
}

static struct run_group *group_of(struct analysis *a, uint32_t index)
{
    struct run_group *g = &a->groups[index];
    if (g->life == NULL) {
        g->name = analysis_group_name(a->program, index);
        g->life = new_hist(a);
        g->wait = new_hist(a);
    }
    return g;
}

bool analysis_init(struct analysis *a, const struct program *program, struct failure *f)
{
    memset(a, 0, sizeof *a);
    if (arena_init(&a->arena, arena_max, 0, f) != 0)
        return false;
    a->program = program;
    gtable_init(&a->gs, sizeof(struct goroutine));
    a->ngroups = GROUPS_FIXED + program->ngroups + program->nfuncs;
    a->groups = x_alloc(a->ngroups * sizeof *a->groups);
    a->span_stats = x_alloc(program->nspans * sizeof *a->span_stats);
    for (uint32_t i = 0; i < program->nspans; i++)
        a->span_stats[i] = (struct run_span){.name = program->spans[i], .latency = new_hist(a)};
    hist_init(&a->runq_wait, &a->arena, HIST_SAMPLES_DEFAULT);
    return true;
}

void analysis_release(struct analysis *a)
{
    for (size_t i = 0; a->groups != NULL && i < a->ngroups; i++) {
        free(a->groups[i].life);
        free(a->groups[i].wait);
    }
    for (uint32_t i = 0; a->span_stats != NULL && i < a->program->nspans; i++)
        free(a->span_stats[i].latency);
    free(a->groups);
    free(a->span_stats);
    free(a->ps);
    gtable_release(&a->gs);
    map_release(&a->spans);
    arena_release(&a->arena);
    memset(a, 0, sizeof *a);
}

/* ---- work conservation ---- */

/* Before anything changes that it depends on. */
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

/* ---- Ps ---- */

static bool is_idle(const struct pclock *p) { return p->state == PC_IDLE && !p->gone; }

static void p_becomes(struct analysis *a, struct pclock *p, enum p_class state, bool gone,
                      uint64_t now)
{
    beside_until(a, now);
    a->idle_ps -= is_idle(p);
    p->state = (uint8_t)state;
    p->gone = gone;
    a->idle_ps += is_idle(p);
}

static struct pclock *p_of(struct analysis *a, uint32_t id, uint64_t now)
{
    if (id >= a->nps) {
        size_t n = (size_t)id + 1;
        a->ps = x_grow(a->ps, n * sizeof *a->ps);
        for (size_t i = a->nps; i < n; i++)
            a->ps[i] = (struct pclock){.since = now, .state = PC_IDLE};
        beside_until(a, now);
        a->idle_ps += (uint32_t)(n - a->nps);
        a->nps = n;
    }
    return &a->ps[id];
}

/* An M that waits for a CPU while all of them are throttled waits for quota. */
static enum p_class class_of(const struct analysis *a, const struct pclock *p)
{
    if (p->throttled)
        return PC_THROTTLED;
    if (p->off_cpu && p->state != PC_SYSCALL && p->state != PC_IDLE)
        return a->cpus > 0 && a->cpus_throttled >= a->cpus ? PC_THROTTLED : PC_NOCPU;
    if (p->asleep && p->state != PC_SYSCALL && p->state != PC_IDLE)
        return PC_SCHED; /* with its P: on a lock of the runtime */
    return (enum p_class)p->state;
}

static void p_charge(const struct analysis *a, struct pclock *p, uint64_t now)
{
    if (now <= p->since)
        return;
    if (!p->gone) {
        enum p_class c = class_of(a, p);
        p->ps[c] += now - p->since;
        if (c == PC_USER)
            p->stretch += now - p->since;
    }
    p->since = now;
}

static void p_resize(struct analysis *a, uint32_t count, uint64_t now)
{
    if (count > 0)
        p_of(a, count - 1, now);
    for (size_t i = 0; i < a->nps; i++) {
        p_charge(a, &a->ps[i], now);
        p_becomes(a, &a->ps[i], (enum p_class)a->ps[i].state, i >= count, now);
    }
}

static void p_enter(struct analysis *a, const struct event_rec *r, enum p_class state)
{
    if (r->p == EVENT_NO_P)
        return;
    struct pclock *p = p_of(a, r->p, r->time);
    p_charge(a, p, r->time);
    p_becomes(a, p, state, p->gone, r->time);
}

static void p_leave(struct analysis *a, uint32_t id, uint64_t now)
{
    struct pclock *p = p_of(a, id, now);
    p_charge(a, p, now);
    p_becomes(a, p, PC_IDLE, p->gone, now);
    p->off_cpu = p->throttled = false;
}

static void cpu_throttled(struct analysis *a, uint64_t now, int delta)
{
    for (size_t i = 0; i < a->nps; i++)
        p_charge(a, &a->ps[i], now);
    a->cpus_throttled += delta;
}

static void p_cpu(struct analysis *a, const struct event_rec *r, bool off, bool throttled)
{
    if (r->p == EVENT_NO_P)
        return;
    struct pclock *p = p_of(a, r->p, r->time);
    p_charge(a, p, r->time);
    p->off_cpu = off;
    p->throttled = throttled;
    p->asleep = r->type == EV_HOST_OFF_CPU && !off;
}

/* On a CPU again; an M that slept has waited for it since it woke. */
static void p_on_cpu(struct analysis *a, const struct event_rec *r)
{
    if (r->p == EVENT_NO_P)
        return;
    struct pclock *p = p_of(a, r->p, r->time);
    if (!p->off_cpu && r->a > 0) {
        p_charge(a, p, r->time - r->a * 1000);
        p->off_cpu = true;
    }
    p_cpu(a, r, /*off*/ false, /*throttled*/ false);
}

static void p_spun(struct analysis *a, const struct event_rec *r)
{
    if (r->p == EVENT_NO_P)
        return;
    struct pclock *p = p_of(a, r->p, r->time);
    if (p->state == PC_SCHED)
        p->state = PC_SPIN;
    p_charge(a, p, r->time);
    p->state = PC_SCHED;
}

static void p_assisted(struct analysis *a, const struct event_rec *r)
{
    if (r->p == EVENT_NO_P)
        return;
    struct pclock *p = p_of(a, r->p, r->time);
    uint64_t ps = r->a * PS_PER_NS;
    p_charge(a, p, r->time);
    if (ps > p->stretch)
        ps = p->stretch;
    p->stretch -= ps;
    p->ps[PC_USER] -= ps;
    p->ps[PC_GC] += ps;
}

/* ---- goroutines ---- */

static void runnable_add(struct analysis *a, uint64_t now, int delta)
{
    beside_until(a, now);
    if (now > a->runnable_since) {
        a->runnable_area += a->runnable * ((now - a->runnable_since) / PS_PER_NS);
        a->runnable_since = now;
    }
    a->runnable += (uint64_t)(int64_t)delta;
    if (a->runnable > a->runnable_max)
        a->runnable_max = a->runnable;
    if (a->runnable > a->runnable_peak)
        a->runnable_peak = a->runnable;
}

static void g_charge(struct run_group *g, struct goroutine *s, uint64_t now)
{
    uint64_t *const sums[] = {&g->runnable_ps, &g->running_ps, &g->waiting_ps, &g->syscall_ps};
    if (now > s->since) {
        *sums[s->state] += now - s->since;
        s->since = now;
    }
}

static struct goroutine *g_enter(struct analysis *a, const struct event_rec *r, enum gstate state)
{
    struct goroutine *s = gtable_find(&a->gs, r->g);
    if (s == NULL)
        return NULL;
    g_charge(&a->groups[s->group], s, r->time);
    bool was = s->state == GS_RUNNABLE, is = state == GS_RUNNABLE;
    if (was != is)
        runnable_add(a, r->time, is ? 1 : -1);
    s->state = (uint8_t)state;
    s->p = r->p;
    return s;
}

static void g_create(struct analysis *a, const struct event_rec *r)
{
    uint32_t index = analysis_group(a->program, r);
    group_of(a, index)->created++;
    struct goroutine *s = gtable_put(&a->gs, r->g);
    bool parked = get_g_create(r).kind == EV_born_coroutine;
    *s = (struct goroutine){.since = r->time,
                            .born = r->time,
                            .group = index,
                            .p = EVENT_NO_P,
                            .state = parked ? GS_WAITING : GS_RUNNABLE};
    if (!parked)
        runnable_add(a, r->time, 1);
}

static void g_start(struct analysis *a, const struct event_rec *r)
{
    struct goroutine *s = g_enter(a, r, GS_RUNNING);
    p_enter(a, r, s != NULL && s->group == 0 ? PC_GC : PC_USER);
    if (r->p != EVENT_NO_P)
        p_of(a, r->p, r->time)->stretch = 0;
    if (s == NULL)
        return;
    hist_record(a->groups[s->group].wait, (int64_t)r->a);
    if (s->group != 0)
        hist_record(&a->runq_wait, (int64_t)r->a);
}

static void g_exit(struct analysis *a, const struct event_rec *r)
{
    struct goroutine *s = g_enter(a, r, GS_WAITING);
    p_enter(a, r, PC_SCHED);
    if (s == NULL)
        return;
    struct run_group *g = &a->groups[s->group];
    g->exited++;
    hist_record(g->life, (int64_t)((r->time - s->born) / PS_PER_NS));
    gtable_take(&a->gs, r->g);
}

static void g_syscall_exit(struct analysis *a, const struct event_rec *r)
{
    if (get_g_syscall_exit(r).place == EV_place_none) {
        g_enter(a, r, GS_RUNNING);
        p_enter(a, r, PC_USER);
    } else {
        g_enter(a, r, GS_RUNNABLE);
    }
}

/* ---- spans ---- */

static void span_begin(struct analysis *a, const struct event_rec *r)
{
    if (r->b >= a->program->nspans)
        return;
    struct map_slot *s = map_put(&a->spans, r->a, r->b);
    if (!s->a)
        a->span_stats[r->b].open++;
    s->a = 1;
    s->at = a->span_since != 0 ? a->span_since - 1 : r->time / PS_PER_NS;
    a->span_since = 0;
}

static void span_end(struct analysis *a, const struct event_rec *r)
{
    struct map_slot *s = r->b < a->program->nspans ? map_find(&a->spans, r->a, r->b) : NULL;
    if (s == NULL)
        return;
    int64_t took = (int64_t)(r->time / PS_PER_NS) - (int64_t)s->at;
    hist_record(a->span_stats[r->b].latency, took < 0 ? 0 : took);
    a->span_stats[r->b].open--;
    map_take(&a->spans, s);
}

/* ---- records ---- */

static void retaken(struct analysis *a, const struct event_rec *r)
{
    p_leave(a, get_p_retake(r).of_p.id, r->time);
}

static void feed_p(struct analysis *a, const struct event_rec *r)
{
    switch ((enum event_type)r->type) {
    case EV_P_START:
        p_cpu(a, r, /*off*/ false, /*throttled*/ false); /* its M runs: it says so */
        p_enter(a, r, PC_SCHED);
        break;
    case EV_P_STOP:
        if (r->p != EVENT_NO_P)
            p_leave(a, r->p, r->time);
        break;
    case EV_P_RETAKE: retaken(a, r); break;
    case EV_P_RESIZE: p_resize(a, get_p_resize(r).to, r->time); break;
    case EV_M_SPIN_BEGIN: p_enter(a, r, PC_SPIN); break;
    case EV_M_SPIN_END: p_spun(a, r); break;
    case EV_GC_ASSIST_END: p_assisted(a, r); break;
    case EV_HOST_ON_CPU: p_on_cpu(a, r); break;
    case EV_HOST_OFF_CPU:
        p_cpu(a, r, /*off*/ get_host_off_cpu(r).why == EV_off_taken, /*throttled*/ false);
        break;
    case EV_THROTTLE_ON:
        cpu_throttled(a, r->time, 1);
        p_cpu(a, r, /*off*/ true, /*throttled*/ true);
        break;
    case EV_THROTTLE_OFF:
        cpu_throttled(a, r->time, -1);
        p_cpu(a, r, /*off*/ true, /*throttled*/ false);
        break;
    default: break;
    }
}

static void feed(struct analysis *a, const struct event_rec *r)
{
    switch ((enum event_type)r->type) {
    case EV_G_CREATE: g_create(a, r); break;
    case EV_G_START: g_start(a, r); break;
    case EV_G_PARK:
        g_enter(a, r, GS_WAITING);
        p_enter(a, r, PC_SCHED);
        break;
    case EV_G_READY: g_enter(a, r, GS_RUNNABLE); break;
    case EV_G_GOSCHED:
    case EV_G_PREEMPT:
        g_enter(a, r, GS_RUNNABLE);
        p_enter(a, r, PC_SCHED);
        break;
    case EV_G_EXIT: g_exit(a, r); break;
    case EV_G_SYSCALL_ENTER:
        g_enter(a, r, GS_SYSCALL);
        p_enter(a, r, PC_SYSCALL);
        break;
    case EV_G_SYSCALL_EXIT: g_syscall_exit(a, r); break;
    case EV_SPAN_SINCE: a->span_since = (uint64_t)get_span_since(r).began_ns + 1; break;
    case EV_SPAN_BEGIN: span_begin(a, r); break;
    case EV_SPAN_END: span_end(a, r); break;
    default: feed_p(a, r); break;
    }
}

void analysis_feed(struct analysis *a, const struct event_rec *recs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        feed(a, &recs[i]);
    if (count > 0 && recs[count - 1].time > a->now)
        a->now = recs[count - 1].time;
}

void analysis_ps_until(struct analysis *a, uint64_t now_ps, uint64_t sum[PC_COUNT])
{
    runnable_add(a, now_ps, 0);
    for (int c = 0; c < PC_COUNT; c++)
        sum[c] = 0;
    for (size_t i = 0; i < a->nps; i++) {
        p_charge(a, &a->ps[i], now_ps);
        a->ps[i].stretch = 0; /* or a sample could have less than no time */
        for (int c = 0; c < PC_COUNT; c++)
            sum[c] += a->ps[i].ps[c];
    }
}

void analysis_until(struct analysis *a, uint64_t now_ps)
{
    runnable_add(a, now_ps, 0);
    for (size_t i = 0; i < a->nps; i++)
        p_charge(a, &a->ps[i], now_ps);
    struct goroutine *s;
    for (uint64_t goid = 0; (s = gtable_next(&a->gs, &goid)) != NULL; goid++)
        g_charge(&a->groups[s->group], s, now_ps);
}
