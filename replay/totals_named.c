/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions and tasks of a trace: how long they took, and where the time of the slow ones went.
 *
 * A region is of one goroutine: its time is what the goroutine's clocks say at its end less what
 * they said at its beginning. A task is of several: at each moment it does the best that a
 * goroutine inside of one of its regions does (to run is better than to be runnable, than a
 * system call, than to wait); outside of all its regions it does what the goroutine does
 * that began it. Which others work for it, a trace does not say. */
#include "replay/totals_int.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

static struct named_total *named_of(struct totals *t, uint32_t name, bool task)
{
    struct map_slot *slot = map_find(&t->s->named, name, task);
    if (slot != NULL)
        return t->named[slot->a];
    if (t->nnamed >= DISTINCT_MAX && name != TRACE_NO_INDEX)
        return named_of(t, TRACE_NO_INDEX, task);
    map_put(&t->s->named, name, task)->a = (uint32_t)t->nnamed;
    t->named = x_grow(t->named, (t->nnamed + 1) * sizeof(struct named_total *));
    struct named_total *n = x_alloc(sizeof *n);
    memset(n, 0, sizeof *n);
    n->name = name;
    n->task = task;
    hist_init(&n->took, &t->s->arena, HIST_SAMPLES_DEFAULT);
    return t->named[t->nnamed++] = n;
}

static bool less(const struct named_time *a, const struct named_time *b)
{
    return a->ns < b->ns || (a->ns == b->ns && a->begin > b->begin);
}

/* Takes over what it holds. */
static void keep(struct named_total *n, struct named_time *time)
{
    struct named_time *h = n->slowest;
    size_t i;
    hist_record(&n->took, time->ns);
    if (n->nslowest < SLOWEST_MAX) {
        i = n->nslowest++;
        for (; i > 0 && less(time, &h[(i - 1) / 2]); i = (i - 1) / 2)
            h[i] = h[(i - 1) / 2];
        h[i] = *time;
        return;
    }
    if (!less(&h[0], time)) {
        free(time->waits.list);
        return;
    }
    free(h[0].waits.list);
    for (i = 0; 2 * i + 1 < SLOWEST_MAX;) {
        size_t least = 2 * i + 1;
        if (least + 1 < SLOWEST_MAX && less(&h[least + 1], &h[least]))
            least++;
        if (!less(&h[least], time))
            break;
        h[i] = h[least];
        i = least;
    }
    h[i] = *time;
}

/* ---- regions ---- */

static struct reasons reasons_copy(const struct reasons *r)
{
    struct reasons copy = {.count = r->count, .room = r->count};
    if (r->count > 0) {
        copy.list = x_alloc(r->count * sizeof *copy.list);
        memcpy(copy.list, r->list, r->count * sizeof *copy.list);
    }
    return copy;
}

/* What was added to `before` since. A list only grows at its end. */
static struct reasons reasons_since(const struct reasons *now, const struct reasons *before)
{
    struct reasons diff = {.count = 0};
    for (uint32_t i = 0; i < now->count; i++) {
        int64_t ns = now->list[i].ns - (i < before->count ? before->list[i].ns : 0);
        if (ns > 0)
            reasons_add(&diff, now->list[i].reason, ns);
    }
    return diff;
}

static struct task_link *link_of(struct live_g *g, const struct live_task *task)
{
    for (uint32_t i = 0; i < g->nlinks; i++)
        if (g->links[i].task == task)
            return &g->links[i];
    return NULL;
}

static struct task_link *link_make(struct live_g *g, struct live_task *task)
{
    struct task_link *link = link_of(g, task);
    if (link != NULL)
        return link;
    X_ROOM(g->links, g->nlinks, g->links_room, 2);
    X_ROOM(task->members, task->nmembers, task->members_room, 2);
    task->members[task->nmembers++] = g;
    g->links[g->nlinks] = (struct task_link){.task = task};
    return &g->links[g->nlinks++];
}

static void member_drop(struct live_task *task, const struct live_g *g)
{
    for (uint32_t i = 0; i < task->nmembers; i++) {
        if (task->members[i] == g) {
            task->members[i] = task->members[--task->nmembers];
            return;
        }
    }
}

static void link_drop(struct live_g *g, struct task_link *link)
{
    if (link->regions > 0 || link->creator)
        return;
    member_drop(link->task, g);
    *link = g->links[--g->nlinks];
}

static void task_charge(struct totals *t, struct live_task *task, int64_t now);

static void region_links(struct totals *t, struct live_g *g, uint64_t task_id, bool begins,
                         int64_t now)
{
    struct live_task *task = task_id != 0 ? id_find(&t->s->tasks, task_id) : NULL;
    struct task_link *link = task == NULL ? NULL : begins ? link_make(g, task) : link_of(g, task);
    if (link == NULL || (!begins && link->regions == 0))
        return;
    task_charge(t, task, now);
    link->regions += begins ? 1 : (uint32_t)-1;
    if (begins && link->regions == 1)
        task->in[SPENT_RUNNING]++;
    if (!begins && link->regions == 0) {
        task->in[SPENT_RUNNING]--;
        link_drop(g, link);
    }
}

void region_begins(struct totals *t, const struct trace_event *e)
{
    struct live_g *g = e->gx != TRACE_NO_INDEX ? live_of(t, e->gx) : NULL;
    counts_add(&t->regions, e->name);
    named_of(t, e->name, false)->open++;
    if (g == NULL)
        return;
    g_charge(t, g, e->time);
    X_ROOM(g->regions, g->nregions, g->regions_room, 2);
    struct open_region *r = &g->regions[g->nregions++];
    *r = (struct open_region){.name = e->name,
                              .task = e->id,
                              .begin = e->time,
                              .idle_ns = g->row->idle_ns,
                              .waits = reasons_copy(&g->row->waits)};
    memcpy(r->ns, g->row->ns, sizeof r->ns);
    region_links(t, g, e->id, true, e->time);
}

void region_ends(struct totals *t, const struct trace_event *e)
{
    struct live_g *g = e->gx != TRACE_NO_INDEX ? live_of(t, e->gx) : NULL;
    if (g == NULL || g->nregions == 0)
        return; /* began before the trace */
    struct open_region *r = &g->regions[g->nregions - 1];
    if (r->name != e->name || r->task != e->id)
        return;
    g_charge(t, g, e->time);
    struct named_total *n = named_of(t, e->name, false);
    struct named_time time = {.begin = r->begin,
                              .ns = e->time - r->begin,
                              .g = g->row->id,
                              .task = r->task,
                              .idle_ns = g->row->idle_ns - r->idle_ns,
                              .waits = reasons_since(&g->row->waits, &r->waits)};
    for (int i = 0; i < SPENT_COUNT; i++)
        time.spent[i] = g->row->ns[i] - r->ns[i];
    n->open--;
    keep(n, &time);
    free(r->waits.list);
    g->nregions--;
    region_links(t, g, e->id, false, e->time);
}

void g_regions_free(struct live_g *g)
{
    for (uint32_t i = 0; i < g->nregions; i++)
        free(g->regions[i].waits.list);
    free(g->regions);
    free(g->links);
}

/* ---- tasks ---- */

/* SPENT_COUNT: nobody is known to work for it. */
static enum spent task_class(const struct live_task *task)
{
    static const enum spent best[] = {SPENT_RUNNING, SPENT_RUNNABLE, SPENT_SYSCALL, SPENT_WAITING};
    for (int i = 0; i < SPENT_COUNT; i++)
        if (task->in[best[i]] > 0)
            return best[i];
    if (task->creator == NULL)
        return SPENT_COUNT;
    switch ((enum trace_state)task->creator->row->state) {
    case TRACE_RUNNING: return SPENT_RUNNING;
    case TRACE_RUNNABLE: return SPENT_RUNNABLE;
    case TRACE_SYSCALL: return SPENT_SYSCALL;
    case TRACE_WAITING: return SPENT_WAITING;
    default: return SPENT_COUNT;
    }
}

static void task_charge(struct totals *t, struct live_task *task, int64_t now)
{
    enum spent c = task_class(task);
    int64_t ns = now - task->since, idle = idle_clock(t, now);
    if (c == SPENT_COUNT)
        task->time.elsewhere += ns;
    else
        task->time.spent[c] += ns;
    if (c == SPENT_WAITING)
        reasons_add(&task->time.waits, task->reason, ns);
    if (c == SPENT_RUNNABLE)
        task->time.idle_ns += idle - task->idle_at;
    task->since = now;
    task->idle_at = idle;
}

void task_begins(struct totals *t, const struct trace_event *e)
{
    struct live_g *g = e->gx != TRACE_NO_INDEX ? live_of(t, e->gx) : NULL;
    counts_add(&t->tasks, e->name);
    named_of(t, e->name, true)->open++;
    if (id_find(&t->s->tasks, e->id) != NULL)
        return;
    struct live_task *task = x_alloc(sizeof *task);
    *task = (struct live_task){.id = e->id,
                               .name = e->name,
                               .creator = g,
                               .begin = e->time,
                               .since = e->time,
                               .idle_at = idle_clock(t, e->time),
                               .time = {.begin = e->time, .g = e->g, .task = e->id}};
    id_put(&t->s->tasks, e->id, task);
    if (g != NULL)
        link_make(g, task)->creator = true;
}

void task_ends(struct totals *t, const struct trace_event *e)
{
    struct live_task *task = id_find(&t->s->tasks, e->id);
    t->task_ends++;
    if (task == NULL)
        return;
    task_charge(t, task, e->time);
    task->time.ns = e->time - task->begin;
    struct named_total *n = named_of(t, task->name, true);
    n->open--;
    keep(n, &task->time);
    for (uint32_t i = 0; i < task->nmembers; i++) {
        struct live_g *g = task->members[i];
        struct task_link *link = link_of(g, task);
        *link = g->links[--g->nlinks];
    }
    id_take(&t->s->tasks, e->id);
    free(task->members);
    free(task);
}

void tasks_hear(struct totals *t, struct live_g *g, enum spent to, uint32_t reason, int64_t now)
{
    static const uint8_t class_of[TRACE_STATES] = {[TRACE_RUNNABLE] = SPENT_RUNNABLE,
                                                   [TRACE_RUNNING] = SPENT_RUNNING,
                                                   [TRACE_WAITING] = SPENT_WAITING,
                                                   [TRACE_SYSCALL] = SPENT_SYSCALL};
    for (uint32_t i = 0; i < g->nlinks; i++) {
        struct task_link *link = &g->links[i];
        struct live_task *task = link->task;
        task_charge(t, task, now);
        if (to == SPENT_WAITING)
            task->reason = reason;
        if (link->regions > 0) {
            task->in[class_of[g->row->state]]--;
            if (to != SPENT_COUNT)
                task->in[to]++;
        }
        if (to != SPENT_COUNT)
            continue;
        if (task->creator == g)
            task->creator = NULL;
        member_drop(task, g);
    }
    if (to == SPENT_COUNT)
        g->nlinks = 0;
}

/* ---- the end ---- */

static int slowest_first(const void *a, const void *b)
{
    const struct named_time *x = a, *y = b;
    return less(x, y) ? 1 : less(y, x) ? -1 : 0;
}

void named_end(struct totals *t)
{
    for (size_t i = 0; i < t->nnamed; i++)
        qsort(t->named[i]->slowest, t->named[i]->nslowest, sizeof(struct named_time),
              slowest_first);
}

void named_release(struct totals *t)
{
    for (size_t i = 0; i < t->nnamed; i++) {
        for (size_t k = 0; k < t->named[i]->nslowest; k++)
            free(t->named[i]->slowest[k].waits.list);
        free(t->named[i]);
    }
    free(t->named);
    map_release(&t->s->named);
    for (size_t i = 0; i < t->s->tasks.capacity; i++) {
        struct live_task *task = t->s->tasks.slots[i].state;
        if (task == NULL)
            continue;
        free(task->time.waits.list);
        free(task->members);
        free(task);
    }
    free(t->s->tasks.slots);
}
