/* SPDX-License-Identifier: BSD-3-Clause */
/* The state machine's part of what goroutines and Ps are inside of (stopped worlds, assists,
 * sweeps, collections, tasks, regions) and of what needs no state: metrics, labels, logs. */
#include "replay/order_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

/* ---- ranges ---- */

static struct more *more_of(struct goroutine_state *g)
{
    if (g->more == NULL) {
        g->more = x_alloc(sizeof *g->more);
        memset(g->more, 0, sizeof *g->more);
    }
    return g->more;
}

static bool range_open(const struct goroutine_state *g, uint32_t range)
{
    for (uint32_t i = 0; g->more != NULL && i < g->more->nranges; i++)
        if (g->more->ranges[i] == range)
            return true;
    return false;
}

static void range_add(struct goroutine_state *g, uint32_t range)
{
    struct more *m = more_of(g);
    X_ROOM(m->ranges, m->nranges, m->ranges_room, 2);
    m->ranges[m->nranges++] = range;
}

/* Takes the first open range of the sort; false: there is none. */
static bool range_take(struct goroutine_state *g, bool stw, uint32_t *range)
{
    struct more *m = g->more;
    for (uint32_t i = 0; m != NULL && i < m->nranges; i++) {
        if ((m->ranges[i] != 0) != stw)
            continue;
        *range = m->ranges[i];
        m->ranges[i] = m->ranges[--m->nranges];
        return true;
    }
    return false;
}

/* "stop-the-world (KIND)". */
static uint32_t stw_name(struct trace *t, uint32_t kind)
{
    struct order *o = &t->order;
    for (size_t i = 0; i < o->nstw_names; i++)
        if (o->stw_names[i].kind == kind)
            return o->stw_names[i].name;
    char text[1100];
    const struct interned_string *s = &t->names.strings[kind];
    int n = snprintf(text, sizeof text, "stop-the-world (");
    memcpy(text + n, s->text, s->size < 1024 ? s->size : 1024);
    n += (int)(s->size < 1024 ? s->size : 1024);
    text[n++] = ')';
    X_ROOM(o->stw_names, o->nstw_names, o->stw_names_room, 16);
    uint32_t name = names_put(&t->names, text, (size_t)n);
    o->stw_names[o->nstw_names++] = (struct stw_name){.kind = kind, .name = name};
    return name;
}

static struct trace_event *put_range(struct trace *t, const struct thread *th, enum trace_kind kind,
                                     uint32_t name, enum trace_scope scope)
{
    struct trace_event *e = put(t, th, kind);
    e->name = name;
    e->scope = (uint8_t)scope;
    e->id = scope == TRACE_SCOPE_G ? e->g : scope == TRACE_SCOPE_P ? e->p : TRACE_NONE;
    e->idx = scope == TRACE_SCOPE_G ? e->gx : TRACE_NO_INDEX;
    return e;
}

enum advanced order_go_range_begin(struct trace *t, struct thread *th, struct failure *f)
{
    bool stw = th->type == WIRE_STW_BEGIN;
    ARGS_UP_TO(2, stw ? 2 : 1);
    NEED(NEEDS_USER);
    struct goroutine_state *g = running_g(&t->order, th);
    if (g == NULL)
        return order_broken(t, th, f, "goroutine %" PRIu64 " does not exist", th->gid);
    struct trace_event *e = put_range(t, th, TRACE_RANGE_BEGIN, t->order.range_assist,
                                      TRACE_SCOPE_G);
    uint32_t range = 0;
    if (stw) {
        NAME(e, arg[0]);
        e->text = e->name;
        range = 1 + e->text;
        e->name = stw_name(t, e->text);
    }
    STACK(e, arg[stw ? 1 : 0]);
    if (range_open(g, range)) {
        t->out_at--;
        return order_broken(t, th, f, "goroutine %" PRIu64 " is inside it already", g->id);
    }
    range_add(g, range);
    return ADV_YES;
}

enum advanced order_go_range_active(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(1);
    struct goroutine_state *g = id_find(&t->order.gs, arg[0]);
    if (g == NULL)
        return order_broken(t, th, f, "goroutine %" PRIu64 " does not exist", arg[0]);
    bool first = t->gen.number == t->order.initial_gen;
    if (range_open(g, 0) == first)
        return order_broken(t, th, f, "goroutine %" PRIu64 " was %s a mark assist", g->id,
                            first ? "already in" : "in no");
    if (first)
        range_add(g, 0);
    struct trace_event *e = put_range(t, th, TRACE_RANGE_ACTIVE, t->order.range_assist,
                                      TRACE_SCOPE_G);
    e->id = g->id;
    e->idx = g->index;
    return ADV_YES;
}

enum advanced order_go_range_end(struct trace *t, struct thread *th, struct failure *f)
{
    NO_ARGS();
    NEED(NEEDS_USER);
    struct goroutine_state *g = running_g(&t->order, th);
    bool stw = th->type == WIRE_STW_END;
    uint32_t range;
    if (g == NULL || !range_take(g, stw, &range))
        return order_broken(t, th, f, "goroutine %" PRIu64 " has not begun one", th->gid);
    uint32_t name = stw ? stw_name(t, range - 1) : t->order.range_assist;
    struct trace_event *e = put_range(t, th, TRACE_RANGE_END, name, TRACE_SCOPE_G);
    e->text = stw ? range - 1 : 0;
    return ADV_YES;
}

enum advanced order_sweep_begin(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(1);
    NEED(NEEDS_M | NEEDS_P);
    if (th->p->sweeping)
        return order_broken(t, th, f, "P %" PRIu64 " sweeps already", th->p->id);
    struct trace_event *e = put_range(t, th, TRACE_RANGE_BEGIN, t->order.range_sweep,
                                      TRACE_SCOPE_P);
    STACK(e, arg[0]);
    th->p->sweeping = true;
    return ADV_YES;
}

enum advanced order_sweep_active(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(1);
    struct proc_state *p = id_find(&t->order.ps, arg[0]);
    if (p == NULL)
        return order_broken(t, th, f, "P %" PRIu64 " is not known", arg[0]);
    bool first = t->gen.number == t->order.initial_gen;
    if (p->sweeping == first)
        return order_broken(t, th, f, "P %" PRIu64 " was %s", p->id,
                            first ? "already sweeping" : "not sweeping");
    p->sweeping = true;
    put_range(t, th, TRACE_RANGE_ACTIVE, t->order.range_sweep, TRACE_SCOPE_P)->id = p->id;
    return ADV_YES;
}

enum advanced order_sweep_end(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(2);
    NEED(NEEDS_M | NEEDS_P);
    if (!th->p->sweeping)
        return order_broken(t, th, f, "P %" PRIu64 " does not sweep", th->p->id);
    th->p->sweeping = false;
    struct trace_event *e = put_range(t, th, TRACE_RANGE_END, t->order.range_sweep, TRACE_SCOPE_P);
    e->value = arg[0];
    e->value2 = arg[1];
    return ADV_YES;
}

enum advanced order_gc_active(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(1);
    struct order *o = &t->order;
    if (t->gen.number == o->initial_gen) {
        if (o->gc != GC_UNKNOWN)
            return order_broken(t, th, f, "it is not the first event of the collector");
    } else {
        if (arg[0] != o->gc_seq + 1)
            return ADV_WAIT;
        if (o->gc != GC_ON)
            return order_broken(t, th, f, "the collector is not marking");
        NEED(NEEDS_USER);
    }
    o->gc = GC_ON;
    o->gc_seq = arg[0];
    put_range(t, th, TRACE_RANGE_ACTIVE, o->range_gc, TRACE_SCOPE_GLOBAL);
    return ADV_YES;
}

enum advanced order_gc_begin(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(2);
    struct order *o = &t->order;
    if (o->gc != GC_UNKNOWN) {
        if (arg[0] != o->gc_seq + 1)
            return ADV_WAIT;
        if (o->gc == GC_ON)
            return order_broken(t, th, f, "the collector is marking already");
        NEED(NEEDS_USER);
    }
    o->gc = GC_ON;
    o->gc_seq = arg[0];
    struct trace_event *e = put_range(t, th, TRACE_RANGE_BEGIN, o->range_gc, TRACE_SCOPE_GLOBAL);
    STACK(e, arg[1]);
    return ADV_YES;
}

enum advanced order_gc_end(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(1);
    struct order *o = &t->order;
    if (arg[0] != o->gc_seq + 1)
        return ADV_WAIT;
    if (o->gc != GC_ON)
        return order_broken(t, th, f, "the collector is not marking");
    NEED(NEEDS_USER);
    o->gc = GC_OFF;
    o->gc_seq = arg[0];
    put_range(t, th, TRACE_RANGE_END, o->range_gc, TRACE_SCOPE_GLOBAL);
    return ADV_YES;
}
/* ---- what programs and collectors say ---- */

enum advanced order_metric(struct trace *t, struct thread *th, struct failure *f)
{
    struct order *o = &t->order;
    bool procs = th->type == WIRE_PROCS_CHANGE;
    ARGS_UP_TO(2, procs ? 2 : 1);
    NEED(procs ? NEEDS_USER : NEEDS_M | NEEDS_P);
    struct trace_event *e = put(t, th, TRACE_METRIC);
    e->name = procs                         ? o->metric_procs
              : th->type == WIRE_HEAP_ALLOC ? o->metric_heap
                                            : o->metric_goal;
    e->value = arg[0];
    if (procs)
        STACK(e, arg[1]);
    return ADV_YES;
}

enum advanced order_go_label(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(1);
    NEED(NEEDS_USER);
    struct trace_event *e = put(t, th, TRACE_LABEL);
    e->id = e->g;
    e->idx = e->gx;
    NAME(e, arg[0]);
    return ADV_YES;
}

enum advanced order_task_begin(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(4);
    struct order *o = &t->order;
    uint64_t id = arg[0];
    if (id_find(&o->tasks, id) != NULL)
        return order_broken(t, th, f, "task %" PRIu64 " has begun already", id);
    NEED(NEEDS_USER);
    struct trace_event *e = put(t, th, TRACE_TASK_BEGIN);
    e->id = id;
    e->value = arg[1] == 0 ? TRACE_NONE : arg[1]; /* 0 is no parent */
    NAME(e, arg[2]);
    STACK(e, arg[3]);
    struct task *task = o->free_tasks;
    if (task != NULL)
        o->free_tasks = task->next_free;
    else
        task = order_alloc(o, sizeof *task);
    *task = (struct task){.parent = e->value, .name = e->name};
    id_put(&o->tasks, id, task);
    return ADV_YES;
}

enum advanced order_task_end(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(2);
    struct order *o = &t->order;
    NEED(NEEDS_USER);
    struct trace_event *e = put(t, th, TRACE_TASK_END);
    e->id = arg[0];
    e->value = TRACE_NONE;
    STACK(e, arg[1]);
    struct task *task = id_find(&o->tasks, e->id);
    if (task != NULL) {
        e->value = task->parent;
        e->name = task->name;
        id_take(&o->tasks, e->id);
        task->next_free = o->free_tasks;
        o->free_tasks = task;
    }
    return ADV_YES;
}

/* What both ends of a region say; *who is in it. */
static enum advanced region_event(struct trace *t, struct thread *th, struct failure *f,
                                  enum trace_kind kind, struct goroutine_state **who,
                                  struct trace_event **out)
{
    ARGS(3);
    NEED(NEEDS_USER);
    *who = running_g(&t->order, th);
    if (*who == NULL)
        return order_broken(t, th, f, "goroutine %" PRIu64 " does not exist", th->gid);
    struct trace_event *e = *out = put(t, th, kind);
    e->id = arg[0];
    NAME(e, arg[1]);
    STACK(e, arg[2]);
    return ADV_YES;
}

enum advanced order_region_begin(struct trace *t, struct thread *th, struct failure *f)
{
    struct goroutine_state *g = NULL;
    struct trace_event *e = NULL;
    enum advanced how = region_event(t, th, f, TRACE_REGION_BEGIN, &g, &e);
    if (how != ADV_YES || g == NULL || e == NULL)
        return how;
    struct more *m = more_of(g);
    X_ROOM(m->regions, m->nregions, m->regions_room, 4);
    m->regions[m->nregions++] = (struct region){.task = e->id, .name = e->name};
    return ADV_YES;
}

enum advanced order_region_end(struct trace *t, struct thread *th, struct failure *f)
{
    struct goroutine_state *g = NULL;
    struct trace_event *e = NULL;
    enum advanced how = region_event(t, th, f, TRACE_REGION_END, &g, &e);
    if (how != ADV_YES || g == NULL || e == NULL)
        return how;
    struct more *m = g->more;
    if (m == NULL || m->nregions == 0)
        return ADV_YES; /* began before the trace */
    const struct region *r = &m->regions[m->nregions - 1];
    if (r->task != e->id || r->name != e->name) {
        t->out_at--;
        return order_broken(t, th, f,
                            "goroutine %" PRIu64 " ends region %.80s, the innermost is %.80s",
                            g->id, t->names.strings[e->name].text, t->names.strings[r->name].text);
    }
    m->nregions--;
    return ADV_YES;
}

enum advanced order_user_log(struct trace *t, struct thread *th, struct failure *f)
{
    ARGS(4);
    NEED(NEEDS_USER);
    struct trace_event *e = put(t, th, TRACE_LOG);
    e->id = arg[0];
    NAME(e, arg[1]);
    TEXT(e, arg[2]);
    STACK(e, arg[3]);
    return ADV_YES;
}

enum advanced order_experiment(struct trace *t, struct thread *th, struct failure *f)
{
    int n = wire_args[th->type] - 1;
    ARGS_UP_TO(WIRE_ARGS_MAX, n);
    NEED(NEEDS_M);
    struct trace_event *e = put(t, th, TRACE_EXPERIMENT);
    e->id = arg[0];
    e->value = n > 1 ? arg[1] : 0;
    e->value2 = n > 2 ? arg[2] : 0;
    return ADV_YES;
}
