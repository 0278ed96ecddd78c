/* SPDX-License-Identifier: BSD-3-Clause */
/* Child processes of a test, and what they write (harness.h). */
#define _GNU_SOURCE
#include "harness.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* One pipe being drained into a buffer. What does not fit is read and dropped, so
 * that the child never blocks on us. */
struct drain {
    int fd;
    char *buf;
    size_t size, used;
};

static bool drain_some(struct drain *d)
{
    char waste[4096];
    size_t room = d->size - 1 - d->used;
    ssize_t n = room ? read(d->fd, d->buf + d->used, room) : read(d->fd, waste, sizeof waste);

    if (n <= 0)
        return false;
    if (room)
        d->used += (size_t)n;
    return true;
}

static void drain_all(struct drain *d, size_t count)
{
    struct pollfd p[2];

    for (size_t i = 0; i < count; i++)
        p[i] = (struct pollfd){.fd = d[i].fd, .events = POLLIN};
    for (size_t open = count; open > 0;) {
        poll(p, count, -1);
        for (size_t i = 0; i < count; i++)
            if (p[i].fd >= 0 && p[i].revents && !drain_some(&d[i])) {
                p[i].fd = -1;
                open--;
            }
    }
    for (size_t i = 0; i < count; i++) {
        d[i].buf[d[i].used] = 0;
        close(d[i].fd);
    }
}

static void collect(struct harness_child *c, pid_t pid, int out, int err)
{
    struct drain d[] = {{out, c->out, sizeof c->out, 0}, {err, c->err, sizeof c->err, 0}};
    int status = 0;

    drain_all(d, 2);
    while (waitpid(pid, &status, 0) != pid)
        ;
    c->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void become_child(int out, int err)
{
    int null = open("/dev/null", O_RDONLY);

    dup2(null, 0);
    dup2(out, 1);
    dup2(err, 2);
}

static _Noreturn void give_up(const char *what)
{
    perror(what);
    abort();
}

/* Returns 0 in the child; in the parent, after the child's end, its pid. */
static pid_t spawn(struct harness_child *c)
{
    int out[2], err[2];
    pid_t pid;

    fflush(NULL);
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
        give_up("pipe2");
    pid = fork();
    if (pid < 0)
        give_up("fork");
    if (pid == 0) {
        become_child(out[1], err[1]);
        return 0;
    }
    close(out[1]);
    close(err[1]);
    collect(c, pid, out[0], err[0]);
    return pid;
}

void harness_fork(struct harness_child *c, void (*fn)(void *), void *arg)
{
    if (spawn(c) == 0) {
        fn(arg);
        fflush(NULL);
        _exit(0);
    }
}

void harness_exec(struct harness_child *c, const char *const argv[])
{
    if (spawn(c) == 0) {
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        perror(argv[0]);
        _exit(127);
    }
}
