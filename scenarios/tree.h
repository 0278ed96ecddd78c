/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_TREE_H
#define GMPSIM_SCENARIOS_TREE_H

/* A program as a tree: what was read, with every name resolved and every word checked. emit.c makes
 * a program of it (program/build.h), gengo.c Go source; neither sees JSON. */

#include "program/build.h"

struct statement; /* what a statement is: statements.h */
struct stmt;

/* ---- objects ---- */

struct dist_spec {
    enum dist_word { D_FIXED, D_EXP, D_UNIFORM, D_LOGNORMAL, D_PARETO, D_BIMODAL, D_EMPIRICAL } is;
    int64_t a, b;  /* durations, in the order of the text; of a lognormal b is the p99, or 0 */
    double number; /* sigma, alpha, percent */
    const struct dist_bin *bins;
    uint32_t nbins;
    bool has_min, has_max;
    int64_t min, max;
    const struct dist *dist;
};

struct arrivals_spec {
    struct arrivals a; /* without its gap */
    int64_t gap_ns;    /* or, if it is drawn: */
    const struct dist_spec *gap;
    const struct dist *dist; /* of the gap; NULL: times */
};

/* A kind of object with its parameter, or several with names, or so many of one kind: `size`
 * objects in a row. */
struct shape {
    enum shape_kind { S_ONE, S_STRUCT, S_ARRAY } is;
    uint32_t size;
    enum object_kind kind; /* S_ONE */
    int64_t param;         /* ... of a cond: place of its lock in the row, or -1 - object */
    bool rlocker;          /* ... */
    const struct arrivals_spec *arrivals; /* ... of an fd, or NULL */
    uint32_t count;                       /* S_ARRAY */
    const struct shape *of;
    struct member *members; /* S_STRUCT: a list */
};

struct member {
    struct member *next;
    const char *name;
    const struct shape *shape;
    uint32_t at; /* place of its first object in the row */
};

/* A name of "objects". */
struct thing {
    const char *name;
    const struct shape *shape;
    int32_t first; /* object */
};

/* ---- expressions ---- */

/* A local name; two of one text in different blocks are two. */
struct name {
    const char *text;
    uint8_t reg; /* emit.c */
    bool has_reg;
};

enum binary {
#define BINARY(id, text, precedence, op, swapped) B_##id,
#include "scenarios/binary.def"
#undef BINARY
    BINARIES
};

enum call { C_LEN, C_CAP, C_RAND, C_MIN, C_MAX, C_NOW, C_GOID, C_NUMGOROUTINE, CALLS };
enum field_word { W_C, W_DONE, W_ERR, FIELDS };
extern const char *const call_names[CALLS + 1], *const field_names[FIELDS + 1];

/* An index into an array on the way to an object. */
struct index {
    struct index *next;
    struct expr *at;
    uint32_t count, stride;
};

struct expr {
    enum expr_kind {
        X_LITERAL, /* a number that stands for itself: an amount of an instruction */
        X_NUMBER,
        X_NIL,
        X_LOCAL,
        X_OBJECT, /* its handle */
        X_MINUS,
        X_NOT,
        X_BINARY,
        X_CALL,
        X_FIELD
    } is;
    uint8_t which; /* enum binary, call or field_word */
    struct place at;
    int64_t value;
    struct name *name;
    int32_t object; /* with every index 0 */
    enum object_kind kind;
    struct index *indices; /* NULL: the object is known */
    struct expr *a, *b;
};

struct exprs {
    struct expr **x;
    struct place at;
    uint32_t count;
};

/* ---- parts of statements ---- */

/* How long, or how many bytes: drawn, computed, or a number. */
struct amount {
    const struct dist_spec *dist;
    struct expr *x;
    int64_t imm;
};

/* A function with arguments, or a body in place: a function whose parameters are the names around
 * it. */
struct callee {
    int32_t func;
    bool in_place;
    struct exprs args;
    struct name **captured; /* as many as the function has parameters */
};

/* A case of select, or one of random's blocks. */
struct arm {
    struct arm *next;
    struct place at;
    struct expr *recv, *send, *value; /* all NULL: default, or of random */
    struct name *into, *ok;
    struct place into_at, ok_at;
    int64_t weight;
    struct stmt *body;
    bool is_default;
};

struct part {
    bool given;
    struct place at;
    const char *text;
    union {
        struct name *name;
        struct expr *x;
        struct amount *amount;
        struct callee *callee;
        struct stmt *body;
        struct arm *arms;
        const struct shape *shape;
        struct exprs args;
        int64_t n;
    };
};

struct stmt {
    struct stmt *next;
    const struct statement *is;
    struct place at;
    uint32_t insn;      /* the instruction, of a statement that is one */
    struct part part[]; /* as many as the statement has fields */
};

struct function {
    struct name **params;
    struct stmt *body;
    bool in_place;
    /* of the reader */
    const void *source;
    struct place at;
    uint32_t first_call, end_call;
    bool reached;
};

struct tree {
    struct thing *things;
    uint32_t nthings, things_cap;
    struct function *funcs; /* as build.funcs */
    uint32_t funcs_cap;
    uint32_t nfuncs;
};

#endif
