/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_RECORDING_H
#define GMPSIM_REPLAY_RECORDING_H

/* What a recorded trace says about the program: per goroutine a tape of what it did, and tables of
 * goroutines, waits and places. The passes (infer.h) add to the tables what they conclude; tape.c
 * makes a program of the model of it.
 *
 * A trace tells who woke whom, not through what: a wait is one wake, numbered; the waiter's tape
 * has REC_WAIT, the waker's REC_POST with that number. Times are ns from the begin of the window.
 * Everything is plain memory of one pool, made by recording_read and freed at once. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/fail.h"
#include "sim/base/hist.h"
#include "sim/base/pool.h"
#include "sim/base/spill.h"

#define REC_NONE UINT32_MAX

enum { REC_FORMAT = 3 }; /* of deep recordings: the latest (rec_deed.def) */

/* Entries of a goroutine's tape: what, and up to two numbers. */
enum rec_what {
    REC_CPU,    /* ran for a ns */
    REC_WAIT,   /* wait number a */
    REC_POST,   /* wakes who is in wait a */
    REC_GO,     /* starts goroutine a */
    REC_SYS,    /* a system call of a ns at site b, that kept its P or gave it back at the end */
    REC_YIELD,  /* runtime.Gosched */
    REC_SITE,   /* the deeds that follow are at site a */
    REC_DEED,   /* deed a & 0xff (enum rec_deed), number a >> 8, on object b: a deep recording */
    REC_BEGIN,  /* region a (string of the recording) begins */
    REC_FINISH, /* ... ends */
    REC_ALLOC,  /* a bytes more on the heap, as far as one can tell whose */
    REC_END,    /* the goroutine ends */
    REC_WHATS
};

struct rec_entry {
    enum rec_what what;
    uint64_t a, b;
};

/* What a deep recording says that a goroutine does (docs/replay.md has the texts). */
enum rec_deed {
#define REC_DEED(name, text, what) DEED_##name,
#include "replay/rec_deed.def"
#undef REC_DEED
    DEED_COUNT
};

/* A place in the source, as far as it concerns us: why somebody is there, and the innermost frame
 * outside of the runtime and of package sync. */
enum rec_leaf {
    LEAF_OTHER,
    LEAF_MUTEX,
    LEAF_RLOCK,
    LEAF_RWLOCK,
    LEAF_WAITGROUP,
    LEAF_COND,
    LEAF_CHANSEND,
    LEAF_CHANRECV,
    LEAF_CLOSE,
    LEAF_SELECT,
    LEAF_SLEEP,
    LEAF_READ,  /* of a descriptor */
    LEAF_WRITE, /* ... or a connect: what may make another descriptor ready */
    LEAF_ACCEPT,
    LEAF_OFFCPU, /* a call that waits in the kernel: nanosleep, wait4, flock ... */
    LEAF_COUNT
};

struct rec_site {
    const char *func, *file;
    uint64_t line;
    enum rec_leaf leaf;
    struct rec_place {
        const char *func, *file;
        uint64_t line;
    } told;        /* what a person is told: who called net, os, io or bufio */
    bool runtimes; /* a function of the runtime's did it for itself */
};

/* How a wait was explained: the later in the list, the more is known of it. */
enum rec_how {
    HOW_TOKEN,   /* an event that happens once: as it was recorded */
    HOW_OUTSIDE, /* nobody of the recording woke it: at the recorded time */
    HOW_TIMER,   /* a sleep, until due */
    HOW_NET,     /* object: the descriptor; by whose write is in waker */
    HOW_OBJECT,  /* object: a primitive of the model */
    HOW_COUNT
};

struct rec_wait {
    int64_t from, woken, on; /* parked; made runnable; runs again (INT64_MAX: never) */
    union {
        int64_t due_low;  /* of one that no goroutine woke: the scheduler's last look before */
        int64_t sleep_ns; /* HOW_TIMER: for how long */
    };
    uint32_t g, waker;      /* REC_NONE: nobody's */
    uint32_t site, by_site; /* where it waits, where it was woken from */
    uint32_t object;
    uint16_t takes;      /* HOW_NET: so many writes; 0: one */
    uint8_t reason;      /* the model's wait reason */
    uint8_t how;         /* enum rec_how */
    uint8_t level;       /* 1 token, 2 inferred object, 3 deep recording */
    bool woke_p : 1;     /* an idle P was started for it */
    bool look_busy : 1;  /* at due_low that P found a goroutine to run */
    bool by_sched : 1;   /* woken without a goroutine, by a P's scheduler */
    bool cond : 1;       /* of a Cond that is known: `object` */
    bool as_long : 1;    /* HOW_OUTSIDE: not at the recorded time, but for as long as it was */
    bool brief : 1;      /* for a lock that was held by somebody who ran (infer_locks.c) */
    bool by_outside : 1; /* woken without a P even: by sysmon, a thread that leaves the kernel */
} __attribute__((packed, aligned(4)));
_Static_assert(sizeof(struct rec_wait) == 60, "there are millions of them");

struct rec_g {
    uint64_t id;
    uint32_t creator;     /* REC_NONE: not of the recording */
    uint32_t go_site;     /* of the go statement */
    const char *name;     /* of its function */
    int64_t born, ended;  /* INT64_MAX: lives on */
    uint32_t fresh;       /* starts right after its M got a P, woken by another M */
    int64_t fourth;       /* when it began to run for the fourth time */
    int64_t born_low;     /* of one that no goroutine made: the scheduler's last look before */
    int64_t arm;          /* ... when the timer was armed that made it, by `creator` */
    uint32_t first, last; /* chunks of its tape, 0 none */
    uint32_t starts;      /* how often it began to run */
    uint32_t run_by;      /* the M that ran it last; REC_NONE: more than one since the fourth */
    int64_t cpu;          /* ran in all */
    uint32_t preempts;
    uint32_t last_wait; /* the one it is in, REC_NONE */
    uint32_t done;      /* wait group of which it does Done when it ends; REC_NONE */
    uint32_t deeds;     /* deeds on its tape */
    uint32_t kind;      /* number of its rec_kind, if there are any */
    uint32_t deals;     /* the channel of which it plays the items; REC_NONE */
    uint8_t at_start;   /* enum trace_state when the window began; 0: not yet born */
    bool system : 1;    /* the runtime's or the tracer's: no part of the program */
    bool locked : 1;    /* to its thread (infer_locked.c) */
    bool by_timer : 1;  /* a timer made it */
    bool woke_p : 1;    /* an idle P was started for it */
    bool root : 1;      /* the replay's main goroutine */
};

/* A descriptor, a lock, a channel, a wait group. */
struct rec_object {
    uint8_t kind; /* enum object_kind of model/prog.h */
    uint8_t level;
    int64_t param;    /* as in a declaration; of a descriptor: how many arrivals */
    uint32_t members; /* of a wait group: how many do Done */
    uint32_t first;   /* of a Once: who ran its function; REC_NONE */
    bool timer;       /* of a channel: a timer feeds it */
    bool looped;      /* ... rounds of infer_ticks.c receive from it */
    bool tokens;      /* its deeds are left out, its waits are of level 1 (settle.c) */
    bool closed;      /* a channel that was closed in the window */
    bool sent;        /* ... somebody sent: it was open when the window began */
    bool dealt;       /* ... what is done with an item goes with the item (infer_items.c) */
    bool both;        /* ... one goroutine sends to it and receives from it */
    uint32_t passed;  /* ... selects that could have sent to it, and did something else */
    /* Deep: what comes and goes, in the recorded order, and the least it ever was: items, holders,
     * members; readers. Below 0: so much was there when the window opened. */
    int32_t sum[2], low[2];
    int32_t there[2]; /* when the window opened */
    uint64_t address; /* of a deep recording */
    const char *name;
};

/* A call that may have made a descriptor ready. */
struct rec_write {
    uint32_t g, site;
    uint32_t object; /* the descriptor that it did make ready, REC_NONE */
    int64_t from, until;
};

/* A timer that makes a goroutine: armed by `by` when it begins or ends a wait or posts, as the pass
 * found most likely. In the order of (by, wait, when). */
enum rec_when { WHEN_BLOCKS, WHEN_WAKES, WHEN_POSTS };
struct rec_arm {
    uint32_t by, wait, child;
    uint8_t when;
    int64_t after_ns;
};

/* Rounds by the clock that nobody waits for (infer_ticks.c): the entries `first` to before `last`
 * of g's tape, counted from 0. At most one of a goroutine, in the order of g. */
struct rec_loop {
    uint32_t g, first, last, rounds;
    bool sends;          /* to others, in the rounds: they go on waiting for that */
    int64_t from, until; /* of its waits for the clock */
};

/* A send or a receive of a deep recording, in the order in which items go in and come out. */
struct rec_item {
    uint32_t object, g;
    uint32_t deed;  /* number of the deed on g's tape */
    uint32_t other; /* the receive of a send, the send of a receive; REC_NONE */
    int64_t at;     /* of one that waited: when it was woken */
    uint32_t cases; /* of a select: the first of its channels in the recording's cases */
    uint8_t ncases; /* ... so many it receives from; 0: no select */
    bool sends;
};

/* A read or a write of a deep recording that is over, or begins, in that order. Its object is what
 * flows into one end of a connection. */
struct rec_io {
    uint32_t object, g;
    uint32_t deed;  /* number of the deed on g's tape; REC_NONE: before the window */
    uint32_t wait;  /* of a read: the last that it was in, REC_NONE */
    uint32_t next;  /* while the pass runs: the write after this one */
    uint16_t takes; /* of a read: so many writes must have been before it, since the read before */
    bool writes;
    uint64_t bytes;
};

/* An AfterFunc of a deep recording. */
struct rec_after {
    uint32_t g, child; /* whom it made, REC_NONE: nobody, or not found */
    uint32_t near;     /* the object that g was last about before, REC_NONE */
    int64_t at, ns;
    int64_t stopped; /* INT64_MAX: never */
};

/* Goroutines that begin with one function (fixpoint.c). */
struct rec_kind {
    const char *name;
    int64_t ran, target; /* in the recording; without the tracer, that the replay should run */
    int demand;          /* permille of the running time on their tapes that is the program's own */
};

/* Sums over the window, to compare a replay with. */
struct rec_sums {
    int64_t running, runnable, waiting, syscall; /* goroutines of the program, ns */
    int64_t assist;                              /* of goroutines, for the collector */
    uint64_t starts, waits, preempts, syscalls, created;
    int64_t proc_running; /* Ps in use, ns */
    uint64_t gcs, stw;
};

/* The collector, as far as the window shows it. */
struct rec_gc {
    int64_t heap;                 /* bytes on the heap when the window opened */
    int64_t paced;                /* collections that ended in it */
    int64_t marked, goal;         /* sums over them, KB */
    int64_t worker_ns, assist_ns; /* that marking took */
    bool replayed; /* infer_gc.c: goroutines allocate, the collector is the model's */
    int64_t live, ns_per_kb, percent; /* ... with so much to mark, at this rate, at this GOGC */
};

struct recording {
    struct pool *pool;
    int version; /* N of the header "go 1.N trace" */
    int32_t procs;
    int64_t length;         /* of the window, ns */
    int64_t trace_start_ns; /* the trace's own time of its begin */
    struct rec_g *gs;
    uint32_t ngs, gs_room;
    struct rec_wait *waits; /* in memory->waits */
    uint32_t nwaits;
    struct rec_site *sites;
    uint32_t nsites, sites_room;
    struct rec_object *objects;
    uint32_t nobjects, objects_room;
    struct rec_write *writes;
    uint32_t nwrites, writes_room;
    struct rec_arm *arms;
    uint32_t narms, arms_room;
    struct rec_item *items;
    uint32_t nitems, items_room;
    uint32_t *cases; /* channels that selects receive from */
    uint32_t ncases, cases_room;
    struct rec_loop *loops;
    uint32_t nloops, loops_room;
    struct rec_io *ios;
    uint32_t nios, ios_room;
    struct rec_kind *kinds;
    uint32_t nkinds;
    struct rec_after *afters;
    uint32_t nafters, afters_room;
    const char **regions;
    uint32_t nregions, regions_room;
    /* Every wait of the program's goroutines for a P: the truth that a replay's are compared with.
     */
    struct hist runq_wait;
    struct arena arena; /* of the histogram */
    /* Samples for the calibration, ns: from a goroutine's stop to the next one's start on the same
     * M; from a wake to the start on another M that was idle; of a P from one M to another. */
    struct rec_samples {
        int64_t *ns;
        uint32_t count, room;
    } switches, wakes, handoffs;
    size_t nbytes; /* of tapes: chunks in memory->tapes, number k begins at byte 8 k */
    /* The large tables, which may lie in files. */
    struct rec_memory {
        struct spill waits, tapes;
        size_t walked; /* bytes of tapes since somebody looked how much there is in memory */
    } * memory;
    int64_t wake_call_ns, wake_latency_ns; /* of the machine (infer_calibrate.c); 0: not known */
    uint32_t main_g; /* the goroutine that goes on when the window begins; REC_NONE: none */
    uint64_t deep;   /* so many deeds of a deep recording */
    uint64_t format; /* ... of this format; 0: none */
    uint64_t asked;  /* how often the program asked how many Ps there are, up to the window's end */
    struct rec_sums sums;
    struct rec_gc gc;
    char notes[16][200]; /* what was odd about the trace */
    int nnotes;
};

struct rec_opts {
    const char *window;     /* a region by name: only what happens in it; NULL: all */
    int64_t from_ns, to_ns; /* or a part, from the trace's begin; to_ns 0: to its end */
};

struct trace;
/* An empty one, to be filled by hand. */
struct recording *recording_new(void);
/* NULL: f says why. The trace is read to its end. */
struct recording *recording_read(struct failure *f, struct trace *t, const struct rec_opts *o);
struct recording *recording_load(struct failure *f, const char *path, const struct rec_opts *o);
void recording_free(struct recording *r);

/* ---- tapes ---- */

/* The number of a rec_deed that may be below 0: the recording added 2^32. */
static inline int64_t rec_signed(uint64_t n) { return (int64_t)n - (INT64_C(1) << 32); }

struct rec_reader {
    const struct recording *r;
    uint32_t chunk, at;
};
void rec_rewind(struct rec_reader *rd, const struct recording *r, uint32_t g);
/* False: at the end. */
bool rec_next(struct rec_reader *rd, struct rec_entry *e);
void rec_put(struct recording *r, uint32_t g, enum rec_what what, uint64_t a, uint64_t b);

uint64_t rec_entries(const struct recording *r);
/* What the tables and tapes hold, without the room behind them. */
size_t rec_bytes(const struct recording *r);

/* ---- tables ---- */
/* One more wait, at the end; the table may move. */
struct rec_wait *rec_add_wait(struct recording *r);
/* What has not been touched lately leaves memory, if there is much. */
void rec_rest(const struct recording *r);
/* For who goes through all waits: is there one with this number? */
static inline bool rec_is_wait(const struct recording *r, uint32_t i)
{
    if (i % (1 << 17) == 0)
        rec_rest(r);
    return i < r->nwaits;
}
uint32_t rec_add_object(struct recording *r, uint8_t kind, int64_t param, int level,
                        const char *name);
/* "main.worker pool.go:55"; in one of four static buffers. */
const char *rec_site_text(const struct recording *r, uint32_t site);
/* Of the category of a log event: "gmpsim" and, from the second on, the number of its format; 0: it
 * is the program's own. */
uint64_t rec_format_of(const char *category);
/* 1: takes a lock; -1: gives one back; else 0. */
int rec_lock_change(enum rec_deed deed);
/* Says more of a deed that has begun: its event has no stack. */
bool rec_is_bare(enum rec_deed deed);
/* Does what its goroutine does next go with this item (infer_items.c)? */
bool rec_is_dealt(const struct recording *r, const struct rec_item *it);
/* Is the mutex of this Cond known? Else nobody has ever waited on it. */
bool rec_has_mutex(const struct recording *r, const struct rec_object *cond);
/* Lists of each goroutine's writes, and of its reads that took something and did not wait (those
 * that did take it where they wait), in order: at[g] is the first, REC_NONE none. */
void rec_link_writes(const struct recording *r, uint32_t *at, uint32_t *next);
void rec_link_reads(const struct recording *r, uint32_t *at, uint32_t *next);

#endif
