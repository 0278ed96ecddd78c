/* SPDX-License-Identifier: BSD-3-Clause */
/* The network poller: netpoll.go, netpoll_epoll.go (Linux). The picture of the words rg and wg is
 * in netpoll.h. */
#include "netpoll.h"
#include "gqueue.h"
#include "lock.h"
#include "park.h"

enum { NETPOLL_BATCH_MAX = 128 }; /* the most that profile.c allows */

/* bits of pollDesc.atomicInfo */
enum { pollClosing = 1, pollExpiredReadDeadline = 4, pollExpiredWriteDeadline = 8 };

static int32_t netpollready(struct gList *list, struct pollDesc *pd, uint32_t mode);

/* ---- the poller ---- */

static struct pollfd *fd_of(int32_t fd) { return rt->netpoll->chunk[fd / FD_CHUNK][fd % FD_CHUNK]; }

/* netpoll.go netpollGenericInit. */
static void netpollGenericInit(void)
{
    struct netpoll *np = rt->netpoll;
    if (a_load(&np->inited) != 0)
        return;
    lock(&np->initlock);
    if (a_load(&np->inited) == 0) {
        jolt(netpoll);
        jolt(flush);
        a_store(&np->inited, 1u);
    }
    unlock(&np->initlock);
}

static bool netpollinited(void) { return a_load(&rt->netpoll->inited) != 0; }
static bool netpollAnyWaiters(void) { return a_load(&rt->netpoll->waiters) > 0; }

static void netpollAdjustWaiters(int32_t delta)
{
    if (delta != 0)
        a_add(&rt->netpoll->waiters, delta);
}

/* netpoll_epoll.go netpollBreak. A failed CAS: a wake-up is in flight, and who gets it looks at
 * everything afterwards. */
static void netpollBreak(void)
{
    if (prof->netpoll_wakesig && !a_cas(&rt->netpoll->wakeSig, 0u, 1u))
        return;
    netpoll_wakeup();
}

/* epoll's milliseconds: a short wait is lengthened to one, a longer one is cut to whole ones (and
 * then looked at again). */
static int64_t netpoll_delay(int64_t delay)
{
    if (delay <= 0)
        return delay < 0 ? -1 : 0;
    if (delay < 1000000)
        return 1000000;
    if (delay < INT64_C(1000000000000000))
        return delay / 1000000 * 1000000;
    return INT64_C(1000000000) * 1000000; /* 11.5 days */
}

/* Only a blocking poll drains the break descriptor: a look by somebody else must not swallow the
 * sleeper's wake-up. */
static void netpoll_break_seen(int64_t delay)
{
    if (delay != 0 && prof->netpoll_wakesig)
        a_store(&rt->netpoll->wakeSig, 0u);
}

static int32_t netpoll_events(const struct poll_event *ev, int32_t n, int64_t delay,
                              struct gList *list)
{
    int32_t delta = 0;
    for (int32_t i = 0; i < n; i++) {
        if (ev[i].fd < 0) {
            netpoll_break_seen(delay);
            continue;
        }
        struct pollDesc *pd = &fd_of(ev[i].fd)->pd;
        if (a_load(&pd->open) != 0) /* Go compares fdseq with the event's tag */
            delta += netpollready(list, pd, ev[i].mode);
    }
    return delta;
}

/* netpoll_epoll.go netpoll. */
static int32_t netpoll(int64_t delay, struct gList *list)
{
    if (!netpollinited())
        return 0;
    getm()->counters[C_netpolls]++;
    struct poll_event ev[NETPOLL_BATCH_MAX];
    int32_t cap = (int32_t)prof->netpoll_batch;
    int64_t ns = netpoll_delay(delay);
    for (;;) {
        int32_t n = netpoll_wait(ns, ev, cap > 0 ? cap : 1);
        int32_t delta = netpoll_events(ev, n, delay, list);
        if (delay < 0 && (prof->per_p_timers ? n == 0 : gList_empty(list)))
            continue; /* a signal; 1.13 stays until it has a G */
        return prof->netpoll_delta ? delta : 0;
    }
}

/* ---- one descriptor ---- */

/* netpoll.go pollDesc.publishInfo. pd.lock is held. */
static void publishInfo(struct pollDesc *pd)
{
    uint32_t info = (pd->closing ? pollClosing : 0u) | (pd->rd < 0 ? pollExpiredReadDeadline : 0u) |
                    (pd->wd < 0 ? pollExpiredWriteDeadline : 0u);
    uint32_t x = a_load(&pd->atomicInfo);
    while (!a_cas(&pd->atomicInfo, x, info))
        x = a_load(&pd->atomicInfo);
}

/* netpoll.go netpollcheckerr. */
static int64_t netpollcheckerr(struct pollDesc *pd, enum poll_mode mode)
{
    uint32_t info = a_load(&pd->atomicInfo);
    if ((info & pollClosing) != 0)
        return pollErrClosing;
    if ((info & (mode == POLL_R ? pollExpiredReadDeadline : pollExpiredWriteDeadline)) != 0)
        return pollErrTimeout;
    return pollNoError;
}

static pollword *poll_word(struct pollDesc *pd, enum poll_mode mode)
{
    return mode == POLL_R ? &pd->rg : &pd->wg;
}

/* netpoll.go netpollblockcommit: unlockf, so the descriptor may have become ready or closed before
 * the G was parked. */
static bool netpollblockcommit(struct g *gp, void *word)
{
    bool parked = a_cas((pollword *)word, pdWait, (uintptr_t)gp);
    if (parked)
        netpollAdjustWaiters(1);
    return parked;
}

/* netpoll.go netpollgoready. Until 1.21 it is here that the number of waiters goes down, so never
 * for Gs that netpoll returns. */
static void netpollgoready(struct g *gp)
{
    if (!prof->netpoll_delta)
        netpollAdjustWaiters(-1);
    goready(gp);
}

static void netpollgoready_delta(struct g *rg, struct g *wg, int32_t delta)
{
    if (rg != NULL)
        netpollgoready(rg);
    if (wg != NULL)
        netpollgoready(wg);
    if (prof->netpoll_delta)
        netpollAdjustWaiters(delta);
}

/* netpoll.go netpollunblock. The G that waited, or NULL; the caller owes it a wake-up and *delta to
 * the waiters. */
static struct g *netpollunblock(struct pollDesc *pd, enum poll_mode mode, bool ioready,
                                int32_t *delta)
{
    pollword *word = poll_word(pd, mode);
    for (;;) {
        uintptr_t old = a_load(word);
        if (old == pdReady || (old == pdNil && !ioready))
            return NULL; /* a second edge adds nothing; a deadline needs a G */
        if (!a_cas(word, old, ioready ? pdReady : pdNil))
            continue;
        if (old == pdNil || old == pdWait)
            return NULL; /* about to park: the commit will fail */
        if (prof->netpoll_delta && !prof->waiters_after_ready)
            netpollAdjustWaiters(-1);
        else
            *delta -= 1;
        return (struct g *)old;
    }
}

/* netpoll.go netpollready. The reader is pushed first, so the writer comes off the list before it.
 */
static int32_t netpollready(struct gList *list, struct pollDesc *pd, uint32_t mode)
{
    int32_t delta = 0;
    struct g *rg = (mode & POLL_R) != 0 ? netpollunblock(pd, POLL_R, /*ioready*/ true, &delta)
                                        : NULL;
    struct g *wg = (mode & POLL_W) != 0 ? netpollunblock(pd, POLL_W, /*ioready*/ true, &delta)
                                        : NULL;
    if (rg != NULL)
        gList_push(list, rg);
    if (wg != NULL)
        gList_push(list, wg);
    ev_netpoll_ready(rec_g(rg != NULL ? rg : wg), pd->fd, (enum ev_ready)mode);
    return delta;
}

/* ---- deadlines ---- */

/* netpoll.go netpolldeadlineimpl. A changed sequence number: the descriptor was reused or the
 * deadline moved. */
static void netpolldeadlineimpl(struct pollDesc *pd, uint64_t seq, bool read, bool write)
{
    lock(&pd->lock);
    if (seq != (read ? pd->rseq : pd->wseq)) {
        unlock(&pd->lock);
        return;
    }
    int32_t delta = 0;
    struct g *rg = NULL, *wg = NULL;
    if (read) {
        if (pd->rd <= 0 || !pd->rrun)
            throw("runtime: inconsistent read deadline");
        pd->rd = -1;
        publishInfo(pd);
        rg = netpollunblock(pd, POLL_R, /*ioready*/ false, &delta);
    }
    if (write) {
        if (pd->wd <= 0 || (!pd->wrun && !read))
            throw("runtime: inconsistent write deadline");
        pd->wd = -1;
        publishInfo(pd);
        wg = netpollunblock(pd, POLL_W, /*ioready*/ false, &delta);
    }
    unlock(&pd->lock);
    netpollgoready_delta(rg, wg, delta);
}

static void netpollDeadline(void *pd, uint64_t seq, int64_t delay)
{
    (void)delay;
    netpolldeadlineimpl(pd, seq, true, true);
}
static void netpollReadDeadline(void *pd, uint64_t seq, int64_t delay)
{
    (void)delay;
    netpolldeadlineimpl(pd, seq, true, false);
}
static void netpollWriteDeadline(void *pd, uint64_t seq, int64_t delay)
{
    (void)delay;
    netpolldeadlineimpl(pd, seq, false, true);
}

/* Starts, moves or stops one deadline timer: d is the new deadline, 0 for none. */
static void deadline_timer(struct pollDesc *pd, struct timer *t, bool *run, uint64_t *seq,
                           int64_t d, bool changed, timer_fn f)
{
    if (*run && !changed)
        return;
    if (*run)
        ++*seq; /* the old firing must find nothing */
    if (d > 0)
        (void)timer_modify(t, d, 0, f, pd, *seq);
    else if (*run)
        (void)timer_stop(t);
    *run = d > 0;
}

/* netpoll.go poll_runtime_pollSetDeadline. One timer serves both directions when their deadlines
 * are equal. */
static void pollSetDeadline(struct pollDesc *pd, int64_t d, enum poll_mode mode)
{
    lock(&pd->lock);
    if (pd->closing) {
        unlock(&pd->lock);
        return;
    }
    int64_t rd0 = pd->rd, wd0 = pd->wd;
    bool combo0 = rd0 > 0 && rd0 == wd0;
    if (d > 0)
        d = time_when(d);
    if ((mode & POLL_R) != 0)
        pd->rd = d;
    if ((mode & POLL_W) != 0)
        pd->wd = d;
    publishInfo(pd);
    bool combo = pd->rd > 0 && pd->rd == pd->wd;
    deadline_timer(pd, &pd->rt, &pd->rrun, &pd->rseq, pd->rd, pd->rd != rd0 || combo != combo0,
                   combo ? netpollDeadline : netpollReadDeadline);
    deadline_timer(pd, &pd->wt, &pd->wrun, &pd->wseq, combo ? 0 : pd->wd,
                   pd->wd != wd0 || combo != combo0, netpollWriteDeadline);
    int32_t delta = 0;
    struct g *rg = pd->rd < 0 ? netpollunblock(pd, POLL_R, /*ioready*/ false, &delta) : NULL;
    struct g *wg = pd->wd < 0 ? netpollunblock(pd, POLL_W, /*ioready*/ false, &delta) : NULL;
    unlock(&pd->lock);
    netpollgoready_delta(rg, wg, delta);
}

/* netpoll.go poll_runtime_pollUnblock: the first half of a close. */
static void pollUnblock(struct pollDesc *pd)
{
    lock(&pd->lock);
    if (pd->closing)
        throw("runtime: unblock on closing polldesc");
    pd->closing = true;
    pd->rseq++;
    pd->wseq++;
    publishInfo(pd);
    int32_t delta = 0;
    struct g *rg = netpollunblock(pd, POLL_R, /*ioready*/ false, &delta);
    struct g *wg = netpollunblock(pd, POLL_W, /*ioready*/ false, &delta);
    if (pd->rrun)
        (void)timer_stop(&pd->rt);
    if (pd->wrun)
        (void)timer_stop(&pd->wt);
    pd->rrun = pd->wrun = false;
    unlock(&pd->lock);
    netpollgoready_delta(rg, wg, delta);
}

/* netpoll.go poll_runtime_pollClose. Descriptors are not reused, so there is no cache of pollDescs
 * to go back to. */
static void pollClose(struct pollDesc *pd)
{
    if (!pd->closing)
        throw("runtime: close polldesc w/o unblock");
    if (a_load(&pd->wg) > pdReady || a_load(&pd->rg) > pdReady)
        throw("runtime: blocked G on closing polldesc");
    a_store(&pd->open, 0u);
    descriptor_close(pd->fd);
}
