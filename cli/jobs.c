/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/jobs.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/progress.h"
#include "sim/base/fail.h"
#include "sim/base/alloc.h"

enum { AT_ONCE_MAX = 256, LOOK_EVERY_MS = 250 };

struct child {
    pid_t pid;
    int fd;
    size_t index, have; /* bytes of the result so far */
};

/* ---- children ---- */

static bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static _Noreturn void child_main(const struct jobs *j, size_t index, int fd)
{
    void *result = x_alloc(j->size);
    bool ok = j->task(j->arg, index, result) && write_all(fd, result, j->size);
    fflush(NULL);
    _exit(ok ? EXIT_CLEAN : EXIT_USAGE);
}

static bool start(const struct jobs *j, struct child *c, size_t index)
{
    int fds[2];
    if (pipe(fds) != 0) {
        perror("gmpsim: pipe");
        return false;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        child_main(j, index, fds[1]);
    }
    close(fds[1]);
    if (pid < 0) {
        perror("gmpsim: fork");
        close(fds[0]);
        return false;
    }
    *c = (struct child){.pid = pid, .fd = fds[0], .index = index};
    return true;
}

/* True: the child is over. */
static bool receive(const struct jobs *j, struct child *c)
{
    char *to = (char *)j->results + c->index * j->size;
    ssize_t n = read(c->fd, to + c->have, j->size - c->have);
    if (n > 0)
        c->have += (size_t)n;
    return n == 0 || (n < 0 && errno != EINTR) || c->have == j->size;
}

static int finish(const struct jobs *j, struct child *c)
{
    int status;
    close(c->fd);
    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR)
            return EXIT_USAGE;
    if (WIFSIGNALED(status))
        fprintf(stderr, "gmpsim: task %zu was ended by signal %d\n", c->index, WTERMSIG(status));
    if (!WIFEXITED(status))
        return EXIT_USAGE;
    return WEXITSTATUS(status) != EXIT_CLEAN || c->have == j->size ? WEXITSTATUS(status)
                                                                   : EXIT_USAGE;
}

/* Or for the time to draw. */
static int wait_for_any(const struct child *children, int n, struct pollfd *polls)
{
    for (int i = 0; i < n; i++)
        polls[i] = (struct pollfd){.fd = children[i].fd, .events = POLLIN};
    while (poll(polls, (nfds_t)n, LOOK_EVERY_MS) < 0)
        if (errno != EINTR)
            return -1;
    return 0;
}

static int limit(const struct jobs *j)
{
    long n = j->at_once > 0 ? j->at_once : sysconf(_SC_NPROCESSORS_ONLN);
    if (n < 1)
        n = 1;
    if (n > AT_ONCE_MAX)
        n = AT_ONCE_MAX;
    return (size_t)n > j->count ? (int)j->count : (int)n;
}

int jobs_run(struct jobs *j)
{
    struct child children[AT_ONCE_MAX];
    struct pollfd polls[AT_ONCE_MAX];
    int active = 0, most = limit(j);
    size_t next = 0, done = 0;
    int status = EXIT_CLEAN;
    struct progress bar;
    progress_begin(&bar, j->what);
    while (active > 0 || (status == EXIT_CLEAN && next < j->count)) {
        while (status == EXIT_CLEAN && active < most && next < j->count) {
            if (start(j, &children[active], next)) {
                active++;
                next++;
            } else {
                status = EXIT_USAGE;
            }
        }
        if (active == 0 || wait_for_any(children, active, polls) != 0)
            return EXIT_USAGE;
        for (int i = active - 1; i >= 0; i--) {
            if (polls[i].revents == 0 || !receive(j, &children[i]))
                continue;
            int ended = finish(j, &children[i]);
            if (ended > status)
                status = ended;
            children[i] = children[--active];
            done++;
        }
        if (progress_due(&bar))
            progress_draw(&bar, (int64_t)done, (int64_t)j->count, "%zu of %zu runs", done,
                          j->count);
    }
    progress_end(&bar);
    return status;
}
