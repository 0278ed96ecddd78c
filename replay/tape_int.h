/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TAPE_INT_H
#define GMPSIM_REPLAY_TAPE_INT_H

/* A program while it is made from a recording (tape.c, tape_deeds.c). */

#include "model/tape.h"
#include "replay/numbers.h"
#include "replay/reason.h"
#include "replay/tape.h"
#include "sim/base/map.h"
#include "sim/base/spill.h"

/* enum trace_state, as rec_g.at_start has it */
enum { STATE_RUNNABLE = 2, STATE_RUNNING = 3, STATE_WAITING = 4 };

enum { TAPE_CASES = 64, TAPE_VALUE = TAPE_FREE + 1 };

/* Tape 0 is empty: what comes out of a closed channel. */
enum { NUMBER_EMPTY, NUMBER_ROOT, NUMBER_OTHERS };

struct stream {
    struct spill bytes;
    size_t used;
};

struct tape_case {
    uint32_t object;
    bool sends;
};

struct tp {
    const struct recording *r;
    const struct tape_opts *o;
    struct stream own, items; /* of goroutines; of what is done with items */
    struct stream *to;
    uint64_t *starts, *item_starts; /* of the tapes in their stream */
    uint32_t ntapes, nitems, items_all;
    struct stream loops; /* rounds by the clock */
    uint64_t *loop_starts;
    uint32_t loops_from, nloops;   /* the number of the first; so many are written */
    const struct rec_loop *loop;   /* of the goroutine; NULL: none */
    uint32_t at;                   /* the entry of its tape */
    uint32_t *item_at, *item_next; /* sends and receives of a goroutine, in order */
    uint32_t *item_tape;           /* of a receive: what is done with the item; 0: nothing */
    struct select_table *selects;  /* of items that come from one of several channels */
    struct select_case *select_cases;
    uint32_t nselects, selects_room, ncases_all, select_cases_room;
    struct map select_of;      /* cases -> select + 1 */
    uint32_t deed;             /* number of the next deed of the goroutine */
    uint32_t *io_at, *io_next; /* reads of a goroutine that take something at once, in order */
    uint32_t io_post;          /* the connection that the next call writes to, REC_NONE */
    uint32_t item;             /* the one that the deed is about, REC_NONE */
    uint32_t relock;           /* mutex that a Cond gave back, REC_NONE */
    uint32_t root;             /* goroutine, REC_NONE: our own */
    uint32_t all, there;       /* wait groups of our own */
    uint32_t *tape_of, *func_of, *start_of; /* by goroutine */
    bool *armed;
    uint32_t nstarts;
    uint32_t *write_at, *write_next; /* writes of a goroutine, in order */
    struct numbers names;
    uint32_t site; /* the one that the tape says, REC_NONE */
    /* of the deed in progress (tape_deeds.c): */
    bool pending; /* it is not put down yet */
    bool spins;   /* for a lock: no demand */
    bool outside; /* its wait was replayed at its time */
    enum op pending_op;
    uint32_t pending_object;
    int64_t pending_value; /* of a send */
    uint32_t pending_item; /* a receive whose item brings a tape; REC_NONE */
    int64_t sleeps;        /* > 0: a sleep so long */
    struct tape_case cases[TAPE_CASES];
    int ncases;
    int64_t cpu, spent; /* of the stretch in progress: it ran; of which it did not work */
    int64_t demand;     /* of the goroutine: permille of what is left is the program's */
};

void tape_emit(struct tp *t, enum op op, int a, int b, int c, int32_t d, int64_t imm);
void tape_emit_obj(struct tp *t, enum op op, uint32_t object);
/* A wait whose deed is left out: as it was recorded. */
static inline bool tape_is_token(const struct tp *t, const struct rec_wait *w)
{
    bool left_out = w->object != REC_NONE && t->r->objects[w->object].tokens;
    return w->level == 3 && (t->o->no_deep || left_out);
}
void tape_burn(struct tp *t);
void tape_take(struct tp *t, uint32_t object, uint32_t writes);
void tape_pending(struct tp *t);
/* tape_items.c */
void tape_items_number(struct tp *t, uint32_t first);
void tape_items_release(struct tp *t);
/* The deed that comes now: sets t->item. */
void tape_item(struct tp *t, uint32_t g);
bool tape_item_is_dealt(const struct tp *t);
void tape_item_begin(struct tp *t);
void tape_item_end(struct tp *t);
int64_t tape_item_value(const struct tp *t);
/* The select that receives the pending item, or one of another of its channels; -1: it comes from
 * one alone. */
int32_t tape_item_select(struct tp *t);
void tape_deep(struct tp *t, uint32_t g, uint64_t a, uint64_t b);
bool tape_is_outside(const struct tp *t, const struct rec_wait *w);
void tape_objects_there(struct tp *t);
/* infer_syscalls.c: does the call wait in the kernel, or use a CPU? */
bool tape_is_off_cpu(const struct recording *r, uint32_t site, int64_t ns);

#endif
