/* SPDX-License-Identifier: BSD-3-Clause */
/* One host's window (window.h) into the model's records. Compiled once per host, with its <host.h>,
 * as the model is: WINDOW is the name of the host's struct window. */
#include "run/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/api.h"
#include "model/objs.h"
#include "model/runtime2.h"
#include "model/statusname.h"
#include "model/tape.h"
#include "program/build.h"
#include "sim/base/alloc.h"
#include "sim/base/fingerprint.h"
#include "sim/base/map.h"

/* Inline functions of objs.h call the next two; nothing here calls those, but they must compile. */
static const struct insn *tape_insn(const struct g *gp, struct insn *room)
{
    (void)gp;
    return room;
}

static void *object_slow(struct g *gp, int64_t handle, uint8_t kind)
{
    (void)gp;
    (void)handle;
    (void)kind;
    return NULL;
}

static const char *const reasons[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
};

/* ---- what an address is part of ---- */

/* Goroutines in order of creation. They come from an arena that only grows, so this is the order of
 * their addresses too; where it is not, a goroutine has no name. */
static struct {
    const struct runtime *of;
    const struct g **items, *last;
    size_t count, room;
} gs;

static void take_new_gs(const struct runtime *w)
{
    if (gs.of != w || gs.count > a_peek(&w->allglen) || (gs.count > 0 && gs.items[0] != w->allgs))
        gs.count = 0, gs.last = NULL, gs.of = w;
    const struct g *gp = gs.last != NULL ? gs.last->alllink : w->allgs;
    for (; gp != NULL; gp = gp->alllink) {
        X_ROOM(gs.items, gs.count, gs.room, 64);
        gs.items[gs.count++] = gs.last = gp;
    }
}

static const struct g *g_at(const struct runtime *w, uintptr_t addr)
{
    take_new_gs(w);
    size_t low = 0, high = gs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)gs.items[middle] <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    const struct g *gp = low > 0 ? gs.items[low - 1] : NULL;
    return gp != NULL && addr - (uintptr_t)gp < sizeof *gp ? gp : NULL;
}

static bool is_of_p(uintptr_t addr, const struct p *pp)
{
    return addr - (uintptr_t)pp < sizeof *pp ||
           addr - (uintptr_t)pp->runq < (pp->ringmask + 1) * sizeof *pp->runq;
}

static bool inside(uintptr_t addr, const void *base, size_t size)
{
    return base != NULL && addr - (uintptr_t)base < size;
}

/* Locks look alike in the source (l->word); these have names. */
static const struct part {
    size_t at, size;
    const char *name;
} parts[] = {
#define PART(field)                                                                 \
    {                                                                               \
        offsetof(struct runtime, field), sizeof((struct runtime *)0)->field, #field \
    }
    PART(sched.lock),
    PART(sched.gFree_lock),
    PART(sched.sudoglock),
    PART(sched.sysmonlock),
    PART(allpLock),
    PART(allglock),
    PART(newmHandoff.lock),
    PART(gc.assistLock),
    PART(gc.sweepWaiters),
    PART(gc.sweepLock),
    PART(gc.forcegcLock),
    PART(sched),
    {0, sizeof(struct runtime), "runtime"},
#undef PART
};

static const char *part_of(size_t off)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (off - parts[i].at < parts[i].size)
            return parts[i].name;
    return NULL;
}

static const char *name_of(const struct runtime *w, uintptr_t addr, char *buf)
{
    const struct g *gp = g_at(w, addr);
    if (gp != NULL) {
        snprintf(buf, LOOK_NAME_SIZE, "g%" PRIu32, gp->goid);
        return buf;
    }
    for (int64_t i = 0; i < w->sched.mnext; i++)
        if (inside(addr, w->ms[i], sizeof *w->ms[i])) {
            snprintf(buf, LOOK_NAME_SIZE, "M%" PRId64, i);
            return buf;
        }
    for (int32_t i = 0; i < w->allp_cap; i++)
        if (w->allp[i] != NULL && is_of_p(addr, w->allp[i])) {
            snprintf(buf, LOOK_NAME_SIZE, "P%d", i);
            return buf;
        }
    const char *part = part_of(addr - (uintptr_t)w);
    if (part != NULL)
        return part;
    snprintf(buf, LOOK_NAME_SIZE, "@%" PRIxPTR, addr - (uintptr_t)w);
    return buf;
}

/* ---- Ps, Ms, queues ---- */

static uint64_t goid_of(const struct g *gp) { return gp != NULL ? gp->goid : 0; }

static void see_sched(const struct runtime *w, struct look_sched *s)
{
    *s = (struct look_sched){
        .procs = a_peek(&w->gomaxprocs),
        .npidle = a_peek(&w->sched.npidle),
        .nmspinning = a_peek(&w->sched.nmspinning),
        .nmidle = w->sched.nmidle,
        .nm = w->sched.mnext - w->sched.nmfreed,
        .m_ids = w->sched.mnext,
        .globrunq = w->sched.runq.size,
        .gcwaiting = a_peek(&w->sched.gcwaiting) != 0,
        .sysmonwait = a_peek(&w->sched.sysmonwait),
        .gcphase = w->gc.phase,
        .ngs = a_peek(&w->allglen),
    };
}

static void see_p(const struct runtime *w, int32_t id, struct look_p *out)
{
    const struct p *pp = w->allp[id];
    const struct m *mp = a_peek(&pp->m);
    *out = (struct look_p){
        .id = id,
        .status = pstatus_name(a_peek(&pp->status)),
        .m = mp != NULL ? mp->id : -1,
        .curg = mp != NULL ? goid_of(a_peek(&mp->curg)) : 0,
        .runnext = goid_of(a_peek(&pp->runnext)),
        .ring = a_peek(&pp->runqtail) - a_peek(&pp->runqhead),
        .schedtick = a_peek(&pp->schedtick),
        .syscalltick = a_peek(&pp->syscalltick),
        .timers = pp->timers.n,
        .spinning = mp != NULL && mp->spinning,
    };
}

static size_t see_ring(const struct runtime *w, int32_t id, uint64_t *out, size_t max)
{
    const struct p *pp = w->allp[id];
    uint32_t head = a_peek(&pp->runqhead), n = a_peek(&pp->runqtail) - head;
    for (uint32_t i = 0; i < n && i < max; i++)
        out[i] = goid_of(a_peek(&pp->runq[(head + i) & pp->ringmask]));
    return n;
}

static int by_when(const void *a, const void *b)
{
    const struct look_timer *x = a, *y = b;
    if (x->when_ns != y->when_ns)
        return x->when_ns < y->when_ns ? -1 : 1;
    return (x->g > y->g) - (x->g < y->g);
}

static size_t see_timers(const struct runtime *w, int32_t id, struct look_timer *out, size_t max)
{
    const struct timers *ts = &w->allp[id]->timers;
    struct look_timer *all = x_alloc(ts->n * sizeof *all);
    for (uint32_t i = 0; i < ts->n; i++) {
        const struct timer *t = ts->heap[i].timer;
        const struct g *gp = g_at(w, (uintptr_t)t->arg);
        all[i] = (struct look_timer){.when_ns = t->when, .period_ns = t->period, .chan = t->isChan};
        if (gp != NULL)
            all[i].g = gp->goid;
    }
    qsort(all, ts->n, sizeof *all, by_when);
    for (size_t i = 0; i < ts->n && i < max; i++)
        out[i] = all[i];
    free(all);
    return ts->n;
}

static size_t see_globrunq(const struct runtime *w, uint64_t *out, size_t max)
{
    size_t n = 0;
    for (const struct g *gp = w->sched.runq.head; gp != NULL; gp = gp->schedlink)
        if (n++ < max)
            out[n - 1] = gp->goid;
    return n;
}

static bool see_m(const struct runtime *w, int64_t id, struct look_m *out)
{
    const struct m *mp = id < w->sched.mnext ? w->ms[id] : NULL;
    if (mp == NULL || mp->exiting)
        return false;
    const struct p *pp = a_peek(&mp->p);
    *out = (struct look_m){
        .id = mp->id,
        .p = pp != NULL ? pp->id : -1,
        .curg = goid_of(a_peek(&mp->curg)),
        .lockedg = goid_of(mp->lockedg),
        .spinning = mp->spinning,
        .blocked = mp->blocked,
        .idle = mp->onmidle,
    };
    return true;
}

/* ---- goroutines ---- */

static const char *group_name(const struct program *p, const struct g *gp, const char *func)
{
    if (isSystemGoroutine(gp))
        return "runtime";
    if (gp->goid == 1)
        return p->funcs[p->main].name;
    if (gp->group == GROUP_CONTEXT)
        return "context";
    return gp->group >= 0 && (uint32_t)gp->group < p->ngroups ? p->groups[gp->group] : func;
}

static struct run_g_kind kind_of(const struct program *p, const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool waits = status == Gwaiting || status == Gleaked,
         known = gp->func >= 0 && (uint32_t)gp->func < p->nfuncs;
    const char *func = isSystemGoroutine(gp) || !known ? "" : p->funcs[gp->func].name;
    return (struct run_g_kind){
        .func = func,
        .group = group_name(p, gp, func),
        .status = gstatus_name(status),
        .reason = waits ? reasons[gp->waitreason] : "",
        .line = p->lines != NULL && func[0] != 0 ? p->lines[shown_pc(p, gp)] : 0,
        .blocked = waits && known && !gp->has_ext_wake && gp->waitreason != waitReasonSleep,
        .stranded = gp->stranded,
    };
}

static void see_where(const struct runtime *w, const struct program *program, int32_t m,
                      struct look_where *out)
{
    const struct m *mp = m >= 0 && m < w->sched.mnext ? w->ms[m] : NULL;
    const struct p *pp = mp != NULL ? a_peek(&mp->p) : NULL;
    const struct g *gp = mp != NULL ? a_peek(&mp->curg) : NULL;
    *out = (struct look_where){.m = m, .p = -1};
    if (mp != NULL)
        out->spinning = mp->spinning;
    if (pp != NULL) {
        out->p = pp->id;
        out->p_status = pstatus_name(a_peek(&pp->status));
    }
    if (gp != NULL) {
        struct run_g_kind kind = kind_of(program, gp);
        out->g = gp->goid;
        out->g_status = kind.status;
        out->g_group = kind.group;
        out->line = kind.line;
    }
}

/* The goroutines, and behind them in the same memory their kinds. Until all are known, `is` is
 * a kind's number. */
struct listing {
    struct run_g *gs;
    struct run_g_kind *kinds;
    size_t count, nkinds, kinds_room;
    struct map known; /* (pc and group, the rest) -> number of the kind */
};

static size_t kind_number(struct listing *l, const struct program *p, const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    uint32_t rest = status << 16 | (uint32_t)gp->stranded << 15 | (uint32_t)gp->waitreason << 4 |
                    (uint32_t)(gp->func < 0) << 3 | (uint32_t)gp->has_ext_wake << 2 |
                    (uint32_t)isSystemGoroutine(gp) << 1 | (gp->goid == 1);
    uint64_t where = (uint64_t)gp->pc << 32 | (uint32_t)gp->group;
    struct map_slot *s = map_find(&l->known, where, rest);
    if (s != NULL)
        return s->a;
    X_ROOM(l->kinds, l->nkinds, l->kinds_room, 16);
    map_put(&l->known, where, rest)->a = (uint32_t)l->nkinds;
    l->kinds[l->nkinds] = kind_of(p, gp);
    return l->nkinds++;
}

static int64_t channel_of(const struct g *gp, bool waits)
{
    bool chan = waits &&
                (gp->waitreason == waitReasonChanReceive || gp->waitreason == waitReasonChanSend ||
                 gp->waitreason == waitReasonSelect);
    const struct hchan *c = chan && gp->waiting != NULL ? gp->waiting->c : NULL;
    return c != NULL ? c->index : -1;
}

static const char *site_of(const struct program *p, const struct g *gp)
{
    bool known = gp->func >= 0 && (uint32_t)gp->func < p->nfuncs && !isSystemGoroutine(gp);
    if (!known || p->sites == NULL || p->code[p->funcs[gp->func].entry].op != OP_TAPEBEGIN)
        return "";
    uint64_t site = (uint64_t)regs(gp)[TAPE_SITE];
    return site > 0 && site <= p->nsites ? p->sites[site - 1] : "";
}

static void list_g(struct listing *l, const struct program *p, const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool waits = status == Gwaiting || status == Gleaked;
    uintptr_t number = kind_number(l, p, gp);
    l->gs[l->count++] = (struct run_g){.goid = gp->goid,
                                       .since_ns = waits ? gp->waitsince : 0,
                                       .channel = channel_of(gp, waits),
                                       .site = site_of(p, gp),
                                       .is = (const struct run_g_kind *)number};
}

static struct run_g *list_end(struct listing *l)
{
    size_t size = l->count * sizeof *l->gs, kinds = l->nkinds * sizeof *l->kinds;
    l->gs = x_grow(l->gs, size + kinds);
    struct run_g_kind *at = (struct run_g_kind *)(l->gs + l->count);
    if (l->nkinds > 0)
        memcpy(at, l->kinds, kinds);
    for (size_t i = 0; i < l->count; i++)
        l->gs[i].is = at + (uintptr_t)l->gs[i].is;
    map_release(&l->known);
    free(l->kinds);
    return l->gs;
}

/* Shell's sort: they are nearly in order, and qsort would take memory for a second million. */
static void sort_by_goid(struct run_g *g, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (size_t i = gap; i < count; i++) {
            struct run_g put = g[i];
            size_t at = i;
            for (; at >= gap && g[at - gap].goid > put.goid; at -= gap)
                g[at] = g[at - gap];
            g[at] = put;
        }
}

static bool is_listed(const struct g *gp, bool system)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    return status != Gidle && status != Gdead && status != Gdeadextra &&
           (system || !isSystemGoroutine(gp));
}

static struct run_g *see_gs(const struct runtime *w, const struct program *program, bool system,
                            size_t *count)
{
    const struct g *allgs = w->allgs;
    struct listing l = {0};
    size_t n = 0;
    for (const struct g *gp = allgs; gp != NULL; gp = gp->alllink)
        n += is_listed(gp, system);
    l.gs = x_alloc(n * sizeof *l.gs);
    for (const struct g *gp = allgs; gp != NULL; gp = gp->alllink) {
        if (is_listed(gp, system))
            list_g(&l, program, gp);
    }
    sort_by_goid(l.gs, l.count);
    *count = l.count;
    return list_end(&l);
}

/* ---- what a goroutine does, and what to ---- */

static const int64_t *registers(const struct g *gp)
{
    return (gp->stack_order != 0 ? gp->grown : gp->inline_regs) + gp->fp;
}

static void doing_object(struct look_doing *d, int64_t handle)
{
    if (handle > 0 && d->count < LOOK_OBJECTS_MAX)
        d->object[d->count++] = handle;
}

static void doing_objects(struct look_doing *d, const struct program *p, const struct g *gp,
                          const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    uint8_t reg = in->op == OP_CASA ? (uint8_t)in->imm : in->c;
    if (o->d > D_OBJ) {
        doing_object(d, in->d >= 0 ? (int64_t)in->d + 1 : registers(gp)[reg]);
    } else if (o->d == D_SE) {
        const struct select_table *t = &p->selects[in->d];
        for (uint32_t i = t->first; i < t->first + t->ncases; i++)
            doing_object(d, p->cases[i].obj >= 0 ? (int64_t)p->cases[i].obj + 1
                                                 : registers(gp)[p->cases[i].hreg]);
    }
}

static bool see_doing(const struct runtime *w, const struct program *program, uint64_t goid,
                      struct look_doing *out)
{
    const struct g *gp = w->allgs;
    while (gp != NULL && (gp->goid != goid || !is_listed(gp, false)))
        gp = gp->alllink;
    if (gp == NULL || gp->func < 0 || (uint32_t)gp->func >= program->nfuncs)
        return false;
    struct run_g_kind kind = kind_of(program, gp);
    bool busy = gp->nkont > 0 && gp->pc > 0;
    uint32_t pc = busy ? gp->pc - 1 : gp->pc;
    *out = (struct look_doing){.waits = kind.reason[0] != 0,
                               .busy = busy,
                               .pc = pc,
                               .line = program->lines != NULL ? program->lines[pc] : 0,
                               .group = kind.group,
                               .reason = kind.reason};
    const struct insn *in = &program->code[pc];
    if (in->op == OP_SEND)
        out->value = registers(gp)[in->a];
    doing_objects(out, program, gp, in);
    return true;
}

/* ---- objects ---- */

enum { READERS_MAX = 1 << 30 }; /* rwmutexMaxReaders */

static const struct object *object_by(const struct runtime *w, int64_t handle)
{
    const struct objects *o = w->objs;
    if (o == NULL || handle <= 0 || handle > o->made)
        return NULL;
    uint64_t n = (uint64_t)handle + 63;
    uint32_t log = 63 - (uint32_t)__builtin_clzll(n);
    const struct object *chunk = a_peek(&o->chunk[log - 6]);
    return chunk != NULL ? &chunk[n ^ UINT64_C(1) << log] : NULL;
}

static void see_rwmutex(const struct rwmutex *rw, struct look_object *out)
{
    int32_t count = a_peek(&rw->readerCount), left = a_peek(&rw->readerWait);
    int32_t readers = count < 0 ? count + READERS_MAX : count;
    out->number = count < 0 && left == 0 ? -1 : count < 0 ? left : readers;
    if (count < 0 && left == 0)
        snprintf(out->state, sizeof out->state, "locked");
    else if (count < 0)
        snprintf(out->state, sizeof out->state, "%d readers, a writer waits", left);
    else if (readers > 0)
        snprintf(out->state, sizeof out->state, "%d readers", readers);
    else
        snprintf(out->state, sizeof out->state, "free");
}

static void see_locked(int64_t locked, const char *yes, const char *no, struct look_object *out)
{
    out->number = locked;
    snprintf(out->state, sizeof out->state, "%s", locked != 0 ? yes : no);
}

static void see_chan(const struct hchan *c, struct look_object *out)
{
    out->number = a_peek(&c->qcount);
    out->closed = a_peek(&c->closed) != 0;
    if (c->dataqsiz > 0)
        snprintf(out->state, sizeof out->state, "%" PRId64 " of %" PRIu32 "%s", out->number,
                 c->dataqsiz, out->closed ? ", closed" : "");
    else
        snprintf(out->state, sizeof out->state, "%s", out->closed ? "closed" : "open");
}

static void see_number(int64_t n, const char *before, struct look_object *out)
{
    out->number = n;
    snprintf(out->state, sizeof out->state, "%s%" PRId64, before, n);
}

static void see_kind(const struct runtime *w, const struct object *o, struct look_object *out)
{
    static const char *const errors[] = {"alive", "canceled", "deadline exceeded"};
    switch ((enum object_kind)o->kind) {
    case OBJ_CHAN: see_chan(o->p, out); break;
    case OBJ_MUTEX:
        see_locked(a_peek(&((struct smutex *)o->p)->state) & 1, "locked", "free", out);
        break;
    case OBJ_RWMUTEX: see_rwmutex(o->p, out); break;
    case OBJ_WAITGROUP:
        see_number((int32_t)(a_peek(&((struct waitgroup *)o->p)->state) >> 32), "counter ", out);
        break;
    case OBJ_ONCE: see_locked(a_peek(&((struct once *)o->p)->done), "done", "not done", out); break;
    case OBJ_SEMA: see_number(((struct weighted *)o->p)->cur, "taken ", out); break;
    case OBJ_VAR: see_number((int64_t)a_peek(&((struct var *)o->p)->v), "", out); break;
    case OBJ_CONTEXT:
        out->number = a_peek(&((struct ctx *)o->p)->err);
        snprintf(out->state, sizeof out->state, "%s", errors[out->number % 3]);
        break;
    case OBJ_COND: {
        const struct cond *c = o->p;
        see_number((int32_t)(a_peek(&c->notify.wait) - a_peek(&c->notify.notify)), "waiting ", out);
        for (int64_t h = 1; w != NULL && h <= w->objs->made && out->lock == 0; h++)
            if (object_by(w, h)->p == (c->L != NULL ? (void *)c->L : (void *)c->rw))
                out->lock = h;
        break;
    }
    case OBJ_POOL:
    case OBJ_FD:
    case OBJ_TIMER:
    case OBJ_CORO:
    case OBJ_KINDS: break;
    }
}

static bool see_object(const struct runtime *w, const struct program *program, int64_t handle,
                       struct look_object *out)
{
    const struct object *o = object_by(w, handle);
    if (o == NULL || o->p == NULL)
        return false;
    *out = (struct look_object){
        .kind = o->kind, .kind_name = object_kind_name((enum object_kind)o->kind), .name = ""};
    if (handle <= program->nobjects)
        out->name = program->objects[handle - 1].name;
    see_kind(w, o, out);
    return true;
}

/* ---- where it may go on, and locks ---- */

static size_t see_frames(const struct runtime *w, uint64_t goid, uint32_t *pcs, size_t max)
{
    const struct g *gp = w->allgs;
    size_t n = 0;
    while (gp != NULL && (gp->goid != goid || !is_listed(gp, false)))
        gp = gp->alllink;
    if (gp == NULL || gp->func < 0 || (gp == w->main_g && w->main_returned))
        return 0;
    const int64_t *stack = gp->stack_order != 0 ? gp->grown : gp->inline_regs;
    for (uint32_t fp = gp->fp, pc = gp->pc;;
         pc = (uint32_t)stack[fp - 2], fp = (uint32_t)stack[fp - 1]) {
        if (n < max)
            pcs[n] = pc;
        n++;
        if (fp == 0)
            return n;
    }
}

/* Is it the edge by which this lock changes hands? Mutex.Lock says that it comes after what was
 * released to the mutex; who locks an RWMutex, after what was released to readerSem, and a writer
 * to writerSem, too (sync.c rw_acquired). */
static bool passes(const struct object *o, enum race_edge edge, uint64_t addr, bool *taken)
{
    const struct rwmutex *rw = o->p;
    *taken = edge == RACE_ACQUIRE;
    if (o->kind == OBJ_MUTEX)
        return addr == (uintptr_t)o->p && (*taken || edge == RACE_RELEASE);
    if (o->kind != OBJ_RWMUTEX)
        return false;
    if (edge == RACE_MERGE)
        return addr == (uintptr_t)&rw->writerSem;
    return addr == (uintptr_t)&rw->readerSem && (*taken || edge == RACE_RELEASE);
}

static bool see_lock(const struct runtime *w, const struct program *program, int32_t m,
                     enum race_edge edge, uint64_t addr, struct look_lock *out)
{
    const struct m *mp = m >= 0 && m < w->sched.mnext ? w->ms[m] : NULL;
    const struct g *gp = mp != NULL ? a_peek(&mp->curg) : NULL;
    struct look_doing d = {0};
    struct look_object cond;
    if (gp == NULL || gp->func < 0 || gp->pc == 0 || gp->pc > program->ncode)
        return false;
    uint32_t pc = gp->pc - 1;
    const struct insn *in = &program->code[pc];
    doing_objects(&d, program, gp, in);
    int64_t handle = d.count == 1 ? d.object[0] : 0;
    if (in->op == OP_CWAIT && see_object(w, program, handle, &cond))
        handle = cond.lock;
    const struct object *o = object_by(w, handle);
    bool taken;
    if (o == NULL || o->p == NULL || !passes(o, edge, addr, &taken))
        return false;
    *out = (struct look_lock){.object = handle,
                              .goid = gp->goid,
                              .line = program->lines != NULL ? program->lines[pc] : 0,
                              .taken = taken,
                              .shared = in->op == OP_RLOCK || in->op == OP_TRYRLOCK ||
                                        in->op == OP_RUNLOCK};
    return true;
}

/* ---- the state of a program ---- */

/* A register of a frame. In the middle of an instruction it may still read what it was given. */
static bool matters(const struct look_live *live, uint32_t pc, bool middle, uint32_t reg)
{
    if (live == NULL)
        return true;
    uint64_t regs = live[pc].regs[reg / 64] | (middle ? live[pc - 1].regs[reg / 64] : 0);
    return (regs >> reg % 64 & 1) != 0;
}

static bool is_asleep(const struct g *gp)
{
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    return status == Gwaiting && gp->waitreason == waitReasonSleep;
}

static void mix_g(struct fingerprint *h, const struct program *p, const struct g *gp,
                  const struct look_live *live)
{
    const int64_t *stack = gp->stack_order != 0 ? gp->grown : gp->inline_regs;
    uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
    bool middle = gp->nkont > 0, sleeps = is_asleep(gp);
    fp_mix4(h, (uint64_t)gp->goid << 32 | gp->pc, (uint64_t)status << 8 | gp->nkont,
            middle && !sleeps ? (uint64_t)gp->opval : 0, gp->rng);
    fp_mix_bytes(h, gp->kont, gp->nkont);
    uint32_t func = gp->func >= 0 ? (uint32_t)gp->func : UINT32_MAX; /* of none: the runtime's */
    for (uint32_t fp = gp->fp, pc = gp->pc; func < p->nfuncs;) {
        for (uint32_t i = 0; i < p->funcs[func].nregs; i++)
            fp_mix(h, matters(live, pc, middle, i) ? (uint64_t)stack[fp + i] : 0);
        if (fp == 0)
            return;
        fp_mix2(h, (uint64_t)stack[fp - 2], (uint64_t)stack[fp - 1]);
        func = (uint32_t)((uint64_t)stack[fp - 2] >> 32);
        pc = (uint32_t)stack[fp - 2];
        fp = (uint32_t)stack[fp - 1];
        middle = false;
    }
}

static bool is_apart(const struct look_state *s, const struct object *o, int64_t handle)
{
    return s->apart && handle <= LOOK_VARS_MAX && o->kind == OBJ_VAR;
}

/* False: what it holds is not looked at here. */
static bool mix_object(struct fingerprint *h, const struct object *o)
{
    struct look_object now = {0};
    if (o->kind == OBJ_POOL || o->kind == OBJ_FD || o->kind == OBJ_TIMER || o->kind == OBJ_CORO)
        return false;
    see_kind(NULL, o, &now);
    fp_mix4(h, o->kind, (uint64_t)now.number, now.closed, 0);
    if (o->kind == OBJ_CHAN) {
        const struct hchan *c = o->p;
        for (uint32_t i = 0; i < a_peek(&c->qcount); i++)
            fp_mix(h, (uint64_t)c->buf[(c->recvx + i) % c->dataqsiz]);
    }
    return true;
}

static uint32_t timers_set(const struct runtime *w)
{
    uint32_t n = w->timersBuckets != NULL;
    for (int32_t i = 0; i < w->allp_len; i++)
        n += w->allp[i] != NULL ? w->allp[i]->timers.n : 0;
    return n;
}

/* How long it still sleeps. */
static void mix_sleep(struct fingerprint *h, const struct g *gp, int64_t now_ns)
{
    int64_t left = gp->ext->sleep->when - now_ns;
    fp_mix(h, (uint64_t)(left / 1000));
}

static bool waits_for_lock(const struct g *gp)
{
    return gp->waitreason == waitReasonSyncMutexLock ||
           gp->waitreason == waitReasonSyncRWMutexLock ||
           gp->waitreason == waitReasonSyncRWMutexRLock || gp->waitreason == waitReasonSemacquire;
}

static bool see_state(const struct runtime *w, const struct program *program,
                      struct look_state *out)
{
    struct fingerprint h;
    fp_init(&h);
    out->count = out->sleepers = 0;
    out->ages = false;
    if (w->objs == NULL || program->ntapes > 0)
        return false;
    for (const struct g *gp = w->allgs; gp != NULL; gp = gp->alllink) {
        uint32_t status = a_peek(&gp->atomicstatus) & ~(uint32_t)Gscan;
        if (!is_listed(gp, false))
            continue;
        bool sleeps = is_asleep(gp);
        if ((gp->has_ext_wake && !sleeps) || status == Gsyscall || out->count == LOOK_RUNNABLE_MAX)
            return false;
        if (status == Grunnable || status == Grunning)
            out->runnable[out->count++] = gp->goid;
        out->ages |= status == Gwaiting && waits_for_lock(gp);
        mix_g(&h, program, gp, out->live);
        out->sleepers += sleeps;
        if (sleeps)
            mix_sleep(&h, gp, out->now_ns);
    }
    if (timers_set(w) != out->sleepers)
        return false;
    for (int64_t i = 1; i <= w->objs->made; i++) {
        const struct object *o = object_by(w, i);
        if (is_apart(out, o, i))
            out->var[i - 1] = (int64_t)a_peek(&((const struct var *)o->p)->v);
        else if (!mix_object(&h, o))
            return false;
    }
    fp_mix(&h, a_peek(&w->printed));
    out->hash = fp_value(&h);
    return true;
}

const struct window WINDOW = {
    .where = see_where,
    .sched = see_sched,
    .p = see_p,
    .ring = see_ring,
    .timers = see_timers,
    .globrunq = see_globrunq,
    .m = see_m,
    .gs = see_gs,
    .doing = see_doing,
    .object = see_object,
    .frames = see_frames,
    .lock = see_lock,
    .state = see_state,
    .name = name_of,
};
