/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled once per host, with its <host.h>, as the model is: WINDOW is the name there. */
#include "run/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/api.h"
#include "model/runtime2.h"
#include "model/statusname.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"

static const char *const reasons[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
};

/* ---- what an address is part of ---- */

/* Goroutines in order of creation. They come from an arena that only grows, so this is the order of
 * their addresses too; where it is not, a goroutine has no name. */
static struct {
    const struct runtime *of;
    const struct g **items, *last;
    size_t count, room;
} gs;

static void take_new_gs(const struct runtime *w)
{
    if (gs.of != w || gs.count > a_peek(&w->allglen) || (gs.count > 0 && gs.items[0] != w->allgs))
        gs.count = 0, gs.last = NULL, gs.of = w;
    const struct g *gp = gs.last != NULL ? gs.last->alllink : w->allgs;
    for (; gp != NULL; gp = gp->alllink) {
        if (gs.count == gs.room) {
            gs.room = gs.room * 2 + 64;
            gs.items = x_grow(gs.items, gs.room * sizeof *gs.items);
        }
        gs.items[gs.count++] = gs.last = gp;
    }
}

static const struct g *g_at(const struct runtime *w, uintptr_t addr)
{
    take_new_gs(w);
    size_t low = 0, high = gs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)gs.items[middle] <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    const struct g *gp = low > 0 ? gs.items[low - 1] : NULL;
    return gp != NULL && addr - (uintptr_t)gp < sizeof *gp ? gp : NULL;
}

static bool is_of_p(uintptr_t addr, const struct p *pp)
{
    return addr - (uintptr_t)pp < sizeof *pp ||
           addr - (uintptr_t)pp->runq < (pp->ringmask + 1) * sizeof *pp->runq;
}

static bool inside(uintptr_t addr, const void *base, size_t size)
{
    return base != NULL && addr - (uintptr_t)base < size;
}

/* Locks look alike in the source (l->word); these have names. */
static const struct part {
    size_t at, size;
    const char *name;
} parts[] = {
#define PART(field)                                                                 \
    {                                                                               \
        offsetof(struct runtime, field), sizeof((struct runtime *)0)->field, #field \
    }
    PART(sched.lock),
    PART(sched.gFree_lock),
    PART(sched.sudoglock),
    PART(sched.sysmonlock),
    PART(allpLock),
    PART(allglock),
    PART(newmHandoff.lock),
    PART(gc.assistLock),
    PART(gc.sweepWaiters),
    PART(gc.sweepLock),
    PART(gc.forcegcLock),
    PART(sched),
    {0, sizeof(struct runtime), "runtime"},
#undef PART
};

static const char *part_of(size_t off)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (off - parts[i].at < parts[i].size)
            return parts[i].name;
    return NULL;
}

static const char *name_of(const struct runtime *w, uintptr_t addr, char *buf)
{
    const struct g *gp = g_at(w, addr);
    if (gp != NULL) {
        snprintf(buf, LOOK_NAME_SIZE, "g%" PRIu32, gp->goid);
        return buf;
    }
    for (int64_t i = 0; i < w->sched.mnext; i++)
        if (inside(addr, w->ms[i], sizeof *w->ms[i])) {
            snprintf(buf, LOOK_NAME_SIZE, "M%" PRId64, i);
            return buf;
        }
    for (int32_t i = 0; i < w->allp_cap; i++)
        if (w->allp[i] != NULL && is_of_p(addr, w->allp[i])) {
            snprintf(buf, LOOK_NAME_SIZE, "P%d", i);
            return buf;
        }
    const char *part = part_of(addr - (uintptr_t)w);
    if (part != NULL)
        return part;
    snprintf(buf, LOOK_NAME_SIZE, "@%" PRIxPTR, addr - (uintptr_t)w);
    return buf;
}

/* ---- Ps, Ms, queues ---- */

static uint64_t goid_of(const struct g *gp) { return gp != NULL ? gp->goid : 0; }

static void see_sched(const struct runtime *w, struct look_sched *s)
{
    *s = (struct look_sched){
        .procs = a_peek(&w->gomaxprocs),
        .npidle = a_peek(&w->sched.npidle),
        .nmspinning = a_peek(&w->sched.nmspinning),
        .nmidle = w->sched.nmidle,
        .nm = w->sched.mnext - w->sched.nmfreed,
        .m_ids = w->sched.mnext,
        .globrunq = w->sched.runq.size,
        .gcwaiting = a_peek(&w->sched.gcwaiting) != 0,
        .sysmonwait = a_peek(&w->sched.sysmonwait),
        .gcphase = w->gc.phase,
        .ngs = a_peek(&w->allglen),
    };
}

static void see_p(const struct runtime *w, int32_t id, struct look_p *out)
{
    const struct p *pp = w->allp[id];
    const struct m *mp = a_peek(&pp->m);
    *out = (struct look_p){
        .id = id,
        .status = pstatus_name(a_peek(&pp->status)),
        .m = mp != NULL ? mp->id : -1,
        .curg = mp != NULL ? goid_of(a_peek(&mp->curg)) : 0,
        .runnext = goid_of(a_peek(&pp->runnext)),
        .ring = a_peek(&pp->runqtail) - a_peek(&pp->runqhead),
        .schedtick = a_peek(&pp->schedtick),
        .syscalltick = a_peek(&pp->syscalltick),
        .timers = pp->timers.n,
        .spinning = mp != NULL && mp->spinning,
    };
}

static size_t see_ring(const struct runtime *w, int32_t id, uint64_t *out, size_t max)
{
    const struct p *pp = w->allp[id];
    uint32_t head = a_peek(&pp->runqhead), n = a_peek(&pp->runqtail) - head;
    for (uint32_t i = 0; i < n && i < max; i++)
        out[i] = goid_of(a_peek(&pp->runq[(head + i) & pp->ringmask]));
    return n;
}

static int by_when(const void *a, const void *b)
{
    const struct look_timer *x = a, *y = b;
    if (x->when_ns != y->when_ns)
        return x->when_ns < y->when_ns ? -1 : 1;
    return (x->g > y->g) - (x->g < y->g);
}

static size_t see_timers(const struct runtime *w, int32_t id, struct look_timer *out, size_t max)
{
    const struct timers *ts = &w->allp[id]->timers;
    struct look_timer *all = x_alloc(ts->n * sizeof *all);
    for (uint32_t i = 0; i < ts->n; i++) {
        const struct timer *t = ts->heap[i].timer;
        const struct g *gp = g_at(w, (uintptr_t)t->arg);
        all[i] = (struct look_timer){.when_ns = t->when, .period_ns = t->period, .chan = t->isChan};
        if (gp != NULL)
            all[i].g = gp->goid;
    }
    qsort(all, ts->n, sizeof *all, by_when);
    for (size_t i = 0; i < ts->n && i < max; i++)
        out[i] = all[i];
    free(all);
    return ts->n;
}

static size_t see_globrunq(const struct runtime *w, uint64_t *out, size_t max)
{
    size_t n = 0;
    for (const struct g *gp = w->sched.runq.head; gp != NULL; gp = gp->schedlink)
        if (n++ < max)
            out[n - 1] = gp->goid;
    return n;
}

static bool see_m(const struct runtime *w, int64_t id, struct look_m *out)
{
    const struct m *mp = id < w->sched.mnext ? w->ms[id] : NULL;
    if (mp == NULL || mp->exiting)
        return false;
    const struct p *pp = a_peek(&mp->p);
    *out = (struct look_m){
        .id = mp->id,
        .p = pp != NULL ? pp->id : -1,
        .curg = goid_of(a_peek(&mp->curg)),
        .lockedg = goid_of(mp->lockedg),
        .spinning = mp->spinning,
        .blocked = mp->blocked,
        .idle = mp->onmidle,
    };
    return true;
}

/* ---- goroutines ---- */

static const char *group_name(const struct program *p, const struct g *gp, const char *func)
{
    if (isSystemGoroutine(gp))
        return "runtime";
    if (gp->goid == 1)
        return p->funcs[p->main].name;
    return gp->group >= 0 && (uint32_t)gp->group < p->ngroups ? p->groups[gp->group] : func;
}

static struct run_g_kind kind_of(const struct program *p, const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool waits = status == Gwaiting || status == Gleaked,
         known = gp->func >= 0 && (uint32_t)gp->func < p->nfuncs;
    const char *func = isSystemGoroutine(gp) || !known ? "" : p->funcs[gp->func].name;
    uint32_t pc = gp->pc != 0 ? gp->pc - 1 : 0; /* of the instruction in progress */
    return (struct run_g_kind){
        .func = func,
        .group = group_name(p, gp, func),
        .status = gstatus_name(status),
        .reason = waits ? reasons[gp->waitreason] : "",
        .line = p->lines != NULL && !isSystemGoroutine(gp) && pc < p->ncode ? p->lines[pc] : 0,
        .blocked = waits && known && !gp->has_ext_wake && gp->waitreason != waitReasonSleep,
        .stranded = gp->stranded,
    };
}

static void see_where(const struct runtime *w, const struct program *program, int32_t m,
                      struct look_where *out)
{
    const struct m *mp = m >= 0 && m < w->sched.mnext ? w->ms[m] : NULL;
    const struct p *pp = mp != NULL ? a_peek(&mp->p) : NULL;
    const struct g *gp = mp != NULL ? a_peek(&mp->curg) : NULL;
    *out = (struct look_where){.m = m, .p = -1};
    if (mp != NULL)
        out->spinning = mp->spinning;
    if (pp != NULL) {
        out->p = pp->id;
        out->p_status = pstatus_name(a_peek(&pp->status));
    }
    if (gp != NULL) {
        struct run_g_kind kind = kind_of(program, gp);
        out->g = gp->goid;
        out->g_status = kind.status;
        out->g_group = kind.group;
        out->line = kind.line;
    }
}

/* The goroutines, and behind them in the same memory their kinds. Until all are known, `is` is
 * a kind's number. */
struct listing {
    struct run_g *gs;
    struct run_g_kind *kinds;
    size_t count, nkinds, kinds_room;
    struct map known; /* (pc and group, the rest) -> number of the kind */
};

static size_t kind_number(struct listing *l, const struct program *p, const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    uint32_t rest = status << 16 | (uint32_t)gp->stranded << 15 | (uint32_t)gp->waitreason << 4 |
                    (uint32_t)(gp->func < 0) << 3 | (uint32_t)gp->has_ext_wake << 2 |
                    (uint32_t)isSystemGoroutine(gp) << 1 | (gp->goid == 1);
    uint64_t where = (uint64_t)gp->pc << 32 | (uint32_t)gp->group;
    struct map_slot *s = map_find(&l->known, where, rest);
    if (s != NULL)
        return s->a;
    if (l->nkinds == l->kinds_room) {
        l->kinds_room = l->kinds_room != 0 ? l->kinds_room * 2 : 16;
        l->kinds = x_grow(l->kinds, l->kinds_room * sizeof *l->kinds);
    }
    map_put(&l->known, where, rest)->a = (uint32_t)l->nkinds;
    l->kinds[l->nkinds] = kind_of(p, gp);
    return l->nkinds++;
}

static void list_g(struct listing *l, const struct program *p, const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool waits = status == Gwaiting || status == Gleaked;
    uintptr_t number = kind_number(l, p, gp);
    l->gs[l->count++] = (struct run_g){.goid = gp->goid,
                                       .since_ns = waits ? gp->waitsince : 0,
                                       .is = (const struct run_g_kind *)number};
}

static struct run_g *list_end(struct listing *l)
{
    size_t size = l->count * sizeof *l->gs, kinds = l->nkinds * sizeof *l->kinds;
    l->gs = x_grow(l->gs, size + kinds);
    struct run_g_kind *at = (struct run_g_kind *)(l->gs + l->count);
    if (l->nkinds > 0)
        memcpy(at, l->kinds, kinds);
    for (size_t i = 0; i < l->count; i++)
        l->gs[i].is = at + (uintptr_t)l->gs[i].is;
    map_release(&l->known);
    free(l->kinds);
    return l->gs;
}

/* Shell's sort: they are nearly in order, and qsort would take memory for a second million. */
static void sort_by_goid(struct run_g *g, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (size_t i = gap; i < count; i++) {
            struct run_g put = g[i];
            size_t at = i;
            for (; at >= gap && g[at - gap].goid > put.goid; at -= gap)
                g[at] = g[at - gap];
            g[at] = put;
        }
}

static bool is_listed(const struct g *gp, bool system)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    return status != Gidle && status != Gdead && status != Gdeadextra &&
           (system || !isSystemGoroutine(gp));
}

static struct run_g *see_gs(const struct runtime *w, const struct program *program, bool system,
                            size_t *count)
{
    const struct g *allgs = w->allgs;
    struct listing l = {0};
    size_t n = 0;
    for (const struct g *gp = allgs; gp != NULL; gp = gp->alllink)
        n += is_listed(gp, system);
    l.gs = x_alloc(n * sizeof *l.gs);
    for (const struct g *gp = allgs; gp != NULL; gp = gp->alllink) {
        if (is_listed(gp, system))
            list_g(&l, program, gp);
    }
    sort_by_goid(l.gs, l.count);
    *count = l.count;
    return list_end(&l);
}

const struct window WINDOW = {
    .where = see_where,
    .sched = see_sched,
    .p = see_p,
    .ring = see_ring,
    .timers = see_timers,
    .globrunq = see_globrunq,
    .m = see_m,
    .gs = see_gs,
    .name = name_of,
};
