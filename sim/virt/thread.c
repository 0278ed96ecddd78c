/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads: start and end, bursts, sleeps, signals. How they get and lose a CPU when CPUs are scarce
 * is cpu.c's. */
#include "sim/virt/ready.h"

#include <assert.h>
#include <string.h>

#include "sim/virt/host.h"

#define PS_PER_NS 1000u
#define US(us)    ((uint64_t)(us)*1000000u)

/* What setting a timer and going off a CPU take: measured on a virtual machine, 13 to 17 us. */
#define BRIEF_PS US(15)

static uint64_t add(uint64_t at, uint64_t ps) { return at > VM_NEVER - ps ? VM_NEVER : at + ps; }

/* ns >= 0, however long. */
static uint64_t after_ns(uint64_t at, int64_t ns)
{
    if ((uint64_t)ns > VM_TIME_MAX_PS / PS_PER_NS)
        return VM_NEVER;
    return add(at, (uint64_t)ns * PS_PER_NS);
}

/* ---- start and end ---- */

struct vm_thread *vm_thread_by_id_(uint32_t id) { return vm_w_.thread[vm_w_.rank_of[id]]; }

static void thread_main(void *arg)
{
    struct vm_thread *t = arg;

    if (t->pending)
        vm_signals_(t);
    t->fn(t->f.arg);
    vm_thread_exit_();
}

/* Stacks can be given back only when nobody stands on them any more, so the ended wait here for the
 * next start. */
static void reap(void)
{
    struct vm_thread *t;

    while ((t = vm_w_.dead) != NULL) {
        vm_w_.dead = t->next;
        stackpool_end(&vm_w_.stacks, &t->coro);
        t->next = vm_w_.free;
        vm_w_.free = t;
    }
}

/* With ties by seed the rank of an id is its place in blocks of 64 that the seed has shuffled:
 * later threads still come later by and large, so that the table need not be as large as the
 * largest id ever. */
static void shuffle_block(uint32_t first)
{
    uint32_t *rank = vm_w_.rank_of + first;

    for (uint32_t i = 0; i < 64; i++)
        rank[i] = first + i;
    if (vm_w_.opts.ties == VM_TIES_BY_ID)
        return;
    for (uint32_t i = 64; i > 1; i--) {
        uint32_t j = (uint32_t)rng_below(&vm_w_.ties, i), was = rank[i - 1];

        rank[i - 1] = rank[j];
        rank[j] = was;
    }
}

static void make_room(uint32_t id)
{
    struct vm_world *w = &vm_w_;
    uint32_t room = w->threads_room ? 2 * w->threads_room : 64, *rank;
    struct vm_thread **thread;

    if (id < w->threads_room)
        return;
    thread = arena_array(&w->arena, struct vm_thread *, room);
    rank = arena_array(&w->arena, uint32_t, room);
    if (w->threads_room) {
        memcpy(thread, w->thread, w->threads_room * sizeof *thread);
        memcpy(rank, w->rank_of, w->threads_room * sizeof *rank);
    }
    w->thread = thread;
    w->rank_of = rank;
    for (uint32_t i = w->threads_room; i < room; i += 64)
        shuffle_block(i);
    w->threads_room = room;
}

static struct vm_thread *record_new(void)
{
    struct vm_world *w = &vm_w_;
    struct vm_thread *t = w->free;
    uint32_t slot;

    if (t) {
        w->free = t->next;
        slot = t->slot;
        memset(t, 0, sizeof *t);
    } else {
        t = arena_alloc(&w->arena, sizeof *t, 64);
        slot = w->threads_made++;
        if (w->cpus_on && w->dedicated)
            vm_cpu_add_(slot);
    }
    t->slot = slot;
    return t;
}

static bool within_limits(void)
{
    struct failure *f = &vm_w_.failure;

    if (vm_w_.alive == vm_w_.opts.threads_max)
        fail(f, E_LIMIT, "more than %u threads alive at once", vm_w_.opts.threads_max);
    else if (vm_w_.threads == VM_THREADS_MAX)
        fail(f, E_LIMIT, "more than %u threads in one world", VM_THREADS_MAX);
    else
        return true;
    vm_limit_(NULL, f);
    return false;
}

/* at: when it becomes runnable. */
void vm_thread_new_(struct hostm *hm, void (*fn)(void *), void *arg, uint64_t at)
{
    struct vm_world *w = &vm_w_;
    struct vm_thread *t;

    reap();
    if (!within_limits())
        return;
    make_room(w->threads);
    t = record_new();
    t->id = w->threads++;
    t->f.rank = w->rank_of[t->id];
    w->thread[t->f.rank] = t;
    w->alive++;
    t->leaf = VM_NO_LEAF;
    t->cpu = VM_NO_CPU;
    t->state = VM_SLEEPING;
    t->f.who = event_who(t->id < EVENT_NO_M ? (uint16_t)t->id : EVENT_NO_M, EVENT_NO_P);
    t->fn = fn;
    t->f.arg = arg;
    t->hm = hm;
    t->clock = at;
    hm->thread = t;
    if (stackpool_start(&w->stacks, &t->coro, thread_main, t) != 0)
        return; /* vm_limit_ has been called */
    if (w->cpus_on) {
        vm_cpu_place_(t, at, /*is_new*/ true);
    } else {
        t->cpu = t->slot;
        t->f.bit = UINT64_C(1) << (t->slot & 63);
        t->exec_start = at;
        t->state = VM_RUNNING;
        vm_ready_add_(t);
    }
}

void vm_start(struct hostm *hm, void (*fn)(void *), void *arg)
{
    vm_thread_new_(hm, fn, arg, vm_w_.now);
}

void vm_newosproc_(struct hostm *hm, void (*fn)(void *), void *arg)
{
    vm_point_();
    uint64_t at = vm_hot.now + vm_noise_cost_(NOISE_thread_start_latency);
    vm_hot.now += vm_noise_cost_(NOISE_thread_start);
    vm_thread_new_(hm, fn, arg, at);
}

static void give_cpu_up(struct vm_thread *t)
{
    if (vm_w_.cpus_on)
        vm_cpu_leave_(t, t->clock);
    else
        t->cpu_ps += t->clock - t->exec_start;
}

static void park_current(struct vm_thread *t, enum vm_state state)
{
    t->clock = vm_hot.now;
    t->state = (uint8_t)state;
}

_Noreturn void vm_thread_exit_(void)
{
    struct vm_thread *t = vm_cur_();

    vm_point_();
    vm_hot.now += vm_hot.kind[COST_thread_exit];
    park_current(t, VM_DEAD);
    give_cpu_up(t);
    vm_w_.dead_switches += t->switches;
    vm_w_.dead_cpu_ps += t->cpu_ps;
    vm_w_.dead_spin_ps += t->f.spin_ps;
    vm_w_.dead_wait_ps += t->wait_ps;
    vm_w_.thread[t->f.rank] = NULL;
    vm_w_.alive--;
    t->hm->thread = NULL;
    t->next = vm_w_.dead;
    vm_w_.dead = t;
    vm_dispatch_(t, /*runnable*/ false);
    throw("a thread ran after its end");
}

/* ---- CPU given and taken ---- */

void vm_continue_(struct vm_thread *t, uint64_t at)
{
    t->clock = at;
    if (t->burst_left && !t->pending && !(t->cut && t->cuttable)) {
        t->state = VM_BURSTING;
        t->burst_end = add(at, t->burst_left);
        t->burst_left = 0;
        t->event = vm_event_(t->burst_end, VE_BURST, t->id);
        return;
    }
    t->state = VM_RUNNING;
    vm_ready_add_(t);
}

uint64_t vm_interrupt_(struct vm_thread *t, uint64_t at)
{
    if (t->state == VM_BURSTING) {
        vm_event_cancel_(VE_BURST, &t->event);
        if (at < t->clock)
            at = t->clock; /* it has not even begun */
        t->burst_left = t->burst_end - at;
        t->clock = at;
        return at;
    }
    vm_ready_remove_(t);
    return t->clock > at ? t->clock : at;
}

/* ---- sleeping ---- */

/* The instant at which the host's timer for `until` goes off. The length of a system call is what
 * the call takes, whatever ends it: no timer of ours is late for it. */
static uint64_t timer_due(enum vm_sleep sleep, uint64_t until)
{
    uint64_t granule = vm_hot.kind[COST_timer_granule];

    if (until == VM_NEVER || sleep == VM_SLEEP_SYSCALL)
        return until;
    until = add(until, vm_noise_cost_(NOISE_timer_slack));
    if (granule > 1 && until < VM_NEVER - granule)
        until = (until + granule - 1) / granule * granule;
    return until;
}

void vm_block_(enum vm_sleep sleep, uint64_t until)
{
    struct vm_thread *t = vm_cur_();
    uint64_t due = timer_due(sleep, until);

    park_current(t, VM_SLEEPING);
    t->sleep = (uint8_t)sleep;
    t->brief = due - t->clock < BRIEF_PS;
    if (t->brief && sleep == VM_SLEEP_TIME)
        due += vm_noise_time_(NOISE_brief);
    if (due < t->clock)
        due = t->clock;
    t->due = due;
    if (due != VM_NEVER)
        t->event = vm_event_(due, VE_TIMEOUT, t->id);
    give_cpu_up(t);
    vm_dispatch_(t, /*runnable*/ false);
    if (t->pending && sleep != VM_SLEEP_SYSCALL)
        vm_signals_(t);
}

/* How long the CPU that t will get has done nothing: what decides how deep it sleeps is not how
 * long this thread slept. 0: it will have to wait for one. */
static uint64_t idle_for(const struct vm_thread *t, uint64_t at)
{
    uint64_t since = vm_w_.cpus_on ? vm_cpu_idle_since_(t) : t->clock;

    return since < at ? at - since : 0;
}

/* From the wake until the thread goes on. A system call has its length, the wake is part of it. */
static uint64_t wake_latency(const struct vm_thread *t, bool deep, uint64_t place)
{
    if (t->sleep == VM_SLEEP_SYSCALL)
        return 0;
    uint64_t latency = vm_noise_cost_at_(NOISE_wake_latency, place);
    return deep ? latency + vm_noise_cost_at_(NOISE_wake_latency_deep, place) : latency;
}

/* Does the CPU that t will get sleep deeply? */
static bool is_deep(const struct vm_thread *t, uint64_t at)
{
    uint64_t after = vm_hot.kind[COST_deep_after];

    return after > 0 && !t->brief && idle_for(t, at) > after;
}

/* On the CPU that is free at `at` t goes on `latency` later. */
static void wake(struct vm_thread *t, uint64_t at, uint64_t latency)
{
    assert(t->state == VM_SLEEPING);
    vm_event_cancel_(VE_TIMEOUT, &t->event);
    if (t->sleep == VM_SLEEP_FUTEX)
        vm_futex_forget_(t);
    else if (t->sleep == VM_SLEEP_POLL)
        vm_poll_forget_(t);
    t->wakeups++;
    if (at < t->clock)
        at = t->clock; /* woken before it had gone to sleep */
    t->sleep = VM_SLEEP_NONE;
    t->clock = at + latency;
    if (vm_w_.cpus_on) {
        vm_cpu_place_(t, at, /*is_new*/ false);
        return;
    }
    t->exec_start = t->clock;
    t->state = VM_RUNNING;
    vm_ready_add_(t);
}

/* Woken before it had gone to sleep, it is so from then on. */
static uint64_t asleep_at(const struct vm_thread *t, uint64_t at)
{
    return at < t->clock ? t->clock : at;
}

/* Who wakes is occupied for `call`: the CPU is chosen at its begin, and t runs after its end. */
static void wake_by(struct vm_thread *t, uint64_t at, uint64_t call, uint64_t place)
{
    wake(t, at, call + wake_latency(t, is_deep(t, asleep_at(t, at)), place));
}

void vm_wake_(struct vm_thread *t, uint64_t at) { wake_by(t, at, 0, vm_noise_place_()); }

/* A timer's interrupt comes on the CPU itself, which begins to wake then: a table may say what that
 * takes. */
static uint64_t timer_latency(const struct vm_thread *t, uint64_t at, uint64_t place)
{
    if (vm_hot.kind[COST_timer_wake] == 0 || t->sleep == VM_SLEEP_SYSCALL)
        return wake_latency(t, is_deep(t, asleep_at(t, at)), place);
    return vm_noise_cost_at_(NOISE_timer_wake, place);
}

/* Who has not left his CPU has not to be given one. */
void vm_timed_out_(struct vm_thread *t, uint64_t at)
{
    wake(t, at, timer_latency(t, at, t->brief ? NOISE_MIDDLE : vm_noise_place_()));
}

static uint64_t futex_call(const struct vm_thread *t, uint64_t at, uint64_t place)
{
    uint64_t call = vm_noise_cost_at_(NOISE_futex_wake, place);

    return is_deep(t, at) ? call + vm_noise_cost_at_(NOISE_futex_wake_deep, place) : call;
}

/* Call and latency are long together: both are what it takes to interrupt the other CPU.
 * A CPU that is busy has not to be woken. A table that does not say what that takes has calls so
 * short that it does not matter when in them the CPU is chosen: at their end. */
void vm_futex_wake_(struct vm_thread *t)
{
    uint64_t at = vm_hot.now, busy = vm_hot.kind[COST_futex_wake_busy], place = vm_noise_place_();
    bool finds_idle = !vm_w_.cpus_on || vm_cpu_idle_since_(t) != VM_NEVER;

    vm_hot.now += busy > 0 && !finds_idle ? busy : futex_call(t, at, place);
    if (busy > 0)
        wake_by(t, at, vm_hot.now - at, place);
    else
        wake_by(t, vm_hot.now, 0, place);
}

/* Who sleeps for so short a time does not get off his CPU before he is due. */
static bool is_brief(const struct vm_thread *t)
{
    return t->state == VM_SLEEPING && t->sleep == VM_SLEEP_TIME && t->brief;
}

/* A thread that is being woken has its CPU before it is there. */
static bool is_on(const struct vm_thread *t)
{
    return (t->state == VM_RUNNING || t->state == VM_BURSTING) && t->clock <= vm_hot.now;
}

/* t goes on, or is due, so much later. */
static void put_off(struct vm_thread *t, uint64_t ps)
{
    if (t->state == VM_RUNNING) {
        vm_ready_remove_(t);
        t->clock = add(t->clock, ps);
        vm_ready_add_(t);
        return;
    }
    enum vm_event kind = t->state == VM_BURSTING ? VE_BURST : VE_TIMEOUT;
    uint64_t *end = t->state == VM_BURSTING ? &t->burst_end : &t->due;
    *end = add(*end, ps);
    vm_event_cancel_(kind, &t->event);
    t->event = vm_event_(*end, kind, t->id);
}

bool vm_interrupt_others_(uint64_t ps)
{
    bool any = false;

    for (uint32_t i = 0; i < vm_w_.threads; i++) {
        struct vm_thread *t = vm_w_.thread[i];
        if (t == NULL || t == vm_cur_() || !(is_on(t) || is_brief(t)))
            continue;
        put_off(t, ps / 3 * 2); /* it answers, and goes on before who asked does */
        any = true;
    }
    return any;
}

/* A short sleep ends a little later each time, by what the world's seed says; no choice, for it
 * stands for the world outside. Without it the monitor, which does nothing but sleep, would stay in
 * step with a loop of the program for ever: it would see the same instruction of it every time, and
 * preempt it always or never. */
static uint64_t jitter(void)
{
    uint64_t most = vm_hot.kind[COST_usleep_jitter];
    return most > 0 ? rng_below(&vm_w_.noise, most) : 0;
}

void vm_usleep_(uint32_t us)
{
    vm_point_();
    vm_hot.now += vm_hot.kind[COST_usleep];
    uint64_t until = vm_hot.now + US(us) + jitter();
    vm_hot.now += vm_hot.kind[COST_usleep_busy]; /* the timer is set already */
    vm_block_(VM_SLEEP_TIME, until > vm_hot.now ? until : vm_hot.now);
}

/* ---- bursts ---- */

/*
 * Runs straight on until `end` or until something ends it: the end of the burst itself, a signal, a
 * nudge. Afterwards vm_hot.now says when, and burst_left what is left.
 */
static void burst_until(struct vm_thread *t, uint64_t end, bool cuttable)
{
    if (end <= vm_hot.horizon) {
        vm_hot.now = end; /* nobody is due before */
        return;
    }
    t->clock = vm_hot.now;
    t->cuttable = cuttable;
    t->state = VM_BURSTING;
    t->burst_end = end;
    t->burst_left = 0;
    t->event = vm_event_(end, VE_BURST, t->id);
    vm_dispatch_(t, /*runnable*/ false);
}

/* VE_BURST. Whatever else ends a burst (a signal, a nudge, a lost CPU) leaves some of it in
 * burst_left; this leaves 0. */
void vm_burst_over_(struct vm_thread *t, uint64_t at)
{
    t->clock = at;
    t->burst_left = 0;
    t->state = VM_RUNNING;
    vm_ready_add_(t);
}

/* To the thread's own code, which is in burst_until. */
static void burst_cut(struct vm_thread *t, uint64_t at)
{
    vm_event_cancel_(VE_BURST, &t->event);
    if (at < t->clock)
        at = t->clock;
    t->burst_left = t->burst_end - at;
    t->clock = at;
    t->state = VM_RUNNING;
    vm_ready_add_(t);
}

static uint64_t take_left(struct vm_thread *t)
{
    uint64_t left = t->burst_left;

    t->burst_left = 0;
    return left;
}

/* What the machine takes away during so much computing. */
static uint64_t stalls(uint64_t ps)
{
    uint64_t lost = 0;

    for (; ps >= vm_w_.stall_in; lost += vm_noise_time_(NOISE_stall)) {
        ps -= vm_w_.stall_in;
        vm_w_.stall_in = vm_noise_time_(NOISE_stall_gap) + 1;
    }
    vm_w_.stall_in -= ps;
    return lost;
}

int64_t vm_burst_(int64_t ns, bool cut)
{
    struct vm_thread *t = vm_cur_();
    uint64_t left;

    if (ns <= 0)
        return 0;
    vm_point_();
    left = after_ns(0, ns);
    if (vm_hot.noisy)
        left = add(left, stalls(left) + vm_noise_time_(NOISE_burst));
    while (left > 0 && !(cut && t->cut)) {
        burst_until(t, add(vm_hot.now, left), cut);
        left = take_left(t);
        if (t->pending)
            vm_signals_(t);
    }
    if (cut)
        t->cut = false;
    /* Rounded up, so that a cut never loses work. */
    return (int64_t)((left + PS_PER_NS - 1) / PS_PER_NS);
}

void vm_burn_(uint64_t ps)
{
    struct vm_thread *t = vm_cur_();

    while (ps > 0) {
        burst_until(t, add(vm_hot.now, ps), /*cuttable*/ false);
        ps = take_left(t);
    }
}

void vm_syscall_body_(int64_t ns, bool off_cpu)
{
    uint64_t body = after_ns(0, ns > 0 ? ns : 0);

    vm_point_();
    vm_hot.now += vm_hot.kind[COST_syscall_enter];
    if (off_cpu)
        vm_block_(VM_SLEEP_SYSCALL, add(vm_hot.now, body));
    else
        vm_burn_(body);
    vm_hot.now += vm_hot.kind[COST_syscall_exit];
    if (vm_cur_()->pending)
        vm_signals_(vm_cur_());
}

void vm_osyield_(void)
{
    vm_point_();
    vm_hot.now += vm_hot.kind[COST_osyield];
    vm_hot.front->spin_ps += vm_hot.kind[COST_osyield];
    if (vm_w_.cpus_on && vm_w_.waiting)
        vm_cpu_yield_();
}

/* ---- signals and nudges ---- */

void vm_signalm_(struct hostm *hm)
{
    vm_point_();
    vm_hot.now += vm_hot.kind[COST_signal_send];
    if (hm->thread == NULL)
        return; /* ESRCH */
    vm_w_.signals++;
    vm_event_(vm_hot.now + vm_noise_cost_(NOISE_signal_latency), VE_SIGNAL, hm->thread->id);
}

/* A thread without a CPU, or between two points, finds `pending` when it goes on. */
void vm_signal_arrives_(struct vm_thread *t, uint64_t at)
{
    t->pending =
        true; /* a second one before the first is handled is lost, as for any plain signal */
    if (t->state == VM_BURSTING && !t->handling)
        burst_cut(t, at);
    else if (t->state == VM_SLEEPING && t->sleep != VM_SLEEP_SYSCALL && !t->handling)
        vm_wake_(t, at);
}

/* A burst that begins later sees the nudge too: the next one that can be cut uses the flag up. */
void vm_nudge_(struct hostm *hm)
{
    struct vm_thread *t;

    vm_point_();
    t = hm->thread;
    if (t == NULL)
        return;
    t->cut = true;
    if (t->state == VM_BURSTING && t->cuttable)
        burst_cut(t, vm_hot.now);
}
