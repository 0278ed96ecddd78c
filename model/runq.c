/* SPDX-License-Identifier: BSD-3-Clause */
/* A P's run queue: a bounded ring with one producer and many consumers, and runnext in front of it.
 *
 * Who may do what: only the owner stores runqtail and sets runnext non-zero; anybody may CAS
 * runqhead forward and CAS runnext to zero. runqhead and runqtail are uint32 and wrap;
 * 0 <= tail - head <= ring_len always. The barriers and their partners:
 *
 *   store-rel(tail) publishes the slots before it   load-acq(tail) in runqgrab
 *   cas-rel(head) commits the reads before it       load-acq(head) in runqput: a slot may be reused
 *
 * gp->owner is limbo: between leaving one place and entering the next, a runnable G is known to one
 * M alone. It is cleared before the store that publishes the G: afterwards the G may be another
 * M's. In runnext it stays, because between a clearing and the CAS nobody would know the G; whoever
 * takes it from there writes its own. */
#include "runq.h"
#include "globrunq.h"
#include "gqueue.h"
#include "gstatus.h"
#include "lock.h"

static void runq_own(struct g *gp) { gp->owner = (int16_t)(getm()->id + 1); }
static void runq_disown(struct g *gp) { gp->owner = 0; }

/* For whoever listens: a runnable G changed its place. */
static inline void moved(const struct g *gp, const struct p *pp, enum ev_place place)
{
    if (emit_moves())
        ev_g_move(rec_g(gp), rec_p(pp), place);
}

static inline void moved_all(const struct gQueue *q, const struct p *pp, enum ev_place place)
{
    if (emit_moves())
        for (const struct g *gp = q->head; gp != NULL; gp = gp->schedlink)
            ev_g_move(rec_g(gp), rec_p(pp), place);
}

static gslot *runq_slot(struct p *pp, uint32_t at) { return &pp->runq[at & pp->ringmask]; }

static uint32_t runq_cap(const struct p *pp) { return pp->ringmask + 1; }

/* proc.go runqempty. Four loads; the fourth sees whether runnext was displaced into the ring
 * between the second and third. Before fcd7c02c70 there were three. */
static bool runqempty(struct p *pp)
{
    for (;;) {
        uint32_t head = a_load(&pp->runqhead);
        uint32_t tail = a_load(&pp->runqtail);
        struct g *next = a_load(&pp->runnext);
        if (!prof->runqempty_rereads || tail == a_load(&pp->runqtail))
            return head == tail && next == NULL;
    }
}

/* proc.go runqputslow. Half of a full ring and gp go to the global queue, in order. False: a thief
 * moved head. */
static COLD bool runqputslow(struct p *pp, struct g *gp, uint32_t h, uint32_t t)
{
    uint32_t n = (t - h) / 2;
    if (n != runq_cap(pp) / 2)
        throw("runqputslow: queue is not full");
    struct gQueue batch = {0};
    /* Go copies to a local array first: the links may be written only after the claim. */
    for (uint32_t i = 0; i < n; i++) {
        (void)a_load_rlx(runq_slot(pp, h + i));
        work(runqgrab_slot);
    }
    if (!a_cas_rel(&pp->runqhead, h, h + n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        struct g *moved = a_own(
            runq_slot(pp, h + i)); /* the owner's own slots: nobody else writes them */
        runq_own(moved);
        gQueue_pushBack(&batch, moved);
    }
    gQueue_pushBack(&batch, gp);
    struct m *mp = getm();
    mp->counters[C_overflows]++;
    ev_runq_overflow(rec_g(gp), (uint32_t)batch.size);
    moved_all(&batch, pp, EV_place_global);
    lock(&sched->lock);
    globrunqputbatch(&batch);
    unlock(&sched->lock);
    return true;
}

/* proc.go runqput. */
static inline void runqput(struct p *pp, struct g *gp, bool next)
{
    if (prof->no_sysmon_no_runnext && prof->sysmon == 0)
        next = false; /* nobody would preempt a group that keeps itself in runnext */
    if (next) {
        struct g *old;
        do
            old = a_load_rlx(&pp->runnext);
        while (!a_cas(&pp->runnext, old, gp));
        if (old == NULL)
            return;
        runq_own(old);
        moved(old, pp, EV_place_ring);
        gp = old; /* the displaced G goes to the tail */
    }
    for (;;) {
        uint32_t h = a_load_acq(&pp->runqhead); /* thieves' claims */
        uint32_t t = a_load_rlx(&pp->runqtail);
        if (t - h < runq_cap(pp)) {
            a_store_rlx(runq_slot(pp, t), gp);
            runq_disown(gp);
            a_store_rel(&pp->runqtail, t + 1); /* publishes the slot */
            return;
        }
        if (runqputslow(pp, gp, h, t))
            return;
    }
}

/* As it was before 1.15: the queue is read and written, and what somebody else did to it in between
 * is lost. */
static COLD void put_unlocked(struct gQueue *q)
{
    struct gQueue as_read = sched->runq;
    (void)a_load_rlx(&sched->runqsize);
    sched->runq = as_read;
    globrunqputbatch(q);
}

/* proc.go runqputbatch. What does not fit stays in q (1.25+) or goes to the global queue at once.
 */
static void runqputbatch(struct p *pp, struct gQueue *q)
{
    if (prof->grq_batch_unlocked && gQueue_empty(q))
        return;
    uint32_t h = a_load_acq(&pp->runqhead);
    uint32_t t = a_load_rlx(&pp->runqtail);
    while (!gQueue_empty(q) && t - h < runq_cap(pp)) {
        struct g *gp = gQueue_pop(q);
        a_store_rlx(runq_slot(pp, t), gp);
        runq_disown(gp);
        t++;
    }
    a_store_rel(&pp->runqtail, t);
    if (!gQueue_empty(q))
        moved_all(q, pp, EV_place_global);
    if (prof->grq_batch_unlocked || gQueue_empty(q))
        return;
    if (!prof->batch_overflow_locked) {
        put_unlocked(q);
    } else {
        lock(&sched->lock);
        globrunqputbatch(q);
        unlock(&sched->lock);
    }
}

/* proc.go runqget. *inherit: the G came from runnext and shares the slice of the G before it. */
static inline struct g *runqget(struct p *pp, bool *inherit)
{
    struct g *next = a_load_rlx(&pp->runnext);
    while (next != NULL) {
        /* Only a thief can make the CAS fail, and then runnext is zero: <=1.17 looked again all the
         * same. */
        if (a_cas(&pp->runnext, next, (struct g *)NULL)) {
            *inherit = true;
            runq_own(next);
            return next;
        }
        if (prof->runnext_single_cas)
            break;
        next = a_load_rlx(&pp->runnext);
    }
    *inherit = false;
    for (;;) {
        uint32_t h = a_load_acq(&pp->runqhead);
        uint32_t t = a_load_rlx(&pp->runqtail);
        if (t == h)
            return NULL;
        struct g *gp = a_load_rlx(runq_slot(pp, h));
        if (a_cas_rel(&pp->runqhead, h, h + 1)) {
            runq_own(gp);
            return gp;
        }
    }
}

/* proc.go runqdrain (1.17+): the whole queue of the own P, for a dedicated GC worker that was
 * preempted. */
static struct gQueue runqdrain(struct p *pp)
{
    struct gQueue q = {0};
    struct g *next = a_load_rlx(&pp->runnext);
    if (next != NULL && a_cas(&pp->runnext, next, (struct g *)NULL)) {
        runq_own(next);
        gQueue_pushBack(&q, next);
    }
    for (;;) {
        uint32_t h = a_load_acq(&pp->runqhead);
        uint32_t t = a_load_rlx(&pp->runqtail);
        uint32_t n = t - h;
        if (n == 0)
            return q;
        if (n > runq_cap(pp) || !a_cas_rel(&pp->runqhead, h, h + n))
            continue;
        for (uint32_t i = 0; i < n; i++) {
            struct g *gp = a_load_rlx(runq_slot(pp, h + i));
            runq_own(gp);
            gQueue_pushBack(&q, gp);
        }
        return q;
    }
}

/* Gives a running victim's runnext a chance: a G that readies another and blocks at once hands over
 * within this time. */
static void runqgrab_backoff(struct p *victim)
{
    if (a_load_rlx(&victim->status) != Prunning)
        return;
    if (prof->backoff_not_in_syscall) {
        struct m *mp = a_load_rlx(&victim->m);
        if (mp == NULL)
            return;
        struct g *gp = a_load_rlx(&mp->curg);
        if (gp != NULL && (readgstatus(gp) & ~(uint32_t)Gscan) == Gsyscall)
            return;
    }
    host_usleep((uint32_t)(prof->runnext_backoff_ns / 1000));
}

/* The ring looked empty: takes runnext. 1: taken, 0: nothing there, -1: look again. */
static int runqgrab_next(struct p *pp, struct p *victim, uint32_t batchHead)
{
    struct g *next = a_load_rlx(&victim->runnext);
    if (next == NULL)
        return 0;
    runqgrab_backoff(victim);
    if (!a_cas(&victim->runnext, next, (struct g *)NULL))
        return -1;
    runq_own(next);
    a_store_rlx(runq_slot(pp, batchHead), next);
    getm()->counters[C_stolen_runnext]++;
    return 1;
}

/* proc.go runqgrab. Copies half of the victim's ring, rounded up, behind the thief's tail, then
 * claims it. */
static uint32_t runqgrab(struct p *pp, struct p *victim, uint32_t batchHead, bool stealRunNext)
{
    for (;;) {
        uint32_t h = a_load_acq(&victim->runqhead); /* other consumers */
        uint32_t t = a_load_acq(&victim->runqtail); /* the producer */
        uint32_t n = t - h;
        n -= n / 2;
        if (n == 0) {
            int got = stealRunNext ? runqgrab_next(pp, victim, batchHead) : 0;
            if (got < 0)
                continue;
            return (uint32_t)got;
        }
        if (n > runq_cap(victim) / 2)
            continue; /* h and t are from different moments */
        for (uint32_t i = 0; i < n; i++) {
            struct g *gp = a_load_rlx(runq_slot(victim, h + i));
            a_store_rlx(runq_slot(pp, batchHead + i), gp);
            work(runqgrab_slot);
        }
        if (!a_cas_rel(&victim->runqhead, h, h + n))
            continue; /* the copies are beyond our tail: garbage, overwritten later */
        for (uint32_t i = 0; i < n; i++)
            runq_own(a_own(runq_slot(pp, batchHead + i)));
        return n;
    }
}

/* proc.go runqsteal. The newest of the batch runs first, the others follow in FIFO order. */
static struct g *runqsteal(struct p *pp, struct p *p2, bool stealRunNext)
{
    struct m *mp = getm();
    mp->counters[C_steals_tried]++;
    uint32_t t = a_load_rlx(&pp->runqtail);
    uint32_t n = runqgrab(pp, p2, t, stealRunNext);
    if (n == 0)
        return NULL;
    mp->counters[C_steals_won]++;
    mp->counters[C_stolen] += n;
    n--;
    struct g *gp = a_load_rlx(runq_slot(pp, t + n));
    ev_p_steal(rec_g(gp), n + 1, rec_p(p2));
    if (n == 0)
        return gp;
    uint32_t h = a_load_acq(&pp->runqhead);
    if (t - h + n >= runq_cap(pp))
        throw("runqsteal: runq overflow");
    for (uint32_t i = 0; i < n; i++) {
        struct g *other = a_own(runq_slot(pp, t + i));
        moved(other, pp, EV_place_ring);
        runq_disown(other);
    }
    a_store_rel(&pp->runqtail, t + n); /* publishes the rest */
    return gp;
}
