/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_RECORDER_H
#define GMPSIM_REPLAY_RECORDER_H

/* Event records into rows: states of goroutines and Ps become transitions with the time spent in
 * the state before. */

#include "model/prog.h"
#include "replay/rows.h"
#include "run/gtable.h"
#include "run/map.h"
#include "sim/base/event.h"

struct recorder {
    const struct program *program;
    struct gtable gs; /* struct recorded_g */
    struct map spans; /* (key, span) -> begin */
    uint64_t last_span;
    struct p_state {
        uint64_t since;
        int state;
    } * ps;
    size_t nps;
    struct rows goroutines, g_rows, p_rows, span_rows;
};

/* What a row's reason means: 1, 2, ... Go's wait reasons and two more; NULL: no more of them. */
const char *recorder_reason(int code);

/* SQLite's code. */
int recorder_init(struct recorder *r, struct sqlite3 *db, const struct program *program);
void recorder_feed(struct recorder *r, const struct event_rec *recs, size_t count);
/* Goroutines that are still there get their row. */
void recorder_end(struct recorder *r);
/* SQLITE_DONE or the first error. */
int recorder_flush(struct recorder *r, long long run);
void recorder_release(struct recorder *r);

#endif
