/* SPDX-License-Identifier: BSD-3-Clause */
/* Granularity sync: the questions are whose goroutine's turn it is (model/turn.c asks them), and
 * nothing else is one. Threads go on in virtual time's order; there is one P, so all but one of
 * them only come back from system calls. */
#include "sim/base/turn.h"
#include "sim/explore/ex_int.h"
#include "sim/explore/host.h"

/* A turn takes time, or who looks at the clock in a loop would never see it move. */
enum { TURN_PS = 1000000 };

/* Somebody who does nothing but look, or goes on and on while others could, gives way: what it
 * waits for may be theirs to do. */
enum { LOOKS_MAX = 8, ALONE_MAX = 300 };

/* The runtime reads the clock a few times in a turn; when it goes on and on it waits for time to
 * pass (a fractional mark worker does, which may only work for a share of it). */
enum { CLOCKS_MAX = 100 };

/* ---- the end of the common beginning ---- */

void ex_turn_begin_(void)
{
    if (ex.starting)
        ex_pause_();
}

int64_t ex_turn_now(void) { return (int64_t)(ex_hot.now / 1000); }

/* ---- threads ---- */

/* All other threads that can run do so until they wait. */
void ex_turn_settle_(void)
{
    struct ex_thread *me = ex.cur;

    while (ex.due <= ex_hot.now)
        ex_fire_();
    while (ex.able_count > 1)
        ex_switch_(me, ex_first_(me));
}

/* ---- time ---- */

void ex_turn_clock_(void)
{
    if (++ex.turns.clocks > CLOCKS_MAX)
        ex_hot.now += TURN_PS;
}

static uint64_t next_event(const struct turn *t)
{
    uint64_t at = t->timer_at > 0 ? (uint64_t)t->timer_at * 1000 : NEVER;

    return ex.due < at ? ex.due : at;
}

/* May time jump to `at` though goroutines could go on? */
static bool may_jump(uint64_t at)
{
    return ex.o.eager_clock && !ex.starting && at != NEVER &&
           (at <= ex_hot.now || at - ex_hot.now <= ex_late_left_());
}

static void jump(uint64_t at)
{
    if (at > ex_hot.now) {
        ex.late += at - ex_hot.now;
        ex_hot.now = at;
    }
    if (ex.order < ex_hot.now)
        ex.order = ex_hot.now;
    while (ex.due <= ex_hot.now)
        ex_fire_();
}

int64_t ex_turn_call_(int64_t ns)
{
    return ex_fault_(FAULT_syscall) ? ns + ex.o.faults.ns[FAULT_syscall] : ns;
}

void ex_turn_took_(uint64_t goid, int64_t index)
{
    ex.turns.chooser = (uint32_t)goid;
    ex.turns.took = index;
}

bool ex_took(uint32_t goid, int64_t *index)
{
    *index = ex.turns.took;
    return ex.turns.chooser != 0 && ex.turns.chooser == goid;
}

/* ---- who is next ---- */

static void count_turn(const struct turn_does *d)
{
    struct ex_turns *s = &ex.turns;

    s->alone = s->goid == d->goid ? s->alone + 1 : 0;
    s->looks = s->goid == d->goid && d->reads ? s->looks + 1 : 0;
    s->goid = d->goid;
    fp_mix2(&ex_hot.fp, (uint64_t)d->goid << 32 | d->pc, d->op);
}

static bool has_to_give_way(const struct turn *t)
{
    const struct ex_turns *s = &ex.turns;

    return t->preempts && t->count > 1 && s->goid == t->goid[0] &&
           (s->looks >= LOOKS_MAX || s->alone >= ALONE_MAX);
}

static void tell(const struct turn_does *d)
{
    if (ex.o.turn != NULL && !ex.o.turn(ex.o.turn_arg, d))
        ex_leave_(END_LIMIT, "a cycle of states");
}

static void does(const struct turn *t, uint32_t index)
{
    struct turn_does d;

    t->look(t, index, &d);
    d.turn = ex.turns.count;
    count_turn(&d);
    if (ex.ch.strategy->did != NULL)
        ex.ch.strategy->did(ex.ch.strategy, &d);
    tell(&d);
}

/* Whoever goes on in the middle of something begins nothing, but it is his turn. */
static void goes_on(const struct turn *t, uint32_t index)
{
    struct turn_does d;

    t->look(t, index, &d);
    if (!d.resumes || !d.known)
        return;
    d.turn = ex.turns.count;
    ex.turns.alone = ex.turns.goid == d.goid ? ex.turns.alone + 1 : 0;
    ex.turns.goid = d.goid;
    ex.turns.looks = 0;
    tell(&d);
}

void ex_turn_does_(const struct turn *t) { does(t, 0); }

/* The runtime's rules hold between two turns too. */
static void check(void)
{
    const char *bad = ex_look_(/*quiet*/ false);
    if (bad != NULL)
        ex_leave_(END_THROWN, bad);
}

static void one_more(void)
{
    ex_hot.now += TURN_PS;
    ex.turns.count++;
    ex.turns.clocks = 0;
    check();
    if (ex.turns.count > ex.o.turns_max)
        ex_leave_(END_LIMIT, "turns of one run");
    if (ex_hot.now >= ex_end_())
        ex_leave_(END_TIME, "");
    if (ex.ch.count > ex.answers_soft)
        ex_leave_(END_LIMIT, "answers of one run");
}

static uint32_t step(const struct choice *c)
{
    bool slept = ex.turns.slept;

    ex.turns.slept = false;
    return ex_step_(c, slept);
}

/* The answer to a question with at least one option. */
static uint32_t answer(const struct turn *t, uint32_t first, bool clock)
{
    struct choice c = {.kind = CHOICE_TURN,
                       .n = t->count - first + clock,
                       .threads = t->count - first,
                       .preempts = t->preempts && first == 0,
                       .clock = clock,
                       .turn = t,
                       .first = first,
                       .step = ex.turns.count};

    if (ex.ch.strategy->step != NULL)
        return first + step(&c);
    return first + (c.n > 1 ? ex_choose_(&c) : 0);
}

int32_t ex_turn_ask_(const struct turn *t)
{
    uint64_t at = next_event(t);
    uint32_t first = has_to_give_way(t) ? 1 : 0;

    if (ex.starting)
        return 0;
    one_more();
    uint32_t pick = answer(t, first, may_jump(at));
    if (pick == t->count) {
        jump(at);
        return TURN_CLOCK;
    }
    if (t->preempts && pick == 0)
        does(t, 0);
    else
        goes_on(t, pick);
    return (int32_t)pick;
}
