/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of the slow spans went, in words. */
#include <inttypes.h>

#include "cli/report.h"
#include "sim/base/text.h"

enum { PS_PER_NS = 1000, PERCENT = 100, WAITS_SHOWN = 3, PARTS_MIN_PERMILLE = 5, PERMILLE = 1000 };

/* What a part is called in a sentence. */
static const char *const sentences[SP_COUNT] = {
    [SP_RUNNING] = "running",
    [SP_QUEUE] = "waiting in run queues",
    [SP_THROTTLED] = "CPU throttling",
    [SP_NOCPU] = "waiting for a CPU",
    [SP_LOCK] = "waiting for locks",
    [SP_CHANNEL] = "waiting on channels",
    [SP_GROUP] = "waiting for other goroutines",
    [SP_TIMER] = "sleeping",
    [SP_NETWORK] = "waiting for the network",
    [SP_SYSCALL] = "system calls",
    [SP_ASSIST] = "work for the collector",
    [SP_STOP] = "stops of the world",
    [SP_BEFORE] = "waiting to be taken up",
    [SP_HANDED] = "waiting between two goroutines",
    [SP_OTHER] = "other waits",
};

static uint64_t sum_of(const uint64_t ps[SP_COUNT])
{
    uint64_t sum = 0;
    for (int p = 0; p < SP_COUNT; p++)
        sum += ps[p];
    return sum;
}

/* Numbers of the parts, the longest first. */
static void order(const uint64_t ps[SP_COUNT], int parts[SP_COUNT])
{
    for (int p = 0; p < SP_COUNT; p++) {
        int at = p;
        for (; at > 0 && ps[parts[at - 1]] < ps[p]; at--)
            parts[at] = parts[at - 1];
        parts[at] = p;
    }
}

static uint64_t share(uint64_t part, uint64_t of, uint64_t unit)
{
    return of > 0 ? (uint64_t)((unsigned __int128)part * unit / of) : 0;
}

static void put_time(FILE *to, uint64_t ps) { fputs(time_text((int64_t)(ps / PS_PER_NS)), to); }

static void put_wait(FILE *to, const struct run_blame *b, uint64_t slow)
{
    fprintf(to, "    ");
    put_time(to, b->ps / slow);
    fprintf(to, " %s", span_part_names[b->part]);
    if (b->object != NULL)
        fprintf(to, " %s", text_line(b->object));
    if (b->place != NULL)
        fprintf(to, ", %s", text_line(b->place));
    else if (b->line != 0)
        fprintf(to, ", line %" PRIu32, b->line);
    if (b->who != NULL)
        fprintf(to, b->part == SP_QUEUE ? ", behind %s" : ", until %s ended it", text_line(b->who));
    fputc('\n', to);
}

static void put_span(FILE *to, const struct run_span *s)
{
    const struct run_attribution *w = &s->went;
    uint64_t sum = sum_of(w->slow_ps);
    int parts[SP_COUNT];
    order(w->slow_ps, parts);
    fprintf(to, "\nslow %s: %" PRIu64 " of %" PRIu64 ", ", text_line(s->name), w->slow, w->count);
    put_time(to, sum / w->slow);
    fprintf(to, " each; %" PRIu64 " %% of it is %s: ", share(w->slow_ps[parts[0]], sum, PERCENT),
            sentences[parts[0]]);
    put_time(to, w->slow_ps[parts[0]] / w->slow);
    fputs("\n ", to);
    for (int i = 0; i < SP_COUNT; i++) {
        uint64_t tenths = share(w->slow_ps[parts[i]], sum, PERMILLE);
        if (tenths < PARTS_MIN_PERMILLE)
            break;
        fprintf(to, "%s %s %" PRIu64 ".%" PRIu64 "%%", i > 0 ? "," : "", span_part_names[parts[i]],
                tenths / 10, tenths % 10);
    }
    fputc('\n', to);
    for (int i = 0; i < w->nblames && i < WAITS_SHOWN; i++)
        if (share(w->blames[i].ps, sum, PERCENT) >= 1)
            put_wait(to, &w->blames[i], w->slow);
}

void report_slow(FILE *to, const struct run_result *r)
{
    for (size_t i = 0; i < r->nspans; i++)
        if (r->spans[i].went.slow > 0 && sum_of(r->spans[i].went.slow_ps) > 0)
            put_span(to, &r->spans[i]);
}
