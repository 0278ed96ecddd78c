/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/tracks.h"

#include <stdlib.h>
#include <string.h>

#include "replay/track_names.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"

enum { PS = 1000, FIRST_OF_OWN = 1 << 27, NEAR = 1 << 16, FAR_MAX = 20000 };
enum { END_AT_ONCE = 65536, REASONS_MAX = 1000 };

/* What is known of a goroutine, by its index. */
struct track_g {
    uint64_t goid;
    uint32_t id;    /* its number here; 0: not given yet */
    uint32_t group; /* 1 + its group; 0: not known */
    bool assists;   /* the collector */
};

struct tracks {
    struct track_names names; /* first: naming.of is both */
    struct trace *t;
    struct transitions *to;
    const struct tracks_pause *pause;
    struct naming naming;
    struct track_g *gs;
    size_t ngs;
    uint32_t far;              /* goroutines with numbers far beyond their count */
    struct trace_event *first; /* of each goroutine there at the beginning, the first about it */
    size_t nfirst, first_room;
    bool begun;
    uint64_t procs, procs_first; /* GOMAXPROCS; 0: not said */
    struct map depths;           /* (goroutine, span) -> a: regions of one name within each other */
    struct map threads;          /* that did something */
    struct map reasons;          /* (string, for a group) -> a: the listeners' number */
    char **texts;                /* of reasons: they outlive the trace's generation */
    size_t ntexts;
    uint64_t next_pause; /* ps */
    int64_t start;
};

/* ---- who ---- */

static struct track_g *g_slot(struct tracks *k, uint32_t index)
{
    X_REACH(k->gs, k->ngs, index, ((size_t)index + 1) * 2);
    return &k->gs[index];
}

/* Go's number, where tables by number do not become much larger than the trace: in a program that
 * ran for long some are far from all others, in a hostile trace all are. */
static uint32_t number_for(struct tracks *k, uint64_t id, uint32_t index)
{
    bool near = id > 0 && id < (uint64_t)index * 16 + NEAR;
    if (near || (id > 0 && id < FIRST_OF_OWN && k->far++ < FAR_MAX))
        return (uint32_t)id;
    return FIRST_OF_OWN + index;
}

static uint32_t goid(struct tracks *k, uint64_t id, uint32_t index)
{
    struct track_g *g = g_slot(k, index);
    if (g->id == 0) {
        g->id = number_for(k, id, index);
        g->goid = id;
    }
    return g->id;
}

/* The names are the first member. */
static uint64_t goid_of(const void *of, uint32_t id)
{
    const struct tracks *k = of;
    return id >= FIRST_OF_OWN && id - FIRST_OF_OWN < k->ngs ? k->gs[id - FIRST_OF_OWN].goid : id;
}

/* By the outermost function of a stack of the goroutine: where it began, seen at the latest when it
 * stops. */
static void learn_group(struct tracks *k, const struct trace_event *e)
{
    struct track_g *g = g_slot(k, e->idx);
    (void)goid(k, e->id, e->idx);
    if (g->group == 0 && e->wire != WIRE_GO_UNBLOCK)
        g->group = track_group(&k->names, e->from == TRACE_NOT_EXIST ? e->new_stack : e->stack);
}

static void learn_first(struct tracks *k, const struct trace_event *e)
{
    X_ROOM(k->first, k->nfirst, k->first_room, 64);
    k->first[k->nfirst++] = *e;
}

static void learn(void *arg, const struct trace_event *evs, size_t count)
{
    struct tracks *k = arg;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *e = &evs[i];
        if (e->kind == TRACE_G)
            learn_group(k, e);
        else if (e->kind == TRACE_REGION_BEGIN || e->kind == TRACE_TASK_BEGIN)
            track_learn_span(&k->names, e->name, e->kind == TRACE_TASK_BEGIN);
        else if (e->kind == TRACE_SYNC && e->id == 1)
            k->start = e->time;
        else if (e->wire == WIRE_PROCS_CHANGE && k->procs_first == 0)
            k->procs_first = e->value;
        if ((e->kind == TRACE_G || e->kind == TRACE_P) && e->from == TRACE_UNDETERMINED)
            learn_first(k, e);
    }
}

/* ---- events ---- */

static uint64_t time_of(const struct tracks *k, const struct trace_event *e)
{
    return e->time > k->start ? (uint64_t)(e->time - k->start) * PS : 0;
}

static uint16_t small(uint64_t id) { return id < TR_NONE ? (uint16_t)id : (uint16_t)TR_NONE; }

static enum wait_kind kind_of(const char *reason)
{
    static const struct {
        const char *text;
        enum wait_kind kind;
    } all[] = {{"chan", WK_CHANNEL},   {"select", WK_CHANNEL},  {"sync.(*Cond)", WK_GROUP},
               {"sync", WK_LOCK},      {"network", WK_NETWORK}, {"sleep", WK_TIMER},
               {"GC mark", WK_ASSIST}, {"GC", WK_RUNTIME},      {"system", WK_RUNTIME},
               {"forever", WK_CHANNEL}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(reason, all[i].text, strlen(all[i].text)) == 0)
            return all[i].kind;
    return WK_OTHER;
}

static uint16_t reason_of(struct tracks *k, uint32_t string, bool for_group)
{
    if (string == 0)
        return 0;
    struct map_slot *s = map_find(&k->reasons, string, for_group);
    if (s != NULL)
        return (uint16_t)s->a;
    k->texts = x_grow(k->texts, (k->ntexts + 1) * sizeof *k->texts);
    char *text = k->texts[k->ntexts++] = x_strdup(trace_string(k->t, string, NULL));
    enum wait_kind kind = for_group ? WK_GROUP : kind_of(text);
    uint16_t reason = k->ntexts < REASONS_MAX ? tr_reason_number(k->to, text, kind) : 0;
    map_put(&k->reasons, string, for_group)->a = reason;
    return reason;
}

static uint8_t state_of(uint8_t to)
{
    static const uint8_t of[TRACE_STATES] = {[TRACE_NOT_EXIST] = GS_NOTEXIST,
                                             [TRACE_RUNNABLE] = GS_RUNNABLE,
                                             [TRACE_RUNNING] = GS_RUNNING,
                                             [TRACE_WAITING] = GS_WAITING,
                                             [TRACE_SYSCALL] = GS_SYSCALL};
    return of[to];
}

static struct g_now next_of(struct tracks *k, const struct trace_event *e)
{
    bool woken = e->to == TRACE_RUNNABLE && e->g != TRACE_NONE && e->g != e->id;
    bool waits = e->to == TRACE_WAITING || e->to == TRACE_SYSCALL;
    bool group = waits && track_waits_for_group(&k->names, e->stack);
    return (struct g_now){.p = small(e->p),
                          .m = TR_NONE,
                          .by = woken ? goid(k, e->g, e->gx) : EVENT_NO_G,
                          .pc = waits ? track_place_of(&k->names, e->stack) : EVENT_NO_PC,
                          .reason = reason_of(k, e->name, group),
                          .state = state_of(e->to),
                          .place = EV_place_none};
}

static void p_does(struct tracks *k, uint64_t time, uint64_t p, enum p_doing doing, uint32_t g)
{
    put_p(k->to, time, small(p),
          (struct p_now){.g = g, .m = TR_NONE, .doing = (uint8_t)doing, .cpu = CPU_ON});
}

static uint32_t group_of(const struct track_g *g)
{
    return g->group != 0 ? g->group - 1 : (uint32_t)TRACK_GROUP_UNKNOWN;
}

static enum p_doing doing_of(const struct track_g *g)
{
    if (g->assists)
        return PD_ASSIST;
    return group_of(g) == TRACK_GROUP_RUNTIME ? PD_SYSTEM : PD_USER;
}

static void g_event(struct tracks *k, const struct trace_event *e, uint64_t time)
{
    uint32_t id = goid(k, e->id, e->idx);
    struct g_now next = next_of(k, e);
    if (e->from == TRACE_RUNNING) /* before it goes: who hears of its P may still ask for it */
        p_does(k, time, e->p, e->to == TRACE_SYSCALL ? PD_SYSCALL : PD_SCHED,
               e->to == TRACE_SYSCALL ? id : EVENT_NO_G);
    if (tr_find_g(k->to, id) != NULL)
        put_g(k->to, time, id, next);
    else if (next.state != GS_NOTEXIST)
        put_g_born(k->to, time, id, group_of(&k->gs[e->idx]), next.by, &next);
    if (e->to == TRACE_RUNNING)
        p_does(k, time, e->p, doing_of(&k->gs[e->idx]), id);
}

static void p_event(struct tracks *k, const struct trace_event *e, uint64_t time)
{
    const struct p_now *p = tr_find_p(k->to, small(e->id));
    if (e->to != TRACE_RUNNING)
        p_does(k, time, e->id, PD_IDLE, EVENT_NO_G);
    else if (p == NULL || p->doing <= PD_IDLE)
        p_does(k, time, e->id, PD_SCHED, EVENT_NO_G);
}

/* What the trace says first of somebody was so from the beginning, and is put already. */
static bool was_said(const struct trace_event *e)
{
    return e->from == TRACE_UNDETERMINED || e->to == TRACE_UNDETERMINED || e->from == e->to;
}

/* Puts who was there at first, all Ps before all goroutines: what a P runs is put with the
 * goroutine that runs on it. */
static void begin(struct tracks *k)
{
    if (k->begun)
        return;
    k->begun = true;
    if (k->procs_first > 0 && k->procs_first < TR_NONE)
        put_procs(k->to, 0, (uint32_t)k->procs_first);
    for (size_t i = 0; i < k->nfirst; i++)
        if (k->first[i].kind == TRACE_P)
            p_event(k, &k->first[i], 0);
    for (size_t i = 0; i < k->nfirst; i++)
        if (k->first[i].kind == TRACE_G && k->first[i].to != TRACE_UNDETERMINED)
            g_event(k, &k->first[i], 0);
}

/* ---- spans ---- */

/* Regions of a goroutine are told apart by it and by how deep they are within others of the same
 * name, tasks by their numbers. */
static int64_t region_key(struct tracks *k, uint32_t g, uint32_t span, bool ends)
{
    const uint64_t one_deeper = UINT64_C(1) << 32;
    struct map_slot *s = map_find(&k->depths, g, span);
    if (s == NULL && ends)
        return -1;
    if (s == NULL)
        s = map_put(&k->depths, g, span);
    uint64_t depth = ends ? --s->a : s->a++;
    if (ends && depth == 0)
        map_take(&k->depths, s);
    return (int64_t)(g + depth * one_deeper);
}

static void span_event(struct tracks *k, const struct trace_event *e, uint64_t time)
{
    bool task = e->kind == TRACE_TASK_BEGIN || e->kind == TRACE_TASK_END;
    bool ends = e->kind == TRACE_TASK_END || e->kind == TRACE_REGION_END;
    uint32_t g = e->g != TRACE_NONE ? goid(k, e->g, e->gx) : EVENT_NO_G;
    uint32_t span = track_span(&k->names, e->name, task);
    if (span == UINT32_MAX)
        return; /* its beginning was not recorded */
    int64_t key = task ? (int64_t)e->id : region_key(k, g, span, ends);
    if (ends)
        put_span_end(k->to, time, span, key, g);
    else
        put_span_begin(
            k->to, time,
            &(struct tr_span){
                .key = key, .began = time, .span = span, .g = g, .p = small(e->p), .m = TR_NONE});
}

/* ---- the rest ---- */

static void assist(struct tracks *k, const struct trace_event *e, uint64_t time)
{
    struct tr_g *g = e->idx != TRACE_NO_INDEX ? tr_find_g(k->to, goid(k, e->id, e->idx)) : NULL;
    if (g == NULL)
        return;
    k->gs[e->idx].assists = e->kind != TRACE_RANGE_END;
    if (g->now.state == GS_RUNNING)
        p_does(k, time, g->now.p, doing_of(&k->gs[e->idx]), goid(k, e->id, e->idx));
}

static void range_event(struct tracks *k, const struct trace_event *e, uint64_t time)
{
    switch (e->wire) {
    case WIRE_STW_BEGIN:
        put_world(k->to, time, TW_STOP_BEGINS);
        put_world(k->to, time, TW_STOPPED);
        break;
    case WIRE_STW_END: put_world(k->to, time, TW_STOP_ENDS); break;
    case WIRE_GC_BEGIN:
    case WIRE_GC_ACTIVE: put_world(k->to, time, TW_GC_BEGINS); break;
    case WIRE_GC_END: put_world(k->to, time, TW_GC_ENDS); break;
    case WIRE_GC_MARK_ASSIST_ACTIVE:
    case WIRE_GC_MARK_ASSIST_BEGIN:
    case WIRE_GC_MARK_ASSIST_END: assist(k, e, time); break;
    default: break;
    }
}

static void metric(struct tracks *k, const struct trace_event *e, uint64_t time)
{
    if (e->wire == WIRE_PROCS_CHANGE && e->value > 0 && e->value < TR_NONE) {
        if (e->value != k->procs)
            put_procs(k->to, time, (uint32_t)e->value);
        k->procs = e->value;
    }
    put_metric(k->to, time, trace_string(k->t, e->name, NULL), (int64_t)e->value);
}

static void put_event(struct tracks *k, const struct trace_event *e)
{
    uint64_t time = time_of(k, e);
    while (k->pause != NULL && time >= k->next_pause)
        k->next_pause = k->pause->at(k->pause->arg, k->next_pause);
    begin(k);
    if (e->m != TRACE_NONE)
        (void)map_put(&k->threads, e->m, 0);
    switch ((enum trace_kind)e->kind) {
    case TRACE_G:
        if (!was_said(e))
            g_event(k, e, time);
        break;
    case TRACE_P:
        if (!was_said(e))
            p_event(k, e, time);
        break;
    case TRACE_RANGE_BEGIN:
    case TRACE_RANGE_ACTIVE:
    case TRACE_RANGE_END: range_event(k, e, time); break;
    case TRACE_TASK_BEGIN:
    case TRACE_TASK_END:
    case TRACE_REGION_BEGIN:
    case TRACE_REGION_END: span_event(k, e, time); break;
    case TRACE_METRIC: metric(k, e, time); break;
    case TRACE_LOG:
        put_mark(k->to, time, small(e->p), trace_string(k->t, e->name, NULL),
                 trace_string(k->t, e->text, NULL));
        break;
    default: break;
    }
}

static void put_events(void *arg, const struct trace_event *evs, size_t count)
{
    struct tracks *k = arg;
    for (size_t i = 0; i < count; i++)
        put_event(k, &evs[i]);
    if (k->pause != NULL && k->pause->often != NULL)
        k->pause->often(k->pause->arg);
}

/* ---- life ---- */

static bool learn_names(struct tracks *k, struct failure *f,
                        struct trace *(*open)(struct failure *f, void *arg), void *arg)
{
    if ((k->t = open(f, arg)) == NULL)
        return false;
    struct failure broken = {.code = E_OK}; /* said when the events come */
    k->names.t = k->t;
    (void)trace_each(k->t, &broken, learn, k);
    trace_close(k->t);
    k->names.t = k->t = open(f, arg);
    return k->t != NULL;
}

struct tracks *tracks_open(struct failure *f, struct trace *(*open)(struct failure *f, void *arg),
                           void *arg)
{
    struct tracks *k = x_alloc(sizeof *k);
    track_names_init(&k->names);
    if (!learn_names(k, f, open, arg)) {
        tracks_close(k);
        return NULL;
    }
    k->naming = track_naming(&k->names);
    k->naming.goid = goid_of;
    return k;
}

const struct naming *tracks_names(const struct tracks *k) { return &k->naming; }

uint64_t tracks_end_ps(const struct tracks *k)
{
    const struct trace_info *info = trace_info_of(k->t);
    return info->end_ns > k->start ? (uint64_t)(info->end_ns - k->start) * PS : 0;
}

bool tracks_put(struct tracks *k, struct transitions *to, const struct tracks_pause *pause,
                struct failure *f)
{
    k->to = to;
    k->pause = pause;
    k->next_pause = pause != NULL ? pause->first : 0;
    bool ok = trace_each(k->t, f, put_events, k);
    while (transitions_end_some(to, tracks_end_ps(k), END_AT_ONCE))
        if (pause != NULL && pause->often != NULL)
            pause->often(pause->arg);
    return ok;
}

int32_t tracks_procs(const struct tracks *k)
{
    return k->procs > 0 ? (int32_t)k->procs : (int32_t)k->to->nps;
}

uint32_t tracks_number(const struct tracks *k, uint64_t goid)
{
    for (size_t i = k->ngs; i-- > 0;)
        if (k->gs[i].id != 0 && k->gs[i].goid == goid)
            return k->gs[i].id;
    return EVENT_NO_G;
}

uint32_t tracks_threads(const struct tracks *k) { return (uint32_t)k->threads.count; }

int tracks_version(const struct tracks *k) { return trace_info_of(k->t)->version; }

const struct trace_info *tracks_info(const struct tracks *k) { return trace_info_of(k->t); }

void tracks_close(struct tracks *k)
{
    if (k->t != NULL)
        trace_close(k->t);
    track_names_release(&k->names);
    for (size_t i = 0; i < k->ntexts; i++)
        free(k->texts[i]);
    free(k->texts);
    map_release(&k->reasons);
    map_release(&k->depths);
    map_release(&k->threads);
    free(k->first);
    free(k->gs);
    free(k);
}
