/* SPDX-License-Identifier: BSD-3-Clause */
/* The network poller (netpoll.go, netpoll_epoll.go) and what feeds it (arrivals.c: how work arrives
 * at descriptors).
 *
 * A descriptor is an object of the program; its fd is the dense index below nfd. Words rg and wg,
 * each:
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
#include "interp.h"

enum poll_error { pollNoError, pollErrClosing, pollErrTimeout };
enum poll_mode { POLL_R = 1, POLL_W = 2, POLL_RW = 3 }; /* as in struct poll_event */

#define pdNil   ((uintptr_t)0)
#define pdReady ((uintptr_t)1)
#define pdWait  ((uintptr_t)2)

typedef ATOMIC(uintptr_t) pollword;
typedef ATOMIC(int64_t) pollstamp;

struct pollDesc {
    int32_t fd;
    ATOMIC(uint32_t) open;       /* registered with the poller; a closed one gets no events */
    ATOMIC(uint32_t) atomicInfo; /* closing and expired deadlines: what netpollcheckerr reads */
    pollword rg, wg;
    struct mutex lock; /* the fields below */
    bool closing, rrun, wrun;
    uint64_t rseq, wseq; /* protect from stale deadline timers */
    int64_t rd, wd;      /* deadlines: ns, 0 none, -1 expired */
    struct timer rt, wt;
};

/* internal/poll.fdMutex: one reader and one writer at a time, the others sleep on the semaphores.
 * Bits: 0 closed, 1 read-locked, 2 write-locked, 3-22 references, 23-42 readers that wait, 43-62
 * writers that wait. */
struct fdMutex {
    ATOMIC(uint64_t) state;
    semaword rsema, wsema;
};

/* The outside world's end: requests that arrive and are read, numbered from 0. Env callbacks write
 * arrived and stamp; the poller's edge is what tells a parked reader. */
struct envfd {
    const struct arrivals *process; /* NULL: nothing ever arrives */
    ATOMIC(uint64_t) arrived;
    ATOMIC(uint64_t) dropped; /* arrivals that found the backlog full */
    ATOMIC(uint64_t) taken;   /* by the holder of the read lock */
    pollstamp *stamp;         /* arrival times of the last `backlog` ones */
    uint32_t backlog;         /* a power of two */
    /* Owned by the process: its callbacks; of ARRIVE_CLOSED: the holder of lock. */
    struct mutex lock;
    uint64_t made; /* arrivals begun */
    uint64_t rng;
    int64_t zero; /* when its time began */
};
enum { ENV_BACKLOG = 4096 }; /* SOMAXCONN */

/* internal/poll.FD: what an object of kind OBJ_FD points to. */
struct pollfd {
    struct pollDesc pd;
    struct fdMutex mu;
    semaword csema; /* Close waits until the last user is gone */
    struct envfd env;
};

enum { FD_CHUNK = 256, FD_CHUNKS_MAX = 4096 }; /* at most 2^20 descriptors, as the hosts */

enum { FD_SYSCALL_NS = 300 }; /* what read(2) and write(2) do for a small message, an estimate */

struct netpoll {
    struct mutex initlock;
    ATOMIC(uint32_t) inited;
    ATOMIC(uint32_t) wakeSig; /* a break is in flight (1.15+) */
    ATOMIC(int32_t) waiters;  /* netpollWaiters */
    struct mutex lock;        /* growing of the table */
    int32_t nfd;
    bool started; /* env_start ran: new descriptors start at once */
    struct pollfd **chunk[FD_CHUNKS_MAX];
};

/* ---- for the scheduler ---- */
static void netpoll_world_init(void); /* once, after rt.prog is set */
static void env_start(void); /* before main runs: opens the descriptors, schedules arrivals */
/* delay < 0: block (1.13: until something is ready), 0: look, > 0: at most that long. Ready Gs are
 * pushed on list, so they come off it in reverse. Returns what to add to the waiters AFTER they are
 * readied (<=1.21: 0). */
static int32_t netpoll(int64_t delay, struct gList *list);
static bool netpollinited(void);
static bool netpollAnyWaiters(void);
static void netpollAdjustWaiters(int32_t delta);
static void netpollBreak(void);
static void netpollGenericInit(void);

/* ---- for programs. When an operation is over its result is in gp->opval: 0, or for a read the
 * number of the request; -1 (closed) and -2 (deadline) otherwise. A read leaves the request's
 * arrival time in gp->param. ---- */
/* Index of the arrival process, -1: none. NULL: too many. */
static struct pollfd *netpoll_open(int32_t arrivals);
/* POLL_R or POLL_W. */
static enum opres netpoll_wait_op(struct g *gp, struct pollfd *fd, enum poll_mode mode);
/* FD.Read: parks while read(2) finds nothing. */
static enum opres netpoll_read_op(struct g *gp, struct pollfd *fd);
/* ... without read(2). */
static enum opres netpoll_take_op(struct g *gp, struct pollfd *fd);
static enum opres netpoll_write_op(struct g *gp, struct pollfd *fd); /* FD.Write of an answer */
/* FD.Close: wakes its users and waits until they are gone. */
static enum opres netpoll_close_op(struct g *gp, struct pollfd *fd);
/* SetDeadline and its two halves: d ns from now; d < 0: none any more. */
static void netpoll_set_deadline(struct pollfd *fd, int64_t d, enum poll_mode mode);

/* arrivals.c */
static void env_init(struct pollfd *fd, int32_t arrivals);
static void env_begin(struct pollfd *fd); /* its arrivals start */
static bool env_take(struct envfd *e, uint64_t *request, int64_t *when);
static bool env_readable(struct envfd *e);
static void env_answered(struct pollfd *fd);
/* ARRIVE_POSTED: one arrives in `after` ns. */
static void env_post(struct pollfd *fd, int64_t after);

/* ---- fd.c for the others ---- */
static enum poll_mode op_mode(const struct g *gp);

/* ---- netpoll.c for the others ---- */
static struct pollfd *fd_of(int32_t fd);
static int64_t netpollcheckerr(struct pollDesc *pd, enum poll_mode mode);
static pollword *poll_word(struct pollDesc *pd, enum poll_mode mode);
static bool netpollblockcommit(struct g *gp, void *word);
static void pollSetDeadline(struct pollDesc *pd, int64_t d, enum poll_mode mode);
static void pollUnblock(struct pollDesc *pd);
static void pollClose(struct pollDesc *pd);

#endif
