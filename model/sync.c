/* SPDX-License-Identifier: BSD-3-Clause */
/* Package sync: Mutex (internal/sync/mutex.go), RWMutex, WaitGroup, Cond, Once. Go code above the
 * runtime's semaphores, so it runs as the goroutine and not on g0: other Ms may change something
 * between any two of its atomic operations.
 *
 * Mutex, normal mode: a woken waiter competes with new arrivals, who usually win. Starving mode,
 * entered by a waiter that waited longer than starve_ns: Unlock hands the lock to the first waiter,
 * new arrivals queue at the tail. The state word, and what breaks if a bit is wrong:
 *
 *   bit 0     locked    set by whoever owns the mutex; missed: two owners
 *   bit 1     woken     a waiter is awake and will look, so Unlock wakes nobody; set wrongly: a
 *                       waiter sleeps for ever
 *   bit 2     starving  the mode; set while there are no waiters: nobody clears it
 *   bits 3..  how many wait */
#include "sync.h"
#include "objs.h"
#include "panic.h"
#include "race.h"
#include "runq.h"
#include "sema.h"

enum { MUTEX_LOCKED = 1, MUTEX_WOKEN = 2, MUTEX_STARVING = 4, MUTEX_SHIFT = 3 };
enum { RWMUTEX_MAX_READERS = 1 << 30 };

static enum waitreason lock_reason(enum waitreason named)
{
    return prof->mutex_reasons ? named : waitReasonSemacquire;
}

/* proc.go sync_runtime_canSpin: only if another P can be running and nothing waits on this one. */
static bool sync_canSpin(int64_t iter)
{
    if (iter >= prof->mutex_spin || host_ncpu() <= 1)
        return false;
    int32_t procs = a_load_rlx(&rt->gomaxprocs);
    int32_t idle = a_load(&sched->npidle);
    int32_t spinning = a_load(&sched->nmspinning);
    return procs > idle + spinning + 1 && runqempty(a_own(&getm()->p));
}

/* The state that lockSlow wants to put in place of old. */
static int32_t lockSlow_next(int32_t old, bool starving, bool awoke)
{
    int32_t next = old;
    if ((old & MUTEX_STARVING) == 0)
        next |= MUTEX_LOCKED; /* a starving mutex is for its queue */
    if ((old & (MUTEX_LOCKED | MUTEX_STARVING)) != 0)
        next += 1 << MUTEX_SHIFT;
    if (starving && (old & MUTEX_LOCKED) != 0)
        next |= MUTEX_STARVING;
    if (awoke) {
        if ((next & MUTEX_WOKEN) == 0)
            throw("sync: inconsistent mutex state");
        next &= ~MUTEX_WOKEN;
    }
    return next;
}

/* Tells Unlock that somebody is awake already. */
static bool set_woken(struct smutex *m, int32_t old)
{
    return (old & MUTEX_WOKEN) == 0 && old >> MUTEX_SHIFT != 0 &&
           a_cas(&m->state, old, old | MUTEX_WOKEN);
}

/* mutex.go lockSlow, up to the semaphore. waitStart 0: has not waited yet; it lives in gp->opval
 * across the wait. */
static enum opres lockSlow(struct g *gp, struct smutex *m, int64_t waitStart, bool starving,
                           bool awoke)
{
    int64_t iter = 0;
    int32_t old = a_load_rlx(&m->state);
    for (;;) {
        if ((old & (MUTEX_LOCKED | MUTEX_STARVING)) == MUTEX_LOCKED && sync_canSpin(iter)) {
            if (!awoke && set_woken(m, old))
                awoke = true;
            procyield((uint32_t)prof->mutex_spin_cnt);
            iter++;
            old = a_load_rlx(&m->state);
            continue;
        }
        if (a_cas(&m->state, old, lockSlow_next(old, starving, awoke)))
            break;
        old = a_load_rlx(&m->state);
    }
    if ((old & (MUTEX_LOCKED | MUTEX_STARVING)) == 0) {
        raceacquire(m);
        return OP_DONE;
    }
    bool lifo = waitStart != 0;
    gp->opval = lifo ? waitStart : nanotime();
    gp->opobj = m;
    push_step(gp, STEP_mutexLock);
    return semacquire1(gp, &m->sema, lifo, lock_reason(waitReasonSyncMutexLock));
}

/* lockSlow after the semaphore. */
static enum opres step_mutexLock(struct g *gp)
{
    struct smutex *m = gp->opobj;
    int64_t waited = nanotime() - gp->opval;
    bool starving = waited > prof->starve_ns;
    int32_t old = a_load_rlx(&m->state);
    if ((old & MUTEX_STARVING) == 0)
        return lockSlow(gp, m, gp->opval, starving, /*awoke*/ true);
    /* Ours by hand-over, though the state does not say so yet. */
    if ((old & (MUTEX_LOCKED | MUTEX_WOKEN)) != 0 || old >> MUTEX_SHIFT == 0)
        throw("sync: inconsistent mutex state");
    int32_t delta = MUTEX_LOCKED - (1 << MUTEX_SHIFT);
    if (!starving || old >> MUTEX_SHIFT == 1)
        delta -= MUTEX_STARVING;
    a_add(&m->state, delta);
    raceacquire(m);
    return OP_DONE;
}

static enum opres mutex_lock(struct g *gp, struct smutex *m)
{
    if (!a_cas(&m->state, 0, MUTEX_LOCKED))
        return lockSlow(gp, m, 0, false, false);
    raceacquire(m);
    return OP_DONE;
}

static bool mutex_trylock(struct smutex *m)
{
    int32_t old = a_load_rlx(&m->state);
    if ((old & (MUTEX_LOCKED | MUTEX_STARVING)) != 0 || !a_cas(&m->state, old, old | MUTEX_LOCKED))
        return false;
    raceacquire(m);
    return true;
}

/* mutex.go unlockSlow. */
static enum opres unlockSlow(struct g *gp, struct smutex *m, int32_t state)
{
    if (((state + MUTEX_LOCKED) & MUTEX_LOCKED) == 0) {
        fatalthrow(gp, THROW_USER, "sync: unlock of unlocked mutex");
        return OP_DONE;
    }
    if ((state & MUTEX_STARVING) != 0)
        return semrelease1(gp, &m->sema, /*handoff*/ true);
    for (int32_t old = state;; old = a_load_rlx(&m->state)) {
        if (old >> MUTEX_SHIFT == 0 || (old & (MUTEX_LOCKED | MUTEX_WOKEN | MUTEX_STARVING)) != 0)
            return OP_DONE;
        if (a_cas(&m->state, old, (old - (1 << MUTEX_SHIFT)) | MUTEX_WOKEN))
            return semrelease1(gp, &m->sema, /*handoff*/ false);
    }
}

/* Unlock of a mutex inside another object: the race detector hears of that object, not of m. */
static enum opres mutex_unlock_inner(struct g *gp, struct smutex *m)
{
    int32_t state = a_add(&m->state, -MUTEX_LOCKED);
    return state == 0 ? OP_DONE : unlockSlow(gp, m, state);
}

static enum opres mutex_unlock(struct g *gp, struct smutex *m)
{
    racerelease(m);
    return mutex_unlock_inner(gp, m);
}

/* ---- RWMutex ---- */

/* A reader comes after the last writer, a writer after all readers too. */
static void rw_acquired(const struct rwmutex *rw, bool writer)
{
    raceacquire(&rw->readerSem);
    if (writer)
        raceacquire(&rw->writerSem);
}

static enum opres rw_rlock(struct g *gp, struct rwmutex *rw)
{
    if (a_add(&rw->readerCount, 1) >= 0) {
        rw_acquired(rw, /*writer*/ false);
        return OP_DONE;
    }
    gp->opobj = rw;
    push_step(gp, STEP_rwRLocked);
    return semacquire1(gp, &rw->readerSem, /*lifo*/ false, lock_reason(waitReasonSyncRWMutexRLock));
}

static bool rw_tryrlock(struct rwmutex *rw)
{
    for (;;) {
        int32_t c = a_load(&rw->readerCount);
        if (c < 0)
            return false;
        if (a_cas(&rw->readerCount, c, c + 1)) {
            rw_acquired(rw, /*writer*/ false);
            return true;
        }
    }
}

static enum opres rw_runlock(struct g *gp, struct rwmutex *rw)
{
    racereleasemerge(&rw->writerSem);
    int32_t r = a_add(&rw->readerCount, -1);
    if (r >= 0)
        return OP_DONE;
    if (r + 1 == 0 || r + 1 == -RWMUTEX_MAX_READERS)
        fatalthrow(gp, THROW_USER, "sync: RUnlock of unlocked RWMutex");
    else if (a_add(&rw->readerWait, -1) == 0)
        return semrelease1(gp, &rw->writerSem, /*handoff*/ false);
    return OP_DONE;
}

static enum opres rw_lock(struct g *gp, struct rwmutex *rw)
{
    push_step(gp, STEP_rwLock);
    return mutex_lock(gp, &rw->w);
}

static enum opres step_rwRLocked(struct g *gp)
{
    rw_acquired(gp->opobj, /*writer*/ false);
    return OP_DONE;
}

static struct cond *cur_cond(struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    return object_of(gp, in, in->c, OBJ_COND);
}

/* RWMutex.Lock, with w held: waits for the readers that are inside. */
static enum opres step_rwLock(struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    struct rwmutex *rw = in->op == OP_CWAIT ? cur_cond(gp)->rw
                                            : object_of(gp, in, in->c, OBJ_RWMUTEX);
    int32_t r = a_add(&rw->readerCount, -RWMUTEX_MAX_READERS) + RWMUTEX_MAX_READERS;
    if (r == 0 || a_add(&rw->readerWait, r) == 0) {
        rw_acquired(rw, /*writer*/ true);
        return OP_DONE;
    }
    gp->opobj = rw;
    push_step(gp, STEP_rwLocked);
    return semacquire1(gp, &rw->writerSem, /*lifo*/ false, lock_reason(waitReasonSyncRWMutexLock));
}

static enum opres step_rwLocked(struct g *gp)
{
    rw_acquired(gp->opobj, /*writer*/ true);
    return OP_DONE;
}

static enum opres rw_trylock(struct g *gp, struct rwmutex *rw, uint8_t reg)
{
    set_reg(gp, reg, 0);
    if (!mutex_trylock(&rw->w))
        return OP_DONE;
    if (!a_cas(&rw->readerCount, 0, -RWMUTEX_MAX_READERS))
        return mutex_unlock_inner(gp, &rw->w);
    rw_acquired(rw, /*writer*/ true);
    set_reg(gp, reg, 1);
    return OP_DONE;
}

static enum opres rw_unlock(struct g *gp, struct rwmutex *rw)
{
    racerelease(&rw->readerSem);
    int32_t r = a_add(&rw->readerCount, RWMUTEX_MAX_READERS);
    if (r >= RWMUTEX_MAX_READERS) {
        fatalthrow(gp, THROW_USER, "sync: Unlock of unlocked RWMutex");
        return OP_DONE;
    }
    for (; r > 0; r--)
        (void)semrelease1(gp, &rw->readerSem,
                          /*handoff*/ false); /* without hand-off: never yields */
    return mutex_unlock_inner(gp, &rw->w);
}

/* ---- WaitGroup ---- */

static enum opres wg_add(struct g *gp, struct waitgroup *wg, int64_t delta)
{
    if (delta < 0)
        racereleasemerge(wg);
    uint64_t state = a_add(&wg->state, (uint64_t)delta << 32);
    int32_t v = (int32_t)(state >> 32);
    uint32_t w = (uint32_t)state;
    if (v < 0)
        return gopanic_text(gp, PANIC_wg_negative);
    if (w != 0 && delta > 0 && v == (int32_t)delta)
        return gopanic_text(gp, PANIC_wg_misuse);
    if (v > 0 || w == 0)
        return OP_DONE;
    /* The counter is 0 and there are waiters: nobody may change the state now. */
    if (a_load(&wg->state) != state)
        return gopanic_text(gp, PANIC_wg_misuse);
    a_store(&wg->state, 0);
    for (; w != 0; w--)
        (void)semrelease1(gp, &wg->sema, /*handoff*/ false);
    return OP_DONE;
}

static enum opres wg_wait(struct g *gp, struct waitgroup *wg)
{
    for (;;) {
        uint64_t state = a_load(&wg->state);
        if ((int32_t)(state >> 32) == 0) {
            raceacquire(wg);
            return OP_DONE;
        }
        if (a_cas(&wg->state, state, state + 1))
            break;
    }
    gp->opobj = wg;
    push_step(gp, STEP_wgWait);
    return semacquire1(gp, &wg->sema, /*lifo*/ false,
                       prof->wg_reason ? waitReasonSyncWaitGroupWait : waitReasonSemacquire);
}

static enum opres step_wgWait(struct g *gp)
{
    struct waitgroup *wg = gp->opobj;
    raceacquire(wg);
    return a_load(&wg->state) == 0 ? OP_DONE : gopanic_text(gp, PANIC_wg_reused);
}

/* ---- Cond ---- */

static enum opres cond_wait(struct g *gp, struct cond *c)
{
    gp->opval = notifyListAdd(&c->notify);
    push_step(gp, STEP_condWait);
    return c->L != NULL ? mutex_unlock(gp, c->L)
           : c->rlocker ? rw_runlock(gp, c->rw)
                        : rw_unlock(gp, c->rw);
}

static enum opres step_condWait(struct g *gp)
{
    push_step(gp, STEP_condLock);
    return notifyListWait(gp, &cur_cond(gp)->notify, (uint32_t)gp->opval);
}

static enum opres step_condLock(struct g *gp)
{
    struct cond *c = cur_cond(gp);
    return c->L != NULL ? mutex_lock(gp, c->L)
           : c->rlocker ? rw_rlock(gp, c->rw)
                        : rw_lock(gp, c->rw);
}
