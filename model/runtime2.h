/* SPDX-License-Identifier: BSD-3-Clause */
/* G, M, P and the scheduler as data (runtime2.go). Everything lives in the world's arena; pointers
 * never reach a record.
 *
 *   G   Gidle -> Gdead -> Grunnable <-> Grunning -> Gwaiting -> Grunnable; Grunning <-> Gsyscall;
 *       gstatus.c has the table
 *   M   no status word: (p, curg, spinning, on midle?, lockedg, note) is its state
 *   P   Pidle <-> Prunning [<-> Psyscall, <=1.25] -> Pgcstop -> Pidle; Pdead after procresize
 *
 * A field declared ATOMIC is read or written by Ms that do not own it. A plain field belongs to the
 * M that runs the G, to the M itself, to the M that holds the P, or to the holder of the lock named
 * beside it. */
#ifndef MODEL_RUNTIME2_H
#define MODEL_RUNTIME2_H
#include <host.h>
#include <stdbool.h>
#include <stdint.h>

#include "profile.h"
#include "prog.h"

enum gstatus {
    Gidle = 0,
    Grunnable = 1,
    Grunning = 2,
    Gsyscall = 3,
    Gwaiting = 4,
    Gdead = 6,
    Gcopystack = 8,
    Gpreempted = 9,
    Gleaked = 10,
    Gdeadextra = 11,
    Gscan = 0x1000,
};

enum pstatus { Pidle, Prunning, Psyscall, Pgcstop, Pdead };

/* stackguard0: anything but GUARD_NORMAL makes the next function prologue enter newstack. */
enum { GUARD_NORMAL = 0, GUARD_PREEMPT = 1 };

enum waitreason {
#define WAITREASON(name, text) waitReason##name,
#include "waitreason.def"
#undef WAITREASON
    WAITREASONS
};
_Static_assert((int)WAITREASONS == (int)EV_wait_Coroutine + 1, "as records name them");

struct g;
struct m;
struct p;
struct hchan;
struct timer;

typedef bool (*unlockf_fn)(struct g *gp, void *lock);
typedef void (*mcall_fn)(struct g *gp);

/* ---- locks and notes (lock.c, note.c) ---- */
enum lockrank {
#define LOCKRANK(name, ...) lockRank##name,
#include "lockrank.def"
#undef LOCKRANK
    LOCKRANKS
};

struct mutex {
    ATOMIC(uint32_t) key; /* tristate (<=1.23): 0 free, 1 locked, 2 locked with sleepers */
    ATOMIC(uint64_t)
    word; /* spinbit (>=1.24): bits 0 locked, 1 sleeping, 8 spinning, 9 stack locked, 10.. M id + 1
           */
    /* lockrank.c; sets of ranks, empty for a leaf. */
    uint64_t rank_bit; /* its own */
    uint64_t ask;      /* those that may not be held, and its own: a second one is counted */
};
struct note {
    ATOMIC(uint32_t) key;
};

typedef ATOMIC(struct g *) gslot;  /* guintptr: a ring slot, runnext */
typedef ATOMIC(uint32_t) maskword; /* a word of a pMask, a tick */
typedef maskword semaword; /* a semaphore is its counter; waiters are found by its address */

/* What is rare: out of the way of what is not, which then needs fewer registers. */
#define COLD __attribute__((noinline, cold))
/* What comes last where something shorter would often have been enough: the same, but not rare. */
#define OUTLINE __attribute__((noinline))

/* ---- queues of Gs by schedlink ---- */
struct gQueue { /* FIFO */
    struct g *head, *tail;
    int32_t size;
};
struct gList { /* LIFO */
    struct g *head;
    int32_t size;
};

/* A G waiting on one object (runtime2.go sudog). elem travels in val. */
struct sudog {
    struct g *g;
    struct sudog *next, *prev; /* channel queue, semaphore root, Cond list, cache list */
    struct sudog *waitlink;    /* g.waiting chain: the cases of a select */
    void *c;                   /* struct hchan *, or the semaphore / Cond */
    int64_t val;               /* the element: what a sender sends, what a receiver got */
    uint32_t ticket;           /* semaphores: 1 = handed over; Cond: its number */
    uint16_t index;            /* select: which case */
    bool isSelect, success;
};

enum { GREGS_INLINE = 6, KONT_MAX = 6 };

/* g.system; SYSTEM_SPECIALS runs finalizers or cleanups. */
enum { SYSTEM_NOT, SYSTEM_ALWAYS, SYSTEM_SPECIALS };

/* What few Gs have; stays with the G when it is reused. */
struct gext {
    struct cleanupBlock *cleanups; /* the block that a cleanup goroutine works on */
    uint32_t cleanup;              /* and how far it is in it */
    struct timer *sleep;           /* timeSleep's */
    struct panicRecord *panics;
    struct deferRecord *defers;
    struct coroutine *coro; /* the coroutine that this G is */
};

/* Small: with its sudog 240 bytes, for a million parked Gs. Hence numbers no wider than they need
 * be, and no pointer that says what another field does. */
struct g {
    ATOMIC(uint32_t) atomicstatus;
    ATOMIC(uint8_t) stackguard0;
    ATOMIC(uint8_t) selectDone;
    ATOMIC(bool) preempt;
    ATOMIC(bool) preemptStop; /* by the suspender, under the scan bit; read by the G */
    ATOMIC(struct m *) m;
    ATOMIC(struct m *) lockedm;
    struct g *schedlink, *alllink;
    struct sudog *waiting; /* 1.26+: semaphore and Cond waits too */
    void *param; /* the sudog or timer that woke us; passes results to the step that resumes */
    union {      /* ns */
        int64_t waitsince;   /* while it waits */
        int64_t runnable_at; /* from when it is runnable until it runs (latency records) */
    };
    uint64_t rng;     /* stream of the program's own draws; a child's comes from its parent's */
    struct gext *ext; /* NULL until it needs one (g_ext) */
    int64_t opval;    /* scratch of the operation in progress, valid across a park */
    void *opobj;
    uint32_t goid;         /* as in records: 2^32 of them in one run */
    uint32_t pc;           /* next instruction of its program */
    uint32_t fp;           /* word of the stack where the frame's registers begin (stack.c) */
    int32_t group;         /* index of the program's goroutine group */
    int32_t func;          /* of the current frame */
    int32_t gcAssistBytes; /* credit (+) or debt (-) */
    int16_t owner; /* limbo: 1 + id of the M that alone knows this runnable G; 0: a queue does */
    uint8_t waitreason;
    uint8_t nkont;
    uint8_t kont[KONT_MAX]; /* steps to run when the G continues, last first (step.h) */
    uint8_t stack_order;    /* the stack has 2^this words; 0: it is inline_regs */
    uint8_t system;         /* enum above: the runtime's own G does not count for deadlock */
    bool extra;             /* of an extra M (extram.c) */
    bool has_ext_wake;      /* a poll descriptor or timer will wake it (leak reports) */
    bool check_seen : 1;    /* check.c */
    bool stranded : 1;      /* nobody can ever wake it (world_strand) */
    bool unannounced : 1;   /* Gosched up to 1.21 put it on the global queue and woke nobody */
    bool stack_grew : 1;    /* no stack of the size that goroutines start with */
    bool no_stack : 1;      /* dead, and its stack was freed */
    bool paid : 1;          /* the instruction at pc has assisted for what it allocates */
    bool has_timer : 1;     /* for time.Sleep, made by the first one */
    union {
        int64_t inline_regs[GREGS_INLINE];
        int64_t *grown; /* when it did not fit any more */
    };
};
_Static_assert(sizeof(struct g) + sizeof(struct sudog) <= 240, "a parked G must stay small");

/* traceback.go isSystemGoroutine: one that runs finalizers or cleanups is the program's while it is
 * in one of them. */
static inline bool isSystemGoroutine(const struct g *gp)
{
    return gp->system == SYSTEM_ALWAYS || (gp->system == SYSTEM_SPECIALS && gp->func < 0);
}

/* Per-M tallies; their sum is the world's (struct core's counters). */
enum counter {
#define COUNTER(name, what) C_##name,
#include "counters.def"
#undef COUNTER
    COUNTERS
};

enum mstart_kind { MSTART_LOOP, MSTART_SPINNING, MSTART_SYSMON, MSTART_TEMPLATE, MSTART_EXTRA };
_Static_assert((int)MSTART_EXTRA == (int)EV_thread_extra, "as records name them");

/* m.freeWait: does the exited thread still use its stack? */
enum { FREEM_STACK, FREEM_REF, FREEM_WAIT };

struct m {
    struct hostm host;
    int32_t id;
    ATOMIC(struct g *) curg; /* NULL: on g0 */
    ATOMIC(struct p *) p;
    struct p *nextp; /* P to take at wake-up; written before the wake */
    struct p *oldp;  /* P held before the system call (a hint) */
    int32_t locks;
    bool spinning; /* written by startm while the M sleeps, else by the M */
    bool blocked, incgo, isExtraInC, needextram;
    bool bound;       /* 1.21+: an extra M that its C thread keeps */
    bool exiting;     /* mexit ran: the thread function returns */
    bool onmidle;     /* on sched.midle (sched.lock) */
    bool insafe;      /* user code at a safe point for a signal (interp.c, around a burst) */
    bool asyncinject; /* the handler injected asyncPreempt */
    uint8_t mstartkind;
    const char *preemptoff; /* non-NULL: not preemptible */
    int32_t mallocing;
    struct note park;
    struct m *alllink;               /* sched.lock */
    struct m *schedlink;             /* midle (<=1.25), extra list, newm hand-off */
    struct m *idle_prev, *idle_next; /* midle (>=1.26) */
    struct m *freelink;
    ATOMIC(uint32_t) freeWait;
    struct g *lockedg;
    uint32_t lockedExt, lockedInt;
    unlockf_fn waitunlockf;
    void *waitlock;
    mcall_fn mcallfn; /* what g0 does when the G's code returns to the loop */
    uint32_t syscalltick;
    ATOMIC(uint32_t) preemptGen, signalPending;
    ATOMIC(uint32_t) waitsema; /* spinbit: semasleep */
    uint64_t mWaitNext;        /* spinbit: next sleeper (M id + 1) */
    uint64_t rng;
    struct g *signalg; /* unused except by extra Ms: the placeholder G */
    int64_t since;     /* ns, for records: it runs curg, is in curg's system call, or spins */
    uint64_t counters[COUNTERS];
    uint64_t held;             /* ranks of the runtime mutexes it holds */
    uint32_t again[LOCKRANKS]; /* how many of each besides the first */
    uint32_t nagain;           /* of all ranks */
    maskword traced[2];        /* events in its trace buffers (1.22+), by generation */
};

/* Why a frame was pushed: what its return does. */
enum frame_kind {
    FRAME_CALL,
    FRAME_DEFER,     /* a deferred call while its function returns */
    FRAME_PANIC,     /* ... while the G panics */
    FRAME_GOEXIT,    /* ... during Goexit */
    FRAME_RECOVERED, /* ... of a function whose panic was recovered */
    FRAME_CGOCB,     /* called from C */
    FRAME_FINALIZER, /* called by the finalizer goroutine */
    FRAME_CLEANUP    /* ... by one for cleanups */
};

#include "timer.h" /* struct timers, needs mutex */
#include "gc.h"    /* struct gcp, struct gcController */
#include "mfinal.h"

struct sysmontick {
    uint32_t schedtick, syscalltick;
    int64_t schedwhen, syscallwhen;
};

/* What the cache of a P has of memory that was never touched (firsttouch.c). */
struct touched {
    uint32_t gs : 5, /* taken of its span, those of Ms among them */
        stacks : 5,  /* of 2 KB, left of the last refill */
        waited : 1,  /* a goroutine of the program has, on this P */
        sizes : 21;  /* of closures, a bit each */
};

struct p {
    /* What thieves touch comes first; the ring follows on its own lines. */
    ATOMIC(uint32_t) runqhead; /* thieves and owner CAS */
    ATOMIC(uint32_t) runqtail; /* only the owner stores */
    gslot runnext;
    gslot *runq; /* ring_len slots */
    ATOMIC(uint32_t) status;
    ATOMIC(struct m *) m;
    int32_t id;
    uint32_t ringmask;
    maskword schedtick, syscalltick; /* read by sysmon */
    struct p *link;                  /* pidle list, procresize's list (sched.lock) */
    struct m *oldm;                  /* 1.26+: last M */
    struct sysmontick sysmontick;    /* sysmon only */
    uint64_t goidcache, goidcacheend;
    struct gList gFree;
    struct sudog *sudogcache; /* list */
    int32_t nsudog;
    struct touched touched;
    struct sudog *sudogspan; /* not used yet: so many */
    uint32_t nsudogspan, sudogs_made;
    ATOMIC(uint32_t) runSafePointFn;
    ATOMIC(bool) preempt;
    struct timers timers;
    struct gcp gc;
    int64_t idle_since; /* ns, for records */
    maskword traced;    /* events in its trace buffer (<=1.21) */
};

/* As a record names them; NULL: nobody. */
static inline ev_g rec_g(const struct g *gp) { return (ev_g){gp != NULL ? gp->goid : EVENT_NO_G}; }
static inline ev_m rec_m(const struct m *mp) { return (ev_m){(uint16_t)mp->id}; }
static inline ev_p rec_p(const struct p *pp) { return (ev_p){(uint16_t)pp->id}; }

/* schedt. */
struct schedt {
    struct mutex lock;
    ATOMIC(uint64_t) goidgen;
    ATOMIC(int64_t) lastpoll; /* 0: somebody is blocked in netpoll */
    ATOMIC(int64_t) pollUntil;
    ATOMIC(uint32_t) pollingNet;

    struct m *midle; /* LIFO */
    int32_t nmidle, nmidlelocked;
    int64_t mnext; /* Ms created; the next id */
    int64_t nmfreed;
    int32_t nmsys;
    ATOMIC(int32_t) ngsys, nGsyscallNoP;

    ATOMIC(struct p *) pidle; /* LIFO; peeked without the lock by exitsyscall */
    ATOMIC(int32_t) npidle;
    ATOMIC(int32_t) nmspinning;
    ATOMIC(uint32_t) needspinning;

    struct gQueue runq;
    ATOMIC(int32_t) runqsize; /* length of runq, peeked without the lock */

    struct gQueue disabled; /* Gs that may not run while disable_user (gcstoptheworld) */

    struct mutex gFree_lock;
    struct gList gFree_stack, gFree_noStack; /* peeked through gFree_n */
    ATOMIC(int32_t) gFree_n;
    struct mutex sudoglock;
    struct sudog *sudogcache;
    struct m *freem;

    ATOMIC(uint32_t) gcwaiting;
    int32_t stopwait;
    struct note stopnote;
    ATOMIC(bool) sysmonwait;
    struct note sysmonnote;
    struct mutex sysmonlock;

    void (*safePointFn)(struct p *pp);
    int32_t safePointWait;
    struct note safePointNote;

    bool customGOMAXPROCS;     /* sched.lock */
    ATOMIC(bool) disable_user; /* only goroutines of the runtime may run */
};

/* proc.go updateMaxProcsGState: sysmon and the helper that changes GOMAXPROCS for it. */
struct updateMaxProcsGState {
    struct mutex lock;
    struct g *g;
    ATOMIC(bool) idle; /* g waits; changed under lock */
    int32_t procs;     /* that it is to set */
};

struct randomOrder {
    uint32_t count, ncoprimes;
    uint32_t *coprimes;
};

/* wakeableSleep: a timer and a channel, for a goroutine that may be woken early. */
struct trace_sleeper {
    struct timer timer;
    struct hchan *wakeup, *done;
    int64_t period_ns;
};

/* The execution tracer (trace.c). What Go keeps per generation is indexed by generation modulo 2.
 */
struct tracer {
    struct mutex lock;
    ATOMIC(bool) on, shutdown;
    bool header, footer;       /* the reader has had them */
    ATOMIC(struct g *) reader; /* waits for something to read */
    maskword full[2];          /* buffers to read; to 1.21 the first alone; under lock */
    ATOMIC(bool) workAvailable;
    ATOMIC(uint64_t) gen, readerGen, flushedGen;
    uint64_t lastGen; /* of gen, when it was not 0; holder of advanceSema */
    maskword doneSema[2], shutdownSema, advanceSema;
    struct trace_sleeper advancer, cpu;
};

/* By turns (turn.c). */
struct turns {
    struct g *next; /* was chosen while another one ran */
    struct g *stay; /* gave way for a moment: it is the one that runs */
    bool chosen;    /* who runs may do its next instruction without a question */
    int32_t procs;  /* what the program set GOMAXPROCS to; 0: nothing */
};

/* Globals of package runtime, one set per world. */
struct runtime {
    struct schedt sched;
    const struct program *prog;

    struct p **allp;               /* allp_cap structs; the first gomaxprocs are in use */
    _Alignas(64) int32_t allp_len; /* other variables than sched: not on its last line */
    int32_t allp_cap;
    struct mutex allpLock;
    ATOMIC(int32_t) gomaxprocs;
    int32_t newprocs;
    maskword *idlepMask, *timerpMask;
    struct randomOrder stealOrder;

    struct g *allgs, *allgs_tail; /* by alllink, in order of creation; allglock */
    ATOMIC(uint64_t) allglen;
    struct mutex allglock;
    struct m *allm; /* sched.lock */
    struct m **ms;  /* by id */
    int32_t ms_cap;

    struct m *m0;
    struct g *main_g; /* NULL when it has ended */
    bool mainStarted, main_returned;
    maskword worldsema, gcsema; /* semaphores, 1 when free */

    /* newmHandoff */
    struct {
        struct mutex lock;
        struct m *newm;
        bool waiting;
        struct note wake;
        ATOMIC(uint32_t) haveTemplateThread;
    } newmHandoff;
    struct {
        ATOMIC(uint64_t) head; /* 1: locked, else pointer as id + 2 */
        ATOMIC(uint32_t) waiters, inuse, length;
        struct m *resting; /* bound to threads of C that wait for their next call; under head */
    } extraM;

    struct gcController gc;
    struct finalizers *fin; /* NULL: the program has neither finalizers nor cleanups */
    struct netpoll *netpoll;
    struct timersBucket *timersBuckets; /* 1.13: 64 of them (timer_buckets.c) */
    struct objects *objs;               /* channels, mutexes, ... of the program (objs.h) */

    struct turns turns;
    struct tracer trace;
    ATOMIC(bool) panicking;
    int64_t start_ns;
    int64_t schedtrace_ns;  /* 0: none */
    int64_t trace_start_ns; /* of the first SCHED line */
    bool scheddetail;
    struct mutex computeMaxProcsLock; /* defaultGOMAXPROCS by sysmon, waited for by GOMAXPROCS */
    struct updateMaxProcsGState updateMaxProcsG;
    ATOMIC(uintptr_t) * events;  /* of recorded programs, by number (wakeevent.c) */
    struct timeTimer **chtimers; /* of declared channels (chtimer.c) */
    int64_t tape_ns;             /* when the main goroutine's tape began: instant 0 */
    ATOMIC(uint64_t) printed;    /* bytes so far */
    int64_t exit_status;         /* of FIND_EXIT */
    uint64_t output_max;         /* the run ends when more are printed; 0: no limit */
    struct rtrwmutex *execLock;  /* NULL: the program executes no other */
    uint32_t stack_refills;      /* of all Ps */
};

/* The world this process runs. Set by world_attach, constant while the world runs. */
static struct runtime *rt;
static struct schedt *sched;
static struct profile world_prof;
static const struct profile *const prof = &world_prof;

static inline struct m *getm(void) { return getarg(); }

#endif
