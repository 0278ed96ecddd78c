/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to simulate what bench/go does for real: the same programs on the virtual host, one
 * world each, records off. Beside each its figure in real Go from the same run of this program, if
 * a Go is installed (bench/go/run.sh finds it; GO=/path/to/go chooses it). Arguments: names that
 * begin so.
 *
 * libs: gmpsim_build gmpsim_host_virt
 */
#include <stdbool.h>

#include "bench.h"
#include "programs.h"

enum { REPS = 3, NAME_MAX_LEN = 40 };

/* ---- measuring ---- */

/* Names, numbers of Ps and meaning as in bench/go/bench.go. */
static const struct program_case programs[] = {
    {"pingpong_p1", 1, 400000, 1, pingpong},
    {"gosched_2_p1", 1, 800000, 2, gosched},
    {"gosched_100_p1", 1, 800000, 100, gosched},
    {"gosched_1e4_p1", 1, 800000, 10000, gosched},
    {"gosched_1e5_p1", 1, 800000, 100000, gosched},
    {"spawn_exit_p1", 1, 300000, 0, spawn_exit},
    {"pingpong_32_p2", 2, 400000, 32, pingpong},
    {"fanout_1e4_p1", 1, 200000, 10000, fanout},
    {"fanout_1e4_p2", 2, 200000, 10000, fanout},
    {"worker_pool_p1", 1, 400000, 8, worker_pool},
    {"worker_pool_p2", 2, 400000, 8, worker_pool},
    {"mutex_handoff_p1", 1, 300000, 2, mutex_handoff},
    {"sleep_storm_1e4_p1", 1, 100000, 10000, sleep_storm},
    {"sleep_storm_1e4_p2", 2, 100000, 10000, sleep_storm},
    {"steal_storm_p2", 2, 100000, 200, steal_storm},
    {"steal_storm_p8", 8, 100000, 200, steal_storm},
    {"steal_storm_p64", 64, 100000, 200, steal_storm},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

struct measured {
    double ns_op, ns_switch;
};

static struct measured run_once(const struct program_case *c, const struct program *p)
{
    struct failure f = {0};
    struct profile prof;
    const struct host_opts o = {.seed = 1,
                                .world = {.profile = &prof, .program = p, .procs = c->procs}};
    uint64_t counters[COUNTER_COUNT];
    profile_init(&prof, PROFILE_LATEST);
    profile_set(&prof, "gc_percent", -1);
    if (!world_open(&host_virt, &f, &o))
        programs_stop(c->name, f.text);
    uint64_t t = bench_cpu_ns();
    if (host_virt.run(UINT64_MAX) != END_STOPPED)
        programs_stop(c->name, host_virt.verdict()->text);
    t = bench_cpu_ns() - t;
    host_virt.core->counters(counters);
    host_virt.close();
    return (struct measured){(double)t / (double)c->ops,
                             (double)t / (double)counters[COUNTER_switches]};
}

static int by_op(const void *a, const void *b)
{
    double x = ((const struct measured *)a)->ns_op, y = ((const struct measured *)b)->ns_op;
    return (x > y) - (x < y);
}

static struct measured measure(const struct program_case *c)
{
    struct measured m[REPS];
    const struct program *p = programs_make(c);
    for (int i = 0; i < REPS; i++)
        m[i] = run_once(c, p);
    qsort(m, REPS, sizeof *m, by_op);
    return m[REPS / 2];
}

/* ---- real Go ---- */

struct go_line {
    char name[NAME_MAX_LEN];
    double ns;
};

/* CPU ns per operation of real Go; the comment lines go through. */
static int run_go(struct go_line *lines)
{
    char line[300];
    int n = 0;
    FILE *in = popen("bench/go/run.sh -n 0.3 2>&1", "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (n < PROGRAMS && sscanf(line, "%39s %lf", lines[n].name, &lines[n].ns) == 2 &&
            line[0] != '#')
            n++;
        else
            fputs(line, stdout);
    }
    if (in != NULL)
        pclose(in);
    return n;
}

static bool wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(name, argv[i], strlen(argv[i])) == 0)
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    struct go_line lines[PROGRAMS];
    int n = run_go(lines);
    printf("simulated go1.%d, CPU time, middle of %d; real: Go / simulated, above 1 is faster\n",
           PROFILE_LATEST, REPS);
    printf("  %-20s %12s %12s %12s %8s\n", "", "ns/op", "ns/switch", "Go ns/op", "real");
    for (int i = 0; i < PROGRAMS; i++) {
        const struct program_case *c = &programs[i];
        if (!wanted(c->name, argc, argv))
            continue;
        struct measured m = measure(c);
        printf("  %-20s %12.1f %12.1f", c->name, m.ns_op, m.ns_switch);
        for (int k = 0; k < n; k++)
            if (strcmp(lines[k].name, c->name) == 0)
                printf(" %12.1f %8.2f", lines[k].ns, lines[k].ns / m.ns_op);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
