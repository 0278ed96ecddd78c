/* SPDX-License-Identifier: BSD-3-Clause */
/* Goroutines tied to their thread. A locked M runs its locked G and nothing else; scheduling that G
 * always costs one hand-over between threads, and the P travels with it. The locked M waits in
 * stoplockedm, on no list. */
#include "oslock.h"
#include "checkdead.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "note.h"
#include "preempt.h"
#include "runq.h"
#include "rwmutex.h"
#include "spin.h"
#include "step.h"

static void dolockOSThread(struct g *gp, struct m *mp)
{
    mp->lockedg = gp;
    a_store_rlx(&gp->lockedm, mp);
}

static void lock_external(struct g *gp)
{
    struct m *mp = getm();
    mp->lockedExt++;
    if (mp->lockedExt == 0)
        throw("LockOSThread nesting overflow");
    dolockOSThread(gp, mp);
    ev_g_lock_thread(rec_g(gp), true);
}

/* newm1 of the template thread, when who called it may have been preempted. */
static enum opres step_templateCloned(struct g *gp)
{
    m_clone(gp->opobj);
    exec_runlock();
    lock_external(gp);
    return OP_DONE;
}

/* The rest of LockOSThread, of who was not pinned. */
static enum opres step_lockOSThread(struct g *gp)
{
    if (rt->execLock != NULL && !prof->rwmutex_reader_pinned) {
        gp->opobj = allocm(NULL, MSTART_TEMPLATE, -1);
        exec_rlock();
        preemptible(gp, STEP_templateCloned);
        return OP_DONE;
    }
    newm(MSTART_TEMPLATE, NULL, -1);
    lock_external(gp);
    return OP_DONE;
}

/* proc.go LockOSThread. From now on this M may not clone itself. */
static void LockOSThread(struct g *gp)
{
    if (a_load(&rt->newmHandoff.haveTemplateThread) == 0 && !startTemplateThread())
        preemptible(gp, STEP_lockOSThread);
    else
        lock_external(gp);
}

/* proc.go lockOSThread: the runtime's own use. */
static void lockOSThread_internal(struct g *gp)
{
    struct m *mp = getm();
    mp->lockedInt++;
    dolockOSThread(gp, mp);
}

/* proc.go dounlockOSThread. Both counters must be zero. */
static void dounlockOSThread(struct g *gp, struct m *mp)
{
    if (mp->lockedInt != 0 || mp->lockedExt != 0)
        return;
    mp->lockedg = NULL;
    a_store_rlx(&gp->lockedm, (struct m *)NULL);
    ev_g_lock_thread(rec_g(gp), false);
}

/* proc.go UnlockOSThread. */
static void UnlockOSThread(struct g *gp)
{
    struct m *mp = getm();
    if (mp->lockedExt == 0)
        return;
    mp->lockedExt--;
    dounlockOSThread(gp, mp);
}

static void unlockOSThread_internal(struct g *gp)
{
    struct m *mp = getm();
    if (mp->lockedInt == 0)
        throw("runtime: internal error: misuse of lockOSThread/unlockOSThread");
    mp->lockedInt--;
    dounlockOSThread(gp, mp);
}

/* proc.go incidlelocked. */
static void incidlelocked(int32_t v)
{
    lock(&sched->lock);
    sched->nmidlelocked += v;
    if (v > 0)
        checkdead();
    unlock(&sched->lock);
}

/* proc.go stoplockedm: this M's G cannot run now; the P goes elsewhere. Returns with a P, for the
 * locked G. */
static COLD void stoplockedm(void)
{
    struct m *mp = getm();
    if (mp->lockedg == NULL || a_load_rlx(&mp->lockedg->lockedm) != mp)
        throw("stoplockedm: inconsistent locking");
    if (mp_p(mp) != NULL)
        handoffp(releasep());
    incidlelocked(1);
    mPark();
    if ((readgstatus(mp->lockedg) & ~(uint32_t)Gscan) != Grunnable)
        throw("stoplockedm: not runnable");
    take_nextp(mp);
    runq_own(mp->lockedg);
}

/* proc.go startlockedm: gives the P to the M that gp is locked to, and sleeps. gp is on no queue
 * meanwhile. */
static COLD void startlockedm(struct g *gp)
{
    struct m *mp = getm();
    struct m *lockedm = a_load_rlx(&gp->lockedm);
    if (lockedm == mp)
        throw("startlockedm: locked to me");
    if (lockedm->nextp != NULL)
        throw("startlockedm: m has p");
    mp->counters[C_locked_handoffs]++;
    incidlelocked(-1); /* may reach -1: stoplockedm's +1 comes later */
    lockedm->nextp = releasep();
    notewakeup(&lockedm->park);
    stopm();
}
