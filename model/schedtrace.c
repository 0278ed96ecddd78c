/* SPDX-License-Identifier: BSD-3-Clause */
/* GODEBUG=schedtrace and scheddetail: the scheduler's own account of itself, in the text of each
 * release. Taken under sched.lock only: what belongs to Ps, Ms and Gs may be inconsistent, as in
 * Go. */
#include <stdarg.h>
#include <stdio.h>

#include "schedtrace.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "print.h"

static void line_print(const char *fmt, ...)
{
    char text[400];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (world_sched_line != NULL && n > 0)
        world_sched_line(world_arg, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* A missing id is -1 up to 1.19, nil after. */
struct idtext {
    char s[24];
};
static struct idtext id_text(bool there, int64_t id)
{
    struct idtext t;
    if (there)
        snprintf(t.s, sizeof t.s, "%lld", (long long)id);
    else
        snprintf(t.s, sizeof t.s, "%s", prof->sched_bools ? "nil" : "-1");
    return t;
}

static const char *bool_text(bool b)
{
    if (prof->sched_bools)
        return b ? "true" : "false";
    return b ? "1" : "0";
}

static void trace_head(int64_t now, bool detailed)
{
    char needspinning[32] = "";
    if (prof->needspinning)
        snprintf(needspinning, sizeof needspinning, " needspinning=%u",
                 a_peek(&sched->needspinning));
    line_print("SCHED %lldms: gomaxprocs=%d idleprocs=%d threads=%lld spinningthreads=%d%s "
               "idlethreads=%d runqueue=%d",
               (long long)(now - rt->trace_start_ns) / 1000000, a_peek(&rt->gomaxprocs),
               a_peek(&sched->npidle), (long long)mcount(), a_peek(&sched->nmspinning),
               needspinning, sched->nmidle, sched->runq.size);
    if (detailed)
        line_print(" gcwaiting=%s nmidlelocked=%d stopwait=%d sysmonwait=%s\n",
                   bool_text(a_peek(&sched->gcwaiting) != 0), sched->nmidlelocked, sched->stopwait,
                   bool_text(a_peek(&sched->sysmonwait)));
}

static uint32_t ring_length(struct p *pp)
{
    uint32_t h = a_load(&pp->runqhead);
    return a_load(&pp->runqtail) - h;
}

static void trace_p(struct p *pp)
{
    struct m *mp = a_peek(&pp->m);
    struct idtext m = id_text(mp != NULL, mp != NULL ? mp->id : 0);
    uint32_t ring = ring_length(pp); /* one after the other: an order of arguments is none */
    uint32_t timers = timers_len(pp);
    line_print(
        "  P%d: status=%u schedtick=%u syscalltick=%u m=%s runqsize=%u gfreecnt=%d timerslen=%u\n",
        pp->id, a_peek(&pp->status), a_peek(&pp->schedtick), a_peek(&pp->syscalltick), m.s, ring,
        pp->gFree.size, timers);
}

static void trace_m(struct m *mp)
{
    struct p *pp = a_peek(&mp->p);
    struct g *gp = a_peek(&mp->curg);
    struct idtext p = id_text(pp != NULL, pp != NULL ? pp->id : 0);
    struct idtext g = id_text(gp != NULL, gp != NULL ? (int64_t)gp->goid : 0);
    struct idtext l = id_text(mp->lockedg != NULL,
                              mp->lockedg != NULL ? (int64_t)mp->lockedg->goid : 0);
    line_print(
        "  M%d: p=%s curg=%s mallocing=%d throwing=0 preemptoff=%s locks=%d dying=0 spinning=%s "
        "blocked=%s lockedg=%s\n",
        mp->id, p.s, g.s, mp->mallocing, mp->preemptoff != NULL ? mp->preemptoff : "", mp->locks,
        mp->spinning ? "true" : "false", mp->blocked ? "true" : "false", l.s);
}

static void trace_g(struct g *gp)
{
    struct m *mp = a_peek(&gp->m), *lm = a_peek(&gp->lockedm);
    struct idtext m = id_text(mp != NULL, mp != NULL ? mp->id : 0);
    struct idtext l = id_text(lm != NULL, lm != NULL ? lm->id : 0);
    line_print("  G%llu: status=%u(%s) m=%s lockedm=%s\n", (unsigned long long)gp->goid,
               readgstatus(gp), waitreason_text(gp->waitreason), m.s, l.s);
}

static void trace_lengths(void)
{
    const char *open = prof->schedticks_line ? " [ " : " [",
               *close = prof->schedticks_line ? " ]" : "]\n";
    for (int32_t i = 0; i < rt->allp_len; i++)
        line_print("%s%u", i == 0 ? open : " ", ring_length(rt->allp[i]));
    line_print("%s", close);
    if (!prof->schedticks_line)
        return;
    line_print(" schedticks=[ ");
    for (int32_t i = 0; i < rt->allp_len; i++)
        line_print("%u ", a_peek(&rt->allp[i]->schedtick));
    line_print("]\n");
}

/* proc.go schedtrace. */
static void schedtrace(bool detailed)
{
    int64_t now = nanotime();
    if (rt->trace_start_ns == 0)
        rt->trace_start_ns = now;
    work(trace);
    lock(&sched->lock);
    trace_head(now, detailed);
    if (!detailed) {
        trace_lengths();
        unlock(&sched->lock);
        return;
    }
    for (int32_t i = 0; i < rt->allp_len; i++)
        trace_p(rt->allp[i]);
    for (struct m *mp = rt->allm; mp != NULL; mp = mp->alllink)
        trace_m(mp);
    for (struct g *gp = rt->allgs; gp != NULL; gp = gp->alllink)
        trace_g(gp);
    unlock(&sched->lock);
}
