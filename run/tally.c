/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/tally.h"

#include <string.h>

enum { PS_PER_NS = 1000 };
static const size_t arena_max = (size_t)1 << 30;

/* Of a Go program that is traced: the goroutine that writes the trace. */
static bool is_tracers(const struct tally *c, uint32_t group)
{
    static const char tracer[] = "runtime/trace.";
    const struct naming *n = c->of->names;
    const char *name = group < n->ngroups ? n->group(n->of, group) : "";
    return name[0] == 'r' && strncmp(name, tracer, sizeof tracer - 1) == 0;
}

/* Go's traces have no reason for being preempted but a text; a run has a number for each. */
static bool says(const struct tally *c, uint16_t reason, const char *word)
{
    return reason != 0 && strstr(tr_reason(c->of, reason), word) != NULL;
}

/* ---- before main.main ---- */

static void reset(struct tally *c)
{
    c->switches = c->parks = c->wakes = c->preempted = c->yielded = c->taken = c->running_ps = 0;
    hist_init(&c->wait, &c->arena, HIST_SAMPLES_DEFAULT);
    hist_init(&c->wake, &c->arena, HIST_SAMPLES_DEFAULT);
}

/* runtime.main waits until its sweeper and scavenger run: they wake it. */
static void start_up(struct tally *c, const struct tr_g *g, const struct g_now *next, uint64_t time)
{
    const struct tr_g *by = tr_find_g(c->of, g->now.by);
    if (g->now.state == GS_RUNNING) {
        if (next->state == GS_WAITING && c->init_pc == EVENT_NO_PC)
            c->init_pc = next->pc;
        c->starting = next->state == GS_WAITING && next->pc == c->init_pc;
    } else if (next->state == GS_RUNNING && (g->now.since == g->born || (by && by->group == 0))) {
        c->began_ps = time;
        reset(c);
    }
}

/* ---- counting ---- */

static void put_back(struct tally *c, const struct g_now *next)
{
    if (says(c, next->reason, "osched"))
        c->yielded++;
    else if (next->reason == c->of->preempted || says(c, next->reason, "preempted"))
        c->preempted++;
}

/* As a clock shows it that does not go on in between. */
static uint64_t shown(const struct tally *c, uint64_t time)
{
    return c->tick_ps > 0 ? time - time % c->tick_ps : time;
}

static void starts(struct tally *c, const struct tr_g *g, const struct g_now *next, uint64_t time)
{
    int64_t ns = (int64_t)((shown(c, time) - shown(c, g->now.since)) / PS_PER_NS);
    bool woken = g->now.reason == 0;
    c->switches++;
    hist_record(&c->wait, ns);
    if (!woken)
        return;
    if (g->now.since > g->born)
        hist_record(&c->wake, ns);
    if (g->now.p != TR_NONE && next->p != TR_NONE && g->now.p != next->p)
        c->taken++;
}

static void g_changes(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next,
                      uint64_t time)
{
    struct tally *c = arg;
    if (c->starting && next != NULL && id == TALLY_MAIN && g->now.state != GS_NOTEXIST)
        start_up(c, g, next, time);
    if (g->group == 0 || is_tracers(c, g->group))
        return;
    if (g->now.state == GS_RUNNING)
        c->running_ps += time - g->now.since;
    if (next == NULL)
        return;
    c->created += g->now.state == GS_NOTEXIST;
    if (g->now.state == GS_RUNNABLE && next->state == GS_RUNNING)
        starts(c, g, next, time);
    else if (g->now.state == GS_RUNNING && next->state == GS_RUNNABLE)
        put_back(c, next);
    c->parks += g->now.state == GS_RUNNING && next->state == GS_WAITING;
    c->wakes += g->now.state == GS_WAITING && next->state == GS_RUNNABLE;
}

bool tally_init(struct tally *c, struct transitions *t, bool from_start, struct failure *f)
{
    memset(c, 0, sizeof *c);
    c->of = t;
    if (arena_init(&c->arena, arena_max, 0, f) != 0)
        return false;
    c->starting = from_start;
    c->init_pc = EVENT_NO_PC;
    reset(c);
    transitions_listen(t, &(struct listener){.arg = c, .g = g_changes});
    return true;
}

void tally_release(struct tally *c) { arena_release(&c->arena); }
