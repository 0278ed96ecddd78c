/* SPDX-License-Identifier: BSD-3-Clause */
/* What everybody does, since when, and who is told when it changes. */
#include "run/transitions.h"

#include <stdlib.h>
#include <string.h>

#include "run/change.h"
#include "sim/base/alloc.h"

enum { NO_SPAN = UINT32_MAX };

const char *const g_state_names[GS_STATES] = {"notexist", "runnable", "running", "waiting",
                                              "syscall"};

#define TELL(t, call, ...)                                   \
    do {                                                     \
        for (int i_ = 0; i_ < (t)->nlisteners; i_++) {       \
            const struct listener *l_ = &(t)->listeners[i_]; \
            if (l_->call != NULL)                            \
                l_->call(l_->arg, __VA_ARGS__);              \
        }                                                    \
    } while (0)

/* ---- life ---- */

static void add_wait_reasons(struct transitions *t)
{
    static const struct {
        const char *text;
        enum wait_kind kind;
    } all[] = {
#define WAITREASON(name, text) {text, WK_OTHER},
#include "model/waitreason.def"
#undef WAITREASON
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        (void)tr_reason_number(t, all[i].text, all[i].kind);
}

static const struct {
    uint8_t reason, kind;
} kinds[] = {
    {EV_wait_GCAssistMarking, WK_ASSIST},
    {EV_wait_IOWait, WK_NETWORK},
    {EV_wait_ChanReceiveNilChan, WK_CHANNEL},
    {EV_wait_ChanSendNilChan, WK_CHANNEL},
    {EV_wait_GarbageCollection, WK_RUNTIME},
    {EV_wait_GarbageCollectionScan, WK_RUNTIME},
    {EV_wait_Select, WK_CHANNEL},
    {EV_wait_SelectNoCases, WK_CHANNEL},
    {EV_wait_GCAssistWait, WK_ASSIST},
    {EV_wait_GCSweepWait, WK_RUNTIME},
    {EV_wait_GCScavengeWait, WK_RUNTIME},
    {EV_wait_ChanReceive, WK_CHANNEL},
    {EV_wait_ChanSend, WK_CHANNEL},
    {EV_wait_FinalizerWait, WK_RUNTIME},
    {EV_wait_ForceGCIdle, WK_RUNTIME},
    {EV_wait_UpdateGOMAXPROCSIdle, WK_RUNTIME},
    {EV_wait_Semacquire, WK_LOCK},
    {EV_wait_Sleep, WK_TIMER},
    {EV_wait_SyncCondWait, WK_GROUP},
    {EV_wait_SyncMutexLock, WK_LOCK},
    {EV_wait_SyncRWMutexRLock, WK_LOCK},
    {EV_wait_SyncRWMutexLock, WK_LOCK},
    {EV_wait_SyncWaitGroupWait, WK_GROUP},
    {EV_wait_TraceReaderBlocked, WK_RUNTIME},
    {EV_wait_WaitForGCCycle, WK_RUNTIME},
    {EV_wait_GCWorkerIdle, WK_RUNTIME},
    {EV_wait_GCWorkerActive, WK_RUNTIME},
    {EV_wait_Preempted, WK_RUNTIME},
    {EV_wait_GCMarkTermination, WK_STOP},
    {EV_wait_StoppingTheWorld, WK_STOP},
    {EV_wait_CleanupWait, WK_RUNTIME},
    {EV_wait_TimerGoroutineIdle, WK_RUNTIME},
    {EV_wait_Coroutine, WK_CHANNEL},
};

void transitions_init(struct transitions *t, const struct naming *names, size_t extra)
{
    memset(t, 0, sizeof *t);
    t->names = names;
    gtable_init(&t->gs, sizeof(struct tr_g) + (extra + 7) / 8 * 8);
    t->open_free = NO_SPAN;
    add_wait_reasons(t); /* so that a wait's number is its reason's */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        t->kinds[kinds[i].reason] = kinds[i].kind;
    t->gosched = tr_reason_number(t, "gosched", WK_OTHER);
    t->preempted = tr_reason_number(t, event_value_name(EV_TYPE_preempt, EV_preempt_slice),
                                    WK_OTHER);
    t->yielded = tr_reason_number(t, event_value_name(EV_TYPE_preempt, EV_preempt_handoff),
                                  WK_OTHER);
}

void transitions_listen(struct transitions *t, const struct listener *l)
{
    if (t->nlisteners == LISTENERS_MAX)
        return;
    t->listeners[t->nlisteners++] = *l;
    if (l->g != NULL)
        t->of_g[t->nof_g++] = (struct g_listener){l->g, l->arg};
    if (l->p != NULL)
        t->of_p[t->nof_p++] = (struct p_listener){l->p, l->arg};
    t->of_m |= l->m != NULL;
}

void transitions_release(struct transitions *t)
{
    gtable_release(&t->gs);
    map_release(&t->spans);
    free(t->ps);
    free(t->ms);
    free(t->late);
    free(t->fired);
    free(t->open);
    free(t->reasons);
    free(t->kinds);
    memset(t, 0, sizeof *t);
}

/* ---- reasons ---- */

uint16_t tr_reason_number(struct transitions *t, const char *text, enum wait_kind kind)
{
    for (uint32_t i = 0; i < t->nreasons; i++)
        if (t->kinds[i] == kind && strcmp(t->reasons[i], text) == 0)
            return (uint16_t)i;
    if (t->nreasons == UINT16_MAX)
        return 0;
    t->reasons = x_grow(t->reasons, (t->nreasons + 1) * sizeof *t->reasons);
    t->kinds = x_grow(t->kinds, (t->nreasons + 1) * sizeof *t->kinds);
    t->reasons[t->nreasons] = text;
    t->kinds[t->nreasons] = (uint8_t)kind;
    return (uint16_t)t->nreasons++;
}

const char *tr_reason(const struct transitions *t, uint16_t reason)
{
    return reason < t->nreasons ? t->reasons[reason] : "";
}

enum wait_kind tr_kind(const struct transitions *t, uint16_t reason)
{
    return reason < t->nreasons ? (enum wait_kind)t->kinds[reason] : WK_OTHER;
}

/* Time does not fall: an earlier one is taken for the latest. */
static uint64_t in_order(struct transitions *t, uint64_t time)
{
    if (time > t->time)
        t->time = time;
    return t->time;
}

/* ---- goroutines ---- */

void put_g_born(struct transitions *t, uint64_t time, uint32_t id, uint32_t group, uint32_t parent,
                const struct g_now *first)
{
    struct g_now next = *first;
    time = in_order(t, time);
    struct tr_g *g = tr_find_g(t, id);
    if (g == NULL && id != EVENT_NO_G) {
        g = gtable_put(&t->gs, id);
        g->now = (struct g_now){.since = time, .p = TR_NONE, .m = TR_NONE, .state = GS_NOTEXIST};
        g->born = time;
        g->group = group;
        g->parent = parent;
    }
    if (g != NULL)
        change_g(t, time, id, g, &next);
}

void put_g(struct transitions *t, uint64_t time, uint32_t id, struct g_now next)
{
    struct tr_g *g = tr_find_g(t, id);
    time = in_order(t, time);
    if (g != NULL)
        change_g(t, time, id, g, &next);
}

void put_g_place(struct transitions *t, uint64_t time, uint32_t id, enum ev_place place, uint16_t p)
{
    struct tr_g *g = tr_find_g(t, id);
    time = in_order(t, time);
    if (g == NULL || g->now.state != GS_RUNNABLE)
        return;
    struct g_now next = g->now;
    next.place = (uint8_t)place;
    next.p = p;
    TELL(t, g_moves, id, g, &next, time);
    g->now = next;
}

/* ---- Ps ---- */

static struct p_now *p_of(struct transitions *t, uint16_t id, uint64_t time)
{
    if (id >= t->nps) {
        size_t n = (size_t)id + 1;
        t->ps = x_grow(t->ps, n * sizeof *t->ps);
        for (size_t i = t->nps; i < n; i++)
            t->ps[i] = (struct p_now){.since = time, .m = TR_NONE, .doing = PD_GONE};
        t->nps = n;
    }
    return &t->ps[id];
}

void put_p(struct transitions *t, uint64_t time, uint16_t id, struct p_now next)
{
    if (id == TR_NONE)
        return;
    time = in_order(t, time);
    next.said_cpu = next.cpu;
    if (t->procs > 0 && id >= t->procs)
        next.doing = PD_GONE; /* its M lets go of it after GOMAXPROCS fell */
    change_p(t, time, id, p_of(t, id, time), &next);
}

/* The one put that comes late: the wait is told when it is over, so the stretch before it ends
 * `waited` before the time of the latest put. */
void put_p_waited(struct transitions *t, uint64_t time, uint16_t id, uint64_t waited)
{
    if (id >= t->nps)
        return;
    struct p_now *p = &t->ps[id], next = *p;
    uint64_t from = time > waited ? time - waited : 0;
    next.said_cpu = CPU_WAITS;
    change_p(t, from > p->since ? from : p->since, id, p, &next);
}

void put_procs(struct transitions *t, uint64_t time, uint32_t procs)
{
    time = in_order(t, time);
    t->procs = procs;
    if (procs > 0 && procs < TR_NONE)
        (void)p_of(t, (uint16_t)(procs - 1), time);
    for (size_t i = 0; i < t->nps; i++) {
        struct p_now *p = &t->ps[i];
        struct p_now next = {.m = TR_NONE, .doing = i >= procs ? PD_GONE : PD_IDLE};
        if ((p->doing == PD_GONE) != (i >= procs))
            change_p(t, time, (uint16_t)i, p, &next);
    }
}

void put_throttled(struct transitions *t, uint64_t time, int delta, uint16_t m)
{
    time = in_order(t, time);
    if (m != TR_NONE)
        TELL(t, m_throttled, m, delta > 0, time);
    t->throttled += delta;
    for (size_t i = 0; i < t->nps; i++) {
        struct p_now same = t->ps[i];
        if (same.said_cpu == CPU_WAITS)
            change_p(t, time, (uint16_t)i, &t->ps[i], &same);
    }
}

const uint8_t tr_class_of_doing[PD_DOINGS] = {
    [PD_GONE] = PC_COUNT, [PD_IDLE] = PC_IDLE, [PD_SCHED] = PC_SCHED, [PD_SPIN] = PC_SPIN,
    [PD_USER] = PC_USER,  [PD_SYSTEM] = PC_GC, [PD_ASSIST] = PC_GC,   [PD_SYSCALL] = PC_SYSCALL};

enum p_class tr_class_off_cpu(const struct p_now *p)
{
    if (p->said_cpu == CPU_THROTTLED && p->doing != PD_GONE)
        return PC_THROTTLED;
    if (p->doing == PD_SYSCALL || p->doing <= PD_IDLE)
        return (enum p_class)tr_class_of_doing[p->doing];
    if (p->cpu == CPU_SLEEPS)
        return PC_SCHED; /* with its P: on a lock of the runtime */
    return p->cpu == CPU_WAITS ? PC_NOCPU : PC_THROTTLED;
}

void put_steal(struct transitions *t, uint64_t time, uint16_t from_p, uint16_t by_p, uint32_t g,
               uint32_t count)
{
    time = in_order(t, time);
    TELL(t, steal, from_p, by_p, g, count, time);
}

/* ---- Ms ---- */

const struct m_now *tr_find_m(const struct transitions *t, uint16_t id)
{
    return id < t->nms ? &t->ms[id] : NULL;
}

void put_m(struct transitions *t, uint64_t time, uint16_t id, struct m_now next)
{
    if (id == TR_NONE || !t->of_m)
        return;
    time = in_order(t, time);
    if (id >= t->nms) {
        size_t n = (size_t)id + 1;
        t->ms = x_grow(t->ms, n * sizeof *t->ms);
        for (size_t i = t->nms; i < n; i++)
            t->ms[i] = (struct m_now){.since = time, .p = TR_NONE, .doing = MD_NOTEXIST};
        t->nms = n;
    }
    struct m_now *now = &t->ms[id];
    if (next.doing == now->doing && next.p == now->p)
        return;
    next.since = time;
    TELL(t, m, id, now, &next, time);
    *now = next;
}

/* ---- spans ---- */

static uint32_t new_span(struct transitions *t)
{
    uint32_t i = t->open_free;
    if (i != NO_SPAN) {
        t->open_free = t->open[i].g;
    } else {
        X_ROOM(t->open, t->nopen, t->open_room, 64);
        i = t->nopen++;
    }
    return i;
}

/* The same key again before its end: it begins anew, and nobody is told of two. */
void put_span_begin(struct transitions *t, uint64_t time, const struct tr_span *s)
{
    time = in_order(t, time);
    if (s->span >= t->names->nspans)
        return;
    size_t before = t->spans.count;
    struct map_slot *slot = map_put(&t->spans, (uint64_t)s->key, s->span);
    bool anew = t->spans.count == before;
    if (!anew)
        slot->a = new_span(t);
    struct tr_span *open = &t->open[slot->a];
    *open = *s;
    if (open->began > time)
        open->began = time;
    if (!anew)
        TELL(t, span_begins, open, time);
}

void put_span_end(struct transitions *t, uint64_t time, uint32_t span, int64_t key, uint32_t by)
{
    time = in_order(t, time);
    struct map_slot *slot = map_find(&t->spans, (uint64_t)key, span);
    if (slot == NULL)
        return;
    uint32_t i = slot->a;
    TELL(t, span_ends, &t->open[i], by, time, false);
    t->open[i] = (struct tr_span){.span = NO_SPAN, .g = t->open_free};
    t->open_free = i;
    map_take(&t->spans, slot);
}

/* ---- the world ---- */

void put_world(struct transitions *t, uint64_t time, enum tr_world what)
{
    time = in_order(t, time);
    TELL(t, world, what, time);
}

void put_mark(struct transitions *t, uint64_t time, uint16_t p, const char *name, const char *text)
{
    time = in_order(t, time);
    TELL(t, mark, p, name, text, time);
}

void put_metric(struct transitions *t, uint64_t time, const char *name, int64_t value)
{
    time = in_order(t, time);
    TELL(t, metric, name, value, time);
}

static void end_ps_and_ms(struct transitions *t, uint64_t time)
{
    for (size_t i = 0; i < t->nps; i++) {
        tell_p(t, time, (uint16_t)i, &t->ps[i], NULL);
        t->ps[i].since = time;
    }
    for (size_t i = 0; i < t->nms; i++) {
        TELL(t, m, (uint16_t)i, &t->ms[i], NULL, time);
        t->ms[i].since = time;
    }
}

bool transitions_end_some(struct transitions *t, uint64_t time, size_t goroutines)
{
    struct tr_g *g;
    time = in_order(t, time);
    for (; (g = gtable_next(&t->gs, &t->end_g)) != NULL; t->end_g++) {
        if (goroutines-- == 0)
            return true;
        tell_g(t, time, (uint32_t)t->end_g, g, NULL);
        g->now.since = time;
    }
    end_ps_and_ms(t, time);
    for (uint32_t i = 0; i < t->nopen; i++)
        if (t->open[i].span != NO_SPAN)
            TELL(t, span_ends, &t->open[i], 0, time, true);
    t->end_g = 0;
    return false;
}

void transitions_end(struct transitions *t, uint64_t time)
{
    (void)transitions_end_some(t, time, SIZE_MAX);
}
