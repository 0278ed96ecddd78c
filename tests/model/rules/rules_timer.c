/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about timer.c and timer_v1.c: what a heap's two bounds say, when a timer
 * is one that has yet to run, what a modified or stopped one leaves behind for the heap's owner. */

enum { SECOND = 1000000000 };

static void empty_heap(struct timers *ts)
{
    ts->n = 0;
    a_store(&ts->len, 0u);
    a_store(&ts->zombies, 0);
    a_store(&ts->adjustTimers, 0);
    a_store(&ts->minWhenHeap, INT64_C(0));
    a_store(&ts->minWhenModified, INT64_C(0));
}

/* ---- the earliest time: of all three generations ---- */

static void knows_earliest(struct m *mp)
{
    static const int64_t rows[][3] = {{0, 0, 0}, {0, 1, 1}, {5, 0, 5}, {5, 7, 5}, {7, 5, 5},
                                      {5, 5, 5}, {1, 2, 1}, {2, 1, 1}, {0, 9, 9}};
    struct p *pp = mp_p(mp);
    struct timers *ts = &pp->timers;
    if (!prof->per_p_timers) {
        CHECK_EQ(timers_wakeTime(pp), 0);
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool has_modified = prof->timers_v2 || prof->timer_earliest;
        a_store(&ts->minWhenModified, rows[i][0]);
        a_store(&ts->minWhenHeap, rows[i][1]);
        CHECK_EQ(timers_wakeTime(pp), has_modified ? rows[i][2] : rows[i][1]);
    }
    empty_heap(ts);
    struct timer *far = timer_at(5 * (int64_t)SECOND);
    struct timers *other = &rt->allp[2]->timers;
    CHECK_EQ(timeSleepUntil(), 5 * (int64_t)SECOND);
    a_store(&other->minWhenHeap, INT64_C(3) * SECOND); /* of any P */
    CHECK_EQ(timeSleepUntil(), 3 * (int64_t)SECOND);
    if (prof->timers_v2 || prof->timer_earliest) {
        a_store(&other->minWhenModified, INT64_C(2) * SECOND);
        CHECK_EQ(timeSleepUntil(), 2 * (int64_t)SECOND);
    }
    empty_heap(other);
    struct p *none = rt->allp[3];
    rt->allp[3] = NULL; /* procresize has not made it yet */
    CHECK_EQ(timeSleepUntil(), 5 * (int64_t)SECOND);
    rt->allp[3] = none;
    CHECK(timer_stop(far));
}

TEST_CASE(TimerRules, TheEarliestTimeIsOfBothBoundsAndOfAllPs) { each_release(knows_earliest); }

/* ---- setting one ---- */

static void keeps_number(struct m *mp)
{
    int arg;
    (void)mp;
    a_store(&sched->nmspinning, 1);
    struct timer *t = host_alloc(sizeof *t, 64);
    timer_init(t, NULL, NULL);
    CHECK(!timer_modify(t, 3 * (int64_t)SECOND, 7, no_op, &arg, 9) || !prof->per_p_timers);
    CHECK(t->f == no_op && t->arg == &arg && t->seq == 9 && t->period == 7);
    CHECK(timer_reset(t, 4 * (int64_t)SECOND, 8)); /* what it does stays, its number too */
    CHECK(t->f == no_op && t->arg == &arg && t->seq == 9 && t->period == 8);
    CHECK(timer_stop(t));
    CHECK(!timer_stop(t));
}

TEST_CASE(TimerRules, AResetKeepsWhatATimerDoes) { each_release(keeps_number); }

static int64_t bad_when;

static void sets_bad_when(struct m *mp)
{
    (void)mp;
    struct timer *t = host_alloc(sizeof *t, 64);
    timer_init(t, no_op, NULL);
    if (prof->per_p_timers && !prof->timers_v2) {
        t->when = bad_when;
        addtimer(t);
        return;
    }
    (void)timer_modify(t, bad_when, 0, NULL, NULL, 0);
}

TEST_CASE(TimerRules, ATimeIsPositive)
{
    static const int releases[] = {13, 14, 19, 27};
    for (size_t i = 0; i < sizeof releases / sizeof *releases; i++)
        for (bad_when = -1; bad_when <= 1; bad_when++) {
            enum world_end end = world_until(10000000000, releases[i], PROCS,
                                             &(struct host_opts){0}, sets_bad_when);
            CHECK_EQ(end == END_THROWN, bad_when <= 0);
            CHECK_EQ(body_ended, bad_when > 0);
            host_virt.close();
        }
}

/* ---- 1.23: states ---- */

static void needs_heap(struct m *mp)
{
    (void)mp;
    for (int bits = 0; bits < 16; bits++) {
        struct timer t = {.state = bits & 1 ? timerHeaped : 0,
                          .when = bits & 2 ? 1 : 0,
                          .isChan = bits & 4,
                          .blocked = bits & 8 ? 1 : 0};
        bool waited_for = !(bits & 4) || (bits & 8);
        CHECK_EQ(needsAdd(&t), !(bits & 1) && (bits & 2) && waited_for);
    }
}

TEST_CASE(TimerRules, ATimerIsInAHeapWhileItCanMatter) { each_leak_world(23, needs_heap); }

static void is_pending(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    a_store(&sched->nmspinning, 1);
    struct timer *t = timer_at(SECOND);
    t->when = 1; /* as early as there is a time */
    CHECK(stop_v2(t));
    CHECK_EQ(t->state, timerHeaped | timerModified | timerZombie);
    CHECK_EQ(a_peek(&ts->zombies), 1);
    CHECK(!stop_v2(t));
    CHECK_EQ(a_peek(&ts->zombies), 1);
    t->when = 1;
    CHECK(modify_v2(t, 2 * (int64_t)SECOND, 0, NULL, NULL, 0));
    CHECK_EQ(t->state, timerHeaped | timerModified);
    CHECK_EQ(a_peek(&ts->zombies), 0);
    CHECK(stop_v2(t));
    CHECK(!modify_v2(t, 2 * (int64_t)SECOND, 0, NULL, NULL, 0));
    /* the heap is told of a time that is earlier than all it was told of */
    lock(&ts->mu);
    a_store(&ts->minWhenModified, INT64_C(50));
    for (t->when = 49; t->when <= 51; t->when++) {
        a_store(&ts->minWhenModified, INT64_C(50));
        CHECK_EQ(modify_heaped(t), t->when < 50);
        CHECK_EQ(a_peek(&ts->minWhenModified), t->when < 50 ? t->when : 50);
    }
    unlock(&ts->mu);
}

TEST_CASE(TimerRules, AStopSaysWhetherItHadYetToRun) { each_leak_world(23, is_pending); }

static struct timeTimer *chan_timer(int64_t d)
{
    struct hchan *c;
    (void)chan_object(1, &c);
    return time_NewTimer(d, c);
}

/* A send in flight when the timer is stopped or set will not be seen: it is as if it had yet to
 * run. All that are in flight are told, up to 255. */
static void makes_stale(struct m *mp)
{
    static const int32_t sending[] = {0, 1, 2, 254, 255, 256, 300};
    (void)mp;
    a_store(&sched->nmspinning, 1);
    for (int once = 0; once <= 1; once++) {
        world_prof.stale_send_once = once;
        for (size_t i = 0; i < sizeof sending / sizeof *sending; i++) {
            struct timeTimer *tt = chan_timer(SECOND);
            struct timer *t = &tt->t;
            uint64_t seq = t->seq;
            t->stale = 1;
            a_store(&tt->isSending, sending[i]);
            t->when = 0;
            CHECK_EQ(i % 2 == 0 ? stop_v2(t) : modify_v2(t, SECOND, 0, NULL, NULL, 0),
                     sending[i] > (once ? 1 : 0));
            CHECK_EQ(t->seq, seq + 1);
            CHECK_EQ(t->stale, sending[i] < 255 ? sending[i] : 255);
            t->period = 5; /* a ticker's sends are not followed */
            t->stale = 3;
            CHECK(!chan_invalidate(t, 5));
            CHECK_EQ(t->stale, 3);
        }
    }
    struct timeTimer *tt = chan_timer(SECOND);
    for (uint8_t stale = 0; stale < 3; stale++) { /* each is over once */
        a_store(&tt->isSending, 1);
        tt->t.stale = stale;
        run_chan(&tt->t, no_op, NULL, tt->t.seq + 1, 0, 0);
        CHECK_EQ(tt->t.stale, stale > 0 ? stale - 1 : 0);
        CHECK_EQ(a_peek(&tt->isSending), 0);
    }
}

TEST_CASE(TimerRules, ASendInFlightIsMadeStale) { each_leak_world(23, makes_stale); }

/* A G parks on the channel of a timer that was stopped for nobody: it is wanted again. */
static void wants_again(struct m *mp)
{
    (void)mp;
    a_store(&sched->nmspinning, 1);
    for (int64_t when = 0; when <= 1; when++) {
        struct timer *t = host_alloc(sizeof *t, 64);
        struct hchan *c = host_alloc(sizeof *c, 64);
        t->isChan = true;
        t->when = when;
        t->state = timerHeaped | timerZombie;
        t->ts = &mp_p(mp)->timers;
        c->timer = t;
        blockTimerChan(c);
        CHECK_EQ(t->blocked, 1);
        CHECK_EQ(t->state, timerHeaped | (when > 0 ? 0 : timerZombie));
    }
}

TEST_CASE(TimerRules, WhoParksWantsTheTimer) { each_leak_world(23, wants_again); }

/* ---- 1.23: the heap ---- */

static void fill_heap(struct timer **t, int n)
{
    for (int i = 0; i < n; i++)
        t[i] = timer_at(SECOND + i);
}

/* All change places, some do, none does: the first is the earliest afterwards. */
static void adjusts_all(struct m *mp)
{
    enum { N = 5 };
    struct timers *ts = &mp_p(mp)->timers;
    struct timer *t[N];
    a_store(&sched->nmspinning, 1);
    for (int changed = 0; changed < 1 << N; changed++) {
        fill_heap(t, N);
        int64_t first = INT64_MAX;
        for (int i = 0; i < N; i++) {
            int64_t when = SECOND + i;
            if ((changed >> i & 1) != 0)
                (void)timer_reset(t[i], when = 2 * (int64_t)SECOND - 100 * i, 0);
            first = when < first ? when : first;
        }
        lock(&ts->mu);
        adjust(ts, INT64_MAX, false);
        CHECK_EQ(ts->heap[0].when, first);
        CHECK_EQ(a_peek(&ts->minWhenHeap), first);
        for (uint32_t i = 1; i < ts->n; i++)
            CHECK(ts->heap[i].when >= ts->heap[0].when);
        bool gone = true;
        CHECK(!adjust_one(ts, 0, &gone)); /* it is in its place */
        CHECK(!gone);
        unlock(&ts->mu);
        empty_heap(ts);
    }
}

TEST_CASE(TimerRules, AModifiedTimerComesToItsPlace) { each_leak_world(23, adjusts_all); }

static void counts_zombies(struct m *mp)
{
    struct timers *own = &mp_p(mp)->timers;
    for (uint32_t len = 0; len < 20; len++)
        for (int32_t zombies = 0; zombies < 20; zombies++) {
            bool many = zombies > (int32_t)len / 4; /* more than a quarter */
            a_store(&own->len, len);
            a_store(&own->zombies, zombies);
            if (prof->timers_v2)
                CHECK_EQ(many_zombies(own), many);
            else
                CHECK_EQ(own_and_littered(own, len), many);
        }
    struct timers *other = &rt->allp[1]->timers;
    a_store(&other->zombies, 9);
    CHECK(prof->timers_v2 ? !many_zombies(other) : !own_and_littered(other, 0));
    empty_heap(other);
    empty_heap(own);
}

TEST_CASE(TimerRules, TheOwnerCleansWhenMoreThanAQuarterIsStopped)
{
    for (int release = 14; release <= 27; release++)
        world(release, PROCS, &(struct host_opts){0}, counts_zombies);
}

static int64_t ran_at;
static void notes_run(void *arg, uint64_t seq, int64_t delay)
{
    (void)arg;
    (void)seq;
    ran_at = nanotime() - delay;
}

/* It runs at its time and not before; a ticker's next time is a period later. */
static void runs_due(struct m *mp)
{
    struct p *pp = mp_p(mp);
    if (!prof->per_p_timers)
        return;
    a_store(&sched->nmspinning, 1);
    for (int64_t period = 0; period <= 1; period++) {
        struct timer *t = timer_at(SECOND);
        (void)timer_modify(t, SECOND, period, notes_run, NULL, 0);
        struct timer_check r = {.now = SECOND - 1};
        timers_check(pp, &r);
        CHECK(!r.ran);
        CHECK_EQ(r.pollUntil, SECOND);
        r = (struct timer_check){.now = SECOND};
        timers_check(pp, &r);
        CHECK(r.ran);
        CHECK_EQ(t->when, period > 0 ? SECOND + 1 : prof->timers_v2 ? 0 : SECOND);
        CHECK_EQ(r.pollUntil, period > 0 ? SECOND + 1 : 0);
        CHECK_EQ(timer_stop(t), period > 0);
        empty_heap(&pp->timers);
    }
}

TEST_CASE(TimerRules, ATimerRunsWhenItIsDue) { each_release(runs_due); }

/* To another P's heap: those that were stopped stay behind, modified ones come to their new time.
 */
static void moves_all(struct m *mp)
{
    struct timers *from = &mp_p(mp)->timers, *to = &rt->allp[1]->timers;
    struct timer *t[4];
    if (!prof->per_p_timers)
        return;
    a_store(&sched->nmspinning, 1);
    fill_heap(t, 4);
    (void)timer_stop(t[0]);
    (void)timer_reset(t[1], 5 * (int64_t)SECOND, 0);
    (void)timer_reset(t[2], 500, 0);
    moveTimers(to, from);
    CHECK_EQ(from->n, 0);
    CHECK_EQ(a_peek(&from->len), 0);
    CHECK_EQ(a_peek(&from->zombies), 0);
    CHECK_EQ(to->n, 3);
    CHECK(t[0]->ts == NULL);
    CHECK_EQ(to->heap[0].when, 500);
    CHECK_EQ(a_peek(&to->minWhenHeap), 500);
    for (int i = 1; i < 4; i++) {
        CHECK(t[i]->ts == to);
        CHECK_EQ(t[i]->when, i == 1 ? 5 * (int64_t)SECOND : i == 2 ? 500 : SECOND + 3);
        if (prof->timers_v2)
            CHECK_EQ(t[i]->state, timerHeaped);
        else
            CHECK_EQ(a_peek(&t[i]->v1.status), timerWaiting);
    }
    if (!prof->timers_v2)
        CHECK_EQ(a_peek(&t[0]->v1.status), timerRemoved);
    empty_heap(to);
}

TEST_CASE(TimerRules, TheHeapOfAPThatGoesIsMovedAsItShallBe) { each_release(moves_all); }

static void syncs_channels(struct m *mp)
{
    (void)mp;
    for (int async = 0; async <= 1; async++)
        for (int line = 22; line <= 24; line++) {
            world_prof.async_timer_chan = async;
            world_prof.main_go_line = line;
            CHECK_EQ(timer_sync_chans(), prof->release >= 27 || (!async && line >= 23));
        }
}

TEST_CASE(TimerRules, ChannelsOfTimersAreSynchronousFromGo123sModules)
{
    each_leak_world(23, syncs_channels);
}

/* ---- 1.14 to 1.22 ---- */

static bool is_v1(void) { return prof->per_p_timers && !prof->timers_v2; }

/* 1.14, 1.15: adjustTimers is how many wait for an earlier place, whatever becomes of them. */
static void counts_modified(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    struct timer *t[3];
    if (!is_v1() || prof->timer_earliest)
        return;
    a_store(&sched->nmspinning, 1);
    fill_heap(t, 3);
    (void)timer_reset(t[1], 500, 0); /* earlier */
    (void)timer_reset(t[2], 700, 0);
    CHECK_EQ(a_peek(&ts->adjustTimers), 2);
    (void)timer_reset(t[1], SECOND + 1, 0); /* equal: not earlier than its place */
    CHECK_EQ(a_peek(&t[1]->v1.status), timerModifiedLater);
    CHECK_EQ(a_peek(&ts->adjustTimers), 1);
    (void)timer_reset(t[0], 600, 0);
    CHECK_EQ(a_peek(&ts->adjustTimers), 2);
    lock(&ts->mu);
    cleantimers(ts); /* the head comes to its place, and is not counted any more */
    unlock(&ts->mu);
    CHECK_EQ(ts->heap[0].when, 600);
    CHECK_EQ(a_peek(&ts->adjustTimers), 1);
    CHECK_EQ(sleepUntil_scan(ts, 1), 600);
    a_store(&t[1]->v1.status, (uint32_t)timerDeleted);
    CHECK_EQ(sleepUntil_scan(ts, 1), 600);
    lock(&ts->mu);
    clearDeletedTimers(ts);
    unlock(&ts->mu);
    CHECK_EQ(ts->n, 2);
    CHECK_EQ(a_peek(&ts->adjustTimers), 0);
    CHECK_EQ(a_peek(&t[2]->v1.status), timerWaiting);
    CHECK_EQ(t[2]->when, 700);
    empty_heap(ts);
}

TEST_CASE(TimerRules, TimersThatWaitForAnEarlierPlaceAreCounted)
{
    for (int release = 14; release <= 15; release++)
        world(release, PROCS, &(struct host_opts){0}, counts_modified);
}

/* The scan of 1.14 and 1.15: modified timers count with their new time; it ends when it has seen
 * all that wait for an earlier place. */
static void scans_heap(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    struct timer *t[4];
    a_store(&sched->nmspinning, 1);
    fill_heap(t, 4);
    CHECK_EQ(sleepUntil_scan(ts, 4), SECOND);
    (void)timer_reset(t[0], 3 * (int64_t)SECOND, 0);
    CHECK_EQ(sleepUntil_scan(ts, 4), SECOND + 1); /* the first one waits for a later place */
    (void)timer_reset(t[3], 900, 0);
    CHECK_EQ(sleepUntil_scan(ts, 1), 900);
    (void)timer_reset(t[1], 800, 0);
    CHECK_EQ(sleepUntil_scan(ts, 1), 800); /* one was enough: it looked no further */
    (void)timer_reset(t[1], 950, 0);
    CHECK_EQ(sleepUntil_scan(ts, 1), 950);
    CHECK_EQ(sleepUntil_scan(ts, 2), 900);
    (void)timer_stop(t[1]);
    (void)timer_stop(t[3]);
    CHECK_EQ(sleepUntil_scan(ts, 2), SECOND + 2);
    empty_heap(ts);
    CHECK_EQ(sleepUntil_scan(ts, 1), TIMER_MAX_WHEN);
}

TEST_CASE(TimerRules, AHeapIsReadUntilTheEarlierOnesAreSeen)
{
    for (int release = 14; release <= 15; release++)
        world(release, PROCS, &(struct host_opts){0}, scans_heap);
}

/* Whoever claims a timer may not be preempted until the heap's owner can go on: no lock is left
 * when he is done. */
static void leaves_no_lock(struct m *mp)
{
    int32_t locks = mp->locks;
    if (!is_v1())
        return;
    a_store(&sched->nmspinning, 1);
    struct timer *t = timer_at(SECOND);
    CHECK_EQ(mp->locks, locks);
    (void)timer_reset(t, 2 * (int64_t)SECOND, 0);
    CHECK_EQ(mp->locks, locks);
    CHECK(timer_stop(t));
    CHECK_EQ(mp->locks, locks);
    (void)timer_reset(t, 2 * (int64_t)SECOND, 0);
    CHECK_EQ(mp->locks, locks);
    CHECK_EQ(a_peek(&mp_p(mp)->timers.zombies), 0);
}

TEST_CASE(TimerRules, AClaimEndsWithTheChange) { each_release(leaves_no_lock); }

/* ---- what check.c says of heaps, and of who polls ---- */

static void says_what_a_heap_is(struct m *mp)
{
    struct timers *ts = &mp_p(mp)->timers;
    if (!prof->per_p_timers)
        return;
    a_store(&sched->nmspinning, 1);
    struct timer *first = timer_at(SECOND), *last = timer_at(2 * (int64_t)SECOND);
    CHECK(check_polling() == NULL);
    ts->heap[0].when = 3 * (int64_t)SECOND;
    CHECK_HAS(check_polling(), "out of order");
    ts->heap[0].when = SECOND;
    if (prof->timers_v2) {
        a_store(&ts->minWhenHeap, INT64_C(2) * SECOND);
        CHECK_HAS(check_polling(), "earlier than its heap says");
        a_store(&ts->minWhenHeap, INT64_C(1)); /* who looks too early finds nothing */
        CHECK(check_polling() == NULL);
        first->when = 5;
        CHECK_HAS(check_polling(), "nobody knows");
        first->state |= timerModified; /* the heap has an old time of it */
        CHECK(check_polling() == NULL);
        a_store(&ts->minWhenHeap, INT64_C(6));
        CHECK_HAS(check_polling(), "earlier than its heap says");
        a_store(&ts->minWhenHeap, INT64_C(1));
        first->state |= timerZombie; /* it runs at no time */
        a_store(&ts->zombies, 1);
        a_store(&ts->minWhenHeap, INT64_C(6));
        CHECK(check_polling() == NULL);
        a_store(&ts->zombies, 0);
        a_store(&ts->minWhenHeap, INT64_C(1));
        first->state = timerHeaped;
        first->when = SECOND;
        first->isChan = true; /* its channel's timer is in a heap while somebody waits there */
        CHECK_HAS(check_polling(), "nobody waits for");
        first->blocked = 1;
        CHECK(check_polling() == NULL);
        first->isChan = false;
        a_store(&ts->zombies, 1);
        CHECK_HAS(check_polling(), "zombies");
        a_store(&ts->zombies, 0);
        last->ts = NULL;
        CHECK_HAS(check_polling(), "not in it");
        last->ts = ts;
    }
    CHECK(timer_stop(first) && timer_stop(last));
    CHECK(check_polling() == NULL);
    empty_heap(ts);
}

TEST_CASE(TimerRules, ACheckKnowsWhatAHeapPromises) { each_release(says_what_a_heap_is); }

/* The heap of a P that nobody has, as an example. */
static void says_who_sleeps_too_long(struct m *mp)
{
    struct p *idle = a_peek(&sched->pidle);
    if (!prof->per_p_timers || idle == NULL)
        return;
    int64_t lastpoll = a_peek(&sched->lastpoll);
    struct timerWhen *heap = idle->timers.heap, entry = {.timer = timer_at(SECOND), .when = SECOND};
    empty_heap(&mp_p(mp)->timers);
    idle->timers.heap = &entry;
    idle->timers.n = 1;
    a_store(&idle->timers.minWhenHeap, entry.when);
    entry.timer->ts = &idle->timers;
    CHECK(check_poller() == NULL); /* nobody polls */
    a_store(&sched->lastpoll, 0);
    for (int until = 0; until <= 2; until++) {
        a_store(&sched->pollUntil, until * (int64_t)SECOND);
        CHECK_EQ(check_poller() == NULL, until == 1 || !prof->wake_poller_wakep);
    }
    a_store(&rt->netpoll->wakeSig, 1u); /* and is on its way back */
    CHECK(check_poller() == NULL);
    a_store(&rt->netpoll->wakeSig, 0u);
    a_store(&sched->nmspinning, 1); /* who gives up spinning breaks the poll */
    CHECK(check_poller() == NULL);
    a_store(&sched->nmspinning, 0);
    a_store(&sched->gcwaiting, 1u); /* nobody runs timers before the world starts again */
    CHECK(check_poller() == NULL);
    a_store(&sched->gcwaiting, 0u);
    CHECK_EQ(check_polling() == NULL, !prof->wake_poller_wakep);
    idle->timers.n = 0;
    CHECK(check_polling() == NULL);
    struct timers *own = &rt->allp[0]->timers; /* of the first P as of any */
    struct timerWhen *own_heap = own->heap;
    entry.timer->ts = own;
    own->heap = &entry;
    own->n = 1;
    a_store(&own->minWhenHeap, entry.when);
    CHECK_EQ(check_polling() == NULL, !prof->wake_poller_wakep);
    own->heap = own_heap;
    empty_heap(own);
    entry.timer->ts = &idle->timers;
    idle->timers.n = 1;
    CHECK_EQ(check_polling() == NULL, !prof->wake_poller_wakep);
    by_turns = true; /* and a timer's time is when somebody chooses */
    CHECK(check_polling() == NULL);
    by_turns = false;
    a_store(&sched->pollUntil, 0);
    a_store(&sched->lastpoll, lastpoll);
    idle->timers.heap = heap;
    empty_heap(&idle->timers);
}

TEST_CASE(TimerRules, ACheckKnowsWhoSleepsBeyondATimer) { each_release(says_who_sleeps_too_long); }

/* All that is looked at when everybody rests. */
static void says_it_of_the_world(struct m *mp)
{
    struct m *m0 = rt->m0; /* whose G may have ended */
    rt->mainStarted = true;
    rt->m0 = NULL;
    BROKEN(true, mp->lockedExt = 1, "locked by nobody, or to nobody", mp->lockedExt = 0);
    BROKEN(true, a_store(&rt->netpoll->waiters, -1), "number of waiters",
           a_store(&rt->netpoll->waiters, 0));
    mp->lockedExt = 1; /* where not all rest, they may be on their way */
    CHECK(world_check(false) == NULL);
    mp->lockedExt = 0;
    rt->m0 = m0;
}

TEST_CASE(TimerRules, ARestingWorldIsCheckedForLocksAndPolls)
{
    each_release(says_it_of_the_world);
}

static void says_who_is_counted(struct m *mp)
{
    struct g *gp = all_g(Gwaiting);
    (void)mp;
    gp->waitreason = waitReasonIOWait;
    CHECK_HAS(check_poll_waiters(), "number of waiters");
    a_store(&rt->netpoll->waiters, 1);
    CHECK(check_poll_waiters() == NULL);
    a_store(&rt->netpoll->waiters, 2); /* up to 1.21 who was woken is counted for a while */
    CHECK_EQ(check_poll_waiters() == NULL, !prof->netpoll_delta);
    a_store(&rt->netpoll->waiters, 1);
    a_store(&sched->pollingNet, 1);
    CHECK_HAS(check_poll_waiters(), "polls the network");
    a_store(&sched->pollingNet, 0);
    a_store(&rt->netpoll->waiters, 0);
    rt->allgs = rt->allgs_tail = NULL;
}

TEST_CASE(TimerRules, ACheckCountsWhoWaitsForTheNetwork) { each_release(says_who_is_counted); }

/* A recorded goroutine shows the reason of its recording and waits for an event. */
static void leaves_recorded_waits(struct m *mp)
{
    struct g *gp = all_g(Gwaiting);
    (void)mp;
    gp->waitreason = waitReasonIOWait;
    gp->func = 0;
    for (gp->pc = 1; gp->pc <= 3; gp->pc++)
        CHECK_EQ(check_poll_waiters() == NULL, gp->pc < 3);
    gp->pc = 1;
    gp->nkont = 1; /* what it does for the instruction is not done: it waits elsewhere */
    CHECK_HAS(check_poll_waiters(), "number of waiters");
    gp->nkont = 0;
    gp->func = -1;
    CHECK_HAS(check_poll_waiters(), "number of waiters");
    rt->allgs = rt->allgs_tail = NULL;
}

TEST_CASE(TimerRules, WhoWaitsForAnEventDoesNotWaitForTheNetwork)
{
    static const struct insn code[] = {{OP_EVWAIT, waitReasonIOWait, 0, 0, 0, 0},
                                       {OP_EVLOCK, waitReasonIOWait, 0, 0, 0, 0},
                                       {OP_RET, NOREG, 0, 0, 0, 0}};
    static const struct func funcs[] = {{"main", 0, 3, 1, 0, 0}};
    static const struct program recorded = {
        .code = code, .funcs = funcs, .ncode = 3, .nfuncs = 1, .nevents = 1};
    world_program = &recorded;
    each_release(leaves_recorded_waits);
    world_program = NULL;
}

/* ---- a heap of timers that is broken ---- */

static void no_timer_is_due_at_0(struct m *mp)
{
    static struct timer t;
    struct timers *ts = &a_own(&mp->p)->timers;
    if (ts->n == ts->cap)
        heap_grow(ts);
    ts->heap[0] = (struct timerWhen){.timer = &t, .when = 1};
    siftDown(ts, 0); /* the first of all times is one */
    ts->heap[ts->n] = (struct timerWhen){.timer = &t, .when = 0};
    (void)siftUp(ts, ts->n);
}

TEST_CASE(Rules, ATimerWithoutATimeIsCorruption)
{
    for (int release = 14; release <= 27; release++) {
        CHECK_EQ(
            world_until(UINT64_MAX, release, PROCS, &(struct host_opts){0}, no_timer_is_due_at_0),
            END_THROWN);
        CHECK_HAS(host_virt.verdict()->text, "timer data corruption");
    }
    host_virt.close();
}
