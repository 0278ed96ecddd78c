/* SPDX-License-Identifier: BSD-3-Clause */
/* The common beginning of runs: a copy of the world at the program's first instruction, and putting
 * it back.
 *
 * What is copied: the arena and the stacks (sim/base/checkpoint.c), the world's part of struct ex,
 * and what the verbs' fast path keeps. Of the arena only pages that some run has written to are put
 * back, some dozen of hundreds: which they are is learnt by write protection, one fault a page. The
 * memory model has no state at this moment: start-up is sequentially consistent. */
#include <stddef.h>
#include <string.h>

#include "sim/base/fail.h"
#include "sim/explore/ex_int.h"

static struct {
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
    bool has;
} kept;

bool ex_begin_start(struct strategy *s)
{
    ex.starting = true;
    ex.paused = false;
    if (!ex_take_over_(s))
        return false;
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

int ex_keep(struct failure *f)
{
    int rc = checkpoint_save(&kept.copy, &ex.arena, f);

    if (rc != 0)
        return rc;
    kept.hot = ex_hot;
    memcpy(kept.world, &ex, sizeof kept.world);
    memcpy(kept.able, ex.able, sizeof kept.able);
    memcpy(kept.able_id, ex.able_id, sizeof kept.able_id);
    kept.thread_count = ex.thread_count;
    kept.timer_count = ex.timer_count;
    kept.ready_count = ex.ready_count;
    kept.at_start = ex.at_start;
    memcpy(kept.threads, ex.threads, (size_t)ex.thread_count * sizeof *ex.threads);
    memcpy(kept.timers, ex.timers, ex.timer_count * sizeof *ex.timers);
    memcpy(kept.ready, ex.ready, ex.ready_count * sizeof *ex.ready);
    kept.has = true;
    if (EX_CATCHES_FAULTS)
        (void)checkpoint_watch(&kept.copy, &ex.arena);
    return 0;
}

bool ex_start_touched_(const void *addr)
{
    if (checkpoint_touched(&kept.copy, addr))
        return true;
    if (kept.copy.refused) {
        struct failure f = {0};
        fail(&f, E_LIMIT, "the system gives no memory for a copy of the world");
        ex_refuse_(NULL, &f);
    }
    return false;
}

static void put_back(void)
{
    ex_end_threads_(kept.thread_count);
    checkpoint_restore(&kept.copy, &ex.arena);
    ex_hot = kept.hot;
    memcpy(&ex, kept.world, sizeof kept.world);
    memcpy(ex.able, kept.able, 2 * (size_t)ex.able_count * sizeof *ex.able);
    memcpy(ex.able_id, kept.able_id, 2 * (size_t)ex.able_count);
    memcpy(ex.threads, kept.threads, (size_t)kept.thread_count * sizeof *ex.threads);
    memcpy(ex.timers, kept.timers, kept.timer_count * sizeof *ex.timers);
    memcpy(ex.ready, kept.ready, kept.ready_count * sizeof *ex.ready);
    ex.at_start = kept.at_start;
}

bool ex_go_on(struct strategy *s)
{
    ex.starting = false;
    return ex_take_over_(s);
}

bool ex_again(struct strategy *s)
{
    put_back();
    ex.paused = true;
    return ex_go_on(s);
}

void ex_forget(void)
{
    if (kept.has)
        checkpoint_release(&kept.copy);
    kept.has = false;
}
