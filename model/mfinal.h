/* SPDX-License-Identifier: BSD-3-Clause */
/* Finalizers and cleanups. There are no objects: a program says that one was made and dropped, and
 * what is to run once it is found to be garbage. Such a *special* goes
 *
 *   cached    the program has dropped its object, which is in the span that its P allocates from
 *   live      ... in another span
 *   unswept   a marking is over that began later: the object's span waits for the sweeper
 *   queued    the object's span was swept: for the finalizer goroutine (mfinal.c), or in a block
 *             for the cleanup goroutines (mcleanup.c, 1.25+)
 *
 * Only a program that has any has a struct finalizers; in others nobody looks for queued ones.
 * Included by runtime2.h. */
#ifndef MODEL_MFINAL_H
#define MODEL_MFINAL_H

struct special {
    struct special *next;
    uint64_t rng; /* what the function draws from */
    uint32_t func, nargs;
    uint32_t cycle; /* collections that had begun */
    bool cleanup;
    bool opens_block; /* the oldest in its block of the finalizers' queue */
    int64_t args[];
};

struct specials {
    struct special *head, *tail;
    int32_t n;
};

enum { CLEANUPS_MAX = 60 }; /* of a block; 1.26+: 20 */
struct cleanupBlock {
    ATOMIC(uint64_t) next; /* of lfstack */
    uint32_t id, pushcnt;
    uint32_t n;
    struct special *cleanups[CLEANUPS_MAX];
};

typedef ATOMIC(uint64_t) lfstack; /* id of the top block | its pushcnt << 32 */

struct cleanupQueue {
    struct mutex lock;
    lfstack full, free;
    ATOMIC(uint64_t) workUnits; /* full blocks that nobody claimed */
    ATOMIC(bool) flushed;
    struct gList sleeping;   /* lock */
    ATOMIC(uint32_t) asleep; /* its length, or one more for a moment */
    ATOMIC(uint32_t) running;
    ATOMIC(uint32_t) ng, needg;  /* goroutines there are, and to be made by the next AddCleanup */
    struct cleanupBlock **local; /* by P: being filled */
    struct mutex alloc_lock;     /* of blocks: */
    struct cleanupBlock *chunks[32]; /* block id is in chunks[k] at id - 2^k */
    uint32_t nblocks;
};

struct finalizers {
    struct mutex speciallock; /* live and unswept */
    struct specials live, unswept;
    struct specials *cached; /* by P */

    struct mutex lock;    /* finlock */
    struct special *finq; /* newest first */
    int32_t finq_n;
    struct special *taken; /* what the finalizer goroutine has before it; its own */
    bool block_ends;       /* the special that it runs is the last of its block; its own */
    struct g *fing;
    ATOMIC(uint32_t) status;
    ATOMIC(bool) fingwait, fingwake; /* <=1.19 */

    ATOMIC(uint32_t) sweeping; /* activeSweep: sweepers, and whether all is swept */
    int64_t other_spans;       /* to sweep after those with specials; as sweeping begins */
    struct cleanupQueue cleanups;
};

enum { fingCreated = 1, fingRunningFinalizer = 2, fingWait = 4, fingWake = 8 };

enum { SWEEP_DRAINED = 1 << 30 }; /* of finalizers.sweeping */

struct insn;
struct cleanupQueue;
/* ---- for the scheduler and the collector ---- */
static void specials_init(void);
static void fin_look(void);         /* findRunnable, step 6 */
static void specials_unsweep(void); /* marking has ended: the world is stopped */
static void specials_flush(struct p *pp, bool sweep);
static void sweep_special_span(void);
static void cleanups_flush(void);
static enum opres finalizer_returns(struct g *gp);
static enum opres cleanup_run(struct g *gp);

/* ---- mcleanup.c for mfinal.c ---- */
static void cleanups_init(struct cleanupQueue *q);
static void cleanup_enqueue(struct special *s, struct p *pp);
static bool cleanups_needWake(void);
static void cleanups_wake(void);

/* ---- mcleanup.c for the others ---- */
static struct cleanupBlock *block_at(struct cleanupQueue *q, uint32_t id);
static enum opres op_cleanup(struct g *gp, const struct insn *in);

/* ---- mfinal.c for the others ---- */
static void addspecial(struct g *gp, const struct insn *in, bool cleanup);
static void special_call(struct g *gp, struct special *s, enum frame_kind kind);
static void special_goroutine(struct g *gp);
static void createfing(void);
static enum opres op_finalizer(struct g *gp, const struct insn *in);

#endif
