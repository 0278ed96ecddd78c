/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/attribution.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { SUB_BITS = 6, CLASSES = 64 << SUB_BITS, PS_PER_NS = 1000 };
#define NOBODY UINT32_MAX

/* Whose doing it was that a span waited so long. */
struct span_blame {
    uint64_t ps;
    uint32_t group, pc; /* NOBODY, EVENT_NO_PC */
    uint8_t part;
};

const char *const span_part_names[SP_COUNT] = {[SP_RUNNING] = "running",
                                               [SP_QUEUE] = "run queue",
                                               [SP_THROTTLED] = "throttled",
                                               [SP_NOCPU] = "no CPU",
                                               [SP_LOCK] = "lock",
                                               [SP_CHANNEL] = "channel",
                                               [SP_GROUP] = "wait group",
                                               [SP_TIMER] = "timer",
                                               [SP_NETWORK] = "network",
                                               [SP_SYSCALL] = "system call",
                                               [SP_ASSIST] = "GC assist",
                                               [SP_STOP] = "stop of the world",
                                               [SP_BEFORE] = "before it was taken up",
                                               [SP_HANDED] = "handed over",
                                               [SP_OTHER] = "other waits"};

enum { CLOCK_THROTTLED, CLOCK_NOCPU, CLOCK_ASSIST, P_CLOCKS };
/* Behind the clocks of a P come two of the world: how long the world was stopped, and how long
 * nobody ran because all Ps that would were throttled; and one of the goroutine's M, which has no P
 * in some system calls: how long the M was throttled. */
enum { CLOCK_STOPPED = P_CLOCKS, CLOCK_FROZEN, CLOCK_M, CLOCKS };

/* How long a P was throttled, without a CPU, helping the collector: up to its last transition. */
struct p_clock {
    uint64_t of[P_CLOCKS];
    uint32_t last, last_group; /* the goroutine that ran here last */
};

/* What is kept of a goroutine that begins or ends spans (attribution.h). */
struct track {
    uint32_t id;
    uint16_t p; /* that it runs on, or in whose queue it was put: moves are told only to some */
    uint16_t m;
    uint64_t parts[SP_COUNT]; /* ps */
    uint64_t taken[SP_COUNT]; /* the parts when it last woke or ended a span: took up new work */
    uint64_t taken_at, since; /* ps; since: up to when the parts are known */
    uint64_t clocks[CLOCKS];  /* its P's and the stops', at that time */
    uint64_t moves;           /* of struct attribution, at that time */
    struct blames {
        struct span_blame of[BLAMES_MAX];
        int count;
    } blames; /* since it last woke without an open span */
    uint32_t open;
};

struct span_mark {
    uint64_t parts[SP_COUNT];
    uint64_t before[2]; /* ps: of the time before the parts begin, SP_BEFORE and SP_THROTTLED */
    struct blames blames;
};

struct span_class {
    uint64_t count;
    uint64_t parts[SP_COUNT];
    struct blames blames;
};

struct span_classes {
    struct span_class *of[CLASSES];
};

static int class_of(uint64_t ns)
{
    if (ns < 1 << SUB_BITS)
        return (int)ns;
    int top = 63 - __builtin_clzll(ns);
    return ((top - SUB_BITS + 1) << SUB_BITS) +
           (int)(ns >> (top - SUB_BITS) & ((1 << SUB_BITS) - 1));
}

/* ---- who is to blame ---- */

/* Few are kept; the least of them makes room. */
static int blame_at(const struct blames *list, const struct span_blame *b)
{
    for (int i = 0; i < list->count; i++) {
        const struct span_blame *is = &list->of[i];
        if (is->part == b->part && is->group == b->group && is->pc == b->pc)
            return i;
    }
    return -1;
}

static const struct span_blame *blame_of(const struct blames *list, const struct span_blame *b)
{
    int i = blame_at(list, b);
    return i >= 0 ? &list->of[i] : NULL;
}

static void blame(struct blames *list, const struct span_blame *b)
{
    int at = blame_at(list, b), least = 0;
    if (at >= 0) {
        list->of[at].ps += b->ps;
        return;
    }
    for (int i = 0; i < list->count; i++)
        if (list->of[i].ps < list->of[least].ps)
            least = i;
    if (list->count < BLAMES_MAX)
        list->of[list->count++] = *b;
    else if (list->of[least].ps < b->ps)
        list->of[least] = *b;
}

/* ---- clocks ---- */

static struct p_clock *clock_of(struct attribution *a, uint16_t id)
{
    X_REACH(a->ps, a->nps, id, id + 1U);
    return &a->ps[id];
}

static inline int clock_for(const struct p_now *p)
{
    if (__builtin_expect(p->cpu != CPU_ON, 0)) {
        enum p_class c = p_class_of(p);
        if (c == PC_THROTTLED || c == PC_NOCPU)
            return c == PC_THROTTLED ? CLOCK_THROTTLED : CLOCK_NOCPU;
    }
    return p->doing == PD_ASSIST ? CLOCK_ASSIST : P_CLOCKS;
}

/* Every clock that begins or ends to go is counted: while none goes and none has, there is nothing
 * to read (settle). */
static void clock_turns(struct attribution *a, bool went, bool goes)
{
    a->going += goes - went;
    a->moves += went;
}

static void clock_goes(struct attribution *a, struct world_clock *c, bool goes, uint64_t time)
{
    if (c->goes)
        c->sum += time - c->since;
    clock_turns(a, c->goes, goes);
    c->goes = goes;
    c->since = time;
}

static uint64_t clock_now(const struct world_clock *c, uint64_t time)
{
    return c->sum + (c->goes ? time - c->since : 0);
}

/* How long the world was frozen up to `time`, which may lie back. */
static uint64_t frozen_until(const struct attribution *a, uint64_t time)
{
    const struct world_clock *c = &a->frozen;
    if (c->goes && time >= c->since)
        return clock_now(c, time);
    uint64_t kept = a->nfreezes < FREEZES ? a->nfreezes : FREEZES, low = a->nfreezes - kept;
    for (uint64_t high = a->nfreezes; low < high;) { /* the first that ends after `time` */
        uint64_t mid = low + (high - low) / 2;
        if (a->freezes[mid % FREEZES].to > time)
            high = mid;
        else
            low = mid + 1;
    }
    if (low == a->nfreezes)
        return c->sum;
    const struct freeze *f = &a->freezes[low % FREEZES];
    uint64_t rest = f->to - (f->from > time ? f->from : time);
    return f->sum - rest;
}

static void freeze(struct attribution *a, bool goes, uint64_t time)
{
    struct world_clock *c = &a->frozen;
    if (goes == c->goes)
        return;
    uint64_t from = c->since;
    clock_goes(a, c, goes, time);
    if (!goes && time > from)
        a->freezes[a->nfreezes++ % FREEZES] = (struct freeze){from, time, c->sum};
}

/* Counts a P in (+1) or out (-1) of those that are throttled, or of those that go on. A P whose
 * thread sleeps does not go on, and one in a system call wakes nobody: they count as neither. */
static void count_p(struct attribution *a, const struct p_now *p, int delta)
{
    if (p->doing <= PD_IDLE)
        return;
    if (p_class_of(p) == PC_THROTTLED)
        a->nthrottled += delta;
    else if (p->cpu != CPU_SLEEPS && p->doing != PD_SYSCALL)
        a->ngoing += delta;
}

static void ran_last(const struct attribution *a, struct p_clock *p, uint32_t id)
{
    if (p->last == id)
        return;
    const struct tr_g *g = tr_find_g(a->t, id);
    p->last = id;
    p->last_group = g != NULL ? g->group : NOBODY;
}

static void p_changes(void *arg, uint16_t id, const struct p_now *now, const struct p_now *next,
                      uint64_t time)
{
    struct attribution *a = arg;
    int which = clock_for(now), then = next != NULL ? clock_for(next) : which;
    if (next != NULL && a->t->cpus > 0) {
        count_p(a, now, -1);
        count_p(a, next, 1);
        freeze(a, a->nthrottled > 0 && a->ngoing == 0, time);
    }
    if (which < P_CLOCKS || then < P_CLOCKS)
        clock_turns(a, which < P_CLOCKS, then < P_CLOCKS);
    if (which < P_CLOCKS)
        clock_of(a, id)->of[which] += time - now->since;
    if (now->g != EVENT_NO_G && time != now->since)
        ran_last(a, clock_of(a, id), now->g);
}

/* The clocks of its P, of the stops and of its M, now. */
static void read_clocks(struct attribution *a, struct track *k, uint64_t time,
                        uint64_t clocks[CLOCKS])
{
    const struct p_now *p = a->going > 0 ? tr_find_p(a->t, k->p) : NULL;
    int which = p != NULL ? clock_for(p) : P_CLOCKS;
    for (int i = 0; i < P_CLOCKS; i++)
        clocks[i] = k->p < a->nps ? a->ps[k->p].of[i] : 0;
    if (which < P_CLOCKS && time > p->since)
        clocks[which] += time - p->since;
    clocks[CLOCK_M] = k->m < a->nms ? clock_now(&a->ms[k->m], time) : 0;
    clocks[CLOCK_STOPPED] = clock_now(&a->stopped, time);
    clocks[CLOCK_FROZEN] = clock_now(&a->frozen, time);
    k->moves = a->moves;
}

static void m_throttled(void *arg, uint16_t m, bool on, uint64_t time)
{
    struct attribution *a = arg;
    if (m >= a->nms) {
        size_t n = (size_t)m + 16;
        a->ms = x_grow(a->ms, n * sizeof *a->ms);
        memset(a->ms + a->nms, 0, (n - a->nms) * sizeof *a->ms);
        a->nms = n;
    }
    clock_goes(a, &a->ms[m], on, time);
}

static void world(void *arg, enum tr_world what, uint64_t time)
{
    struct attribution *a = arg;
    if (what == TW_STOPPED || what == TW_STOP_ENDS)
        clock_goes(a, &a->stopped, what == TW_STOPPED, time);
}

/* ---- tracks ---- */

static struct track **slot(struct tr_g *g) { return (struct track **)(void *)g->extra; }

static enum span_part part_of_wait(const struct transitions *t, const struct g_now *is)
{
    static const uint8_t of[WK_KINDS] = {
        [WK_OTHER] = SP_OTHER,   [WK_CHANNEL] = SP_CHANNEL, [WK_LOCK] = SP_LOCK,
        [WK_GROUP] = SP_GROUP,   [WK_TIMER] = SP_TIMER,     [WK_NETWORK] = SP_NETWORK,
        [WK_ASSIST] = SP_ASSIST, [WK_STOP] = SP_STOP,       [WK_RUNTIME] = SP_OTHER};
    return (enum span_part)of[tr_kind(t, is->reason)];
}

static enum span_part part_of(const struct transitions *t, const struct g_now *is)
{
    switch ((enum g_state)is->state) {
    case GS_RUNNABLE: return SP_QUEUE;
    case GS_RUNNING: return SP_RUNNING;
    case GS_SYSCALL: return SP_SYSCALL;
    case GS_WAITING: return part_of_wait(t, is);
    case GS_NOTEXIST:
    case GS_STATES: break;
    }
    return SP_OTHER;
}

/* Something (a stop, throttling) lay over a stretch for so long: moves that from `left` to its
 * part, never more than there is. */
static void take_part(struct track *k, enum span_part part, uint64_t ps, uint64_t *left)
{
    if (ps > *left)
        ps = *left;
    k->parts[part] += ps;
    *left -= ps;
}

static void of_its_p(struct track *k, enum span_part part, const uint64_t went[CLOCKS],
                     uint64_t *left)
{
    take_part(k, SP_STOP, went[CLOCK_STOPPED], left);
    bool all = part != SP_RUNNING && went[CLOCK_FROZEN] > went[CLOCK_THROTTLED];
    take_part(k, SP_THROTTLED, went[all ? CLOCK_FROZEN : CLOCK_THROTTLED], left);
    take_part(k, SP_NOCPU, went[CLOCK_NOCPU], left);
    if (part == SP_RUNNING)
        take_part(k, SP_ASSIST, went[CLOCK_ASSIST], left);
}

static void blame_for(struct attribution *a, struct track *k, enum span_part part,
                      const struct g_now *is, const struct g_now *next, uint64_t ps)
{
    struct span_blame b = {.part = (uint8_t)part, .group = NOBODY, .pc = is->pc, .ps = ps};
    const struct tr_g *by = next != NULL ? tr_find_g(a->t, next->by) : NULL;
    const struct p_clock *p = part == SP_QUEUE && k->p != TR_NONE ? clock_of(a, k->p) : NULL;
    if (p != NULL && p->last != k->id)
        b.group = p->last_group; /* it ran there just before */
    else if (p == NULL && by != NULL)
        b.group = by->group;
    blame(&k->blames, &b);
}

/* How much of a wait was throttling: nobody ran who could have ended it. */
static uint64_t frozen_wait(const struct attribution *a, enum span_part part, const struct track *k,
                            const struct g_now *next, const uint64_t went[CLOCKS], uint64_t time)
{
    uint64_t due = next != NULL ? a->t->due : 0;
    if (part == SP_LOCK || part == SP_CHANNEL || part == SP_GROUP || part == SP_ASSIST ||
        part == SP_STOP)
        return went[CLOCK_FROZEN];
    if ((part != SP_TIMER && part != SP_NETWORK) || due == 0 || due >= time)
        return 0;
    return frozen_until(a, time) - frozen_until(a, due > k->since ? due : k->since);
}

/* Gives the part of the stretch to what lay over it. */
static void lay_over(struct attribution *a, struct track *k, enum span_part part,
                     const struct g_now *next, uint64_t time, uint64_t *left)
{
    uint64_t clocks[CLOCKS], went[CLOCKS];
    read_clocks(a, k, time, clocks);
    for (int i = 0; i < CLOCKS; i++) {
        went[i] = clocks[i] - k->clocks[i];
        k->clocks[i] = clocks[i];
    }
    if (part == SP_QUEUE || part == SP_RUNNING)
        of_its_p(k, part, went, left);
    else if (part == SP_SYSCALL)
        take_part(k, SP_THROTTLED, went[CLOCK_M], left);
    else
        take_part(k, SP_THROTTLED, frozen_wait(a, part, k, next, went, time), left);
}

/* Brings the parts of the goroutine's time up to `time`: it was `is` since the last call. */
static void settle(struct attribution *a, struct track *k, const struct g_now *is,
                   const struct g_now *next, uint64_t time)
{
    enum span_part part = part_of(a->t, is);
    uint64_t left = time - k->since;
    if (__builtin_expect(a->going > 0 || k->moves != a->moves, 0))
        lay_over(a, k, part, next, time, &left);
    k->since = time;
    k->parts[part] += left;
    if (part != SP_RUNNING && left > 0)
        blame_for(a, k, part, is, next, left);
}

static struct track *track_made(struct attribution *a, uint32_t id, struct tr_g *g,
                                const struct g_now *is, uint64_t time)
{
    struct track *k = *slot(g) = x_alloc(sizeof *k);
    k->id = id;
    k->taken_at = k->since = time;
    k->p = is->p;
    k->m = is->m;
    read_clocks(a, k, time, k->clocks);
    return k;
}

/* The goroutine takes up new work here: what came before is no part of the work. */
static void takes_up(struct track *k, uint64_t time)
{
    memcpy(k->taken, k->parts, sizeof k->taken);
    k->taken_at = time;
    if (k->open == 0)
        k->blames.count = 0;
}

static void g_changes(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next,
                      uint64_t time)
{
    struct attribution *a = arg;
    struct track *k = *slot(g);
    if (k == NULL && next != NULL && g->now.state == GS_NOTEXIST && g->group < a->nearly &&
        a->early[g->group])
        k = track_made(a, id, g, next, time);
    if (k == NULL || next == NULL)
        return;
    settle(a, k, &g->now, next, time);
    if (g->now.state == GS_WAITING)
        takes_up(k, time);
    if (next->p != k->p || next->m != k->m) { /* else settle has read them */
        k->p = next->p;
        k->m = next->m;
        read_clocks(a, k, time, k->clocks);
    }
    if (next->state == GS_NOTEXIST) {
        free(k);
        *slot(g) = NULL;
    }
}

static void follow_group(struct attribution *a, uint32_t group)
{
    if (group >= a->nearly) {
        size_t n = (size_t)group + 1;
        a->early = x_grow(a->early, n * sizeof *a->early);
        memset(a->early + a->nearly, 0, (n - a->nearly) * sizeof *a->early);
        a->nearly = n;
    }
    a->early[group] = true;
}

static struct track *track_of(struct attribution *a, uint32_t id, struct tr_g *g, uint64_t time)
{
    struct track *k = *slot(g);
    if (k != NULL) {
        settle(a, k, &g->now, NULL, time);
        return k;
    }
    follow_group(a, g->group);
    struct g_now is = g->now;
    if (is.state == GS_RUNNABLE)
        is.p = TR_NONE;
    return track_made(a, id, g, &is, time);
}

/* ---- spans ---- */

static struct span_mark *mark_of(struct attribution *a, const struct tr_span *s)
{
    size_t i = (size_t)(s - a->t->open);
    X_REACH(a->marks, a->nmarks, i, i * 2 + 64);
    return &a->marks[i];
}

static void span_begins(void *arg, const struct tr_span *s, uint64_t time)
{
    struct attribution *a = arg;
    struct tr_g *g = tr_find_g(a->t, s->g);
    struct span_mark *m = mark_of(a, s);
    uint64_t from = time; /* where the parts begin */
    memset(m->parts, 0, sizeof m->parts);
    m->blames.count = 0;
    if (g != NULL) {
        struct track *k = track_of(a, s->g, g, time);
        bool taken = s->began < time && k->taken_at >= s->began;
        memcpy(m->parts, taken ? k->taken : k->parts, sizeof m->parts);
        if (taken)
            from = k->taken_at;
        if (!taken || k->open > 0)
            m->blames = k->blames;
        k->open++;
    }
    uint64_t frozen = frozen_until(a, from) - frozen_until(a, s->began);
    m->before[1] = frozen < from - s->began ? frozen : from - s->began;
    m->before[0] = from - s->began - m->before[1];
}

/* Those of the goroutine's waits that lie in the span whose mark this is. */
static void add_blames(struct span_class *to, const struct track *k, const struct span_mark *m)
{
    for (int i = 0; i < k->blames.count; i++) {
        struct span_blame b = k->blames.of[i];
        const struct span_blame *old = blame_of(&m->blames, &b);
        b.ps -= old != NULL && old->ps < b.ps ? old->ps : old != NULL ? b.ps : 0;
        if (b.ps > 0)
            blame(&to->blames, &b);
    }
}

/* What of a span that another goroutine began is known: since `by` took it up. */
static void handed_over(const struct tr_span *s, const struct track *k, uint64_t parts[SP_COUNT],
                        uint64_t time)
{
    uint64_t sum = 0;
    for (int p = 0; k->taken_at >= s->began && p < SP_COUNT; p++)
        sum += parts[p] = k->parts[p] - k->taken[p];
    parts[SP_HANDED] = time - s->began - sum;
}

static void add(struct attribution *a, const struct tr_span *s, const uint64_t parts[SP_COUNT],
                const struct track *k, const struct span_mark *m, uint64_t time)
{
    int c = class_of(time / PS_PER_NS - s->began / PS_PER_NS); /* as its latency is counted */
    if (s->began < a->from_ps)
        return;
    struct span_class **of = &a->spans[s->span].of[c];
    if (*of == NULL)
        *of = x_alloc(sizeof **of);
    (*of)->count++;
    for (int p = 0; p < SP_COUNT; p++)
        (*of)->parts[p] += parts[p];
    if (k != NULL)
        add_blames(*of, k, m);
}

static void no_longer_open(const struct attribution *a, uint32_t id)
{
    struct tr_g *g = tr_find_g(a->t, id);
    struct track *k = g != NULL ? *slot(g) : NULL;
    if (k != NULL && k->open > 0)
        k->open--;
}

static void span_ends(void *arg, const struct tr_span *s, uint32_t by, uint64_t time, bool open)
{
    struct attribution *a = arg;
    struct tr_g *g = tr_find_g(a->t, by);
    uint64_t parts[SP_COUNT] = {0};
    if (open)
        return;
    if (g == NULL) {
        parts[SP_OTHER] = time - s->began;
        add(a, s, parts, NULL, NULL, time);
        return;
    }
    struct track *k = track_of(a, by, g, time);
    static const struct span_mark none;
    const struct span_mark *m = mark_of(a, s);
    if (by == s->g) {
        for (int p = 0; p < SP_COUNT; p++)
            parts[p] = k->parts[p] - m->parts[p];
        parts[SP_BEFORE] += m->before[0];
        parts[SP_THROTTLED] += m->before[1];
        add(a, s, parts, k, m, time);
    } else {
        handed_over(s, k, parts, time);
        add(a, s, parts, k, &none, time);
        no_longer_open(a, s->g);
    }
    if (by == s->g && k->open > 0)
        k->open--;
    takes_up(k, time);
}

/* ---- life ---- */

size_t attribution_extra(const struct naming *names)
{
    return names->nspans > 0 ? sizeof(struct track *) : 0;
}

void attribution_init(struct attribution *a, struct transitions *t, uint64_t warmup_ps)
{
    memset(a, 0, sizeof *a);
    a->t = t;
    a->from_ps = warmup_ps;
    if (t->names->nspans == 0)
        return;
    a->spans = x_alloc(t->names->nspans * sizeof *a->spans);
    a->nspans = t->names->nspans;
    transitions_listen(t, &(struct listener){.arg = a,
                                             .g = g_changes,
                                             .p = p_changes,
                                             .span_begins = span_begins,
                                             .span_ends = span_ends,
                                             .world = world,
                                             .m_throttled = m_throttled});
}

static void add_class(struct run_attribution *out, const struct span_class *c, bool slow)
{
    for (int p = 0; p < SP_COUNT; p++) {
        out->all_ps[p] += c->parts[p];
        if (slow)
            out->slow_ps[p] += c->parts[p];
    }
    out->count += c->count;
    out->slow += slow ? c->count : 0;
}

static int by_length(const void *x, const void *y)
{
    const struct span_blame *a = x, *b = y;
    if (a->ps != b->ps)
        return a->ps < b->ps ? 1 : -1;
    return a->pc != b->pc ? (a->pc > b->pc) - (a->pc < b->pc)
                          : (a->group > b->group) - (a->group < b->group);
}

static void name_blames(const struct attribution *a, struct blames *list,
                        struct run_attribution *out)
{
    const struct naming *n = a->t->names;
    qsort(list->of, (size_t)list->count, sizeof *list->of, by_length);
    for (int i = 0; i < list->count; i++) {
        const struct span_blame *b = &list->of[i];
        out->blames[out->nblames++] = (struct run_blame){
            .part = (enum span_part)b->part,
            .who = b->group != NOBODY ? n->group(n->of, b->group) : NULL,
            .object = b->pc != EVENT_NO_PC ? n->object(n->of, b->pc) : NULL,
            .line = b->pc != EVENT_NO_PC ? n->line(n->of, b->pc) : 0,
            .place = b->pc != EVENT_NO_PC && n->place != NULL ? n->place(n->of, b->pc) : NULL,
            .ps = b->ps};
    }
}

void attribution_of(const struct attribution *a, size_t span, int64_t p99_ns,
                    struct run_attribution *out)
{
    uint64_t p99 = (uint64_t)p99_ns;
    int from = class_of(p99 - p99 / HIST_FINE_SUB); /* it may be the end of a bin */
    struct blames blames = {.count = 0};
    memset(out, 0, sizeof *out);
    for (int c = 0; span < a->nspans && c < CLASSES; c++) {
        const struct span_class *of = a->spans[span].of[c];
        if (of == NULL)
            continue;
        add_class(out, of, c >= from);
        for (int i = 0; c >= from && i < of->blames.count; i++)
            blame(&blames, &of->blames.of[i]);
    }
    name_blames(a, &blames, out);
}

void attribution_fill(const struct attribution *a, struct run_span *spans, size_t count)
{
    for (size_t i = 0; i < count; i++)
        attribution_of(a, i, hist_percentile(spans[i].latency, 990000), &spans[i].went);
}

void attribution_release(struct attribution *a)
{
    for (size_t s = 0; s < a->nspans; s++)
        for (int c = 0; c < CLASSES; c++)
            free(a->spans[s].of[c]);
    if (a->t != NULL && a->nspans > 0) {
        struct tr_g *g;
        for (uint64_t id = 0; (g = gtable_next(&a->t->gs, &id)) != NULL; id++)
            free(*slot(g));
    }
    free(a->spans);
    free(a->marks);
    free(a->early);
    free(a->ms);
    free(a->ps);
    memset(a, 0, sizeof *a);
}
