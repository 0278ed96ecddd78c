/* SPDX-License-Identifier: BSD-3-Clause */
/* A world's birth: memory, m0, schedinit, and the main goroutine's first steps. */
#include "api.h"
#include "check.h"
#include "checkdue.h"
#include "extram.h"
#include "gomaxprocs.h"
#include "lock.h"
#include "lockrank.h"
#include "mp.h"
#include "netpoll.h"
#include "newproc.h"
#include "objs.h"
#include "oslock.h"
#include "plant.h"
#include "preempt.h"
#include "print.h"
#include "stw.h"
#include "trace.h"
#include "wakeevent.h"

enum { M_IDS_MAX = 1 << 16 }; /* threads of one run, ended ones included */

static void init_locks(void)
{
    a_init(&rt->worldsema, 1);
    a_init(&rt->gcsema, 1);
    lockInit(&sched->lock, lockRankSched);
    lockInit(&sched->gFree_lock, lockRankGFree);
    lockInit(&sched->sudoglock, lockRankSudog);
    lockInit(&sched->sysmonlock, lockRankSysmon);
    lockInit(&rt->allpLock, lockRankAllp);
    lockInit(&rt->allglock, lockRankAllg);
    lockInit(&rt->newmHandoff.lock, lockRankNewmHandoff);
    lockInit(&rt->computeMaxProcsLock, lockRankComputeMaxProcs);
    lockInit(&rt->updateMaxProcsG.lock, lockRankUpdateMaxProcsG);
}

/* The largest GOMAXPROCS that the program may set; a computed one may be any. */
static int64_t program_procs_max(const struct program *p)
{
    int64_t most = 0;
    for (uint32_t pc = 0; pc < p->ncode; pc++) {
        const struct insn *in = &p->code[pc];
        if (in->op != OP_GOMAXPROCS)
            continue;
        int64_t n = in->b == NOREG ? in->imm : PROCS_MAX;
        most = n > most ? n : most;
    }
    return most < PROCS_MAX ? most : PROCS_MAX;
}

static int32_t room_for_procs(const struct world_opts *o)
{
    int64_t room = 64, wanted[] = {o->procs, host_ncpu(), program_procs_max(o->program)};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        room = wanted[i] > room ? wanted[i] : room;
    return (int32_t)room;
}

static void alloc_tables(int32_t procs_max)
{
    size_t n = (size_t)procs_max, words = (n + 31) / 32;
    rt->allp_cap = procs_max;
    rt->allp = host_alloc(n * sizeof *rt->allp, 8);
    rt->idlepMask = host_alloc(words * sizeof *rt->idlepMask, 64);
    rt->timerpMask = host_alloc(words * sizeof *rt->timerpMask, 64);
    rt->stealOrder.coprimes = host_alloc(n * sizeof *rt->stealOrder.coprimes, 8);
    rt->ms_cap = M_IDS_MAX;
    rt->ms = host_alloc((size_t)rt->ms_cap * sizeof *rt->ms, 8);
}

static struct hostm *world_init(const struct world_opts *o, void **arg)
{
    host_enter();
    rt = host_alloc(sizeof *rt, 64);
    sched = &rt->sched;
    world_prof = *o->profile;
    lock_world_init();
    rt->prog = o->program;
    world_print = o->print;
    world_sched_line = o->sched_line;
    world_arg = o->arg;
    rt->schedtrace_ns = o->schedtrace_ns;
    rt->scheddetail = o->scheddetail;
    rt->output_max = o->output_max;
    rt->newprocs = o->procs;
    alloc_tables(room_for_procs(o));
    rt->m0 = host_alloc(sizeof *rt->m0, 64);
    *arg = rt->m0;
    host_leave();
    return &rt->m0->host;
}

/* proc.go schedinit, on m0. */
static void schedinit(struct m *mp)
{
    init_locks();
    exec_init();
    a_init(&sched->lastpoll, nanotime() + 1); /* 0 would say that somebody polls */
    sched->mnext = 1;
    m_init(mp, 0, MSTART_LOOP);
    rt->allm = mp;
    timers_world_init();
    netpoll_world_init();
    gc_init();
    trace_world_init();
    int32_t procs = rt->newprocs != 0 ? rt->newprocs : defaultGOMAXPROCS();
    sched->customGOMAXPROCS = rt->newprocs != 0;
    rt->newprocs = 0;
    lock(&sched->lock);
    if (procresize(procs) != NULL)
        throw("unknown runnable goroutine during bootstrap");
    unlock(&sched->lock);
    objs_world_init();
    events_world_init();
}

static void run_m0(void *arg)
{
    host_enter();
    struct m *mp = arg;
    schedinit(mp);
    rt->main_g = newproc(rt->prog->main, NULL, 0, 0);
    push_step(rt->main_g, STEP_runtimeMain);
    if (prof->iscgo != 0)
        newextram();
    mstart(mp);
}

/* proc.go main, up to main_main. */
static enum opres step_runtimeMain(struct g *gp)
{
    rt->mainStarted = true;
    lockOSThread_internal(gp); /* until main.main: what init does stays on m0 */
    rt->start_ns = nanotime();
    if (prof->sysmon != 0)
        newm(MSTART_SYSMON, NULL, -1);
    env_start();
    return gc_enable(gp);
}

static struct runtime *world_runtime(void) { return rt; }

static void world_counters(uint64_t out[COUNTER_COUNT])
{
    for (int c = 0; c < COUNTER_COUNT; c++)
        out[c] = 0;
    for (int64_t id = 0; id < sched->mnext; id++)
        for (int c = 0; rt->ms[id] != NULL && c < COUNTER_COUNT; c++)
            out[c] += rt->ms[id]->counters[c];
}

static int32_t world_gomaxprocs(void) { return a_peek(&rt->gomaxprocs); }

static int64_t world_exit_status(void) { return rt->exit_status; }

const struct core CORE = {
    .host = CORE_NAME,
    .init = world_init,
    .run_m0 = run_m0,
    .sighandler = sighandler,
    .runtime = world_runtime,
    .counters = world_counters,
    .gomaxprocs = world_gomaxprocs,
    .exit_status = world_exit_status,
    .strand = world_strand,
    .check = world_check,
    .due = world_due,
    .plant = world_plant,
};
