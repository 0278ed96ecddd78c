/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of a trace's events, as Go's reader has it (internal/trace/order.go): what each thread,
 * P and goroutine is doing, and for each event of a thread whether it may come now, has to wait for
 * another thread's, or breaks a rule.
 *
 * Only ten kinds of events can wait; they carry a sequence number, or end a system call that lost
 * its P. All others concern what their thread holds. A function here or in ranges.c is an event of
 * the format, and says what order.go's function of the same event says. */
#include "replay/order_int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { CHUNK_BYTES = 1 << 16 };

/* Memory that stays until the trace is closed. */
void *order_alloc(struct order *o, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > o->chunk_left) {
        X_ROOM(o->chunks, o->nchunks, o->chunks_room, 16);
        o->chunks[o->nchunks++] = o->chunk_at = x_alloc(CHUNK_BYTES);
        o->chunk_left = CHUNK_BYTES;
    }
    void *at = o->chunk_at;
    o->chunk_at += size;
    o->chunk_left -= size;
    return at;
}

static struct goroutine_state *g_new(struct order *o, uint64_t id, uint8_t status, uint64_t gen)
{
    struct goroutine_state *g = o->free_gs;
    if (g != NULL)
        o->free_gs = g->next_free;
    else
        g = order_alloc(o, sizeof *g);
    *g = (struct goroutine_state){.id = id, .gen = gen, .index = o->goroutines++, .status = status};
    id_put(&o->gs, id, g);
    return g;
}

void order_more_free(struct more *m)
{
    if (m == NULL)
        return;
    free(m->ranges);
    free(m->regions);
    free(m);
}

static void g_end(struct order *o, struct goroutine_state *g)
{
    id_take(&o->gs, g->id);
    order_more_free(g->more);
    g->index = TRACE_NO_INDEX;
    g->next_free = o->free_gs;
    o->free_gs = g;
}

struct thread *order_thread(struct order *o, uint64_t id)
{
    if (id == TRACE_NONE)
        return &o->nobody;
    struct thread *th = id_find(&o->ms, id);
    if (th == NULL) {
        th = order_alloc(o, sizeof *th);
        *th = (struct thread){.id = id, .gid = TRACE_NONE, .gx = TRACE_NO_INDEX};
        id_put(&o->ms, id, th);
    }
    return th;
}

void order_init(struct trace *t)
{
    struct order *o = &t->order;
    id_init(&o->gs);
    id_init(&o->ps);
    id_init(&o->ms);
    id_init(&o->tasks);
    o->nobody = (struct thread){.id = TRACE_NONE, .gid = TRACE_NONE, .gx = TRACE_NO_INDEX};
#define WORD(text) names_put(&t->names, text, sizeof(text) - 1)
    o->metric_procs = WORD("/sched/gomaxprocs:threads");
    o->metric_heap = WORD("/memory/classes/heap/objects:bytes");
    o->metric_goal = WORD("/gc/heap/goal:bytes");
    o->range_gc = WORD("GC concurrent mark phase");
    o->range_sweep = WORD("GC incremental sweep");
    o->range_assist = WORD("GC mark assist");
#undef WORD
}

void order_release(struct order *o)
{
    for (size_t i = 0; i < o->gs.capacity; i++)
        if (o->gs.slots[i].state != NULL)
            order_more_free(((struct goroutine_state *)o->gs.slots[i].state)->more);
    for (size_t i = 0; i < o->nchunks; i++)
        free(o->chunks[i]);
    free(o->chunks);
    free(o->gs.slots);
    free(o->ps.slots);
    free(o->ms.slots);
    free(o->tasks.slots);
    free(o->stw_names);
}
/* ---- what an event needs ---- */

enum advanced order_broken(const struct trace *t, const struct thread *th, struct failure *f,
                           const char *fmt, ...)
{
    char what[300];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    fail(f, E_TRACE, "byte %" PRIu64 ": %s: %s",
         t->window.base + (uint64_t)(th->start - t->window.bytes), wire_types[th->type].name, what);
    return ADV_BROKEN;
}

enum advanced order_cut(const struct trace *t, const struct thread *th, struct failure *f)
{
    return order_broken(t, th, f,
                        "its arguments are cut by the end of its batch, or no numbers of up "
                        "to 64 bits");
}

enum advanced order_lacking(const struct trace *t, const struct thread *th, struct failure *f,
                            unsigned needs)
{
    if ((needs & NEEDS_M) && th->id == TRACE_NONE)
        return order_broken(t, th, f, "there is no thread");
    if ((needs & NEEDS_P) && th->p == NULL)
        return order_broken(t, th, f, "thread %" PRIu64 " has no P", th->id);
    if ((needs & NEEDS_G) && th->gid == TRACE_NONE)
        return order_broken(t, th, f, "thread %" PRIu64 " runs no goroutine", th->id);
    return order_broken(t, th, f, "thread %" PRIu64 " runs goroutine %" PRIu64 " already", th->id,
                        th->gid);
}

enum advanced order_undefined(const struct trace *t, const struct thread *th, struct failure *f,
                              const char *what, uint64_t id)
{
    return order_broken(t, th, f, "%s %" PRIu64 " is not defined in its generation", what, id);
}

static const uint8_t state_of_g[GSTATUSES] = {TRACE_UNDETERMINED, TRACE_RUNNABLE, TRACE_RUNNING,
                                              TRACE_SYSCALL, TRACE_WAITING};
static const uint8_t state_of_p[PSTATUSES] = {TRACE_UNDETERMINED, TRACE_RUNNING, TRACE_IDLE,
                                              TRACE_RUNNING, TRACE_IDLE};
static const char *const gstatus_names[GSTATUSES] = {"bad", "runnable", "running", "in a syscall",
                                                     "waiting"};
static const char *const pstatus_names[PSTATUSES] = {"bad", "running", "idle", "in a syscall",
                                                     "abandoned in a syscall"};
/* ---- Ps ---- */

/* The thread that holds the P: for a P that is about to be stolen. */
static const struct thread *holder_of(const struct order *o, const struct proc_state *p)
{
    for (size_t i = 0; i < o->ms.capacity; i++) {
        const struct thread *th = o->ms.slots[i].state;
        if (th != NULL && th->p == p)
            return th;
    }
    return NULL;
}

static enum advanced proc_status(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(2);
    struct order *o = &t->order;
    uint64_t id = arg[0], status = arg[1], gen = t->gen.number;
    if (status >= PSTATUSES)
        return order_broken(t, th, f, "P %" PRIu64 " has status %" PRIu64, id, status);
    if (status == P_BAD)
        trace_note(t, "a P has status 0, which no runtime writes");
    struct proc_state *p = id_find(&o->ps, id);
    enum trace_state from = state_of_p[status], to = state_of_p[status];
    const struct thread *where = th;
    if (p == NULL) {
        p = order_alloc(o, sizeof *p);
        *p = (struct proc_state){.id = id, .status = (uint8_t)status};
        id_put(&o->ps, id, p);
        from = gen == o->initial_gen ? TRACE_UNDETERMINED : TRACE_NOT_EXIST;
    } else if (status == P_ABANDONED && p->status == P_SYSCALL) {
        from = to = TRACE_RUNNING;
        where = holder_of(o, p);
        if (where == NULL)
            return order_broken(t, th, f, "no thread holds P %" PRIu64 ", which is in a syscall",
                                id);
    } else if (status != p->status) {
        return order_broken(t, th, f, "P %" PRIu64 " is %s here and was %s", id,
                            pstatus_names[status], pstatus_names[p->status]);
    }
    p->gen = gen;
    p->seq = 0;
    struct trace_event *e = put_p(t, th, id, from, to);
    e->m = where->id;
    e->p = where->p != NULL ? where->p->id : TRACE_NONE;
    e->g = where->gid;
    e->gx = where->gx;
    if ((status == P_RUNNING || status == P_SYSCALL) && th->id != TRACE_NONE)
        th->p = p; /* nobody holds nothing */
    return ADV_YES;
}

static inline bool seq_fits(uint64_t gen, uint64_t seq, uint64_t gen_now, uint64_t seq_now)
{
    return gen == gen_now && seq_now == seq + 1;
}

static enum advanced proc_start(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(2);
    struct proc_state *p = id_find(&t->order.ps, arg[0]);
    if (p == NULL || p->status != P_IDLE || !seq_fits(p->gen, p->seq, t->gen.number, arg[1]) ||
        th->p != NULL)
        return ADV_WAIT;
    NEED(NEEDS_M);
    p->status = P_RUNNING;
    p->seq = arg[1];
    put_p(t, th, p->id, TRACE_IDLE, TRACE_RUNNING);
    th->p = p;
    return ADV_YES;
}

static enum advanced proc_stop(struct trace *t, struct thread *th, struct failure *f)
{
    NO_ARGS();
    struct proc_state *p = th->p;
    NEED(NEEDS_M | NEEDS_P);
    if (p->status != P_RUNNING && p->status != P_SYSCALL)
        return order_broken(t, th, f, "P %" PRIu64 " is %s", p->id, pstatus_names[p->status]);
    put_p(t, th, p->id, TRACE_RUNNING, TRACE_IDLE);
    p->status = P_IDLE;
    th->p = NULL;
    return ADV_YES;
}

static enum advanced proc_steal(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(3);
    uint64_t m = arg[2];
    struct proc_state *p = id_find(&t->order.ps, arg[0]);
    if (p == NULL || (p->status != P_SYSCALL && p->status != P_ABANDONED) ||
        !seq_fits(p->gen, p->seq, t->gen.number, arg[1]))
        return ADV_WAIT;
    NEED(NEEDS_M);
    bool abandoned = p->status == P_ABANDONED;
    struct thread *victim = abandoned ? NULL : m == th->id ? th : id_find(&t->order.ms, m);
    if (!abandoned && victim == NULL)
        return order_broken(t, th, f,
                            "P %" PRIu64 " is stolen from thread %" PRIu64 ", which there "
                            "is not",
                            p->id, m);
    if (!abandoned && victim->p != p)
        return order_broken(t, th, f, "thread %" PRIu64 " does not hold P %" PRIu64, m, p->id);
    p->status = P_IDLE;
    p->seq = arg[1];
    put_p(t, th, p->id, abandoned ? TRACE_IDLE : TRACE_RUNNING, TRACE_IDLE)->value = m;
    if (victim != NULL)
        victim->p = NULL;
    return ADV_YES;
}

/* ---- goroutines ---- */

/* A status in a system call binds thread and goroutine. Says where the event is shown. */
static enum advanced syscall_status(struct trace *t, struct thread *th, struct goroutine_state *g,
                                    uint64_t m, struct failure *f, struct thread **where)
{
    struct order *o = &t->order;
    if (m == TRACE_NONE)
        return order_broken(t, th, f, "goroutine %" PRIu64 " is in a syscall without a thread",
                            g->id);
    struct thread *at = m == th->id ? th : id_find(&o->ms, m);
    if (at == th && t->gen.number == o->initial_gen) {
        *where = th;
    } else if (at == NULL) {
        *where = order_thread(o, m);
    } else if (at->gid != g->id) {
        return order_broken(t, th, f,
                            "goroutine %" PRIu64 " is in a syscall on thread %" PRIu64
                            ", which has another one",
                            g->id, m);
    } else {
        *where = at;
    }
    return ADV_YES;
}

static enum advanced go_status(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS_UP_TO(4, th->type == WIRE_GO_STATUS_STACK ? 4 : 3);
    struct order *o = &t->order;
    uint64_t id = arg[0], status = arg[2], gen = t->gen.number;
    if (status >= GSTATUSES)
        return order_broken(t, th, f, "goroutine %" PRIu64 " has status %" PRIu64, id, status);
    if (status == STATUS_BAD)
        trace_note(t, "a goroutine has status 0, which no runtime writes");
    struct goroutine_state *g = id_find(&o->gs, id);
    enum trace_state from = state_of_g[status];
    if (g != NULL && g->status != status)
        return order_broken(t, th, f, "goroutine %" PRIu64 " is %s here and was %s", id,
                            gstatus_names[status], gstatus_names[g->status]);
    if (g == NULL && gen != o->initial_gen)
        return order_broken(t, th, f,
                            "goroutine %" PRIu64 " appears after the first generation and was "
                            "not created",
                            id);
    if (g == NULL) {
        g = g_new(o, id, (uint8_t)status, gen);
        from = TRACE_UNDETERMINED;
    }
    g->gen = gen;
    g->seq = 0;
    struct thread *where = th;
    if (status == STATUS_SYSCALL && syscall_status(t, th, g, arg[1], f, &where) != ADV_YES)
        return ADV_BROKEN;
    struct trace_event *e = put_g(t, th, g, from, state_of_g[status]);
    if (where != th) { /* of that thread the goroutine alone is shown */
        e->m = where->id;
        if (where->gid == id) {
            e->g = id;
            e->gx = g->index;
        }
    }
    if (th->type == WIRE_GO_STATUS_STACK)
        STACK(e, arg[3]);
    if ((status == STATUS_RUNNING || status == STATUS_SYSCALL) && where->id != TRACE_NONE)
        bind_g(where, g);
    return ADV_YES;
}

static enum advanced go_create(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(3);
    struct order *o = &t->order;
    NEED(NEEDS_M | NEEDS_P);
    const struct goroutine_state *by = running_g(o, th);
    if (by != NULL && by->status != STATUS_RUNNING)
        return order_broken(t, th, f, "goroutine %" PRIu64 " is %s", by->id,
                            gstatus_names[by->status]);
    if (id_find(&o->gs, arg[0]) != NULL)
        return order_broken(t, th, f, "goroutine %" PRIu64 " exists already", arg[0]);
    bool blocked = th->type == WIRE_GO_CREATE_BLOCKED;
    struct goroutine_state *g = g_new(o, arg[0], blocked ? STATUS_WAITING : STATUS_RUNNABLE,
                                      t->gen.number);
    struct trace_event *e = put_g(t, th, g, TRACE_NOT_EXIST,
                                  blocked ? TRACE_WAITING : TRACE_RUNNABLE);
    NEW_STACK(e, arg[1]);
    STACK(e, arg[2]);
    return ADV_YES;
}

static enum advanced go_create_syscall(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(1);
    struct order *o = &t->order;
    NEED(NEEDS_M | NEEDS_NO_G);
    if (id_find(&o->gs, arg[0]) != NULL)
        return order_broken(t, th, f, "goroutine %" PRIu64 " exists already", arg[0]);
    struct goroutine_state *g = g_new(o, arg[0], STATUS_SYSCALL, t->gen.number);
    put_g(t, th, g, TRACE_NOT_EXIST, TRACE_SYSCALL);
    bind_g(th, g);
    return ADV_YES;
}

static inline __attribute__((always_inline)) enum advanced go_start_with(struct trace *t,
                                                                         struct thread *th,
                                                                         struct failure *f,
                                                                         const uint64_t *arg)
{
    struct goroutine_state *g = id_find(&t->order.gs, arg[0]);
    if (g == NULL || g->status != STATUS_RUNNABLE ||
        !seq_fits(g->gen, g->seq, t->gen.number, arg[1]))
        return ADV_WAIT;
    NEED(NEEDS_M | NEEDS_P | NEEDS_NO_G);
    g->status = STATUS_RUNNING;
    g->seq = arg[1];
    put_g(t, th, g, TRACE_RUNNABLE, TRACE_RUNNING);
    bind_g(th, g);
    return ADV_YES;
}
WITH_SHORT_ARGS(go_start, 2)

/* The goroutine that the thread runs, in this status, or why not. */
static struct goroutine_state *current(struct trace *t, struct thread *th, struct failure *f,
                                       uint8_t status)
{
    struct goroutine_state *g = running_g(&t->order, th);
    if (UNLIKELY(g == NULL))
        order_broken(t, th, f, "goroutine %" PRIu64 " of thread %" PRIu64 " does not exist",
                     th->gid, th->id);
    else if (UNLIKELY(g->status != status))
        order_broken(t, th, f, "goroutine %" PRIu64 " is %s", g->id, gstatus_names[g->status]);
    else
        return g;
    return NULL;
}

static __attribute__((noinline, cold)) enum advanced not_current(struct trace *t, struct thread *th,
                                                                 struct failure *f, uint8_t status)
{
    (void)current(t, th, f, status);
    return ADV_BROKEN;
}

static inline __attribute__((always_inline)) enum advanced go_stop_with(struct trace *t,
                                                                        struct thread *th,
                                                                        struct failure *f,
                                                                        const uint64_t *arg)
{
    NEED(NEEDS_USER);
    struct goroutine_state *g = running_g(&t->order, th);
    if (UNLIKELY(g == NULL || g->status != STATUS_RUNNING))
        return not_current(t, th, f, STATUS_RUNNING);
    bool block = th->type == WIRE_GO_BLOCK;
    struct trace_event *e = put_g(t, th, g, TRACE_RUNNING, block ? TRACE_WAITING : TRACE_RUNNABLE);
    NAME(e, arg[0]);
    STACK(e, arg[1]);
    g->status = block ? STATUS_WAITING : STATUS_RUNNABLE;
    unbind_g(th);
    return ADV_YES;
}
WITH_SHORT_ARGS(go_stop, 2)

static enum advanced go_destroy(struct trace *t, struct thread *th, struct failure *f)
{
    NO_ARGS();
    NEED(NEEDS_USER);
    struct goroutine_state *g = current(t, th, f, STATUS_RUNNING);
    if (g == NULL)
        return ADV_BROKEN;
    put_g(t, th, g, TRACE_RUNNING, TRACE_NOT_EXIST);
    g_end(&t->order, g);
    unbind_g(th);
    return ADV_YES;
}

static inline __attribute__((always_inline)) enum advanced go_unblock_with(struct trace *t,
                                                                           struct thread *th,
                                                                           struct failure *f,
                                                                           const uint64_t *arg)
{
    struct goroutine_state *g = id_find(&t->order.gs, arg[0]);
    if (g == NULL || g->status != STATUS_WAITING ||
        !seq_fits(g->gen, g->seq, t->gen.number, arg[1]))
        return ADV_WAIT;
    g->status = STATUS_RUNNABLE;
    g->seq = arg[1];
    struct trace_event *e = put_g(t, th, g, TRACE_WAITING, TRACE_RUNNABLE);
    STACK(e, arg[2]);
    return ADV_YES;
}
WITH_SHORT_ARGS(go_unblock, 3)

/* A coroutine switch is three events at one instant: the other wakes, this one waits or is gone,
 * the other runs. */
static enum advanced go_switch(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(2);
    NEED(NEEDS_USER);
    struct goroutine_state *g = current(t, th, f, STATUS_RUNNING);
    if (g == NULL)
        return ADV_BROKEN;
    struct goroutine_state *next = id_find(&t->order.gs, arg[0]);
    if (next == NULL || next->status != STATUS_WAITING ||
        !seq_fits(next->gen, next->seq, t->gen.number, arg[1]))
        return ADV_WAIT;
    bool destroy = th->type == WIRE_GO_SWITCH_DESTROY;
    put_g(t, th, next, TRACE_WAITING, TRACE_RUNNABLE);
    put_g(t, th, g, TRACE_RUNNING, destroy ? TRACE_NOT_EXIST : TRACE_WAITING);
    if (destroy)
        g_end(&t->order, g);
    else
        g->status = STATUS_WAITING;
    unbind_g(th);
    next->status = STATUS_RUNNING;
    next->seq = arg[1];
    put_g(t, th, next, TRACE_RUNNABLE, TRACE_RUNNING);
    bind_g(th, next);
    return ADV_YES;
}

/* ---- system calls ---- */

static inline __attribute__((always_inline)) enum advanced syscall_begin_with(struct trace *t,
                                                                              struct thread *th,
                                                                              struct failure *f,
                                                                              const uint64_t *arg)
{
    NEED(NEEDS_USER);
    struct goroutine_state *g = running_g(&t->order, th);
    if (UNLIKELY(g == NULL || g->status != STATUS_RUNNING))
        return not_current(t, th, f, STATUS_RUNNING);
    struct proc_state *p = th->p;
    if (!seq_fits(p->gen, p->seq, t->gen.number, arg[0]))
        return order_broken(t, th, f,
                            "P %" PRIu64 "'s sequence number is %" PRIu64 " after %" PRIu64, p->id,
                            arg[0], p->seq);
    struct trace_event *e = put_g(t, th, g, TRACE_RUNNING, TRACE_SYSCALL);
    STACK(e, arg[1]);
    g->status = STATUS_SYSCALL;
    p->status = P_SYSCALL;
    p->seq = arg[0];
    return ADV_YES;
}
WITH_SHORT_ARGS(syscall_begin, 2)

static enum advanced syscall_end(struct trace *t, struct thread *th, struct failure *f)
{
    NO_ARGS();
    NEED(NEEDS_USER);
    struct goroutine_state *g = running_g(&t->order, th);
    if (UNLIKELY(g == NULL || g->status != STATUS_SYSCALL))
        return not_current(t, th, f, STATUS_SYSCALL);
    if (th->p->status != P_SYSCALL)
        return order_broken(t, th, f, "P %" PRIu64 " is %s", th->p->id,
                            pstatus_names[th->p->status]);
    g->status = STATUS_RUNNING;
    th->p->status = P_RUNNING;
    put_g(t, th, g, TRACE_SYSCALL, TRACE_RUNNING);
    return ADV_YES;
}

static enum advanced syscall_end_blocked(struct trace *t, struct thread *th, struct failure *f)
{
    NO_ARGS();
    if (th->p != NULL && th->p->status == P_SYSCALL)
        return ADV_WAIT; /* it will lose the P first */
    NEED(NEEDS_M | NEEDS_G);
    struct goroutine_state *g = current(t, th, f, STATUS_SYSCALL);
    if (g == NULL)
        return ADV_BROKEN;
    g->status = STATUS_RUNNABLE;
    put_g(t, th, g, TRACE_SYSCALL, TRACE_RUNNABLE);
    unbind_g(th);
    return ADV_YES;
}

/* A goroutine of a C callback ends. Its P is nobody's from then on: the thread's number may be used
 * again before the P is stolen. */
static enum advanced go_destroy_syscall(struct trace *t, struct thread *th, struct failure *f)
{
    NO_ARGS();
    NEED(NEEDS_M | NEEDS_G);
    struct goroutine_state *g = current(t, th, f, STATUS_SYSCALL);
    if (g == NULL)
        return ADV_BROKEN;
    if (th->p != NULL) {
        if (th->p->status != P_SYSCALL)
            return order_broken(t, th, f, "P %" PRIu64 " is %s", th->p->id,
                                pstatus_names[th->p->status]);
        th->p->status = P_ABANDONED;
        put_p(t, th, th->p->id, TRACE_RUNNING, TRACE_IDLE)->value = th->id;
    }
    put_g(t, th, g, TRACE_SYSCALL, TRACE_NOT_EXIST);
    g_end(&t->order, g);
    unbind_g(th);
    th->p = NULL;
    return ADV_YES;
}
static enum advanced clock_inside(struct trace *t, struct thread *th, struct failure *f)
{
    return order_broken(t, th, f, "it lies in a batch of events");
}

/* A table and not a switch: a compiler makes one function of all cases, and every event pays for
 * the registers of the most complicated one. */
order_fn *const order_of[WIRE_TYPES] = {
    [WIRE_GO_START] = go_start,
    [WIRE_GO_UNBLOCK] = go_unblock,
    [WIRE_GO_STOP] = go_stop,
    [WIRE_GO_BLOCK] = go_stop,
    [WIRE_GO_SYSCALL_BEGIN] = syscall_begin,
    [WIRE_GO_SYSCALL_END] = syscall_end,
    [WIRE_GO_SYSCALL_END_BLOCKED] = syscall_end_blocked,
    [WIRE_PROC_START] = proc_start,
    [WIRE_PROC_STOP] = proc_stop,
    [WIRE_PROC_STEAL] = proc_steal,
    [WIRE_PROC_STATUS] = proc_status,
    [WIRE_GO_CREATE] = go_create,
    [WIRE_GO_CREATE_BLOCKED] = go_create,
    [WIRE_GO_CREATE_SYSCALL] = go_create_syscall,
    [WIRE_GO_DESTROY] = go_destroy,
    [WIRE_GO_DESTROY_SYSCALL] = go_destroy_syscall,
    [WIRE_GO_SWITCH] = go_switch,
    [WIRE_GO_SWITCH_DESTROY] = go_switch,
    [WIRE_GO_STATUS] = go_status,
    [WIRE_GO_STATUS_STACK] = go_status,
    [WIRE_STW_BEGIN] = order_go_range_begin,
    [WIRE_GC_MARK_ASSIST_BEGIN] = order_go_range_begin,
    [WIRE_STW_END] = order_go_range_end,
    [WIRE_GC_MARK_ASSIST_END] = order_go_range_end,
    [WIRE_GC_MARK_ASSIST_ACTIVE] = order_go_range_active,
    [WIRE_GC_SWEEP_BEGIN] = order_sweep_begin,
    [WIRE_GC_SWEEP_END] = order_sweep_end,
    [WIRE_GC_SWEEP_ACTIVE] = order_sweep_active,
    [WIRE_GC_ACTIVE] = order_gc_active,
    [WIRE_GC_BEGIN] = order_gc_begin,
    [WIRE_GC_END] = order_gc_end,
    [WIRE_PROCS_CHANGE] = order_metric,
    [WIRE_HEAP_ALLOC] = order_metric,
    [WIRE_HEAP_GOAL] = order_metric,
    [WIRE_GO_LABEL] = order_go_label,
    [WIRE_USER_TASK_BEGIN] = order_task_begin,
    [WIRE_USER_TASK_END] = order_task_end,
    [WIRE_USER_REGION_BEGIN] = order_region_begin,
    [WIRE_USER_REGION_END] = order_region_end,
    [WIRE_USER_LOG] = order_user_log,
    [WIRE_SPAN] = order_experiment,
    [WIRE_SPAN_ALLOC] = order_experiment,
    [WIRE_SPAN_FREE] = order_experiment,
    [WIRE_HEAP_OBJECT] = order_experiment,
    [WIRE_HEAP_OBJECT_ALLOC] = order_experiment,
    [WIRE_HEAP_OBJECT_FREE] = order_experiment,
    [WIRE_GOROUTINE_STACK] = order_experiment,
    [WIRE_GOROUTINE_STACK_ALLOC] = order_experiment,
    [WIRE_GOROUTINE_STACK_FREE] = order_experiment,
    [WIRE_CLOCK_SNAPSHOT] = clock_inside,
};
