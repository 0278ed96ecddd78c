/* SPDX-License-Identifier: BSD-3-Clause */
/* sync/poolqueue.go. A chain of rings, each twice as long as the one before; values go into the
 * newest and leave from both ends.
 *
 * A slot changes hands three times: pushHead's add to headTail gives it to consumers, a CAS on
 * headTail gives it to one of them, and used = 0 gives it back to the producer, who may find it
 * taken still and then takes the ring for full. A ring that is empty and has a next one stays
 * empty: popTail reads next before it looks, and only then drops it from the chain. */
#include "poolqueue.h"

enum { POOL_RING_FIRST = 8, POOL_RING_LIMIT = 1 << 30 };

/* poolqueue.go poolDequeue.pushHead. False: full. */
static bool poolDequeue_pushHead(struct poolChainElt *d, int64_t val)
{
    uint64_t ptrs = a_load(&d->headTail);
    uint32_t head = (uint32_t)(ptrs >> 32), tail = (uint32_t)ptrs;
    if (tail + d->len == head)
        return false;
    struct poolSlot *slot = &d->vals[head & (d->len - 1)];
    if (a_load(&slot->used) != 0)
        return false; /* a consumer is still busy with it */
    a_store_rlx(&slot->val, val);
    a_store_rlx(&slot->used, 1);
    a_add(&d->headTail, UINT64_C(1) << 32);
    return true;
}

/* poolqueue.go poolDequeue.popHead. False: empty. */
static bool poolDequeue_popHead(struct poolChainElt *d, int64_t *val)
{
    for (;;) {
        uint64_t ptrs = a_load(&d->headTail);
        uint32_t head = (uint32_t)(ptrs >> 32), tail = (uint32_t)ptrs;
        if (tail == head)
            return false;
        head--;
        if (!a_cas(&d->headTail, ptrs, (uint64_t)head << 32 | tail))
            continue;
        struct poolSlot *slot = &d->vals[head & (d->len - 1)];
        *val = a_load_rlx(&slot->val);
        a_store_rlx(&slot->used, 0); /* the next who looks is pushHead, on this thread */
        return true;
    }
}

/* poolqueue.go poolDequeue.popTail. False: empty. */
static bool poolDequeue_popTail(struct poolChainElt *d, int64_t *val)
{
    for (;;) {
        uint64_t ptrs = a_load(&d->headTail);
        uint32_t head = (uint32_t)(ptrs >> 32), tail = (uint32_t)ptrs;
        if (tail == head)
            return false;
        if (!a_cas(&d->headTail, ptrs, (uint64_t)head << 32 | (uint32_t)(tail + 1)))
            continue;
        struct poolSlot *slot = &d->vals[tail & (d->len - 1)];
        *val = a_load_rlx(&slot->val);
        a_store(&slot->used, 0); /* pushHead's from here on */
        return true;
    }
}

/* Go: new(poolChainElt) and make([]eface, len). One of the same length is used again. */
static struct poolChainElt *elt_new(struct poolChain *c, uint32_t len)
{
    struct poolChainElt **at = &c->spare, *d;
    work(alloc);
    while (*at != NULL && (*at)->len != len)
        at = &(*at)->made;
    d = *at;
    if (d != NULL) {
        *at = d->made;
    } else {
        d = host_alloc(sizeof *d, 64);
        d->vals = host_alloc(len * sizeof *d->vals, 64);
        d->len = len;
    }
    d->made = c->made;
    c->made = d;
    return d;
}

/* poolqueue.go poolChain.pushHead. */
static void poolChain_pushHead(struct poolChain *c, int64_t val)
{
    struct poolChainElt *d = c->head;
    if (d == NULL) {
        d = elt_new(c, POOL_RING_FIRST);
        c->head = d;
        a_store(&c->tail, d);
    }
    if (poolDequeue_pushHead(d, val))
        return;
    struct poolChainElt *d2 = elt_new(c, d->len < POOL_RING_LIMIT ? 2 * d->len : POOL_RING_LIMIT);
    a_store(&d2->prev, d);
    c->head = d2;
    a_store(&d->next, d2);
    (void)poolDequeue_pushHead(d2, val);
}

/* poolqueue.go poolChain.popHead. */
static bool poolChain_popHead(struct poolChain *c, int64_t *val)
{
    for (struct poolChainElt *d = c->head; d != NULL; d = a_load(&d->prev))
        if (poolDequeue_popHead(d, val))
            return true;
    return false;
}

/* poolqueue.go poolChain.popTail. */
static bool poolChain_popTail(struct poolChain *c, int64_t *val)
{
    struct poolChainElt *d = a_load(&c->tail);
    while (d != NULL) {
        struct poolChainElt *d2 = a_load(&d->next);
        if (poolDequeue_popTail(d, val))
            return true;
        if (d2 != NULL && a_cas(&c->tail, d, d2))
            a_store(&d2->prev, NULL);
        d = d2;
    }
    return false;
}

static void elt_clear(struct poolChainElt *d)
{
    a_init(&d->headTail, 0);
    a_init(&d->next, NULL);
    a_init(&d->prev, NULL);
    for (uint32_t i = 0; i < d->len; i++)
        a_init(&d->vals[i].used, 0);
}

static void poolChain_collect(struct poolChain *c)
{
    while (c->made != NULL) {
        struct poolChainElt *d = c->made;
        c->made = d->made;
        elt_clear(d);
        d->made = c->spare;
        c->spare = d;
    }
    c->head = NULL;
    a_init(&c->tail, NULL);
}
