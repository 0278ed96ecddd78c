/* SPDX-License-Identifier: BSD-3-Clause */
/* A world begins, is looked at, and ends. */
#include "sim/virt/vm_int.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/pages.h"
#include "sim/virt/host.h"

/* ---- options ---- */

static bool check_range(struct failure *f, const char *name, int64_t value, int64_t min,
                        int64_t max)
{
    if (value >= min && value <= max)
        return true;
    fail(f, E_USAGE, "%s: want %lld to %lld, got %lld", name, (long long)min, (long long)max,
         (long long)value);
    return false;
}

static bool check_sched(struct failure *f, const struct vm_sched_opts *o)
{
    const int64_t max = 10000000000; /* 10 s */

    return check_range(f, "sched.latency_ns", o->latency_ns, 0, max) &&
           check_range(f, "sched.granularity_ns", o->granularity_ns, 0, max) &&
           check_range(f, "sched.wakeup_ns", o->wakeup_ns, 0, max) &&
           check_range(f, "sched.tick_ns", o->tick_ns, 0, max);
}

static bool check_quota(struct failure *f, const char *what, int64_t us)
{
    return check_range(f, what, us, us ? VM_QUOTA_MIN_US : 0, VM_QUOTA_MAX_US);
}

static bool check_changes(struct failure *f, const struct vm_opts *o)
{
    for (uint32_t i = 0; i < o->nquota_changes; i++)
        if (!check_quota(f, "quota_changes.quota_us", o->quota_changes[i].quota_us))
            return false;
    return true;
}

static bool check_opts(struct failure *f, struct vm_opts *o)
{
    if (o->period_us == 0)
        o->period_us = 100000;
    if (o->quota_slice_us == 0)
        o->quota_slice_us = 5000;
    if (o->threads_max == 0)
        o->threads_max = VM_THREADS_ALIVE_MAX;
    if (o->memory_max == 0)
        o->memory_max = VM_MEMORY_DEFAULT;
    return check_range(f, "cpus", o->cpus, 0, VM_CPUS_MAX) &&
           check_range(f, "ncpu_shown", o->ncpu_shown, 0, VM_NCPU_SHOWN_MAX) &&
           check_quota(f, "quota_us", o->quota_us) && check_changes(f, o) &&
           check_range(f, "period_us", o->period_us, VM_PERIOD_MIN_US, VM_PERIOD_MAX_US) &&
           check_range(f, "quota_slice_us", o->quota_slice_us, 1, VM_PERIOD_MAX_US) &&
           check_range(f, "port", (int64_t)o->port, 0, PORT_COUNT - 1) &&
           check_range(f, "ties", (int64_t)o->ties, 0, VM_TIES_BY_SEED) &&
           check_range(f, "threads_max", o->threads_max, 1, VM_THREADS_ALIVE_MAX) &&
           check_range(f, "noise_permille", o->noise_permille, 0, 1000) &&
           check_range(f, "memory_max", (int64_t)o->memory_max, VM_MEMORY_MIN, VM_MEMORY_MAX) &&
           check_sched(f, &o->sched);
}

/* ---- trouble ---- */

void vm_limit_(void *unused, const struct failure *f)
{
    (void)unused;
    if (f != &vm_w_.failure)
        vm_w_.failure = *f;
    if (vm_w_.running)
        vm_leave_world_(END_LIMIT);
    vm_end_(END_LIMIT);
}

void vm_limit(const char *text)
{
    struct failure f = {0};
    if (!vm_w_.running)
        return;
    fail(&f, E_LIMIT, "%s", text);
    vm_limit_(NULL, &f);
}

static void print_last_events(void)
{
    struct event_rec last[16];
    size_t n = event_log_last(&vm_log_, last, sizeof last / sizeof last[0]);
    char line[200];

    for (size_t i = 0; i < n; i++) {
        event_format(&last[i], line, sizeof line);
        fprintf(stderr, "  %s\n", line);
    }
}

/* Of throw(): says where the world was, then lets the process end, or leaves the world if told so.
 */
static void report(void *unused, const struct throw_site *site)
{
    (void)unused;
    if (vm_w_.opts.catch_throws && vm_w_.running) {
        vm_w_.verdict = (struct world_verdict){.text = site->text,
                                               .m = vm_cur_() ? (int32_t)vm_cur_()->id : -1,
                                               .at_ps = vm_hot.now,
                                               .site = *site};
        throw_caught();
        vm_leave_world_(END_THROWN);
    }
    fprintf(stderr, "gmpsim: internal error: %s (%s:%d, %s)\n", site->text, site->file, site->line,
            site->func);
    fprintf(stderr, "seed %llu, time %llu.%03llu ns, M %d, %llu events\n",
            (unsigned long long)vm_w_.opts.seed, (unsigned long long)(vm_hot.now / 1000),
            (unsigned long long)(vm_hot.now % 1000), vm_cur_() ? (int)vm_cur_()->id : -1,
            (unsigned long long)event_log_total(&vm_log_));
    print_last_events();
}

/* ---- life ---- */

static void init_hot(const struct vm_opts *o)
{
    const struct costs *c = o->costs ? o->costs : &costs_builtin;

    memset(&vm_hot, 0, sizeof vm_hot);
    vm_hot.front = &vm_nobody_;
    vm_hot.horizon = VM_NEVER;
    for (int i = 0; i < ATOMIC_COUNT; i++) {
        vm_hot.atomic[i].hit = c->atomic[o->port][i].hit;
        vm_hot.atomic[i].miss = c->atomic[o->port][i].miss;
    }
    for (int i = 0; i < W_COUNT; i++)
        vm_hot.work[i] = c->work[i];
    memcpy(vm_hot.kind, c->kind, sizeof vm_hot.kind);
    memcpy(vm_w_.quantiles, c->noise, sizeof vm_w_.quantiles);
    vm_hot.noisy = o->noise_permille != 0;
    vm_hot.record = o->records_cost ? c->work[W_record] : 0;
}

static size_t lines_size(void) { return (vm_w_.arena.top >> 6) * sizeof *vm_w_.lines; }

/* One mask per cache line of the whole range; only the pages that are touched exist. */
static bool init_lines(struct failure *f)
{
    struct vm_world *w = &vm_w_;
    size_t size = lines_size();

    w->lines = pages_map(size, /*usable*/ true);
    vm_hot.lines = (uintptr_t)w->lines - ((uintptr_t)w->arena.base >> 6) * sizeof *w->lines;
    if (w->lines != NULL)
        return true;
    fail(f, E_LIMIT, "no address space for %zu bytes of cache-line masks", size);
    return false;
}

static void init_parts(const struct vm_opts *o)
{
    struct vm_world *w = &vm_w_;

    event_log_init(&vm_log_, &w->arena, vm_settled_);
    if (o->sink)
        event_log_sink(&vm_log_, o->sink, o->sink_arg,
                       o->records_batch ? o->records_batch : EVENT_BATCH_COUNT);
    vm_log_.moves = o->records_moves;
    vm_log_.unmixed = o->quota_us > 0 || o->nquota_changes > 0;
    eventq_init(&w->queue, &w->arena);
    w->next_ev = VM_NEVER;
    rng_init(&w->seeds, o->seed, RNG_SCHED, 0);
    rng_init(&w->noise, o->seed, RNG_NOISE, 0);
    rng_init(&w->ties, o->seed, RNG_TIE, 0);
    w->stall_in = vm_noise_time_(NOISE_stall_gap);
    vm_ready_init_();
    vm_futex_init_();
    vm_env_init_();
    vm_quota_init_();
    vm_cpus_init_();
    coro_init_thread(&w->main);
}

bool vm_init(struct failure *f, const struct vm_opts *opts)
{
    struct vm_world *w = &vm_w_;
    struct vm_opts o = *opts;
    size_t stacks;

    assert(!w->exists);
    if (!check_opts(f, &o))
        return false;
    memset(w, 0, sizeof *w);
    w->opts = o;
    vm_chooser_ = o.chooser;
    stacks = stackpool_space(STACK_SIZE_DEFAULT, o.threads_max);
    if (arena_init(&w->arena, o.memory_max, stacks, f) != 0)
        return false;
    arena_on_fail(&w->arena, vm_limit_, NULL);
    /* What is made before the world runs cannot be told that there is no memory. */
    if (arena_commit(&w->arena, VM_MEMORY_FIRST, f) != 0)
        goto fail_arena;
    if (stackpool_init(&w->stacks, &w->arena, STACK_SIZE_DEFAULT, o.threads_max, f) != 0)
        goto fail_arena;
    init_hot(&o);
    if (!init_lines(f))
        goto fail_arena;
    init_parts(&o);
    throw_set_reporter(report, NULL);
    w->exists = true;
    return true;

fail_arena:
    arena_release(&w->arena);
    return false;
}

void vm_free(void)
{
    struct vm_world *w = &vm_w_;

    if (!w->exists)
        return;
    throw_set_reporter(NULL, NULL);
    pages_unmap(w->lines, lines_size());
    for (uint32_t i = 0; i < w->threads; i++)
        if (w->thread[i] && w->thread[i]->coro.stack) /* else the system had no stack for it */
            stackpool_end(&w->stacks, &w->thread[i]->coro);
    for (struct vm_thread *t = w->dead; t; t = t->next)
        stackpool_end(&w->stacks, &t->coro);
    arena_release(&w->arena);
    vm_chooser_ = NULL;
    w->exists = false;
}

/* ---- looking ---- */

/* A running thread's time on its CPU so far is not in its account yet. */
static uint64_t cpu_time(const struct vm_thread *t)
{
    uint64_t now = vm_w_.now > t->exec_start ? vm_w_.now : t->exec_start;

    if (t->state != VM_RUNNING && t->state != VM_BURSTING)
        return t->cpu_ps;
    return t->cpu_ps + now - t->exec_start;
}

/* On its thread. */
void vm_main_begins_(void)
{
    const struct vm_thread *t = vm_cur_();

    vm_w_.main_ps = vm_hot.now;
    vm_w_.main_cpu_ps = t->cpu_ps + vm_hot.now - t->exec_start;
}

static uint64_t wait_time(const struct vm_thread *t)
{
    if (t->state != VM_WAITING && t->state != VM_THROTTLED)
        return t->wait_ps;
    return t->wait_ps + (vm_w_.now > t->wait_since ? vm_w_.now - t->wait_since : 0);
}

static uint64_t throttled_time(void)
{
    const struct vm_bandwidth *b = &vm_w_.bw;
    uint64_t sum = b->throttled_ps;

    for (uint32_t i = b->throttled_head; i != VM_NO_CPU; i = vm_w_.cpu[i].throttled_next)
        if (vm_w_.now > vm_w_.cpu[i].throttled_at)
            sum += vm_w_.now - vm_w_.cpu[i].throttled_at;
    return sum;
}

void vm_stats(struct vm_stats *s)
{
    const struct vm_world *w = &vm_w_;

    *s = (struct vm_stats){
        .now_ps = w->now,
        .threads = w->threads,
        .threads_alive = w->alive,
        .events = w->events,
        .switches = w->dead_switches,
        .cpu_ps = w->dead_cpu_ps,
        .spin_ps = w->dead_spin_ps,
        .wait_ps = w->dead_wait_ps,
        .main_ps = w->main_ps,
        .main_cpu_ps = w->main_cpu_ps,
        .futex_sleeps = w->futex_sleeps,
        .futex_wakes = w->futex_wakes,
        .signals = w->signals,
        .nr_periods = w->bw.nr_periods,
        .nr_throttled = w->bw.nr_throttled,
        .throttled_ps = throttled_time(),
        .fingerprint = event_log_fingerprint(&vm_log_),
        .memory = w->arena.used,
    };
    for (uint32_t i = 0; i < w->threads_room; i++) {
        const struct vm_thread *t = w->thread[i];

        if (t == NULL)
            continue;
        s->switches += t->switches;
        s->cpu_ps += cpu_time(t);
        s->spin_ps += t->f.spin_ps;
        s->wait_ps += wait_time(t);
    }
}

bool vm_quiet(void)
{
    for (uint32_t id = 0; id < vm_w_.threads; id++) {
        const struct vm_thread *t = vm_thread_by_id_(id);
        if (t != NULL && t->state != VM_SLEEPING && t->state != VM_BURSTING && t->state != VM_DEAD)
            return false;
    }
    return true;
}

bool vm_thread_info(int32_t id, struct vm_thread_info *i)
{
    const struct vm_thread *t;

    *i = (struct vm_thread_info){.id = id, .state = VM_DEAD, .cpu = -1};
    if (id < 0 || (uint32_t)id >= vm_w_.threads)
        return false;
    t = vm_thread_by_id_((uint32_t)id);
    if (t == NULL)
        return true;
    *i = (struct vm_thread_info){
        .id = id,
        .state = (enum vm_state)t->state,
        .cpu = t->cpu == VM_NO_CPU ? -1 : (int32_t)t->cpu,
        .cpu_ps = cpu_time(t),
        .spin_ps = t->f.spin_ps,
        .wait_ps = wait_time(t),
        .switches = t->switches,
        .migrations = t->migrations,
        .preemptions = t->preemptions,
        .wakeups = t->wakeups,
    };
    return true;
}

const struct world_verdict *vm_verdict(void) { return &vm_w_.verdict; }
const struct failure *vm_failure(void) { return &vm_w_.failure; }
