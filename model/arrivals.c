/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrival processes: what the outside world does to a descriptor (struct arrivals in prog.h).
 *
 *   open loop    EVERY, BURSTS, TIMES: each env callback delivers and schedules the next
 *   closed loop  CLOSED: a client is a pending callback; its answer draws a think time and
 *                schedules it again
 *   POSTED       whoever writes to the other end schedules it (FDPOST)
 *
 * A callback runs outside any M: it touches only what it owns, publishes by a_init, and then rings
 * the poller. */
#include "netpoll.h"
#include "lock.h"
#include "lockrank.h"

int64_t dist_quantile(const struct dist *d, uint64_t p); /* sim/base/dist.h */

/* Every client of a closed loop has a place: a refused one would never come back. Of a recorded
 * descriptor we know how many it takes. */
static uint32_t env_backlog(const struct arrivals *a)
{
    bool posted = a->kind == ARRIVE_POSTED;
    uint32_t n = posted ? 4 : ENV_BACKLOG;
    while ((posted || a->kind == ARRIVE_CLOSED) && n < (uint32_t)a->size && n < 1u << 31)
        n *= 2;
    return n;
}

static void env_init(struct pollfd *fd, int32_t arrivals)
{
    struct envfd *e = &fd->env;
    lockInit(&e->lock, lockRankLeaf);
    if (arrivals < 0)
        return;
    e->process = &rt->prog->arrivals[arrivals];
    e->backlog = env_backlog(e->process);
    e->stamp = host_alloc(e->backlog * sizeof *e->stamp, 64);
    e->rng = host_seed64();
}

/* splitmix64: one stream per descriptor. */
static uint64_t env_rand(struct envfd *e)
{
    uint64_t z = (e->rng += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int64_t env_gap(struct envfd *e)
{
    int64_t ns = dist_quantile(rt->prog->dists[e->process->gap], env_rand(e));
    return ns > 1 ? ns : 1; /* time goes on */
}

/* Nobody waits for what comes after this: 58 days. Keeps sums of times from overflowing. */
#define ENV_NEVER INT64_C(5000000000000000)

static int64_t env_sum(int64_t a, int64_t b)
{
    return a >= ENV_NEVER || b >= ENV_NEVER ? ENV_NEVER : a + b;
}

static void env_schedule(int64_t when, void (*fn)(void *), struct pollfd *fd)
{
    if (when < ENV_NEVER)
        env_at(when, fn, fd);
}

/* n requests are there now. What does not fit the backlog is refused. */
static void env_deliver(struct pollfd *fd, int64_t n)
{
    struct envfd *e = &fd->env;
    uint64_t arrived = a_peek(&e->arrived);
    uint64_t taken = a_peek(&e->taken), dropped = a_peek(&e->dropped);
    uint64_t fit = 0;
    if ((e->process->mode & POLL_R) != 0) {
        uint64_t room = e->backlog - (arrived - taken);
        fit = (uint64_t)n < room ? (uint64_t)n : room;
        for (uint64_t i = 0; i < fit; i++)
            a_init(&e->stamp[(arrived + i) % e->backlog], host_now());
        a_init(&e->arrived, arrived + fit);
        a_init(&e->dropped, dropped + ((uint64_t)n - fit));
    }
    env_ready(fd->pd.fd, e->process->mode, (int64_t)fit);
}

/* How many of n more arrivals at `when` the process' limits allow; they count as made. */
static int64_t env_allow(struct envfd *e, int64_t when, int64_t n)
{
    const struct arrivals *a = e->process;
    if (a->end_ns != 0 && when - e->zero >= a->end_ns)
        return 0;
    if (a->count != 0 && (int64_t)e->made + n > a->count)
        n = a->count - (int64_t)e->made;
    e->made += (uint64_t)n;
    return n;
}

static void env_next(struct pollfd *fd, int64_t now);

/* EVERY, BURSTS, TIMES: the arrival that was scheduled. */
static void env_open_loop(void *arg)
{
    host_enter();
    struct pollfd *fd = arg;
    struct envfd *e = &fd->env;
    int64_t now = host_now(), size = e->process->kind == ARRIVE_BURSTS ? e->process->size : 1;
    int64_t n = env_allow(e, now, size);
    if (n != 0) {
        env_deliver(fd, n);
        env_next(fd, now);
    }
    host_leave();
}

/* Schedules the arrival after the one at `now`. */
static void env_next(struct pollfd *fd, int64_t now)
{
    struct envfd *e = &fd->env;
    const struct arrivals *a = e->process;
    if (a->kind != ARRIVE_TIMES)
        env_schedule(env_sum(now, env_gap(e)), env_open_loop, fd);
    else if (e->made < a->ntimes)
        env_schedule(env_sum(env_sum(e->zero, a->start_ns), a->times[e->made]), env_open_loop, fd);
}

/* CLOSED: a client sends. */
static void env_client(void *arg)
{
    host_enter();
    env_deliver(arg, 1);
    host_leave();
}

/* CLOSED: a client will send after it has thought. e.lock is held. */
static void env_think(struct pollfd *fd, int64_t now)
{
    int64_t when = env_sum(now, env_gap(&fd->env));
    if (env_allow(&fd->env, when, 1) == 1)
        env_schedule(when, env_client, fd);
}

static void env_begin(struct pollfd *fd)
{
    struct envfd *e = &fd->env;
    if (e->process == NULL)
        return;
    int64_t now = nanotime();
    e->zero = now;
    if (e->process->kind == ARRIVE_POSTED)
        return;
    int64_t start = env_sum(now, e->process->start_ns);
    if (e->process->kind != ARRIVE_CLOSED) {
        env_next(fd, start);
        return;
    }
    lock(&e->lock);
    for (int64_t i = 0; i < e->process->size; i++)
        env_think(fd, start);
    unlock(&e->lock);
}

static void env_post(struct pollfd *fd, int64_t after)
{
    if (fd->env.process != NULL && fd->env.process->kind == ARRIVE_POSTED)
        env_schedule(env_sum(host_now(), after > 1 ? after : 1), env_client, fd);
}

/* A request was answered: in a closed loop its client starts to think. */
static void env_answered(struct pollfd *fd)
{
    struct envfd *e = &fd->env;
    if (e->process == NULL || e->process->kind != ARRIVE_CLOSED)
        return;
    lock(&e->lock);
    env_think(fd, host_now());
    unlock(&e->lock);
}

static bool env_readable(struct envfd *e)
{
    uint64_t arrived = a_load(&e->arrived);
    return arrived != a_load(&e->taken);
}

/* read(2): the oldest request. The caller holds the descriptor's read lock. */
static bool env_take(struct envfd *e, uint64_t *request, int64_t *when)
{
    uint64_t taken = a_load(&e->taken);
    if (taken == a_load(&e->arrived))
        return false;
    *request = taken;
    *when = a_load(&e->stamp[taken % e->backlog]);
    a_store(&e->taken, taken + 1);
    return true;
}
