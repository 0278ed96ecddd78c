/* SPDX-License-Identifier: BSD-3-Clause */
/* Can the program come to its end? What the passes concluded may be wrong in a way that no
 * schedule can satisfy: a write that comes after the read it is to make ready. Tokens, arrivals
 * and wait groups only ever get more, so the recording is played without time, each goroutine as
 * far as it gets, until nobody gets further: whoever is stuck then is stuck under every schedule.
 * Of their waits the one that was over first is replayed for as long as it was, and we go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "replay/infer.h"
#include "sim/base/alloc.h"

struct play {
    struct recording *r;
    struct rec_reader *at;  /* by goroutine */
    struct rec_entry *now;  /* the entry that it is at */
    uint8_t *state;         /* by goroutine, enum play_state */
    uint8_t *posted;        /* by wait */
    int64_t *count;         /* by object: arrivals not taken, members not done */
    uint32_t *write, *next; /* the writes of a goroutine, in order */
    uint32_t *todo;         /* goroutines to look at again: a ring without repetitions */
    uint32_t head, ntodo;
    uint8_t *listed;
    uint32_t *waiter;    /* by wait: who is stuck there */
    uint32_t *of_object; /* by object: the latest who is stuck at it */
};

enum play_state { NOT_YET, GOES, OVER };

static void list(struct play *p, uint32_t g)
{
    if (p->listed[g])
        return;
    p->listed[g] = true;
    p->todo[(p->head + p->ntodo++) % p->r->ngs] = g;
}

static void start(struct play *p, uint32_t g)
{
    if (p->r->gs[g].system || p->state[g] != NOT_YET)
        return;
    p->state[g] = GOES;
    rec_rewind(&p->at[g], p->r, g);
    p->now[g].what = REC_WHATS;
    list(p, g);
}

static bool is_token(const struct recording *r, const struct rec_wait *w)
{
    return w->how == HOW_TOKEN && w->waker != REC_NONE && !r->gs[w->waker].system;
}

/* False: not yet. */
static bool pass_wait(struct play *p, uint32_t g, uint32_t number)
{
    const struct rec_wait *w = &p->r->waits[number];
    if (w->level == 3)
        return true;
    if (is_token(p->r, w)) {
        p->waiter[number] = g;
        return p->posted[number];
    }
    if (w->how != HOW_NET && w->how != HOW_OBJECT)
        return true;
    if (w->how == HOW_NET && p->r->objects[w->object].level == 3)
        return true; /* as it was: the write is known */
    p->of_object[w->object] = g;
    if (w->how == HOW_OBJECT)
        return p->count[w->object] <= 0;
    if (p->count[w->object] == 0)
        return false;
    p->count[w->object]--;
    return true;
}

static void more(struct play *p, uint32_t object, int64_t by)
{
    p->count[object] += by;
    if (p->of_object[object] != REC_NONE)
        list(p, p->of_object[object]);
}

static void writes(struct play *p, uint32_t g)
{
    uint32_t i = p->write[g];
    if (i == REC_NONE)
        return;
    p->write[g] = p->next[i];
    if (p->r->writes[i].object != REC_NONE)
        more(p, p->r->writes[i].object, 1);
}

static void post(struct play *p, uint32_t number)
{
    p->posted[number] = true;
    if (p->waiter[number] != REC_NONE)
        list(p, p->waiter[number]);
}

static bool pass(struct play *p, uint32_t g, const struct rec_entry *e)
{
    switch (e->what) {
    case REC_WAIT: return pass_wait(p, g, (uint32_t)e->a);
    case REC_POST: post(p, (uint32_t)e->a); break;
    case REC_GO: start(p, (uint32_t)e->a); break;
    case REC_SYS:
        if (p->r->sites[e->b].leaf == LEAF_WRITE)
            writes(p, g);
        break;
    case REC_END:
        if (p->r->gs[g].done != REC_NONE)
            more(p, p->r->gs[g].done, -1);
        break;
    default: break;
    }
    return true;
}

/* Plays goroutine g's tape as far as it gets. */
static void play(struct play *p, uint32_t g)
{
    struct rec_entry *e = &p->now[g];
    for (;;) {
        if (e->what == REC_WHATS && !rec_next(&p->at[g], e))
            break;
        if (e->what == REC_WAIT && p->r->waits[e->a].woken == INT64_MAX)
            break;
        if (!pass(p, g, e))
            return;
        e->what = REC_WHATS;
    }
    p->state[g] = OVER;
}

/* The wait that was over first of those that are stuck; REC_NONE: nobody is. */
static uint32_t first_stuck(const struct play *p)
{
    uint32_t best = REC_NONE;
    for (uint32_t g = 0; g < p->r->ngs; g++)
        if (p->state[g] == GOES) {
            uint32_t w = (uint32_t)p->now[g].a;
            if (best == REC_NONE || p->r->waits[w].woken < p->r->waits[best].woken)
                best = w;
        }
    return best;
}

static void begin(struct play *p)
{
    struct recording *r = p->r;
    for (uint32_t i = 0; i < r->nobjects; i++)
        p->count[i] = r->objects[i].kind == OBJ_WAITGROUP ? r->objects[i].members : 0;
    rec_link_writes(r, p->write, p->next);
    for (uint32_t g = 0; g < r->ngs; g++) {
        uint32_t c = r->gs[g].creator;
        if (r->gs[g].born < 0 || c == REC_NONE || r->gs[c].system || r->gs[g].by_timer)
            start(p, g);
    }
}

static void *table(size_t n, size_t size, int fill)
{
    void *p = x_alloc((n + 1) * size);
    memset(p, fill, (n + 1) * size);
    return p;
}

void infer_feasible(struct recording *r, struct infer_found *f)
{
    struct play p = {.r = r,
                     .at = table(r->ngs, sizeof *p.at, 0),
                     .now = table(r->ngs, sizeof *p.now, 0),
                     .state = table(r->ngs, 1, 0),
                     .posted = table(r->nwaits, 1, 0),
                     .count = table(r->nobjects, sizeof *p.count, 0),
                     .write = table(r->ngs, sizeof *p.write, 0xff),
                     .next = table(r->nwrites, sizeof *p.next, 0xff),
                     .todo = table(r->ngs, sizeof *p.todo, 0),
                     .listed = table(r->ngs, 1, 0),
                     .waiter = table(r->nwaits, sizeof *p.waiter, 0xff),
                     .of_object = table(r->nobjects, sizeof *p.of_object, 0xff)};
    begin(&p);
    for (;;) {
        while (p.ntodo > 0) {
            uint32_t g = p.todo[p.head];
            p.head = (p.head + 1) % r->ngs;
            p.ntodo--;
            p.listed[g] = false;
            play(&p, g);
        }
        uint32_t w = first_stuck(&p);
        if (w == REC_NONE)
            break;
        r->waits[w].how = HOW_OUTSIDE;
        r->waits[w].as_long = true;
        r->waits[w].level = 1;
        f->count++;
        list(&p, r->waits[w].g);
    }
    f->of = r->nwaits;
    if (f->count == 0)
        f->of = 0;
    snprintf(f->text, sizeof f->text, "replayed for as long as they were");
    free(p.at);
    free(p.now);
    free(p.state);
    free(p.posted);
    free(p.count);
    free(p.write);
    free(p.next);
    free(p.todo);
    free(p.listed);
    free(p.waiter);
    free(p.of_object);
}
