/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with the virtual host's <host.h>, as the model is. */
#include "run/window.h"

#include <stdlib.h>
#include <string.h>

#include "model/api.h"
#include "model/runtime2.h"
#include "model/statusname.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"
#include "run/run.h"

static const char *const reasons[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
};

static uint64_t goid_of(const struct g *gp) { return gp != NULL ? gp->goid : 0; }

void look_sched(struct look_sched *s)
{
    const struct runtime *w = run_core()->runtime();
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

void look_p(int32_t id, struct look_p *out)
{
    const struct p *pp = run_core()->runtime()->allp[id];
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

size_t look_ring(int32_t id, uint64_t *out, size_t max)
{
    const struct p *pp = run_core()->runtime()->allp[id];
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

size_t look_timers(int32_t id, struct look_timer *out, size_t max)
{
    const struct timers *ts = &run_core()->runtime()->allp[id]->timers;
    struct look_timer *all = x_alloc(ts->n * sizeof *all);
    for (uint32_t i = 0; i < ts->n; i++) {
        const struct timer *t = ts->heap[i].timer;
        char name[LOOK_NAME_SIZE];
        look_name((uintptr_t)t->arg, name);
        all[i] = (struct look_timer){.when_ns = t->when, .period_ns = t->period, .chan = t->isChan};
        if (name[0] == 'g')
            all[i].g = strtoull(name + 1, NULL, 10);
    }
    qsort(all, ts->n, sizeof *all, by_when);
    for (size_t i = 0; i < ts->n && i < max; i++)
        out[i] = all[i];
    free(all);
    return ts->n;
}

size_t look_globrunq(uint64_t *out, size_t max)
{
    size_t n = 0;
    for (const struct g *gp = run_core()->runtime()->sched.runq.head; gp != NULL;
         gp = gp->schedlink)
        if (n++ < max)
            out[n - 1] = gp->goid;
    return n;
}

bool look_m(int64_t id, struct look_m *out)
{
    const struct runtime *w = run_core()->runtime();
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
    return gp->group >= 0 && (uint32_t)gp->group < p->ngroups && gp->goid != 1
               ? p->groups[gp->group]
               : func;
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
        .blocked = waits && !gp->has_ext_wake && gp->waitreason != waitReasonSleep,
    };
}

void look_where(const struct program *program, int32_t m, struct look_where *out)
{
    const struct runtime *w = run_core()->runtime();
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
    uint32_t rest = status << 16 | (uint32_t)gp->waitreason << 4 | (uint32_t)(gp->func < 0) << 3 |
                    (uint32_t)gp->has_ext_wake << 2 | (uint32_t)isSystemGoroutine(gp) << 1 |
                    (gp->goid == 1);
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

struct run_g *look_gs(const struct program *program, bool system, size_t *count)
{
    const struct g *allgs = run_core()->runtime()->allgs;
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
