/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPU bandwidth control as in Linux' kernel/sched/fair.c (cpu.max of a cgroup): a pool that is
 * filled to `quota` at the end of every period, from which a CPU takes a slice (5 ms) at a time. A
 * CPU that finds the pool empty is throttled until the next refill, which pays its debt and one
 * nanosecond more, so that it asks for a slice at once. A CPU that goes idle gives back all but 1
 * ms; what comes back is handed to throttled CPUs 5 ms later. The period timer stops after a period
 * without use.
 *
 * nr_periods counts periods with the timer on, nr_throttled those that end with somebody throttled,
 * throttled_ps adds up the time of every throttled CPU: four CPUs throttled for 50 ms are 200 ms,
 * as in cpu.stat.
 *
 * A new quota (a write of cpu.max) fills the pool, takes from every CPU what it has or owes, and
 * lets throttled ones run; the period under way ends when it would have.
 */
#include "sim/virt/vm_int.h"

#include <assert.h>

#include "sim/virt/host.h"

#define NS 1000
#define MS (UINT64_C(1000000) * NS)
/* Linux: min_cfs_rq_runtime, min_bandwidth_expiration, cfs_bandwidth_slack_period. */
#define KEEP_PS                (1 * MS)
#define NO_SLACK_BEFORE_REFILL (2 * MS)
#define SLACK_DELAY            (5 * MS)

static struct vm_bandwidth *const b = &vm_w_.bw;

static void start_period(uint64_t at)
{
    if (b->active)
        return;
    b->active = true;
    b->period_end = (at / b->period + 1) * b->period;
    vm_event_(b->period_end, VE_PERIOD, 0);
}

/* Fills the CPU's runtime up to `target` as far as the pool goes; true if it may run. */
static bool assign(struct vm_cpu *c, uint64_t target, uint64_t at)
{
    uint64_t want = (uint64_t)((int64_t)target - c->runtime), amount;

    start_period(at);
    amount = b->runtime < want ? b->runtime : want;
    if (amount) {
        b->runtime -= amount;
        b->idle = false;
    }
    c->runtime += (int64_t)amount;
    return c->runtime > 0;
}

static void arm(uint32_t cpu)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];
    uint64_t due = vm_tick_up_(c->charged + (uint64_t)c->runtime);

    if (c->quota_at <= due)
        return; /* comes early enough and looks again */
    vm_event_cancel_(VE_QUOTA, &c->quota_event);
    c->quota_at = due;
    c->quota_event = vm_event_(due, VE_QUOTA, cpu);
}

static void throttle(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];

    c->throttled = true;
    c->throttled_at = at;
    c->throttled_next = VM_NO_CPU;
    if (b->throttled_head == VM_NO_CPU)
        b->throttled_head = cpu;
    else
        vm_w_.cpu[b->throttled_tail].throttled_next = cpu;
    b->throttled_tail = cpu;
    vm_record_throttled_(c->curr, at, at / b->period);
}

bool vm_quota_begin_(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];

    c->charged = at;
    start_period(at);
    if (c->runtime <= 0 && !assign(c, b->slice, at)) {
        throttle(cpu, at);
        return false;
    }
    arm(cpu);
    return true;
}

void vm_quota_charge_(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];

    if (at <= c->charged)
        return;
    c->runtime -= (int64_t)(at - c->charged);
    c->charged = at;
}

void vm_quota_out_(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];
    struct vm_thread *t = c->curr;

    c->quota_event = 0;
    c->quota_at = VM_NEVER;
    if (t == NULL || c->throttled)
        return;
    vm_quota_charge_(cpu, at);
    if (c->runtime > 0 || assign(c, b->slice, at)) {
        arm(cpu);
        return;
    }
    at = vm_interrupt_(t, at);
    vm_cpu_charge_(t, at);
    t->clock = at;
    t->state = VM_THROTTLED;
    t->wait_since = at;
    throttle(cpu, at);
}

static void unthrottle(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];
    struct vm_thread *t = c->curr;

    if (at < c->throttled_at)
        at = c->throttled_at;
    b->throttled_ps += at - c->throttled_at;
    c->throttled = false;
    vm_record_unthrottled_(t, at, at - c->throttled_at);
    t->wait_ps += at > t->wait_since ? at - t->wait_since : 0;
    c->curr = NULL;
    vm_cpu_run_(cpu, t, at > t->clock ? at : t->clock);
}

/* Pays debts in the order of throttling; who is above zero runs again. */
static void distribute(uint64_t at)
{
    uint32_t cpu = b->throttled_head, rest = VM_NO_CPU, *link = &rest, next;

    b->throttled_head = b->throttled_tail = VM_NO_CPU;
    for (; cpu != VM_NO_CPU; cpu = next) {
        struct vm_cpu *c = &vm_w_.cpu[cpu];
        uint64_t debt = (uint64_t)(NS - c->runtime);

        next = c->throttled_next;
        if (debt > b->runtime)
            debt = b->runtime;
        b->runtime -= debt;
        c->runtime += (int64_t)debt;
        if (c->runtime > 0) {
            unthrottle(cpu, at);
        } else {
            *link = cpu;
            link = &c->throttled_next;
            *link = VM_NO_CPU;
        }
    }
    /* Still in debt: they stay in front of whoever was throttled again meanwhile. */
    *link = b->throttled_head;
    b->throttled_head = rest;
    b->throttled_tail = VM_NO_CPU;
    for (cpu = rest; cpu != VM_NO_CPU; cpu = vm_w_.cpu[cpu].throttled_next)
        b->throttled_tail = cpu;
}

void vm_quota_period_(uint64_t at)
{
    bool throttled = b->throttled_head != VM_NO_CPU;

    if (!b->on) {
        b->active = false;
        return;
    }
    b->nr_periods++;
    b->runtime = b->quota;
    if (b->idle && !throttled) {
        b->active = false;
        return;
    }
    b->period_end = at + b->period;
    vm_event_(b->period_end, VE_PERIOD, 0);
    b->idle = !throttled;
    if (throttled) {
        b->nr_throttled++;
        distribute(at);
    }
}

void vm_quota_idle_(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];
    int64_t slack = c->runtime - (int64_t)KEEP_PS;

    if (slack <= 0)
        return;
    c->runtime -= slack;
    b->runtime += (uint64_t)slack;
    if (b->runtime <= b->slice || b->throttled_head == VM_NO_CPU || b->slack_armed)
        return;
    if (b->period_end < at + SLACK_DELAY + NO_SLACK_BEFORE_REFILL)
        return;
    b->slack_armed = true;
    vm_event_(at + SLACK_DELAY, VE_SLACK, 0);
}

void vm_quota_slack_(uint64_t at)
{
    b->slack_armed = false;
    if (!b->on)
        return;
    if (b->period_end < at + NO_SLACK_BEFORE_REFILL || b->runtime <= b->slice)
        return;
    distribute(at);
}

/* The CPU has neither runtime nor debt; whom it runs, runs on under the new quota. */
static void cpu_afresh(uint32_t cpu, uint64_t at)
{
    struct vm_cpu *c = &vm_w_.cpu[cpu];

    if (c->charged < at)
        c->charged = at;
    c->runtime = 0;
    if (c->quota_at != VM_NEVER)
        vm_event_cancel_(VE_QUOTA, &c->quota_event);
    c->quota_at = VM_NEVER;
    if (b->on)
        vm_quota_out_(cpu, at);
}

/* kernel/sched/core.c tg_set_cfs_bandwidth. */
static void quota_set(void *arg)
{
    const struct vm_quota_change *change = arg;
    uint64_t at = vm_w_.now;
    uint32_t cpu = b->throttled_head, next;

    b->on = change->quota_us > 0;
    b->quota = b->runtime = (uint64_t)change->quota_us * 1000 * NS;
    b->throttled_head = b->throttled_tail = VM_NO_CPU;
    for (uint32_t i = 0; i < vm_w_.cpus; i++)
        cpu_afresh(i, at);
    for (; cpu != VM_NO_CPU; cpu = next) {
        next = vm_w_.cpu[cpu].throttled_next;
        unthrottle(cpu, at);
    }
}

void vm_quota_init_(void)
{
    const struct vm_opts *o = &vm_w_.opts;

    b->throttled_head = b->throttled_tail = VM_NO_CPU;
    b->on = o->quota_us > 0;
    b->quota = (uint64_t)o->quota_us * 1000 * NS;
    b->period = (uint64_t)o->period_us * 1000 * NS;
    b->slice = (uint64_t)o->quota_slice_us * 1000 * NS;
    b->runtime = b->quota;
    for (uint32_t i = 0; i < o->nquota_changes; i++)
        vm_env_at_(o->quota_changes[i].at_ns, quota_set, (void *)(uintptr_t)&o->quota_changes[i]);
}
