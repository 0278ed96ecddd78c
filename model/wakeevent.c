/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that happen once: how a recorded goroutine waits for what woke it when that was recorded.
 *
 *   evNot -> G          EVWAIT: parked, under the recorded reason
 *   evNot -> evHappened EVPOST came first: the wait will not park
 *                       (EVLOCK: where there is one P it goes on at once)
 *   G -> evHappened     EVPOST: readied, as whoever woke it did
 *
 * One word per event and not a counter per goroutine: what was too early once must not let a
 * goroutine run ahead for ever. Nothing is freed: an event is 8 bytes. */
#include "wakeevent.h"

#include "park.h"

#define evNot      ((uintptr_t)0)
#define evHappened ((uintptr_t)1)

typedef ATOMIC(uintptr_t) eventword;

static void events_world_init(void)
{
    uint64_t n = rt->prog->nevents;
    if (n > 0)
        rt->events = host_alloc(n * sizeof *rt->events, 64);
}

/* unlockf: it may have happened before the G was parked. */
static bool event_commit(struct g *gp, void *word)
{
    return a_cas((eventword *)word, evNot, (uintptr_t)gp);
}

static enum opres op_evwait(struct g *gp, const struct insn *in)
{
    eventword *word = (eventword *)&rt->events[in->imm];
    struct m *mp = getm();
    mp->counters[C_events_waited]++;
    if (a_load(word) == evHappened) {
        mp->counters[C_events_early]++;
        return OP_DONE;
    }
    gp->opobj = word;
    return gopark(gp, event_commit, word, (enum waitreason)in->a);
}

/* A wait for a lock that whoever had it held only while it ran: where there is one P nobody meets
 * it. */
static enum opres op_evlock(struct g *gp, const struct insn *in)
{
    return a_load(&rt->gomaxprocs) == 1 ? OP_DONE : op_evwait(gp, in);
}

static enum opres op_evpost(struct g *gp, const struct insn *in)
{
    (void)gp;
    uintptr_t old = a_xchg(&rt->events[in->imm], evHappened);
    if (old > evHappened)
        goready((struct g *)old);
    return OP_DONE;
}

static bool event_waited_for(struct g *gp)
{
    return a_peek((eventword *)gp->opobj) == (uintptr_t)gp;
}
