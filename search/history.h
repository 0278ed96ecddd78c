/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_HISTORY_H
#define GMPSIM_SEARCH_HISTORY_H

/* A finding's run, turn by turn: what each goroutine did to what, what it read from whom, who is
 * stuck at the end and who holds what it waits for; and which two turns' order decides. Of
 * granularity sync: at op, a run is operations of Ms (ex_trace). */

#include <stdio.h>

#include "search/hunt.h"

enum {
    HISTORY_ROWS_MAX = 4000,
    HISTORY_HOLDS_MAX = 1000,
    HISTORY_GS_MAX = 64,
    HISTORY_PAIRS_MAX = 4
};

enum { ROW_NONE = -1 };

struct history_row {
    uint32_t goid; /* 0: time passes */
    uint32_t pc, line;
    uint16_t op;
    bool resumes;     /* the second half: what it waited for has come */
    bool waits;       /* the goroutine has to wait in this instruction */
    bool reads;       /* changes nothing that others can see */
    bool switched;    /* another goroutine than before */
    bool preempts;    /* ... though that one could have gone on */
    int32_t from;     /* row of the write or send whose value this reads */
    int32_t woken_by; /* row that ended its wait */
    bool chose;       /* a select that has ended: */
    int64_t took;     /* its case, from 0; -1: the default */
    const char *last; /* the end of the program came in this turn: how; else NULL */
    bool fatal;       /* ... by Go's fatal error, in the middle of the instruction */
    uint8_t count;
    int32_t object[TURN_OBJECTS_MAX]; /* handles, or enum turn_object */
    char what[48], on[80];            /* "lock", "a" */
    char state[112];                  /* "free -> locked", "= 5" */
};

struct history_g {
    uint32_t goid;
    char name[64];
    uint32_t begun_by; /* row of its go statement; only if there is one */
    int32_t first;     /* its first row */
};

struct history_holder {
    uint32_t goid, line;
    int32_t row; /* where it got it */
};

enum { HOLDERS_SHOWN = 4 };

struct history_stuck {
    uint32_t goid, line;
    char name[64], reason[64], on[160], state[64];
    int32_t since; /* row; ROW_NONE: before the first */
    int64_t object;
    bool leaked; /* nobody can ever wake it */
    uint8_t holders;
    struct history_holder holder[HOLDERS_SHOWN];
};

/* A lock that was taken: before which row its goroutine did not have it. */
struct history_hold {
    int64_t object;
    uint32_t goid;
    int32_t row;
    bool shared;
};

enum decides {
    DECIDES_ORDER,  /* two rows: the other way round the run does not end like this */
    DECIDES_BEFORE, /* a row, and what somebody else does first when its goroutine is held back */
    DECIDES_CHOICE  /* a row that took one of several cases */
};

struct history_pair {
    enum decides kind;
    int32_t first, second;    /* second ROW_NONE: it does not come in this run, or is a choice */
    struct history_row other; /* what comes in place of `second`, if there is none */
    uint32_t others;          /* of DECIDES_BEFORE: so many more like it have to come first */
    char instead[40];         /* how it ends then; "" for well */
};

struct history {
    const struct program *program;
    struct history_row *rows;
    size_t count;
    bool cut; /* there were more rows */
    struct history_g gs[HISTORY_GS_MAX];
    size_t ngs;
    struct history_stuck *stuck;
    size_t nstuck;
    struct history_hold *holds;
    size_t nholds;
    struct history_pair pair[HISTORY_PAIRS_MAX];
    size_t npairs;
    uint64_t flips;  /* orders that were turned round and run */
    bool flips_done; /* all that there are */
    char *trace;     /* of op: the operations, a column per M; NULL */
    char cycle[400]; /* "g7 -> b -> g8 -> a -> g7", "" if there is none */
};

/* Does the finding again and watches. False: f says why not. flips_max: a budget for the search of
 * pairs. */
bool history_make(struct failure *f, const struct finding *x, uint64_t flips_max,
                  struct history *h);
/* Does it again and prints every atomic operation, the last rows_max; 0: all that are kept. */
bool history_trace_ops(struct failure *f, const struct finding *x, FILE *to, size_t rows_max);
void history_free(struct history *h);

/* The page as text. file: the scenario's path as the user gave it. rows_max: rows shown, the last
 * ones; 0: all. */
void history_print(FILE *to, const struct history *h, const char *file, size_t rows_max);
void history_print_stuck(FILE *to, const struct history *h, const char *file);
/* One line of what decides, without its full stop. */
void history_pair_text(const struct history *h, const struct history_pair *p, char *buf,
                       size_t size);
/* What a goroutine is about to do in the explorer's world, as a row without states. */
void history_row_of(const struct program *p, const struct turn_does *d, struct history_row *r);
/* One line of a row: "lock b: free -> locked". */
void history_row_text(const struct history *h, const struct history_row *r, char *buf, size_t size);
/* "g7 one", in one of four static buffers. */
const char *history_g_name(const struct history *h, uint32_t goid);

/* In the order of the rows: the column of a goroutine, -1: it has none. */
int history_column(const struct history *h, uint32_t goid);

#endif
