/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment: one thread that makes calls at their times, and the network poller.
 *
 * A poll really enters the kernel: it waits in epoll_pwait on one eventfd, the bell. What is ready
 * is a list of our own in the order of env_ready, because epoll promises no order and the
 * descriptors here have no files. The bell is readable exactly while there is something for a
 * blocking poll to report: a ready descriptor or a break. A poll that does not block leaves the
 * break alone, as a blocked poller must get it.
 *
 * env.lock guards everything here. It is held for a few instructions, and never while a callback
 * runs.
 */
#include "rt_int.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
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

    uint8_t *pending; /* of each descriptor: modes not yet polled */
    int32_t *ring;    /* descriptors with modes pending, in order; each at most once, so it cannot
                         overflow */
    uint32_t head, tail;
    bool broken; /* a break not yet reported */
    bool rung;
    int epoll, bell;
} env = {.epoll = -1, .bell = -1};

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
    env.started = pthread_create(&env.thread.pthread, NULL, env_main, NULL) == 0;
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

/* ---- the poller ---- */

/* The bell follows the state; the lock makes the two one. */
static void set_bell(void)
{
    bool ring = env.broken || env.head != env.tail;
    uint64_t n = 1;

    if (ring && !env.rung && write(env.bell, &n, sizeof n) == sizeof n)
        env.rung = true;
    else if (!ring && env.rung && read(env.bell, &n, sizeof n) == sizeof n)
        env.rung = false;
}

void rt_env_ready_(int32_t fd, uint32_t mode)
{
    if (fd < 0 || fd >= RT_FDS_MAX)
        rt_limit_("real threads: descriptor out of range");
    lock();
    if (!env.pending[fd])
        env.ring[env.tail++ % RT_FDS_MAX] = fd;
    env.pending[fd] |= (uint8_t)mode;
    set_bell();
    unlock();
}

void rt_netpoll_wakeup_(void)
{
    lock();
    env.broken = true;
    set_bell();
    unlock();
}

static int32_t take(struct poll_event *ev, int32_t cap, bool blocking)
{
    int32_t n = 0;

    lock();
    if (blocking && env.broken && cap > 0) {
        ev[n++] = (struct poll_event){.fd = -1, .mode = 1};
        env.broken = false;
    }
    while (n < cap && env.head != env.tail) {
        int32_t fd = env.ring[env.head++ % RT_FDS_MAX];

        ev[n++] = (struct poll_event){.fd = fd, .mode = env.pending[fd]};
        env.pending[fd] = 0;
    }
    set_bell();
    unlock();
    return n;
}

static int ms_until(int64_t deadline)
{
    int64_t ms = (deadline - rt_clock_() + 999999) / 1000000;

    return ms < 0 ? 0 : ms > 1000000000 ? 1000000000 : (int)ms;
}

static void wait_for_bell(int timeout_ms)
{
    struct epoll_event e;

    rt_sleeps_(timeout_ms < 0);
    epoll_pwait(env.epoll, &e, 1, timeout_ms, NULL);
    rt_awake_();
}

/* Another poller may be quicker than we are, and a signal may end the wait: then it goes on. */
int32_t rt_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap)
{
    int64_t deadline = ns > 0 ? rt_clock_() + ns : 0;
    int32_t n;

    rt_self_->stats.polls++;
    do {
        wait_for_bell(ns < 0 ? -1 : ns == 0 ? 0 : ms_until(deadline));
        n = take(ev, cap, ns != 0);
    } while (n == 0 && (ns < 0 || (ns > 0 && rt_clock_() < deadline)));
    return n;
}

/* ---- set up, tear down ---- */

static bool open_bell(void)
{
    struct epoll_event e = {.events = EPOLLIN};

    env.epoll = epoll_create1(EPOLL_CLOEXEC);
    env.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return env.epoll >= 0 && env.bell >= 0 &&
           epoll_ctl(env.epoll, EPOLL_CTL_ADD, env.bell, &e) == 0;
}

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
    env.epoll = env.bell = -1;
    env.thread.id = -1;
    init_locks();
    env.heap = pages_map(sizeof *env.heap * RT_TIMERS_MAX, /*usable*/ true);
    env.pending = pages_map(sizeof *env.pending * RT_FDS_MAX, /*usable*/ true);
    env.ring = pages_map(sizeof *env.ring * RT_FDS_MAX, /*usable*/ true);
    return env.heap && env.pending && env.ring && open_bell();
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void rt_env_free_(void)
{
    if (env.heap) {
        pthread_cond_destroy(&env.changed);
        pthread_mutex_destroy(&env.lock);
    }
    pages_unmap(env.heap, sizeof *env.heap * RT_TIMERS_MAX);
    pages_unmap(env.pending, sizeof *env.pending * RT_FDS_MAX);
    pages_unmap(env.ring, sizeof *env.ring * RT_FDS_MAX);
    env.heap = NULL;
    env.pending = NULL;
    env.ring = NULL;
    close_fd(&env.epoll);
    close_fd(&env.bell);
}
