/* SPDX-License-Identifier: BSD-3-Clause */
/* What orders two goroutines, said to a host that looks for data races (sim/base/race.h): Go's own
 * annotations (race.Acquire, race.Release, racenotify ...) where the runtime and package sync have
 * them, and what the memory model promises beside (a Signal and the Wait that it ends).
 *
 * They stand after the operation that acquires and before the one that releases, and are no points:
 * nobody else runs in between. */
#ifndef MODEL_RACE_H
#define MODEL_RACE_H
#include "objs.h"

/* The goroutine on this M; 0: the scheduler, or a timer. */
static inline uint32_t race_curg(void)
{
    const struct g *gp = a_own(&getm()->curg);
    return race_actor(gp != NULL ? gp->goid : 0);
}

static inline void race_on_object(enum race_edge edge, const volatile void *addr)
{
    if (race_on())
        race_tell(edge, race_curg(), (uint64_t)(uintptr_t)addr);
}

static inline void raceacquire(const volatile void *addr) { race_on_object(RACE_ACQUIRE, addr); }
static inline void racerelease(const volatile void *addr) { race_on_object(RACE_RELEASE, addr); }
static inline void racereleasemerge(const volatile void *addr) { race_on_object(RACE_MERGE, addr); }

/* For another goroutine, which is parked. */
static inline void raceacquireg(const struct g *gp, const volatile void *addr)
{
    if (race_on())
        race_tell(RACE_ACQUIRE, gp->goid, (uint64_t)(uintptr_t)addr);
}

static inline void racereleaseg(const struct g *gp, const volatile void *addr)
{
    if (race_on())
        race_tell(RACE_RELEASE, gp->goid, (uint64_t)(uintptr_t)addr);
}

/* What has happened here has happened before whatever gp does from now on. */
static inline void racehandoff(const struct g *gp)
{
    if (race_on())
        race_tell(RACE_HAND, race_curg(), gp->goid);
}

/* From one goroutine to another, while neither runs. */
static inline void raceswitch(const struct g *from, const struct g *to)
{
    if (race_on() && to != NULL)
        race_tell(RACE_HAND, from->goid, to->goid);
}

/* racegostart. */
static inline void racecreate(const struct g *gp)
{
    if (race_on())
        race_tell(RACE_CREATE, race_curg(), gp->goid);
}

/* Between racetimer and racetimerend the M acts for the timer: before it comes all that came before
 * the timer was set (timer.go raceacquirectx). */
static inline void racetimer(const struct timer *t) { race_on_object(RACE_TIMER, t); }
static inline void racetimerend(void) { race_on_object(RACE_TIMER_END, NULL); }

/* ---- channels ---- */

/* chan.go racenotify: a slot of the buffer goes from hand to hand. sg: the sudog of a parked G that
 * is acted for, or NULL. */
static inline void racenotify(const struct hchan *c, uint32_t slot, const struct sudog *sg)
{
    if (!race_on())
        return;
    if (sg == NULL) {
        raceacquire(&c->buf[slot]);
        racerelease(&c->buf[slot]);
    } else {
        raceacquireg(sg->g, &c->buf[slot]);
        racereleaseg(sg->g, &c->buf[slot]);
    }
}

/* chan.go racesync: a send without buffer orders both sides. */
static inline void racesync(const struct hchan *c, const struct sudog *sg)
{
    if (!race_on())
        return;
    racerelease(&c->buf);
    raceacquireg(sg->g, &c->buf);
    racereleaseg(sg->g, &c->buf);
    raceacquire(&c->buf);
}

/* chan.go send: an empty buffer is gone through though the value is not. */
static inline void racesend(struct hchan *c, const struct sudog *sg)
{
    if (!race_on())
        return;
    if (c->dataqsiz == 0) {
        racesync(c, sg);
        return;
    }
    racenotify(c, c->recvx, NULL);
    racenotify(c, c->recvx, sg);
    if (++c->recvx == c->dataqsiz)
        c->recvx = 0;
    c->sendx = c->recvx;
}

/* ---- variables ---- */

/* An access by the instruction `in`. */
static inline void raceaccess(const struct g *gp, const struct insn *in, uint8_t handle,
                              const struct var *v, enum race_kind kind)
{
    if (!race_on())
        return;
    int32_t object = in->d >= 0 ? in->d : (int32_t)(regs(gp)[handle] - 1);
    race_access(gp->goid, (uint32_t)(in - prog_code), (uint64_t)(uintptr_t)v, object, kind);
    if (kind == RACE_ATOMIC_READ)
        raceacquire(v);
    if (kind == RACE_ATOMIC_WRITE)
        racerelease(v);
}

/* Reads and writes: what the instruction has read is older than what it writes. */
static inline void raceupdate(const struct g *gp, const struct insn *in, uint8_t handle,
                              const struct var *v)
{
    raceacquire(v);
    raceaccess(gp, in, handle, v, RACE_ATOMIC_WRITE);
}
#endif
