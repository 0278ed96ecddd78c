/* SPDX-License-Identifier: BSD-3-Clause */
/* The global run queue: a FIFO under sched.lock, whose length anybody may peek at as a hint. */
#include "globrunq.h"
#include "gqueue.h"
#include "runq.h"

static void globrunq_resized(void) { a_store_rlx(&sched->runqsize, sched->runq.size); }

static inline bool globrunq_looks_empty(void) { return a_load_rlx(&sched->runqsize) == 0; }

/* proc.go globrunqput. */
static void globrunqput(struct g *gp)
{
    gQueue_pushBack(&sched->runq, gp);
    runq_disown(gp);
    getm()->counters[C_grq_puts]++;
    globrunq_resized();
}

/* proc.go globrunqputhead. */
static void globrunqputhead(struct g *gp)
{
    gQueue_push(&sched->runq, gp);
    runq_disown(gp);
    globrunq_resized();
}

/* proc.go globrunqputbatch. */
static void globrunqputbatch(struct gQueue *batch)
{
    for (struct g *gp = batch->head; gp != NULL; gp = gp->schedlink)
        runq_disown(gp);
    getm()->counters[C_grq_puts] += (uint64_t)batch->size;
    gQueue_pushBackAll(&sched->runq, batch);
    globrunq_resized();
}

static struct g *globrunq_pop(void)
{
    struct g *gp = gQueue_pop(&sched->runq);
    if (gp != NULL) {
        runq_own(gp);
        getm()->counters[C_grq_takes]++;
    }
    return gp;
}

static int32_t globrunq_share(int32_t max)
{
    int32_t n = sched->runq.size / a_load_rlx(&rt->gomaxprocs) + 1;
    if (n > sched->runq.size)
        n = sched->runq.size;
    return n > max ? max : n;
}

/* proc.go globrunqget(1): the fairness look takes one. */
static struct g *globrunqget_one(void)
{
    struct g *gp = globrunq_pop();
    globrunq_resized();
    return gp;
}

/* proc.go globrunqget (<=1.24), globrunqgetbatch (>=1.25). sched.lock is held. A fair share: the
 * first to run, the others on the own ring. Up to 1.24 they are put there under the lock;
 * since 1.25 they come back in *rest for runqputbatch after it. */
static struct g *globrunqgetbatch(struct p *pp, struct gQueue *rest)
{
    if (sched->runq.size == 0)
        return NULL;
    int32_t n = globrunq_share((int32_t)runq_cap(pp) / 2);
    struct g *gp = globrunq_pop();
    while (--n > 0) {
        struct g *more = globrunq_pop();
        moved(more, pp, EV_place_ring);
        if (prof->grq_batch_unlocked)
            gQueue_pushBack(rest, more);
        else
            runqput(pp, more, /*next*/ false);
    }
    globrunq_resized();
    return gp;
}

/* The tail of every batch get: the rest goes to the ring, which was empty. */
static void globrunq_put_rest(struct p *pp, struct gQueue *rest)
{
    if (gQueue_empty(rest))
        return;
    runqputbatch(pp, rest);
    if (!gQueue_empty(rest))
        throw("Couldn't put Gs into empty local runq");
}
