/* SPDX-License-Identifier: BSD-3-Clause */
/* States that a depth-first search has been in: what can happen from one on is searched once.
 *
 * A state is all that what comes next depends on: the world's memory and what lies outside of it,
 * the live part of the stacks, who waits for what, clocks, the memory model by the order of its
 * stamps (not by their numbers), whose point it is, and how much of the bound is used up. Not in
 * it: how the run came there (answers, steps, fingerprint). Equal states have the same answers
 * below them, so for each that is done it is known how many schedules those are, and a run that
 * comes to one again ends there and stands for all of them. What is unequal may still be the same
 * (dead registers on a stack): then more is searched than needed.
 *
 * Two states are taken for one if a hash of 64 bits is the same. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <string.h>
#include <sys/mman.h>

#include "sim/base/fail.h"
#include "sim/explore/ex_int.h"

enum { OPEN_MAX = 1 << 12, SIZE_FIRST = 1 << 16 };

struct state {
    uint64_t key, below; /* key 0: none; below: schedules, NOT_DONE */
};
#define NOT_DONE UINT64_MAX

static struct {
    struct state *states;
    size_t size; /* a power of two; 0: there is no table */
    uint64_t count, most, schedules;
} seen;
/* The states on the path of the present run. */
static struct {
    uint64_t key, before;
    size_t answers;
} open_states[OPEN_MAX];
static uint32_t open_count;

static bool make_table(size_t size)
{
    void *p = mmap(NULL, size * sizeof *seen.states, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return false;
    seen.states = p;
    seen.size = size;
    return true;
}

bool ex_seen_init_(size_t states, struct failure *f)
{
    if (!make_table(SIZE_FIRST))
        return fail(f, E_LIMIT, "explore: no memory for states"), false;
    seen.most = states;
    seen.count = seen.schedules = open_count = 0;
    return true;
}

void ex_seen_free_(void)
{
    if (seen.size != 0)
        munmap(seen.states, seen.size * sizeof *seen.states);
    seen.size = seen.count = seen.schedules = 0;
}

static struct state *find(uint64_t key)
{
    size_t at = key & (seen.size - 1);

    while (seen.states[at].key != 0 && seen.states[at].key != key)
        at = (at + 1) & (seen.size - 1);
    return &seen.states[at];
}

/* Is there room for one more? */
static bool room(void)
{
    struct state *old = seen.states;
    size_t size = seen.size;

    if (seen.count >= seen.most)
        return false;
    if (seen.count < size / 2)
        return true;
    if (!make_table(2 * size))
        return seen.count < size / 8 * 7;
    for (size_t i = 0; i < size; i++)
        if (old[i].key != 0)
            *find(old[i].key) = old[i];
    munmap(old, size * sizeof *old);
    return true;
}

/* ---- what is the same ---- */

static void mix_words(struct fingerprint *f, const unsigned char *from, size_t size)
{
    for (size_t i = 0; i + 8 <= size; i += 8) {
        uint64_t word;
        memcpy(&word, from + i, 8);
        fp_mix(f, word);
    }
}

static void mix_stacks(struct fingerprint *f)
{
    for (int i = 0; i < ex.thread_count; i++) {
        const struct coro *c = &ex.threads[i].coro;
        if (ex.threads[i].wait == WAIT_DEAD)
            continue;
        const unsigned char *low = coro_used_from(c), *high = (unsigned char *)c->stack + c->size;
        fp_mix2(f, (uint64_t)i, (uint64_t)(high - low));
        mix_words(f, low, (size_t)(high - low));
    }
}

static uint64_t place_in_queue(uint64_t seq)
{
    uint64_t before = 0;

    for (int i = 0; i < ex.thread_count; i++)
        before += ex.threads[i].wait != WAIT_NOT && ex.threads[i].seq < seq;
    for (uint32_t i = 0; i < ex.timer_count; i++)
        before += ex.timers[i].seq < seq;
    return before;
}

static void mix_thread(struct fingerprint *f, const struct ex_thread *t)
{
    fp_mix2(f, t->wait, t == ex.cur ? ex_hot.now : t->now);
    fp_mix4(f, t->wake_at, (uint64_t)(uintptr_t)t->futex,
            t->wait != WAIT_NOT ? place_in_queue(t->seq) : 0, (uint64_t)t->p);
    fp_mix4(f, t->yields, t->flags, t->signals,
            (uint64_t)t->cuttable | (uint64_t)t->timed_out << 1 | (uint64_t)t->cut << 2 |
                (uint64_t)t->handling << 3 | (uint64_t)t->for_timer << 4);
}

static void mix_threads(struct fingerprint *f)
{
    fp_mix4(f, (uint64_t)ex.cur->id, ex.order, ex.due, ex.late);
    fp_mix4(f, ex.faults, ex.poll_broken, (uint64_t)ex.thread_count, ex.ch.strategy->used);
    mix_words(f, (const unsigned char *)&ex.seeds, sizeof ex.seeds);
    for (int i = 0; i < ex.thread_count; i++) {
        if (ex.threads[i].wait == WAIT_DEAD)
            fp_mix(f, WAIT_DEAD);
        else
            mix_thread(f, &ex.threads[i]);
    }
    for (uint32_t i = 0; i < ex.timer_count; i++) {
        const struct ex_timer *t = &ex.timers[i];
        fp_mix4(f, t->at, place_in_queue(t->seq), (uint64_t)(uintptr_t)t->fn,
                (uint64_t)(uintptr_t)t->arg);
    }
    for (uint32_t i = 0; i < ex.ready_count; i++)
        fp_mix2(f, (uint64_t)ex.ready[i].fd, ex.ready[i].mode);
}

static uint64_t alive(void)
{
    uint64_t threads = 0;

    for (int i = 0; i < ex.thread_count; i++)
        threads |= (uint64_t)(ex.threads[i].wait != WAIT_DEAD) << i;
    return threads;
}

static uint64_t key_of_state(void)
{
    struct fingerprint f;

    fp_init(&f);
    ex_kept_mix_(&f);
    for (uint32_t i = 0; i < ex.o.outside_count; i++)
        fp_mix_bytes(&f, ex.o.outside[i].at, ex.o.outside[i].size);
    mix_threads(&f);
    mix_stacks(&f);
    mm_mix(&f, alive());
    uint64_t key = fp_value(&f);
    return key != 0 ? key : 1;
}

/* ---- asking ---- */

bool ex_seen_(size_t answers)
{
    uint64_t key = key_of_state();
    struct state *s = find(key);

    if (s->key != 0 && s->below != NOT_DONE) {
        seen.schedules += s->below;
        return true;
    }
    if (s->key != 0 || open_count == OPEN_MAX || !room())
        return false; /* it is searched like any other, and not remembered */
    *find(key) = (struct state){key, NOT_DONE};
    seen.count++;
    open_states[open_count].key = key;
    open_states[open_count].answers = answers;
    open_states[open_count++].before = seen.schedules;
    return false;
}

void ex_seen_done_(size_t same)
{
    while (open_count > 0 && open_states[open_count - 1].answers > same) {
        open_count--;
        find(open_states[open_count].key)->below = seen.schedules - open_states[open_count].before;
    }
}

void ex_seen_one_more_(void) { seen.schedules++; }

void ex_seen_totals_(struct ex_totals *t)
{
    t->schedules = seen.schedules;
    t->states = seen.count;
}
