/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does `gmpsim explore` get twice as far on two cores, and does it grow? Seconds of one search of
 * two seeds with --jobs 1 and with --jobs 2, in turn; and the most memory that a search of 1e4,
 * 1e5, ... schedules had resident (the argument: how many at most, default 1e5).
 *
 * libs: gmpsim_base
 */
#define _GNU_SOURCE /* wait4 */
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { REPS = 3, COMMAND_MAX = 4096, NUMBER_MAX = 32, FIRST = 10000 };

static char command[COMMAND_MAX]; /* gmpsim, which lies beside this program */
static const char *const file = "scenarios/kernels/etcd-7492-fixed.json";

struct search {
    const char *seeds, *jobs;
    uint64_t runs;
};

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void become(const struct search *s)
{
    char runs[NUMBER_MAX];
    snprintf(runs, sizeof runs, "%llu", (unsigned long long)s->runs);
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    execl(command, command, "explore", file, "--strategy", "random", "--granularity", "sync",
          "--procs", "2", "--seeds", s->seeds, "--jobs", s->jobs, "--runs", runs, (char *)NULL);
    _exit(2);
}

/* Its seconds; *kb: the most that it had resident. */
static double search(const struct search *s, long *kb)
{
    double from = wall();
    int status;
    struct rusage used;
    pid_t child = fork();
    if (child == 0)
        become(s);
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0) {
        fprintf(stderr, "bench_jobs: %s explore %s failed\n", command, file);
        exit(1);
    }
    *kb = used.ru_maxrss;
    return wall() - from;
}

static double on_two_cores(void)
{
    static const struct search one = {"1-2", "1", 3 * FIRST}, two = {"1-2", "2", 3 * FIRST};
    double ratio[REPS];
    long kb;
    for (int i = 0; i < REPS; i++) {
        double alone = search(&one, &kb);
        ratio[i] = alone / search(&two, &kb);
    }
    qsort(ratio, REPS, sizeof *ratio, bench_compare_);
    return ratio[REPS / 2];
}

int main(int argc, char **argv)
{
    uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 10 * FIRST;
    const char *slash = strrchr(argv[0], '/');
    long kb;
    snprintf(command, sizeof command, "%.*sgmpsim", slash != NULL ? (int)(slash + 1 - argv[0]) : 0,
             argv[0]);
    printf(
        "explore: two seeds with --jobs 2, as fast as with --jobs 1: %.2f times (median of %d)\n",
        on_two_cores(), REPS);
    for (uint64_t runs = FIRST; runs <= most; runs *= 10) {
        double took = search(&(struct search){"1", "1", runs}, &kb);
        printf("  %10llu schedules %8.1f s %8ld KB resident at most\n", (unsigned long long)runs,
               took, kb);
    }
    return 0;
}
