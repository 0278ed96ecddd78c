/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/finding_step.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void show_row(const struct history *h, size_t at)
{
    const struct history_row *r = &h->rows[at];
    char text[400];
    history_row_text(h, r, text, sizeof text);
    printf("#%zu%s %s: %s", at + 1,
           r->preempts   ? " *"
           : r->switched ? " >"
                         : "",
           r->goid != 0 ? history_g_name(h, r->goid) : "time", text);
    if (r->line != 0)
        printf("  :%" PRIu32, r->line);
    printf("\n");
}

/* Where each goroutine is after that turn: its last one up to there. */
static void show_all(const struct history *h, size_t at)
{
    for (size_t g = 0; g < h->ngs; g++) {
        size_t i = at + 1;
        while (i > 0 && h->rows[i - 1].goid != h->gs[g].goid)
            i--;
        if (i == 0)
            continue;
        const struct history_row *r = &h->rows[i - 1];
        bool waits = r->waits && (r->woken_by == ROW_NONE || (size_t)r->woken_by > at);
        printf("  %s", waits ? "waits   " : "        ");
        show_row(h, i - 1);
    }
}

static void help(void)
{
    printf("Enter or n: the next turn; p: back; N: go to turn N; w: where everybody is;\n"
           "s: who is stuck at the end; q: leave\n");
}

static size_t go_to(const struct history *h, const char *line, size_t at)
{
    char *end;
    unsigned long n = strtoul(line, &end, 10);
    if (end == line || (*end != 0 && *end != '\n') || n == 0 || n > h->count) {
        help();
        return at;
    }
    return n - 1;
}

void finding_step(const struct history *h, const char *file)
{
    char line[64];
    size_t at = 0;
    if (h->count == 0) {
        printf("there are no turns at this granularity: --trace-ops shows the operations\n");
        return;
    }
    help();
    for (;;) {
        show_row(h, at);
        fflush(stdout);
        if (fgets(line, sizeof line, stdin) == NULL || line[0] == 'q')
            return;
        if (line[0] == '\n' || line[0] == 'n') {
            if (at + 1 == h->count)
                printf("that was the last turn\n");
            at += at + 1 < h->count;
        } else if (line[0] == 'p') {
            at -= at > 0;
        } else if (line[0] == 'w') {
            show_all(h, at);
        } else if (line[0] == 's') {
            history_print_stuck(stdout, h, file);
        } else {
            at = go_to(h, line, at);
        }
    }
}
