/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A CPU quota: the world's threads are in a cgroup of their own, made below that of the process and
 * gone when the world is.
 *
 *   version 1   threads are moved one by one: the controlling thread goes in while it starts the
 *               first ones, and out again; what a thread starts is where it is
 *   version 2   only a process as a whole: the controlling thread, which mostly sleeps, is limited
 *               with it
 */
#include "rt_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fail.h"

#define W (&rt_world_)

enum { PATH_MAX_ = 4096, TEXT = 1024, PERIOD_DEFAULT_US = 100000 };

static struct {
    char parent[PATH_MAX_], path[PATH_MAX_ + 64];
    bool made, v2;
    uint32_t next; /* change of the quota */
} group;

static bool read_text(const char *folder, const char *name, char *buf, size_t size)
{
    char path[PATH_MAX_ + 128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, buf, size - 1) : -1;

    if (fd >= 0)
        close(fd);
    buf[n > 0 ? n : 0] = 0;
    return n > 0;
}

static bool write_text(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX_ + 128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? write(fd, text, strlen(text)) : -1;
    int err = errno;

    if (fd >= 0)
        close(fd);
    errno = err;
    return n >= 0;
}

/* ---- where ---- */

/* The part of a line of /proc/self/cgroup behind the controllers, of the line that has these:
 * "3:cpu,cpuacct:/a/b" has "cpu", "0::/a" is version 2. */
static bool own_group(const char *text, bool v2, char *out, size_t size)
{
    for (const char *line = text; line != NULL && *line != 0;) {
        const char *end = strchr(line, '\n'), *list = strchr(line, ':');
        const char *path = list != NULL ? strchr(list + 1, ':') : NULL;

        if (path != NULL) {
            char names[TEXT];
            snprintf(names, sizeof names, ",%.*s,", (int)(path - list - 1), list + 1);
            if (v2 ? path == list + 1 : strstr(names, ",cpu,") != NULL) {
                snprintf(out, size, "%.*s", (int)(end != NULL ? end - path - 1 : (long)size),
                         path + 1);
                return true;
            }
        }
        line = end != NULL ? end + 1 : NULL;
    }
    return false;
}

/* The usual places, with the own group below; a container may show its own as the root. */
static bool find_parent(void)
{
    static const char *const v1[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    char text[4 * TEXT], own[PATH_MAX_ - 64], probe[64];

    if (!read_text("/proc/self", "cgroup", text, sizeof text))
        return false;
    group.v2 = false;
    for (size_t i = 0; own_group(text, false, own, sizeof own) && i < 4; i++) {
        snprintf(group.parent, sizeof group.parent, "%s%s", v1[i % 2], i < 2 ? own : "");
        if (read_text(group.parent, "cpu.cfs_quota_us", probe, sizeof probe))
            return true;
    }
    group.v2 = true;
    for (int i = 0; own_group(text, true, own, sizeof own) && i < 2; i++) {
        snprintf(group.parent, sizeof group.parent, "/sys/fs/cgroup%s", i == 0 ? own : "");
        if (read_text(group.parent, "cgroup.controllers", probe, sizeof probe))
            return true;
    }
    return false;
}

/* ---- its quota ---- */

static int64_t period_us(void)
{
    return W->opts.period_us > 0 ? W->opts.period_us : PERIOD_DEFAULT_US;
}

static bool set_quota(int64_t quota_us)
{
    char quota[64], period[32];

    snprintf(period, sizeof period, "%" PRId64, period_us());
    if (group.v2) {
        if (quota_us > 0)
            snprintf(quota, sizeof quota, "%" PRId64 " %s", quota_us, period);
        else
            snprintf(quota, sizeof quota, "max %s", period);
        return write_text(group.path, "cpu.max", quota);
    }
    snprintf(quota, sizeof quota, "%" PRId64, quota_us > 0 ? quota_us : -1);
    return write_text(group.path, "cpu.cfs_period_us", period) &&
           write_text(group.path, "cpu.cfs_quota_us", quota);
}

static bool move_here(const char *folder)
{
    char id[32];

    snprintf(id, sizeof id, "%d", (int)(group.v2 ? getpid() : gettid()));
    return write_text(folder, group.v2 ? "cgroup.procs" : "tasks", id);
}

/* ---- life ---- */

bool rt_group_make_(struct failure *f)
{
    static const char *const wants = "a CPU quota on real threads wants a cgroup of its own";

    group.made = false;
    group.next = 0;
    if (!W->opts.group)
        return true;
    if (!find_parent())
        return fail(f, E_LIMIT, "%s; this system shows none", wants), false;
    snprintf(group.path, sizeof group.path, "%s/gmpsim.%d", group.parent, (int)getpid());
    if (mkdir(group.path, 0755) != 0 && errno != EEXIST)
        return fail(f, E_LIMIT, "%s; %s: %s", wants, group.path, strerror(errno)), false;
    group.made = true;
    if (!set_quota(W->opts.quota_us)) {
        fail(f, E_LIMIT, "%s; %s takes no quota: %s", wants, group.path, strerror(errno));
        rt_group_remove_();
        return false;
    }
    return true;
}

/* Around the start of the first threads. False: the system does not let us in. */
bool rt_group_enter_(void) { return !group.made || move_here(group.path); }

void rt_group_leave_(void)
{
    if (group.made && !group.v2)
        (void)move_here(group.parent);
}

void rt_group_remove_(void)
{
    if (!group.made)
        return;
    (void)move_here(group.parent);
    for (int i = 0; rmdir(group.path) != 0 && errno == EBUSY && i < 200; i++)
        usleep(1000); /* the last thread is on its way out */
    group.made = false;
}

/* The changes that are due; when the next one is, INT64_MAX: never. */
int64_t rt_group_change_(int64_t now_ns)
{
    const struct rt_opts *o = &W->opts;

    while (group.made && group.next < o->nquotas && o->quotas[group.next].at_ns <= now_ns)
        (void)set_quota(o->quotas[group.next++].quota_us);
    return group.made && group.next < o->nquotas ? o->quotas[group.next].at_ns : INT64_MAX;
}

static uint64_t number_of(const char *text, const char *name)
{
    const char *p = strstr(text, name);

    return p != NULL ? strtoull(p + strlen(name), NULL, 10) : 0;
}

void rt_group_stats_(struct rt_stats *s)
{
    char text[TEXT];

    if (!group.made || !read_text(group.path, "cpu.stat", text, sizeof text))
        return;
    s->nr_periods = number_of(text, "nr_periods ");
    s->nr_throttled = number_of(text, "nr_throttled ");
    s->throttled_ns = group.v2 ? number_of(text, "throttled_usec ") * 1000
                               : number_of(text, "throttled_time ");
}
