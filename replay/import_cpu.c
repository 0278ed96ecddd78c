/* SPDX-License-Identifier: BSD-3-Clause */
/* What is computed between two statements of an imported program. Of the same function between the
 * same two places it is one distribution, whose mean is that of what was recorded: else the program
 * would take another time. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "replay/import_int.h"
#include "replay/overlap.h"

/* Fewer are no distribution; a lognormal one may miss the mean by so much. */
enum { FEW = 8, MISS_PERCENT = 5, LITTLE = 1000, CPU_LINE = 500 };

/* The 99th percentile of a normal distribution, in sigmas. */
static const double p99_sigmas = 2.3263478740408408;

static struct imp_cpu *cpu_class(struct imp *t)
{
    uint32_t before = t->to->count > 0 ? t->site_of[t->to->ids[t->to->count - 1]] : 0, name;
    uint32_t next = t->site != REC_NONE ? t->site + 1 : 0;
    (void)imp_kept(t, &t->names, t->r->gs[t->g].name, &name);
    struct map_slot *s = map_put(&t->cpu_classes, (uint64_t)before << 32 | next, name);
    if (s->a == 0) {
        X_ROOM(t->cpus, t->ncpus, t->cpus_room, 64);
        t->cpus[t->ncpus++] = (struct imp_cpu){0};
        s->a = t->ncpus;
    }
    return &t->cpus[s->a - 1];
}

static int64_t mean(const struct imp_cpu *c, uint32_t from, uint32_t to)
{
    double sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += (double)c->ns[i];
    return (int64_t)(sum / (to - from) + 0.5);
}

/* Four parts of a sorted sample, each even over a range around its mean. */
static void bins(const struct imp_cpu *c, char *text, size_t size)
{
    static const uint32_t ends[] = {50, 90, 99, 100};
    int used = snprintf(text, size, "{\"cpu\": {\"empirical\": [");
    for (uint32_t i = 0, from = 0, to; i < sizeof ends / sizeof *ends; i++, from = to) {
        to = (uint32_t)((uint64_t)c->count * ends[i] / 100);
        if (to == from)
            continue;
        int64_t middle = mean(c, from, to), low = c->ns[from], high = c->ns[to - 1];
        low = 2 * middle - high > low ? 2 * middle - high : low;
        used += snprintf(text + used, size - (size_t)used,
                         "%s{\"from\": \"%" PRId64 "ns\", \"to\": \"%" PRId64
                         "ns\", \"weight\": %u}",
                         from > 0 ? ", " : "", low, 2 * middle - low, to - from);
    }
    snprintf(text + used, size - (size_t)used, "]}}");
}

static bool is_lognormal(const struct imp_cpu *c, int64_t median, int64_t p99, int64_t middle)
{
    double sigma = log((double)p99 / (double)median) / p99_sigmas;
    double its = (double)median * exp(sigma * sigma / 2);
    return fabs(its - (double)middle) <= (double)middle * MISS_PERCENT / 100 && c->count >= FEW;
}

/* What is computed all in all; where the little is that makes no difference there is no need of a
 * distribution. */
static double all_of(const struct imp_cpu *c)
{
    double sum = 0;
    for (uint32_t i = 0; i < c->count; i++)
        sum += (double)c->ns[i];
    return sum;
}

static void distribution(const struct imp_cpu *c, bool little, char *text, size_t size)
{
    int64_t median = c->ns[c->count / 2], p99 = c->ns[c->count - 1 - c->count / 100];
    int64_t middle = mean(c, 0, c->count);
    if (little || c->count < FEW || c->ns[c->count - 1] <= c->ns[0] + c->ns[0] / 20)
        snprintf(text, size, "{\"cpu\": \"%" PRId64 "ns\"}", middle);
    else if (is_lognormal(c, median, p99, middle))
        snprintf(text, size,
                 "{\"cpu\": {\"lognormal\": \"%" PRId64 "ns\", \"p99\": \"%" PRId64 "ns\"}}",
                 median, p99);
    else
        bins(c, text, size);
}

void imp_compute(struct imp *t)
{
    int64_t ns = t->cpu;
    t->cpu = 0;
    if (t->o->explore || ns <= 0)
        return;
    struct imp_cpu *c = cpu_class(t);
    if (t->measures) {
        X_ROOM(c->ns, c->count, c->room, 64);
        c->ns[c->count++] = ns;
        return;
    }
    if (c->text != NULL) /* it is: the first time round was the same */
        imp_add(t->to, imp_statement(t, c->text));
}

void imp_measured(struct imp *t)
{
    char text[CPU_LINE];
    double all = 0;
    for (uint32_t i = 0; i < t->ncpus; i++)
        all += all_of(&t->cpus[i]);
    for (uint32_t i = 0; i < t->ncpus; i++) {
        struct imp_cpu *c = &t->cpus[i];
        qsort(c->ns, c->count, sizeof *c->ns, overlap_by_length);
        distribution(c, all_of(c) * LITTLE < all, text, sizeof text);
        c->text = pool_text(t->pool, text);
    }
}
