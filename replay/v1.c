/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of Go 1.11 to 1.21: records by P, with the tables and the frequency at the end, so the
 * file lies in memory. They are merged by the states of goroutines, then by time, and told as
 * events of the newer format (v1_tell.c), as Go's own converter does (internal/trace/tracev1.go): a
 * system call that did not block takes 1 ns, and some events belong to pretended Ps from 1000001
 * on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/v1_int.h"
#include "sim/base/alloc.h"

/* By type: how many arguments follow the time, and whether a stack follows them. */
static const uint8_t nargs_of[V1_TYPES] = {
    [V1_GOMAXPROCS] = 1,  [V1_PROC_START] = 1,  [V1_GC_START] = 1,      [V1_STW_START] = 1,
    [V1_SWEEP_DONE] = 2,  [V1_GO_CREATE] = 2,   [V1_GO_START] = 2,      [V1_GO_UNBLOCK] = 2,
    [V1_SYS_EXIT] = 3,    [V1_GO_WAITING] = 1,  [V1_GO_IN_SYSCALL] = 1, [V1_HEAP_ALLOC] = 1,
    [V1_HEAP_GOAL] = 1,   [V1_START_LOCAL] = 1, [V1_UNBLOCK_LOCAL] = 1, [V1_EXIT_LOCAL] = 2,
    [V1_START_LABEL] = 3, [V1_TASK_CREATE] = 3, [V1_TASK_END] = 1,      [V1_REGION] = 3,
    [V1_LOG] = 2,         [V1_CPU_SAMPLE] = 3,
};
static const bool has_stack[V1_TYPES] = {
    [V1_GOMAXPROCS] = 1,   [V1_GC_START] = 1,      [V1_SWEEP_START] = 1, [V1_GO_CREATE] = 1,
    [V1_GO_STOP] = 1,      [V1_GO_SCHED] = 1,      [V1_GO_PREEMPT] = 1,  [V1_GO_SLEEP] = 1,
    [V1_GO_BLOCK] = 1,     [V1_GO_UNBLOCK] = 1,    [V1_BLOCK_SEND] = 1,  [V1_BLOCK_RECV] = 1,
    [V1_BLOCK_SELECT] = 1, [V1_BLOCK_SYNC] = 1,    [V1_BLOCK_COND] = 1,  [V1_BLOCK_NET] = 1,
    [V1_SYSCALL] = 1,      [V1_UNBLOCK_LOCAL] = 1, [V1_BLOCK_GC] = 1,    [V1_ASSIST_START] = 1,
    [V1_TASK_CREATE] = 1,  [V1_TASK_END] = 1,      [V1_REGION] = 1,      [V1_LOG] = 1,
    [V1_CPU_SAMPLE] = 1,
};

/* A P's records: where its batches lie. */
struct v1_batch {
    size_t at, end;
    int64_t ticks;
};

struct v1_proc {
    int64_t id;
    struct v1_batch *batches;
    size_t count, room, next;
    size_t at, end; /* of the batch at hand */
    int64_t ticks;
    uint64_t g; /* that runs */
    struct v1_event head;
    bool any, ready;
};

struct record {
    uint8_t type;
    size_t nvalues, text_at, text_size, end;
    uint64_t values[VALUES_MAX];
};

static bool bad(struct v1 *v, struct failure *f, size_t at, const char *what)
{
    fail(f, E_TRACE, "byte %" PRIu64 ": %s", v->t->window.base + at, what);
    return false;
}

static bool take(struct v1 *v, size_t *at, size_t end, uint64_t *value)
{
    const uint8_t *b = v->t->window.bytes, *next = wire_varint(b + *at, value);
    if (!wire_inside(b + *at, next, b + end))
        return false;
    *at = (size_t)(next - b);
    return true;
}

/* One record, whole. */
static bool record_read(struct v1 *v, struct failure *f, size_t at, struct record *r)
{
    const struct window *w = &v->t->window;
    size_t begin = at, end = w->have;
    uint64_t size;
    r->type = w->bytes[at] & 63;
    unsigned n = w->bytes[at++] >> 6;
    r->nvalues = 0;
    if (r->type == 0 || r->type >= V1_TYPES ||
        (r->type == V1_CPU_SAMPLE && v->t->info.version < 19))
        return bad(v, f, begin, "an event type that its header does not know");
    if (r->type == V1_STRING) {
        if (!take(v, &at, end, &r->values[0]) || !take(v, &at, end, &size) || size > end - at)
            return bad(v, f, begin, "a string is cut");
        if (r->values[0] == 0 || size == 0 || size > STRING_MAX)
            return bad(v, f, begin, "a string has number 0, no length or more than 1000000 bytes");
        r->text_at = at;
        r->text_size = (size_t)size;
        r->end = at + (size_t)size;
        return true;
    }
    size_t limit = end;
    if (n == 3) {
        if (!take(v, &at, end, &size) || size > end - at)
            return bad(v, f, begin, "an event is cut by the end of the file");
        limit = at + (size_t)size;
    }
    while (n == 3 ? at < limit : r->nvalues < n + 1) {
        if (r->nvalues == VALUES_MAX || !take(v, &at, limit, &r->values[r->nvalues++]))
            return bad(v, f, begin, "an event's numbers are too many, too long or cut");
    }
    if (r->type == V1_LOG) {
        if (!take(v, &at, end, &size) || size > STRING_MAX || size > end - at)
            return bad(v, f, begin, "a log's text is cut or too long");
        r->text_at = at;
        r->text_size = (size_t)size;
        at += (size_t)size;
    }
    r->end = at;
    size_t want = r->type == V1_BATCH ? 2 : 1;
    if (r->type != V1_BATCH && r->type != V1_FREQUENCY && r->type != V1_TIMER_GOROUTINE)
        want = 1U + nargs_of[r->type] + has_stack[r->type];
    if (r->type != V1_STACK && r->nvalues != want)
        return bad(v, f, begin, "an event has the wrong number of arguments");
    return true;
}

/* ---- the first pass: where everything is ---- */

static struct v1_proc *proc_of(struct v1 *v, int64_t id)
{
    for (size_t i = 0; i < v->nprocs; i++)
        if (v->procs[i].id == id)
            return &v->procs[i];
    if (v->nprocs == 1 << 16)
        return NULL;
    v->procs = x_grow(v->procs, (v->nprocs + 1) * sizeof *v->procs);
    v->procs[v->nprocs] = (struct v1_proc){.id = id};
    return &v->procs[v->nprocs++];
}

static bool batch_begins(struct v1 *v, struct failure *f, const struct record *r, size_t at,
                         struct v1_proc **proc)
{
    *proc = proc_of(v, (int64_t)r->values[0]);
    if (*proc == NULL)
        return bad(v, f, at, "more than 65536 Ps");
    struct v1_proc *p = *proc;
    X_ROOM(p->batches, p->count, p->room, 8);
    p->batches[p->count++] = (struct v1_batch){
        .at = r->end, .end = r->end, .ticks = (int64_t)r->values[1]};
    return true;
}

static void sample_add(struct v1 *v, const struct record *r)
{
    X_ROOM(v->samples, v->nsamples, v->samples_room, 64);
    v->samples[v->nsamples++] = (struct v1_event){.time = (int64_t)r->values[1],
                                                  .p = (int32_t)r->values[2],
                                                  .g = r->values[3],
                                                  .stack = (uint32_t)r->values[4],
                                                  .type = V1_CPU_SAMPLE};
}

static bool table_record(struct v1 *v, struct failure *f, const struct record *r, size_t at)
{
    struct trace *t = v->t;
    switch (r->type) {
    case V1_STRING:
        if (map_find(&v->strings, r->values[0], 0) != NULL)
            return bad(v, f, at, "a string is defined a second time");
        map_put(&v->strings, r->values[0], 0)->a = names_put(
            &t->names, t->window.bytes + r->text_at, r->text_size);
        return true;
    case V1_STACK:
        X_ROOM(v->stack_records, v->nstack_records, v->stacks_room, 64);
        v->stack_records[v->nstack_records++] = at;
        return true;
    case V1_FREQUENCY:
        v->frequency = r->values[0];
        return (int64_t)v->frequency > 0 || bad(v, f, at, "the frequency is not positive");
    default: map_put(&v->timers, r->values[0], 0); return true;
    }
}

static bool index_file(struct v1 *v, struct failure *f, struct record *r)
{
    struct window *w = &v->t->window;
    struct v1_proc *p = NULL;
    for (size_t at = w->used; at < w->have; at = r->end) {
        if (!record_read(v, f, at, r))
            return false;
        v->t->info.bytes = w->base + r->end;
        if (r->type == V1_BATCH) {
            if (!batch_begins(v, f, r, at, &p))
                return false;
            continue;
        }
        if (r->type == V1_CPU_SAMPLE)
            sample_add(v, r);
        bool table = r->type == V1_STRING || r->type == V1_STACK || r->type == V1_FREQUENCY ||
                     r->type == V1_TIMER_GOROUTINE;
        if (table && !table_record(v, f, r, at))
            return false;
        if (!table && p == NULL)
            return bad(v, f, at, "an event before the first batch");
        if (p != NULL)
            p->batches[p->count - 1].end = r->end;
    }
    if (v->frequency == 0)
        return bad(v, f, w->have, "the file ends and has no frequency: it is cut");
    return true;
}

uint32_t v1_string(const struct v1 *v, uint64_t id)
{
    const struct map_slot *s = id != 0 ? map_find(&v->strings, id, 0) : NULL;
    return s != NULL ? s->a : 0;
}

uint32_t v1_stack(const struct v1 *v, uint64_t id)
{
    const struct map_slot *s = id != 0 ? map_find(&v->stacks, id, 0) : NULL;
    return s != NULL ? s->a : 0;
}

static bool stacks_resolve(struct v1 *v, struct failure *f, struct record *r)
{
    uint32_t frames[FRAMES_MAX];
    for (size_t i = 0; i < v->nstack_records; i++) {
        size_t at = v->stack_records[i];
        if (!record_read(v, f, at, r))
            return false;
        if (r->nvalues < 2 || r->values[1] > FRAMES_MAX || r->nvalues != 2 + 4 * r->values[1])
            return bad(v, f, at, "a stack has the wrong number of frames");
        for (size_t k = 0; k < r->values[1]; k++) {
            const uint64_t *fr = &r->values[2 + 4 * k];
            struct trace_frame frame = {.pc = fr[0],
                                        .func = v1_string(v, fr[1]),
                                        .file = v1_string(v, fr[2]),
                                        .line = fr[3]};
            frames[k] = stacks_frame(&v->t->stacks, &frame);
        }
        if (r->values[0] != 0)
            map_put(&v->stacks, r->values[0], 0)->a = stacks_put(&v->t->stacks, frames,
                                                                 (size_t)r->values[1]);
    }
    return true;
}

/* ---- merging ---- */

static bool ends_running(uint8_t type)
{
    return (type >= V1_GO_END && type <= V1_GO_BLOCK) ||
           (type >= V1_BLOCK_SEND && type <= V1_BLOCK_NET) || type == V1_SYS_BLOCK ||
           type == V1_BLOCK_GC;
}

/* The P's next event into its head. */
static bool next_head(struct v1 *v, struct failure *f, struct v1_proc *p, struct record *r)
{
    for (;;) {
        while (p->at == p->end) {
            if (p->next == p->count)
                return p->any = false, true;
            p->at = p->batches[p->next].at;
            p->end = p->batches[p->next].end;
            p->ticks = p->batches[p->next++].ticks;
        }
        if (!record_read(v, f, p->at, r))
            return false;
        p->at = r->end;
        if (r->type != V1_STRING && r->type != V1_STACK && r->type != V1_FREQUENCY &&
            r->type != V1_TIMER_GOROUTINE)
            break;
    }
    p->ticks += (int64_t)r->values[0];
    if (r->type == V1_CPU_SAMPLE) /* it has a queue of its own */
        return next_head(v, f, p, r);
    struct v1_event *e = &p->head;
    *e = (struct v1_event){.time = p->ticks, .g = p->g, .p = (int32_t)p->id, .type = r->type};
    unsigned n = nargs_of[r->type];
    for (unsigned i = 0; i < n && i < 3; i++)
        e->args[i] = r->values[1 + i];
    if (has_stack[r->type])
        e->stack = (uint32_t)r->values[1 + n];
    if (r->type == V1_LOG)
        e->text = names_put(&v->t->names, v->t->window.bytes + r->text_at, r->text_size);
    if (r->type == V1_GO_START || r->type == V1_START_LOCAL || r->type == V1_START_LABEL)
        e->g = p->g = e->args[0];
    if (r->type == V1_SYS_EXIT || r->type == V1_EXIT_LOCAL || r->type == V1_GO_WAITING ||
        r->type == V1_GO_IN_SYSCALL)
        e->g = e->args[0];
    if (ends_running(r->type))
        p->g = 0;
    p->any = true;
    p->ready = false;
    return true;
}

enum { DEAD, RUNNABLE, RUNNING, WAITING, ANY_SEQ = -1, NEXT_SEQ = -2 };
enum { GC_KEY2 = 1 };

struct rule {
    uint64_t g;
    uint32_t key2;
    int64_t seq, next_seq;
    uint8_t state, next_state;
    bool free; /* nothing is required */
};

static struct rule rule_of(const struct v1_event *e)
{
    int64_t seq = (int64_t)e->args[1];
    switch ((enum v1_type)e->type) {
    case V1_GO_CREATE: return (struct rule){e->args[0], 0, 0, 1, DEAD, RUNNABLE, false};
    case V1_GO_WAITING:
    case V1_GO_IN_SYSCALL: return (struct rule){e->g, 0, 1, 2, RUNNABLE, WAITING, false};
    case V1_GO_START:
    case V1_START_LABEL: return (struct rule){e->g, 0, seq, seq + 1, RUNNABLE, RUNNING, false};
    case V1_START_LOCAL: return (struct rule){e->g, 0, ANY_SEQ, NEXT_SEQ, RUNNABLE, RUNNING, false};
    case V1_GO_BLOCK:
    case V1_BLOCK_SEND:
    case V1_BLOCK_RECV:
    case V1_BLOCK_SELECT:
    case V1_BLOCK_SYNC:
    case V1_BLOCK_COND:
    case V1_BLOCK_NET:
    case V1_GO_SLEEP:
    case V1_SYS_BLOCK:
    case V1_BLOCK_GC: return (struct rule){e->g, 0, ANY_SEQ, ANY_SEQ, RUNNING, WAITING, false};
    case V1_GO_SCHED:
    case V1_GO_PREEMPT: return (struct rule){e->g, 0, ANY_SEQ, ANY_SEQ, RUNNING, RUNNABLE, false};
    case V1_GO_UNBLOCK:
    case V1_SYS_EXIT: return (struct rule){e->args[0], 0, seq, seq + 1, WAITING, RUNNABLE, false};
    case V1_UNBLOCK_LOCAL:
    case V1_EXIT_LOCAL:
        return (struct rule){e->args[0], 0, ANY_SEQ, NEXT_SEQ, WAITING, RUNNABLE, false};
    case V1_GC_START:
        return (struct rule){0,    GC_KEY2, (int64_t)e->args[0], (int64_t)e->args[0] + 1, DEAD,
                             DEAD, false};
    default: return (struct rule){.free = true};
    }
}

/* In the slot: at is the sequence number, a the state. */
static bool is_ready(const struct map *gs, const struct rule *r)
{
    const struct map_slot *s = r->free ? NULL : map_find(gs, r->g, r->key2);
    int64_t seq = s != NULL ? (int64_t)s->at : 0;
    return r->free || ((r->seq == ANY_SEQ || r->seq == seq) && r->state == (s ? s->a : DEAD));
}

static void events_add(struct v1 *v, const struct v1_event *e)
{
    X_ROOM(v->events, v->nevents, v->events_room, 4096);
    v->events[v->nevents] = *e;
    uint8_t *type = &v->events[v->nevents++].type;
    *type = *type == V1_START_LOCAL     ? V1_GO_START
            : *type == V1_UNBLOCK_LOCAL ? V1_GO_UNBLOCK
                                        : *type;
    if (*type == V1_EXIT_LOCAL) {
        *type = V1_SYS_EXIT;
        v->events[v->nevents - 1].args[2] = e->args[1];
    }
}

static bool advance_one(struct v1 *v, struct failure *f, struct map *gs, struct record *rec,
                        bool *more)
{
    struct v1_proc *best = NULL;
    bool any = false;
    for (size_t i = 0; i < v->nprocs; i++) {
        struct v1_proc *p = &v->procs[i];
        any = any || p->any;
        if (p->any && !p->ready) {
            struct rule r = rule_of(&p->head);
            p->ready = is_ready(gs, &r);
        }
        if (p->any && p->ready && (best == NULL || p->head.time < best->head.time))
            best = p;
    }
    *more = any || v->samples_at < v->nsamples;
    if (v->samples_at < v->nsamples &&
        (best == NULL || v->samples[v->samples_at].time < best->head.time)) {
        events_add(v, &v->samples[v->samples_at++]);
        return true;
    }
    if (best == NULL)
        return !any || bad(v, f, v->t->window.have, "no order of the events is possible");
    struct rule r = rule_of(&best->head);
    if (!is_ready(gs, &r))
        return bad(v, f, best->at, "an event is possible no more");
    if (!r.free) {
        struct map_slot *s = map_put(gs, r.g, r.key2);
        if (r.next_seq != ANY_SEQ)
            s->at = r.next_seq == NEXT_SEQ ? s->at + 1 : (uint64_t)r.next_seq;
        s->a = r.next_state;
    }
    events_add(v, &best->head);
    return next_head(v, f, best, rec);
}

static int by_time(const void *a, const void *b)
{
    const struct v1_event *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : 0;
}

/* The real time of a system call's end is earlier than its record: those few move up, behind what
 * has the same time. */
static void exits_move(struct v1 *v)
{
    for (size_t i = 0; i < v->nevents; i++) {
        struct v1_event e = v->events[i];
        if (e.type != V1_SYS_EXIT || e.args[2] == 0)
            continue;
        e.time = (int64_t)e.args[2];
        if (e.time > v->events[i].time)
            continue;
        size_t at = i;
        for (; at > 0 && v->events[at - 1].time > e.time; at--)
            v->events[at] = v->events[at - 1];
        v->events[at] = e;
    }
}

static bool merge(struct v1 *v, struct failure *f, struct record *r)
{
    struct map gs = {0};
    bool more = true, ok = true;
    if (v->nsamples > 1)
        qsort(v->samples, v->nsamples, sizeof *v->samples, by_time);
    for (size_t i = 0; ok && i < v->nprocs; i++)
        ok = next_head(v, f, &v->procs[i], r);
    while (ok && more)
        ok = advance_one(v, f, &gs, r, &more);
    map_release(&gs);
    for (size_t i = 1; ok && i < v->nevents; i++)
        if (v->events[i].time < v->events[i - 1].time)
            ok = bad(v, f, v->t->window.have, "times go backwards against the order of events");
    if (ok)
        exits_move(v);
    return ok;
}

/* Times in ns from the first event; which system calls block. */
static void finish(struct v1 *v)
{
    struct map next = {0};
    double ns = 1e9 / (double)v->frequency;
    int64_t first = v->nevents > 0 ? v->events[0].time : 0;
    for (size_t i = v->nevents; i-- > 0;) {
        struct v1_event *e = &v->events[i];
        double time = (double)(e->time - first) * ns;
        e->time = time < (double)SPAN_MAX_NS ? (int64_t)time : SPAN_MAX_NS;
        struct map_slot *s = map_put(&next, e->g, 0);
        e->blocked = e->type == V1_SYSCALL && s->a == V1_SYS_BLOCK;
        s->a = e->type;
    }
    map_release(&next);
}

/* ---- the whole ---- */

bool v1_read(struct trace *t, struct failure *f)
{
    struct v1 *v = x_alloc(sizeof *v);
    memset(v, 0, sizeof *v);
    v->t = t;
    t->v1 = v;
    id_init(&v->gs);
    id_init(&v->tasks);
    if (!window_fill(&t->window, f, t->window.max))
        return false;
    memset(t->window.bytes + t->window.have, 0, WINDOW_SLACK);
    struct record *r = x_alloc(sizeof *r);
    bool ok = index_file(v, f, r) && stacks_resolve(v, f, r) && merge(v, f, r);
    free(r);
    if (!ok)
        return false;
    finish(v);
    t->info.generations = t->info.first_generation = 1;
    t->last_time = -2;
    return true;
}

void v1_release(struct v1 *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < v->nprocs; i++)
        free(v->procs[i].batches);
    struct map *maps[] = {&v->strings, &v->stacks, &v->timers, &v->threads,
                          &v->seen,    &v->net,    &v->early};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_release(maps[i]);
    for (size_t i = 0; i < v->tasks.capacity; i++)
        free(v->tasks.slots[i].state);
    free(v->tasks.slots);
    free(v->gs.slots);
    free(v->procs);
    free(v->samples);
    free(v->stack_records);
    free(v->events);
    free(v);
}
