/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_GOTRACE_INT_H
#define GMPSIM_REPLAY_GOTRACE_INT_H

/* What the two files of the writer share: gotrace.c knows what the events mean, gotrace_file.c how
 * they lie in the file. */

#include <stdio.h>

#include "replay/gotrace.h"
#include "replay/trace_int.h"

enum { OUT_BATCH = 65536, OUT_EVENT_MAX = 64, NO_CODE = 0 };

/* A batch in the making: of a thread, or of a table. */
struct out_batch {
    uint8_t *bytes; /* OUT_BATCH */
    size_t size;
    uint64_t begin, last; /* times of its beginning and of its last event */
};

struct out_g {
    uint64_t id, seq;
    uint32_t generation; /* in which its status was last said */
    uint8_t status;
    bool assist;
    uint64_t m;         /* on which it runs or is in a system call */
    struct out_g *next; /* of all that live */
    struct out_g *prev;
};

struct out_p {
    uint64_t id, seq;
    uint32_t generation;
    uint8_t status;
    bool sweeping;
    struct out_p *next;
};

struct out_m {
    uint64_t id;
    struct out_g *g;
    struct out_p *p;
    uint32_t generation; /* in which what it holds was last said */
    struct out_batch batch;
    struct out_m *next;
};

/* Numbers of a table, as the generation has them. */
struct out_ids {
    uint32_t *ids;  /* by number of the table: the generation's number, 0: not used yet */
    uint32_t *used; /* by the generation's number, from 1 on: the table's */
    size_t room, count, used_room;
};

struct gotrace {
    FILE *out;
    char *path, *buffer;
    const struct names *names;
    const struct stacks *stacks;
    struct gotrace_opts opts;
    struct id_table gs, ps, ms;
    struct out_g all_gs; /* ring */
    struct out_p *all_ps;
    struct out_m *all_ms;
    struct out_m nobody; /* thread TRACE_NONE */
    struct out_batch samples;
    struct out_ids strings, stack_ids;
    uint32_t generation; /* 0: none is open */
    uint64_t generation_size;
    int64_t generation_begin, first_time;
    uint64_t now;  /* time of the event at hand */
    uint64_t said; /* time for statuses that it needs */
    uint64_t gc_seq;
    bool gc_on, gc_said;
    uint64_t written; /* time of the last event in the file */
    bool writing;     /* or only keeping state */
    bool skipped;     /* something came before the part that is written */
    bool settled;     /* the first generation that was read is over: nobody appears unannounced */
    bool failed;
};

/* ---- gotrace_file.c ---- */

bool out_open(struct gotrace *w, struct failure *f, const char *path);
bool out_close(struct gotrace *w, struct failure *f);
/* An event of the thread, now. */
void out_event(struct gotrace *w, struct out_m *m, enum trace_wire type, int nargs,
               const uint64_t *args);
void out_sample(struct gotrace *w, const struct trace_event *e);
uint64_t out_string(struct gotrace *w, uint32_t string);
uint64_t out_stack(struct gotrace *w, uint32_t stack);
void out_generation_begin(struct gotrace *w);
/* Batches, tables, and the mark of the end. */
void out_generation_end(struct gotrace *w);

#endif
