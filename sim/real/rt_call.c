/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls of the program, by what they do (sim/base/syscall.h): each is one real call, or as
 * many as fill its time.
 */
#include "rt_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    FILE_SIZE = 1 << 20,
    PIECE = 1 << 14, /* on the stack of who reads */
    PIECES = FILE_SIZE / PIECE,
};

static struct {
    pthread_mutex_t lock;
    int fd;               /* + 1; 0: not yet */
    int64_t bytes_per_us; /* that a read copies */
} file = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Noreturn void refused(void)
{
    rt_limit_("real threads: the system refuses a pipe or a file for a system call");
}

/* ---- a pipe ---- */

static void write_to(void *arg)
{
    struct rt_thread *t = arg;

    if (write(t->pipe[1] - 1, "", 1) != 1)
        rt_throw_("real threads: a pipe that is empty takes nothing");
}

/* The environment writes when the call is to end. */
static void read_pipe(int64_t ns)
{
    struct rt_thread *t = rt_self_;
    char byte;
    bool ok;

    rt_hold_();
    ok = t->pipe[0] != 0 || rt_pipe_(t->pipe, 0);
    rt_unhold_();
    if (!ok)
        refused();
    rt_env_at_(rt_nanotime_() + ns, write_to, t);
    for (ssize_t n = -1; n < 0;) {
        rt_sleeps_(false);
        n = read(t->pipe[0] - 1, &byte, 1);
        rt_awake_();
    }
}

/* ---- a file ---- */

static int64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* n bytes in one call, again and again into the same room. */
static void read_bytes(int64_t n)
{
    char room[PIECE];
    struct iovec v[PIECES];
    int pieces = 0;

    for (; n > 0 && pieces < PIECES; n -= PIECE)
        v[pieces++] = (struct iovec){room, (size_t)(n < PIECE ? n : PIECE)};
    if (preadv(file.fd - 1, v, pieces, 0) < 0 && errno != EINTR)
        rt_throw_("real threads: a file of ours cannot be read");
}

/* A file without a name where temporary files are; where there is no such place, in memory. */
static int make_file(void)
{
    const char *folder = getenv("TMPDIR");
    int fd = open(folder != NULL ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 ? fd : memfd_create("gmpsim", MFD_CLOEXEC);
}

/* The file's bytes are written, and read twice: the second time they are where they will be. */
static bool open_file(void)
{
    static const char zeros[PIECE];
    int fd = make_file();
    int64_t began;

    for (int i = 0; fd >= 0 && i < PIECES; i++)
        if (write(fd, zeros, PIECE) != PIECE) {
            close(fd);
            return false;
        }
    if (fd < 0)
        return false;
    file.fd = fd + 1;
    read_bytes(FILE_SIZE);
    began = cpu_ns();
    read_bytes(FILE_SIZE);
    file.bytes_per_us = FILE_SIZE * 1000 / (cpu_ns() - began + 1) + 1;
    return true;
}

static void read_file(int64_t ns)
{
    int64_t left, until = cpu_ns() + ns;
    bool ok;

    rt_hold_();
    pthread_mutex_lock(&file.lock);
    ok = file.fd != 0 || open_file();
    pthread_mutex_unlock(&file.lock);
    rt_unhold_();
    if (!ok)
        refused();
    while ((left = until - cpu_ns()) > 0)
        read_bytes(left * file.bytes_per_us / 1000 + 1);
}

/* ---- all of them ---- */

void rt_syscall_body_(int64_t ns, enum syscall_kind kind)
{
    if (ns <= 0)
        kind = SYSCALL_SPIN;
    switch (kind) {
    case SYSCALL_SLEEP: rt_sleep_(ns); return;
    case SYSCALL_PIPE: read_pipe(ns); return;
    case SYSCALL_FILE: read_file(ns); return;
    case SYSCALL_SPIN:
    case SYSCALL_KINDS: break;
    }
    syscall(SYS_getppid); /* a real way in and out; then as user code would */
    rt_burst_(ns, BURST_WHOLE);
}

void rt_calls_free_(void)
{
    struct rt_world *w = &rt_world_;

    for (int32_t i = 0; w->threads && i < atomic_load(&w->nthreads); i++)
        rt_pipe_close_(w->threads[i].pipe);
    if (file.fd != 0)
        close(file.fd - 1);
    file.fd = 0;
}
