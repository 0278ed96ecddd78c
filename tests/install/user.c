/* SPDX-License-Identifier: BSD-3-Clause */
/* What somebody writes who has only the installed header and library. */
#include <gmpsim.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void check(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "user: %s\n", what);
        failures++;
    }
}

static const char scenario[] =
    "{\"name\": \"user\", \"why\": \"test\", \"procs\": 2, \"objects\": {\"wg\": \"waitgroup\"},"
    " \"funcs\": {\"work\": [{\"span\": \"job\", \"do\": [{\"cpu\": \"100us\"}]},"
    " {\"done\": \"wg\"}]}, \"main\": [{\"add\": \"wg\", \"n\": 40}, {\"go\": \"work\","
    " \"count\": 40}, {\"wait\": \"wg\"}, {\"print\": \"done\"}]}";
static const char stuck[] =
    "{\"name\": \"stuck\", \"why\": \"test\", \"objects\": {\"c\": {\"chan\": 0}},"
    " \"main\": [{\"recv\": \"c\"}]}";

static void check_run(gmpsim_scenario *s)
{
    char error[GMPSIM_ERROR_MAX] = "";
    gmpsim_run *a = gmpsim_run_new(s), *b = gmpsim_run_new(s);
    size_t size;
    check(gmpsim_run_go(a, error) == GMPSIM_OK, error);
    check(gmpsim_run_set(b, "procs", 4) == GMPSIM_OK, "procs");
    check(gmpsim_run_set(b, "prox", 4) == GMPSIM_BAD, "prox");
    check(gmpsim_run_set(b, "procs", 1000000) == GMPSIM_BAD, "too many procs");
    check(gmpsim_run_set_profile(b, "go1.19") == GMPSIM_OK, "go1.19");
    check(gmpsim_run_set_profile(b, "go9") == GMPSIM_BAD, "go9");
    check(gmpsim_run_set_rule(b, "steal_passes", 2) == GMPSIM_OK, "rule");
    check(gmpsim_run_set_rule(b, "no_such_rule", 2) == GMPSIM_BAD, "no rule");
    check(gmpsim_run_go(b, error) == GMPSIM_OK, error);
    /* Both results are there at once. */
    check(strcmp(gmpsim_verdict(a), "finished") == 0 && gmpsim_as_expected(a), "verdict");
    check(strcmp(gmpsim_output(a, &size), "done\n") == 0 && size == 5, "output");
    check(gmpsim_span_count(a, "job") == 40 && gmpsim_span_count(a, "no") == -1, "spans");
    check(gmpsim_span_percentile(a, "job", 0) >= 100000, "fastest span");
    check(gmpsim_makespan_ns(a) >= 2000000 && gmpsim_makespan_ns(a) < 2200000, "makespan, 2 Ps");
    check(gmpsim_makespan_ns(b) >= 1000000 && gmpsim_makespan_ns(b) < 1200000, "makespan, 4 Ps");
    check(gmpsim_counter(a, "goexited") == 40 && gmpsim_counter(a, "x") == -1, "counters");
    check(gmpsim_p_time_ns(a, "user") >= 4000000, "time of Ps");
    uint64_t first = gmpsim_fingerprint(a);
    check(gmpsim_run_go(a, error) == GMPSIM_OK && gmpsim_fingerprint(a) == first, "repeats");
    check(gmpsim_fingerprint(b) != first, "another run");
    gmpsim_run_free(a);
    gmpsim_run_free(b);
}

static const char abba[] =
    "{\"name\": \"abba\", \"why\": \"test\",\n"
    " \"objects\": {\"a\": \"mutex\", \"b\": \"mutex\", \"wg\": \"waitgroup\"},\n"
    " \"funcs\": {\"one\": [{\"lock\": \"a\"}, {\"lock\": \"b\"}, {\"unlock\": \"b\"},\n"
    "  {\"unlock\": \"a\"}, {\"done\": \"wg\"}],\n"
    "  \"two\": [{\"lock\": \"b\"}, {\"lock\": \"a\"}, {\"unlock\": \"a\"},\n"
    "  {\"unlock\": \"b\"}, {\"done\": \"wg\"}]},\n"
    " \"main\": [{\"add\": \"wg\", \"n\": 2}, {\"go\": \"one\"}, {\"go\": \"two\"},\n"
    "  {\"wait\": \"wg\"}]}";

static void check_finding(gmpsim_explore *x)
{
    int held = 0;
    check(gmpsim_explore_found(x) == 1, "a finding");
    check(strcmp(gmpsim_finding_verdict(x), "deadlock") == 0, "its verdict");
    check(strstr(gmpsim_finding_text(x), "all goroutines are asleep") != NULL, "Go's words");
    check(strstr(gmpsim_finding_page(x), "whose order decides") != NULL, "its page");
    check(gmpsim_finding_stuck_count(x) == 3, "three are stuck");
    for (size_t i = 0; i < gmpsim_finding_stuck_count(x); i++) {
        gmpsim_stuck s = gmpsim_finding_stuck(x, i);
        if (strcmp(s.object, "b") == 0)
            held = s.held_by != 0 && s.held_since == 5 && s.line == 3;
    }
    check(held, "who holds b");
    check(gmpsim_finding_stuck(x, 3).goid == 0, "no fourth");
}

/* Of a program without a bug. */
static void check_strategies(gmpsim_explore *y)
{
    char error[GMPSIM_ERROR_MAX] = "";
    check(gmpsim_explore_set_text(y, "strategy", "pos,surw,fair") == GMPSIM_OK, "three");
    check(gmpsim_explore_set_text(y, "strategy", "pos,luck") == GMPSIM_BAD, "luck in a list");
    check(gmpsim_explore_set_text(y, "granularity", "sync,op") == GMPSIM_OK, "both");
    check(gmpsim_explore_set_text(y, "granularity", "line") == GMPSIM_BAD, "line");
    check(gmpsim_explore_set(y, "procs", 2) == GMPSIM_OK, "2 Ps");
    check(gmpsim_explore_set(y, "runs", 10) == GMPSIM_OK, "10 runs");
    check(gmpsim_explore_go(y, error) == GMPSIM_OK && gmpsim_explore_schedules(y) == 60, "60 runs");
    check(gmpsim_explore_set(y, "runs", 1000000000) == GMPSIM_OK, "runs");
    check(gmpsim_explore_set(y, "for_ns", 20000000) == GMPSIM_OK, "20 ms");
    check(gmpsim_explore_go(y, error) == GMPSIM_OK && !gmpsim_explore_exhausted(y), "time is over");
    check(gmpsim_explore_set_text(y, "strategy", "") == GMPSIM_OK, "as usual");
    check(gmpsim_explore_set_text(y, "faults", "syscall=1s") == GMPSIM_OK, "faults");
    check(gmpsim_explore_set_text(y, "faults", "rain") == GMPSIM_BAD, "no such fault");
}

/* What a test suite does: search, keep the schedule, do it again. */
static void check_exploration(void)
{
    char error[GMPSIM_ERROR_MAX] = "";
    gmpsim_scenario *bad = gmpsim_scenario_parse("abba.json", abba, strlen(abba), error);
    gmpsim_scenario *good = gmpsim_scenario_parse("user.json", scenario, strlen(scenario), error);
    gmpsim_explore *x = gmpsim_explore_new(bad), *y = gmpsim_explore_new(good);
    check(gmpsim_explore_set(x, "seed", 5) == GMPSIM_OK, "seed");
    check(gmpsim_explore_set(x, "procs", 0) == GMPSIM_BAD, "no procs");
    check(gmpsim_explore_set(x, "prox", 1) == GMPSIM_BAD, "prox");
    check(gmpsim_explore_set_text(x, "strategy", "random") == GMPSIM_OK, "random");
    check(gmpsim_explore_set_text(x, "strategy", "luck") == GMPSIM_BAD, "luck");
    check(gmpsim_explore_set_text(x, "profile", "go1.24") == GMPSIM_OK, "go1.24");
    check(gmpsim_explore_set_text(x, "profile", "go9") == GMPSIM_BAD, "go9");
    check(gmpsim_explore_go(x, error) == GMPSIM_OK, error);
    check_finding(x);
    check(gmpsim_schedule_save(x, "abba.schedule", error) == GMPSIM_OK, error);
    check(gmpsim_explore_set_text(x, "granularity", "op") == GMPSIM_OK, "op");
    check(gmpsim_explore_go(x, error) == GMPSIM_OK && gmpsim_explore_found(x), "found at op");
    check(gmpsim_explore_replay(x, "abba.schedule", error) == GMPSIM_OK, error);
    check_finding(x);
    check(gmpsim_explore_replay(y, "abba.schedule", error) == GMPSIM_BAD &&
              strstr(error, "the program has changed") != NULL,
          "another program");
    check(gmpsim_explore_replay(y, "none.schedule", error) == GMPSIM_BAD, "no such file");
    check(gmpsim_explore_set(y, "runs", 50) == GMPSIM_OK, "runs");
    check(gmpsim_explore_go(y, error) == GMPSIM_OK && !gmpsim_explore_found(y), "nothing found");
    check(gmpsim_explore_schedules(y) > 50, "schedules");
    check(gmpsim_finding_page(y)[0] == 0 && gmpsim_finding_stuck_count(y) == 0, "no page");
    check(gmpsim_schedule_save(y, "y.schedule", error) == GMPSIM_BAD, "nothing to save");
    check(strstr(gmpsim_explore_covered(y), "turns of goroutines") != NULL &&
              strstr(gmpsim_explore_covered(y), "operations") != NULL,
          "what was covered");
    check(gmpsim_explore_go(NULL, error) == GMPSIM_BAD, "NULL");
    check_strategies(y);
    gmpsim_explore_free(x);
    gmpsim_explore_free(y);
    gmpsim_explore_free(NULL);
    gmpsim_scenario_free(bad);
    gmpsim_scenario_free(good);
}

/* The same on real threads: no times that one could rely on. */
static void check_threads(gmpsim_scenario *s)
{
    char error[GMPSIM_ERROR_MAX] = "";
    gmpsim_run *r = gmpsim_run_new(s);
    check(gmpsim_run_set_host(r, "nowhere") == GMPSIM_BAD, "no such host");
    check(gmpsim_run_set_host(r, "threads") == GMPSIM_OK, "threads");
    check(gmpsim_run_go(r, error) == GMPSIM_OK, error);
    check(strcmp(gmpsim_verdict(r), "finished") == 0, "verdict on threads");
    check(strcmp(gmpsim_output(r, NULL), "done\n") == 0, "output of threads");
    check(gmpsim_span_count(r, "job") == 40, "spans of threads");
    check(gmpsim_makespan_ns(r) > 0 && gmpsim_fingerprint(r) == 0, "threads have a wall");
    gmpsim_run_free(r);
}

int main(void)
{
    char error[GMPSIM_ERROR_MAX] = "";
    gmpsim_scenario *s = gmpsim_scenario_parse("user", scenario, strlen(scenario), error);
    check(s != NULL, error);
    if (s == NULL)
        return 1;
    check_run(s);
    check_threads(s);
    check_exploration();
    gmpsim_scenario_free(s);

    s = gmpsim_scenario_parse("stuck", stuck, strlen(stuck), error);
    gmpsim_run *r = gmpsim_run_new(s);
    check(gmpsim_run_go(r, error) == GMPSIM_OK, "a deadlock is a result");
    check(strcmp(gmpsim_verdict(r), "deadlock") == 0 && !gmpsim_as_expected(r), "deadlock");
    check(gmpsim_left_count(r) == 1 && gmpsim_left(r, 0).blocked &&
              strcmp(gmpsim_left(r, 0).reason, "chan receive") == 0,
          "who waits");
    gmpsim_run_free(r);
    gmpsim_scenario_free(s);

    check(gmpsim_scenario_parse("bad", "{\"name\": 1}", 11, error) == NULL &&
              strstr(error, "bad:1:") != NULL,
          "a mistake has a place");
    printf("libgmpsim %s: %d failures\n", gmpsim_version(), failures);
    return failures != 0;
}
