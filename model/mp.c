/* SPDX-License-Identifier: BSD-3-Clause */
/* Ms: creation, the idle list, parking, waking, and the end of a thread.
 *
 *   new thread: newm -> allocm -> newosproc -> mstart          idle: stopm -> midle -> mPark
 *   woken:      startm / startlockedm / startTheWorld set nextp, then wake the note
 *   end:        mexit, only for an M whose locked G exits
 * midle is a LIFO under sched.lock: the M that slept last is woken first. */
#include "mp.h"
#include "api.h"
#include "checkdead.h"
#include "interp.h"
#include "lock.h"
#include "note.h"
#include "park.h"
#include "pidle.h"
#include "proc.h"
#include "runq.h"
#include "rwmutex.h"
#include "spin.h"
#include "sysmon.h"

static int64_t mcount(void) { return sched->mnext - sched->nmfreed; }

/* proc.go checkmcount. */
static void checkmcount(void)
{
    int64_t count = mcount();
    if (prof->extra_m_uncounted)
        count -= (int64_t)a_load(&rt->extraM.inuse) + (int64_t)a_load(&rt->extraM.length);
    if (count > prof->maxmcount)
        finding(FIND_THREADS, "thread exhaustion");
}

/* proc.go mReserveID. sched.lock is held. From here on the M counts as running for checkdead. */
static int64_t mReserveID(void)
{
    int64_t id = sched->mnext++;
    if (id >= rt->ms_cap)
        finding(FIND_LIMIT, "more threads in one run than the simulation has room for");
    checkmcount();
    return id;
}

/* The M's own P. */
static struct p *mp_p(struct m *mp) { return a_own(&mp->p); }

/* schedtick, syscalltick: plain increments; sysmon only compares. */
static void tick(maskword *t)
{
    uint32_t v = a_load_rlx(t);
    a_store_rlx(t, v + 1);
}

/* ---- the idle list ---- */

static void midle_push(struct m *mp)
{
    mp->idle_prev = NULL;
    mp->idle_next = sched->midle;
    if (sched->midle != NULL)
        sched->midle->idle_prev = mp;
    sched->midle = mp;
    mp->onmidle = true;
}

static void midle_remove(struct m *mp)
{
    if (mp->idle_prev != NULL)
        mp->idle_prev->idle_next = mp->idle_next;
    else
        sched->midle = mp->idle_next;
    if (mp->idle_next != NULL)
        mp->idle_next->idle_prev = mp->idle_prev;
    mp->idle_prev = mp->idle_next = NULL;
    mp->onmidle = false;
}

/* proc.go mput. */
static void mput(struct m *mp)
{
    midle_push(mp);
    sched->nmidle++;
    checkdead();
}

/* proc.go mget. */
static struct m *mget(void)
{
    struct m *mp = sched->midle;
    if (mp != NULL) {
        midle_remove(mp);
        sched->nmidle--;
    }
    return mp;
}

/* proc.go mgetSpecific (1.26+). The only M on the list has no neighbours and is taken for absent,
 * as in Go. */
static struct m *mgetSpecific(struct m *mp)
{
    if (mp->idle_prev == NULL && mp->idle_next == NULL)
        return NULL;
    midle_remove(mp);
    sched->nmidle--;
    return mp;
}

/* ---- P and M together ---- */

/* proc.go wirep. Three plain stores; an observer may see any prefix. */
static void wirep(struct p *pp)
{
    struct m *mp = getm();
    if (a_own(&mp->p) != NULL)
        throw("wirep: already in go");
    if (a_load_rlx(&pp->m) != NULL || a_load_rlx(&pp->status) != Pidle)
        throw("wirep: invalid p state");
    a_store_rlx(&mp->p, pp);
    a_store_rlx(&pp->m, mp);
    a_store_rlx(&pp->status, Prunning);
    host_set_p(pp->id);
}

/* proc.go acquirep. */
static void acquirep(struct p *pp)
{
    wirep(pp);
    if (prof->m_affinity)
        pp->oldm = getm();
    ev_p_start(getm()->spinning);
}

/* proc.go releasep. */
static struct p *releasep(void)
{
    struct m *mp = getm();
    struct p *pp = a_own(&mp->p);
    if (pp == NULL)
        throw("releasep: invalid arg");
    if (a_load_rlx(&pp->m) != mp || a_load_rlx(&pp->status) != Prunning)
        throw("releasep: invalid p state");
    if (prof->gcworker_preassign)
        gc_releaseNextWorker(pp);
    ev_p_stop();
    a_store_rlx(&mp->p, (struct p *)NULL);
    a_store_rlx(&pp->m, (struct m *)NULL);
    a_store_rlx(&pp->status, Pidle);
    host_set_p(-1);
    return pp;
}

/* ---- sleeping and waking ---- */

/* proc.go mPark. */
static void mPark(void)
{
    struct m *mp = getm();
    mp->counters[C_mparks]++;
    int64_t start = record_now();
    ev_m_park();
    notesleep(&mp->park);
    noteclear(&mp->park);
    mp->since = record_now();
    ev_m_wake((uint64_t)(mp->since - start), mp->spinning);
}

static void take_nextp(struct m *mp)
{
    struct p *pp = mp->nextp;
    acquirep(pp);
    mp->nextp = NULL;
}

/* proc.go stopm. */
static void stopm(void)
{
    struct m *mp = getm();
    if (mp->locks != 0)
        throw("stopm holding locks");
    if (a_own(&mp->p) != NULL)
        throw("stopm holding p");
    if (mp->spinning)
        throw("stopm spinning");
    lock(&sched->lock);
    mput(mp);
    unlock(&sched->lock);
    mPark();
    take_nextp(mp);
}

/* proc.go startm. Runs pp (or, not spinning, any idle P) on an M, idle or new. The P must not be on
 * any list. */
static void startm(struct p *pp, bool spinning, bool lockheld)
{
    struct m *mp = acquirem();
    if (!lockheld)
        lock(&sched->lock);
    if (pp == NULL) {
        if (spinning && prof->wakep_locked)
            throw("startm: P required for spinning=true");
        pp = pidleget(0);
        if (pp == NULL) {
            if (!lockheld)
                unlock(&sched->lock);
            if (spinning && a_add(&sched->nmspinning, -1) < 0)
                throw("startm: negative nmspinning");
            releasem(mp);
            return;
        }
    }
    struct m *nmp = mget();
    if (nmp == NULL) {
        int64_t id = prof->new_m_counted ? mReserveID() : -1;
        unlock(&sched->lock);
        newm(spinning ? MSTART_SPINNING : MSTART_LOOP, pp, id);
        if (lockheld)
            lock(&sched->lock);
        releasem(mp);
        return;
    }
    if (!lockheld)
        unlock(&sched->lock);
    if (nmp->spinning)
        throw("startm: m is spinning");
    if (nmp->nextp != NULL)
        throw("startm: m has p");
    if (spinning && !runqempty(pp))
        throw("startm: p has runnable gs");
    nmp->spinning = spinning;
    nmp->nextp = pp;
    notewakeup(&nmp->park);
    releasem(mp);
}

/* ---- threads ---- */

static void m_init(struct m *mp, int64_t id, enum mstart_kind kind)
{
    mp->id = (int32_t)id;
    mp->mstartkind = (uint8_t)kind;
    mp->rng = host_seed64();
    if (mp->rng == 0)
        mp->rng = 1;
    rt->ms[id] = mp;
}

/* proc.go mcommoninit: publishes the M on allm. */
static void mcommoninit(struct m *mp, int64_t id, enum mstart_kind kind)
{
    lock(&sched->lock);
    if (id < 0)
        id = mReserveID();
    m_init(mp, id, kind);
    mp->alllink = rt->allm;
    rt->allm = mp;
    unlock(&sched->lock);
}

/* allocm's reaping: forgets exited Ms whose stacks nobody uses any more. */
static void reap_freem(void)
{
    if (sched->freem == NULL)
        return;
    lock(&sched->lock);
    struct m **at = &sched->freem;
    while (*at != NULL) {
        if (a_load(&(*at)->freeWait) == FREEM_WAIT)
            at = &(*at)->freelink;
        else
            *at = (*at)->freelink;
    }
    unlock(&sched->lock);
}

/* proc.go allocm. A P-less M borrows pp, because allocation needs one. */
static struct m *allocm(struct p *pp, enum mstart_kind kind, int64_t id)
{
    struct m *mp = acquirem();
    if (a_own(&mp->p) == NULL && pp != NULL)
        acquirep(pp);
    reap_freem();
    work(allocm);
    new_g(mp_p(mp));
    new_g(mp_p(mp));
    struct m *nmp = host_alloc(sizeof *nmp, 64);
    mcommoninit(nmp, id, kind);
    if (pp != NULL && a_own(&mp->p) == pp)
        (void)releasep();
    releasem(mp);
    return nmp;
}

static void mstart_thread(void *arg)
{
    host_enter();
    mstart(arg);
}

static void m_clone(struct m *mp)
{
    getm()->counters[C_threads]++;
    ev_m_create((enum ev_thread)mp->mstartkind, rec_m(mp));
    newosproc(&mp->host, mstart_thread, mp);
}

/* proc.go newm1. */
static void newm1(struct m *mp)
{
    exec_rlock();
    m_clone(mp);
    exec_runlock();
}

/* proc.go newm. An M locked by the user, or inside C, must not clone itself: the template thread
 * does. */
static void newm(enum mstart_kind kind, struct p *pp, int64_t id)
{
    struct m *mp = acquirem();
    struct m *nmp = allocm(pp, kind, id);
    nmp->nextp = pp;
    if (mp->lockedExt == 0 && !mp->incgo) {
        newm1(nmp);
        releasem(mp);
        return;
    }
    lock(&rt->newmHandoff.lock);
    if (a_load_rlx(&rt->newmHandoff.haveTemplateThread) == 0)
        throw("on a locked thread with no template thread");
    nmp->schedlink = rt->newmHandoff.newm;
    rt->newmHandoff.newm = nmp;
    if (rt->newmHandoff.waiting) {
        rt->newmHandoff.waiting = false;
        notewakeup(&rt->newmHandoff.wake);
    }
    unlock(&rt->newmHandoff.lock);
    releasem(mp);
}

/* proc.go startTemplateThread. False: the caller still has to make it, and may be preempted before.
 */
static bool startTemplateThread(void)
{
    struct m *mp = acquirem();
    bool mine = a_cas(&rt->newmHandoff.haveTemplateThread, 0, 1);
    if (mine && prof->template_thread_pinned)
        newm(MSTART_TEMPLATE, NULL, -1);
    releasem(mp);
    return !mine || prof->template_thread_pinned;
}

/* proc.go templateThread: an M without P that only starts threads. */
static void templateThread(void)
{
    lock(&sched->lock);
    sched->nmsys++;
    checkdead();
    unlock(&sched->lock);
    for (;;) {
        lock(&rt->newmHandoff.lock);
        while (rt->newmHandoff.newm != NULL) {
            struct m *mp = rt->newmHandoff.newm;
            rt->newmHandoff.newm = NULL;
            unlock(&rt->newmHandoff.lock);
            while (mp != NULL) {
                struct m *next = mp->schedlink;
                mp->schedlink = NULL;
                newm1(mp);
                mp = next;
            }
            lock(&rt->newmHandoff.lock);
        }
        rt->newmHandoff.waiting = true;
        noteclear(&rt->newmHandoff.wake);
        unlock(&rt->newmHandoff.lock);
        notesleep(&rt->newmHandoff.wake);
    }
}

/* The life of an M on its thread: g0's stack. gogo runs the G's code and comes back where Go does
 * mcall. */
static void mloop(struct m *mp)
{
    while (!mp->exiting) {
        gogo(mp);
        mp->mcallfn(a_own(&mp->curg));
    }
}

/* proc.go mstart1. */
static void mstart(struct m *mp)
{
    ev_m_start();
    switch ((enum mstart_kind)mp->mstartkind) {
    case MSTART_SYSMON: sysmon(); break;
    case MSTART_TEMPLATE: templateThread(); break;
    case MSTART_SPINNING:
        mp->spinning = true; /* mspinning: nmspinning was raised by whoever started us */
        mp->since = record_now();
        break;
    case MSTART_LOOP:
    case MSTART_EXTRA: break;
    }
    if (mp != rt->m0)
        take_nextp(mp);
    schedule();
    mloop(mp);
    a_store(&mp->freeWait, FREEM_STACK);
    thread_exit();
}

static void unlink_allm(struct m *mp)
{
    struct m **at = &rt->allm;
    while (*at != mp) {
        if (*at == NULL)
            throw("m not found in allm");
        at = &(*at)->alllink;
    }
    *at = mp->alllink;
}

/* proc.go mexit: the M's locked G is gone, and the thread with it. m0 stays, wedged. */
static void mexit(struct m *mp)
{
    if (mp != rt->m0) {
        lock(&sched->lock);
        unlink_allm(mp);
        a_store(&mp->freeWait, FREEM_WAIT);
        mp->freelink = sched->freem;
        sched->freem = mp;
        unlock(&sched->lock);
    }
    ev_m_exit();
    handoffp(releasep());
    lock(&sched->lock);
    sched->nmfreed++;
    checkdead();
    unlock(&sched->lock);
    if (mp == rt->m0) {
        mPark();
        throw("locked m0 woke up");
    }
    mp->exiting = true;
}
