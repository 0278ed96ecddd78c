/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_EVENT_H
#define GMPSIM_SIM_BASE_EVENT_H

/* Event records of 32 bytes, what they say (events.def), and the log of one world.
 *
 * Emitting writes the record at the end of a buffer. There is one branch, on the buffer being full:
 * then the records that are settled go into the fingerprint and, all in one call, to the sink, in
 * the order of (time, M, place among those of the M at that time). Settled is what nothing can come
 * before any more: a host lets its Ms run ahead of each other, so that records are made in another
 * order than that of time, and how far it lets them is nobody's business. With records off the
 * buffer is a small ring that stays in the first-level cache and is there for the message of a
 * throw() ("last events"); with records on it is a large one. So a run has the same code, events
 * and fingerprint whether anybody listens or not; the few that are made for listeners alone
 * (EV_UNMIXED) are not in the fingerprint. Mixing each record as it comes costs a third more
 * instructions: its constants and the state want registers that the model has in use. One thread
 * (the real host has one log per M). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/event_seq.h"
#include "sim/base/fingerprint.h"

enum event_type {
#define ENUM(type, what, values)
#define EVENT_G(NAME, name, what, fields) EV_##NAME,
#define EVENT(NAME, name, what, fields)   EV_##NAME,
#include "sim/base/events.def"
#undef EVENT
#undef EVENT_G
#undef ENUM
    EV_COUNT,
    EV_UNMIXED = EV_G_MOVE /* from here on: made only when somebody listens */
};

#define EVENT_NO_M  ((uint16_t)0xffff)
#define EVENT_NO_P  ((uint16_t)0xffff)
#define EVENT_NO_G  ((uint32_t)0)
#define EVENT_NO_PC UINT32_MAX

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

/* ---- what a field can be: ev_<type> ---- */

/* Ids are structs: a goroutine's in the place of a P's does not compile. */
typedef struct ev_g {
    uint32_t id; /* goid, EVENT_NO_G */
} ev_g;
typedef struct ev_m {
    uint16_t id; /* EVENT_NO_M */
} ev_m;
typedef struct ev_p {
    uint16_t id; /* EVENT_NO_P */
} ev_p;
typedef uint64_t ev_ns;   /* a length of time */
typedef int64_t ev_when;  /* a moment, ns */
typedef int64_t ev_value; /* the program's, or one that may be -1 */
typedef uint64_t ev_number;
typedef uint32_t ev_count;
typedef uint16_t ev_n16;
typedef bool ev_flag;
typedef uint16_t ev_cpu;
typedef int32_t ev_fd;
typedef int32_t ev_func;  /* of the program; below 0: of the runtime and Go's libraries */
typedef int32_t ev_group; /* of the program; -1: none */
typedef uint32_t ev_span; /* of the program */
typedef uint32_t ev_text; /* string of the program */
typedef uint32_t ev_pc;   /* the instruction that comes next, EVENT_NO_PC */

/* clang-format off */
/* Kinds of fields with names: enum ev_place { EV_place_none, ... }, and the typedef ev_place. */
#define EV_VALUE_1(value, text) EV_##value, EV_VALUE_2
#define EV_VALUE_2(value, text) EV_##value, EV_VALUE_1
#define EV_VALUE_1_END
#define EV_VALUE_2_END
#define ENUM(type, what, values) typedef enum ev_##type { EV_EACH(EV_VALUE, values) } ev_##type;
#define EVENT_G(NAME, name, what, fields)
#define EVENT(NAME, name, what, fields)
#include "sim/base/events.def"
#undef EVENT
#undef EVENT_G
#undef ENUM
typedef enum ev_wait {
#define WAITREASON(name, text) EV_wait_##name,
#include "model/waitreason.def"
#undef WAITREASON
} ev_wait;

/* All types, for tables over them: TYPE(type) for values, ID(type) for structs, NAMED for enums. */
#define EV_TYPES(TYPE, ID, NAMED)                                                        \
    ID(g) ID(m) ID(p) TYPE(ns) TYPE(when) TYPE(value) TYPE(number) TYPE(count) TYPE(n16) \
    TYPE(flag) TYPE(cpu) TYPE(fd) TYPE(func) TYPE(group) TYPE(span) TYPE(text) TYPE(pc)  \
    NAMED(wait) NAMED(place) NAMED(born) NAMED(preempt) NAMED(retake) NAMED(thread)      \
    NAMED(gcphase) NAMED(gcmode) NAMED(stw) NAMED(off) NAMED(ready) NAMED(panicked)

enum ev_type {
#define TYPE(type) EV_TYPE_##type,
    EV_TYPES(TYPE, TYPE, TYPE)
#undef TYPE
    EV_TYPE_COUNT
};

/* A value as a record has it: in the lowest bits of its slot, and none above: the sign of a
 * negative one would run into the next slot. */
#define TYPE(type)                                                          \
    static inline uint64_t ev_bits_##type(ev_##type x)                      \
    {                                                                       \
        return (uint64_t)x & UINT64_MAX >> (64 - 8 * sizeof(ev_##type));    \
    }                                                                       \
    static inline ev_##type ev_from_##type(uint64_t bits) { return (ev_##type)bits; }
#define ID(type)                                                        \
    static inline uint64_t ev_bits_##type(ev_##type x) { return x.id; } \
    static inline ev_##type ev_from_##type(uint64_t bits)               \
    {                                                                   \
        return (ev_##type){(__typeof__(((ev_##type *)0)->id))bits};     \
    }
EV_TYPES(TYPE, ID, TYPE)
#undef TYPE
#undef ID

/* Slots: which word of the record, from which bit on, how many. */
#define EV_WORD_A  a
#define EV_WORD_AL a
#define EV_WORD_AH a
#define EV_WORD_B  b
#define EV_WORD_BL b
#define EV_WORD_BH b
#define EV_WORD_C  c
#define EV_WORD_CL c
#define EV_WORD_CH c
enum {
    EV_AT_A = 0, EV_AT_AL = 0, EV_AT_AH = 32, EV_AT_B = 0, EV_AT_BL = 0, EV_AT_BH = 16,
    EV_AT_C = 0, EV_AT_CL = 0, EV_AT_CH = 8,
    EV_WIDTH_A = 64, EV_WIDTH_AL = 32, EV_WIDTH_AH = 32, EV_WIDTH_B = 32, EV_WIDTH_BL = 16,
    EV_WIDTH_BH = 16, EV_WIDTH_C = 16, EV_WIDTH_CL = 8, EV_WIDTH_CH = 8
};
/* clang-format on */

/* Takes a batch; the records are valid during the call only. Runs on the stack of whoever emitted
 * the last one (a coroutine: STACK_SIZE_DEFAULT, minus what the model uses). */
typedef void event_sink_fn(void *arg, const struct event_rec *recs, size_t count);

/* The time before which nothing will be recorded any more, ps. */
typedef uint64_t event_settled_fn(void);

struct event_log {
    struct event_rec *next; /* where the next record goes */
    struct event_rec *end;
    struct event_rec *begin;
    struct arena *arena;
    struct fingerprint fp;
    uint64_t flushed;          /* records that left the buffer */
    uint64_t left;             /* the time of the last of them */
    size_t previous;           /* how many the last batch had: they are still there to look at */
    event_settled_fn *settled; /* NULL: everything is, records come in order */
    bool moves;                /* the sink wants those that are made for listeners only */
    bool unmixed;              /* some of them are made, moves or others */
    event_sink_fn *sink;       /* NULL: records off */
    void *sink_arg;
};

enum { EVENT_RING_COUNT = 128, EVENT_BATCH_COUNT = 8192 };

/* Records off. The buffers come from the arena; event_log_init is the only allocation, unless more
 * records than half of the buffer wait for their order: then it grows. */
void event_log_init(struct event_log *l, struct arena *a, event_settled_fn *settled);

/* Records on, before the first event; batch is the number of records per call of the sink. */
void event_log_sink(struct event_log *l, event_sink_fn *fn, void *arg, uint32_t batch);

/* Sends what is settled to the sink: when a run pauses, and before a report. */
void event_log_flush(struct event_log *l);
/* The world ended at this time: sends the rest. What is later did not happen and is forgotten. */
void event_log_end(struct event_log *l, uint64_t at);

/* Copies up to max of the latest records, as they were made, oldest first; returns how many. */
size_t event_log_last(const struct event_log *l, struct event_rec *out, size_t max);

void event_log_full_(struct event_log *l);

/* Who does it: an M and its P. */
static inline uint32_t event_who(uint16_t m, uint16_t p) { return (uint32_t)p << 16 | m; }

/* True: the buffer is full, event_log_full_ has to be called before the next one. */
static inline bool event_put(struct event_log *l, enum event_type type, uint64_t time, uint32_t who,
                             uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    *l->next = (struct event_rec){.time = time,
                                  .a = a,
                                  .b = b,
                                  .g = g,
                                  .type = (uint16_t)type,
                                  .m = (uint16_t)who,
                                  .p = (uint16_t)(who >> 16),
                                  .c = c};
    return __builtin_expect(++l->next == l->end, 0);
}

static inline void event_emit(struct event_log *l, enum event_type type, uint64_t time,
                              uint32_t who, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    if (event_put(l, type, time, who, g, a, b, c))
        event_log_full_(l);
}

/* Of all that are settled so far. */
uint64_t event_log_fingerprint(const struct event_log *l);

/* Number of records so far. */
uint64_t event_log_total(const struct event_log *l);

/* What is known of a field and of an event, for whoever shows records without knowing each. */
struct event_field {
    const char *name;
    uint8_t type;               /* enum ev_type */
    uint8_t word, shift, width; /* word: 'a', 'b', 'c' */
};

enum { EVENT_FIELDS_MAX = 6 };

struct event_info {
    const char *name, *what;
    struct event_field fields[EVENT_FIELDS_MAX]; /* the last one has no name */
};
extern const struct event_info event_infos[EV_COUNT];

/* The bits of one field. */
uint64_t event_field(const struct event_rec *r, const struct event_field *field);
/* The text of a value with names; NULL: the type has none, or not for this value. */
const char *event_value_name(enum ev_type type, uint64_t bits);
/* Does the field say that there is nobody ("by" of a goroutine that a timer woke)? */
bool event_is_none(enum ev_type type, uint64_t bits);
/* A field's value as text, without what only the program knows: its strings and names are numbers.
 * Returns the length as snprintf does. */
int event_value_text(enum ev_type type, uint64_t bits, char *buf, size_t size);

/* One line of text without newline; returns its length as snprintf does. */
int event_format(const struct event_rec *r, char *buf, size_t size);

#endif
