/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/waitsfor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/window.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { HELD_MAX = 1 << 16, FRAMES_MAX = 64, BY_MAX = 100000, NAME_COLUMNS = 40 };

/* ---- locks, followed through the run ---- */

struct held {
    int64_t object;
    uint64_t goid;
    uint32_t line;
    bool shared;
};

struct follower {
    const struct program *program;
    struct held *held;
    size_t nheld;
};

/* Drops the latest hold of this goroutine on the lock; or else anybody's, as another goroutine may
 * unlock a Mutex. */
static void let_go(struct follower *f, const struct look_lock *l)
{
    size_t at = f->nheld;
    for (size_t i = 0; i < f->nheld; i++)
        if (f->held[i].object == l->object && f->held[i].shared == l->shared &&
            (at == f->nheld || f->held[i].goid == l->goid || f->held[at].goid != l->goid))
            at = i;
    if (at == f->nheld)
        return;
    f->nheld--;
    memmove(f->held + at, f->held + at + 1, (f->nheld - at) * sizeof *f->held);
}

static void hear(void *arg, uint16_t m, enum race_edge edge, uint32_t goid, uint64_t with)
{
    struct follower *f = arg;
    struct look_lock l;
    (void)goid;
    if ((edge != RACE_ACQUIRE && edge != RACE_RELEASE && edge != RACE_MERGE) ||
        !look_lock(f->program, m, edge, with, &l))
        return;
    if (!l.taken)
        let_go(f, &l);
    else if (f->nheld < HELD_MAX)
        f->held[f->nheld++] = (struct held){l.object, l.goid, l.line, l.shared};
}

/* ---- what is waited for, and what would end it ---- */

static const char *wanted(uint8_t op, const struct look_object *o)
{
    switch (o->kind) {
    case OBJ_CHAN: return op == OP_SEND ? "receive" : op == OP_SELECT ? "send or receive" : "send";
    case OBJ_MUTEX:
    case OBJ_RWMUTEX: return "unlock";
    case OBJ_WAITGROUP: return "call done";
    case OBJ_COND: return "signal";
    case OBJ_SEMA: return "release";
    case OBJ_ONCE: return "end of what it does once";
    default: return "nothing that a goroutine does";
    }
}

/* Would this instruction on the same object end the wait of one that is in `waits`? */
static bool ends(const struct program *p, const struct insn *in, const struct insn *waits,
                 int64_t handle)
{
    const struct op_info *o = &op_infos[in->op];
    bool on_it = o->d > D_OBJ && in->d >= 0 && (int64_t)in->d + 1 == handle;
    bool sends = waits->op == OP_SEND, selects = waits->op == OP_SELECT;
    if (in->op == OP_SELECT) {
        const struct select_table *t = &p->selects[in->d];
        for (uint32_t i = t->first; i < t->first + t->ncases; i++)
            if ((int64_t)p->cases[i].obj + 1 == handle && (selects || p->cases[i].send != sends))
                return true;
        return false;
    }
    if (!on_it)
        return false;
    switch (in->op) {
    case OP_SEND:
    case OP_CLOSE: return !sends || selects;
    case OP_RECV: return sends || selects;
    case OP_WGDONE: return true;
    case OP_WGADD: return in->a == NOREG && in->imm < 0;
    case OP_CSIGNAL:
    case OP_CBROADCAST:
    case OP_RELEASE: return true;
    default: return false;
    }
}

/* ---- what a goroutine's program may still come to (as leak.c follows it) ---- */

struct walk {
    const struct program *p;
    unsigned char *seen;
    uint32_t *todo;
    uint32_t n;
};

static void go_on(struct walk *w, int64_t pc)
{
    if (pc < 0 || pc >= w->p->ncode || w->seen[pc])
        return;
    w->seen[pc] = 1;
    w->todo[w->n++] = (uint32_t)pc;
}

static void follow(struct walk *w, uint32_t pc)
{
    const struct insn *in = &w->p->code[pc];
    uint8_t kind = op_infos[in->op].d;
    if (kind == D_TG)
        go_on(w, in->d);
    else if ((kind == D_FN || kind == D_FO) && in->d >= 0 && (uint32_t)in->d < w->p->nfuncs)
        go_on(w, w->p->funcs[in->d].entry);
    if (op_infos[in->op].imm == IF && in->imm >= 0 && in->imm < w->p->nfuncs)
        go_on(w, w->p->funcs[in->imm].entry);
    if (in->op == OP_SWITCH)
        for (int64_t i = 1; i <= in->imm; i++)
            go_on(w, pc + 1 + i);
    if (in->op != OP_JMP && in->op != OP_RET)
        go_on(w, (int64_t)pc + 1);
}

/* The first instruction, in the order of the program, by which the goroutine could end the wait;
 * UINT32_MAX: none. */
static uint32_t could_end(struct walk *w, uint64_t goid, const struct insn *waits, int64_t handle)
{
    uint32_t pcs[FRAMES_MAX], best = UINT32_MAX;
    size_t n = look_frames(goid, pcs, FRAMES_MAX);
    memset(w->seen, 0, w->p->ncode);
    w->n = 0;
    for (size_t i = 0; i < n && i < FRAMES_MAX; i++)
        go_on(w, pcs[i]);
    while (w->n > 0) {
        uint32_t pc = w->todo[--w->n];
        if (pc < best && ends(w->p, &w->p->code[pc], waits, handle))
            best = pc;
        follow(w, pc);
    }
    return best;
}

/* ---- the picture ---- */

struct making {
    struct waitsfor *to;
    const struct program *program;
    const struct run_result *r;
    const struct follower *locks;
    struct walk walk;
    uint32_t *pcs; /* of gs: the instruction that each waits in */
    int looked;    /* goroutines, for all objects: each is searched for in the list of all */
};

static size_t place_of(const struct waitsfor *w, uint64_t goid)
{
    for (size_t i = 0; i < w->ngs; i++)
        if (w->gs[i].goid == goid)
            return i;
    return SIZE_MAX;
}

static size_t add_object(struct making *k, int64_t handle, uint8_t op)
{
    struct waitsfor *w = k->to;
    struct look_object o = {.name = ""};
    for (size_t i = 0; i < w->nobjects; i++)
        if (w->objects[i].handle == handle)
            return i;
    (void)look_object(k->program, handle, &o);
    w->objects = x_grow(w->objects, (w->nobjects + 1) * sizeof *w->objects);
    struct waits_object *to = &w->objects[w->nobjects];
    *to = (struct waits_object){.handle = handle, .wanted = wanted(op, &o)};
    if (o.name[0] != 0)
        snprintf(to->name, sizeof to->name, "%s", text_cut(o.name, NAME_COLUMNS));
    else
        snprintf(to->name, sizeof to->name, "%s #%lld",
                 o.kind_name != NULL ? o.kind_name : "object", (long long)handle);
    snprintf(to->kind, sizeof to->kind, "%s", o.kind_name != NULL ? o.kind_name : "");
    snprintf(to->state, sizeof to->state, "%s", o.state);
    return w->nobjects++;
}

/* A goroutine in Cond.Wait that was woken already waits for the Cond's lock. */
static int64_t waited_for(struct making *k, const struct look_doing *d, uint32_t i)
{
    struct look_object o;
    bool lock = strncmp(d->reason, "sync.Mutex", 10) == 0 || strncmp(d->reason, "sync.RW", 7) == 0;
    if (lock && look_object(k->program, d->object[i], &o) && o.lock != 0)
        return o.lock;
    return d->object[i];
}

static void add_g(struct making *k, const struct run_g *g, bool stuck)
{
    struct waitsfor *w = k->to;
    struct look_doing d = {0};
    w->gs = x_grow(w->gs, (w->ngs + 1) * sizeof *w->gs);
    k->pcs = x_grow(k->pcs, (w->ngs + 1) * sizeof *k->pcs);
    struct waits_g *to = &w->gs[w->ngs];
    *to = (struct waits_g){
        .goid = g->goid, .line = g->is->line, .stuck = stuck, .leaked = g->is->stranded};
    snprintf(to->group, sizeof to->group, "%s", text_cut(g->is->group, NAME_COLUMNS));
    snprintf(to->reason, sizeof to->reason, "%s",
             g->is->reason[0] != 0 ? g->is->reason : g->is->status);
    k->pcs[w->ngs++] = UINT32_MAX;
    if (!stuck || !look_doing(k->program, g->goid, &d))
        return;
    k->pcs[w->ngs - 1] = d.pc;
    for (uint32_t i = 0; i < d.count; i++)
        to->object[to->nobjects++] = add_object(k, waited_for(k, &d, i), k->program->code[d.pc].op);
}

static bool is_dead(const struct run_result *r)
{
    return r->kind == FIND_DEADLOCK || r->end == END_IDLE;
}

static bool is_stuck(const struct run_result *r, const struct run_g *g)
{
    return g->is->stranded || (is_dead(r) && g->is->blocked);
}

static void add_by(struct making *k, const struct waits_by *by)
{
    struct waitsfor *w = k->to;
    if (w->nby == BY_MAX)
        return;
    w->by = x_grow(w->by, (w->nby + 1) * sizeof *w->by);
    w->by[w->nby++] = *by;
}

static const struct run_g *not_ended(const struct run_result *r, uint64_t goid)
{
    for (size_t i = 0; i < r->ngs; i++)
        if (r->gs[i].goid == goid)
            return &r->gs[i];
    return NULL;
}

static void find_holders(struct making *k, size_t object)
{
    for (size_t i = 0; i < k->locks->nheld; i++) {
        const struct held *h = &k->locks->held[i];
        const struct run_g *g = not_ended(k->r, h->goid);
        if (h->object != k->to->objects[object].handle)
            continue;
        if (g != NULL && place_of(k->to, h->goid) == SIZE_MAX)
            add_g(k, g, /*stuck*/ false);
        add_by(k, &(struct waits_by){.object = object,
                                     .goid = h->goid,
                                     .g = place_of(k->to, h->goid),
                                     .how = h->shared ? WAITS_SHARED : WAITS_HELD,
                                     .line = h->line,
                                     .ended = g == NULL});
    }
}

/* Goroutines of one kind at one line could do the same: the first few stand for them. */
static void find_helpers(struct making *k, size_t object, size_t waiter)
{
    enum { HELPERS_MAX = 8, LOOKED_AT_MAX = 2000, LOOKED_ALL_MAX = 10000 };
    const struct insn *waits = &k->program->code[k->pcs[waiter]];
    int found = 0, looked = 0;
    for (size_t i = 0; i < k->r->ngs && found < HELPERS_MAX && looked < LOOKED_AT_MAX &&
                       k->looked < LOOKED_ALL_MAX;
         i++) {
        const struct run_g *g = &k->r->gs[i];
        if (g->goid == k->to->gs[waiter].goid)
            continue;
        looked++;
        k->looked++;
        uint32_t pc = could_end(&k->walk, g->goid, waits, k->to->objects[object].handle);
        if (pc == UINT32_MAX)
            continue;
        found++;
        if (place_of(k->to, g->goid) == SIZE_MAX)
            add_g(k, g, /*stuck*/ false);
        add_by(k,
               &(struct waits_by){.object = object,
                                  .goid = g->goid,
                                  .g = place_of(k->to, g->goid),
                                  .how = WAITS_COULD,
                                  .line = k->program->lines != NULL ? k->program->lines[pc] : 0});
    }
}

static bool is_lock(const struct waits_object *o) { return strcmp(o->wanted, "unlock") == 0; }

static void find_partners(struct making *k)
{
    size_t stuck = k->to->ngs, nobjects = k->to->nobjects;
    for (size_t o = 0; o < nobjects; o++) {
        size_t waiter = SIZE_MAX;
        if (is_lock(&k->to->objects[o])) {
            find_holders(k, o);
            continue;
        }
        for (size_t g = 0; g < stuck && waiter == SIZE_MAX; g++)
            for (int i = 0; i < k->to->gs[g].nobjects; i++)
                if (k->to->gs[g].object[i] == o)
                    waiter = g;
        if (waiter != SIZE_MAX && k->pcs != NULL && k->pcs[waiter] < k->program->ncode)
            find_helpers(k, o, waiter);
    }
}

/* ---- the circle ---- */

/* Is there a way from goroutine `at` back to `first`? Marks it. Locks first: those who could help
 * are followed only where `could` says so. */
static bool circle_from(struct waitsfor *w, size_t at, size_t first, bool could,
                        unsigned char *seen, int depth)
{
    enum { DEPTH_MAX = 500 };
    struct waits_g *g = &w->gs[at];
    if (seen[at] || !g->stuck || depth == DEPTH_MAX)
        return false;
    seen[at] = 1;
    for (int i = 0; i < g->nobjects; i++)
        for (size_t b = 0; b < w->nby; b++) {
            struct waits_by *by = &w->by[b];
            if (by->object != g->object[i] || by->g == SIZE_MAX ||
                (by->how == WAITS_COULD && !could))
                continue;
            if (by->g != first && !circle_from(w, by->g, first, could, seen, depth + 1))
                continue;
            by->in_circle = g->in_circle = w->objects[by->object].in_circle = true;
            return true;
        }
    return false;
}

void waitsfor_circle(struct waitsfor *w)
{
    unsigned char *seen = x_alloc(w->ngs + 1);
    for (int could = 0; could < 2 && !w->circle; could++)
        for (size_t g = 0; g < w->ngs && !w->circle; g++) {
            memset(seen, 0, w->ngs);
            w->circle = circle_from(w, g, g, could != 0, seen, 0);
        }
    free(seen);
}

/* ---- all ---- */

bool waitsfor_any(const struct run_result *r)
{
    for (size_t i = 0; i < r->ngs; i++)
        if (is_stuck(r, &r->gs[i]))
            return true;
    return false;
}

static void make(struct waitsfor *out, const struct run *run, const struct follower *f)
{
    struct making k = {
        .to = out, .program = f->program, .r = &run->result, .locks = f, .walk = {.p = f->program}};
    k.walk.seen = x_alloc(f->program->ncode + 1);
    k.walk.todo = x_alloc((f->program->ncode + 1) * sizeof *k.walk.todo);
    for (size_t i = 0; i < k.r->ngs; i++) {
        if (!is_stuck(k.r, &k.r->gs[i]))
            continue;
        if (out->ngs < WAITS_GS_MAX)
            add_g(&k, &k.r->gs[i], /*stuck*/ true);
        else
            out->more++;
    }
    find_partners(&k);
    waitsfor_circle(out);
    free(k.walk.seen);
    free(k.walk.todo);
    free(k.pcs);
}

bool waitsfor_make(const struct run_opts *opts, struct waitsfor *out)
{
    static struct run world;
    struct follower f = {.program = opts->program, .held = x_alloc(HELD_MAX * sizeof *f.held)};
    struct traced_to to = {.order = hear, .arg = &f};
    struct run_opts o = *opts;
    *out = (struct waitsfor){0};
    o.traced = &to;
    o.no_analysis = true;
    o.attribution = false;
    o.print = NULL;
    o.sched_line = NULL;
    o.sink = NULL;
    o.listen = NULL;
    bool ok = run_start(NULL, &world, &o);
    if (ok) {
        while (run_to(&world, UINT64_MAX))
            ;
        run_end(&world);
        ok = world.result.end != END_LIMIT;
        make(out, &world, &f);
        run_free(&world);
    }
    free(f.held);
    if (!ok)
        waitsfor_release(out);
    return ok;
}

void waitsfor_release(struct waitsfor *w)
{
    free(w->gs);
    free(w->objects);
    free(w->by);
    *w = (struct waitsfor){0};
}
