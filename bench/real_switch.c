/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same core on real threads beside real Go, doing what bench/go does: CPU time, each case on
 * one and on two Ps, records off. Every repetition runs the threads and each Go, one after the
 * other; medians. bench/go/run.sh -build says which Gos there are: the newest and 1.23, or those
 * that GO names (with colons between). Ends with status 1 if a case is slower than a Go, or if not
 * half of the cases are 1.2 times as fast. Arguments: names that begin so; -reps N. With -ops N the
 * threads run alone, so many operations once, on one P: for bench/per_operation.py.
 *
 * libs: gmpsim_build gmpsim_host_real
 */
#include <stdbool.h>
#include <unistd.h>

#include "bench.h"
#include "programs.h"

enum { REPS_DEFAULT = 5, GOS_MAX = 4, LINE = 600 };
static const double fast_enough = 1.2;

/* Each is so long that the start of a world, up to a ms, is nothing: Go's have started before they
 * are measured. */
static const struct program_case programs[] = {
    {"pingpong", 0, 300000, 1, pingpong},
    {"gosched_2", 0, 600000, 2, gosched},
    {"gosched_100", 0, 600000, 100, gosched},
    {"spawn_exit", 0, 200000, 0, spawn_exit},
    {"fanout_1e4", 0, 200000, 10000, fanout},
    {"worker_pool", 0, 2000000, 8, worker_pool},
    {"mutex_handoff", 0, 200000, 2, mutex_handoff},
    {"sleep_storm_1e4", 0, 50000, 10000, sleep_storm},
    {"steal_storm", 0, 200000, 200, steal_storm},
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

struct go {
    char program[LINE], version[40];
};

static int find_gos(struct go *gos, const char *folder)
{
    char line[LINE + 60];
    int n = 0;
    snprintf(line, sizeof line, "bench/go/run.sh -build '%s'", folder);
    FILE *in = popen(line, "r");
    while (in != NULL && n < GOS_MAX && fgets(line, sizeof line, in) != NULL)
        if (sscanf(line, "built %39s %599s", gos[n].version, gos[n].program) == 2)
            n++;
        else
            fputs(line, stdout);
    if (in != NULL)
        pclose(in);
    return n;
}

static double run_threads(const struct program_case *c, const struct program *p, int procs)
{
    struct failure f = {0};
    struct profile prof;
    const struct host_opts o = {.seed = 1,
                                .world = {.profile = &prof, .program = p, .procs = procs}};
    profile_init(&prof, PROFILE_LATEST);
    profile_set(&prof, "gc_percent", -1);
    if (!world_open(&host_real, &f, &o))
        programs_stop(c->name, f.text);
    uint64_t t = bench_cpu_ns();
    if (host_real.run(UINT64_MAX) != END_STOPPED)
        programs_stop(c->name, "it did not finish");
    t = bench_cpu_ns() - t;
    host_real.close();
    return (double)t / (double)c->ops;
}

/* One repetition of as many operations. */
static double run_go(const struct go *go, const struct program_case *c, int procs)
{
    char line[LINE + 200], name[40];
    double ns = 0, got;
    snprintf(line, sizeof line, "'%.599s' -procs %d -reps 1 -ops %lld %s", go->program, procs,
             (long long)c->ops, c->name);
    FILE *in = popen(line, "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (line[0] != '#' && sscanf(line, "%39s %lf", name, &got) == 2)
            ns = got;
    if (in == NULL || pclose(in) != 0 || ns <= 0)
        programs_stop(c->name, "real Go did not run it");
    return ns;
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, bench_compare_);
    return v[n / 2];
}

struct verdict {
    double ratios[PROGRAMS * 2 * GOS_MAX];
    int n, slower;
};

static void measure(const struct program_case *c, int procs, const struct go *gos, int ngos,
                    int reps, struct verdict *v)
{
    double own[BENCH_REPS_MAX], others[GOS_MAX][BENCH_REPS_MAX];
    const struct program *p = programs_make(c);
    for (int r = 0; r < reps; r++) {
        own[r] = run_threads(c, p, procs);
        for (int g = 0; g < ngos; g++)
            others[g][r] = run_go(&gos[g], c, procs);
    }
    double mine = median(own, reps);
    printf("  %-18s %5d %10.1f", c->name, procs, mine);
    for (int g = 0; g < ngos; g++) {
        double theirs = median(others[g], reps), ratio = theirs / mine;
        printf(" %10.1f %7.2f%s", theirs, ratio, ratio < 1 ? "<" : " ");
        v->slower += ratio < 1;
        v->ratios[v->n++] = ratio;
    }
    putchar('\n');
    fflush(stdout);
}

static bool wanted(const char *name, int argc, char **argv)
{
    bool any = false;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            i++;
            continue;
        }
        any = true;
        if (strncmp(name, argv[i], strlen(argv[i])) == 0)
            return true;
    }
    return !any;
}

/* The number behind an option; 0: it is not there. */
static int number_of(const char *option, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], option) == 0 && atoi(argv[i + 1]) > 0)
            return atoi(argv[i + 1]);
    return 0;
}

static int reps_of(int argc, char **argv)
{
    int n = number_of("-reps", argc, argv);
    if (n == 0)
        return REPS_DEFAULT;
    return n < BENCH_REPS_MAX ? n : BENCH_REPS_MAX;
}

static void run_alone(int64_t ops, int argc, char **argv)
{
    for (int i = 0; i < PROGRAMS; i++) {
        struct program_case c = programs[i];
        c.ops = ops;
        if (wanted(c.name, argc, argv))
            printf("%s %.1f\n", c.name, run_threads(&c, programs_make(&c), 1));
    }
}

static int judge(struct verdict *v)
{
    double half = median(v->ratios, v->n);
    bool good = v->slower == 0 && half >= fast_enough;
    printf("real: Go / threads, above 1 is faster: median %.2f, %d of %d slower than Go (<); "
           "wanted: at least %.1f, none: %s\n",
           half, v->slower, v->n, fast_enough, good ? "holds" : "does not hold");
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct verdict v;
    static struct go gos[GOS_MAX];
    char folder[] = "/tmp/gmpsim-bench-XXXXXX", clean[80];
    int reps = reps_of(argc, argv), ops = number_of("-ops", argc, argv);
    if (ops > 0)
        return run_alone(ops, argc, argv), 0;
    if (mkdtemp(folder) == NULL)
        programs_stop("bench", "no folder");
    int ngos = find_gos(gos, folder);
    printf("threads, rules of go1.%d, CPU ns per operation, median of %d\n  %-18s %5s %10s",
           PROFILE_LATEST, reps, "", "procs", "threads");
    for (int g = 0; g < ngos; g++)
        printf(" %10s %7s ", gos[g].version, "real");
    putchar('\n');
    for (int i = 0; i < PROGRAMS; i++)
        for (int procs = 1; procs <= 2; procs++)
            if (wanted(programs[i].name, argc, argv))
                measure(&programs[i], procs, gos, ngos, reps, &v);
    snprintf(clean, sizeof clean, "rm -rf '%s'", folder);
    if (system(clean) != 0)
        fprintf(stderr, "%s stays\n", folder);
    return v.n > 0 ? judge(&v) : 0;
}
