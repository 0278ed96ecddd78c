/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event records. Every thread writes into chunks of its own, so that recording orders nobody; they
 * are merged by time when the world is over. A signal handler has chunks of its own too: it may
 * come in the middle of its thread's emit.
 */
#include "rt_int.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/event.h"

#define W (&rt_world_)

enum { CHUNK_RECORDS = 512 };

struct rt_chunk {
    struct rt_chunk *next;
    uint32_t used;
    struct event_rec rec[CHUNK_RECORDS];
};

static struct {
    struct rt_chunk *chunks;
    size_t nchunks;
    _Atomic(size_t) taken;
    _Atomic(uint64_t) lost;
} pool;

bool rt_recording_;

bool rt_log_init_(uint64_t records_max)
{
    memset(&pool, 0, sizeof pool);
    rt_recording_ = records_max > 0;
    if (!rt_recording_)
        return true;
    pool.nchunks = (size_t)((records_max + CHUNK_RECORDS - 1) / CHUNK_RECORDS);
    pool.chunks = pages_map(pool.nchunks * sizeof *pool.chunks, /*usable*/ true);
    return pool.chunks != NULL;
}

void rt_log_free_(void)
{
    pages_unmap(pool.chunks, pool.nchunks * sizeof *pool.chunks);
    pool.chunks = NULL;
    rt_recording_ = false;
}

static struct rt_chunk *take_chunk(void)
{
    size_t i = atomic_load_explicit(&pool.taken, memory_order_relaxed);

    /* Not a bare add: it would wrap some day when the pool is used up. */
    do {
        if (i == pool.nchunks)
            return NULL;
    } while (!atomic_compare_exchange_weak(&pool.taken, &i, i + 1));
    return &pool.chunks[i];
}

static struct event_rec *next_record(struct rt_log *log)
{
    struct rt_chunk *c = log->last;

    if (!c || c->used == CHUNK_RECORDS) {
        c = take_chunk();
        if (!c)
            return NULL;
        if (log->last)
            log->last->next = c;
        else
            log->first = c;
        log->last = c;
    }
    return &c->rec[c->used++];
}

void rt_emit_(uint32_t type, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    struct rt_thread *t = rt_self_;
    struct event_rec *r = next_record(t->in_handler ? &t->handler_log : &t->log);

    if (!r) {
        atomic_fetch_add_explicit(&pool.lost, 1, memory_order_relaxed);
        return;
    }
    *r = (struct event_rec){
        .time = (uint64_t)host_now() * 1000,
        .a = a,
        .b = b,
        .g = g,
        .type = (uint16_t)type,
        .c = c,
        .m = t->id < 0 ? EVENT_NO_M : (uint16_t)t->id,
        .p = rt_pid_ < 0 ? EVENT_NO_P : (uint16_t)rt_pid_,
    };
}

/* ---- afterwards ---- */

typedef const struct event_rec *rec_ptr;

/* With to == NULL only counts. Records of one log are in the order of time. */
static size_t gather(rec_ptr *to, size_t n, const struct rt_log *log)
{
    for (const struct rt_chunk *c = log->first; c; c = c->next)
        for (uint32_t i = 0; i < c->used; i++, n++)
            if (to)
                to[n] = &c->rec[i];
    return n;
}

static size_t gather_all(rec_ptr *to)
{
    size_t n = gather(to, 0, &W->outside.log);

    n = gather(to, n, &rt_env_thread_()->log);
    for (int32_t i = 0; i < atomic_load(&W->nthreads); i++) {
        n = gather(to, n, &W->threads[i].log);
        n = gather(to, n, &W->threads[i].handler_log);
    }
    return n;
}

/* Merges the sorted from[lo..mid) and from[mid..hi); of equals the left goes first. */
static void merge(rec_ptr *to, const rec_ptr *from, size_t lo, size_t mid, size_t hi)
{
    size_t left = lo, right = mid;

    for (size_t i = lo; i < hi; i++) {
        bool take_right = left == mid || (right < hi && from[right]->time < from[left]->time);

        to[i] = take_right ? from[right++] : from[left++];
    }
}

/* Returns the one of the two arrays that holds the result. */
static rec_ptr *sort_by_time(rec_ptr *a, rec_ptr *b, size_t n)
{
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = lo + width < n ? lo + width : n;
            size_t hi = mid + width < n ? mid + width : n;

            merge(b, a, lo, mid, hi);
        }
        rec_ptr *swap = a;
        a = b;
        b = swap;
    }
    return a;
}

uint64_t rt_records(void (*fn)(void *ctx, const struct event_rec *rec), void *ctx)
{
    size_t n = gather_all(NULL);
    rec_ptr *all = malloc((2 * n + 1) * sizeof *all), *sorted;

    if (!all)
        return 0;
    gather_all(all);
    sorted = sort_by_time(all, all + n, n);
    for (size_t i = 0; i < n; i++)
        fn(ctx, sorted[i]);
    free(all);
    return n;
}

void rt_log_stats_(struct rt_stats *s)
{
    s->records = gather_all(NULL);
    s->records_lost = atomic_load(&pool.lost);
}
