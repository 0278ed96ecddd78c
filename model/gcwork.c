/* SPDX-License-Identifier: BSD-3-Clause */
/* Marking: background workers and assists take bytes from one pool and spend time on them. */
#include "globrunq.h"
#include "gqueue.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "newproc.h"
#include "note.h"
#include "park.h"
#include "preempt.h"
#include "proc.h"
#include "rand.h"
#include "runq.h"
#include "spin.h"

enum {
    DRAIN_BYTES = 16 << 10, /* taken at once: what gcDrain does between two looks at its flags */
    CHECK_BYTES = 100000,   /* drainCheckThreshold */
    CREDIT_SLACK = 2000,    /* gcCreditSlack */
    OVER_ASSIST = 64 << 10  /* gcOverAssistWork */
};

static void gcBeginWork(void) { a_add(&rt->gc.active, 1); }

/* True: the last one out, and nothing is left: marking may be done. */
static bool gcEndWork(void)
{
    int32_t active = a_add(&rt->gc.active, -1);
    return active == 0 && !gc_work_left();
}

/* Takes up to `want` bytes of work. */
static int64_t take_work(int64_t want)
{
    for (;;) {
        int64_t left = a_load(&rt->gc.remaining);
        if (left <= 0)
            return 0;
        int64_t n = left < want ? left : want;
        if (a_cas(&rt->gc.remaining, left, left - n))
            return n;
    }
}

/* Scans n bytes. A request to preempt cuts the burst, not the scan: who drains looks at the flag
 * between two scans. */
static void scan(int64_t n)
{
    int64_t left = n * rt->gc.scanNsPerKb / 1024;
    while (left > 0)
        left = burst(left, BURST_CUT);
}

/* mgcmark.go gcFlushBgCredit: pays waiting assists first, in order; what is left is for those who
 * come. */
static void gcFlushBgCredit(int64_t work_done)
{
    struct gcController *c = &rt->gc;
    if (a_load_rlx(&c->nassist) == 0) {
        a_add(&c->bgScanCredit, work_done);
        return;
    }
    int64_t ratio = a_load(&c->assistRatio);
    int64_t bytes = ratio > 0 ? mul_div(work_done, RATIO_ONE, ratio) : work_done;
    lock(&c->assistLock);
    while (bytes > 0 && !gQueue_empty(&c->assistQueue)) {
        struct g *gp = gQueue_pop(&c->assistQueue);
        if (bytes + gp->gcAssistBytes >= 0) {
            bytes += gp->gcAssistBytes;
            gp->gcAssistBytes = 0;
            a_store_rlx(&c->nassist, c->assistQueue.size);
            ready(gp, /*next*/ false);
        } else {
            gp->gcAssistBytes += (int32_t)bytes;
            bytes = 0;
            gQueue_pushBack(&c->assistQueue, gp);
        }
    }
    if (bytes > 0)
        a_add(&c->bgScanCredit, mul_div(bytes, ratio, RATIO_ONE));
    unlock(&c->assistLock);
}

/* pollFractionalWorkerExit: over 1.2 times the share. */
static bool fraction_exceeded(struct p *pp)
{
    if (!prof->fractional_stops_itself)
        return false;
    struct gcController *c = &rt->gc;
    int64_t now = nanotime(), delta = now - c->markStart;
    int64_t self = pp->gc.fractionalTime + (now - pp->gc.workerStart);
    return delta <= 0 || self / 1000 * c->fracDen * 10 > delta / 1000 * c->fracNum * 12;
}

/* mgcpacer.go needIdleMarkWorker: a look without the CAS of addIdleMarkWorker. */
static bool needIdleMarkWorker(void)
{
    int32_t n = a_load(&rt->gc.idleWorkers);
    return n < rt->gc.idleMax;
}

/* All that enlistWorker does up to 1.25, and its last resort since: of five other Ps drawn at
 * random it preempts the first that runs. That P then looks for work, and finds that a dedicated
 * worker is missing. */
static void enlist_by_preemption(void)
{
    int32_t procs = a_load_rlx(&rt->gomaxprocs), self = mp_p(getm())->id;
    for (int tries = 0; procs > 1 && tries < 5; tries++) {
        int32_t id = (int32_t)cheaprandn((uint32_t)procs - 1);
        struct p *pp = rt->allp[id + (id >= self)];
        if (a_load_rlx(&pp->status) == Prunning && preemptone(pp))
            return;
    }
}

/* mgcpacer.go enlistWorker: a marker has made work known that others could take. In Go that is when
 * the marker puts a full buffer, or half of its only one, where all find it; here, when it has
 * scanned what it took and some is left. */
static void enlistWorker(void)
{
    bool dedicated = a_load(&rt->gc.dedicatedNeeded) > 0;
    if (prof->enlist_wakes) {
        bool idle = needIdleMarkWorker();
        if (!dedicated && !idle)
            return;
        if (a_load(&sched->npidle) != 0 && a_load(&sched->nmspinning) == 0) {
            wakep();
            return;
        }
    }
    if (dedicated)
        enlist_by_preemption();
}

/* What the n bytes just scanned point to is known from now on. */
static void reveal(int64_t n)
{
    if (prof->gc_fanout <= 0)
        return;
    int64_t want = n > INT64_MAX / prof->gc_fanout ? INT64_MAX : n * prof->gc_fanout;
    for (;;) {
        int64_t hidden = a_load(&rt->gc.hidden), found = hidden < want ? hidden : want;
        if (found == 0)
            return;
        if (a_cas(&rt->gc.hidden, hidden, hidden - found)) {
            a_add(&rt->gc.remaining, found);
            return;
        }
    }
}

/* After scanning n bytes of the heap. */
static void share_work(int64_t n)
{
    reveal(n);
    if (a_load_rlx(&rt->gc.remaining) > 0)
        enlistWorker();
}

/* Is a request to preempt a reason to stop? For a worker that keeps its P, until_preempt false,
 * only when the world is to stop (1.15+) or forEachP wants the P (1.22+): a trace does, at the end
 * of a generation. */
static bool drain_preempted(struct g *gp, struct p *pp, bool until_preempt)
{
    if (!a_load_rlx(&gp->preempt))
        return false;
    return until_preempt || (prof->drain_stops_for_stw && a_load(&sched->gcwaiting) != 0) ||
           (prof->drain_stops_for_fn && a_load_rlx(&pp->runSafePointFn) != 0);
}

/* Must a worker of this mode stop here? */
static bool drain_over(struct g *gp, struct p *pp, enum gcMarkWorkerMode mode, bool until_preempt,
                       int64_t *unchecked)
{
    if (drain_preempted(gp, pp, until_preempt))
        return true;
    if (mode == gcDedicated || *unchecked < CHECK_BYTES)
        return false;
    *unchecked = 0;
    return mode == gcFractional ? fraction_exceeded(pp) : pollWork();
}

/* The next goroutine whose stack nobody took, of those that existed when marking began. */
static struct g *next_root(void)
{
    struct gcController *c = &rt->gc;
    for (;;) {
        struct g *gp = a_load(&c->rootNext);
        if (gp == NULL || a_cas(&c->rootNext, gp, gp == c->rootLast ? NULL : gp->alllink))
            return gp;
    }
}

/* mgcmark.go markroot, of stacks: the goroutine is stopped
 * at a safe point, scanned under its scan bit and resumed, which puts it into runnext of this P. Up
 * to 1.13 a running goroutine scanned itself at its next prologue; here it is left running. */
static void markroot_stack(struct g *gp)
{
    if (!prof->async_preempt && (readgstatus(gp) & ~(uint32_t)Gscan) == Grunning)
        return;
    struct suspendGState s = suspendG(gp);
    if (!s.dead)
        work(scanstack);
    resumeG(s);
}

/* By its place: whoever runs a goroutine meanwhile writes to what it says of itself. */
static bool is_variables(const struct g *root)
{
    const struct g *data = rt->gc.fixedRoot.opobj;
    return data != NULL && (root == data || root == data->opobj);
}

/* Gives the bytes that were scanned: those of stacks are in `remaining`. */
static int64_t markroot(struct g *gp)
{
    if (is_variables(gp)) {
        scan(gp->opval);
        return gp->opval;
    }
    if (gp == &rt->gc.fixedRoot)
        markrootFreeGStacks();
    else
        markroot_stack(gp);
    return 0;
}

/* The roots come first; a worker that is preempted leaves the rest to others. True: it has to give
 * way now; whether it has to is looked at after each root. */
static bool drain_roots(struct g *self, struct p *pp, enum gcMarkWorkerMode mode,
                        bool until_preempt)
{
    while (!drain_preempted(self, pp, until_preempt)) {
        struct g *gp = next_root();
        if (gp == NULL)
            return false;
        int64_t n = markroot(gp);
        if (n > 0)
            gcFlushBgCredit(n);
        if ((mode == gcFractional && fraction_exceeded(pp)) || (mode == gcIdle && pollWork()))
            return true;
    }
    return false;
}

/* mgcmark.go gcDrain. */
static void gcDrain(struct g *gp, struct p *pp, enum gcMarkWorkerMode mode, bool until_preempt)
{
    int64_t credit = 0, unchecked = 0;
    bool over = drain_roots(gp, pp, mode, until_preempt);
    while (!over && !drain_over(gp, pp, mode, until_preempt, &unchecked)) {
        int64_t n = take_work(DRAIN_BYTES);
        if (n == 0)
            break;
        scan(n);
        share_work(n);
        credit += n;
        unchecked += n;
        if (credit >= CREDIT_SLACK) {
            gcFlushBgCredit(credit);
            credit = 0;
        }
    }
    if (credit > 0)
        gcFlushBgCredit(credit);
    gc_revise();
}

static void give_ring_one_by_one(struct p *pp)
{
    bool inherit;
    lock(&sched->lock);
    for (struct g *gp = runqget(pp, &inherit); gp != NULL; gp = runqget(pp, &inherit)) {
        moved(gp, pp, EV_place_global);
        globrunqput(gp);
    }
    unlock(&sched->lock);
}

/* A preempted dedicated worker keeps its P to itself: the P's Gs go where others find them. */
static void give_ring_away(struct p *pp)
{
    if (!prof->runqdrain) {
        give_ring_one_by_one(pp);
        return;
    }
    struct gQueue q = runqdrain(pp);
    if (gQueue_empty(&q))
        return;
    moved_all(&q, pp, EV_place_global);
    lock(&sched->lock);
    globrunqputbatch(&q);
    unlock(&sched->lock);
}

/* The body of gcBgMarkWorker, on g0. True: marking may be done. */
static bool worker_body(struct g *gp, struct p *pp)
{
    enum gcMarkWorkerMode mode = (enum gcMarkWorkerMode)pp->gc.mode;
    if (!gc_blacken())
        throw("gcBgMarkWorker: blackening not enabled");
    if (mode == gcNotWorker)
        throw("gcBgMarkWorker: mode not set");
    pp->gc.workerStart = nanotime();
    gcBeginWork();
    casGToWaiting(gp, Grunning, waitReasonGCWorkerActive);
    gcDrain(gp, pp, mode, /*until_preempt*/ true);
    if (mode == gcDedicated) {
        if (a_load_rlx(&gp->preempt) && prof->gc_gives_ring_away)
            give_ring_away(pp);
        gcDrain(gp, pp, mode, /*until_preempt*/ false);
    }
    casgstatus(gp, Gwaiting, Grunning);
    int64_t took = nanotime() - pp->gc.workerStart;
    ev_gc_worker(rec_g(gp), (uint64_t)took, (enum ev_gcmode)mode);
    markWorkerStop(mode);
    if (mode == gcFractional)
        pp->gc.fractionalTime += took;
    pp->gc.mode = gcNotWorker;
    return gcEndWork();
}

/* ---- up to 1.15: workers that belong to a P ---- */

static struct p *worker_p(const struct g *gp) { return rt->allp[gp->group - 1]; }

/* gcBgMarkWorker's unlockf. opobj is the P to attach to, once the worker is stopped: from then on
 * the P may run it. False: the P has got another one meanwhile. */
static bool bound_worker_parked(struct g *gp)
{
    struct p *pp = gp->opobj;
    gp->opobj = NULL;
    return pp == NULL || a_cas(&pp->gc.bgWorker, (struct g *)NULL, gp);
}

/* p.destroy: the worker finds itself without a P and ends. */
static void bound_worker_dismiss(struct p *pp)
{
    struct g *gp = a_load_rlx(&pp->gc.bgWorker);
    if (gp == NULL)
        return;
    casgstatus(gp, Gwaiting, Grunnable);
    made_runnable(gp);
    ev_g_ready(rec_g(gp), rec_curg(getm()), EV_place_global);
    globrunqput(gp);
    a_store_rlx(&pp->gc.bgWorker, (struct g *)NULL);
}

/* Parks the worker; unlockf puts it into the pool and ends the pinning that it was created or woken
 * with. */
static bool worker_to_pool(struct g *gp, void *unused)
{
    (void)unused;
    releasem(getm());
    if (!prof->gc_worker_pool)
        return bound_worker_parked(gp);
    workers_push(gp);
    return true;
}

static enum opres worker_park(struct g *gp)
{
    push_step(gp, STEP_bgMarkWorker);
    return gopark(gp, worker_to_pool, NULL, waitReasonGCWorkerIdle);
}

/* The channel over which goroutines say that they run. A send adds its token before it looks for a
 * receiver, a receiver shows itself before it looks for a token: one of them sees the other. */
static void started_send(void)
{
    struct gcController *c = &rt->gc;
    a_add(&c->started, 1);
    if (a_load(&c->starter) == NULL) /* on ppc64 a load waits for the add, an exchange does not */
        return;
    struct g *gp = a_xchg(&c->starter, (struct g *)NULL);
    if (gp != NULL)
        goready(gp);
}

/* mgc.go gcBgMarkWorker, first round: takes its index, then tells whoever started it, who starts
 * the next only then. */
static enum opres step_bgMarkWorkerStart(struct g *gp)
{
    struct gcController *c = &rt->gc;
    acquirem();
    if (prof->gc_worker_pool) {
        c->workers[c->nworkers++] = gp;
        gp->group = c->nworkers;
    } else {
        gp->group = ((struct p *)gp->opobj)->id + 1;
    }
    if (prof->gc_start_by_chan)
        started_send();
    else
        notewakeup(&c->ready);
    return worker_park(gp);
}

/* mgc.go gcBgMarkWorker, every other round: findRunnable gave the worker this P. */
static enum opres step_bgMarkWorker(struct g *gp)
{
    if (!prof->gc_worker_pool && a_load_rlx(&worker_p(gp)->gc.bgWorker) != gp)
        return goexit(gp); /* its P is gone or has another one */
    struct m *mp = acquirem();
    if (!worker_body(gp, mp_p(mp)))
        return worker_park(gp);
    if (!prof->gc_worker_pool) /* while it ends the cycle nobody may schedule it */
        a_store_rlx(&worker_p(gp)->gc.bgWorker, (struct g *)NULL);
    releasem(mp); /* gcMarkDone may park */
    push_step(gp, STEP_bgMarkWorkerAgain);
    return gcMarkDone(gp);
}

static enum opres step_bgMarkWorkerAgain(struct g *gp)
{
    acquirem();
    gp->opobj = prof->gc_worker_pool ? NULL : worker_p(gp);
    return worker_park(gp);
}

/* ---- assists ---- */

/* mgcmark.go gcParkAssist: waits for credit. False: there is some already. */
static bool gcParkAssist(struct g *gp, enum opres *r)
{
    struct gcController *c = &rt->gc;
    *r = OP_DONE;
    lock(&c->assistLock);
    if (!gc_blacken()) {
        unlock(&c->assistLock);
        return true;
    }
    struct gQueue old = c->assistQueue;
    gQueue_pushBack(&c->assistQueue, gp);
    if (a_load(&c->bgScanCredit) > 0) {
        c->assistQueue = old;
        if (old.tail != NULL)
            old.tail->schedlink = NULL;
        unlock(&c->assistLock);
        return false;
    }
    a_store_rlx(&c->nassist, c->assistQueue.size);
    *r = goparkunlock(gp, &c->assistLock, waitReasonGCAssistWait);
    return true;
}

/* gcAssistAlloc1 and gcDrainN: marks on the own P, roots where there is nothing else. True: marking
 * may be done. */
static bool assist_mark(struct g *gp, int64_t scan_work, int64_t ratio)
{
    int64_t start = record_now(), done = 0;
    ev_gc_assist_begin(rec_g(gp));
    gcBeginWork();
    casGToWaiting(gp, Grunning, waitReasonGCAssistMarking);
    while (done < scan_work && !a_load_rlx(&gp->preempt)) {
        int64_t left = scan_work - done;
        int64_t n = take_work(left < DRAIN_BYTES ? left : DRAIN_BYTES);
        if (n == 0) {
            struct g *root = next_root();
            if (root == NULL)
                break;
            done += markroot(root);
            continue;
        }
        scan(n);
        done += n;
        share_work(n);
    }
    casgstatus(gp, Gwaiting, Grunning);
    int64_t paid = 1 + mul_div(done, RATIO_ONE, ratio);
    gp->gcAssistBytes += (int32_t)(paid < ASSIST_MAX ? paid : ASSIST_MAX);
    ev_gc_assist_end(rec_g(gp), (uint64_t)(record_now() - start));
    getm()->counters[C_assists]++;
    return gcEndWork();
}

/* Steals what the background earned. Gives the work that is left to do. */
static int64_t steal_credit(struct g *gp, int64_t scan_work, int64_t debt, int64_t ratio)
{
    int64_t credit = a_load(&rt->gc.bgScanCredit);
    if (credit <= 0)
        return scan_work;
    int64_t stolen = credit < scan_work ? credit : scan_work;
    int64_t paid = stolen == scan_work ? debt : 1 + mul_div(stolen, RATIO_ONE, ratio);
    gp->gcAssistBytes += (int32_t)(paid < ASSIST_MAX ? paid : ASSIST_MAX);
    a_add(&rt->gc.bgScanCredit, -stolen);
    return scan_work - stolen;
}

/* mgcmark.go gcAssistAlloc: the G pays its debt. */
static enum opres gcAssistAlloc(struct g *gp)
{
    if (!gc_blacken() || gp->gcAssistBytes >= 0)
        return OP_DONE;
    int64_t ratio = a_load(&rt->gc.assistRatio), debt = -(int64_t)gp->gcAssistBytes;
    if (ratio == 0)
        ratio = 1;
    int64_t scan_work = mul_div(debt, ratio, RATIO_ONE);
    if (scan_work < OVER_ASSIST) {
        scan_work = OVER_ASSIST;
        debt = mul_div(scan_work, RATIO_ONE, ratio);
    }
    scan_work = steal_credit(gp, scan_work, debt, ratio);
    if (scan_work == 0)
        return OP_DONE;
    push_step(gp, STEP_assistPay);
    if (assist_mark(gp, scan_work, ratio))
        return gcMarkDone(gp);
    return OP_DONE;
}

/* After the own marking: still in debt, somebody else must mark for us, or we are to yield first.
 */
static enum opres step_assistPay(struct g *gp)
{
    if (gp->gcAssistBytes >= 0 || !gc_blacken())
        return OP_DONE;
    if (a_load_rlx(&gp->preempt)) {
        push_step(gp, STEP_assistAgain);
        return gosched(gp);
    }
    enum opres r;
    if (!gcParkAssist(gp, &r)) {
        push_step(gp, STEP_assistAgain);
        return OP_DONE;
    }
    return r;
}

static enum opres step_assistAgain(struct g *gp) { return gcAssistAlloc(gp); }

/* gdestroy: credit that a G takes to its grave would be lost. */
static void gc_flushAssistCredit(struct g *gp)
{
    if (gc_blacken() && gp->gcAssistBytes > 0) {
        int64_t ratio = a_load(&rt->gc.assistRatio);
        a_add(&rt->gc.bgScanCredit, mul_div(gp->gcAssistBytes, ratio, RATIO_ONE));
    }
    gp->gcAssistBytes = 0;
}
