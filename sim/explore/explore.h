/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_EXPLORE_EXPLORE_H
#define GMPSIM_EXPLORE_EXPLORE_H

/* An explored world, from outside: one world that is built and run again and again, each run under
 * a strategy's answers (docs/exploration.md).
 *
 *     ex_init(&f, &opts);
 *     while (ex_begin(strategy)) {
 *         ... host_alloc, a_init, ex_start(hm, fn, arg) ...
 *         why = ex_run();
 *         ... look at memory with a_peek ...
 *         ex_end();
 *     }
 *     ex_free();
 *
 * One world per process at a time, everything in one OS thread. Nothing calls malloc between
 * ex_init and ex_free. Threads are coroutines; every verb of the host surface that is a point asks
 * who performs next. Unlike on the timed host there are no CPUs to share: any thread may be late.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/choose.h"
#include "sim/base/ending.h"
#include "sim/base/faults.h"
#include "sim/base/race.h"
#include "sim/base/traced.h"
#include "sim/explore/mm.h"
#include "sim/explore/site.h"
#include "sim/virt/costs.h"

struct failure;
struct hostm;

enum {
    EX_THREADS_MAX = 64,   /* created in one run */
    EX_EVENTS_MAX = 4096,  /* env_at calls pending */
    EX_READY_MAX = 4096,   /* env_ready pending */
    EX_OUTSIDE_MAX = 8192, /* bytes, of all that ex_opts.outside names */
    EX_YIELDS_MAX = 16     /* a thread that yielded so often while nobody else ran has to wait */
};

struct ex_outside {
    void *at;
    size_t size;
};

struct ex_opts {
    enum mm_kind memory;
    enum cost_port port; /* how Go's orders are realised; mm arm64 and ppc64 want their own port */
    bool ctrl;           /* see struct mm */
    bool races;          /* data races of the program are looked for */
    struct faults faults;
    int fatal_kind;      /* of the finding that there is no memory */
    bool eager_clock;    /* time may jump to the next timed event while threads could run */
    int64_t late_max_ns; /* ... but in one run by no more than this in all; 0: any */
    int64_t settle_ns;   /* a common beginning goes on for so long, for the other threads */
    bool sync;           /* the goroutines of one P are chosen among, and not the threads */
    uint64_t turns_max;  /* of a run then; 0: 100,000 */
    /* Told of each turn; may be NULL. False: the run ends as at a limit. The second half of an
     * instruction is told of when it is chosen (turn_does.resumes), and others when they begin. */
    bool (*turn)(void *arg, const struct turn_does *d);
    void *turn_arg;
    uint64_t seed;             /* of host_seed64 */
    uint64_t steps_max;        /* points of a run; 0: 1,000,000 */
    int64_t until_ns;          /* virtual time; 0: no limit */
    size_t answers_max;        /* length of the log; 0: 1 << 20 */
    size_t memory_max;         /* of the arena; 0: 1 GiB */
    size_t stack_size;         /* per thread; 0: the default of coro.h */
    const struct costs *costs; /* NULL: costs_builtin */
    int32_t ncpu;              /* what host_ncpu says; 0: 8 */
    int64_t quota_us, period_us;
    bool rests; /* a run of operations that comes to its limit stands still there, see below */
    void (*sighandler)(void *arg);
    /* Asked before every point what is wrong with the world, or NULL; a_peek gives it the memory as
     * it is when all stores have arrived (mm_peek of nobody). quiet: no thread could go on. Words
     * end the run as a throw does. */
    const char *(*check)(bool quiet);
    /* Takes the event records, NULL: they are counted only. What happens here is ordered by the
     * schedule, and the clocks of threads run apart: a record's time is its thread's clock, or one
     * picosecond after the record before it, whichever is later. */
    event_sink_fn *sink;
    void *sink_arg;
    /* What the caller's threads and callbacks change outside of the world's memory: put back with
     * it. branches: that is all of it, and a depth-first search need not begin each run at the
     * beginning (see below). */
    const struct ex_outside *outside;
    uint32_t outside_count;
    bool branches;
    /* With branches: so many states are remembered, and a depth-first run ends where it comes to
     * one from which all has been tried (END_LIMIT, ex_totals.known). 0, and under sanitizers:
     * none. */
    size_t states_max;
};

bool ex_init(struct failure *f, const struct ex_opts *o);
void ex_free(void);

/* A new, empty world. False: the strategy has nothing left to try. */
bool ex_begin(struct strategy *s);
/* A thread that exists from the start. hm may be NULL; else it stays at its address. */
void ex_start(struct hostm *hm, void (*fn)(void *), void *arg);
/* Between ex_begin and ex_run: another limit of virtual time than that of ex_opts; UINT64_MAX:
 * none. */
void ex_until(uint64_t ps);
/* Every record has reached the sink when it returns. */
enum world_end ex_run(void);
/* Tells the strategy. The world may be looked at until the next ex_begin. */
void ex_end(void);

/* ---- a common beginning ----
 *
 * Most of a run of the core is its start: what happens before the program's first instruction is
 * the same in all of them and need not be explored.
 *
 *     ex_begin_start(strategy); ... build ...
 *     if (!ex_run_start())      it ended before there was one
 *     ex_keep(&f);              a copy of the world as it is then
 *     while (ex_again(strategy)) { ex_run(); ... ex_end(); }
 *
 * Start-up has sequentially consistent memory and time that does not jump. The answers of a run are
 * those after it.
 *
 * With ex_opts.branches, small worlds are copied in the middle of runs too, and a depth-first run
 * begins at the last copy that lies on the path that it has in common with the run before: all that
 * is told of it (answers, steps, fingerprint, end) is as if it had begun at the beginning. Where
 * somebody is told of operations, turns, records, races or invariants there are no such copies. */
bool ex_begin_start(struct strategy *s);
bool ex_run_start(void);
/* May be called before ex_keep: each thread of ex_start comes to its first point, where else each
 * run would have to bring it. Until there threads only compute: they do not ask, wait, end, start
 * others or read what those may write. Their first points are steps of the beginning. */
void ex_to_first_points(void);
/* 0, or a negative fail code: this build cannot copy coroutines. */
int ex_keep(struct failure *f);
/* The world as it was kept, with new answers. False: the strategy has nothing left to try. */
bool ex_again(struct strategy *s);
/* Without ex_keep: goes on from the start that has just been made, once. */
bool ex_go_on(struct strategy *s);
void ex_forget(void);

/* ---- going on fairly ----
 *
 * A schedule may keep somebody from going on for as long as it likes: that is its whim. It is told
 * from what the program does to him by going on as virtual time does, where nobody is passed over.
 * With ex_opts.rests:
 *
 *     ex_run();
 *     if (ex_rests()) {          at its limit of points; the world may be looked at
 *         ex_go_fairly(&how);
 *         ex_run();
 *     }
 *
 * Its answers are those up to the limit: what comes then needs none. */
bool ex_rests(void);
struct ex_fair {
    uint64_t point_ps; /* that each point takes besides its own time */
    uint64_t until_ps; /* by the clock, from where it stands; then the run ends (END_LIMIT) */
    /* A goroutine is let run, begins an instruction, computes or makes a call, on this P. False:
     * the run ends as at a limit. On a thread's stack. */
    bool (*gets_on)(void *arg, int32_t p);
    void *arg;
};
void ex_go_fairly(const struct ex_fair *how);
/* While it does: another limit of time. */
void ex_fair_until(uint64_t ps);
/* The points before that; 0: it did not. */
uint64_t ex_fair_from(void);
/* It went on fairly until its time was over. */
bool ex_fair_over(void);
/* The P on which a thread computes or makes a call; -1: it does neither. */
int32_t ex_computes_on(int tid);
/* Another limit of points, from the next run on. */
void ex_steps_max(uint64_t steps);

/* The parts (enum mm_bits) that an atomic verb's order has on a port. */
unsigned verb_bits(enum cost_port port, enum ex_verb verb);

/* Of the last run. */
enum world_end ex_why(void);
/* Did the last run end for want of memory? Says so. */
bool ex_refused(struct failure *f);
const char *ex_text(void); /* what was thrown, found or crossed; "" if nothing */
int ex_finding_kind(void);
/* The same as the other hosts say it. */
const struct world_verdict *ex_verdict(void);
/* Data races, each pair of places once, in the order in which they were seen. */
const struct race_report *ex_races(uint32_t *count);
/* The case, from 0, that this goroutine's select has taken, -1: its default. False: somebody else's
 * was the last to end. */
bool ex_took(uint32_t goid, int64_t *index);
uint64_t ex_fingerprint(void); /* of all operations and values, in order */
uint64_t ex_steps(void);
int64_t ex_now(void);
int64_t ex_turn_now(void);                      /* by turns, while it runs */
const struct answer *ex_answers(size_t *count); /* the schedule */
/* Is the thread waiting? For reports after END_IDLE: what it waits for; NULL: it does not. */
const char *ex_waits(int tid);
int ex_threads(void);
/* Turns what a test sees as wrong into a finding of this run. */
void ex_fail(const char *text);

struct ex_totals {
    uint64_t runs, steps, answers, cut;
    uint64_t forgotten; /* of mm_stats, in all runs */
    uint64_t known;     /* runs that ended in a state from which all had been tried */
    uint64_t schedules; /* that the runs stand for; only with ex_opts.states_max */
    uint64_t states;
};
void ex_totals(struct ex_totals *t);

/* ---- listening: every atomic operation, one by one; and a run that stands still after one ---- */

/* Before ex_begin; NULL: nobody listens. The run is the same, and slower. An operation's number is
 * its step. */
void ex_listen(const struct traced_to *to);
/* ex_run returns END_TIME at the first point after the operation of step `number`, or of a later
 * one; 0: never. It may be called again, and goes on from there. */
void ex_stop_after(uint64_t number);
/* Called by a listener: ... at the next point. */
void ex_stop_now(void);
bool ex_stopped(void); /* since the last ex_stop_after, it was asked to stop or did */

/* ---- traces: one record per operation, for people ---- */

struct ex_event {
    const struct ex_site *site; /* NULL for what is no atomic */
    const void *addr;
    uint64_t value, old; /* read or written; old: of a read-modify-write */
    uint64_t step;
    int64_t now;
    int16_t tid;
    uint8_t verb;
    bool stale, wrote, moved; /* a load that did not see the newest; a store that is not last */
};

/* The caller's memory; NULL: off. Recording goes on until it is full. */
void ex_trace(struct ex_event *events, size_t max);
/* Names an address for people; returns false if it cannot. NULL: nobody asks. */
void ex_namer(bool (*fn)(const void *addr, char *buf, size_t size));

struct ex_print {
    int width;          /* of a line; 0: 120 */
    size_t rows_max;    /* the last so many; 0: all */
    const char *replay; /* the command that does it again, printed last; NULL: none */
};
/* The trace of the last run: what happened, one column per thread, who waits for what. */
void ex_trace_print(FILE *out, const struct ex_print *p);

#endif
