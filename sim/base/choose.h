/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_CHOOSE_H
#define GMPSIM_SIM_BASE_CHOOSE_H

/* One question, many answers: every nondeterministic step of a world asks choose(), a strategy
 * answers, and the log of answers IS the schedule. The explorer (sim/explore) always asks, the
 * timed host (sim/virt) if it is given a chooser.
 *
 * A question with one answer is not asked and not logged. Answer 0 is always the dull one: go on
 * with the running thread, read the newest store, write at the end, no fault. So a schedule of
 * zeros is the run that nobody disturbs, and shrinking means writing zeros. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/base/turn.h"

enum choice_kind {
    CHOICE_THREAD, /* who performs the next point */
    CHOICE_FLUSH,  /* the same, and store buffers may drain by one store */
    CHOICE_LOAD,   /* which store a load sees; 0: the newest it may see */
    CHOICE_STORE,  /* where in the order of memory a store goes; 0: last */
    CHOICE_DRAW,   /* a random draw of the program or of the runtime */
    CHOICE_FAULT,  /* 0: nothing happens */
    CHOICE_TIE,    /* virtual time decides, but several are due at this instant: who is first */
    CHOICE_TURN,   /* which goroutine goes on (granularity sync) */
    CHOICE_KINDS
};

/* Options of CHOICE_THREAD and CHOICE_FLUSH: a thread's id, or one of these. */
enum {
    OPTION_FLUSH = 64,  /* OPTION_FLUSH + id: thread id's oldest buffered store reaches memory */
    OPTION_CLOCK = 128, /* nobody runs until the next timed event */
    OPTIONS_MAX = 2 * 64 + 1
};

struct choice {
    enum choice_kind kind;
    uint32_t n;     /* answers are 0 .. n-1; n >= 2 */
    uint32_t timed; /* the answer of virtual time (only if the strategy wants_time), or a draw's
                       fallback */
    const uint8_t *option; /* what the answers mean, of CHOICE_THREAD and CHOICE_FLUSH; else NULL */
    uint32_t threads;      /* answers below this let a thread run */
    bool preempts; /* the running thread could go on and is answer 0: others are preemptions */
    bool clock;    /* the last option is OPTION_CLOCK */
    bool waits;    /* the running thread is none of them: it has yielded too often */
    /* CHOICE_TURN, else NULL: answer k is its goroutine first + k; the last may be the clock. */
    const struct turn *turn;
    uint32_t first;
    uint64_t step;
};

/* Even random numbers. wyrand: as good as a schedule needs, half the instructions of the streams in
 * rng.h, and a number that was drawn too early can be put back. */
struct evenly {
    uint64_t state;
};
#define EVENLY_STEP 0xa0761d6478bd642fu

__extension__ typedef unsigned __int128 evenly_wide;

static inline uint64_t evenly_next(struct evenly *e)
{
    e->state += EVENLY_STEP;
    evenly_wide product = (evenly_wide)e->state * (e->state ^ 0xe7037ed1a0b428dbu);
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

static inline void evenly_back(struct evenly *e) { e->state -= EVENLY_STEP; }

/* x is 64 even bits; the bias of n < 2^28 over 2^36 values is beyond what a test could see. */
static inline uint32_t evenly_below(uint64_t x, uint32_t n)
{
    return (uint32_t)((x >> 28) * n >> 36);
}

/* What a strategy is. The three functions are called in this order: begin, pick ..., end.
 * PCT, POS and SURW need begin and pick; DPOR needs end too; shrinking is a loop around replay. */
struct strategy {
    const char *name;
    /* Virtual time is told to the strategy (choice.timed); on the timed host it decides who is
     * next, and ties are asked. */
    bool wants_time;
    /* Not NULL: threads are drawn evenly from here, which saves the call of pick. */
    struct evenly *evenly;
    bool (*begin)(struct strategy *s); /* a new run; false: nothing is left to try */
    uint32_t (*pick)(struct strategy *s, const struct choice *c);
    void (*end)(struct strategy *s, bool complete); /* false: the run was cut by a limit */
    /* May be NULL. In place of pick for the question whose turn it is or who is next, and asked
     * also when there is one answer. slept: by turns, time has passed since, because nobody could
     * go on. */
    uint32_t (*step)(struct strategy *s, const struct choice *c, bool slept);
    void (*did)(struct strategy *s, const struct turn_does *d); /* whoever was chosen does this */
    bool did_turns; /* ... and only by turns does it want to know */
    bool halted;    /* before end: somebody ended the run, it did not come to its end */
    bool enough;    /* the rest of this run is known: it may be cut */
    /* May be NULL. Of a strategy whose run begins as the one before it did: so many answers are the
     * same, and after begin it may be told that the first of them will not be asked for again. */
    void (*skip)(struct strategy *s, size_t answers);
    size_t same;
    uint32_t used; /* of its bound, in this run */
    bool spent;    /* no bound is left for another answer than 0 to who goes on */
};

/* One logged answer: kind << 60 | n << 32 | pick. One word, because one is written per point. */
struct answer {
    uint64_t word;
};
enum { CHOICE_N_MAX = (1 << 28) - 1 };

static inline struct answer answer_make(enum choice_kind kind, uint32_t n, uint32_t pick)
{
    uint64_t kind_n = (uint32_t)kind << 28 | n;
    return (struct answer){kind_n * (UINT64_C(1) << 32) | pick};
}
static inline enum choice_kind answer_kind(struct answer a)
{
    return (enum choice_kind)(a.word >> 60);
}
static inline uint32_t answer_n(struct answer a) { return (a.word >> 32) & CHOICE_N_MAX; }
static inline uint32_t answer_pick(struct answer a) { return (uint32_t)a.word; }

/* The letter of a kind in a schedule file. */
extern const char choice_letters[CHOICE_KINDS + 1];

/* ---- strategies ---- */

/* Answer 0 to everything but threads and draws, which go as virtual time has it. */
struct strategy *strategy_time(void);

/* Seeded; each run gets a stream of its own: run r of seed s is always the same.
 * Loads and stores answer 0 in `fresh_permille` of the cases before drawing evenly (default 500):
 * memory that is always as strange as allowed hides what happens when only one access is. */
struct strategy_random {
    struct strategy s;
    uint64_t stream, runs_max, run; /* stream: of the seed */
    uint32_t fresh_permille;
    struct evenly evenly;
};
void strategy_random_init(struct strategy_random *r, uint64_t seed, uint64_t runs_max);

/* PCT, see pct.c. */
enum { PCT_DEPTH_MAX = 32, FRESH_PERMILLE = 500 };
/* Of occasions for a fault, so that it is not always the first. */
enum { FAULT_ONE_IN = 16 };
struct strategy_pct {
    struct strategy s;
    uint64_t seed, runs_max, run;
    uint32_t depth;
    uint64_t longest, asked; /* questions of who goes on: of the longest run, of this one */
    uint32_t actors, seen;   /* who was asked about: in the run with most, in this one */
    struct evenly random;
    uint32_t priority[OPTIONS_MAX]; /* 0: not drawn yet */
    uint64_t change[PCT_DEPTH_MAX];
};
void strategy_pct_init(struct strategy_pct *p, uint64_t seed, uint64_t runs_max, uint32_t depth);
/* A bug of this depth is met by one schedule in so many at least; UINT64_MAX: or in more. */
uint64_t strategy_pct_bound(uint64_t actors, uint64_t steps, uint32_t depth);

/* POS and SURW, see pos.c. */
struct strategy_pos {
    struct strategy s;
    uint64_t seed, runs_max, run;
    struct evenly random;
    uint32_t priority[OPTIONS_MAX]; /* of what everybody does next; 0: not drawn */
};
void strategy_pos_init(struct strategy_pos *p, uint64_t seed, uint64_t runs_max);

enum { SURW_OBJECTS = 32 };
struct strategy_surw {
    struct strategy s;
    uint64_t seed, runs_max, run;
    struct evenly random;
    bool one_object;
    uint32_t object;
    uint32_t objects[SURW_OBJECTS], object_count; /* that were seen in this run, or the last */
    /* Per place: operations of this run, all and by object (those that share a place share a
     * count); the same, in the run with most; the interesting ones that are done. A last one that
     * is alone is not asked and not counted. */
    uint16_t all[OPTIONS_MAX], by_object[SURW_OBJECTS][OPTIONS_MAX];
    uint16_t most_all[OPTIONS_MAX], most_by_object[SURW_OBJECTS][OPTIONS_MAX];
    uint16_t done[OPTIONS_MAX];
    bool asked[OPTIONS_MAX]; /* places that `intended` was drawn among */
    uint64_t turn;           /* that was told last */
    int32_t intended;        /* the place that does the next interesting operation; -1: not drawn */
};
void strategy_surw_init(struct strategy_surw *p, uint64_t seed, uint64_t runs_max);

/* Round robin, see fair.c. */
struct strategy_fair {
    struct strategy s;
    uint64_t seed, runs_max, run;
    struct evenly random;
    uint8_t quantum[OPTIONS_MAX]; /* turns in a row; 0: not drawn */
    uint8_t place;                /* whose turn it was */
    uint32_t had;                 /* ... and how many in a row */
    uint32_t phase;               /* so many turns more until it goes round */
    bool goes_round;
};
void strategy_fair_init(struct strategy_fair *f, uint64_t seed, uint64_t runs_max);

/* The place, below OPTIONS_MAX, at which a strategy keeps what it knows of whom answer k lets go
 * on. Goroutines have numbers without an end: those that share a place share what it holds. */
uint8_t choice_place(const struct choice *c, uint32_t k);
/* An even answer; 0 in fresh_permille of the cases where another one is strange. */
uint32_t random_answer(struct evenly *e, const struct choice *c, uint32_t fresh_permille);

/* Exhaustive, depth first, by running again from the start with a longer common prefix. */
struct dfs_frame {
    uint32_t kind_n, pick;
    uint16_t used;   /* preemptions before this choice */
    uint8_t threads; /* as in struct choice, 255 or more: 255 */
    bool preempts, clock;
};
struct strategy_dfs {
    struct strategy s;
    struct dfs_frame *frames; /* frames_max of them, the caller's memory */
    size_t frames_max, depth, count;
    uint32_t preemptions_max; /* per run; DFS_UNBOUNDED: all of them */
    uint32_t draws_max;       /* answers tried of a draw that has more (0: all) */
    bool delays;              /* ... and of delays: answer k passes over k who could go on */
    uint16_t used;
    bool started, exhausted;
    bool bounded;  /* the bound on preemptions left something out */
    bool pruned;   /* something was left out by draws_max or frames_max: not a proof */
    bool diverged; /* the world did not repeat itself: nondeterminism outside of choose() */
    uint64_t runs, runs_max; /* 0: until exhausted */
};
enum { DFS_UNBOUNDED = 0xffff };
void strategy_dfs_init(struct strategy_dfs *d, struct dfs_frame *frames, size_t frames_max,
                       uint32_t preemptions_max);

/* Gives the answers of a list, then 0; or then the last `repeat` of them over and over, but for
 * draws, which are drawn evenly: what goes round for ever does not do so by luck. */
struct strategy_replay {
    struct strategy s;
    const struct answer *answers;
    size_t count, repeat, next;
    bool again; /* the list has been given once */
    struct evenly draws;
    bool done;
    bool strict;   /* a question that does not fit the list is a divergence; else it is answered
                      modulo n */
    bool diverged; /* strict only */
    size_t diverged_at;
};
void strategy_replay_init(struct strategy_replay *r, const struct answer *answers, size_t count,
                          bool strict);

/* ---- asking ---- */

struct chooser {
    struct strategy *strategy;
    struct answer *log; /* log_max of them */
    size_t count, log_max;
};

/* The log must have room: the caller cuts the run when count reaches log_max. */
static inline uint32_t choose(struct chooser *ch, const struct choice *c)
{
    uint32_t pick = ch->strategy->pick(ch->strategy, c);

    ch->log[ch->count++] = answer_make(c->kind, c->n, pick);
    return pick;
}

/* A draw below n, however large; fallback is what it is without a strategy. */
uint64_t choose_below(uint32_t (*ask)(const struct choice *c), uint64_t n, uint64_t fallback,
                      uint64_t step);

#endif
