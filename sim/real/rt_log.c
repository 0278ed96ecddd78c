/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event records, written by many threads and read by one while they write.
 *
 *   thread    room -> busy -> clock -> the record -> used -> not busy    (begin, end)
 *   merger    clock -> barrier -> busy and used of every log -> records older than the watermark
 *
 * Every thread writes into chunks of its own, so that recording orders nobody; a signal handler has
 * chunks of its own too, as it may come in the middle of its thread's emit. The controlling thread
 * merges by time: what is older than the watermark, the earliest moment that any log may still get
 * a record of, goes to the sink, and its chunks go back to the pool. So memory is bounded.
 *
 * The watermark needs to know that a log which looks idle will have later records only. The barrier
 * is membarrier(2): it makes every thread pass a full fence now, so that emit need not have one. A
 * log that was busy after it may write a record as old as the last time it was seen not busy, or as
 * its last record.
 *
 * Merging takes a CPU from the world. So nothing is merged before half of the pool is used: the
 * records of a short run are looked at when it is over. A thread that finds no room waits, which
 * the figures say; a handler may not wait, and its record is lost, which is an error of the run.
 */
#include "rt_int.h"

#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/event.h"

#define W (&rt_world_)

enum {
    CHUNK_RECORDS = 511, /* 16 KiB a chunk */
    FOR_HANDLERS = 8,    /* chunks that only handlers may take */
    BATCH = 4096,
    MANY = 128, /* records that are not worth copying */
    WAIT_NS = 50000
};

struct rt_chunk {
    _Atomic(struct rt_chunk *) next;
    _Atomic(uint32_t) used;
    uint32_t next_free; /* index + 1 in the pool; 0: none */
    uint64_t unused_[2];
    struct event_rec rec[CHUNK_RECORDS];
};
_Static_assert(sizeof(struct rt_chunk) % 64 == 0, "chunks do not share cache lines");

static struct {
    struct rt_chunk *chunks;
    size_t nchunks;
    _Atomic(size_t) touched; /* chunks that were taken at least once */
    _Atomic(uint64_t) free;  /* tag << 32 | index + 1 of the first that came back */
    _Atomic(int64_t) left;
    _Atomic(uint64_t) lost;
    _Atomic(int64_t) waited_ns;
    uint64_t merged;
    bool barrier; /* the system has one; else emit has a fence */
    struct event_rec batch[BATCH];
    size_t nbatch;
} pool;

bool rt_recording_;

/* ---- the pool ---- */

static bool have_barrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool rt_log_init_(uint64_t records_max)
{
    memset(&pool, 0, sizeof pool);
    rt_recording_ = records_max > 0;
    if (!rt_recording_)
        return true;
    pool.barrier = have_barrier();
    pool.nchunks = (size_t)((records_max + CHUNK_RECORDS - 1) / CHUNK_RECORDS) + FOR_HANDLERS;
    atomic_store(&pool.left, (int64_t)pool.nchunks);
    pool.chunks = pages_map(pool.nchunks * sizeof *pool.chunks, /*usable*/ true);
    if (pool.chunks == NULL)
        return false;
    (void)madvise(pool.chunks, pool.nchunks * sizeof *pool.chunks, MADV_HUGEPAGE);
    pool.chunks->next_free = 0; /* the first page is made now, not while somebody is measured */
    rt_tsc_init_();
    return true;
}

void rt_log_free_(void)
{
    pages_unmap(pool.chunks, pool.nchunks * sizeof *pool.chunks);
    pool.chunks = NULL;
    rt_recording_ = false;
}

/* The tag counts takings: the first chunk may have been away and come back. */
static struct rt_chunk *take_freed(void)
{
    uint64_t head = atomic_load(&pool.free), next;
    struct rt_chunk *c;

    do {
        if ((uint32_t)head == 0)
            return NULL;
        c = &pool.chunks[(uint32_t)head - 1];
        next = ((head >> 32) + 1) << 32 | __atomic_load_n(&c->next_free, __ATOMIC_RELAXED);
    } while (!atomic_compare_exchange_weak(&pool.free, &head, next));
    return c;
}

static void put_back(struct rt_chunk *c)
{
    uint64_t head = atomic_load(&pool.free), next;

    atomic_store_explicit(&c->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&c->used, 0, memory_order_relaxed);
    do {
        __atomic_store_n(&c->next_free, (uint32_t)head, __ATOMIC_RELAXED);
        next = (head & ~(uint64_t)UINT32_MAX) | (uint32_t)(c - pool.chunks + 1);
    } while (!atomic_compare_exchange_weak(&pool.free, &head, next));
    atomic_fetch_add(&pool.left, 1);
}

/* Counted before it is taken, so that whoever passes the count finds one. */
static struct rt_chunk *take_chunk(bool handler)
{
    int64_t keep = handler ? 0 : FOR_HANDLERS, left = atomic_load(&pool.left);
    struct rt_chunk *c;

    do {
        if (left <= keep)
            return NULL;
    } while (!atomic_compare_exchange_weak(&pool.left, &left, left - 1));
    c = take_freed();
    return c != NULL ? c : &pool.chunks[atomic_fetch_add(&pool.touched, 1)];
}

static void wait_a_little(void)
{
    struct timespec ts = {.tv_nsec = WAIT_NS};

    rt_sleeps_(false);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
    rt_awake_();
    atomic_fetch_add_explicit(&pool.waited_ns, WAIT_NS, memory_order_relaxed);
}

/* ---- writing ---- */

static bool may_wait(const struct rt_thread *t)
{
    return W->sink != NULL && !t->in_handler && t->id >= 0 && !t->hold;
}

static void add_chunk(struct rt_log *log, struct rt_chunk *c)
{
    if (log->last != NULL)
        atomic_store_explicit(&log->last->next, c, memory_order_release);
    else
        atomic_store_explicit(&log->first, c, memory_order_release);
    log->last = c;
}

/* The chunk that has room for a record; NULL: the record is lost. */
static struct rt_chunk *room(struct rt_thread *t, struct rt_log *log)
{
    struct rt_chunk *c = log->last;

    if (c != NULL && atomic_load_explicit(&c->used, memory_order_relaxed) < CHUNK_RECORDS)
        return c;
    while ((c = take_chunk(t->in_handler)) == NULL && may_wait(t))
        wait_a_little();
    if (c != NULL)
        add_chunk(log, c);
    else
        atomic_fetch_add_explicit(&pool.lost, 1, memory_order_relaxed);
    return c;
}

static void set_busy(struct rt_log *log)
{
    atomic_store_explicit(&log->busy, true, memory_order_relaxed);
    if (pool.barrier)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}

static struct rt_log *own_log(struct rt_thread *t)
{
    return t->in_handler ? &t->handler_log : &t->log;
}

static void begin(struct rt_thread *t, struct rt_log *log)
{
    log->writes = room(t, log);
    if (log->writes != NULL)
        set_busy(log);
}

/* A log is in the order of its times. */
static int64_t not_before(struct rt_log *log, int64_t now)
{
    log->latest = now > log->latest ? now : log->latest;
    return log->latest;
}

static void end(const struct rt_thread *t, struct rt_log *log, struct event_rec rec)
{
    struct rt_chunk *c = log->writes;
    uint32_t used = atomic_load_explicit(&c->used, memory_order_relaxed);

    rec.m = t->id < 0 ? EVENT_NO_M : (uint16_t)t->id;
    rec.p = rt_pid_ < 0 ? EVENT_NO_P : (uint16_t)rt_pid_;
    c->rec[used] = rec;
    atomic_store_explicit(&c->used, used + 1, memory_order_release);
    atomic_store_explicit(&log->busy, false, memory_order_release);
}

int64_t rt_record_begin_(void)
{
    struct rt_log *log = own_log(rt_self_);

    begin(rt_self_, log);
    return not_before(log, host_now());
}

/* The reading may be from before what this thread has just read of another; t is the time of that.
 * The barrier is between busy and it, as an interrupt is. */
int64_t rt_record_begin_after_(int64_t t)
{
    struct rt_log *log = own_log(rt_self_);
    int64_t now;

    begin(rt_self_, log);
    now = pool.barrier ? rt_now_about_() : host_now();
    return not_before(log, now > t ? now : t + 1);
}

void rt_emit_at_(int64_t now, uint32_t type, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    struct rt_thread *t = rt_self_;
    struct rt_log *log = own_log(t);

    if (log->writes != NULL)
        end(t, log,
            (struct event_rec){.time = (uint64_t)now * 1000,
                               .a = a,
                               .b = b,
                               .g = g,
                               .type = (uint16_t)type,
                               .c = c});
}

void rt_emit_(uint32_t type, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    rt_emit_at_(rt_record_begin_(), type, g, a, b, c);
}

/* ---- the logs, as the merger sees them ---- */

static struct rt_log *log_of(int32_t i)
{
    if (i == 0)
        return &W->outside.log;
    if (i == 1)
        return &rt_env_thread_()->log;
    struct rt_thread *t = &W->threads[(i - 2) / 2];
    return i % 2 == 0 ? &t->log : &t->handler_log;
}

static int32_t log_count(void) { return 2 + 2 * atomic_load(&W->nthreads); }

/* The next record that the merger has not taken; a chunk that is read goes back. */
static const struct event_rec *peek(struct rt_log *log)
{
    if (log->read == NULL) {
        log->read = atomic_load_explicit(&log->first, memory_order_acquire);
        log->taken = 0;
    }
    while (log->read != NULL) {
        if (log->taken < atomic_load_explicit(&log->read->used, memory_order_acquire))
            return &log->read->rec[log->taken];
        struct rt_chunk *next = atomic_load_explicit(&log->read->next, memory_order_acquire);
        if (log->taken < CHUNK_RECORDS || next == NULL)
            return NULL;
        put_back(log->read);
        log->read = next;
        log->taken = 0;
    }
    return NULL;
}

/* ---- merging ---- */

static void flush_batch(void)
{
    if (pool.nbatch > 0 && W->sink != NULL)
        W->sink(W->sink_arg, pool.batch, pool.nbatch);
    pool.merged += pool.nbatch;
    pool.nbatch = 0;
}

struct source {
    struct rt_log *log;
    const struct event_rec *rec;
    int32_t order; /* of equal times */
};

struct merge {
    struct source *heap; /* the earliest first */
    int32_t count;
};

static bool before(const struct source *a, const struct source *b)
{
    return a->rec->time != b->rec->time ? a->rec->time < b->rec->time : a->order < b->order;
}

static void sift_down(struct merge *m, int32_t i)
{
    struct source s = m->heap[i];

    for (int32_t child; (child = 2 * i + 1) < m->count; i = child) {
        if (child + 1 < m->count && before(&m->heap[child + 1], &m->heap[child]))
            child++;
        if (!before(&m->heap[child], &s))
            break;
        m->heap[i] = m->heap[child];
    }
    m->heap[i] = s;
}

/* The records of the first source that are before those of all others, and before the watermark. */
static uint32_t run_of(const struct merge *m, uint64_t watermark)
{
    const struct source *s = &m->heap[0], *next = m->count > 1 ? &m->heap[1] : NULL;
    const struct rt_chunk *c = s->log->read;
    uint32_t n = 0, max = atomic_load_explicit(&c->used, memory_order_acquire) - s->log->taken;

    if (m->count > 2 && before(&m->heap[2], next))
        next = &m->heap[2];
    if (next != NULL && next->rec->time < watermark)
        watermark = next->rec->time + (s->order < next->order);
    if (s->rec[max - 1].time < watermark)
        return max;
    while (s->rec[n].time < watermark)
        n++;
    return n;
}

/* Few are copied and wait for others, many go as they lie. */
static void pass_on(const struct event_rec *recs, uint32_t count)
{
    if (pool.nbatch + count > BATCH || count >= MANY)
        flush_batch();
    if (count >= MANY && W->sink != NULL)
        W->sink(W->sink_arg, recs, count);
    if (count >= MANY) {
        pool.merged += count;
        return;
    }
    memcpy(pool.batch + pool.nbatch, recs, count * sizeof *recs);
    pool.nbatch += count;
}

static void merge_before(struct merge *m, uint64_t watermark)
{
    for (int32_t i = m->count / 2 - 1; i >= 0; i--)
        sift_down(m, i);
    while (m->count > 0 && m->heap[0].rec->time < watermark) {
        struct source *s = &m->heap[0];
        uint32_t n = run_of(m, watermark);
        pass_on(s->rec, n);
        s->log->taken += n;
        s->rec = peek(s->log);
        if (s->rec == NULL)
            *s = m->heap[--m->count];
        if (m->count > 0)
            sift_down(m, 0);
    }
}

static void fence_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (pool.barrier)
        (void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/* No record of this log will be older. `now` was read before the barrier. */
static uint64_t bound_of(struct rt_log *log, uint64_t now)
{
    if (!atomic_load_explicit(&log->busy, memory_order_acquire))
        log->bound = now;
    return log->bound;
}

/* over: no thread of the world is left. What they did until they were stopped is after its end. */
static void merge_all(bool over)
{
    uint64_t now = over ? (uint64_t)W->ran_ns * 1000 + 1 : (uint64_t)host_now() * 1000;
    uint64_t watermark = now;
    int32_t n;
    struct merge m = {0};

    if (!over && atomic_load(&W->why) != 0)
        return; /* `now` may be after the end */
    fence_all();
    n = log_count();
    m.heap = malloc((size_t)n * sizeof *m.heap);
    if (m.heap == NULL)
        return; /* there will be another time */
    for (int32_t i = 0; i < n; i++) {
        uint64_t bound = over ? now : bound_of(log_of(i), now);
        watermark = bound < watermark ? bound : watermark;
    }
    for (int32_t i = 0; i < n; i++) {
        const struct event_rec *rec = peek(log_of(i));
        if (rec != NULL)
            m.heap[m.count++] = (struct source){log_of(i), rec, i};
    }
    merge_before(&m, watermark);
    free(m.heap);
}

bool rt_log_hungry_(void)
{
    return rt_recording_ && W->sink != NULL &&
           atomic_load(&pool.left) < (int64_t)(pool.nchunks + FOR_HANDLERS) / 2;
}

void rt_log_merge_(void) { merge_all(/*over*/ false); }

void rt_log_end_(void)
{
    if (!rt_recording_)
        return;
    merge_all(/*over*/ true);
    flush_batch();
}

void rt_log_stats_(struct rt_stats *s)
{
    s->records = pool.merged;
    s->records_lost = atomic_load(&pool.lost);
    s->record_waits_ns = atomic_load(&pool.waited_ns);
}
