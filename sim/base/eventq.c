/* SPDX-License-Identifier: BSD-3-Clause */
/* A radix queue with a sorted front.
 *
 *   near    a short sorted array: every event with key <= last. Pushing inserts, popping takes the
 *           end. While few events are pending, last is infinite and this is the whole queue.
 *   wheel   everything with key > last, in unsorted lists, the slots. A key (time, seq) is a number
 *           of 128 bits, cut into digits of 6 bits; an event is in the slot (level, digit) of the
 *           highest digit in which it differs from last. So the lowest non-empty level holds the
 *           earliest events, and the lowest slot of that level the earliest of those: two ctz.
 *
 * When near is empty, popping moves the first slots into it, sorts them and sets last to the end of
 * the last slot taken. A slot that is too full is dealt out first: last becomes its minimum and
 * each event goes to the lower level where it now belongs, at once, whatever the distance. Most
 * events are listed once or twice. No parameter depends on the distribution of times: slots are as
 * narrow as the events are dense. (A calendar queue guesses a width and collapses when the guess is
 * wrong; a heap compares and moves log2(n) times.)
 *
 * Peeking must not advance last beyond the last event taken, else a burst that is pushed before a
 * far event would find the wheel arranged for later times. So an empty front is refilled by popping
 * only, and peeking then finds the minimum of the first slot and remembers it in the slot.
 *
 * When near overflows, its later half goes to the wheel and last moves down. That keeps the slots
 * right unless a slot below the level of the move is in use; time does not go back, so this needs
 * many events at the time of the last one taken with a smaller seq. Those slots are then dealt
 * anew.
 *
 * Cancelling marks the node; it is dropped when it is met, or by a sweep when the dead outnumber
 * the living. The first event of near is never dead.
 *
 * Entries of near are copied by words: a vector load of two words just stored stalls. */

#include "sim/base/eventq.h"

#include <stddef.h>
#include <string.h>

enum {
    DIGIT_BITS = 6,
    DIGITS = 1 << DIGIT_BITS,
    HALF_LEVELS = (64 + DIGIT_BITS - 1) / DIGIT_BITS, /* levels of seq; those of time follow */
    LEVELS = 2 * HALF_LEVELS,
    ENOUGH = 6,                 /* no further slot for so many events in near */
    SORTED_MAX = 24,            /* a slot of more is dealt out */
    KEEP = EVENTQ_NEAR_MAX / 2, /* what stays when near overflows */
    DEAD_MIN = 256,             /* no sweep for less */
    NODES_MIN = 64,
    INDEX_BITS = 21, /* of a handle; then the generation and the mark */
    NODES_MAX = 1 << INDEX_BITS,
};
#define HANDLE_DEAD ((uint32_t)1 << 31)
_Static_assert(ENOUGH + SORTED_MAX <= EVENTQ_NEAR_MAX, "a refill must fit");
_Static_assert(DIGITS == 64 && LEVELS <= 32, "a bitmap is one word");

/* A list of nodes, last in, first out, as four chains in turn: each node links to the fourth before
 * it. Long lists are not in the cache, and so four misses overlap. */
struct list {
    uint64_t low, high; /* the four heads, the newest in the lowest bits; 0: none */
};

struct slot {
    struct list list;
    uint64_t min; /* node, 0: unknown */
};

struct eventq_wheel {
    uint32_t levels; /* bit per level with a used slot */
    uint64_t used[LEVELS];
    struct slot slots[LEVELS * DIGITS];
};

void eventq_init(struct eventq *q, struct arena *a)
{
    memset(q, 0, offsetof(struct eventq, near));
    q->arena = a;
    q->last_time = q->last_seq = UINT64_MAX;
}

/* ---- keys ---- */

static inline bool node_less(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->seq < b->seq);
}

/* Does it belong to near? */
static inline bool is_near(const struct eventq *q, const struct event *n)
{
    return n->time < q->last_time || (n->time == q->last_time && n->seq <= q->last_seq);
}

static inline void set_last(struct eventq *q, uint64_t time, uint64_t seq)
{
    q->last_time = time;
    q->last_seq = seq;
}

/* ---- nodes ---- */

static void nodes_grow(struct eventq *q)
{
    uint32_t max = q->nodes_max ? q->nodes_max * 2 : NODES_MIN;
    if (max > NODES_MAX)
        throwf("eventq: more than %d pending events", NODES_MAX - 1);
    struct event *nodes = arena_array(q->arena, struct event, max);
    if (!nodes)
        throw("eventq: the world went on without memory");
    if (q->nodes_count)
        memcpy(nodes, q->nodes, q->nodes_count * sizeof *nodes);
    else
        q->nodes_count = 1; /* index 0 means none */
    q->nodes = nodes;
    q->nodes_max = max;
}

static inline uint32_t node_new(struct eventq *q)
{
    uint32_t i = q->free_head;
    if (__builtin_expect(i != 0, 1)) {
        q->free_head = q->nodes[i].next;
        return i;
    }
    if (q->nodes_count >= q->nodes_max)
        nodes_grow(q);
    i = q->nodes_count++;
    q->nodes[i].handle = i;
    return i;
}

static inline void node_free(struct eventq *q, uint32_t i)
{
    struct event *n = &q->nodes[i];
    n->handle = (n->handle + NODES_MAX) & ~HANDLE_DEAD; /* next generation */
    n->next = q->free_head;
    q->free_head = i;
}

static inline bool is_dead(const struct event *n) { return n->handle & HANDLE_DEAD; }

static void drop_dead(struct eventq *q, uint32_t i)
{
    node_free(q, i);
    q->dead--;
}

/* ---- near ---- */

/* near[0..i) is sorted and near[i] free: puts the node at its place in near[0..i]. */
static inline void insert(struct eventq *q, uint32_t i, uint32_t node)
{
    const struct event *n = &q->nodes[node];
    struct eventq_entry *at = &q->near[i];
    uint64_t time = n->time;
    for (; at > q->near; at--) {
        if (at[-1].time >= time && (at[-1].time > time || q->nodes[at[-1].node].seq > n->seq))
            break;
        at->time = at[-1].time;
        at->node = at[-1].node;
    }
    at->time = time;
    at->node = node;
}

/* The end of near is alive again. */
static inline void trim(struct eventq *q)
{
    if (__builtin_expect(q->dead == 0, 1))
        return;
    for (; q->near_count; q->near_count--) {
        uint32_t i = (uint32_t)q->near[q->near_count - 1].node;
        if (!is_dead(&q->nodes[i]))
            return;
        drop_dead(q, i);
    }
}

/* ---- wheel ---- */

static inline unsigned highest_digit(uint64_t x)
{
    return (63 - (unsigned)__builtin_clzll(x)) / DIGIT_BITS;
}

/* Level of the highest digit in which a key differs from last, times DIGITS, plus that digit. */
static inline unsigned slot_of(const struct eventq *q, uint64_t time, uint64_t seq)
{
    uint64_t x = time ^ q->last_time;
    if (__builtin_expect(x != 0, 1)) {
        unsigned level = highest_digit(x);
        return (level + HALF_LEVELS) * DIGITS + (unsigned)(time >> level * DIGIT_BITS) % DIGITS;
    }
    unsigned level = highest_digit(seq ^ q->last_seq);
    return level * DIGITS + (unsigned)(seq >> level * DIGIT_BITS) % DIGITS;
}

static inline void list_push(struct eventq *q, struct list *l, uint32_t i)
{
    q->nodes[i].next = (uint32_t)(l->high >> 32);
    l->high = l->high << 32 | l->low >> 32;
    l->low = l->low << 32 | i;
}

/* 0 when empty. */
static inline uint32_t list_pop(const struct eventq *q, struct list *l)
{
    uint32_t i = (uint32_t)l->low, fourth = q->nodes[i].next;
    __builtin_prefetch(&q->nodes[fourth]);
    l->low = l->low >> 32 | l->high << 32;
    l->high = l->high >> 32 | (uint64_t)fourth << 32;
    return i;
}

/* Empties the slot and returns its list. */
static inline struct list slot_take(struct eventq_wheel *w, unsigned s)
{
    unsigned level = s / DIGITS;
    struct list list = w->slots[s].list;
    w->slots[s].list = (struct list){0, 0};
    w->slots[s].min = 0;
    w->used[level] &= ~((uint64_t)1 << s % DIGITS);
    if (!w->used[level])
        w->levels &= ~(1u << level);
    return list;
}

/* The slot with the earliest events; there must be one. */
static inline unsigned slot_first(const struct eventq_wheel *w)
{
    unsigned level = (unsigned)__builtin_ctz(w->levels);
    return level * DIGITS + (unsigned)__builtin_ctzll(w->used[level]);
}

static inline void wheel_put(struct eventq *q, uint32_t i)
{
    const struct event *n = &q->nodes[i];
    unsigned s = slot_of(q, n->time, n->seq);
    struct slot *slot = &q->wheel->slots[s];
    list_push(q, &slot->list, i);
    q->wheel->used[s / DIGITS] |= (uint64_t)1 << s % DIGITS;
    q->wheel->levels |= 1u << s / DIGITS;
    if (slot->min && node_less(n, &q->nodes[slot->min]))
        slot->min = i;
}

/* 0 if all of the list are dead. */
static uint32_t list_min(const struct eventq *q, struct list list)
{
    uint32_t min = 0;
    for (uint32_t i; (i = list_pop(q, &list)) != 0;)
        if ((!min || node_less(&q->nodes[i], &q->nodes[min])) && !is_dead(&q->nodes[i]))
            min = i;
    return min;
}

static inline void put(struct eventq *q, uint32_t i)
{
    if (is_near(q, &q->nodes[i]))
        insert(q, q->near_count++, i);
    else
        wheel_put(q, i);
}

/* Each live event of the list goes where it belongs now that last is another. */
static void deal_out(struct eventq *q, struct list list)
{
    for (uint32_t i; (i = list_pop(q, &list)) != 0;) {
        if (is_dead(&q->nodes[i]))
            drop_dead(q, i);
        else
            put(q, i);
    }
}

/* Sets last to the highest key that belongs to the slot. */
static void set_last_to_end(struct eventq *q, unsigned s)
{
    unsigned level = s / DIGITS, shift = level % HALF_LEVELS * DIGIT_BITS;
    bool of_time = level >= HALF_LEVELS;
    uint64_t x = of_time ? q->last_time : q->last_seq;
    x = ((x >> shift >> DIGIT_BITS << DIGIT_BITS | s % DIGITS) << shift) |
        (((uint64_t)1 << shift) - 1);
    if (of_time)
        set_last(q, x, UINT64_MAX);
    else
        q->last_seq = x;
}

/* Appends the list to near, unsorted, the dead included; false and nothing if it is too long. */
static bool append(struct eventq *q, struct list list)
{
    uint32_t n = q->near_count, max = n + SORTED_MAX;
    for (uint32_t i; (i = list_pop(q, &list)) != 0; n++) {
        if (n == max)
            return false;
        q->near[n].time = q->nodes[i].time;
        q->near[n].node = i;
    }
    q->near_count = n;
    return true;
}

/* The list of a slot is too long to be sorted: it is dealt out from its first event on. */
static void thin_out(struct eventq *q, unsigned s)
{
    uint64_t min = q->wheel->slots[s].min;
    if (!min)
        min = list_min(q, q->wheel->slots[s].list);
    if (min)
        set_last(q, q->nodes[min].time, q->nodes[min].seq);
    else
        set_last_to_end(q, s); /* all dead */
    deal_out(q, slot_take(q->wheel, s));
}

/* Sorts near. Counting who comes before whom has no branch that depends on the times: an insertion
 * into such a short array costs a wrong guess of the machine's each time, which is more than all
 * comparisons together. Equal times are left to the insertion. */
static inline void sort_near(struct eventq *q)
{
    struct eventq_entry from[EVENTQ_NEAR_MAX];
    uint32_t n = q->near_count;

    for (uint32_t i = 0; i < n; i++) {
        from[i].time = q->near[i].time;
        from[i].node = q->near[i].node;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t place = 0;
        for (uint32_t j = 0; j < i; j++)
            place += from[j].time >= from[i].time;
        for (uint32_t j = i + 1; j < n; j++)
            place += from[j].time > from[i].time;
        q->near[place].time = from[i].time;
        q->near[place].node = from[i].node;
    }
    for (uint32_t i = 1; i < n; i++)
        if (q->near[i - 1].time == q->near[i].time)
            insert(q, i, (uint32_t)q->near[i].node);
}

/* near is empty: fills it with the earliest events, if there are any. */
static void refill(struct eventq *q)
{
    struct eventq_wheel *w = q->wheel;
    while (w && w->levels && q->near_count < ENOUGH) {
        unsigned s = slot_first(w);
        if (append(q, w->slots[s].list)) {
            set_last_to_end(q, s);
            slot_take(w, s);
        } else if (q->near_count == 0) {
            thin_out(q, s);
        } else {
            break;
        }
    }
    sort_near(q);
    if (w && !w->levels)
        set_last(q, UINT64_MAX, UINT64_MAX);
}

/* Is there a first event? Then it is in near. */
static inline bool ready(struct eventq *q)
{
    while (!q->near_count) {
        if (!q->wheel || !q->wheel->levels)
            return false;
        refill(q);
        trim(q);
    }
    return true;
}

/* Empties all slots below level into one list. */
static struct list take_below(struct eventq *q, unsigned level)
{
    struct list all = {0, 0};
    uint32_t mask = (uint32_t)(((uint64_t)1 << level) - 1);
    while (q->wheel->levels & mask) {
        struct list list = slot_take(q->wheel, slot_first(q->wheel));
        for (uint32_t i; (i = list_pop(q, &list)) != 0;)
            list_push(q, &all, i);
    }
    return all;
}

/* near is full: its later half goes to the wheel. */
static void split(struct eventq *q)
{
    if (!q->wheel && !(q->wheel = arena_new(q->arena, struct eventq_wheel)))
        throw("eventq: the world went on without memory");
    uint32_t out = q->near_count - KEEP;
    const struct event *n = &q->nodes[q->near[out].node];
    struct list low = {0, 0};
    if (n->time != q->last_time || n->seq != q->last_seq)
        low = take_below(q, slot_of(q, n->time, n->seq) / DIGITS);
    set_last(q, n->time, n->seq);
    deal_out(q, low);
    for (uint32_t i = 0; i < out; i++) {
        uint32_t node = (uint32_t)q->near[i].node;
        if (is_near(q, &q->nodes[node]))
            throw("eventq: two pending events have the same time and seq");
        wheel_put(q, node);
    }
    memmove(q->near, q->near + out, KEEP * sizeof q->near[0]);
    q->near_count = KEEP;
}

/* ---- the interface ---- */

uint32_t eventq_push(struct eventq *q, uint64_t time, uint64_t seq, uint64_t payload)
{
    if (__builtin_expect(time < q->floor, 0))
        throw("eventq: an event in the past");
    uint32_t i = node_new(q);
    struct event *n = &q->nodes[i];
    n->time = time;
    n->seq = seq;
    n->payload = payload;
    q->count++;
    if (q->near_count == EVENTQ_NEAR_MAX && is_near(q, n))
        split(q);
    put(q, i);
    return n->handle;
}

/* The earliest event of the wheel, near being empty; NULL if there is none. */
static const struct event *peek_wheel(struct eventq *q)
{
    struct eventq_wheel *w = q->wheel;
    while (w && w->levels) {
        unsigned s = slot_first(w);
        struct slot *slot = &w->slots[s];
        if (!slot->min || is_dead(&q->nodes[slot->min]))
            slot->min = list_min(q, slot->list);
        if (slot->min)
            return &q->nodes[slot->min];
        deal_out(q, slot_take(w, s)); /* all of it is dead */
    }
    return NULL;
}

uint64_t eventq_next_time(struct eventq *q)
{
    if (q->near_count)
        return q->near[q->near_count - 1].time;
    const struct event *n = peek_wheel(q);
    return n ? n->time : UINT64_MAX;
}

bool eventq_pop(struct eventq *q, struct event *out)
{
    if (!ready(q))
        return false;
    uint32_t i = (uint32_t)q->near[--q->near_count].node;
    const struct event *n = &q->nodes[i];
    out->time = q->floor = n->time;
    out->seq = n->seq;
    out->payload = n->payload;
    out->handle = n->handle;
    out->next = 0;
    q->count--;
    node_free(q, i);
    trim(q);
    return true;
}

/* ---- cancelling ---- */

/* Drops the dead everywhere: near keeps its order, the wheel is dealt out anew. */
static void sweep(struct eventq *q)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < q->near_count; i++) {
        struct eventq_entry e = q->near[i];
        if (is_dead(&q->nodes[e.node]))
            drop_dead(q, (uint32_t)e.node);
        else
            q->near[kept++] = e;
    }
    q->near_count = kept;
    if (q->wheel)
        deal_out(q, take_below(q, LEVELS));
}

bool eventq_cancel(struct eventq *q, uint32_t handle)
{
    uint32_t i = handle % NODES_MAX;
    if (i == 0 || i >= q->nodes_count || q->nodes[i].handle != handle)
        return false;
    q->nodes[i].handle |= HANDLE_DEAD;
    q->count--;
    q->dead++;
    trim(q);
    if (q->dead > DEAD_MIN && q->dead > q->count)
        sweep(q);
    return true;
}
