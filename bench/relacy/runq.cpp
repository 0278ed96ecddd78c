// SPDX-License-Identifier: BSD-3-Clause
// The test of bench/explore_runq.c, for Relacy: the same queue, the same orders, the same checks.
#define RL_FORCE_SEQ_CST_OFF
#include <cstdio>
#include <ctime>
#include <sstream>

#include <sys/wait.h>
#include <unistd.h>

#include "relacy/relacy.hpp"

enum { RING = 4, PUTS_MAX = 64 };

static unsigned long long operations;
static unsigned executions, executions_max; // of a depth-first search, which has no limit else
static double began;
static void tell(const char *how, unsigned runs);

template <int PUTS, int TAKES> struct runq : rl::test_suite<runq<PUTS, TAKES>, 3> {
    rl::atomic<unsigned> head, tail, slot[RING];
    unsigned put_count, taken[PUTS_MAX + 1];

    void before()
    {
        head($).store(0, rl::mo_relaxed);
        tail($).store(0, rl::mo_relaxed);
        for (int i = 0; i < RING; i++)
            slot[i]($).store(0, rl::mo_relaxed);
        for (int i = 0; i <= PUTS_MAX; i++)
            taken[i] = 0;
        put_count = 0;
    }

    void put(unsigned value)
    {
        operations += 2;
        unsigned h = head($).load(rl::mo_acquire), t = tail($).load(rl::mo_relaxed);
        if (t - h >= RING)
            return;
        operations += 2;
        slot[t % RING]($).store(value, rl::mo_relaxed);
        tail($).store(t + 1, rl::mo_release);
        put_count++;
    }

    void take()
    {
        operations += 2;
        unsigned h = head($).load(rl::mo_acquire), t = tail($).load(rl::mo_acquire);
        if (t == h)
            return;
        operations += 2;
        unsigned value = slot[h % RING]($).load(rl::mo_relaxed);
        if (!head($).compare_exchange_strong(h, h + 1, rl::mo_acq_rel))
            return;
        RL_ASSERT(value != 0 && taken[value]++ == 0);
    }

    void thread(unsigned index)
    {
        for (unsigned i = 1; index == 0 && i <= PUTS; i++)
            put(i);
        for (unsigned i = 0; index != 0 && i < TAKES; i++)
            take();
    }

    void after()
    {
        unsigned count = tail($).load(rl::mo_relaxed) - head($).load(rl::mo_relaxed);
        for (int i = 1; i <= PUTS; i++)
            count += taken[i];
        RL_ASSERT(count == put_count);
        if (++executions == executions_max) {
            tell("depth first", executions);
            _exit(0);
        }
    }
};

static const char *name;

static double cpu_seconds()
{
    timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void tell(const char *how, unsigned runs)
{
    double took = cpu_seconds() - began;
    std::printf("Relacy %s, %s\t%.1f\t%.0f\n", how, name, (double)operations / runs, runs / took);
    std::fflush(stdout);
}

template <int PUTS, int TAKES> static bool search(rl::scheduler_type_e type, unsigned runs)
{
    std::ostringstream out;
    rl::test_params p;
    p.search_type = type;
    p.iteration_count = runs;
    p.output_stream = &out;
    p.progress_stream = &out;
    p.execution_depth_limit = 5000;
    operations = 0;
    began = cpu_seconds();
    bool good = rl::simulate<runq<PUTS, TAKES> >(p);
    if (!good)
        std::fprintf(stderr, "%s\n", out.str().c_str());
    return good;
}

template <int PUTS, int TAKES> static bool depth_first(unsigned runs)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        executions = 0;
        executions_max = runs;
        search<PUTS, TAKES>(rl::fair_full_search_scheduler_type, 0);
        _exit(1); // it came to an end before that, or failed
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

template <int PUTS, int TAKES> static bool measure(const char *of, unsigned runs)
{
    name = of;
    executions_max = 0;
    bool good = search<PUTS, TAKES>(rl::random_scheduler_type, runs);
    tell("random", runs);
    return depth_first<PUTS, TAKES>(runs) && good;
}

int main()
{
    bool good = measure<2, 1>("15 operations", 100000);
    good = measure<4, 2>("29 operations", 50000) && good;
    good = measure<14, 7>("100 operations", 20000) && good;
    good = measure<64, 38>("500 operations", 4000) && good;
    return good ? 0 : 1;
}
