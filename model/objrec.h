/* SPDX-License-Identifier: BSD-3-Clause */
/* What the objects of a program consist of: the model's, and for whoever looks into a world that
 * stands still. */
#ifndef MODEL_OBJREC_H
#define MODEL_OBJREC_H
#include "runtime2.h"

struct waitq {
    ATOMIC(struct sudog *) first;
    struct sudog *last;
};

struct hchan {
    struct mutex lock;
    ATOMIC(uint32_t) qcount;
    ATOMIC(uint32_t) closed;
    uint32_t dataqsiz, sendx, recvx;
    int32_t index;       /* of the object; the order in which a select locks */
    struct timer *timer; /* feeds this channel, 1.23+ semantics; set before any use */
    struct waitq recvq, sendq;
    int64_t *buf;
    struct hchan *locked_before; /* by a select that holds the lock */
};

/* sync.Mutex: 1 locked, 2 woken, 4 starving, waiters << 3. */
struct smutex {
    ATOMIC(int32_t) state;
    semaword sema;
};

struct rwmutex {
    struct smutex w;
    semaword writerSem, readerSem;
    ATOMIC(int32_t) readerCount, readerWait;
};

struct waitgroup {
    ATOMIC(uint64_t) state; /* counter << 32 | waiters */
    semaword sema;
};

struct notifyList {
    ATOMIC(uint32_t) wait, notify;
    struct mutex lock;
    struct sudog *head, *tail;
};

/* sync.Cond. Its Locker is a Mutex, an RWMutex, or the RLocker of one. */
struct cond {
    struct smutex *L;   /* NULL: rw below is the Locker */
    struct rwmutex *rw; /* NULL: L is */
    bool rlocker;
    struct notifyList notify;
};

struct once {
    ATOMIC(uint32_t) done;
    struct smutex m;
};

/* golang.org/x/sync/semaphore. Its sync.Mutex is our lock: it is held for no time. */
struct weighted {
    struct mutex lock;
    int64_t size, cur;
    struct sudog *head, *tail; /* FIFO, val = how much */
};

struct poolLocals;
struct pool {
    ATOMIC(struct poolLocals *) local; /* a place per P; NULL: none yet, or a collection came */
    ATOMIC(int32_t) localSize;
    ATOMIC(int32_t) victimSize;
    struct poolLocals *victim;       /* local before the last collection; written while it stops */
    struct poolLocals *lost, *spare; /* too small for the Ps there are; to be used again */
    struct pool *next, *next_old;    /* allPools, oldPools */
};

/* The Pools that have a local, and those that may have a victim (touched in stopped worlds). */
struct pools {
    struct smutex allPoolsMu; /* allPools */
    struct pool *allPools, *oldPools;
};

struct var {
    ATOMIC(uint64_t) v; /* an int64; unsigned, because overflow wraps */
};

struct ctx {
    ATOMIC(uint32_t) err;        /* 0 nil, 1 canceled, 2 deadline exceeded */
    ATOMIC(int64_t) done_handle; /* of done */
    int64_t deadline;            /* 0: none */
    struct timeTimer *timer;
    /* objs.ctxlock: */
    struct ctx *parent, *children, *last, *next, *prev;
    struct ctx *mark;   /* chain of those that one cancel ends */
    struct hchan *done; /* made by the first Done */
    bool close_done;
};

enum panic_kind { PANIC_KIND_NONE, PANIC_KIND_TEXT, PANIC_KIND_INT, PANIC_KIND_GOEXIT };
_Static_assert((int)PANIC_KIND_GOEXIT == (int)EV_panicked_goexit, "as records name them");

struct coroutine {
    ATOMIC(struct g *) gp; /* whoever is not running: c.gp */
    struct m *mp;          /* 1.23+: the thread that must switch, if it was locked at creation */
    uint32_t lockedExt, lockedInt;
    int64_t v;
    bool ok, yieldNext, done;
    bool exiting;       /* the coroutine's function ended: the switch destroys its G */
    bool goexit;        /* ... by Goexit, which next or stop repeats */
    uint8_t panic_kind; /* ... by a panic, likewise */
    int64_t panic_value;
};

struct panicRecord {
    struct panicRecord *link; /* the one that was going on before */
    int64_t value;
    uint32_t fp;       /* frame that panicked */
    uint32_t defer_fp; /* frame whose deferred call runs now */
    int32_t defer_func;
    uint8_t kind;
    bool recovered;
};

struct deferRecord {
    struct deferRecord *link;
    struct once *once; /* NULL, or a call of Once.Do's cleanup instead of func */
    uint32_t fp, func;
    int32_t frame_func; /* the function of fp */
    uint32_t nargs;
    int64_t args[];
};

struct object {
    void *p;
    uint8_t kind;
};

/* Chunk k holds 64 << k of them. */
enum { OBJ_CHUNKS = 26, CHAN_SIZE_MAX = 1 << 30 };

/* OBJ_TIMER: time.Timer or time.Ticker and its channel's handle. */
struct timerObject {
    struct timeTimer *t;
    int64_t c;
    bool ticker;
};

struct semaRoot {
    struct mutex lock;
    struct sudog *heads;
    ATOMIC(uint32_t) nwait; /* read without the lock */
};

struct objects {
    struct mutex lock;
    int64_t made; /* the program's come first, in its order */
    ATOMIC(struct object *) chunk[OBJ_CHUNKS];
    struct mutex stacklock;
    void *stackfree[32]; /* by order of size */
    struct mutex ctxlock;
    struct pools *pools; /* NULL: there is none */
    struct semaRoot *semtable;
};
#endif
