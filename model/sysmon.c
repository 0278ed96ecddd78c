/* SPDX-License-Identifier: BSD-3-Clause */
/* The monitor: an M without P that takes Ps back from long system calls, asks long-running Gs to
 * yield, polls the network when nobody did, and starts the periodic GC. It sleeps 20 us while it
 * has something to do, up to 10 ms when not. */
#include "sysmon.h"
#include "checkdead.h"
#include "gomaxprocs.h"
#include "gqueue.h"
#include "gstatus.h"
#include "lock.h"
#include "mp.h"
#include "netpoll.h"
#include "note.h"
#include "oslock.h"
#include "preempt.h"
#include "runq.h"
#include "schedtrace.h"
#include "spin.h"
#include "syscall.h"

struct sysmon {
    int64_t idle; /* rounds in succession without a retake */
    int64_t delay_us;
    int64_t last_gomaxprocs, last_trace;
};

static void sysmon_delay(struct sysmon *s)
{
    if (s->idle == 0)
        s->delay_us = prof->sysmon_min_us;
    else if (s->idle > prof->sysmon_idle)
        s->delay_us *= 2;
    if (s->delay_us > prof->sysmon_max_us)
        s->delay_us = prof->sysmon_max_us;
    host_usleep((uint32_t)s->delay_us);
}

static bool sysmon_nothing_runs(void)
{
    if (a_load(&sched->gcwaiting) != 0)
        return true;
    int32_t idle = a_load(&sched->npidle);
    return idle == a_load_rlx(&rt->gomaxprocs);
}

/* Everybody is idle or stopped: sleeps until a system call returns, the world starts, or (1.14+) a
 * timer is due. */
static void sysmon_deep_sleep(struct sysmon *s, int64_t now)
{
    if (rt->schedtrace_ns > 0 || !sysmon_nothing_runs())
        return;
    lock(&sched->lock);
    if (sysmon_nothing_runs()) {
        bool woken = false;
        int64_t next = prof->sysmon_sleeps_past_timers ? INT64_MAX : timeSleepUntil();
        if (next > now) {
            a_store(&sched->sysmonwait, true);
            unlock(&sched->lock);
            int64_t sleep = prof->forcegc_ns / 2;
            if (next - now < sleep)
                sleep = next - now;
            woken = notetsleep(&sched->sysmonnote, sleep);
            lock(&sched->lock);
            a_store(&sched->sysmonwait, false);
            noteclear(&sched->sysmonnote);
        }
        if (woken || prof->sysmon_resets_delay) {
            s->idle = 0;
            s->delay_us = prof->sysmon_min_us;
        }
    }
    unlock(&sched->lock);
}

static void sysmon_netpoll(int64_t now)
{
    int64_t lastpoll = a_load(&sched->lastpoll);
    if (!netpollinited() || lastpoll == 0 || lastpoll + prof->netpoll_stale_ns >= now)
        return;
    (void)a_cas(&sched->lastpoll, lastpoll, now);
    struct gList list = {0};
    int32_t delta = netpoll(0, &list);
    if (gList_empty(&list))
        return;
    incidlelocked(-1); /* injectglist may start the last M: we must not look dead meanwhile */
    injectglist(&list);
    incidlelocked(1);
    netpollAdjustWaiters(delta);
}

/* Is the P worth taking from a system call? The second look at the same tick, and somebody could
 * use it; or 10 ms are over. */
static bool retake_due(struct p *pp, bool sysretake, int64_t now)
{
    struct sysmontick *pd = &pp->sysmontick;
    uint32_t t = a_load_rlx(&pp->syscalltick);
    if (!sysretake && pd->syscalltick != t) {
        pd->syscalltick = t;
        pd->syscallwhen = now;
        return false;
    }
    if (!runqempty(pp))
        return true;
    int32_t lookers = a_load(&sched->nmspinning);
    lookers += a_load(&sched->npidle);
    return lookers == 0 || pd->syscallwhen + prof->syscall_slack_ns <= now;
}

/* True: the G on this P has had its slice. Asked again on every tick until the schedtick moves. */
static bool retake_slice(struct p *pp, int64_t now)
{
    struct sysmontick *pd = &pp->sysmontick;
    uint32_t t = a_load_rlx(&pp->schedtick);
    if (pd->schedtick != t) {
        pd->schedtick = t;
        pd->schedwhen = now;
        return false;
    }
    if (pd->schedwhen + prof->slice_ns > now)
        return false;
    (void)preemptone(pp);
    return true;
}

static void retaken(struct p *pp)
{
    getm()->counters[C_retakes]++;
    handoffp(pp);
}

/* Takes the P out of a system call, <=1.25: the caller has seen that it is due. */
static bool retake_psyscall(struct p *pp)
{
    if (!a_cas(&pp->status, Psyscall, Pidle))
        return false;
    ev_p_retake(rec_g(NULL), rec_p(pp), EV_retake_sysmon);
    tick(&pp->syscalltick);
    retaken(pp);
    return true;
}

/* The same since 1.26: whether it is due is asked here, while the G cannot leave its call. */
static bool retake_syscalling(struct p *pp, bool sysretake, int64_t now)
{
    struct syscallingThread t;
    if (!setBlockOnExitSyscall(pp, &t))
        return false;
    bool due = retake_due(pp, sysretake, now);
    if (due)
        syscalling_takeP(&t, EV_retake_sysmon);
    syscalling_resume(&t);
    if (due)
        retaken(pp);
    return due;
}

static bool looks_syscalling(struct p *pp)
{
    struct m *mp = a_load_rlx(&pp->m);
    struct g *gp = mp != NULL ? a_load_rlx(&mp->curg) : NULL;
    uint32_t status = gp != NULL ? readgstatus(gp) & ~(uint32_t)Gscan : Gidle;
    return status == Gsyscall || status == Gdeadextra;
}

/* Up to 1.25: is there a P to take, as far as one can see without its locks? Since 1.26 Go does not
 * look before it locks. */
static bool retake_wanted(struct p *pp, uint32_t status, bool sysretake, int64_t now)
{
    if (prof->retake_every_p)
        return true;
    if (prof->sys_block_on_exit)
        return looks_syscalling(pp);
    return status == Psyscall && retake_due(pp, sysretake, now);
}

/* retake's look at one P. allpLock is held. True: taken. */
static bool retake_p(struct p *pp, int64_t now)
{
    uint32_t status = prof->sys_block_on_exit ? a_load(&pp->status) : a_load_rlx(&pp->status);
    if (status != Prunning && status != Psyscall)
        return false;
    bool sysretake = retake_slice(pp, now);
    if (!retake_wanted(pp, status, sysretake, now))
        return false;
    unlock(&rt->allpLock);
    incidlelocked(-1);
    bool took = false;
    if (prof->sys_block_on_exit)
        took = retake_syscalling(pp, sysretake, now);
    else if (!prof->retake_every_p || (status == Psyscall && retake_due(pp, sysretake, now)))
        took = retake_psyscall(pp);
    incidlelocked(1);
    lock(&rt->allpLock);
    return took;
}

/* proc.go retake. */
static int32_t retake(int64_t now)
{
    int32_t n = 0;
    lock(&rt->allpLock);
    for (int32_t i = 0; i < rt->allp_len; i++)
        n += retake_p(rt->allp[i], now);
    unlock(&rt->allpLock);
    return n;
}

static void sysmon_round(struct sysmon *s)
{
    if (prof->sysmonlock)
        lock(&sched->sysmonlock);
    int64_t now = nanotime();
    work(sysmon_tick);
    sysmon_netpoll(now);
    if (prof->sysmon_starts_m_for_timer && timeSleepUntil() < now)
        startm(NULL, /*spinning*/ false, /*lockheld*/ false);
    if (follows_quota() && s->last_gomaxprocs + prof->gomaxprocs_check_ns <= now) {
        sysmonUpdateGOMAXPROCS();
        s->last_gomaxprocs = now;
    }
    if (retake(now) != 0)
        s->idle = 0;
    else
        s->idle++;
    gc_sysmon(now);
    if (rt->schedtrace_ns > 0 && s->last_trace + rt->schedtrace_ns <= now) {
        s->last_trace = now;
        schedtrace(rt->scheddetail);
    }
    if (prof->sysmonlock)
        unlock(&sched->sysmonlock);
}

/* proc.go sysmon. Never returns. */
static void sysmon(void)
{
    lock(&sched->lock);
    sched->nmsys++;
    checkdead();
    unlock(&sched->lock);
    struct sysmon s = {.last_trace = -rt->schedtrace_ns,
                       .last_gomaxprocs = -prof->gomaxprocs_check_ns};
    for (;;) {
        sysmon_delay(&s);
        sysmon_deep_sleep(&s, nanotime());
        getm()->counters[C_sysmon_ticks]++;
        sysmon_round(&s);
    }
}
