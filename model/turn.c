/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns of goroutines: one P, no preemption by time, and the host says which runnable goroutine
 * goes on, whenever one is about to do something that others can see. What the runtime does in
 * between is a part of the turn that goes on. So the scheduler's own order (runnext, ring, global
 * queue, slices) is out of the way, and what is left is what Go's documents promise: any goroutine
 * may be next.
 *
 * A goroutine that is chosen does its next instruction without being asked again; one that goes on
 * with the second half of a lock or a wait group is asked before its next instruction, because that
 * half is a turn of its own. */
#include "turn.h"
#include "globrunq.h"
#include "lock.h"
#include "netpoll.h"
#include "objs.h"
#include "park.h"
#include "runq.h"
#include "stack.h"
#include "timer.h"

static struct turn the_turn;

/* ---- what an instruction is ---- */

enum turn_kind { TURN_NOT, TURN_READS, TURN_WRITES };

static enum turn_kind turn_kind_of(uint8_t op)
{
    switch ((enum op)op) {
    case OP_LOADP:
    case OP_LOADA:
    case OP_LEN:
    case OP_CAP:
    case OP_CTXERR:
    case OP_NUMGOROUTINE: return TURN_READS;
    case OP_GO:
    case OP_GOMAXPROCS:
    case OP_GC:
    case OP_READMEM:
    case OP_LEAKS:
    case OP_PRINT:
    case OP_EXIT: return TURN_WRITES;
    case OP_CTXNEW:
    case OP_CTXDONE:
    case OP_TIMERC: return TURN_NOT; /* touches what is the goroutine's own, or never changes */
    default:
        return (op >= OP_SEND && op <= OP_POOLPUT) || (op >= OP_TIMER && op <= OP_CASA) ||
                       (op >= OP_CHTIMER && op <= OP_CHRESET)
                   ? TURN_WRITES
                   : TURN_NOT;
    }
}

static void turn_object(struct turn_does *d, int32_t object)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->object[i] == object)
            return;
    if (d->count == TURN_OBJECTS_MAX) {
        d->count = 1;
        d->object[0] = TURN_OBJECT_ALL;
        return;
    }
    d->object[d->count++] = object;
}

/* A channel made while the program runs may be a timer's or a context's, and so is named with the
 * clock and the contexts. */
static void turn_handle(struct turn_does *d, int64_t handle)
{
    if (handle <= 0 || handle > rt->objs->made)
        return; /* nil, or nothing */
    turn_object(d, (int32_t)handle);
    const struct object *o = object_at((uint64_t)handle);
    if (handle <= rt->prog->nobjects || o == NULL || o->kind != OBJ_CHAN)
        return;
    turn_object(d, TURN_OBJECT_CLOCK);
    turn_object(d, TURN_OBJECT_CONTEXT);
}

static void turn_select_objects(struct turn_does *d, const struct g *gp, const struct insn *in)
{
    const struct select_table *t = &rt->prog->selects[in->d];
    for (uint32_t i = t->first; i < t->first + t->ncases; i++) {
        const struct select_case *k = &rt->prog->cases[i];
        turn_handle(d, k->obj >= 0 ? (int64_t)k->obj + 1 : regs(gp)[k->hreg]);
    }
}

/* Wait gives its lock up. */
static void turn_cond_lock(struct turn_does *d, const struct insn *in)
{
    int32_t lock = TURN_OBJECT_ALL;
    if (in->d >= 0)
        lock = (int32_t)(rt->prog->objects[in->d].param & (COND_RLOCKER - 1)) + 1;
    turn_object(d, lock);
}

static void turn_objects(struct turn_does *d, const struct g *gp, const struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    uint8_t handle = in->op == OP_CASA ? (uint8_t)in->imm : in->c;
    switch ((enum op)in->op) {
    case OP_SELECT: turn_select_objects(d, gp, in); return;
    case OP_PRINT: turn_object(d, TURN_OBJECT_OUTPUT); return;
    case OP_EXIT:
    case OP_RET: turn_object(d, TURN_OBJECT_ALL); return;
    case OP_GO: turn_object(d, TURN_OBJECT_WORLD); return;
    case OP_CTXCANCEL:
    case OP_CTXERR: turn_object(d, TURN_OBJECT_CONTEXT); return;
    case OP_CTXTMO: turn_object(d, TURN_OBJECT_CONTEXT); break;
    case OP_CWAIT: turn_cond_lock(d, in); break;
    default: break;
    }
    if (o->d > D_OBJ)
        turn_handle(d, in->d >= 0 ? (int64_t)in->d + 1 : regs(gp)[handle]);
    else if (in->op >= OP_TIMER && in->op <= OP_FDCLOSE)
        turn_object(d, TURN_OBJECT_CLOCK);
    else
        turn_object(d, TURN_OBJECT_WORLD);
    if (o->d == D_TI || o->d == D_FD || (in->op >= OP_CHTIMER && in->op <= OP_CHRESET))
        turn_object(d, TURN_OBJECT_CLOCK);
}

/* The second half of a send or receive is nobody else's business: the waker has done it all. */
static bool turn_is_local(const struct g *gp)
{
    enum step s = gp->nkont > 0 ? (enum step)gp->kont[gp->nkont - 1] : STEP_none;
    return gp->nkont == 0 ||
           (gp->nkont == 1 && (s == STEP_chansend || s == STEP_chanrecv || s == STEP_mainReturns));
}

static void turn_look(const struct turn *t, uint32_t index, struct turn_does *out)
{
    const struct g *gp = t->g[index];
    *out = (struct turn_does){.goid = gp->goid, .pc = gp->pc, .op = OP_NOP};
    if (isSystemGoroutine(gp) || gp->func < 0) {
        turn_object(out, TURN_OBJECT_ALL);
        return;
    }
    bool local = turn_is_local(gp);
    uint32_t pc = gp->nkont > 0 ? gp->pc - 1 : gp->pc;
    const struct insn *in = &prog_code[pc];
    enum turn_kind kind = turn_kind_of(in->op);
    out->pc = pc;
    out->op = in->op;
    out->resumes = gp->nkont > 0;
    out->known = gp->nkont > 0 ? !local || in->op == OP_RET : kind != TURN_NOT;
    out->reads = kind == TURN_READS;
    if (out->known)
        turn_objects(out, gp, in);
}

/* ---- who is runnable ---- */

static void turn_offer(struct turn *t, struct g *gp)
{
    if (t->count == TURN_MAX)
        return;
    for (uint32_t i = 0; i < t->count; i++)
        if (t->g[i] == gp)
            return;
    t->goid[t->count] = gp->goid;
    t->g[t->count++] = gp;
}

/* first, if not NULL, and all others in the order in which the scheduler would run them. */
static void turn_collect(struct turn *t, struct p *pp, struct g *first)
{
    uint32_t h = a_own(&pp->runqhead), tail = a_own(&pp->runqtail);
    t->count = 0;
    t->look = turn_look;
    t->timer_at = timers_wakeTime(pp);
    if (first != NULL)
        turn_offer(t, first);
    if (a_own(&pp->runnext) != NULL)
        turn_offer(t, a_own(&pp->runnext));
    for (uint32_t i = h; i != tail; i++)
        turn_offer(t, a_own(runq_slot(pp, i)));
    for (struct g *gp = sched->runq.head; gp != NULL; gp = gp->schedlink)
        turn_offer(t, gp);
}

/* The runtime's own goroutines come first and are no question. */
static struct g *turn_system(const struct turn *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        struct g *gp = t->g[i];
        if (isSystemGoroutine(gp))
            return gp;
    }
    return NULL;
}

static bool turn_off_ring(struct p *pp, const struct g *gp)
{
    uint32_t h = a_own(&pp->runqhead), tail = a_own(&pp->runqtail);
    for (uint32_t i = h; i != tail; i++) {
        if (a_own(runq_slot(pp, i)) != gp)
            continue;
        for (; i != h; i--)
            a_store_rlx(runq_slot(pp, i), a_own(runq_slot(pp, i - 1)));
        a_store_rel(&pp->runqhead, h + 1);
        return true;
    }
    return false;
}

static void turn_off_global(struct g *gp)
{
    struct g *before = NULL, *at = sched->runq.head;
    for (; at != NULL && at != gp; at = at->schedlink)
        before = at;
    if (at == NULL)
        throw("turn: a runnable goroutine is on no queue");
    if (before == NULL)
        sched->runq.head = gp->schedlink;
    else
        before->schedlink = gp->schedlink;
    if (sched->runq.tail == gp)
        sched->runq.tail = before;
    gp->schedlink = NULL;
    sched->runq.size--;
    globrunq_resized();
}

/* gp comes off its queue. */
static struct g *turn_dequeue(struct p *pp, struct g *gp)
{
    if (a_own(&pp->runnext) == gp) {
        a_store_rlx(&pp->runnext, (struct g *)NULL);
    } else if (!turn_off_ring(pp, gp)) {
        lock(&sched->lock);
        turn_off_global(gp);
        unlock(&sched->lock);
    }
    runq_own(gp);
    rt->turns.chosen = turn_is_local(gp);
    return gp;
}

/* ---- the questions ---- */

/* Timers and the network, when time has passed. */
static void turn_time_passed(struct p *pp)
{
    timers_check(pp, &(struct timer_check){0});
    if (!netpollAnyWaiters())
        return;
    struct gList list = {0};
    int32_t delta = netpoll(0, &list);
    injectglist(&list);
    netpollAdjustWaiters(delta);
}

static struct g *turn_take(struct p *pp)
{
    struct turn *t = &the_turn;
    for (;;) {
        turn_settle();
        struct g *next = rt->turns.next, *stay = rt->turns.stay;
        rt->turns.next = NULL;
        turn_collect(t, pp, stay);
        struct g *system = turn_system(t);
        if (system != NULL)
            return turn_dequeue(pp, system);
        if (next != NULL)
            return turn_dequeue(pp, next);
        rt->turns.stay = NULL;
        if (t->count == 0)
            return NULL;
        t->preempts = stay != NULL;
        int32_t k = turn_ask(t);
        if (k != TURN_CLOCK)
            return turn_dequeue(pp, t->g[k]);
        rt->turns.stay = stay;
        turn_time_passed(pp);
    }
}

/* Who stays is asked again when the runtime's goroutines have run, or time has passed. */
static bool turn_ask_others(struct g *gp)
{
    struct turn *t = &the_turn;
    turn_collect(t, a_own(&getm()->p), gp);
    if (turn_system(t) != NULL) {
        rt->turns.stay = gp;
        return true;
    }
    t->preempts = true;
    int32_t k = turn_ask(t);
    if (k == 0)
        return false;
    if (k == TURN_CLOCK)
        rt->turns.stay = gp;
    else
        rt->turns.next = t->g[k];
    return true;
}

static bool turn_gives_way(struct g *gp, const struct insn *in)
{
    turn_begin();
    if (!turn_on() || turn_kind_of(in->op) == TURN_NOT)
        return false;
    if (rt->turns.chosen) {
        struct turn *t = &the_turn;
        rt->turns.chosen = false;
        t->count = 0;
        turn_offer(t, gp);
        t->look = turn_look;
        turn_does(t);
        return false;
    }
    return turn_ask_others(gp);
}

static bool turn_gives_way_at_end(struct g *gp)
{
    bool chosen = rt->turns.chosen;
    rt->turns.chosen = false;
    return !chosen && turn_ask_others(gp);
}

static uint32_t turn_select(uint32_t ready) { return ready > 1 ? turn_draw(ready) : 0; }
