/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with the virtual host's <host.h>, as the model is. */
#include "run/window.h"

#include <stdlib.h>

#include "model/api.h"
#include "model/runtime2.h"
#include "run/map.h"
#include "run/run.h"

static const char *const reasons[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
};

static const char *g_status(uint32_t status)
{
    switch (status & ~(uint32_t)Gscan) {
    case Gidle: return "idle";
    case Grunnable: return "runnable";
    case Grunning: return "running";
    case Gsyscall: return "syscall";
    case Gwaiting: return "waiting";
    case Gdead: return "dead";
    case Gcopystack: return "copystack";
    case Gpreempted: return "preempted";
    case Gleaked: return "leaked";
    case Gdeadextra: return "deadextra";
    default: return "?";
    }
}

static const char *p_status(uint32_t status)
{
    static const char *const names[] = {"idle", "running", "syscall", "gcstop", "dead"};
    return status < sizeof names / sizeof *names ? names[status] : "?";
}

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
        .status = p_status(a_peek(&pp->status)),
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
    struct look_timer *all = run_alloc(ts->n * sizeof *all);
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
    if (gp->system)
        return "runtime";
    return gp->group >= 0 && (uint32_t)gp->group < p->ngroups && gp->goid != 1
               ? p->groups[gp->group]
               : func;
}

static void fill(struct run_g *out, const struct program *p, const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool waits = status == Gwaiting, known = gp->func >= 0 && (uint32_t)gp->func < p->nfuncs;
    const char *func = gp->system || !known ? "" : p->funcs[gp->func].name;
    uint32_t pc = gp->pc != 0 ? gp->pc - 1 : 0; /* of the instruction in progress */
    *out = (struct run_g){
        .goid = gp->goid,
        .func = func,
        .group = group_name(p, gp, func),
        .status = g_status(status),
        .reason = waits ? reasons[gp->waitreason] : "",
        .since_ns = waits ? gp->waitsince : 0,
        .line = p->lines != NULL && !gp->system && pc < p->ncode ? p->lines[pc] : 0,
        .blocked = waits && !gp->has_ext_wake && gp->waitreason != waitReasonSleep,
    };
}

static int by_goid(const void *a, const void *b)
{
    const struct run_g *x = a, *y = b;
    return x->goid < y->goid ? -1 : x->goid > y->goid;
}

static bool is_alive(const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    return status != Gidle && status != Gdead && status != Gdeadextra;
}

struct run_g *look_gs(const struct program *program, bool system, size_t *count)
{
    const struct runtime *w = run_core()->runtime();
    struct run_g *out = NULL;
    size_t room = 0;
    *count = 0;
    for (const struct g *gp = w->allgs; gp != NULL; gp = gp->alllink) {
        if (!is_alive(gp) || (gp->system && !system))
            continue;
        if (*count == room) {
            room = room != 0 ? room * 2 : 64;
            out = run_grow(out, room * sizeof *out);
        }
        fill(&out[(*count)++], program, gp);
    }
    if (*count > 1)
        qsort(out, *count, sizeof *out, by_goid);
    return out;
}
