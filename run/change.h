/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_CHANGE_H
#define GMPSIM_RUN_CHANGE_H

/* How a goroutine and a P change from one thing to the next: the part of transitions.c that most
 * records go through, in line for it and for records.c. */

#include "run/transitions.h"

static inline void tell_g(const struct transitions *t, uint64_t time, uint32_t id, struct tr_g *g,
                          const struct g_now *next)
{
    for (int i = 0; i < t->nof_g; i++)
        t->of_g[i].fn(t->of_g[i].arg, id, g, next, time);
}

static inline void tell_p(const struct transitions *t, uint64_t time, uint16_t id,
                          const struct p_now *now, const struct p_now *next)
{
    for (int i = 0; i < t->nof_p; i++)
        t->of_p[i].fn(t->of_p[i].arg, id, now, next, time);
}

static inline void change_g(struct transitions *t, uint64_t time, uint32_t id, struct tr_g *g,
                            struct g_now *next)
{
    next->since = time;
    tell_g(t, time, id, g, next);
    g->now = *next;
    if (__builtin_expect(next->state == GS_NOTEXIST, 0))
        gtable_take(&t->gs, id);
}

/* An M that waits for a CPU while all CPUs are throttled waits for quota. */
static inline uint8_t cpu_of(const struct transitions *t, uint8_t said)
{
    return said == CPU_WAITS && t->cpus > 0 && t->throttled >= t->cpus ? (uint8_t)CPU_THROTTLED
                                                                       : said;
}

/* next: with said_cpu set; cpu and since are set here. */
static inline void change_p(struct transitions *t, uint64_t time, uint16_t id, struct p_now *now,
                            struct p_now *next)
{
    next->cpu = cpu_of(t, next->said_cpu);
    if (next->doing == now->doing && next->g == now->g && next->cpu == now->cpu &&
        next->m == now->m && next->said_cpu == now->said_cpu)
        return;
    next->since = time;
    tell_p(t, time, id, now, next);
    *now = *next;
}

#endif
