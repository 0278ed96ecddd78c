/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the golden programs as scenarios give what real Go printed, on every recorded release.
 * Method: tests/golden/scenarios/NAME.json against the file that tests/golden/index.tsv names,
 * crash reports as record.sh keeps them; one case per scenario, made by CMake. */
#include "library.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "recorded.h"
#include "runner.h"

enum { TEXT_MAX = 1 << 15 };

static char printed[TEXT_MAX], wanted[TEXT_MAX];

static void append(const char *text, int n)
{
    size_t at = strlen(printed);
    snprintf(printed + at, sizeof printed - at, "%.*s", n, text);
}

static void run(const struct scenario *s, int release)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    CHECK(run_opts_of(&f, s, release, &o) && run_all(&f, &r, &o));
    const struct run_result *q = &r.result;
    printed[0] = 0;
    append(q->out, (int)q->out_size);
    if (q->end == END_FINDING && q->kind == FIND_EXIT) {
        append("exit ", 5);
        append(q->text + strcspn(q->text, "0123456789"), 3);
        append("\n", 1);
    } else if (q->end == END_FINDING) {
        append("exit 2\n", 7);
        recorded_report(printed, sizeof printed, q->text);
    }
    bool clean = q->end == END_STOPPED || q->end == END_FINDING;
    run_free(&r);
    CHECK(clean);
}

static void compare(void *s, int release, const char *file)
{
    char path[200];
    run(s, release);
    snprintf(path, sizeof path, "recorded/%s", file);
    recorded_read(wanted, sizeof wanted, path);
    CHECK_STR(printed, wanted);
}

void library_case(const char *path)
{
    char name[80];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(slash + 1, "."), slash + 1);
    struct failure f = {0};
    struct scenario *s = scenario_load_file(&f, path);
    CHECK_STR(f.text, "");
    CHECK_EQ(recorded_each(name, compare, s), s->nprofiles);
    scenario_free(s);
}
