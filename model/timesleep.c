/* SPDX-License-Identifier: BSD-3-Clause */
/* Package time: Sleep (time.go timeSleep) and Timer, Ticker, AfterFunc, After (time/sleep.go,
 * time/tick.go). */
#include "chan.h"
#include "lockrank.h"
#include "newproc.h"
#include "park.h"
#include "race.h"
#include "step.h"

/* time/sleep.go when. */
static int64_t time_when(int64_t d)
{
    int64_t now = nanotime();
    if (d <= 0)
        return now > 0 ? now : 1; /* a clock that starts at 0 is ours; a timer's when is positive */
    return d > TIMER_MAX_WHEN - now ? TIMER_MAX_WHEN : now + d;
}

/* time.go goroutineReady. */
static void goroutineReady(void *arg, uint64_t seq, int64_t delay)
{
    struct g *gp = arg;
    (void)seq;
    (void)delay;
    gp->has_ext_wake = false;
    goready(gp);
}

/* time.go resetForSleep: unlockf, so that the timer cannot fire before the G is parked. */
static bool resetForSleep(struct g *gp, void *unused)
{
    (void)unused;
    (void)timer_reset(gp->ext->sleep, gp->opval, 0);
    return true;
}

/* time.go timeSleep. */
static enum opres timeSleep(struct g *gp, int64_t ns)
{
    if (ns <= 0)
        return OP_DONE;
    struct timer *t = g_ext(gp)->sleep;
    if (t == NULL) {
        t = host_alloc(sizeof *t, _Alignof(struct timer));
        timer_init(t, goroutineReady, gp);
        gp->ext->sleep = t;
    }
    int64_t when = time_when(ns);
    gp->has_ext_wake = true;
    if (!prof->per_p_timers) {
        t->when = when;
        return timeSleep_v0(gp, t);
    }
    gp->opval = when;
    return gopark(gp, resetForSleep, NULL, waitReasonSleep);
}

/* time/sleep.go sendTime. The value is when the timer was due; until 1.22 it was when the send
 * happened. */
static void sendTime(void *arg, uint64_t seq, int64_t delay)
{
    (void)seq;
    struct timeTimer *tt = arg;
    int64_t now = nanotime();
    racetimer(&tt->t);
    (void)selectnbsend(tt->c, prof->timers_v2 ? now - delay : now);
    racetimerend();
}

/* time/sleep.go goFunc. */
static void goFunc(void *arg, uint64_t seq, int64_t delay)
{
    (void)seq;
    (void)delay;
    struct timeTimer *tt = arg;
    racetimer(&tt->t);
    (void)newproc(tt->func, tt->args, tt->nargs, tt->group);
    racetimerend();
}

static struct timeTimer *timeTimer_alloc(struct hchan *c, uint32_t nargs)
{
    struct timeTimer *tt = host_alloc(sizeof *tt + nargs * sizeof tt->args[0],
                                      _Alignof(struct timeTimer));
    timer_init(&tt->t, NULL, NULL);
    tt->c = c;
    return tt;
}

/* time.newTimer (1.23+), startTimer. */
static void timeTimer_start(struct timeTimer *tt, int64_t when, int64_t period, timer_fn f,
                            void *arg)
{
    racereleasemerge(&tt->t);
    if (prof->per_p_timers && !prof->timers_v2) {
        tt->t.when = when;
        tt->t.period = period;
        tt->t.f = f;
        tt->t.arg = arg;
        addtimer(&tt->t);
    } else {
        (void)timer_modify(&tt->t, when, period, f, arg, 0);
    }
}

/* A channel timer. With synchronous channels the channel knows its timer from the start. */
static struct timeTimer *chanTimer(int64_t d, int64_t period, struct hchan *c)
{
    struct timeTimer *tt = timeTimer_alloc(c, 0);
    if (timer_sync_chans()) {
        lockInit(&tt->sendLock, lockRankTimerSend);
        tt->t.isChan = true;
        chan_set_timer(c, &tt->t);
    }
    timeTimer_start(tt, time_when(d), period, sendTime, tt);
    return tt;
}

static struct timeTimer *time_NewTimer(int64_t d, struct hchan *c) { return chanTimer(d, 0, c); }
static struct timeTimer *time_NewTicker(int64_t d, struct hchan *c) { return chanTimer(d, d, c); }

static struct timeTimer *time_AfterFunc(int64_t d, uint32_t func, const int64_t *args,
                                        uint32_t nargs, int32_t group)
{
    struct timeTimer *tt = timeTimer_alloc(NULL, nargs);
    tt->func = func;
    tt->group = group;
    tt->nargs = nargs;
    for (uint32_t i = 0; i < nargs; i++)
        tt->args[i] = args[i];
    timeTimer_start(tt, time_when(d), 0, goFunc, tt);
    return tt;
}

static bool time_Stop(struct timeTimer *tt) { return timer_stop(&tt->t); }

/* Timer.Reset. 1.13: stop, then start as if new. */
static bool time_Reset(struct timeTimer *tt, int64_t d)
{
    int64_t when = time_when(d);
    racereleasemerge(&tt->t);
    if (prof->per_p_timers && !prof->timers_v2 && !prof->modtimer_pinned)
        return modtimer_unpinned(&tt->t, when);
    if (prof->per_p_timers)
        return timer_reset(&tt->t, when, 0);
    bool active = timer_stop(&tt->t);
    (void)timer_reset(&tt->t, when, 0);
    return active;
}

/* Ticker.Reset (1.15+; the model has it in every release). */
static void time_ResetTicker(struct timeTimer *tt, int64_t d)
{
    racereleasemerge(&tt->t);
    (void)timer_reset(&tt->t, time_when(d), d);
}
