/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_COMPILE_H
#define GMPSIM_SCENARIOS_COMPILE_H

/* The compiler's own state. Private to scenarios/. From a file to a program:
 *
 *   json.c       text to values with places
 *   scenario.c   the document's top level
 *   objects.c    durations, arrivals, objects         \
 *   read_expr.c  expressions                           > values to the tree (tree.h)
 *   read.c       statements, blocks, functions        /
 *   emit.c       the tree to a program (program/build.h), by the rows of statements.h
 *   emit_expr.c  expressions
 *   expect.c     what must hold at the end
 *   gengo*.c     the tree to Go
 *
 * The reader complains about names and words; the builder about values that a use does not take. */

#include "program/build.h"
#include "scenarios/json.h"
#include "scenarios/scenario.h"
#include "scenarios/statements.h"
#include "scenarios/tree.h"

enum { LOCALS_MAX = 200, LOOPS_MAX = 32, OBJECTS_MAX = 1 << 20 };

struct loop {
    int on_break, on_continue; /* labels */
};

struct cc {
    struct json *doc;
    struct scenario *s;
    struct pool *pool;
    struct build b;
    struct tree tree;
    int32_t main;
    bool has_jitter;
    int32_t jitter; /* its distribution */
    struct texts thing_names;

    /* the function in work: names in scope; blocks nest, leaving one forgets its names */
    struct name *locals[LOCALS_MAX];
    uint32_t nlocals;
    struct loop loops[LOOPS_MAX];
    uint32_t nloops;

    int32_t *calls; /* which function names which */
    uint32_t ncalls, calls_cap;
};

/* ---- objects.c ---- */
void read_objects(struct cc *c, const cJSON *objects);
const struct shape *read_shape(struct cc *c, const cJSON *spec);
const struct dist_spec *read_distribution(struct cc *c, const cJSON *o);
int32_t build_arrivals_of(struct cc *c, const struct arrivals_spec *s);
const struct thing *thing_find(const struct cc *c, const char *name);
/* Letters, digits and _, not first a digit. */
bool name_ok(const char *s);

/* ---- read_expr.c ---- */
struct expr *read_value(struct cc *c, const cJSON *value); /* number, bool, or text */
struct exprs read_values(struct cc *c, const cJSON *list); /* NULL: none */
/* A name that people give to something and see in reports: no control characters. */
const char *read_label(struct cc *c, const cJSON *value);
struct name *local_find(const struct cc *c, const char *text);

/* ---- read.c ---- */
int32_t func_add(struct cc *c, const char *name, struct name **params, uint32_t nparams,
                 const cJSON *at, const cJSON *body);
struct name *name_new(struct cc *c, const char *text);
void read_functions(struct cc *c); /* all, those they define inside as well */

/* ---- emit.c ---- */
void emit_program(struct cc *c);
void emit_block(struct cc *c, struct stmt *list);
/* The register of a name that gets something, with what it may hold then. */
uint8_t emit_name(struct cc *c, struct name *n, struct place at, uint32_t kinds);
/* The register of a statement's word, NOREG without it. */
uint8_t emit_into(struct cc *c, const struct stmt *s, const char *key, uint32_t kinds);
/* What an instruction names: the object, or a register with its handle. */
struct target {
    int32_t obj;
    uint8_t reg;
};
struct target emit_object(struct cc *c, const struct expr *x, uint32_t kinds);
/* How long: a distribution d, a register b, or imm. */
struct drawn {
    int32_t d;
    uint8_t b;
    int64_t imm;
};
struct drawn emit_amount(struct cc *c, const struct part *p);
struct drawn emit_drawn(struct cc *c, const struct part *p);
/* Arguments in registers one after the other; gives the first. */
uint8_t emit_arguments(struct cc *c, const struct exprs *args);
uint8_t emit_callee(struct cc *c, const struct callee *f);
void emit_enter_loop(struct cc *c, int on_break, int on_continue);

/* ---- emit_expr.c ---- */
/* A register with the value; a local gives its own. */
uint8_t emit_value(struct cc *c, const struct expr *x);
void emit_value_to(struct cc *c, const struct expr *x, uint8_t reg);
/* Jumps to label if the condition is false. */
void emit_unless(struct cc *c, const struct expr *condition, int label);

/* ---- expect.c ---- */
const struct expect *compile_expect(struct cc *c, const cJSON *list);
/* The same with "always". */
const struct expect *compile_bugs(struct cc *c, const cJSON *list);

/* ---- scenario.c ---- */
/* A profile or a list of them; gives how many. */
int compile_profiles(struct cc *c, const cJSON *v, int *out);

#endif
