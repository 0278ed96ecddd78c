/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding is run once more with a listener at its turns. What a turn did is seen by looking at
 * its objects before it and after it; who a turn woke, by who waited before it and does not after
 * it. So nothing here knows how the runtime does any of that. */
#include "search/history.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/host.h"
#include "run/window.h"
#include "search/flip.h"
#include "sim/base/alloc.h"

enum { SENT_MAX = 1024, HELD_MAX = 256 };

/* Who waits, since when. */
struct pending {
    uint32_t goid;
    int32_t row;
};

/* Who has a lock. */
struct held {
    int64_t object;
    struct history_holder by;
};

struct watch {
    struct strategy s; /* answers as `inner` does, and sees the questions */
    struct strategy_replay inner;
    const struct program *program;
    struct history *h;
    struct flip_draws draws;
    struct history_row spare; /* stands for rows behind the last that there is room for */
    struct history_row *row;  /* that has not been finished; NULL: none */
    int32_t at;               /* its index, or ROW_NONE */
    struct look_object before[TURN_OBJECTS_MAX];
    struct look_doing doing;
    struct pending waits[HISTORY_GS_MAX];
    size_t nwaits;
    struct { /* elements in buffers: by whom they were sent */
        int32_t object, row;
    } sent[SENT_MAX];
    size_t nsent;
    struct held held[HELD_MAX];
    size_t nheld;
    bool preempts;
};

static const struct program *program_of(const struct watch *w) { return w->program; }

/* ---- looking into the explorer's world ---- */

static bool see_doing(const struct watch *w, uint32_t goid, struct look_doing *out)
{
    return host_explore.window->doing(core_explore.runtime(), program_of(w), goid, out);
}

static bool see_object(const struct watch *w, int64_t handle, struct look_object *out)
{
    return host_explore.window->object(core_explore.runtime(), program_of(w), handle, out);
}

/* ---- words ---- */

static const char *const op_words[OPS] = {
    [OP_WLOCK] = "lock",          [OP_WUNLOCK] = "unlock",     [OP_TRYWLOCK] = "trylock",
    [OP_WGADD] = "add",           [OP_WGDONE] = "done",        [OP_WGWAIT] = "wait",
    [OP_CWAIT] = "wait",          [OP_CSIGNAL] = "signal",     [OP_CBROADCAST] = "broadcast",
    [OP_LOADP] = "load",          [OP_STOREP] = "store",       [OP_LOADA] = "atomic load",
    [OP_STOREA] = "atomic store", [OP_ADDA] = "atomic add",    [OP_SWAPA] = "atomic swap",
    [OP_CASA] = "atomic cas",     [OP_CTXCANCEL] = "cancel",   [OP_CTXERR] = "err",
    [OP_TSTOP] = "timer stop",    [OP_TRESET] = "timer reset", [OP_RET] = "ends",
};

static void word_of(uint16_t op, char *buf, size_t size)
{
    snprintf(buf, size, "%s",
             op < OPS ? op_words[op] != NULL ? op_words[op] : op_infos[op].name : "?");
    for (char *c = buf; *c != 0; c++)
        *c = (char)tolower((unsigned char)*c);
}

static void append(char *buf, size_t size, const char *text)
{
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, "%s%s", n > 0 && text[0] != 0 ? ", " : "", text);
}

static void object_text(const struct watch *w, int64_t object, char *buf, size_t size)
{
    struct look_object o;
    buf[0] = 0;
    if (object == TURN_OBJECT_CLOCK)
        snprintf(buf, size, "time");
    else if (object > 0 && see_object(w, object, &o) && o.name[0] != 0)
        snprintf(buf, size, "%s", o.name);
    else if (object > 0 && see_object(w, object, &o))
        snprintf(buf, size, "%s #%" PRId64, o.kind_name, object);
}

static void objects_text(const struct watch *w, const struct history_row *r, char *buf, size_t size)
{
    buf[0] = 0;
    for (int i = 0; i < r->count; i++) {
        char one[64];
        if (i > 0 && r->object[i] < 0)
            continue;
        object_text(w, r->object[i], one, sizeof one);
        append(buf, size, one);
    }
}

static bool takes_lock(uint16_t op)
{
    return op == OP_LOCK || op == OP_WLOCK || op == OP_RLOCK || op == OP_TRYLOCK ||
           op == OP_TRYWLOCK || op == OP_TRYRLOCK || op == OP_ACQUIRE || op == OP_TRYACQUIRE ||
           op == OP_ONCE;
}

static bool tries(uint16_t op)
{
    return op == OP_TRYLOCK || op == OP_TRYWLOCK || op == OP_TRYRLOCK || op == OP_TRYACQUIRE;
}

static bool gives_lock(uint16_t op)
{
    return op == OP_UNLOCK || op == OP_WUNLOCK || op == OP_RUNLOCK || op == OP_RELEASE;
}

/* "free -> locked"; of several objects those that changed. */
static void change_text(const struct watch *w, struct history_row *r)
{
    for (int i = 0; i < r->count; i++) {
        struct look_object now;
        char text[140] = "";
        const struct look_object *was = &w->before[i];
        if (r->object[i] <= 0 || !see_object(w, r->object[i], &now) || now.state[0] == 0)
            continue;
        bool same = strcmp(was->state, now.state) == 0;
        if (r->op == OP_LOADP || r->op == OP_LOADA)
            snprintf(text, sizeof text, "= %s", now.state);
        else if (!same && gives_lock(r->op) && r->fatal) /* half done */
            snprintf(text, sizeof text, "%s", was->state);
        else if (!same)
            snprintf(text, sizeof text, "%s%s%s -> %s", r->count > 1 ? now.name : "",
                     r->count > 1 ? " " : "", was->state, now.state);
        else if (r->count == 1)
            snprintf(text, sizeof text, "%s", now.state);
        append(r->state, sizeof r->state, text);
    }
}

/* ---- locks and who has them ---- */

static void hold(struct watch *w, int64_t object, const struct history_row *r, int32_t row)
{
    struct history *h = w->h;
    if (w->nheld < HELD_MAX)
        w->held[w->nheld++] = (struct held){object, {r->goid, r->line, row}};
    if (h->nholds < HISTORY_HOLDS_MAX && row != ROW_NONE)
        h->holds[h->nholds++] = (struct history_hold){object, r->goid, row,
                                                      r->op == OP_RLOCK || r->op == OP_TRYRLOCK};
}

/* Drops one holder of the object: goid, or else any, as another goroutine may unlock a Mutex. */
static void let_go(struct watch *w, int64_t object, uint32_t goid)
{
    size_t at = w->nheld;
    for (size_t i = 0; i < w->nheld; i++)
        if (w->held[i].object == object && (at == w->nheld || w->held[i].by.goid == goid))
            at = i;
    if (at == w->nheld)
        return;
    w->nheld--;
    memmove(w->held + at, w->held + at + 1, (w->nheld - at) * sizeof *w->held);
}

static int64_t lock_of_cond(const struct watch *w, int64_t cond)
{
    struct look_object o;
    return see_object(w, cond, &o) ? o.lock : 0;
}

/* The instruction of the row is done. */
static void took(struct watch *w, const struct history_row *r, int32_t row)
{
    struct look_object now;
    if (r->count == 0 || r->object[0] <= 0)
        return;
    if (r->op == OP_CWAIT)
        hold(w, lock_of_cond(w, r->object[0]), r, row);
    if (!takes_lock(r->op))
        return;
    bool got = !tries(r->op) ||
               (see_object(w, r->object[0], &now) && now.number != w->before[0].number);
    if (got && !(r->op == OP_ONCE && w->before[0].number != 0))
        hold(w, r->object[0], r, row);
}

/* ---- what was read from whom ---- */

static bool is_send(const struct history_row *r) { return r->op == OP_SEND; }

static int32_t sent_first(struct watch *w, int32_t object)
{
    for (size_t i = 0; i < w->nsent; i++)
        if (w->sent[i].object == object) {
            int32_t row = w->sent[i].row;
            w->nsent--;
            memmove(w->sent + i, w->sent + i + 1, (w->nsent - i) * sizeof *w->sent);
            return row;
        }
    return ROW_NONE;
}

static void sent_put(struct watch *w, int32_t object, int32_t row)
{
    if (w->nsent < SENT_MAX) {
        w->sent[w->nsent].object = object;
        w->sent[w->nsent++].row = row;
    }
}

static bool writes_var(uint16_t op) { return op >= OP_STOREP && op <= OP_CASA && op != OP_LOADA; }

static bool reads_var(uint16_t op) { return op >= OP_LOADP && op <= OP_CASA; }

static int32_t last_write(const struct history *h, int32_t object, int32_t before)
{
    for (int32_t i = before - 1; i >= 0; i--)
        if (h->rows[i].count > 0 && h->rows[i].object[0] == object && writes_var(h->rows[i].op))
            return i;
    return ROW_NONE;
}

/* The row whose turn ended the wait of this one, if they meet on a channel. */
static void meet(struct watch *w, struct history_row *waited, int32_t at)
{
    struct history_row *r = w->row;
    if (r == NULL || w->at == ROW_NONE)
        return;
    waited->woken_by = w->at;
    if (waited->op != OP_SEND && waited->op != OP_RECV && waited->op != OP_SELECT)
        return;
    bool sends = is_send(waited);
    for (int i = 0; i < r->count; i++)
        for (int k = 0; k < waited->count; k++) {
            if (r->object[i] <= 0 || r->object[i] != waited->object[k])
                continue;
            if (sends && !is_send(r) && w->before[i].number == 0)
                r->from = at; /* hand to hand */
            else if (sends && r->op != OP_CLOSE)
                sent_put(w, r->object[i], at); /* into the place that became free */
            else if (!sends)
                waited->from = w->at;
            return;
        }
}

/* Of a turn that did not have to wait: elements that went into a buffer or came out of one. */
static void count_elements(struct watch *w)
{
    struct history_row *r = w->row;
    for (int i = 0; i < r->count; i++) {
        struct look_object now;
        if (r->object[i] <= 0 || !see_object(w, r->object[i], &now) || now.kind != OBJ_CHAN)
            continue;
        int64_t more = now.number - w->before[i].number;
        if (more > 0)
            sent_put(w, r->object[i], w->at);
        else if (r->from == ROW_NONE && (more < 0 || w->before[i].number > 0) &&
                 (r->op == OP_RECV || (r->op == OP_SELECT && more < 0)))
            r->from = sent_first(w, r->object[i]);
    }
}

/* ---- what changed nothing ---- */

/* A turn that changed nothing after all: a select that took its default, a signal to nobody, a wait
 * that was none. A strategy would have to know before; who asks what could be the other way round
 * may know it afterwards. */
static bool only_looked(const struct watch *w, const struct history_row *r)
{
    bool may = r->op == OP_SELECT || tries(r->op) || r->op == OP_CASA || r->op == OP_CSIGNAL ||
               r->op == OP_CBROADCAST || r->op == OP_WGWAIT;
    if (!may || r->waits || (r->op == OP_SELECT && !(r->chose && r->took < 0)))
        return false;
    for (int i = 0; i < r->count; i++) {
        struct look_object now;
        if (r->object[i] > 0 && see_object(w, r->object[i], &now) &&
            strcmp(now.state, w->before[i].state) != 0)
            return false;
    }
    return true;
}

/* ---- rows ---- */

static struct pending *pending_of(struct watch *w, uint32_t goid)
{
    for (size_t i = 0; i < w->nwaits; i++)
        if (w->waits[i].goid == goid)
            return &w->waits[i];
    return NULL;
}

/* Closes the rows whose waits have ended since the last look. */
static void look_at_waits(struct watch *w)
{
    for (size_t i = 0; i < w->nwaits;) {
        struct pending *p = &w->waits[i];
        struct history_row *r = p->row != ROW_NONE ? &w->h->rows[p->row] : NULL;
        struct look_doing d = {0};
        bool there = see_doing(w, p->goid, &d);
        if (r != NULL && there && d.waits && d.busy) {
            r->woken_by = ROW_NONE; /* in vain, if it was */
            i++;
            continue;
        }
        if (r != NULL && r->woken_by == ROW_NONE)
            meet(w, r, p->row);
        if (r != NULL && there && d.busy && d.pc == r->pc) {
            i++;
            continue;
        }
        if (r != NULL)
            took(w, r, p->row);
        if (r != NULL && r->op == OP_SELECT)
            r->chose = ex_took(r->goid, &r->took);
        *p = w->waits[--w->nwaits];
    }
}

static void find_child(struct watch *w)
{
    struct history *h = w->h;
    size_t n;
    struct run_g *gs = host_explore.window->gs(core_explore.runtime(), program_of(w), false, &n);
    for (size_t i = 0; i < n && h->ngs < HISTORY_GS_MAX; i++)
        if (history_column(h, (uint32_t)gs[i].goid) < 0) {
            struct history_g *g = &h->gs[h->ngs++];
            *g = (struct history_g){
                .goid = (uint32_t)gs[i].goid, .begun_by = (uint32_t)w->at, .first = ROW_NONE};
            snprintf(g->name, sizeof g->name, "%s", gs[i].is->group);
        }
    free(gs);
}

static void finish_row(struct watch *w)
{
    struct history_row *r = w->row;
    struct look_doing d = {0};
    if (r == NULL)
        return;
    if (r->goid == 0) {
        look_at_waits(w);
        w->row = NULL;
        return;
    }
    r->waits = see_doing(w, r->goid, &d) && d.waits && d.busy && d.pc == r->pc;
    if (r->op == OP_SELECT && !r->waits)
        r->chose = ex_took(r->goid, &r->took);
    r->reads |= only_looked(w, r);
    change_text(w, r);
    look_at_waits(w);
    if (gives_lock(r->op) && r->count > 0)
        let_go(w, r->object[0], r->goid);
    if (r->op == OP_CWAIT && r->count > 0)
        let_go(w, lock_of_cond(w, r->object[0]), r->goid);
    if (w->at != ROW_NONE)
        count_elements(w);
    if (r->op == OP_GO && w->at != ROW_NONE)
        find_child(w);
    if (r->waits && w->nwaits < HISTORY_GS_MAX && pending_of(w, r->goid) == NULL)
        w->waits[w->nwaits++] = (struct pending){r->goid, w->at};
    else if (!r->waits)
        took(w, r, w->at);
    w->row = NULL;
}

static uint32_t goid_before(const struct watch *w)
{
    return w->h->count > 0 ? w->h->rows[w->h->count - 1].goid : 0;
}

static struct history_row *new_row(struct watch *w)
{
    struct history *h = w->h;
    uint32_t before = goid_before(w);
    h->cut |= h->count == HISTORY_ROWS_MAX;
    w->at = h->cut ? ROW_NONE : (int32_t)h->count;
    w->row = h->cut ? &w->spare : &h->rows[h->count++];
    *w->row = (struct history_row){.from = ROW_NONE, .woken_by = ROW_NONE};
    w->row->preempts = w->preempts;
    w->row->switched = before != 0;
    w->preempts = false;
    return w->row;
}

static void new_column(struct watch *w, uint32_t goid)
{
    struct history *h = w->h;
    int at = history_column(h, goid);
    if (at < 0 && h->ngs < HISTORY_GS_MAX) {
        at = (int)h->ngs++;
        h->gs[at] = (struct history_g){.goid = goid, .begun_by = UINT32_MAX, .first = ROW_NONE};
        snprintf(h->gs[at].name, sizeof h->gs[at].name, "%s",
                 w->doing.group != NULL ? w->doing.group : "");
    }
    if (at >= 0 && h->gs[at].first == ROW_NONE)
        h->gs[at].first = w->at;
}

void history_row_of(const struct program *p, const struct turn_does *d, struct history_row *r)
{
    const struct watch w = {.program = p};
    r->goid = d->goid;
    r->pc = d->pc;
    r->op = d->op;
    r->line = p->lines != NULL ? p->lines[d->pc] : 0;
    r->reads = d->reads;
    r->resumes = d->resumes;
    r->count = d->count;
    memcpy(r->object, d->object, sizeof r->object);
    word_of(d->op, r->what, sizeof r->what);
    if (d->op == OP_GO)
        snprintf(r->on, sizeof r->on, "%.60s", p->funcs[p->code[d->pc].d].name);
    else
        objects_text(&w, r, r->on, sizeof r->on);
}

static void watch_turn(struct watch *w, const struct turn_does *d)
{
    char value[32];
    finish_row(w);
    uint32_t before = goid_before(w);
    struct history_row *r = new_row(w);
    w->doing = (struct look_doing){0};
    (void)see_doing(w, d->goid, &w->doing);
    r->switched = before != 0 && before != d->goid;
    history_row_of(w->program, d, r);
    r->line = w->doing.line;
    for (int i = 0; i < r->count; i++) {
        w->before[i] = (struct look_object){.name = ""};
        if (r->object[i] > 0)
            (void)see_object(w, r->object[i], &w->before[i]);
    }
    if (d->op == OP_SEND) {
        snprintf(value, sizeof value, "%" PRId64, w->doing.value);
        append(r->state, sizeof r->state, value);
    }
    if (reads_var(d->op) && w->at != ROW_NONE && r->count > 0)
        r->from = last_write(w->h, r->object[0], w->at);
    new_column(w, d->goid);
}

static void watch_time(struct watch *w)
{
    finish_row(w);
    struct history_row *r = new_row(w);
    r->op = OP_SLEEP;
    r->count = 1;
    r->object[0] = TURN_OBJECT_CLOCK;
    snprintf(r->what, sizeof r->what, "time passes");
}

/* ---- the strategy that looks on ---- */

static bool watch_begin(struct strategy *s)
{
    struct watch *w = (struct watch *)s;
    return w->inner.s.begin(&w->inner.s);
}

static uint32_t watch_pick(struct strategy *s, const struct choice *c)
{
    struct watch *w = (struct watch *)s;
    uint32_t pick = w->inner.s.pick(&w->inner.s, c);
    bool clock = c->kind == CHOICE_TURN && c->clock && pick == c->n - 1;
    if (clock)
        watch_time(w);
    if (c->kind == CHOICE_TURN)
        w->preempts = c->preempts && pick != 0 && !clock;
    if (c->kind == CHOICE_DRAW)
        flip_draw(&w->draws, goid_before(w), c->n, pick, w->row != NULL ? w->at : ROW_NONE);
    return pick;
}

static void watch_end(struct strategy *s, bool complete)
{
    struct watch *w = (struct watch *)s;
    w->inner.s.end(&w->inner.s, complete);
}

/* ---- who is stuck ---- */

static int64_t waits_for(const struct watch *w, const struct look_doing *d)
{
    if (d->count == 0)
        return 0;
    bool lock = strncmp(d->reason, "sync.Mutex", 10) == 0 || strncmp(d->reason, "sync.RW", 7) == 0;
    int64_t of_cond = lock ? lock_of_cond(w, d->object[0]) : 0;
    return of_cond != 0 ? of_cond : d->object[0];
}

static void stuck_holders(const struct watch *w, struct history_stuck *s)
{
    for (size_t i = 0; i < w->nheld && s->holders < HOLDERS_SHOWN; i++)
        if (s->object != 0 && w->held[i].object == s->object)
            s->holder[s->holders++] = w->held[i].by;
}

static int32_t since_of(const struct history *h, uint32_t goid)
{
    for (size_t i = h->count; i > 0; i--)
        if (h->rows[i - 1].goid == goid)
            return h->rows[i - 1].waits ? (int32_t)i - 1 : ROW_NONE;
    return ROW_NONE;
}

static void add_stuck(struct watch *w, const struct run_g *g)
{
    struct look_doing d = {0};
    struct look_object o;
    struct history_stuck *s = &w->h->stuck[w->h->nstuck++];
    *s = (struct history_stuck){.goid = (uint32_t)g->goid,
                                .line = g->is->line,
                                .since = since_of(w->h, (uint32_t)g->goid),
                                .leaked = g->is->stranded};
    snprintf(s->name, sizeof s->name, "%s", g->is->group);
    snprintf(s->reason, sizeof s->reason, "%s", g->is->reason);
    if (!see_doing(w, s->goid, &d))
        return;
    s->object = waits_for(w, &d);
    for (uint32_t i = 0; i < d.count; i++) {
        char one[64];
        object_text(w, d.count == 1 ? s->object : d.object[i], one, sizeof one);
        append(s->on, sizeof s->on, one);
    }
    if (d.count == 1 && see_object(w, s->object, &o))
        snprintf(s->state, sizeof s->state, "%s", o.state);
    stuck_holders(w, s);
}

/* Where others go round for ever, or stand in a circle of locks, who is blocked stays so. */
static void find_stuck(struct watch *w, const struct explored *e)
{
    const struct run_result *q = &e->result;
    bool dead = e->cycle.length != 0 || strcmp(e->verdict.what, "deadlock") == 0 ||
                q->end == END_IDLE || q->end == END_TIME;
    w->h->stuck = x_alloc((q->ngs + 1) * sizeof *w->h->stuck);
    for (size_t i = 0; i < q->ngs; i++)
        if (q->gs[i].is->stranded || (dead && q->gs[i].is->blocked))
            add_stuck(w, &q->gs[i]);
}

static const struct history_stuck *stuck_of(const struct history *h, uint32_t goid)
{
    for (size_t i = 0; i < h->nstuck; i++)
        if (h->stuck[i].goid == goid)
            return &h->stuck[i];
    return NULL;
}

/* From holder to holder; a goroutine that comes twice closes a cycle. */
static bool cycle_from(struct history *h, const struct history_stuck *s)
{
    uint32_t first = s->goid;
    snprintf(h->cycle, sizeof h->cycle, "g%" PRIu32, first);
    for (size_t steps = 0; steps <= h->nstuck && s != NULL && s->holders > 0; steps++) {
        size_t n = strlen(h->cycle);
        snprintf(h->cycle + n, sizeof h->cycle - n, " -> %s -> g%" PRIu32, s->on,
                 s->holder[0].goid);
        if (s->holder[0].goid == first)
            return true;
        s = stuck_of(h, s->holder[0].goid);
    }
    h->cycle[0] = 0;
    return false;
}

/* ---- all of it ---- */

struct both {
    struct watch watch;
    struct flip flip;
    bool flips;
    uint64_t last; /* turn that was told */
};

static void turn(void *arg, const struct turn_does *d)
{
    struct both *b = arg;
    if (d->turn == b->last)
        return; /* told twice: once more after the runtime's own goroutines had run */
    b->last = d->turn;
    if (b->flips)
        flip_turn(&b->flip, d);
    else
        watch_turn(&b->watch, d);
}

/* The program ended in this turn: what a page says of it behind what the turn did. */
static const char *last_words(const struct explored *e)
{
    if (e->result.end != END_FINDING)
        return NULL;
    switch ((enum finding_kind)e->result.kind) {
    case FIND_PANIC: return "panics";
    case FIND_FATAL: return "fatal error";
    case FIND_ASSERT: return "then its assertion fails";
    case FIND_NONE:
    case FIND_DEADLOCK:
    case FIND_THREADS:
    case FIND_INVARIANT:
    case FIND_LIMIT:
    case FIND_EXIT:
    case FIND_KINDS: break;
    }
    return NULL;
}

static bool run_watched(struct failure *f, struct both *b, struct explored *e,
                        const struct finding *x)
{
    struct watch *w = &b->watch;
    w->s = (struct strategy){.name = "watch",
                             .wants_time = x->timed,
                             .begin = watch_begin,
                             .pick = watch_pick,
                             .end = watch_end};
    finding_answers(x, /*strict*/ false, &w->inner);
    if (!explored_run(e, &w->s)) {
        if (!explored_refused(f, e))
            fail(f, E_SCHEDULE, "the schedule has nothing to run");
        return false;
    }
    if (w->row != NULL && w->row->goid != 0) {
        w->row->last = last_words(e);
        w->row->fatal = e->result.kind == FIND_FATAL;
    }
    finish_row(w);
    if (strcmp(e->verdict.what, x->verdict.what) != 0) {
        fail(f, E_SCHEDULE, "the schedule ends otherwise: %s", e->verdict.what);
        return false;
    }
    find_stuck(w, e);
    for (size_t i = 0; i < w->h->nstuck && !cycle_from(w->h, &w->h->stuck[i]); i++)
        ;
    return true;
}

/* ---- operations of Ms ---- */

enum { LONGER = 2 }; /* a turn is a step at least */
enum { EVENTS_MAX = 1 << 17, EVENTS_SHOWN = 120 };

static bool name_of(const void *addr, char *buf, size_t size)
{
    char name[LOOK_NAME_SIZE];
    snprintf(buf, size, "%s",
             host_explore.window->name(core_explore.runtime(), (uintptr_t)addr, name));
    return true;
}

static void print_trace(FILE *to, size_t rows_max)
{
    const struct ex_print how = {.width = 160, .rows_max = rows_max};
    ex_namer(name_of);
    ex_trace_print(to, &how);
    ex_namer(NULL);
}

static void take_trace(struct history *h)
{
    size_t size = 0;
    FILE *to = x_memstream(&h->trace, &size);
    print_trace(to, EVENTS_SHOWN);
    x_memstream_close(to, &h->trace);
}

bool history_trace_ops(struct failure *f, const struct finding *x, FILE *to, size_t rows_max)
{
    static struct explored e;
    struct strategy_replay r;
    if (!explored_open(f, &e, &x->world))
        return false;
    struct ex_event *events = x_alloc(EVENTS_MAX * sizeof *events);
    ex_trace(events, EVENTS_MAX);
    finding_answers(x, /*strict*/ false, &r);
    bool ok = explored_run(&e, &r.s) || !explored_refused(f, &e);
    print_trace(to, rows_max);
    ex_trace(NULL, 0);
    free(events);
    explored_close(&e);
    return ok;
}

bool history_make(struct failure *f, const struct finding *x, uint64_t flips_max, struct history *h)
{
    static struct explored e;
    struct explored_opts o = x->world;
    struct both *b = x_alloc(sizeof *b);
    memset(b, 0, sizeof *b);
    *h = (struct history){.program = &x->world.scenario->program,
                          .rows = x_alloc(HISTORY_ROWS_MAX * sizeof *h->rows),
                          .holds = x_alloc(HISTORY_HOLDS_MAX * sizeof *h->holds)};
    b->watch.h = h;
    b->watch.program = &x->world.scenario->program;
    o.turn = turn;
    o.turn_arg = b;
    if (LONGER * x->steps < o.steps_max) /* another order that takes much longer ends otherwise */
        o.steps_max = LONGER * x->steps;
    bool op = o.granularity == GRANULARITY_OP;
    struct ex_event *events = op ? x_alloc(EVENTS_MAX * sizeof *events) : NULL;
    bool ok = explored_open(f, &e, &o);
    if (ok) {
        ex_trace(events, EVENTS_MAX);
        ok = run_watched(f, b, &e, x);
        if (ok && op)
            take_trace(h);
        ex_trace(NULL, 0);
        b->flips = true;
        if (ok && o.granularity == GRANULARITY_SYNC && !h->cut)
            flip_all(&b->flip, &e, h, &b->watch.draws, x->verdict.what, flips_max);
        ok = ok && !explored_refused(f, &e);
        explored_close(&e);
    }
    free(events);
    flip_draws_free(&b->watch.draws);
    free(b);
    if (!ok)
        history_free(h);
    return ok;
}

void history_free(struct history *h)
{
    free(h->rows);
    free(h->holds);
    free(h->stuck);
    free(h->trace);
    *h = (struct history){0};
}

int history_column(const struct history *h, uint32_t goid)
{
    for (size_t i = 0; i < h->ngs; i++)
        if (h->gs[i].goid == goid)
            return (int)i;
    return -1;
}
