/* SPDX-License-Identifier: BSD-3-Clause */
/* Goroutines, Ps and ranges of a trace, summed up. */
#include "replay/totals_int.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

static const uint8_t spent_of[TRACE_STATES] = {
    [TRACE_UNDETERMINED] = SPENT_COUNT, [TRACE_NOT_EXIST] = SPENT_COUNT,
    [TRACE_RUNNABLE] = SPENT_RUNNABLE,  [TRACE_RUNNING] = SPENT_RUNNING,
    [TRACE_WAITING] = SPENT_WAITING,    [TRACE_SYSCALL] = SPENT_SYSCALL,
    [TRACE_IDLE] = SPENT_COUNT,
};

void reasons_add(struct reasons *r, uint32_t reason, int64_t ns)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->list[i].reason == reason) {
            r->list[i].ns += ns;
            return;
        }
    }
    X_ROOM(r->list, r->count, r->room, 2);
    r->list[r->count++] = (struct reason_time){.reason = reason, .ns = ns};
}

void counts_add(struct counts *c, uint32_t name)
{
    struct map_slot *slot = map_find(&c->index, name, 0);
    if (slot != NULL) {
        c->list[slot->a].count++;
        return;
    }
    if (c->count >= DISTINCT_MAX && name != TRACE_NO_INDEX) {
        counts_add(c, TRACE_NO_INDEX);
        return;
    }
    map_put(&c->index, name, 0)->a = (uint32_t)c->count;
    X_ROOM(c->list, c->count, c->room, 8);
    c->list[c->count++] = (struct count_of){.name = name, .count = 1};
}

void counts_release(struct counts *c)
{
    free(c->list);
    map_release(&c->index);
}

bool totals_init(struct failure *f, struct totals *t, const struct trace *trace)
{
    memset(t, 0, sizeof *t);
    t->trace = trace;
    t->s = x_alloc(sizeof *t->s);
    memset(t->s, 0, sizeof *t->s);
    if (arena_init(&t->s->arena, (size_t)1 << 32, 0, f) != 0) {
        free(t->s);
        return false;
    }
    id_init(&t->s->ps);
    id_init(&t->s->tasks);
    id_init(&t->s->ms);
    t->s->queue.next = t->s->queue.prev = &t->s->queue;
    hist_init(&t->queue, &t->s->arena, HIST_SAMPLES_DEFAULT);
    hist_init(&t->queue_unblocked, &t->s->arena, HIST_SAMPLES_DEFAULT);
    hist_init(&t->unused_hist, &t->s->arena, HIST_SAMPLES_DEFAULT);
    return true;
}

/* ---- goroutines ---- */

struct live_g *live_of(const struct totals *t, uint32_t index)
{
    size_t page = index / GS_PER_PAGE;
    if (page >= t->s->npages || t->s->pages[page] == NULL)
        return NULL;
    return t->s->pages[page]->live[index % GS_PER_PAGE];
}

const struct goroutine_total *totals_goroutine(const struct totals *t, uint32_t index)
{
    size_t page = index / GS_PER_PAGE;
    if (index >= t->goroutines || t->s->pages[page] == NULL)
        return NULL;
    return &t->s->pages[page]->rows[index % GS_PER_PAGE];
}

static struct live_g *g_new(struct totals *t, const struct trace_event *e)
{
    struct totals_state *s = t->s;
    size_t page = e->idx / GS_PER_PAGE, at = e->idx % GS_PER_PAGE;
    if (page >= s->npages) {
        s->pages = x_grow(s->pages, (page + 1) * sizeof(struct g_page *));
        for (; s->npages <= page; s->npages++) {
            s->pages[s->npages] = x_alloc(sizeof(struct g_page));
            memset(s->pages[s->npages], 0, sizeof(struct g_page));
        }
    }
    struct goroutine_total *row = &s->pages[page]->rows[at];
    struct live_g *g = x_alloc(sizeof *g);
    bool appeared = e->from == TRACE_UNDETERMINED;
    *row = (struct goroutine_total){.id = e->id,
                                    .creator = appeared ? TRACE_NONE : e->g,
                                    .appeared = appeared,
                                    .begin = appeared ? t->start : e->time,
                                    .end = -1};
    *g = (struct live_g){.since = row->begin, .no_p_since = -1, .m = TRACE_NONE, .row = row};
    s->pages[page]->live[at] = g;
    t->goroutines = (uint64_t)e->idx + 1;
    return g;
}

static void g_free(struct totals *t, uint32_t index)
{
    size_t page = index / GS_PER_PAGE;
    struct g_page *p = t->s->pages[page];
    struct live_g *g = p->live[index % GS_PER_PAGE];
    g_regions_free(g);
    free(g);
    p->live[index % GS_PER_PAGE] = NULL;
    if (++p->ended == GS_PER_PAGE && page >= PAGES_KEPT) {
        for (int i = 0; i < GS_PER_PAGE; i++)
            free(p->rows[i].waits.list);
        free(p);
        t->s->pages[page] = NULL;
    }
}

/* The outermost function of the first stack that is seen of it: as Go's tools name goroutines. */
static void g_name(struct totals *t, struct goroutine_total *row, uint32_t stack)
{
    if (row->name != 0 || stack == 0)
        return;
    struct trace_stack k = trace_stack_of(t->trace, stack);
    row->name = trace_frame_of(t->trace, k.frames[k.count - 1]).func;
}

void g_charge(struct totals *t, struct live_g *g, int64_t now)
{
    enum spent spent = spent_of[g->row->state];
    int64_t ns = now - g->since;
    g->since = now;
    if (spent == SPENT_COUNT || ns <= 0)
        return;
    g->row->ns[spent] += ns;
    t->ns[spent] += ns;
    if (spent == SPENT_WAITING) {
        reasons_add(&g->row->waits, g->reason, ns);
        reasons_add(&t->waits, g->reason, ns);
    }
}

static struct live_m *m_of(struct totals *t, uint64_t id)
{
    struct live_m *m = id_find(&t->s->ms, id);
    if (m == NULL) {
        m = x_alloc(sizeof *m);
        *m = (struct live_m){.syscall = TRACE_NO_INDEX};
        id_put(&t->s->ms, id, m);
        t->threads += id != TRACE_NONE;
    }
    return m;
}

static void no_p_end(struct totals *t, struct live_g *g, int64_t now)
{
    if (g->no_p_since < 0)
        return;
    g->row->syscall_no_p += now - g->no_p_since;
    t->syscall_no_p += now - g->no_p_since;
    g->no_p_since = -1;
}

static void g_count(struct goroutine_total *row, const struct trace_event *e)
{
    if (e->from == TRACE_RUNNABLE && e->to == TRACE_RUNNING)
        row->starts++;
    else if (e->from == TRACE_WAITING && e->to == TRACE_RUNNABLE)
        row->unblocks++;
    else if (e->from == TRACE_RUNNING && e->to == TRACE_WAITING)
        row->blocks++;
    else if (e->from == TRACE_RUNNING && e->to == TRACE_RUNNABLE)
        row->stops++;
    else if (e->from == TRACE_RUNNING && e->to == TRACE_SYSCALL)
        row->syscalls++;
}

/* The event's goroutine becomes e->to: opens what begins with that. */
static void g_enter(struct totals *t, struct live_g *g, const struct trace_event *e)
{
    switch ((enum trace_state)e->to) {
    case TRACE_RUNNABLE:
        g->unblocked = e->from == TRACE_WAITING;
        queue_enter(t, g, e->time);
        break;
    case TRACE_WAITING: g->reason = e->from == TRACE_RUNNING ? e->name : 0; break;
    case TRACE_SYSCALL:
        g->m = e->m;
        m_of(t, e->m)->syscall = e->idx;
        if (m_of(t, e->m)->p == NULL)
            g->no_p_since = g->since;
        break;
    default: break;
    }
}

static void feed_g(struct totals *t, const struct trace_event *e)
{
    struct live_g *g;
    bool born = e->from == TRACE_UNDETERMINED || e->from == TRACE_NOT_EXIST;
    t->g_changes[e->from][e->to]++;
    if (e->kind == TRACE_G && e->to == TRACE_WAITING && e->from == TRACE_RUNNING)
        counts_add(&t->blocks, e->name);
    if (e->to == TRACE_RUNNABLE && e->from == TRACE_RUNNING)
        counts_add(&t->stops, e->name);
    if (born) {
        g = g_new(t, e);
        struct live_g *by = e->gx != TRACE_NO_INDEX ? live_of(t, e->gx) : NULL;
        if (by != NULL && !g->row->appeared)
            by->row->created++;
    } else {
        g = live_of(t, e->idx);
    }
    bool own = e->wire != WIRE_GO_UNBLOCK && e->wire != WIRE_GO_CREATE &&
               e->wire != WIRE_GO_CREATE_BLOCKED;
    g_name(t, g->row, own ? e->stack : e->new_stack);
    if (e->from == e->to)
        return;
    if (!born)
        g_charge(t, g, e->time);
    no_p_end(t, g, e->time);
    if (e->from == TRACE_RUNNABLE)
        queue_leave(t, g, e->to == TRACE_RUNNING ? e->p : TRACE_NONE, e->time);
    g_count(g->row, e);
    tasks_hear(t, g, spent_of[e->to], e->from == TRACE_RUNNING ? e->name : 0, e->time);
    g->row->state = e->to;
    g_enter(t, g, e);
    if (e->to == TRACE_NOT_EXIST) {
        g->row->ended = true;
        g->row->end = e->time;
        g_free(t, e->idx);
    }
}

/* ---- Ps ---- */

static struct live_p *p_of(struct totals *t, uint64_t id)
{
    struct live_p *p = id_find(&t->s->ps, id);
    if (p == NULL) {
        p = x_alloc(sizeof *p);
        *p = (struct live_p){.at = t->nps, .since = t->start, .m = TRACE_NONE};
        id_put(&t->s->ps, id, p);
        t->ps = x_grow(t->ps, (t->nps + 1) * sizeof *t->ps);
        t->ps[t->nps++] = (struct proc_total){.id = id, .state = TRACE_UNDETERMINED};
    }
    return p;
}

static void p_charge(struct totals *t, struct live_p *p, int64_t now)
{
    struct proc_total *row = &t->ps[p->at];
    int64_t ns = now - p->since;
    p->since = now;
    if (row->state == TRACE_RUNNING) {
        row->running += ns;
        t->proc_running += ns;
    } else if (row->state == TRACE_IDLE) {
        row->idle += ns;
    }
}

static void p_bind(struct totals *t, struct live_p *p, uint64_t m)
{
    if (p->m != TRACE_NONE && m_of(t, p->m)->p == p)
        m_of(t, p->m)->p = NULL;
    p->m = m;
    if (m != TRACE_NONE)
        m_of(t, m)->p = p;
}

/* The goroutine that is in a system call on this thread goes on without a P. */
static void p_taken(struct totals *t, uint64_t m, int64_t now)
{
    uint32_t index = m_of(t, m)->syscall;
    struct live_g *g = index != TRACE_NO_INDEX ? live_of(t, index) : NULL;
    if (g != NULL && g->row->state == TRACE_SYSCALL && g->m == m && g->no_p_since < 0)
        g->no_p_since = now;
}

static void feed_p(struct totals *t, const struct trace_event *e)
{
    struct live_p *p = p_of(t, e->id);
    struct proc_total *row = &t->ps[p->at];
    t->p_changes[e->from][e->to]++;
    if (e->from == TRACE_UNDETERMINED && row->state == TRACE_UNDETERMINED) {
        row->state = e->to; /* it was so from the beginning */
    } else if (e->from == TRACE_NOT_EXIST) {
        p->since = e->time;
        row->state = e->to;
    }
    p_charge(t, p, e->time);
    if (e->from == TRACE_IDLE && e->to == TRACE_RUNNING)
        row->starts++;
    if (e->from == TRACE_RUNNING && e->to == TRACE_IDLE) {
        row->stops++;
        uint64_t m = e->wire == WIRE_PROC_STEAL ? e->value : e->m;
        p_bind(t, p, TRACE_NONE);
        p_taken(t, m, e->time);
    } else if (e->to == TRACE_RUNNING && e->from != e->to) {
        p_bind(t, p, e->m);
    }
    row->state = e->to;
    p_idle(t, p, e->to == TRACE_IDLE, e->time);
}

void totals_idle_at_begin(struct totals *t, uint64_t p)
{
    struct totals_state *s = t->s;
    s->idle_first = x_grow(s->idle_first, (s->nidle_first + 1) * sizeof *s->idle_first);
    s->idle_first[s->nidle_first++] = p;
}

void totals_look_ahead(struct totals *t, struct trace *first)
{
    const struct trace_event *evs;
    size_t count;
    uint64_t syncs = 0;
    while (syncs < 2 && trace_next(first, NULL, &evs, &count) == TRACE_MORE) {
        for (size_t i = 0; i < count && syncs < 2; i++) {
            syncs += evs[i].kind == TRACE_SYNC;
            if (evs[i].kind == TRACE_P && evs[i].from == TRACE_UNDETERMINED &&
                evs[i].to == TRACE_IDLE)
                totals_idle_at_begin(t, evs[i].id);
        }
    }
}

/* ---- ranges ---- */

static struct range_total *range_total(struct totals *t, uint32_t name)
{
    struct map_slot *slot = map_find(&t->s->range_index, name, 0);
    if (slot != NULL)
        return &t->ranges[slot->a];
    if (t->nranges >= DISTINCT_MAX && name != TRACE_NO_INDEX)
        return range_total(t, TRACE_NO_INDEX);
    map_put(&t->s->range_index, name, 0)->a = (uint32_t)t->nranges;
    t->ranges = x_grow(t->ranges, (t->nranges + 1) * sizeof *t->ranges);
    t->ranges[t->nranges] = (struct range_total){.name = name};
    return &t->ranges[t->nranges++];
}

static bool is_stw(const struct trace_event *e)
{
    return e->wire == WIRE_STW_BEGIN || e->wire == WIRE_STW_END;
}

static void range_begins(struct totals *t, const struct trace_event *e)
{
    bool listed = is_stw(e) || e->scope == TRACE_SCOPE_GLOBAL;
    if (map_find(&t->s->ranges, e->id, e->name) != NULL)
        return; /* active again in the next generation */
    struct map_slot *s = map_put(&t->s->ranges, e->id, e->name);
    s->at = (uint64_t)(e->kind == TRACE_RANGE_ACTIVE ? t->start : e->time);
    range_total(t, e->name)->count++;
    if (is_stw(e))
        stw_change(t, 1, e->time);
    if (!listed || t->ngc_and_stw == RANGES_MAX)
        return;
    t->gc_and_stw = x_grow(t->gc_and_stw, (t->ngc_and_stw + 1) * sizeof *t->gc_and_stw);
    t->gc_and_stw[t->ngc_and_stw++] = (struct range_of){
        .name = e->name, .scope = e->scope, .id = e->id, .begin = (int64_t)s->at, .end = -1};
    s->a = (uint32_t)t->ngc_and_stw;
}

static void range_ends(struct totals *t, const struct trace_event *e)
{
    struct map_slot *s = map_find(&t->s->ranges, e->id, e->name);
    if (is_stw(e) && t->s->stw > 0)
        stw_change(t, -1, e->time);
    if (s == NULL)
        return;
    range_total(t, e->name)->ns += e->time - (int64_t)s->at;
    if (s->a != 0)
        t->gc_and_stw[s->a - 1].end = e->time;
    map_take(&t->s->ranges, s);
}

/* ---- events ---- */

static void feed_metric(struct totals *t, const struct trace_event *e)
{
    counts_add(&t->metrics, e->name);
    if (e->wire != WIRE_PROCS_CHANGE)
        return;
    if (e->value > t->procs_max)
        t->procs_max = e->value;
    procs_change(t, e->value, e->time);
}

static void feed_sync(struct totals *t, const struct trace_event *e)
{
    if (t->syncs++ > 0)
        return;
    t->start = t->now = t->s->idle_since = e->time;
    for (size_t i = 0; i < t->s->nidle_first; i++)
        p_idle(t, p_of(t, t->s->idle_first[i]), true, e->time);
}

static void feed(struct totals *t, const struct trace_event *e)
{
    t->kinds[e->kind]++;
    if (e->kind == TRACE_SYNC) {
        feed_sync(t, e);
        return;
    }
    t->events++;
    t->now = e->time;
    switch ((enum trace_kind)e->kind) {
    case TRACE_G: feed_g(t, e); break;
    case TRACE_P: feed_p(t, e); break;
    case TRACE_RANGE_BEGIN:
    case TRACE_RANGE_ACTIVE: range_begins(t, e); break;
    case TRACE_RANGE_END: range_ends(t, e); break;
    case TRACE_METRIC: feed_metric(t, e); break;
    case TRACE_TASK_BEGIN: task_begins(t, e); break;
    case TRACE_TASK_END: task_ends(t, e); break;
    case TRACE_REGION_BEGIN: region_begins(t, e); break;
    case TRACE_REGION_END: region_ends(t, e); break;
    case TRACE_LOG: counts_add(&t->logs, e->name); break;
    case TRACE_SAMPLE: t->samples++; break;
    case TRACE_LABEL:
    case TRACE_EXPERIMENT:
    case TRACE_SYNC:
    case TRACE_KINDS: break;
    }
}

void totals_feed(void *arg, const struct trace_event *evs, size_t count)
{
    struct totals *t = arg;
    for (size_t i = 0; i < count; i++) {
        if (evs[i].m != TRACE_NONE)
            m_of(t, evs[i].m);
        feed(t, &evs[i]);
    }
}

/* ---- the end ---- */

static int by_id(const void *a, const void *b)
{
    const struct proc_total *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void ranges_end(struct totals *t)
{
    for (size_t i = 0; i < t->s->ranges.capacity; i++) {
        const struct map_slot *s = &t->s->ranges.slots[i];
        if (s->used)
            range_total(t, s->key2)->ns += t->now - (int64_t)s->at;
    }
}

void totals_end(struct totals *t)
{
    for (uint32_t i = 0; i < t->goroutines; i++) {
        struct live_g *g = live_of(t, i);
        if (g == NULL)
            continue;
        g_charge(t, g, t->now);
        no_p_end(t, g, t->now);
    }
    for (size_t i = 0; i < t->nps; i++)
        p_charge(t, id_find(&t->s->ps, t->ps[i].id), t->now);
    ranges_end(t);
    waits_end(t, t->now);
    named_end(t);
    qsort(t->ps, t->nps, sizeof *t->ps, by_id);
}

static void states_free(struct id_table *table)
{
    for (size_t i = 0; i < table->capacity; i++)
        free(table->slots[i].state);
    free(table->slots);
}

static void pages_free(struct totals_state *s)
{
    for (size_t i = 0; i < s->npages; i++) {
        struct g_page *p = s->pages[i];
        for (int k = 0; p != NULL && k < GS_PER_PAGE; k++) {
            free(p->rows[k].waits.list);
            if (p->live[k] != NULL)
                g_regions_free(p->live[k]);
            free(p->live[k]);
        }
        free(p);
    }
    free(s->pages);
}

void totals_release(struct totals *t)
{
    struct totals_state *s = t->s;
    pages_free(s);
    named_release(t);
    states_free(&s->ps);
    states_free(&s->ms);
    map_release(&s->ranges);
    map_release(&s->range_index);
    free(s->idle_first);
    arena_release(&s->arena);
    free(s);
    struct counts *counts[] = {&t->blocks, &t->stops, &t->regions,
                               &t->tasks,  &t->logs,  &t->metrics};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        counts_release(counts[i]);
    free(t->waits.list);
    free(t->ps);
    free(t->ranges);
    free(t->gc_and_stw);
}
