/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime's own mutex. Waiting Ms spin, yield, then sleep; a G never parks on it.
 *
 * tristate, <=1.23 (lock_futex.go): key 0 free, 1 locked, 2 locked and maybe somebody sleeps.
 * spinbit, >=1.24 (lock_spinbit.go): one word
 *     bit 0      locked
 *     bit 1      a sleeper may exist
 *     bit 8      one M spins
 *     bit 9      the list of sleepers is being changed
 *     bits 10..  1 + id of the M on top of the LIFO of sleepers (Go: its address)
 *   At most one M spins per lock; an unlock that sees a spinner wakes nobody, except one time in
 *   16 and for sched.lock. */
#include "lock.h"
#include "lockrank.h"
#include "park.h"
#include "rand.h"

enum {
    LOCKED = 1,
    SLEEPING = 2,
    SPINNING = 0x100,
    STACK_LOCKED = 0x200,
    FLAGS = 0x3ff,
    HEAD_SHIFT = 10
};

static int32_t lock_weight;

static void lock_world_init(void) { lock_weight = prof->mlocks16 ? 16 : 1; }

static COLD void lock_tristate_slow(struct mutex *l, uint32_t wait)
{
    getm()->counters[C_lock_contended]++;
    int64_t active = host_ncpu() > 1 ? prof->lock_active_spin : 0;
    for (;;) {
        for (int64_t i = 0; i < active; i++) {
            while (a_load(&l->key) == 0)
                if (a_cas(&l->key, 0, wait))
                    return;
            procyield((uint32_t)prof->lock_active_cnt);
        }
        for (int64_t i = 0; i < prof->lock_passive_spin; i++) {
            while (a_load(&l->key) == 0)
                if (a_cas(&l->key, 0, wait))
                    return;
            osyield();
        }
        uint32_t v = a_xchg(&l->key, 2);
        if (v == 0)
            return; /* stays 2: one wake too many later */
        wait = 2;
        getm()->counters[C_futexsleeps]++;
        futexsleep(&l->key, 2, -1);
    }
}

static inline void lock_tristate(struct mutex *l)
{
    uint32_t v = a_xchg(&l->key, 1);
    if (v != 0)
        lock_tristate_slow(l, v);
}

static inline void unlock_tristate(struct mutex *l)
{
    uint32_t v = a_xchg(&l->key, 0);
    if (v == 0)
        throw("unlock of unlocked lock");
    if (v == 2) {
        getm()->counters[C_futexwakes]++;
        futexwakeup(&l->key, 1);
    }
}

/* lock_futex.go semasleep, semawakeup: a counting wake per M. */
static void semasleep(struct m *mp)
{
    for (;;) {
        uint32_t v = a_load(&mp->waitsema);
        if (v != 0 && a_cas(&mp->waitsema, v, v - 1))
            return;
        if (v == 0) {
            mp->counters[C_futexsleeps]++;
            futexsleep(&mp->waitsema, 0, -1);
        }
    }
}

static void semawakeup(struct m *mp)
{
    a_add(&mp->waitsema, 1);
    getm()->counters[C_futexwakes]++;
    futexwakeup(&mp->waitsema, 1);
}

static struct m *waitlist_head(uint64_t v)
{
    uint64_t id = v >> HEAD_SHIFT;
    return id == 0 ? NULL : rt->ms[id - 1];
}

static bool lock_low_latency(const struct mutex *l) { return l == &sched->lock; }

/* Pushes the M on the list of sleepers and sleeps; false if the word changed first. at_tail: it was
 * the list's bottom. */
static bool spinbit_sleep(struct m *mp, struct mutex *l, uint64_t v, bool spinner, bool *at_tail)
{
    mp->mWaitNext = v >> HEAD_SHIFT;
    uint64_t next = ((uint64_t)(uint32_t)mp->id + 1) << HEAD_SHIFT | (v & FLAGS) | SLEEPING;
    if (spinner)
        next &= ~(uint64_t)SPINNING;
    bool slept = a_cas(&l->word, v, next);
    if (slept) {
        semasleep(mp);
        *at_tail = mp->mWaitNext == 0;
    }
    mp->mWaitNext = 0;
    return slept;
}

/* Tries to take a lock that looks free. */
static bool spinbit_try(struct mutex *l, uint64_t v, bool spinner)
{
    if (!spinner)
        return (a_xchg8(&l->word, LOCKED | SLEEPING) & LOCKED) == 0;
    uint64_t next = (v & ~(uint64_t)SPINNING) | SLEEPING | LOCKED;
    if (next >> HEAD_SHIFT == 0)
        next &= ~(uint64_t)SLEEPING;
    return a_cas(&l->word, v, next);
}

/* lock2's loop. Every pass counts as a round, a failed try too; a sleep leaves the count at one. */
static COLD void lock_spinbit_slow(struct mutex *l)
{
    struct m *mp = getm();
    mp->counters[C_lock_contended]++;
    int64_t spin = host_ncpu() > 1 ? prof->lock_active_spin : 0;
    bool spinner = false, at_tail = false;
    uint64_t v = a_load(&l->word);
    for (int64_t i = 0;; i++, v = a_load(&l->word)) {
        if ((v & LOCKED) == 0) {
            if (spinbit_try(l, v, spinner))
                return;
            continue;
        }
        if (!spinner && (v & SPINNING) == 0 && a_cas(&l->word, v, v | SPINNING)) {
            v |= SPINNING;
            spinner = true;
        }
        if ((spinner || at_tail || lock_low_latency(l)) && i < spin + prof->lock_passive_spin) {
            if (i < spin)
                procyield((uint32_t)prof->lock_active_cnt);
            else
                osyield();
        } else if (spinbit_sleep(mp, l, v, spinner, &at_tail)) {
            spinner = false;
            i = 0;
        }
    }
}

static inline void lock_spinbit(struct mutex *l)
{
    uint8_t v8 = a_xchg8(&l->word, LOCKED);
    if ((v8 & LOCKED) != 0)
        lock_spinbit_slow(l);
    else if ((v8 & SLEEPING) != 0)
        (void)a_or(&l->word, (uint64_t)SLEEPING); /* the exchange wiped the hint */
}

/* The sleeper at the bottom of the list, unlinked; NULL if the top is the bottom. */
static struct m *waitlist_cut_bottom(struct m *top)
{
    struct m *prev = top, *bottom = top;
    while (bottom->mWaitNext != 0) {
        prev = bottom;
        bottom = rt->ms[bottom->mWaitNext - 1];
    }
    if (bottom == top)
        return NULL;
    prev->mWaitNext = bottom->mWaitNext;
    return bottom;
}

/* lock_spinbit.go unlock2Wake. */
static COLD void unlock_spinbit_wake(struct mutex *l)
{
    uint64_t v = a_load(&l->word);
    bool anti_starve = cheaprandn((uint32_t)prof->spinbit_tail_period) == 0;
    if (!anti_starve && (v & SPINNING) != 0 && !lock_low_latency(l))
        return;
    for (;;) { /* take the right to change the list */
        if ((v & ~(uint64_t)FLAGS) == 0 || (v & STACK_LOCKED) != 0)
            return;
        if (a_cas(&l->word, v, v | STACK_LOCKED))
            break;
        v = a_load(&l->word);
    }
    struct m *committed = NULL; /* taken from inside the list: must be woken */
    /* As in Go the first exchange fails for certain: v is the word from before the bit was set. */
    for (;; v = a_load(&l->word)) {
        struct m *top = waitlist_head(v), *wake = committed;
        if (committed == NULL) {
            if ((v & SPINNING) == 0 || lock_low_latency(l))
                wake = top;
            if (anti_starve) {
                committed = waitlist_cut_bottom(top);
                wake = committed != NULL ? committed : top;
            }
        }
        uint64_t head = wake == top ? top->mWaitNext : v >> HEAD_SHIFT;
        if (a_cas(&l->word, v, head << HEAD_SHIFT | (v & FLAGS & ~(uint64_t)STACK_LOCKED))) {
            if (wake != NULL)
                semawakeup(wake);
            return;
        }
    }
}

static inline void unlock_spinbit(struct mutex *l)
{
    uint8_t v8 = a_xchg8(&l->word, 0);
    if ((v8 & LOCKED) == 0)
        throw("unlock of unlocked lock");
    if ((v8 & SLEEPING) != 0)
        unlock_spinbit_wake(l);
}

static inline void lock_word(struct mutex *l)
{
    if (prof->spinbit)
        lock_spinbit(l);
    else
        lock_tristate(l);
}

/* What is rare is also the last thing that lock does: then it has nothing to keep. */
static COLD void lock_asked(struct m *mp, struct mutex *l)
{
    lockrank_ask(mp, l);
    lock_word(l);
}

/* lock2, unlock2. */
static inline void lock_inline(struct mutex *l)
{
    struct m *mp = getm();
    if (mp->locks < 0)
        throw("lock: lock count");
    mp->locks += lock_weight;
    if (lockrank_acquire(mp, l))
        lock_word(l);
    else
        lock_asked(mp, l);
}

static void lock(struct mutex *l) { lock_inline(l); }

static inline void unlock_inline(struct mutex *l)
{
    struct m *mp = getm();
    lockrank_release(mp, l);
    if (prof->spinbit)
        unlock_spinbit(l);
    else
        unlock_tristate(l);
    mp->locks -= lock_weight;
    if (mp->locks < 0)
        throw("unlock: lock count");
    repoison_guard(mp);
}

static void unlock(struct mutex *l) { unlock_inline(l); }
