/* SPDX-License-Identifier: BSD-3-Clause */
/* A run that has come to its limit goes on as virtual time does: the thread whose clock is behind
 * goes on, and what a thread waits for comes when it is due. Nothing is asked and nothing kept of
 * it; so the same answers lead to the same end. */
#include "sim/explore/ex_int.h"

/* Of a fair part: more, and it is cut like any other run. */
enum { FAIR_POINTS_MAX = 20000000 };
/* For people the beginning of it is enough. */
enum { FAIR_EVENTS = 60 };

bool ex_rests(void) { return ex.resting != NULL && ex.why == END_LIMIT; }

void ex_go_fairly(const struct ex_fair *how)
{
    ex_unsettle_();
    ex.fair = *how;
    ex.fair.until_ps += ex.order;
    ex.fair_from = ex.steps - 1; /* this one is still to be performed */
    ex.fair_answers = ex.ch.count;
    ex.asked = ex.ch.strategy;
    ex.ch.strategy = strategy_time();
    ex.wants_time = ex.always_slow = true;
    ex.evenly = NULL;
    ex.does = false;
    ex.until = NEVER; /* points take longer now */
    ex.copy_at = SIZE_MAX;
    ex.points_max = ex.steps + FAIR_POINTS_MAX;
    ex.text = "";
    if (ex.trace_max > ex.trace_count + FAIR_EVENTS)
        ex.trace_max = ex.trace_count + FAIR_EVENTS;
}

void ex_fair_until(uint64_t ps) { ex.fair.until_ps = ex.order + ps; }
uint64_t ex_fair_from(void) { return ex.fair_from; }
bool ex_fair_over(void) { return ex.fair_over; }
void ex_steps_max(uint64_t steps) { ex.o.steps_max = steps; }

void ex_fair_point_(void)
{
    ex.ch.count = ex.fair_answers;
    ex_hot.now += ex.fair.point_ps;
    if (ex.order < ex.fair.until_ps)
        return;
    ex.fair_over = true;
    ex_leave_(END_LIMIT, "time of a fair schedule");
}

void ex_fair_end_(void)
{
    if (ex.fair_from == 0)
        return;
    ex.ch.strategy = ex.asked;
    ex.ch.count = ex.fair_answers;
}

void ex_gets_on_(void)
{
    if (ex.cur != NULL && ex.cur->p >= 0 && !ex.fair.gets_on(ex.fair.arg, ex.cur->p))
        ex_leave_(END_LIMIT, "everybody gets on");
}

int32_t ex_computes_on(int tid)
{
    const struct ex_thread *t = &ex.threads[tid];
    return t->wait == WAIT_BURST || t->wait == WAIT_SYSCALL ? t->p : -1;
}
