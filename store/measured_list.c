/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/measured_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/base/alloc.h"

enum { POINTS_MAX = 512, MILLION = 1000000 };

/* ---- points of a distribution into bins ---- */

struct points {
    double share[POINTS_MAX], ns[POINTS_MAX]; /* share: 0 to 1, rising */
    size_t count;
    double min, max; /* below 0: not known */
};

static bool add_point(struct source *s, struct points *p, const char *at, double share, double ns)
{
    if (share < 0 || share > 1)
        return source_wrong(s, at, "a percentile is from 0 to 100");
    if (p->count > 0 && share <= p->share[p->count - 1])
        return true; /* said twice */
    if (p->count > 0 && ns < p->ns[p->count - 1])
        return source_wrong(s, at, "percentiles that fall");
    if (p->count == POINTS_MAX)
        return source_wrong(s, at, "more than %d percentiles", POINTS_MAX);
    p->share[p->count] = share;
    p->ns[p->count++] = ns;
    return true;
}

static double mean_of(const struct measured_bin *bins, size_t n, double *weight)
{
    double sum = 0;
    *weight = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)bins[i].weight * ((double)bins[i].from_ns + (double)bins[i].to_ns) / 2;
        *weight += (double)bins[i].weight;
    }
    return *weight > 0 ? sum / *weight : 0;
}

/* Where nobody says how fast the fastest are: so that the mean is the one that was measured. */
static void begin_by_mean(struct source *s, struct measured_bin *bins, size_t n)
{
    double weight, share = (double)bins[0].weight, is = mean_of(bins, n, &weight);
    double from = s->m->mean_ns > 0 ? 2 * (s->m->mean_ns - is) * weight / share : 0;
    bins[0].from_ns = to_ns(from < (double)bins[0].to_ns ? from : (double)bins[0].to_ns);
    source_note(s, "how fast the fastest were%s",
                s->m->mean_ns > 0 ? ": taken so that the mean is the measured one"
                                  : ": taken as from 0 on");
}

static bool points_to_bins(struct source *s, struct points *p)
{
    struct measured_bin *all = x_alloc((POINTS_MAX + 1) * sizeof *all);
    double before = 0, from = p->min >= 0 ? p->min : 0;
    size_t n = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->share[i] > before)
            all[n++] = (struct measured_bin){to_ns(from < p->ns[i] ? from : p->ns[i]),
                                             to_ns(p->ns[i]),
                                             (uint64_t)((p->share[i] - before) * MILLION + 0.5)};
        before = p->share[i];
        from = p->ns[i];
    }
    if (before < 1) {
        double top = p->max >= from ? p->max : from;
        all[n++] = (struct measured_bin){to_ns(from), to_ns(top),
                                         (uint64_t)((1 - before) * MILLION + 0.5)};
        if (p->max < from)
            source_note(s, "how slow the slowest %.3g %% were: taken as no slower than that point",
                        100 * (1 - before));
    }
    if (p->min < 0 && n > 0)
        begin_by_mean(s, all, n);
    s->m->nbins = bins_join(all, n, s->m->bins);
    free(all);
    return s->m->nbins > 0 || source_wrong(s, s->text, "percentiles that say nothing");
}

/* ---- wrk, wrk2, hey, oha ---- */

bool is_percentiles(struct source *s)
{
    struct line l;
    while (source_line(s, &l))
        if (line_has(&l, "atency Distribution") || line_has(&l, "Latency distribution:") ||
            line_has(&l, "Response time distribution:") || line_has(&l, "Running ") ||
            (line_has(&l, "Value") && line_has(&l, "Percentile") && line_has(&l, "TotalCount")))
            return true;
    return false;
}

struct generator {
    struct points points, spectrum;
    bool in_spectrum;
};

/* "50%  250us", "10% in 0.0279 secs" */
static bool percent_line(struct source *s, struct line l, struct points *p)
{
    const char *at = l.at;
    double share, ns;
    if (!read_number(&l, &share) || !skip_word(&l, "%"))
        return true; /* something else */
    skip_blanks(&l);
    if (skip_word(&l, "in"))
        skip_blanks(&l);
    if (!read_duration(s, &l, &ns))
        return source_wrong(s, l.at, "want a latency behind the percentile");
    return add_point(s, p, at, share / 100, ns);
}

/* "0.135  0.100000  57  1.11": milliseconds, as wrk2 has them. */
static bool spectrum_line(struct source *s, struct line l, struct generator *g)
{
    const char *at = l.at;
    double ms, share, total;
    if (!read_number(&l, &ms))
        return true;
    skip_blanks(&l);
    if (!read_number(&l, &share))
        return source_wrong(s, l.at, "want a percentile, from 0 to 1");
    skip_blanks(&l);
    if (!read_number(&l, &total))
        return source_wrong(s, l.at, "want a count");
    s->m->count = total;
    if (share == 0)
        g->spectrum.min = ms * 1e6;
    return share == 0 || add_point(s, &g->spectrum, at, share, ms * 1e6);
}

static bool named_duration(struct source *s, struct line *l, const char *word, double *ns)
{
    struct line at = *l;
    if (!skip_word(&at, word))
        return false;
    skip_blanks(&at);
    if (at.at == at.end || *at.at < '0' || *at.at > '9' || !read_duration(s, &at, ns))
        return false;
    *l = at;
    return true;
}

/* wrk: average, deviation, most. */
static void stats_line(struct source *s, struct line l, struct generator *g)
{
    double deviation, most;
    if (!named_duration(s, &l, "Latency", &s->m->mean_ns))
        return;
    skip_blanks(&l);
    if (!read_duration(s, &l, &deviation))
        return;
    skip_blanks(&l);
    if (read_duration(s, &l, &most))
        g->points.max = most;
}

static void counts_line(struct source *s, struct line l)
{
    double a, ns;
    if (skip_word(&l, "Requests/sec:")) {
        skip_blanks(&l);
        (void)read_number(&l, &s->m->per_second);
        return;
    }
    if (!read_number(&l, &a))
        return;
    skip_blanks(&l);
    if (skip_word(&l, "requests in ") && read_duration(s, &l, &ns)) {
        s->m->count = a;
        s->m->seconds = ns / 1e9;
    } else if (skip_word(&l, "threads and ") && read_number(&l, &a) && a >= 1 && a <= 1e6)
        s->m->clients = (int64_t)a;
}

static bool generator_line(struct source *s, struct line l, struct generator *g)
{
    double ns;
    skip_blanks(&l);
    if (line_has(&l, "Value") && line_has(&l, "Percentile")) {
        g->in_spectrum = true;
        return true;
    }
    if (skip_word(&l, "Thread calibration")) /* wrk2: it asks at a rate, whoever answers */
        s->m->constant = true;
    if (l.at < l.end && *l.at == '#') /* the spectrum's end: mean, maximum */
        g->in_spectrum = false;
    stats_line(s, l, g);
    counts_line(s, l);
    if (named_duration(s, &l, "Slowest:", &ns))
        g->points.max = ns;
    if (named_duration(s, &l, "Fastest:", &ns))
        g->points.min = ns;
    if (named_duration(s, &l, "Average:", &ns) && s->m->mean_ns == 0)
        s->m->mean_ns = ns;
    if (named_duration(s, &l, "Total:", &ns))
        s->m->seconds = ns / 1e9;
    return g->in_spectrum ? spectrum_line(s, l, g) : percent_line(s, l, &g->points);
}

bool read_percentiles(struct source *s)
{
    struct generator g = {.points = {.min = -1, .max = -1}, .spectrum = {.min = -1, .max = -1}};
    struct line l;
    s->m->format = "the percentiles of a load generator";
    while (source_line(s, &l))
        if (!generator_line(s, l, &g))
            return false;
    if (s->m->count == 0 && s->m->per_second > 0)
        s->m->count = s->m->per_second * s->m->seconds;
    if (s->m->constant)
        s->m->clients = 0;
    else if (s->m->clients == 0 && s->m->per_second > 0)
        source_note(s,
                    "how many clients asked, each again after its answer: taken as an open load at"
                    " the measured rate (--clients N)");
    if (g.spectrum.count > g.points.count) {
        s->m->mean_ns = 0;
        return points_to_bins(s, &g.spectrum);
    }
    if (g.points.count == 0)
        return source_wrong(s, s->text,
                            "there are no percentiles in it (wrk prints them with --latency)");
    return points_to_bins(s, &g.points);
}

/* ---- vegeta ---- */

bool is_vegeta(struct source *s)
{
    struct line l;
    while (source_line(s, &l)) {
        struct line hist = l;
        if (skip_word(&l, "Latencies") || (skip_word(&hist, "Bucket") && line_has(&hist, "#")))
            return true;
    }
    return false;
}

/* "[min, mean, 50, 99, max]   1ms, 2ms, ...": each name with its value. */
static bool each_value(struct source *s, struct line l, const char *names_end,
                       bool (*fn)(struct source *s, struct line *name, double v, void *arg),
                       void *arg)
{
    struct line values = {names_end + 1, l.end};
    double v;
    skip_word(&l, "[");
    while (l.at < names_end) {
        struct line name = l;
        while (name.at < names_end && *name.at != ',')
            name.at++;
        name = (struct line){l.at, name.at};
        skip_blanks(&values);
        if (!read_duration(s, &values, &v))
            return source_wrong(s, values.at, "want a value for each of the names");
        if (!fn(s, &name, v, arg))
            return false;
        skip_word(&values, ",");
        l.at = name.end + (name.end < names_end);
        skip_blanks(&l);
    }
    return true;
}

static bool latency_value(struct source *s, struct line *name, double ns, void *arg)
{
    struct points *p = arg;
    const char *at = name->at;
    double percent;
    if (skip_word(name, "min"))
        p->min = ns;
    else if (skip_word(name, "mean"))
        s->m->mean_ns = ns;
    else if (skip_word(name, "max"))
        p->max = ns;
    else if (read_number(name, &percent))
        return add_point(s, p, at, percent / 100, ns);
    return true;
}

/* Numbers of these lines have no unit: read_duration took them for seconds, or that of the user. */
static bool request_value(struct source *s, struct line *name, double v, void *arg)
{
    double plain = v / (s->o->unit_ns > 0 ? s->o->unit_ns : 1e9);
    (void)arg;
    if (skip_word(name, "total"))
        s->m->count = plain;
    else if (skip_word(name, "rate"))
        s->m->per_second = plain;
    return true;
}

/* "[2ms, 4ms]  6007  47.19%  ###" */
static bool hist_line(struct source *s, struct line l, struct measured_bin *all, size_t *n,
                      size_t max)
{
    double from, to = -1, count;
    if (!read_duration(s, &l, &from))
        return source_wrong(s, l.at, "want where the bucket begins");
    skip_word(&l, ",");
    skip_blanks(&l);
    if (!skip_word(&l, "+Inf") && !read_duration(s, &l, &to))
        return source_wrong(s, l.at, "want where the bucket ends");
    if (!skip_word(&l, "]"))
        return source_wrong(s, l.at, "want ]");
    skip_blanks(&l);
    if (!read_number(&l, &count) || count > 1e15)
        return source_wrong(s, l.at, "want how many there were");
    if (*n == max)
        return source_wrong(s, l.at, "more than %zu buckets", max);
    if (to < 0) {
        to = 2 * from;
        if (count > 0)
            source_note(s, "how slow the slowest were: taken as up to %.4g ms", to / 1e6);
    }
    if (to < from)
        return source_wrong(s, l.at, "a bucket that ends before it begins");
    s->m->count += count;
    all[(*n)++] = (struct measured_bin){to_ns(from), to_ns(to), (uint64_t)count};
    return true;
}

static bool vegeta_line(struct source *s, struct line l, struct points *p, struct measured_bin *all,
                        size_t *n, bool *in_hist)
{
    bool latencies = false, requests = false;
    if (skip_word(&l, "Bucket"))
        *in_hist = true;
    else if (skip_word(&l, "Latencies"))
        latencies = true;
    else if (skip_word(&l, "Requests"))
        requests = true;
    skip_blanks(&l);
    const char *close = memchr(l.at, ']', (size_t)(l.end - l.at));
    if ((latencies || requests) && close != NULL)
        return each_value(s, l, close, latencies ? latency_value : request_value, p);
    if (*in_hist && skip_word(&l, "["))
        return hist_line(s, l, all, n, POINTS_MAX);
    return true;
}

bool read_vegeta(struct source *s)
{
    struct points p = {.min = -1, .max = -1};
    struct measured_bin *all = x_alloc(POINTS_MAX * sizeof *all);
    struct line l;
    size_t n = 0;
    bool ok = true, in_hist = false;
    s->m->format = "a report of vegeta";
    s->m->constant = true;
    while (ok && source_line(s, &l))
        ok = vegeta_line(s, l, &p, all, &n, &in_hist);
    if (ok && s->m->count > 0 && n > 0)
        s->m->nbins = bins_join(all, n, s->m->bins);
    else if (ok && p.count > 0)
        ok = points_to_bins(s, &p);
    else if (ok)
        ok = source_wrong(s, s->text, "there are no latencies in it");
    free(all);
    return ok;
}

/* ---- values one by one ---- */

struct samples {
    struct tally *tally;
    double *at; /* when each was asked for, ns */
    size_t count, room;
};

static void add_arrival(struct samples *v, double ns)
{
    if (v->count == v->room)
        v->at = x_grow(v->at, (v->room = v->room * 2 + 1024) * sizeof *v->at);
    v->at[v->count++] = ns;
}

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How regular it is, from one arrival to the next. */
static void take_arrivals(struct source *s, struct samples *v)
{
    if (v->count < 3)
        return;
    qsort(v->at, v->count, sizeof *v->at, by_time);
    double ns = v->at[v->count - 1] - v->at[0];
    if (ns <= 0)
        return;
    struct tally *gaps = x_alloc(sizeof *gaps);
    for (size_t i = 1; i < v->count; i++)
        tally_add(gaps, v->at[i] - v->at[i - 1]);
    double mean = gaps->sum / gaps->count, variance = gaps->squares / gaps->count - mean * mean;
    s->m->seconds = ns / 1e9;
    s->m->per_second = (double)(v->count - 1) / s->m->seconds;
    s->m->constant = variance < 0.01 * mean * mean;
    if (!s->m->constant)
        s->m->ngaps = tally_bins(gaps, s->m->gaps);
    free(gaps);
}

static bool finish_samples(struct source *s, struct samples *v, bool ok)
{
    if (ok && v->tally->count == 0)
        ok = source_wrong(s, s->text, "there are no latencies in it");
    if (ok) {
        s->m->count = v->tally->count;
        s->m->mean_ns = v->tally->sum / v->tally->count;
        s->m->nbins = tally_bins(v->tally, s->m->bins);
        take_arrivals(s, v);
    }
    free(v->tally);
    free(v->at);
    return ok;
}

/* ---- JSON of vegeta ---- */

bool is_vegeta_json(struct source *s)
{
    struct line all = {s->text, s->end};
    while (all.at < all.end && strchr(" \t\r\n", *all.at) != NULL)
        all.at++;
    return all.at < all.end && *all.at == '{' &&
           (line_has(&all, "\"latencies\"") || line_has(&all, "\"latency\""));
}

/* Behind `"key":`, where there is one. */
static bool find_key(const struct line *in, const char *key, struct line *value)
{
    size_t n = strlen(key);
    for (const char *p = in->at; (size_t)(in->end - p) >= n + 2; p++) {
        if (p[0] != '"' || memcmp(p + 1, key, n) != 0 || p[n + 1] != '"')
            continue;
        *value = (struct line){p + n + 2, in->end};
        while (value->at < value->end && strchr(" \t\r\n:", *value->at) != NULL)
            value->at++;
        return true;
    }
    return false;
}

static bool key_number(struct source *s, const struct line *in, const char *key, double *v)
{
    struct line at;
    if (!find_key(in, key, &at))
        return true;
    return read_number(&at, v) || source_wrong(s, at.at, "want a number for \"%s\"", key);
}

/* "2026-01-02T03:04:05.678Z": the zone is that of all of them. */
static bool read_moment(struct line l, double *ns)
{
    double part[6];
    static const char *const between[] = {"-", "-", "T", ":", ":", ""};
    if (!skip_word(&l, "\""))
        return false;
    for (int i = 0; i < 6; i++)
        if (!read_number(&l, &part[i]) || part[i] > 9999 || !skip_word(&l, between[i]))
            return false;
    struct tm tm = {.tm_year = (int)part[0] - 1900,
                    .tm_mon = (int)part[1] - 1,
                    .tm_mday = (int)part[2],
                    .tm_hour = (int)part[3],
                    .tm_min = (int)part[4]};
    *ns = ((double)timegm(&tm) + part[5]) * 1e9;
    return true;
}

static bool json_lines(struct source *s)
{
    struct samples v = {.tally = x_alloc(sizeof *v.tally)};
    struct line l, at;
    double ns, when;
    bool ok = true;
    s->m->format = "the results of vegeta";
    while (ok && source_line(s, &l)) {
        ns = -1;
        ok = key_number(s, &l, "latency", &ns);
        if (!ok || ns < 0)
            continue;
        tally_add(v.tally, ns);
        if (find_key(&l, "timestamp", &at) && read_moment(at, &when))
            add_arrival(&v, when);
    }
    return finish_samples(s, &v, ok);
}

bool read_vegeta_json(struct source *s)
{
    static const struct {
        const char *key;
        double share;
    } keys[] = {{"50th", 0.5}, {"90th", 0.9}, {"95th", 0.95}, {"99th", 0.99}};
    struct line all = {s->text, s->end}, in;
    struct points p = {.min = -1, .max = -1};
    double duration = 0;
    if (!find_key(&all, "latencies", &in))
        return json_lines(s);
    s->m->format = "a report of vegeta";
    s->m->constant = true;
    if (!key_number(s, &in, "mean", &s->m->mean_ns) || !key_number(s, &in, "max", &p.max) ||
        !key_number(s, &in, "min", &p.min) || !key_number(s, &all, "rate", &s->m->per_second) ||
        !key_number(s, &all, "requests", &s->m->count) ||
        !key_number(s, &all, "duration", &duration))
        return false;
    s->m->seconds = duration / 1e9;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double ns = -1;
        if (!key_number(s, &in, keys[i].key, &ns) ||
            (ns >= 0 && !add_point(s, &p, in.at, keys[i].share, ns)))
            return false;
    }
    if (p.count == 0)
        return source_wrong(s, in.at, "there are no percentiles in it");
    return points_to_bins(s, &p);
}

/* ---- a value per line ---- */

enum row_kind { ROW_DURATION, ROW_HEY, ROW_VEGETA };

static enum row_kind row_kind_of(struct line l)
{
    double v;
    if (line_has(&l, "response-time,"))
        return ROW_HEY;
    return read_number(&l, &v) && v > 1e15 && l.at < l.end && *l.at == ',' ? ROW_VEGETA
                                                                           : ROW_DURATION;
}

static bool is_comment(struct line *l)
{
    skip_blanks(l);
    return l->at == l->end || *l->at == '#';
}

bool is_samples(struct source *s)
{
    struct line l;
    double v;
    for (int lines = 0; lines < 2 && source_line(s, &l);) { /* a title may be the first */
        if (is_comment(&l))
            continue;
        if (row_kind_of(l) == ROW_HEY || read_number(&l, &v))
            return true;
        lines++;
    }
    return false;
}

/* Goes past so many commas. */
static bool skip_fields(struct line *l, int count)
{
    for (; count > 0; count--) {
        const char *comma = memchr(l->at, ',', (size_t)(l->end - l->at));
        if (comma == NULL)
            return false;
        l->at = comma + 1;
    }
    return true;
}

static bool hey_row(struct source *s, struct line l, struct samples *v)
{
    double took, offset;
    struct line at = l;
    if (!read_number(&l, &took))
        return source_wrong(s, l.at, "want a response time, in seconds");
    tally_add(v->tally, took * 1e9);
    if (skip_fields(&at, 7) && read_number(&at, &offset))
        add_arrival(v, offset * 1e9);
    return true;
}

static bool vegeta_row(struct source *s, struct line l, struct samples *v)
{
    double when, took;
    const char *at = l.at;
    if (!read_number(&l, &when))
        return source_wrong(s, at, "want a moment, in ns");
    l.at = at;
    if (!skip_fields(&l, 2) || !read_number(&l, &took))
        return source_wrong(s, l.at, "want a latency, in ns, in the third column");
    tally_add(v->tally, took);
    add_arrival(v, when);
    return true;
}

static bool duration_row(struct source *s, struct line l, struct samples *v)
{
    double ns;
    const char *at = l.at;
    if (!read_duration(s, &l, &ns))
        return source_wrong(s, at, "want a duration such as 1.5ms, or a number of seconds");
    skip_blanks(&l);
    if (l.at < l.end && *l.at != ',' && *l.at != ';')
        return source_wrong(s, l.at, "want a duration and nothing else");
    tally_add(v->tally, ns);
    return true;
}

/* "latency_ms"; 0: it does not say. */
static double unit_of_title(struct line l)
{
    static const struct {
        const char *word;
        double ns;
    } units[] = {{"ms", 1e6}, {"milli", 1e6}, {"us", 1e3}, {"micro", 1e3}, {"ns", 1}, {"nano", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (line_has(&l, units[i].word))
            return units[i].ns;
    return 0;
}

bool read_samples(struct source *s)
{
    static bool (*const rows[])(struct source * s, struct line l, struct samples * v) = {
        [ROW_DURATION] = duration_row, [ROW_HEY] = hey_row, [ROW_VEGETA] = vegeta_row};
    static const char *const formats[] = {[ROW_DURATION] = "a list of latencies",
                                          [ROW_HEY] = "the results of hey",
                                          [ROW_VEGETA] = "the results of vegeta"};
    struct samples v = {.tally = x_alloc(sizeof *v.tally)};
    struct line l;
    struct measured_opts with = *s->o;
    bool ok = true, first = true;
    enum row_kind kind = ROW_DURATION;
    while (ok && source_line(s, &l)) {
        if (is_comment(&l))
            continue;
        if (first)
            kind = row_kind_of(l);
        if (!first || (kind != ROW_HEY && *l.at >= '0' && *l.at <= '9'))
            ok = rows[kind](s, l, &v);
        else if (with.unit_ns <= 0)
            with.unit_ns = unit_of_title(l);
        first = false;
        s->o = &with;
    }
    s->m->format = formats[kind];
    return finish_samples(s, &v, ok);
}
