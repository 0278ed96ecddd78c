/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim doctor: fixed worlds whose fingerprints must be the same in every run, build and machine.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "cli/csv.h"
#include "cli/machine.h"
#include "cli/out.h"
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
    if (r.result.end == END_LIMIT)
        cli_die(EXIT_USAGE, "doctor: %s: %s", w->name, r.result.text);
    uint64_t fp = r.result.fingerprint;
    *out = r.result; /* numbers only: the pointers die with the run */
    run_free(&r);
    scenario_free(s);
    return fp;
}

#if defined(__clang__)
static const char compiler[] = "clang " __clang_version__;
#else
static const char compiler[] = "gcc " __VERSION__;
#endif

static bool has_gnuplot(void) { return system("command -v gnuplot >/dev/null 2>&1") == 0; }

static void print_build(void)
{
    printf(GMPSIM_NAME " " GMPSIM_VERSION ", %s, coroutines: %s, SQLite %s, gnuplot: %s\n\n",
           compiler, coro_kind(), sqlite3_libversion(),
           has_gnuplot() ? "there" : "not installed (Debian: apt install gnuplot-nox)");
}

static cJSON *build_json(void)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "version", GMPSIM_VERSION);
    cJSON_AddStringToObject(o, "compiler", compiler);
    cJSON_AddStringToObject(o, "coroutines", coro_kind());
    cJSON_AddStringToObject(o, "sqlite", sqlite3_libversion());
    cJSON_AddBoolToObject(o, "gnuplot", has_gnuplot());
    return o;
}

struct twice {
    const char *world;
    int release;
    uint64_t fingerprint, switches;
    int64_t makespan_ns;
    bool same;
};

static struct twice run_twice(const struct world *w, int release)
{
    struct run_result a, b;
    uint64_t x = run_world(w, release, &a), y = run_world(w, release, &b);
    return (struct twice){.world = w->name,
                          .release = release,
                          .fingerprint = x,
                          .switches = a.counters[COUNTER_switches],
                          .makespan_ns = (int64_t)(a.now_ps / 1000),
                          .same = x == y && a.now_ps == b.now_ps};
}

static void print_twice(const struct twice *t, bool only)
{
    printf("%-10s go1.%d %016" PRIx64, t->world, t->release, t->fingerprint);
    if (!only)
        printf("  makespan %9s  switches %7" PRIu64 "  %s", time_text(t->makespan_ns), t->switches,
               t->same ? "repeats" : "DOES NOT REPEAT");
    putchar('\n');
}

static cJSON *twice_json(const struct twice *t)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "world", t->world);
    cJSON_AddStringToObject(o, "profile", profile_name(t->release));
    out_hash(o, "fingerprint", t->fingerprint);
    cJSON_AddNumberToObject(o, "makespan_ns", (double)t->makespan_ns);
    cJSON_AddNumberToObject(o, "switches", (double)t->switches);
    cJSON_AddBoolToObject(o, "repeats", t->same);
    return o;
}

int command_doctor(const struct command *v, int argc, char **argv)
{
    bool only = false, json = false;
    struct csv_wish csv = {0};
    int wrong = 0;
    const struct opt table[] = {
        {"fingerprints", NULL, "only a line \"world release fingerprint\" each, for comparing",
         OPT_FLAG, &only},
        CSV_OPTS(csv),
        {"json", NULL, "as JSON", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 0, 0);
    json = csv_or_json(&csv, json, "worlds");
    cJSON *o = json ? build_json() : NULL,
          *list = json ? cJSON_AddArrayToObject(o, "worlds") : NULL;
    if (!only && !json)
        print_build();
    for (int i = 0; i < WORLDS * RELEASES; i++) {
        struct twice t = run_twice(&worlds[i / RELEASES], releases[i % RELEASES]);
        wrong += !t.same;
        if (json)
            cJSON_AddItemToArray(list, twice_json(&t));
        else
            print_twice(&t, only);
    }
    if (json) {
        cJSON_AddBoolToObject(o, "repeats", wrong == 0);
        out_json(o);
    } else if (!only) {
        printf("\n%s\n", wrong == 0 ? "every world repeats" : "the simulator is not deterministic");
    }
    return wrong == 0 ? EXIT_CLEAN : EXIT_INTERNAL;
}
