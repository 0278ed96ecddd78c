/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of sync.RWMutex whose waiters are Ms: who waits keeps his P. So a reader must keep his M
 * and his P as well, or those who wait could have all Ps, and he none to let the lock go (issue
 * 20903). */
#include "rwmutex.h"
#include "note.h"
#include "park.h"

enum { RTRW_MAX_READERS = 1 << 30 };

static void rtrw_sleep(struct m *mp)
{
    notesleep(&mp->park);
    noteclear(&mp->park);
}

/* rwmutex.go rlock. */
static void rtrw_rlock(struct rtrwmutex *rw)
{
    struct m *mp = prof->rwmutex_reader_pinned ? acquirem() : getm();
    if (a_add(&rw->readerCount, 1) >= 0)
        return;
    lock(&rw->rLock);
    if (rw->readerPass > 0) {
        rw->readerPass--;
        unlock(&rw->rLock);
        return;
    }
    mp->schedlink = rw->readers;
    rw->readers = mp;
    unlock(&rw->rLock);
    rtrw_sleep(mp);
}

/* rwmutex.go runlock. */
static void rtrw_runlock(struct rtrwmutex *rw)
{
    int32_t r = a_add(&rw->readerCount, -1);
    if (r < 0) {
        if (r + 1 == 0 || r + 1 == -RTRW_MAX_READERS)
            throw("runlock of unlocked rwmutex");
        if (a_add(&rw->readerWait, -1) == 0) {
            lock(&rw->rLock);
            if (rw->writer != NULL)
                notewakeup(&rw->writer->park);
            unlock(&rw->rLock);
        }
    }
    if (prof->rwmutex_reader_pinned)
        releasem(getm());
}

/* rwmutex.go lock. */
static void rtrw_lock(struct rtrwmutex *rw)
{
    struct m *mp = getm();
    lock(&rw->wLock); /* its owner is not preempted */
    int32_t r = a_add(&rw->readerCount, -RTRW_MAX_READERS) + RTRW_MAX_READERS;
    lock(&rw->rLock);
    bool waits = r != 0 && a_add(&rw->readerWait, r) != 0;
    if (waits)
        rw->writer = mp;
    unlock(&rw->rLock);
    if (waits)
        rtrw_sleep(mp);
}

/* rwmutex.go unlock. */
static void rtrw_unlock(struct rtrwmutex *rw)
{
    int32_t r = a_add(&rw->readerCount, RTRW_MAX_READERS);
    if (r >= RTRW_MAX_READERS)
        throw("unlock of unlocked rwmutex");
    lock(&rw->rLock);
    while (rw->readers != NULL) {
        struct m *reader = rw->readers;
        rw->readers = reader->schedlink;
        reader->schedlink = NULL;
        notewakeup(&reader->park);
        r--;
    }
    rw->readerPass += (uint32_t)r;
    unlock(&rw->rLock);
    unlock(&rw->wLock);
}

/* ---- execLock ---- */

static bool program_execs(const struct program *p)
{
    for (uint32_t pc = 0; pc < p->ncode; pc++)
        if (p->code[pc].op == OP_EXEC)
            return true;
    return false;
}

static void exec_init(void)
{
    if (!program_execs(rt->prog))
        return;
    rt->execLock = host_alloc(sizeof *rt->execLock, 64);
    lockInit(&rt->execLock->rLock, lockRankLeaf);
    lockInit(&rt->execLock->wLock, lockRankExecR); /* Go has a rank for writers */
}

/* Somebody reads, writes or waits: he may have a P, and a G that no queue has. */
static bool exec_is_held(void)
{
    return rt->execLock != NULL && a_peek(&rt->execLock->readerCount) != 0;
}

static void exec_rlock(void)
{
    if (rt->execLock != NULL)
        rtrw_rlock(rt->execLock);
}

static void exec_runlock(void)
{
    if (rt->execLock != NULL)
        rtrw_runlock(rt->execLock);
}
