/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_RECORDER_H
#define GMPSIM_STORE_RECORDER_H

/* Event records into rows: states of goroutines and Ps become transitions with the time spent in
 * the state before. A row holds up to CHAIN_LENGTH transitions of one goroutine or P, one after the
 * other: SQLite's time goes by rows first and by columns second. The views of schema.c take them
 * apart. */

#include <stdbool.h>

#include "model/prog.h"
#include "store/rows.h"
#include "sim/base/gtable.h"
#include "sim/base/map.h"
#include "sim/base/event.h"

enum { CHAIN_LENGTH = 4 };

/* Transitions that wait until their row is full. All times in ns. */
struct chain {
    int64_t since; /* the end of the last one */
    int64_t hows;  /* their number, and what each is (recorder.c) */
    int64_t duration[CHAIN_LENGTH];
    int64_t source[CHAIN_LENGTH];
    uint8_t state;
};

/* A P whose M has no CPU. */
struct stall {
    int64_t since; /* ns */
    bool open, throttled;
};

struct recorder {
    const struct program *program;
    struct gtable gs;    /* struct recorded_g */
    struct map spans;    /* (key, span) -> begin */
    uint64_t span_since; /* of the next span, ns + 1; 0: it begins when its record says */
    struct chain *ps;
    struct stall *stalls; /* of each P */
    size_t nps;
    struct rows goroutines, g_rows, p_rows, span_rows, stall_rows;
};

/* What a row's reason means: 1, 2, ... Go's wait reasons and two more; NULL: no more of them. */
const char *recorder_reason(int code);

/* SQLite's code. */
int recorder_init(struct recorder *r, struct sqlite3 *db, const struct program *program);
void recorder_feed(struct recorder *r, const struct event_rec *recs, size_t count);
/* Some of the goroutines that are still there get their rows; false: those were the last. */
bool recorder_end(struct recorder *r);
/* SQLITE_DONE or the first error. */
int recorder_flush(struct recorder *r, long long run);
void recorder_release(struct recorder *r);

#endif
