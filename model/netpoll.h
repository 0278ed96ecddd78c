/* SPDX-License-Identifier: BSD-3-Clause */
/* The network poller (netpoll.go, netpoll_epoll.go) and what feeds it (env.c: arrival processes of descriptors).
 *
 * A descriptor is an object of the program; its fd is the dense index below nfd. Words rg and wg, each:
 *
 *   pdNil -> pdWait          netpollblock: a G is about to park
 *   pdWait -> G              netpollblockcommit: it is parked (netpollWaiters + 1)
 *   pdNil, pdWait, G -> pdReady   netpollunblock(ioready): the poller saw the descriptor ready
 *   pdWait, G -> pdNil       netpollunblock(!ioready): deadline or close
 *   pdReady -> pdNil         netpollblock consumes it; pollReset drops it
 *
 * Whoever takes a G out of the word owns its wake-up. */
#ifndef MODEL_NETPOLL_H
#define MODEL_NETPOLL_H
#include "runtime2.h"
#include "step.h"

enum poll_error { pollNoError, pollErrClosing, pollErrTimeout, pollErrNotPollable };
enum poll_mode { POLL_R = 1, POLL_W = 2, POLL_RW = 3 }; /* as in struct poll_event */

#define pdNil ((uintptr_t)0)
#define pdReady ((uintptr_t)1)
#define pdWait ((uintptr_t)2)

struct pollDesc {
    int32_t fd;
    ATOMIC(uint32_t) open;       /* ours: registered with the poller; a closed one gets no events */
    ATOMIC(uint32_t) atomicInfo; /* pollClosing, pollExpired*: what netpollcheckerr reads */
    ATOMIC(uintptr_t) rg, wg;
    struct mutex lock; /* the fields below */
    bool closing, rrun, wrun;
    uint64_t rseq, wseq; /* protect from stale deadline timers */
    int64_t rd, wd;      /* deadlines: ns, 0 none, -1 expired */
    struct timer rt, wt;
};

/* The outside world's end of a descriptor: requests that arrive and are read, numbered from 0. The env callbacks of its process
 * write `arrived` and `stamp`, readers take under `lock`; the poller's edge is what tells a parked reader. */
struct envfd {
    int32_t fd;
    const struct arrivals *process; /* NULL: nothing ever arrives */
    ATOMIC(uint64_t) arrived;
    ATOMIC(uint64_t) dropped; /* arrivals that found the backlog full */
    struct mutex lock;        /* taken; Go's fdMutex, which parks, is not modelled: readers hold it for no time */
    ATOMIC(uint64_t) taken;
    uint64_t made; /* arrivals begun so far; env callbacks only, as next and rng */
    uint64_t next; /* ARRIVE_TIMES: index of the next one */
    struct rng *rng;
    int64_t *stamp; /* ENV_BACKLOG arrival times */
};
enum { ENV_BACKLOG = 4096 }; /* SOMAXCONN; a power of two */

struct netpoll {
    struct mutex initlock;
    ATOMIC(uint32_t) inited;
    ATOMIC(uint32_t) wakeSig; /* a break is in flight (1.15+) */
    ATOMIC(int32_t) waiters;  /* netpollWaiters */
    int32_t nfd;
    struct pollDesc *pd; /* by fd: descriptors in the order of the program's objects */
    struct envfd *env;   /* by fd */
};

/* ---- for the scheduler ---- */
static void netpoll_world_init(void); /* once; after timers_world_init */
static void env_start(void);          /* when the program starts: schedules the first arrivals */
/* delay < 0: block (1.13: until something is ready), 0: look, > 0: at most that long. Ready Gs are pushed on list, so they come off
 * it in reverse. Returns what to add to the waiters AFTER they are readied (0 <= 1.21). */
static int32_t netpoll(int64_t delay, struct gList *list);
static bool netpollinited(void);
static bool netpollAnyWaiters(void);
static void netpollAdjustWaiters(int32_t delta);
static void netpollBreak(void);
static void netpollGenericInit(void);
/* proc.c */
static void wakeNetPoller(int64_t when);

/* ---- for programs (interp.c). When the operation is over the result is in gp->opval: 0, or for a read the number of the
 * request; -1 (pollErrClosing) and -2 (pollErrTimeout) otherwise. A read leaves the request's arrival time in gp->param. ---- */
static enum opres netpoll_wait_op(struct g *gp, int32_t fd, enum poll_mode mode);
static enum opres netpoll_read_op(struct g *gp, int32_t fd);                   /* FD.Read: parks while read(2) finds nothing */
static enum opres netpoll_write_op(struct g *gp, int32_t fd, int64_t request); /* FD.Write: the answer to a request */
static void netpoll_close(int32_t fd); /* wakes its waiters; nothing when closed already */
static void netpoll_set_deadline(int32_t fd, int64_t d, enum poll_mode mode); /* in d ns; d < 0: none */

#endif
