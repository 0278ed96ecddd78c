/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of a program and the functions on them that other files of the goroutine side use.
 * Objects live in the arena and are never freed: the model has no view of which handles are still
 * in use.
 *
 * A handle is 1 + the object's index; 0 is nil. Fields that are read without the lock are ATOMIC;
 * the holder of the lock is the only one who writes them, so it reads them by a_own. */
#ifndef MODEL_OBJS_H
#define MODEL_OBJS_H
#include "step.h"

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

/* Its Locker: a Mutex, an RWMutex, or the RLocker of one. */
struct cond {
    struct smutex *L;   /* NULL: */
    struct rwmutex *rw; /* ... */
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

struct poolLocal;
struct pool {
    struct poolLocal *local; /* one per possible P */
    struct pool *next;
    int32_t used; /* largest P id that put + 1 */
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
    struct pool *pools;
    struct semaRoot *semtable;
};

/* The two tables that the interpreter reads all the time; constant while the world runs. */
static const struct insn *prog_code;
static void *const *objs_decl; /* the program's objects */

/* ---- the instruction that the G executes, and its registers ---- */
/* tape.c: the entry of a tape that gp is in the middle of */
static const struct insn *tape_insn(const struct g *gp, struct insn *room);
static inline const struct insn *cur_insn_in(const struct g *gp, struct insn *room)
{
    const struct insn *in = &prog_code[gp->pc - 1];
    return in->op != OP_TAPE ? in : tape_insn(gp, room);
}
/* Valid to the end of the block that asks. */
#define cur_insn(gp) cur_insn_in(gp, &(struct insn){0})
/* The registers of all frames. */
static inline int64_t *g_stack(const struct g *gp)
{
    return gp->stack_order != 0 ? gp->grown : (int64_t *)gp->inline_regs;
}

static inline int64_t *regs(const struct g *gp) { return g_stack(gp) + gp->fp; }
static inline void set_reg(const struct g *gp, uint8_t reg, int64_t v)
{
    if (reg != NOREG)
        regs(gp)[reg] = v;
}

/* objs.c */
static void *object_slow(struct g *gp, int64_t handle, uint8_t kind); /* by handle */
static int64_t object_add(void *p, uint8_t kind);                     /* gives the handle */
static int64_t object_make(uint8_t kind, int64_t param);
/* The object an instruction names. NULL: nil, or a handle of something else. */
static inline void *object_of(struct g *gp, const struct insn *in, uint8_t handle_reg, uint8_t kind)
{
    if (in->d >= 0)
        return objs_decl[in->d];
    return object_slow(gp, regs(gp)[handle_reg], kind);
}

static int64_t chan_object(int64_t size, struct hchan **c);

/* ---- objs.c for the others ---- */
static const struct object *object_at(uint64_t handle);
/* After prof, prog and the locks; creates the declared objects. */
static void objs_world_init(void);
static enum opres op_make(struct g *gp, const struct insn *in);

#endif
