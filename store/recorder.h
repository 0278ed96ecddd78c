/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_RECORDER_H
#define GMPSIM_STORE_RECORDER_H

/* Transitions into rows. A row holds up to CHAIN_LENGTH transitions of one goroutine or P, one
 * after the other: SQLite's time goes by rows first and by columns second. The views of schema.c
 * take them apart. A reader of its own: the store's thread works beside the one that simulates. */

#include <stdbool.h>

#include "run/names.h"
#include "run/transitions.h"
#include "store/codes.h"
#include "store/rows.h"

/* Transitions that wait until their row is full. All times in ns. */
struct chain {
    int64_t since; /* the end of the last one */
    int64_t hows;  /* their number, and what each is (recorder.c) */
    int64_t duration[CHAIN_LENGTH];
    int64_t source[CHAIN_LENGTH];
    uint8_t state;
};

struct recorded_p {
    struct chain chain;
    int64_t stall_since; /* ns: without a CPU since then */
    int64_t spin_since;  /* ns: NONE: its M does not look for work */
    uint8_t stall;       /* enum p_class: PC_THROTTLED, PC_NOCPU, or PC_COUNT: it has one */
};

struct recorder {
    struct naming names;    /* rows have the numbers that people know goroutines by */
    struct transitions *t;  /* that it listens to: */
    struct transitions own; /* ... of records, or somebody else's */
    size_t extra_at;        /* in the words of struct tr_g's extra */
    struct sqlite3 *db;
    uint8_t why[WHY_MASK + 1]; /* what the file calls a reason */
    uint16_t nwhy;             /* so many of them are known */
    struct recorded_p *ps;
    size_t nps;
    uint64_t gc, stop; /* when it began, ps and one more; 0: it is not */
    struct rows goroutines, g_rows, p_rows, span_rows, stall_rows, spin_rows, steal_rows, band_rows,
        metric_rows;
};

/* SQLite's code. Records of a run will be fed. cpus: of the host, 0: dedicated. */
int recorder_init(struct recorder *r, struct sqlite3 *db, const struct program *program,
                  int32_t cpus);
/* Listens to somebody else's transitions, which have recorder_extra() bytes for it from that word
 * on. Its own feed and end are not called then. */
int recorder_listen(struct recorder *r, struct sqlite3 *db, struct transitions *t, size_t extra_at);
/* Whoever told it all has come to the end. */
void recorder_ended(struct recorder *r, uint64_t now_ps);
size_t recorder_extra(void);
/* Rows that wait to be flushed. */
size_t recorder_waits(const struct recorder *r);
void recorder_feed(struct recorder *r, const struct event_rec *recs, size_t count);
/* The run ended at this time. What is open gets its rows, those of some goroutines at a time: false
 * after the last ones. */
bool recorder_end(struct recorder *r, uint64_t now_ps);
/* SQLITE_DONE or the first error. */
int recorder_flush(struct recorder *r, long long run);
void recorder_release(struct recorder *r);

#endif
