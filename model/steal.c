/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking for work on other Ps. */
#include "steal.h"
#include "lock.h"
#include "pidle.h"
#include "rand.h"
#include "runq.h"

struct randomEnum {
    uint32_t i, count, pos, inc;
};

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* proc.go randomOrder.reset. The array was allocated for the largest P count. */
static void randomOrder_reset(struct randomOrder *ord, uint32_t count)
{
    ord->count = count;
    ord->ncoprimes = 0;
    for (uint32_t i = 1; i <= count; i++)
        if (gcd(i, count) == 1)
            ord->coprimes[ord->ncoprimes++] = i;
}

/* proc.go randomOrder.start: n steps of a stride coprime with n visit every P once. */
static struct randomEnum randomOrder_start(const struct randomOrder *ord, uint32_t r)
{
    uint32_t pick = prof->steal_stride_div ? r / ord->count : r;
    return (struct randomEnum){
        .count = ord->count,
        .pos = r % ord->count,
        .inc = ord->coprimes[pick % ord->ncoprimes],
    };
}

static void randomEnum_next(struct randomEnum *e)
{
    e->i++;
    e->pos = (e->pos + e->inc) % e->count;
}

/* Pass 4's look at p2's timers: they ready their Gs on the thief's P. */
static void steal_timers(struct p *pp, struct p *p2, struct steal_result *r, bool *ran)
{
    struct timer_check c = {.now = r->now};
    timers_check(p2, &c);
    r->now = c.now;
    if (c.pollUntil != 0 && (r->pollUntil == 0 || c.pollUntil < r->pollUntil))
        r->pollUntil = c.pollUntil;
    if (!c.ran)
        return;
    /* Our ring was empty and the timers may have filled it. */
    r->gp = runqget(pp, &r->inherit);
    *ran = true;
}

/* Without masks: does this pass look at p2's timers? */
static bool steal_timers_here(struct p *p2, int64_t pass)
{
    bool last = pass == prof->steal_passes - 1;
    if (prof->timers_steal_pass3)
        return last || (pass == prof->steal_passes - 2 && shouldStealTimers(p2));
    return last && shouldStealTimers(p2);
}

/* One victim. True: the search is over. */
static bool steal_visit(struct p *pp, struct p *p2, int64_t pass, struct steal_result *r, bool *ran)
{
    bool last = pass == prof->steal_passes - 1;
    if (prof->masks) {
        if (last && pMask_read(rt->timerpMask, p2->id)) {
            steal_timers(pp, p2, r, ran);
            if (r->gp != NULL)
                return true;
        }
        if (pMask_read(rt->idlepMask, p2->id))
            return false;
        r->gp = runqsteal(pp, p2, last);
    } else {
        r->gp = runqsteal(pp, p2, last);
        if (r->gp == NULL && prof->per_p_timers && steal_timers_here(p2, pass))
            steal_timers(pp, p2, r, ran);
    }
    return r->gp != NULL;
}

/* proc.go stealWork. Random start and stride on every pass; timers and runnext only on the last. */
static struct steal_result stealWork(int64_t now)
{
    struct m *mp = getm();
    struct p *pp = a_own(&mp->p);
    struct steal_result r = {.now = now};
    bool ran = false;
    for (int64_t pass = 0; pass < prof->steal_passes; pass++) {
        struct randomEnum e = randomOrder_start(&rt->stealOrder, cheaprand_order());
        for (; e.i < e.count; randomEnum_next(&e)) {
            if (a_load(&sched->gcwaiting) != 0) {
                r.newWork = true;
                return r;
            }
            struct p *p2 = rt->allp[e.pos];
            if (p2 == pp)
                continue;
            work(steal_visit);
            if (steal_visit(pp, p2, pass, &r, &ran))
                return r;
        }
    }
    r.newWork = ran;
    return r;
}

/* proc.go checkRunqsNoP: after giving up the P. Ascending order, not random. */
static struct p *checkRunqsNoP(struct p **allp, int32_t n)
{
    for (int32_t id = 0; id < n; id++) {
        struct p *p2 = allp[id];
        if (prof->masks && pMask_read(rt->idlepMask, id))
            continue;
        if (runqempty(p2))
            continue;
        lock(&sched->lock);
        struct p *pp = pidlegetSpinning(0);
        unlock(&sched->lock);
        return pp; /* NULL: no P to run it with */
    }
    return NULL;
}

/* proc.go checkTimersNoP: the earliest timer of any P. */
static int64_t checkTimersNoP(struct p **allp, int32_t n, int64_t pollUntil)
{
    for (int32_t id = 0; id < n; id++) {
        if (!pMask_read(rt->timerpMask, id))
            continue;
        int64_t w = timers_wakeTime(allp[id]);
        if (w != 0 && (pollUntil == 0 || w < pollUntil))
            pollUntil = w;
    }
    return pollUntil;
}
