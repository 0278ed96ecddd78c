/* SPDX-License-Identifier: BSD-3-Clause */
/* A radix queue with a sorted front.
 *
 *   near_   a short sorted array: every event with key <= last. Pushing inserts, popping takes
 *           the end. While few events are pending, last is infinite and this is the whole queue.
 *   wheel   everything with key > last, unsorted, in slots. A key (time, seq) is a number of 128
 *           bits, cut into digits of 5 bits; an event is in the slot (level, digit) of the highest
 *           digit in which it differs from last. So the lowest non-empty level holds the earliest
 *           events, and the lowest slot of that level the earliest of those: two ctz.
 *
 * When near_ is empty, popping moves whole slots into it, in order, until FRONT events are there,
 * sorts them and sets last to the end of the last slot taken. A slot that is too full is dealt out
 * first: last becomes its minimum and each event goes to the lower level where it now belongs, at
 * once, whatever the distance. Few slots are dealt out more than twice or thrice, and the traffic
 * is sequential (chunks of events), which is what a heap lacks at 1e5 pending. No parameter depends
 * on the distribution of times: slots are as narrow as the events are dense. (A calendar queue
 * guesses a width and collapses when the guess is wrong.)
 *
 * Peeking must not advance last beyond the last event taken, else a burst that is pushed before a
 * far event would find the wheel arranged for later times. So an empty front is refilled by popping
 * only, and peeking then finds the minimum of the first slot and remembers it.
 *
 * When near_ overflows, its later half goes to the wheel and last moves down. That keeps the slots
 * right unless a slot below the level of the move is in use; time does not go back, so this needs
 * many events at the time of the last one taken with a smaller seq. gather() then undoes those
 * slots.
 *
 * Cancelling marks the handle; the event is dropped when it is met, or by a sweep when the dead
 * outnumber the living. The first event of near_ is never dead. */

#include "sim/base/eventq.h"

#include <string.h>

enum {
    DIGIT_BITS = 5,
    DIGITS = 1 << DIGIT_BITS,
    HALF_LEVELS = (64 + DIGIT_BITS - 1) / DIGIT_BITS, /* levels of seq; those of time follow */
    LEVELS = 2 * HALF_LEVELS,
    CHUNK_EVENTS = 7,
    FRONT = 32,                 /* events sorted at a time */
    KEEP = EVENTQ_NEAR_MAX / 2, /* what stays when near_ overflows */
    DEAD_MIN = 256,             /* no sweep for less */
    HANDLE_BITS = 21,           /* index; the rest is the generation */
    HANDLES_MAX = 1 << HANDLE_BITS,
};
_Static_assert(LEVELS <= 32 && DIGITS <= 32, "one bitmap word each");

enum handle_state { HANDLE_LIVE = UINT32_MAX, HANDLE_DEAD = UINT32_MAX - 1 }; /* else: next free */

struct chunk {
    struct chunk *next;
    uint32_t count;
    uint32_t pad[5];
    struct event events[CHUNK_EVENTS];
};

struct slot {
    struct chunk *head; /* only the head takes more */
    struct event *min;  /* NULL: unknown */
    uint32_t count;
};

struct eventq_wheel {
    uint32_t levels; /* bit per level with a used slot */
    uint32_t used[LEVELS];
    struct chunk *free;
    struct slot slots[LEVELS][DIGITS];
};

__extension__ typedef unsigned __int128 u128;

static inline u128 key_of(const struct event *e) { return (u128)e->time << 64 | e->seq; }
static inline bool less(const struct event *a, const struct event *b)
{
    return key_of(a) < key_of(b);
}
static inline u128 last_of(const struct eventq *q)
{
    return (u128)q->last_time << 64 | q->last_seq;
}

static inline void set_last(struct eventq *q, uint64_t time, uint64_t seq)
{
    q->last_time = time;
    q->last_seq = seq;
}

void eventq_init(struct eventq *q, struct arena *a)
{
    memset(q, 0, offsetof(struct eventq, near_));
    memset(&q->wheel, 0, sizeof *q - offsetof(struct eventq, wheel));
    q->arena = a;
    set_last(q, UINT64_MAX, UINT64_MAX);
}

/* ---- handles ---- */

static inline struct eventq_handle *handle_at(const struct eventq *q, uint32_t handle)
{
    return &q->handles[handle & (HANDLES_MAX - 1)];
}

static inline bool is_dead(const struct eventq *q, const struct event *e)
{
    return __builtin_expect(e->handle != 0, 0) && handle_at(q, e->handle)->state == HANDLE_DEAD;
}

static void handle_free(struct eventq *q, uint32_t handle)
{
    struct eventq_handle *h = handle_at(q, handle);
    h->handle += HANDLES_MAX; /* next generation */
    h->state = q->handles_free;
    q->handles_free = handle & (HANDLES_MAX - 1);
}

static void handles_grow(struct eventq *q)
{
    uint32_t max = q->handles_max ? q->handles_max * 2 : 64;
    if (max > HANDLES_MAX)
        throwf("eventq: more than %d events with handles", HANDLES_MAX - 1);
    struct eventq_handle *h = arena_array(q->arena, struct eventq_handle, max);
    if (!h)
        throw("eventq: the world went on without memory");
    if (q->handles_count)
        memcpy(h, q->handles, q->handles_count * sizeof *h);
    else
        q->handles_count = 1; /* 0 means none */
    q->handles = h;
    q->handles_max = max;
}

static uint32_t handle_new(struct eventq *q)
{
    uint32_t index = q->handles_free;
    if (index) {
        q->handles_free = handle_at(q, index)->state;
    } else {
        if (q->handles_count == q->handles_max)
            handles_grow(q);
        index = q->handles_count++;
        q->handles[index].handle = index;
    }
    q->handles[index].state = HANDLE_LIVE;
    return q->handles[index].handle;
}

static void drop_dead(struct eventq *q, const struct event *e)
{
    handle_free(q, e->handle);
    q->dead--;
}

/* ---- wheel ---- */

static struct chunk *chunk_new(struct eventq *q)
{
    struct eventq_wheel *w = q->wheel;
    struct chunk *c = w->free;
    if (c)
        w->free = c->next;
    else if (!(c = arena_alloc(q->arena, sizeof *c, 64)))
        throw("eventq: the world went on without memory");
    return c;
}

static inline void chunk_free(struct eventq_wheel *w, struct chunk *c)
{
    c->next = w->free;
    w->free = c;
}

/* Level of the highest digit in which two different keys differ. */
static inline unsigned level_of(uint64_t time, uint64_t seq, uint64_t time2, uint64_t seq2)
{
    uint64_t x = time ^ time2;
    if (__builtin_expect(x != 0, 1))
        return HALF_LEVELS + (63 - (unsigned)__builtin_clzll(x)) / DIGIT_BITS;
    return (63 - (unsigned)__builtin_clzll(seq ^ seq2)) / DIGIT_BITS;
}

static inline unsigned digit_of(uint64_t time, uint64_t seq, unsigned level)
{
    if (__builtin_expect(level >= HALF_LEVELS, 1))
        return (time >> (level - HALF_LEVELS) * DIGIT_BITS) % DIGITS;
    return (seq >> level * DIGIT_BITS) % DIGITS;
}

static inline void wheel_put(struct eventq *q, const struct event *e)
{
    struct eventq_wheel *w = q->wheel;
    unsigned level = level_of(e->time, e->seq, q->last_time, q->last_seq);
    unsigned digit = digit_of(e->time, e->seq, level);
    struct slot *s = &w->slots[level][digit];
    struct chunk *c = s->head;
    if (!c || c->count == CHUNK_EVENTS) {
        c = chunk_new(q);
        c->next = s->head;
        c->count = 0;
        s->head = c;
        w->used[level] |= 1u << digit;
        w->levels |= 1u << level;
    }
    struct event *at = &c->events[c->count++];
    *at = *e;
    s->count++;
    if (s->min && less(at, s->min))
        s->min = at;
}

static void slot_clear(struct eventq_wheel *w, unsigned level, unsigned digit)
{
    w->slots[level][digit] = (struct slot){0};
    w->used[level] &= ~(1u << digit);
    if (!w->used[level])
        w->levels &= ~(1u << level);
}

/* The slot with the earliest events; there must be one. */
static struct slot *first_slot(struct eventq_wheel *w, unsigned *level, unsigned *digit)
{
    *level = (unsigned)__builtin_ctz(w->levels);
    *digit = (unsigned)__builtin_ctz(w->used[*level]);
    return &w->slots[*level][*digit];
}

static struct event *slot_min(const struct eventq *q, const struct slot *s)
{
    struct event *min = NULL;
    for (struct chunk *c = s->head; c; c = c->next)
        for (uint32_t i = 0; i < c->count; i++)
            if (!is_dead(q, &c->events[i]) && (!min || less(&c->events[i], min)))
                min = &c->events[i];
    return min;
}

/* Ends a list of chunks: every live event goes to near_ (unsorted) or, later than last, to the
 * wheel. */
static void deal_out(struct eventq *q, struct chunk *c)
{
    u128 last = last_of(q);
    while (c) {
        for (uint32_t i = 0; i < c->count; i++) {
            const struct event *e = &c->events[i];
            if (is_dead(q, e))
                drop_dead(q, e);
            else if (key_of(e) <= last)
                q->near_[q->near_count++] = *e;
            else
                wheel_put(q, e);
        }
        struct chunk *next = c->next;
        chunk_free(q->wheel, c);
        c = next;
    }
}

/* Sets last to the highest key that belongs to the slot. */
static void set_last_to_end(struct eventq *q, unsigned level, unsigned digit)
{
    bool of_time = level >= HALF_LEVELS;
    unsigned shift = (of_time ? level - HALF_LEVELS : level) * DIGIT_BITS;
    uint64_t x = of_time ? q->last_time : q->last_seq;
    x = ((x >> shift >> DIGIT_BITS << DIGIT_BITS | digit) << shift) | (((uint64_t)1 << shift) - 1);
    if (of_time)
        set_last(q, x, UINT64_MAX);
    else
        q->last_seq = x;
}

static void sort_near(struct eventq *q)
{
    for (uint32_t i = 1; i < q->near_count; i++) {
        struct event e = q->near_[i];
        uint32_t j = i;
        for (; j > 0 && less(&q->near_[j - 1], &e); j--)
            q->near_[j] = q->near_[j - 1];
        q->near_[j] = e;
    }
}

/* near_ is empty: fills it with the earliest events, if there are any. */
static void refill(struct eventq *q)
{
    struct eventq_wheel *w = q->wheel;
    while (w && w->levels) {
        unsigned level, digit;
        struct slot s = *first_slot(w, &level, &digit);
        if (q->near_count && q->near_count + s.count > FRONT)
            break;
        if (s.count <= FRONT) {
            slot_clear(w, level, digit);
            set_last_to_end(q, level, digit);
            deal_out(q, s.head);
            continue;
        }
        const struct event *min = s.min ? s.min : slot_min(q, &s);
        slot_clear(w, level, digit);
        if (min)
            set_last(q, min->time, min->seq);
        else
            set_last_to_end(q, level, digit); /* all dead */
        deal_out(q, s.head);
    }
    if (w && !w->levels)
        set_last(q, UINT64_MAX, UINT64_MAX);
    sort_near(q);
}

/* Puts all slots below level into the one slot of that level where they belong seen from an earlier
 * last: the digit of the present one. */
static void gather(struct eventq *q, unsigned level)
{
    struct eventq_wheel *w = q->wheel;
    uint32_t below = w->levels & ((1u << level) - 1);
    if (!below)
        return;
    unsigned to_digit = digit_of(q->last_time, q->last_seq, level);
    struct slot *to = &w->slots[level][to_digit];
    for (; below; below = w->levels & ((1u << level) - 1)) {
        unsigned l, d;
        struct slot *s = first_slot(w, &l, &d);
        struct chunk *tail = s->head;
        while (tail->next)
            tail = tail->next;
        tail->next = to->head;
        to->head = s->head;
        to->count += s->count;
        slot_clear(w, l, d);
    }
    to->min = NULL;
    w->used[level] |= 1u << to_digit;
    w->levels |= 1u << level;
}

/* near_ is full: its later half goes to the wheel. */
static void split(struct eventq *q)
{
    if (!q->wheel && !(q->wheel = arena_new(q->arena, struct eventq_wheel)))
        throw("eventq: the world went on without memory");
    uint32_t out = q->near_count - KEEP;
    struct event e = q->near_[out];
    if (key_of(&e) != last_of(q))
        gather(q, level_of(e.time, e.seq, q->last_time, q->last_seq));
    set_last(q, e.time, e.seq);
    for (uint32_t i = 0; i < out; i++) {
        if (key_of(&q->near_[i]) == key_of(&e))
            throw("eventq: two pending events have the same time and seq");
        wheel_put(q, &q->near_[i]);
    }
    memmove(q->near_, q->near_ + out, KEEP * sizeof q->near_[0]);
    q->near_count = KEEP;
}

/* ---- the interface ---- */

static void put(struct eventq *q, const struct event *e)
{
    if (__builtin_expect(e->time < q->floor, 0))
        throw("eventq: an event in the past");
    if (q->near_count == EVENTQ_NEAR_MAX && key_of(e) <= last_of(q))
        split(q);
    if (key_of(e) > last_of(q)) {
        wheel_put(q, e);
        return;
    }
    uint32_t i = q->near_count++;
    for (; i > 0 && less(&q->near_[i - 1], e); i--)
        q->near_[i] = q->near_[i - 1];
    q->near_[i] = *e;
}

void eventq_push(struct eventq *q, uint64_t time, uint64_t seq, uint64_t payload)
{
    struct event e = {.time = time, .seq = seq, .payload = payload};
    put(q, &e);
    q->count++;
}

uint32_t eventq_push_handle(struct eventq *q, uint64_t time, uint64_t seq, uint64_t payload)
{
    struct event e = {.time = time, .seq = seq, .payload = payload, .handle = handle_new(q)};
    put(q, &e);
    q->count++;
    return e.handle;
}

/* The end of near_ is alive again. */
static inline void trim(struct eventq *q)
{
    while (q->near_count && is_dead(q, &q->near_[q->near_count - 1]))
        drop_dead(q, &q->near_[--q->near_count]);
}

/* The earliest event of the wheel, near_ being empty; NULL if there is none. */
static struct event *peek_wheel(struct eventq *q)
{
    struct eventq_wheel *w = q->wheel;
    while (w && w->levels) {
        unsigned level, digit;
        struct slot *s = first_slot(w, &level, &digit);
        if (!s->min || is_dead(q, s->min))
            s->min = slot_min(q, s);
        if (s->min)
            return s->min;
        struct chunk *c = s->head;
        slot_clear(w, level, digit); /* all of it is dead */
        deal_out(q, c);
    }
    return NULL;
}

const struct event *eventq_peek(struct eventq *q)
{
    return q->near_count ? &q->near_[q->near_count - 1] : peek_wheel(q);
}

uint64_t eventq_next_time(struct eventq *q)
{
    const struct event *e = eventq_peek(q);
    return e ? e->time : UINT64_MAX;
}

bool eventq_pop(struct eventq *q, struct event *out)
{
    if (!q->near_count) {
        refill(q);
        if (!q->near_count)
            return false;
    }
    *out = q->near_[--q->near_count];
    q->floor = out->time;
    q->count--;
    if (out->handle)
        handle_free(q, out->handle);
    trim(q);
    return true;
}

void eventq_replace(struct eventq *q, uint64_t time, uint64_t seq, uint64_t payload)
{
    struct event e = {.time = time, .seq = seq, .payload = payload};
    if (!q->near_count)
        refill(q);
    if (!q->near_count || q->near_[q->near_count - 1].handle)
        throw("eventq: replace wants a first event, and that without a handle");
    uint32_t i = q->near_count - 1;
    q->floor = q->near_[i].time;
    if (time < q->floor)
        throw("eventq: an event in the past");
    if (key_of(&e) > last_of(q)) {
        q->near_count--;
        wheel_put(q, &e);
    } else {
        for (; i > 0 && less(&q->near_[i - 1], &e); i--)
            q->near_[i] = q->near_[i - 1];
        q->near_[i] = e;
    }
    trim(q);
}

/* ---- cancelling ---- */

/* Drops the dead everywhere: near_ keeps its order, the wheel is dealt out anew. */
static void sweep(struct eventq *q)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < q->near_count; i++) {
        if (is_dead(q, &q->near_[i]))
            drop_dead(q, &q->near_[i]);
        else
            q->near_[kept++] = q->near_[i];
    }
    q->near_count = kept;
    struct eventq_wheel *w = q->wheel;
    struct chunk *all = NULL;
    while (w && w->levels) {
        unsigned level, digit;
        struct slot *s = first_slot(w, &level, &digit);
        struct chunk *tail = s->head, *head = s->head;
        while (tail->next)
            tail = tail->next;
        tail->next = all;
        all = head;
        slot_clear(w, level, digit);
    }
    deal_out(q, all);
}

bool eventq_cancel(struct eventq *q, uint32_t handle)
{
    uint32_t index = handle & (HANDLES_MAX - 1);
    if (index == 0 || index >= q->handles_count)
        return false;
    struct eventq_handle *h = &q->handles[index];
    if (h->handle != handle || h->state != HANDLE_LIVE)
        return false;
    h->state = HANDLE_DEAD;
    q->count--;
    q->dead++;
    trim(q);
    if (q->dead > DEAD_MIN && q->dead > q->count)
        sweep(q);
    return true;
}

void eventq_each(const struct eventq *q, void (*fn)(void *arg, const struct event *e), void *arg)
{
    for (uint32_t i = 0; i < q->near_count; i++)
        if (!is_dead(q, &q->near_[i]))
            fn(arg, &q->near_[i]);
    for (unsigned s = 0; q->wheel && s < LEVELS * DIGITS; s++)
        for (const struct chunk *c = q->wheel->slots[s / DIGITS][s % DIGITS].head; c; c = c->next)
            for (uint32_t i = 0; i < c->count; i++)
                if (!is_dead(q, &c->events[i]))
                    fn(arg, &c->events[i]);
}
