/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PROGRAM_BUILD_H
#define GMPSIM_PROGRAM_BUILD_H

/* The builder of programs (model/prog.h): tables that grow, functions, code with labels, registers
 * and what they may hold. Whoever has a program in some other form writes it through this: the
 * scenario language, the tests' assembler, a recorded trace, later Go source.
 *
 *     struct mistakes m = {.f = &failure};
 *     if (setjmp(m.jump) != 0)
 *         return NULL;                             // failure.text has the place and the reason
 *     struct build b;
 *     build_init(&b, pool, &m);
 *     int32_t ch = build_object(&b, OBJ_CHAN, 0, "jobs");
 *     int32_t f = build_func(&b, "worker", 1, at); // declared, with one parameter: register 0
 *     build_enter(&b, f);
 *         b.line = 7;                              // of the instructions that follow
 *         build_op(&b, OP_RECV, build_reg(&b, at), NOREG, 0, ch, 0);
 *         build_op(&b, OP_RET, NOREG, 0, 0, 0, 0);
 *     build_leave(&b);
 *     ...
 *     const struct program *p = build_done(&b, main, at);
 *
 * Functions are entered in the order of their numbers, one at a time. All memory is the pool's, so
 * the program lives as long as that. */

#include <stdbool.h>
#include <stdint.h>

#include "model/prog.h"
#include "program/place.h"
#include "sim/base/pool.h"

enum { BUILD_FUNCS_MAX = 4096 };

/* Names of one table by their text, so that a large program does not take quadratic time. */
struct names {
    uint32_t *slots; /* index + 1, 0 empty */
    uint32_t cap, count;
};

struct texts {
    const char **text;
    uint32_t count, cap;
    struct names names;
};

struct build {
    struct pool *pool;
    struct mistakes *mistakes;
    struct program p; /* how many of each there are; build_done adds the rest */

    struct insn *code;
    uint32_t *lines;
    struct func *funcs;
    struct object_decl *objects;
    struct select_table *selects;
    struct select_case *cases;
    struct texts strings, groups, spans;
    const struct dist **dists;
    struct arrivals *arrivals;
    struct names func_names;
    uint32_t code_cap, lines_cap, funcs_cap, objects_cap, selects_cap, cases_cap, dists_cap,
        arrivals_cap;

    /* the function that was entered */
    int32_t in_work;
    uint32_t line;    /* of the next instructions; 0: not known */
    bool has_lines;   /* one of them was known */
    uint8_t next_reg; /* registers below are in use */
    uint16_t max_regs;
    int32_t *labels; /* instruction, -1 not placed */
    uint32_t nlabels, labels_cap;
    uint32_t *fixups; /* instructions whose d is a label */
    uint32_t nfixups, fixups_cap;

    /* what registers hold (kinds.c) */
    uint32_t var_of[256]; /* of the register as it is used now */
    uint32_t *kinds;      /* by variable */
    uint32_t *params;     /* by function: variable of its first parameter, 0: none yet */
    struct flow *flows;
    struct want *wants;
    struct either *eithers;
    uint32_t nkinds, kinds_cap, params_cap, nflows, flows_cap, nwants, wants_cap, neithers,
        eithers_cap;
    /* How the language makes an object: what stands before and after its kind; NULL: not said. */
    const char *make[2];
};

void build_init(struct build *b, struct pool *pool, struct mistakes *m);

/* Each gives the index in its table; a text that is there already, its index. */
int32_t build_string(struct build *b, const char *s);
int32_t build_group(struct build *b, const char *s);
int32_t build_span(struct build *b, const char *s);
int32_t build_dist(struct build *b, const struct dist *d);
int32_t build_arrivals(struct build *b, const struct arrivals *a);
int32_t build_object(struct build *b, enum object_kind kind, int64_t param, const char *name);
/* The first of that name, or -1. */
int32_t build_find_func(const struct build *b, const char *name);
int32_t texts_find(const struct texts *t, const char *s);
int32_t texts_add(struct pool *pool, struct texts *t, const char *s);

/* Functions: build_func declares, build_enter begins its code, build_leave ends it. */
int32_t build_func(struct build *b, const char *name, uint32_t nparams, struct place at);
void build_enter(struct build *b, int32_t f);
void build_leave(struct build *b);

uint32_t build_op(struct build *b, enum op op, int a, int rb, int c, int32_t d, int64_t imm);
int build_label(struct build *b);
void build_here(struct build *b, int label);
void build_jump(struct build *b, enum op op, int a, int rb, int64_t imm, int label);
/* A table for SELECT; its cases follow at once. */
int32_t build_select(struct build *b, bool has_default);
void build_case(struct build *b, struct select_case sc);
uint8_t build_reg(struct build *b, struct place at);

/* The program as it is, and checked: one that is not safe to interpret is a mistake. */
const struct program *build_tables(struct build *b, uint32_t main);
const struct program *build_done(struct build *b, uint32_t main, struct place at);

/* ---- kinds.c ---- */
/* What a register may hold: a bit per kind of object, and these. */
enum { KIND_ANY = 1, KIND_NUMBER = 1 << 16, KIND_TEXT = 1 << 17, KIND_RECV = 1 << 18 };
#define KIND(object) (1u << (object))
void kind_new(struct build *b, uint8_t reg);
void kind_param(struct build *b, uint8_t reg, int32_t f, uint32_t param);
void kind_is(struct build *b, uint8_t reg, uint32_t kinds);
void kind_flow(struct build *b, uint8_t from, uint8_t to);
void kind_pass(struct build *b, uint8_t from, int32_t f, uint32_t param);
/* A use of the register, which has to hold one of `fits`. */
void kind_want(struct build *b, struct place at, uint8_t reg, uint32_t fits);
/* An instruction on a handle that is another one, `op`, if the handle is of that kind. */
void kind_either(struct build *b, struct place at, uint8_t reg, uint32_t insn,
                 enum object_kind kind, enum op op);
/* At the end: every use gets what it wants, or it is a mistake. */
void kinds_check(struct build *b);
/* "chan", "mutex", ...; OBJ_KINDS: there is no such kind. */
const char *object_kind_name(enum object_kind kind);
enum object_kind object_kind_of(const char *name);

#endif
