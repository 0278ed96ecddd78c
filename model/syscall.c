/* SPDX-License-Identifier: BSD-3-Clause */
/* Entering and leaving system calls, two designs.
 *
 * <=1.25  The P becomes Psyscall and is let go of: whoever CASes that status away owns it (the
 *         returning M, sysmon, a stop of the world). p.m and m.p are cleared; the M remembers the
 *         P in oldp. That others may have had the P in between is accepted.
 * >=1.26  The P stays running and wired. Taking it away needs the scan bit of the G in the call:
 *         with it the taker clears the pointers, and the G, which must CAS its status to running
 *         before it goes on, waits until the bit is gone.
 *
 * In both designs the way through takes no lock when nobody wants the P. */
#include "syscall.h"
#include "globrunq.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "note.h"
#include "oslock.h"
#include "park.h"
#include "pidle.h"
#include "proc.h"
#include "spin.h"
#include "step.h"
#include "stw.h"
#include "trace.h"

static void addGSyscallNoP(struct m *mp)
{
    if (!mp->isExtraInC)
        a_add(&sched->nGsyscallNoP, 1);
}
static void decGSyscallNoP(struct m *mp)
{
    if (!mp->isExtraInC)
        a_add(&sched->nGsyscallNoP, -1);
}

static void wake_sysmon_locked(void)
{
    if (a_load(&sched->sysmonwait)) {
        a_store(&sched->sysmonwait, false);
        notewakeup(&sched->sysmonnote);
    }
}

static void entersyscall_sysmon(void)
{
    if (!a_load(&sched->sysmonwait))
        return;
    lock(&sched->lock);
    wake_sysmon_locked();
    unlock(&sched->lock);
}

/* ---- >=1.26: taking the P of a G in a system call ---- */

/* proc.go setBlockOnExitSyscall. True: t.gp cannot leave its system call until syscalling_resume.
 */
static bool setBlockOnExitSyscall(struct p *pp, struct syscallingThread *t)
{
    if (a_load_rlx(&pp->status) != Prunning)
        return false;
    struct m *mp = a_load_rlx(&pp->m);
    struct g *gp = mp != NULL ? a_load_rlx(&mp->curg) : NULL;
    if (gp == NULL)
        return false;
    uint32_t status = readgstatus(gp) & ~(uint32_t)Gscan;
    if ((status != Gsyscall && status != Gdeadextra) ||
        !castogscanstatus(gp, status, status | Gscan))
        return false;
    /* The G may be another one's by now, or its M may have lost the P. */
    if (a_load_rlx(&gp->m) != mp || a_load_rlx(&mp->p) != pp) {
        casfrom_Gscanstatus(gp, status | Gscan, status);
        return false;
    }
    *t = (struct syscallingThread){gp, mp, pp, status};
    return true;
}

static void syscalling_resume(const struct syscallingThread *t)
{
    casfrom_Gscanstatus(t->gp, t->status | Gscan, t->status);
}

static void syscalling_releaseP(const struct syscallingThread *t, enum pstatus state)
{
    a_store_rlx(&t->pp->m, (struct m *)NULL);
    a_store_rlx(&t->mp->p, (struct p *)NULL);
    a_store(&t->pp->status, (uint32_t)state);
    addGSyscallNoP(t->mp);
    tick(&t->pp->syscalltick);
}

static void syscalling_takeP(const struct syscallingThread *t, enum ev_retake why)
{
    syscalling_releaseP(t, Pidle);
    ev_p_retake(rec_g(t->gp), rec_p(t->pp), why);
}

/* sched.lock is held. */
static void syscalling_gcstopP(const struct syscallingThread *t)
{
    syscalling_releaseP(t, Pgcstop);
    ev_p_retake(rec_g(t->gp), rec_p(t->pp), EV_retake_stop);
    sched->stopwait--;
}

/* ---- entering ---- */

static void entersyscall_gcwait_old(struct p *pp)
{
    lock(&sched->lock);
    if (sched->stopwait > 0 && a_cas(&pp->status, Psyscall, Pgcstop)) {
        ev_p_retake(rec_curg(getm()), rec_p(pp), EV_retake_stop);
        tick(&pp->syscalltick);
        stopwait_dec();
    }
    unlock(&sched->lock);
}

static void entersyscall_gcwait_new(struct m *mp, struct p *pp)
{
    lock(&sched->lock);
    if (sched->stopwait > 0) {
        a_store_rlx(&pp->m, (struct m *)NULL);
        a_store_rlx(&mp->p, (struct p *)NULL);
        a_store(&pp->status, Pgcstop);
        ev_p_retake(rec_curg(mp), rec_p(pp), EV_retake_stop);
        addGSyscallNoP(mp);
        tick(&pp->syscalltick);
        stopwait_dec();
    }
    unlock(&sched->lock);
}

static void entersyscall_old(struct g *gp, struct m *mp, struct p *pp)
{
    casgstatus(gp, Grunning, Gsyscall);
    entersyscall_sysmon();
    if (a_load_rlx(&pp->runSafePointFn) != 0)
        runSafePointFn();
    mp->syscalltick = a_load_rlx(&pp->syscalltick);
    a_store_rlx(&pp->m, (struct m *)NULL);
    mp->oldp = pp;
    a_store_rlx(&mp->p, (struct p *)NULL);
    host_set_p(-1);
    a_store(&pp->status, Psyscall); /* from here on anybody may take it */
    if (a_load(&sched->gcwaiting) != 0)
        entersyscall_gcwait_old(pp);
}

static void entersyscall_new(struct g *gp, struct m *mp, struct p *pp)
{
    mp->syscalltick = a_load_rlx(&pp->syscalltick);
    if (a_load_rlx(&pp->runSafePointFn) != 0)
        runSafePointFn();
    mp->oldp = pp;
    if (a_load(&sched->gcwaiting) != 0)
        entersyscall_gcwait_new(mp, pp);
    if (!a_cas(&gp->atomicstatus, Grunning, Gsyscall))
        casgstatus(gp, Grunning, Gsyscall);
    entersyscall_sysmon(); /* the P must not be touched any more */
}

/* proc.go reentersyscall. */
static void entersyscall(struct g *gp)
{
    struct m *mp = getm();
    struct p *pp = mp_p(mp);
    mp->locks++;
    mp->counters[C_syscalls]++;
    mp->since = record_now();
    ev_g_syscall_enter(rec_g(gp), /*blocking*/ false);
    if (a_peek(&rt->trace.on))
        trace_events(mp, 2);                      /* and the end of the call */
    a_store_rlx(&gp->stackguard0, GUARD_PREEMPT); /* Go traps every stack check in here */
    if (prof->sys_block_on_exit)
        entersyscall_new(gp, mp, pp);
    else
        entersyscall_old(gp, mp, pp);
    mp->locks--;
}

/* proc.go entersyscallblock: known to block, the P is handed off at once. 1.26 reversed hand-off
 * and status. */
static void entersyscallblock(struct g *gp)
{
    struct m *mp = getm();
    struct p *pp = mp_p(mp);
    mp->locks++;
    mp->counters[C_syscalls]++;
    mp->since = record_now();
    ev_g_syscall_enter(rec_g(gp), /*blocking*/ true);
    a_store_rlx(&gp->stackguard0, GUARD_PREEMPT);
    mp->syscalltick = a_load_rlx(&pp->syscalltick);
    tick(&pp->syscalltick);
    if (prof->sys_block_on_exit) {
        addGSyscallNoP(mp);
        handoffp(releasep());
        casgstatus(gp, Grunning, Gsyscall);
    } else {
        casgstatus(gp, Grunning, Gsyscall);
        handoffp(releasep());
    }
    mp->locks--;
}

/* ---- leaving ---- */

static struct p *exitsyscall_pidle(void)
{
    if (a_load_rlx(&sched->pidle) == NULL)
        return NULL;
    lock(&sched->lock);
    struct p *pp = pidleget(0);
    if (pp != NULL)
        wake_sysmon_locked();
    unlock(&sched->lock);
    return pp;
}

/* proc.go exitsyscallfast (<=1.25). */
static bool exitsyscallfast(struct m *mp, struct p *oldp)
{
    if (oldp != NULL && a_load_rlx(&oldp->status) == Psyscall &&
        a_cas(&oldp->status, Psyscall, Pidle)) {
        wirep(oldp);
        if (mp->syscalltick != a_load_rlx(&oldp->syscalltick))
            tick(&oldp->syscalltick); /* others used the P meanwhile */
        return true;
    }
    struct p *pp = exitsyscall_pidle();
    if (pp == NULL)
        return false;
    acquirep(pp);
    return true;
}

/* proc.go exitsyscallTryGetP (>=1.26). oldp may sit under another M's system call by now. */
static struct p *exitsyscallTryGetP(struct m *mp, struct p *oldp)
{
    struct syscallingThread t;
    if (oldp != NULL && setBlockOnExitSyscall(oldp, &t)) {
        syscalling_takeP(&t, EV_retake_exit);
        decGSyscallNoP(mp);
        syscalling_resume(&t);
        return oldp;
    }
    struct p *pp = exitsyscall_pidle();
    if (pp != NULL)
        decGSyscallNoP(mp);
    return pp;
}

static void syscall_left(const struct g *gp, struct m *mp, enum ev_place place)
{
    int64_t began = mp->since;
    mp->since = record_now();
    ev_g_syscall_exit(rec_g(gp), (uint64_t)(mp->since - began), place);
}

/* proc.go exitsyscall0 (<=1.25), exitsyscallNoP (>=1.26). */
static void exitsyscallNoP(struct g *gp)
{
    struct m *mp = getm();
    mp->counters[C_syscall_slow]++;
    casgstatus(gp, prof->sys_block_on_exit ? Grunning : Gsyscall, Grunnable);
    made_runnable(gp);
    if (prof->sys_block_on_exit)
        decGSyscallNoP(mp);
    dropg(mp);
    lock(&sched->lock);
    struct p *pp = schedEnabled(gp) ? pidleget(0) : NULL;
    syscall_left(gp, mp, pp != NULL ? EV_place_kept : EV_place_global);
    bool locked = false;
    if (pp == NULL) {
        globrunqput(gp); /* no wakep: the look at pidle was under this lock */
        locked = a_load_rlx(&gp->lockedm) != NULL; /* gp may run elsewhere once the lock is free */
    } else {
        wake_sysmon_locked();
    }
    unlock(&sched->lock);
    if (pp != NULL) {
        acquirep(pp);
        execute(gp, /*inheritTime*/ false);
        return;
    }
    if (locked) {
        stoplockedm();
        execute(gp, /*inheritTime*/ false);
        return;
    }
    stopm();
    schedule();
}

static enum opres step_syscallExit(struct g *gp)
{
    (void)gp;
    tick(&mp_p(getm())->syscalltick);
    return OP_DONE;
}

/* The tick is how sysmon tells one system call of a P from the next. Up to 1.25 it goes up before
 * the G is running again. */
static void exitsyscall_tick(struct m *mp) { tick(&mp_p(mp)->syscalltick); }

static enum opres exitsyscall_done(struct g *gp, struct m *mp)
{
    syscall_left(gp, mp, EV_place_none);
    mp->locks--;
    bool wanted = a_load_rlx(&gp->preempt);
    a_store_rlx(&gp->stackguard0, wanted ? GUARD_PREEMPT : GUARD_NORMAL);
    return schedEnabled(gp) ? OP_DONE : gosched(gp);
}

/* proc.go exitsyscall. */
static enum opres exitsyscall(struct g *gp)
{
    struct m *mp = getm();
    mp->locks++;
    gp->waitsince = 0;
    struct p *oldp = mp->oldp, *pp;
    if (prof->sys_block_on_exit) {
        if (!a_cas(&gp->atomicstatus, Gsyscall, Grunning))
            casgstatus(gp, Gsyscall,
                       Grunning); /* somebody is taking the P: waits until it is done */
        mp->oldp = NULL;
        pp = a_load_rlx(&mp->p);
        if (pp == NULL) {
            host_set_p(-1);
            pp = exitsyscallTryGetP(mp, oldp);
            if (pp != NULL)
                acquirep(pp);
        }
        if (pp != NULL) {
            exitsyscall_tick(mp);
            return exitsyscall_done(gp, mp);
        }
    } else {
        mp->oldp = NULL;
        if (exitsyscallfast(mp, oldp)) {
            exitsyscall_tick(mp);
            casgstatus(gp, Gsyscall, Grunning);
            return exitsyscall_done(gp, mp);
        }
    }
    mp->locks--;
    push_step(gp, STEP_syscallExit);
    return mcall(exitsyscallNoP);
}
