/* SPDX-License-Identifier: BSD-3-Clause */
/* How much marking there is to do, who may do it, and which P runs a worker next (mgcpacer.go). */
#include "gstatus.h"
#include "lock.h"
#include "park.h"
#include "pidle.h"

enum { HEAP_MIN = 4 << 20 };

/* x * y / z, none of them negative; heaps of terabytes have room. */
static int64_t mul_div(int64_t x, int64_t y, int64_t z) { return (int64_t)((__int128)x * y / z); }

/* gcControllerState.commit: the next goal and trigger. The trigger leaves room for what was
 * allocated during the last marking, within 70 and 95 % of the way from the marked heap to the
 * goal. */
static void gc_commit(void)
{
    struct gcController *c = &rt->gc;
    if (prof->gc_percent < 0) {
        c->goal = INT64_MAX;
        a_store(&c->trigger, INT64_MAX);
        return;
    }
    int64_t goal = c->heapMarked + c->heapMarked / 100 * prof->gc_percent;
    int64_t min = HEAP_MIN / 100 * prof->gc_percent;
    c->goal = goal > min ? goal : min;
    int64_t gap = c->goal - c->heapMarked, trigger = c->goal - c->runway;
    int64_t lo = c->heapMarked + gap / 10 * 7, hi = c->heapMarked + gap / 20 * 19;
    a_store(&c->trigger, trigger < lo ? lo : trigger > hi ? hi : trigger);
}

/* gcControllerState.revise: what an allocated byte has to pay, so that marking ends before the goal
 * is reached. */
static void gc_revise(void)
{
    struct gcController *c = &rt->gc;
    int64_t left = a_load(&c->remaining);
    if (prof->gc_fanout > 0)
        left += a_load(&c->hidden);
    if (left < 1000)
        left = 1000; /* as in Go: a ratio of nothing would make one assist pay for ever */
    int64_t room = c->goal - a_load(&c->heapLive);
    if (room < 1 << 16)
        room = 1 << 16;
    if (left > INT64_MAX >> 17)
        left = INT64_MAX >> 17;
    a_store(&c->assistRatio, mul_div(left, RATIO_ONE, room));
}

/* startCycle's workers: 25 % of the Ps. Rounded to whole Ps when that is within 30 %, else the
 * difference is spread as a share of every P's time. Periodic cycles leave idle Ps alone. */
static void gc_startCycle_workers(int32_t procs, enum gcTrigger trigger)
{
    struct gcController *c = &rt->gc;
    int64_t total = (int64_t)procs * prof->gc_util_percent; /* hundredths of a P */
    int64_t dedicated = (total + 50) / 100;
    int64_t error = 100 * dedicated - total;
    c->fracNum = 0;
    c->fracDen = 1;
    if ((error < 0 ? -error : error) * 10 > 3 * total) {
        if (error > 0)
            dedicated--;
        c->fracNum = total - 100 * dedicated;
        c->fracDen = 100 * (int64_t)procs;
    }
    if (prof->gcstoptheworld > 0) {
        dedicated = procs;
        c->fracNum = 0;
        c->fracDen = 1;
    }
    a_store(&c->dedicatedNeeded, (int32_t)dedicated);
    if (!prof->idle_gc_limit)
        c->idleMax = procs;
    else if (trigger == gcTriggerTime)
        c->idleMax = dedicated > 0 ? 0 : 1;
    else
        c->idleMax = procs - (int32_t)dedicated;
}

/* gcResetMarkState: debts and credits are of one cycle. */
static void reset_assists(void)
{
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        gp->gcAssistBytes = 0;
}

/* What a KB takes to mark in this cycle: longer where nobody has looked at the pages yet. */
static uint32_t scan_rate(int64_t reachable, int64_t fresh)
{
    int64_t touch = fresh > 0 ? mul_div(prof->gc_touch_ns_per_kb, fresh, reachable) : 0;
    return (uint32_t)(prof->gc_mark_ns_per_kb + touch);
}

/* No goroutine either: variables, opval bytes, the next root after `before`. Few programs say that
 * they have any, so these are made when they are needed. */
static struct g *variables_root(struct g *before, int64_t kb)
{
    if (before->opobj == NULL)
        before->opobj = host_alloc(sizeof *before, _Alignof(struct g));
    struct g *root = before->opobj;
    root->opval = kb * 1024;
    before->alllink = root;
    return root;
}

/* The roots in their order: what is fixed, data, bss, stacks. */
static void roots_chain(struct g *fixed)
{
    struct g *last = fixed;
    if (prof->gc_data_kb + prof->gc_bss_kb > 0)
        last = variables_root(variables_root(fixed, prof->gc_data_kb), prof->gc_bss_kb);
    last->alllink = rt->allgs;
}

/* startCycle and gcPrepareMarkRoots. The world is stopped. */
static void gc_startCycle(enum gcTrigger trigger)
{
    struct gcController *c = &rt->gc;
    int32_t procs = a_load_rlx(&rt->gomaxprocs);
    gc_startCycle_workers(procs, trigger);
    reset_assists();
    c->markStart = nanotime();
    for (int32_t i = 0; i < procs; i++)
        rt->allp[i]->gc.fractionalTime = 0;
    int64_t roots = (int64_t)a_load(&rt->allglen) * ROOT_BYTES_PER_G;
    c->allocatedInMark = a_load(&c->heapLive);
    int64_t reachable = a_load(&c->reachable);
    c->scanNsPerKb = scan_rate(reachable, reachable - c->heapMarked);
    a_store(&c->remaining, prof->gc_fanout > 0 ? roots : reachable + roots);
    a_store(&c->hidden, prof->gc_fanout > 0 ? reachable : 0);
    roots_chain(&c->fixedRoot);
    a_store(&c->rootNext, &c->fixedRoot);
    c->rootLast = rt->allgs_tail;
    a_store(&c->bgScanCredit, 0);
    a_store(&c->active, 0);
    a_store(&c->idleWorkers, 0);
    gc_revise();
}

/* ---- the pool of workers that wait ---- */

static COLD void workers_push(struct g *gp)
{
    struct gcController *c = &rt->gc;
    uint64_t index = (uint64_t)(uint32_t)gp->group; /* a worker's group is its index + 1 */
    for (;;) {
        uint64_t old = a_load(&c->pool);
        uint32_t top = (uint32_t)old;
        gp->schedlink = top != 0 ? c->workers[top - 1] : NULL;
        if (a_cas(&c->pool, old, ((old >> 32) + 1) << 32 | index))
            return;
    }
}

static struct g *workers_pop(void)
{
    struct gcController *c = &rt->gc;
    for (;;) {
        uint64_t old = a_load(&c->pool);
        uint32_t top = (uint32_t)old;
        if (top == 0)
            return NULL;
        struct g *gp = c->workers[top - 1], *next = gp->schedlink;
        uint64_t index = next != NULL ? (uint64_t)(uint32_t)next->group : 0;
        if (a_cas(&c->pool, old, (old >> 32) << 32 | index)) {
            gp->schedlink = NULL;
            return gp;
        }
    }
}

/* ---- which P runs one ---- */

static inline bool gc_blacken(void) { return a_load_rlx(&rt->gc.blackenEnabled) != 0; }

/* Bytes or stacks that nobody took. */
static bool gc_work_left(void)
{
    if (a_load(&rt->gc.rootNext) != NULL)
        return true;
    return a_load(&rt->gc.remaining) > 0;
}

/* gcShouldScheduleWorker, gcMarkWorkAvailable before. */
static bool gc_shouldScheduleWorker(struct p *pp)
{
    (void)pp; /* the P's own gcw: work is taken from one pool here */
    return gc_work_left();
}

static bool dec_if_positive(void)
{
    for (;;) {
        int32_t v = a_load(&rt->gc.dedicatedNeeded);
        if (v <= 0)
            return false;
        if (a_cas(&rt->gc.dedicatedNeeded, v, v - 1))
            return true;
    }
}

static bool fraction_used_up(struct p *pp, int64_t now)
{
    int64_t delta = now - rt->gc.markStart;
    return delta > 0 &&
           pp->gc.fractionalTime / 1000 * rt->gc.fracDen > delta / 1000 * rt->gc.fracNum;
}

/* findRunnableGCWorker's choice up to 1.15: the P's own worker, unless it is ending the cycle. */
static struct g *choose_bound_worker(struct p *pp)
{
    struct g *gp = a_load_rlx(&pp->gc.bgWorker);
    if (gp == NULL || !gc_shouldScheduleWorker(pp))
        return NULL;
    if (dec_if_positive())
        pp->gc.mode = gcDedicated;
    else if (rt->gc.fracNum == 0 || fraction_used_up(pp, nanotime()))
        return NULL;
    else
        pp->gc.mode = gcFractional;
    return gp;
}

/* The choice since 1.16 (in assignWaitingGCWorker since 1.26): a worker from the pool. */
static struct g *choose_worker(struct p *pp, int64_t now)
{
    struct gcController *c = &rt->gc;
    if (!prof->gc_worker_pool)
        return choose_bound_worker(pp);
    if (!gc_shouldScheduleWorker(pp))
        return NULL;
    if (prof->gc_early_out && a_load(&c->dedicatedNeeded) <= 0 && c->fracNum == 0)
        return NULL;
    struct g *gp = workers_pop();
    if (gp == NULL)
        return NULL; /* all workers run; or are on their way to the pool */
    if (dec_if_positive()) {
        pp->gc.mode = gcDedicated;
    } else if (c->fracNum == 0 || fraction_used_up(pp, now)) {
        workers_push(gp);
        return NULL;
    } else {
        pp->gc.mode = gcFractional;
    }
    return gp;
}

static bool gc_assignWaitingWorker(struct p *pp, int64_t now)
{
    pp->gc.nextMarkWorker = choose_worker(pp, now);
    return pp->gc.nextMarkWorker != NULL;
}

/* *now: when the search last looked at the clock, 0 if it did not. */
static COLD struct g *gc_findRunnableWorker(struct p *pp, int64_t *now)
{
    *now = idle_clock(*now);
    struct g *gp = pp->gc.nextMarkWorker;
    pp->gc.nextMarkWorker = NULL;
    if (gp == NULL)
        gp = choose_worker(pp, *now != 0 ? *now : nanotime());
    if (gp == NULL)
        return NULL;
    claim_waiting(gp);
    return gp;
}

static void markWorkerStop(enum gcMarkWorkerMode mode)
{
    if (mode == gcDedicated)
        a_add(&rt->gc.dedicatedNeeded, 1);
    else if (mode == gcIdle)
        a_add(&rt->gc.idleWorkers, -1);
}

/* releaseNextGCMarkWorker (1.26+): the P does something else; the worker it was promised goes back.
 */
static inline void gc_releaseNextWorker(struct p *pp)
{
    struct g *gp = pp->gc.nextMarkWorker;
    if (gp == NULL)
        return;
    markWorkerStop((enum gcMarkWorkerMode)pp->gc.mode);
    workers_push(gp);
    pp->gc.nextMarkWorker = NULL;
}

/* addIdleMarkWorker: room for one more idle-priority worker? */
static bool addIdleMarkWorker(void)
{
    for (;;) {
        int32_t n = a_load(&rt->gc.idleWorkers);
        if (n >= rt->gc.idleMax)
            return false;
        if (a_cas(&rt->gc.idleWorkers, n, n + 1))
            return true;
    }
}

static struct g *take_idle_worker(struct p *pp)
{
    struct g *gp = prof->gc_worker_pool ? workers_pop() : a_load_rlx(&pp->gc.bgWorker);
    if (gp == NULL) {
        markWorkerStop(gcIdle);
        return NULL;
    }
    pp->gc.mode = gcIdle;
    return gp;
}

/* findRunnable step 11: nothing else to do on this P. */
static struct g *gc_idleWorker(struct p *pp)
{
    if (!gc_shouldScheduleWorker(pp) || !addIdleMarkWorker())
        return NULL;
    return take_idle_worker(pp);
}

/* proc.go checkIdleGCNoP: after the P was given up. */
static struct g *gc_checkIdleNoP(struct p **pp)
{
    struct gcController *c = &rt->gc;
    if (a_load(&c->blackenEnabled) == 0 || a_load(&c->idleWorkers) >= c->idleMax || !gc_work_left())
        return NULL;
    lock(&sched->lock);
    struct p *p2 = pidlegetSpinning(0);
    if (p2 == NULL) {
        unlock(&sched->lock);
        return NULL;
    }
    if (!gc_blacken() || !addIdleMarkWorker()) {
        (void)pidleput(p2, host_now()); /* the time it was taken at */
        unlock(&sched->lock);
        return NULL;
    }
    struct g *gp = take_idle_worker(p2);
    if (gp == NULL)
        (void)pidleput(p2, host_now());
    unlock(&sched->lock);
    *pp = p2;
    return gp;
}
