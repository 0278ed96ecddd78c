/* SPDX-License-Identifier: BSD-3-Clause */
/* What follows from a grid, as sentences with their evidence. What somebody is given (quota, CPUs,
 * load) is told apart from what somebody chooses (GOMAXPROCS, release). For each setting that is
 * given the best choice is named; where there is nothing to choose, the quota above which more of
 * it does not help. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/gridshow.h"
#include "cli/out.h"
#include "sim/base/text.h"

/* The best cell answers nearly as many requests as the one that answers most: to be fast with fewer
 * is no merit. A latency up to ENOUGH times that under the largest quota is good enough. Means
 * within NOT_THE_SAME of each other do not differ. */
#define RATE_KEPT    0.98
#define ENOUGH       1.10
#define NOT_THE_SAME 1.02

struct advice {
    const struct table *t;
    int point;
    FILE *to;
    cJSON *list;
};

static struct mean latency(const struct advice *a, size_t cell)
{
    return table_stat(a->t, cell, a->t->counts[cell], a->t->span,
                      OF_POINT + (enum measure)a->point);
}

static double rate(const struct advice *a, size_t cell)
{
    return table_stat(a->t, cell, a->t->counts[cell], a->t->span, OF_RATE).mean;
}

static bool is_good(const struct advice *a, size_t cell)
{
    for (int64_t i = 0; i < a->t->counts[cell]; i++)
        if (table_run(a->t, cell, i)->status != 0 && !a->t->cells[cell].own)
            return false;
    return a->t->counts[cell] > 0 && rate(a, cell) > 0;
}

bool advice_same_given(const struct table_cell *a, const struct table_cell *b)
{
    return a->cpus == b->cpus && a->quota_us == b->quota_us && a->rate_ppm == b->rate_ppm;
}

static bool same_choice(const struct table_cell *a, const struct table_cell *b)
{
    return a->release == b->release && a->procs == b->procs && strcmp(a->policy, b->policy) == 0;
}

bool means_differ(struct mean a, struct mean b)
{
    return fabs(a.mean - b.mean) > sqrt(a.half * a.half + b.half * b.half) &&
           fmax(a.mean, b.mean) > NOT_THE_SAME * fmin(a.mean, b.mean);
}

static const char *known(struct mean s)
{
    static char ring[4][48];
    static unsigned next;
    char *out = ring[next++ % 4];
    snprintf(out, sizeof ring[0], s.half > 0 ? "%s ±%.1f%%" : "%s", time_text((int64_t)s.mean),
             100 * s.half / s.mean);
    return out;
}

/* What speaks against a cell. */
static const char *trouble(const struct advice *a, size_t cell)
{
    static char ring[2][100];
    static unsigned next;
    char *buf = ring[next++ % 2];
    const struct table *t = a->t;
    double ns = table_stat(t, cell, t->counts[cell], 0, OF_THROTTLED).mean;
    double open = table_stat(t, cell, t->counts[cell], t->span, OF_OPEN).mean;
    int n = 0;
    buf[0] = 0;
    if (ns > 0)
        n = snprintf(buf, sizeof ring[0], ", throttled for %s", time_text((int64_t)ns));
    if (many_open(open, table_stat(t, cell, t->counts[cell], t->span, OF_COUNT).mean))
        snprintf(buf + n, sizeof ring[0] - (size_t)n, ", %.0f not ended", open);
    return buf;
}

static void say(const struct advice *a, const char *kind, size_t best, const char *text)
{
    if (a->list == NULL) {
        fprintf(a->to, "\n%s\n", text);
        return;
    }
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "kind", kind);
    cJSON_AddNumberToObject(o, "best", (double)best);
    cJSON_AddStringToObject(o, "point", point_names[a->point]);
    cJSON_AddStringToObject(o, "text", text);
    cJSON_AddItemToArray(a->list, o);
}

/* ---- the best choice under what is given ---- */

static size_t best_of(const struct advice *a, size_t first, double *most)
{
    const struct table *t = a->t;
    size_t best = SIZE_MAX;
    *most = 0;
    for (size_t c = first; c < t->ncells; c++)
        if (advice_same_given(&t->cells[c], &t->cells[first]) && is_good(a, c) &&
            rate(a, c) > *most)
            *most = rate(a, c);
    for (size_t c = first; c < t->ncells; c++)
        if (advice_same_given(&t->cells[c], &t->cells[first]) && is_good(a, c) &&
            rate(a, c) >= RATE_KEPT * *most &&
            (best == SIZE_MAX || latency(a, c).mean < latency(a, best).mean))
            best = c;
    return best;
}

size_t advice_best(const struct table *t, int point, size_t first)
{
    struct advice a = {.t = t, .point = point};
    double most;
    return best_of(&a, first, &most);
}

/* The cell that the best is compared with: what people have who choose nothing, or the slowest. */
static size_t compared(const struct advice *a, size_t best)
{
    size_t worst = SIZE_MAX;
    for (size_t c = 0; c < a->t->ncells; c++) {
        const struct table_cell *cell = &a->t->cells[c];
        if (c == best || !advice_same_given(cell, &a->t->cells[best]) || a->t->counts[c] == 0)
            continue;
        if (strcmp(cell->policy, "default") == 0)
            return c;
        if (worst == SIZE_MAX || latency(a, c).mean > latency(a, worst).mean)
            worst = c;
    }
    return worst;
}

static size_t as_good(const struct advice *a, size_t best, double most, char *buf, size_t size)
{
    size_t n = 0, used = 0;
    char label[200];
    buf[0] = 0;
    for (size_t c = 0; c < a->t->ncells; c++)
        if (c != best && advice_same_given(&a->t->cells[c], &a->t->cells[best]) && is_good(a, c) &&
            rate(a, c) >= RATE_KEPT * most && !means_differ(latency(a, c), latency(a, best))) {
            if (used < size)
                used += (size_t)snprintf(buf + used, size - used, "%s%s", n > 0 ? "; " : "",
                                         cell_label(a->t, c, label, sizeof label));
            n++;
        }
    return n;
}

static void advise_choice(const struct advice *a, size_t first)
{
    char label[200], other[200], equals[600], text[1800];
    double most;
    size_t best = best_of(a, first, &most);
    if (best == SIZE_MAX)
        return;
    size_t with = compared(a, best), n = as_good(a, best, most, equals, sizeof equals);
    int used = snprintf(text, sizeof text,
                        "Best %s of %s: %s: %s, %.0f per second (%.1f %% of the most)%s.",
                        point_names[a->point], text_cut(a->t->names[a->t->span], 40),
                        cell_label(a->t, best, label, sizeof label), known(latency(a, best)),
                        rate(a, best), 100 * rate(a, best) / most, trouble(a, best));
    if (with != SIZE_MAX && (size_t)used < sizeof text)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "\n  Against %s: %s, %.1f times that, %.0f per second%s.",
                         cell_label(a->t, with, other, sizeof other), known(latency(a, with)),
                         latency(a, with).mean / latency(a, best).mean, rate(a, with),
                         trouble(a, with));
    if (n > 0 && (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used,
                 "\n  Not told apart from it by these runs: %s.", equals);
    say(a, "choice", best, text);
}

/* ---- how much is enough ---- */

/* The cell with the smallest quota after which p99 is within a tenth of that with most. */
static void advise_quota(const struct advice *a, size_t first)
{
    char label[200], full[200], text[1000];
    const struct table *t = a->t;
    size_t most = first, enough = SIZE_MAX, least = first;
    for (size_t c = 0; c < t->ncells; c++) {
        const struct table_cell *x = &t->cells[c], *y = &t->cells[most];
        if (!same_choice(x, &t->cells[first]) || x->rate_ppm != y->rate_ppm || !is_good(a, c))
            continue;
        if (y->quota_us != 0 && (x->quota_us == 0 || x->quota_us > y->quota_us))
            most = c;
        if (x->quota_us != 0 &&
            (t->cells[least].quota_us == 0 || x->quota_us < t->cells[least].quota_us))
            least = c;
    }
    for (size_t c = 0; c < t->ncells; c++)
        if (same_choice(&t->cells[c], &t->cells[first]) && is_good(a, c) &&
            t->cells[c].rate_ppm == t->cells[most].rate_ppm && t->cells[c].quota_us != 0 &&
            latency(a, c).mean <= ENOUGH * latency(a, most).mean &&
            rate(a, c) >= RATE_KEPT * rate(a, most) &&
            (enough == SIZE_MAX || t->cells[c].quota_us < t->cells[enough].quota_us))
            enough = c;
    if (least == most)
        return;
    if (enough == SIZE_MAX)
        enough = most;
    int n = snprintf(text, sizeof text, "%s %s of %s: %s: %s, %.0f per second",
                     enough == most ? "Needed for" : "Enough for", point_names[a->point],
                     text_cut(t->names[t->span], 40), cell_label(t, enough, label, sizeof label),
                     known(latency(a, enough)), rate(a, enough));
    if (enough != most)
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "; more does not make it a tenth faster (%s: %s)",
                      cell_label(t, most, full, sizeof full), known(latency(a, most)));
    snprintf(text + n, sizeof text - (size_t)n, ".\n  With %.4g CPUs it is %s, %.0f per second%s.",
             (double)t->cells[least].quota_us / (double)t->period_us, known(latency(a, least)),
             rate(a, least), trouble(a, least));
    say(a, "quota", enough, text);
}

static bool is_first(const struct table *t, size_t cell,
                     bool (*same)(const struct table_cell *a, const struct table_cell *b))
{
    for (size_t c = 0; c < cell; c++)
        if (same(&t->cells[c], &t->cells[cell]))
            return false;
    return true;
}

void advice_show(const struct table *t, int point, FILE *to, struct cJSON *list)
{
    struct advice a = {t, point, to, list};
    size_t choices = 0;
    for (size_t c = 0; c < t->ncells; c++)
        choices += is_first(t, c, same_choice);
    for (size_t c = 0; c < t->ncells; c++) {
        if (choices > 1 && is_first(t, c, advice_same_given))
            advise_choice(&a, c);
        if (is_first(t, c, same_choice))
            advise_quota(&a, c);
    }
}
