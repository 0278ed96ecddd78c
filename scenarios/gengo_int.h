/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_GENGO_INT_H
#define GMPSIM_SCENARIOS_GENGO_INT_H

/* What the files of the Go generator share, and the functions beside the rows of statements. They
 * see the tree alone (tree.h), in which everything has been checked.
 *
 *   gengo.c       the file: objects, functions, main
 *   gengo_names.c names and texts that Go takes
 *   gengo_ticks.c locals that are a timer's channel
 *   gengo_expr.c  expressions, and gofmt's rule for blanks in them
 *   gengo_call.c  calls, now and later
 *   gengo_stmt.c  statements by their row, loops, blocks */

#include <stdio.h>

#include "scenarios/compile.h"

enum { GEN_NAMES = 256 };

/* An expression of Go. */
struct node {
    const char *text; /* of a leaf, or the operator, or the function */
    struct node *args[4];
    int nargs;
    int prec;     /* of a binary operator, 0: none */
    bool unary;   /* text is a prefix of args[0] */
    bool is_bool; /* a Go bool, not an int64 */
};

struct gen {
    const struct tree *tree;
    const struct build *b;
    struct pool *pool;
    FILE *out;
    int indent;
    unsigned temps;
    const char *names[GEN_NAMES]; /* in scope */
    int nnames;
    const char *ticks[GEN_NAMES]; /* locals that are the channel of a timer, not handles */
    int nticks;
    const char *label; /* of the innermost loop */
    bool returns;      /* the function has a result */
};

/* gengo.go.txt as a string, made by CMake: what every program is made of. */
extern const char gengo_helpers[];
/* gengo_measure.go.txt likewise: the second file of one that is measured. */
extern const char gengo_measure[];

/* gengo.c */
__attribute__((format(printf, 2, 3))) void gen_line(struct gen *g, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) const char *gen_text(struct gen *g, const char *fmt, ...);
struct node *gen_made(struct gen *g, const struct shape *o);

/* gengo_names.c */
const char *gen_quote(struct gen *g, const char *s);   /* a string literal */
const char *gen_comment(struct gen *g, const char *s); /* the rest of a line behind "//" */
const char *gen_name(struct gen *g, const char *name); /* free of Go's own words, and ours */
const char *gen_func_name(struct gen *g, int32_t f);
const char *gen_object_name(struct gen *g, int32_t object);
const struct thing *gen_thing_of(struct gen *g, int32_t object);
bool gen_in_scope(const struct gen *g, const struct name *n);
void gen_define(struct gen *g, const struct name *n);

/* gengo_ticks.c */
/* {"set": NAME, "value": "timer.C"}: is the name nothing but that channel in the whole file? Then
 * it is remembered, and the expression of the channel given; else NULL. */
const char *gen_new_ticks(struct gen *g, const struct name *n, const struct expr *value);
bool gen_is_ticks(const struct gen *g, const struct expr *x);

/* gengo_expr.c */
struct node *gen_leaf(struct gen *g, const char *text);
struct node *gen_call(struct gen *g, const char *function, struct node *a, struct node *b,
                      struct node *c);
struct node *gen_value(struct gen *g, const struct expr *x);
struct node *gen_int(struct gen *g, struct node *n);
struct node *gen_bool(struct gen *g, struct node *n);
struct node *gen_amount(struct gen *g, const struct amount *a); /* nanoseconds, bytes */
const char *gen_show(struct gen *g, const struct node *n, int depth);
/* An object: its Go variable, or by its handle; `kind` of a handle of which nothing is known. */
const char *gen_object(struct gen *g, const struct expr *x, enum object_kind kind, int depth);
const char *gen_address(struct gen *g, const struct expr *x);  /* of a variable */
const char *gen_variable(struct gen *g, const struct expr *x); /* itself */
/* Where values come from: 'v' values, 't' times of a timer, 'd' a context's end. */
const char *gen_source(struct gen *g, const struct expr *x, char *kind);

/* gengo_call.c */
const char *gen_arguments(struct gen *g, const struct exprs *list);
/* A call of a function by name, or of a body in place with copies of the names around it. Without a
 * suffix: the function itself, for a body in place. */
void gen_call_line(struct gen *g, const char *prefix, const struct callee *f, const char *suffix);
/* A value of type func() that calls with the arguments of now, and ")". */
void gen_later_line(struct gen *g, const char *prefix, const struct callee *f);

/* gengo_stmt.c */
/* The name gets the value; a new one is declared. */
void gen_assign(struct gen *g, const struct name *n, struct node *value);
/* The names of a statement get the results of a call, of which they may want none. */
void gen_results(struct gen *g, const struct stmt *s, const char *call);
/* A loop with the head that is given; before: a line at the beginning of its body. */
void gen_loop(struct gen *g, const struct stmt *s, const char *head, const char *before);
/* The body so many times, with "index"; NULL: the statement's "do" is the body. */
void gen_counted(struct gen *g, const struct stmt *s, const struct expr *count,
                 void (*body)(struct gen *, const struct stmt *));
void gen_inner(struct gen *g, const struct stmt *list);
void gen_block(struct gen *g, const struct stmt *list);
bool gen_ends(const struct stmt *list);

/* stmt_flow.c: how often, into a register. */
uint8_t emit_rounds(struct cc *c, const struct part *p);

#endif
