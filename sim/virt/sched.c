/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who goes next. The order of everything that threads do to each other is that of (clock, rank); at
 * one instant, what the host itself does (events, in the order in which they were scheduled) comes
 * before what threads do.
 *
 * The fast path (hot.h) lets a thread pass points below the horizon. vm_yield_ is the rest: almost
 * always one replace in the ready tree and one coroutine switch. Events, blocking and the ends of a
 * run go through vm_dispatch_, which runs on the stack of whoever called it, or on main's.
 */
#include "sim/virt/ready.h"

#include <assert.h>
#include <setjmp.h>

/* Where vm_run waits; not part of the world, so not saved with it. */
static jmp_buf main_jump;

struct vm_hot vm_hot;
struct vm_world vm_w_;
struct event_log vm_log_;
void (*vm_heard_)(void);
struct vm_front vm_nobody_ = {.who = (uint32_t)EVENT_NO_P << 16 | EVENT_NO_M};

/* ---- cache lines ---- */

void vm_check_line_(const volatile void *p)
{
    if ((uintptr_t)p - (uintptr_t)vm_w_.arena.base >= vm_w_.arena.top)
        throw("an ATOMIC outside of the world's arena");
}

void vm_read_miss_(const volatile void *p, enum cost_atomic kind)
{
    vm_hot.now += vm_hot.atomic[kind].miss;
    *vm_line_(p) |= vm_hot.bit;
}

void vm_write_miss_(const volatile void *p, enum cost_atomic kind)
{
    vm_hot.now += vm_hot.atomic[kind].miss;
    *vm_line_(p) = vm_hot.bit;
}

/* ---- records ---- */

/* Whoever records later than now is the running thread, one with a CPU, or an event. */
uint64_t vm_settled_(void)
{
    uint64_t at = vm_ready_time_(vm_ready_top_());
    uint64_t now = vm_chooser_ && !vm_chooser_->strategy->wants_time ? vm_w_.now : vm_hot.now;

    if (vm_w_.next_ev < at)
        at = vm_w_.next_ev;
    return now < at ? now : at;
}

/* ---- from thread to thread ---- */

static inline void enter(struct vm_thread *t, uint64_t clock)
{
    vm_hot.front = &t->f;
    vm_hot.arg = t->f.arg;
    vm_hot.now = clock;
    vm_hot.bit = t->f.bit;
}

static void enter_nobody(uint64_t now)
{
    vm_hot.front = &vm_nobody_;
    vm_hot.arg = NULL;
    vm_hot.now = now;
    vm_hot.bit = 0;
}

/* The first time at which `key` is due, plus one if the current thread wins the tie. */
static inline uint64_t horizon_of(uint64_t key, uint64_t rank)
{
    return (key >> VM_RANK_BITS) + vm_w_.ready.epoch + (rank < (key & VM_RANK_MASK));
}

static inline void set_horizon(uint64_t key, uint64_t rank)
{
    uint64_t h = horizon_of(key, rank);

    vm_hot.horizon = h < vm_w_.next_ev ? h : vm_w_.next_ev;
}

static void set_horizon_slowly(const struct vm_thread *t)
{
    if (vm_chooser_)
        vm_hot.horizon = 0; /* every point asks */
    else if (vm_ready_top_() == VM_NEVER)
        vm_hot.horizon = vm_w_.next_ev;
    else
        set_horizon(vm_ready_top_(), t->f.rank);
}

/* Somebody became due while another thread runs. */
void vm_lower_horizon_(const struct vm_thread *t)
{
    uint64_t rank = vm_hot.front->rank;
    uint64_t h = horizon_of(vm_ready_key_(t->clock, t->f.rank), rank);

    if (h < vm_hot.horizon)
        vm_hot.horizon = h;
}

/* ---- events ---- */

static void event_pushed(uint64_t time)
{
    if (time < vm_w_.next_ev)
        vm_w_.next_ev = time;
    if (time < vm_hot.horizon)
        vm_hot.horizon = time;
}

uint32_t vm_event_(uint64_t time, enum vm_event kind, uint64_t arg)
{
    uint32_t handle = eventq_push(&vm_w_.queue, time, vm_w_.seq++, (uint64_t)kind << 56 | arg);

    event_pushed(time);
    vm_w_.bookkeeping += kind >= VE_BOOKKEEPING;
    return handle;
}

void vm_event_cancel_(enum vm_event kind, uint32_t *handle)
{
    if (*handle == 0)
        return;
    eventq_cancel(&vm_w_.queue, *handle);
    *handle = 0;
    vm_w_.bookkeeping -= kind >= VE_BOOKKEEPING;
    vm_w_.next_ev = eventq_next_time(&vm_w_.queue);
}

static void thread_event(enum vm_event kind, uint32_t id, uint64_t at)
{
    struct vm_thread *t = vm_thread_by_id_(id);

    if (kind == VE_SIGNAL) {
        if (t)
            vm_signal_arrives_(t, at);
        return;
    }
    assert(t);
    t->event = 0;
    if (kind == VE_RUN)
        vm_ready_add_(t);
    else if (kind == VE_BURST)
        vm_burst_over_(t, at);
    else
        vm_timed_out_(t, at);
}

static void run_event(const struct event *e)
{
    enum vm_event kind = (enum vm_event)(e->payload >> 56);
    uint64_t arg = e->payload & ((UINT64_C(1) << 56) - 1);

    vm_w_.bookkeeping -= kind >= VE_BOOKKEEPING;
    switch (kind) {
    case VE_BURST:
    case VE_TIMEOUT:
    case VE_RUN:
    case VE_SIGNAL: thread_event(kind, (uint32_t)arg, e->time); break;
    case VE_ENV: vm_env_call_(arg); break;
    case VE_PREEMPT: vm_cpu_preempt_((uint32_t)arg, e->time); break;
    case VE_SLICE: vm_cpu_slice_((uint32_t)arg, e->time); break;
    case VE_QUOTA: vm_quota_out_((uint32_t)arg, e->time); break;
    case VE_PERIOD: vm_quota_period_(e->time); break;
    case VE_SLACK: vm_quota_slack_(e->time); break;
    case VE_UNTIL:
        vm_w_.until_event = 0;
        vm_end_(END_TIME);
        break;
    }
}

static void next_event(void)
{
    struct event e;

    eventq_pop(&vm_w_.queue, &e);
    vm_w_.next_ev = eventq_next_time(&vm_w_.queue);
    vm_w_.events++;
    vm_w_.now = e.time;
    enter_nobody(e.time);
    run_event(&e);
}

/* ---- the ends of a run ---- */

/* The first reason counts. Takes effect when control comes back to vm_dispatch_. */
void vm_end_(enum world_end why)
{
    if (vm_w_.over)
        return;
    vm_w_.over = true;
    vm_w_.why = why;
}

/* From any stack; the caller's is lost. */
_Noreturn void vm_leave_world_(enum world_end why)
{
    struct vm_thread *self = vm_cur_() ? vm_cur_() : vm_w_.at;

    vm_end_(why);
    if (vm_cur_()) {
        vm_cur_()->clock = vm_hot.now;
        vm_w_.now = vm_hot.now;
    }
    if (self == NULL) /* an environment callback on main's stack */
        longjmp(main_jump, 1);
    coro_switch(&self->coro, &vm_w_.main);
    __builtin_unreachable();
}

/* ---- choosing ---- */

/* Is self, on whose stack we are, waiting for nothing but its turn? (In the tree it may be too: see
 * first_by_time.) */
static bool standing(const struct vm_thread *self, bool runnable)
{
    return runnable && self->state == VM_RUNNING && self->leaf == VM_NO_LEAF && self->event == 0;
}

/* Nobody can use the time that is left: only ends of slices, periods and of this run are due. */
static bool idle_for_ever(void)
{
    return eventq_count(&vm_w_.queue) <= vm_w_.bookkeeping && vm_w_.waiting == 0 &&
           vm_w_.bw.throttled_head == VM_NO_CPU;
}

/* The key of a thread that stands in vm_dispatch_; VM_NEVER when its clock is out of the tree's
 * range. */
static uint64_t standing_key(struct vm_thread *self)
{
    if (self->clock - vm_w_.ready.epoch >= VM_READY_SPAN / 2)
        vm_ready_rebase_();
    if (self->clock - vm_w_.ready.epoch < VM_READY_SPAN)
        return vm_ready_key_(self->clock, self->f.rank);
    vm_ready_add_(self);
    return VM_NEVER;
}

/* Who is first by (clock, rank); lets the events before that happen. NULL: this vm_run is over. */
static struct vm_thread *first_by_time(struct vm_thread *self, bool runnable)
{
    while (!vm_w_.over) {
        uint64_t mine = standing(self, runnable) ? standing_key(self) : VM_NEVER;
        uint64_t top = vm_ready_top_(), first = mine < top ? mine : top;

        if (vm_w_.next_ev > vm_ready_time_(first)) {
            if (vm_chooser_)
                return vm_choose_tie_(mine != VM_NEVER ? self : NULL, vm_ready_time_(first));
            return mine < top ? self : vm_ready_thread_(top);
        }
        if (first == VM_NEVER && idle_for_ever())
            vm_end_(END_IDLE);
        else
            next_event();
    }
    return NULL;
}

/* With a chooser all threads have one time, and the next to run is whoever is chosen. */
static struct vm_thread *first_by_choice(struct vm_thread *self, bool runnable)
{
    while (!vm_w_.over) {
        bool stands = standing(self, runnable);
        struct vm_thread *t;

        if (stands && self->clock > vm_w_.now)
            vm_w_.now = self->clock;
        if (!stands && vm_w_.ready.count == 0 && idle_for_ever()) {
            vm_end_(END_IDLE);
            break;
        }
        if (vm_w_.next_ev <= vm_w_.now || (!stands && vm_w_.ready.count == 0)) {
            next_event();
            continue;
        }
        t = vm_choose_thread_(stands ? self : NULL);
        if (t->clock < vm_w_.now)
            t->clock = vm_w_.now;
        return t;
    }
    return NULL;
}

/*
 * Runs somebody else until it is self's turn again. Called on self's stack (NULL: main's) after
 * vm_leave_(). `runnable`: self has a CPU and wants to go on; otherwise it is where a later event
 * or thread will find it, or dead.
 */
void vm_dispatch_(struct vm_thread *self, bool runnable)
{
    struct vm_thread *next;

    vm_w_.at = self;
    next = vm_chooser_ && !vm_chooser_->strategy->wants_time ? first_by_choice(self, runnable)
                                                             : first_by_time(self, runnable);
    if (next != self && standing(self, runnable))
        vm_ready_add_(self);
    if (next == NULL) {
        enter_nobody(vm_w_.now);
    } else {
        if (next->leaf != VM_NO_LEAF)
            vm_ready_remove_(next);
        enter(next, next->clock);
        vm_w_.now = vm_hot.now;
        set_horizon_slowly(next);
    }
    if (next == self)
        return;
    if (next)
        next->switches++;
    coro_switch(self ? &self->coro : &vm_w_.main, next ? &next->coro : &vm_w_.main);
}

static void __attribute__((noinline)) yield_slowly(struct vm_thread *me)
{
    me->clock = vm_hot.now;
    vm_dispatch_(me, true);
}

void vm_yield_(void)
{
    struct vm_thread *me = (struct vm_thread *)(void *)vm_hot.front;
    uint64_t top = vm_ready_top_(), mine = vm_ready_key_(vm_hot.now, me->f.rank);

    /* The usual case: another thread is due, no event is, and the keys have room. */
    if (VM_LIKELY(vm_hot.now < vm_w_.next_ev && vm_hot.now - vm_w_.ready.epoch < VM_READY_SPAN &&
                  top < mine && vm_hot.horizon)) {
        struct vm_thread *next = vm_ready_thread_(top);

        me->leaf = next->leaf;
        next->leaf = VM_NO_LEAF;
        me->clock = vm_hot.now;
        set_horizon(vm_ready_set_(me->leaf, mine), next->f.rank);
        enter(next, vm_ready_time_(top));
        next->switches++;
        coro_switch(&me->coro, &next->coro);
    } else {
        yield_slowly(me);
    }
    if (__builtin_expect(me->pending, 0))
        vm_signals_(me);
}

/* The handler runs on its thread between two points, with further signals blocked, as on a real
 * thread. */
void vm_signals_(struct vm_thread *t)
{
    while (t->pending && !t->handling) {
        t->pending = false;
        t->handling = true;
        t->cut = true;
        t->signals++;
        vm_hot.now += vm_hot.kind[COST_signal_handle];
        if (vm_w_.opts.sighandler)
            vm_w_.opts.sighandler(t->f.arg);
        t->handling = false;
    }
}

/* ---- outside ---- */

enum world_end vm_run(uint64_t until_ps)
{
    struct vm_world *w = &vm_w_;

    assert(w->exists && !w->running);
    if (w->over && w->why != END_TIME && w->why != END_IDLE)
        return w->why;
    if (until_ps > VM_TIME_MAX_PS)
        until_ps = VM_TIME_MAX_PS;
    if (until_ps <= w->now && w->now > 0)
        return END_TIME;
    w->over = false;
    w->until_event = vm_event_(until_ps, VE_UNTIL, 0);
    w->running = true;
    if (setjmp(main_jump) == 0)
        vm_dispatch_(NULL, false);
    w->running = false;
    enter_nobody(w->now);
    if (w->why == END_TIME)
        event_log_flush(&vm_log_);
    else if (w->why == END_IDLE)
        event_log_end(&vm_log_, VM_TIME_MAX_PS);
    else
        event_log_end(&vm_log_, w->now);
    vm_event_cancel_(VE_UNTIL, &w->until_event);
    return w->why;
}
