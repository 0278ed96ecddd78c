/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment: one thread that makes calls at their times.
 *
 * env.lock guards everything here. It is held for a few instructions, and never while a callback
 * runs.
 */
#include "rt_int.h"

#include <string.h>
#include <unistd.h>

struct timer {
    int64_t when;
    uint64_t seq; /* calls of the same time are made in the order of env_at */
    void (*fn)(void *);
    void *arg;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* for the environment's thread */
    struct rt_thread thread;
    bool started, stop, calling;

    struct timer *heap;
    uint32_t ntimers;
    uint64_t seq;

} env;

static void lock(void)
{
    rt_hold_();
    pthread_mutex_lock(&env.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&env.lock);
    rt_unhold_();
}

/* ---- the heap of calls ---- */

static bool before(const struct timer *a, const struct timer *b)
{
    return a->when < b->when || (a->when == b->when && a->seq < b->seq);
}

static void push(struct timer t)
{
    uint32_t i = env.ntimers++;

    while (i > 0 && before(&t, &env.heap[(i - 1) / 2])) {
        env.heap[i] = env.heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    env.heap[i] = t;
}

static struct timer pop(void)
{
    struct timer first = env.heap[0], last = env.heap[--env.ntimers];
    uint32_t i = 0, child;

    while ((child = 2 * i + 1) < env.ntimers) {
        if (child + 1 < env.ntimers && before(&env.heap[child + 1], &env.heap[child]))
            child++;
        if (!before(&env.heap[child], &last))
            break;
        env.heap[i] = env.heap[child];
        i = child;
    }
    env.heap[i] = last;
    return first;
}

void rt_env_at_(int64_t ns, void (*fn)(void *), void *arg)
{
    bool full;

    lock();
    full = env.ntimers == RT_TIMERS_MAX;
    if (!full) {
        push((struct timer){.when = ns, .seq = env.seq++, .fn = fn, .arg = arg});
        pthread_cond_signal(&env.changed);
    }
    unlock();
    if (full)
        rt_limit_("real threads: too many env_at calls pending");
}

/* ---- the thread ---- */

/* With the lock held; gives it up for the call. */
static void make_call(void)
{
    struct timer t = pop();

    env.calling = true;
    unlock();
    t.fn(t.arg);
    atomic_store(&env.thread.place, RT_OUTSIDE);
    lock();
    env.calling = false;
}

static void wait_until(int64_t when)
{
    int64_t at = when + rt_world_.epoch;
    struct timespec ts = {.tv_sec = (time_t)(at / 1000000000), .tv_nsec = (long)(at % 1000000000)};

    pthread_cond_timedwait(&env.changed, &env.lock, &ts);
}

static void serve(void)
{
    lock();
    while (!env.stop) {
        if (env.ntimers == 0)
            pthread_cond_wait(&env.changed, &env.lock);
        else if (env.heap[0].when > host_now())
            wait_until(env.heap[0].when);
        else
            make_call();
    }
    unlock();
}

/* The signal stays blocked here: this thread is stopped by a flag. Only a throw or a finding
 * jumps. */
static void *env_main(void *arg)
{
    (void)arg;
    rt_self_ = &env.thread;
    if (sigsetjmp(env.thread.end, 1) == 0)
        serve();
    rt_self_ = NULL;
    return NULL;
}

void rt_env_start_(void)
{
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    rt_sched_above_(&attr);
    env.started = pthread_create(&env.thread.pthread, &attr, env_main, NULL) == 0;
    pthread_attr_destroy(&attr);
    if (!env.started)
        rt_end_(END_LIMIT, 0, "real threads: the system refuses the first ones");
}

void rt_env_stop_(void)
{
    if (!env.started)
        return;
    lock();
    env.stop = true;
    pthread_cond_signal(&env.changed);
    unlock();
    pthread_join(env.thread.pthread, NULL);
    env.started = false;
}

bool rt_env_quiet_(void)
{
    bool quiet;

    lock();
    quiet = env.ntimers == 0 && !env.calling;
    unlock();
    return quiet;
}

struct rt_thread *rt_env_thread_(void) { return &env.thread; }

/* ---- set up, tear down ---- */

static void init_locks(void)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&env.lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&env.changed, &attr);
    pthread_condattr_destroy(&attr);
}

bool rt_env_init_(void)
{
    memset(&env, 0, sizeof env);
    env.thread.id = env.thread.cpu_pid = -1;
    init_locks();
    env.heap = pages_map(sizeof *env.heap * RT_TIMERS_MAX, /*usable*/ true);
    return env.heap != NULL;
}

void rt_env_free_(void)
{
    if (env.heap) {
        pthread_cond_destroy(&env.changed);
        pthread_mutex_destroy(&env.lock);
    }
    pages_unmap(env.heap, sizeof *env.heap * RT_TIMERS_MAX);
    env.heap = NULL;
}
