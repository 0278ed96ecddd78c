/* SPDX-License-Identifier: BSD-3-Clause */
/* Events into the trace format: what each means for threads, Ps and goroutines, which sequence
 * number it takes, and what has to be said before it.
 *
 * In each generation whatever an event names or runs on gets its status first, as it was just
 * before. A thread says the status of its P and then that of its goroutine, in this order: Go's
 * viewer panics at the other. What no event of the generation touched is said at its end. */
#include "replay/gotrace_int.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

static bool refuse(struct failure *f, const struct trace_event *e, const char *what)
{
    fail(f, E_TRACE, "time %" PRId64 ": %s of goroutine %" PRId64 " cannot be written: %s", e->time,
         trace_kind_name(e->kind), (int64_t)(e->kind == TRACE_G ? e->id : e->g), what);
    return false;
}

/* ---- who there is ---- */

static struct out_m *m_of(struct gotrace *w, uint64_t id)
{
    if (id == TRACE_NONE)
        return &w->nobody;
    struct out_m *m = id_find(&w->ms, id);
    if (m == NULL) {
        m = x_alloc(sizeof *m);
        *m = (struct out_m){.id = id, .next = w->all_ms};
        w->all_ms = m;
        id_put(&w->ms, id, m);
    }
    return m;
}

static struct out_p *p_new(struct gotrace *w, uint64_t id, uint8_t status)
{
    struct out_p *p = x_alloc(sizeof *p);
    *p = (struct out_p){.id = id, .status = status, .next = w->all_ps};
    w->all_ps = p;
    id_put(&w->ps, id, p);
    return p;
}

static struct out_g *g_new(struct gotrace *w, uint64_t id, uint8_t status)
{
    struct out_g *g = x_alloc(sizeof *g);
    struct out_g *ring = &w->all_gs;
    *g = (struct out_g){
        .id = id, .status = status, .m = TRACE_NONE, .next = ring, .prev = ring->prev};
    ring->prev->next = g;
    ring->prev = g;
    id_put(&w->gs, id, g);
    return g;
}

static void g_end(struct gotrace *w, struct out_g *g)
{
    id_take(&w->gs, g->id);
    g->prev->next = g->next;
    g->next->prev = g->prev;
    free(g);
}

/* ---- statuses ---- */

#define EMIT(w, m, type, ...)                                                  \
    do {                                                                       \
        if ((w)->writing) {                                                    \
            const uint64_t args_[] = {__VA_ARGS__};                            \
            out_event(w, m, type, (int)(sizeof args_ / sizeof *args_), args_); \
        }                                                                      \
    } while (0)
#define EMIT0(w, m, type)                   \
    do {                                    \
        if ((w)->writing)                   \
            out_event(w, m, type, 0, NULL); \
    } while (0)

/* Says the status of a P. Its time is that of the event before, or just after it: Go's reader makes
 * all times differ, and the event at hand shall keep its own. */
static void say_p(struct gotrace *w, struct out_m *at, struct out_p *p)
{
    uint64_t now = w->now;
    if (p->generation == w->generation)
        return;
    w->now = w->said;
    p->generation = w->generation;
    p->seq = 0;
    EMIT(w, at, WIRE_PROC_STATUS, p->id, p->status);
    if (p->sweeping)
        EMIT(w, at, WIRE_GC_SWEEP_ACTIVE, p->id);
    w->now = now;
}

static void say_g(struct gotrace *w, struct out_m *at, struct out_g *g)
{
    uint64_t now = w->now;
    if (g->generation == w->generation)
        return;
    w->now = w->said;
    g->generation = w->generation;
    g->seq = 0;
    EMIT(w, at, WIRE_GO_STATUS, g->id, g->m, g->status);
    if (g->assist)
        EMIT(w, at, WIRE_GC_MARK_ASSIST_ACTIVE, g->id);
    w->now = now;
}

/* Says the statuses of the P and the goroutine that the thread holds, once a generation. */
static void say_m(struct gotrace *w, struct out_m *m)
{
    if (m->generation == w->generation || m == &w->nobody)
        return;
    m->generation = w->generation;
    if (m->p != NULL)
        say_p(w, m, m->p);
    if (m->g != NULL)
        say_g(w, m, m->g);
}

/* A collection that is under way: needs a goroutine that runs on a P, from the second generation
 * on. */
static void say_gc(struct gotrace *w, struct out_m *m)
{
    if (w->gc_said || !w->gc_on)
        return;
    if (m->p == NULL || m->g == NULL || m->g->status != STATUS_RUNNING)
        return;
    uint64_t now = w->now;
    w->now = w->said;
    w->gc_said = true;
    EMIT(w, m, WIRE_GC_ACTIVE, ++w->gc_seq);
    w->now = now;
}

static void say_rest(struct gotrace *w)
{
    for (struct out_m *m = w->all_ms; m != NULL; m = m->next)
        if (m->g != NULL || m->p != NULL)
            say_m(w, m);
    for (struct out_p *p = w->all_ps; p != NULL; p = p->next)
        say_p(w, &w->nobody, p);
    for (struct out_g *g = w->all_gs.next; g != &w->all_gs; g = g->next)
        say_g(w, &w->nobody, g);
}

static void end_generation(struct gotrace *w)
{
    say_rest(w);
    out_generation_end(w);
}

/* ---- Ps ---- */

static bool p_appears(struct gotrace *w, struct failure *f, const struct trace_event *e,
                      struct out_m *m)
{
    bool running = e->to == TRACE_RUNNING;
    if (running && m->p != NULL)
        return refuse(f, e, "its thread has a P already");
    struct out_p *p = p_new(w, e->id, running ? P_RUNNING : P_IDLE);
    if (running && m != &w->nobody)
        m->p = p;
    if (w->writing)
        say_p(w, m, p);
    return true;
}

static bool p_starts(struct gotrace *w, struct failure *f, const struct trace_event *e,
                     struct out_m *m, struct out_p *p)
{
    if (p->status != P_IDLE || m->p != NULL || m == &w->nobody)
        return refuse(f, e, "the P is not idle, or the thread has one");
    say_p(w, m, p);
    EMIT(w, m, WIRE_PROC_START, p->id, ++p->seq);
    p->status = P_RUNNING;
    m->p = p;
    return true;
}

static bool p_stolen(struct gotrace *w, struct failure *f, const struct trace_event *e,
                     struct out_m *m, struct out_p *p)
{
    struct out_m *victim = m_of(w, e->value);
    if (p->status != P_SYSCALL && p->status != P_ABANDONED)
        return refuse(f, e, "a P is stolen that is in no system call");
    if (p->status == P_SYSCALL && victim->p != p)
        return refuse(f, e, "a P is stolen from a thread that does not hold it");
    if (p->status == P_SYSCALL)
        say_m(w, victim);
    say_p(w, m, p);
    EMIT(w, m, WIRE_PROC_STEAL, p->id, ++p->seq, e->value);
    if (p->status == P_SYSCALL)
        victim->p = NULL;
    p->status = P_IDLE;
    return true;
}

static bool p_stops(struct gotrace *w, struct failure *f, const struct trace_event *e,
                    struct out_m *m, struct out_p *p)
{
    if (m->p != p)
        return refuse(f, e, "the thread does not hold the P that stops");
    say_m(w, m);
    EMIT0(w, m, WIRE_PROC_STOP);
    p->status = P_IDLE;
    m->p = NULL;
    return true;
}

static bool put_p(struct gotrace *w, struct failure *f, const struct trace_event *e,
                  struct out_m *m)
{
    struct out_p *p = id_find(&w->ps, e->id);
    if (e->wire == WIRE_GO_DESTROY_SYSCALL)
        return true; /* part of the goroutine's event */
    if (p == NULL)
        return p_appears(w, f, e, m);
    if (e->wire == WIRE_PROC_STATUS)
        return true; /* said again by our own rules */
    if (e->to == TRACE_RUNNING)
        return p_starts(w, f, e, m, p);
    return e->wire == WIRE_PROC_STEAL ? p_stolen(w, f, e, m, p) : p_stops(w, f, e, m, p);
}

/* ---- goroutines ---- */

static const uint8_t status_of[TRACE_STATES] = {
    [TRACE_RUNNABLE] = STATUS_RUNNABLE,
    [TRACE_RUNNING] = STATUS_RUNNING,
    [TRACE_WAITING] = STATUS_WAITING,
    [TRACE_SYSCALL] = STATUS_SYSCALL,
};

static void bind(struct out_m *m, struct out_g *g)
{
    m->g = g;
    g->m = m->id;
}

static void unbind(struct out_m *m)
{
    m->g->m = TRACE_NONE;
    m->g = NULL;
}

static bool g_appears(struct gotrace *w, struct failure *f, const struct trace_event *e,
                      struct out_m *m)
{
    bool runs = e->to == TRACE_RUNNING || e->to == TRACE_SYSCALL;
    if (runs && (m->g != NULL || m == &w->nobody))
        return refuse(f, e, "its thread runs another one already");
    struct out_g *g = g_new(w, e->id, status_of[e->to]);
    if (runs)
        bind(m, g);
    if (!w->writing)
        return true;
    if (runs && m->generation != w->generation)
        say_m(w, m);
    else
        say_g(w, m, g);
    return true;
}

static bool g_created(struct gotrace *w, struct failure *f, const struct trace_event *e,
                      struct out_m *m)
{
    if (id_find(&w->gs, e->id) != NULL)
        return refuse(f, e, "it exists already");
    if (e->to != TRACE_SYSCALL && m->p == NULL)
        return refuse(f, e, "it is created without a P");
    if (e->to == TRACE_SYSCALL && (m->g != NULL || m == &w->nobody))
        return refuse(f, e, "its thread runs another one already");
    struct out_g *g = g_new(w, e->id, status_of[e->to]);
    g->generation = w->generation;
    if (e->to == TRACE_SYSCALL) {
        EMIT(w, m, WIRE_GO_CREATE_SYSCALL, g->id);
        bind(m, g);
        return true;
    }
    bool blocked = e->to == TRACE_WAITING;
    if (blocked && w->opts.version < 23)
        return refuse(f, e, "a coroutine needs header 1.23");
    EMIT(w, m, blocked ? WIRE_GO_CREATE_BLOCKED : WIRE_GO_CREATE, g->id, out_stack(w, e->new_stack),
         out_stack(w, e->stack));
    return true;
}

static bool g_starts(struct gotrace *w, struct failure *f, const struct trace_event *e,
                     struct out_m *m, struct out_g *g)
{
    if (g->status != STATUS_RUNNABLE || m->g != NULL || m->p == NULL || m == &w->nobody)
        return refuse(f, e, "it is not runnable, or its thread has no P or runs another one");
    say_g(w, m, g);
    EMIT(w, m, WIRE_GO_START, g->id, ++g->seq);
    g->status = STATUS_RUNNING;
    bind(m, g);
    return true;
}

static bool g_wakes(struct gotrace *w, struct failure *f, const struct trace_event *e,
                    struct out_m *m, struct out_g *g)
{
    if (g->status != STATUS_WAITING)
        return refuse(f, e, "it is woken and does not wait");
    say_g(w, m, g);
    EMIT(w, m, WIRE_GO_UNBLOCK, g->id, ++g->seq, out_stack(w, e->stack));
    g->status = STATUS_RUNNABLE;
    return true;
}

/* One event for three: the two that follow are left out (put_g). */
static bool g_switches(struct gotrace *w, struct failure *f, const struct trace_event *e,
                       struct out_m *m, struct out_g *g)
{
    if (w->opts.version < 23)
        return refuse(f, e, "a coroutine needs header 1.23");
    if (g->status != STATUS_WAITING || m->g == NULL || m->g->status != STATUS_RUNNING)
        return refuse(f, e, "a switch to it is not possible");
    bool destroy = e->wire == WIRE_GO_SWITCH_DESTROY;
    say_g(w, m, g);
    EMIT(w, m, destroy ? WIRE_GO_SWITCH_DESTROY : WIRE_GO_SWITCH, g->id, ++g->seq);
    struct out_g *old = m->g;
    unbind(m);
    if (destroy)
        g_end(w, old);
    else
        old->status = STATUS_WAITING;
    g->status = STATUS_RUNNING;
    bind(m, g);
    return true;
}

/* The goroutine stops running: blocks, is preempted or ends. */
static bool g_stops(struct gotrace *w, struct failure *f, const struct trace_event *e,
                    struct out_m *m, struct out_g *g)
{
    if (m->g != g || g->status != STATUS_RUNNING || m->p == NULL)
        return refuse(f, e, "it does not run there");
    if (e->to == TRACE_NOT_EXIST) {
        EMIT0(w, m, WIRE_GO_DESTROY);
        unbind(m);
        g_end(w, g);
        return true;
    }
    EMIT(w, m, e->to == TRACE_WAITING ? WIRE_GO_BLOCK : WIRE_GO_STOP, out_string(w, e->name),
         out_stack(w, e->stack));
    g->status = status_of[e->to];
    unbind(m);
    return true;
}

static bool g_calls(struct gotrace *w, struct failure *f, const struct trace_event *e,
                    struct out_m *m, struct out_g *g)
{
    if (m->g != g || g->status != STATUS_RUNNING || m->p == NULL)
        return refuse(f, e, "it does not run there");
    EMIT(w, m, WIRE_GO_SYSCALL_BEGIN, ++m->p->seq, out_stack(w, e->stack));
    g->status = STATUS_SYSCALL;
    m->p->status = P_SYSCALL;
    return true;
}

static bool g_returns(struct gotrace *w, struct failure *f, const struct trace_event *e,
                      struct out_m *m, struct out_g *g)
{
    bool kept = m->p != NULL && m->p->status == P_SYSCALL;
    if (m->g != g || g->status != STATUS_SYSCALL)
        return refuse(f, e, "it is in no system call there");
    if (e->to == TRACE_NOT_EXIST) {
        EMIT0(w, m, WIRE_GO_DESTROY_SYSCALL);
        if (m->p != NULL)
            m->p->status = P_ABANDONED;
        m->p = NULL;
        unbind(m);
        g_end(w, g);
        return true;
    }
    if (kept != (e->to == TRACE_RUNNING))
        return refuse(f, e, "its system call ends with the P in the wrong state");
    EMIT0(w, m, kept ? WIRE_GO_SYSCALL_END : WIRE_GO_SYSCALL_END_BLOCKED);
    g->status = status_of[e->to];
    if (kept)
        m->p->status = P_RUNNING;
    else
        unbind(m);
    return true;
}

static bool put_g(struct gotrace *w, struct failure *f, const struct trace_event *e,
                  struct out_m *m)
{
    bool of_switch = e->wire == WIRE_GO_SWITCH || e->wire == WIRE_GO_SWITCH_DESTROY;
    if (of_switch && e->from != TRACE_WAITING)
        return true;
    if (e->from == TRACE_UNDETERMINED)
        return g_appears(w, f, e, m);
    if (e->from == TRACE_NOT_EXIST)
        return g_created(w, f, e, m);
    if (e->from == e->to)
        return true; /* a status, said again by our own rules */
    struct out_g *g = id_find(&w->gs, e->id);
    if (g == NULL || g->status != status_of[e->from])
        return refuse(f, e, "it is in another state");
    if (of_switch)
        return g_switches(w, f, e, m, g);
    switch ((enum trace_state)e->from) {
    case TRACE_RUNNABLE: return g_starts(w, f, e, m, g);
    case TRACE_WAITING: return g_wakes(w, f, e, m, g);
    case TRACE_RUNNING:
        return e->to == TRACE_SYSCALL ? g_calls(w, f, e, m, g) : g_stops(w, f, e, m, g);
    case TRACE_SYSCALL: return g_returns(w, f, e, m, g);
    case TRACE_UNDETERMINED:
    case TRACE_NOT_EXIST:
    case TRACE_IDLE:
    case TRACE_STATES: break;
    }
    return refuse(f, e, "there is no such transition");
}

/* ---- ranges, and what programs say ---- */

static bool runs(const struct out_m *m)
{
    return m->g != NULL && m->p != NULL && m->g->status == STATUS_RUNNING;
}

static bool range_of_g(struct gotrace *w, struct failure *f, const struct trace_event *e,
                       struct out_m *m)
{
    bool begin = e->kind == TRACE_RANGE_BEGIN;
    bool stw = e->wire == WIRE_STW_BEGIN || e->wire == WIRE_STW_END;
    if (!runs(m))
        return refuse(f, e, "it does not run");
    if (stw && begin)
        EMIT(w, m, WIRE_STW_BEGIN, out_string(w, e->text), out_stack(w, e->stack));
    else if (stw)
        EMIT0(w, m, WIRE_STW_END);
    else if (begin)
        EMIT(w, m, WIRE_GC_MARK_ASSIST_BEGIN, out_stack(w, e->stack));
    else
        EMIT0(w, m, WIRE_GC_MARK_ASSIST_END);
    if (!stw)
        m->g->assist = begin;
    return true;
}

static bool range_of_p(struct gotrace *w, struct failure *f, const struct trace_event *e,
                       struct out_m *m)
{
    bool begin = e->kind == TRACE_RANGE_BEGIN;
    if (m->p == NULL || m->p->sweeping == begin)
        return refuse(f, e, "the P does not begin or end to sweep");
    if (begin)
        EMIT(w, m, WIRE_GC_SWEEP_BEGIN, out_stack(w, e->stack));
    else
        EMIT(w, m, WIRE_GC_SWEEP_END, e->value, e->value2);
    m->p->sweeping = begin;
    return true;
}

static bool range_of_gc(struct gotrace *w, struct failure *f, const struct trace_event *e,
                        struct out_m *m)
{
    bool begin = e->kind == TRACE_RANGE_BEGIN;
    if (w->gc_on == begin || !runs(m))
        return refuse(f, e, "the collector does not begin or end to mark");
    if (begin)
        EMIT(w, m, WIRE_GC_BEGIN, ++w->gc_seq, out_stack(w, e->stack));
    else
        EMIT(w, m, WIRE_GC_END, ++w->gc_seq);
    w->gc_on = begin;
    w->gc_said = true;
    return true;
}

/* A range that is open when the trace begins. In later generations say_...() tells what is open. */
static bool range_active(struct gotrace *w, const struct trace_event *e, struct out_m *m)
{
    struct out_g *g = e->scope == TRACE_SCOPE_G ? id_find(&w->gs, e->id) : NULL;
    struct out_p *p = e->scope == TRACE_SCOPE_P ? id_find(&w->ps, e->id) : NULL;
    if (g != NULL && !g->assist) {
        g->assist = true;
        if (g->generation == w->generation)
            EMIT(w, m, WIRE_GC_MARK_ASSIST_ACTIVE, g->id);
    } else if (p != NULL && !p->sweeping) {
        p->sweeping = true;
        if (p->generation == w->generation)
            EMIT(w, m, WIRE_GC_SWEEP_ACTIVE, p->id);
    } else if (e->scope == TRACE_SCOPE_GLOBAL) {
        w->gc_on = true;
        say_gc(w, m);
    }
    return true;
}

static bool put_range(struct gotrace *w, struct failure *f, const struct trace_event *e,
                      struct out_m *m)
{
    if (e->kind == TRACE_RANGE_ACTIVE)
        return range_active(w, e, m);
    switch ((enum trace_scope)e->scope) {
    case TRACE_SCOPE_G: return range_of_g(w, f, e, m);
    case TRACE_SCOPE_P: return range_of_p(w, f, e, m);
    case TRACE_SCOPE_GLOBAL: return range_of_gc(w, f, e, m);
    case TRACE_SCOPE_NONE: break;
    }
    return refuse(f, e, "the range belongs to nobody");
}

static bool put_metric(struct gotrace *w, struct failure *f, const struct trace_event *e,
                       struct out_m *m)
{
    if (e->wire == WIRE_PROCS_CHANGE) {
        if (!runs(m))
            return refuse(f, e, "no goroutine runs");
        EMIT(w, m, WIRE_PROCS_CHANGE, e->value, out_stack(w, e->stack));
        return true;
    }
    if (m->p == NULL)
        return refuse(f, e, "there is no P");
    EMIT(w, m, e->wire == WIRE_HEAP_ALLOC ? WIRE_HEAP_ALLOC : WIRE_HEAP_GOAL, e->value);
    return true;
}

/* Labels, tasks, regions and logs. */
static bool put_said(struct gotrace *w, struct failure *f, const struct trace_event *e,
                     struct out_m *m)
{
    uint64_t name = w->writing ? out_string(w, e->name) : 0;
    uint64_t stack = w->writing ? out_stack(w, e->stack) : 0;
    if (!runs(m))
        return refuse(f, e, "no goroutine runs");
    switch ((enum trace_kind)e->kind) {
    case TRACE_LABEL: EMIT(w, m, WIRE_GO_LABEL, name); break;
    case TRACE_TASK_BEGIN:
        EMIT(w, m, WIRE_USER_TASK_BEGIN, e->id, e->value == TRACE_NONE ? 0 : e->value, name, stack);
        break;
    case TRACE_TASK_END: EMIT(w, m, WIRE_USER_TASK_END, e->id, stack); break;
    case TRACE_REGION_BEGIN: EMIT(w, m, WIRE_USER_REGION_BEGIN, e->id, name, stack); break;
    case TRACE_REGION_END: EMIT(w, m, WIRE_USER_REGION_END, e->id, name, stack); break;
    default: EMIT(w, m, WIRE_USER_LOG, e->id, name, out_string(w, e->text), stack); break;
    }
    return true;
}

/* ---- the stream ---- */

static size_t living(const struct gotrace *w) { return w->gs.count + w->ps.count + w->ms.count; }

/* Opens the generation that this event belongs to. Statuses at the end of one take a nanosecond
 * each, so one ends where nothing happens for long enough, if there is such a place in time. */
static void generation_for(struct gotrace *w, int64_t time)
{
    uint64_t last = w->now, max = w->opts.generation_bytes;
    bool due = w->generation_size > max ||
               (w->opts.generation_ns > 0 && time - w->generation_begin > w->opts.generation_ns);
    bool gap = (uint64_t)time - last > living(w) + 16;
    w->now = (uint64_t)time;
    if (w->generation != 0 && !(w->settled && due && (gap || w->generation_size > 2 * max)))
        return;
    if (w->generation != 0) {
        w->now = last;
        end_generation(w);
        w->now = (uint64_t)time;
    }
    if (w->generation == 0 && w->opts.begin_ns > 0 && w->opts.begin_ns < time)
        w->now = (uint64_t)w->opts.begin_ns;
    out_generation_begin(w);
    w->now = (uint64_t)time;
}

static bool put(struct gotrace *w, struct failure *f, const struct trace_event *e)
{
    if (e->time < 0 || (uint64_t)e->time < w->now)
        return refuse(f, e, "its time is before that of the event before it");
    w->settled = w->settled || (e->kind == TRACE_SYNC && e->id > 1);
    if (e->kind == TRACE_SYNC || e->kind == TRACE_EXPERIMENT)
        return true;
    /* What appears is said when it does. */
    bool appears = e->from == TRACE_UNDETERMINED && (e->kind == TRACE_G || e->kind == TRACE_P);
    w->said = appears || w->now == 0 ? (uint64_t)e->time : w->now;
    if (w->writing && w->generation == 0 && w->said < (uint64_t)w->opts.begin_ns)
        w->said = (uint64_t)w->opts.begin_ns;
    if (w->writing)
        generation_for(w, e->time);
    w->now = (uint64_t)e->time;
    struct out_m *m = m_of(w, e->kind == TRACE_SAMPLE ? TRACE_NONE : e->m);
    say_m(w, m);
    say_gc(w, m);
    switch ((enum trace_kind)e->kind) {
    case TRACE_G: return put_g(w, f, e, m);
    case TRACE_P: return put_p(w, f, e, m);
    case TRACE_RANGE_BEGIN:
    case TRACE_RANGE_ACTIVE:
    case TRACE_RANGE_END: return put_range(w, f, e, m);
    case TRACE_METRIC: return put_metric(w, f, e, m);
    case TRACE_LABEL:
    case TRACE_TASK_BEGIN:
    case TRACE_TASK_END:
    case TRACE_REGION_BEGIN:
    case TRACE_REGION_END:
    case TRACE_LOG: return put_said(w, f, e, m);
    case TRACE_SAMPLE:
        if (w->writing)
            out_sample(w, e);
        return true;
    case TRACE_SYNC:
    case TRACE_EXPERIMENT:
    case TRACE_KINDS: break;
    }
    return true;
}

static bool put_all(struct gotrace *w, struct failure *f, const struct trace_event *evs,
                    size_t count, bool writing)
{
    w->writing = writing;
    w->skipped = w->skipped || !writing;
    for (size_t i = 0; i < count; i++) {
        if (!put(w, f, &evs[i])) {
            w->failed = true;
            return false;
        }
    }
    return true;
}

bool gotrace_skip(struct gotrace *w, struct failure *f, const struct trace_event *evs, size_t count)
{
    return put_all(w, f, evs, count, /*writing*/ false);
}

bool gotrace_put(struct gotrace *w, struct failure *f, const struct trace_event *evs, size_t count)
{
    return put_all(w, f, evs, count, /*writing*/ true);
}

static void release(struct gotrace *w)
{
    while (w->all_gs.next != &w->all_gs)
        g_end(w, w->all_gs.next);
    for (struct out_p *p = w->all_ps, *next; p != NULL; p = next) {
        next = p->next;
        free(p);
    }
    for (struct out_m *m = w->all_ms, *next; m != NULL; m = next) {
        next = m->next;
        free(m->batch.bytes);
        free(m);
    }
    free(w->nobody.batch.bytes);
    free(w->samples.bytes);
    free(w->gs.slots);
    free(w->ps.slots);
    free(w->ms.slots);
    free(w->strings.ids);
    free(w->strings.used);
    free(w->stack_ids.ids);
    free(w->stack_ids.used);
    free(w);
}

struct gotrace *gotrace_open(struct failure *f, const char *path, const struct names *names,
                             const struct stacks *stacks, const struct gotrace_opts *o)
{
    struct gotrace *w = x_alloc(sizeof *w);
    memset(w, 0, sizeof *w);
    if (o != NULL)
        w->opts = *o;
    if (w->opts.version == 0)
        w->opts.version = 22;
    w->settled = w->opts.told;
    if (w->opts.generation_bytes == 0)
        w->opts.generation_bytes = (uint64_t)32 << 20;
    id_init(&w->gs);
    id_init(&w->ps);
    id_init(&w->ms);
    w->names = names;
    w->stacks = stacks;
    w->all_gs.next = w->all_gs.prev = &w->all_gs;
    w->nobody.id = TRACE_NONE;
    if (!out_open(w, f, path)) {
        release(w);
        return NULL;
    }
    return w;
}

/* A trace ends with its last event. A P's status said once more is one that changes nothing. */
static void mark_end(struct gotrace *w, int64_t end_ns)
{
    struct out_m *m = w->all_ms;
    while (m != NULL && m->p == NULL)
        m = m->next;
    const struct out_p *p = m != NULL ? m->p : w->all_ps;
    if (p == NULL)
        return;
    if (m != NULL)
        say_m(w, m);
    w->now = (uint64_t)end_ns;
    EMIT(w, m != NULL ? m : &w->nobody, WIRE_PROC_STATUS, p->id, p->status);
}

bool gotrace_close(struct gotrace *w, struct failure *f, int64_t end_ns)
{
    w->writing = true;
    if (w->generation == 0 && !w->failed)
        out_generation_begin(w); /* nothing happened: a trace without events */
    w->now = w->said = w->written;
    if (!w->failed && w->skipped && w->generation == 1)
        say_rest(w); /* what was there as it began, and did nothing */
    if (!w->failed && end_ns > 0 && (uint64_t)end_ns > w->written)
        mark_end(w, end_ns);
    if (w->generation != 0)
        out_generation_end(w);
    bool ok = out_close(w, f);
    release(w);
    return ok;
}
