/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A world's life on real threads, and how it ends.
 *
 *     none -> rt_init -> set up -> rt_run -> running -> ending -> ended -> rt_free -> none
 *
 * The first verdict (host_stop, finding, throw, a time limit, idleness) wins and wakes rt_run,
 * which ends the threads: it sets `stopping` and sends each the signal until all have left. The
 * handler jumps (siglongjmp) out of whatever the thread was doing to the end of its thread
 * function. That is sound because model code holds nothing of libc's, and because the few
 * sections of the host that do (mutexes, pthread_create) are marked by rt_hold_/rt_unhold_ or run
 * with the signal blocked. Rejected: a flag polled by every verb (the atomics would no longer be
 * bare instructions, and a thread that spins on an atomic would never end), and pthread_cancel (it
 * unwinds at cancellation points only).
 */
#include "rt_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/fail.h"

struct rt_world rt_world_;
_Thread_local struct rt_thread *rt_self_;
_Thread_local void *rt_arg_;
_Thread_local int32_t rt_pid_ = -1;

#define W (&rt_world_)

enum {
    FIFO_PRIORITY = 1, /* of the world's threads; the environment and who ends it are above */
    DEFAULT_STACK = 256 << 10,
    KICK_NS = 2000000,       /* between two rounds of stop signals */
    IDLE_FIRST_NS = 1000000, /* the search for an idle world begins here and slows down ... */
    IDLE_LAST_NS = 32000000, /* ... to this, ... */
    MERGE_NS = 4000000,      /* ... or to this where records come */
};
static const size_t DEFAULT_MEMORY = (size_t)16 << 30;

/* ---- sections that must not be jumped out of ---- */

void rt_hold_(void)
{
    rt_self_->hold++;
    atomic_signal_fence(memory_order_seq_cst);
}

/* A signal that came meanwhile is sent again: now it may stop the thread or run the model's
 * handler. */
void rt_unhold_(void)
{
    struct rt_thread *t = rt_self_;

    atomic_signal_fence(memory_order_seq_cst);
    t->hold--;
    atomic_signal_fence(memory_order_seq_cst);
    if (t->hold == 0 && t->deferred) {
        t->deferred = 0;
        rt_tgkill_(atomic_load(&t->tid), SIGURG);
        /* ThreadSanitizer runs the handler at the next operation it knows: let that be here, not in
         * the next critical section, which would defer it again, and so for ever. */
        (void)atomic_load(&W->stopping);
    }
}

void rt_block_signal_(bool block)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

/* errno belongs to the interrupted code. */
static void on_signal(int sig)
{
    struct rt_thread *t = rt_self_;
    int saved = errno;

    (void)sig;
    if (!t || t == &W->outside)
        return;
    if (t->hold) {
        t->deferred = 1;
        return;
    }
    if (atomic_load(&W->stopping))
        siglongjmp(t->end, 1);
    t->stats.signals++;
    atomic_store_explicit(&t->cut, true, memory_order_relaxed);
    if (W->opts.sighandler && t->arg) {
        t->in_handler = 1;
        W->opts.sighandler(t->arg);
        t->in_handler = 0;
    }
    errno = saved;
}

static pthread_mutex_t outside = PTHREAD_MUTEX_INITIALIZER;

void rt_outside_begin(void)
{
    rt_hold_();
    pthread_mutex_lock(&outside);
}

void rt_outside_end(void)
{
    pthread_mutex_unlock(&outside);
    rt_unhold_();
}

/* ---- threads ---- */

static int64_t own_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* What this thread computed since the last time is of the P that it had then. */
static void count_p_cpu(struct rt_thread *t, int64_t now)
{
    if (t->cpu_pid >= 0 && t->cpu_pid < RT_PROCS_MAX)
        atomic_fetch_add(&W->p_cpu[t->cpu_pid], now - t->cpu_since);
    t->cpu_since = now;
}

/* Asking for the CPU time is a system call: only where another P is taken, not where one is let go
 * of and taken back, as every system call of a goroutine does up to 1.25. */
void rt_set_p_(int32_t pid)
{
    struct rt_thread *t = rt_self_;

    rt_pid_ = pid;
    if (pid < 0 || t == &W->outside || pid == t->cpu_pid)
        return;
    rt_hold_();
    count_p_cpu(t, own_cpu_ns());
    t->cpu_pid = pid;
    rt_unhold_();
}

static void count_usage(struct rt_thread *t)
{
    struct rusage ru;

    getrusage(RUSAGE_THREAD, &ru);
    t->stats.cpu_ns = own_cpu_ns();
    count_p_cpu(t, t->stats.cpu_ns);
    t->stats.voluntary = (uint64_t)ru.ru_nvcsw;
    t->stats.involuntary = (uint64_t)ru.ru_nivcsw;
}

static void become(struct rt_thread *t)
{
    rt_self_ = t;
    rt_arg_ = t->arg;
    rt_pid_ = -1;
}

/* Joined by the next newosproc or by rt_run, so that stacks do not pile up. */
static void thread_ended(struct rt_thread *t)
{
    count_usage(t);
    atomic_store(&t->tid, -1);
    pthread_mutex_lock(&W->ended_lock);
    t->next_ended = W->ended;
    W->ended = t;
    pthread_mutex_unlock(&W->ended_lock);
    if (atomic_fetch_sub(&W->live, 1) == 1) {
        rt_futex_wake_(&W->live, 1);
        rt_futex_wake_(&W->why, 1); /* nobody left: rt_run finds the world idle */
    }
}

/* The signal is blocked when a thread begins and again from its end on: sigsetjmp saves the
 * blocked mask. */
static void *thread_main(void *arg)
{
    struct rt_thread *volatile t = arg;

    become(t);
    t->pthread = pthread_self();
    if (sigsetjmp(t->end, 1) == 0) {
        atomic_store(&t->tid, (int32_t)gettid());
        rt_futex_wake_((_Atomic(uint32_t) *)&t->tid, UINT32_MAX >> 1);
        rt_block_signal_(false);
        if (!atomic_load(
                &W->stopping)) /* the kick may have been before the tid was there to be kicked */
            t->fn(t->arg);
    }
    rt_block_signal_(true);
    rt_self_ = NULL;
    thread_ended(t);
    return NULL;
}

static void join_ended(void)
{
    struct rt_thread *t;

    pthread_mutex_lock(&W->ended_lock);
    t = W->ended;
    W->ended = NULL;
    pthread_mutex_unlock(&W->ended_lock);
    for (; t; t = t->next_ended)
        pthread_join(t->pthread, NULL);
}

static struct rt_thread *take_thread(struct hostm *hm, void (*fn)(void *), void *arg)
{
    int32_t id = atomic_load(&W->nthreads);
    struct rt_thread *t;

    do {
        if (id == W->opts.threads_max)
            rt_limit_("real threads: too many threads created in one world");
    } while (!atomic_compare_exchange_weak(&W->nthreads, &id, id + 1));
    t = &W->threads[id];
    t->id = id;
    t->fn = fn;
    t->arg = arg;
    t->cpu_pid = -1;
    atomic_store(&hm->thread, t);
    return t;
}

static void set_affinity(pthread_attr_t *attr, int32_t id)
{
    cpu_set_t one;
    int32_t nth = id % W->ncpu;

    if (!W->opts.pin) {
        pthread_attr_setaffinity_np(attr, sizeof W->cpus, &W->cpus);
        return;
    }
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &W->cpus) && nth-- == 0)
            CPU_SET(cpu, &one);
    pthread_attr_setaffinity_np(attr, sizeof one, &one);
}

/* above: 1 for who must get through to threads that never rest; ordinary classes share anyway. */
static void set_class(pthread_attr_t *attr, enum rt_sched sched, int above)
{
    bool fifo = sched == RT_SCHED_FIFO;
    struct sched_param p = {.sched_priority = fifo ? FIFO_PRIORITY + above : 0};

    if (sched == RT_SCHED_OWN)
        return;
    pthread_attr_setinheritsched(attr, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(attr, fifo ? SCHED_FIFO : SCHED_OTHER);
    pthread_attr_setschedparam(attr, &p);
}

void rt_sched_above_(pthread_attr_t *attr) { set_class(attr, W->opts.sched, 1); }

/* With the signal blocked. 0 or an errno. */
static int launch(struct rt_thread *t)
{
    pthread_attr_t attr;
    pthread_t unused; /* the thread notes its own: it may end, and be joined, before this one is
                         written */
    int err;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, W->opts.stack_size);
    if (W->opts.pin || W->opts.cpus > 0)
        set_affinity(&attr, t->id);
    set_class(&attr, W->opts.sched, 0);
    atomic_fetch_add(&W->live, 1);
    err = W->opts.refuse_thread > 0 && t->id == W->opts.refuse_thread
              ? EAGAIN
              : pthread_create(&unused, &attr, thread_main, t);
    if (err) {
        atomic_store(&t->tid, -1);
        atomic_fetch_sub(&W->live, 1);
    }
    pthread_attr_destroy(&attr);
    return err;
}

/* os_linux.go newosproc: what Go says, and dies of. */
static _Noreturn void thread_refused(int err)
{
    char text[200];

    rt_hold_();
    snprintf(text, sizeof text,
             "runtime: failed to create new OS thread (have %u already; errno=%d)\n%s"
             "fatal error: newosproc",
             atomic_load(&W->live), err,
             err == EAGAIN ? "runtime: may need to increase max user processes (ulimit -u)\n" : "");
    rt_end_(END_FINDING, W->opts.fatal_kind, text);
    rt_self_->hold = 0;
    siglongjmp(rt_self_->end, 1);
}

void rt_newosproc_(struct hostm *hm, void (*fn)(void *), void *arg)
{
    struct rt_thread *t = take_thread(hm, fn, arg);
    int err;

    rt_block_signal_(true);
    join_ended();
    err = launch(t);
    rt_block_signal_(false);
    if (err)
        thread_refused(err);
}

void rt_thread_exit_(void) { siglongjmp(rt_self_->end, 1); }

static struct rt_thread *thread_of(struct hostm *hm)
{
    struct rt_thread *t = atomic_load(&hm->thread);

    if (!t)
        rt_throw_("real host: this M has no thread yet");
    return t;
}

/* A thread that has just been created is waited for; one that ended gets nothing. */
void rt_signalm_(struct hostm *hm)
{
    struct rt_thread *t = thread_of(hm);
    int32_t tid;

    while ((tid = atomic_load(&t->tid)) == 0)
        rt_futex_wait_((_Atomic(uint32_t) *)&t->tid, 0, -1);
    if (tid > 0)
        rt_tgkill_(tid, SIGURG);
}

void rt_nudge_(struct hostm *hm)
{
    struct rt_thread *t = thread_of(hm);

    atomic_store_explicit(&t->cut, true, memory_order_relaxed);
}

/* ---- the end ---- */

void rt_end_(enum world_end why, int kind, const char *text)
{
    uint32_t none = 0;

    if (!atomic_compare_exchange_strong(&W->why, &none, 1))
        return;
    W->ran_ns = host_now();
    snprintf(W->text, sizeof W->text, "%s", text);
    W->verdict = (struct world_verdict){
        .kind = kind, .text = W->text, .m = rt_self_->id, .at_ps = (uint64_t)W->ran_ns * 1000};
    atomic_store(&W->why, 2 + (uint32_t)why);
    rt_futex_wake_(&W->why, 1);
}

void rt_find(int kind, const char *text) { rt_end_(END_FINDING, kind, text); }

void rt_break(const char *text) { rt_end_(END_THROWN, 0, text); }

int64_t rt_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int64_t rt_now_ns(void) { return host_now(); }

void rt_main_begins_(void)
{
    rt_hold_();
    W->main_ns = host_now();
    W->main_cpu_ns = own_cpu_ns();
    rt_unhold_();
}

void rt_limit_(const char *text)
{
    if (!rt_self_ || rt_self_ == &W->outside)
        throwf("%s", text);
    rt_hold_();
    rt_end_(END_LIMIT, 0, text);
    rt_self_->hold = 0;
    siglongjmp(rt_self_->end, 1);
}

void rt_interrupt(void)
{
    int saved = errno;

    atomic_store(&W->interrupted, 1);
    rt_futex_wake_(&W->why, 1);
    errno = saved;
}

/* On the controlling thread there is no run to end. */
void rt_throw_(const char *text)
{
    if (!rt_self_ || rt_self_ == &W->outside)
        throwf("%s", text);
    rt_hold_();
    rt_end_(END_THROWN, 0, text);
    rt_self_->hold = 0;
    siglongjmp(rt_self_->end, 1);
}

void rt_finding_(int kind, const char *text)
{
    rt_hold_();
    rt_end_(END_FINDING, kind, text);
    rt_unhold_();
    if (rt_arg_)
        siglongjmp(rt_self_->end, 1);
}

void rt_stop_(void)
{
    rt_hold_();
    rt_end_(END_STOPPED, 0, "");
    rt_self_->hold = 0;
    siglongjmp(rt_self_->end, 1);
}

static void kick_all(void)
{
    int32_t n = atomic_load(&W->nthreads);

    for (int32_t i = 0; i < n; i++) {
        int32_t tid = atomic_load(&W->threads[i].tid);

        if (tid > 0)
            rt_tgkill_(tid, SIGURG);
    }
}

static void end_threads(void)
{
    uint32_t live;

    atomic_store(&W->stopping, true);
    rt_env_stop_();
    while ((live = atomic_load(&W->live)) > 0) {
        kick_all();
        rt_futex_wait_(&W->live, live, KICK_NS);
    }
    join_ended();
}

/* ---- idleness ---- */

/* The kernel's word for thread tid: 'S' is asleep; 'R' when a wake-up has reached it. 0: gone. */
static char kernel_state(int32_t tid)
{
    char path[64], buf[512], *p;
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)tid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    n = fread(buf, 1, sizeof buf - 1, f);
    fclose(f);
    buf[n] = 0;
    p = strrchr(buf, ')');
    return p && p[1] ? p[2] : (char)0;
}

bool rt_asleep_(int32_t tid) { return kernel_state(tid) == 'S'; }

static bool blocked(struct rt_thread *t, bool ask_kernel)
{
    int32_t tid = atomic_load(&t->tid);

    if (tid < 0)
        return true;
    if (tid == 0 || atomic_load(&t->state) != RT_BLOCKED)
        return false;
    return !ask_kernel || rt_asleep_(tid);
}

/* Adds up the blocking calls of all threads; false if one of them is not asleep without a
 * deadline. */
static bool all_blocked(uint64_t *calls, bool ask_kernel)
{
    int32_t n = atomic_load(&W->nthreads);

    *calls = (uint64_t)n;
    for (int32_t i = 0; i < n; i++) {
        *calls += atomic_load(&W->threads[i].calls);
        if (!blocked(&W->threads[i], ask_kernel))
            return false;
    }
    return rt_env_quiet_();
}

/* Two passes that see the same number of calls prove that between them all threads were inside the
 * same calls. A wake-up sent before that would have shown in the second pass: as 'R', or as a call
 * left. And nobody was there to send one. */
static bool idle(void)
{
    uint64_t cheap, before, after;

    return all_blocked(&cheap, false) && all_blocked(&before, true) && all_blocked(&after, true) &&
           before == after;
}

/* ---- the run ---- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t longest_pause(void)
{
    int64_t ns = rt_recording_ ? MERGE_NS : IDLE_LAST_NS;

    return W->opts.tick != NULL ? least(ns, W->opts.tick_ns) : ns;
}

static int64_t tick(int64_t last)
{
    int64_t now = rt_clock_();

    if (W->opts.tick == NULL || now - last < W->opts.tick_ns)
        return last;
    W->opts.tick();
    return rt_clock_();
}

/* When rt_run has something to do: at the deadline, or at a change of the quota. */
static int64_t until_event(int64_t deadline)
{
    int64_t change = rt_group_change_(host_now());

    change = change < INT64_MAX - W->epoch ? change + W->epoch : INT64_MAX;
    return deadline < 0 ? change : least(deadline, change);
}

struct stop_watch {
    int64_t looked, gap; /* when rt_run looked last, and how long after the look before */
    uint32_t continued;  /* SIGCONTs until then */
};

/* A look of rt_run at the world: the process was stopped in the longer of the last two gaps
 * between looks if a SIGCONT was counted since the look before. Of the last two, because the thread
 * that the signal came to may count it after rt_run looked. */
static void look_for_stop(struct stop_watch *w)
{
    int64_t now = rt_clock_(), gap = now - w->looked;
    uint32_t n = atomic_load(&W->continued);

    if (n != w->continued)
        W->stopped_ns += gap > w->gap ? gap : w->gap;
    *w = (struct stop_watch){.looked = now, .gap = n != w->continued ? 0 : gap, .continued = n};
}

static void wait_for_verdict(int64_t deadline, struct stop_watch *stops)
{
    int64_t pause = IDLE_FIRST_NS, ticked = rt_clock_();
    uint32_t verdict;

    while ((verdict = atomic_load(&W->why)) < 2) {
        int64_t now = rt_clock_();

        if (atomic_load(&W->interrupted) || (deadline >= 0 && now >= deadline))
            rt_end_(END_TIME, 0, "");
        else if (idle())
            rt_end_(END_IDLE, 0, "");
        else
            rt_futex_wait_(&W->why, verdict, least(pause, until_event(deadline) - now));
        look_for_stop(stops);
        pause = least(2 * pause, longest_pause());
        ticked = tick(ticked);
        if (rt_log_hungry_())
            rt_log_merge_();
    }
}

/* The controlling thread ends the world and takes its records: it must get a CPU. */
static void rise(bool up)
{
    static struct sched_param before;
    static int policy;

    if (W->opts.sched != RT_SCHED_FIFO)
        return;
    if (up)
        pthread_getschedparam(pthread_self(), &policy, &before);
    pthread_setschedparam(pthread_self(), up ? SCHED_FIFO : policy,
                          up ? &(struct sched_param){.sched_priority = FIFO_PRIORITY + 1}
                             : &before);
}

enum world_end rt_run(int64_t timeout_ns)
{
    int64_t start = rt_clock_(), stolen = rt_steal_ns_();
    struct stop_watch stops = {.looked = start, .continued = atomic_load(&W->continued)};
    int32_t n = atomic_load(&W->nthreads);
    int err = 0;

    W->epoch = start - 1;
    rt_tsc_start_();
    rt_block_signal_(true);
    rise(true);
    rt_env_start_();
    err = rt_group_enter_() ? 0 : EPERM;
    for (int32_t i = 0; i < n && !err; i++)
        err = launch(&W->threads[i]);
    rt_group_leave_();
    rt_block_signal_(false);
    if (err)
        rt_end_(END_LIMIT, 0, "real threads: the system refuses the first ones");
    wait_for_verdict(timeout_ns < 0 ? -1 : start + timeout_ns, &stops);
    end_threads();
    rise(false);
    look_for_stop(&stops);
    W->steal_ns = rt_steal_ns_() - stolen;
    rt_log_end_();
    return (enum world_end)(atomic_load(&W->why) - 2);
}

void rt_start(struct hostm *hm, void (*fn)(void *), void *arg) { take_thread(hm, fn, arg); }

const struct world_verdict *rt_verdict(void) { return &W->verdict; }

/* ---- set up, tear down ---- */

int32_t rt_cpus(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

static const char *class_name(int policy)
{
    switch (policy) {
    case SCHED_OTHER: return "other";
    case SCHED_FIFO: return "fifo";
    case SCHED_RR: return "rr";
    case SCHED_BATCH: return "batch";
    case SCHED_IDLE: return "idle";
    default: return "unknown";
    }
}

const char *rt_sched_name(enum rt_sched sched)
{
    return class_name(sched == RT_SCHED_OWN    ? sched_getscheduler(0) & ~SCHED_RESET_ON_FORK
                      : sched == RT_SCHED_FIFO ? SCHED_FIFO
                                               : SCHED_OTHER);
}

static void *nothing(void *arg) { return arg; }

/* Whether the system grants the class is found out with a thread. */
static bool choose_class(struct failure *f)
{
    pthread_attr_t attr;
    pthread_t t;
    int err;

    pthread_attr_init(&attr);
    rt_sched_above_(&attr);
    err = pthread_create(&t, &attr, nothing, NULL);
    pthread_attr_destroy(&attr);
    if (err == 0)
        return pthread_join(t, NULL) == 0;
    return fail(f, E_LIMIT, "no thread of the scheduling class '%s': %s%s",
                rt_sched_name(W->opts.sched), strerror(err),
                err == EPERM ? " (it wants CAP_SYS_NICE, or ulimit -r 2)" : ""),
           false;
}

static bool choose_cpus(struct failure *f)
{
    int32_t want = W->opts.cpus, have = 0;

    if (want < 0)
        return fail(f, E_USAGE, "cpus: want 0 or more, got %d", want), false;
    if (sched_getaffinity(0, sizeof W->cpus, &W->cpus))
        return fail(f, E_IO, "sched_getaffinity: %s", strerror(errno)), false;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &W->cpus) && want > 0 && have++ >= want)
            CPU_CLR(cpu, &W->cpus);
    W->ncpu = CPU_COUNT(&W->cpus);
    if (W->ncpu < want)
        return fail(f, E_LIMIT, "cpus: want %d, this process may use %d", want, W->ncpu), false;
    return true;
}

static bool take_memory(struct failure *f)
{
    W->memory_max = W->opts.memory_max ? W->opts.memory_max : DEFAULT_MEMORY;
    W->memory = pages_map(W->memory_max, /*usable*/ true);
    W->threads = pages_map(sizeof *W->threads * RT_THREADS_MAX, /*usable*/ true);
    W->p_cpu = pages_map(sizeof *W->p_cpu * RT_PROCS_MAX, /*usable*/ true);
    if (W->memory && W->threads && W->p_cpu && rt_env_init_() && rt_fds_init_() &&
        rt_log_init_(W->opts.records_max))
        return true;
    return fail(f, E_LIMIT, "real host: memory or descriptors: %s", strerror(errno)), false;
}

static void on_continue(int sig)
{
    (void)sig;
    atomic_fetch_add(&W->continued, 1);
}

/* No SA_RESTART: ThreadSanitizer runs handlers late, at the next operation it knows, so a futex
 * that went back to sleep by itself would never see the stop. Spurious returns are in the
 * contract. */
static void handle_signal(void)
{
    struct sigaction sa = {.sa_handler = on_signal}, cont = {.sa_handler = on_continue};

    sigemptyset(&sa.sa_mask);
    sigemptyset(&cont.sa_mask);
    sigaction(SIGURG, &sa, &W->old_sigurg);
    sigaction(SIGCONT, &cont, &W->old_sigcont);
}

bool rt_init(struct failure *f, const struct rt_opts *opts)
{
    memset(W, 0, sizeof *W);
    if (opts)
        W->opts = *opts;
    if (!W->opts.stack_size)
        W->opts.stack_size = DEFAULT_STACK;
    if (W->opts.threads_max <= 0 || W->opts.threads_max > RT_THREADS_MAX)
        W->opts.threads_max = RT_THREADS_MAX;
    W->outside.id = W->outside.cpu_pid = -1;
    W->verdict.text = "";
    W->sink = W->opts.sink;
    W->sink_arg = W->opts.sink_arg;
    atomic_store(&W->seed, W->opts.seed);
    pthread_mutex_init(&W->ended_lock, NULL);
    become(&W->outside);
    rt_burst_calibrate_();
    handle_signal();
    if (choose_cpus(f) && choose_class(f) && take_memory(f) && rt_group_make_(f))
        return true;
    rt_free();
    return false;
}

void rt_free(void)
{
    rt_group_remove_();
    sigaction(SIGURG, &W->old_sigurg, NULL);
    sigaction(SIGCONT, &W->old_sigcont, NULL);
    rt_log_free_();
    rt_calls_free_();
    rt_fds_free_();
    rt_env_free_();
    pages_unmap(W->threads, sizeof *W->threads * RT_THREADS_MAX);
    pages_unmap(W->memory, W->memory_max);
    pages_unmap(W->p_cpu, sizeof *W->p_cpu * RT_PROCS_MAX);
    pthread_mutex_destroy(&W->ended_lock);
    rt_self_ = NULL;
    W->threads = NULL;
    W->p_cpu = NULL;
    W->memory = NULL;
}

/* ---- figures ---- */

bool rt_thread_stats(int32_t id, struct rt_thread_stats *s)
{
    if (id < 0 || id >= atomic_load(&W->nthreads))
        return false;
    *s = W->threads[id].stats;
    return true;
}

int64_t rt_p_cpu_ns(int32_t pid)
{
    return pid >= 0 && pid < RT_PROCS_MAX && W->p_cpu != NULL ? atomic_load(&W->p_cpu[pid]) : 0;
}

void rt_stats(struct rt_stats *s)
{
    struct rt_thread_stats t;

    *s = (struct rt_stats){.ran_ns = W->ran_ns,
                           .main_ns = W->main_ns,
                           .main_cpu_ns = W->main_cpu_ns,
                           .stopped_ns = W->stopped_ns,
                           .steal_ns = W->steal_ns,
                           .memory = atomic_load(&W->memory_used)};
    for (int32_t id = 0; rt_thread_stats(id, &t); id++) {
        s->threads++;
        s->cpu_ns += t.cpu_ns;
        s->futex_sleeps += t.futex_sleeps;
        s->futex_wakes += t.futex_wakes;
        s->signals += t.signals;
        s->polls += t.polls;
        s->voluntary += t.voluntary;
        s->involuntary += t.involuntary;
    }
    rt_group_stats_(s);
    rt_log_stats_(s);
}
