/* SPDX-License-Identifier: BSD-3-Clause */
/* Breaks an invariant on purpose, in a world that stands still: shows that a check finds it, on
 * every host, and what a report looks like. Each breaks as little as it takes; a_init and not a
 * store, because nobody of the world did it. */
#include "plant.h"
#include "check.h"
#include "runq.h"

static struct g *plant_g(uint32_t status)
{
    struct g *gp = rt->allgs;
    while (gp != NULL && a_peek(&gp->atomicstatus) != status)
        gp = gp->alllink;
    return gp;
}

static bool plant_status(void)
{
    struct g *gp = plant_g(Gwaiting);
    if (gp != NULL)
        a_init(&gp->atomicstatus, 5u);
    return gp != NULL;
}

static bool plant_running(void)
{
    struct g *gp = plant_g(Grunning);
    struct m *mp = gp != NULL ? a_peek(&gp->m) : NULL;
    if (mp != NULL)
        a_init(&mp->curg, (struct g *)NULL);
    return mp != NULL;
}

/* The head of a ring becomes runnext too. */
static bool plant_queue(void)
{
    for (int32_t id = 0; id < rt->allp_len; id++) {
        struct p *pp = rt->allp[id];
        uint32_t h = a_peek(&pp->runqhead);
        if (h == a_peek(&pp->runqtail))
            continue;
        a_init(&pp->runnext, a_peek(runq_slot(pp, h)));
        return true;
    }
    return false;
}

static bool plant_on_channel(struct g *gp)
{
    return a_peek(&gp->atomicstatus) == Gwaiting && gp->waitreason == waitReasonChanReceive;
}

/* A G that waits on a channel now says that it sleeps. */
static bool plant_wait(void)
{
    struct g *gp = rt->allgs;
    while (gp != NULL && !plant_on_channel(gp))
        gp = gp->alllink;
    if (gp != NULL)
        gp->waitreason = (uint8_t)waitReasonSleep;
    return gp != NULL;
}

static bool plant_spinning(void)
{
    a_init(&sched->nmspinning, a_peek(&sched->nmspinning) + 1);
    return true;
}

static bool plant_idle_m(void)
{
    if (sched->midle != NULL)
        sched->midle->spinning = true;
    return sched->midle != NULL;
}

/* Nobody has this P any more. */
static bool plant_lost_p(void)
{
    struct p *pp = a_peek(&sched->pidle);
    if (pp == NULL)
        return false;
    a_init(&sched->pidle, pp->link);
    a_init(&sched->npidle, a_peek(&sched->npidle) - 1);
    if (prof->masks) {
        maskword *word = &rt->idlepMask[pp->id / 32];
        a_init(word, a_peek(word) & ~(1u << (pp->id % 32)));
    }
    return true;
}

static bool plant_locks(void)
{
    struct m *mp = sched->midle;
    while (mp != NULL && !mp->blocked)
        mp = mp->idle_next;
    if (mp != NULL)
        mp->locks++;
    return mp != NULL;
}

static bool plant_what(enum core_plant what, bool quiet)
{
    switch (what) {
    case PLANT_status: return plant_status();
    case PLANT_running: return plant_running();
    case PLANT_queue: return plant_queue();
    case PLANT_wait: return quiet && plant_wait();
    case PLANT_spinning: return quiet && plant_spinning();
    case PLANT_idle_m: return plant_idle_m();
    case PLANT_lost_p: return quiet && plant_lost_p();
    case PLANT_locks: return plant_locks();
    case PLANT_COUNT: break;
    }
    return false;
}

/* False: there is nothing here to break. Some mistakes show only when everybody rests, those in
 * what sched.lock guards only when nobody has the lock. */
static bool world_plant(enum core_plant what, bool quiet)
{
    if (!rt->mainStarted || sched_locked())
        return false;
    host_enter();
    bool done = plant_what(what, quiet);
    host_leave();
    return done;
}
