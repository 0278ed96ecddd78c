/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of a trace, in order, become a recording (recording.h).
 *
 * Of every goroutine we keep what it is doing and since when; what it did goes to its tape when it
 * is over. Preemptions and stack scans are no part of a program: the pieces of running time before
 * and after are joined. Until the window opens nothing is put on tapes. */
#include "replay/record_int.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

/* A wake that is followed by the start of an idle P within this time was the reason for it. */
enum { WOKE_P_NS = 200000, SAMPLES_MAX = 1 << 16, SWITCH_MAX_NS = 20000, HANDOFF_MAX_NS = 1000000 };
static const int64_t HEAP_MAX = INT64_C(1) << 50, KB = 1024;

static void note(struct rr *b, const char *text)
{
    struct recording *r = b->r;
    if (r->nnotes < (int)(sizeof r->notes / sizeof *r->notes))
        snprintf(r->notes[r->nnotes++], sizeof r->notes[0], "%s", text);
}

static void sample(struct rec_samples *s, int64_t ns)
{
    if (s->count == SAMPLES_MAX)
        return;
    X_ROOM(s->ns, s->count, s->room, 64);
    s->ns[s->count++] = ns;
}

/* ---- tables by number ---- */

static uint32_t number_of(struct map *m, uint64_t id, uint32_t kind, uint32_t next)
{
    struct map_slot *s = map_find(m, id, kind);
    if (s != NULL)
        return s->a;
    map_put(m, id, kind)->a = next;
    return next;
}

static struct rr_p *p_of(struct rr *b, uint64_t id)
{
    if (id == TRACE_NONE)
        return NULL;
    uint32_t i = number_of(&b->p_numbers, id, 0, b->nps);
    if (i == b->nps) {
        X_ROOM(b->ps, b->nps, b->ps_room, 64);
        b->ps[b->nps++] = (struct rr_p){.look = b->now, .stopped = -1};
    }
    return &b->ps[i];
}

static struct rr_m *m_of(struct rr *b, uint64_t id, uint32_t *number)
{
    if (id == TRACE_NONE)
        return NULL;
    uint32_t i = number_of(&b->m_numbers, id, 0, b->nms);
    if (i == b->nms) {
        X_ROOM(b->ms, b->nms, b->ms_room, 64);
        b->ms[b->nms++] = (struct rr_m){.g = REC_NONE, .other_at = -1, .stopped = -1};
    }
    if (number != NULL)
        *number = i;
    return &b->ms[i];
}

/* Both tables at once: index for index. */
static void g_room(struct rr *b, uint32_t idx)
{
    struct recording *r = b->r;
    while (r->ngs <= idx) {
        X_ROOM(r->gs, r->ngs, r->gs_room, 64);
        X_ROOM(b->gs, b->ngs, b->gs_room, 64);
        r->gs[r->ngs++] = (struct rec_g){.creator = REC_NONE,
                                         .go_site = REC_NONE,
                                         .run_by = REC_NONE,
                                         .last_wait = REC_NONE,
                                         .done = REC_NONE,
                                         .deals = REC_NONE,
                                         .ended = INT64_MAX,
                                         .born = b->now};
        b->gs[b->ngs++] = (struct rr_g){.since = b->now,
                                        .state = TRACE_UNDETERMINED,
                                        .wait = REC_NONE,
                                        .deed = DEED_COUNT,
                                        .io_wait = REC_NONE,
                                        .last_object = REC_NONE,
                                        .io_deed = REC_NONE};
    }
}

/* ---- what a goroutine did ---- */

static void put(struct rr *b, uint32_t g, enum rec_what what, uint64_t a, uint64_t n)
{
    if (b->open)
        rec_put(b->r, g, what, a, n);
}

/* Goroutine g has run up to now: that is an entry of CPU time. */
static void flush_cpu(struct rr *b, uint32_t g)
{
    struct rr_g *x = &b->gs[g];
    int64_t ran = x->cpu;
    if (x->state == TRACE_RUNNING && !x->assist)
        ran += b->now - x->since;
    if (x->state == TRACE_RUNNING && x->assist)
        b->r->sums.assist += b->now - x->since;
    x->since = b->now;
    x->cpu = 0;
    if (ran <= 0 || !b->open)
        return;
    rec_put(b->r, g, REC_CPU, (uint64_t)ran, 0);
    b->r->gs[g].cpu += ran;
}

/* The goroutine was preempted: what it ran is kept until it stops by itself. */
static void keep_cpu(struct rr *b, uint32_t g)
{
    struct rr_g *x = &b->gs[g];
    if (x->assist)
        b->r->sums.assist += b->now - x->since;
    else
        x->cpu += b->now - x->since;
    x->since = b->now;
}

void rr_did(struct rr *b, uint32_t g, enum rec_what what, uint64_t a, uint64_t n)
{
    if (g == REC_NONE)
        return;
    flush_cpu(b, g);
    put(b, g, what, a, n);
}

void rr_deed(struct rr *b, uint32_t g, uint64_t deed, uint64_t object, uint32_t site)
{
    struct rr_g *x = &b->gs[g];
    flush_cpu(b, g);
    if (!b->open)
        return;
    if (x->deed_site != site + 1)
        rec_put(b->r, g, REC_SITE, site, 0);
    x->deed_site = site + 1;
    rec_put(b->r, g, REC_DEED, deed, object);
    b->r->gs[g].deeds++;
}

/* ---- waits ---- */

static uint8_t reason_of(const struct rr *b, const char *text, enum rec_leaf leaf)
{
    static const struct {
        const char *text;
        uint8_t reason;
    } table[] = {{"network", REASON_IOWait},
                 {"select", REASON_Select},
                 {"chan receive", REASON_ChanReceive},
                 {"chan send", REASON_ChanSend},
                 {"sync.(*Cond).Wait", REASON_SyncCondWait},
                 {"sleep", REASON_Sleep},
                 {"forever", REASON_SelectNoCases}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(text, table[i].text) == 0)
            return table[i].reason;
    (void)b;
    switch (leaf) {
    case LEAF_MUTEX: return REASON_SyncMutexLock;
    case LEAF_RLOCK: return REASON_SyncRWMutexRLock;
    case LEAF_RWLOCK: return REASON_SyncRWMutexLock;
    case LEAF_WAITGROUP: return REASON_SyncWaitGroupWait;
    case LEAF_COND: return REASON_SyncCondWait;
    case LEAF_CHANRECV: return REASON_ChanReceive;
    case LEAF_CHANSEND: return REASON_ChanSend;
    case LEAF_SELECT: return REASON_Select;
    default: return REASON_Semacquire;
    }
}

/* The collector's business, or the tracer's: no part of the program. */
static bool is_runtimes(const char *reason)
{
    return strcmp(reason, "preempted") == 0 || strncmp(reason, "GC ", 3) == 0 ||
           strcmp(reason, "wait until GC ends") == 0 || strcmp(reason, "wait for debug call") == 0;
}

static uint32_t add_wait(struct rr *b, uint32_t g, uint32_t site, uint8_t reason)
{
    struct recording *r = b->r;
    *rec_add_wait(r) = (struct rec_wait){.g = g,
                                         .waker = REC_NONE,
                                         .site = site,
                                         .by_site = REC_NONE,
                                         .from = b->now,
                                         .woken = INT64_MAX,
                                         .on = INT64_MAX,
                                         .object = REC_NONE,
                                         .reason = reason,
                                         .level = 1};
    r->gs[g].last_wait = r->nwaits - 1;
    return r->nwaits - 1;
}

static void begin_wait(struct rr *b, const struct trace_event *e)
{
    uint32_t g = e->idx;
    const char *text = sites_string(&b->sites, e->name);
    struct rr_g *x = &b->gs[g];
    if (is_runtimes(text)) {
        keep_cpu(b, g);
        x->wait = REC_NONE;
        return;
    }
    flush_cpu(b, g);
    if (!b->open)
        return;
    uint32_t site = sites_of(&b->sites, e->stack);
    x->wait = add_wait(b, g, site, reason_of(b, text, b->r->sites[site].leaf));
    rec_put(b->r, g, REC_WAIT, x->wait, 0);
    rr_wait_begins(b, g, x->wait);
    b->r->sums.waits++;
}

/* The first of the wakes of which one may have started an idle P. */
static void may_start_p(struct rr *b, const struct trace_event *e, bool is_g, uint32_t number)
{
    bool old = b->may.time < b->now - WOKE_P_NS;
    if (b->running_ps >= (uint32_t)b->r->procs || (b->may.set && !old))
        return;
    b->may = (struct rr_may){
        .set = true, .is_g = is_g, .number = number, .time = b->now, .m = e->m};
}

static void end_wait(struct rr *b, const struct trace_event *e)
{
    struct recording *r = b->r;
    struct rr_g *x = &b->gs[e->idx];
    if (x->wait == REC_NONE)
        return;
    struct rec_wait *w = &r->waits[x->wait];
    struct rr_p *p = p_of(b, e->p);
    w->woken = b->now;
    rr_wait_ends(b, e->idx);
    w->by_site = sites_of(&b->sites, e->stack);
    w->by_sched = e->g == TRACE_NONE && p != NULL;
    w->by_outside = e->g == TRACE_NONE && p == NULL;
    w->due_low = p != NULL ? p->look : w->from;
    w->look_busy = p != NULL && p->busy;
    if (e->g != TRACE_NONE) {
        w->waker = e->gx;
        rr_did(b, e->gx, REC_POST, x->wait, 0);
    }
    may_start_p(b, e, /*is_g*/ false, x->wait);
    x->woken_m = e->m;
}

/* ---- states ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Goroutines of the runtime and of the tracer. A main goroutine that has only been seen in the
 * runtime is the program's. */
static bool is_system(const struct rec_g *g)
{
    const char *name = g->name;
    if (name == NULL)
        return false;
    if (strcmp(name, "runtime.main") == 0 || g->id == 1)
        return false;
    return begins(name, "runtime.") || begins(name, "runtime/trace.") ||
           begins(name, "runtime/pprof.");
}

static void waited_for_p(struct rr *b, uint32_t g, int64_t ns)
{
    const struct rec_g *x = &b->r->gs[g];
    if (x->name == NULL) {
        X_ROOM(b->runq, b->nrunq, b->runq_room, 64);
        b->runq[b->nrunq++] = (struct rr_runq){ns, g};
    } else if (!is_system(x)) {
        hist_record(&b->r->runq_wait, ns);
    }
}

static void begins_to_run(struct rr *b, const struct trace_event *e)
{
    struct recording *r = b->r;
    struct rr_g *x = &b->gs[e->idx];
    struct rec_g *g = &r->gs[e->idx];
    uint32_t m_number = REC_NONE;
    struct rr_m *m = m_of(b, e->m, &m_number);
    struct rr_p *p = p_of(b, e->p);
    int64_t waited = b->now - x->since;
    if (b->open) {
        r->sums.runnable += waited;
        r->sums.starts++;
    }
    if (b->open && x->since >= b->opened)
        waited_for_p(b, e->idx, waited);
    bool woken = x->wait != REC_NONE && r->waits[x->wait].woken != INT64_MAX;
    bool starts_p = woken && r->waits[x->wait].woke_p;
    if (woken) {
        r->waits[x->wait].on = b->now;
        x->wait = REC_NONE;
        g->last_wait = REC_NONE;
    }
    g->starts++;
    if (g->starts == 4) {
        g->fourth = b->now;
        g->run_by = m_number;
    } else if (g->starts > 4 && g->run_by != m_number) {
        g->run_by = REC_NONE;
    }
    if (m != NULL) {
        if (woken && m->got_p && x->woken_m != e->m)
            g->fresh++; /* who comes out of a system call finds a P itself */
        if (m->got_p && x->woken_m != e->m && waited < HANDOFF_MAX_NS && starts_p)
            sample(&r->wakes, waited);
        if (m->stopped >= 0 && !m->got_p && b->now - m->stopped < SWITCH_MAX_NS)
            sample(&r->switches, b->now - m->stopped);
        m->got_p = false;
        m->stopped = -1;
        if (m->g != e->idx)
            m->other_at = b->now;
        m->g = e->idx;
    }
    if (p != NULL) {
        p->look = b->now;
        p->busy = true;
    }
}

static void is_created(struct rr *b, const struct trace_event *e)
{
    struct recording *r = b->r;
    struct rec_g *g = &r->gs[e->idx];
    struct rr_p *p = p_of(b, e->p);
    g->born = b->now;
    g->born_low = p != NULL ? p->look : b->now;
    const char *name = sites_function(&b->sites, e->new_stack);
    if (name != NULL)
        g->name = name;
    if (e->g != TRACE_NONE) {
        g->creator = e->gx;
        g->go_site = sites_of(&b->sites, e->stack);
        rr_did(b, e->gx, REC_GO, e->idx, 0);
    } else {
        g->by_timer = true;
    }
    if (b->open)
        r->sums.created++;
    may_start_p(b, e, /*is_g*/ true, e->idx);
    b->gs[e->idx].woken_m = e->m;
}

/* What the trace says of a goroutine that it had not spoken of; it has been so since the begin. */
static void is_seen(struct rr *b, const struct trace_event *e)
{
    struct rr_g *x = &b->gs[e->idx];
    x->since = b->opened;
    b->r->gs[e->idx].at_start = e->to;
    b->r->gs[e->idx].born = -1;
    x->state = e->to;
    if (e->to == TRACE_WAITING && b->open) {
        x->wait = add_wait(b, e->idx, sites_of(&b->sites, e->stack), REASON_Semacquire);
        b->r->waits[x->wait].from = b->opened;
        rec_put(b->r, e->idx, REC_WAIT, x->wait, 0);
    }
    if (e->to == TRACE_SYSCALL) {
        x->sys_from = b->opened;
        x->sys_site = sites_of(&b->sites, e->stack);
    }
}

static void leaves_syscall(struct rr *b, uint32_t g)
{
    struct rr_g *x = &b->gs[g];
    struct recording *r = b->r;
    int64_t took = b->now - x->sys_from;
    flush_cpu(b, g);
    put(b, g, REC_SYS, (uint64_t)took, x->sys_site);
    if (!b->open)
        return;
    r->sums.syscalls++;
    r->sums.syscall += took;
    enum rec_leaf leaf = r->sites[x->sys_site].leaf;
    if (leaf != LEAF_WRITE)
        return;
    X_ROOM(r->writes, r->nwrites, r->writes_room, 64);
    r->writes[r->nwrites++] = (struct rec_write){

        .g = g, .site = x->sys_site, .object = REC_NONE, .from = x->sys_from, .until = b->now};
}

static void stops(struct rr *b, const struct trace_event *e)
{
    const char *reason = sites_string(&b->sites, e->name);
    if (strcmp(reason, "runtime.Gosched") == 0) {
        rr_did(b, e->idx, REC_YIELD, 0, 0);
        return;
    }
    keep_cpu(b, e->idx);
    b->r->gs[e->idx].preempts++;
    b->r->sums.preempts += b->open;
}

static void leaves_running(struct rr *b, const struct trace_event *e)
{
    struct rr_g *x = &b->gs[e->idx];
    struct rr_m *m = m_of(b, e->m, NULL);
    if (b->open)
        b->r->sums.running += b->now - (x->since > b->opened ? x->since : b->opened);
    if (m != NULL && e->to != TRACE_SYSCALL)
        m->stopped = b->now;
    switch ((enum trace_state)e->to) {
    case TRACE_RUNNABLE: stops(b, e); break;
    case TRACE_WAITING: begin_wait(b, e); break;
    case TRACE_SYSCALL:
        flush_cpu(b, e->idx);
        x->sys_from = b->now;
        x->sys_site = sites_of(&b->sites, e->stack);
        break;
    case TRACE_NOT_EXIST:
        rr_did(b, e->idx, REC_END, 0, 0);
        b->r->gs[e->idx].ended = b->now;
        break;
    default: break;
    }
}

static void name_by(struct rr *b, const struct trace_event *e)
{
    struct rec_g *g = &b->r->gs[e->idx];
    if (g->name == NULL && e->stack != 0 && (e->g == e->id || e->from == TRACE_UNDETERMINED))
        g->name = sites_function(&b->sites, e->stack);
}

static void on_g(struct rr *b, const struct trace_event *e)
{
    g_room(b, e->idx);
    if (e->gx != TRACE_NO_INDEX)
        g_room(b, e->gx);
    struct rr_g *x = &b->gs[e->idx];
    b->r->gs[e->idx].id = e->id;
    name_by(b, e);
    if (e->from == TRACE_UNDETERMINED) {
        if (x->state == TRACE_UNDETERMINED)
            is_seen(b, e);
        return;
    }
    switch ((enum trace_state)e->from) {
    case TRACE_NOT_EXIST: is_created(b, e); break;
    case TRACE_RUNNING: leaves_running(b, e); break;
    case TRACE_WAITING: end_wait(b, e); break;
    case TRACE_SYSCALL: leaves_syscall(b, e->idx); break;
    case TRACE_RUNNABLE: begins_to_run(b, e); break;
    default: break;
    }
    x = &b->gs[e->idx];
    x->state = e->to;
    x->since = b->now;
}

/* ---- Ps ---- */

static void p_stops(struct rr *b, struct rr_p *p, const struct trace_event *e)
{
    if (b->open)
        b->r->sums.proc_running += b->now - (p->since > b->opened ? p->since : b->opened);
    b->running_ps -= b->running_ps > 0;
    p->stopped = b->now;
    p->look = b->now;
    p->busy = false;
    p->stopped_m = e->m;
}

static void p_starts(struct rr *b, struct rr_p *p, const struct trace_event *e)
{
    struct rr_m *m = m_of(b, e->m, NULL);
    b->running_ps++;
    p->since = b->now;
    if (m != NULL)
        m->got_p = true;
    if (p->stopped >= 0 && p->stopped_m != e->m && b->now - p->stopped < HANDOFF_MAX_NS)
        sample(&b->r->handoffs, b->now - p->stopped);
    if (!b->may.set || b->may.m == e->m || b->may.time < b->now - WOKE_P_NS)
        return;
    if (b->may.is_g)
        b->r->gs[b->may.number].woke_p = true;
    else
        b->r->waits[b->may.number].woke_p = true;
    b->may.set = false;
}

static void on_p(struct rr *b, const struct trace_event *e)
{
    struct rr_p *p = p_of(b, e->id);
    bool was = p->running, is = e->to == TRACE_RUNNING;
    p->running = is;
    if (e->from == TRACE_UNDETERMINED) {
        if (is && !was) {
            b->running_ps++;
            p->since = b->opened;
        }
        return;
    }
    if (was && !is)
        p_stops(b, p, e);
    else if (is && !was)
        p_starts(b, p, e);
}

/* ---- the rest ---- */

/* More on the heap is what this goroutine allocated: its P took a span. Less is what a collection
 * left, or a cache that was given back. */
static void on_heap(struct rr *b, const struct trace_event *e)
{
    int64_t is = e->value < (uint64_t)HEAP_MAX ? (int64_t)e->value : HEAP_MAX, was = b->heap;
    b->heap = is;
    if (was < 0)
        b->r->gc.heap = is;
    if (was < 0 || is <= was || e->g == TRACE_NONE || !b->open)
        return;
    g_room(b, e->gx);
    rr_did(b, e->gx, REC_ALLOC, (uint64_t)(is - was), 0);
}

/* The next collection's goal is said when one has ended; what is on the heap now is what it marked.
 */
static void on_goal(struct rr *b, int64_t goal)
{
    struct rec_gc *gc = &b->r->gc;
    if (b->heap < KB || goal <= b->heap || goal >= HEAP_MAX)
        return;
    gc->paced++;
    gc->marked += b->heap / KB;
    gc->goal += goal / KB;
}

static void on_metric(struct rr *b, const struct trace_event *e)
{
    struct recording *r = b->r;
    const char *name = sites_string(&b->sites, e->name);
    if (strcmp(name, "/sched/gomaxprocs:threads") == 0) {
        if (e->value > 0 && e->value <= INT32_MAX)
            r->procs = (int32_t)e->value;
        return;
    }
    bool goal = strcmp(name, "/gc/heap/goal:bytes") == 0;
    if (strcmp(name, "/memory/classes/heap/objects:bytes") == 0)
        on_heap(b, e);
    if (goal && b->open)
        on_goal(b, e->value < (uint64_t)HEAP_MAX ? (int64_t)e->value : HEAP_MAX);
}

static void on_range(struct rr *b, const struct trace_event *e, bool begins)
{
    const char *name = sites_string(&b->sites, e->name);
    if (strcmp(name, "GC mark assist") == 0 && e->scope == TRACE_SCOPE_G &&
        e->idx != TRACE_NO_INDEX) {
        g_room(b, e->idx);
        struct rr_g *x = &b->gs[e->idx];
        if (x->state == TRACE_RUNNING)
            keep_cpu(b, e->idx);
        x->assist = begins;
    }
    if (!begins || !b->open)
        return;
    b->r->sums.gcs += strcmp(name, "GC concurrent mark phase") == 0;
    b->r->sums.stw += strncmp(name, "stop-the-world", 14) == 0;
}

static uint32_t region_of(struct rr *b, const char *name)
{
    struct recording *r = b->r;
    for (uint32_t i = 0; i < r->nregions; i++)
        if (strcmp(r->regions[i], name) == 0)
            return i;
    X_ROOM(r->regions, r->nregions, r->regions_room, 64);
    r->regions[r->nregions] = name;
    return r->nregions++;
}

/* ---- the window ---- */

/* What objects hold when the window opens: left by what was done before it. */
static void objects_stand(struct recording *r)
{
    for (uint32_t i = 0; i < r->nobjects; i++)
        for (int k = 0; k < 2; k++) {
            struct rec_object *o = &r->objects[i];
            o->there[k] = o->sum[k] - o->low[k];
            o->sum[k] = o->low[k] = 0;
        }
}

static void window_opens(struct rr *b)
{
    struct recording *r = b->r;
    objects_stand(r);
    b->open = true;
    r->gc.heap = b->heap > 0 ? b->heap : 0;
    b->opened = b->now;
    r->trace_start_ns = b->zero + b->now;
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rr_g *x = &b->gs[g];
        r->gs[g].at_start = x->state;
        r->gs[g].born = -1;
        x->cpu = 0;
        x->wait = REC_NONE;
        if (x->state != TRACE_WAITING)
            x->since = b->now;
        if (x->state == TRACE_WAITING) {
            x->wait = add_wait(b, g, REC_NONE, REASON_Semacquire);
            rec_put(r, g, REC_WAIT, x->wait, 0);
        }
    }
}

static void window_closes(struct rr *b)
{
    struct recording *r = b->r;
    if (!b->open)
        return;
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rr_g *x = &b->gs[g];
        if (x->state == TRACE_RUNNING) {
            r->sums.running += b->now - x->since;
            flush_cpu(b, g);
        } else if (x->state == TRACE_SYSCALL) {
            put(b, g, REC_SYS, (uint64_t)(b->now - x->sys_from), x->sys_site);
        } else {
            flush_cpu(b, g); /* what it ran before it was preempted */
        }
    }
    for (uint32_t i = 0; i < b->nps; i++)
        if (b->ps[i].running)
            r->sums.proc_running += b->now -
                                    (b->ps[i].since > b->opened ? b->ps[i].since : b->opened);
    b->open = false;
    b->closed = true;
    r->length = b->now - b->opened;
}

static void on_region(struct rr *b, const struct trace_event *e, bool begins)
{
    const char *name = sites_string(&b->sites, e->name);
    bool is_window = b->window != NULL && strcmp(name, b->window) == 0;
    if (e->g != TRACE_NONE)
        g_room(b, e->gx);
    if (is_window && begins && !b->open && !b->closed) {
        window_opens(b);
        b->r->main_g = e->gx;
    }
    if (e->g != TRACE_NONE)
        rr_did(b, e->gx, begins ? REC_BEGIN : REC_FINISH, region_of(b, name), 0);
    if (is_window && !begins && b->open)
        window_closes(b);
}

static void on_log(struct rr *b, const struct trace_event *e)
{
    size_t size;
    uint64_t format = e->g != TRACE_NONE ? rec_format_of(sites_string(&b->sites, e->name)) : 0;
    if (format > b->r->format)
        b->r->format = format;
    if (format == 0 || format > REC_FORMAT)
        return;
    const char *text = trace_string(b->sites.t, e->text, &size);
    g_room(b, e->gx);
    uint32_t site = sites_of(&b->sites, e->stack);
    if (!b->r->sites[site].runtimes)
        rr_op(b, e->gx, e->id, text, site);
}

static void on_event(struct rr *b, const struct trace_event *e)
{
    b->now = e->time - b->zero;
    if (b->window == NULL && !b->open && !b->closed && b->now >= b->from)
        window_opens(b);
    if (b->open && b->to > 0 && b->now > b->to)
        window_closes(b);
    switch ((enum trace_kind)e->kind) {
    case TRACE_G: on_g(b, e); break;
    case TRACE_P: on_p(b, e); break;
    case TRACE_METRIC: on_metric(b, e); break;
    case TRACE_RANGE_BEGIN:
    case TRACE_RANGE_ACTIVE: on_range(b, e, true); break;
    case TRACE_RANGE_END: on_range(b, e, false); break;
    case TRACE_REGION_BEGIN: on_region(b, e, true); break;
    case TRACE_REGION_END: on_region(b, e, false); break;
    case TRACE_LOG: on_log(b, e); break;
    default: break;
    }
}

static void on_events(void *arg, const struct trace_event *evs, size_t count)
{
    struct rr *b = arg;
    if (!b->begun) {
        b->begun = true;
        b->zero = trace_info_of(b->sites.t)->start_ns;
        (void)sites_of(&b->sites, 0); /* number 0 is a place that nobody knows */
    }
    for (size_t i = 0; i < count; i++)
        on_event(b, &evs[i]);
}

/* ---- the end ---- */

/* Who is of the program is known at the end. */
static void only_programs_waits(struct rr *b)
{
    for (size_t i = 0; i < b->nrunq; i++)
        if (!b->r->gs[b->runq[i].g].system)
            hist_record(&b->r->runq_wait, b->runq[i].ns);
}

static void finish(struct rr *b)
{
    struct recording *r = b->r;
    int64_t end = trace_info_of(b->sites.t)->end_ns - b->zero;
    if (b->open) {
        b->now = end > b->now ? end : b->now;
        window_closes(b);
    }
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_g *x = &r->gs[g];
        x->system = is_system(x);
        if (x->name == NULL)
            x->name = x->id == 1 ? "main.main" : "";
        if (strcmp(x->name, "runtime.gcBgMarkWorker") == 0)
            r->gc.worker_ns += x->cpu;
    }
    only_programs_waits(b);
    r->gc.assist_ns = r->sums.assist;
    /* Times of the recording count from where the window opened. */
    for (uint32_t i = 0; rec_is_wait(r, i); i++) {
        struct rec_wait *w = &r->waits[i];
        w->from -= b->opened;
        w->due_low -= b->opened;
        w->woken -= w->woken != INT64_MAX ? b->opened : 0;
        w->on -= w->on != INT64_MAX ? b->opened : 0;
    }
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_g *x = &r->gs[g];
        x->born -= x->born >= 0 ? b->opened : 0;
        x->born_low -= b->opened;
        x->fourth -= b->opened;
        x->ended -= x->ended != INT64_MAX ? b->opened : 0;
    }
    for (uint32_t i = 0; i < r->nwrites; i++) {
        r->writes[i].from -= b->opened;
        r->writes[i].until -= b->opened;
    }
    for (uint32_t i = 0; i < r->nitems; i++)
        r->items[i].at -= b->opened;
    for (uint32_t i = 0; i < r->nafters; i++)
        r->afters[i].at -= b->opened;
    for (uint32_t i = 0; i < r->nafters; i++)
        r->afters[i].stopped -= r->afters[i].stopped != INT64_MAX ? b->opened : 0;
}

/* What happened after the window has not happened: who waited when it closed waits for ever. */
static void forget_later(struct recording *r)
{
    for (uint32_t i = 0; rec_is_wait(r, i); i++)
        if (r->waits[i].woken > r->length) {
            r->waits[i].woken = r->waits[i].on = INT64_MAX;
            r->waits[i].waker = REC_NONE;
        }
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_g *x = &r->gs[g];
        x->system |= x->born > r->length;
        if (x->ended > r->length)
            x->ended = INT64_MAX;
    }
}

/* What went out of an object without having come in was there before. But a select says that it has
 * sent when the receiver may have gone on already: no more was there than there is room for. */
static void objects_had(struct recording *r)
{
    for (uint32_t i = 0; i < r->nobjects; i++)
        for (int k = 0; k < 2; k++) {
            struct rec_object *o = &r->objects[i];
            if (-o->low[k] > o->there[k])
                o->there[k] = -o->low[k];
            if (o->sent && o->there[k] > o->param)
                o->there[k] = (int32_t)o->param;
        }
}

static void find_locked(struct rr *b)
{
    for (uint32_t g = 0; g < b->r->ngs; g++) {
        struct rec_g *x = &b->r->gs[g];
        if (x->run_by == REC_NONE)
            continue;
        struct rr_m *m = &b->ms[x->run_by];
        if (m->g != g || m->other_at > x->fourth + b->opened)
            x->run_by = REC_NONE; /* its thread ran others, too */
    }
}

static void release(struct rr *b)
{
    sites_release(&b->sites);
    rr_ops_release(b);
    map_release(&b->p_numbers);
    map_release(&b->m_numbers);
    free(b->gs);
    free(b->runq);
    free(b->ps);
    free(b->ms);
}

struct recording *recording_read(struct failure *f, struct trace *t, const struct rec_opts *o)
{
    struct recording *r = recording_new();
    struct rr b = {.r = r, .sites = {.r = r, .t = t}, .heap = -1};
    if (o != NULL) {
        b.window = o->window;
        b.from = o->from_ns;
        b.to = o->to_ns;
    }
    bool ok = trace_each(t, f, on_events, &b);
    const struct trace_info *info = trace_info_of(t);
    r->version = info->version;
    for (int i = 0; ok && i < info->nnotes; i++)
        note(&b, info->notes[i]);
    if (ok && r->format > REC_FORMAT) {
        ok = false;
        fail(f, E_TRACE, "a deep recording of format %" PRIu64 "; this version reads up to %d",
             r->format, REC_FORMAT);
    }
    if (ok && r->ngs == 0) {
        ok = false;
        fail(f, E_TRACE, "no goroutine is in the trace: it was not written to the end");
    } else if (ok && !b.open && !b.closed) {
        ok = false;
        if (b.window != NULL)
            fail(f, E_TRACE, "no region named '%s' in the trace", b.window);
        else
            fail(f, E_TRACE, "the trace has no events in that time");
    }
    if (ok) {
        finish(&b);
        forget_later(r);
        objects_had(r);
        find_locked(&b);
    }
    release(&b);
    if (ok)
        return r;
    recording_free(r);
    return NULL;
}
