/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_COMPILE_H
#define GMPSIM_SCENARIOS_COMPILE_H

/* The compiler's own state: a program in work (program/build.h), and the function being compiled.
 * Private to scenarios/.
 *
 *   scenario.c  the document's top level       objects.c  objects, distributions, arrivals
 *   stmt.c      statements                     expr.c     expressions
 *   names.c     names and functions            expect.c   what must hold at the end */

#include "program/build.h"
#include "scenarios/json.h"
#include "scenarios/scenario.h"

enum { LOCALS_MAX = 200, LOOPS_MAX = 32 };

/* A name with a register. Blocks nest: leaving one forgets its names. */
struct local {
    const char *name;
    uint8_t reg;
};

struct loop {
    int on_break, on_continue; /* labels */
};

struct funcdef {
    const cJSON *body;             /* array of statements */
    const cJSON *at;               /* where it is defined, for messages */
    const char **params;           /* names, as many as the function has */
    uint32_t first_call, end_call; /* the functions it names: cc.calls */
    bool reached;
};

struct cc {
    struct json *doc;
    struct scenario *s;
    struct pool *pool;
    struct build b;
    struct funcdef *defs; /* by function */
    uint32_t defs_cap;

    /* the function being compiled */
    struct local locals[LOCALS_MAX];
    uint32_t nlocals;
    struct loop loops[LOOPS_MAX];
    uint32_t nloops;

    int32_t *calls; /* what names what (stmt.c) */
    uint32_t ncalls, calls_cap;
};

/* ---- names.c ---- */
uint8_t reg_new(struct cc *c, const cJSON *at);
void want_kind(struct cc *c, const cJSON *at, uint8_t reg, uint32_t fits);
uint8_t local_new(struct cc *c, const cJSON *at, const char *name);
/* The name in scope (local or object) nearest to a wrong one, NULL. */
const char *name_nearest(struct cc *c, const char *wrong);
/* Letters, digits and _, not first a digit. */
bool name_ok(const char *s);
uint8_t local_shadow(struct cc *c, const cJSON *at, const char *name);
const struct local *local_find(const struct cc *c, const char *name);
int32_t func_add(struct cc *c, const char *name, const char **params, uint32_t nparams,
                 const cJSON *at, const cJSON *body);

/* ---- objects.c ---- */
void compile_objects(struct cc *c, const cJSON *objects);
/* A duration: gives the distribution's index, or -1 and *ns. */
int32_t compile_duration(struct cc *c, const cJSON *value, int64_t *ns);
bool compile_make(struct cc *c, const cJSON *spec, enum object_kind *kind, int64_t *param);

/* ---- expr.c ---- */
/* Evaluates a value (number, bool, or an expression in a string) into a register; a local gives its
 * own. */
uint8_t compile_value(struct cc *c, const cJSON *value);
void compile_value_to(struct cc *c, const cJSON *value, uint8_t reg);
bool constant_value(const cJSON *value, int64_t *out);
/* Jumps to label if the condition is false. */
void compile_unless(struct cc *c, const cJSON *condition, int label);

/* ---- stmt.c ---- */
/* The function in work starts or calls this one. */
void func_use(struct cc *c, int32_t f);
void compile_functions(struct cc *c,
                       int32_t main); /* all of c->defs, those they define inside as well */
extern const char *const statement_verbs[];

/* ---- expect.c ---- */
const struct expect *compile_expect(struct cc *c, const cJSON *list);

/* ---- scenario.c ---- */
/* A profile or a list of them; gives how many. */
int compile_profiles(struct cc *c, const cJSON *v, int *out);

#endif
