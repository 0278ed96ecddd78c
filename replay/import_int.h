/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_IMPORT_INT_H
#define GMPSIM_REPLAY_IMPORT_INT_H

/* A scenario while it is made of a recording (import.c and import_*.c). */

#include <stdio.h>

#include "replay/import.h"
#include "replay/numbers.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"
#include "sim/base/pool.h"

/* Exit status of a run that came to where nobody knows what comes next. */
#define IMP_UNKNOWN   125
#define IMP_TEXT(x)   #x
#define IMP_STATUS(x) IMP_TEXT(x)
#define IMP_CUT       "{\"exit\": " IMP_STATUS(IMP_UNKNOWN) "}"
/* Cases of selects: nothing else goes on, and that ends the schedule; ... and the goroutine. */
#define IMP_CAN_STOP  "{\"recv\": \"giveup\", \"do\": [" IMP_CUT "]}"
#define IMP_CAN_LEAVE "{\"recv\": \"leave\", \"do\": [{\"return\": null}]}"

enum { IMP_LINE = 8192, IMP_CASES = 64, IMP_HELD = 16 };

/* Statements by number, in order. */
struct imp_seq {
    uint32_t *ids, count, room;
};

/* What is known of an object before anything is written. */
struct imp_object {
    bool used;
    bool called;    /* of a Once */
    bool real_cond; /* somebody signals it who has not held its mutex: a signal can be lost */
    bool pinned;    /* a channel whose items go from the recorded sender to the recorded receiver */
    bool multi_s, multi_r;
    uint32_t sender, receiver, received;
    bool told; /* somebody uses it who knows it by a value (import_made.c) */
    uint32_t made_by, made_deed;
    uint32_t maker, alias;     /* of a timer's channel; the first of those that are made there */
    uint64_t guards[IMP_HELD]; /* locks held when it was closed, + 1 */
    uint32_t guarded;          /* so many sends under one of them */
};

/* A case of the select that the goroutine is in. */
struct imp_case {
    uint32_t object;
    bool sends;
};

/* The goroutine gives the object back there. */
struct imp_at {
    uint32_t g, deed, object;
    int64_t time;
};

/* At a deed: the way is opened, or waited for; `next` is one more there + 1. */
struct imp_gate {
    uint32_t gate, next;
    bool opens;
};

/* A statement with others in it: a head, sequences between two texts each, a tail. */
struct imp_part {
    const char *open, *close;
    struct imp_seq seq;
};
struct imp_block {
    const char *head, *tail;
    struct imp_part *parts;
    uint32_t nparts, room;
};

struct imp {
    struct recording *r;
    const struct import_opts *o;
    struct imported *out;
    struct pool *pool;
    struct numbers statements;
    uint32_t *site_of, site_room; /* by statement, + 1 */
    struct imp_block *blocks;     /* by statement; most have no parts */
    uint32_t blocks_room;
    struct imp_seq *of;     /* by goroutine */
    struct imp_seq *once;   /* by object: what its function does */
    struct imp_seq opening; /* what main does first */
    struct imp_seq giver;   /* what ends it where everybody stands, if that is much */
    struct imp_object *objects;
    struct numbers extra; /* objects that we declare besides, as text */
    struct numbers bodies, names;
    uint32_t *body_g, body_room; /* whose body it is */
    const char **body_name;
    bool *body_started;
    uint32_t *name_count, name_room;
    uint32_t *func_of;         /* by goroutine: the body */
    uint32_t *started;         /* by goroutine: after so many deeds of who started it */
    struct map asked_told;     /* (channel, goroutine) */
    uint32_t untold[IMP_HELD]; /* channels that it has made, and nobody else knows */
    int nuntold;
    struct imp_at *given;
    struct imp_gate *gates;
    uint32_t ngiven, given_room, ngates, gates_room, told_ways;
    struct map learned, gate_of, gates_at; /* (channel, goroutine), (channel, object), (g, deed) */
    bool early;                            /* somebody may use a channel before he can know it */
    uint32_t *item_at, *item_next, *write_at, *write_next, *read_at, *read_next;
    uint32_t root;
    bool gives_up, leaves; /* the channels of these names are needed */
    uint32_t blind;        /* sites of Cond.Wait that look at nothing, the first + 1 */
    uint32_t selects, tries, outside, tokens, daemons, pins, guards;
    /* the goroutine that is written: */
    uint32_t g, site, deed, item;
    bool daemon; /* it was blocked when the recording ended */
    struct imp_seq *to;
    struct imp_seq *back[4]; /* within functions of Onces */
    int nback;
    struct imp_case cases[IMP_CASES];
    int ncases;
    bool has_default;
    int64_t cpu, sleeps;
    uint32_t last; /* statements before the last deed */
    uint32_t relock;
    uint32_t io,
        takes; /* a read or write before its system call: the object + 1; reads take so many */
    struct map timer_sites; /* (site, goroutine) -> the first timer that it made there + 1 */
    struct map cpu_classes; /* of what is computed between two statements */
    struct imp_cpu {
        int64_t *ns;
        uint32_t count, room;
        const char *text; /* when all was seen */
    } * cpus;
    uint32_t ncpus, cpus_room;
    bool measures; /* the first time round */
    FILE *text;
    uint32_t line;
};

/* A statement of the goroutine that is written; the text is what stands between the braces. */
__attribute__((format(printf, 2, 3))) void imp_put(struct imp *t, const char *fmt, ...);
/* An object's name, which is declared from now on. */
const char *imp_name(struct imp *t, uint32_t object);
/* Declares "NAME": WHAT if nobody has. */
__attribute__((format(printf, 2, 3))) void imp_declare(struct imp *t, const char *fmt, ...);
bool imp_plays(const struct imp *t, uint32_t g);
/* import_deeds.c: the statements of a goroutine, or of what was there when the recording began. */
void imp_goroutine(struct imp *t, uint32_t g);
void imp_there(struct imp *t);
/* import_known.c */
void imp_know(struct imp *t);
/* The deed is a send, receive or close of this goroutine: sets t->item. */
void imp_item(struct imp *t);
/* import_made.c, when the recording is read: the channel is made, is used; something is given back
 * then; the goroutine uses the channel, and what it took last before is `through`, at that deed and
 * time. When it is written: what keeps its place before this deed; the channel is made, the
 * goroutine gives something back, uses the channel. */
void imp_made(struct imp *t, uint32_t object, uint32_t site);
void imp_uses(struct imp *t, uint32_t object);
void imp_gives(struct imp *t, uint32_t object, int64_t time);
void imp_learns(struct imp *t, uint32_t object, uint32_t through, uint32_t deed, int64_t time);
void imp_gates(struct imp *t);
void imp_is_made(struct imp *t, uint32_t object);
void imp_tells(struct imp *t);
void imp_was_told(struct imp *t, uint32_t object);
/* ... and the goroutine that looks after those who stand. */
void imp_giver(struct imp *t);
/* import.c: its body's name. */
const char *imp_func(struct imp *t, uint32_t g);

/* import.c: kept once, with its number. */
const char *imp_kept(struct imp *t, struct numbers *n, const char *text, uint32_t *number);
/* import.c: a statement of the place at hand. */
uint32_t imp_statement(struct imp *t, const char *text);
/* import_cpu.c: what was computed before a statement, as one; and all of it was seen. */
void imp_compute(struct imp *t);
void imp_measured(struct imp *t);

/* import_fold.c: loops of which the rounds are not the same. */
void imp_fold(struct imp *t, struct imp_seq *s);
/* import_lines.c: one more part, all of it copied; the block, as a statement. */
void imp_part(struct imp *t, struct imp_block *b, const char *open, struct imp_seq seq,
              const char *close);
uint32_t imp_block(struct imp *t, const struct imp_block *b);
/* ... and what is written: the lines of a sequence, or one by itself. */
void imp_lines(struct imp *t, const struct imp_seq *s, bool more);
void imp_line(struct imp *t, const char *text);

/* Only the goroutine that made this timer uses it: it is a timer of the language, with a name. */
static inline bool imp_own_timer(const struct imp *t, uint32_t object)
{
    const struct imp_object *o = &t->objects[object];
    return t->o->readable && o->maker != REC_NONE && !o->multi_r &&
           (o->receiver == REC_NONE || o->receiver == o->maker);
}

static inline void imp_add(struct imp_seq *s, uint32_t id)
{
    X_ROOM(s->ids, s->count, s->room, 64);
    s->ids[s->count++] = id;
}

/* import_source.c: what the source says of a Cond.Wait under the lock that was taken there. */
enum imp_wait { WAIT_UNKNOWN, WAIT_LOOKS, WAIT_BLIND };
enum imp_wait imp_wait_at(const struct rec_site *lock, const struct rec_site *wait);

#endif
