/* SPDX-License-Identifier: BSD-3-Clause */
/* sync/poolqueue.go: the lock-free queue of a sync.Pool's P. Its P, pinned, pushes and pops at the
 * head; whoever is pinned pops at the tail. */
#ifndef MODEL_POOLQUEUE_H
#define MODEL_POOLQUEUE_H
#include "runtime2.h"

/* Go's eface: used says what typ != nil says. It is the consumer's last word about a slot. */
struct poolSlot {
    ATOMIC(uint32_t) used;
    ATOMIC(int64_t) val;
};

struct poolChainElt {
    ATOMIC(uint64_t) headTail;                /* head << 32 | tail, both run on */
    ATOMIC(struct poolChainElt *) next, prev; /* next: towards the head */
    uint32_t len;                             /* of vals, a power of 2 */
    struct poolSlot *vals;
    struct poolChainElt *made; /* made before it for this chain; a collection gives them all back */
};

struct poolChain {
    struct poolChainElt *head; /* the producer's */
    ATOMIC(struct poolChainElt *) tail;
    struct poolChainElt *made;  /* all since the last collection, the newest first */
    struct poolChainElt *spare; /* from before that: nobody can see these any more */
};

/* With the G pinned. */
static void poolChain_pushHead(struct poolChain *c, int64_t val);
static bool poolChain_popHead(struct poolChain *c, int64_t *val);
static bool poolChain_popTail(struct poolChain *c, int64_t *val);
/* The collector's part: the chain is empty again, its elements are kept for those that it makes
 * next. The world is stopped. */
static void poolChain_collect(struct poolChain *c);
#endif
