/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the golden programs as scenarios give what real Go printed, on every recorded release.
 * Method: tests/golden/scenarios/NAME.json against the file that tests/golden/index.tsv names,
 * crash reports as record.sh keeps them; one case per scenario, made by CMake. */
#include "library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "runner.h"

enum { TEXT_MAX = 1 << 15 };

static char printed[TEXT_MAX], wanted[TEXT_MAX];

static void append(const char *text, int n)
{
    size_t at = strlen(printed);
    snprintf(printed + at, sizeof printed - at, "%.*s", n, text);
}

/* Messages, and goroutines without their ids and colons. */
static void append_report(const char *text)
{
    for (const char *s = text; *s != 0;) {
        int n = (int)strcspn(s, "\n"), id, skip = 0;
        if (sscanf(s, "goroutine %d %n[", &id, &skip) == 1) {
            append(id == 1 ? "goroutine 1 " : "goroutine ", 20);
            append(s + skip, n - skip - 1);
            append("\n", 1);
        } else if (strncmp(s, "fatal error: ", 13) == 0 || strncmp(s, "panic: ", 7) == 0 ||
                   strncmp(s, "\tpanic: ", 8) == 0 || strncmp(s, "\tfatal error: ", 14) == 0) {
            append(s, n);
            append("\n", 1);
        }
        s += n + (s[n] == '\n');
    }
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
    if (q->end == RUN_FINDING && q->kind == FIND_EXIT) {
        append("exit ", 5);
        append(q->text + strcspn(q->text, "0123456789"), 3);
        append("\n", 1);
    } else if (q->end == RUN_FINDING) {
        append("exit 2\n", 7);
        append_report(q->text);
        append_report("\n");
    }
    bool clean = q->end == RUN_FINISHED || q->end == RUN_FINDING;
    run_free(&r);
    CHECK(clean);
}

static void read_wanted(const char *file)
{
    char path[500];
    snprintf(path, sizeof path, GOLDEN_DIR "/recorded/%s", file);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        FAIL_CASE("cannot read %s", path);
    size_t n = fread(wanted, 1, sizeof wanted - 1, f);
    fclose(f);
    wanted[n] = 0;
}

void library_case(const char *path)
{
    char line[200], program[80], file[100], name[80];
    const char *slash = strrchr(path, '/');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(slash + 1, "."), slash + 1);
    struct failure f = {0};
    struct scenario *s = scenario_load_file(&f, path);
    CHECK_STR(f.text, "");
    int release, rows = 0;
    FILE *index = fopen(GOLDEN_DIR "/index.tsv", "r");
    CHECK(index != NULL);
    while (fgets(line, sizeof line, index) != NULL)
        if (sscanf(line, "%79s go1.%d %99s", program, &release, file) == 3 &&
            strcmp(program, name) == 0) {
            run(s, release);
            read_wanted(file);
            CHECK_STR(printed, wanted);
            rows++;
        }
    fclose(index);
    CHECK_EQ(rows, s->nprofiles);
    scenario_free(s);
}
