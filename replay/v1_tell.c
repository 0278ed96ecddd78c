/* SPDX-License-Identifier: BSD-3-Clause */
/* The merged events of an old trace, told as events of the newer format (v1_int.h). What began
 * before the trace is known from its preamble, up to the first Gomaxprocs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/v1_int.h"
#include "sim/base/alloc.h"

static uint32_t index_of(const struct v1 *v, uint64_t g)
{
    uintptr_t n = (uintptr_t)id_find(&v->gs, g);
    return n != 0 ? (uint32_t)(n - 1) : TRACE_NO_INDEX;
}

static struct trace_event *put(struct v1 *v, const struct v1_event *e, enum trace_kind kind,
                               enum trace_wire wire)
{
    struct trace_event *out = trace_put(v->t, e->time, kind);
    const struct map_slot *m = e->p >= 0 ? map_find(&v->threads, (uint64_t)e->p, 0) : NULL;
    out->m = m != NULL ? m->at : TRACE_NONE;
    out->p = e->p >= 0 ? (uint64_t)e->p : TRACE_NONE;
    out->g = e->g != 0 ? e->g : TRACE_NONE;
    out->gx = e->g != 0 ? index_of(v, e->g) : TRACE_NO_INDEX;
    out->wire = (uint8_t)wire;
    out->stack = v1_stack(v, e->stack);
    return out;
}

/* A goroutine's event. One that nobody knows appears: a file may leave out what it likes. */
static struct trace_event *put_g(struct v1 *v, const struct v1_event *e, uint64_t g,
                                 enum trace_wire wire, enum trace_state from, enum trace_state to)
{
    bool is_new = index_of(v, g) == TRACE_NO_INDEX;
    if (is_new)
        id_put(&v->gs, g, (void *)((uintptr_t)++v->goroutines));
    struct trace_event *out = put(v, e, TRACE_G, wire);
    out->id = g;
    out->idx = index_of(v, g);
    out->from = (uint8_t)(is_new && from != TRACE_NOT_EXIST ? TRACE_UNDETERMINED : from);
    out->to = (uint8_t)to;
    if (to == TRACE_NOT_EXIST)
        id_take(&v->gs, g);
    return out;
}

static uint32_t word(struct v1 *v, const char *text)
{
    return names_put(&v->t->names, text, strlen(text));
}

static void tell_block(struct v1 *v, const struct v1_event *e)
{
    const char *why = e->type == V1_GO_STOP        ? "forever"
                      : e->type == V1_GO_SLEEP     ? "sleep"
                      : e->type == V1_BLOCK_SEND   ? "chan send"
                      : e->type == V1_BLOCK_RECV   ? "chan receive"
                      : e->type == V1_BLOCK_SELECT ? "select"
                      : e->type == V1_BLOCK_SYNC   ? "sync"
                      : e->type == V1_BLOCK_COND   ? "sync.(*Cond).Wait"
                      : e->type == V1_BLOCK_NET    ? "network"
                      : e->type == V1_BLOCK_GC     ? "GC mark assist wait for work"
                                                   : "";
    put_g(v, e, e->g, WIRE_GO_BLOCK, TRACE_RUNNING, TRACE_WAITING)->name = word(v, why);
    if (e->type == V1_BLOCK_NET)
        map_put(&v->net, e->g, 0);
}

/* The first Gomaxprocs ends the list of what there is: goroutines of which nothing was said can
 * run. There may be more of them than fit. False: call once more. */
static bool tell_early(struct v1 *v, const struct v1_event *e)
{
    struct v1_event none = {.time = e->time, .p = -1};
    for (; v->early_at < v->early.capacity; v->early_at++) {
        const struct map_slot *s = &v->early.slots[v->early_at];
        if (v->t->out_at >= v->t->out + OUT_MAX)
            return false;
        if (s->used)
            put_g(v, &none, s->key, WIRE_GO_STATUS, TRACE_UNDETERMINED, TRACE_RUNNABLE);
    }
    return v->started = true;
}

static void early_take(struct v1 *v, uint64_t g)
{
    struct map_slot *s = v->early.capacity > 0 ? map_find(&v->early, g, 0) : NULL;
    if (s != NULL)
        map_take(&v->early, s);
}

static void tell_p(struct v1 *v, const struct v1_event *e)
{
    bool start = e->type == V1_PROC_START, seen = map_find(&v->seen, (uint64_t)e->p, 0) != NULL;
    if (start)
        map_put(&v->threads, (uint64_t)e->p, 0)->at = e->args[0];
    struct trace_event *out = put(v, e, TRACE_P,
                                  !seen   ? WIRE_PROC_STATUS
                                  : start ? WIRE_PROC_START
                                          : WIRE_PROC_STOP);
    out->id = (uint64_t)e->p;
    out->from = !seen ? TRACE_UNDETERMINED : start ? TRACE_IDLE : TRACE_RUNNING;
    out->to = start ? TRACE_RUNNING : TRACE_IDLE;
    map_put(&v->seen, (uint64_t)e->p, 0);
    struct map_slot *m = start ? NULL : map_find(&v->threads, (uint64_t)e->p, 0);
    if (m != NULL)
        map_take(&v->threads, m);
}

static const char *stw_kind(const struct v1 *v, uint64_t kind)
{
    static const char *const kinds[] = {
        "",
        "GC mark termination",
        "GC sweep termination",
        "write heap dump",
        "goroutine profile",
        "goroutine profile cleanup",
        "all goroutine stack trace",
        "read mem stats",
        "AllThreadsSyscall",
        "GOMAXPROCS",
        "start trace",
        "stop trace",
        "CountPagesInUse (test)",
        "ReadMetricsSlow (test)",
        "ReadMemStatsSlow (test)",
        "PageCachePagesLeaked (test)",
        "ResetDebugLog (test)",
    };
    if (v->t->info.version < 21)
        return kind < 2 ? kinds[kind + 1] : kinds[0];
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : kinds[0];
}

static void tell_range(struct v1 *v, const struct v1_event *e, enum trace_wire wire, bool begin)
{
    const struct order *o = &v->t->order;
    bool stw = e->type == V1_STW_START || e->type == V1_STW_DONE;
    bool sweep = e->type == V1_SWEEP_START || e->type == V1_SWEEP_DONE;
    bool gc = e->type == V1_GC_START || e->type == V1_GC_DONE;
    struct trace_event *out = put(v, e, begin ? TRACE_RANGE_BEGIN : TRACE_RANGE_END, wire);
    out->scope = gc ? TRACE_SCOPE_GLOBAL : sweep ? TRACE_SCOPE_P : TRACE_SCOPE_G;
    out->id = gc ? TRACE_NONE : sweep ? out->p : out->g;
    out->idx = out->scope == TRACE_SCOPE_G ? out->gx : TRACE_NO_INDEX;
    if (e->type == V1_STW_START) {
        char text[80];
        int n = snprintf(text, sizeof text, "stop-the-world (%s)", stw_kind(v, e->args[0]));
        v->stw_kind = word(v, stw_kind(v, e->args[0]));
        v->stw_name = names_put(&v->t->names, text, (size_t)n);
    }
    out->name = stw ? v->stw_name : gc ? o->range_gc : sweep ? o->range_sweep : o->range_assist;
    out->text = stw ? v->stw_kind : 0;
    if (e->type == V1_SWEEP_DONE) {
        out->value = e->args[0];
        out->value2 = e->args[1];
    }
}

static void tell_named(struct v1 *v, const struct v1_event *e)
{
    static const uint8_t kinds[] = {TRACE_TASK_BEGIN, TRACE_TASK_END, TRACE_REGION_BEGIN,
                                    TRACE_REGION_END, TRACE_LOG};
    static const uint8_t wires[] = {WIRE_USER_TASK_BEGIN, WIRE_USER_TASK_END,
                                    WIRE_USER_REGION_BEGIN, WIRE_USER_REGION_END, WIRE_USER_LOG};
    int which = e->type == V1_TASK_CREATE ? 0
                : e->type == V1_TASK_END  ? 1
                : e->type == V1_LOG       ? 4
                                          : (e->args[1] == 0 ? 2 : 3);
    struct trace_event *out = put(v, e, (enum trace_kind)kinds[which],
                                  (enum trace_wire)wires[which]);
    out->id = e->args[0];
    if (e->type == V1_LOG) {
        out->name = v1_string(v, e->args[1]);
        out->text = e->text;
    } else if (e->type == V1_REGION) {
        out->name = v1_string(v, e->args[2]);
    } else if (e->type == V1_TASK_CREATE) {
        out->name = v1_string(v, e->args[2]);
        out->value = e->args[1] != 0 ? e->args[1] : TRACE_NONE;
        struct task *task = x_alloc(sizeof *task);
        *task = (struct task){.parent = out->value, .name = out->name};
        struct task *old = id_find(&v->tasks, e->args[0]);
        if (old != NULL)
            id_take(&v->tasks, e->args[0]);
        free(old);
        id_put(&v->tasks, e->args[0], task);
    } else {
        struct task *task = id_find(&v->tasks, e->args[0]);
        out->value = task != NULL ? task->parent : TRACE_NONE;
        out->name = task != NULL ? task->name : 0;
        if (task != NULL)
            id_take(&v->tasks, e->args[0]);
        free(task);
    }
}

static void tell_syscall(struct v1 *v, const struct v1_event *e)
{
    put_g(v, e, e->g, WIRE_GO_SYSCALL_BEGIN, TRACE_RUNNING, TRACE_SYSCALL);
    if (e->blocked)
        return;
    struct v1_event end = *e;
    end.time++;
    end.stack = 0;
    put_g(v, &end, e->g, WIRE_GO_SYSCALL_END, TRACE_SYSCALL, TRACE_RUNNING);
}

static void tell_unblock(struct v1 *v, struct v1_event e)
{
    struct map_slot *net = v->net.capacity > 0 ? map_find(&v->net, e.args[0], 0) : NULL;
    if (v->timers.capacity > 0 && map_find(&v->timers, e.g, 0) != NULL)
        e.p = FAKE_TIMER;
    if (net != NULL) {
        e.p = FAKE_NET;
        map_take(&v->net, net);
    }
    put_g(v, &e, e.args[0], WIRE_GO_UNBLOCK, TRACE_WAITING, TRACE_RUNNABLE);
}

static void tell_status(struct v1 *v, const struct v1_event *e, uint64_t g, enum trace_state to)
{
    early_take(v, g);
    put_g(v, e, g, WIRE_GO_STATUS, TRACE_UNDETERMINED, to);
}

static void tell_metric(struct v1 *v, const struct v1_event *e)
{
    const struct order *o = &v->t->order;
    bool procs = e->type == V1_GOMAXPROCS, heap = e->type == V1_HEAP_ALLOC;
    struct trace_event *out = put(v, e, TRACE_METRIC,
                                  procs  ? WIRE_PROCS_CHANGE
                                  : heap ? WIRE_HEAP_ALLOC
                                         : WIRE_HEAP_GOAL);
    out->name = procs ? o->metric_procs : heap ? o->metric_heap : o->metric_goal;
    out->value = e->args[0];
}

static void tell_start(struct v1 *v, const struct v1_event *e)
{
    if (!v->started) {
        tell_status(v, e, e->g, TRACE_RUNNING);
        return;
    }
    put_g(v, e, e->g, WIRE_GO_START, TRACE_RUNNABLE, TRACE_RUNNING);
    if (e->type != V1_START_LABEL)
        return;
    struct trace_event *out = put(v, e, TRACE_LABEL, WIRE_GO_LABEL);
    out->id = out->g;
    out->idx = out->gx;
    out->name = v1_string(v, e->args[2]);
}

static void tell(struct v1 *v, struct v1_event *e)
{
    switch ((enum v1_type)e->type) {
    case V1_GOMAXPROCS:
    case V1_HEAP_ALLOC:
    case V1_HEAP_GOAL: tell_metric(v, e); break;
    case V1_PROC_START:
    case V1_PROC_STOP: tell_p(v, e); break;
    case V1_GC_START:
        e->p = FAKE_GC;
        tell_range(v, e, WIRE_GC_BEGIN, true);
        break;
    case V1_GC_DONE: tell_range(v, e, WIRE_GC_END, false); break;
    case V1_STW_START: tell_range(v, e, WIRE_STW_BEGIN, true); break;
    case V1_STW_DONE: tell_range(v, e, WIRE_STW_END, false); break;
    case V1_SWEEP_START: tell_range(v, e, WIRE_GC_SWEEP_BEGIN, true); break;
    case V1_SWEEP_DONE: tell_range(v, e, WIRE_GC_SWEEP_END, false); break;
    case V1_ASSIST_START: tell_range(v, e, WIRE_GC_MARK_ASSIST_BEGIN, true); break;
    case V1_ASSIST_DONE: tell_range(v, e, WIRE_GC_MARK_ASSIST_END, false); break;
    case V1_GO_CREATE:
        if (!v->started)
            map_put(&v->early, e->args[0], 0);
        else
            put_g(v, e, e->args[0], WIRE_GO_CREATE, TRACE_NOT_EXIST, TRACE_RUNNABLE)->new_stack =
                v1_stack(v, e->args[1]);
        break;
    case V1_GO_START:
    case V1_START_LABEL: tell_start(v, e); break;
    case V1_GO_END: put_g(v, e, e->g, WIRE_GO_DESTROY, TRACE_RUNNING, TRACE_NOT_EXIST); break;
    case V1_GO_SCHED:
    case V1_GO_PREEMPT:
        put_g(v, e, e->g, WIRE_GO_STOP, TRACE_RUNNING, TRACE_RUNNABLE)->name = word(
            v, e->type == V1_GO_SCHED ? "runtime.Gosched" : "preempted");
        break;
    case V1_GO_STOP:
    case V1_GO_SLEEP:
    case V1_GO_BLOCK:
    case V1_BLOCK_SEND:
    case V1_BLOCK_RECV:
    case V1_BLOCK_SELECT:
    case V1_BLOCK_SYNC:
    case V1_BLOCK_COND:
    case V1_BLOCK_NET:
    case V1_BLOCK_GC: tell_block(v, e); break;
    case V1_GO_UNBLOCK: tell_unblock(v, *e); break;
    case V1_SYSCALL: tell_syscall(v, e); break;
    case V1_SYS_EXIT:
        e->p = FAKE_SYSCALL;
        put_g(v, e, e->g, WIRE_GO_SYSCALL_END_BLOCKED, TRACE_SYSCALL, TRACE_RUNNABLE);
        break;
    case V1_GO_WAITING: tell_status(v, e, e->args[0], TRACE_WAITING); break;
    case V1_GO_IN_SYSCALL: tell_status(v, e, e->args[0], TRACE_SYSCALL); break;
    case V1_TASK_CREATE:
    case V1_TASK_END:
    case V1_REGION:
    case V1_LOG: tell_named(v, e); break;
    case V1_CPU_SAMPLE: put(v, e, TRACE_SAMPLE, WIRE_CPU_SAMPLE)->m = TRACE_NONE; break;
    default: break; /* a system call that blocks was told as it began; others say nothing */
    }
}

bool v1_next(struct trace *t)
{
    struct v1 *v = t->v1;
    if (t->syncs == 0 && v->nevents > 0)
        trace_sync(t, -1);
    while (v->at < v->nevents && t->out_at < t->out + OUT_MAX) {
        struct v1_event *e = &v->events[v->at];
        if (e->type == V1_GOMAXPROCS && !v->started) {
            if (!tell_early(v, e))
                break;
        } else {
            tell(v, e);
        }
        v->at++;
    }
    if (v->at < v->nevents)
        return true;
    trace_sync(t, t->last_time + 1);
    return false;
}
