/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/dpor.h"

#include <string.h>

static uint64_t bit(uint32_t actor) { return UINT64_C(1) << actor; }
static uint32_t lowest(uint64_t set) { return (uint32_t)__builtin_ctzll(set); }

static const struct turn_does clock_does = {
    .known = true, .count = 1, .object = {TURN_OBJECT_CLOCK}};

/* ---- who is who ---- */

/* Actors beyond the places that there are share the last one, not told apart: no proof then. */
static uint32_t actor_of(struct strategy_dpor *d, uint32_t goid)
{
    for (uint32_t i = 0; i < d->actors; i++)
        if (d->goid[i] == goid)
            return i;
    if (d->actors == DPOR_CLOCK) {
        d->pruned = true;
        return DPOR_CLOCK - 1;
    }
    d->goid[d->actors] = goid;
    return d->actors++;
}

/* The actor that answer k lets go on. Threads, which operations are about, count from 1 as
 * goroutines do. */
static uint32_t actor_at(struct strategy_dpor *d, const struct choice *c, uint32_t k)
{
    if (c->turn == NULL)
        return c->option[k] == OPTION_CLOCK ? DPOR_CLOCK : actor_of(d, c->option[k] + 1u);
    return c->first + k == c->turn->count ? DPOR_CLOCK : actor_of(d, c->turn->goid[c->first + k]);
}

static uint64_t all_runnable(struct strategy_dpor *d, const struct choice *c)
{
    const struct turn *t = c->turn;
    uint64_t set = 0;
    for (uint32_t k = 0; t == NULL && k < c->threads; k++)
        set |= bit(actor_at(d, c, k));
    for (uint32_t i = 0; t != NULL && i < t->count; i++)
        set |= bit(actor_of(d, t->goid[i]));
    d->pruned |= t != NULL ? t->count == TURN_MAX : c->waits;
    return set;
}

/* What an operation is about is told when it is done. */
static void look_at(struct strategy_dpor *d, const struct choice *c, uint32_t k,
                    struct turn_does *does)
{
    uint32_t actor = actor_at(d, c, k);
    if (c->turn == NULL)
        *does = (struct turn_does){.goid = actor == DPOR_CLOCK ? 0 : c->option[k] + 1u};
    else if (actor == DPOR_CLOCK)
        *does = clock_does;
    else
        c->turn->look(c->turn, c->first + k, does);
}

/* ---- a turn ends ---- */

static struct dpor_node *last_turn(struct strategy_dpor *d)
{
    size_t i = d->depth;
    while (i > 0 && d->nodes[i - 1].draw)
        i--;
    return i > 0 ? &d->nodes[i - 1] : NULL;
}

/* Who sleeps after turn n: those that slept before it, and those that were tried in its place
 * before, unless the turn was their own or conflicts with what they will do. */
static void sleep_on(struct strategy_dpor *d, const struct dpor_node *n)
{
    uint64_t asleep = 0;
    for (uint64_t rest = d->asleep & ~bit(n->actor); rest != 0; rest &= rest - 1)
        if (!turn_conflicts(&d->sleeps[lowest(rest)], &n->does))
            asleep |= bit(lowest(rest));
    for (uint32_t i = n->done_list; i != 0; i = d->dones[i - 1].next) {
        const struct dpor_done *x = &d->dones[i - 1];
        if (x->actor == n->actor || turn_conflicts(&x->does, &n->does))
            continue;
        asleep |= bit(x->actor);
        d->sleeps[x->actor] = x->does;
    }
    d->asleep = asleep;
}

static void also_about(struct turn_does *d, int32_t object)
{
    for (uint32_t i = 0; i < d->count; i++)
        if (d->object[i] == object)
            return;
    if (d->count < TURN_OBJECTS_MAX)
        d->object[d->count++] = object;
    else
        d->object[0] = TURN_OBJECT_ALL;
}

/* Whoever is woken waits for nothing else any more: a select's other channels have lost it. */
static void took_waiters(struct strategy_dpor *d, struct dpor_node *n)
{
    for (uint64_t rest = n->woken; rest != 0; rest &= rest - 1) {
        const struct dpor_node *w = n;
        while (w-- > d->nodes)
            if (!w->draw && w->actor == lowest(rest)) {
                for (uint32_t i = 0; i < w->does.count; i++)
                    also_about(&n->does, w->does.object[i]);
                break;
            }
    }
}

/* The last turn is over; now: who can go on after it. What the turn did and has not told by now,
 * nobody saw. A goroutine that stopped may have set a timer. */
static void close_turn(struct strategy_dpor *d, uint64_t now)
{
    struct dpor_node *n = last_turn(d);
    if (!d->open || n == NULL)
        return;
    d->open = false;
    struct turn_does *does = &n->does;
    if (!does->known)
        *does = (struct turn_does){.goid = does->goid, .known = true};
    if (!d->operations && (now & bit(n->actor)) == 0 && n->actor != DPOR_CLOCK) {
        does->reads = false;
        also_about(does, TURN_OBJECT_CLOCK);
    }
    n->woken = now & ~d->runnable & ~bit(n->actor);
    took_waiters(d, n);
    d->runnable = now;
    sleep_on(d, n);
}

/* ---- a turn begins ---- */

static struct dpor_node *next_node(struct strategy_dpor *d, bool draw)
{
    if (d->depth < d->count) {
        struct dpor_node *n = &d->nodes[d->depth++];
        d->diverged |= n->draw != draw;
        return n;
    }
    if (d->count == d->nodes_max) {
        d->pruned = true;
        return NULL;
    }
    struct dpor_node *n = &d->nodes[d->count++];
    d->depth++;
    *n = (struct dpor_node){.draw = draw, .actor = DPOR_ACTORS};
    return n;
}

static void time_passed(struct strategy_dpor *d)
{
    struct dpor_node *n = next_node(d, /*draw*/ false);
    if (n == NULL)
        return;
    n->forced = true;
    n->actor = DPOR_CLOCK;
    n->enabled = n->backtrack = bit(DPOR_CLOCK);
    n->does = clock_does;
    n->sleep = d->asleep;
    d->open = true;
}

static uint64_t offered(struct strategy_dpor *d, const struct choice *c)
{
    uint64_t set = 0;
    for (uint32_t k = 0; k < c->n; k++)
        set |= bit(actor_at(d, c, k));
    return set;
}

/* The first answer that does not sleep. */
static void choose_first(struct strategy_dpor *d, struct dpor_node *n, const struct choice *c)
{
    uint32_t k = 0;
    n->enabled = offered(d, c);
    n->sleep = d->asleep;
    while (k < c->n && (n->sleep & bit(actor_at(d, c, k))) != 0)
        k++;
    d->redundant = k == c->n;
    d->s.enough = d->redundant;
    n->actor = (uint8_t)actor_at(d, c, d->redundant ? 0 : k);
    n->backtrack = bit(n->actor);
}

static uint32_t dpor_step(struct strategy *s, const struct choice *c, bool slept)
{
    struct strategy_dpor *d = (struct strategy_dpor *)s;
    uint64_t now = all_runnable(d, c);
    d->operations = c->turn == NULL;
    close_turn(d, slept ? 0 : now);
    if (slept) {
        time_passed(d);
        close_turn(d, now);
    }
    d->runnable = now;
    struct dpor_node *n = next_node(d, /*draw*/ false);
    if (n == NULL)
        return 0;
    if (n->actor == DPOR_ACTORS)
        choose_first(d, n, c);
    d->open = true;
    for (uint32_t k = 0; k < c->n; k++)
        if (actor_at(d, c, k) == n->actor) {
            look_at(d, c, k, &n->does);
            return k;
        }
    d->diverged = true;
    return 0;
}

/* What the goroutine that was chosen does, if that was not known before. */
static void dpor_did(struct strategy *s, const struct turn_does *does)
{
    struct strategy_dpor *d = (struct strategy_dpor *)s;
    struct dpor_node *n = last_turn(d);
    if (!d->open || n == NULL)
        return;
    if (!n->does.known && (d->operations || n->does.goid == does->goid))
        n->does = *does;
    else if (d->operations) { /* and also this */
        n->does.reads &= does->reads;
        for (uint32_t i = 0; i < does->count; i++)
            also_about(&n->does, does->object[i]);
    }
}

static uint32_t dpor_pick(struct strategy *s, const struct choice *c)
{
    struct strategy_dpor *d = (struct strategy_dpor *)s;
    struct dpor_node *n = next_node(d, /*draw*/ true);
    if (n == NULL)
        return 0;
    d->diverged |= n->n != 0 && n->n != c->n;
    n->n = c->n;
    return n->pick;
}

static bool dpor_begin(struct strategy *s)
{
    struct strategy_dpor *d = (struct strategy_dpor *)s;
    if (d->exhausted || d->diverged)
        return false;
    d->depth = 0;
    d->asleep = d->runnable = 0;
    d->open = d->redundant = d->s.enough = false;
    d->runs++;
    return true;
}

/* ---- races ---- */

static bool before(const struct dpor_node *nodes, size_t a, const struct dpor_node *b)
{
    return b->clock[nodes[a].actor] >= a + 1;
}

static void join(struct dpor_node *n, const struct dpor_node *earlier)
{
    for (uint32_t i = 0; i < DPOR_ACTORS; i++)
        if (earlier->clock[i] > n->clock[i])
            n->clock[i] = earlier->clock[i];
}

/* Whose turn could be the first of these: the turns between first and second that did not happen
 * after first, and second itself. */
static uint64_t initials(const struct strategy_dpor *d, size_t first, size_t second)
{
    const struct dpor_node *nodes = d->nodes;
    uint64_t set = 0, seen = 0;
    for (size_t i = first + 1; i <= second; i++) {
        const struct dpor_node *n = &nodes[i];
        if (n->draw || (i < second && before(nodes, first, n)) || (seen & bit(n->actor)) != 0)
            continue;
        bool is_initial = true;
        for (size_t k = first + 1; k < i && is_initial; k++)
            is_initial = nodes[k].draw || before(nodes, first, &nodes[k]) || !before(nodes, k, n);
        seen |= bit(n->actor);
        set |= is_initial ? bit(n->actor) : 0;
    }
    return set;
}

static void note_race(struct strategy_dpor *d, size_t first, size_t second)
{
    struct dpor_node *n = &d->nodes[first];
    if (n->forced)
        return;
    uint64_t could = initials(d, first, second);
    if ((could & n->backtrack) != 0)
        return;
    uint32_t actor = d->nodes[second].actor;
    if ((could & n->enabled) == 0)
        n->backtrack |= n->enabled;
    else if ((could & n->enabled & bit(actor)) != 0)
        n->backtrack |= bit(actor);
    else
        n->backtrack |= bit(lowest(could & n->enabled));
}

/* The clock of turn i, and the races in which it is the second. before_it: the last turn of its
 * actor, wake: the turn that let it go on; each 1 + its index, 0: none. */
static void order_turn(struct strategy_dpor *d, size_t i, size_t before_it, size_t wake)
{
    struct dpor_node *n = &d->nodes[i];
    memset(n->clock, 0, sizeof n->clock);
    if (before_it != 0)
        join(n, &d->nodes[before_it - 1]);
    if (wake != 0)
        join(n, &d->nodes[wake - 1]);
    size_t races[DPOR_ACTORS], count = 0;
    for (size_t k = i; k-- > 0;) {
        const struct dpor_node *e = &d->nodes[k];
        if (e->draw || e->actor == n->actor || before(d->nodes, k, n) ||
            !turn_conflicts(&e->does, &n->does))
            continue;
        if (count < DPOR_ACTORS) /* one per actor: an earlier one comes before the later */
            races[count++] = k;
        join(n, e);
    }
    n->clock[n->actor] = (uint32_t)i + 1;
    for (size_t r = 0; r < count; r++)
        note_race(d, races[r], i);
}

static void order_turns(struct strategy_dpor *d)
{
    size_t last[DPOR_ACTORS] = {0}, wake[DPOR_ACTORS] = {0};
    for (size_t i = 0; i < d->depth; i++) {
        struct dpor_node *n = &d->nodes[i];
        if (n->draw)
            continue;
        if (i >= d->fresh)
            order_turn(d, i, last[n->actor], wake[n->actor]);
        last[n->actor] = i + 1;
        wake[n->actor] = 0;
        for (uint64_t rest = n->woken; rest != 0; rest &= rest - 1)
            wake[lowest(rest)] = i + 1;
    }
}

/* ---- the next run ---- */

static bool keep_done(struct strategy_dpor *d, struct dpor_node *n)
{
    uint32_t i = d->dones_free;
    if (i != 0)
        d->dones_free = d->dones[i - 1].next;
    else if (d->dones_used < d->dones_max)
        i = ++d->dones_used;
    else
        return false;
    d->dones[i - 1] = (struct dpor_done){n->done_list, n->actor, n->does};
    n->done_list = i;
    return true;
}

static void forget_dones(struct strategy_dpor *d, struct dpor_node *n)
{
    while (n->done_list != 0) {
        uint32_t i = n->done_list;
        n->done_list = d->dones[i - 1].next;
        d->dones[i - 1].next = d->dones_free;
        d->dones_free = i;
    }
}

/* Something else at this node; false: all has been tried. */
static bool advance(struct strategy_dpor *d, struct dpor_node *n)
{
    if (n->draw)
        return ++n->pick < n->n;
    n->done |= bit(n->actor);
    uint64_t left = n->forced ? 0 : n->backtrack & ~n->done & ~n->sleep;
    if (left == 0)
        return false;
    if (!keep_done(d, n))
        d->pruned = true; /* it is tried again by others */
    n->actor = (uint8_t)lowest(left);
    return true;
}

/* A turn or operation that ends the program conflicts with all: with what was done before it, as
 * without that it ends as well; and with what the others would have done after it, which no run
 * shows. */
static void end_of_all(struct strategy_dpor *d)
{
    struct dpor_node *n = last_turn(d);
    if (n == NULL || d->redundant || n->forced || (d->operations && !d->s.halted))
        return;
    n->does = (struct turn_does){
        .goid = n->does.goid, .known = true, .count = 1, .object = {TURN_OBJECT_ALL}};
    n->backtrack |= n->enabled;
}

static void dpor_end(struct strategy *s, bool complete)
{
    struct strategy_dpor *d = (struct strategy_dpor *)s;
    end_of_all(d);
    close_turn(d, 0);
    if (!complete && !d->redundant)
        d->pruned = true;
    if (d->depth < d->count)
        d->diverged = true;
    d->classes += !d->redundant;
    if (d->redundant && d->depth > 0)
        d->depth = --d->count; /* nobody did the last one */
    order_turns(d);
    while (d->count > 0 && !advance(d, &d->nodes[d->count - 1]))
        forget_dones(d, &d->nodes[--d->count]);
    d->fresh = d->count > 0 ? d->count - 1 : 0;
    d->exhausted = d->count == 0;
}

void strategy_dpor_init(struct strategy_dpor *d, struct dpor_node *nodes, size_t nodes_max,
                        struct dpor_done *dones, uint32_t dones_max)
{
    *d = (struct strategy_dpor){
        .s = {.name = "dpor", .begin = dpor_begin, .pick = dpor_pick, .end = dpor_end},
        .nodes = nodes,
        .nodes_max = nodes_max,
        .dones = dones,
        .dones_max = dones_max,
    };
    d->s.step = dpor_step;
    d->s.did = dpor_did;
}
