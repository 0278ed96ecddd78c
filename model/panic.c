/* SPDX-License-Identifier: BSD-3-Clause */
/* defer, panic, recover, Goexit (panic.go).
 *
 * Deferred calls are a stack per G, each with the frame that deferred it. Three things run them,
 * and the frame kind of the running call says which, so that its return knows how to go on:
 *
 *   a function returns  those of its frame; then the return itself
 *   a panic             from the top of the stack, whatever the frame, until one recovers; then
 *                       the function that deferred the recovering call returns to its caller (the
 *                       rest of its deferred calls first), with result 0
 *   Goexit              all of them; then the G ends
 *
 * Panics nest: a panic in a deferred call goes on with the deferred calls below. Recovering one
 * ends those that began in the frames thrown away; if a Goexit is among them, it starts again. */
#include "panic.h"
#include "api.h"
#include "coro.h"
#include "extram.h"
#include "gstatus.h"
#include "interp.h"
#include "newproc.h"
#include "objs.h"
#include "oslock.h"
#include "race.h"
#include "stack.h"
#include "statusname.h"
#include "park.h"
#include "sync.h"
#include "turn.h"

enum { RECORD_ORDER = 4 }; /* 16 words hold a panicRecord, and a deferRecord of 10 arguments */
_Static_assert(sizeof(struct panicRecord) <= 16 * 8, "fits a block of RECORD_ORDER");

/* ---- deferred calls ---- */

static uint32_t defer_order(uint32_t nargs)
{
    return stack_order((uint32_t)sizeof(struct deferRecord) / 8 + nargs);
}

static struct deferRecord *defer_add(struct g *gp, uint32_t func, const int64_t *args,
                                     uint32_t nargs)
{
    struct gext *x = g_ext(gp);
    struct deferRecord *d = stackpool_get(defer_order(nargs));
    *d = (struct deferRecord){
        .link = x->defers, .fp = gp->fp, .frame_func = gp->func, .func = func, .nargs = nargs};
    for (uint32_t i = 0; i < nargs; i++)
        d->args[i] = args[i];
    x->defers = d;
    return d;
}

static enum opres op_defer(struct g *gp, const struct insn *in)
{
    (void)defer_add(gp, (uint32_t)in->d, regs(gp) + in->a, in->b);
    return OP_DONE;
}

/* What goes on after a deferred call without a frame: the cleanup of Once.Do. */
static void defer_native_then(struct g *gp, enum frame_kind kind)
{
    switch (kind) {
    case FRAME_PANIC: push_step(gp, STEP_panicNext); break;
    case FRAME_GOEXIT: push_step(gp, STEP_goexitDefers); break;
    case FRAME_RECOVERED: push_step(gp, STEP_recovered); break;
    case FRAME_DEFER: /* the RET runs again */
    case FRAME_CALL:
    case FRAME_CGOCB:
    case FRAME_FINALIZER:
    case FRAME_CLEANUP: break;
    }
}

/* Starts the deferred call on top; it is off the stack before it runs. */
static enum opres defer_run(struct g *gp, enum frame_kind kind)
{
    struct deferRecord *d = gp->ext->defers;
    gp->ext->defers = d->link;
    enum opres res = OP_DONE;
    if (d->once != NULL) {
        defer_native_then(gp, kind);
        racerelease(&d->once->done);
        a_store(&d->once->done, 1);
        res = mutex_unlock(gp, &d->once->m);
    } else {
        frame_push(gp, d->func, kind, NOREG);
        for (uint32_t i = 0; i < d->nargs; i++)
            regs(gp)[i] = d->args[i];
    }
    stackpool_put(d, defer_order(d->nargs));
    return res;
}

static bool defers_here(const struct g *gp)
{
    return gp->ext != NULL && gp->ext->defers != NULL && gp->ext->defers->fp == gp->fp;
}

/* ---- the text of a crash ---- */

static void crash_text(struct crash *c, const char *s)
{
    while (*s != 0 && c->n < CRASH_MAX - 1)
        c->text[c->n++] = *s++;
}

static void crash_int(struct crash *c, int64_t v)
{
    char digits[24];
    uint32_t n = sizeof digits - 1;
    digits[n] = 0;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do
        digits[--n] = (char)('0' + u % 10);
    while ((u /= 10) != 0);
    if (v < 0)
        digits[--n] = '-';
    crash_text(c, digits + n);
}

static struct crash crash_begin(const char *s1, const char *s2)
{
    a_store(&rt->panicking, true);
    struct crash c = {.text = host_alloc(CRASH_MAX, 8)};
    crash_text(&c, s1);
    crash_text(&c, s2);
    return c;
}

/* "goroutine 1 [running]:" and where it is. */
static void crash_goroutine(struct crash *c, const struct g *gp, const char *state)
{
    const struct program *p = rt->prog;
    crash_text(c, "\n\ngoroutine ");
    crash_int(c, (int64_t)gp->goid);
    crash_text(c, " [");
    crash_text(c, state);
    if (a_load_rlx(&gp->lockedm) != NULL)
        crash_text(c, ", locked to thread");
    crash_text(c, "]:");
    if (gp->func < 0 || p->funcs[gp->func].name == NULL)
        return;
    crash_text(c, "\nmain.");
    crash_text(c, p->funcs[gp->func].name);
    if (p->lines == NULL)
        return;
    crash_text(c, " (line ");
    crash_int(c, p->lines[shown_pc(p, gp)]);
    crash_text(c, ")");
}

static const char *crash_end(struct crash *c)
{
    c->text[c->n] = 0;
    return c->text;
}

/* traceback.go goroutineheader: what a G is doing. */
static void crash_header(struct crash *c, struct g *gp)
{
    uint32_t status = readgstatus(gp) & ~(uint32_t)Gscan;
    char state[64];
    bool waits = status == Gwaiting || status == Gleaked;
    snprintf(state, sizeof state, "%s%s",
             waits ? waitreason_text(gp->waitreason) : gstatus_name(status),
             status == Gleaked ? " (leaked)" : "");
    crash_goroutine(c, gp, state);
}

/* traceback.go tracebackothers. The runtime's own stay out, whatever GOTRACEBACK would say. */
static void crash_others(struct crash *c, const struct g *me)
{
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink) {
        uint32_t status = readgstatus(gp) & ~(uint32_t)Gscan;
        if (gp != me && !isSystemGoroutine(gp) && status != Gdead && status != Gdeadextra)
            crash_header(c, gp);
    }
}

static void crash_panics(struct crash *c, const struct panicRecord *p);

/* panic.go printPreFatalDeferPanic: what the deferred call that dies here was run for. */
static void crash_panics_before(struct crash *c, const struct g *gp)
{
    if (!prof->fatal_tells_panics || gp->ext == NULL || gp->ext->panics == NULL)
        return;
    crash_panics(c, gp->ext->panics);
    crash_text(c, c->n > 0 ? "\n\t" : "\t");
}

/* A throw shows everybody, and so did until 1.25 the program's own mistakes. */
static void fatalthrow(struct g *gp, enum throw_type type, const char *text)
{
    struct crash c = crash_begin("", "");
    if (type == THROW_USER)
        crash_panics_before(&c, gp);
    crash_text(&c, "fatal error: ");
    crash_text(&c, text);
    if (gp != NULL)
        crash_goroutine(&c, gp, "running");
    if (type == THROW_RUNTIME || prof->fatal_shows_all)
        crash_others(&c, gp);
    finding(FIND_FATAL, crash_end(&c));
}

static const char *deadlock_text(const char *text)
{
    struct crash c = crash_begin("fatal error: ", text);
    crash_others(&c, NULL);
    return crash_end(&c);
}

static const char *const panic_texts[] = {
#define PANIC_TEXT(name, text) text,
#include "panics.def"
#undef PANIC_TEXT
};

/* A string of the program, or below 0 one of panics.def; NULL: neither. */
static const char *string_of(int64_t id)
{
    if (id >= 0)
        return id < rt->prog->nstrings ? rt->prog->strings[id] : NULL;
    return id >= -PANIC_TEXTS ? panic_texts[-1 - id] : NULL;
}

/* From 1.25 on a value that is recovered and raised again is printed once. */
static bool repanicked(const struct panicRecord *older, const struct panicRecord *newer)
{
    return prof->panic_repanicked && older->kind == newer->kind && older->value == newer->value;
}

static void crash_panic(struct crash *c, const struct panicRecord *p, bool again)
{
    crash_text(c, "panic: ");
    if (p->kind == PANIC_KIND_TEXT)
        crash_text(c, string_of(p->value));
    else
        crash_int(c, p->value);
    if (again)
        crash_text(c, " [recovered, repanicked]");
    else if (p->recovered)
        crash_text(c, " [recovered]");
}

/* panic.go printpanics: the oldest first, but only the latest of very many. */
static void crash_panics(struct crash *c, const struct panicRecord *p)
{
    enum { SHOWN = 16 };
    const struct panicRecord *list[SHOWN];
    int n = 0;
    for (; p != NULL && n < SHOWN; p = p->link)
        if (p->kind != PANIC_KIND_GOEXIT)
            list[n++] = p;
    for (int i = n; i-- > 0;) {
        if (i < n - 1 && repanicked(list[i + 1], list[i]))
            continue;
        if (i < n - 1)
            crash_text(c, "\n\t");
        crash_panic(c, list[i], i > 0 && repanicked(list[i], list[i - 1]));
    }
}

/* panic.go fatalpanic. */
static enum opres fatalpanic(struct g *gp)
{
    struct crash c = crash_begin("", "");
    crash_panics(&c, gp->ext->panics);
    crash_goroutine(&c, gp, "running");
    finding(FIND_PANIC, crash_end(&c));
    return OP_DONE;
}

/* ---- callbacks from C that never return ---- */

/* cgocall.go unwindm, deferred between a callback and the C code that called it: panics and Goexit
 * leave both behind, and the G is no longer tied to the thread for that. Here it is done for the
 * callbacks above the next deferred call; a frame is unwound once. */
static void unwindm(struct g *gp)
{
    struct m *mp = getm();
    uint32_t to = gp->ext->defers != NULL ? gp->ext->defers->fp : 0;
    if (mp->lockedInt == 0)
        return; /* on this thread C has called nobody */
    for (uint32_t fp = gp->fp; fp > to; fp = frame_below(gp, fp)) {
        if (!frame_uncall(gp, fp))
            continue;
        mp->incgo = false;
        unlockOSThread_internal(gp);
    }
}

/* ---- panics ---- */

static enum opres panic_next(struct g *gp)
{
    struct gext *x = gp->ext;
    unwindm(gp);
    if (x->defers == NULL)
        return x->coro != NULL ? coro_panicked(gp) : fatalpanic(gp);
    x->panics->defer_fp = x->defers->fp;
    x->panics->defer_func = x->defers->frame_func;
    return defer_run(gp, FRAME_PANIC);
}

static void panic_push(struct g *gp, enum panic_kind kind, int64_t value)
{
    struct gext *x = g_ext(gp);
    struct panicRecord *p = stackpool_get(RECORD_ORDER);
    *p = (struct panicRecord){
        .link = x->panics, .value = value, .fp = gp->fp, .kind = (uint8_t)kind};
    x->panics = p;
}

static void panic_pop(struct g *gp)
{
    struct panicRecord *p = gp->ext->panics;
    gp->ext->panics = p->link;
    stackpool_put(p, RECORD_ORDER);
}

/* panic.go gopanic. */
static enum opres gopanic(struct g *gp, enum panic_kind kind, int64_t value)
{
    work(panic);
    ev_panic(rec_g(gp), value, (enum ev_panicked)kind);
    panic_push(gp, kind, value);
    return panic_next(gp);
}

static enum opres gopanic_text(struct g *gp, enum panic_text t)
{
    return gopanic(gp, PANIC_KIND_TEXT, -1 - (int64_t)t);
}

static enum opres op_panic(struct g *gp, const struct insn *in)
{
    return in->d >= 0 ? gopanic(gp, PANIC_KIND_TEXT, in->d)
                      : gopanic(gp, PANIC_KIND_INT, regs(gp)[in->a]);
}

/* panic.go gorecover: only in the deferred call itself, only for the panic that runs it. */
static enum opres op_recover(struct g *gp, const struct insn *in)
{
    struct panicRecord *p = gp->ext != NULL ? gp->ext->panics : NULL;
    bool mine = p != NULL && p->kind != PANIC_KIND_GOEXIT && !p->recovered &&
                frame_kind(gp) == FRAME_PANIC;
    if (mine)
        p->recovered = true;
    set_reg(gp, in->a, mine ? p->kind : PANIC_KIND_NONE);
    set_reg(gp, in->b, mine ? p->value : 0);
    return OP_DONE;
}

/* panic.go recovery: back to the frame that deferred the recovering call. True: a Goexit was thrown
 * away and has to start again. */
static bool recovery(struct g *gp)
{
    struct panicRecord *p = gp->ext->panics;
    uint32_t fp = p->defer_fp;
    bool goexit_aborted = false;
    gp->fp = fp;
    gp->func = p->defer_func;
    panic_pop(gp);
    for (; (p = gp->ext->panics) != NULL && p->fp >= fp; panic_pop(gp))
        goexit_aborted |= p->kind == PANIC_KIND_GOEXIT;
    if (goexit_aborted)
        panic_push(gp, PANIC_KIND_GOEXIT, 0);
    return goexit_aborted;
}

/* ---- Goexit ---- */

static enum opres goexit_next(struct g *gp)
{
    struct gext *x = gp->ext;
    unwindm(gp);
    if (x->defers != NULL) {
        x->panics->defer_fp = x->defers->fp;
        x->panics->defer_func = x->defers->frame_func;
        return defer_run(gp, FRAME_GOEXIT);
    }
    while (x->panics != NULL)
        panic_pop(gp);
    if (gp->extra)
        unlockOSThread_internal(gp); /* the callback is its first frame */
    return x->coro != NULL ? coro_goexit(gp) : goexit(gp);
}

static enum opres step_goexitDefers(struct g *gp) { return goexit_next(gp); }
static enum opres step_goexit1(struct g *gp) { return goexit(gp); }

/* panic.go Goexit. */
static enum opres op_goexit(struct g *gp, const struct insn *in)
{
    (void)in;
    panic_push(gp, PANIC_KIND_GOEXIT, 0);
    return goexit_next(gp);
}

/* ---- returning ---- */

/* The first frame has returned. */
static enum opres goroutine_returns(struct g *gp)
{
    if (gp->ext != NULL && gp->ext->coro != NULL)
        return coro_returns(gp);
    if (gp->extra)
        return foreign_returns(gp);
    if (gp == rt->main_g) {
        if (turn_on()) {
            push_step(gp, STEP_mainReturns);
            if (turn_gives_way_at_end(gp))
                return goyield(gp);
            gp->nkont--;
        }
        rt->main_returned = true;
        host_stop(); /* proc.go main: exit(0) */
    }
    return goexit(gp);
}

/* By turns: the others have had theirs. */
static enum opres step_mainReturns(struct g *gp) { return goroutine_returns(gp); }

/* Leaves the current frame with result v, and those below for which that was the last thing to wait
 * for. */
static enum opres return_from(struct g *gp, int64_t v)
{
    for (;; v = 0) {
        if (defers_here(gp)) /* only after a recovery: op_ret has seen to the others */
            return defer_run(gp, FRAME_RECOVERED);
        if (gp->fp == 0)
            return goroutine_returns(gp);
        enum frame_kind kind = frame_kind(gp);
        uint8_t result = frame_pop(gp);
        switch (kind) {
        case FRAME_CALL: set_reg(gp, result, v); return OP_DONE;
        case FRAME_DEFER: return OP_DONE; /* pc is the RET that runs the deferred calls */
        case FRAME_GOEXIT: return goexit_next(gp);
        case FRAME_CGOCB: return cgocallback_done(gp);
        case FRAME_FINALIZER: return finalizer_returns(gp);
        case FRAME_CLEANUP: return cleanup_run(gp);
        case FRAME_RECOVERED: break;
        case FRAME_PANIC:
            if (!gp->ext->panics->recovered)
                return panic_next(gp);
            if (recovery(gp))
                return goexit_next(gp);
            break;
        }
    }
}

static enum opres step_recovered(struct g *gp) { return return_from(gp, 0); }

/* Once.Do's cleanup ran for a panic; it recovers nothing. */
static enum opres step_panicNext(struct g *gp) { return panic_next(gp); }

/* RET. With a deferred call left, the instruction runs again after it. */
static enum opres op_ret(struct g *gp, const struct insn *in)
{
    if (!defers_here(gp))
        return return_from(gp, in->a != NOREG ? regs(gp)[in->a] : 0);
    gp->pc--;
    return defer_run(gp, FRAME_DEFER);
}

/* ---- Once: the cleanup is deferred by the frame of the function, below whatever that defers
 * itself ---- */

static enum opres op_once(struct g *gp, const struct insn *in)
{
    struct once *o = object_of(gp, in, in->c, OBJ_ONCE);
    if (o == NULL)
        return gopanic_text(gp, PANIC_nil);
    if (a_load(&o->done) != 0) {
        raceacquire(&o->done);
        return OP_DONE;
    }
    push_step(gp, STEP_onceDo);
    return mutex_lock(gp, &o->m);
}

/* once.go doSlow, with the mutex held. */
static enum opres step_onceDo(struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    struct once *o = object_of(gp, in, in->c, OBJ_ONCE);
    if (a_load(&o->done) != 0)
        return mutex_unlock(gp, &o->m);
    uint32_t from = gp->fp + in->a;
    frame_push(gp, (uint32_t)in->imm, FRAME_CALL, NOREG);
    for (uint32_t i = 0; i < in->b; i++)
        regs(gp)[i] = g_stack(gp)[from + i];
    defer_add(gp, 0, NULL, 0)->once = o;
    return OP_DONE;
}
