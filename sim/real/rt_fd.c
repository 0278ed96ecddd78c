/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The descriptors of the program, and the poller.
 *
 * A descriptor is a pipe whose reading end is registered, edge-triggered, in the world's one epoll;
 * a request that arrives is a byte that the environment writes. One that becomes writable at times
 * has a second pipe: its writing end is registered, it is full but from such a moment until the
 * poller has said so. A write to any other descriptor goes into a pipe that is registered nowhere;
 * the pipe stands for the peer, which reads all when the pipe is full.
 *
 * The edges that epoll gives for a new descriptor that can be written to are not asked for: other
 * hosts have none. The break is an eventfd, registered by level as Go does: a poll that does not
 * block leaves it to one that does.
 *
 * The lock guards the table: the environment may write while the program closes.
 */
#include "rt_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    BATCH_MAX = 128,     /* events that one call of epoll gives */
    OUT_SIZE = 4096,     /* of the pipe that is full most of the time */
    PIPE_SIZE = 1 << 16, /* of any other */
};

struct fd {
    int in[2], out[2]; /* number + 1 of reading and writing end; 0: not open */
    bool closed;
    bool in_edges, out_edges; /* registered */
};

static struct {
    pthread_mutex_t lock;
    struct fd *table;
    int32_t used; /* all from here on are not open */
    int epoll, bell;
} fds = {.epoll = -1, .bell = -1};

static const uint64_t OUT_EDGE = UINT64_C(1) << 32, BELL = UINT64_MAX;
static const char zeros[PIPE_SIZE];

static void lock(void)
{
    rt_hold_();
    pthread_mutex_lock(&fds.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&fds.lock);
    rt_unhold_();
}

/* ---- pipes ---- */

/* As Go does at its start: the soft limit is for programs that use select(2). */
static bool raise_limit(void)
{
    struct rlimit l;

    if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur == l.rlim_max)
        return false;
    l.rlim_cur = l.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &l) == 0;
}

bool rt_pipe_(int *ends, int flags)
{
    int p[2];

    if (pipe2(p, O_CLOEXEC | flags) != 0 &&
        (errno != EMFILE || !raise_limit() || pipe2(p, O_CLOEXEC | flags) != 0))
        return false;
    ends[0] = p[0] + 1;
    ends[1] = p[1] + 1;
    return true;
}

void rt_pipe_close_(int *ends)
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] != 0)
            close(ends[i] - 1);
        ends[i] = 0;
    }
}

static void drain(const int *ends)
{
    char buf[OUT_SIZE];

    while (read(ends[0] - 1, buf, sizeof buf) == sizeof buf)
        ;
}

static void fill(const int *ends)
{
    while (write(ends[1] - 1, zeros, OUT_SIZE) > 0)
        ;
}

static bool watch(int end, uint32_t events, uint64_t data)
{
    struct epoll_event e = {.events = events | (uint32_t)EPOLLET, .data.u64 = data};

    return epoll_ctl(fds.epoll, EPOLL_CTL_ADD, end - 1, &e) == 0;
}

static bool open_out(struct fd *f) { return f->out[0] != 0 || rt_pipe_(f->out, O_NONBLOCK); }

static bool watch_in(struct fd *f, int32_t fd)
{
    if (f->in_edges)
        return true;
    f->in_edges = rt_pipe_(f->in, O_NONBLOCK) && watch(f->in[0], EPOLLIN, (uint64_t)fd);
    return f->in_edges;
}

static bool watch_out(struct fd *f, int32_t fd)
{
    if (f->out_edges)
        return true;
    if (!open_out(f))
        return false;
    fcntl(f->out[1] - 1, F_SETPIPE_SZ, OUT_SIZE);
    fill(f->out);
    f->out_edges = watch(f->out[1], EPOLLOUT, (uint64_t)fd | OUT_EDGE);
    return f->out_edges;
}

/* ---- a descriptor's life ---- */

static struct fd *fd_at(int32_t fd)
{
    if (fd < 0 || fd >= RT_FDS_MAX)
        rt_limit_("real threads: descriptor out of range");
    return &fds.table[fd];
}

/* The lock is held. */
static bool prepare(struct fd *f, int32_t fd, uint32_t mode)
{
    if (fd >= fds.used)
        fds.used = fd + 1;
    return (mode & 1) == 0 || watch_in(f, fd) ? (mode & 2) == 0 || watch_out(f, fd) : false;
}

static _Noreturn void refused(void)
{
    rt_limit_("real threads: the system gives no more descriptors (ulimit -n)");
}

void rt_descriptor_open_(int32_t fd, uint32_t mode)
{
    struct fd *f = fd_at(fd);
    bool ok;

    lock();
    ok = prepare(f, fd, mode | 1);
    unlock();
    if (!ok)
        refused();
}

void rt_descriptor_close_(int32_t fd)
{
    struct fd *f = fd_at(fd);

    lock();
    f->closed = true;
    rt_pipe_close_(f->in);
    rt_pipe_close_(f->out);
    unlock();
}

/* Whoever reads or writes holds the descriptor: it is not closed meanwhile, and nobody else reads
 * (writes). */
bool rt_descriptor_read_(int32_t fd)
{
    char byte;

    return read(fd_at(fd)->in[0] - 1, &byte, 1) == 1;
}

void rt_descriptor_write_(int32_t fd)
{
    struct fd *f = fd_at(fd);
    bool ok;

    if (f->out[1] == 0) {
        lock();
        ok = open_out(f);
        unlock();
        if (!ok)
            refused();
    }
    if (write(f->out[1] - 1, zeros, 1) == 1 || f->out_edges)
        return;
    drain(f->out); /* the peer has read it all */
    if (write(f->out[1] - 1, zeros, 1) != 1)
        rt_throw_("real threads: a pipe that is empty takes nothing");
}

/* ---- what comes from outside ---- */

static bool feed(const struct fd *f, int64_t n)
{
    while (n > 0) {
        ssize_t wrote = write(f->in[1] - 1, zeros, n < PIPE_SIZE ? (size_t)n : PIPE_SIZE);

        if (wrote <= 0)
            return false;
        n -= wrote;
    }
    return true;
}

void rt_env_ready_(int32_t fd, uint32_t mode, int64_t n)
{
    struct fd *f = fd_at(fd);
    bool ok, fits = true;

    lock();
    ok = f->closed || prepare(f, fd, mode);
    if (ok && !f->closed && (mode & 1) != 0)
        fits = feed(f, n);
    if (ok && !f->closed && (mode & 2) != 0)
        drain(f->out);
    unlock();
    if (!ok)
        refused();
    if (!fits)
        rt_limit_("real threads: more requests wait at a descriptor than a pipe holds (65536)");
}

void rt_netpoll_wakeup_(void)
{
    uint64_t one = 1;

    while (write(fds.bell, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

/* ---- the poller ---- */

static bool take_break(void)
{
    uint64_t n;

    return read(fds.bell, &n, sizeof n) == sizeof n;
}

/* The poller has said that fd can be written to: from now on it cannot, again. An edge since epoll
 * looked is part of this one. */
static void fill_again(int32_t fd)
{
    lock();
    if (!fds.table[fd].closed)
        fill(fds.table[fd].out);
    unlock();
}

static int32_t put(struct poll_event *ev, int32_t n, int32_t fd, uint32_t mode, bool may_be_there)
{
    for (int32_t i = 0; may_be_there && i < n; i++)
        if (ev[i].fd == fd) {
            ev[i].mode |= mode;
            return n;
        }
    ev[n] = (struct poll_event){.fd = fd, .mode = mode};
    return n + 1;
}

static int32_t tell(const struct epoll_event *got, int count, struct poll_event *ev, bool blocking)
{
    bool outs = false;
    int32_t n = 0;

    for (int i = 0; i < count; i++) {
        uint64_t data = got[i].data.u64;
        int32_t fd = (int32_t)(uint32_t)data;
        bool out = (data & OUT_EDGE) != 0;

        if (data == BELL) {
            if (blocking && take_break())
                ev[n++] = (struct poll_event){.fd = -1, .mode = 1};
            continue;
        }
        outs |= out;
        n = put(ev, n, fd, out ? 2 : 1, outs);
        if (out)
            fill_again(fd);
    }
    return n;
}

static int ms_until(int64_t deadline)
{
    int64_t ms = (deadline - rt_clock_() + 999999) / 1000000;

    return ms < 0 ? 0 : ms > 1000000000 ? 1000000000 : (int)ms;
}

static int ask(struct epoll_event *got, int32_t cap, int timeout_ms)
{
    int n;

    rt_sleeps_(timeout_ms < 0);
    n = epoll_pwait(fds.epoll, got, cap < BATCH_MAX ? cap : BATCH_MAX, timeout_ms, NULL);
    rt_awake_();
    return n;
}

/* A signal may end the wait: then it goes on. */
int32_t rt_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap)
{
    struct epoll_event got[BATCH_MAX];
    int64_t deadline = ns > 0 ? rt_clock_() + ns : 0;
    int32_t n;

    rt_self_->stats.polls++;
    do {
        int count = ask(got, cap, ns < 0 ? -1 : ns == 0 ? 0 : ms_until(deadline));

        n = tell(got, count, ev, ns != 0);
    } while (n == 0 && (ns < 0 || (ns > 0 && rt_clock_() < deadline)));
    return n;
}

/* ---- set up, tear down ---- */

bool rt_fds_init_(void)
{
    struct epoll_event e = {.events = EPOLLIN, .data.u64 = BELL};

    pthread_mutex_init(&fds.lock, NULL);
    fds.used = 0;
    fds.table = pages_map(sizeof *fds.table * RT_FDS_MAX, /*usable*/ true);
    fds.epoll = epoll_create1(EPOLL_CLOEXEC);
    fds.bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fds.table && fds.epoll >= 0 && fds.bell >= 0 &&
           epoll_ctl(fds.epoll, EPOLL_CTL_ADD, fds.bell, &e) == 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void rt_fds_free_(void)
{
    for (int32_t i = 0; fds.table && i < fds.used; i++) {
        rt_pipe_close_(fds.table[i].in);
        rt_pipe_close_(fds.table[i].out);
    }
    close_one(&fds.epoll);
    close_one(&fds.bell);
    pages_unmap(fds.table, sizeof *fds.table * RT_FDS_MAX);
    fds.table = NULL;
    fds.used = 0;
    pthread_mutex_destroy(&fds.lock);
}
