/* SPDX-License-Identifier: BSD-3-Clause */
/* Histograms in the text format of Prometheus and of OpenMetrics:
 *     NAME_bucket{LABELS,le="0.05"} 24054 [TIMESTAMP] [# EXEMPLAR]
 * Buckets are cumulative; series of one name that differ in their labels are added up. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "sim/base/map.h"
#include "store/measured_int.h"

enum { SERIES_MAX = 20000, BOUNDS_MAX = 1024, NAMES_TOLD = 5 };

struct bucket {
    double le, count; /* le in seconds; INFINITY */
    size_t line;      /* which of the series' */
};

struct series {
    struct line name, labels;
    struct bucket *buckets;
    size_t nbuckets, room;
    double sum, count;
};

struct exposition {
    struct series *all;
    size_t count, room;
    struct map index; /* by key: its place and one */
};

/* One sample: NAME{LABELS} VALUE. */
struct sample {
    struct line name, labels, le;
    uint64_t key; /* of the labels without le, in any order */
    const char *value_at;
    double value;
};

static bool same(struct line a, struct line b)
{
    return a.end - a.at == b.end - b.at && memcmp(a.at, b.at, (size_t)(a.end - a.at)) == 0;
}

static bool ends_with(struct line l, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(l.end - l.at) > n && memcmp(l.end - n, word, n) == 0;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == ':';
}

bool is_prometheus(struct source *s)
{
    struct line l;
    while (source_line(s, &l))
        if (line_has(&l, "_bucket{") && line_has(&l, "le=\""))
            return true;
    return false;
}

/* KEY="VALUE", where a backslash quotes. */
static bool read_label(struct source *s, struct line *l, struct line *key, struct line *value)
{
    key->at = l->at;
    while (l->at < l->end && is_name(*l->at))
        l->at++;
    key->end = l->at;
    if (key->at == key->end || !skip_word(l, "=\""))
        return source_wrong(s, l->at, "want a label, as code=\"200\"");
    value->at = l->at;
    while (l->at < l->end && *l->at != '"')
        l->at += *l->at == '\\' && l->end - l->at > 1 ? 2 : 1;
    value->end = l->at;
    return skip_word(l, "\"") || source_wrong(s, l->at, "want \" at the end of the label");
}

static uint64_t hash_of(struct line l)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *p = l.at; p < l.end; p++)
        hash = (hash ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    return hash;
}

static bool is_le(struct line key) { return key.end - key.at == 2 && memcmp(key.at, "le", 2) == 0; }

static bool read_labels(struct source *s, struct line *l, struct sample *x)
{
    struct line key = {0}, value = {0};
    x->labels = (struct line){l->at, l->at};
    while (skip_blanks(l), !skip_word(l, "}")) {
        if (!read_label(s, l, &key, &value))
            return false;
        if (is_le(key))
            x->le = value;
        else
            x->key += hash_of((struct line){key.at, value.end});
        x->labels.end = l->at;
        skip_blanks(l);
        skip_word(l, ",");
    }
    return true;
}

static bool read_sample(struct source *s, struct line l, struct sample *x)
{
    *x = (struct sample){.value_at = l.at};
    x->name.at = l.at;
    while (l.at < l.end && is_name(*l.at))
        l.at++;
    x->name.end = l.at;
    x->labels = (struct line){l.at, l.at};
    skip_blanks(&l);
    if (skip_word(&l, "{") && !read_labels(s, &l, x))
        return false;
    skip_blanks(&l);
    x->value_at = l.at;
    if (read_number(&l, &x->value))
        return true;
    x->value = 0;
    if (skip_word(&l, "NaN") || skip_word(&l, "+Inf") || skip_word(&l, "-"))
        return true; /* of something else than a histogram */
    return source_wrong(s, l.at, "want a number");
}

static struct series *series_of(struct exposition *e, struct line name, const struct sample *x)
{
    struct map_slot *slot = map_put(&e->index, x->key * 31 + hash_of(name), 0);
    if (slot->a != 0)
        return &e->all[slot->a - 1];
    if (e->count == SERIES_MAX)
        return NULL;
    slot->a = (uint32_t)e->count + 1;
    if (e->count == e->room)
        e->all = x_grow(e->all, (e->room = e->room * 2 + 64) * sizeof *e->all);
    e->all[e->count] = (struct series){.name = name, .labels = x->labels};
    return &e->all[e->count++];
}

static bool add_bucket(struct source *s, struct series *h, const struct sample *x)
{
    struct line le = x->le;
    double bound;
    if (le.at == NULL)
        return source_wrong(s, x->name.at, "a bucket without le");
    if (skip_word(&le, "+Inf") || skip_word(&le, "Inf") || skip_word(&le, "inf"))
        bound = INFINITY;
    else if (skip_word(&le, "-") || !read_number(&le, &bound) || le.at != le.end)
        return source_wrong(s, x->le.at, "le: want a number that is not negative, or +Inf");
    if (h->nbuckets == BOUNDS_MAX)
        return source_wrong(s, x->name.at, "more than %d buckets", BOUNDS_MAX);
    if (h->nbuckets == h->room)
        h->buckets = x_grow(h->buckets, (h->room = h->room * 2 + 16) * sizeof *h->buckets);
    h->buckets[h->nbuckets] = (struct bucket){bound, x->value, h->nbuckets};
    h->nbuckets++;
    return true;
}

static bool take(struct source *s, struct exposition *e, const struct sample *x)
{
    static const char *const ends[] = {"_bucket", "_sum", "_count"};
    for (int i = 0; i < 3; i++) {
        struct line name = x->name;
        if (!ends_with(name, ends[i]))
            continue;
        name.end -= strlen(ends[i]);
        struct series *h = series_of(e, name, x);
        if (h == NULL)
            return source_wrong(s, x->name.at, "more than %d series", SERIES_MAX);
        if (i == 1)
            h->sum = x->value;
        else if (i == 2)
            h->count = x->value;
        else
            return add_bucket(s, h, x);
    }
    return true;
}

static int by_bound(const void *a, const void *b)
{
    const struct bucket *x = a, *y = b;
    if (x->le != y->le)
        return x->le < y->le ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Sorted, a bucket for each bound: of what is said twice (two scrapes in a file) the last holds, as
 * for sums. */
static void order_buckets(struct series *h)
{
    size_t used = 0;
    qsort(h->buckets, h->nbuckets, sizeof *h->buckets, by_bound);
    for (size_t i = 0; i < h->nbuckets; i++)
        if (used > 0 && h->buckets[used - 1].le == h->buckets[i].le)
            h->buckets[used - 1] = h->buckets[i];
        else
            h->buckets[used++] = h->buckets[i];
    h->nbuckets = used;
}

/* Cumulative counts become counts. */
static bool sort_buckets(struct source *s, struct series *h)
{
    double before = 0;
    if (h->nbuckets == 0)
        return true;
    order_buckets(h);
    for (size_t i = 0; i < h->nbuckets; i++) {
        double all = h->buckets[i].count;
        if (all < before)
            return source_wrong(s, h->name.at,
                                "buckets of a histogram are cumulative, and one of"
                                " these holds less than a smaller one");
        h->buckets[i].count = all - before;
        before = all;
    }
    if (h->count == 0)
        h->count = before;
    return true;
}

static bool is_asked(const struct source *s, const struct series *h)
{
    if (h->nbuckets == 0 || ends_with(h->name, "_bytes"))
        return false;
    if (s->o->metric != NULL &&
        !same(h->name, (struct line){s->o->metric, s->o->metric + strlen(s->o->metric)}))
        return false;
    return s->o->label == NULL || line_has(&h->labels, s->o->label);
}

/* Of the client library and the runtime, not of the service. */
static bool is_own(const struct series *h)
{
    struct line n = h->name;
    return skip_word(&n, "go_") || skip_word(&n, "process_") || skip_word(&n, "promhttp_") ||
           skip_word(&n, "prometheus_");
}

static double unit_of(const struct source *s, struct line name)
{
    if (s->o->unit_ns > 0)
        return s->o->unit_ns;
    if (ends_with(name, "_milliseconds") || ends_with(name, "_ms"))
        return 1e6;
    if (ends_with(name, "_microseconds") || ends_with(name, "_us"))
        return 1e3;
    return ends_with(name, "_nanoseconds") || ends_with(name, "_ns") ? 1 : 1e9;
}

/* The name with most time: no other sign says which histogram is the requests'. */
static const struct series *choose(const struct source *s, const struct exposition *e)
{
    const struct series *best = NULL;
    double most = -1;
    for (size_t i = 0; i < e->count; i++) {
        const struct series *h = &e->all[i];
        double sum = 0;
        if (!is_asked(s, h) || (best != NULL && same(best->name, h->name)))
            continue;
        for (size_t k = i; k < e->count; k++)
            if (is_asked(s, &e->all[k]) && same(e->all[k].name, h->name))
                sum += e->all[k].sum * unit_of(s, h->name) + 1e-9 * e->all[k].count;
        if (is_own(h) && s->o->metric == NULL)
            continue; /* no requests' latencies */
        if (sum > most) {
            most = sum;
            best = h;
        }
    }
    return best;
}

static void tell_others(struct source *s, const struct exposition *e, const struct series *is)
{
    char others[200] = "";
    int n = 0;
    for (size_t i = 0; i < e->count && s->o->metric == NULL; i++) {
        const struct series *h = &e->all[i];
        bool seen = same(h->name, is->name) || !is_asked(s, h) || is_own(h);
        for (size_t k = 0; k < i && !seen; k++)
            seen = same(h->name, e->all[k].name);
        size_t used = strlen(others);
        if (!seen && n++ < NAMES_TOLD)
            snprintf(others + used, sizeof others - used, "%s%.*s", used > 0 ? ", " : "",
                     (int)(h->name.end - h->name.at), h->name.at);
    }
    if (n > 0)
        source_note(s,
                    "which of the histograms is meant: taken the one with most time, there %s"
                    " also %s (--metric)",
                    n > 1 ? "are" : "is", others);
}

static int by_begin(const void *a, const void *b)
{
    const struct measured_bin *x = a, *y = b;
    if (x->from_ns != y->from_ns)
        return x->from_ns < y->from_ns ? -1 : 1;
    return (x->to_ns > y->to_ns) - (x->to_ns < y->to_ns);
}

/* Where a histogram's last bucket ends is not said: so that the mean is the measured one, within
 * reason. */
static double last_end(const struct series *h, double from)
{
    double sum = 0, before = 0;
    const struct bucket *last = &h->buckets[h->nbuckets - 1];
    for (size_t i = 0; i + 1 < h->nbuckets; i++) {
        sum += h->buckets[i].count * (before + h->buckets[i].le) / 2;
        before = h->buckets[i].le;
    }
    double to = last->count > 0 ? 2 * (h->sum - sum) / last->count - from : 0;
    return to < 1.5 * from ? 1.5 * from : to > 10 * from ? 10 * from : to;
}

struct bins {
    struct measured_bin *all;
    size_t count, room;
};

static void add_bins(struct source *s, struct bins *b, const struct series *h, double unit)
{
    double from = 0;
    for (size_t i = 0; i < h->nbuckets; i++) {
        double to = h->buckets[i].le;
        if (!isfinite(to)) {
            to = last_end(h, from);
            if (h->buckets[i].count > 0 && s->m->nnotes == 0)
                source_note(
                    s, "how slow those above %.4g s were: %.3g %% are, taken as up to %.4g s",
                    from * unit / 1e9, 100 * h->buckets[i].count / h->count, to * unit / 1e9);
        }
        if (b->count == b->room)
            b->all = x_grow(b->all, (b->room = b->room * 2 + 64) * sizeof *b->all);
        double weight = h->buckets[i].count < 1e15 ? h->buckets[i].count : 1e15;
        b->all[b->count++] = (struct measured_bin){to_ns(from * unit), to_ns(to * unit),
                                                   (uint64_t)weight};
        from = to;
    }
}

/* Equal bins of several series are one. */
static void merge_bins(struct bins *b)
{
    size_t used = 0;
    if (b->count > 0)
        qsort(b->all, b->count, sizeof *b->all, by_begin);
    for (size_t i = 0; i < b->count; i++)
        if (used > 0 && by_begin(&b->all[used - 1], &b->all[i]) == 0)
            b->all[used - 1].weight += b->all[i].weight;
        else
            b->all[used++] = b->all[i];
    b->count = used;
}

static bool use(struct source *s, const struct exposition *e)
{
    const struct series *is = choose(s, e);
    struct bins b = {0};
    double sum = 0;
    int series = 0;
    if (is == NULL)
        return source_wrong(s, s->text, "no histogram%s%s%s%s%s", s->o->metric != NULL ? " " : "",
                            s->o->metric != NULL ? s->o->metric : "",
                            s->o->label != NULL ? " with " : "",
                            s->o->label != NULL ? s->o->label : "",
                            s->o->metric == NULL && s->o->label == NULL
                                ? " of a service in it (--metric takes one of the runtime's own)"
                                : "");
    double unit = unit_of(s, is->name);
    for (size_t i = 0; i < e->count; i++)
        if (is_asked(s, &e->all[i]) && same(e->all[i].name, is->name)) {
            add_bins(s, &b, &e->all[i], unit);
            sum += e->all[i].sum;
            s->m->count += e->all[i].count;
            series++;
        }
    merge_bins(&b);
    s->m->nbins = bins_join(b.all, b.count, s->m->bins);
    free(b.all);
    snprintf(s->m->name, sizeof s->m->name, "%.*s", (int)(is->name.end - is->name.at), is->name.at);
    s->m->mean_ns = s->m->count > 0 ? sum * unit / s->m->count : 0;
    if (series > 1)
        source_note(s,
                    "which requests are meant: %d series with different labels are added up"
                    " (--label)",
                    series);
    tell_others(s, e, is);
    source_note(s, "how latencies lie within a bucket: taken as even");
    return s->m->nbins > 0 || source_wrong(s, is->name.at, "the histogram is empty");
}

bool read_prometheus(struct source *s)
{
    struct exposition e = {0};
    struct line l;
    struct sample x;
    bool ok = true;
    s->m->format = "a Prometheus histogram";
    while (ok && source_line(s, &l)) {
        skip_blanks(&l);
        if (l.at == l.end || *l.at == '#' || !is_name(*l.at))
            continue;
        ok = read_sample(s, l, &x) && take(s, &e, &x);
    }
    for (size_t i = 0; ok && i < e.count; i++)
        ok = sort_buckets(s, &e.all[i]);
    ok = ok && use(s, &e);
    for (size_t i = 0; i < e.count; i++)
        free(e.all[i].buckets);
    free(e.all);
    map_release(&e.index);
    return ok;
}
