/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_ORDER_INT_H
#define GMPSIM_REPLAY_ORDER_INT_H

/* What the two files of the state machine share: what an event needs, and how it is told. */

#include "replay/trace_int.h"

/* Why not, with the place of the event. */
enum advanced order_broken(const struct trace *t, const struct thread *th, struct failure *f,
                           const char *fmt, ...) __attribute__((format(printf, 4, 5), cold));
enum advanced order_lacking(const struct trace *t, const struct thread *th, struct failure *f,
                            unsigned needs) __attribute__((cold));
enum advanced order_undefined(const struct trace *t, const struct thread *th, struct failure *f,
                              const char *what, uint64_t id) __attribute__((cold));
enum advanced order_cut(const struct trace *t, const struct thread *th, struct failure *f)
    __attribute__((cold));

/* ranges.c */
order_fn order_go_range_begin;
order_fn order_go_range_end;
order_fn order_go_range_active;
order_fn order_sweep_begin;
order_fn order_sweep_end;
order_fn order_sweep_active;
order_fn order_gc_active;
order_fn order_gc_begin;
order_fn order_gc_end;
order_fn order_metric;
order_fn order_go_label;
order_fn order_task_begin;
order_fn order_task_end;
order_fn order_region_begin;
order_fn order_region_end;
order_fn order_user_log;
order_fn order_experiment;

void order_more_free(struct more *m);
/* Memory that stays until the end. */
void *order_alloc(struct order *o, size_t size);

/* The event's arguments, arg[0] to arg[n - 1]; n is a constant where one type comes here. Written
 * out: a compiler keeps the loop, and the numbers in memory. */
#define ARG(i, n)  \
    if ((i) < (n)) \
    at_ = wire_varint(at_, &arg[(i) < (n) ? (i) : 0])
#define ARGS_UP_TO(max, n)                                  \
    uint64_t arg[max] = {0};                                \
    do {                                                    \
        const uint8_t *at_ = th->args;                      \
        ARG(0, n);                                          \
        ARG(1, n);                                          \
        ARG(2, n);                                          \
        ARG(3, n);                                          \
        if (UNLIKELY(!wire_inside(th->args, at_, th->end))) \
            return order_cut(t, th, f);                     \
        th->next = at_;                                     \
    } while (0)
#define ARGS(n)   ARGS_UP_TO(n, n)
#define NO_ARGS() (th->next = th->args)

/* The commonest events have a way of their own, for numbers of up to 3 bytes, that calls nobody: so
 * it keeps nothing across a call and saves no register. Whatever is longer goes through
 * NAME_long. */
#define SHORT_ARG(i, n, otherwise)                                                       \
    if ((i) < (n)) {                                                                     \
        const int k_ = (i) < (n) ? (i) : 0;                                              \
        if (LIKELY(at_[0] < 0x80)) {                                                     \
            arg[k_] = at_[0];                                                            \
            at_ += 1;                                                                    \
        } else if (LIKELY(at_[1] < 0x80)) {                                              \
            arg[k_] = (at_[0] & 0x7fU) | (uint64_t)at_[1] << 7;                          \
            at_ += 2;                                                                    \
        } else if (LIKELY(at_[2] < 0x80)) {                                              \
            arg[k_] = (at_[0] & 0x7fU) | (at_[1] & 0x7fU) << 7 | (uint64_t)at_[2] << 14; \
            at_ += 3;                                                                    \
        } else {                                                                         \
            return otherwise(t, th, f);                                                  \
        }                                                                                \
    }
#define WITH_SHORT_ARGS(name, n)                                                     \
    static __attribute__((noinline, cold)) enum advanced name##_long(                \
        struct trace *t, struct thread *th, struct failure *f)                       \
    {                                                                                \
        ARGS(n);                                                                     \
        return name##_with(t, th, f, arg);                                           \
    }                                                                                \
    static enum advanced name(struct trace *t, struct thread *th, struct failure *f) \
    {                                                                                \
        uint64_t arg[n] = {0};                                                       \
        const uint8_t *at_ = th->args;                                               \
        SHORT_ARG(0, n, name##_long)                                                 \
        SHORT_ARG(1, n, name##_long)                                                 \
        SHORT_ARG(2, n, name##_long)                                                 \
        if (UNLIKELY(!wire_inside(th->args, at_, th->end)))                          \
            return order_cut(t, th, f);                                              \
        th->next = at_;                                                              \
        return name##_with(t, th, f, arg);                                           \
    }

enum needs { NEEDS_M = 1, NEEDS_P = 2, NEEDS_G = 4, NEEDS_NO_G = 8, NEEDS_USER = 7 };

static inline bool has(const struct thread *th, unsigned needs)
{
    return !((needs & NEEDS_M) && th->id == TRACE_NONE) && !((needs & NEEDS_P) && th->p == NULL) &&
           !((needs & NEEDS_G) && th->gid == TRACE_NONE) &&
           !((needs & NEEDS_NO_G) && th->gid != TRACE_NONE);
}

#define NEED(needs)                                  \
    do {                                             \
        if (UNLIKELY(!has(th, (needs))))             \
            return order_lacking(t, th, f, (needs)); \
    } while (0)

/* The state of the goroutine that the thread runs; NULL: it is none that lives. A goroutine bound
 * to two threads by a strange trace may have ended on the other, its number be used again. */
static inline struct goroutine_state *running_g(const struct order *o, struct thread *th)
{
    if (LIKELY(th->g != NULL && th->g->index == th->gx))
        return th->g;
    if (th->gid == TRACE_NONE)
        return NULL;
    th->g = id_find(&o->gs, th->gid);
    th->gx = th->g != NULL ? th->g->index : TRACE_NO_INDEX;
    return th->g;
}

static inline void bind_g(struct thread *th, struct goroutine_state *g)
{
    th->g = g;
    th->gid = g->id;
    th->gx = g->index;
}

static inline void unbind_g(struct thread *th)
{
    th->g = NULL;
    th->gid = TRACE_NONE;
    th->gx = TRACE_NO_INDEX;
}

static inline struct trace_event *put(struct trace *t, const struct thread *th,
                                      enum trace_kind kind)
{
    struct trace_event *e = trace_put(t, th->time, kind);
    e->m = th->id;
    e->p = th->p != NULL ? th->p->id : TRACE_NONE;
    e->g = th->gid;
    e->gx = th->gx;
    e->wire = th->type;
    return e;
}

static inline struct trace_event *put_g(struct trace *t, const struct thread *th,
                                        const struct goroutine_state *g, enum trace_state from,
                                        enum trace_state to)
{
    struct trace_event *e = put(t, th, TRACE_G);
    e->id = g->id;
    e->idx = g->index;
    e->from = (uint8_t)from;
    e->to = (uint8_t)to;
    return e;
}

static inline struct trace_event *put_p(struct trace *t, const struct thread *th, uint64_t p,
                                        enum trace_state from, enum trace_state to)
{
    struct trace_event *e = put(t, th, TRACE_P);
    e->id = p;
    e->from = (uint8_t)from;
    e->to = (uint8_t)to;
    return e;
}

/* Stacks and strings that the event names. Go's reader looks after the state machine, too. */
#define RESOLVE(to, table, what, arg)                      \
    do {                                                   \
        uint32_t is_ = meaning_of(&t->gen.table, (arg));   \
        if (UNLIKELY(is_ == 0)) {                          \
            t->out_at--;                                   \
            return order_undefined(t, th, f, what, (arg)); \
        }                                                  \
        (to) = is_ - 1;                                    \
    } while (0)
#define STACK(e, arg)     RESOLVE((e)->stack, stacks, "stack", arg)
#define NEW_STACK(e, arg) RESOLVE((e)->new_stack, stacks, "stack", arg)
#define NAME(e, arg)      RESOLVE((e)->name, strings, "string", arg)
#define TEXT(e, arg)      RESOLVE((e)->text, strings, "string", arg)

#endif
