/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/progress.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/text.h"

enum {
    BAR = 20,
    BAR_LEAST = 5,
    NOTE = 200,
    COLUMNS_DEFAULT = 80,
    SECONDS_SHOWN = 120, /* of more, minutes */
    PS_PER_NS = 1000
};
#define SHARE_TO_GUESS 0.02
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

/* Of the terminal; a line as wide as it would go on in the next one. */
static int columns(void)
{
    struct winsize size;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col - 1;
    return COLUMNS_DEFAULT - 1;
}

/* "  33%, 12 s left" */
static int put_share(const struct progress *p, char *buf, size_t size, double share)
{
    int n = snprintf(buf, size, " %3.0f%%", 100 * share);
    double left = share > 0 ? progress_seconds(p) * (1 - share) / share : 0;
    if (share < SHARE_TO_GUESS || share >= 1)
        return n;
    if (left < SECONDS_SHOWN)
        return n + snprintf(buf + n, size - (size_t)n, ", %.0f s left", left);
    return n + snprintf(buf + n, size - (size_t)n, ", %.0f min left", left / 60);
}

/* " [#####     ]", as long as there is room for it beside the rest of the line. */
static void put_bar(char buf[BAR + 4], double share, int room)
{
    size_t width = room - 3 < BAR ? (size_t)room - 3 : BAR;
    if (room - 3 < BAR_LEAST)
        return;
    buf[0] = ' ';
    buf[1] = '[';
    memset(buf + 2, ' ', width);
    memset(buf + 2, '#', (size_t)(share * (double)width));
    buf[2 + width] = ']';
    buf[3 + width] = 0;
}

void progress_draw(struct progress *p, int64_t done, int64_t total, const char *fmt, ...)
{
    char rest[NOTE], bar[BAR + 4] = "", line[2 * NOTE];
    double share = done < total ? (double)done / (double)total : 1;
    va_list ap;
    int n = total > 0 ? put_share(p, rest, sizeof rest, share) : 0;
    n += snprintf(rest + n, sizeof rest - (size_t)n, ": ");
    va_start(ap, fmt);
    vsnprintf(rest + n, sizeof rest - (size_t)n, fmt, ap);
    va_end(ap);
    if (total > 0)
        put_bar(bar, share, columns() - text_columns(p->what) - text_columns(rest));
    snprintf(line, sizeof line, "%s%s%s", p->what, bar, rest);
    p->drawn_ns = now_ns();
    p->visible = true;
    fprintf(stderr, "\r%s\033[K", text_cut(line, columns()));
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
    int64_t runs = r->runs > 0 ? r->runs : 1, total = 0;
    if (__builtin_mul_overflow(r->until_ns, runs, &total))
        total = 0;
    progress_draw(&r->p, r->run_at * r->until_ns + at_ns, total,
                  "%s%svirtual time %s%s%s, %.1f M records/s", r->of, r->of[0] != 0 ? ": " : "",
                  time_text(at_ns), r->until_ns > 0 ? " of " : "",
                  r->until_ns > 0 ? time_text(r->until_ns) : "",
                  (double)r->records / progress_seconds(&r->p) / 1e6);
}
