/* SPDX-License-Identifier: BSD-3-Clause */
/* The invariants about timers and the poller, of a world in which every M is asleep or computing:
 * what the summary of a heap says of it, and that whoever sleeps in the poller sleeps neither
 * beyond a timer nor without knowing who waits for the network. A timer that fires
 * late, because nobody was woken for it, does not hang: sysmon saves it. So it is seen before. */
#include "checkpoll.h"
#include "checkwait.h"
#include "netpoll.h"
#include "timer.h"

/* ---- heaps ---- */

/* When the entry wants to run; 0: never. Up to 1.22 the heap's copy is all there is. */
static int64_t entry_when(const struct timerWhen *tw)
{
    if (!prof->timers_v2)
        return tw->when;
    return (tw->timer->state & timerZombie) != 0 ? 0 : tw->timer->when;
}

static bool sooner(int64_t a, int64_t b) { return a != 0 && (b == 0 || a < b); }

/* wakeTime, as whoever has no lock reads it. */
static int64_t heap_summary(struct timers *ts)
{
    int64_t when = a_peek(&ts->minWhenHeap), modified = a_peek(&ts->minWhenModified);
    return sooner(modified, when) ? modified : when;
}

static int64_t heap_first(const struct timers *ts)
{
    int64_t first = 0;
    for (uint32_t i = 0; i < ts->n; i++) {
        int64_t when = entry_when(&ts->heap[i]);
        if (sooner(when, first))
            first = when;
    }
    return first;
}

static bool heap_in_order(const struct timers *ts)
{
    for (uint32_t i = 1; i < ts->n; i++)
        if (ts->heap[i].when < ts->heap[(i - 1) / 4].when)
            return false;
    return true;
}

/* 1.23+: each entry says that it is one, and unless it says that its time is stale it is not. */
static const char *check_entries(struct p *pp)
{
    struct timers *ts = &pp->timers;
    int32_t zombies = 0;
    for (uint32_t i = 0; i < ts->n; i++) {
        const struct timer *t = ts->heap[i].timer;
        zombies += (t->state & timerZombie) != 0;
        if (t->ts != ts || (t->state & timerHeaped) == 0)
            return check_says("a heap has a timer that is not in it", NULL, pp, NULL);
        if ((t->state & timerZombie) == 0 && t->isChan && t->blocked == 0)
            return check_says("a channel timer that nobody waits for is in a heap", NULL, pp, NULL);
        if ((t->state & (timerModified | timerZombie)) == 0 && t->when != ts->heap[i].when)
            return check_says("a timer's time is stale and nobody knows", NULL, pp, NULL);
    }
    if (zombies != a_peek(&ts->zombies))
        return check_says("zombies is not the number of stopped timers", NULL, pp, NULL);
    return NULL;
}

static const char *check_heap(struct p *pp)
{
    struct timers *ts = &pp->timers;
    if (!heap_in_order(ts))
        return check_says("a heap of timers is out of order", NULL, pp, NULL);
    const char *bad = prof->timers_v2 ? check_entries(pp) : NULL;
    if (bad == NULL && prof->timers_v2 && sooner(heap_first(ts), heap_summary(ts)))
        bad = check_says("a timer is earlier than its heap says", NULL, pp, NULL);
    return bad;
}

/* ---- who sleeps in the poller ---- */

/* Not even beyond one of a P that computes: who sets an earlier timer breaks the poll, and so does
 * whoever spins, when it gives up. Up to 1.15 it is sysmon that looks after timers. */
static const char *check_poller(void)
{
    int64_t until = a_peek(&sched->pollUntil);
    bool sleeps = a_peek(&sched->lastpoll) == 0 && a_peek(&rt->netpoll->wakeSig) == 0;
    if (!prof->wake_poller_wakep || !sleeps || a_peek(&sched->gcwaiting) != 0 ||
        a_peek(&sched->nmspinning) > 0)
        return NULL;
    for (int32_t id = 0; id < rt->allp_len; id++)
        if (sooner(heap_first(&rt->allp[id]->timers), until))
            return check_says("work conservation: the poller sleeps beyond a timer", NULL,
                              rt->allp[id], NULL);
    return NULL;
}

static const char *check_poll_waiters(void)
{
    int32_t waiting = 0, counted = a_peek(&rt->netpoll->waiters);
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        waiting += (a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan) == Gwaiting &&
                   gp->waitreason == waitReasonIOWait && !is_for_event(gp);
    if (waiting > counted || (prof->netpoll_delta && waiting < counted))
        return check_says("the number of waiters for the network is wrong", NULL, NULL, NULL);
    if (a_peek(&sched->pollingNet) != 0)
        return check_says("everybody rests and somebody polls the network", NULL, NULL, NULL);
    return NULL;
}

static const char *check_polling(void)
{
    const char *bad = NULL;
    for (int32_t id = 0; bad == NULL && prof->per_p_timers && id < rt->allp_len; id++)
        bad = check_heap(rt->allp[id]);
    if (bad == NULL && prof->per_p_timers && !turn_on())
        bad = check_poller();
    if (bad == NULL)
        bad = check_poll_waiters();
    return bad;
}
