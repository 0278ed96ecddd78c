/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about checkdue.c: each debt is named when it is owed, and nobody owes
 * anything a step before. */

static struct core_due due_seen;

static const char *due(void) { return world_due(&due_seen, /*quiet*/ true); }

static void nobody_owes(void)
{
    due_seen = (struct core_due){0};
    rt->mainStarted = true;
    CHECK(due() == NULL);
}

/* M's P in a system call of a goroutine, as the release has it. */
static struct g *in_call(struct m *mp)
{
    struct g *gp = user(mp);
    a_store(&gp->atomicstatus, Gsyscall);
    a_store(&gp->m, mp);
    a_store(&mp->curg, gp);
    if (!prof->sys_block_on_exit)
        a_store(&mp_p(mp)->status, (uint32_t)Psyscall);
    return gp;
}

static void call_over(struct m *mp)
{
    a_store(&mp->curg, (struct g *)NULL);
    a_store(&mp_p(mp)->status, (uint32_t)Prunning);
}

static void wakes_monitor(struct m *mp)
{
    nobody_owes();
    a_store(&sched->sysmonwait, true);
    CHECK(due() == NULL); /* nobody is in a system call */
    in_call(mp);
    CHECK_HAS(due(), "a system call has a P and the monitor sleeps");
    a_store(&sched->sysmonwait, false);
    CHECK(due() == NULL);
    call_over(mp);
}

TEST_CASE(DueRules, WhoEntersASystemCallWakesTheMonitor) { each_release(wakes_monitor); }

static void stops(struct m *mp)
{
    nobody_owes();
    struct p *idle_p = a_peek(&sched->pidle);
    in_call(mp);
    a_store(&sched->gcwaiting, 1);
    a_store(&sched->pidle, (struct p *)NULL);
    sched->stopwait = 1;
    CHECK_EQ(due() != NULL, !prof->sys_block_on_exit);
    sched->stopwait = 0;
    CHECK(due() == NULL); /* the stop has all */
    call_over(mp);
    a_store(&sched->pidle, idle_p);
    CHECK(due() == NULL);
    sched->stopwait = 1;
    CHECK_HAS(due(), "a stop of the world waits and a P is idle");
    sched->stopwait = 0;
    a_store(&sched->gcwaiting, 0);
    sched->safePointWait = 1;
    CHECK(due() == NULL);
    a_store(&idle_p->runSafePointFn, 1);
    CHECK_HAS(due(), "forEachP waits for an idle P");
    a_store(&idle_p->runSafePointFn, 0);
    sched->safePointWait = 0;
}

TEST_CASE(DueRules, AStopHasPsThatAreIdleOrInSystemCalls) { each_release(stops); }

/* All idle, and a waiter or a timer: somebody has to poll, but for whoever is about to look. */
static void polls_when_idle(struct m *mp)
{
    nobody_owes();
    netpollGenericInit();
    struct p *own = mp_p(mp);
    a_store(&sched->npidle, a_peek(&rt->gomaxprocs));
    a_store(&sched->lastpoll, host_now() + 1);
    a_store(&mp->p, (struct p *)NULL);
    CHECK(due() == NULL); /* nothing to poll for */
    a_store(&rt->netpoll->waiters, 1);
    bool owed = prof->wake_poller_wakep;
    CHECK_EQ(due() != NULL, owed);
    mp->spinning = true;
    CHECK(due() == NULL);
    mp->spinning = false;
    a_store(&sched->npidle, a_peek(&rt->gomaxprocs) - 1);
    CHECK(due() == NULL);
    a_store(&sched->npidle, a_peek(&rt->gomaxprocs));
    a_store(&sched->gcwaiting, 1);
    CHECK(due() == NULL);
    a_store(&sched->gcwaiting, 0);
    a_store(&sched->lastpoll, (int64_t)0);
    CHECK(due() == NULL); /* somebody polls */
    a_store(&rt->netpoll->waiters, 0);
    a_store(&sched->npidle, a_peek(&rt->gomaxprocs) - 1);
    a_store(&mp->p, own);
}

TEST_CASE(DueRules, TheLastPThatGoesIdleLeavesSomebodyInThePoller)
{
    each_release(polls_when_idle);
}

static void ticks(struct m *mp)
{
    nobody_owes();
    mp->counters[C_syscalls] += 2;
    CHECK_HAS(due(), "its P's tick is the same");
    tick(&mp_p(mp)->syscalltick);
    struct g *gp = all_g(Grunnable); /* it is out of the other one, but does not run yet */
    CHECK(due() != NULL);
    push_step(gp, STEP_syscallExit);
    CHECK(due() == NULL);
    gp->nkont = 0;
    tick(&mp_p(mp)->syscalltick);
    CHECK(due() == NULL);
    mp->counters[C_retakes]++;
    CHECK(due() != NULL);
}

TEST_CASE(DueRules, SystemCallsAndRetakesMoveTheTick) { each_release(ticks); }

/* owes: something is overdue. It is named when a round of the monitor began and ended since. */
static void after_a_round(struct m *mp, const char *what)
{
    CHECK(due() == NULL); /* seen */
    mp->counters[C_sysmon_ticks]++;
    CHECK(due() == NULL); /* a round began, which may have looked before */
    mp->counters[C_sysmon_ticks]++;
    CHECK_HAS(due(), what);
}

static void monitor_polls(struct m *mp)
{
    nobody_owes();
    netpollGenericInit();
    int64_t last = 7;
    a_store(&sched->lastpoll, last);
    host_usleep(9000);
    CHECK(due() == NULL);
    mp->counters[C_sysmon_ticks] += 5;
    CHECK(due() == NULL); /* no 10 ms yet */
    host_usleep(2000);
    after_a_round(mp, "the monitor does not poll the network");
    a_store(&sched->lastpoll, last + 1);
    after_a_round(mp, "the monitor does not poll the network");
    a_store(&sched->lastpoll, (int64_t)0);
    mp->counters[C_sysmon_ticks] += 2;
    CHECK(due() == NULL);
    a_store(&sched->lastpoll, last + 1); /* a debt that was paid meanwhile is another one */
    CHECK(due() == NULL);
    a_store(&sched->lastpoll, (int64_t)0);
}

TEST_CASE(DueRules, TheMonitorPollsWhenNobodyDid) { each_release(monitor_polls); }

static void monitor_slices(struct m *mp)
{
    nobody_owes();
    a_store(&sched->lastpoll, (int64_t)0);
    struct g *gp = user(mp);
    struct p *pp = mp_p(mp);
    a_store(&gp->m, mp);
    a_store(&gp->preempt, false);
    pp->sysmontick.schedtick = a_peek(&pp->schedtick);
    pp->sysmontick.schedwhen = host_now();
    host_usleep(9000);
    mp->counters[C_sysmon_ticks] += 5;
    CHECK(due() == NULL);
    host_usleep(2000);
    after_a_round(mp, "a G had its slice");
    a_store(&gp->preempt, true);
    CHECK(due() == NULL); /* it was asked */
    a_store(&gp->preempt, false);
    mp->counters[C_sysmon_ticks] += 2;
    CHECK(due() == NULL);
    mp->counters[C_sysmon_ticks] += 2;
    mp->counters[C_switches]++; /* it is back, with what was left of its slice */
    CHECK(due() == NULL);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(DueRules, TheMonitorEndsSlices) { each_release(monitor_slices); }

static void monitor_retakes(struct m *mp)
{
    nobody_owes();
    a_store(&sched->lastpoll, (int64_t)0);
    struct p *pp = mp_p(mp);
    in_call(mp);
    pp->sysmontick.syscalltick = a_peek(&pp->syscalltick);
    pp->sysmontick.syscallwhen = host_now();
    host_usleep(9000);
    mp->counters[C_sysmon_ticks] += 5;
    CHECK(due() == NULL);
    host_usleep(2000);
    after_a_round(mp, "leaves a P in a long system call");
    tick(&pp->syscalltick); /* another call */
    CHECK(due() == NULL);
    call_over(mp);
}

TEST_CASE(DueRules, TheMonitorTakesThePOfALongSystemCall) { each_release(monitor_retakes); }
