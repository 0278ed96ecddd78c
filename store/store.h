/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_STORE_H
#define GMPSIM_STORE_STORE_H

/* Runs in a SQLite file (docs/store.md has the tables).
 *
 * Recording: store_open, store_begin, then the world runs with store_sink as its sink, and
 * store_finish. Records go in batches to a writer thread of the store's own, which turns them into
 * rows and commits one transaction per batch; when it falls behind, the sink waits. A run that was
 * cut off in the middle stays in the file with complete = 0 until the file is opened for the next
 * one; runs before it are not touched.
 *
 * A mistake of the writer (disk full, file taken away) is kept: the sink throws later records away
 * and store_finish reports it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/prog.h"
#include "run/result.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"

struct sqlite3;
struct store;
struct transitions;

/* Of the format, and the mark of our files (PRAGMA application_id): "gmps". */
enum { STORE_VERSION = 1, STORE_MARK = 0x676d7073 };

enum store_mode {
    STORE_READ,  /* the file must exist; nothing can be changed through this handle */
    STORE_WRITE, /* made if it does not exist */
};

/* A path is a path: no URI, no place in memory. STORE_WRITE removes runs that were cut off. */
struct store *store_open(struct failure *f, const char *path, enum store_mode mode);
/* How many runs were cut off and removed. */
int store_removed(const struct store *s);
/* Another process may lock the file: how long to wait for it once there is something to lose (five
 * seconds before), and who hears of that: after two seconds and then every ten, from any thread. */
struct store_patience {
    int64_t ms;
    void (*tell)(const char *path, int64_t waited_s, int64_t left_s);
};
void store_wait(struct store *s, const struct store_patience *patience);
void store_close(struct store *s);
/* For queries. */
struct sqlite3 *store_db(struct store *s);
/* The number of the latest complete run, or `wanted` if not 0 and there; 0: none, f says so. */
int64_t store_run_id(struct store *s, struct failure *f, int64_t wanted);

/* What is known of a run before it starts. */
struct store_run {
    const char *scenario, *file, *profile, *rules, *repeat, *version;
    const char *host;  /* its name, host.h */
    const char *sched; /* class of its threads; NULL where it has none */
    int32_t procs, cpus;
    int64_t quota_us, period_us, warmup_ns;
    uint64_t seed;
    const struct program *program; /* NULL: store_listen comes next */
    bool summary; /* no rows per record: g_transitions, p_transitions, goroutines, spans stay empty
                   */
};

/* The run's number, 0 if it could not be made. */
int64_t store_begin(struct store *s, struct failure *f, const struct store_run *info);
void store_sink(void *store, const struct event_rec *recs, size_t count);

/* For what is no program's run but somebody else's transitions: rows come of them and not of
 * store_sink. Each goroutine has store_extra() bytes for the store, from that word on. */
bool store_listen(struct store *s, struct failure *f, struct transitions *t, size_t extra_at);
size_t store_extra(void);
/* Between two events: what was heard is written, if it is much. */
void store_write_some(struct store *s);

/* A number of a sample that nobody knows: NULL in the file. */
enum { STORE_UNKNOWN = -1 };

/* The world at one moment, and what the Ps did since the sample before. */
struct store_sample {
    int64_t time_ns, interval_ns;
    int64_t runnable;                    /* goroutines in any queue or between two */
    int64_t runnable_max, runnable_area; /* since the sample before; area: sum of count * ns */
    int64_t globrunq, ring; /* in the global queue; in all rings and runnexts together */
    int64_t idle_ps, spinning_ms, idle_ms, ms;
    int64_t p_ns[PC_COUNT];
};

void store_add_sample(struct store *s, const struct store_sample *sample);
void store_add_ring(struct store *s, int64_t time_ns, int32_t p, int32_t length);

bool store_finish(struct store *s, struct failure *f, const struct run_result *r,
                  const char *complaints);

#endif
