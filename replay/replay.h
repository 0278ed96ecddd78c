/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_REPLAY_H
#define GMPSIM_REPLAY_REPLAY_H

/* A recorded trace as something that can be run: the recording, what was concluded from it, the
 * program, and the machine that it was recorded on as a scenario, so that whatever takes a scenario
 * takes a trace. */

#include "replay/infer.h"
#include "replay/sidecar.h"
#include "replay/tape.h"
#include "scenarios/scenario.h"
#include "sim/virt/costs.h"

/* Recordings with more bytes of tapes are not run but for the answer. */
enum { REPLAY_TWICE_MAX = 64 << 20 };

struct replay_opts {
    const char *window;        /* a region, NULL: all of the trace */
    uint64_t off;              /* passes that are switched off, a bit each */
    int64_t event_ns, wake_ns; /* < 0: the default */
};

struct replay {
    struct recording *rec;
    struct infer infer;
    struct tape_opts tape;
    struct scenario *scenario; /* owns the program; its expectation: the run finishes */
    struct sidecar side;       /* zeros: there is none */
    bool has_side;
    uint32_t left_out; /* channels that are replayed as they were recorded (settle.c) */
    const char *path;
    struct costs costs; /* of the recording machine, as far as it is known */
};

/* False: f says why; nothing is left to free. */
bool replay_open(struct failure *f, const char *path, const struct replay_opts *o,
                 struct replay *out);
void replay_close(struct replay *rp);
/* replay.c for settle.c: the scenario anew. */
void replay_make(struct replay *rp);
/* settle.c: what cannot be at the recorded settings is replayed as it was recorded. */
void replay_settle(struct failure *f, struct replay *rp);
/* fixpoint.c: until goroutines run as long as in the recording. */
void replay_fixpoint(struct failure *f, struct replay *rp);
/* The scenario outlives the rest, and is the caller's. */
struct scenario *replay_take_scenario(struct replay *rp);

/* How a replay compares with what was recorded. */
struct agreement {
    int64_t makespan[2]; /* recorded, replayed; ns */
    int64_t cpu[2];      /* that goroutines of the program ran */
    int64_t wait_p50[2], wait_p90[2], wait_p99[2], wait_sum[2];
    uint64_t starts[2];
    int utilisation[2];     /* permille of procs * makespan */
    uint64_t early, tokens; /* waits whose event had happened; all of level 1 */
    bool finished;
    bool quota; /* of the replay: it is throttled by one */
};

struct run_opts;
struct run_result;
void validate(const struct replay *rp, const struct run_opts *o, const struct run_result *q,
              struct agreement *a);

#endif
