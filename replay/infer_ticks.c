/* SPDX-License-Identifier: BSD-3-Clause */
/* Work by the clock. A goroutine that does something every so often, until it is told to stop or
 * for ever, did it so many times because the recording was so long; at other settings it would do
 * it more or less often, and nobody waits for the rest. Such rounds (of a ticker in a select, of
 * sleeps or timers at one place) are played by a goroutine of their own that nobody waits for,
 * while the goroutine itself goes on to the wait that ended them: for the other case of the select,
 * or for ever. What others wait for in the rounds, they go on waiting for.
 *
 * A select with a new timer each time (time.After) is known by its place, one of a ticker by that.
 *
 * Only the last rounds of a goroutine: where more follow, what came between is as much a part of
 * them as the clock is. And two of them at least: one is a timeout. */
#include <stdio.h>

#include "replay/infer.h"
#include "replay/reason.h"
#include "sim/base/alloc.h"

enum { ROUNDS_MIN = 2, CASES_MAX = 64 };
#define BY_OBJECT (UINT64_C(1) << 32) /* a key is a ticker's object, else a site */
#define BY_SELECT (UINT64_C(1) << 33) /* ... or a select that has a new timer each time */
#define NO_KEY    UINT64_MAX

struct scan {
    struct recording *r;
    uint32_t g, at; /* the entry */
    uint32_t op_at; /* the select or the sleep that the next wait belongs to */
    uint64_t site;  /* of the deeds */
    uint64_t made;  /* the timer that was made last, object + 1 */
    uint32_t cases[CASES_MAX];
    uint32_t ncases;
    struct rec_loop loop; /* the rounds so far, and what ended them */
    uint64_t key;
    bool over;
};

static void round_of(struct scan *s, uint64_t key, uint32_t at)
{
    if (s->key != key || s->over)
        s->loop = (struct rec_loop){.g = s->g, .first = at};
    s->key = key;
    s->over = false;
    s->loop.rounds++;
}

static void ends(struct scan *s, uint64_t key, uint32_t at)
{
    if (s->key != key || s->over)
        return;
    s->over = true;
    s->loop.last = at;
}

/* ---- of a deep recording: selects ---- */

static void selected(struct scan *s, int64_t chosen)
{
    if (chosen < 0 || chosen >= s->ncases || chosen >= CASES_MAX)
        return;
    uint32_t object = s->cases[chosen];
    if (object == REC_NONE)
        return;
    if (s->r->objects[object].timer) {
        bool is_new = object + UINT64_C(1) == s->made;
        round_of(s, is_new ? BY_SELECT | s->site : BY_OBJECT | object, s->op_at);
        s->made = 0;
        return;
    }
    ends(s, BY_SELECT | s->site, s->op_at);
    for (uint32_t i = 0; i < s->ncases && i < CASES_MAX; i++)
        if (s->cases[i] != REC_NONE)
            ends(s, BY_OBJECT | s->cases[i], s->op_at);
}

static void look_at_deed(struct scan *s, const struct rec_entry *e)
{
    enum rec_deed deed = (enum rec_deed)(e->a & 0xff);
    switch (deed) {
    case DEED_select:
        s->ncases = 0;
        s->op_at = s->at;
        break;
    case DEED_sleep: s->op_at = s->at; break;
    case DEED_timer: s->made = e->b; break;
    case DEED_selsend:
    case DEED_selrecv:
        if (s->ncases < CASES_MAX)
            s->cases[s->ncases] = deed == DEED_selrecv && e->b != 0 ? (uint32_t)(e->b - 1)
                                                                    : REC_NONE;
        s->ncases++;
        break;
    case DEED_selected: selected(s, rec_signed(e->a >> 8)); break;
    default: break;
    }
}

/* ---- waits ---- */

/* The wait that is never over: the rounds went on when the recording ended. */
static void never(struct scan *s, const struct rec_wait *w)
{
    bool deep = w->level == 3;
    ends(s, w->site, deep ? s->op_at : s->at);
    if (deep && w->reason == REASON_Select)
        ends(s, BY_SELECT | s->site, s->op_at);
    for (uint32_t i = 0; deep && w->reason == REASON_Select && i < s->ncases && i < CASES_MAX; i++)
        if (s->cases[i] != REC_NONE)
            ends(s, BY_OBJECT | s->cases[i], s->op_at);
}

static void wait(struct scan *s, const struct rec_wait *w)
{
    bool deep = w->level == 3;
    bool slept = w->reason == REASON_Sleep && w->waker == REC_NONE;
    if (w->woken == INT64_MAX)
        never(s, w);
    else if (deep ? slept : w->how == HOW_TIMER)
        round_of(s, w->site, deep ? s->op_at : s->at);
    else if (!deep && w->how == HOW_TOKEN && w->reason == REASON_Select && w->waker != REC_NONE)
        ends(s, w->site, s->at);
}

/* ---- the pass ---- */

static bool sends(const struct recording *r, const struct rec_entry *e)
{
    enum rec_deed deed = (enum rec_deed)(e->a & 0xff);
    if (e->what == REC_DEED)
        return deed == DEED_send || deed == DEED_signal || deed == DEED_broadcast;
    return e->what == REC_POST && r->sites[r->waits[e->a].by_site].leaf == LEAF_CHANSEND;
}

static void look_at_rounds(const struct recording *r, struct rec_loop *l)
{
    struct rec_reader rd;
    struct rec_entry e;
    rec_rewind(&rd, r, l->g);
    for (uint32_t at = 0; at < l->last && rec_next(&rd, &e); at++) {
        if (at < l->first)
            continue;
        l->sends |= sends(r, &e);
        if (e.what != REC_WAIT || r->waits[e.a].woken == INT64_MAX)
            continue;
        if (l->until == 0)
            l->from = r->waits[e.a].from;
        l->until = r->waits[e.a].woken;
    }
}

static void scan(struct recording *r, uint32_t g, struct infer_found *f)
{
    struct scan s = {.r = r, .g = g, .key = NO_KEY};
    struct rec_reader rd;
    struct rec_entry e;
    rec_rewind(&rd, r, g);
    for (; rec_next(&rd, &e); s.at++) {
        if (e.what == REC_SITE)
            s.site = e.a;
        else if (e.what == REC_DEED)
            look_at_deed(&s, &e);
        else if (e.what == REC_WAIT)
            wait(&s, &r->waits[e.a]);
    }
    if (s.loop.rounds < ROUNDS_MIN)
        return;
    f->of++;
    if (!s.over)
        return;
    f->count++;
    look_at_rounds(r, &s.loop);
    X_ROOM(r->loops, r->nloops, r->loops_room, 16);
    r->loops[r->nloops++] = s.loop;
    if ((s.key & BY_OBJECT) != 0)
        r->objects[s.key & ~BY_OBJECT].looped = true;
}

void infer_ticks(struct recording *r, struct infer_found *f)
{
    for (uint32_t g = 0; g < r->ngs; g++)
        if (!r->gs[g].system && r->gs[g].deals == REC_NONE)
            scan(r, g, f);
    snprintf(f->text, sizeof f->text,
             "goroutines that end so, of those that wait for the clock again and again");
}
