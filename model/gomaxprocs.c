/* SPDX-License-Identifier: BSD-3-Clause */
/* GOMAXPROCS: its default, runtime.GOMAXPROCS(n), and since 1.25 its following of the CPU quota. */
#include "objs.h"

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

/* debug.go defaultGOMAXPROCS. */
static int32_t defaultGOMAXPROCS(void)
{
    int32_t procs = host_ncpu();
    if (prof->auto_gomaxprocs && prof->main_go_line >= 25)
        procs = quota_procs(procs);
    return procs;
}

enum { STW_GOMAXPROCS = 1, STW_READ_MEM = 4 };

static void resize_world(int32_t n)
{
    stopTheWorldWithSema(STW_GOMAXPROCS, /*pseudo_wait*/ true);
    rt->newprocs = n;
    startTheWorldWithSema(STW_GOMAXPROCS);
}

/* startTheWorld: since 1.16 worldsema is handed over, without yielding. */
static void release_worldsema(struct g *gp)
{
    struct m *mp = acquirem(); /* so that the hand-over does not make us yield */
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

/* The instruction's argument; its registers do not change while the G waits. */
static int64_t procs_arg(const struct g *gp)
{
    const struct insn *in = cur_insn(gp);
    return in->b == NOREG ? in->imm : regs(gp)[in->b];
}

/* debug.go GOMAXPROCS: the old value in R[a]; n <= 0 only asks. */
static enum opres runtime_GOMAXPROCS(struct g *gp)
{
    int64_t now = a_load_rlx(&rt->gomaxprocs), n = procs_arg(gp);
    set_reg(gp, cur_insn(gp)->a, now);
    if (n <= 0)
        return OP_DONE;
    if (n > rt->allp_cap) {
        finding(FIND_LIMIT, "runtime.GOMAXPROCS: more Ps than the world has room for (procs_max)");
        return OP_DONE;
    }
    if (prof->auto_gomaxprocs)
        sched->customGOMAXPROCS = true;
    if (n == now)
        return OP_DONE;
    push_step(gp, STEP_procsStop);
    if (!prof->gcsema)
        return semacquire(gp, &rt->worldsema);
    push_step(gp, STEP_procsWorld);
    return semacquire(gp, &rt->gcsema);
}

static enum opres step_procsWorld(struct g *gp) { return semacquire(gp, &rt->worldsema); }

static enum opres step_procsStop(struct g *gp)
{
    set_reg(gp, cur_insn(gp)->a, a_load_rlx(&rt->gomaxprocs)); /* another one may have been first */
    resize_world((int32_t)procs_arg(gp));
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
    stopTheWorldWithSema(STW_READ_MEM, /*pseudo_wait*/ true);
    for (int32_t i = 0; i < rt->allp_len; i++)
        work(safepoint_fn); /* every P's allocation cache is flushed */
    startTheWorldWithSema(STW_READ_MEM);
    release_worldsema(gp);
    return OP_DONE;
}

/* ---- following the quota (1.25+) ---- */

/* The helper goroutine: parked until sysmon computes another number. */
static enum opres step_updateProcsIdle(struct g *gp)
{
    a_store(&sched->updatemaxprocs_idle, true);
    push_step(gp, STEP_updateProcs);
    return gopark(gp, NULL, NULL, waitReasonUpdateGOMAXPROCSIdle);
}

static enum opres step_updateProcs(struct g *gp)
{
    push_step(gp, STEP_updateProcsStop);
    push_step(gp, STEP_procsWorld);
    return semacquire(gp, &rt->gcsema);
}

static enum opres step_updateProcsStop(struct g *gp)
{
    if (sched->customGOMAXPROCS) {
        release_world(gp);
        return goexit(gp); /* the user has taken over for good */
    }
    resize_world(sched->updatemaxprocs_n);
    release_world(gp);
    push_step(gp, STEP_updateProcsIdle);
    return OP_DONE;
}

static void gomaxprocs_updater_start(void)
{
    if (prof->auto_gomaxprocs && prof->main_go_line >= 25 && !sched->customGOMAXPROCS)
        sched->updatemaxprocs_g = newsysproc(STEP_updateProcsIdle, NULL);
}

/* proc.go sysmonUpdateGOMAXPROCS. */
static void sysmonUpdateGOMAXPROCS(void)
{
    if (sched->updatemaxprocs_g == NULL || sched->customGOMAXPROCS)
        return;
    int32_t procs = defaultGOMAXPROCS();
    if (procs == a_load_rlx(&rt->gomaxprocs) || !a_load(&sched->updatemaxprocs_idle))
        return;
    a_store(&sched->updatemaxprocs_idle, false);
    sched->updatemaxprocs_n = procs < rt->allp_cap ? procs : rt->allp_cap;
    struct gList list = {0};
    gList_push(&list, sched->updatemaxprocs_g);
    injectglist(&list);
}
