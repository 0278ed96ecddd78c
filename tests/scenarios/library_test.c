/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every file of the library gives what it says, on every release it lists, each time the
 * same.
 * Method: a case per file, made by CMake from what is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "library.h"
#include "runner.h"
#include "run/judge.h"

__attribute__((weak)) void library_saw(const char *path, uint64_t fingerprint)
{
    (void)path;
    (void)fingerprint;
}

void library_case(const char *path)
{
    static struct verdict v;
    struct failure f = {0};
    struct scenario *s = scenario_load_file(&f, path);
    CHECK_STR(f.text, "");
    CHECK(s != NULL);
    CHECK(s->expects != NULL);
    run_scenario(s, 0, &v, NULL, 0);
    CHECK_EQ(v.runs, s->nprofiles);
    CHECK_STR(v.text, "");
    library_saw(path, v.fingerprint);
    scenario_free(s);
}

/* ---- releases side by side ---- */

static int complaints;

static void count_one(void *arg, const char *text)
{
    (void)arg;
    (void)text;
    complaints++;
}

/* Does what this run came to break what is expected of some other release? */
static bool differs(const struct scenario *s, int release)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    CHECK(run_opts_of(&f, s, release, &o) && run_all(&f, &r, &o));
    complaints = 0;
    for (int i = 0; i < s->nprofiles; i++)
        if (s->profiles[i] != release)
            (void)scenario_check(s, s->profiles[i], &r.result, count_one, NULL);
    run_free(&r);
    return complaints > 0;
}

/* A pair whose expectations any of the two releases could fulfil would show nothing. */
void pair_case(const char *path)
{
    struct failure f = {0};
    struct scenario *s = scenario_load_file(&f, path);
    CHECK_STR(f.text, "");
    bool several = s->expects != NULL && s->expects->next != NULL;
    for (int i = 0; i < s->nprofiles && several; i++)
        if (!differs(s, s->profiles[i]))
            FAIL_CASE("%s: go1.%d fulfils what is expected of all the others", path,
                      s->profiles[i]);
    scenario_free(s);
}

/* ---- the same run each time ---- */

static uint64_t fingerprint(const struct scenario *s)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    CHECK(run_opts_of(&f, s, 0, &o) && run_all(&f, &r, &o));
    uint64_t fp = r.result.fingerprint;
    run_free(&r);
    return fp;
}

/* One run after the other in one process: nothing is left over from the run before. */
TEST_CASE(Repeat, SameFingerprint)
{
    static const char *const files[] = {"steal/half-at-a-time", "runq/one-in-61",
                                        "syscall/fifty-threads", "basics/select-is-fair"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[500];
        struct failure f = {0};
        snprintf(path, sizeof path, SCENARIOS_DIR "/%s.json", files[i]);
        struct scenario *s = scenario_load_file(&f, path);
        CHECK_STR(f.text, "");
        uint64_t first = fingerprint(s);
        for (int n = 1; n < 100; n++)
            CHECK_EQ(fingerprint(s), first);
        scenario_free(s);
    }
}
