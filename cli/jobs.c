/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <unistd.h>

#include "cli/progress.h"
#include "sim/base/fail.h"
#include "sim/base/alloc.h"

enum { AT_ONCE_MAX = 256, LOOK_EVERY_MS = 250 };

struct child {
    pid_t pid;
    int fd;
    int64_t task;
    size_t have; /* bytes of the result so far */
    char *result;
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

/* In the child: end with the parent, also when that is killed. If it is gone already, getppid is
 * somebody else. */
static void end_with(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_USAGE);
}

static _Noreturn void child_main(const struct jobs *j, int64_t task, int fd)
{
    void *result = x_alloc(j->size);
    bool ok = j->task(j->arg, task, result) && write_all(fd, result, j->size);
    fflush(NULL);
    _exit(ok ? EXIT_CLEAN : EXIT_USAGE);
}

static bool start(const struct jobs *j, struct child *c, int64_t task)
{
    int fds[2];
    if (pipe(fds) != 0) {
        perror("gmpsim: pipe");
        return false;
    }
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        close(fds[0]);
        end_with(parent);
        child_main(j, task, fds[1]);
    }
    close(fds[1]);
    if (pid < 0) {
        perror("gmpsim: fork");
        close(fds[0]);
        return false;
    }
    *c = (struct child){.pid = pid, .fd = fds[0], .task = task, .result = x_alloc(j->size)};
    return true;
}

/* True: the child is over. */
static bool receive(const struct jobs *j, struct child *c)
{
    ssize_t n = read(c->fd, c->result + c->have, j->size - c->have);
    if (n > 0)
        c->have += (size_t)n;
    return n == 0 || (n < 0 && errno != EINTR) || c->have == j->size;
}

static int wait_for(const struct jobs *j, const struct child *c)
{
    int status;
    close(c->fd);
    while (waitpid(c->pid, &status, 0) < 0)
        if (errno != EINTR)
            return EXIT_USAGE;
    if (WIFSIGNALED(status))
        fprintf(stderr, "gmpsim: task %" PRId64 " was ended by signal %d\n", c->task,
                WTERMSIG(status));
    if (!WIFEXITED(status))
        return EXIT_USAGE;
    return WEXITSTATUS(status) != EXIT_CLEAN || c->have == j->size ? WEXITSTATUS(status)
                                                                   : EXIT_USAGE;
}

static int finish(struct jobs *j, struct child *c)
{
    int status = wait_for(j, c);
    if (status == EXIT_CLEAN)
        j->done(j->arg, c->task, c->result);
    free(c->result);
    return status;
}

/* Waits until a child has said something, or the progress line is to be drawn. */
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
    return n > AT_ONCE_MAX ? AT_ONCE_MAX : (int)n;
}

static void draw(struct jobs *j, struct progress *bar)
{
    int64_t done = 0, total = 0;
    if (!progress_due(bar))
        return;
    j->far(j->arg, &done, &total);
    if (total > 0)
        progress_draw(bar, done, total, "%" PRId64 " of %" PRId64 " runs", done, total);
    else
        progress_draw(bar, 0, 0, "%" PRId64 " runs", done);
}

/* The children that have said something; gives how many are left. */
static int hear(struct jobs *j, struct child *children, const struct pollfd *polls, int active,
                int *status)
{
    for (int i = active - 1; i >= 0; i--) {
        if (polls[i].revents == 0 || !receive(j, &children[i]))
            continue;
        int ended = finish(j, &children[i]);
        if (ended > *status)
            *status = ended;
        children[i] = children[--active];
    }
    return active;
}

int jobs_run(struct jobs *j)
{
    struct child children[AT_ONCE_MAX];
    struct pollfd polls[AT_ONCE_MAX];
    int active = 0, most = limit(j), status = EXIT_CLEAN;
    struct progress bar;
    progress_begin(&bar, j->what);
    for (;;) {
        while (status == EXIT_CLEAN && active < most) {
            int64_t task = j->next(j->arg);
            if (task == JOBS_NONE)
                break;
            if (start(j, &children[active], task))
                active++;
            else
                status = EXIT_USAGE;
        }
        if (active == 0)
            break;
        if (wait_for_any(children, active, polls) != 0) {
            status = EXIT_USAGE;
            break;
        }
        active = hear(j, children, polls, active, &status);
        draw(j, &bar);
    }
    progress_end(&bar);
    return status;
}
