/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_RACE_H
#define GMPSIM_SIM_BASE_RACE_H

/* Data races by happens-before: two accesses of one variable, one of them a plain write or one
 * plain and one an atomic write, that nothing orders. Vector clocks per goroutine and per
 * synchronisation object, epochs for accesses (Flanagan and Freund, FastTrack, PLDI 2009): of a
 * variable only those accesses are kept that a later one could still race with, which is one as
 * long as they are in order.
 *
 * What orders is told from outside: model/race.h has the edges of Go's memory model. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum race_edge {
    RACE_CREATE,  /* with: the goid of the new goroutine */
    RACE_ACQUIRE, /* what was released to the object happened before */
    RACE_RELEASE, /* what was released to the object before is forgotten */
    RACE_MERGE,   /* ... is kept */
    RACE_HAND,    /* with: a goid, to which all that has happened here has happened */
    RACE_TIMER,   /* until RACE_TIMER_END the thread acts for this timer */
    RACE_TIMER_END
};

enum race_kind { RACE_READ, RACE_WRITE, RACE_ATOMIC_READ, RACE_ATOMIC_WRITE, RACE_KINDS };

struct race_access {
    uint32_t goid, pc;
    enum race_kind kind;
};

struct race_report {
    int32_t object; /* of the program */
    struct race_access first, second;
};

/* Of one run: more races are not kept, and of more goroutines none are looked for. */
enum { RACE_REPORTS_MAX = 16, RACE_GOROUTINES_MAX = 4096 };

struct race_clock {
    uint32_t at, count, room; /* in race.words */
};

struct race_thread {
    uint32_t goid;
    struct race_clock clock;
};

struct race_sync {
    uint64_t key;
    uint32_t run;
    struct race_clock clock;
};

/* The last access of one kind by one goroutine. */
struct race_past {
    uint32_t next, slot, time, pc; /* next: 1 + index, 0: none */
    enum race_kind kind;
};

struct race_var {
    uint64_t key;
    uint32_t run, first;
};

struct race {
    uint32_t run; /* what is stamped with another one is of an earlier run */
    bool full;    /* too many goroutines */
    uint32_t *words;
    uint32_t words_used, words_room;
    struct race_thread *threads;
    uint32_t thread_count, thread_room;
    struct race_slot {
        uint32_t run, slot;
    } * slots; /* by goid */
    uint32_t slot_room;
    struct race_sync *syncs;
    uint32_t sync_count, sync_room;
    struct race_var *vars;
    uint32_t var_count, var_room;
    struct race_past *pasts;
    uint32_t past_count, past_room, past_free;
    struct race_report reports[RACE_REPORTS_MAX];
    uint32_t report_count;
};

/* A new run: nothing has happened. A struct of zeros is one before its first run. */
void race_begin(struct race *r);
void race_free(struct race *r);

void race_tells(struct race *r, enum race_edge edge, uint32_t goid, uint64_t with);
/* goid takes over the past of what was released to the object, and has no other. */
void race_becomes(struct race *r, uint32_t goid, uint64_t key);
void race_accesses(struct race *r, const struct race_access *a, uint64_t key, int32_t object);

#endif
