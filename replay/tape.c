/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording becomes a program.
 *
 *     main        plays the root's tape: the goroutine that went on when the window opened, or one
 *                 of our own
 *     root        starts the goroutines that there were, waits until they stand where they stood,
 *                 says "instant 0", lets those go on that could, does what was recorded of it, and
 *                 waits until every other goroutine has done all that was recorded
 *     the others  as recorded; who lives on at the end waits for ever
 *
 * A goroutine's running time becomes CPU less what the tracer took; what a wake means is decided by
 * how the wait was explained (recording.h). */
#include "replay/tape.h"

#include <stdlib.h>
#include <string.h>

#include "replay/tape_int.h"
#include "sim/base/alloc.h"

enum { NAMES_MAX = 60000, START_PERCENT = TAPE_START_PERCENT };
enum { STREAM_FIRST = 1 << 16 };

/* ---- bytes ---- */

void tape_emit(struct tp *t, enum op op, int a, int b, int c, int32_t d, int64_t imm)
{
    struct insn in = {(uint8_t)op, (uint8_t)a, (uint8_t)b, (uint8_t)c, d, imm};
    struct stream *to = t->to;
    if (to->used + TAPE_ENTRY_MAX > to->bytes.room) {
        spill_grow(&to->bytes, to->used + TAPE_ENTRY_MAX + STREAM_FIRST);
        spill_rest(&to->bytes);
    }
    to->used += tape_put((uint8_t *)to->bytes.at + to->used, &in);
}

void tape_emit_obj(struct tp *t, enum op op, uint32_t object)
{
    tape_emit(t, op, 0, 0, 0, (int32_t)object, 0);
}

static void emit_const(struct tp *t, int reg, int64_t v)
{
    tape_emit(t, OP_CONST, reg, 0, 0, 0, v);
}

static void emit_event(struct tp *t, enum op op, uint8_t reason, uint64_t e)
{
    tape_emit(t, op, reason, 0, 0, 0, (int64_t)e);
}

/* ---- numbers of things ---- */

/* Events: the waits' numbers, then one that never happens, then the start of each goroutine that
 * could go on when the window opened. */
static uint64_t event_never(const struct tp *t) { return t->r->nwaits; }
static uint64_t event_start(const struct tp *t, uint32_t g)
{
    return (uint64_t)t->r->nwaits + 1 + t->start_of[g];
}

static bool plays(const struct tp *t, uint32_t g) { return !t->r->gs[g].system; }

static bool was_there(const struct tp *t, uint32_t g)
{
    return plays(t, g) && g != t->root && t->r->gs[g].born < 0;
}

static bool could_go_on(const struct tp *t, uint32_t g)
{
    uint8_t s = t->r->gs[g].at_start;
    return was_there(t, g) && s != STATE_WAITING;
}

/* A goroutine that nobody of the program starts: by a timer of which no pass found who armed it, or
 * by the runtime. */
static bool comes_from_nowhere(const struct tp *t, uint32_t g)
{
    const struct rec_g *x = &t->r->gs[g];
    if (!plays(t, g) || x->born < 0 || g == t->root || t->armed[g])
        return false;
    return x->creator == REC_NONE || t->r->gs[x->creator].system;
}

/* ---- running time ---- */

void tape_burn(struct tp *t)
{
    int64_t ns = t->cpu - t->spent;
    t->cpu = 0;
    t->spent = ns < 0 ? -ns : 0; /* what did not fit comes off the next stretch */
    if (t->spent > t->o->wake_ns + t->o->event_ns)
        t->spent = t->o->wake_ns + t->o->event_ns;
    if (ns > 0)
        ns = ns / 1000 * t->demand + ns % 1000 * t->demand / 1000;
    if (ns > 0)
        tape_emit(t, OP_CPU, CPU_normal, NOREG, 0, -1, ns);
}

/* ---- entries ---- */

static void go(struct tp *t, uint32_t g)
{
    emit_const(t, TAPE_FREE, t->tape_of[g]);
    tape_emit(t, OP_GO, TAPE_FREE, 1, 0, (int32_t)t->func_of[g], -1);
}

static void arm(struct tp *t, const struct rec_arm *a)
{
    emit_const(t, TAPE_FREE, t->tape_of[a->child]);
    tape_emit(t, OP_TIMER, NOREG, NOREG, TAPE_FREE, (int32_t)t->func_of[a->child], a->after_ns);
}

/* Arms the timers that goroutine g armed when it began or ended this wait, or posted (`when`). */
static void arms(struct tp *t, uint32_t g, uint32_t wait, enum rec_when when)
{
    const struct recording *r = t->r;
    uint32_t low = 0, high = r->narms;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct rec_arm *a = &r->arms[mid];
        if (a->by < g || (a->by == g && (a->wait < wait || (a->wait == wait && a->when < when))))
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < r->narms && r->arms[low].by == g && r->arms[low].wait == wait &&
           r->arms[low].when == when;
         low++) {
        tape_burn(t);
        arm(t, &r->arms[low]);
    }
}

void tape_take(struct tp *t, uint32_t object, uint32_t writes)
{
    for (; writes > 0; writes--)
        tape_emit(t, OP_FDTAKE, NOREG, 0, 0, (int32_t)object, 0);
}

static void wait_outside(struct tp *t, const struct rec_wait *w)
{
    if (w->woken == INT64_MAX)
        emit_event(t, OP_EVWAIT, w->reason, event_never(t));
    else if (w->as_long)
        tape_emit(t, OP_SLEEP, 0, NOREG, 0, -1, w->woken > w->from ? w->woken - w->from : 1);
    else
        tape_emit(t, OP_SLEEPTO, 0, 0, 0, 0, w->woken > 0 ? w->woken : 0);
}

static void wait_token(struct tp *t, const struct rec_wait *w, uint32_t number)
{
    bool known = w->waker != REC_NONE && plays(t, w->waker);
    if (known && w->woken != INT64_MAX && t->o->free)
        tape_emit(t, OP_GOSCHED, 0, 0, 0, 0, 0);
    else if (known && w->woken != INT64_MAX)
        emit_event(t, w->brief ? OP_EVLOCK : OP_EVWAIT, w->reason, number);
    else
        wait_outside(t, w);
}

/* The wait's deed is played, unless what it waits for is not in the recording. */
static void wait_deep(struct tp *t, const struct rec_wait *w)
{
    t->spins = false;
    if (t->sleeps > 0 && w->reason == REASON_Sleep) {
        tape_emit(t, OP_SLEEP, 0, NOREG, 0, -1, t->sleeps);
        t->sleeps = 0;
        return;
    }
    if (!tape_is_outside(t, w)) {
        tape_pending(t);
        return;
    }
    t->pending = false;
    t->outside = true;
    tape_burn(t);
    wait_outside(t, w);
}

static void wait_in(struct tp *t, uint32_t number)
{
    const struct rec_wait *w = &t->r->waits[number];
    if (tape_is_token(t, w)) {
        t->pending = false;
        tape_burn(t);
        if (w->reason == REASON_Sleep && t->sleeps > 0)
            wait_deep(t, w);
        else
            wait_token(t, w, number);
        return;
    }
    if (w->level == 3) {
        wait_deep(t, w);
        return;
    }
    tape_burn(t);
    switch ((enum rec_how)w->how) {
    case HOW_TIMER: tape_emit(t, OP_SLEEP, 0, NOREG, 0, -1, w->sleep_ns); break;
    case HOW_NET:
        if (t->r->objects[w->object].tokens) {
            wait_outside(t, w);
            break;
        }
        tape_take(t, w->object, w->takes > 0 ? w->takes : 1);
        break;
    case HOW_OBJECT: tape_emit_obj(t, OP_WGWAIT, w->object); break;
    case HOW_OUTSIDE: wait_outside(t, w); break;
    default: wait_token(t, w, number); break;
    }
    if (w->cond && t->relock != REC_NONE && !t->o->no_deep)
        tape_emit_obj(t, OP_LOCK, t->relock);
    t->relock = REC_NONE;
}

static void post(struct tp *t, uint32_t number)
{
    const struct rec_wait *w = &t->r->waits[number];
    if (!plays(t, w->g))
        return;
    if (tape_is_token(t, w) || w->how == HOW_TOKEN) {
        tape_burn(t);
        emit_event(t, OP_EVPOST, 0, number);
    }
    if (w->woke_p)
        t->spent += t->o->wake_ns; /* of the time that follows */
}

static const struct rec_write *next_write(struct tp *t, uint32_t g)
{
    while (t->write_at[g] != REC_NONE) {
        const struct rec_write *w = &t->r->writes[t->write_at[g]];
        t->write_at[g] = t->write_next[t->write_at[g]];
        return w;
    }
    return NULL;
}

/* A write makes the other descriptor ready in the middle of the call. */
static void syscall(struct tp *t, uint32_t g, int64_t ns, uint32_t site)
{
    enum rec_leaf leaf = t->r->sites[site].leaf;
    const struct rec_write *w = leaf == LEAF_WRITE ? next_write(t, g) : NULL;
    tape_burn(t);
    if (t->io_post != REC_NONE) {
        tape_emit(t, OP_FDPOST, 0, NOREG, 0, (int32_t)t->io_post, ns / 2);
        t->io_post = REC_NONE;
    }
    if (w != NULL && w->object != REC_NONE)
        tape_emit(t, OP_FDPOST, 0, NOREG, 0, (int32_t)w->object, ns / 2);
    tape_emit(t, OP_SYSCALL, tape_is_off_cpu(t->r, site, ns), NOREG, 0, -1, ns);
}

static void span(struct tp *t, enum op op, uint32_t region)
{
    tape_emit(t, op, NOREG, op == OP_SPANB ? NOREG : 0, 0, (int32_t)region + 1, 0);
}

static void alloc(struct tp *t, int64_t bytes)
{
    if (!t->r->gc.replayed)
        return;
    tape_burn(t);
    tape_emit(t, OP_ALLOC, 0, NOREG, 0, -1, bytes);
    t->spent += t->o->alloc_ns;
}

/* What the tracer took for an entry, in percent of an event with its stack, before the instant that
 * the event says (the stack is made first) and after it (a start has none). */
static const struct cost_of {
    int before, after;
} cost_of[REC_WHATS] = {
    [REC_WAIT] = {100, START_PERCENT},
    [REC_POST] = {100, 0},
    [REC_GO] = {100, 0},
    [REC_SYS] = {100, START_PERCENT},
    [REC_YIELD] = {100, START_PERCENT},
    [REC_DEED] = {100, 0},
    [REC_BEGIN] = {100, 0},
    [REC_FINISH] = {100, 0},
    [REC_ALLOC] = {START_PERCENT, 0},
    [REC_END] = {START_PERCENT, 0},
};

/* Of a deed, by the format of the recording: the first looked up strings and whole stacks, and
 * wrote the cases of a select one by one; the third writes many deeds at once: 20 ns where nothing
 * else is done, twice that in programs that wait often. */
static int deed_percent(uint64_t format, enum rec_deed deed)
{
    static const struct {
        int deed, bare, part;
    } of[REC_FORMAT + 1] = {{100, 40, 40}, {100, 40, 40}, {64, 40, 8}, {38, 24, 8}};
    const bool part = deed == DEED_selsend || deed == DEED_selrecv || deed == DEED_seldefault;
    const size_t i = format < REC_FORMAT ? format : REC_FORMAT;
    return part ? of[i].part : rec_is_bare(deed) ? of[i].bare : of[i].deed;
}

int tape_event_percent(const struct recording *r, const struct rec_entry *e)
{
    return e->what == REC_DEED ? deed_percent(r->format, (enum rec_deed)(e->a & 0xff))
                               : cost_of[e->what].before;
}

int tape_event_after(const struct rec_entry *e) { return cost_of[e->what].after; }

static void event(struct tp *t, int percent) { t->spent += t->o->event_ns * percent / 100; }

static void entry(struct tp *t, uint32_t g, const struct rec_entry *e)
{
    if (e->what == REC_CPU) {
        t->cpu += t->spins ? 0 : (int64_t)e->a;
        return;
    }
    event(t, tape_event_percent(t->r, e));
    if (e->what != REC_WAIT && e->what != REC_SITE && e->what != REC_ALLOC)
        tape_pending(t);
    switch (e->what) {
    case REC_CPU: return;
    case REC_WAIT:
        arms(t, g, (uint32_t)e->a, WHEN_BLOCKS);
        wait_in(t, (uint32_t)e->a);
        arms(t, g, (uint32_t)e->a, WHEN_WAKES);
        break;
    case REC_POST:
        post(t, (uint32_t)e->a);
        arms(t, g, (uint32_t)e->a, WHEN_POSTS);
        break;
    case REC_GO:
        if (!plays(t, (uint32_t)e->a))
            return;
        tape_burn(t);
        go(t, (uint32_t)e->a);
        if (t->r->gs[e->a].woke_p)
            t->spent += t->o->wake_ns;
        break;
    case REC_SYS: syscall(t, g, (int64_t)e->a, (uint32_t)e->b); break;
    case REC_YIELD:
        tape_burn(t);
        tape_emit(t, OP_GOSCHED, 0, 0, 0, 0, 0);
        break;
    case REC_BEGIN:
    case REC_FINISH:
        tape_burn(t);
        span(t, e->what == REC_BEGIN ? OP_SPANB : OP_SPANE, (uint32_t)e->a);
        break;
    case REC_SITE:
        if (e->a != t->site)
            emit_const(t, TAPE_SITE, (int64_t)e->a + 1);
        t->site = (uint32_t)e->a;
        return;
    case REC_DEED: tape_deep(t, g, e->a, e->b); break;
    case REC_ALLOC: alloc(t, (int64_t)e->a); break;
    case REC_END:
    case REC_WHATS: break;
    }
    event(t, tape_event_after(e));
}

/* ---- whole tapes ---- */

static uint8_t last_reason(const struct recording *r, uint32_t g)
{
    uint32_t w = r->gs[g].last_wait;
    return w != REC_NONE ? r->waits[w].reason : (uint8_t)REASON_SelectNoCases;
}

/* ---- rounds by the clock ---- */

static void loop_of(struct tp *t, uint32_t g)
{
    const struct recording *r = t->r;
    t->loop = NULL;
    for (uint32_t low = 0, high = r->nloops; low < high && t->loop == NULL;) {
        uint32_t mid = low + (high - low) / 2;
        if (r->loops[mid].g == g)
            t->loop = &r->loops[mid];
        else if (r->loops[mid].g < g)
            low = mid + 1;
        else
            high = mid;
    }
    if (t->loop != NULL && r->gs[g].deals != REC_NONE)
        t->loop = NULL; /* what is done with an item is on another tape already */
}

static void turn_to(struct tp *t, struct stream *to)
{
    tape_pending(t);
    tape_burn(t);
    t->to = to;
    t->site = REC_NONE;
}

/* The rounds are a tape of their own: another goroutine plays it, for whose end nobody waits. */
static void loop_edge(struct tp *t, uint32_t g)
{
    if (t->at == t->loop->first) {
        turn_to(t, &t->own);
        emit_const(t, TAPE_FREE, (int64_t)t->loops_from + t->nloops);
        tape_emit(t, OP_GO, TAPE_FREE, 1, 0, (int32_t)t->func_of[g], -1);
        t->to = &t->loops;
        t->loop_starts[t->nloops++] = t->loops.used;
    } else if (t->at == t->loop->last) {
        turn_to(t, &t->loops);
        tape_emit(t, OP_RET, NOREG, 0, 0, 0, 0);
        t->to = &t->own;
    }
}

static void recorded(struct tp *t, uint32_t g)
{
    struct rec_reader rd;
    struct rec_entry e;
    rec_rewind(&rd, t->r, g);
    t->demand = t->r->nkinds > 0 ? t->r->kinds[t->r->gs[g].kind].demand : 1000;
    loop_of(t, g);
    for (t->at = 0; rec_next(&rd, &e); t->at++) {
        if (t->loop != NULL)
            loop_edge(t, g);
        /* The wait that was never over is the end. Nothing is put down of it: the item of a receive
         * would be played. */
        if (e.what == REC_WAIT && t->r->waits[e.a].woken == INT64_MAX) {
            t->pending = false;
            break;
        }
        entry(t, g, &e);
    }
    tape_pending(t);
    tape_burn(t);
    tape_item_end(t);
}

static void begin_tape(struct tp *t)
{
    t->to = &t->own;
    t->starts[t->ntapes++] = t->own.used;
    t->deed = 0;
    t->pending_item = t->relock = t->io_post = REC_NONE;
    t->cpu = t->spent = t->sleeps = 0;
    t->pending = t->spins = t->outside = false;
    t->site = REC_NONE;
}

static void other_tape(struct tp *t, uint32_t g)
{
    const struct rec_g *x = &t->r->gs[g];
    begin_tape(t);
    event(t, START_PERCENT);
    if (x->locked)
        tape_emit(t, OP_LOCKOS, 0, 0, 0, 0, 0);
    if (was_there(t, g))
        tape_emit_obj(t, OP_WGDONE, t->there);
    if (could_go_on(t, g))
        emit_event(t, OP_EVWAIT, REASON_Semacquire, event_start(t, g));
    recorded(t, g);
    if (x->done != REC_NONE)
        tape_emit_obj(t, OP_WGDONE, x->done);
    tape_emit_obj(t, OP_WGDONE, t->all);
    if (x->ended == INT64_MAX)
        emit_event(t, OP_EVWAIT, last_reason(t->r, g), event_never(t));
    tape_emit(t, OP_RET, NOREG, 0, 0, 0, 0);
}

static void add(struct tp *t, uint32_t group, int64_t n)
{
    tape_emit(t, OP_WGADD, NOREG, 0, 0, (int32_t)group, n);
}

/* What is to be marked, marked once, so that the next goal is known; and what came since. */
static void heap_there(struct tp *t)
{
    const struct rec_gc *gc = &t->r->gc;
    if (!gc->replayed)
        return;
    tape_emit(t, OP_ALLOC, 1, NOREG, 0, -1, gc->live);
    tape_emit(t, OP_GC, 0, 0, 0, 0, 0);
    if (gc->heap > gc->live)
        tape_emit(t, OP_ALLOC, 0, NOREG, 0, -1, gc->heap - gc->live);
}

static void set_the_stage(struct tp *t)
{
    uint32_t there = 0, others = 0;
    for (uint32_t g = 0; g < t->r->ngs; g++) {
        there += was_there(t, g);
        others += plays(t, g) && g != t->root;
    }
    add(t, t->all, others);
    for (uint32_t i = 0; i < t->r->nobjects; i++)
        if (t->r->objects[i].kind == OBJ_WAITGROUP && t->r->objects[i].members > 0)
            add(t, i, t->r->objects[i].members);
    tape_objects_there(t);
    heap_there(t);
    if (there == 0)
        return;
    add(t, t->there, there);
    for (uint32_t g = 0; g < t->r->ngs; g++)
        if (was_there(t, g))
            go(t, g);
    tape_emit_obj(t, OP_WGWAIT, t->there);
    tape_emit(t, OP_SLEEP, 0, NOREG, 0, -1, 1000000); /* the last of them parks */
}

static void curtain_up(struct tp *t)
{
    tape_emit(t, OP_TAPEZERO, 0, 0, 0, 0, 0);
    tape_emit(t, OP_SPANB, NOREG, NOREG, 0, 0, 0);
    for (uint32_t g = 0; g < t->r->ngs; g++) {
        if (could_go_on(t, g))
            emit_event(t, OP_EVPOST, 0, event_start(t, g));
        if (comes_from_nowhere(t, g)) {
            emit_const(t, TAPE_FREE, t->tape_of[g]);
            tape_emit(t, OP_AFTERTO, TAPE_FREE, 1, 0, (int32_t)t->func_of[g],
                      t->r->gs[g].born > 0 ? t->r->gs[g].born : 0);
        }
    }
    for (uint32_t i = 0; i < t->r->narms; i++)
        if (t->r->arms[i].by == REC_NONE)
            arm(t, &t->r->arms[i]);
}

static void root_tape(struct tp *t)
{
    begin_tape(t);
    set_the_stage(t);
    curtain_up(t);
    if (t->root != REC_NONE)
        recorded(t, t->root);
    if (t->root != REC_NONE && t->r->gs[t->root].done != REC_NONE)
        tape_emit_obj(t, OP_WGDONE, t->r->gs[t->root].done);
    tape_emit_obj(t, OP_WGWAIT, t->all);
    tape_emit(t, OP_SPANE, NOREG, 0, 0, 0, 0);
    tape_emit(t, OP_RET, NOREG, 0, 0, 0, 0);
}

/* ---- tables ---- */

/* Who went on when the window opened: of several, the main goroutine or the first. */
uint32_t tape_root(const struct recording *r)
{
    uint32_t best = REC_NONE;
    if (r->main_g != REC_NONE && !r->gs[r->main_g].system)
        return r->main_g;
    for (uint32_t g = 0; g < r->ngs; g++) {
        bool ran = r->gs[g].born < 0 && !r->gs[g].system && r->gs[g].at_start == STATE_RUNNING;
        if (ran && (best == REC_NONE || r->gs[g].id == 1))
            best = g;
    }
    return best;
}

static void link_all(struct tp *t)
{
    const struct recording *r = t->r;
    t->write_at = x_alloc((r->ngs + 1) * sizeof *t->write_at);
    t->write_next = x_alloc((r->nwrites + 1) * sizeof *t->write_next);
    t->io_at = x_alloc((r->ngs + 1) * sizeof *t->io_at);
    t->io_next = x_alloc((r->nios + 1) * sizeof *t->io_next);
    rec_link_writes(r, t->write_at, t->write_next);
    rec_link_reads(r, t->io_at, t->io_next);
}

static uint32_t func_named(struct tp *t, const char *name)
{
    if (name[0] == 0)
        name = "goroutine";
    uint32_t i = texts_number(&t->names, name);
    return i < NAMES_MAX ? i : 0;
}

static void number_goroutines(struct tp *t)
{
    const struct recording *r = t->r;
    uint32_t starts = 0, tape = NUMBER_OTHERS;
    t->tape_of = x_alloc((r->ngs + 1) * sizeof *t->tape_of);
    t->func_of = x_alloc((r->ngs + 1) * sizeof *t->func_of);
    t->start_of = x_alloc((r->ngs + 1) * sizeof *t->start_of);
    t->armed = x_alloc(r->ngs + 1);
    memset(t->armed, 0, r->ngs + 1);
    for (uint32_t i = 0; i < r->narms; i++)
        t->armed[r->arms[i].child] = true;
    for (uint32_t i = 0; i < r->nafters; i++)
        if (r->afters[i].child != REC_NONE)
            t->armed[r->afters[i].child] = true;
    for (uint32_t g = 0; g < r->ngs; g++) {
        t->tape_of[g] = plays(t, g) && g != t->root ? tape++ : NUMBER_ROOT;
        t->func_of[g] = plays(t, g) ? func_named(t, r->gs[g].name) : 0;
        t->start_of[g] = could_go_on(t, g) ? starts++ : 0;
    }
    t->nstarts = starts;
    tape_items_number(t, tape);
    t->loops_from = tape + t->items_all;
    t->loop_starts = x_alloc(((size_t)r->nloops + 1) * sizeof *t->loop_starts);
    t->starts = x_alloc(((size_t)tape + 1) * sizeof *t->starts);
}

static const char *const *region_names(struct tp *t, struct pool *pool)
{
    const char **out = pool_alloc(pool, (t->r->nregions + 1) * sizeof *out);
    out[0] = "recording";
    for (uint32_t i = 0; i < t->r->nregions; i++)
        out[i + 1] = pool_text(pool, t->r->regions[i]);
    return out;
}

/* TAPE_SITE is one more than the number, so that 0 is none. */
static void make_sites(const struct recording *r, struct program *p, struct pool *pool)
{
    const char **out = pool_alloc(pool, (r->nsites + 1) * sizeof *out);
    for (uint32_t i = 0; i < r->nsites; i++)
        out[i] = pool_text(pool, rec_site_text(r, i));
    p->sites = out;
    p->nsites = r->nsites;
}

/* Functions: the players by name, then main. */
static void make_code(struct tp *t, struct program *p, struct pool *pool)
{
    uint32_t n = t->names.count < NAMES_MAX ? t->names.count : NAMES_MAX;
    struct func *funcs = pool_alloc(pool, (n + 1) * sizeof *funcs);
    struct insn *code = pool_alloc(pool, (3 * (size_t)n + 3) * sizeof *code);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 3 * i;
        funcs[i] = (struct func){pool_text(pool, t->names.text[i]), at, at + 3, TAPE_REGS, 1, 0};
        code[at] = (struct insn){.op = OP_TAPEBEGIN};
        code[at + 1] = (struct insn){.op = OP_TAPE};
        code[at + 2] = (struct insn){.op = OP_JMP, .d = (int32_t)at + 1};
    }
    uint32_t root = t->root != REC_NONE ? t->func_of[t->root] : 0;
    funcs[n] = (struct func){"main", 3 * n, 3 * n + 3, 1, 0, 0};
    code[3 * n] = (struct insn){.op = OP_CONST, .imm = NUMBER_ROOT};
    code[3 * n + 1] = (struct insn){.op = OP_CALL, .b = 1, .c = NOREG, .d = (int32_t)root};
    code[3 * n + 2] = (struct insn){.op = OP_RET, .a = NOREG};
    p->code = code;
    p->ncode = 3 * n + 3;
    p->funcs = funcs;
    p->nfuncs = n + 1;
    p->main = n;
}

/* A declared object per object of the recording, and our own two. A descriptor has a process of
 * arrivals that says how many there are at most. */
static void make_objects(struct tp *t, struct program *p, struct pool *pool)
{
    const struct recording *r = t->r;
    struct object_decl *objects = pool_alloc(pool, (r->nobjects + 2) * sizeof *objects);
    struct arrivals *arrivals = pool_alloc(pool, (r->nobjects + 1) * sizeof *arrivals);
    for (uint32_t i = 0; i < r->nobjects; i++) {
        const struct rec_object *o = &r->objects[i];
        objects[i] = (struct object_decl){pool_text(pool, o->name), o->param, o->kind};
        if (o->kind == OBJ_ONCE || (o->kind == OBJ_COND && !rec_has_mutex(r, o)))
            objects[i] = (struct object_decl){objects[i].name, 0, OBJ_WAITGROUP};
        if (o->kind != OBJ_FD)
            continue;
        arrivals[p->narrivals] = (struct arrivals){
            .kind = ARRIVE_POSTED, .mode = 1, .size = o->param > 0 ? o->param : 1};
        objects[i].param = p->narrivals++;
    }
    objects[t->all] = (struct object_decl){"recorded", 0, OBJ_WAITGROUP};
    objects[t->there] = (struct object_decl){"there", 0, OBJ_WAITGROUP};
    p->objects = objects;
    p->nobjects = r->nobjects + 2;
    p->arrivals = arrivals;
}

static void append(struct stream *to, const struct stream *from)
{
    spill_grow(&to->bytes, to->used + from->used);
    if (from->used > 0)
        memcpy((uint8_t *)to->bytes.at + to->used, from->bytes.at, from->used);
    to->used += from->used;
}

static void release_bytes(void *bytes) { spill_free(bytes); }

/* Goroutines' tapes, then those of items, then those of rounds. */
static void make_tapes(struct tp *t, struct program *p, struct pool *pool)
{
    size_t n = (size_t)t->ntapes + t->nitems + t->nloops;
    uint64_t items = t->own.used, loops = items + t->items.used;
    uint64_t *tapes = pool_alloc(pool, (n + 1) * sizeof *tapes);
    struct spill *tape = pool_alloc(pool, sizeof *tape);
    append(&t->own, &t->items);
    append(&t->own, &t->loops);
    *tape = t->own.bytes;
    t->own.bytes = (struct spill){0};
    pool_at_end(pool, release_bytes, tape);
    memcpy(tapes, t->starts, t->ntapes * sizeof *tapes);
    for (uint32_t i = 0; i < t->nitems; i++)
        tapes[t->ntapes + i] = items + t->item_starts[i];
    for (uint32_t i = 0; i < t->nloops; i++)
        tapes[t->ntapes + t->nitems + i] = loops + t->loop_starts[i];
    tapes[n] = t->own.used;
    p->tape = tape->at;
    p->tapes = tapes;
    p->ntapes = n;
}

static void make_selects(const struct tp *t, struct program *p, struct pool *pool)
{
    struct select_table *selects = pool_alloc(pool, ((size_t)t->nselects + 1) * sizeof *selects);
    struct select_case *cases = pool_alloc(pool, ((size_t)t->ncases_all + 1) * sizeof *cases);
    if (t->nselects > 0) {
        memcpy(selects, t->selects, t->nselects * sizeof *selects);
        memcpy(cases, t->select_cases, t->ncases_all * sizeof *cases);
    }
    p->selects = selects;
    p->nselects = t->nselects;
    p->cases = cases;
    p->ncases = t->ncases_all;
}

static void release(struct tp *t)
{
    spill_free(&t->loops.bytes);
    free(t->loop_starts);
    tape_items_release(t);
    free(t->starts);
    free(t->tape_of);
    free(t->func_of);
    free(t->start_of);
    free(t->armed);
    free(t->write_at);
    free(t->io_at);
    free(t->io_next);
    free(t->write_next);
    texts_numbers_release(&t->names);
}

const struct program *tape_program(const struct recording *r, const struct tape_opts *o,
                                   struct pool *pool)
{
    struct tp t = {.r = r, .o = o, .root = tape_root(r)};
    struct program *p = pool_alloc(pool, sizeof *p);
    t.all = r->nobjects;
    t.there = r->nobjects + 1;
    number_goroutines(&t);
    (void)func_named(&t, "recording");
    link_all(&t);
    begin_tape(&t);
    tape_emit(&t, OP_TAPEBACK, 0, 0, 0, 0, 0);
    root_tape(&t);
    for (uint32_t g = 0; g < r->ngs; g++)
        if (plays(&t, g) && g != t.root)
            other_tape(&t, g);
    make_tapes(&t, p, pool);
    p->nevents = (uint64_t)r->nwaits + 1 + t.nstarts;
    p->spans = region_names(&t, pool);
    p->nspans = r->nregions + 1;
    make_sites(r, p, pool);
    make_objects(&t, p, pool);
    make_selects(&t, p, pool);
    make_code(&t, p, pool);
    release(&t);
    return p;
}
