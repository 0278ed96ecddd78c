/* SPDX-License-Identifier: BSD-3-Clause */
/* The execution tracer (trace.go, runtime/trace) as the scheduler feels it: who stops for it, and
 * how the goroutine that reads the trace is found and woken.
 *
 *   to 1.21   a buffer per P; start and stop stop the world; stop waits until all is read
 *   1.22-     a buffer per M and generation; a generation ends every second (traceAdvance, by a
 *             goroutine that sleeps), and at the stop, which stops nobody
 *
 * The reader is readied by nobody: the scheduler looks for it (findRunnable, handoffp) while there
 * is something to read. What is traced is simpler than in Go: so many events per switch, a buffer
 * is a number of them. */
#include "trace.h"
#include "chan.h"
#include "gomaxprocs.h"
#include "gstatus.h"
#include "lock.h"
#include "lockrank.h"
#include "newproc.h"
#include "objs.h"
#include "park.h"
#include "preempt.h"
#include "sema.h"
#include "stw.h"
#include "syscall.h"

enum { TRACE_PERIOD_NS = 1000000000, TRACE_CPU_PERIOD_NS = 100000000 };

static bool traceEnabled(void) { return a_load_rlx(&rt->trace.on); }

static void trace_world_init(void)
{
    struct tracer *tr = &rt->trace;
    lockInit(&tr->lock, lockRankTrace);
    a_init(&tr->shutdownSema, prof->trace_generations);
    a_init(&tr->advanceSema, 1);
}

/* ---- writing ---- */

static uint32_t trace_slot(void)
{
    return prof->trace_generations ? (uint32_t)(a_peek(&rt->trace.gen) % 2) : 0;
}

/* traceFullQueue, traceBufFlush: a buffer to read. trace.lock is held. */
static void traceBufFlush(uint32_t slot)
{
    struct tracer *tr = &rt->trace;
    a_store_rlx(&tr->full[slot], a_own(&tr->full[slot]) + 1);
    if (prof->trace_generations)
        a_store(&tr->workAvailable, true);
}

/* traceEvent: n more events in the buffer of this M, to 1.21 of its P. */
static COLD void trace_events(struct m *mp, uint32_t n)
{
    struct p *pp = a_own(&mp->p);
    uint32_t slot = trace_slot();
    if (!a_peek(&rt->trace.on) || (!prof->trace_generations && pp == NULL))
        return;
    maskword *traced = prof->trace_generations ? &mp->traced[slot] : &pp->traced;
    work_n(trace, n);
    uint32_t used = a_load_rlx(traced);
    if (used == 0 || used >= (uint32_t)prof->trace_buf_events) {
        lock(&rt->trace.lock); /* the next buffer comes from a shared list */
        if (used != 0)
            traceBufFlush(slot);
        unlock(&rt->trace.lock);
        used = 0;
    }
    a_store_rlx(traced, used + n);
}

/* ---- the scheduler's side ---- */

/* trace.go traceReaderAvailable. To 1.19 whoever looks takes the reader first. */
static COLD struct g *traceReaderAvailable(void)
{
    struct tracer *tr = &rt->trace;
    if (!prof->trace_generations) {
        struct g *gp = prof->trace_reader_cas ? NULL : a_load_rlx(&tr->reader);
        if (!prof->trace_reader_cas && gp == NULL)
            return NULL;
        if (a_load_rlx(&tr->full[0]) == 0 && !a_load_rlx(&tr->shutdown))
            return NULL;
        return prof->trace_reader_cas ? a_load(&tr->reader) : gp;
    }
    uint64_t flushed = a_load(&tr->flushedGen);
    if (flushed == a_load(&tr->readerGen) || a_load(&tr->workAvailable))
        return a_load(&tr->reader);
    if (!prof->trace_reader_waits && a_load(&tr->shutdown))
        return a_load(&tr->reader);
    return NULL;
}

/* trace.go traceReader: takes it. The caller makes it runnable. */
static COLD struct g *traceReader(void)
{
    struct tracer *tr = &rt->trace;
    struct g *gp = traceReaderAvailable();
    if (gp == NULL)
        return NULL;
    if (prof->trace_generations)
        return a_cas(&tr->reader, gp, (struct g *)NULL) ? gp : NULL;
    lock(&tr->lock);
    gp = traceReaderAvailable();
    if (gp != NULL)
        a_store(&tr->reader, (struct g *)NULL);
    unlock(&tr->lock);
    return gp;
}

/* ---- reading ---- */

enum trace_read { READ_DATA, READ_PARK, READ_DONE };

/* ReadTrace up to 1.21. With trace_reader_cas the lock is free when this says READ_PARK. */
static enum trace_read read_buffers(void)
{
    struct tracer *tr = &rt->trace;
    lock(&tr->lock);
    uint32_t full = a_own(&tr->full[0]);
    bool shutdown = a_load_rlx(&tr->shutdown);
    if (tr->header && full == 0 && !shutdown) {
        if (prof->trace_reader_cas)
            unlock(&tr->lock);
        return READ_PARK;
    }
    bool done = tr->header && full == 0 && tr->footer;
    if (!tr->header)
        tr->header = true;
    else if (full > 0)
        a_store_rlx(&tr->full[0], full - 1);
    else if (!done) {
        tr->footer = true;
        if (!prof->trace_reader_cas)
            traceBufFlush(0); /* the stacks come next time */
    }
    unlock(&tr->lock);
    if (!done)
        return READ_DATA;
    semrelease(&tr->shutdownSema);
    return READ_DONE;
}

/* readTrace0 (1.22+). */
static enum trace_read read_generation(void)
{
    struct tracer *tr = &rt->trace;
    lock(&tr->lock);
    if (!tr->header) {
        tr->header = true;
        unlock(&tr->lock);
        return READ_DATA;
    }
    for (;;) {
        uint64_t gen = a_load(&tr->readerGen);
        uint32_t slot = gen % 2, full = a_own(&tr->full[slot]);
        if (full > 0) {
            a_store_rlx(&tr->full[slot], full - 1);
            unlock(&tr->lock);
            return READ_DATA;
        }
        if (a_load(&tr->flushedGen) != gen) {
            a_store(&tr->workAvailable, false);
            unlock(&tr->lock);
            return READ_PARK;
        }
        bool over = a_load(&tr->shutdown);
        if (!over) {
            uint64_t next = a_load(&tr->gen);
            a_store(&tr->readerGen, next);
        }
        unlock(&tr->lock);
        semrelease(&tr->doneSema[slot]);
        if (over)
            return READ_DONE;
        lock(&tr->lock);
    }
}

/* ReadTrace's unlockf (1.20+). False: there is something to read after all. */
static bool reader_parks(struct g *gp, void *unused)
{
    (void)unused;
    if (!a_cas(&rt->trace.reader, (struct g *)NULL, gp))
        return false;
    return traceReader() != gp;
}

static enum opres reader_park(struct g *gp)
{
    push_step(gp, STEP_readTrace);
    if (prof->trace_generations || prof->trace_reader_cas)
        return gopark(gp, reader_parks, NULL, waitReasonTraceReaderBlocked);
    a_store_rlx(&rt->trace.reader, gp);
    return goparkunlock(gp, &rt->trace.lock, waitReasonTraceReaderBlocked);
}

/* The goroutine of runtime/trace.Start: reads a piece, writes it, and so on. */
static enum opres step_readTrace(struct g *gp)
{
    switch (prof->trace_generations ? read_generation() : read_buffers()) {
    case READ_DONE: return OP_DONE;
    case READ_PARK: return reader_park(gp);
    case READ_DATA: break;
    }
    push_step(gp, STEP_readTrace);
    if (prof->trace_write_ns == 0)
        return OP_DONE;
    entersyscall(gp);
    syscall_body(prof->trace_write_ns, SYSCALL_SPIN);
    return exitsyscall(gp);
}

/* ---- sleeping with an early end (wakeableSleep, 1.22+) ---- */

static void sleeper_wake(struct trace_sleeper *s) { (void)selectnbsend(s->wakeup, 0); }

static void sleeper_fires(void *arg, uint64_t seq, int64_t delay)
{
    (void)seq;
    (void)delay;
    sleeper_wake(arg);
}

static void sleeper_start(struct trace_sleeper *s, int64_t period_ns, enum step first)
{
    if (s->wakeup == NULL) {
        timer_init(&s->timer, sleeper_fires, s);
        s->wakeup = makechan(1);
        s->done = makechan(s == &rt->trace.cpu ? 1 : 0);
        s->period_ns = period_ns;
    }
    while (timerchandrain(s->wakeup)) /* a wake-up left over from the last sleep */
        ;
    (void)newsysproc(first, NULL);
}

/* One round of a sleeper's goroutine: sleeps, then does `then`. When the trace is over the sleeper
 * says so and ends. */
static enum opres sleeper_turn(struct g *gp, struct trace_sleeper *s, enum step then)
{
    if (!traceEnabled()) {
        push_step(gp, STEP_goexit1);
        return chansend(gp, s->done, 0);
    }
    (void)timer_reset(&s->timer, time_when(s->period_ns), 0);
    push_step(gp, then);
    return chanrecv(gp, s->wakeup, NULL);
}

static enum opres step_traceAdvancer(struct g *gp)
{
    return sleeper_turn(gp, &rt->trace.advancer, STEP_traceAdvancerWoke);
}

static enum opres step_traceCPU(struct g *gp)
{
    return sleeper_turn(gp, &rt->trace.cpu, STEP_traceCPUWoke);
}

static enum opres step_traceCPUWoke(struct g *gp)
{
    (void)timer_stop(&rt->trace.cpu.timer);
    push_step(gp, STEP_traceCPU);
    return OP_DONE;
}

/* ---- starting ---- */

/* runtime/trace.Start. A second one is an error that the program does not look at. */
static enum opres traceStart(struct g *gp)
{
    struct tracer *tr = &rt->trace;
    if (trace_active())
        return OP_DONE;
    push_step(gp, STEP_traceStart);
    push_step(gp, STEP_procsWorld);
    if (prof->trace_generations) {
        push_step(gp, STEP_traceStartAlone);
        return semacquire(gp, &tr->shutdownSema);
    }
    return prof->gcsema ? semacquire(gp, &rt->gcsema) : OP_DONE;
}

static enum opres step_traceStartAlone(struct g *gp)
{
    semrelease(&rt->trace.shutdownSema);
    return semacquire(gp, &rt->trace.advanceSema);
}

/* sysmon must not trace meanwhile. */
static void trace_stop_world(enum ev_stw why)
{
    stopTheWorld(why, why == EV_stw_start_trace ? "start trace" : "stop trace");
    if (prof->sysmonlock)
        lock(&sched->sysmonlock);
}

static void trace_start_world(struct g *gp, enum ev_stw why)
{
    if (prof->sysmonlock)
        unlock(&sched->sysmonlock);
    startTheWorldWithSema(why);
    if (prof->trace_generations)
        release_worldsema(gp);
    else
        release_world(gp);
}

static enum opres step_traceStart(struct g *gp)
{
    struct tracer *tr = &rt->trace;
    trace_stop_world(EV_stw_start_trace);
    tr->header = tr->footer = false;
    if (prof->trace_generations) {
        a_store(&tr->readerGen, tr->lastGen + 1);
        a_store(&tr->flushedGen, 0);
        a_store(&tr->gen, tr->lastGen + 1);
    } else {
        work_n(trace, (uint32_t)a_load(&rt->allglen)); /* every goroutine's status */
    }
    a_store(&tr->on, true);
    trace_start_world(gp, EV_stw_start_trace);
    if (prof->trace_generations) {
        sleeper_start(&tr->cpu, TRACE_CPU_PERIOD_NS, STEP_traceCPU);
        sleeper_start(&tr->advancer, TRACE_PERIOD_NS, STEP_traceAdvancer);
        semrelease(&tr->advanceSema);
    }
    (void)newproc(FUNC_STEP(STEP_readTrace), NULL, 0, -1);
    return OP_DONE;
}

/* ---- a generation ends (1.22+) ---- */

/* traceAdvance. opval, across the waits: is this the end of the trace? */
static enum opres traceAdvance(struct g *gp, bool stop)
{
    gp->opval = stop;
    push_step(gp, STEP_traceStatus);
    return semacquire(gp, &rt->trace.advanceSema);
}

static enum opres step_traceAdvancerWoke(struct g *gp)
{
    (void)timer_stop(&rt->trace.advancer.timer);
    push_step(gp, STEP_traceAdvancer);
    return traceAdvance(gp, false);
}

static void trace_status_of(struct g *self, struct g *gp)
{
    casGToWaiting(self, Grunning, waitReasonTraceGoroutineStatus);
    struct suspendGState s = suspendG(gp);
    if (!s.dead)
        work_n(trace, 1);
    resumeG(s);
    casgstatus(self, Gwaiting, Grunning);
}

/* Go looks up the status of every goroutine that did nothing in this generation; here, of each that
 * waits. */
static enum opres step_traceStatus(struct g *gp)
{
    struct tracer *tr = &rt->trace;
    if (a_load(&tr->gen) == 0) {
        semrelease(&tr->advanceSema);
        return OP_DONE;
    }
    for (struct g *g1 = rt->allgs; g1 != NULL; g1 = g1->alllink) {
        uint32_t status = readgstatus(g1) & ~(uint32_t)Gscan;
        if (status == Gwaiting || status == Gsyscall)
            trace_status_of(gp, g1);
    }
    push_step(gp, STEP_traceSwitch);
    return semacquire(gp, &rt->worldsema);
}

static void no_trace(struct p *pp)
{
    (void)pp;
    work_n(trace, 1);
}

/* Every M's buffer of the generation that is over. */
static void trace_flush(uint32_t slot)
{
    struct tracer *tr = &rt->trace;
    lock(&sched->lock);
    struct m *ms = rt->allm;
    unlock(&sched->lock);
    for (struct m *mp = ms; mp != NULL; mp = mp->alllink) {
        lock(&tr->lock);
        if (a_load_rlx(&mp->traced[slot]) != 0)
            traceBufFlush(slot);
        a_store_rlx(&mp->traced[slot], 0);
        unlock(&tr->lock);
    }
    lock(&tr->lock);
    traceBufFlush(slot); /* stacks, strings, and who did nothing */
    a_store(&tr->flushedGen, tr->lastGen);
    unlock(&tr->lock);
}

static enum opres step_traceSwitch(struct g *gp)
{
    struct tracer *tr = &rt->trace;
    bool stop = gp->opval != 0;
    if (prof->trace_barrier_first)
        ragged_barrier(gp, no_trace, waitReasonTraceProcStatus);
    struct m *mp = acquirem();
    tr->lastGen = a_load(&tr->gen);
    if (stop) {
        lock(&tr->lock);
        a_store(&tr->shutdown, true);
        a_store(&tr->gen, 0);
        unlock(&tr->lock);
        a_store_rlx(&tr->on, false);
    } else {
        a_store(&tr->gen, tr->lastGen + 1);
    }
    releasem(mp);
    semrelease(&rt->worldsema);
    trace_flush(tr->lastGen % 2);
    push_step(gp, STEP_traceWaitRead);
    if (!stop && prof->trace_barrier_first)
        return OP_DONE;
    push_step(gp, stop ? STEP_traceStopCPU : STEP_traceBarrier);
    return semacquire(gp, stop ? &tr->shutdownSema : &rt->worldsema);
}

static enum opres step_traceBarrier(struct g *gp)
{
    ragged_barrier(gp, no_trace, waitReasonTraceProcStatus);
    semrelease(&rt->worldsema);
    return OP_DONE;
}

static enum opres step_traceStopCPU(struct g *gp)
{
    sleeper_wake(&rt->trace.cpu);
    return chanrecv(gp, rt->trace.cpu.done, NULL);
}

/* Until the reader has the whole generation. */
static enum opres step_traceWaitRead(struct g *gp)
{
    push_step(gp, STEP_traceWasRead);
    return semacquire(gp, &rt->trace.doneSema[rt->trace.lastGen % 2]);
}

static enum opres step_traceWasRead(struct g *gp)
{
    struct tracer *tr = &rt->trace;
    bool stop = gp->opval != 0;
    lock(&tr->lock);
    if (stop)
        a_store(&tr->shutdown, false);
    unlock(&tr->lock);
    if (stop)
        push_step(gp, STEP_traceStopAdvancer);
    return semrelease1(gp, &tr->advanceSema, /*handoff*/ true);
}

static enum opres step_traceStopAdvancer(struct g *gp)
{
    sleeper_wake(&rt->trace.advancer);
    push_step(gp, STEP_traceOver);
    return chanrecv(gp, rt->trace.advancer.done, NULL);
}

static enum opres step_traceOver(struct g *gp)
{
    (void)gp;
    semrelease(&rt->trace.shutdownSema);
    return OP_DONE;
}

/* ---- stopping ---- */

/* runtime/trace.Stop: comes back when all was read. */
static enum opres traceStop(struct g *gp)
{
    if (prof->trace_generations)
        return traceAdvance(gp, true);
    push_step(gp, STEP_traceStop);
    push_step(gp, STEP_procsWorld);
    return prof->gcsema ? semacquire(gp, &rt->gcsema) : OP_DONE;
}

static void flush_ps(void)
{
    for (int32_t i = 0; i < rt->allp_len; i++) {
        struct p *pp = rt->allp[i];
        if (a_load_rlx(&pp->traced) != 0)
            traceBufFlush(0);
        a_store_rlx(&pp->traced, 0);
    }
}

static enum opres step_traceStop(struct g *gp)
{
    struct tracer *tr = &rt->trace;
    trace_stop_world(EV_stw_stop_trace);
    bool on = traceEnabled();
    if (on) {
        flush_ps();
        a_store_rlx(&tr->on, false);
        a_store_rlx(&tr->shutdown, true);
        push_step(gp, STEP_traceStopped);
    }
    trace_start_world(gp, EV_stw_stop_trace);
    return on ? semacquire(gp, &tr->shutdownSema) : OP_DONE;
}

static enum opres step_traceStopped(struct g *gp)
{
    (void)gp;
    lock(&rt->trace.lock);
    a_store_rlx(&rt->trace.shutdown, false);
    unlock(&rt->trace.lock);
    return OP_DONE;
}
