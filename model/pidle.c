/* SPDX-License-Identifier: BSD-3-Clause */
/* Idle Ps: a LIFO stack under sched.lock, its length npidle, and two bit masks that may be read
 * without the lock.
 *
 *   idlepMask bit   set and cleared with the stack; a thief skips idle Ps
 *   timerpMask bit  set when a P leaves the stack (it may add timers any moment), cleared when one
 *                   without timers enters it
 *
 * There is no lock-free way onto or off the stack. */
#include "pidle.h"
#include "runq.h"

/* proc.go pMask. */
static bool pMask_read(maskword *mask, int32_t id)
{
    return (a_load(&mask[id / 32]) >> (id % 32) & 1) != 0;
}
static void pMask_set(maskword *mask, int32_t id) { (void)a_or(&mask[id / 32], 1u << (id % 32)); }
static void pMask_clear(maskword *mask, int32_t id)
{
    (void)a_and(&mask[id / 32], ~(1u << (id % 32)));
}

/* The time at which a P enters or leaves the list: now, unless the caller did not look at the
 * clock. Up to 1.18 nobody wants to know. */
static int64_t idle_clock(int64_t now) { return now == 0 && prof->idle_clock ? nanotime() : now; }

/* proc.go pidleput. sched.lock is held; the P has no M. */
static int64_t pidleput(struct p *pp, int64_t now)
{
    if (!runqempty(pp))
        throw("pidleput: P has non-empty run queue");
    now = idle_clock(now);
    if (prof->masks) {
        updateTimerPMask(pp);
        pMask_set(rt->idlepMask, pp->id);
    }
    pp->link = a_own(&sched->pidle);
    a_store_rlx(&sched->pidle, pp);
    a_add(&sched->npidle, 1);
    return now;
}

/* proc.go pidleget. sched.lock is held. The P comes back Pidle, on no list. */
static inline struct p *pidleget(int64_t now)
{
    struct p *pp = a_load_rlx(&sched->pidle);
    if (pp == NULL)
        return NULL;
    (void)idle_clock(now);
    if (prof->masks) {
        pMask_set(rt->timerpMask, pp->id);
        pMask_clear(rt->idlepMask, pp->id);
    }
    a_store_rlx(&sched->pidle, pp->link);
    pp->link = NULL;
    a_add(&sched->npidle, -1);
    return pp;
}

/* proc.go pidlegetSpinning (1.20+): an M that found work but no P says so; whoever releases a P
 * next goes spinning. */
static inline struct p *pidlegetSpinning(int64_t now)
{
    struct p *pp = pidleget(now);
    if (pp == NULL && prof->needspinning)
        a_store(&sched->needspinning, 1);
    return pp;
}
