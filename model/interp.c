/* SPDX-License-Identifier: BSD-3-Clause */
/* The interpreter of goroutine programs: what a G executes on its M between two visits to the
 * scheduler.
 *
 * gogo runs the G's steps, then its instructions, until one of these has arranged a switch to g0
 * (OP_MCALL). gp->pc is kept one behind in registers (in) and written back before anything that may
 * park, so that a step finds its instruction at pc - 1.
 *
 * Preemption: instructions that stand for a call of a function with a stack check look at
 * stackguard0, as the prologue does. A jump backwards is a safe point for a signal, a CPU burst is
 * one all the time; the rest is not. */
#include "interp.h"
#include "api.h"
#include "chan.h"
#include "chtimer.h"
#include "context.h"
#include "coro.h"
#include "extram.h"
#include "gomaxprocs.h"
#include "lock.h"
#include "netpoll.h"
#include "newproc.h"
#include "objs.h"
#include "oslock.h"
#include "panic.h"
#include "park.h"
#include "pool.h"
#include "preempt.h"
#include "print.h"
#include "race.h"
#include "rwmutex.h"
#include "select.h"
#include "sema.h"
#include "stack.h"
#include "sync.h"
#include "syscall.h"
#include "tapeop.h"
#include "trace.h"
#include "turn.h"
#include "wakeevent.h"
#include "weighted.h"

static int64_t amount(const struct g *gp, uint8_t reg, int64_t imm)
{
    return reg != NOREG ? regs(gp)[reg] : imm;
}

static int64_t weight(const struct g *gp, uint8_t reg, int64_t imm)
{
    int64_t n = amount(gp, reg, imm);
    return n > 0 ? n : 0;
}

/* ---- time on the CPU ---- */

/* The duration rule of ops.def. */
static int64_t duration(struct g *gp, const struct insn *in)
{
    int64_t ns = in->imm;
    if (in->d >= 0)
        ns = dist_quantile(rt->prog->dists[in->d], g_rand(gp));
    else if (in->b != NOREG)
        ns = regs(gp)[in->b];
    return ns > 0 ? ns : 0;
}

/* gp->opval ns are left. Cut by a signal or a request; then the G may lose its M and goes on here
 * later. */
static enum opres step_burst(struct g *gp)
{
    struct m *mp = getm();
    enum cpu_kind kind = (enum cpu_kind)cur_insn(gp)->a;
    if (kind == CPU_nopreempt) {
        burst(gp->opval, BURST_WHOLE);
        return OP_DONE;
    }
    while (gp->opval > 0) {
        mp->insafe = true;
        gp->opval = burst(gp->opval, BURST_CUT);
        mp->insafe = false;
        if (mp->asyncinject) {
            push_step(gp, STEP_burst);
            return asyncPreempt2(gp);
        }
        if (kind == CPU_normal && a_load_rlx(&gp->stackguard0) != GUARD_NORMAL) {
            push_step(gp, STEP_burst);
            return newstack(gp);
        }
    }
    return OP_DONE;
}

static enum opres op_cpu(struct g *gp, const struct insn *in)
{
    if (turn_on()) /* by turns, everybody has a CPU of his own */
        return timeSleep(gp, duration(gp, in));
    gp->opval = duration(gp, in);
    return step_burst(gp);
}

static enum opres op_sleep(struct g *gp, const struct insn *in)
{
    enum opres r;
    if (!gp->has_timer && assists_first(gp, in, &r))
        return r;
    gp->has_timer = true;
    return timeSleep(gp, duration(gp, in));
}

_Static_assert((int)CALL_KINDS == (int)SYSCALL_KINDS, "kinds of system calls");

static enum opres op_syscall(struct g *gp, const struct insn *in)
{
    int64_t ns = duration(gp, in);
    if (turn_on())
        return timeSleep(gp, turn_call(ns));
    entersyscall(gp);
    syscall_body(ns, (enum syscall_kind)in->a);
    return exitsyscall(gp);
}

/* proc.go syscall_runtime_BeforeExec, syscall_runtime_AfterExec. A raw system call between them:
 * the scheduler knows nothing of it. */
static enum opres op_exec(struct g *gp, const struct insn *in)
{
    int64_t ns = duration(gp, in);
    if (turn_on())
        return timeSleep(gp, turn_call(ns));
    rtrw_lock(rt->execLock);
    syscall_body(ns, SYSCALL_SPIN);
    rtrw_unlock(rt->execLock);
    return OP_DONE;
}

/* ---- C ---- */

/* cgocall.go cgocall. */
static enum opres op_cgocall(struct g *gp, const struct insn *in)
{
    int64_t ns = duration(gp, in);
    struct m *mp = getm();
    if (turn_on())
        return timeSleep(gp, turn_call(ns));
    entersyscall(gp);
    mp->incgo = true;
    syscall_body(ns, in->a != 0 ? SYSCALL_SLEEP : SYSCALL_SPIN);
    mp->incgo = false;
    return exitsyscall(gp);
}

/* cgocall.go cgocallbackg: C calls back on its own thread, to which the G is locked meanwhile. */
static enum opres op_cgocb(struct g *gp, const struct insn *in)
{
    int64_t ns = weight(gp, in->b, in->imm);
    if (in->a != 0) {
        int64_t arg = in->c != NOREG ? regs(gp)[in->c] : 0;
        return cgo_foreign(gp, (uint32_t)in->d, ns, &arg, in->c != NOREG);
    }
    entersyscall(gp);
    getm()->incgo = true;
    syscall_body(ns, SYSCALL_SPIN);
    lockOSThread_internal(gp);
    push_step(gp, STEP_cgoCall);
    return exitsyscall(gp);
}

static enum opres step_cgoCall(struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    getm()->incgo = false;
    int64_t arg = in->c != NOREG ? regs(gp)[in->c] : 0;
    frame_push(gp, (uint32_t)in->d, FRAME_CGOCB, NOREG);
    if (in->c != NOREG)
        regs(gp)[0] = arg;
    return OP_DONE;
}

/* Back into C, which returns at once. */
static enum opres cgocallback_done(struct g *gp)
{
    getm()->incgo = true;
    unlockOSThread_internal(gp);
    entersyscall(gp);
    getm()->incgo = false;
    return exitsyscall(gp);
}

/* ---- goroutines, runtime calls ---- */

static enum opres op_go(struct g *gp, const struct insn *in)
{
    new_closure(mp_p(getm()), (uint32_t)in->d);
    (void)newproc((uint32_t)in->d, regs(gp) + in->a, in->b, (int32_t)in->imm);
    jolt(first_go);
    return OP_DONE;
}

static enum opres op_gosched(struct g *gp, const struct insn *in)
{
    (void)in;
    return gosched(gp);
}

static enum opres op_gomaxprocs(struct g *gp, const struct insn *in)
{
    (void)in;
    return runtime_GOMAXPROCS(gp);
}

static enum opres op_lockos(struct g *gp, const struct insn *in)
{
    (void)in;
    LockOSThread(gp);
    return OP_DONE;
}

static enum opres op_unlockos(struct g *gp, const struct insn *in)
{
    (void)in;
    UnlockOSThread(gp);
    return OP_DONE;
}

/* debug.go NumGoroutine, by counting: exact, where Go's sum of counters is a moment's estimate. */
static enum opres op_numgoroutine(struct g *gp, const struct insn *in)
{
    int64_t n = 0;
    lock(&rt->allglock);
    for (struct g *other = rt->allgs; other != NULL; other = other->alllink) {
        uint32_t s = a_load(&other->atomicstatus) & ~(uint32_t)Gscan;
        n += s != Gdead && s != Gidle && s != Gdeadextra && other->system == SYSTEM_NOT;
    }
    unlock(&rt->allglock);
    regs(gp)[in->a] = n;
    return OP_DONE;
}

static enum opres op_alloc(struct g *gp, const struct insn *in)
{
    return gc_alloc(gp, duration(gp, in), in->a != 0);
}

static enum opres op_free(struct g *gp, const struct insn *in)
{
    gc_free(duration(gp, in));
    return OP_DONE;
}

static enum opres op_gc(struct g *gp, const struct insn *in)
{
    (void)in;
    return runtime_GC(gp);
}

static enum opres op_readmem(struct g *gp, const struct insn *in)
{
    (void)in;
    return runtime_ReadMemStats(gp);
}

static enum opres op_tracestart(struct g *gp, const struct insn *in)
{
    (void)in;
    return traceStart(gp);
}

static enum opres op_tracestop(struct g *gp, const struct insn *in)
{
    (void)in;
    return traceStop(gp);
}

static enum opres op_leaks(struct g *gp, const struct insn *in)
{
    (void)in;
    return runtime_leakProfile(gp);
}

static enum opres op_exit(struct g *gp, const struct insn *in)
{
    (void)gp;
    if (in->imm == 0)
        host_stop();
    rt->exit_status = in->imm;
    struct crash c = crash_begin("exit status ", "");
    crash_int(&c, in->imm);
    finding(FIND_EXIT, crash_end(&c));
    return OP_DONE;
}

/* ---- channels ---- */

#define CHAN(in) ((struct hchan *)object_of(gp, in, (in)->c, OBJ_CHAN))

static enum opres op_send(struct g *gp, const struct insn *in)
{
    return chansend(gp, CHAN(in), regs(gp)[in->a]);
}
static enum opres op_recv(struct g *gp, const struct insn *in)
{
    return chanrecv(gp, CHAN(in), in);
}
static enum opres op_close(struct g *gp, const struct insn *in) { return closechan(gp, CHAN(in)); }

static enum opres op_len(struct g *gp, const struct insn *in)
{
    regs(gp)[in->a] = chanlen(CHAN(in));
    return OP_DONE;
}

static enum opres op_cap(struct g *gp, const struct insn *in)
{
    regs(gp)[in->a] = chancap(CHAN(in));
    return OP_DONE;
}

/* ---- sync: instructions on one object that is not nil ---- */

#define OBJECT_OP(name, type, kind, call)                            \
    static enum opres op_##name(struct g *gp, const struct insn *in) \
    {                                                                \
        struct type *o = object_of(gp, in, in->c, kind);             \
        return o == NULL ? gopanic_text(gp, PANIC_nil) : (call);     \
    }

static enum opres put(struct g *gp, uint8_t reg, int64_t v)
{
    set_reg(gp, reg, v);
    return OP_DONE;
}

static enum opres done(void) { return OP_DONE; }

OBJECT_OP(lock, smutex, OBJ_MUTEX, mutex_lock(gp, o))
OBJECT_OP(unlock, smutex, OBJ_MUTEX, mutex_unlock(gp, o))
OBJECT_OP(trylock, smutex, OBJ_MUTEX, put(gp, in->a, mutex_trylock(o)))
OBJECT_OP(rlock, rwmutex, OBJ_RWMUTEX, rw_rlock(gp, o))
OBJECT_OP(runlock, rwmutex, OBJ_RWMUTEX, rw_runlock(gp, o))
OBJECT_OP(wlock, rwmutex, OBJ_RWMUTEX, rw_lock(gp, o))
OBJECT_OP(wunlock, rwmutex, OBJ_RWMUTEX, rw_unlock(gp, o))
OBJECT_OP(tryrlock, rwmutex, OBJ_RWMUTEX, put(gp, in->a, rw_tryrlock(o)))
OBJECT_OP(trywlock, rwmutex, OBJ_RWMUTEX, rw_trylock(gp, o, in->a))
OBJECT_OP(wgadd, waitgroup, OBJ_WAITGROUP, wg_add(gp, o, amount(gp, in->a, in->imm)))
OBJECT_OP(wgdone, waitgroup, OBJ_WAITGROUP, wg_add(gp, o, -1))
OBJECT_OP(wgwait, waitgroup, OBJ_WAITGROUP, wg_wait(gp, o))
OBJECT_OP(cwait, cond, OBJ_COND, cond_wait(gp, o))
OBJECT_OP(csignal, cond, OBJ_COND, (notifyListNotifyOne(&o->notify), done()))
OBJECT_OP(cbroadcast, cond, OBJ_COND, (notifyListNotifyAll(&o->notify), done()))
OBJECT_OP(acquire, weighted, OBJ_SEMA, weighted_acquire(gp, o, weight(gp, in->a, in->imm)))
OBJECT_OP(tryacquire, weighted, OBJ_SEMA,
          put(gp, in->a, weighted_try(o, weight(gp, in->b, in->imm))))
OBJECT_OP(release, weighted, OBJ_SEMA, weighted_release(gp, o, weight(gp, in->a, in->imm)))
OBJECT_OP(poolput, pool, OBJ_POOL, pool_put(gp, o))
OBJECT_OP(poolget, pool, OBJ_POOL, pool_get(gp, o))

/* ---- shared variables ---- */

#define VAR_OP(name, stmt)                                           \
    static enum opres op_##name(struct g *gp, const struct insn *in) \
    {                                                                \
        struct var *o = object_of(gp, in, in->c, OBJ_VAR);           \
        if (o == NULL)                                               \
            return gopanic_text(gp, PANIC_nil);                      \
        int64_t *R = regs(gp);                                       \
        stmt;                                                        \
        return OP_DONE;                                              \
    }

VAR_OP(loadp, int64_t v = (int64_t)a_load_rlx(&o->v); (void)R;
       raceaccess(gp, in, in->c, o, RACE_READ); set_reg(gp, in->a, v))
VAR_OP(loada, int64_t v = (int64_t)a_load(&o->v); (void)R;
       raceaccess(gp, in, in->c, o, RACE_ATOMIC_READ); set_reg(gp, in->a, v))
VAR_OP(storep, a_store_rlx(&o->v, (uint64_t)R[in->a]); raceaccess(gp, in, in->c, o, RACE_WRITE))
VAR_OP(storea, a_store(&o->v, (uint64_t)R[in->a]); raceaccess(gp, in, in->c, o, RACE_ATOMIC_WRITE))
VAR_OP(swapa, uint64_t old = a_xchg(&o->v, (uint64_t)R[in->b]); raceupdate(gp, in, in->c, o);
       set_reg(gp, in->a, (int64_t)old))

static enum opres op_adda(struct g *gp, const struct insn *in)
{
    struct var *o = object_of(gp, in, in->c, OBJ_VAR);
    if (o == NULL)
        return gopanic_text(gp, PANIC_nil);
    uint64_t d = (uint64_t)amount(gp, in->b, in->imm), sum = a_add(&o->v, d);
    raceupdate(gp, in, in->c, o);
    return put(gp, in->a, (int64_t)sum);
}

static enum opres op_casa(struct g *gp, const struct insn *in)
{
    struct var *o = object_of(gp, in, (uint8_t)in->imm, OBJ_VAR);
    if (o == NULL)
        return gopanic_text(gp, PANIC_nil);
    int64_t *R = regs(gp);
    bool swapped = a_cas(&o->v, (uint64_t)R[in->b], (uint64_t)R[in->c]);
    if (swapped)
        raceupdate(gp, in, (uint8_t)in->imm, o);
    else
        raceaccess(gp, in, (uint8_t)in->imm, o, RACE_ATOMIC_READ);
    return put(gp, in->a, swapped);
}

/* ---- timers ---- */

static int64_t timer_object(struct timeTimer *t, int64_t chan, bool ticker)
{
    struct timerObject *o = host_alloc(sizeof *o, 8);
    *o = (struct timerObject){t, chan, ticker};
    return object_add(o, OBJ_TIMER);
}

static enum opres op_timer(struct g *gp, const struct insn *in)
{
    int64_t d = amount(gp, in->b, in->imm), handle;
    if (in->d >= 0) {
        const int64_t *args = in->c != NOREG ? &regs(gp)[in->c] : NULL;
        const struct func *f = &rt->prog->funcs[in->d];
        struct timeTimer *t = time_AfterFunc(d, (uint32_t)in->d, args, f->nparams,
                                             (int32_t)f->group - 1);
        handle = timer_object(t, 0, false);
    } else {
        struct hchan *c;
        int64_t chan = chan_object(1, &c);
        handle = timer_object(time_NewTimer(d, c), chan, false);
    }
    return put(gp, in->a, handle);
}

static enum opres op_ticker(struct g *gp, const struct insn *in)
{
    int64_t d = amount(gp, in->b, in->imm);
    if (d <= 0)
        return gopanic_text(gp, PANIC_ticker);
    struct hchan *c;
    int64_t chan = chan_object(1, &c);
    return put(gp, in->a, timer_object(time_NewTicker(d, c), chan, true));
}

static enum opres op_after(struct g *gp, const struct insn *in)
{
    struct hchan *c;
    int64_t chan = chan_object(1, &c);
    (void)time_NewTimer(amount(gp, in->b, in->imm), c);
    return put(gp, in->a, chan);
}

OBJECT_OP(timerc, timerObject, OBJ_TIMER, put(gp, in->a, o->c))
OBJECT_OP(tstop, timerObject, OBJ_TIMER, put(gp, in->a, time_Stop(o->t)))

static enum opres op_treset(struct g *gp, const struct insn *in)
{
    struct timerObject *o = object_of(gp, in, in->c, OBJ_TIMER);
    if (o == NULL)
        return gopanic_text(gp, PANIC_nil);
    int64_t d = amount(gp, in->b, in->imm);
    if (!o->ticker)
        return put(gp, in->a, time_Reset(o->t, d));
    if (d <= 0)
        return gopanic_text(gp, PANIC_ticker_reset);
    time_ResetTicker(o->t, d);
    return put(gp, in->a, 1);
}

/* ---- descriptors ---- */

static enum opres step_fdResult(struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    if (in->op == OP_FDREAD)
        set_reg(gp, in->b, gp->opval < 0 ? 0 : (int64_t)(intptr_t)gp->param);
    if (in->op != OP_FDCLOSE)
        set_reg(gp, in->a, gp->opval);
    return OP_DONE;
}

#define FD_OP(name, call)                                            \
    static enum opres op_##name(struct g *gp, const struct insn *in) \
    {                                                                \
        struct pollfd *o = object_of(gp, in, in->c, OBJ_FD);         \
        if (o == NULL)                                               \
            return gopanic_text(gp, PANIC_nil);                      \
        push_step(gp, STEP_fdResult);                                \
        return (call);                                               \
    }

FD_OP(fdread, netpoll_read_op(gp, o))
FD_OP(fdwrite, netpoll_write_op(gp, o))
FD_OP(fdwait, netpoll_wait_op(gp, o, (enum poll_mode)in->b))
FD_OP(fdclose, netpoll_close_op(gp, o))
FD_OP(fdtake, netpoll_take_op(gp, o))
OBJECT_OP(fdpost, pollfd, OBJ_FD, (env_post(o, weight(gp, in->b, in->imm)), done()))

static enum opres op_fddeadline(struct g *gp, const struct insn *in)
{
    struct pollfd *o = object_of(gp, in, in->c, OBJ_FD);
    if (o == NULL)
        return gopanic_text(gp, PANIC_nil);
    netpoll_set_deadline(o, amount(gp, in->b, in->imm), (enum poll_mode)in->a);
    return OP_DONE;
}

/* ---- draws, numbers ---- */

/* 0 .. n - 1, each as likely as the next up to 1 in 2^32. */
static int64_t rand_below(struct g *gp, int64_t n)
{
    if (n <= 1)
        return 0;
    __extension__ typedef unsigned __int128 u128;
    if (n > UINT32_MAX)
        return (int64_t)(((u128)g_rand(gp) * (u128)n) >> 64);
    uint64_t fallback = ((g_rand(gp) >> 32) * (uint64_t)n) >> 32;
    return (int64_t)draw((uint32_t)n, (uint32_t)fallback);
}

static enum opres op_randn(struct g *gp, const struct insn *in)
{
    return put(gp, in->a, rand_below(gp, regs(gp)[in->b]));
}
static enum opres op_randi(struct g *gp, const struct insn *in)
{
    return put(gp, in->a, rand_below(gp, in->imm));
}
/* A distribution of few values is a choice where somebody chooses. */
enum { DRAW_PARTS = 64, DRAW_VALUES = 8 };
static int64_t draw_value(struct g *gp, const struct dist *d)
{
    int64_t value[DRAW_VALUES];
    uint32_t n = 0, k;
    uint64_t p = g_rand(gp);
    if (!program_draws(DRAW_VALUES))
        return dist_quantile(d, p);
    for (uint64_t part = 0; part < DRAW_PARTS; part++) {
        int64_t v = dist_quantile(d, (2 * part + 1) * (UINT64_MAX / (2 * DRAW_PARTS)));
        for (k = 0; k < n && value[k] != v; k++)
            ;
        if (k == DRAW_VALUES)
            return dist_quantile(d, p);
        value[k] = v;
        n = k == n ? n + 1 : n;
    }
    for (k = 0; k + 1 < n && value[k] != dist_quantile(d, p); k++)
        ;
    return value[draw(n, k)];
}

static enum opres op_draw(struct g *gp, const struct insn *in)
{
    return put(gp, in->a, draw_value(gp, rt->prog->dists[in->d]));
}

static enum opres op_div(struct g *gp, const struct insn *in)
{
    int64_t *R = regs(gp), x = R[in->b], y = R[in->c];
    if (y == 0)
        return gopanic_text(gp, PANIC_divide);
    if (y == -1) /* the smallest number has no opposite */
        return put(gp, in->a, in->op == OP_DIV ? (int64_t)(0 - (uint64_t)x) : 0);
    return put(gp, in->a, in->op == OP_DIV ? x / y : x % y);
}

static enum opres op_index(struct g *gp, const struct insn *in)
{
    int64_t x = regs(gp)[in->b];
    if (x < 0 || x >= in->imm)
        return gopanic_text(gp, PANIC_index);
    return put(gp, in->a, x);
}

static enum opres op_shift(struct g *gp, const struct insn *in)
{
    int64_t *R = regs(gp), x = R[in->b], n = R[in->c];
    if (n < 0)
        return gopanic_text(gp, PANIC_shift);
    if (in->op == OP_SHR)
        return put(gp, in->a, x >> (n > 63 ? 63 : n));
    return put(gp, in->a, n > 63 ? 0 : (int64_t)((uint64_t)x << n));
}

/* ---- records ---- */

static enum opres op_print(struct g *gp, const struct insn *in);

static int64_t span_key(const struct g *gp, uint8_t reg)
{
    return reg != NOREG ? regs(gp)[reg] : (int64_t)gp->goid;
}

/* Of a span that began earlier than now another record says when, before its own. */
static enum opres op_spanb(struct g *gp, const struct insn *in)
{
    if (in->b != NOREG)
        ev_span_since(rec_g(gp), regs(gp)[in->b]);
    ev_span_begin(rec_g(gp), span_key(gp, in->a), (uint32_t)in->d);
    return OP_DONE;
}

static enum opres op_spane(struct g *gp, const struct insn *in)
{
    ev_span_end(rec_g(gp), span_key(gp, in->a), (uint32_t)in->d);
    return OP_DONE;
}

static enum opres op_mark(struct g *gp, const struct insn *in)
{
    ev_mark(rec_g(gp), in->a != NOREG ? regs(gp)[in->a] : 0, (uint32_t)in->d);
    return OP_DONE;
}

static enum opres op_assert(struct g *gp, const struct insn *in)
{
    if (regs(gp)[in->a] != 0)
        return OP_DONE;
    ev_assert_fail(rec_g(gp), (uint32_t)in->d);
    finding(FIND_ASSERT, rt->prog->strings[in->d]);
    return OP_DONE;
}

/* ---- the loop ---- */

typedef enum opres (*op_fn)(struct g *gp, const struct insn *in);

/* These make something on the heap. */
static enum opres op_makes(struct g *gp, const struct insn *in)
{
    static const op_fn ops[OPS] = {
        [OP_GO] = op_go,           [OP_MAKE] = op_make,       [OP_TIMER] = op_timer,
        [OP_TICKER] = op_ticker,   [OP_AFTER] = op_after,     [OP_CTXNEW] = op_ctxnew,
        [OP_CTXTMO] = op_ctxtmo,   [OP_CORONEW] = op_coronew, [OP_FINALIZER] = op_finalizer,
        [OP_CLEANUP] = op_cleanup, [OP_CHTIMER] = op_chtimer,
    };
    enum opres r;
    return assists_first(gp, in, &r) ? r : ops[in->op](gp, in);
}

/* clang-format off */
static const op_fn op_table[OPS] = {
    [OP_DEFER] = op_defer, [OP_PANIC] = op_panic, [OP_RECOVER] = op_recover, [OP_EXIT] = op_exit,
    [OP_ASSERT] = op_assert, [OP_RET] = op_ret, [OP_DIV] = op_div, [OP_MOD] = op_div,
    [OP_SHL] = op_shift, [OP_SHR] = op_shift, [OP_RANDN] = op_randn, [OP_RANDI] = op_randi,
    [OP_DRAW] = op_draw, [OP_GO] = op_makes, [OP_GOEXIT] = op_goexit, [OP_LOCKOS] = op_lockos,
    [OP_UNLOCKOS] = op_unlockos, [OP_GOMAXPROCS] = op_gomaxprocs,
    [OP_NUMGOROUTINE] = op_numgoroutine, [OP_CPU] = op_cpu, [OP_SLEEP] = op_sleep,
    [OP_SYSCALL] = op_syscall, [OP_CGOCALL] = op_cgocall, [OP_CGOCB] = op_cgocb,
    [OP_ALLOC] = op_alloc, [OP_FREE] = op_free, [OP_GC] = op_gc,
    [OP_READMEM] = op_readmem, [OP_TRACESTART] = op_tracestart, [OP_TRACESTOP] = op_tracestop,
    [OP_LEAKS] = op_leaks, [OP_FINALIZER] = op_makes, [OP_CLEANUP] = op_makes,
    [OP_MAKE] = op_makes,
    [OP_SEND] = op_send, [OP_RECV] = op_recv, [OP_CLOSE] = op_close, [OP_LEN] = op_len,
    [OP_CAP] = op_cap, [OP_SELECT] = op_select, [OP_LOCK] = op_lock, [OP_UNLOCK] = op_unlock,
    [OP_TRYLOCK] = op_trylock, [OP_RLOCK] = op_rlock, [OP_RUNLOCK] = op_runlock,
    [OP_WLOCK] = op_wlock, [OP_WUNLOCK] = op_wunlock, [OP_TRYRLOCK] = op_tryrlock,
    [OP_TRYWLOCK] = op_trywlock, [OP_WGADD] = op_wgadd, [OP_WGDONE] = op_wgdone,
    [OP_WGWAIT] = op_wgwait, [OP_CWAIT] = op_cwait, [OP_CSIGNAL] = op_csignal,
    [OP_CBROADCAST] = op_cbroadcast, [OP_ONCE] = op_once, [OP_ACQUIRE] = op_acquire,
    [OP_TRYACQUIRE] = op_tryacquire, [OP_RELEASE] = op_release, [OP_POOLGET] = op_poolget,
    [OP_POOLPUT] = op_poolput, [OP_TIMER] = op_makes, [OP_TICKER] = op_makes,
    [OP_TIMERC] = op_timerc, [OP_AFTER] = op_makes, [OP_TSTOP] = op_tstop, [OP_TRESET] = op_treset,
    [OP_CTXNEW] = op_makes, [OP_CTXTMO] = op_makes, [OP_CTXCANCEL] = op_ctxcancel,
    [OP_CTXDONE] = op_ctxdone, [OP_CTXERR] = op_ctxerr, [OP_FDREAD] = op_fdread,
    [OP_FDWRITE] = op_fdwrite, [OP_FDWAIT] = op_fdwait, [OP_FDDEADLINE] = op_fddeadline,
    [OP_FDCLOSE] = op_fdclose, [OP_LOADP] = op_loadp, [OP_STOREP] = op_storep,
    [OP_LOADA] = op_loada, [OP_STOREA] = op_storea, [OP_ADDA] = op_adda, [OP_SWAPA] = op_swapa,
    [OP_CASA] = op_casa, [OP_CORONEW] = op_makes, [OP_CORONEXT] = op_coronext,
    [OP_COROSTOP] = op_corostop, [OP_YIELD] = op_yield, [OP_PRINT] = op_print,
    [OP_SPANB] = op_spanb, [OP_SPANE] = op_spane, [OP_MARK] = op_mark, [OP_GOSCHED] = op_gosched,
    [OP_INDEX] = op_index,
    [OP_TAPEBEGIN] = op_tapebegin, [OP_TAPE] = op_tape, [OP_TAPEZERO] = op_tapezero,
    [OP_TAPECALL] = op_tapecall, [OP_TAPEBACK] = op_tapeback,
    [OP_EVWAIT] = op_evwait, [OP_EVPOST] = op_evpost, [OP_EVLOCK] = op_evlock,
    [OP_SLEEPTO] = op_sleepto,
    [OP_AFTERTO] = op_afterto,
    [OP_CHTIMER] = op_makes, [OP_CHSTOP] = op_chstop, [OP_CHRESET] = op_chreset,
    [OP_EXEC] = op_exec,
    [OP_FDTAKE] = op_fdtake, [OP_FDPOST] = op_fdpost,
};
/* clang-format on */

static enum opres interp_do(struct g *gp, const struct insn *in)
{
    return op_table[in->op](gp, in);
}

#define STEP(name) static enum opres step_##name(struct g *gp);
#include "steps.def"
#undef STEP

static const step_fn step_table[STEPS] = {
#define STEP(name) [STEP_##name] = step_##name,
#include "steps.def"
#undef STEP
};

/* Plain and atomic access of a variable is inline code in Go: no call, so no stack check.
 * runtime.Gosched has none either. */
static bool is_call(uint8_t op) { return (op < OP_LOADP || op > OP_CASA) && op != OP_GOSCHED; }

/* A jump backwards in a loop without calls: it can be left here, by a signal only. */
static inline enum opres back_edge(struct m *mp, struct g *gp)
{
    mp->insafe = true;
    (void)a_load_rlx(&gp->stackguard0); /* a point, so that a signal can arrive */
    mp->insafe = false;
    return mp->asyncinject ? asyncPreempt2(gp) : OP_DONE;
}

/* CALL, with the prologue's check done. */
static void call(struct g *gp, const struct insn *in)
{
    uint32_t from = gp->fp + in->a;
    frame_push(gp, (uint32_t)in->d, FRAME_CALL, in->c);
    int64_t *R = regs(gp);
    for (uint32_t i = 0; i < in->b; i++)
        R[i] = g_stack(gp)[from + i];
}

/* Runs what is nothing but arithmetic and control; gives the first instruction that is more, or
 * NULL when a signal took the G off. called: the instruction before was a call, so that a loop
 * which now jumps back has looked at the stack guard on its way. A lone switch, so longer than
 * other functions. Wrapping arithmetic is done unsigned; the work is charged before anybody can
 * look. */
static inline const struct insn *run_plain(struct m *mp, struct g *gp, const struct insn *in,
                                           bool called)
{
    int64_t *const R = regs(gp);
    uint32_t ops = 0;
#define U(x) ((uint64_t)R[x])
#define SET(e)               \
    R[in->a] = (int64_t)(e); \
    in++;                    \
    continue
#define JUMP_IF(e) \
    if (e)         \
        break;     \
    in++;          \
    continue
    for (;;) {
        ops++;
        /* clang-format off */
        switch ((enum op)in->op) {
        case OP_NOP: in++; continue;
        case OP_JMP: break;
        case OP_JZ: JUMP_IF(R[in->a] == 0);
        case OP_JNZ: JUMP_IF(R[in->a] != 0);
        case OP_JEQ: JUMP_IF(R[in->a] == R[in->b]);
        case OP_JNE: JUMP_IF(R[in->a] != R[in->b]);
        case OP_JLT: JUMP_IF(R[in->a] < R[in->b]);
        case OP_JLE: JUMP_IF(R[in->a] <= R[in->b]);
        case OP_JEQI: JUMP_IF(R[in->a] == in->imm);
        case OP_JNEI: JUMP_IF(R[in->a] != in->imm);
        case OP_JLTI: JUMP_IF(R[in->a] < in->imm);
        case OP_JGEI: JUMP_IF(R[in->a] >= in->imm);
        case OP_LOOP: R[in->a] = (int64_t)(U(in->a) - 1); JUMP_IF(R[in->a] > 0);
        case OP_SWITCH: in += 1 + (U(in->a) < (uint64_t)in->imm ? R[in->a] : in->imm); continue;
        case OP_CONST: SET(in->imm);
        case OP_MOVE: SET(R[in->b]);
        case OP_ADD: SET(U(in->b) + U(in->c));
        case OP_SUB: SET(U(in->b) - U(in->c));
        case OP_MUL: SET(U(in->b) * U(in->c));
        case OP_AND: SET(U(in->b) & U(in->c));
        case OP_OR: SET(U(in->b) | U(in->c));
        case OP_XOR: SET(U(in->b) ^ U(in->c));
        case OP_ADDI: SET(U(in->b) + (uint64_t)in->imm);
        case OP_MULI: SET(U(in->b) * (uint64_t)in->imm);
        case OP_EQ: SET(R[in->b] == R[in->c]);
        case OP_NE: SET(R[in->b] != R[in->c]);
        case OP_LT: SET(R[in->b] < R[in->c]);
        case OP_LE: SET(R[in->b] <= R[in->c]);
        case OP_MIN: SET(R[in->b] < R[in->c] ? R[in->b] : R[in->c]);
        case OP_MAX: SET(R[in->b] > R[in->c] ? R[in->b] : R[in->c]);
        case OP_GOID: SET(gp->goid);
        case OP_NOW: work_n(op, ops); ops = 0; SET(nanotime());
        default: work_n(op, ops); return in;
        }
        /* clang-format on */
        const struct insn *to = prog_code + in->d; /* a jump that is taken */
        gp->pc = (uint32_t)in->d;
        if (to <= in) {
            if (!called) {
                work_n(op, ops);
                ops = 0;
                if (back_edge(mp, gp) == OP_MCALL)
                    return NULL;
            }
            called = false;
        }
        in = to;
    }
#undef U
#undef SET
#undef JUMP_IF
}

/* Runs instructions until the G has to leave its M or has steps to run. */
static inline void interp(struct m *mp, struct g *gp)
{
    bool called = false;
    do {
        const struct insn *in = run_plain(mp, gp, prog_code + gp->pc, called);
        if (in == NULL)
            return;
        gp->pc = (uint32_t)(in - prog_code);
        called = is_call(in->op);
        if (called && a_load_rlx(&gp->stackguard0) != GUARD_NORMAL && newstack(gp) == OP_MCALL)
            return; /* the instruction runs when the G comes back */
        if (turns() && turn_gives_way(gp, in)) {
            (void)goyield(gp);
            return;
        }
        gp->pc++;
        if (in->op == OP_CALL)
            call(gp, in);
        else if (op_table[in->op](gp, in) == OP_MCALL)
            return;
    } while (gp->nkont == 0);
}

static inline void gogo(struct m *mp)
{
    struct g *gp = a_own(&mp->curg);
    work(gogo);
    mp->mcallfn = NULL;
    do {
        while (gp->nkont != 0)
            if (step_table[gp->kont[--gp->nkont]](gp) == OP_MCALL)
                return;
        interp(mp, gp);
    } while (mp->mcallfn == NULL); /* an operation left steps to run */
}
