/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_EVENT_H
#define GMPSIM_SIM_BASE_EVENT_H

/* Event records of 32 bytes, and the log of one world.
 *
 * Emitting writes the record at the end of a buffer. There is one branch, on the buffer being full:
 * then its records go into the fingerprint and, all in one call, to the sink. With records off the
 * buffer is a small ring that stays in the first-level cache and is there for the message of a
 * throw() ("last events"); with records on it is a large one. So a run has the same code, events
 * and fingerprint whether anybody listens or not. Mixing each record as it comes costs a third more
 * instructions: its constants and the state want registers that the model has in use. One thread
 * (the real host has one log per M). */

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
    struct event_rec *mixed; /* the records before it are in fp */
    struct fingerprint fp;
    uint64_t flushed;    /* records that left the buffer */
    size_t previous;     /* how many the last batch had: they are still there to look at */
    event_sink_fn *sink; /* NULL: records off */
    void *sink_arg;
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

/* Who does it: an M and its P. */
static inline uint32_t event_who(uint16_t m, uint16_t p) { return (uint32_t)p << 16 | m; }

static inline void event_emit(struct event_log *l, enum event_type type, uint64_t time,
                              uint32_t who, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    *l->next = (struct event_rec){.time = time,
                                  .a = a,
                                  .b = b,
                                  .g = g,
                                  .type = (uint16_t)type,
                                  .m = (uint16_t)who,
                                  .p = (uint16_t)(who >> 16),
                                  .c = c};
    if (__builtin_expect(++l->next == l->end, 0))
        event_log_full_(l);
}

/* Of all events so far. */
uint64_t event_log_fingerprint(struct event_log *l);

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
