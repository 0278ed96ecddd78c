/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs of the host surface. The atomics come first: they are the hot ones. */
#include "sim/explore/ex_int.h"
#include "sim/explore/host.h"

#include <assert.h>

#include "sim/base/fail.h"

#undef throw
#undef finding

static inline void gets_on(void)
{
    if (__builtin_expect(ex.fair_from != 0, 0))
        ex_gets_on_();
}

/* A point of a verb that is no atomic. */
static void point(void)
{
    ex_point_();
    if (ex.cur != NULL && (ex.cur->flags & EX_SIGNALLED))
        ex_signals_first_();
}

/* ---- atomics ---- */

/* The order that the access has on this port, unless it is a fault of this exploration. */
static unsigned bits_of(const struct ex_site *s)
{
    return ex.bits[s->verb] & ~(unsigned)s->without;
}

/* For people, when somebody traces. */
static void note(const struct ex_site *s, const void *addr, uint64_t value, uint64_t old,
                 bool wrote, uint64_t stale_before, uint64_t moved_before)
{
    if (ex.trace_count >= ex.trace_max)
        return;
    ex.trace[ex.trace_count++] = (struct ex_event){
        .site = s,
        .addr = addr,
        .value = value,
        .old = old,
        .step = ex_steps_(),
        .now = (int64_t)(ex_hot.now / 1000),
        .tid = (int16_t)ex.cur->id,
        .verb = s->verb,
        .stale = mm.stats.stale_loads != stale_before,
        .wrote = wrote,
        .moved = mm.stats.moved_stores != moved_before,
    };
}

void ex_listen(const struct traced_to *to)
{
    ex.tells = to != NULL;
    ex.to = to != NULL ? *to : (struct traced_to){0};
}

void ex_stop_after(uint64_t number)
{
    ex.stop_after = number;
    ex.stop = ex.stopped = false;
}

void ex_stop_now(void) { ex.stop = ex.stopped = true; }

bool ex_stopped(void) { return ex.stopped; }

/* For who listens: every operation. The step is its number. */
static void tell(const struct ex_site *s, const void *addr, uint64_t before, uint64_t after,
                 uint64_t wanted, bool done)
{
    if (!ex.tells)
        return;
    const struct ex_thread *t = ex.cur;
    uint64_t step = ex_steps_();
    if (ex.to.op != NULL)
        ex.to.op(ex.to.arg, &(struct traced_op){.number = step,
                                                .time_ps = ex_hot.now,
                                                .m = (uint16_t)t->id,
                                                .p = t->p >= 0 ? (uint16_t)t->p : EVENT_NO_P,
                                                .site = &s->told,
                                                .addr = addr,
                                                .before = before,
                                                .after = after,
                                                .wanted = wanted,
                                                .done = done});
    if (ex.stop_after != 0 && step >= ex.stop_after)
        ex_stop_now();
}

/* While a timed event is pending the order of operations decides when it comes; and a check looks
 * at the world after each of them. */
void ex_does_(const void *addr, bool reads)
{
    struct strategy *s = ex.ch.strategy;
    uint64_t at = arena_offset(&ex.arena, addr);
    bool one = addr != NULL && at < INT32_MAX && (ex.due == NEVER || ex.timeless) &&
               ex.o.check == NULL;

    if (ex.cur == NULL)
        return;
    s->did(s, &(struct turn_does){.goid = (uint32_t)ex.cur->id + 1,
                                  .known = true,
                                  .reads = reads && one,
                                  .count = 1,
                                  .object = {one ? (int32_t)at + 1 : TURN_OBJECT_ALL}});
}

void ex_does_clock_(uint32_t who)
{
    struct strategy *s = ex.ch.strategy;
    s->did(s, &(struct turn_does){.goid = who,
                                  .known = true,
                                  .count = 1,
                                  .object = {ex.timeless ? TURN_OBJECT_CLOCK : TURN_OBJECT_ALL}});
}

static inline void does(const void *addr, bool reads)
{
    if (ex.does)
        ex_does_(addr, reads);
}

uint64_t ex_load_slow_(const struct ex_site *s, const void *addr, unsigned size)
{
    uint64_t stale = mm.stats.stale_loads;
    if (ex.cur == NULL)
        return ex_peek_slow_(addr, size);
    ex_signals_first_();
    /* A load may bring a location into the model's tables, through which others store. */
    uint64_t v = mm_load(ex.cur->id, (void *)(uintptr_t)addr, size, bits_of(s));

    does(addr, /*reads*/ true);
    note(s, addr, v, v, false, stale, mm.stats.moved_stores);
    tell(s, addr, v, v, 0, true);
    ex_did_((enum ex_verb)s->verb, ex_value_(v, size));
    return v;
}

void ex_store_slow_(const struct ex_site *s, void *addr, unsigned size, uint64_t value)
{
    ex_signals_first_();
    uint64_t moved = mm.stats.moved_stores;
    uint64_t before = ex.tells ? mm_peek(ex_tid(), addr, size) : 0;

    mm_store(ex.cur->id, addr, size, bits_of(s), value);
    ex_unsettle_(); /* a buffer may hold it back */
    does(addr, /*reads*/ false);
    note(s, addr, value, value, true, mm.stats.stale_loads, moved);
    tell(s, addr, before, value, 0, true);
    ex_did_((enum ex_verb)s->verb, ex_value_(value, size));
}

uint64_t ex_rmw_slow_(const struct ex_site *s, void *addr, unsigned size, enum mm_rmw how,
                      uint64_t operand, uint64_t expect, bool *wrote)
{
    ex_signals_first_();
    uint64_t stale = mm.stats.stale_loads, moved = mm.stats.moved_stores;
    uint64_t old = mm_rmw(ex.cur->id, addr, size, bits_of(s), how, operand, expect, wrote);

    does(addr, /*reads*/ !*wrote);
    note(s, addr, *wrote ? mm_rmw_value(how, old, operand, size) : operand, old, *wrote, stale,
         moved);
    tell(s, addr, old, *wrote ? mm_rmw_value(how, old, operand, size) : old, expect, *wrote);
    ex_did_rmw_((enum ex_verb)s->verb, old, size, *wrote);
    return old;
}

void ex_fence_(const struct ex_site *s)
{
    point();
    mm_fence(ex.cur->id, bits_of(s));
    note(s, NULL, 0, 0, false, mm.stats.stale_loads, mm.stats.moved_stores);
    tell(s, NULL, 0, 0, 0, true);
    ex_did_(VERB_fence, 0);
}

uint64_t ex_peek_slow_(const void *addr, unsigned size) { return mm_peek(ex_tid(), addr, size); }

/* ---- time and CPU ---- */

/* ps from ns; NEVER for a negative or unreachable time. */
static uint64_t until(int64_t ns)
{
    return ns < 0 || (uint64_t)ns > (NEVER - ex_hot.now) / 1000 - 1
               ? NEVER
               : ex_hot.now + (uint64_t)ns * 1000;
}

/* The instant at which the host's timer for `at` goes off. */
static uint64_t timer_due(uint64_t at)
{
    uint64_t granule = ex_cost_(COST_timer_granule), slack = ex_cost_(COST_timer_slack);

    if (at > NEVER - slack - granule)
        return NEVER;
    at += slack;
    return granule > 1 ? (at + granule - 1) / granule * granule : at;
}

/* Sleeps; a signal that arrives is handled, but for one in a system call, which has its length. */
static bool sleep_until(enum ex_wait how, uint64_t at)
{
    uint64_t due = how == WAIT_SYSCALL ? at : timer_due(at);
    bool timed_out = ex_wait_(how, due < ex_hot.now ? ex_hot.now : due);

    if (how != WAIT_SYSCALL)
        ex_signals_(ex.cur);
    return timed_out;
}

/* ---- what may go wrong ---- */

bool ex_fault_(enum fault_kind k)
{
    const struct faults *x = &ex.o.faults;
    struct choice c = {.kind = CHOICE_FAULT, .n = 2, .step = ex_steps_()};

    if (!x->on[k] || ex.starting || !ex.running || ex.cur == NULL ||
        ex.faults >= (x->most != 0 ? x->most : FAULTS_MOST) || ex_choose_(&c) == 0)
        return false;
    ex.faults++;
    ex_note_(ex_tid(), VERB_fault, NULL, k);
    return true;
}

static uint64_t fault_ps(enum fault_kind k) { return (uint64_t)ex.o.faults.ns[k] * 1000; }

/* A fault: the calling thread was woken and gets no CPU for a while. */
static void may_be_late(void)
{
    if (ex_fault_(FAULT_late))
        ex_wait_(WAIT_BURST, ex_hot.now + fault_ps(FAULT_late));
}

int64_t ex_host_now_(void) { return (int64_t)(ex_hot.now / 1000); }

int64_t ex_nanotime_(void)
{
    point();
    ex_does_other_();
    if (ex_fault_(FAULT_clock))
        ex_spend_(fault_ps(FAULT_clock));
    int64_t ns = ex_host_now_();
    ex_spend_(ex_cost_(COST_nanotime));
    if (ex_hot.turns)
        ex_turn_clock_();
    return ns;
}

void ex_work_(enum work_kind kind, uint64_t n)
{
    ex_hot.now += ex.cost_table->work[kind] * n;
    if (kind == W_op) /* of a program */
        gets_on();
}

/* A thread that yields lets the others come first at its next point. */
static void yielded(void)
{
    ex.cur->flags |= EX_YIELDED;
    ex_unsettle_();
}

void ex_procyield_(uint32_t n)
{
    yielded();
    point();
    ex_spend_(ex_cost_(COST_pause) * n);
}

void ex_osyield_(void)
{
    mm_kernel(ex_tid(), ex_tid());
    yielded();
    point();
    ex_spend_(ex_cost_(COST_osyield));
}

void ex_usleep_(uint32_t us)
{
    point();
    mm_kernel(ex_tid(), ex_tid());
    ex_spend_(ex_cost_(COST_usleep));
    if (ex.does && ex.cur != NULL)
        ex_does_clock_((uint32_t)ex.cur->id + 1);
    ex_trace_(ex_tid(), VERB_sleep, NULL, us);
    sleep_until(WAIT_SLEEP, until((int64_t)us * 1000));
}

/* Runs for ps or until something ends it; what is left. */
static uint64_t run_for(uint64_t ps, bool cuttable)
{
    struct ex_thread *me = ex.cur;
    uint64_t end = ps < NEVER - ex_hot.now ? ex_hot.now + ps : NEVER;

    me->cuttable = cuttable;
    ex_wait_(WAIT_BURST, end);
    return end > ex_hot.now ? end - ex_hot.now : 0;
}

int64_t ex_burst_(int64_t ns, bool cut)
{
    struct ex_thread *me = ex.cur;
    uint64_t left = ns > 0 ? until(ns) - ex_hot.now : 0;

    if (ns <= 0)
        return 0;
    point();
    gets_on();
    ex_note_(me->id, VERB_burst, NULL, (uint64_t)ns);
    while (left > 0 && !(cut && me->cut)) {
        left = run_for(left, cut);
        ex_signals_(me);
    }
    if (cut)
        me->cut = false;
    return (int64_t)((left + 999) / 1000);
}

void ex_syscall_body_(int64_t ns, bool off_cpu)
{
    point();
    mm_kernel(ex_tid(), ex_tid());
    ex_spend_(ex_cost_(COST_syscall_enter));
    gets_on();
    ex_note_(ex_tid(), VERB_syscall, NULL, (uint64_t)ns);
    if (ns < 0)
        ns = 0;
    if (ex_fault_(FAULT_syscall))
        ns += ex.o.faults.ns[FAULT_syscall];
    if (off_cpu)
        sleep_until(WAIT_SYSCALL, until(ns));
    else
        for (uint64_t left = (uint64_t)ns * 1000; left > 0;)
            left = run_for(left, /*cuttable*/ false);
    ex_spend_(ex_cost_(COST_syscall_exit));
    ex_signals_(ex.cur);
}

static void timer_add(uint64_t at, void (*fn)(void *), void *arg)
{
    if (ex.timer_count == EX_EVENTS_MAX)
        ex_leave_(END_LIMIT, "timed events of the environment");
    ex.timers[ex.timer_count++] = (struct ex_timer){at, ++ex.seq, fn, arg};
    if (at < ex.due)
        ex.due = at;
    ex_unsettle_();
}

static void cut_burst(struct ex_thread *t, uint64_t at)
{
    if (t->wait == WAIT_BURST && t->cuttable)
        ex_wake_(t, at, false);
}

void ex_nudge_(struct hostm *hm)
{
    point();
    ex_does_other_();
    if (hm->thread == NULL)
        return;
    hm->thread->cut = true;
    cut_burst(hm->thread, ex_hot.now);
}

/* ---- threads ---- */

void ex_newosproc_(struct hostm *hm, void (*fn)(void *), void *arg)
{
    point();
    uint64_t at = ex_hot.now + ex_cost_(COST_thread_start_latency);
    ex_spend_(ex_cost_(COST_thread_start));
    struct ex_thread *t = ex_thread_new_(hm, fn, arg);
    t->now = at;
    ex_note_(ex_tid(), VERB_start, NULL, (uint64_t)t->id);
    mm_kernel(ex_tid(), t->id);
}

void *ex_getarg_(void) { return ex.cur != NULL ? ex.cur->arg : NULL; }

/* The handler runs when the thread goes on, wherever it then is: between any two of its points. A
 * sleeper comes back early, which all sleeps but a system call's allow, and so does a burst. */
static void signal_arrives(void *arg)
{
    struct ex_thread *t = arg;

    if (t->wait == WAIT_DEAD)
        return;
    t->flags |= EX_SIGNALLED;
    ex_unsettle_();
    if (t->wait != WAIT_NOT && t->wait != WAIT_SYSCALL && !t->handling)
        ex_wake_(t, ex_hot.now, false);
}

/* The signal arrives at once and the strategy says how late, or when virtual time says so. */
void ex_signalm_(struct hostm *hm)
{
    point();
    ex_does_other_();
    struct ex_thread *t = hm->thread;

    ex_spend_(ex_cost_(COST_signal_send));
    if (t == NULL || t->wait == WAIT_DEAD)
        return;
    mm_kernel(ex_tid(), t->id);
    ex_note_(ex_tid(), VERB_signal, NULL, (uint64_t)t->id);
    if (ex_fault_(FAULT_signal))
        timer_add(ex_hot.now + fault_ps(FAULT_signal), signal_arrives, t);
    else if (ex.wants_time)
        timer_add(ex_hot.now + ex_cost_(COST_signal_latency), signal_arrives, t);
    else
        signal_arrives(t);
}

void ex_futexsleep_(uint32_t *addr, uint32_t val, int64_t ns)
{
    point();
    ex_spend_(ex_hot.cost[VERB_load]);
    uint32_t seen = (uint32_t)mm_kernel_read(ex_tid(), addr, sizeof(*addr));
    ex_note_(ex_tid(), VERB_futexsleep, addr, seen);
    if (seen != val || ex_fault_(FAULT_spurious)) {
        ex_spend_(ex_cost_(COST_syscall_enter) + ex_cost_(COST_syscall_exit));
        return;
    }
    uint64_t end = until(ns);
    ex_spend_(ex_cost_(COST_futex_sleep));
    ex.cur->futex = addr;
    sleep_until(WAIT_FUTEX, end);
    may_be_late();
    ex_spend_(ex_cost_(COST_futex_return));
}

/* Of those who wait like that, the first to come. addr: of a futex, else NULL. */
static struct ex_thread *first_waiter(enum ex_wait how, const uint32_t *addr)
{
    struct ex_thread *first = NULL;

    for (int i = 0; i < ex.thread_count; i++) {
        struct ex_thread *t = &ex.threads[i];
        if (t->wait == how && t->futex == addr && (first == NULL || t->seq < first->seq))
            first = t;
    }
    return first;
}

void ex_futexwakeup_(uint32_t *addr, uint32_t n)
{
    struct ex_thread *t;
    uint32_t woken = 0;

    point();
    mm_kernel(ex_tid(), ex_tid());
    ex_note_(ex_tid(), VERB_futexwakeup, addr, n);
    for (; woken < n && (t = first_waiter(WAIT_FUTEX, addr)) != NULL; woken++) {
        ex_spend_(ex_cost_(COST_futex_wake));
        mm_kernel(ex_tid(), t->id);
        ex_wake_(t, ex_hot.now, false);
    }
    if (woken == 0)
        ex_spend_(ex_cost_(COST_futex_wake_none));
}

/* ---- environment ---- */

void ex_env_at_(int64_t ns, void (*fn)(void *), void *arg)
{
    uint64_t at = ns < 0 ? 0 : (uint64_t)ns * 1000;

    ex_does_other_();
    timer_add(at < ex_hot.now ? ex_hot.now : at, fn, arg);
}

static void wake_poller(void)
{
    struct ex_thread *t = first_waiter(WAIT_POLL, NULL);

    if (t == NULL)
        return;
    mm_kernel(ex_tid(), t->id);
    ex_wake_(t, ex_hot.now, false);
}

static void remember_ready(int32_t fd, uint32_t mode)
{
    for (uint32_t i = 0; i < ex.ready_count; i++)
        if (ex.ready[i].fd == fd) {
            ex.ready[i].mode |= mode;
            return;
        }
    if (ex.ready_count == EX_READY_MAX)
        ex_leave_(END_LIMIT, "ready descriptors");
    ex.ready[ex.ready_count++] = (struct ex_ready){fd, mode};
}

void ex_env_ready_(int32_t fd, uint32_t mode)
{
    ex_does_other_();
    remember_ready(fd, mode);
    wake_poller();
}

/* The break descriptor comes first and is seen by a blocking call only, as Go reads it. */
static int32_t take_ready(struct poll_event *ev, int32_t cap, bool blocking)
{
    int32_t n = 0;
    uint32_t taken = 0;

    if (blocking && ex.poll_broken && n < cap) {
        ex.poll_broken = false;
        ev[n++] = (struct poll_event){-1, 1};
    }
    while (taken < ex.ready_count && n < cap) {
        ev[n++] = (struct poll_event){ex.ready[taken].fd, ex.ready[taken].mode};
        taken++;
    }
    for (uint32_t i = taken; i < ex.ready_count; i++)
        ex.ready[i - taken] = ex.ready[i];
    ex.ready_count -= taken;
    ex_spend_((uint64_t)(uint32_t)n * ex_cost_(COST_epoll_event));
    return n;
}

int32_t ex_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap)
{
    point();
    ex_does_other_();
    mm_kernel(ex_tid(), ex_tid());
    uint64_t end = until(ns);
    ex_spend_(ex_cost_(COST_epoll_poll));
    int32_t n = take_ready(ev, cap, ns != 0);
    while (n == 0 && ns != 0 && ex_hot.now < end) {
        ex_note_(ex_tid(), VERB_poll, NULL, 0);
        uint32_t signals = ex.cur->signals;
        sleep_until(WAIT_POLL, end);
        may_be_late();
        n = take_ready(ev, cap, true);
        if (ex.cur->signals != signals && ns > 0)
            break; /* a signal ends a sleep that has a timeout */
    }
    return n;
}

void ex_netpoll_wakeup_(void)
{
    point();
    ex_does_other_();
    mm_kernel(ex_tid(), ex_tid());
    ex_spend_(ex_cost_(COST_epoll_break));
    ex.poll_broken = true;
    wake_poller();
}

int32_t ex_ncpu_(void) { return ex.o.ncpu; }

bool ex_quota_(int64_t *quota_us, int64_t *period_us)
{
    point();
    ex_spend_(ex_cost_(COST_quota_read));
    if (ex.o.quota_us == 0)
        return false;
    *quota_us = ex.o.quota_us;
    *period_us = ex.o.period_us != 0 ? ex.o.period_us : 100000;
    return true;
}

uint64_t ex_draw_(uint64_t n, uint64_t fallback)
{
    return choose_below(ex_choose_, n, fallback, ex_steps_());
}

uint64_t ex_seed64_(void) { return rng_next(&ex.seeds); }

void *ex_alloc_(size_t size, size_t align)
{
    if (ex_fault_(FAULT_alloc))
        ex_finding_(ex.o.fatal_kind, "fatal error: runtime: out of memory");
    return arena_alloc(&ex.arena, size, align);
}

void ex_records_flush_(void)
{
    if (ex.record_count > 0)
        ex.o.sink(ex.o.sink_arg, ex.records, ex.record_count);
    ex.record_count = 0;
}

static void record(uint32_t type, uint64_t g, uint64_t a, uint32_t b, uint32_t c)
{
    const struct ex_thread *t = ex.cur;
    ex.record_time = ex_hot.now > ex.record_time ? ex_hot.now : ex.record_time + 1;
    const struct event_rec rec = {.time = ex.record_time,
                                  .a = a,
                                  .b = b,
                                  .g = (uint32_t)g,
                                  .type = (uint16_t)type,
                                  .m = t != NULL ? (uint16_t)t->id : EVENT_NO_M,
                                  .p = t != NULL && t->p >= 0 ? (uint16_t)t->p : EVENT_NO_P,
                                  .c = (uint16_t)c};
    if (ex.tells && ex.to.event != NULL)
        ex.to.event(ex.to.arg, &rec);
    if (ex.records == NULL)
        return;
    ex.records[ex.record_count++] = rec;
    if (ex.record_count == EVENT_BATCH_COUNT)
        ex_records_flush_();
}

void ex_emit_(uint32_t type, uint64_t g, uint64_t a, uint32_t b, uint32_t c)
{
    if (__builtin_expect(ex.records != NULL || ex.tells, 0))
        record(type, g, a, b, c);
    if (type == EV_G_START)
        gets_on();
    fp_mix4(&ex_hot.fp, ex_hot.now, type, g, a ^ (uint64_t)b << 32 ^ (uint64_t)c << 16);
}

void ex_set_p_(int32_t pid)
{
    if (ex.cur != NULL)
        ex.cur->p = pid;
}

_Noreturn void ex_throw_(const char *text)
{
    if (ex.running)
        ex_leave_(END_THROWN, text);
    throw_at(__FILE__, __LINE__, __func__, "%s", text);
}

void ex_finding_(int kind, const char *text)
{
    ex.finding_kind = kind;
    ex_leave_(END_FINDING, text);
}

_Noreturn void ex_stop_(void)
{
    point();
    ex_leave_(END_STOPPED, "");
}
