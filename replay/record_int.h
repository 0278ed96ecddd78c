/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_RECORD_INT_H
#define GMPSIM_REPLAY_RECORD_INT_H

/* A recording while its trace is read (record_read.c, record_deeds.c). */

#include "replay/recording.h"
#include "replay/reason.h"
#include "replay/sites.h"
#include "replay/trace.h"
#include "sim/base/map.h"

enum { RR_CASES = 8 };

struct rr_g {
    int64_t since; /* in this state */
    int64_t cpu;   /* ran before it was preempted, not yet on the tape */
    int64_t sys_from;
    uint64_t woken_m;
    uint32_t sys_site;
    uint32_t wait; /* the one it is in, or was woken from; REC_NONE */
    uint8_t state; /* enum trace_state */
    bool assist;   /* pays for what it allocates: no work of the program */
    /* deep recordings: */
    uint32_t deed_site;        /* the last that went to the tape, + 1 */
    uint8_t deed;              /* enum rec_deed that began and may wait; DEED_COUNT: none */
    bool spins;                /* in the slow path of a Lock */
    uint8_t within;            /* enum rr_within */
    uint32_t deed_object;      /* of deed */
    uint32_t last_object;      /* of the last that had one; REC_NONE */
    uint32_t io_wait, io_deed; /* of the read that it is in; REC_NONE */
    uint32_t item;             /* + 1: the send or receive that it is in */
    uint32_t receives;         /* object + 1, of an item that is not here yet */
    uint32_t cases[RR_CASES];  /* of the select that it is in: (object + 1) * 2 + sends */
    uint8_t ncases;
    uint32_t select_wait; /* + 1 */
    uint64_t within_at;   /* address of the lock that `within` is about */
    uint64_t cond_mutex;  /* of the Cond.Wait that begins next; 0: not said */
};

struct rr_p {
    int64_t look;    /* the scheduler was here last */
    int64_t since;   /* running since */
    int64_t stopped; /* < 0: never */
    uint64_t stopped_m;
    bool running;
    bool busy; /* at `look` the scheduler found a goroutine */
};

struct rr_m {
    uint32_t g;       /* that it ran last */
    int64_t other_at; /* when it last began to run another than before */
    int64_t stopped;  /* its goroutine left at that time, and it has run no other; < 0 */
    bool got_p;       /* it got a P just now */
};

/* The wake that may have started an idle P. */
struct rr_may {
    bool set, is_g;
    uint32_t number; /* of the goroutine that was made, or of the wait */
    int64_t time;
    uint64_t m;
};

struct rr {
    struct recording *r;
    struct sites sites;
    const char *window;
    int64_t from, to;
    int64_t zero, now, opened; /* the trace's own time of its begin; times since then */
    bool begun, open, closed;
    struct rr_g *gs;
    uint32_t ngs, gs_room;
    struct rr_p *ps;
    uint32_t nps, ps_room;
    struct rr_m *ms;
    uint32_t nms, ms_room;
    struct map p_numbers, m_numbers;
    /* Waits for a P of goroutines of which nobody knows yet whether they are the program's. */
    struct rr_runq {
        int64_t ns;
        uint32_t g;
    } * runq;
    size_t nrunq, runq_room;
    struct map objects; /* address -> object + 1 */
    struct map afters;  /* address of a timer -> AfterFunc + 1 */
    uint32_t running_ps;
    struct rr_may may;
    int64_t heap; /* bytes on it, as far as was said; < 0: not yet */
};

/* Time that it ran goes to the tape, then the entry. */
void rr_did(struct rr *b, uint32_t g, enum rec_what what, uint64_t a, uint64_t at);

void rr_deed(struct rr *b, uint32_t g, uint64_t deed, uint64_t object, uint32_t site);

/* ---- record_deeds.c ---- */
void rr_op(struct rr *b, uint32_t g, uint64_t address, const char *text, uint32_t site);
/* A wait begins: is it the one of the deed that g is in? */
void rr_wait_begins(struct rr *b, uint32_t g, uint32_t wait);
/* The wait is over. */
void rr_wait_ends(struct rr *b, uint32_t g);
void rr_ops_release(struct rr *b);

#endif
