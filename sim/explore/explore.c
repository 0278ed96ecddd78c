/* SPDX-License-Identifier: BSD-3-Clause */
/* The world: threads, the question who is next, runs. */
#include "sim/explore/explore.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/fail.h"
#include "sim/explore/ex_int.h"
#include "sim/explore/host.h"

#undef throw
#undef finding

struct ex ex;
struct ex_hot ex_hot;

/* ---- who could run ---- */

static inline void unsettle(void)
{
    if (ex.at != NULL) {
        ex.steps += (uint64_t)(ex.at - ex.dealt);
        ex.ch.count += (size_t)(ex.at - ex.dealt);
        evenly_back(ex.evenly);
    }
    ex.at = ex.end = ex.dealt = NULL;
    ex.quiet = ex.alone = false;
}

void ex_unsettle_(void) { unsettle(); }

static inline void able_changed(void)
{
    uint32_t n = ex.able_count;

    unsettle();
    for (uint32_t i = 0; i < n; i++) {
        struct ex_thread *t = ex.able[i];
        t->pos = (uint8_t)i;
        ex.able[n + i] = t;
        ex.able_id[i] = ex.able_id[n + i] = (uint8_t)t->id;
    }
    ex.of_able_0 = answer_make(CHOICE_THREAD, n, 0);
}

static void enable(struct ex_thread *t)
{
    uint32_t i = ex.able_count++;

    for (; i > 0 && ex.able[i - 1]->id > t->id; i--)
        ex.able[i] = ex.able[i - 1];
    ex.able[i] = t;
    able_changed();
}

static void disable(const struct ex_thread *t)
{
    uint32_t n = --ex.able_count;

    for (uint32_t i = t->pos; i < n; i++) {
        ex.able[i] = ex.able[i + 1];
        ex.able[i]->pos = (uint8_t)i; /* or it is made a call of memmove, for a few */
    }
    able_changed();
}

/* ---- time ---- */

void ex_due_update_(void)
{
    ex.due = NEVER;
    for (int i = 0; i < ex.thread_count; i++)
        if (ex.threads[i].wake_at < ex.due)
            ex.due = ex.threads[i].wake_at;
    for (uint32_t i = 0; i < ex.timer_count; i++)
        if (ex.timers[i].at < ex.due)
            ex.due = ex.timers[i].at;
    ex_unsettle_();
}

static uint64_t wake_latency(uint64_t slept, bool timed_out)
{
    uint64_t deep_after = ex_cost_(COST_deep_after), latency = ex_cost_(COST_wake_latency);

    if (timed_out && ex_cost_(COST_timer_wake) != 0)
        return ex_cost_(COST_timer_wake);
    return deep_after != 0 && slept > deep_after ? latency + ex_cost_(COST_wake_latency_deep)
                                                 : latency;
}

void ex_wake_(struct ex_thread *t, uint64_t at, bool timed_out)
{
    bool slept = t->wait != WAIT_BURST && t->wait != WAIT_SYSCALL; /* a call has its length */

    assert(t->wait != WAIT_NOT && t->wait != WAIT_DEAD);
    t->wait = WAIT_NOT;
    t->futex = NULL;
    t->timed_out = timed_out;
    ex_trace_(t->id, VERB_wake, NULL, timed_out); /* what wakes it says what it is about */
    if (at < t->now)
        at = t->now;
    t->now = at + (slept ? wake_latency(at - t->now, timed_out) : 0);
    enable(t);
    if (t->wake_at != NEVER) {
        t->wake_at = NEVER;
        ex_due_update_();
    }
}

static void run_timer(uint32_t i)
{
    struct ex_timer e = ex.timers[i];
    struct ex_thread *cur = ex.cur;
    uint64_t now = ex_hot.now;

    ex.timers[i] = ex.timers[--ex.timer_count];
    ex_due_update_();
    ex.lender = cur;
    ex.cur = NULL; /* a callback is nobody's */
    ex_hot.now = e.at;
    e.fn(e.arg);
    ex.cur = cur;
    ex_hot.now = now;
}

/* Lets the earliest event happen; of several, the one that was asked for first. (Threads that wake
 * at one instant need no order: who of them goes on first is the next question.) */
void ex_fire_(void)
{
    struct ex_thread *thread = NULL;
    uint64_t seq = NEVER;
    uint32_t timer = 0;

    for (int i = 0; i < ex.thread_count; i++)
        if (ex.threads[i].wake_at == ex.due && ex.threads[i].seq < seq) {
            thread = &ex.threads[i];
            seq = thread->seq;
        }
    for (uint32_t i = 0; i < ex.timer_count; i++)
        if (ex.timers[i].at == ex.due && ex.timers[i].seq < seq) {
            thread = NULL;
            timer = i;
            seq = ex.timers[i].seq;
        }
    if (ex.order < ex.due)
        ex.order = ex.due;
    if (thread != NULL)
        ex_wake_(thread, ex.due, true);
    else
        run_timer(timer);
}

/* ---- who is next ---- */

static uint8_t option[OPTIONS_MAX];

/* The running thread first, and the others round; last if it yielded, and after many yields that
 * nobody used not at all: a circle in which nobody else moves learns nothing new. */
static uint32_t list_threads(const struct ex_thread *me, struct choice *c)
{
    bool mine = me != NULL && me->wait == WAIT_NOT;
    bool yielded = mine && (me->flags & EX_YIELDED);
    uint32_t n = ex.able_count, first = mine ? me->pos + (uint32_t)yielded : 0;

    c->preempts = mine && !yielded;
    memcpy(option, ex.able_id + first, n);
    bool waits = yielded && me->yields > EX_YIELDS_MAX && n > 1 && !ex.wants_time;
    c->waits = waits;
    return waits ? n - 1 : n;
}

/* The answer of virtual time: the smallest (clock, id); buffers drain at once. */
static uint32_t timed_answer(uint32_t threads, uint32_t n)
{
    uint64_t best_at = NEVER;
    uint32_t best = 0;

    if (n > threads && option[threads] != OPTION_CLOCK)
        return threads;
    for (uint32_t i = 0; i < threads; i++) {
        uint64_t at = ex.threads[option[i]].now;
        if (at < best_at || (at == best_at && option[i] < option[best])) {
            best = i;
            best_at = at;
        }
    }
    return ex.due <= best_at ? n : best; /* n: time comes first, see next_option */
}

uint64_t ex_late_left_(void)
{
    uint64_t most = ex.o.late_max_ns == 0 ? NEVER : (uint64_t)ex.o.late_max_ns * 1000;

    return most - ex.late;
}

/* May time jump to the next timed event though threads could run? They are late then: by how much
 * in all of one run, the caller says (late_max_ns). */
static bool may_be_late(void)
{
    return ex.o.eager_clock && !ex.starting &&
           (ex.due <= ex.order || ex.due - ex.order <= ex_late_left_());
}

struct ex_thread *ex_first_(const struct ex_thread *but)
{
    struct ex_thread *first = NULL;

    for (uint32_t i = 0; i < ex.able_count; i++)
        if (ex.able[i] != but && (first == NULL || ex.able[i]->now < first->now))
            first = ex.able[i];
    return first;
}

/* For a strategy that wants to know of every turn or operation. */
uint32_t ex_step_(const struct choice *c, bool slept)
{
    struct strategy *s = ex.ch.strategy;
    uint32_t pick = s->step(s, c, slept);

    if (c->n > 1)
        ex.ch.log[ex.ch.count++] = answer_make(c->kind, c->n, pick);
    if (s->enough)
        ex_leave_(END_LIMIT, "nothing new");
    return pick;
}

/* Which option happens. */
static int next_option(struct ex_thread *me)
{
    if (ex.o.sync && ex.able_count > 0)
        return ex_first_(NULL)->id;
    if (ex.o.sync)
        return (ex.turns.slept = ex.due != NEVER) ? OPTION_CLOCK : -1;
    struct choice c = {.option = option, .step = ex.steps};
    uint32_t n = c.threads = list_threads(me, &c);

    c.kind = mm.pending != 0 ? CHOICE_FLUSH : CHOICE_THREAD;
    for (uint64_t rest = mm.pending; rest != 0; rest &= rest - 1)
        option[n++] = (uint8_t)(OPTION_FLUSH + __builtin_ctzll(rest));
    if (ex.due != NEVER && (n == 0 || may_be_late())) {
        option[n++] = OPTION_CLOCK;
        c.clock = true;
    }
    if (n > 0 && ex.wants_time) {
        c.timed = timed_answer(c.threads, n);
        if (c.timed == n)
            return OPTION_CLOCK;
    }
    c.n = n;
    if (n == 0)
        return -1;
    if (ex.ch.strategy->step != NULL)
        return option[ex_step_(&c, /*slept*/ false)];
    if (n == 1)
        return option[0];
    return option[choose(&ex.ch, &c)];
}

/* Nobody can run and nothing will happen. */
static void idle(void)
{
    bool alive = false;

    for (int i = 0; i < ex.thread_count; i++)
        alive |= ex.threads[i].wait != WAIT_DEAD;
    ex.why = alive ? END_IDLE : END_DONE;
}

/* What goes on fairly keeps none. */
static bool too_many_answers(void) { return ex.ch.count > ex.answers_soft && ex.fair_from == 0; }

static const char *over_limit(void)
{
    if (ex.steps > ex.points_max)
        return "steps of one run";
    if (too_many_answers())
        return "answers of one run";
    return mm.limit;
}

static void flush(int tid)
{
    uint64_t value;
    const void *addr = mm_oldest(tid, &value);

    ex_note_(tid, VERB_flush, addr, value);
    mm_flush_one(tid);
}

const char *ex_look_(bool quiet)
{
    struct ex_thread *cur = ex.cur;

    if (ex.o.check == NULL)
        return NULL;
    ex.cur = NULL;
    const char *bad = ex.o.check(quiet);
    ex.cur = cur;
    return bad;
}

/* The next thread to run; NULL: the run is over and ex.why says why. */
static struct ex_thread *next_thread(struct ex_thread *me)
{
    for (;;) {
        while (ex.due <= ex.order)
            ex_fire_();
        const char *bad = ex.able_count == 0 ? ex_look_(/*quiet*/ true) : NULL;
        if (bad != NULL) {
            ex.why = END_THROWN;
            ex.text = bad;
            return NULL;
        }
        int o = next_option(me);
        if (o < 0) {
            idle();
            return NULL;
        }
        if (o < OPTION_FLUSH)
            return &ex.threads[o];
        if (o == OPTION_CLOCK && ex.able_count > 0 && ex.due > ex.order)
            ex.late += ex.due - ex.order;
        if (o == OPTION_CLOCK && ex.due >= ex_end_()) {
            ex.why = END_TIME;
            return NULL;
        }
        if (o == OPTION_CLOCK) {
            if (ex.does)
                ex_does_clock_(0);
            ex_fire_();
        } else
            flush(o - OPTION_FLUSH);
        if (too_many_answers()) {
            ex.why = END_LIMIT;
            ex.text = "answers of one run";
            return NULL;
        }
    }
}

/* Whether t is the running thread is a coin toss: cheaper to switch to oneself than to guess wrong.
 */
#if defined(GMPSIM_CORO_ASM) && !defined(GMPSIM_ASAN) && !defined(GMPSIM_TSAN)
#define SWITCH_TO_SELF 1
#else
#define SWITCH_TO_SELF 0
#endif

/* The running thread gives way to t. A thread never acts before the last operation happened. */
static inline void switch_to(struct ex_thread *me, struct ex_thread *t)
{
    me->now = ex_hot.now;
    ex.cur = t;
    ex_hot.salt = &t->salt;
    ex.order = ex_hot.now = t->now < ex.order ? ex.order : t->now;
    coro_switch(&me->coro, &t->coro);
}

/* The run is over. */
void ex_switch_out_(struct ex_thread *me)
{
    me->now = ex_hot.now;
    ex.cur = NULL;
    coro_switch(&me->coro, &ex.main);
}

void ex_signals_(struct ex_thread *me)
{
    while ((me->flags & EX_SIGNALLED) && !me->handling) {
        me->flags &= (uint8_t)~EX_SIGNALLED;
        me->handling = me->cut = true;
        me->signals++;
        ex_spend_(ex_cost_(COST_signal_handle));
        if (ex.o.sighandler != NULL)
            ex.o.sighandler(me->arg);
        me->handling = false;
    }
}

void ex_signals_first_(void)
{
    ex_hot.plain = ex.plain;
    if (!ex.wants_time && !ex_hot.sync)
        ex_signals_(ex.cur);
}

/* me stays: an operation happens not before the last one. */
static inline void stay(void)
{
    ex.order = ex_hot.now = ex_hot.now < ex.order ? ex.order : ex_hot.now;
}

/* ---- points ---- */

/* Answers the question of t's next point now: an even draw does not depend on what happens until
 * then, and a wrong guess of the machine's is found out early. */
static inline void deal(const struct ex_thread *t, struct answer *at)
{
    uint32_t pick = evenly_below(evenly_next(ex.evenly), ex.able_count);

    ex.at = at;
    at->word = ex.of_able_0.word + pick;
    ex.next = ex.able[t->pos + pick];
}

static bool anybody_flagged(void)
{
    uint8_t flags = 0;

    for (uint32_t i = 0; i < ex.able_count; i++)
        flags |= ex.able[i]->flags;
    return flags != 0;
}

/* t goes on, and everything that the next points have to look at is known. */
static void settle(const struct ex_thread *t)
{
    unsettle();
    if (t->flags & EX_SIGNALLED)
        ex_hot.plain = false; /* it may come back right into a verb: see ex_signals_first_ */
    ex.quiet = !ex.always_slow && ex.due == NEVER && mm.pending == 0 && !anybody_flagged();
    ex.alone = ex.quiet && ex.plain && ex.able_count == 1 && !ex.stop && ex.ch.count < ex.copy_at;
    if (!ex.quiet || ex.evenly == NULL || ex.able_count < 2 || ex.ch.count > ex.answers_soft)
        return;
    size_t room = ex.answers_soft - ex.ch.count + 1;
    uint64_t left = ex.points_max > ex.steps ? ex.points_max - ex.steps : 0;
    ex.dealt = ex.ch.log + ex.ch.count;
    ex.end = ex.dealt + (left < room ? left : room);
    deal(t, ex.dealt);
}

uint32_t ex_choose_(const struct choice *c)
{
    ex_unsettle_(); /* it uses up the draw that was dealt */
    return choose(&ex.ch, c);
}

/* The next thread when none runs, or it has ended: mostly there are only threads to choose from. */
static struct ex_thread *next_of_rest(void)
{
    const uint32_t n = ex.able_count;
    const bool usual = ex.due == NEVER && mm.pending == 0;

    if (n == 0 && usual && ex.o.check == NULL) {
        idle();
        return NULL;
    }
    if (n == 0 || !usual || ex.always_slow)
        return next_thread(NULL);
    if (n == 1)
        return ex.able[0];
    if (ex.evenly != NULL) {
        uint32_t pick = evenly_below(evenly_next(ex.evenly), n);
        ex.ch.log[ex.ch.count++].word = ex.of_able_0.word + pick;
        return ex.able[pick];
    }
    struct choice c = {
        .kind = CHOICE_THREAD, .n = n, .threads = n, .option = ex.able_id, .step = ex.steps};
    return ex.able[choose(&ex.ch, &c)];
}

static struct ex_thread *next_of_able(struct ex_thread *me)
{
    struct choice *c = &ex.of_able;

    if (ex.able_count == 1)
        return me;
    c->n = c->threads = ex.able_count;
    c->option = ex.able_id + me->pos;
    c->step = ex.steps;
    return ex.able[me->pos + choose(&ex.ch, c)];
}

/* A point with something out of the ordinary about it. */
static struct ex_thread *next_of_all(struct ex_thread *me)
{
    if (ex.fair_from != 0)
        ex_fair_point_();
    if (ex_hot.now >= ex_end_())
        ex_leave_(END_TIME, "");
    const char *bad = ex_look_(/*quiet*/ false);
    if (bad != NULL)
        ex_leave_(END_THROWN, bad);
    if (!ex.wants_time)
        ex_signals_(me);
    /* Nobody sees what a thread does from start or wake-up to its next point, but clocks move. */
    bool asks = !(me->flags & EX_CHOSEN) || ex.wants_time;
    me->now = ex_hot.now;
    struct ex_thread *t = asks ? next_thread(me) : me;
    if (t == NULL) {
        ex_switch_out_(me);
        abort(); /* nobody comes back */
    }
    if (me->flags & EX_YIELDED)
        me->yields = t == me ? (uint8_t)(me->yields + (me->yields < UINT8_MAX)) : 0;
    me->flags &= (uint8_t) ~(EX_CHOSEN | EX_YIELDED);
    settle(t);
    return t;
}

/* The run stands still here until ex_run is called again. */
static void rest(struct ex_thread *me, enum world_end why)
{
    ex.stop = false;
    ex.why = why;
    ex.resting = me;
    ex.cur = NULL;
    coro_switch(&me->coro, &ex.main);
    ex.cur = me;
}

/* Comes back if the run goes on fairly. */
static void at_limit(struct ex_thread *me, const char *limit)
{
    if (!ex.o.rests || ex_hot.sync || ex.fair_from != 0 || mm.limit != NULL)
        ex_leave_(END_LIMIT, limit);
    ex.text = limit;
    rest(me, END_LIMIT);
}

/* On the main stack the world is copied. Comes back as often as the copy is put back. Where the
 * search has no other answers left nothing of it would be used. */
static __attribute__((noinline)) void stand_still(struct ex_thread *me)
{
    if (ex.ch.strategy->spent && ex.o.memory <= MM_TSO && mm.pending == 0)
        return;
    ex.copying = true;
    coro_switch(&me->coro, &ex.main);
}

/* By turns a point is none, but for who yields to a thread that it waits for. */
static inline bool is_no_point(const struct ex_thread *me)
{
    if (!ex_hot.sync || me == NULL || (me->flags & EX_YIELDED) || ex.stop ||
        ex.steps >= ex.points_max)
        return false;
    ex.steps++;
    return true;
}

static void yield_to_others(struct ex_thread *me)
{
    if (!(me->flags & EX_YIELDED))
        return;
    me->flags = (uint8_t)(me->flags & ~EX_YIELDED);
    if (ex.able_count > 1)
        ex_switch_(me, ex_first_(me));
}

void ex_switch_(struct ex_thread *me, struct ex_thread *t) { switch_to(me, t); }

static __attribute__((noinline)) void point_slow(struct ex_thread *me)
{
    const char *limit;

    if (me == NULL)
        return; /* somebody looks at a world that has ended */
    if (ex.at != NULL)
        ex_unsettle_();
    if (ex.stop)
        rest(me, END_TIME);
    if (__builtin_expect(ex.ch.count >= ex.copy_at, 0))
        stand_still(me);
    ex.steps++;
    limit = over_limit();
    if (limit != NULL)
        at_limit(me, limit);
    if (ex_hot.sync) {
        yield_to_others(me);
        return;
    }
    if (me->flags == EX_CHOSEN && !ex.always_slow) { /* it was asked about before it went on */
        me->flags = 0;
        stay();
        settle(me);
        return;
    }
    struct ex_thread *t = ex.quiet ? next_of_able(me) : next_of_all(me);
    if (t != me)
        switch_to(me, t);
    else
        stay();
    ex_signals_(me);
}

void ex_point_(void)
{
    struct ex_thread *me = ex.cur, *t = ex.next;
    struct answer *at = ex.at;

    if (__builtin_expect(at >= ex.end, 0)) {
        if (ex.alone && ex.steps < ex.points_max) {
            ex.steps++;
            stay();
        } else if (!is_no_point(me)) {
            point_slow(me);
        }
        return;
    }
    deal(t, at + 1);
    if (t == me && !SWITCH_TO_SELF)
        stay();
    else
        switch_to(me, t); /* last: a tail call, see hot.h */
}

static void flag(struct ex_thread *me, enum ex_flags f)
{
    me->flags |= (uint8_t)f;
    ex_unsettle_();
}

bool ex_wait_(enum ex_wait how, uint64_t wake_at)
{
    struct ex_thread *me = ex.cur;

    me->wait = how;
    me->wake_at = wake_at;
    me->seq = ++ex.seq;
    me->now = ex_hot.now;
    disable(me);
    if (wake_at < ex.due)
        ex.due = wake_at;
    struct ex_thread *t = next_thread(me);
    if (t != NULL)
        settle(t);
    ex_hot.now = me->now; /* it may be awake again, and not be the next */
    if (t == NULL)
        ex_switch_out_(me);
    else if (t != me)
        switch_to(me, t);
    else
        stay();
    flag(me, EX_CHOSEN);
    return me->timed_out;
}

/* ---- threads ---- */

/* See ex_to_first_points: the next point lets go on who waits for that. A thread that stopped on
 * the way that all take returns from there as they do, right into its verb. */
static void stop_at_first(void)
{
    ex.at = ex.dealt = ex.ch.log;
    ex.end = ex.at + 1;
    ex.next = ex.to_first;
}

static void thread_main(void *arg)
{
    struct ex_thread *me = arg;

    if (ex.to_first != NULL)
        stop_at_first();
    else
        flag(me, EX_CHOSEN);
    ex_signals_(me);
    me->fn(me->arg);
    ex_thread_exit_();
}

void ex_thread_exit_(void)
{
    struct ex_thread *me = ex.cur;

    if (ex.wants_time)
        ex_point_(); /* else nothing that anybody sees */
    ex_trace_(me->id, VERB_exit, NULL, 0);
    me->wait = WAIT_DEAD; /* no fence: nobody learns from the end of a thread that it ended */
    me->wake_at = NEVER;
    disable(me);
    struct ex_thread *t = next_of_rest();
    if (t == NULL) {
        ex_switch_out_(me);
        abort(); /* nobody comes back */
    }
    settle(t);
    switch_to(me, t);
    abort(); /* a dead thread is never chosen */
}

struct ex_thread *ex_thread_new_(struct hostm *hm, void (*fn)(void *), void *arg)
{
    if (ex.thread_count == EX_THREADS_MAX) {
        if (ex.cur != NULL)
            ex_leave_(END_LIMIT, "threads of one run");
        throw_at(__FILE__, __LINE__, __func__, "explore: more than %d threads", EX_THREADS_MAX);
    }
    struct ex_thread *t = &ex.threads[ex.thread_count];
    struct coro old = t->coro;
    *t = (struct ex_thread){.coro = old, .id = ex.thread_count, .fn = fn, .arg = arg};
    t->wake_at = NEVER;
    t->p = -1;
    t->salt = fp_first((uint64_t)t->id << 8);
    (void)stackpool_start(&ex.stacks, &t->coro, thread_main, t); /* or ex_refuse_: no thread then */
    ex.thread_count++;
    enable(t);
    if (hm != NULL)
        hm->thread = t;
    return t;
}

void ex_start(struct hostm *hm, void (*fn)(void *), void *arg) { ex_thread_new_(hm, fn, arg); }

void ex_leave_(enum world_end why, const char *text)
{
    struct ex_thread *on = ex.cur != NULL ? ex.cur : ex.lender;

    ex.why = why;
    ex.text = text;
    ex.ender = ex_tid();
    ex.totals.cut += why == END_LIMIT;
    if (on == NULL)
        longjmp(ex.out, 1);
    ex_switch_out_(on);
    abort(); /* nobody comes back */
}

static struct failure refused; /* of this run */

void ex_refuse_(void *unused, const struct failure *f)
{
    (void)unused;
    refused = *f;
    if (!ex.running)
        throw_at(__FILE__, __LINE__, __func__, "explore: %s", f->text);
    ex_leave_(END_LIMIT, refused.text);
}

bool ex_refused(struct failure *f)
{
    if (refused.code != E_OK)
        fail(f, refused.code, "%s", refused.text);
    return refused.code != E_OK;
}

/* ---- runs ---- */

enum { START_POINTS = 1000000 };

bool ex_take_over_(struct strategy *s)
{
    const enum mm_kind memory = ex_memory_();
    if (!s->begin(s))
        return false;
    ex_unsettle_(); /* a draw that was dealt is the other strategy's */
    ex.ch.strategy = s;
    ex.wants_time = s->wants_time;
    ex.evenly = s->evenly;
    ex.does = s->did != NULL && !s->did_turns && !ex.o.sync && !ex.starting;
    ex.always_slow = ex.o.sync || s->wants_time || s->step != NULL || memory >= MM_ARM ||
                     ex.until != NEVER || ex.o.check != NULL || ex.tells;
    ex.plain = memory == MM_SC && ex.trace == NULL && !ex.tells && !ex.does;
    ex_hot.plain = ex.plain;
    ex_hot.sync = ex.o.sync;
    ex_hot.turns = ex.starting || ex.o.sync;
    ex_hot.race = ex.o.races && !ex.starting;
    ex_races_begin_();
    ex.copy_at = SIZE_MAX;
    ex.known = false;
    ex.ch.count = 0;
    ex.trace_count = 0;
    fail_reset(&refused);
    fail_reset(&ex.arena.failure);
    ex.why = END_DONE;
    ex.text = "";
    ex.finding_kind = 0;
    ex.ender = -1;
    ex.stop = ex.stopped = false;
    ex.resting = NULL;
    ex.points_max = ex.o.steps_max;
    if (ex.starting && ex.points_max < START_POINTS)
        ex.points_max = START_POINTS; /* a run may have less, and is at its limit at once */
    ex.fair_from = 0;
    ex.fair_over = false;
    return true;
}

bool ex_begin(struct strategy *s)
{
    ex.starting = ex.paused = ex.on_branch = false;
    if (!ex_take_over_(s))
        return false;
    mm_reset(ex_memory_(), ex.o.ctrl, &ex.ch);
    ex_world_reset_();
    return true;
}

void ex_until(uint64_t ps)
{
    ex.until = ps;
    ex.always_slow |= ps != NEVER;
}

static void go_on(struct ex_thread *t)
{
    if (t == NULL)
        return;
    ex.cur = t;
    ex_hot.salt = &t->salt;
    ex_hot.now = t->now;
    stay();
    if (ex.at_first)
        settle(t);
    coro_switch(&ex.main, &t->coro);
}

/* All that may come from here on has been in other runs. */
static void come_to_known(void)
{
    ex.cur->now = ex_hot.now;
    ex.cur = NULL;
    ex.known = ex.ch.strategy->enough = true;
    ex.why = END_LIMIT;
    ex.text = "nothing new";
}

/* On the threads, until the run is over or stands still. */
static void go_on_or_copy(struct ex_thread *first)
{
    if (ex.on_branch)
        coro_switch(&ex.main, &ex.cur->coro);
    else
        go_on(first != NULL ? first : next_of_rest());
    while (ex.copying) {
        ex.copying = false;
        if (!ex_copy_()) {
            come_to_known();
            return;
        }
        coro_switch(&ex.main, &ex.cur->coro);
    }
}

/* From where it stands, or from the start. */
static void enter(void)
{
    struct ex_thread *resting = ex.resting, *first = ex.paused ? ex.at_start : NULL;

    ex.resting = NULL;
    ex.paused = false;
    if (setjmp(ex.out) != 0)
        return;
    if (resting != NULL)
        coro_switch(&ex.main, &resting->coro);
    else
        go_on_or_copy(first);
}

static void count_run(void)
{
    ex_fair_end_();
    ex.totals.runs++;
    ex.totals.steps += ex.steps;
    ex.totals.answers += ex.ch.count;
}

enum world_end ex_run(void)
{
    ex.running = true;
    enter();
    ex_unsettle_();
    ex.running = false;
    ex.cur = NULL;
    ex_records_flush_();
    if (ex.paused || ex.resting != NULL)
        return ex.why;
    count_run();
    return ex.why;
}

void ex_end(void)
{
    if (ex_rests()) { /* nobody wanted it to go on */
        ex.resting = NULL;
        ex.totals.cut++;
        count_run();
    }
    ex.ch.strategy->halted = ex.why != END_DONE && ex.why != END_IDLE;
    ex.totals.known += ex.known;
    ex.totals.forgotten += mm.stats.forgotten;
    if (!ex.known && ex.ch.strategy->skip != NULL)
        ex_seen_one_more_();
    ex.ch.strategy->end(ex.ch.strategy, ex.why != END_LIMIT);
}

void ex_fail(const char *text)
{
    if (ex.why == END_THROWN || ex.why == END_FINDING)
        return;
    ex.why = END_FINDING;
    ex.text = text;
}
