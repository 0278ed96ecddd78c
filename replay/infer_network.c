/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors. A reader that the poller woke was woken by somebody's write: by a goroutine of the
 * recording, if the other end is in the same program, else by the world outside.
 *
 * Readers that are woken by one look at the poller are a batch. What made one of them ready came
 * after the look before that found anything, or that look would have found it, too: so candidates
 * are the writes (connects, closes) since then, that ended after the reader began to wait. Readers
 * are woken in the order in which they became ready, or in the reverse of it, as the release does;
 * so writes and readers of a batch are matched in order, as many as possible, and among those
 * matches the one with the likeliest pairs of goroutines: likely are pairs that had to match in
 * batches with as many writes as readers. Goroutines that live for one connection count as who made
 * them. A pair gets a descriptor, which counts what has arrived. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "replay/infer.h"
#include "replay/reason.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"

/* A call returns a little after the reader was made ready, on another CPU. */
enum { SLACK_NS = 60000, WRITES_MAX = 192, SHORT_LIVED = 3, ROUNDS = 3, OWN_PERCENT = 90 };

struct net {
    struct recording *r;
    const uint32_t *times; /* how often each goroutine waited for a descriptor */
    uint32_t *waits;       /* in the order of their wakes */
    uint32_t nwaits;
    bool reverse;     /* the last that became ready was woken first */
    struct map pairs; /* (writer, reader) -> how often they matched */
    struct map next;  /* ... in this round */
    uint32_t *best;   /* the table of a batch: (readers + 1) * (writes + 1), and what was chosen */
    size_t best_room;
    uint32_t *chosen; /* by place in waits: the write, REC_NONE */
};

static bool is_net(const struct recording *r, const struct rec_wait *w)
{
    return w->how == HOW_TOKEN && w->waker == REC_NONE && w->woken != INT64_MAX &&
           w->reason == REASON_IOWait && !r->gs[w->g].system;
}

/* A goroutine that waited a few times only stands for whoever made it. */
static uint32_t kin(const struct net *n, uint32_t g)
{
    uint32_t creator = n->r->gs[g].creator;
    return n->times[g] < SHORT_LIVED && creator != REC_NONE ? creator : g;
}

static uint64_t pair_of(const struct net *n, uint32_t write, uint32_t wait)
{
    uint64_t writer = kin(n, n->r->writes[write].g);
    return writer << 32 | kin(n, n->r->waits[wait].g);
}

/* ---- batches ---- */

static const struct rec_wait *sort_waits;

static int by_wake(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    if (sort_waits[a].woken != sort_waits[b].woken)
        return sort_waits[a].woken < sort_waits[b].woken ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void collect(struct net *n)
{
    struct recording *r = n->r;
    for (uint32_t i = 0; rec_is_wait(r, i); i++)
        if (is_net(r, &r->waits[i]))
            n->waits[n->nwaits++] = i;
    sort_waits = r->waits;
    qsort(n->waits, n->nwaits, sizeof *n->waits, by_wake);
}

/* ---- candidates ---- */

/* Writes are in the order in which they were over: the first that was over at `at` or later. */
static uint32_t first_write(const struct recording *r, int64_t at)
{
    uint32_t low = 0, high = r->nwrites;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (r->writes[mid].until < at)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

struct batch {
    uint32_t wait, waits;   /* places in n->waits */
    uint32_t write, writes; /* in r->writes */
};

/* From the wakes before until a little after these. */
static void set_writes(const struct net *n, struct batch *b)
{
    const struct recording *r = n->r;
    const struct rec_wait *last = &r->waits[n->waits[b->wait + b->waits - 1]];
    int64_t since = b->wait > 0 ? r->waits[n->waits[b->wait - 1]].woken : 0;
    uint32_t end = first_write(r, last->woken + SLACK_NS);
    b->write = first_write(r, since);
    if (end - b->write > WRITES_MAX)
        b->write = end - WRITES_MAX;
    b->writes = end - b->write;
}

static bool next_batch(const struct net *n, struct batch *b)
{
    const struct rec_wait *waits = n->r->waits;
    b->wait += b->waits;
    if (b->wait == n->nwaits)
        return false;
    for (b->waits = 1; b->wait + b->waits < n->nwaits && b->waits < WRITES_MAX; b->waits++)
        if (waits[n->waits[b->wait + b->waits]].due_low != waits[n->waits[b->wait]].due_low)
            break;
    set_writes(n, b);
    return true;
}

/* ---- matching ---- */

/* Of the i-th reader that became ready, counted from 0. */
static uint32_t place_of(const struct net *n, const struct batch *b, uint32_t i)
{
    return b->wait + (n->reverse ? b->waits - 1 - i : i);
}

/* How well they match; 0: not at all. */
static uint32_t gain(const struct net *n, uint32_t write, uint32_t wait)
{
    const struct rec_write *x = &n->r->writes[write];
    const struct rec_wait *w = &n->r->waits[wait];
    if (x->from > w->woken || x->until < w->from || x->g == w->g || n->r->gs[x->g].system)
        return 0;
    const struct map_slot *s = map_find(&n->pairs, pair_of(n, write, wait), 0);
    uint64_t often = s != NULL ? s->at : 0;
    return (1u << 20) + (uint32_t)(often < 1000 ? often : 1000);
}

/* best[i][j]: of the first i readers and the first j writes. */
static void match(struct net *n, const struct batch *b)
{
    uint32_t wide = b->writes + 1;
    size_t cells = (size_t)(b->waits + 1) * wide;
    if (cells > n->best_room) {
        n->best_room = cells * 2;
        n->best = x_grow(n->best, n->best_room * sizeof *n->best);
    }
    memset(n->best, 0, cells * sizeof *n->best);
    for (uint32_t i = 1; i <= b->waits; i++)
        for (uint32_t j = 1; j <= b->writes; j++) {
            uint32_t *at = &n->best[i * wide + j], up = at[-(ptrdiff_t)wide], left = at[-1];
            uint32_t g = gain(n, b->write + j - 1, n->waits[place_of(n, b, i - 1)]);
            uint32_t both = g > 0 ? at[-(ptrdiff_t)wide - 1] + g : 0;
            *at = both > up && both > left ? both : up > left ? up : left;
        }
    for (uint32_t i = b->waits, j = b->writes; i > 0 && j > 0;) {
        uint32_t *at = &n->best[i * wide + j];
        if (*at == at[-1]) {
            j--;
        } else if (*at == at[-(ptrdiff_t)wide]) {
            i--;
        } else {
            n->chosen[place_of(n, b, i - 1)] = b->write + j - 1;
            i--;
            j--;
        }
    }
}

/* In the first round only batches that leave no choice have a say. */
static void round_of(struct net *n, int round)
{
    struct batch b = {0};
    memset(n->chosen, 0xff, n->nwaits * sizeof *n->chosen);
    while (next_batch(n, &b))
        if (round > 0 || b.writes == b.waits)
            match(n, &b);
    for (uint32_t i = 0; i < n->nwaits; i++)
        if (n->chosen[i] != REC_NONE)
            map_put(&n->next, pair_of(n, n->chosen[i], n->waits[i]), 0)->at++;
    map_release(&n->pairs);
    n->pairs = n->next;
    n->next = (struct map){0};
}

/* The more the same pairs come again, the likelier the order. */
static uint64_t consistency(struct net *n, bool reverse)
{
    uint64_t sum = 0;
    n->reverse = reverse;
    map_release(&n->pairs);
    n->pairs = (struct map){0};
    for (int round = 0; round < ROUNDS; round++)
        round_of(n, round);
    for (size_t i = 0; i < n->pairs.capacity; i++)
        if (n->pairs.slots[i].used)
            sum += n->pairs.slots[i].at * n->pairs.slots[i].at;
    return sum;
}

/* The descriptor of two goroutines. */
static uint32_t descriptor(struct recording *r, struct map *fds, uint32_t writer, uint32_t reader)
{
    struct map_slot *s = map_put(fds, (uint64_t)writer << 32 | reader, 0);
    if (s->a == 0)
        s->a = rec_add_object(r, OBJ_FD, 0, 2, "") + 1;
    return s->a - 1;
}

static uint64_t assign(struct net *n)
{
    struct map fds = {0};
    struct recording *r = n->r;
    uint64_t count = 0;
    for (uint32_t i = 0; i < n->nwaits; i++) {
        if (n->chosen[i] == REC_NONE)
            continue;
        struct rec_wait *w = &r->waits[n->waits[i]];
        struct rec_write *by = &r->writes[n->chosen[i]];
        if (by->object != REC_NONE)
            continue; /* a batch before has it */
        by->object = descriptor(r, &fds, by->g, w->g);
        r->objects[by->object].param++;
        w->object = by->object;
        w->how = HOW_NET;
        w->level = 2;
        count++;
    }
    map_release(&fds);
    return count;
}

/* ---- of a deep recording ---- */

/* What flows into one end of a connection. */
struct flow {
    uint32_t first, last; /* writes that nobody has read yet, REC_NONE */
    uint64_t written;     /* by what came before `first` */
    uint64_t read;
};

static void flow_write(struct recording *r, struct flow *w, uint32_t i)
{
    if (w->first == REC_NONE)
        w->first = i;
    else
        r->ios[w->last].next = i;
    w->last = i;
    r->objects[r->ios[i].object].param++;
}

/* Takes the writes whose bytes begin before what has been read now. False: there was more to read
 * than was written, so others write, too. */
static bool flow_read(struct recording *r, struct flow *w, struct rec_io *x)
{
    w->read += x->bytes;
    while (w->first != REC_NONE && w->written < w->read) {
        w->written += r->ios[w->first].bytes;
        w->first = r->ios[w->first].next;
        if (x->takes < UINT16_MAX)
            x->takes++;
    }
    return w->read <= w->written;
}

/* What a read took is what has to be written before it; it waits where it waited, or may have to
 * where it did not. Reads of what was written before the window stay as they were. */
static void flows(struct recording *r, struct flow *of)
{
    for (uint32_t i = 0; i < r->nios; i++) {
        struct rec_io *x = &r->ios[i];
        struct flow *w = &of[x->object];
        if (x->bytes == 0)
            continue;
        if (x->writes)
            flow_write(r, w, i);
        else if (r->objects[x->object].param == 0)
            continue;
        else if (!flow_read(r, w, x))
            r->objects[x->object].tokens = true;
    }
}

static uint64_t deep_waits(struct recording *r)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < r->nios; i++) {
        struct rec_io *x = &r->ios[i];
        if (x->takes == 0 || r->objects[x->object].tokens || x->wait == REC_NONE)
            continue;
        struct rec_wait *w = &r->waits[x->wait];
        w->object = x->object;
        w->how = HOW_NET;
        w->takes = x->takes;
        w->level = 2;
        count++;
    }
    return count;
}

static uint64_t known(struct recording *r)
{
    if (r->nios == 0)
        return 0;
    struct flow *of = x_alloc(((size_t)r->nobjects + 1) * sizeof *of);
    for (uint32_t i = 0; i < r->nobjects; i++)
        of[i] = (struct flow){.first = REC_NONE, .last = REC_NONE};
    flows(r, of);
    free(of);
    return deep_waits(r);
}

/* Where nearly all was written by the program itself, so was the rest: it takes as long as it took,
 * and does not come at its recorded time whatever the program does. */
static void keep_length(struct net *n, uint64_t of, uint64_t count)
{
    if (count * 100 < of * OWN_PERCENT)
        return;
    for (uint32_t i = 0; i < n->nwaits; i++) {
        struct rec_wait *w = &n->r->waits[n->waits[i]];
        w->as_long = w->how == HOW_TOKEN;
    }
}

void infer_network(struct recording *r, struct infer_found *f)
{
    uint32_t *times = x_alloc((r->ngs + 1) * sizeof *times);
    struct net n = {.r = r,
                    .times = times,
                    .waits = x_alloc((r->nwaits + 1) * sizeof *n.waits),
                    .chosen = x_alloc((r->nwaits + 1) * sizeof *n.chosen)};
    memset(times, 0, (r->ngs + 1) * sizeof *times);
    uint64_t deep = known(r);
    collect(&n);
    for (uint32_t i = 0; i < n.nwaits; i++)
        times[r->waits[n.waits[i]].g]++;
    uint64_t reversed = consistency(&n, true), straight = consistency(&n, false);
    if (reversed > straight)
        (void)consistency(&n, true);
    f->of = n.nwaits + deep;
    uint64_t count = assign(&n) + deep;
    keep_length(&n, f->of, count);
    f->count = count;
    f->confidence = f->of > 0 ? (int)(f->count * 1000 / f->of) : 0;
    snprintf(f->text, sizeof f->text, "the others come from outside");
    map_release(&n.pairs);
    free(n.best);
    free(n.waits);
    free(n.chosen);
    free(times);
}
