/* SPDX-License-Identifier: BSD-3-Clause */
/* The text, bins, and the choice of the format. */
#include "store/measured.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "store/measured_int.h"
#include "store/measured_list.h"

static const double ns_max = 1e15; /* eleven days */

/* ---- the text ---- */

bool source_line(struct source *s, struct line *l)
{
    if (s->next >= s->end)
        return false;
    const char *newline = memchr(s->next, '\n', (size_t)(s->end - s->next));
    *l = (struct line){s->next, newline != NULL ? newline : s->end};
    s->next = newline != NULL ? newline + 1 : s->end;
    if (l->end > l->at && l->end[-1] == '\r')
        l->end--;
    return true;
}

void source_rewind(struct source *s) { s->next = s->text; }

bool source_wrong(struct source *s, const char *at, const char *fmt, ...)
{
    char text[300];
    int line = 1;
    const char *begin = s->text;
    va_list ap;
    for (const char *p = s->text; p < at; p++)
        if (*p == '\n') {
            line++;
            begin = p + 1;
        }
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fail(s->f, E_TRACE, "%s:%d:%d: %s", s->file, line, (int)(at - begin) + 1, text);
    return false;
}

void source_note(struct source *s, const char *fmt, ...)
{
    va_list ap;
    if (s->m->nnotes == MEASURED_NOTES_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(s->m->notes[s->m->nnotes++], sizeof s->m->notes[0], fmt, ap);
    va_end(ap);
}

void skip_blanks(struct line *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t'))
        l->at++;
}

bool skip_word(struct line *l, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(l->end - l->at) < n || memcmp(l->at, word, n) != 0)
        return false;
    l->at += n;
    return true;
}

bool line_has(const struct line *l, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = l->at; (size_t)(l->end - p) >= n; p++)
        if (memcmp(p, word, n) == 0)
            return true;
    return false;
}

/* Sums and products of as many numbers as a file has stay finite: no infinity less infinity. */
static const double number_max = 1e100;

bool read_number(struct line *l, double *v)
{
    char text[64], *end;
    size_t n = 0;
    const char *p = l->at;
    while (p < l->end && n + 1 < sizeof text &&
           ((*p >= '0' && *p <= '9') || *p == '.' || *p == 'e' || *p == 'E' ||
            ((*p == '+' || *p == '-') && n > 0 && (p[-1] == 'e' || p[-1] == 'E'))))
        text[n++] = *p++;
    text[n] = 0;
    if (n == 0 || text[0] == 'e' || text[0] == 'E')
        return false;
    *v = strtod(text, &end);
    if (end == text || !(*v <= number_max))
        return false;
    l->at += end - text;
    return true;
}

static bool read_unit(struct line *l, double *ns)
{
    static const struct {
        const char *word;
        double ns;
    } units[] = {{"secs", 1e9},      {"sec", 1e9}, {"ms", 1e6}, {"us", 1e3},   {"ns", 1},
                 {"\xc2\xb5s", 1e3}, {"s", 1e9},   {"m", 60e9}, {"h", 3600e9}, {"\xce\xbcs", 1e3}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (skip_word(l, units[i].word)) {
            *ns = units[i].ns;
            return true;
        }
    return false;
}

bool read_duration(struct source *s, struct line *l, double *ns)
{
    double v, unit;
    *ns = 0;
    if (!read_number(l, &v))
        return false;
    struct line after = *l;
    skip_blanks(&after);
    if (!read_unit(&after, &unit)) {
        *ns = v * (s->o->unit_ns > 0 ? s->o->unit_ns : 1e9);
        return true;
    }
    *l = after;
    *ns = v * unit;
    while (read_number(l, &v)) { /* as Go says it: 1m2.5s */
        if (!read_unit(l, &unit))
            return false;
        *ns += v * unit;
    }
    return true;
}

/* ---- bins ---- */

int64_t to_ns(double ns)
{
    return !(ns > 0) ? 0 : ns > ns_max ? (int64_t)ns_max : (int64_t)(ns + 0.5);
}

enum { SUB_BITS = 5, SUB = 1 << SUB_BITS };

static int class_of(uint64_t ns)
{
    if (ns < SUB)
        return (int)ns;
    int top = 63 - __builtin_clzll(ns);
    return ((top - SUB_BITS + 1) << SUB_BITS) + (int)(ns >> (top - SUB_BITS) & (SUB - 1));
}

static int64_t class_low(int c)
{
    if (c < SUB)
        return c;
    int top = (c >> SUB_BITS) + SUB_BITS - 1;
    return (int64_t)(SUB + (c & (SUB - 1))) << (top - SUB_BITS);
}

void tally_add(struct tally *t, double value)
{
    t->of[class_of((uint64_t)to_ns(value))]++;
    t->count++;
    t->sum += value;
    t->squares += value * value;
}

size_t tally_bins(const struct tally *t, struct measured_bin bins[MEASURED_BINS_MAX])
{
    struct measured_bin *all = x_alloc(TALLY_CLASSES * sizeof *all);
    size_t n = 0;
    for (int c = 0; c < TALLY_CLASSES; c++)
        if (t->of[c] > 0) {
            int64_t low = class_low(c), next = class_low(c + 1);
            int64_t high = to_ns((double)(next > low + 1 ? next - 1 : low));
            all[n++] = (struct measured_bin){low, high > low ? high : low, t->of[c]};
        }
    n = bins_join(all, n, bins);
    free(all);
    return n;
}

/* The share of what is below the k-th of n cuts: even steps up to 95 %, then each a fixed part of
 * what is left, because the slow ones are what is asked about. */
static double cut(size_t k, size_t n)
{
    size_t even = n * 3 / 4;
    if (k <= even)
        return 0.95 * (double)k / (double)even;
    return 1 - 0.05 * pow(0.65, (double)(k - even));
}

size_t bins_join(const struct measured_bin *all, size_t n,
                 struct measured_bin bins[MEASURED_BINS_MAX])
{
    double sum = 0, below = 0;
    size_t used = 0, k = 1;
    for (size_t i = 0; i < n; i++)
        sum += (double)all[i].weight;
    for (size_t i = 0; i < n; i++) {
        bool fits = n <= MEASURED_BINS_MAX;
        bool next = fits || used == 0 ||
                    (below >= cut(k, MEASURED_BINS_MAX - 1) * sum && used < MEASURED_BINS_MAX);
        if (all[i].weight == 0)
            continue;
        if (next)
            bins[used++] = all[i];
        else {
            if (all[i].to_ns > bins[used - 1].to_ns)
                bins[used - 1].to_ns = all[i].to_ns;
            bins[used - 1].weight += all[i].weight;
        }
        below += (double)all[i].weight;
        while (k < MEASURED_BINS_MAX - 1 && next && below > cut(k, MEASURED_BINS_MAX - 1) * sum)
            k++;
    }
    return used;
}

/* ---- all ---- */

/* Bins are bounded one by one: to_ns. */
static void bound_means(struct measured *m)
{
    m->mean_ns = fmin(m->mean_ns, ns_max);
    m->wait_p50_ns = fmin(m->wait_p50_ns, ns_max);
    m->wait_p99_ns = fmin(m->wait_p99_ns, ns_max);
}

bool measured_parse(struct failure *f, const char *path, const char *text, size_t size,
                    const struct measured_opts *o, struct measured *m)
{
    static const struct {
        bool (*is)(struct source *s);
        bool (*read)(struct source *s);
    } formats[] = {
        {is_schedtrace, read_schedtrace}, {is_go_metrics, read_go_metrics},
        {is_prometheus, read_prometheus}, {is_vegeta_json, read_vegeta_json},
        {is_vegeta, read_vegeta},         {is_percentiles, read_percentiles},
        {is_samples, read_samples},
    };
    static const struct measured_opts none = {0};
    struct source s = {f, path, text, text + size, text, o != NULL ? o : &none, m};
    *m = (struct measured){.queued = -1};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        source_rewind(&s);
        if (!formats[i].is(&s))
            continue;
        source_rewind(&s);
        bool ok = formats[i].read(&s);
        bound_means(m);
        if (ok && !m->of_scheduler && m->nbins == 0) /* counts below one are none */
            return source_wrong(&s, text, "there are no latencies in it");
        return ok;
    }
    return source_wrong(
        &s, text,
        "no measurement that is known: want a Prometheus histogram, runtime/metrics,"
        " schedtrace, wrk, hey, vegeta, or a duration per line");
}

static char *read_all(struct failure *f, const char *path, FILE *from, size_t *size)
{
    size_t room = 1 << 16;
    char *text = x_alloc(room);
    *size = 0;
    for (size_t n; (n = fread(text + *size, 1, room - *size, from)) > 0;) {
        *size += n;
        if (*size > MEASURED_FILE_MAX) {
            fail(f, E_LIMIT, "%s: more than %d MB", path, MEASURED_FILE_MAX >> 20);
            free(text);
            return NULL;
        }
        if (*size == room)
            text = x_grow(text, room *= 2);
    }
    if (ferror(from)) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        free(text);
        return NULL;
    }
    return text;
}

bool measured_read(struct failure *f, const char *path, const struct measured_opts *o,
                   struct measured *m)
{
    size_t size;
    bool standard = strcmp(path, "-") == 0;
    FILE *from = standard ? stdin : fopen(path, "rb");
    if (from == NULL) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        return false;
    }
    char *text = read_all(f, path, from, &size);
    if (!standard)
        fclose(from);
    bool ok = text != NULL && measured_parse(f, path, text, size, o, m);
    free(text);
    return ok;
}
