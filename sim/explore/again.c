/* SPDX-License-Identifier: BSD-3-Clause */
/* The common beginning of runs: a copy of the world at the program's first instruction, and putting
 * it back. And copies on the way, for a search that goes depth first.
 *
 * What is copied: the arena and the stacks (sim/base/checkpoint.c), the world's part of struct ex,
 * and what the verbs' fast path keeps. Of the arena only pages that some run has written to are put
 * back, some dozen of hundreds: which they are is learnt by write protection, one fault a page. At
 * the common beginning the memory model has no state: start-up is sequentially consistent.
 *
 * Runs of a depth-first search differ in their last answers. So every few answers a small world is
 * copied whole, the memory model too, and the next run begins at the last of these copies that it
 * comes by. */
#include <stddef.h>
#include <string.h>

#include "sim/base/fail.h"
#include "sim/explore/ex_int.h"

enum {
    COPIES = 16,
    SPACING = 3,      /* answers between two */
    SMALL = 64 * 1024 /* bytes of a world that is copied on the way */
};

struct kept {
    struct checkpoint copy;
    struct ex_hot hot;
    unsigned char world[offsetof(struct ex, able)];
    struct ex_thread *able[2 * EX_THREADS_MAX];
    uint8_t able_id[2 * EX_THREADS_MAX];
    struct ex_thread threads[EX_THREADS_MAX];
    struct ex_timer timers[EX_EVENTS_MAX];
    struct ex_ready ready[EX_READY_MAX];
    struct ex_thread *at_start;
    uint32_t timer_count, ready_count;
    int thread_count;
    size_t answers;
    struct mm_copy memory;
    unsigned char outside[EX_OUTSIDE_MAX];
};

static struct kept kept[COPIES];
static struct kept *copies[COPIES]; /* 0: the common beginning; the others in the order of a run */
static uint32_t copy_count;         /* 0: there is none */
static size_t copy_due;             /* so many answers, at which there is a new one */

bool ex_begin_start(struct strategy *s)
{
    ex.starting = true;
    ex.paused = ex.on_branch = false;
    if (!ex_take_over_(s))
        return false;
    mm_reset(ex_memory_(), ex.o.ctrl, &ex.ch);
    ex_world_reset_();
    return true;
}

void ex_pause_(void)
{
    struct ex_thread *me = ex.cur;

    ex_hot.turns = ex.o.sync;
    if (ex.o.settle_ns > 0) /* it computes, and the others do what they were about to */
        ex_wait_(WAIT_BURST, ex_hot.now + (uint64_t)ex.o.settle_ns * 1000);
    ex.starting = false;
    ex.paused = true;
    ex.at_start = me;
    ex_unsettle_();
    ex_switch_out_(me);
    ex_unsettle_(); /* somebody else answers now */
}

bool ex_run_start(void)
{
    ex_run();
    return ex.paused;
}

void ex_to_first_points(void)
{
    static struct ex_thread here; /* who asks for it, as one of them */
    struct evenly unused = {0};

    here.coro = ex.main;
    ex.to_first = &here;
    ex.evenly = &unused;
    for (int i = 0; i < ex.thread_count; i++) {
        struct ex_thread *t = ex.cur = &ex.threads[i];
        ex_hot.salt = &t->salt;
        ex_hot.now = t->now;
        coro_switch(&here.coro, &t->coro);
    }
    ex.to_first = NULL;
    ex.evenly = NULL; /* the next strategy's */
    ex.at = ex.end = ex.dealt = NULL;
    ex.cur = NULL;
    ex.steps = (uint64_t)ex.thread_count;
    ex.at_first = true;
}

static void outside_save(unsigned char *to)
{
    for (uint32_t i = 0; i < ex.o.outside_count; i++) {
        memcpy(to, ex.o.outside[i].at, ex.o.outside[i].size);
        to += ex.o.outside[i].size;
    }
}

static void outside_put_back(const unsigned char *from)
{
    for (uint32_t i = 0; i < ex.o.outside_count; i++) {
        memcpy(ex.o.outside[i].at, from, ex.o.outside[i].size);
        from += ex.o.outside[i].size;
    }
}

static int save(struct kept *k, struct failure *f)
{
    int rc = checkpoint_save(&k->copy, &ex.arena, f);

    if (rc != 0)
        return rc;
    k->hot = ex_hot;
    memcpy(k->world, &ex, sizeof k->world);
    memcpy(k->able, ex.able, 2 * (size_t)ex.able_count * sizeof *ex.able);
    memcpy(k->able_id, ex.able_id, 2 * (size_t)ex.able_count);
    k->thread_count = ex.thread_count;
    k->timer_count = ex.timer_count;
    k->ready_count = ex.ready_count;
    k->at_start = ex.at_start;
    memcpy(k->threads, ex.threads, (size_t)ex.thread_count * sizeof *ex.threads);
    memcpy(k->timers, ex.timers, ex.timer_count * sizeof *ex.timers);
    memcpy(k->ready, ex.ready, ex.ready_count * sizeof *ex.ready);
    outside_save(k->outside);
    return 0;
}

int ex_keep(struct failure *f)
{
    for (int i = 0; i < COPIES; i++)
        copies[i] = &kept[i];
    int rc = save(&kept[0], f);

    if (rc != 0)
        return rc;
    copy_count = 1;
    if (EX_CATCHES_FAULTS)
        (void)checkpoint_watch(&kept[0].copy, &ex.arena);
    return 0;
}

bool ex_start_touched_(const void *addr)
{
    if (checkpoint_touched(&kept[0].copy, addr))
        return true;
    if (kept[0].copy.refused) {
        struct failure f = {0};
        fail(&f, E_LIMIT, "the system gives no memory for a copy of the world");
        ex_refuse_(NULL, &f);
    }
    return false;
}

/* A few are copied without a call. */
static void able_put_back(const struct kept *k)
{
    enum { FEW = 8 };
    uint32_t n = 2 * ex.able_count;

    memcpy(ex.able, k->able, FEW * sizeof *ex.able);
    memcpy(ex.able_id, k->able_id, FEW);
    if (n > FEW) {
        memcpy(ex.able, k->able, n * sizeof *ex.able);
        memcpy(ex.able_id, k->able_id, n);
    }
}

static void put_back(const struct kept *k)
{
    bool same_stacks = ex.thread_count == k->thread_count; /* none came, and none ever goes */

    ex_end_threads_(k->thread_count);
    checkpoint_restore_from(&k->copy, &ex.arena, same_stacks ? ex.arena_mark : 0);
    ex_hot = k->hot;
    memcpy(&ex, k->world, sizeof k->world);
    able_put_back(k);
    memcpy(ex.threads, k->threads, (size_t)k->thread_count * sizeof *ex.threads);
    if (k->timer_count > 0)
        memcpy(ex.timers, k->timers, k->timer_count * sizeof *ex.timers);
    if (k->ready_count > 0)
        memcpy(ex.ready, k->ready, k->ready_count * sizeof *ex.ready);
    ex.at_start = k->at_start;
    outside_put_back(k->outside);
}

/* ---- on the way ---- */

static bool copies_on_the_way(const struct strategy *s)
{
    return ex.o.branches && s->skip != NULL && copy_count > 0 && !ex.o.sync && !ex.o.races &&
           ex.o.sink == NULL && ex.o.check == NULL && !ex.tells && ex.trace == NULL &&
           ex.arena.used <= SMALL;
}

/* Copies far behind the answer that is another than in the last run would not be used before they
 * are too old again. */
static void next_copy(size_t after, size_t same)
{
    const size_t room = (size_t)(COPIES - 2) * SPACING;

    copy_due = after + SPACING;
    if (copy_due + room < same)
        copy_due = same - room;
    ex.copy_at = copy_due;
    if (ex.o.states_max != 0 && ex.copy_at > same) /* every new one is looked at */
        ex.copy_at = after > same ? after + 1 : same + 1;
}

/* The earliest on the way makes room for a new one. */
static void make_room(void)
{
    struct kept *gone = copies[1];

    if (copy_count < COPIES)
        return;
    memmove(&copies[1], &copies[2], (COPIES - 2) * sizeof *copies);
    copies[--copy_count] = gone;
}

static void copy(size_t at)
{
    make_room();
    struct kept *k = copies[copy_count];
    if (ex.arena.used > SMALL || save(k, NULL) != 0 || !mm_save(&k->memory)) {
        ex.copy_at = SIZE_MAX;
        return;
    }
    k->answers = at;
    copy_count++;
    next_copy(at, ex.ch.strategy->same);
}

bool ex_copy_(void)
{
    size_t at = ex.ch.count;

    ex.copy_at = at + 1;
    if (ex.o.states_max != 0 && at > ex.ch.strategy->same && ex_seen_(at))
        return false;
    if (at >= copy_due)
        copy(at);
    return true;
}

void ex_kept_mix_(struct fingerprint *f)
{
    checkpoint_mix(&kept[0].copy, &ex.arena, ex.arena_mark, f);
}

/* Begins at the last copy that lies on the way. */
static void begin_at_copy(struct strategy *s)
{
    struct kept *k = copies[copy_count - 1];

    put_back(k);
    mm_put_back(&k->memory);
    s->skip(s, k->answers);
    ex.ch.count = k->answers;
    ex.on_branch = true;
    next_copy(k->answers, s->same);
}

bool ex_go_on(struct strategy *s)
{
    ex.starting = false;
    if (!ex_take_over_(s))
        return false;
    mm_reset(ex_memory_(), ex.o.ctrl, &ex.ch);
    return true;
}

bool ex_again(struct strategy *s)
{
    size_t same = copies_on_the_way(s) ? s->same : 0;

    if (ex.o.states_max != 0 && s->skip != NULL)
        ex_seen_done_(same);
    while (copy_count > 1 && copies[copy_count - 1]->answers > same)
        copy_count--;
    ex.on_branch = false;
    if (copy_count > 1) {
        if (!ex_take_over_(s))
            return false;
        begin_at_copy(s);
        return true;
    }
    put_back(&kept[0]);
    ex.paused = true;
    if (!ex_go_on(s))
        return false;
    if (copies_on_the_way(s))
        next_copy(0, same);
    return true;
}

void ex_forget(void)
{
    for (uint32_t i = 0; i < COPIES; i++)
        checkpoint_release(&kept[i].copy);
    copy_count = 0;
}
