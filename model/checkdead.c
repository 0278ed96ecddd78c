/* SPDX-License-Identifier: BSD-3-Clause */
/* checkdead: is there anybody left who could ever run? Called whenever an M goes idle, under
 * sched.lock. */
#include "checkdead.h"
#include "api.h"
#include "gstatus.h"
#include "mp.h"
#include "panic.h"

static int32_t checkdead_waiting(void)
{
    int32_t waiting = 0;
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink) {
        if (isSystemGoroutine(gp))
            continue;
        switch (readgstatus(gp) & ~(uint32_t)Gscan) {
        case Gwaiting:
        case Gpreempted: waiting++; break;
        case Grunnable:
        case Grunning:
        case Gsyscall: throw("checkdead: runnable g");
        default: break;
        }
    }
    return waiting;
}

/* proc.go checkdead. */
static void checkdead(void)
{
    if (a_load(&rt->panicking))
        return;
    /* Without cgo an extra M in the list counts as running: it was made for a thread of somebody
     * else. */
    int64_t run0 = prof->iscgo == 0 && a_load(&rt->extraM.length) > 0 ? 1 : 0;
    int64_t run = mcount() - sched->nmidle - sched->nmidlelocked - sched->nmsys;
    if (run > run0)
        return;
    if (run < 0)
        throw("checkdead: inconsistent counts");
    if (checkdead_waiting() == 0) {
        finding(FIND_DEADLOCK,
                deadlock_text("no goroutines (main called runtime.Goexit) - deadlock!"));
        return;
    }
    for (int32_t i = 0; i < rt->allp_len; i++)
        if (timers_len(rt->allp[i]) > 0)
            return;
    finding(FIND_DEADLOCK, deadlock_text("all goroutines are asleep - deadlock!"));
}
