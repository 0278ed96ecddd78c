/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: what the real host makes of a program's descriptors and system calls is real, of a class
 * and on a P. Method: what the kernel says of files, CPU time and classes; nothing is said of how
 * long anything took, but that it was not shorter than it should be. */
#include <host.h>
#include <dirent.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "harness.h"
#include "sim/base/fail.h"
#include "sim/real/rt.h"

static struct state {
    struct hostm hm[2];
    uint32_t id[2];
    int policy[2];
} * s;
static struct failure failure;

static void begin(const struct rt_opts *opts)
{
    failure = (struct failure){0};
    if (!rt_init(&failure, opts))
        FAIL_CASE("rt_init: %s", failure.text);
    s = host_alloc(sizeof *s, 64);
}

static enum world_end run(void (*body)(void *), uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        s->id[i] = i;
        rt_start(&s->hm[i], body, &s->id[i]);
    }
    return rt_run(INT64_C(60000000000));
}

/* ---- CPU time of Ps ---- */

enum { BURNS_NS = 3000000 };

/* P 1 for a while, none, P 1 again, then P 2 for as long. */
static void change_ps(void *arg)
{
    (void)arg;
    host_set_p(1);
    burst(BURNS_NS / 2, BURST_WHOLE);
    host_set_p(-1);
    host_set_p(1);
    burst(BURNS_NS / 2, BURST_WHOLE);
    host_set_p(2);
    burst(BURNS_NS, BURST_WHOLE);
}

TEST_CASE(Ps, HaveTheCpuTimeOfWhoTookThem)
{
    struct rt_stats stats;

    begin(NULL);
    CHECK_EQ(run(change_ps, 1), END_IDLE);
    rt_stats(&stats);
    /* A burst counts what its thread computed, so each P has about that; half is enough here. */
    CHECK(rt_p_cpu_ns(1) > BURNS_NS / 2);
    CHECK(rt_p_cpu_ns(2) > BURNS_NS / 2);
    CHECK(rt_p_cpu_ns(1) + rt_p_cpu_ns(2) <= stats.cpu_ns);
    CHECK_EQ(rt_p_cpu_ns(0), 0);
    CHECK_EQ(rt_p_cpu_ns(RT_PROCS_MAX), 0);
    rt_free();
}

/* ---- descriptors ---- */

static int files_now(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n;
}

enum { WRITES = 70000 };

static struct {
    int before, open, edges, reads, late_reads;
    struct poll_event ev[4];
} fds;

static void feed_and_read(void *arg)
{
    (void)arg;
    fds.before = files_now();
    descriptor_open(7, 1);
    fds.open = files_now();
    fds.reads += descriptor_read(7, 300); /* nothing there */
    env_ready(7, 1, 3);
    fds.edges = netpoll_wait(-1, fds.ev, 4);
    while (descriptor_read(7, 300))
        fds.reads++;
    fds.edges += netpoll_wait(0, fds.ev + 1, 3); /* an edge comes once */
    env_ready(7, 1, 1);
    fds.edges += netpoll_wait(-1, fds.ev + 1, 3);
    descriptor_take(7);
    fds.late_reads = descriptor_read(7, 300);
    for (int i = 0; i < WRITES; i++) /* the peer reads when it must */
        descriptor_write(7, 300);
    descriptor_close(7);
    env_ready(7, 1, 1); /* nobody hears it */
    fds.late_reads += netpoll_wait(0, fds.ev + 2, 2);
}

TEST_CASE(Descriptors, AreOnesOfTheSystem)
{
    int before = files_now();

    fds.edges = fds.reads = fds.late_reads = 0;
    begin(NULL);
    CHECK_EQ(run(feed_and_read, 1), END_IDLE);
    CHECK_EQ(fds.open, fds.before + 2);
    CHECK_EQ(fds.edges, 2);
    CHECK_EQ(fds.ev[0].fd, 7);
    CHECK_EQ(fds.ev[0].mode, 1);
    CHECK_EQ(fds.reads, 3);
    CHECK_EQ(fds.late_reads, 0);
    rt_free();
    CHECK_EQ(files_now(), before);
}

static void feed_too_much(void *arg)
{
    (void)arg;
    env_ready(1, 1, 1 << 16);
    env_ready(1, 1, 1);
}

TEST_CASE(Descriptors, MoreThanAPipeHoldsIsALimit)
{
    begin(NULL);
    CHECK_EQ(run(feed_too_much, 1), END_LIMIT);
    CHECK_HAS(rt_verdict()->text, "more requests wait");
    rt_free();
}

static void open_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++)
        descriptor_open(i, 1);
}

TEST_CASE(Descriptors, ASystemWithoutMoreIsALimit)
{
    struct rlimit old, soft, hard;

    CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
    if (old.rlim_max < 2100)
        return;
    soft = (struct rlimit){64, old.rlim_max}; /* is raised, as Go does */
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &soft), 0);
    begin(NULL);
    CHECK_EQ(run(open_many, 1), END_IDLE);
    rt_free();
    hard = (struct rlimit){64, 64};
    CHECK_EQ(setrlimit(RLIMIT_NOFILE, &hard), 0);
    begin(NULL);
    CHECK_EQ(run(open_many, 1), END_LIMIT);
    CHECK_HAS(rt_verdict()->text, "ulimit -n");
    rt_free();
}

/* ---- system calls ---- */

static struct {
    int64_t took[4], cpu[4];
} calls;

static int64_t thread_cpu(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void call_each(void *arg)
{
    (void)arg;
    for (int kind = SYSCALL_SPIN; kind <= SYSCALL_FILE; kind++) {
        int64_t began = nanotime(), cpu = thread_cpu();

        syscall_body(BURNS_NS, (enum syscall_kind)kind);
        calls.took[kind] = nanotime() - began;
        calls.cpu[kind] = thread_cpu() - cpu;
    }
    syscall_body(0, SYSCALL_PIPE);
}

/* None is shorter than it should be; a read of a file computes. */
TEST_CASE(Calls, OfEveryKindTakeTheirTime)
{
    int before = files_now();

    begin(NULL);
    CHECK_EQ(run(call_each, 1), END_IDLE);
    CHECK_GE(calls.took[SYSCALL_SLEEP], BURNS_NS);
    CHECK_GE(calls.took[SYSCALL_PIPE], BURNS_NS);
    CHECK_GE(calls.cpu[SYSCALL_FILE], BURNS_NS);
    CHECK(calls.cpu[SYSCALL_SPIN] > BURNS_NS / 2);
    rt_free();
    CHECK_EQ(files_now(), before);
}

/* ---- scheduling class ---- */

static void note_class(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    s->policy[me] = sched_getscheduler(0);
}

TEST_CASE(Classes, AreThoseOfEveryThread)
{
    static const struct {
        enum rt_sched sched;
        int policy;
    } all[] = {{RT_SCHED_OTHER, SCHED_OTHER}, {RT_SCHED_FIFO, SCHED_FIFO}};

    for (int i = 0; i < 2; i++) {
        struct rt_opts opts = {.sched = all[i].sched};

        failure = (struct failure){0};
        if (all[i].sched == RT_SCHED_FIFO && !rt_init(&failure, &opts)) {
            CHECK(strstr(failure.text, "scheduling class 'fifo'") != NULL); /* not granted here */
            continue;
        }
        if (all[i].sched == RT_SCHED_FIFO)
            rt_free();
        begin(&opts);
        CHECK_EQ(run(note_class, 2), END_IDLE);
        CHECK_EQ(s->policy[0], all[i].policy);
        CHECK_EQ(s->policy[1], all[i].policy);
        rt_free();
    }
}
