/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: no schedule loses a timer, fires one twice or after a Stop that said true, and no schedule
 * leaves a G parked on a descriptor that is ready, closed or past its deadline. Method: the model
 * as one unit inside the test, on the explorer's host; two or three Ms with one operation each on
 * shared timers or one descriptor; depth-first search with a bound on preemptions.
 */
#include "sim/base/fail.h"

#include "model/model.c"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"
#include "tests/explore/search.h"

enum { MS = 3, TIMERS = 3 };

struct setup {
    int release;
    void (*prepare)(void);
    void (*run[MS])(void); /* NULL: no such M */
    void (*check)(void);
    bool spins; /* the Ms wait for each other by osyield, where depth first gets lost: random
                   schedules */
};

static const struct setup *setup;
static struct m *ms[MS];
static struct p *ps[MS];
static struct timer *timers;
static struct timeTimer *chan_timer;
static struct pollfd *fd;
static struct g *gp_;
static int fires[TIMERS];
static int said; /* what Stop or Reset said */
static bool parked;

static void on_fire(void *arg, uint64_t seq, int64_t delay)
{
    (void)seq;
    (void)delay;
    fires[(struct timer *)arg - timers]++;
}

/* ---- the world ---- */

static void *on_m(void *arg) { return arg; }

static void m_runs(void *arg)
{
    struct m *mp = on_m(arg);
    setup->run[mp->id]();
}

static void make_m(int i)
{
    ps[i] = p_new();
    ps[i]->id = i;
    a_init(&ps[i]->status, (uint32_t)Prunning);
    timers_init(&ps[i]->timers);
    rt->allp[i] = ps[i];
    ms[i] = host_alloc(sizeof *ms[i], 64);
    ms[i]->id = i;
    rt->ms[i] = ms[i];
    a_init(&ms[i]->p, ps[i]);
    a_init(&ps[i]->m, ms[i]);
}

static void build(void *arg)
{
    setup = arg;
    rt = host_alloc(sizeof *rt, 64);
    sched = &rt->sched;
    profile_init(&world_prof, setup->release);
    rt->allp = host_alloc(MS * sizeof *rt->allp, 8);
    rt->allp_len = MS;
    rt->ms = host_alloc(MS * sizeof *rt->ms, 8);
    rt->ms_cap = MS;
    init_locks();
    netpoll_world_init();
    a_init(&rt->netpoll->inited, 1u);
    a_init(&sched->lastpoll, INT64_C(1)); /* nobody polls */
    a_init(&sched->nmspinning, 1);        /* wakep has nothing to do */
    timers = host_alloc(TIMERS * sizeof *timers, 64);
    said = 0;
    parked = false;
    for (int i = 0; i < TIMERS; i++) {
        fires[i] = 0;
        timer_init(&timers[i], on_fire, &timers[i]);
    }
    for (int i = 0; i < MS; i++)
        make_m(i);
    setup->prepare();
    for (int i = 0; i < MS; i++)
        if (setup->run[i] != NULL)
            ex_start(&ms[i]->host, m_runs, ms[i]);
}

/* Timer i is in the heap of P0, due at when: what an add leaves behind. Timers come in the order of
 * their times. */
static void in_heap(int i, int64_t when)
{
    struct timers *ts = &ps[0]->timers;
    struct timer *t = &timers[i];
    if (ts->n == ts->cap)
        heap_grow(ts);
    ts->heap[ts->n++] = (struct timerWhen){t, when};
    t->when = when;
    t->ts = ts;
    if (prof->timers_v2) {
        t->state = timerHeaped;
        a_init(&t->astate, (uint8_t)timerHeaped);
    } else {
        a_init(&t->v1.status, (uint32_t)timerWaiting);
    }
    a_init(&ts->len, ts->n);
    a_init(&ts->minWhenHeap, ts->heap[0].when);
}

static void check(void *arg)
{
    (void)arg;
    if (ex_why() == END_LIMIT)
        return;
    if (ex_why() != END_DONE)
        ex_fail(ex_text()[0] != 0 ? ex_text() : "the Ms did not end");
    else
        setup->check();
}

static struct dfs_frame frames[1 << 16];
static struct search_result result;

/* What is wrong with it: "" nothing. */
static const char *search_for(const struct setup *u, uint32_t preemptions, uint64_t runs_max)
{
    struct ex_opts o = {
        .memory = MM_SC, .port = PORT_AMD64, .steps_max = 20000, .memory_max = 1 << 22};
    struct search s = {build, check, (void *)(uintptr_t)u, runs_max, false};
    struct failure f = {0};
    struct strategy_dfs dfs;
    struct strategy_random random;
    struct strategy *strategy = &dfs.s;
    if (!ex_init(&f, &o))
        FAIL_CASE("%s", f.text);
    strategy_dfs_init(&dfs, frames, sizeof frames / sizeof frames[0], preemptions);
    if (u->spins) {
        strategy_random_init(&random, 1, 5000);
        strategy = &random.s;
    }
    bool found = search_run(&s, strategy, &result);
    if (found && !search_replay(&s, &result))
        FAIL_CASE("the schedule does not repeat: %s", result.text);
    if (!found && runs_max == 0)
        CHECK(dfs.exhausted && !dfs.pruned && !dfs.diverged);
    if (getenv("GMPSIM_EXPLORE_COUNTS") != NULL)
        fprintf(stderr, "go1.%d %" PRIu64 " schedules, %" PRIu64 " points, %" PRIu64 " cut: %s\n",
                u->release, result.runs, result.steps, result.cut,
                found ? result.text : "nothing wrong");
    static char text[500];
    snprintf(text, sizeof text, "%s", found ? result.text : "");
    search_result_release(&result);
    ex_free();
    return text;
}

static const int releases[] = {14, 16, 22, 23, 27};
#define EACH_RELEASE(r)                                                \
    for (size_t i_ = 0; i_ < sizeof releases / sizeof *releases; i_++) \
        for (int r = releases[i_]; r != 0; r = 0)

/* ---- a look against another look, a Stop, a Reset ---- */

static void two_due(void)
{
    in_heap(0, 10);
    in_heap(1, 20);
}
static void look_p0(void) { timers_check(ps[0], &(struct timer_check){.now = 100}); }
static void stop_0(void) { said = timer_stop(&timers[0]); }
static void reset_0_later(void) { said = timer_reset(&timers[0], 5000, 0); }
static void reset_0_due(void) { said = timer_reset(&timers[0], 50, 0); }

static void each_fired_once(void)
{
    if (fires[0] != 1 || fires[1] != 1)
        ex_fail("a due timer did not fire exactly once");
}

TEST_CASE(TimerExplore, TwoLookersFireEachTimerOnce)
{
    EACH_RELEASE(rel)
    {
        struct setup s = {rel, two_due, {look_p0, look_p0, NULL}, each_fired_once, false};
        CHECK_STR(search_for(&s, 3, 60000), "");
    }
}

static void fired_or_stopped(void)
{
    if (fires[0] + said != 1)
        ex_fail(said ? "fired though Stop said true" : "neither fired nor stopped");
    if (fires[1] != 1)
        ex_fail("the other one did not fire once");
}

TEST_CASE(TimerExplore, StopAgainstARun)
{
    EACH_RELEASE(rel)
    {
        struct setup s = {rel, two_due, {look_p0, stop_0, NULL}, fired_or_stopped, rel < 23};
        CHECK_STR(search_for(&s, 3, 60000), "");
    }
}

/* Two settings: each fires, was taken back, or is still to come. */
static void both_settings_accounted_for(void)
{
    bool pending = timers[0].ts != NULL;
    if (fires[0] + said + pending != 2)
        ex_fail("a setting was lost or fired twice");
    int64_t wake = timers_wakeTime(ps[0]);
    int64_t own = timers_wakeTime(ps[1]);
    int64_t earliest = wake == 0 || (own != 0 && own < wake) ? own : wake;
    if (pending && earliest == 0)
        ex_fail("nobody will wake for it");
}

/* timers_wakeTime has points, so the check cannot call it: a last M does, when the others are done.
 */
static ATOMIC(int32_t) * ended;
static struct note *all_ended;
static void end_one(void)
{
    if (a_add(ended, 1) == 2)
        notewakeup(all_ended);
}
static void reset_0_later_and_end(void)
{
    reset_0_later();
    end_one();
}
static void look_p0_and_end(void)
{
    look_p0();
    end_one();
}
static void account(void)
{
    notesleep(all_ended);
    both_settings_accounted_for();
}
static void nothing_more(void) {}
static void two_due_and_a_count(void)
{
    two_due();
    ended = host_alloc(sizeof *ended, 64);
    all_ended = host_alloc(sizeof *all_ended, 64);
}

TEST_CASE(TimerExplore, ResetAgainstARun)
{
    EACH_RELEASE(rel)
    {
        struct setup s = {rel,
                          two_due_and_a_count,
                          {look_p0_and_end, reset_0_later_and_end, account},
                          nothing_more,
                          rel < 23};
        CHECK_STR(search_for(&s, 2, 60000), "");
    }
}

/* ---- moved to an earlier place while the owner adjusts (1.16+) ---- */

static void far_away(void)
{
    in_heap(1, 2000);
    in_heap(0, 3000);
    ended = host_alloc(sizeof *ended, 64);
    all_ended = host_alloc(sizeof *all_ended, 64);
    if (prof->timers_v2) { /* something to adjust: 1 wants to go elsewhere */
        a_init(&ps[0]->timers.minWhenModified, INT64_C(90));
        timers[1].when = 1500;
        timers[1].state |= timerModified;
        a_init(&timers[1].astate, timers[1].state);
    } else {
        a_init(&ps[0]->timers.minWhenModified, INT64_C(90));
        timers[1].v1.nextwhen = 1500;
        a_init(&timers[1].v1.status, (uint32_t)timerModifiedEarlier);
    }
}
static void move_0(void)
{
    (void)timer_reset(&timers[0], 200, 0);
    end_one();
}
static void sees_200(void)
{
    notesleep(all_ended);
    int64_t wake = timers_wakeTime(ps[0]);
    if (wake == 0 || wake > 200)
        ex_fail("a move was lost");
}

TEST_CASE(TimerExplore, AMoveDuringAnAdjustIsNotLost)
{
    for (int rel = 23; rel <= 27; rel += 4) {
        struct setup s = {rel, far_away, {look_p0_and_end, move_0, sees_200}, nothing_more, false};
        CHECK_STR(search_for(&s, 2, 100000), "");
    }
}

/* ---- channel timers ---- */

static void chan_due(void)
{
    chan_timer = host_alloc(sizeof *chan_timer, 64);
    timer_init(&chan_timer->t, sendTime, chan_timer);
    chan_timer->c = makechan(1);
    chan_timer->c->timer = &chan_timer->t;
    chan_timer->t.isChan = true;
    lockInit(&chan_timer->sendLock, lockRankTimerSend);
    chan_timer->t.when = 10;
}
static void chan_due_in_heap(void)
{
    struct timers *ts = &ps[0]->timers;
    chan_due();
    heap_grow(ts);
    ts->heap[ts->n++] = (struct timerWhen){&chan_timer->t, 10};
    chan_timer->t.ts = ts;
    chan_timer->t.blocked = 1;
    chan_timer->t.state = timerHeaped;
    a_init(&chan_timer->t.astate, (uint8_t)timerHeaped);
    a_init(&ts->len, ts->n);
    a_init(&ts->minWhenHeap, INT64_C(10));
}
static void stop_chan(void) { said = timer_stop(&chan_timer->t); }
static void no_value_after_stop(void)
{
    if (a_peek(&chan_timer->c->qcount) != 0)
        ex_fail("a value is there after Stop");
    if (!said)
        ex_fail("nobody received, so Stop must say true");
}

TEST_CASE(TimerExplore, NoValueAfterStop)
{
    for (int rel = 23; rel <= 27; rel += 4) {
        struct setup heaped = {
            rel, chan_due_in_heap, {look_p0, stop_chan, look_p0}, no_value_after_stop, false};
        CHECK_STR(search_for(&heaped, 2, 100000), "");
    }
}

/* One goes to sleep on the channel while another one looks: one value, or a timer in a heap that
 * will send it. */
static void block_chan(void)
{
    struct hchan *c = chan_timer->c;
    timer_maybeRunChan(&chan_timer->t, c);
    lock(&c->lock);
    blockTimerChan(c);
    unlock(&c->lock);
}
static void look_chan(void) { timer_maybeRunChan(&chan_timer->t, chan_timer->c); }
static void sent_or_heaped(void)
{
    uint32_t n = a_peek(&chan_timer->c->qcount);
    if (n + (chan_timer->t.ts != NULL) != 1)
        ex_fail(n == 0 ? "the timer is nowhere" : "sent, and still queued");
}

TEST_CASE(TimerExplore, BlockingAgainstALook)
{
    for (int rel = 23; rel <= 27; rel += 4) {
        struct setup s = {rel, chan_due, {block_chan, look_chan, NULL}, sent_or_heaped, false};
        CHECK_STR(search_for(&s, 3, 100000), "");
    }
}

/* ---- a descriptor: parking against what ends the wait ---- */

static void a_reader(void)
{
    fd = host_alloc(sizeof *fd, 64);
    lockInit(&fd->pd.lock, lockRankPollDesc);
    timer_init(&fd->pd.rt, NULL, NULL);
    timer_init(&fd->pd.wt, NULL, NULL);
    a_init(&fd->pd.open, 1u);
    a_init(&fd->mu.state, FD_RLOCK | FD_REF);
    gp_ = host_alloc(sizeof *gp_, 64);
    a_init(&gp_->atomicstatus, (uint32_t)Grunning);
    gp_->opobj = fd;
    gp_->opval = OPFD_WAIT_R;
    a_init(&gp_->m, ms[0]);
    a_init(&ms[0]->curg, gp_);
}

/* What the interpreter and park_m do with the reader, until it is done or parked. */
static void read_it(void)
{
    enum opres res = fd_block(gp_);
    for (;;) {
        if (res == OP_MCALL) {
            casgstatus(gp_, Grunning, Gwaiting);
            dropg(ms[0]);
            if (ms[0]->waitunlockf(gp_, ms[0]->waitlock)) {
                parked = true;
                return;
            }
            casgstatus(gp_, Gwaiting, Grunnable);
            a_store_rlx(&ms[0]->curg, gp_);
            a_store_rlx(&gp_->m, ms[0]);
            casgstatus(gp_, Grunnable, Grunning);
        }
        if (gp_->nkont == 0)
            return;
        gp_->nkont--;
        res = step_fdBlocked(gp_);
    }
}
static void close_it(void) { pollUnblock(&fd->pd); }
static void expire_it(void) { pollSetDeadline(&fd->pd, -1, POLL_R); }
static void make_ready(void)
{
    struct gList list = {0};
    (void)netpollready(&list, &fd->pd, POLL_R);
    struct g *gp = gList_pop(&list);
    if (gp != NULL)
        goready(gp);
}
static void not_left_behind(void)
{
    if (parked && a_peek(&gp_->atomicstatus) != Grunnable)
        ex_fail("the reader sleeps forever");
    if (a_peek(&rt->netpoll->waiters) < 0)
        ex_fail("the count of waiters is negative");
}

TEST_CASE(TimerExplore, AReaderIsNeverLeftBehind)
{
    static void (*const enders[])(void) = {close_it, expire_it, make_ready};
    EACH_RELEASE(rel)
    for (size_t i = 0; i < sizeof enders / sizeof *enders; i++) {
        struct setup s = {rel, a_reader, {read_it, enders[i], NULL}, not_left_behind, false};
        CHECK_STR(search_for(&s, 4, 60000), "");
    }
}
