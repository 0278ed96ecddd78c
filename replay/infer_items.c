/* SPDX-License-Identifier: BSD-3-Clause */
/* Items. What a goroutine does with what it has received belongs to the item where the item says
 * what to do: a worker's job, a server's request with the channel for the answer. When a replay
 * deals the items to other receivers, or to the same in another order, what was done with each has
 * to go with it: else a server answers whom nobody asked.
 *
 * The n-th item that went into a channel came out n-th. A goroutine plays the items of the channel
 * from which it received most often, if twice or more; what it did from one receive to the next is
 * the first one's. The last one's stays with the goroutine, for it is also what came after the
 * loop. A select that receives from that channel is one over all its channels of which an item says
 * what to do, and what it receives is played, whichever it is. A channel is dealt if there is a
 * choice (more than one sender or receiver), if whoever receives from it does not send to it as
 * well (that is a semaphore), and if what is done with an item gives back the locks that it takes,
 * and waits for no timer that was set at another item: such a receiver goes by what it has seen so
 * far. It is not where senders gave up (a select with a time-out): which items there were, and
 * when, is what the receivers left them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "replay/infer.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"

struct channel {
    uint32_t sender, receiver; /* the first; who has several says so below */
    uint32_t receives;
    bool senders, receivers; /* more than one */
    bool unbalanced;
};

static struct rec_item *sort_items;

/* Per channel: sends in their order, then receives in theirs. */
static int by_order(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    const struct rec_item *x = &sort_items[a], *y = &sort_items[b];
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->sends != y->sends)
        return x->sends ? -1 : 1;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Items that were there before the window have no send. */
static void match(struct recording *r)
{
    uint32_t *by = x_alloc((r->nitems + 1) * sizeof *by);
    for (uint32_t i = 0; i < r->nitems; i++)
        by[i] = i;
    sort_items = r->items;
    qsort(by, r->nitems, sizeof *by, by_order);
    for (uint32_t i = 0, sends, end; i < r->nitems; i = end) {
        const struct rec_object *o = &r->objects[r->items[by[i]].object];
        for (sends = i; sends < r->nitems && r->items[by[sends]].sends &&
                        r->items[by[sends]].object == r->items[by[i]].object;)
            sends++;
        for (end = sends; end < r->nitems && !r->items[by[end]].sends &&
                          r->items[by[end]].object == r->items[by[i]].object;)
            end++;
        uint32_t there = o->there[0] > 0 ? (uint32_t)o->there[0] : 0;
        for (uint32_t k = 0; i + k < sends && sends + there + k < end; k++) {
            r->items[by[i + k]].other = by[sends + there + k];
            r->items[by[sends + there + k]].other = by[i + k];
        }
    }
    free(by);
}

static void look_at_channels(struct recording *r, struct channel *c)
{
    struct map roles = {0}; /* (channel, goroutine) -> 1 sends, 2 receives */
    for (uint32_t i = 0; i < r->nobjects; i++)
        c[i] = (struct channel){.sender = REC_NONE, .receiver = REC_NONE};
    for (uint32_t i = 0; i < r->nitems; i++) {
        const struct rec_item *it = &r->items[i];
        struct channel *x = &c[it->object];
        uint32_t *first = it->sends ? &x->sender : &x->receiver;
        bool *several = it->sends ? &x->senders : &x->receivers;
        if (*first == REC_NONE)
            *first = it->g;
        else if (*first != it->g)
            *several = true;
        x->receives += !it->sends;
        struct map_slot *s = map_put(&roles, (uint64_t)it->object << 32 | it->g, 0);
        s->a |= it->sends ? 1 : 2;
        r->objects[it->object].both |= s->a == 3;
    }
    map_release(&roles);
}

enum { SHARE = 8 };
/* One in so many may have given up for another reason: the end. */
enum { GAVE_UP = 20 };

/* The channel that each goroutine received from most often, if that is one receive in SHARE: else
 * it is one of many, as that of the answers in each of many rounds. */
static void favourites(struct recording *r, const struct channel *c)
{
    struct map often = {0};
    size_t size = (r->ngs + (size_t)1) * sizeof(uint32_t);
    uint32_t *most = x_alloc(size), *receives = x_alloc(size);
    memset(most, 0, size);
    memset(receives, 0, size);
    for (uint32_t i = 0; i < r->nitems; i++) {
        const struct rec_item *it = &r->items[i];
        if (it->sends)
            continue;
        receives[it->g]++;
        struct map_slot *s = map_put(&often, (uint64_t)it->object << 32 | it->g, 0);
        bool choice = (c[it->object].senders || c[it->object].receivers) &&
                      !r->objects[it->object].both;
        if (++s->a > most[it->g] && s->a >= 2 && choice && !r->gs[it->g].system) {
            most[it->g] = s->a;
            r->gs[it->g].deals = it->object;
        }
    }
    for (uint32_t g = 0; g < r->ngs; g++)
        if ((uint64_t)most[g] * SHARE < receives[g])
            r->gs[g].deals = REC_NONE;
    map_release(&often);
    free(most);
    free(receives);
}

/* Does its item say what to do, in a select beside the channel whose items its goroutine plays? */
static bool says_what_to_do(const struct recording *r, const struct rec_item *it)
{
    const struct rec_object *o = &r->objects[it->object];
    if (it->other == REC_NONE || o->timer || o->closed || o->both || o->tokens)
        return false;
    for (uint32_t k = 0; k < it->ncases; k++)
        if (r->cases[it->cases + k] == r->gs[it->g].deals)
            return !r->objects[r->gs[it->g].deals].closed;
    return false;
}

bool rec_is_dealt(const struct recording *r, const struct rec_item *it)
{
    uint32_t deals = r->gs[it->g].deals;
    if (it->sends || deals == REC_NONE)
        return false;
    return it->object == deals || says_what_to_do(r, it);
}

/* What goroutine g received with each of its deeds: (object + 1) * 2, + 1 if dealt; 0: nothing. */
static void receives_of(const struct recording *r, uint32_t **of)
{
    for (uint32_t g = 0; g < r->ngs; g++) {
        of[g] = NULL;
        if (r->gs[g].deals == REC_NONE)
            continue;
        size_t size = ((size_t)r->gs[g].deeds + 1) * sizeof **of;
        of[g] = x_alloc(size);
        memset(of[g], 0, size);
    }
    for (uint32_t i = 0; i < r->nitems; i++) {
        const struct rec_item *it = &r->items[i];
        if (!it->sends && of[it->g] != NULL)
            of[it->g][it->deed] = (it->object + 1) << 1 | rec_is_dealt(r, it);
    }
}

static bool sets_timer(enum rec_deed deed)
{
    return deed == DEED_timer || deed == DEED_ticker || deed == DEED_treset;
}

/* From one receive to the next, what is locked is unlocked, and whose timer is waited for is set.
 */
static bool is_balanced(const struct recording *r, uint32_t g, const uint32_t *receives)
{
    struct rec_reader rd;
    struct rec_entry e;
    struct map set = {0}; /* timer -> the item at which it was set last */
    uint32_t op = 0, item = 0;
    int held = 0;
    bool ok = true;
    for (rec_rewind(&rd, r, g); ok && rec_next(&rd, &e);) {
        if (e.what != REC_DEED)
            continue;
        enum rec_deed deed = (enum rec_deed)(e.a & 0xff);
        uint32_t got = receives[op++];
        if (sets_timer(deed) && e.b != 0)
            map_put(&set, e.b, 0)->a = item;
        if ((got & 1) != 0) {
            ok = held == 0;
            item++;
        } else if (got != 0 && item > 0 && r->objects[(got >> 1) - 1].timer) {
            ok = map_put(&set, got >> 1, 0)->a == item;
        }
        if (item > 0)
            held += rec_lock_change(deed);
        ok = ok && held >= 0;
    }
    map_release(&set);
    return ok;
}

static void check_balance(struct recording *r, struct channel *c)
{
    uint32_t **of = x_alloc((r->ngs + 1) * sizeof *of);
    receives_of(r, of);
    for (uint32_t g = 0; g < r->ngs; g++) {
        if (of[g] != NULL && !is_balanced(r, g, of[g]))
            c[r->gs[g].deals].unbalanced = true;
        free(of[g]);
    }
    free(of);
}

void infer_items(struct recording *r, struct infer_found *f)
{
    struct channel *c = x_alloc((r->nobjects + 1) * sizeof *c);
    match(r);
    look_at_channels(r, c);
    favourites(r, c);
    check_balance(r, c);
    for (uint32_t g = 0; g < r->ngs; g++) {
        uint32_t o = r->gs[g].deals;
        if (o == REC_NONE)
            continue;
        if (c[o].unbalanced || (uint64_t)r->objects[o].passed * GAVE_UP > c[o].receives)
            r->gs[g].deals = REC_NONE;
    }
    for (uint32_t i = 0; i < r->nitems; i++)
        if (rec_is_dealt(r, &r->items[i]))
            r->objects[r->items[i].object].dealt = true;
    for (uint32_t i = 0; i < r->nobjects; i++)
        if (r->objects[i].kind == OBJ_CHAN && c[i].receives > 0) {
            f->of++;
            f->count += r->objects[i].dealt;
        }
    f->confidence = f->of > 0 ? (int)(f->count * 1000 / f->of) : 0;
    snprintf(f->text, sizeof f->text, "channels, whose items say what is done with them");
    free(c);
}
