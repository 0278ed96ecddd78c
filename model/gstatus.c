/* SPDX-License-Identifier: BSD-3-Clause */
/* G status: one 32-bit word, changed only by CAS along the edges below; Gscan locks it.
 *
 *   edge                                                    who
 *   Gidle -> Gdead -> Grunnable <-> Grunning -> Gwaiting    newproc1, execute, park_m
 *   Gwaiting -> Grunnable                                   ready
 *   Grunning <-> Gsyscall -> Grunnable                      entersyscall, exitsyscall
 *   Grunning -> Gdead                                       gdestroy
 *   Grunning <-> Gcopystack                                 stack growth by the owner
 *   Grunning -> Gscan|Gpreempted -> Gpreempted -> Gwaiting  preemptPark, suspendG
 *   Gwaiting -> Grunning                                    end of a pseudo-wait, coroutine switch
 *   Gwaiting <-> Gleaked, Gdeadextra <-> Gsyscall           leak detection, extra Ms (1.26+) */
#include "gstatus.h"

#define TO(s) (uint16_t)(1u << (s))
static const uint16_t gstatus_next[12] = {
    [Gidle] = TO(Gdead) | TO(Gdeadextra),
    [Grunnable] = TO(Grunning),
    [Grunning] = TO(Grunnable) | TO(Gsyscall) | TO(Gwaiting) | TO(Gdead) | TO(Gcopystack),
    [Gsyscall] = TO(Grunning) | TO(Grunnable) | TO(Gdead) | TO(Gdeadextra),
    [Gwaiting] = TO(Grunnable) | TO(Grunning) | TO(Gleaked),
    [Gdead] = TO(Grunnable) | TO(Gwaiting) | TO(Gsyscall),
    [Gcopystack] = TO(Grunning),
    [Gpreempted] = TO(Gwaiting),
    [Gleaked] = TO(Gwaiting),
    [Gdeadextra] = TO(Gsyscall),
};
#undef TO

/* proc.go readgstatus. */
static inline uint32_t readgstatus(struct g *gp) { return a_load(&gp->atomicstatus); }

static inline bool gstatus_edge(uint32_t from, uint32_t to)
{
    return from < 12 && to < 12 && (gstatus_next[from] >> to & 1) != 0;
}

/* The slow half of casgstatus: the scan bit is held by somebody, who never sleeps with it. Spins,
 * then yields; never parks. */
static COLD void casgstatus_spin(struct g *gp, uint32_t oldval, uint32_t newval)
{
    const int64_t yield_delay_ns = 5000;
    int64_t next_yield = 0;
    for (bool first = true; first || !a_cas(&gp->atomicstatus, oldval, newval); first = false) {
        if (oldval == Gwaiting && a_load(&gp->atomicstatus) == Grunnable)
            throw("casgstatus: waiting for Gwaiting but is Grunnable");
        int64_t now = nanotime();
        if (first)
            next_yield = now + yield_delay_ns;
        if (now < next_yield) {
            for (int i = 0; i < 10 && a_load(&gp->atomicstatus) != oldval; i++)
                procyield(1);
        } else {
            osyield();
            next_yield = nanotime() + yield_delay_ns / 2;
        }
    }
}

/* proc.go casgstatus. */
static inline void casgstatus(struct g *gp, uint32_t oldval, uint32_t newval)
{
    if (((oldval | newval) & Gscan) != 0 || oldval == newval)
        throw("casgstatus: bad incoming values");
    if (!gstatus_edge(oldval, newval))
        throw("casgstatus: no such edge");
    if (!a_cas(&gp->atomicstatus, oldval, newval))
        casgstatus_spin(gp, oldval, newval);
}

/* An extra M that is over with its callback may keep its P: since the P of a system call is taken
 * under the scan bit of the G, there is a status for that G that can have one. */
static bool gdeadextra_exists(void) { return prof->leaked_status || prof->sys_block_on_exit; }

/* proc.go castogscanstatus. Takes the scan bit; false when the status is not oldval any more. */
static bool castogscanstatus(struct g *gp, uint32_t oldval, uint32_t newval)
{
    bool base_ok = oldval == Grunnable || oldval == Grunning || oldval == Gwaiting ||
                   oldval == Gsyscall || (prof->leaked_status && oldval == Gleaked) ||
                   (oldval == Gdeadextra && gdeadextra_exists());
    if (!base_ok || newval != (oldval | Gscan))
        throw("castogscanstatus: bad status");
    return a_cas(&gp->atomicstatus, oldval, newval);
}

/* proc.go casfrom_Gscanstatus. Only the holder of the scan bit may call it. */
static void casfrom_Gscanstatus(struct g *gp, uint32_t oldval, uint32_t newval)
{
    if ((oldval & Gscan) == 0 || newval != (oldval & ~(uint32_t)Gscan) ||
        !a_cas(&gp->atomicstatus, oldval, newval))
        throw("casfrom_Gscanstatus: gp is not in scan state");
}

/* proc.go casGToPreemptScan: running -> scan|preempted, by the M that runs the G. */
static void casGToPreemptScan(struct g *gp, uint32_t oldval, uint32_t newval)
{
    if (oldval != Grunning || newval != (Gscan | Gpreempted))
        throw("casGToPreemptScan: bad g transition");
    while (!a_cas(&gp->atomicstatus, Grunning, Gscan | Gpreempted))
        procyield(1);
}

/* proc.go casGFromPreempted: the suspender takes ownership; it then owes the G a ready(). */
static bool casGFromPreempted(struct g *gp, uint32_t oldval, uint32_t newval)
{
    if (oldval != Gpreempted || newval != Gwaiting)
        throw("casGFromPreempted: bad g transition");
    gp->waitreason = waitReasonPreempted;
    return a_cas(&gp->atomicstatus, Gpreempted, Gwaiting);
}

/* proc.go casGToWaiting, casGToWaitingForSuspendG: the running G calls itself waiting while it goes
 * on executing on g0. */
static void casGToWaiting(struct g *gp, uint32_t oldval, enum waitreason reason)
{
    gp->waitreason = (uint8_t)reason;
    casgstatus(gp, oldval, Gwaiting);
}

static const char *const waitreason_texts[] = {
#define WAITREASON(name, text) text,
#include "waitreason.def"
#undef WAITREASON
};

/* runtime2.go waitReason.String. */
static const char *waitreason_text(uint8_t reason) { return waitreason_texts[reason]; }
