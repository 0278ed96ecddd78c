/* SPDX-License-Identifier: BSD-3-Clause */
/* Records as a source of transitions: the one place that knows what an event means for a goroutine,
 * a P, an M and a span. */
#include "run/transitions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/change.h"
#include "sim/base/alloc.h"
#include "sim/base/event_get.h"

_Static_assert(TR_NONE == EVENT_NO_P, "as in records, of an M and of a P");

enum { PS = 1000 }; /* in a nanosecond */

/* ---- goroutines, and what their P does then ---- */

static struct g_now g_at(const struct event_rec *r, enum g_state state)
{
    return (struct g_now){.p = r->p, .m = r->m, .pc = EVENT_NO_PC, .state = (uint8_t)state};
}

static struct g_now runnable(const struct event_rec *r, enum ev_place place, uint32_t by)
{
    struct g_now next = g_at(r, GS_RUNNABLE);
    next.place = (uint8_t)place;
    next.by = by;
    return next;
}

static void g_changes(struct transitions *t, const struct event_rec *r, struct g_now *next)
{
    struct tr_g *g = tr_find_g(t, r->g);
    if (g != NULL)
        change_g(t, r->time, r->g, g, next);
}

/* The record's P does something else now, with the CPU that its M has. */
static void p_does(struct transitions *t, const struct event_rec *r, enum p_doing doing, uint32_t g)
{
    struct p_now next = {.g = g, .m = r->m, .doing = (uint8_t)doing};
    if (__builtin_expect(r->p < t->nps && r->p < t->procs, 1)) {
        next.said_cpu = t->ps[r->p].said_cpu;
        change_p(t, r->time, r->p, &t->ps[r->p], &next);
        return;
    }
    const struct p_now *p = tr_find_p(t, r->p);
    next.cpu = p != NULL ? p->said_cpu : (uint8_t)CPU_ON;
    put_p(t, r->time, r->p, next);
}

static void g_created(struct transitions *t, const struct event_rec *r)
{
    struct got_g_create x = get_g_create(r);
    struct g_now first = runnable(r, x.place, x.parent.id);
    if (x.kind == EV_born_coroutine) {
        first.state = GS_WAITING;
        first.reason = EV_wait_Coroutine;
    } else if (x.kind == EV_born_foreign) {
        first.state = GS_SYSCALL;
    }
    put_g_born(t, r->time, r->g, names_born(t->names, r), x.parent.id, &first);
}

static void p_runs(struct transitions *t, const struct event_rec *r, const struct tr_g *g)
{
    p_does(t, r, g != NULL && g->group == 0 ? PD_SYSTEM : PD_USER, r->g);
}

static void g_runs(struct transitions *t, const struct event_rec *r)
{
    struct g_now next = g_at(r, GS_RUNNING);
    struct tr_g *g = tr_find_g(t, r->g);
    if (g != NULL)
        change_g(t, r->time, r->g, g, &next);
    p_runs(t, r, g);
}

static void g_parks(struct transitions *t, const struct event_rec *r)
{
    struct got_g_park x = get_g_park(r);
    struct g_now next = g_at(r, GS_WAITING);
    next.reason = (uint16_t)x.reason;
    struct tr_g *g = tr_find_g(t, r->g);
    if (g != NULL && names_has_code(t->names, g->group))
        next.pc = x.pc;
    if (g != NULL)
        change_g(t, r->time, r->g, g, &next);
    p_does(t, r, PD_SCHED, 0);
}

static void g_put_back(struct transitions *t, const struct event_rec *r, enum ev_place place,
                       uint16_t reason)
{
    struct g_now next = runnable(r, place, EVENT_NO_G);
    next.reason = reason;
    g_changes(t, r, &next);
    p_does(t, r, PD_SCHED, 0);
}

static void put_runnable(struct transitions *t, const struct event_rec *r, enum ev_place place,
                         uint32_t by)
{
    struct g_now next = runnable(r, place, by);
    g_changes(t, r, &next);
}

static void g_leaves_syscall(struct transitions *t, const struct event_rec *r)
{
    enum ev_place place = get_g_syscall_exit(r).place;
    if (place == EV_place_none) /* it kept or got a P */
        g_runs(t, r);
    else
        put_runnable(t, r, place, EVENT_NO_G);
}

/* ---- what was there before anybody looked ---- */

static void timer_fired(struct transitions *t, const struct event_rec *r)
{
    int64_t when = get_timer_fire(r).when_ns;
    if (r->m == TR_NONE)
        return;
    if (r->m >= t->nfired) {
        size_t n = (size_t)r->m + 16;
        t->fired = x_grow(t->fired, n * sizeof *t->fired);
        memset(t->fired + t->nfired, 0, (n - t->nfired) * sizeof *t->fired);
        t->nfired = n;
    }
    t->fired[r->m] = when > 0 ? (uint64_t)when * PS : 0;
}

static void seen_late(struct transitions *t, const struct event_rec *r)
{
    struct got_netpoll_late x = get_netpoll_late(r);
    X_ROOM(t->late, t->nlate, t->late_room, 16);
    t->late[t->nlate++] = (struct tr_late){.since = (uint64_t)x.since_ns * PS, .fd = x.fd};
}

/* Who waited for the descriptor is made runnable by a record of its own. */
static void fd_ready(struct transitions *t, const struct event_rec *r)
{
    int32_t fd = get_netpoll_ready(r).fd;
    uint32_t i = 0;
    while (i < t->nlate && t->late[i].fd != fd)
        i++;
    if (i == t->nlate)
        return;
    t->late[i].g = r->g;
    if (r->g == EVENT_NO_G)
        t->late[i] = t->late[--t->nlate];
}

static uint64_t due_of_fd(struct transitions *t, uint32_t g)
{
    for (uint32_t i = 0; i < t->nlate; i++)
        if (t->late[i].g == g) {
            uint64_t due = t->late[i].since;
            t->late[i] = t->late[--t->nlate];
            return due;
        }
    return 0;
}

static uint64_t due_of(struct transitions *t, const struct event_rec *r)
{
    const struct tr_g *g = tr_find_g(t, r->g);
    if (g == NULL || g->now.state != GS_WAITING)
        return 0;
    if (tr_kind(t, g->now.reason) == WK_TIMER)
        return r->m < t->nfired ? t->fired[r->m] : 0;
    return t->nlate > 0 ? due_of_fd(t, r->g) : 0;
}

static void g_ready(struct transitions *t, const struct event_rec *r)
{
    struct got_g_ready x = get_g_ready(r);
    t->due = due_of(t, r);
    put_runnable(t, r, x.place, x.by.id);
    t->due = 0;
}

static void g_preempted(struct transitions *t, const struct event_rec *r)
{
    struct got_g_preempt x = get_g_preempt(r);
    g_put_back(t, r, x.place, x.why == EV_preempt_slice ? t->preempted : t->yielded);
}

static void g_ended(struct transitions *t, const struct event_rec *r)
{
    p_does(t, r, PD_SCHED, 0); /* first: listeners that hear of the P may look the goroutine up */
    struct g_now next = g_at(r, GS_NOTEXIST);
    g_changes(t, r, &next);
}

static void g_enters_syscall(struct transitions *t, const struct event_rec *r)
{
    struct g_now next = g_at(r, GS_SYSCALL);
    g_changes(t, r, &next);
    p_does(t, r, PD_SYSCALL, r->g);
}

static void g_moved(struct transitions *t, const struct event_rec *r)
{
    struct got_g_move x = get_g_move(r);
    put_g_place(t, r->time, r->g, x.place, x.to_p.id);
}

/* ---- Ps and Ms ---- */

static void m_does(struct transitions *t, const struct event_rec *r, enum m_doing doing)
{
    if (!t->of_m)
        return;
    const struct m_now *m = tr_find_m(t, r->m);
    put_m(t, r->time, r->m,
          (struct m_now){.p = r->p, .doing = (uint8_t)doing, .why = m != NULL ? m->why : 0});
}

static void m_made(struct transitions *t, const struct event_rec *r)
{
    struct got_m_create x = get_m_create(r);
    put_m(t, r->time, x.new_m.id,
          (struct m_now){.p = TR_NONE, .doing = MD_MADE, .why = (uint8_t)x.why});
}

static void p_started(struct transitions *t, const struct event_rec *r)
{
    bool spins = get_p_start(r).spinning;
    put_p(t, r->time, r->p, /* CPU_ON: the record comes from its M, so that one runs */
          (struct p_now){.m = r->m, .doing = spins ? PD_SPIN : PD_SCHED, .cpu = CPU_ON});
    m_does(t, r, spins ? MD_SPINS : MD_RUNS);
}

static void p_idles(struct transitions *t, const struct event_rec *r, uint16_t p)
{
    put_p(t, r->time, p, (struct p_now){.m = TR_NONE, .doing = PD_IDLE});
}

static void p_steals(struct transitions *t, const struct event_rec *r)
{
    struct got_p_steal x = get_p_steal(r);
    put_steal(t, r->time, x.from_p.id, r->p, r->g, x.count);
    put_g_place(t, r->time, r->g, EV_place_kept, r->p);
}

static void m_spins(struct transitions *t, const struct event_rec *r)
{
    m_does(t, r, MD_SPINS);
    p_does(t, r, PD_SPIN, 0);
}

static void m_spun(struct transitions *t, const struct event_rec *r)
{
    m_does(t, r, MD_RUNS);
    p_does(t, r, PD_SCHED, 0);
}

/* ---- CPUs of the host ---- */

static void m_has(struct transitions *t, const struct event_rec *r, enum p_cpu cpu)
{
    const struct p_now *p = tr_find_p(t, r->p);
    if (p == NULL)
        return;
    struct p_now next = *p;
    next.cpu = (uint8_t)cpu;
    put_p(t, r->time, r->p, next);
}

/* An M that slept has waited for its CPU since it woke, where nobody said so then. */
static void m_on_cpu(struct transitions *t, const struct event_rec *r)
{
    const struct p_now *p = tr_find_p(t, r->p);
    uint64_t waited = get_host_on_cpu(r).waited_ns;
    if (p != NULL && waited > 0 && (p->said_cpu == CPU_ON || p->said_cpu == CPU_SLEEPS))
        put_p_waited(t, r->time, r->p, waited * PS);
    m_has(t, r, CPU_ON);
}

static void m_off_cpu(struct transitions *t, const struct event_rec *r)
{
    m_has(t, r, get_host_off_cpu(r).why == EV_off_taken ? CPU_WAITS : CPU_SLEEPS);
}

static void throttled(struct transitions *t, const struct event_rec *r, int delta, enum p_cpu cpu)
{
    put_throttled(t, r->time, delta, r->m);
    m_has(t, r, cpu);
}

/* ---- spans and the world ---- */

static void span_began(struct transitions *t, const struct event_rec *r)
{
    struct got_span_begin x = get_span_begin(r);
    struct tr_span s = {.key = x.key,
                        .began = t->span_since != 0 ? t->span_since : r->time,
                        .span = x.span,
                        .g = r->g,
                        .p = r->p,
                        .m = r->m};
    t->span_since = 0;
    put_span_begin(t, r->time, &s);
}

static void span_ended(struct transitions *t, const struct event_rec *r)
{
    struct got_span_end x = get_span_end(r);
    put_span_end(t, r->time, x.span, x.key, r->g);
}

static void since(struct transitions *t, const struct event_rec *r)
{
    int64_t began = get_span_since(r).began_ns;
    t->span_since = began > 0 ? (uint64_t)began * PS : 1;
}

static void gc_phase(struct transitions *t, const struct event_rec *r)
{
    enum ev_gcphase phase = get_gc_phase(r).phase;
    if (phase != EV_gcphase_termination)
        put_world(t, r->time, phase == EV_gcphase_mark ? TW_GC_BEGINS : TW_GC_ENDS);
}

static void marked(struct transitions *t, const struct event_rec *r)
{
    const char *name = t->names->text(t->names->of, get_mark(r).name);
    char value[24];
    snprintf(value, sizeof value, "%" PRId64, (int64_t)get_mark(r).value);
    put_mark(t, r->time, r->p, name != NULL ? name : "?", value);
}

/* As long as the list of events: a line for each that changes what somebody does. */
static void feed(struct transitions *t, const struct event_rec *r)
{
    switch ((enum event_type)r->type) {
    case EV_G_CREATE: g_created(t, r); break;
    case EV_G_START: g_runs(t, r); break;
    case EV_G_PARK: g_parks(t, r); break;
    case EV_G_READY: g_ready(t, r); break;
    case EV_G_GOSCHED: g_put_back(t, r, get_g_gosched(r).place, t->gosched); break;
    case EV_G_PREEMPT: g_preempted(t, r); break;
    case EV_G_EXIT: g_ended(t, r); break;
    case EV_G_SYSCALL_ENTER: g_enters_syscall(t, r); break;
    case EV_G_SYSCALL_EXIT: g_leaves_syscall(t, r); break;
    case EV_G_MOVE: g_moved(t, r); break;
    case EV_RUNQ_OVERFLOW: put_g_place(t, r->time, r->g, EV_place_global, r->p); break;
    case EV_GC_ASSIST_BEGIN: p_does(t, r, PD_ASSIST, r->g); break;
    case EV_GC_ASSIST_END: p_runs(t, r, tr_find_g(t, r->g)); break;

    case EV_P_START: p_started(t, r); break;
    case EV_P_STOP: p_idles(t, r, r->p); break;
    case EV_P_RETAKE: p_idles(t, r, get_p_retake(r).of_p.id); break;
    case EV_P_RESIZE: put_procs(t, r->time, get_p_resize(r).to); break;
    case EV_P_STEAL: p_steals(t, r); break;

    case EV_M_CREATE: m_made(t, r); break;
    case EV_M_START: m_does(t, r, MD_RUNS); break;
    case EV_M_PARK: m_does(t, r, MD_SLEEPS); break;
    case EV_M_WAKE: m_does(t, r, get_m_wake(r).spinning ? MD_SPINS : MD_RUNS); break;
    case EV_M_SPIN_BEGIN: m_spins(t, r); break;
    case EV_M_SPIN_END: m_spun(t, r); break;
    case EV_M_EXIT: m_does(t, r, MD_NOTEXIST); break;
    case EV_NETPOLL_BLOCK: m_does(t, r, MD_POLLS); break;
    case EV_NETPOLL_LATE: seen_late(t, r); break;
    case EV_NETPOLL_READY: fd_ready(t, r); break;
    case EV_TIMER_FIRE: timer_fired(t, r); break;

    case EV_HOST_WAIT: m_has(t, r, CPU_WAITS); break;
    case EV_HOST_ON_CPU: m_on_cpu(t, r); break;
    case EV_HOST_OFF_CPU: m_off_cpu(t, r); break;
    case EV_THROTTLE_ON: throttled(t, r, 1, CPU_THROTTLED); break;
    case EV_THROTTLE_OFF: throttled(t, r, -1, CPU_WAITS); break;

    case EV_SPAN_SINCE: since(t, r); break;
    case EV_SPAN_BEGIN: span_began(t, r); break;
    case EV_SPAN_END: span_ended(t, r); break;
    case EV_STW_BEGIN: put_world(t, r->time, TW_STOP_BEGINS); break;
    case EV_STW_STOPPED: put_world(t, r->time, TW_STOPPED); break;
    case EV_STW_END: put_world(t, r->time, TW_STOP_ENDS); break;
    case EV_GC_PHASE: gc_phase(t, r); break;
    case EV_MARK: marked(t, r); break;
    default: break;
    }
}

void transitions_records(struct transitions *t, const struct event_rec *recs, size_t count)
{
    for (const struct event_rec *r = recs; r != recs + count; r++)
        feed(t, r);
    if (count > 0)
        t->time = recs[count - 1].time; /* they come in order */
}
