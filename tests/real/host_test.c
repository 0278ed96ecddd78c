/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: what sim/real/rt.h promises beyond the verbs: records, figures, CPUs, limits, and that a
 * signal in the middle of anything breaks nothing. */
#include <host.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"
#include "sim/real/rt.h"

enum { THREADS = 4, EVENTS = 2000, INTERRUPTS = 3000, MARKS_MAX = 3000000, MANY = 50000 };

struct state {
    struct hostm hm[THREADS];
    ATOMIC(uint32_t) stage, handled;
    uint32_t id[THREADS];
    int cpu[THREADS];
    bool pinned[THREADS];
};
static struct state *s;
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

/* ---- records ---- */

struct seen {
    uint64_t count, handler, next_of[THREADS];
    uint64_t last_time;
    bool disorder, torn;
};

/* Marks of a thread carry 0, 1, 2 ... in a, and the same in b. */
static void see(void *ctx, const struct event_rec *rec)
{
    struct seen *x = ctx;

    x->count++;
    x->disorder |= rec->time < x->last_time;
    x->last_time = rec->time;
    if (rec->type == EV_M_SIGNAL) {
        x->handler++;
        return;
    }
    x->torn |= rec->type != EV_MARK || rec->m >= THREADS || rec->p != rec->m + 10 || rec->g != 7 ||
               rec->c != 3 || rec->b != (uint32_t)rec->a;
    if (!x->torn)
        x->disorder |= rec->a != x->next_of[rec->m]++;
}

static void see_all(void *ctx, const struct event_rec *recs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        see(ctx, &recs[i]);
}

static void emit_marks(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    host_set_p((int32_t)me + 10);
    for (uint32_t i = 0; i < EVENTS; i++)
        emit(EV_MARK, 7, i, i, 3);
    a_add(&s->stage, 1);
}

TEST_CASE(Records, AreMergedByTimeAndKeepEachThreadsOrder)
{
    struct seen x = {0};
    struct rt_opts opts = {.records_max = 1 << 16, .sink = see_all, .sink_arg = &x};
    struct rt_stats stats;

    begin(&opts);
    CHECK_EQ(run(emit_marks, THREADS), END_IDLE);
    CHECK_EQ(x.count, THREADS * EVENTS);
    CHECK(!x.torn);
    CHECK(!x.disorder);
    rt_stats(&stats);
    CHECK_EQ(stats.records, THREADS * EVENTS);
    CHECK_EQ(stats.records_lost, 0);
    rt_free();
}

/* Many more than there is room for at a time: threads wait, and nothing is lost. */
static void emit_many(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    host_set_p((int32_t)me + 10);
    for (uint32_t i = 0; i < MANY; i++)
        emit(EV_MARK, 7, i, i, 3);
}

TEST_CASE(Records, StreamWhileTheWorldRuns)
{
    struct seen x = {0};
    struct rt_opts opts = {.records_max = 4096, .sink = see_all, .sink_arg = &x};
    struct rt_stats stats;

    begin(&opts);
    CHECK_EQ(run(emit_many, THREADS), END_IDLE);
    CHECK_EQ(x.count, THREADS * MANY);
    CHECK(!x.torn);
    CHECK(!x.disorder);
    rt_stats(&stats);
    CHECK_EQ(stats.records, THREADS * MANY);
    CHECK_EQ(stats.records_lost, 0);
    CHECK_GT(stats.record_waits_ns, 0);
    rt_free();
}

TEST_CASE(Records, BeyondTheLimitAreCountedAsLost)
{
    struct rt_opts opts = {.records_max = 1024}; /* nobody takes them */
    struct rt_stats stats;

    begin(&opts);
    CHECK_EQ(run(emit_marks, THREADS), END_IDLE);
    rt_stats(&stats);
    CHECK_LE(1024, stats.records);
    CHECK_GT(stats.records_lost, 0);
    CHECK_EQ(stats.records + stats.records_lost, THREADS * EVENTS);
    rt_free();
}

static void emit_until_the_end(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    host_set_p((int32_t)me + 10);
    a_add(&s->stage, 1);
    for (uint32_t i = 0;; i++) {
        emit(EV_MARK, 7, i, i, 3);
        procyield(30);
        if (me == 0 && a_load(&s->stage) == THREADS)
            host_stop();
    }
}

/* What threads do until they are stopped one by one is not part of the run. */
TEST_CASE(Records, EndWhereTheWorldEnds)
{
    struct seen x = {0};
    struct rt_opts opts = {.records_max = 1 << 16, .sink = see_all, .sink_arg = &x};
    struct rt_stats stats;

    begin(&opts);
    CHECK_EQ(run(emit_until_the_end, THREADS), END_STOPPED);
    rt_stats(&stats);
    CHECK_EQ((uint64_t)stats.ran_ns * 1000, rt_verdict()->at_ps);
    CHECK_LE(x.last_time, rt_verdict()->at_ps);
    CHECK_GT(x.count, 0);
    CHECK(!x.torn);
    rt_free();
}

TEST_CASE(Records, OffMeansNone)
{
    struct seen x = {0};
    struct rt_opts opts = {.sink = see_all, .sink_arg = &x};

    begin(&opts);
    CHECK_EQ(run(emit_marks, THREADS), END_IDLE);
    CHECK_EQ(x.count, 0);
    rt_free();
}

static void handler_emits(void *arg)
{
    emit(EV_M_SIGNAL, 0, *(uint32_t *)arg, 0, 0);
    a_add(&s->handled, 1);
}

/* Thread 0 emits until it was interrupted often, the other keeps interrupting it. */
static void emit_or_signal(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    if (me == 0) {
        host_set_p(10);
        for (uint32_t i = 0; a_load(&s->handled) < INTERRUPTS && i < MARKS_MAX; i++)
            emit(EV_MARK, 7, i, i, 3);
        a_store(&s->stage, 1u);
        return;
    }
    while (a_load(&s->stage) == 0)
        signalm(&s->hm[0]);
}

TEST_CASE(Records, AHandlerMayEmitInTheMiddleOfAnEmit)
{
    struct seen x = {0};
    struct rt_opts opts = {.records_max = MARKS_MAX + 100000,
                           .sink = see_all,
                           .sink_arg = &x,
                           .sighandler = handler_emits};
    struct rt_stats stats;

    begin(&opts);
    CHECK_EQ(run(emit_or_signal, 2), END_IDLE);
    rt_stats(&stats);
    CHECK_GT(x.handler, 0);
    CHECK_EQ(stats.records_lost, 0);
    CHECK_EQ(x.handler, a_peek(&s->handled));
    CHECK_EQ(x.handler + x.next_of[0], x.count);
    CHECK(!x.torn);
    CHECK(!x.disorder);
    rt_free();
}

/* ---- faults ---- */

static void start_another(void *arg)
{
    (void)arg;
    newosproc(&s->hm[1], emit_marks, &s->id[1]);
    a_store(&s->stage, 9u);
}

TEST_CASE(Faults, ARefusedThreadIsGosFatalError)
{
    begin(&(struct rt_opts){.refuse_thread = 1, .fatal_kind = 5});
    CHECK_EQ(run(start_another, 1), END_FINDING);
    CHECK_EQ(rt_verdict()->kind, 5);
    CHECK_STR(rt_verdict()->text,
              "runtime: failed to create new OS thread (have 1 already; errno=11)\n"
              "runtime: may need to increase max user processes (ulimit -u)\n"
              "fatal error: newosproc");
    CHECK_EQ(a_peek(&s->stage), 0);
    rt_free();
}

static void wait_to_be_interrupted(void *arg)
{
    (void)arg;
    rt_interrupt();
    for (;;)
        host_usleep(1000);
}

TEST_CASE(Faults, AnInterruptEndsTheWorldLikeItsTimeLimit)
{
    begin(NULL);
    CHECK_EQ(run(wait_to_be_interrupted, 1), END_TIME);
    rt_free();
}

static void stop_the_process(void *arg)
{
    pid_t parent = getpid(), child = fork();

    (void)arg;
    if (child == 0) { /* it wakes us again */
        usleep(300000);
        kill(parent, SIGCONT);
        _exit(0);
    }
    kill(parent, SIGSTOP);
    waitpid(child, NULL, 0);
}

TEST_CASE(Faults, AStopFromOutsideIsSeen)
{
    struct rt_stats stats;

    begin(NULL);
    CHECK_EQ(run(stop_the_process, 1), END_IDLE);
    rt_stats(&stats);
    CHECK_GT(stats.stopped_ns, 0);
    rt_free();
}

static void *send_storm(void *arg)
{
    _Atomic(int) *over = arg;

    while (!atomic_load(over))
        kill(getpid(), SIGURG);
    return NULL;
}

TEST_CASE(Faults, AStormOfSignalsFromOutsideBreaksNothing)
{
    struct seen x = {0};
    struct rt_opts opts = {.records_max = 1 << 16, .sink = see_all, .sink_arg = &x};
    _Atomic(int) over = 0;
    pthread_t storm;

    begin(&opts);
    CHECK_EQ(pthread_create(&storm, NULL, send_storm, &over), 0);
    CHECK_EQ(run(emit_marks, THREADS), END_IDLE);
    atomic_store(&over, 1);
    pthread_join(storm, NULL);
    CHECK_EQ(x.count, THREADS * EVENTS);
    CHECK(!x.torn && !x.disorder);
    rt_free();
}

static void leave_one_cpu(pid_t tid)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(tid, sizeof one, &one);
}

/* As an operator does with taskset -ap. */
static void lose_all_cpus_but_one(void *arg)
{
    DIR *d = opendir("/proc/self/task");

    for (struct dirent *e; *(uint32_t *)arg == 0 && d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.')
            leave_one_cpu(atoi(e->d_name));
    if (d != NULL)
        closedir(d);
    emit_marks(arg);
}

TEST_CASE(Faults, CpusThatAreTakenAwayMakeItSlowerOnly)
{
    struct seen x = {0};
    struct rt_opts opts = {.records_max = 1 << 16, .sink = see_all, .sink_arg = &x};
    cpu_set_t before;

    sched_getaffinity(0, sizeof before, &before);
    begin(&opts);
    CHECK_EQ(run(lose_all_cpus_but_one, THREADS), END_IDLE);
    CHECK_EQ(rt_cpus(), 1);
    CHECK_EQ(x.count, THREADS * EVENTS);
    CHECK(!x.torn && !x.disorder);
    rt_free();
    sched_setaffinity(0, sizeof before, &before);
}

/* ---- bursts ---- */

static int64_t thread_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

enum { BURST_TRIES = 200 };
static struct {
    int64_t ns, best; /* of a burst; the CPU time that came nearest */
} wanted;

static int64_t distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

/* On a busy machine most tries are disturbed. One that is not says what a burst is. */
static void measure_bursts(void *arg)
{
    int32_t n = wanted.ns < 1000000 ? (int32_t)(1000000 / wanted.ns) : 1;

    (void)arg;
    for (int i = 0; i < BURST_TRIES && distance(wanted.best, wanted.ns) * 100 > wanted.ns; i++) {
        int64_t start = thread_cpu_ns();

        for (int32_t k = 0; k < n; k++)
            burst(wanted.ns, BURST_WHOLE);
        int64_t took = (thread_cpu_ns() - start) / n;
        if (distance(took, wanted.ns) < distance(wanted.best, wanted.ns))
            wanted.best = took;
    }
}

TEST_CASE(Burst, IsAsLongAsItSaysInCpuTime)
{
    static const int64_t lengths[] = {1000, 20000, 100000, 10000000};

    for (int i = 0; i < 4; i++) {
        wanted.ns = lengths[i];
        wanted.best = 0;
        begin(NULL);
        CHECK_EQ(run(measure_bursts, 1), END_IDLE);
        rt_free();
        CHECK_LE(distance(wanted.best, wanted.ns) * 50, wanted.ns); /* 2 % */
    }
}

/* ---- CPUs ---- */

static void where_am_i(void *arg)
{
    uint32_t me = *(uint32_t *)arg;
    cpu_set_t set;

    sched_getaffinity(0, sizeof set, &set);
    s->cpu[me] = sched_getcpu();
    s->pinned[me] = CPU_COUNT(&set) == 1 && CPU_ISSET((size_t)s->cpu[me], &set);
}

TEST_CASE(Cpus, PinnedThreadsStayOnOneCpuEach)
{
    struct rt_opts opts = {.pin = true};
    int32_t n;

    begin(&opts);
    n = host_ncpu();
    CHECK_EQ(run(where_am_i, THREADS), END_IDLE);
    for (int i = 0; i < THREADS; i++) {
        CHECK(s->pinned[i]);
        CHECK_EQ(s->cpu[i], s->cpu[i % n]);
        if (i > 0 && i < n)
            CHECK_NE(s->cpu[i], s->cpu[i - 1]);
    }
    rt_free();
}

TEST_CASE(Cpus, AWorldMayHaveFewerThanTheProcess)
{
    struct rt_opts opts = {.cpus = 1};

    begin(&opts);
    CHECK_EQ(host_ncpu(), 1);
    CHECK_EQ(run(where_am_i, THREADS), END_IDLE);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(s->cpu[i], s->cpu[0]);
    rt_free();
}

TEST_CASE(Cpus, ANumberThatCannotBeIsAnErrorThatSaysSo)
{
    failure = (struct failure){0};
    CHECK(!rt_init(&failure, &(struct rt_opts){.cpus = 5000}));
    CHECK_EQ(failure.code, E_LIMIT);
    CHECK_HAS(failure.text, "5000");
    failure = (struct failure){0};
    CHECK(!rt_init(&failure, &(struct rt_opts){.cpus = -1}));
    CHECK_EQ(failure.code, E_USAGE);
}

/* ---- limits ---- */

static void allocate_without_end(void *arg)
{
    (void)arg;
    for (;;)
        host_alloc(10000, 8);
}

TEST_CASE(Limits, MemoryThatRunsOutIsALimit)
{
    struct rt_opts opts = {.memory_max = 1 << 20};
    struct rt_stats stats;

    begin(&opts);
    CHECK_EQ(run(allocate_without_end, THREADS), END_LIMIT);
    CHECK_HAS(rt_verdict()->text, "memory limit");
    rt_stats(&stats);
    CHECK_LE(stats.memory, (size_t)1 << 20);
    CHECK_GT(stats.memory, (size_t)900 << 10);
    rt_free();
}

static void nothing(void *arg) { (void)arg; }

static void start_without_end(void *arg)
{
    static struct hostm hm;

    (void)arg;
    for (;;)
        newosproc(&hm, nothing, &hm);
}

TEST_CASE(Limits, ThreadsThatRunOutAreALimit)
{
    struct rt_stats stats;

    begin(&(struct rt_opts){.threads_max = 3000});
    CHECK_EQ(run(start_without_end, 1), END_LIMIT);
    CHECK_HAS(rt_verdict()->text, "too many threads");
    rt_stats(&stats);
    CHECK_EQ(stats.threads, 3000);
    rt_free();
}

static void ready_out_of_range(void *arg)
{
    (void)arg;
    env_ready(RT_FDS_MAX, 1, 1);
}

TEST_CASE(Limits, ADescriptorOutOfRangeIsALimit)
{
    begin(NULL);
    CHECK_EQ(run(ready_out_of_range, 1), END_LIMIT);
    CHECK_HAS(rt_verdict()->text, "descriptor");
    rt_free();
}

static void throw_in_env(void *arg)
{
    (void)arg;
    throw("in the environment");
}

static void ask_env_to_throw(void *arg)
{
    (void)arg;
    env_at(0, throw_in_env, NULL);
    for (;;)
        futexsleep(&s->stage, 0, -1);
}

TEST_CASE(Limits, TheEnvironmentMayThrow)
{
    begin(NULL);
    CHECK_EQ(run(ask_env_to_throw, 2), END_THROWN);
    CHECK_STR(rt_verdict()->text, "in the environment");
    CHECK_EQ(rt_verdict()->m, -1);
    rt_free();
}

static void throw_before_the_run(void *arg)
{
    (void)arg;
    begin(NULL);
    throw("nobody runs yet");
}

TEST_CASE(Limits, AThrowOutsideOfARunEndsTheProcess)
{
    static struct harness_child child;

    harness_fork(&child, throw_before_the_run, NULL);
    CHECK_EQ(child.code, EXIT_INTERNAL);
    CHECK_HAS(child.err, "nobody runs yet");
}

/* ---- figures ---- */

static void burn_and_sleep(void *arg)
{
    uint32_t me = *(uint32_t *)arg;

    if (me == 0)
        burst(20000000, BURST_WHOLE);
    else
        futexsleep(&s->stage, 0, 1000000);
}

TEST_CASE(Figures, SayWhoBurntCpuAndWhoSlept)
{
    struct rt_thread_stats t[3];

    begin(NULL);
    CHECK_EQ(run(burn_and_sleep, 2), END_IDLE);
    CHECK(rt_thread_stats(0, &t[0]));
    CHECK(rt_thread_stats(1, &t[1]));
    CHECK(!rt_thread_stats(2, &t[2]));
    CHECK_GT(t[0].cpu_ns, 10000000);
    CHECK_EQ(t[0].futex_sleeps, 0);
    CHECK_EQ(t[1].futex_sleeps, 1);
    CHECK_LT(t[1].cpu_ns, t[0].cpu_ns);
    rt_free();
}

/* ---- idle or not ---- */

/* All but one are asleep for good, and that one never calls the host: the world is not idle. */
static void think_or_sleep(void *arg)
{
    if (*(uint32_t *)arg > 0)
        for (;;)
            futexsleep(&s->stage, 0, -1);
    burst(200000000, BURST_WHOLE);
    a_add(&s->handled, 1);
}

TEST_CASE(Idle, AWorldIsNotIdleWhileSomebodyThinks)
{
    begin(NULL);
    CHECK_EQ(run(think_or_sleep, THREADS), END_IDLE);
    CHECK_EQ(a_peek(&s->handled), 1);
    rt_free();
}

static void late_call(void *arg)
{
    (void)arg;
    a_add(&s->handled, 1);
    env_ready(1, 1, 1);
}

static void wait_for_late_call(void *arg)
{
    struct poll_event ev;

    (void)arg;
    env_at(nanotime() + 100000000, late_call, NULL);
    netpoll_wait(-1, &ev, 1);
    a_add(&s->handled, 1);
}

TEST_CASE(Idle, AWorldIsNotIdleWhileTheEnvironmentHasPlans)
{
    begin(NULL);
    CHECK_EQ(run(wait_for_late_call, 1), END_IDLE);
    CHECK_EQ(a_peek(&s->handled), 2);
    rt_free();
}

/* ---- signals in the middle of the host's own business ---- */

static void count_signal(void *arg)
{
    (void)arg;
    a_add(&s->handled, 1);
}

/* Thread 0 makes every call of the host that holds a lock or lasts, thread 1 signals it. */
static void busy_or_signal(void *arg)
{
    static struct hostm child;
    struct poll_event ev[4];
    int64_t quota, period;

    if (*(uint32_t *)arg > 0) {
        while (a_load(&s->stage) == 0)
            signalm(&s->hm[0]);
        return;
    }
    for (int i = 0; i < 300; i++) {
        env_at(0, nothing, NULL);
        env_ready(i, 1, 1);
        netpoll_wakeup();
        netpoll_wait(1000000, ev, 4);
        futexsleep(&s->stage, 0, 1000);
        host_quota(&quota, &period);
        newosproc(&child, nothing, NULL);
        syscall_body(1000, SYSCALL_SLEEP);
    }
    a_store(&s->stage, 1u);
}

TEST_CASE(Signals, MayComeInAnyCall)
{
    struct rt_opts opts = {.sighandler = count_signal};

    begin(&opts);
    CHECK_EQ(run(busy_or_signal, 2), END_IDLE);
    CHECK_GT(a_peek(&s->handled), 0);
    rt_free();
}

/* The stop comes at every moment of the same calls; thread 1 does nothing but hold the lock of the
 * environment, thread 2 creates threads too. */
static void busy_until_stopped(void *arg)
{
    static struct hostm child;
    struct poll_event ev[4];
    uint32_t me = *(uint32_t *)arg;

    if (me == 0) {
        burst(100000 + (int64_t)(host_seed64() % 1000000), BURST_WHOLE);
        host_stop();
    }
    for (int i = 0;; i++) {
        env_ready(i % 100, 1, 1);
        if (me == 1)
            continue;
        env_at(0, nothing, NULL);
        netpoll_wakeup();
        netpoll_wait(0, ev, 4);
        newosproc(&child, nothing, NULL);
    }
}

TEST_CASE(Signals, AStopMayComeInAnyCall)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        begin(&(struct rt_opts){.seed = seed});
        CHECK_EQ(run(busy_until_stopped, 3), END_STOPPED);
        rt_free();
    }
}

/* The handler ends the world while its thread may hold the lock of the environment: a jump out
 * there would leave it locked, and the end of the world needs it. */
static void find_at_once(void *arg)
{
    (void)arg;
    finding(5, "in a handler");
}

static void hold_or_signal(void *arg)
{
    if (*(uint32_t *)arg > 0) {
        while (a_load(&s->stage) == 0)
            osyield();
        signalm(&s->hm[0]);
        return;
    }
    a_store(&s->stage, 1u);
    for (int i = 0;; i++)
        env_ready(i % 100, 1, 1);
}

TEST_CASE(Signals, AHandlerMayEndTheWorldFromAnyCall)
{
    for (int i = 0; i < 200; i++) {
        begin(&(struct rt_opts){.sighandler = find_at_once});
        CHECK_EQ(run(hold_or_signal, 2), END_FINDING);
        CHECK_STR(rt_verdict()->text, "in a handler");
        rt_free();
    }
}

static int open_files(void)
{
    int n = 0;

    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static void read_files_or_stop(void *arg)
{
    int64_t quota, period;

    if (*(uint32_t *)arg == 0) {
        burst(100000 + (int64_t)(host_seed64() % 300000), BURST_WHOLE);
        host_stop();
    }
    for (;;)
        host_quota(&quota, &period);
}

/* host_quota opens a file and uses malloc: a stop must find neither half done. */
TEST_CASE(Signals, AStopLeavesNoFileOpen)
{
    int before = open_files();

    for (uint64_t seed = 0; seed < 200; seed++) {
        begin(&(struct rt_opts){.seed = seed});
        CHECK_EQ(run(read_files_or_stop, 2), END_STOPPED);
        rt_free();
    }
    CHECK_EQ(open_files(), before);
}
