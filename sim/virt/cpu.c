/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPUs of the host and the fair scheduler that shares them, after Linux' CFS: virtual run time per
 * thread (all of equal weight), the smallest first; slices of latency / runnable threads but not
 * below the granularity; a woken thread is put at most half a latency behind the others, and
 * preempts who is ahead of it by more than the wake-up granularity. Different from Linux: one queue
 * for all CPUs in place of one each with balancing between them, that is, perfect balance. A woken
 * thread takes its last CPU if that is idle, else the idle one with the lowest number, else it
 * waits. First come, first served (sched.fifo) is without slices and preemption: the virtual run
 * time is when a thread came.
 *
 * Also used for dedicated CPUs under a quota: then CPU i belongs to the thread in slot i and nobody
 * ever waits for one.
 */
#include "sim/virt/vm_int.h"

#include <assert.h>
#include <string.h>

/* ---- the queue of waiting threads: a binary heap by (vruntime, rank) ---- */

static bool before(const struct vm_thread *a, const struct vm_thread *b)
{
    return a->vruntime < b->vruntime || (a->vruntime == b->vruntime && a->f.rank < b->f.rank);
}

static void wait_push(struct vm_thread *t)
{
    struct vm_thread **h = vm_w_.wait;
    uint32_t i = vm_w_.waiting++;

    for (; i > 0 && before(t, h[(i - 1) / 2]); i = (i - 1) / 2)
        h[i] = h[(i - 1) / 2];
    h[i] = t;
}

static struct vm_thread *wait_pop(void)
{
    struct vm_thread **h = vm_w_.wait, *first = h[0], *t;
    uint32_t n = --vm_w_.waiting, i = 0, child;

    t = h[n];
    for (; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(h[child + 1], h[child]))
            child++;
        if (!before(h[child], t))
            break;
        h[i] = h[child];
    }
    h[i] = t;
    return first;
}

/* ---- arithmetic of fairness ---- */

uint64_t vm_tick_up_(uint64_t at)
{
    uint64_t tick = vm_w_.tick;

    return tick > 1 ? (at + tick - 1) / tick * tick : at;
}

/* With `more` threads that are not counted yet. */
static uint64_t slice(uint32_t more)
{
    const struct vm_world *w = &vm_w_;
    uint64_t per_cpu = (w->busy + w->waiting + more + w->cpus - 1) / w->cpus;
    uint64_t share = per_cpu ? w->latency / per_cpu : w->latency;

    return share < w->granularity ? w->granularity : share;
}

static uint64_t vruntime_at(const struct vm_thread *t, uint64_t at)
{
    return t->vruntime + (at > t->exec_start ? at - t->exec_start : 0);
}

static void update_min_vruntime(uint64_t at)
{
    struct vm_world *w = &vm_w_;
    uint64_t least = w->waiting ? w->wait[0]->vruntime : VM_NEVER;

    for (uint32_t i = 0; i < w->cpus; i++)
        if (w->cpu[i].curr && !w->cpu[i].throttled && vruntime_at(w->cpu[i].curr, at) < least)
            least = vruntime_at(w->cpu[i].curr, at);
    if (least != VM_NEVER && least > w->min_vruntime)
        w->min_vruntime = least;
}

/* Sleeping earns half a latency at most; being born costs a slice. */
static void place_vruntime(struct vm_thread *t, uint64_t at, bool is_new)
{
    uint64_t credit = vm_w_.latency / 2, least;

    if (vm_w_.dedicated)
        return;
    if (vm_w_.opts.sched.fifo) {
        t->vruntime = at;
        return;
    }
    update_min_vruntime(at);
    least = vm_w_.min_vruntime;
    if (is_new)
        least += slice(1);
    else
        least -= least < credit ? least : credit;
    if (t->vruntime < least)
        t->vruntime = least;
}

void vm_cpu_charge_(struct vm_thread *t, uint64_t at)
{
    if (at > t->exec_start) {
        t->cpu_ps += at - t->exec_start;
        t->vruntime += at - t->exec_start;
        t->exec_start = at;
    }
    if (vm_w_.bw.on)
        vm_quota_charge_(t->cpu, at);
}

/* ---- giving and taking ---- */

/* Whom the next record is about, and when: record_of says so, then an ev_...() makes the record. */
static struct {
    uint64_t at;
    uint32_t who;
} record;

static void record_of(const struct vm_thread *t, uint64_t at)
{
    record.at = at;
    record.who = t->f.who;
}

static void put_record(enum event_type type, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    event_emit(&vm_log_, type, record.at, record.who, g, a, b, c);
    if (vm_heard_ != NULL)
        vm_heard_();
}

#define emit(type, g, a, b, c) put_record(type, g, a, b, c)
#include "sim/base/emit.h"

void vm_record_throttled_(const struct vm_thread *t, uint64_t at, uint64_t period)
{
    record_of(t, at);
    ev_throttle_on(period, (uint16_t)t->cpu);
}

void vm_record_unthrottled_(const struct vm_thread *t, uint64_t at, uint64_t ps)
{
    record_of(t, at);
    ev_throttle_off(ps / 1000, (uint16_t)t->cpu);
}

void vm_record_late_(const struct vm_thread *t, uint64_t at, uint64_t since, uint32_t fd)
{
    record_of(t, at);
    ev_netpoll_late((int64_t)(since / 1000), (int32_t)fd);
}

static void record_off(const struct vm_thread *t, uint64_t at, enum ev_off why)
{
    record_of(t, at);
    ev_host_off_cpu((at - vm_w_.cpu[t->cpu].slice_start) / 1000, why, (uint16_t)t->cpu);
}

static void set_idle(uint32_t cpu, bool idle)
{
    uint64_t bit = UINT64_C(1) << (cpu & 63);

    if (idle)
        vm_w_.idle[cpu / 64] |= bit;
    else
        vm_w_.idle[cpu / 64] &= ~bit;
}

static void arm_slice(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];
    uint64_t due;

    if (c->slice_armed || c->curr == NULL || c->throttled || vm_w_.opts.sched.fifo)
        return;
    due = c->slice_start + slice(0);
    vm_event_(vm_tick_up_(due > at ? due : at), VE_SLICE, cpu);
    c->slice_armed = true;
}

/* CPU `cpu`, which has nobody, runs t from `at` on. */
void vm_cpu_run_(uint32_t cpu, struct vm_thread *t, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];
    bool waited = t->state == VM_WAITING;

    if (at < c->idle_since)
        at = c->idle_since;
    if (t->cpu != cpu && t->cpu != VM_NO_CPU) {
        t->migrations++;
        at += vm_hot.kind[COST_migration];
    }
    t->cpu = cpu;
    t->f.bit = UINT64_C(1) << (cpu & 63);
    t->clock = at;
    t->exec_start = at;
    c->curr = t;
    c->slice_start = at;
    if (vm_w_.bw.on && !vm_quota_begin_(cpu, at)) {
        t->state = VM_THROTTLED;
        t->wait_since = at;
        return;
    }
    record_of(t, at);
    ev_host_on_cpu(waited ? (at - t->wait_since) / 1000 : 0, (uint16_t)cpu);
    if (vm_w_.waiting)
        arm_slice(cpu, at);
    vm_continue_(t, at);
}

static void become_busy(uint32_t cpu)
{
    set_idle(cpu, false);
    vm_w_.busy++;
}

static void begin_waiting(struct vm_thread *t, uint64_t at)
{
    t->state = VM_WAITING;
    t->clock = at;
    t->wait_since = at;
    record_of(t, at);
    ev_host_wait();
    wait_push(t);
    if (vm_w_.waiting == 1)
        for (uint32_t i = 0; i < vm_w_.cpus; i++)
            arm_slice(i, at);
}

/* The CPU has just lost its thread; the context switch to the next one takes its time. */
static void run_next(uint32_t cpu, struct vm_thread *t, uint64_t at)
{
    if (at < t->clock)
        at = t->clock;
    t->wait_ps += at - t->wait_since;
    vm_cpu_run_(cpu, t, at + vm_hot.kind[COST_context_switch]);
}

void vm_cpu_leave_(struct vm_thread *t, uint64_t at)
{
    uint32_t cpu = t->cpu;
    struct vm_cpu *c = &vm_w_.cpu[cpu];

    assert(c->curr == t);
    record_off(t, at, EV_off_sleeps);
    vm_cpu_charge_(t, at);
    c->curr = NULL;
    c->idle_since = at;
    if (vm_w_.waiting) {
        run_next(cpu, wait_pop(), at);
        return;
    }
    vm_w_.busy--;
    set_idle(cpu, true);
    if (vm_w_.bw.on)
        vm_quota_idle_(cpu, at);
}

/* Takes the CPU away from whom it runs; at: when it is free. */
static struct vm_thread *take(uint32_t cpu, uint64_t *at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];
    struct vm_thread *t = c->curr;

    *at = vm_interrupt_(t, *at);
    record_off(t, *at, EV_off_taken);
    vm_cpu_charge_(t, *at);
    t->preemptions++;
    c->curr = NULL;
    c->idle_since = *at;
    return t;
}

/* The first of those who wait takes the place of whom the CPU runs, even if that one has not run
 * for longer. */
static void preempt(uint32_t cpu, uint64_t at)
{
    struct vm_thread *t = take(cpu, &at), *next = wait_pop();

    begin_waiting(t, at);
    run_next(cpu, next, at);
}

/* ---- a thread wants a CPU ---- */

static uint32_t idle_cpu(const struct vm_thread *t)
{
    const struct vm_world *w = &vm_w_;

    if (w->dedicated)
        return t->slot;
    if (t->cpu != VM_NO_CPU && w->idle[t->cpu / 64] >> (t->cpu & 63) & 1)
        return t->cpu;
    for (uint32_t i = 0; i * 64 < w->cpus; i++)
        if (w->idle[i])
            return i * 64 + (uint32_t)__builtin_ctzll(w->idle[i]);
    return VM_NO_CPU;
}

uint64_t vm_cpu_idle_since_(const struct vm_thread *t)
{
    uint32_t cpu = idle_cpu(t);

    return cpu != VM_NO_CPU ? vm_w_.cpu[cpu].idle_since : VM_NEVER;
}

/* It has a thread that runs, and is not in the middle of a switch. */
static bool can_be_taken(const struct vm_cpu *c, uint64_t at)
{
    return c->curr != NULL && !c->throttled && c->slice_start < at;
}

/* The CPU whose thread has had the most, VM_NO_CPU if none can be taken. */
static uint32_t most_served(uint64_t at)
{
    uint32_t best = VM_NO_CPU;
    uint64_t most = 0;

    for (uint32_t i = 0; i < vm_w_.cpus; i++) {
        const struct vm_cpu *c = &vm_w_.cpu[i];

        if (can_be_taken(c, at) && (best == VM_NO_CPU || vruntime_at(c->curr, at) > most)) {
            best = i;
            most = vruntime_at(c->curr, at);
        }
    }
    return best;
}

static bool deserves(const struct vm_thread *t, uint32_t cpu, uint64_t at)
{
    return !vm_w_.opts.sched.fifo &&
           vruntime_at(vm_w_.cpu[cpu].curr, at) > t->vruntime + vm_w_.wakeup;
}

void vm_cpu_place_(struct vm_thread *t, uint64_t at, bool is_new)
{
    uint32_t cpu;

    place_vruntime(t, at, is_new);
    cpu = idle_cpu(t);
    if (cpu != VM_NO_CPU) {
        become_busy(cpu);
        vm_cpu_run_(cpu, t, t->clock);
        return;
    }
    begin_waiting(t, at);
    cpu = most_served(at);
    if (!is_new && cpu != VM_NO_CPU && deserves(t, cpu, at))
        vm_event_(at, VE_PREEMPT, cpu);
}

void vm_cpu_preempt_(uint32_t cpu, uint64_t at)
{
    const struct vm_cpu *c = &vm_w_.cpu[cpu];

    if (can_be_taken(c, at) && vm_w_.waiting && deserves(vm_w_.wait[0], cpu, at))
        preempt(cpu, at);
}

void vm_cpu_slice_(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];

    c->slice_armed = false;
    if (c->curr == NULL || c->throttled || vm_w_.waiting == 0)
        return; /* whoever comes next arms it again */
    if (vm_tick_up_(c->slice_start + slice(0)) <= at) {
        if (vm_w_.wait[0]->vruntime <= vruntime_at(c->curr, at)) {
            preempt(cpu, at);
            return;
        }
        c->slice_start = at;
    }
    arm_slice(cpu, at + 1);
}

/* sched_yield: behind one other, whatever the virtual run times. */
void vm_cpu_yield_(void)
{
    struct vm_thread *t = vm_cur_();

    t->clock = vm_hot.now;
    preempt(t->cpu, vm_hot.now);
    vm_dispatch_(t, /*runnable*/ false);
}

/* ---- set up ---- */

void vm_cpu_add_(uint32_t slot)
{
    struct vm_world *w = &vm_w_;
    uint32_t room = w->cpus_room ? 2 * w->cpus_room : 64;
    struct vm_cpu *cpu;
    uint64_t *idle;

    if (slot >= w->cpus_room) {
        cpu = arena_array(&w->arena, struct vm_cpu, room);
        idle = arena_array(&w->arena, uint64_t, room / 64);
        if (w->cpus_room) {
            memcpy(cpu, w->cpu, w->cpus_room * sizeof *cpu);
            memcpy(idle, w->idle, w->cpus_room / 64 * sizeof *idle);
        }
        w->cpu = cpu;
        w->idle = idle;
        w->cpus_room = room;
    }
    w->cpu[slot] = (struct vm_cpu){.quota_at = VM_NEVER, .throttled_next = VM_NO_CPU};
    set_idle(slot, true);
    w->cpus = slot + 1;
}

static uint64_t or_default(int64_t ns, int64_t otherwise)
{
    return (uint64_t)(ns ? ns : otherwise) * 1000;
}

void vm_cpus_init_(void)
{
    struct vm_world *w = &vm_w_;
    const struct vm_sched_opts *o = &w->opts.sched;
    uint64_t factor = 1;
    uint32_t cpus = (uint32_t)w->opts.cpus;

    w->dedicated = cpus == 0;
    w->cpus_on = !w->dedicated || w->opts.quota_us > 0 || w->opts.nquota_changes > 0;
    if (o->scale_by_cpus)
        for (uint32_t n = cpus < 8 ? cpus : 8; n > 1; n /= 2)
            factor++;
    w->latency = or_default(o->latency_ns, 6000000) * factor;
    w->granularity = or_default(o->granularity_ns, 750000) * factor;
    w->wakeup = or_default(o->wakeup_ns, 1000000) * factor;
    w->tick = or_default(o->tick_ns, 0);
    if (w->dedicated)
        return;
    for (uint32_t i = 0; i < cpus; i++)
        vm_cpu_add_(i);
    w->wait = arena_array(&w->arena, struct vm_thread *, w->opts.threads_max);
}
