/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_BENCH_BENCH_H
#define GMPSIM_BENCH_BENCH_H

/* Benchmarks that can be trusted on a noisy machine: ratios inside one run, CPU time, medians of
 * interleaved repetitions.
 *
 *   static void switch_asm(void *arg) { setup; bench_begin(); ...work...; bench_end(operations); }
 *   struct bench_case cases[] = {{"ucontext", switch_uc, NULL}, {"asm", switch_asm, NULL}};
 *   bench_table("coroutine switch", cases, 2, reps);
 *
 * The first case is the baseline of the ratios. Every repetition runs all cases once, in turn. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_CASES_MAX = 32, BENCH_REPS_MAX = 101 };

struct bench_case {
    const char *name;
    void (*run)(void *arg);
    void *arg;
};

static uint64_t bench_started_, bench_ns_, bench_ops_;

static inline uint64_t bench_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void bench_begin(void) { bench_started_ = bench_cpu_ns(); }

static inline void bench_end(uint64_t ops)
{
    bench_ns_ = bench_cpu_ns() - bench_started_;
    bench_ops_ = ops;
}

/* Keeps a value alive without costing anything. */
#define bench_keep(x) __asm__ volatile("" : : "g"(x) : "memory")

static inline int bench_compare_(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints one line per case: median ns per operation, millions per second, the ratio to the first
 * case (median of the ratios within each repetition; above 1 is faster), and the spread. If medians
 * is not NULL it takes the medians. */
static inline void bench_table_into(const char *title, const struct bench_case *cases, int count,
                                    int reps, double *medians)
{
    static double ns[BENCH_CASES_MAX][BENCH_REPS_MAX];
    if (count > BENCH_CASES_MAX || reps > BENCH_REPS_MAX) {
        fprintf(stderr, "bench: too many cases or repetitions\n");
        exit(2);
    }
    for (int r = 0; r < reps; r++)
        for (int i = 0; i < count; i++) {
            cases[i].run(cases[i].arg);
            ns[i][r] = (double)bench_ns_ / (double)bench_ops_;
        }
    printf("%s (CPU time, median of %d interleaved repetitions)\n", title, reps);
    printf("  %-34s %10s %10s %8s   %s\n", "", "ns/op", "M op/s", "ratio", "min..max ns");
    double ratio[BENCH_REPS_MAX];
    double base[BENCH_REPS_MAX];
    memcpy(base, ns[0], sizeof base);
    for (int i = 0; i < count; i++) {
        for (int r = 0; r < reps; r++)
            ratio[r] = base[r] / ns[i][r];
        qsort(ratio, (size_t)reps, sizeof ratio[0], bench_compare_);
        qsort(ns[i], (size_t)reps, sizeof ns[i][0], bench_compare_);
        double median = ns[i][reps / 2];
        if (medians)
            medians[i] = median;
        printf("  %-34s %10.2f %10.2f %8.2f   %.2f..%.2f\n", cases[i].name, median, 1e3 / median,
               ratio[reps / 2], ns[i][0], ns[i][reps - 1]);
    }
    fflush(stdout);
}

static inline void bench_table(const char *title, const struct bench_case *cases, int count,
                               int reps)
{
    bench_table_into(title, cases, count, reps, NULL);
}

/* Repetitions: the first argument of the program, or a default. */
static inline int bench_reps(int argc, char **argv, int normally)
{
    int reps = argc > 1 ? atoi(argv[1]) : normally;
    return reps < 1 ? 1 : reps > BENCH_REPS_MAX ? BENCH_REPS_MAX : reps;
}

#endif
