/* SPDX-License-Identifier: BSD-3-Clause */
/* The same world for the timed host and for the explorer: threads that do one verb after the other,
 * drawn from a seed, and write down when. Compiled twice; see timed_test.c. */
#include <host.h>

#include "timed.h"

#include "sim/base/rng.h"

enum { THREADS = TIMED_THREADS, STARTED = 3, WORDS = 4, FDS = 3 };

static struct shared {
    ATOMIC(uint32_t) word[WORDS];
    ATOMIC(uint64_t) sum;
    ATOMIC(uint32_t) started;
    struct hostm hm[THREADS];
    struct rng rng[THREADS];
} * s;

static struct timed_log *log_;
static uint32_t ops_max;

static void note(uint32_t thread, uint32_t op, uint64_t value)
{
    if (log_->count[thread] < TIMED_OPS_MAX)
        log_->op[thread][log_->count[thread]++] = (struct timed_op){host_now(), value, op};
}

static void on_signal(void *arg)
{
    uint32_t me = (uint32_t)(uintptr_t)arg - 1;

    note(me, 100, 0);
    a_add(&s->sum, 1u);
}

static void ready(void *arg)
{
    note(THREADS, 0, 0);
    env_ready((int32_t)(uintptr_t)arg, 1, 1);
}

static void thread(void *arg);

static uint64_t start_one(void)
{
    uint32_t i = a_add(&s->started, 1u);

    if (i >= THREADS)
        return 0;
    newosproc(&s->hm[i], thread, (void *)(uintptr_t)(i + 1));
    return i;
}

static uint64_t poll_some(int64_t ns)
{
    struct poll_event ev[FDS];

    return (uint64_t)netpoll_wait(ns, ev, FDS);
}

/* Returns what the verb said. */
static uint64_t step(uint32_t op, struct rng *r)
{
    uint32_t w = (uint32_t)rng_below(r, WORDS), x = (uint32_t)rng_below(r, 3);
    uint32_t other = (uint32_t)rng_below(r, THREADS);
    int64_t ns = (int64_t)rng_below(r, 20000);

    switch (op) {
    case 0: return a_load(&s->word[w]);
    case 1: a_store(&s->word[w], x); return x;
    case 2: return a_cas(&s->word[w], x, x + 1);
    case 3: return a_add(&s->sum, 1u);
    case 4: work_n(schedule, x); return x;
    case 5: return (uint64_t)burst(ns, x ? BURST_CUT : BURST_WHOLE);
    case 6: host_usleep(x); return 0;
    case 7: futexsleep(&s->word[w], x, ns); return 0;
    case 8: futexwakeup(&s->word[w], x + 1); return 0;
    case 9: nudge(&s->hm[other]); return 0;
    case 10: signalm(&s->hm[other]); return 0;
    case 11: return start_one();
    case 12: osyield(); return 0;
    case 13: procyield(x); return 0;
    case 14: return (uint64_t)nanotime();
    case 15: return draw(x + 2, (uint64_t)x);
    case 16: env_at(host_now() + ns, ready, (void *)(uintptr_t)(w % FDS)); return 0;
    case 17: return poll_some(x == 0 ? 0 : ns);
    case 18: syscall_body(ns, x == 0); return 0;
    case 19: netpoll_wakeup(); return 0;
    default: return (uint64_t)host_seed64();
    }
}

static void thread(void *arg)
{
    uint32_t me = (uint32_t)(uintptr_t)arg - 1;
    struct rng *r = &s->rng[me];

    for (uint32_t i = 0; i < ops_max; i++) {
        uint32_t op = (uint32_t)rng_below(r, 21);
        uint64_t value = step(op, r);
        note(me, op, value);
    }
}

void TIMED(run)(uint64_t seed, const struct costs *costs, uint32_t ops, struct timed_log *log)
{
    log_ = log;
    *log = (struct timed_log){0};
    ops_max = ops;
    TIMED(open)(seed, costs, on_signal);
    s = host_alloc(sizeof *s, 64);
    for (uint32_t i = 0; i < WORDS; i++)
        a_init(&s->word[i], 0);
    a_init(&s->sum, 0);
    a_init(&s->started, STARTED - 1);
    for (uint32_t i = 0; i < THREADS; i++)
        rng_init(&s->rng[i], seed, RNG_USER, i);
    for (uint32_t i = 0; i < STARTED; i++)
        TIMED(start)(&s->hm[i], thread, (void *)(uintptr_t)(i + 1));
    TIMED(finish)();
}
