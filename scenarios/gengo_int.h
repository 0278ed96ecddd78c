/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_GENGO_INT_H
#define GMPSIM_SCENARIOS_GENGO_INT_H

/* What the files of the Go generator share. The scenario was loaded before: nothing is checked
 * again.
 *
 *   gengo.c       the file: objects, functions, main
 *   gengo_ticks.c locals that are a timer's channel
 *   gengo_expr.c  expressions, and gofmt's rule for blanks in them
 *   gengo_call.c  calls, now and later
 *   gengo_stmt.c  statements */

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
    struct json doc;
    struct pool *pool;
    FILE *out;
    const cJSON *objects;
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

/* gengo.c */
__attribute__((format(printf, 2, 3))) void gen_line(struct gen *g, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) const char *gen_text(struct gen *g, const char *fmt, ...);
const char *gen_quote(struct gen *g, const char *s);
const char *gen_name(struct gen *g, const char *name); /* free of Go's own words */
const char *gen_func_name(struct gen *g, const char *name);
enum object_kind gen_kind(const struct gen *g, const char *name); /* OBJ_KINDS: no object */
struct node *gen_made(struct gen *g, const cJSON *spec);

/* gengo_ticks.c */
/* {"set": NAME, "value": "timer.C"}: is the name nothing but that channel in the whole file? Then
 * it is remembered, and the expression of the channel given; else NULL. */
const char *gen_new_ticks(struct gen *g, const char *name, const cJSON *value);
bool gen_is_ticks(const struct gen *g, const char *name);

/* gengo_expr.c */
struct node *gen_leaf(struct gen *g, const char *text);
struct node *gen_call(struct gen *g, const char *function, struct node *a, struct node *b,
                      struct node *c);
struct node *gen_value(struct gen *g, const cJSON *v); /* NULL gives 0 */
struct node *gen_int(struct gen *g, struct node *n);
struct node *gen_bool(struct gen *g, struct node *n);
struct node *gen_amount(struct gen *g, const cJSON *v); /* nanoseconds */
const char *gen_show(struct gen *g, const struct node *n, int depth);

/* gengo_call.c */
const char *gen_arguments(struct gen *g, const cJSON *list);
/* A call of a function by name, or of a body in place with copies of the names around it. Without a
 * suffix: the function itself, for a body in place. */
void gen_call_line(struct gen *g, const char *prefix, const cJSON *callee, const cJSON *args,
                   const char *suffix);
/* A value of type func() that calls with the arguments of now. */
void gen_later_line(struct gen *g, const char *prefix, const cJSON *callee, const cJSON *args);

/* gengo_stmt.c */
void gen_inner(struct gen *g, const cJSON *list);
void gen_block(struct gen *g, const cJSON *list);
bool gen_ends(const cJSON *list);
void gen_define(struct gen *g, const char *name);

#endif
