/* SPDX-License-Identifier: BSD-3-Clause */
/* Operations on descriptors: internal/poll.FD over the poller. A G that parks leaves in gp->opobj
 * the descriptor and in gp->opval which operation it is in. */
#include "netpoll.h"
#include "lock.h"
#include "lockrank.h"
#include "park.h"
#include "race.h"
#include "sema.h"
#include "syscall.h"

enum { /* fdMutex.state */
       FD_CLOSED = 1,
       FD_RLOCK = 2,
       FD_WLOCK = 4,
};
#define FD_REF         ((uint64_t)1 << 3)
#define FD_RWAIT       ((uint64_t)1 << 23)
#define FD_WWAIT       ((uint64_t)1 << 43)
#define FD_COUNT(wait) ((((uint64_t)1 << 20) - 1) * (wait))

/* gp->opval while an operation runs: the direction, and what to do once it has the lock or was told
 * to look again. */
enum {
    OPFD_WAIT_R = POLL_R,
    OPFD_WAIT_W = POLL_W,
    OPFD_READ = POLL_R | 4,
    OPFD_WRITE = POLL_W | 8,
    OPFD_TAKE = POLL_R | 16,
    OPFD_AGAIN = -100
};

static enum poll_mode op_mode(const struct g *gp) { return (enum poll_mode)(gp->opval & POLL_RW); }

static uint64_t lock_bit(enum poll_mode mode) { return mode == POLL_R ? FD_RLOCK : FD_WLOCK; }
static uint64_t wait_unit(enum poll_mode mode) { return mode == POLL_R ? FD_RWAIT : FD_WWAIT; }
static semaword *wait_sema(struct fdMutex *mu, enum poll_mode mode)
{
    return mode == POLL_R ? &mu->rsema : &mu->wsema;
}

/* fd_mutex.go rwunlock, FD.decref, FD.destroy: the last user after a close closes the poll
 * descriptor and lets Close return. */
static void fd_destroy(struct pollfd *fd)
{
    pollClose(&fd->pd);
    semrelease(&fd->csema);
}

static void fd_decref(struct pollfd *fd)
{
    uint64_t new = a_add(&fd->mu.state, (uint64_t)0 - FD_REF);
    if ((new &(FD_CLOSED | FD_COUNT(FD_REF))) == FD_CLOSED)
        fd_destroy(fd);
}

static void fd_rwunlock(struct pollfd *fd, enum poll_mode mode)
{
    uint64_t bit = lock_bit(mode), unit = wait_unit(mode), old, new;
    do {
        old = a_load(&fd->mu.state);
        if ((old & bit) == 0 || (old & FD_COUNT(FD_REF)) == 0)
            throw("inconsistent poll.fdMutex");
        new = (old & ~bit) - FD_REF;
        if ((old & FD_COUNT(unit)) != 0)
            new -= unit;
    } while (!a_cas(&fd->mu.state, old, new));
    if ((old & FD_COUNT(unit)) != 0)
        semrelease(wait_sema(&fd->mu, mode));
    if ((new &(FD_CLOSED | FD_COUNT(FD_REF))) == FD_CLOSED)
        fd_destroy(fd);
}

/* The operation is over. */
static enum opres fd_finish(struct g *gp, int64_t result)
{
    fd_rwunlock(gp->opobj, op_mode(gp));
    gp->opval = result;
    return OP_DONE;
}

/* syscall.ioSync: for the race detector, any read comes after any write that came before it. */
static const char ioSync = 0;

/* One read(2). The answer goes to step_fdRead through gp->opval and gp->param. */
static enum opres fd_try_read(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    entersyscall(gp);
    uint64_t request;
    int64_t when;
    bool got = descriptor_read(fd->pd.fd, FD_SYSCALL_NS) && env_take(&fd->env, &request, &when);
    gp->opval = got ? (int64_t)request : OPFD_AGAIN;
    gp->param = got ? (void *)(intptr_t)when : NULL;
    push_step(gp, STEP_fdRead);
    return exitsyscall(gp);
}

static enum opres fd_block(struct g *gp);

/* A recorded read, whose calls of the system are on its tape: what has arrived is taken. */
static enum opres fd_take(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    uint64_t request;
    int64_t when;
    if (!env_take(&fd->env, &request, &when))
        return fd_block(gp);
    descriptor_take(fd->pd.fd);
    return fd_finish(gp, 0);
}

/* The poller says that what the G waits for has come; somebody may have been faster. */
static enum opres fd_ready(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    if (gp->opval == OPFD_READ)
        return fd_try_read(gp);
    if (gp->opval == OPFD_TAKE)
        return fd_take(gp);
    if (gp->opval == OPFD_WAIT_R && fd->env.process != NULL && !env_readable(&fd->env))
        return fd_block(gp); /* an edge whose data somebody has read */
    return fd_finish(gp, 0);
}

/* netpoll.go poll_runtime_pollWait with netpollblock's first half. */
static enum opres fd_block(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    enum poll_mode mode = op_mode(gp);
    pollword *word = poll_word(&fd->pd, mode);
    int64_t err = netpollcheckerr(&fd->pd, mode);
    if (err != pollNoError)
        return fd_finish(gp, -err);
    for (;;) {
        if (a_cas(word, pdReady, pdNil))
            return fd_ready(gp);
        if (a_cas(word, pdNil, pdWait))
            break;
        uintptr_t v = a_load(word);
        if (v != pdReady && v != pdNil)
            throw("runtime: double wait");
    }
    push_step(gp, STEP_fdBlocked);
    /* After the word says pdWait: a close or deadline either sees that or is seen here. */
    if (netpollcheckerr(&fd->pd, mode) != pollNoError)
        return OP_DONE;
    gp->has_ext_wake = fd->env.process != NULL;
    return gopark(gp, netpollblockcommit, word, waitReasonIOWait);
}

/* netpollblock's second half. Not ready: closed, expired, or a deadline that was moved away
 * meanwhile. */
static enum opres step_fdBlocked(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    gp->has_ext_wake = false;
    uintptr_t old = a_xchg(poll_word(&fd->pd, op_mode(gp)), pdNil);
    if (old > pdWait)
        throw("runtime: corrupted polldesc");
    return old == pdReady ? fd_ready(gp) : fd_block(gp);
}

/* read(2) has returned. */
static enum opres step_fdRead(struct g *gp)
{
    int64_t request = gp->opval;
    gp->opval = OPFD_READ;
    if (request == OPFD_AGAIN)
        return fd_block(gp);
    raceacquire(&ioSync);
    return fd_finish(gp, request);
}

/* write(2) has returned. */
static enum opres step_fdWritten(struct g *gp) { return fd_finish(gp, 0); }

static enum opres fd_write(struct g *gp)
{
    const struct pollfd *fd = gp->opobj;
    entersyscall(gp);
    descriptor_write(fd->pd.fd, FD_SYSCALL_NS);
    racereleasemerge(&ioSync);
    env_answered(gp->opobj);
    push_step(gp, STEP_fdWritten);
    return exitsyscall(gp);
}

/* The lock is held: poll_runtime_pollReset, then the operation. A bare wait keeps an edge that came
 * before it. */
static enum opres fd_locked(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    enum poll_mode mode = op_mode(gp);
    int64_t err = netpollcheckerr(&fd->pd, mode);
    if (err != pollNoError)
        return fd_finish(gp, -err);
    switch (gp->opval) {
    case OPFD_READ: a_store(poll_word(&fd->pd, mode), pdNil); return fd_try_read(gp);
    case OPFD_TAKE: a_store(poll_word(&fd->pd, mode), pdNil); return fd_take(gp);
    case OPFD_WRITE: a_store(poll_word(&fd->pd, mode), pdNil); return fd_write(gp);
    case OPFD_WAIT_R: return env_readable(&fd->env) ? fd_finish(gp, 0) : fd_block(gp);
    default: /* writable unless the process says when */
        return fd->env.process != NULL && (fd->env.process->mode & POLL_W) != 0 ? fd_block(gp)
                                                                                : fd_finish(gp, 0);
    }
}

/* fd_mutex.go rwlock, also after the semaphore: whoever released it has subtracted our wait. */
static enum opres step_fdLock(struct g *gp)
{
    struct pollfd *fd = gp->opobj;
    enum poll_mode mode = op_mode(gp);
    uint64_t bit = lock_bit(mode);
    for (;;) {
        uint64_t old = a_load(&fd->mu.state);
        if ((old & FD_CLOSED) != 0) {
            gp->opval = -pollErrClosing;
            return OP_DONE;
        }
        bool wait = (old & bit) != 0;
        if (!a_cas(&fd->mu.state, old, wait ? old + wait_unit(mode) : (old | bit) + FD_REF))
            continue;
        if (!wait)
            return fd_locked(gp);
        push_step(gp, STEP_fdLock);
        return semacquire(gp, wait_sema(&fd->mu, mode));
    }
}

static enum opres fd_op(struct g *gp, struct pollfd *fd, int64_t op)
{
    gp->opobj = fd;
    gp->opval = op;
    return step_fdLock(gp);
}

static enum opres netpoll_wait_op(struct g *gp, struct pollfd *fd, enum poll_mode mode)
{
    return fd_op(gp, fd, mode == POLL_R ? OPFD_WAIT_R : OPFD_WAIT_W);
}
static enum opres netpoll_read_op(struct g *gp, struct pollfd *fd)
{
    return fd_op(gp, fd, OPFD_READ);
}
static enum opres netpoll_take_op(struct g *gp, struct pollfd *fd)
{
    return fd_op(gp, fd, OPFD_TAKE);
}
static enum opres netpoll_write_op(struct g *gp, struct pollfd *fd)
{
    return fd_op(gp, fd, OPFD_WRITE);
}

/* fd_mutex.go increfAndClose. False: it was closed before. */
static bool fd_incref_and_close(struct pollfd *fd)
{
    uint64_t old, new;
    do {
        old = a_load(&fd->mu.state);
        if ((old & FD_CLOSED) != 0)
            return false;
        new = ((old | FD_CLOSED) + FD_REF) & ~(FD_COUNT(FD_RWAIT) | FD_COUNT(FD_WWAIT));
    } while (!a_cas(&fd->mu.state, old, new));
    for (uint64_t n = (old & FD_COUNT(FD_RWAIT)) / FD_RWAIT; n > 0; n--)
        semrelease(&fd->mu.rsema);
    for (uint64_t n = (old & FD_COUNT(FD_WWAIT)) / FD_WWAIT; n > 0; n--)
        semrelease(&fd->mu.wsema);
    return true;
}

static enum opres step_fdClosed(struct g *gp)
{
    gp->opval = 0;
    return OP_DONE;
}

/* fd_unix.go FD.Close. */
static enum opres netpoll_close_op(struct g *gp, struct pollfd *fd)
{
    gp->opval = -pollErrClosing;
    if (!fd_incref_and_close(fd))
        return OP_DONE;
    pollUnblock(&fd->pd);
    fd_decref(fd);
    push_step(gp, STEP_fdClosed);
    return semacquire(gp, &fd->csema);
}

/* fd_poll_runtime.go setDeadlineImpl. */
static void netpoll_set_deadline(struct pollfd *fd, int64_t d, enum poll_mode mode)
{
    uint64_t old;
    do {
        old = a_load(&fd->mu.state);
        if ((old & FD_CLOSED) != 0)
            return;
    } while (!a_cas(&fd->mu.state, old, old + FD_REF));
    pollSetDeadline(&fd->pd, d < 0 ? 0 : d == 0 ? -1 : d, mode);
    fd_decref(fd);
}

/* ---- birth ---- */

static void netpoll_world_init(void)
{
    struct netpoll *np = host_alloc(sizeof *np, 64);
    lockInit(&np->initlock, lockRankNetpollInit);
    lockInit(&np->lock, lockRankLeaf);
    rt->netpoll = np;
}

static int32_t fd_table_add(struct netpoll *np, struct pollfd *fd)
{
    lock(&np->lock);
    int32_t n = np->nfd;
    if (n == FD_CHUNK * FD_CHUNKS_MAX) {
        unlock(&np->lock);
        return -1;
    }
    if (n % FD_CHUNK == 0)
        np->chunk[n / FD_CHUNK] = host_alloc(FD_CHUNK * sizeof(struct pollfd *),
                                             _Alignof(struct pollfd *));
    np->chunk[n / FD_CHUNK][n % FD_CHUNK] = fd;
    np->nfd = n + 1;
    fd->pd.fd = n;
    unlock(&np->lock);
    return n;
}

/* netpoll.go poll_runtime_pollOpen. */
static void fd_begin(struct pollfd *fd)
{
    netpollGenericInit();
    descriptor_open(fd->pd.fd, fd->env.process != NULL ? fd->env.process->mode : POLL_R);
    a_store(&fd->pd.open, 1u);
    env_begin(fd);
}

static struct pollfd *netpoll_open(int32_t arrivals)
{
    struct pollfd *fd = host_alloc(sizeof *fd, 64);
    lockInit(&fd->pd.lock, lockRankPollDesc);
    timer_init(&fd->pd.rt, NULL, NULL);
    timer_init(&fd->pd.wt, NULL, NULL);
    env_init(fd, arrivals);
    if (fd_table_add(rt->netpoll, fd) < 0)
        return NULL;
    if (rt->netpoll->started)
        fd_begin(fd);
    return fd;
}

static void env_start(void)
{
    struct netpoll *np = rt->netpoll;
    np->started = true;
    for (int32_t i = 0; i < np->nfd; i++)
        fd_begin(fd_of(i));
}
