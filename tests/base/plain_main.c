/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the cases of a test program without GoogleTest: for cross compilers that have none.
 * Exit status 1 if a case failed. Arguments: only suites of these names. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

static bool failed, skipped;

void harness_report(struct harness_at at, const char *text, bool skip)
{
    printf("%s:%d: %s%s\n", at.file, at.line, skip ? "skipped: " : "", text);
    failed |= !skip;
    skipped |= skip;
}

static bool wanted(const char *suite, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], suite) == 0)
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    int run = 0, bad = 0, left_out = 0;
    setvbuf(stdout, NULL, _IONBF, 0); /* children that end early must not repeat our output */
    for (struct harness_case *c = harness_cases; c; c = c->next) {
        if (!wanted(c->suite, argc, argv))
            continue;
        failed = skipped = false;
        harness_run_body(c->body);
        run++;
        bad += failed;
        left_out += skipped;
        if (failed)
            printf("FAILED %s.%s\n", c->suite, c->name);
    }
    printf("%d cases, %d failed, %d skipped\n", run, bad, left_out);
    return bad || !run;
}
