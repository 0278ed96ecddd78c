/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <time.h>
#include <unistd.h>

enum { BAR = 30, NOTE = 160, PS_PER_NS = 1000 };
static const int64_t second = 1000000000, quarter = 250000000;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * second + t.tv_nsec;
}

void progress_begin(struct progress *p, const char *what)
{
    *p = (struct progress){.what = what, .began_ns = now_ns(), .on = isatty(STDERR_FILENO)};
}

bool progress_due(const struct progress *p)
{
    if (!p->on)
        return false;
    int64_t now = now_ns();
    return now - p->began_ns >= second && now - p->drawn_ns >= quarter;
}

double progress_seconds(const struct progress *p)
{
    return (double)(now_ns() - p->began_ns) / (double)second;
}

void progress_draw(struct progress *p, int64_t done, int64_t total, const char *fmt, ...)
{
    char note[NOTE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(note, sizeof note, fmt, ap);
    va_end(ap);
    p->drawn_ns = now_ns();
    p->visible = true;
    fprintf(stderr, "\r%s", p->what);
    if (total > 0) {
        double share = done < total ? (double)done / (double)total : 1;
        int full = (int)(share * BAR);
        fprintf(stderr, " [%.*s%*s] %3.0f%%", full, "##############################", BAR - full,
                "", 100 * share);
    }
    fprintf(stderr, " %s\033[K", note);
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->visible)
        fputs("\r\033[K", stderr);
    p->visible = false;
}

void progress_sink(struct progress_run *r, const struct event_rec *recs, size_t count)
{
    r->records += count;
    if (!progress_due(&r->p))
        return;
    int64_t at_ns = (int64_t)(recs[count - 1].time / PS_PER_NS);
    progress_draw(&r->p, at_ns, r->until_ns, "%s%svirtual time %s%s%s, %.1f M records/s", r->of,
                  r->of[0] != 0 ? ": " : "", time_text(at_ns), r->until_ns > 0 ? " of " : "",
                  r->until_ns > 0 ? time_text(r->until_ns) : "",
                  (double)r->records / progress_seconds(&r->p) / 1e6);
}
