/* SPDX-License-Identifier: BSD-3-Clause */
/* The collector as the scheduler feels it: when it starts, what it runs where and for how long,
 * whom it stops. There are no objects: the heap is a number of bytes, of which the program says how
 * many stay reachable. Included by runtime2.h.
 *
 *   gcpacer.c  how much work, how many workers, which P runs one  (mgcpacer.go)
 *   gcwork.c   marking: workers, assists, credit                  (mgc.go, mgcmark.go)
 *   gc.c       the cycle: start, mark termination, sweep,         (mgc.go, mgcsweep.go,
 *              triggers                                            proc.go forcegchelper)
 *   malloc.c   allocation: the P's cache, the central list,       (malloc.go, mcache.go)
 *              the trigger
 */
#ifndef MODEL_GC_H
#define MODEL_GC_H

enum gcphase { GCoff, GCmark, GCmarktermination };
enum gcMarkWorkerMode { gcNotWorker, gcDedicated, gcFractional, gcIdle };
_Static_assert((int)gcIdle == (int)EV_gcmode_idle, "as records name them");
enum gcMode { gcBackgroundMode, gcForceMode, gcForceBlockMode };
enum gcTrigger { gcTriggerHeap, gcTriggerTime, gcTriggerCycle };

struct gcp {
    uint8_t mode;                /* enum gcMarkWorkerMode: for the worker that runs here next */
    struct g *nextMarkWorker;    /* 1.26+: placed here by the restart of the world */
    ATOMIC(struct g *) bgWorker; /* <=1.15: the P's own worker while it is parked or runs here */
    int64_t fractionalTime;      /* ns of this cycle */
    int64_t workerStart;
    int64_t cache_left; /* bytes of mcache that can be handed out without a lock */
};

struct gcController {
    ATOMIC(uint32_t) blackenEnabled;
    uint32_t phase; /* changes while the world is stopped */
    ATOMIC(uint32_t) cycles;
    maskword startSema, markDoneSema;

    /* the heap, in bytes */
    ATOMIC(int64_t) heapLive;  /* allocated and not known to be dead */
    ATOMIC(int64_t) reachable; /* what the program holds */
    ATOMIC(int64_t) trigger;
    int64_t heapMarked, goal;
    int64_t allocatedInMark; /* heapLive when the cycle began, to know what was allocated black */
    int64_t runway;          /* allocated during the last mark phase */
    struct mutex central;

    /* marking */
    ATOMIC(int64_t) remaining; /* bytes to scan that nobody took */
    ATOMIC(int32_t) active;    /* workers and assists between gcBeginWork and gcEndWork */
    uint32_t heapPeak;         /* KB that heapLive ever had; by who holds central */
    ATOMIC(int64_t) bgScanCredit;
    ATOMIC(int64_t) assistRatio; /* bytes to scan per byte allocated, << 16 */
    ATOMIC(struct g *) rootNext; /* whose stack is scanned next */
    struct g *rootLast;
    struct g fixedRoot; /* no goroutine: stands for the first root, the stacks of dead Gs */
    int64_t markStart;
    uint8_t mode; /* enum gcMode of this cycle */
    ATOMIC(int32_t) dedicatedNeeded;
    int64_t fracNum, fracDen; /* fractional goal; 0/1 none */
    ATOMIC(int32_t) idleWorkers;
    int32_t idleMax;

    /* workers: Gs by index; the pool of waiting ones is a lock-free stack, index + 1 | counter <<
     * 32. <=1.15: no pool, nworkers is the P that the start of workers looks at. */
    struct g **workers;
    int32_t nworkers, workers_cap;
    ATOMIC(uint64_t) pool;
    struct note ready; /* <=1.22: a worker says that it runs */
    /* 1.23+, and gcenable: the same over a channel. The G that is parked in a receive, and how many
     * sends nobody has received. */
    ATOMIC(struct g *) starter;
    ATOMIC(int32_t) started;

    ATOMIC(bool) leak_pending;    /* 1.26+, leak.c: the next cycle looks for leaked goroutines */
    bool leak_enabled, leak_done; /* this cycle looks, has looked; changed in a stopped world */
    int32_t leak_rounds;
    uint32_t heapWritten; /* KB of memory that was used twice; by who holds central */
    struct leaks *leaks;

    struct mutex assistLock;
    struct gQueue assistQueue;
    ATOMIC(int32_t) nassist; /* length of the queue, peeked */
    struct mutex sweepWaiters;
    struct gList sweepWaitList;

    ATOMIC(int64_t) sweepLeft; /* spans */
    struct mutex sweepLock;
    struct g *sweepG;
    bool sweepParked;
    uint32_t scanNsPerKb; /* of this cycle */

    struct mutex forcegcLock;
    struct g *forcegcG;
    ATOMIC(bool) forcegcIdle;
    ATOMIC(int64_t) last_gc; /* ns; 0: none yet */
    ATOMIC(int64_t) hidden;  /* bytes to scan that nobody knows yet (gc_fanout) */
};

enum { ROOT_BYTES_PER_G = 1024, ASSIST_MAX = 1 << 30 };
/* Ratios of marking to allocating are fixed-point numbers. */
enum { RATIO_ONE = 1 << 16 };

struct p;
struct g;
enum opres;

/* ---- for the scheduler ---- */
static void gc_init(void);                 /* once, before the first P */
static enum opres gc_enable(struct g *gp); /* runtime.main: starts the system goroutines */
static void gc_p_init(struct p *pp);
static void gc_p_destroy(struct p *pp);
static inline bool gc_blacken(void); /* marking is on */
/* A worker, made runnable, in limbo. */
static COLD struct g *gc_findRunnableWorker(struct p *pp, int64_t *now);
static bool gc_shouldScheduleWorker(struct p *pp);
static struct g *gc_idleWorker(struct p *pp); /* findRunnable, step 11: a worker that still waits */
/* Step 15: a worker that still waits; *pp taken from the idle list. */
static struct g *gc_checkIdleNoP(struct p **pp);
static inline void gc_releaseNextWorker(struct p *pp); /* 1.26+ */
static bool gc_assignWaitingWorker(struct p *pp, int64_t now);
static void gc_sysmon(int64_t now);             /* periodic GC */
static void gc_flushAssistCredit(struct g *gp); /* gdestroy */

/* ---- for programs (interp.c) ---- */
static enum opres gc_alloc(struct g *gp, int64_t bytes, bool live); /* mallocgc */
static bool assists_first(struct g *gp, const struct insn *in, enum opres *r);
static void gc_free(int64_t bytes); /* live memory becomes garbage */
static enum opres runtime_GC(struct g *gp);
static enum opres runtime_leakProfile(struct g *gp); /* leak.c */

/* ---- gc.c for the others ---- */
static bool trigger_test(enum gcTrigger kind, int64_t n);
static enum opres gcStart(struct g *gp, enum gcTrigger kind, int64_t n);
static enum opres gcMarkDone(struct g *gp);
static void ragged_barrier(struct g *gp, void (*fn)(struct p *), enum waitreason reason);

/* ---- gcpacer.c for the others ---- */
static int64_t mul_div(int64_t x, int64_t y, int64_t z);
static void gc_commit(void);
static void gc_revise(void);
static void gc_startCycle(enum gcTrigger trigger);
static COLD void workers_push(struct g *gp);
static bool gc_work_left(void);
static void markWorkerStop(enum gcMarkWorkerMode mode);

/* ---- gcwork.c for the others ---- */
static void bound_worker_dismiss(struct p *pp);
static void started_send(void);
static enum opres gcAssistAlloc(struct g *gp);

/* ---- leak.c for the others ---- */
static void leaks_start(void);
static bool leaks_more(void);
static int32_t world_strand(bool stopped);

#endif
