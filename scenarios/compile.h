/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_COMPILE_H
#define GMPSIM_SCENARIOS_COMPILE_H

/* The compiler's own state: a program that grows, and the function being compiled. Private to
 * scenarios/.
 *
 *   scenario.c  the document's top level       objects.c  objects, distributions, arrivals
 *   stmt.c      statements                     expr.c     expressions
 *   emit.c      tables, code, labels           expect.c   what must hold at the end
 *   kinds.c     what registers hold */

#include "scenarios/json.h"
#include "scenarios/pool.h"
#include "scenarios/scenario.h"

enum { FUNCS_MAX = 4096, LOCALS_MAX = 200, LOOPS_MAX = 32 };

/* Names of one table by their text, so that a large file does not take quadratic time. */
struct names {
    uint32_t *slots; /* index + 1, 0 empty */
    uint32_t cap, count;
};

/* A name with a register. Blocks nest: leaving one forgets its names. */
struct local {
    const char *name;
    uint8_t reg;
};

struct loop {
    int on_break, on_continue; /* labels */
};

struct funcdef {
    const char *name;
    const cJSON *body;   /* array of statements */
    const cJSON *at;     /* where it is defined, for messages */
    const char **params; /* names */
    uint32_t nparams;
    uint32_t vars;                 /* of the parameters (kinds.c), 0: none yet */
    uint32_t first_call, end_call; /* the functions it names: cc.calls */
    bool reached;
};

struct cc {
    struct json *doc;
    struct scenario *s;
    struct pool *pool;

    /* tables that grow; program points at them in the end */
    struct insn *code;
    uint32_t *lines;
    uint32_t code_cap;
    struct func *funcs;
    struct funcdef *defs;
    uint32_t funcs_cap;
    struct object_decl *objects;
    struct select_table *selects;
    struct select_case *cases;
    const char **strings, **groups, **spans;
    struct names string_names, group_names, span_names, object_names, func_names;
    const struct dist **dists;
    struct arrivals *arrivals;
    uint32_t objects_cap, selects_cap, cases_cap, strings_cap, groups_cap, spans_cap, dists_cap,
        arrivals_cap;

    /* the function being compiled */
    struct local locals[LOCALS_MAX];
    uint32_t nlocals;
    uint8_t next_reg; /* registers below are locals or temporaries in use */
    uint16_t max_regs;
    struct loop loops[LOOPS_MAX];
    uint32_t nloops;
    int32_t *labels; /* instruction, -1 not placed */
    uint32_t nlabels, labels_cap;
    uint32_t *fixups; /* instructions whose d is a label */
    uint32_t nfixups, fixups_cap;
    uint32_t line; /* of the statement in work */

    /* what names what (stmt.c), and what holds what (kinds.c) */
    int32_t *calls;
    uint32_t ncalls, calls_cap;
    uint32_t var_of[256]; /* of the register as it is used now */
    uint32_t *kinds;      /* by variable */
    struct flow *flows;
    struct want *wants;
    uint32_t nkinds, kinds_cap, nflows, flows_cap, nwants, wants_cap;
};

/* ---- emit.c ---- */
/* Room for one more element of a table that has `count`. */
#define GROW(c, field, count)                                                           \
    do {                                                                                \
        if ((count) == (c)->field##_cap) {                                              \
            uint32_t cap_ = (c)->field##_cap != 0 ? (c)->field##_cap * 2 : 16;          \
            (c)->field = pool_grow((c)->pool, (c)->field, (count) * sizeof *(c)->field, \
                                   cap_ * sizeof *(c)->field);                          \
            (c)->field##_cap = cap_;                                                    \
        }                                                                               \
    } while (0)

uint32_t emit_op(struct cc *c, enum op op, int a, int b, int rc, int32_t d, int64_t imm);
int label_new(struct cc *c);
void label_place(struct cc *c, int label);
void emit_jump(struct cc *c, enum op op, int a, int b, int64_t imm, int label);
void labels_resolve(struct cc *c);
int32_t add_string(struct cc *c, const char *s);
int32_t add_group(struct cc *c, const char *s);
int32_t add_span(struct cc *c, const char *s);
int32_t add_dist(struct cc *c, const struct dist *d);
uint8_t reg_new(struct cc *c, const cJSON *at);
uint8_t local_new(struct cc *c, const cJSON *at, const char *name);
/* Index of a name in its table, -1. */
int32_t names_find(const struct names *n, const char *const *texts, size_t stride, const char *s);
void names_add(struct cc *c, struct names *n, const char *const *texts, size_t stride,
               uint32_t index);
/* The name in scope (local or object) nearest to a wrong one, NULL. */
const char *name_nearest(struct cc *c, const char *wrong);
/* Letters, digits and _, not first a digit. */
bool name_ok(const char *s);
uint8_t local_shadow(struct cc *c, const cJSON *at, const char *name);
const struct local *local_find(const struct cc *c, const char *name);
int32_t func_find(const struct cc *c, const char *name);
int32_t func_add(struct cc *c, const char *name, const cJSON *at, const cJSON *body);

/* ---- objects.c ---- */
void compile_objects(struct cc *c, const cJSON *objects);
int32_t object_find(const struct cc *c, const char *name);
const char *object_kind_name(enum object_kind kind);
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

/* ---- kinds.c ---- */
/* What a register may hold: a bit per kind of object, and these. */
enum { KIND_ANY = 1, KIND_NUMBER = 1 << 16, KIND_TEXT = 1 << 17, KIND_RECV = 1 << 18 };
#define KIND(object) (1u << (object))
void kind_new(struct cc *c, uint8_t reg);
void kind_param(struct cc *c, uint8_t reg, int32_t f, uint32_t param);
void kind_is(struct cc *c, uint8_t reg, uint32_t kinds);
void kind_flow(struct cc *c, uint8_t from, uint8_t to);
void kind_pass(struct cc *c, uint8_t from, int32_t f, uint32_t param);
void kind_want(struct cc *c, const cJSON *at, uint8_t reg, uint32_t fits);
void kinds_check(struct cc *c);

/* ---- stmt.c ---- */
/* The function in work starts or calls this one. */
void func_use(struct cc *c, int32_t f);
void compile_functions(struct cc *c); /* all of c->defs, those they define inside as well */
extern const char *const statement_verbs[];

/* ---- expect.c ---- */
const struct expect *compile_expect(struct cc *c, const cJSON *list);

/* ---- scenario.c ---- */
/* A profile or a list of them; gives how many. */
int compile_profiles(struct cc *c, const cJSON *v, int *out);

#endif
