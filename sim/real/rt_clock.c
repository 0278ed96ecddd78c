/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clock of a world. Go's is CLOCK_MONOTONIC, and so is that of a world that nobody records.
 *
 * Records need a cheaper one: three are made when a goroutine gives way to another, which takes
 * 100 ns, and the system's clock 20. Where the system itself reads the processor's counter of
 * cycles (so it is the same on all CPUs and never changes its speed) a world that is recorded reads
 * it too, for everything, so that its times are of one clock. How long a cycle is is measured
 * against CLOCK_MONOTONIC from the process's first world on, to some millionths.
 */
#include "rt_int.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define W (&rt_world_)

enum {
    READINGS = 16,
    MEASURED_NS = 5000000, /* at least */
    FRACTION = 32          /* bits */
};

#ifdef __x86_64__
static uint64_t cycles(void) { return __builtin_ia32_rdtsc(); }
static void order(void) { __builtin_ia32_lfence(); }
#else
static uint64_t cycles(void) { return 0; }
static void order(void) {}
#endif

static struct {
    uint64_t start;  /* in cycles, at the world's epoch */
    uint64_t ns_per; /* cycle, in 1 / 2^FRACTION; 0: the system's clock is read */
} tsc;

struct both {
    uint64_t cycles;
    int64_t ns;
};

static bool is_trusted(void)
{
    char name[8] = "";
    FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (f == NULL)
        return false;
    (void)!fgets(name, sizeof name, f);
    fclose(f);
    return cycles() != 0 && strcmp(name, "tsc\n") == 0;
}

/* The reading that was disturbed least. */
static struct both read_both(void)
{
    struct both best = {0};
    uint64_t shortest = UINT64_MAX;

    for (int i = 0; i < READINGS; i++) {
        uint64_t before = cycles(), took;
        int64_t ns = rt_clock_();

        order();
        took = cycles() - before;
        if (took >= shortest)
            continue;
        shortest = took;
        best = (struct both){before + took / 2, ns};
    }
    return best;
}

static void sleep_ns(int64_t ns)
{
    clock_nanosleep(CLOCK_MONOTONIC, 0, &(struct timespec){.tv_nsec = (long)ns}, NULL);
}

/* Again for each world, while that makes it better. */
void rt_tsc_init_(void)
{
    static struct both first;
    struct both now;
    uint64_t measured;

    if (!is_trusted())
        return;
    if (first.ns == 0)
        first = read_both();
    while ((now = read_both()).ns - first.ns < MEASURED_NS)
        sleep_ns(MEASURED_NS);
    if (now.ns - first.ns > UINT32_MAX)
        return; /* long enough ago */
    measured = ((uint64_t)(now.ns - first.ns) << FRACTION) / (now.cycles - first.cycles);
    if (measured <= UINT32_MAX) /* else it counts slower than nanoseconds */
        tsc.ns_per = measured;
}

void rt_tsc_start_(void) { tsc.start = cycles(); }

/* At least 1, as with the system's clock. */
static int64_t since_start(void)
{
    uint64_t n = cycles() - tsc.start;

    return (int64_t)((n >> FRACTION) * tsc.ns_per + ((n & UINT32_MAX) * tsc.ns_per >> FRACTION)) +
           1;
}

/* 0 before the run. */
int64_t rt_nanotime_(void)
{
    if (W->epoch == 0)
        return 0;
    if (tsc.ns_per == 0)
        return rt_clock_() - W->epoch;
    order();
    return since_start();
}

int64_t rt_now_about_(void)
{
    return tsc.ns_per == 0 || W->epoch == 0 ? rt_nanotime_() : since_start();
}
