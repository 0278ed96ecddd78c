/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timed host with somebody who answers. Without a chooser nothing here runs: virtual time
 * decides who goes next, ranks decide ties, seeds decide draws, nothing fails. With one, each of
 * these is asked, and the log of the answers is the run:
 *
 *   the strategy wants_time   the smallest clock goes next; of several at one instant: CHOICE_TIE
 *   it does not               any thread that has a CPU may go next, at one common time:
 *                             CHOICE_THREAD
 *   both                      draw() and noise: CHOICE_DRAW; with opts.faults, does a futexsleep
 *                             return for no reason: CHOICE_FAULT
 *
 * The horizon is then 0, so that every point comes by.
 */
#include "sim/virt/ready.h"

#include <assert.h>

#include "sim/virt/host.h"

struct chooser *vm_chooser_;

uint32_t vm_choose_(const struct choice *c)
{
    struct chooser *ch = vm_chooser_;

    if (ch->count < ch->log_max)
        return choose(ch, c);
    fail(&vm_w_.failure, E_LIMIT, "more than %zu answers in one run", ch->log_max);
    vm_limit_(NULL, &vm_w_.failure);
    return 0;
}

uint64_t vm_draw_(uint64_t n, uint64_t fallback)
{
    return choose_below(vm_choose_, n, fallback, vm_w_.events);
}

bool vm_fault_(void)
{
    struct choice c = {.kind = CHOICE_FAULT, .n = 2, .step = vm_w_.events};

    return vm_w_.opts.faults && vm_choose_(&c) != 0;
}

/* ---- who is next ---- */

/* The threads that are asked about: those in the ready tree that are due up to `until`, and self,
 * who stands before it (NULL: nobody). */
struct candidates {
    struct vm_thread *self;
    uint64_t until;
};

/* The i-th place where one may be; NULL: none there. */
static struct vm_thread *candidate(const struct candidates *c, uint32_t i)
{
    const struct vm_ready *r = &vm_w_.ready;

    if (i == r->count)
        return c->self != NULL && c->self->clock <= c->until ? c->self : NULL;
    uint64_t key = r->node[r->capacity + i];
    return vm_ready_time_(key) <= c->until ? vm_ready_thread_(key) : NULL;
}

static uint32_t count(const struct candidates *c)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i <= vm_w_.ready.count; i++)
        n += candidate(c, i) != NULL;
    return n;
}

/* The one with k others of lower rank. */
static struct vm_thread *by_rank(const struct candidates *c, uint32_t k)
{
    struct vm_thread *best = NULL;

    for (uint64_t from = 0;; from = best->f.rank + 1) {
        best = NULL;
        for (uint32_t i = 0; i <= vm_w_.ready.count; i++) {
            struct vm_thread *t = candidate(c, i);

            if (t != NULL && t->f.rank >= from && (best == NULL || t->f.rank < best->f.rank))
                best = t;
        }
        assert(best != NULL);
        if (k-- == 0)
            return best;
    }
}

/* Answers are in the order of ranks; 0 is what the documented rule says. */
struct vm_thread *vm_choose_tie_(struct vm_thread *self, uint64_t at)
{
    struct candidates all = {self, at};
    struct choice c = {.kind = CHOICE_TIE, .n = count(&all), .step = vm_w_.events};

    c.threads = c.n;
    return by_rank(&all, c.n > 1 ? vm_choose_(&c) : 0);
}

/* Answer 0 is the thread that goes on, if there is one; the others follow by rank. */
struct vm_thread *vm_choose_thread_(struct vm_thread *self)
{
    struct candidates others = {NULL, VM_NEVER};
    struct choice c = {.kind = CHOICE_THREAD, .preempts = self != NULL, .step = vm_w_.events};

    c.n = c.threads = count(&others) + (self != NULL);
    uint32_t answer = c.n > 1 ? vm_choose_(&c) : 0;
    if (self != NULL && answer == 0)
        return self;
    return by_rank(&others, answer - (self != NULL));
}
