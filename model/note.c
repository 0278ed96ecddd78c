/* SPDX-License-Identifier: BSD-3-Clause */
/* One-shot notes over a futex (lock_futex.go): a wake before the sleep is not lost, a second wake
 * is an error. */
#include "note.h"
#include "syscall.h"

static void noteclear(struct note *n) { a_store_rlx(&n->key, 0); }

static void m_futexsleep(struct m *mp, struct note *n, int64_t ns)
{
    mp->blocked = true;
    mp->counters[C_futexsleeps]++;
    futexsleep(&n->key, 0, ns);
    mp->blocked = false;
}

static void notewakeup(struct note *n)
{
    uint32_t old = a_xchg(&n->key, 1);
    if (old != 0)
        throw("notewakeup: double wakeup");
    struct m *mp = getm();
    if (mp != NULL)
        mp->counters[C_futexwakes]++;
    futexwakeup(&n->key, 1);
}

static void notesleep(struct note *n)
{
    struct m *mp = getm();
    while (a_load(&n->key) == 0)
        m_futexsleep(mp, n, -1);
}

/* Sleeps at most ns. True: the note was set. */
static bool notetsleep(struct note *n, int64_t ns)
{
    if (ns < 0) {
        notesleep(n);
        return true;
    }
    struct m *mp = getm();
    int64_t deadline = nanotime() + ns;
    while (a_load(&n->key) == 0) {
        int64_t now = nanotime();
        if (now >= deadline)
            return false;
        m_futexsleep(mp, n, deadline - now);
    }
    return true;
}

/* lock_futex.go notetsleepg: the same for a goroutine, which leaves its P to others meanwhile. */
static enum opres notetsleepg(struct g *gp, struct note *n, int64_t ns)
{
    entersyscallblock(gp);
    (void)notetsleep(n, ns);
    return exitsyscall(gp);
}
