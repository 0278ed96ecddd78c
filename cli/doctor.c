/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim doctor: fixed worlds whose fingerprints must be the same in every run, build and machine.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "sim/base/coro.h"

struct world {
    const char *name;
    int32_t procs, cpus;
    int64_t quota_us;
    const char *text;
};

static const struct world worlds[] = {
    {"pingpong", 1, 0, 0,
     "{\"name\": \"pingpong\", \"why\": \"two goroutines, one P\","
     " \"objects\": {\"a\": {\"chan\": 0}, \"b\": {\"chan\": 0}},"
     " \"funcs\": {\"pong\": [{\"loop\": 2000, \"do\": [{\"recv\": \"a\"}, {\"send\": \"b\","
     " \"value\": 1}]}]},"
     " \"main\": [{\"go\": \"pong\"}, {\"loop\": 2000, \"do\": [{\"send\": \"a\", \"value\": 1},"
     " {\"recv\": \"b\"}]}]}"},
    {"storm", 8, 0, 0,
     "{\"name\": \"storm\", \"why\": \"many short goroutines, stealing\","
     " \"objects\": {\"wg\": \"waitgroup\", \"mu\": \"mutex\"},"
     " \"funcs\": {\"work\": [{\"cpu\": {\"exp\": \"5us\"}}, {\"lock\": \"mu\"},"
     " {\"cpu\": \"200ns\"}, {\"unlock\": \"mu\"}, {\"gosched\": true}, {\"done\": \"wg\"}]},"
     " \"main\": [{\"add\": \"wg\", \"n\": 2000}, {\"go\": \"work\", \"count\": 2000},"
     " {\"wait\": \"wg\"}]}"},
    {"service", 4, 2, 150000,
     "{\"name\": \"service\", \"why\": \"arrivals, timers, GC, system calls, few CPUs, a quota\","
     " \"objects\": {\"conn\": {\"fd\": {\"every\": {\"exp\": \"60us\"}, \"end\": \"250ms\"}},"
     " \"wg\": \"waitgroup\"},"
     " \"funcs\": {\"handle\": {\"params\": [\"at\"], \"do\": [{\"span\": \"request\","
     " \"since\": \"at\", \"do\": [{\"alloc\": 16384}, {\"cpu\": {\"lognormal\": \"40us\","
     " \"p99\": \"400us\"}}, {\"sleep\": {\"uniform\": [\"50us\", \"900us\"]}},"
     " {\"syscall\": \"20us\"}, {\"cpu\": \"10us\", \"kind\": \"tight\"}]}, {\"done\": \"wg\"}]}},"
     " \"main\": [{\"deadline\": \"conn\", \"after\": \"250ms\", \"for\": \"read\"},"
     " {\"loop\": \"forever\", \"do\": [{\"read\": \"conn\", \"into\": \"n\", \"time\": \"at\"},"
     " {\"if\": \"n < 0\", \"then\": [{\"break\": true}]}, {\"add\": \"wg\"},"
     " {\"go\": \"handle\", \"args\": [\"at\"]}]}, {\"wait\": \"wg\"}]}"},
};
enum { WORLDS = sizeof worlds / sizeof *worlds };
static const int releases[] = {13, 19, 22, 25, 26, 27};
enum { RELEASES = sizeof releases / sizeof *releases };

static uint64_t run_world(const struct world *w, int release, struct run_result *out)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    struct scenario *s = scenario_load(&f, w->name, w->text, strlen(w->text));
    if (s == NULL || !run_opts_of(&f, s, release, &o))
        cli_die(EXIT_INTERNAL, "doctor: %s", f.text);
    o.procs = w->procs;
    o.cpus = w->cpus;
    o.quota_us = w->quota_us;
    o.period_us = 100000;
    if (!run_all(&f, &r, &o))
        cli_fail(&f);
    uint64_t fp = r.result.fingerprint;
    *out = r.result; /* numbers only: the pointers die with the run */
    run_free(&r);
    scenario_free(s);
    return fp;
}

static void print_build(void)
{
#if defined(__clang__)
    const char *compiler = "clang " __clang_version__;
#else
    const char *compiler = "gcc " __VERSION__;
#endif
    printf(GMPSIM_NAME " " GMPSIM_VERSION ", %s, coroutines: %s, SQLite %s, gnuplot: %s\n\n",
           compiler, coro_kind(), sqlite3_libversion(),
           system("command -v gnuplot >/dev/null 2>&1") == 0
               ? "there"
               : "not installed (Debian: apt install gnuplot-nox)");
}

int verb_doctor(const struct verb *v, int argc, char **argv)
{
    bool only = false;
    int wrong = 0;
    const struct opt table[] = {
        {"fingerprints", NULL, "only a line \"world release fingerprint\" each, for comparing",
         OPT_FLAG, &only},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 0, 0);
    if (!only)
        print_build();
    for (int i = 0; i < WORLDS; i++)
        for (int k = 0; k < RELEASES; k++) {
            struct run_result a, b;
            uint64_t x = run_world(&worlds[i], releases[k], &a);
            uint64_t y = run_world(&worlds[i], releases[k], &b);
            bool same = x == y && a.now_ps == b.now_ps;
            wrong += !same;
            printf("%-10s go1.%d %016" PRIx64, worlds[i].name, releases[k], x);
            if (!only)
                printf("  makespan %9s  switches %7" PRIu64 "  %s",
                       time_text((int64_t)(a.now_ps / 1000)), a.counters[COUNTER_switches],
                       same ? "repeats" : "DOES NOT REPEAT");
            putchar('\n');
        }
    if (!only)
        printf("\n%s\n", wrong == 0 ? "every world repeats" : "the simulator is not deterministic");
    return wrong == 0 ? EXIT_CLEAN : EXIT_INTERNAL;
}
