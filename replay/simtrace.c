/* SPDX-License-Identifier: BSD-3-Clause */
/* A run's records as events of a Go trace. Records leave out what follows from others; a trace has
 * an event for every change of hands between thread, P and goroutine. So what each holds is kept
 * here, and an event that a record implies is put before the record's own. */
#include "replay/simtrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/gotrace.h"
#include "replay/trace_int.h"
#include "sim/base/alloc.h"
#include "sim/base/event_get.h"
#include "sim/base/gtable.h"
#include "sim/base/map.h"

enum { PS_PER_NS = 1000, BEGIN_NS = 1000, MS = 1 << 16, M_BASE = 1000 };

struct sim_g {
    uint64_t m; /* TRACE_NONE: none */
    uint32_t stack;
    uint8_t state; /* enum trace_state */
    bool stw;
};

struct sim_m {
    int32_t p;  /* -1: none */
    uint32_t g; /* 0: none */
};

struct simtrace {
    struct gotrace *w;
    struct names names;
    struct stacks stacks;
    const struct program *program;
    struct failure failure;
    struct gtable gs;
    struct sim_m ms[MS];
    uint64_t *p_ms;   /* by P: the thread that holds it */
    bool *in_syscall; /* by P */
    size_t nps;
    struct map tasks; /* (key, span) -> task */
    uint64_t ntasks;
    int64_t time;
    uint32_t file;
    uint32_t *func_stacks; /* by function, plus 1 */
    uint32_t runtime_stack, context_stack;
    uint64_t procs; /* to be said when a goroutine runs; 0: it was said */
    bool gc_on, gc_wanted, first;
};

/* ---- events ---- */

static struct trace_event event(const struct simtrace *s, uint32_t m, enum trace_kind kind,
                                enum trace_wire wire)
{
    struct trace_event e = trace_blank;
    e.time = s->time;
    e.kind = (uint8_t)kind;
    e.wire = (uint8_t)wire;
    if (m == EVENT_NO_M)
        return e;
    e.m = M_BASE + m;
    e.p = s->ms[m].p >= 0 ? (uint64_t)s->ms[m].p : TRACE_NONE;
    e.g = s->ms[m].g != 0 ? s->ms[m].g : TRACE_NONE;
    return e;
}

/* All times differ, as a reader makes them do. */
static void put(struct simtrace *s, struct trace_event *e)
{
    if (s->failure.code == E_OK)
        gotrace_put(s->w, &s->failure, e, 1);
    s->time++;
}

static void put_g(struct simtrace *s, uint32_t m, uint32_t g, struct sim_g *k, enum trace_wire wire,
                  enum trace_state to, const char *reason)
{
    struct trace_event e = event(s, m, TRACE_G, wire);
    e.id = g;
    e.from = k->state;
    e.to = (uint8_t)to;
    e.stack = to == TRACE_RUNNING || to == TRACE_NOT_EXIST ? 0 : k->stack;
    e.name = reason != NULL ? names_put(&s->names, reason, strlen(reason)) : 0;
    put(s, &e);
    k->state = (uint8_t)to;
}

static void put_p(struct simtrace *s, uint32_t m, uint32_t p, enum trace_wire wire,
                  enum trace_state from, enum trace_state to, uint64_t victim)
{
    struct trace_event e = event(s, m, TRACE_P, wire);
    e.id = p;
    e.from = (uint8_t)from;
    e.to = (uint8_t)to;
    e.value = victim;
    put(s, &e);
}

/* ---- Ps ---- */

static void p_known(struct simtrace *s, uint32_t p)
{
    for (; s->nps <= p; s->nps++) {
        s->p_ms = x_grow(s->p_ms, (s->nps + 1) * sizeof *s->p_ms);
        s->in_syscall = x_grow(s->in_syscall, (s->nps + 1) * sizeof *s->in_syscall);
        s->p_ms[s->nps] = TRACE_NONE;
        s->in_syscall[s->nps] = false;
        put_p(s, EVENT_NO_M, (uint32_t)s->nps, WIRE_PROC_STATUS, TRACE_UNDETERMINED, TRACE_IDLE, 0);
    }
}

/* The thread holds its P no more; `by` takes it out of a system call. */
static void p_leaves(struct simtrace *s, uint32_t m, uint32_t by)
{
    uint32_t p = (uint32_t)s->ms[m].p, g = s->ms[m].g;
    struct sim_g *k = g != 0 ? gtable_find(&s->gs, g) : NULL;
    if (k != NULL && k->state == TRACE_RUNNING) { /* who has no P does not run */
        put_g(s, m, g, k, WIRE_GO_STOP, TRACE_RUNNABLE, "preempted");
        k->m = TRACE_NONE;
        s->ms[m].g = 0;
    }
    bool stolen = by != m && s->in_syscall[p];
    put_p(s, stolen ? by : m, p, stolen ? WIRE_PROC_STEAL : WIRE_PROC_STOP, TRACE_RUNNING,
          TRACE_IDLE, M_BASE + m);
    s->ms[m].p = -1;
    s->p_ms[p] = TRACE_NONE;
    s->in_syscall[p] = false;
}

/* The record says that this thread has this P. */
static void p_held(struct simtrace *s, uint32_t m, uint32_t p)
{
    p_known(s, p);
    if (s->ms[m].p == (int32_t)p)
        return;
    if (s->ms[m].p >= 0)
        p_leaves(s, m, m);
    if (s->p_ms[p] != TRACE_NONE)
        p_leaves(s, (uint32_t)s->p_ms[p], m);
    put_p(s, m, p, WIRE_PROC_START, TRACE_IDLE, TRACE_RUNNING, 0);
    s->ms[m].p = (int32_t)p;
    s->p_ms[p] = m;
}

/* ---- goroutines ---- */

static uint32_t stack_of(struct simtrace *s, const char *func, size_t size, uint32_t file,
                         uint64_t line)
{
    struct trace_frame f = {.func = names_put(&s->names, func, size), .file = file, .line = line};
    uint32_t frame = stacks_frame(&s->stacks, &f);
    return stacks_put(&s->stacks, &frame, 1);
}

/* "main." in front: what has no package is to Go's tools a goroutine of the system. */
static uint32_t func_stack(struct simtrace *s, uint32_t func)
{
    char name[300];
    const struct program *p = s->program;
    if (func >= p->nfuncs)
        func = p->main;
    if (s->func_stacks[func] == 0) {
        int n = snprintf(name, sizeof name, "main.%.250s", p->funcs[func].name);
        uint64_t line = p->lines != NULL ? p->lines[p->funcs[func].entry] : 0;
        s->func_stacks[func] = 1 + stack_of(s, name, (size_t)n, s->file, line != 0 ? line : 1);
    }
    return s->func_stacks[func] - 1;
}

static void g_created(struct simtrace *s, const struct event_rec *r)
{
    struct sim_g *k = gtable_put(&s->gs, r->g);
    *k = (struct sim_g){.m = TRACE_NONE, .state = TRACE_RUNNABLE};
    struct got_g_create born = get_g_create(r);
    k->stack = born.group == GROUP_CONTEXT ? s->context_stack
               : born.func < 0             ? s->runtime_stack
                                           : func_stack(s, (uint32_t)born.func);
    bool with_p = r->m != EVENT_NO_M && s->ms[r->m].p >= 0;
    struct trace_event e = event(s, with_p ? r->m : EVENT_NO_M, TRACE_G,
                                 with_p ? WIRE_GO_CREATE : WIRE_GO_STATUS);
    struct sim_g *by = with_p && s->ms[r->m].g != 0 ? gtable_find(&s->gs, s->ms[r->m].g) : NULL;
    e.id = r->g;
    e.from = with_p ? TRACE_NOT_EXIST : TRACE_UNDETERMINED;
    e.to = TRACE_RUNNABLE;
    e.new_stack = k->stack;
    e.stack = with_p ? (by != NULL ? by->stack : 0) : k->stack;
    put(s, &e);
}

/* Whatever the thread runs is put back: the records go on with another one there. */
static void m_free(struct simtrace *s, uint32_t m)
{
    uint32_t g = s->ms[m].g;
    struct sim_g *k = g != 0 ? gtable_find(&s->gs, g) : NULL;
    if (k != NULL && k->state == TRACE_SYSCALL) {
        if (s->ms[m].p >= 0 && s->in_syscall[s->ms[m].p])
            p_leaves(s, m, m);
        put_g(s, m, g, k, WIRE_GO_SYSCALL_END_BLOCKED, TRACE_RUNNABLE, NULL);
    } else if (k != NULL && s->ms[m].p >= 0) {
        put_g(s, m, g, k, WIRE_GO_STOP, TRACE_RUNNABLE, "unspecified");
    }
    if (k != NULL)
        k->m = TRACE_NONE;
    s->ms[m].g = 0;
}

static void say_late(struct simtrace *s, uint32_t m)
{
    if (s->procs != 0) {
        struct trace_event e = event(s, m, TRACE_METRIC, WIRE_PROCS_CHANGE);
        e.value = s->procs;
        put(s, &e);
        s->procs = 0;
    }
    if (s->gc_on == s->gc_wanted)
        return;
    struct trace_event e = event(s, m, s->gc_wanted ? TRACE_RANGE_BEGIN : TRACE_RANGE_END,
                                 s->gc_wanted ? WIRE_GC_BEGIN : WIRE_GC_END);
    e.scope = TRACE_SCOPE_GLOBAL;
    put(s, &e);
    s->gc_on = s->gc_wanted;
}

static void g_runs(struct simtrace *s, const struct event_rec *r)
{
    struct sim_g *k = gtable_find(&s->gs, r->g);
    if (k == NULL || r->m == EVENT_NO_M || r->p == EVENT_NO_P)
        return;
    if (k->state == TRACE_SYSCALL && k->m == r->m && s->ms[r->m].p == r->p &&
        s->in_syscall[r->p]) { /* out of a system call, with its P */
        put_g(s, r->m, r->g, k, WIRE_GO_SYSCALL_END, TRACE_RUNNING, NULL);
        s->in_syscall[r->p] = false;
        return;
    }
    if (k->m != TRACE_NONE && (k->m != r->m || k->state != TRACE_RUNNING))
        m_free(s, (uint32_t)k->m);
    if (s->ms[r->m].g != 0 && s->ms[r->m].g != r->g)
        m_free(s, r->m);
    p_held(s, r->m, r->p);
    if (k->state == TRACE_RUNNING)
        return;
    if (k->state == TRACE_WAITING)
        put_g(s, r->m, r->g, k, WIRE_GO_UNBLOCK, TRACE_RUNNABLE, NULL);
    put_g(s, r->m, r->g, k, WIRE_GO_START, TRACE_RUNNING, NULL);
    k->m = r->m;
    s->ms[r->m].g = r->g;
    say_late(s, r->m);
}

/* Go's tracer has other words than Go's dumps. */
static const char *block_reason(uint16_t code)
{
    static const char *const texts[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
    };
    const char *text = code < sizeof texts / sizeof *texts ? texts[code] : "";
    if (strncmp(text, "chan receive", 12) == 0)
        return strchr(text, '(') != NULL ? "forever" : "chan receive";
    if (strncmp(text, "chan send", 9) == 0)
        return strchr(text, '(') != NULL ? "forever" : "chan send";
    if (strcmp(text, "select (no cases)") == 0)
        return "forever";
    if (strcmp(text, "select") == 0 || strcmp(text, "sleep") == 0 || strcmp(text, "preempted") == 0)
        return text;
    if (strcmp(text, "IO wait") == 0)
        return "network";
    if (strcmp(text, "sync.Cond.Wait") == 0)
        return "sync.(*Cond).Wait";
    if (strncmp(text, "sync.", 5) == 0 || strcmp(text, "semacquire") == 0)
        return "sync";
    if (strcmp(text, "GC assist wait") == 0)
        return "GC mark assist wait for work";
    if (strcmp(text, "GC sweep wait") == 0)
        return "GC background sweeper wait";
    if (strcmp(text, "coroutine") == 0)
        return "coroutine";
    return "system goroutine wait";
}

/* The record's goroutine runs no more. */
static void g_stops(struct simtrace *s, const struct event_rec *r, enum trace_wire wire,
                    enum trace_state to, const char *reason)
{
    struct sim_g *k = gtable_find(&s->gs, r->g);
    if (k == NULL || k->state == TRACE_NOT_EXIST)
        return;
    if (k->state != TRACE_RUNNING) /* no record says that it ran, but it did */
        g_runs(s, r);
    if (k->state != TRACE_RUNNING || k->m == TRACE_NONE || s->ms[k->m].p < 0)
        return;
    uint32_t m = (uint32_t)k->m;
    put_g(s, m, r->g, k, wire, to, reason);
    k->m = TRACE_NONE;
    s->ms[m].g = 0;
    if (to == TRACE_NOT_EXIST)
        gtable_take(&s->gs, r->g);
}

static void g_ready(struct simtrace *s, const struct event_rec *r)
{
    struct sim_g *k = gtable_find(&s->gs, r->g);
    if (k != NULL && k->state == TRACE_WAITING)
        put_g(s, r->m, r->g, k, WIRE_GO_UNBLOCK, TRACE_RUNNABLE, NULL);
}

static void g_calls(struct simtrace *s, const struct event_rec *r)
{
    struct sim_g *k = gtable_find(&s->gs, r->g);
    if (k == NULL || k->state != TRACE_RUNNING || k->m == TRACE_NONE || s->ms[k->m].p < 0)
        return;
    put_g(s, (uint32_t)k->m, r->g, k, WIRE_GO_SYSCALL_BEGIN, TRACE_SYSCALL, NULL);
    s->in_syscall[s->ms[k->m].p] = true;
}

static void g_returns(struct simtrace *s, const struct event_rec *r)
{
    struct sim_g *k = gtable_find(&s->gs, r->g);
    if (k == NULL || k->state != TRACE_SYSCALL)
        return;
    if (get_g_syscall_exit(r).place == EV_place_none)
        g_runs(s, r); /* with a P, its own or another */
    else if (k->m != TRACE_NONE)
        m_free(s, (uint32_t)k->m);
}

/* A P is taken out of a system call: the record names the P, from 1.26 on the goroutine. */
static void retaken(struct simtrace *s, const struct event_rec *r)
{
    struct sim_g *k = r->g != 0 ? gtable_find(&s->gs, r->g) : NULL;
    uint32_t p = get_p_retake(r).of_p.id;
    uint64_t m = k != NULL ? k->m : p < s->nps ? s->p_ms[p] : TRACE_NONE;
    if (m != TRACE_NONE && s->ms[m].p >= 0 && r->m != EVENT_NO_M)
        p_leaves(s, (uint32_t)m, r->m);
}

/* ---- the world, and what the program says ---- */

static bool runs(const struct simtrace *s, const struct event_rec *r, struct sim_g **k)
{
    *k = r->m != EVENT_NO_M && s->ms[r->m].g != 0 ? gtable_find(&s->gs, s->ms[r->m].g) : NULL;
    return *k != NULL && (*k)->state == TRACE_RUNNING && s->ms[r->m].p >= 0;
}

static void stw(struct simtrace *s, const struct event_rec *r, bool begin)
{
    static const char *const why[] = {"unknown",
                                      "GOMAXPROCS",
                                      "GC sweep termination",
                                      "GC mark termination",
                                      "read mem stats",
                                      "start trace",
                                      "stop trace"};
    struct sim_g *k;
    if (!runs(s, r, &k) || k->stw == begin)
        return;
    struct trace_event e = event(s, r->m, begin ? TRACE_RANGE_BEGIN : TRACE_RANGE_END,
                                 begin ? WIRE_STW_BEGIN : WIRE_STW_END);
    const char *text = r->c < sizeof why / sizeof *why ? why[r->c] : why[0];
    e.scope = TRACE_SCOPE_G;
    e.text = names_put(&s->names, text, strlen(text));
    e.stack = begin ? k->stack : 0;
    put(s, &e);
    k->stw = begin;
}

static void span(struct simtrace *s, const struct event_rec *r, bool begin)
{
    struct sim_g *k;
    if (r->b >= s->program->nspans)
        return;
    struct map_slot *slot = map_find(&s->tasks, r->a, r->b);
    if (!runs(s, r, &k) || (slot == NULL) != begin)
        return;
    struct trace_event e = event(s, r->m, begin ? TRACE_TASK_BEGIN : TRACE_TASK_END,
                                 begin ? WIRE_USER_TASK_BEGIN : WIRE_USER_TASK_END);
    if (begin) {
        slot = map_put(&s->tasks, r->a, r->b);
        slot->at = ++s->ntasks;
    }
    const char *name = s->program->spans[r->b];
    e.id = slot->at;
    e.value = TRACE_NONE;
    e.name = names_put(&s->names, name, strlen(name));
    e.stack = k->stack;
    put(s, &e);
    if (!begin)
        map_take(&s->tasks, slot);
}

static void p_record(struct simtrace *s, const struct event_rec *r)
{
    if (r->m == EVENT_NO_M)
        return;
    if (r->type == EV_P_START && r->p != EVENT_NO_P)
        p_held(s, r->m, r->p);
    else if (r->type == EV_P_STOP && s->ms[r->m].p >= 0)
        p_leaves(s, r->m, r->m);
}

static void feed(struct simtrace *s, const struct event_rec *r)
{
    int64_t time = (int64_t)(r->time / PS_PER_NS) + BEGIN_NS;
    s->time = time > s->time ? time : s->time;
    switch ((enum event_type)r->type) {
    case EV_G_CREATE: g_created(s, r); break;
    case EV_G_START: g_runs(s, r); break;
    case EV_G_PARK: g_stops(s, r, WIRE_GO_BLOCK, TRACE_WAITING, block_reason(r->c)); break;
    case EV_G_READY: g_ready(s, r); break;
    case EV_G_GOSCHED: g_stops(s, r, WIRE_GO_STOP, TRACE_RUNNABLE, "runtime.Gosched"); break;
    case EV_G_PREEMPT: g_stops(s, r, WIRE_GO_STOP, TRACE_RUNNABLE, "preempted"); break;
    case EV_G_EXIT: g_stops(s, r, WIRE_GO_DESTROY, TRACE_NOT_EXIST, NULL); break;
    case EV_G_SYSCALL_ENTER: g_calls(s, r); break;
    case EV_G_SYSCALL_EXIT: g_returns(s, r); break;
    case EV_P_START:
    case EV_P_STOP: p_record(s, r); break;
    case EV_P_RETAKE: retaken(s, r); break;
    case EV_P_RESIZE: s->procs = r->b != r->c ? r->c : s->procs; break;
    case EV_GC_PHASE: s->gc_wanted = r->c != 0; break;
    case EV_STW_BEGIN: stw(s, r, true); break;
    case EV_STW_END: stw(s, r, false); break;
    case EV_SPAN_BEGIN: span(s, r, true); break;
    case EV_SPAN_END: span(s, r, false); break;
    default: break;
    }
}

void simtrace_sink(void *arg, const struct event_rec *recs, size_t count)
{
    struct simtrace *s = arg;
    for (size_t i = 0; i < count; i++)
        feed(s, &recs[i]);
}

/* ---- life ---- */

static void release(struct simtrace *s)
{
    names_release(&s->names);
    stacks_release(&s->stacks);
    gtable_release(&s->gs);
    map_release(&s->tasks);
    free(s->p_ms);
    free(s->in_syscall);
    free(s->func_stacks);
    free(s);
}

struct simtrace *simtrace_open(struct failure *f, const char *path, const struct program *program,
                               const char *file, int32_t procs, uint64_t generation_bytes)
{
    struct simtrace *s = x_alloc(sizeof *s);
    memset(s, 0, sizeof *s);
    names_init(&s->names);
    stacks_init(&s->stacks);
    gtable_init(&s->gs, sizeof(struct sim_g));
    s->program = program;
    s->time = BEGIN_NS;
    s->procs = (uint64_t)procs;
    s->func_stacks = x_alloc((program->nfuncs + 1) * sizeof *s->func_stacks);
    memset(s->func_stacks, 0, (program->nfuncs + 1) * sizeof *s->func_stacks);
    s->file = names_put(&s->names, file, strlen(file));
    s->runtime_stack = stack_of(s, "runtime.system", 14, s->file, 1);
    s->context_stack = stack_of(s, "context.WithDeadline", 20, s->file, 1);
    for (int i = 0; i < MS; i++)
        s->ms[i].p = -1;
    s->w = gotrace_open(f, path, &s->names, &s->stacks,
                        &(struct gotrace_opts){.generation_bytes = generation_bytes, .told = true});
    if (s->w == NULL) {
        release(s);
        return NULL;
    }
    for (int32_t i = 0; i < procs; i++)
        p_known(s, (uint32_t)i);
    return s;
}

bool simtrace_close(struct simtrace *s, struct failure *f, uint64_t end_ps)
{
    if (s == NULL)
        return true;
    int64_t end = (int64_t)(end_ps / PS_PER_NS) + BEGIN_NS;
    bool ok = gotrace_close(s->w, &s->failure, end) && s->failure.code == E_OK;
    if (!ok)
        fail(f, s->failure.code != E_OK ? s->failure.code : E_IO, "%s", s->failure.text);
    release(s);
    return ok;
}
