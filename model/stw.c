/* SPDX-License-Identifier: BSD-3-Clause */
/* Stopping the world, changing the number of Ps, and running something on every P.
 *
 * stopwait counts the Ps not stopped yet, under sched.lock. A running P stops itself in gcstopm at
 * its next look for work; idle ones and those in system calls are taken. The stopper keeps its own
 * P, marked Pgcstop, and keeps running. */
#include "stw.h"
#include "globrunq.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "netpoll.h"
#include "newproc.h"
#include "note.h"
#include "park.h"
#include "pidle.h"
#include "preempt.h"
#include "runq.h"
#include "spin.h"
#include "steal.h"
#include "syscall.h"

static void stopwait_dec(void)
{
    sched->stopwait--;
    if (sched->stopwait == 0)
        notewakeup(&sched->stopnote);
}

/* A P that nobody holds stops. sched.lock is held. */
static void gcstop_p(struct p *pp)
{
    a_store_rlx(&pp->status, Pgcstop);
    stopwait_dec();
}

/* proc.go gcstopm: this P stops for the world. A spinner gives up without a re-check:
 * start-the-world wakes somebody. */
static COLD void gcstopm(void)
{
    struct m *mp = getm();
    if (a_load(&sched->gcwaiting) == 0)
        throw("gcstopm: not waiting for gc");
    if (mp->spinning) {
        mp->spinning = false;
        nmspinning_dec();
        spun(mp, /*found*/ false);
    }
    struct p *pp = releasep();
    lock(&sched->lock);
    gcstop_p(pp);
    unlock(&sched->lock);
    stopm();
}

/* Ps in system calls. sched.lock is held. */
static void stop_syscalling(void)
{
    for (int32_t i = 0; i < rt->allp_len; i++) {
        struct p *pp = rt->allp[i];
        if (prof->sys_block_on_exit) {
            struct syscallingThread t;
            if (setBlockOnExitSyscall(pp, &t)) {
                syscalling_gcstopP(&t);
                syscalling_resume(&t);
            }
        } else if (a_load_rlx(&pp->status) == Psyscall && a_cas(&pp->status, Psyscall, Pgcstop)) {
            ev_p_retake(rec_g(NULL), rec_p(pp), EV_retake_stop);
            tick(&pp->syscalltick);
            sched->stopwait--;
        }
    }
}

static void stop_idle(void)
{
    int64_t now = idle_clock(0);
    for (struct p *pp = pidleget(now); pp != NULL; pp = pidleget(now)) {
        a_store_rlx(&pp->status, Pgcstop);
        sched->stopwait--;
    }
}

static void verify_stopped(void)
{
    if (sched->stopwait != 0)
        throw("stopTheWorld: not stopped (stopwait != 0)");
    for (int32_t i = 0; i < rt->allp_len; i++)
        if (a_load_rlx(&rt->allp[i]->status) != Pgcstop)
            throw("stopTheWorld: not stopped (status != Pgcstop)");
}

/* proc.go stopTheWorldWithSema. The caller holds worldsema, runs on g0, and holds no locks.
 * pseudo_wait: curg calls itself waiting, so that somebody who wants to scan it is not blocked by
 * us; <=1.24 the callers decided, since 1.25 it is always so. */
static void stopTheWorldWithSema(enum ev_stw reason, bool pseudo_wait)
{
    struct m *mp = getm();
    struct g *gp = a_own(&mp->curg);
    if (prof->stw_pseudo_wait_inside || pseudo_wait)
        casGToWaiting(gp, Grunning, waitReasonStoppingTheWorld);
    if (mp->locks > 0)
        throw("stopTheWorld: holding locks");
    int64_t start = record_now();
    ev_stw_begin(rec_g(gp), reason);
    mp->counters[C_stws]++;
    lock(&sched->lock);
    sched->stopwait = a_load_rlx(&rt->gomaxprocs);
    a_store(&sched->gcwaiting, 1);
    preemptall();
    a_store_rlx(&mp_p(mp)->status, Pgcstop);
    sched->stopwait--;
    stop_syscalling();
    stop_idle();
    bool wait = sched->stopwait > 0;
    unlock(&sched->lock);
    while (wait) {
        if (notetsleep(&sched->stopnote, prof->stw_repreempt_ns)) {
            noteclear(&sched->stopnote);
            break;
        }
        preemptall();
    }
    verify_stopped();
    ev_stw_stopped(rec_g(gp), (uint64_t)(record_now() - start), reason);
    if (prof->stw_pseudo_wait_inside || pseudo_wait)
        casgstatus(gp, Gwaiting, Grunning);
}

/* proc.go stopTheWorld. The caller holds worldsema and is not preemptible before its release. */
static void stopTheWorld(enum ev_stw reason, const char *why)
{
    getm()->preemptoff = why;
    stopTheWorldWithSema(reason, /*pseudo_wait*/ true);
}

/* proc.go startTheWorldWithSema. */
static void startTheWorldWithSema(enum ev_stw reason)
{
    struct m *mp = acquirem();
    if (netpollinited()) {
        struct gList list = {0};
        int32_t delta = netpoll(0, &list);
        injectglist(&list);
        netpollAdjustWaiters(delta);
    }
    lock(&sched->lock);
    int32_t procs = rt->newprocs != 0 ? rt->newprocs : a_load_rlx(&rt->gomaxprocs);
    rt->newprocs = 0;
    struct p *p1 = procresize(procs);
    a_store(&sched->gcwaiting, 0);
    wake_sysmon_locked();
    unlock(&sched->lock);
    while (p1 != NULL) {
        struct p *pp = p1;
        p1 = pp->link;
        pp->link = NULL;
        struct m *nmp = a_load_rlx(&pp->m);
        if (nmp == NULL) {
            newm(MSTART_LOOP, pp, -1);
            continue;
        }
        a_store_rlx(&pp->m, (struct m *)NULL);
        if (nmp->nextp != NULL)
            throw("startTheWorld: inconsistent mp->nextp");
        nmp->nextp = pp;
        notewakeup(&nmp->park);
    }
    ev_stw_end(reason);
    wakep(); /* there may be more work than the Ps that had some */
    releasem(mp);
}

/* ---- procresize ---- */

/* proc.go p.init. */
static void p_init(struct p *pp, int32_t id)
{
    pp->id = id;
    a_store_rlx(&pp->status, Pgcstop);
    gc_p_init(pp);
    if (prof->masks) {
        pMask_set(rt->timerpMask, id);
        pMask_clear(rt->idlepMask, id);
    }
}

static struct p *p_new(void)
{
    uint32_t len = (uint32_t)prof->ring_len;
    struct p *pp = host_alloc(sizeof *pp, 64);
    pp->runq = host_alloc(len * sizeof *pp->runq, 64);
    pp->ringmask = len - 1;
    timers_init(&pp->timers);
    return pp;
}

/* proc.go p.destroy. The ring goes to the global queue's head from its tail, so that its order
 * stays; runnext in front. */
static void p_destroy(struct p *pp)
{
    uint32_t h = a_load_rlx(&pp->runqhead);
    uint32_t t = a_load_rlx(&pp->runqtail);
    while (t != h) {
        t--;
        globrunqputhead(a_load_rlx(runq_slot(pp, t)));
        a_store_rlx(&pp->runqtail, t);
    }
    struct g *next = a_load_rlx(&pp->runnext);
    if (next != NULL) {
        globrunqputhead(next);
        a_store_rlx(&pp->runnext, (struct g *)NULL);
    }
    moveTimers(&mp_p(getm())->timers, &pp->timers);
    gc_p_destroy(pp);
    pp->sudogcache = NULL; /* dropped, not given back: the collector's */
    pp->nsudog = 0;
    gfpurge(pp);
    a_store_rlx(&pp->status, Pdead);
}

/* allp, masks and steal order have room for the largest P count a world may have. */
static void allp_grow(int32_t old, int32_t nprocs)
{
    if (nprocs > rt->allp_cap)
        throw("procresize: too many Ps");
    /* Go publishes the longer slice first, and retake skips what is nil there. */
    for (int32_t i = old; i < nprocs; i++)
        if (rt->allp[i] == NULL)
            rt->allp[i] = p_new();
    if (nprocs > rt->allp_len) {
        lock(&rt->allpLock);
        rt->allp_len = nprocs;
        unlock(&rt->allpLock);
    }
    for (int32_t i = old; i < nprocs; i++)
        p_init(rt->allp[i], i);
}

/* The stopper needs a P that stays. */
static void keep_a_p(int32_t nprocs)
{
    struct m *mp = getm();
    struct p *pp = mp_p(mp);
    if (pp != NULL && pp->id < nprocs) {
        a_store_rlx(&pp->status, Prunning);
        return;
    }
    if (pp != NULL) {
        ev_p_stop();
        a_store_rlx(&pp->m, (struct m *)NULL);
        a_store_rlx(&mp->p, (struct p *)NULL);
    }
    struct p *p0 = rt->allp[0];
    a_store_rlx(&p0->m, (struct m *)NULL);
    a_store_rlx(&p0->status, Pidle);
    acquirep(p0);
}

static void push_runnable(struct p **list, struct p *pp, struct m *nmp)
{
    a_store_rlx(&pp->m, nmp);
    pp->link = *list;
    *list = pp;
}

static struct p *pop_p(struct p **list)
{
    struct p *pp = *list;
    *list = pp->link;
    return pp;
}

/* Puts the idle Ps, a list in ascending order, on the idle stack: since 1.26 in that order, so that
 * the highest id is on top; before in the other, with the lowest on top. */
static void resize_put_idle(struct p *idle, int64_t now)
{
    if (!prof->pidle_reversed) {
        struct p *down = NULL;
        while (idle != NULL) {
            struct p *pp = pop_p(&idle);
            pp->link = down;
            down = pp;
        }
        idle = down;
    }
    while (idle != NULL)
        (void)pidleput(pop_p(&idle), now);
}

/* Ps with work get an M: since 1.26 their last one if it is idle, and who finds it taken comes
 * second. Then GC workers are placed on idle Ps (1.26+). */
static struct p *resize_hand_out(int32_t nprocs, int64_t now)
{
    struct p *runnable = NULL, *need_m = NULL, *idle = NULL, *self = mp_p(getm());
    for (int32_t i = nprocs - 1; i >= 0; i--) {
        struct p *pp = rt->allp[i];
        if (pp == self)
            continue;
        a_store_rlx(&pp->status, Pidle);
        bool empty = runqempty(pp);
        if (!empty && !prof->m_affinity) {
            push_runnable(&runnable, pp, mget());
            continue;
        }
        struct m *oldm = !empty && pp->oldm != NULL ? mgetSpecific(pp->oldm) : NULL;
        if (oldm != NULL) {
            push_runnable(&runnable, pp, oldm);
            continue;
        }
        struct p **list = empty ? &idle : &need_m;
        pp->link = *list;
        *list = pp;
    }
    while (need_m != NULL)
        push_runnable(&runnable, pop_p(&need_m), mget());
    bool assign = prof->gcworker_preassign && gc_blacken();
    while (assign && idle != NULL && gc_assignWaitingWorker(idle, now))
        push_runnable(&runnable, pop_p(&idle), mget());
    resize_put_idle(idle, now);
    return runnable;
}

/* proc.go procresize. World stopped, sched.lock held. Returns the Ps that have work, each with an M
 * in p.m or none. */
static struct p *procresize(int32_t nprocs)
{
    int32_t old = a_load_rlx(&rt->gomaxprocs);
    if (old < 0 || nprocs <= 0)
        throw("procresize: invalid arg");
    int64_t now = nanotime();
    ev_p_resize((uint32_t)old, (uint16_t)nprocs);
    allp_grow(old, nprocs);
    keep_a_p(nprocs);
    for (int32_t i = nprocs; i < old; i++)
        p_destroy(rt->allp[i]);
    if (rt->allp_len != nprocs) {
        lock(&rt->allpLock);
        rt->allp_len = nprocs;
        unlock(&rt->allpLock);
    }
    struct p *runnable = resize_hand_out(nprocs, now);
    randomOrder_reset(&rt->stealOrder, (uint32_t)nprocs);
    a_store(&rt->gomaxprocs, nprocs);
    return runnable;
}

/* ---- something on every P ---- */

/* sched.lock is held. */
static void safepoint_done(struct p *pp)
{
    sched->safePointFn(pp);
    sched->safePointWait--;
    if (sched->safePointWait == 0)
        notewakeup(&sched->safePointNote);
}

/* proc.go runSafePointFn: runs forEachP's function for this P, unless somebody else already did. */
static COLD void runSafePointFn(void)
{
    struct p *pp = mp_p(getm());
    if (!a_cas(&pp->runSafePointFn, 1, 0))
        return;
    sched->safePointFn(pp);
    lock(&sched->lock);
    sched->safePointWait--;
    if (sched->safePointWait == 0)
        notewakeup(&sched->safePointNote);
    unlock(&sched->lock);
}

/* Takes the P of a G in a system call and finds a use for it, so that it passes a safe point. */
static void safepoint_syscalling(struct p *pp)
{
    if (prof->sys_block_on_exit) {
        struct syscallingThread t;
        if (!setBlockOnExitSyscall(pp, &t))
            return;
        syscalling_takeP(&t, EV_retake_stop);
        syscalling_resume(&t);
        handoffp(pp);
    } else if (a_load_rlx(&pp->status) == Psyscall && a_cas(&pp->status, Psyscall, Pidle)) {
        ev_p_retake(rec_g(NULL), rec_p(pp), EV_retake_stop);
        tick(&pp->syscalltick);
        handoffp(pp);
    }
}

/* proc.go forEachP: fn runs on every P at its next safe point; returns when all have. Caller: on
 * g0, worldsema held. */
static void forEachP(void (*fn)(struct p *))
{
    struct m *mp = acquirem();
    struct p *self = mp_p(mp);
    lock(&sched->lock);
    if (sched->safePointWait != 0)
        throw("forEachP: sched.safePointWait != 0");
    sched->safePointWait = a_load_rlx(&rt->gomaxprocs) - 1;
    sched->safePointFn = fn;
    for (int32_t i = 0; i < rt->allp_len; i++)
        if (rt->allp[i] != self)
            a_store(&rt->allp[i]->runSafePointFn, 1);
    preemptall();
    for (struct p *pp = a_load_rlx(&sched->pidle); pp != NULL; pp = pp->link) {
        if (a_cas(&pp->runSafePointFn, 1, 0)) {
            fn(pp);
            sched->safePointWait--;
        }
    }
    bool wait = sched->safePointWait > 0;
    unlock(&sched->lock);
    fn(self);
    for (int32_t i = 0; i < rt->allp_len; i++)
        if (a_load(&rt->allp[i]->runSafePointFn) == 1)
            safepoint_syscalling(rt->allp[i]);
    while (wait) {
        if (notetsleep(&sched->safePointNote, prof->stw_repreempt_ns)) {
            noteclear(&sched->safePointNote);
            break;
        }
        preemptall();
    }
    if (sched->safePointWait != 0)
        throw("forEachP: not done");
    lock(&sched->lock);
    sched->safePointFn = NULL;
    unlock(&sched->lock);
    releasem(mp);
}
