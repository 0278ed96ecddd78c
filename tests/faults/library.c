/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that uses libgmpsim, for faults_test.py and by itself: whatever the library meets, the
 * process goes on. Prints the status of each call, then "alive". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/gmpsim.h"

static const char text[] =
    "{\"name\": \"n\", \"why\": \"w\", \"procs\": 2, \"objects\": {\"wg\": \"waitgroup\"},"
    " \"main\": [{\"add\": \"wg\", \"n\": 200}, {\"go\": [{\"span\": \"s\", \"do\": [{\"cpu\": "
    "\"3us\"}]},"
    " {\"done\": \"wg\"}], \"count\": 200}, {\"wait\": \"wg\"}, {\"print\": \"done\"}]}";

static void check(int ok, const char *what)
{
    if (!ok) {
        printf("wrong: %s\n", what);
        exit(1);
    }
}

/* Everything that takes an object or a name, without one; and a run that has not run. */
static void nobody(void)
{
    gmpsim_scenario *s = gmpsim_scenario_parse("n", text, strlen(text), NULL);
    gmpsim_run *r = gmpsim_run_new(s);
    check(gmpsim_scenario_open(NULL, NULL) == NULL, "open NULL");
    check(gmpsim_scenario_parse("n", NULL, 0, NULL) == NULL, "parse NULL");
    check(*gmpsim_scenario_name(NULL) == 0, "name of NULL");
    check(gmpsim_run_new(NULL) == NULL, "run of NULL");
    check(gmpsim_run_set(NULL, "procs", 1) == GMPSIM_BAD, "set NULL");
    check(gmpsim_run_go(NULL, NULL) == GMPSIM_BAD, "go NULL");
    gmpsim_run_free(NULL);
    gmpsim_scenario_free(NULL);
    if (r == NULL) { /* a fault may have struck */
        gmpsim_scenario_free(s);
        return;
    }
    check(gmpsim_run_set(r, NULL, 1) == GMPSIM_BAD, "set no name");
    check(gmpsim_run_set_profile(r, NULL) == GMPSIM_BAD, "no profile");
    check(gmpsim_run_set_rule(r, NULL, 1) == GMPSIM_BAD, "no rule");
    check(gmpsim_run_set(r, "cpus", 1025) == GMPSIM_BAD, "1025 cpus");
    check(gmpsim_run_set(r, "cpus", 1024) == GMPSIM_OK, "1024 cpus");
    check(gmpsim_run_set(r, "quota_us", 999) == GMPSIM_BAD, "a quota of 999 us");
    check(gmpsim_run_set(r, "period_us", 1000001) == GMPSIM_BAD, "a period above a second");
    check(gmpsim_run_set(r, "memory", 4096) == GMPSIM_BAD, "a world of a page");
    check(strcmp(gmpsim_verdict(r), "not run") == 0, "verdict of no run");
    check(*gmpsim_text(r) == 0 && *gmpsim_complaints(r) == 0, "texts of no run");
    check(!gmpsim_as_expected(r) && gmpsim_left_count(r) == 0, "no run");
    check(gmpsim_left(r, 0).goid == 0, "a goroutine of no run");
    check(gmpsim_counter(r, "switches") == -1 && gmpsim_span_count(r, "s") == -1,
          "numbers of no run");
    gmpsim_run_free(r);
    gmpsim_scenario_free(s);
}

static void *one_run(void *arg)
{
    char error[GMPSIM_ERROR_MAX] = "";
    gmpsim_scenario *s = gmpsim_scenario_parse("n", text, strlen(text), error);
    gmpsim_run *r = gmpsim_run_new(s);
    int status = r != NULL ? gmpsim_run_go(r, error) : GMPSIM_BAD;
    check(status == GMPSIM_OK || (status == GMPSIM_BAD && (r == NULL || *error != 0)), "status");
    *(uint64_t *)arg = status == GMPSIM_OK ? gmpsim_fingerprint(r) : 0;
    gmpsim_run_free(r);
    gmpsim_scenario_free(s);
    return NULL;
}

int main(void)
{
    enum { THREADS = 4 };
    uint64_t fingerprints[THREADS] = {0}, first = 0;
    pthread_t threads[THREADS];
    int started = 0;
    nobody();
    one_run(&first);
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, one_run, &fingerprints[started]) == 0)
        started++;
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < started; i++)
        check(fingerprints[i] == first || fingerprints[i] == 0 || first == 0, "fingerprint");
    puts("alive");
    return 0;
}
