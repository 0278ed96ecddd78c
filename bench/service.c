/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a service takes to simulate: bench/busy-service.json, ten virtual seconds of a hundred
 * thousand requests a second on eight Ps. Below 1 second of wall time per virtual second is faster
 * than the service itself would run.
 *
 * libs: gmpsim_run
 */
#include <sys/resource.h>

#include "bench.h"
#include "run/run.h"

enum { REPS = 3 };
static const char *const path = "bench/busy-service.json";

struct measured {
    double wall, cpu, virtual_time;
    uint64_t requests, switches;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_service: %s\n", what);
    exit(1);
}

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct measured measure(bool analysed)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    struct scenario *s = scenario_load_file(&f, path);
    if (s == NULL || !run_opts_of(&f, s, 0, &o))
        die(f.text);
    o.no_analysis = !analysed;
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (!run_all(&f, &r, &o))
        die(f.text);
    struct measured m = {.wall = seconds(CLOCK_MONOTONIC) - wall,
                         .cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
                         .virtual_time = (double)r.result.now_ps / 1e12,
                         .requests = r.result.counters[COUNTER_goexited],
                         .switches = r.result.counters[COUNTER_switches]};
    run_free(&r);
    scenario_free(s);
    return m;
}

static int by_cpu(const void *a, const void *b)
{
    return bench_compare_(&((const struct measured *)a)->cpu, &((const struct measured *)b)->cpu);
}

static void print(const char *name, bool analysed, int reps)
{
    struct measured m[BENCH_REPS_MAX];
    for (int i = 0; i < reps; i++)
        m[i] = measure(analysed);
    qsort(m, (size_t)reps, sizeof *m, by_cpu);
    struct measured q = m[reps / 2];
    printf("  %-24s %8.2f %8.2f %8.2f %12.0f %12.0f\n", name, q.virtual_time, q.wall, q.cpu,
           1e9 * q.cpu / (double)q.requests, 1e9 * q.cpu / (double)q.switches);
}

int main(int argc, char **argv)
{
    struct rusage use;
    int reps = bench_reps(argc, argv, REPS);
    printf("%s (middle of %d)\n  %-24s %8s %8s %8s %12s %12s\n", path, reps, "", "virtual s",
           "wall s", "CPU s", "ns/request", "ns/switch");
    print("records off", false, reps);
    print("analysed (gmpsim run)", true, reps);
    getrusage(RUSAGE_SELF, &use);
    printf("  at most %.1f MB resident\n", (double)use.ru_maxrss * 1024 / 1e6);
    return 0;
}
