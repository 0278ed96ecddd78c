/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the explored world. Only sim/explore and its host.h look in here. */
#ifndef GMPSIM_EXPLORE_EX_INT_H
#define GMPSIM_EXPLORE_EX_INT_H

#include <setjmp.h>

#include "sim/base/arena.h"
#include "sim/base/coro.h"
#include "sim/base/event.h"
#include "sim/base/fingerprint.h"
#include "sim/explore/explore.h"
#include "sim/explore/hot.h"

enum ex_wait { WAIT_NOT, WAIT_FUTEX, WAIT_SLEEP, WAIT_BURST, WAIT_SYSCALL, WAIT_POLL, WAIT_DEAD };

#define NEVER UINT64_MAX

enum ex_flags {
    EX_YIELDED = 1, /* the others come first at its next point */
    EX_SIGNALLED = 2,
    EX_CHOSEN = 4 /* to perform its next point: it goes on from a start or a wait */
};

struct ex_thread {
    uint64_t salt; /* see ex_hot */
    struct coro coro;
    uint64_t now;     /* its clock, ps; while it runs, ex_hot.now is */
    uint64_t wake_at; /* of a timed wait, else NEVER */
    uint64_t seq;     /* order of waiting */
    const void *futex;
    void *arg;
    void (*fn)(void *);
    int id;
    int32_t p;
    enum ex_wait wait;
    uint8_t yields; /* in a row that nobody else used */
    uint8_t flags;  /* enum ex_flags; 0 on the fast path */
    uint8_t pos;    /* its index in ex.able while it is enabled */
    bool cuttable, timed_out;
    bool cut;       /* the next cuttable burst ends at once */
    bool handling;  /* a signal */
    bool for_timer; /* what it tells of races it does for a timer */
    uint32_t signals;
};

/* Granularity sync. */
struct ex_turns {
    uint64_t count;
    uint32_t goid;         /* whose turn it is */
    bool slept;            /* time has passed because nobody could go on */
    uint32_t alone, looks; /* turns in a row that it has had; that only looked */
    uint32_t clocks;       /* readings of the clock in this turn */
    uint32_t chooser;      /* who was the last to end a select, 0: nobody yet */
    int64_t took;          /* its case */
};

struct ex_timer {
    uint64_t at, seq;
    void (*fn)(void *);
    void *arg;
};

struct ex_ready {
    int32_t fd;
    uint32_t mode;
};

struct ex {
    /* ---- of the world: kept and put back by again.c, from here ... ---- */
    struct ex_thread *cur; /* NULL outside every thread */
    uint64_t order; /* when the last operation happened: nothing happens before it any more */
    uint64_t due;   /* the earliest timed event, NEVER */
    /* While points need no more than an answer that was dealt before, see deal(): the place of that
     * answer in the log, the end of the log, and whom it lets go on. Both NULL: they need more. */
    struct answer *at, *end;
    struct ex_thread *next;
    struct answer of_able_0; /* the answer 0 to the question who of the able goes on */
    uint32_t able_count;     /* threads that could run */
    struct answer *dealt;    /* where dealing began */
    uint64_t steps;          /* points before that place */
    bool quiet;              /* nothing but the able threads to choose from, see settle() */
    bool alone;              /* ... of which there is one, and nobody wants to know of its points */
    bool poll_broken;
    uint64_t seq;
    uint32_t faults; /* that have happened */
    uint64_t late;   /* ps by which time jumped over threads that could have run */
    struct ex_turns turns;
    struct ex_thread
        *lender; /* on whose stack a callback of the environment runs; NULL: the main one */
    struct stackpool stacks;
    struct rng seeds;
    uint32_t timer_count, ready_count;
    int thread_count;
    /* ---- ... to here, and of these as many as there are ---- */
    struct ex_thread *able[2 * EX_THREADS_MAX]; /* by id; twice, so that they are read round */
    uint8_t able_id[2 * EX_THREADS_MAX];
    struct ex_thread threads[EX_THREADS_MAX];
    struct ex_timer timers[EX_EVENTS_MAX]; /* unordered */
    struct ex_ready ready[EX_READY_MAX];

    struct evenly *evenly; /* of the strategy */
    bool always_slow;      /* never quiet */
    bool wants_time;
    bool plain;                 /* what ex_hot.plain is but for a signal */
    bool does;                  /* the strategy is told what each operation is about */
    bool timeless;              /* only sleeps and their ends are about time: nothing takes any */
    bool starting, paused;      /* in the common beginning; at its end */
    struct ex_thread *to_first; /* whom threads let go on at their first point; else NULL */
    bool at_first;              /* they stand there */
    struct ex_thread *at_start; /* who had come to the end of the common beginning */
    struct choice of_able;      /* the question when it is quiet */
    size_t answers_soft;        /* more answers than this: cut at the next point */
    size_t copy_at;             /* at a point with so many answers the world is copied */
    bool copying;               /* it stands still for that */
    bool known;                 /* the run ended in a state that another was in */
    bool on_branch;             /* it was put back to such a point */
    struct ex_event *trace;
    size_t trace_count, trace_max;
    unsigned bits[VERB_COUNT];

    struct ex_opts o;
    struct chooser ch;
    struct coro main;
    jmp_buf out; /* leaves ex_run from the main stack */
    uint64_t until;
    struct event_rec *records; /* EVENT_BATCH_COUNT of them; NULL without a sink */
    size_t record_count;
    uint64_t record_time; /* of the last one */
    struct arena arena;
    size_t arena_mark;

    enum world_end why;
    const char *text;
    int finding_kind;
    int ender; /* the thread that left the run, -1: none */
    bool running;
    bool tells; /* somebody listens, and points are where a run may stand still */
    struct traced_to to;
    uint64_t points_max; /* of this run */
    struct ex_fair fair;
    uint64_t fair_from;     /* points before it went on fairly; 0: it has not */
    bool fair_over;         /* until its time was over */
    size_t fair_answers;    /* before that */
    struct strategy *asked; /* until then */
    uint64_t stop_after;    /* the operation of this step; 0: none */
    bool stop, stopped;     /* asked for; the run stands there */
    struct ex_thread *resting;
    struct ex_totals totals;
    bool (*namer)(const void *addr, char *buf, size_t size);
    const struct costs *cost_table;
};
OWN_DATA struct ex ex;

/* When the run ends: what time jumps over threads that could have run, a schedule's whim, does not
 * count against them. */
static inline uint64_t ex_end_(void)
{
    return ex.until < NEVER - ex.late ? ex.until + ex.late : NEVER;
}

/* Of this run. */
static inline enum mm_kind ex_memory_(void) { return ex.starting ? MM_SC : ex.o.memory; }
static inline int ex_tid(void) { return ex.cur != NULL ? ex.cur->id : -1; }

/* The calling thread waits: until somebody wakes it or wake_at. True: the time ran out. */
bool ex_wait_(enum ex_wait how, uint64_t wake_at);
/* t comes back: with its burst at once, from a sleep after the wake latency. */
void ex_wake_(struct ex_thread *t, uint64_t at, bool timed_out);
void ex_signals_(struct ex_thread *t);
/* Who was signalled while it stood before an operation handles that first, also when it comes back
 * from the verbs' fast path: in the same place as when the schedule is done again. */
void ex_signals_first_(void);
static inline uint64_t ex_cost_(enum cost_kind k) { return ex.cost_table->kind[k]; }
struct ex_thread *ex_thread_new_(struct hostm *hm, void (*fn)(void *), void *arg);
/* There is no memory for the world: its run ends. */
void ex_refuse_(void *unused, const struct failure *f);
/* Leaves the run for good. */
_Noreturn void ex_leave_(enum world_end why, const char *text);
/* What the next point has to look at has changed. */
void ex_unsettle_(void);
static inline uint64_t ex_steps_(void) { return ex.steps + (uint64_t)(ex.at - ex.dealt); }
/* Asks about something else than who is next. */
uint32_t ex_choose_(const struct choice *c);
/* Adds ps to the calling thread's clock. */
static inline void ex_spend_(uint64_t ps) { ex_hot.now += ps; }
void ex_due_update_(void);
/* Lets the earliest event happen. */
void ex_fire_(void);
/* Virtual time's next thread among those that could run, but not this one; NULL: none. */
struct ex_thread *ex_first_(const struct ex_thread *but);
/* What is wrong with the world, as it is when all that was stored has arrived; NULL: nothing. The
 * check is nobody's: it sees no thread's own buffer first. */
const char *ex_look_(bool quiet);
/* The answer of a strategy that has a step. */
uint32_t ex_step_(const struct choice *c, bool slept);
/* Does this go wrong now? */
bool ex_fault_(enum fault_kind k);
/* For a strategy that listens: the running operation is about addr; NULL: about anything. */
void ex_does_(const void *addr, bool reads);
/* ... or time (0) is, about the clock. */
void ex_does_clock_(uint32_t who);
/* me gives way to t. */
void ex_switch_(struct ex_thread *me, struct ex_thread *t);
/* By how many ps time may still jump over who could run. */
uint64_t ex_late_left_(void);
/* The running thread has come to the end of the common beginning. */
void ex_pause_(void);
void ex_records_flush_(void);
/* Of race.c: a new run; no runs any more. */
void ex_races_begin_(void);
void ex_races_free_(void);
/* Sanitizers have handlers of their own for wild pointers and say more: they keep them. */
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
enum { EX_CATCHES_FAULTS = 0 };
#else
enum { EX_CATCHES_FAULTS = 1 };
#endif
/* Was it the first write to a page of the common beginning? */
bool ex_start_touched_(const void *addr);
void ex_faults_catch_(void);
void ex_faults_release_(void);
/* Back to an empty world. */
void ex_world_reset_(void);
/* Off the threads, to whoever called ex_run. */
void ex_switch_out_(struct ex_thread *me);
/* A new run of the world that is there, with these answers. False: there are no more. */
bool ex_take_over_(struct strategy *s);
/* The stacks of threads from this one on are free. */
void ex_end_threads_(int from);
/* The world stands still at a point: a copy of it, where a later run may leave the path. False: it
 * is known what comes from here on. */
bool ex_copy_(void);
/* Of seen.c: is this state known, after so many answers? If not, it is from now on. Those after
 * more answers than `same` are done. A run came to its end. */
bool ex_seen_init_(size_t states, struct failure *f);
void ex_seen_free_(void);
bool ex_seen_(size_t answers);
void ex_seen_done_(size_t same);
void ex_seen_one_more_(void);
void ex_seen_totals_(struct ex_totals *t);
/* What is another in the world's memory than at the common beginning. */
void ex_kept_mix_(struct fingerprint *f);
static inline void ex_does_other_(void)
{
    if (__builtin_expect(ex.does, 0))
        ex_does_(NULL, /*reads*/ false);
}
/* Something that is no atomic, into the trace. */
void ex_note_other_(int tid, enum ex_verb verb, const void *addr, uint64_t value);
static inline void ex_trace_(int tid, enum ex_verb verb, const void *addr, uint64_t value)
{
    if (__builtin_expect(ex.trace != NULL, 0))
        ex_note_other_(tid, verb, addr, value);
}
/* ... which others can see. */
static inline void ex_note_(int tid, enum ex_verb verb, const void *addr, uint64_t value)
{
    ex_does_other_();
    ex_trace_(tid, verb, addr, value);
}

/* Of fairly.c: this run comes to the point at which it goes on fairly, to each one after that, to
 * its end. */
void ex_fair_point_(void);
void ex_fair_end_(void);
void ex_gets_on_(void);

/* By turns: the clock was read. */
void ex_turn_clock_(void);

#endif
