/* SPDX-License-Identifier: BSD-3-Clause */
/* GOMAXPROCS: its default, runtime.GOMAXPROCS(n), and since 1.25 its following of the CPU quota. */
#include "gomaxprocs.h"
#include "api.h"
#include "gqueue.h"
#include "lock.h"
#include "newproc.h"
#include "objs.h"
#include "park.h"
#include "sema.h"
#include "spin.h"
#include "stw.h"

/* cgroup_linux.go adjustCgroupGOMAXPROCS: the quota rounded up, at least 2, and never above the
 * CPUs. */
static int32_t quota_procs(int32_t procs)
{
    int64_t quota_us, period_us;
    if (!host_quota(&quota_us, &period_us))
        return procs;
    int64_t limit = (quota_us + period_us - 1) / period_us;
    if (limit < 2)
        limit = 2;
    return limit < procs ? (int32_t)limit : procs;
}

/* A setting of GODEBUG that came with 1.25: modules of older go lines have it off. */
static bool godebug_25(int64_t setting)
{
    return prof->auto_gomaxprocs && prof->main_go_line >= 25 && setting != 0;
}

/* debug.updatemaxprocs. */
static bool follows_quota(void) { return godebug_25(prof->update_max_procs); }

/* cgroup_linux.go defaultGOMAXPROCS. */
static int32_t defaultGOMAXPROCS(void)
{
    int32_t procs = host_ncpu();
    return godebug_25(prof->container_max_procs) ? quota_procs(procs) : procs;
}

/* startTheWorld: since 1.16 worldsema is handed over, without yielding. */
static void release_worldsema(struct g *gp)
{
    struct m *mp = acquirem(); /* so that the hand-over does not make us yield */
    mp->preemptoff = NULL;
    (void)semrelease1(gp, &rt->worldsema, prof->worldsema_handoff);
    releasem(mp);
}

/* startTheWorldGC. */
static void release_world(struct g *gp)
{
    release_worldsema(gp);
    if (prof->gcsema)
        semrelease(&rt->gcsema);
}

static int64_t procs_arg(const struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    return in->b == NOREG ? in->imm : regs(gp)[in->b];
}

/* proc.go stopTheWorldGC: the first of the next two steps, which has the world stopped after it. */
static enum opres stop_world_gc(struct g *gp, enum step then)
{
    push_step(gp, then);
    if (!prof->gcsema)
        return semacquire(gp, &rt->worldsema);
    push_step(gp, STEP_procsWorld);
    return semacquire(gp, &rt->gcsema);
}

static enum opres step_procsWorld(struct g *gp) { return semacquire(gp, &rt->worldsema); }

/* From here on the quota is not followed. A look at it that has begun is waited for. */
static void set_custom(void)
{
    if (prof->auto_gomaxprocs)
        sched->customGOMAXPROCS = true;
    unlock(&sched->lock);
    if (!prof->auto_gomaxprocs)
        return;
    lock(&rt->computeMaxProcsLock);
    unlock(&rt->computeMaxProcsLock);
}

/* debug.go GOMAXPROCS: the old value in R[a], as it is before the stop: two at once may tell the
 * same one. n <= 0 only asks. */
static enum opres runtime_GOMAXPROCS(struct g *gp)
{
    int64_t n = procs_arg(gp);
    lock(&sched->lock);
    int32_t ret = a_load_rlx(&rt->gomaxprocs);
    if (turn_on()) { /* one G runs at a time: the number is only remembered */
        ret = rt->turns.procs > 0 ? rt->turns.procs : ret;
        rt->turns.procs = n > 0 ? (int32_t)n : ret;
    }
    set_reg(gp, cur_insn(gp)->a, ret);
    if (n <= 0) {
        unlock(&sched->lock);
        return OP_DONE;
    }
    set_custom();
    if (n == ret || turn_on())
        return OP_DONE;
    if (n > rt->allp_cap) {
        finding(FIND_LIMIT, "runtime.GOMAXPROCS: a simulated world has at most 65000 Ps");
        return OP_DONE;
    }
    gp->opval = n; /* the argument may lie in R[a], which is overwritten */
    return stop_world_gc(gp, STEP_procsStop);
}

static enum opres step_procsStop(struct g *gp)
{
    stopTheWorld(EV_stw_gomaxprocs, "GOMAXPROCS");
    rt->newprocs = (int32_t)gp->opval;
    startTheWorldWithSema(EV_stw_gomaxprocs);
    release_world(gp);
    return OP_DONE;
}

/* mstats.go ReadMemStats: unlike GOMAXPROCS it does not wait for the end of a collection (1.15+).
 */
static enum opres runtime_ReadMemStats(struct g *gp)
{
    push_step(gp, STEP_readMemStop);
    return semacquire(gp, &rt->worldsema);
}

static enum opres step_readMemStop(struct g *gp)
{
    stopTheWorld(EV_stw_read_mem, "read mem stats");
    for (int32_t i = 0; i < rt->allp_len; i++)
        work(safepoint_fn); /* every P's allocation cache is flushed */
    startTheWorldWithSema(EV_stw_read_mem);
    release_worldsema(gp);
    return OP_DONE;
}

/* ---- following the quota (1.25+) ---- */

/* proc.go updateMaxProcsGoroutine: parked until sysmon computes another number. */
static enum opres step_updateProcsIdle(struct g *gp)
{
    struct updateMaxProcsGState *u = &rt->updateMaxProcsG;
    u->g = gp;
    lock(&u->lock);
    if (a_load(&u->idle))
        throw("updateMaxProcsGoroutine: phase error");
    a_store(&u->idle, true);
    push_step(gp, STEP_updateProcs);
    return goparkunlock(gp, &u->lock, waitReasonUpdateGOMAXPROCSIdle);
}

static enum opres step_updateProcs(struct g *gp) { return stop_world_gc(gp, STEP_updateProcsStop); }

/* With the world stopped: has the user taken over meanwhile? */
static bool still_follows(void)
{
    lock(&sched->lock);
    bool custom = sched->customGOMAXPROCS;
    unlock(&sched->lock);
    if (custom)
        return false;
    rt->newprocs = rt->updateMaxProcsG.procs;
    lock(&sched->lock);
    sched->customGOMAXPROCS = false;
    unlock(&sched->lock);
    return true;
}

static enum opres step_updateProcsStop(struct g *gp)
{
    stopTheWorld(EV_stw_gomaxprocs, "GOMAXPROCS");
    bool again = still_follows();
    startTheWorldWithSema(EV_stw_gomaxprocs);
    release_world(gp);
    if (!again)
        return goexit(gp); /* for good */
    push_step(gp, STEP_updateProcsIdle);
    return OP_DONE;
}

/* proc.go defaultGOMAXPROCSUpdateEnable: also for who has set GOMAXPROCS. */
static void defaultGOMAXPROCSUpdateEnable(void)
{
    if (follows_quota())
        (void)newsysproc(STEP_updateProcsIdle, NULL);
}

/* Under computeMaxProcsLock: another number than now, or 0. */
static int32_t updated_procs(void)
{
    lock(&sched->lock);
    bool custom = sched->customGOMAXPROCS;
    int32_t curr = a_load_rlx(&rt->gomaxprocs);
    unlock(&sched->lock);
    if (custom)
        return 0;
    int32_t procs = defaultGOMAXPROCS(); /* not with sched.lock: it reads files */
    return procs == curr ? 0 : procs;
}

/* proc.go sysmonUpdateGOMAXPROCS. Where an update is still under way, the next look counts. */
static void sysmonUpdateGOMAXPROCS(void)
{
    struct updateMaxProcsGState *u = &rt->updateMaxProcsG;
    lock(&rt->computeMaxProcsLock);
    int32_t procs = updated_procs();
    unlock(&rt->computeMaxProcsLock);
    if (procs == 0 || !a_load(&u->idle))
        return;
    lock(&u->lock);
    u->procs = procs < rt->allp_cap ? procs : rt->allp_cap;
    a_store(&u->idle, false);
    struct gList list = {0};
    gList_push(&list, u->g);
    injectglist(&list);
    unlock(&u->lock);
}
