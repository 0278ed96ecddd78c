/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_EVENT_H
#define GMPSIM_SIM_BASE_EVENT_H

/* Event records of 32 bytes, and the log of one world.
 *
 * Emitting counts the event, mixes it into the fingerprint and writes it at the end of a buffer.
 * There is one branch, on the buffer being full. With records off the buffer is a small ring that
 * stays in the first-level cache and is there for the message of a throw() ("last events"); with
 * records on it is a large one that goes to the sink in one call per batch. So a run has the same
 * code, events and fingerprint whether anybody listens or not. One thread (the real host has one
 * log per M). */

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/fingerprint.h"

enum event_type {
#define EVENT(NAME, name, a, b, c) EV_##NAME,
#include "sim/base/events.def"
#undef EVENT
    EV_COUNT
};

#define EVENT_NO_M ((uint16_t)0xffff)
#define EVENT_NO_P ((uint16_t)0xffff)
#define EVENT_NO_G ((uint32_t)0)

struct event_rec {
    uint64_t time; /* picoseconds of virtual time; the real host: ns since start times 1000 */
    uint64_t a;
    uint32_t b;
    uint32_t g; /* goid, EVENT_NO_G */
    uint16_t type;
    uint16_t m; /* EVENT_NO_M */
    uint16_t p; /* EVENT_NO_P */
    uint16_t c;
};
_Static_assert(sizeof(struct event_rec) == 32, "a record is half a cache line");

/* Takes a batch; the records are valid during the call only. Runs on the stack of whoever emitted
 * the last one (a coroutine: STACK_SIZE_DEFAULT, minus what the model uses). */
typedef void event_sink_fn(void *arg, const struct event_rec *recs, size_t count);

struct event_log {
    struct event_rec *next; /* where the next record goes */
    struct event_rec *end;
    struct event_rec *begin;
    struct fingerprint fp;
    uint64_t flushed;    /* records that left the buffer */
    size_t previous;     /* how many the last batch had: they are still there to look at */
    event_sink_fn *sink; /* NULL: records off */
    void *sink_arg;
    uint64_t counts[EV_COUNT];
};

enum { EVENT_RING_COUNT = 128, EVENT_BATCH_COUNT = 8192 };

/* Records off. The buffers come from the arena; event_log_init may be the only allocation. */
void event_log_init(struct event_log *l, struct arena *a);

/* Records on, before the first event; batch is the number of records per call of the sink. */
void event_log_sink(struct event_log *l, struct arena *a, event_sink_fn *fn, void *arg,
                    uint32_t batch);

/* Sends what is in the buffer to the sink: at the end of a run, and before a report. */
void event_log_flush(struct event_log *l);

/* Copies up to max of the latest records, oldest first; returns how many. */
size_t event_log_last(const struct event_log *l, struct event_rec *out, size_t max);

void event_log_full_(struct event_log *l);

static inline void event_emit(struct event_log *l, enum event_type type, uint64_t time, uint16_t m,
                              uint16_t p, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    uint64_t bg = (uint64_t)b << 32 | g;
    uint64_t ids = (uint64_t)c << 48 | (uint64_t)p << 32 | (uint64_t)m << 16 | (uint64_t)type;
    fp_mix4(&l->fp, time, a, bg, ids);
    l->counts[type]++;
    *l->next = (struct event_rec){
        .time = time, .a = a, .b = b, .g = g, .type = (uint16_t)type, .m = m, .p = p, .c = c};
    if (__builtin_expect(++l->next == l->end, 0))
        event_log_full_(l);
}

/* Number of events so far. */
uint64_t event_log_total(const struct event_log *l);

struct event_info {
    const char *name;
    const char *arg[3]; /* meaning of a, b, c; "" when unused */
};
extern const struct event_info event_infos[EV_COUNT];

/* One line of text without newline; returns its length as snprintf does. */
int event_format(const struct event_rec *r, char *buf, size_t size);

#endif
