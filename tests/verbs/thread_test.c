/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: threads start, know who they are, get signals, run bursts that can be cut, and end.
 * Method: small casts of threads with scripts; who must have seen what is checked afterwards. */
#include "harness.h"
#include "verbs_world.h"

static const int64_t MS = 1000000;
enum { TRIES = 300 };

struct cast {
    ATOMIC(uint32_t) stage; /* how far the play is; threads wait for each other on it */
    ATOMIC(uint32_t) signals;
    ATOMIC(uint32_t) started;
    ATOMIC(void *) handler_saw;
    int32_t arg[VERBS_THREADS_MAX]; /* &arg[i] is the arg of thread i */
    void *saw[VERBS_THREADS_MAX];
    int64_t left, begin, end, shortest, rounds;
    uint32_t count;
};
static struct cast *play;

static void begin(const struct verbs_opts *opts)
{
    play = verbs_begin(sizeof *play, opts);
    for (int32_t i = 0; i < VERBS_THREADS_MAX; i++)
        play->arg[i] = i;
}

static void await(uint32_t stage)
{
    while (a_load(&play->stage) < stage)
        osyield();
}

/* ---- starting and ending ---- */

static void note_arg(void *arg)
{
    play->saw[*(int32_t *)arg] = getarg();
    a_add(&play->started, 1);
}

TEST_CASE(Threads, GetargIsTheArgOfEachThread)
{
    begin(NULL);
    for (int i = 0; i < 5; i++)
        verbs_thread(note_arg, &play->arg[i]);
    CHECK_EQ(verbs_run(), END_IDLE);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(play->saw[i], &play->arg[i]);
    verbs_end();
}

static void start_others(void *arg)
{
    note_arg(arg);
    for (int i = 1; i < VERBS_THREADS_MAX; i++)
        newosproc(verbs_hostm(i), note_arg, &play->arg[i]);
}

TEST_CASE(Threads, NewosprocStartsAThreadWithItsArg)
{
    begin(NULL);
    verbs_thread(start_others, &play->arg[0]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&play->started), VERBS_THREADS_MAX);
    for (int i = 0; i < VERBS_THREADS_MAX; i++)
        CHECK_EQ(play->saw[i], &play->arg[i]);
    verbs_end();
}

static void start_next(void *arg)
{
    int32_t i = *(int32_t *)arg;

    note_arg(arg);
    if (i + 1 < VERBS_THREADS_MAX)
        newosproc(verbs_hostm(i + 1), start_next, &play->arg[i + 1]);
}

TEST_CASE(Threads, AThreadMayEndRightAfterItStartedAnother)
{
    begin(NULL);
    verbs_thread(start_next, &play->arg[0]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&play->started), VERBS_THREADS_MAX);
    verbs_end();
}

static void exit_deep(int depth)
{
    if (depth > 0)
        exit_deep(depth - 1);
    else if (a_load(&play->stage) == 0)
        thread_exit();
    play->count++; /* nobody comes back here */
}

static void exits(void *arg)
{
    (void)arg;
    exit_deep(5);
    play->count++;
}

TEST_CASE(Threads, ThreadExitDoesNotReturn)
{
    begin(NULL);
    verbs_thread(exits, &play->arg[0]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(play->count, 0);
    verbs_end();
}

/* ---- signals ---- */

static void on_signal(void *arg)
{
    a_store(&play->handler_saw, arg);
    a_add(&play->signals, 1);
}

static const struct verbs_opts with_handler = {.sighandler = on_signal};

static void spin_for_signal(void *arg)
{
    (void)arg;
    a_store(&play->stage, 1u);
    while (a_load(&play->signals) == 0)
        procyield(10);
    play->saw[0] = getarg();
}

static void send_signal(void *arg)
{
    (void)arg;
    await(1);
    signalm(verbs_hostm(0));
}

TEST_CASE(Signals, TheHandlerRunsWithTheArgOfTheThreadSignalled)
{
    begin(&with_handler);
    verbs_thread(spin_for_signal, &play->arg[0]);
    verbs_thread(send_signal, &play->arg[1]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&play->signals), 1);
    CHECK_EQ(a_peek(&play->handler_saw), &play->arg[0]);
    CHECK_EQ(play->saw[0], &play->arg[0]);
    verbs_end();
}

static void signal_self(void *arg)
{
    (void)arg;
    signalm(verbs_hostm(0));
    while (a_load(&play->signals) == 0)
        procyield(1);
}

TEST_CASE(Signals, AThreadMaySignalItself)
{
    begin(&with_handler);
    verbs_thread(signal_self, &play->arg[0]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&play->handler_saw), &play->arg[0]);
    verbs_end();
}

/* A new thread may be signalled at once, and one that has ended without harm. */
static void signal_young_and_old(void *arg)
{
    (void)arg;
    newosproc(verbs_hostm(1), spin_for_signal, &play->arg[1]);
    signalm(verbs_hostm(1));
    while (a_load(&play->signals) == 0)
        osyield();
    host_usleep(2000);
    signalm(verbs_hostm(1));
    play->count++;
}

TEST_CASE(Signals, ToAThreadThatJustStartedAndToOneThatEnded)
{
    begin(&with_handler);
    verbs_thread(signal_young_and_old, &play->arg[0]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&play->signals), 1);
    CHECK_EQ(play->count, 1);
    verbs_end();
}

/* ---- bursts ---- */

static void burst_once(void *arg)
{
    (void)arg;
    play->begin = nanotime();
    play->left = burst(3 * MS, BURST_CUT);
    play->end = nanotime();
}

TEST_CASE(Bursts, AnUndisturbedBurstRunsForItsTime)
{
    begin(NULL);
    verbs_thread(burst_once, &play->arg[0]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(play->left, 0);
    CHECK_GE(play->end - play->begin, 3 * MS - 10000);
    if (verbs_exact())
        CHECK_LE(play->end - play->begin, 3 * MS + 10000);
    verbs_end();
}

static void burst_nothing(void *arg)
{
    (void)arg;
    play->left = burst(0, BURST_CUT) + burst(0, BURST_WHOLE);
    play->count++;
}

TEST_CASE(Bursts, AnEmptyBurstIsComplete)
{
    begin(NULL);
    verbs_thread(burst_nothing, &play->arg[0]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(play->left, 0);
    CHECK_EQ(play->count, 1);
    verbs_end();
}

enum { LONG_S = 3600 };

/* An hour of user code, ended by others only. */
static void burst_an_hour(void *arg)
{
    (void)arg;
    a_store(&play->stage, 1u);
    play->left = burst(LONG_S * 1000 * MS, BURST_CUT);
    a_store(&play->stage, 2u);
}

static void nudge_it(void *arg)
{
    (void)arg;
    await(1);
    host_usleep(3000);
    nudge(verbs_hostm(0));
}

static void signal_it(void *arg)
{
    (void)arg;
    await(1);
    host_usleep(3000);
    signalm(verbs_hostm(0));
}

static void cut_by(void (*cutter)(void *))
{
    begin(&with_handler);
    verbs_thread(burst_an_hour, &play->arg[0]);
    verbs_thread(cutter, &play->arg[1]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_EQ(a_peek(&play->stage), 2);
    CHECK_GT(play->left, 0);
    CHECK_LT(play->left, LONG_S * 1000 * MS);
}

TEST_CASE(Bursts, ASignalCutsABurst)
{
    cut_by(signal_it);
    CHECK_EQ(a_peek(&play->signals), 1);
    verbs_end();
}

TEST_CASE(Bursts, ANudgeCutsABurst)
{
    cut_by(nudge_it);
    CHECK_EQ(a_peek(&play->signals), 0);
    verbs_end();
}

/* The parts of a burst that is cut many times add up. On a busy machine the cutter may miss a whole
 * burst; then there is another. */
static void burst_in_parts(void *arg)
{
    (void)arg;
    a_store(&play->stage, 1u);
    play->begin = nanotime();
    for (play->rounds = 0; play->count == 0 && play->rounds < TRIES; play->rounds++)
        for (play->left = 40 * MS; play->left > 0;) {
            int64_t left = burst(play->left, BURST_CUT);

            play->count += left > 0;
            play->left = left;
        }
    play->end = nanotime();
    a_store(&play->stage, 2u);
}

static void keep_cutting(void *arg)
{
    (void)arg;
    await(1);
    while (a_load(&play->stage) == 1) {
        host_usleep(2000);
        signalm(verbs_hostm(0));
    }
}

TEST_CASE(Bursts, PartsOfACutBurstAddUp)
{
    begin(&with_handler);
    verbs_thread(burst_in_parts, &play->arg[0]);
    verbs_thread(keep_cutting, &play->arg[1]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_GT(play->count, 0);
    CHECK_GE(play->end - play->begin, play->rounds * (40 * MS - 1 * MS));
    if (verbs_exact())
        CHECK_LE(play->end - play->begin, 41 * MS);
    verbs_end();
}

/* Does act again and again until a signal came in the middle of one; notes the shortest. */
static void until_disturbed(int64_t (*act)(void))
{
    uint32_t before, after;

    a_store(&play->stage, 1u);
    play->shortest = INT64_MAX;
    do {
        before = a_load(&play->signals);
        int64_t begun = nanotime();

        play->left += act();
        int64_t took = nanotime() - begun;

        play->shortest = took < play->shortest ? took : play->shortest;
        after = a_load(&play->signals);
    } while (after == before && ++play->rounds < TRIES);
    a_store(&play->stage, 2u);
}

static int64_t burst_whole(void) { return burst(10 * MS, BURST_WHOLE); }

static int64_t body_off_cpu(void)
{
    syscall_body(10 * MS, SYSCALL_SLEEP);
    return 0;
}

static int64_t body_on_cpu(void)
{
    syscall_body(10 * MS, SYSCALL_SPIN);
    return 0;
}

static void whole(void *arg)
{
    (void)arg;
    until_disturbed(burst_whole);
}

static void off_cpu(void *arg)
{
    (void)arg;
    until_disturbed(body_off_cpu);
}

static void on_cpu(void *arg)
{
    (void)arg;
    until_disturbed(body_on_cpu);
}

static void is_not_shortened(void (*body)(void *))
{
    begin(&with_handler);
    verbs_thread(body, &play->arg[0]);
    verbs_thread(keep_cutting, &play->arg[1]);
    CHECK_EQ(verbs_run(), END_IDLE);
    CHECK_GT(a_peek(&play->signals), 0);
    CHECK_EQ(play->left, 0);
    CHECK_GE(play->shortest, 10 * MS - 10000);
    verbs_end();
}

TEST_CASE(Bursts, AWholeBurstIsNotCut) { is_not_shortened(whole); }
TEST_CASE(Bursts, SignalsDoNotShortenASystemCallOffTheCpu) { is_not_shortened(off_cpu); }
TEST_CASE(Bursts, SignalsDoNotShortenASystemCallOnTheCpu) { is_not_shortened(on_cpu); }
