/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_STATEMENTS_H
#define GMPSIM_SCENARIOS_STATEMENTS_H

/* What a statement of the language is. Each is defined once, as a row of a table in
 * stmt_*.c: its words, what they mean, the instruction it becomes, its Go text. The
 * reader, the compiler, the Go generator, `gmpsim scenarios language`, the schema and the manual
 * all work from the row. What a row cannot say is a function beside it: `emit` for the program,
 * `gen` for Go. */

#include "scenarios/tree.h"

struct cc;
struct gen;

enum field_kind {
    F_NONE,
    F_NAME,    /* a local that gets something: register `slot`, holding `kinds` */
    F_INDEX,   /* the same, hiding an outer one: it counts in a loop of its own */
    F_VALUE,   /* an expression: register `slot` */
    F_OR_0,    /* the same, 0 without the word */
    F_CHECKED, /* the same as F_VALUE, and its text is kept */
    F_COUNT,   /* an expression; a plain number, or `other` without the word: imm */
    F_OBJECT,  /* an object of one of `kinds`, or an expression that gives its handle */
    F_AMOUNT,  /* a duration: distribution, register or imm */
    F_DRAWN,   /* the same for instructions that take no distribution */
    F_BYTES,   /* a size: register or imm */
    F_ROUNDS,  /* how many times, or "forever" */
    F_TIMES,   /* how many times */
    F_TRUE,
    F_BOOL,   /* false without the word; true makes it op2 if it has no slot */
    F_WORD,   /* one of `words`, the first without it; `map` gives the number for `slot` */
    F_STATUS, /* an exit status: imm */
    F_TEXT,   /* what people read: printed, or a reason */
    F_LABEL,  /* a name that reports use: no control characters */
    F_BLOCK,
    F_CALLEE, /* a function by name, with arguments, or a body in place */
    F_ARGS,
    F_OF_CALLEE, /* "args" or "arg" of a callee */
    F_ARMS,      /* of random */
    F_CASES,
    F_SHAPE,
    F_RESULT, /* an expression, or null */
    F_REASON, /* a text, or a number */
};

/* Where the value goes in the instruction. F_OBJECT, F_AMOUNT and F_CALLEE know it themselves. */
enum slot { SLOT_NONE, SLOT_A, SLOT_B, SLOT_C };

struct field {
    const char *key;
    enum field_kind kind;
    bool need;
    enum slot slot;
    uint32_t kinds;
    int64_t other;
    const char *const *words;
    const uint8_t *map;
};

enum { STATEMENT_FIELDS_MAX = 7 };

struct statement {
    const char *what;    /* for people; the first sentence stands in the schema */
    const char *example; /* one or more statements */
    struct field field[STATEMENT_FIELDS_MAX]; /* the first one's key is the statement's word */
    enum op op, op2;                          /* op2: of an object of kind2, or with a flag */
    enum object_kind kind2;
    enum flow_kind {
        FLOW_ON,
        FLOW_ENDS,   /* control never comes out behind it */
        FLOW_BRANCH, /* as "then" and "else" do */
        FLOW_ARMS,   /* as its arms do */
        FLOW_BLOCK,  /* as its "do" does */
        FLOW_LOOP    /* it goes on behind it, but for a loop that only a break ends */
    } flow;
    bool forgets;     /* the names that it made */
    bool in_loop;     /* there has to be a loop around it */
    bool leaves_loop; /* break */
    void (*emit)(struct cc *c, const struct stmt *s);
    /* Go: {word} is what stands there, {word:2} with the spaces of an argument among others; names
     * that get something are assigned its results, inside `wrap(...)`. */
    const char *go, *wrap;
    void (*gen)(struct gen *g, const struct stmt *s);
};

/* A table of one group, and all of them. */
struct group {
    const char *title;
    const struct statement *row;
    size_t count;
};
#define GROUP(id, title)                                     \
    const struct group group_##id = {title, id##_statements, \
                                     sizeof id##_statements / sizeof *id##_statements}
extern const struct group group_flow, group_goroutines, group_work, group_channels, group_locks,
    group_timers, group_descriptors, group_variables, group_coroutines, group_made, group_output;
extern const struct group *const groups[]; /* ends with NULL */

/* "value", "object", ...: as `gmpsim scenarios language --json` calls them. */
const char *field_kind_name(enum field_kind kind);
/* By its word; NULL. */
const struct statement *statement_find(const char *word);
/* All words, at most room - 1, then NULL; how many. */
enum { STATEMENT_WORDS_MAX = 200 };
size_t statement_words(const char **words, size_t room);
/* The part of a statement; NULL if the word was not given. */
const struct part *part_of(const struct stmt *s, const char *key);

/* Rows are written with these. */
#define NAME(key_, slot_, kinds_)                                   \
    {                                                               \
        .key = key_, .kind = F_NAME, .slot = slot_, .kinds = kinds_ \
    }
#define NEW_NAME(key_, slot_, kinds_)                                             \
    {                                                                             \
        .key = key_, .kind = F_NAME, .need = true, .slot = slot_, .kinds = kinds_ \
    }
#define VALUE(key_, slot_)                                        \
    {                                                             \
        .key = key_, .kind = F_VALUE, .need = true, .slot = slot_ \
    }
#define COUNT(key_, slot_, other_)                                   \
    {                                                                \
        .key = key_, .kind = F_COUNT, .slot = slot_, .other = other_ \
    }
#define OBJECT(key_, kinds_)                                         \
    {                                                                \
        .key = key_, .kind = F_OBJECT, .need = true, .kinds = kinds_ \
    }
#define AMOUNT(key_)                                \
    {                                               \
        .key = key_, .kind = F_AMOUNT, .need = true \
    }
#define DRAWN(key_)                                \
    {                                              \
        .key = key_, .kind = F_DRAWN, .need = true \
    }
#define BYTES(key_)                                \
    {                                              \
        .key = key_, .kind = F_BYTES, .need = true \
    }
#define YES(key_)                                 \
    {                                             \
        .key = key_, .kind = F_TRUE, .need = true \
    }
#define FLAG(key_, slot_)                          \
    {                                              \
        .key = key_, .kind = F_BOOL, .slot = slot_ \
    }
#define WORD(key_, slot_, words_, map_)                                          \
    {                                                                            \
        .key = key_, .kind = F_WORD, .slot = slot_, .words = words_, .map = map_ \
    }
#define BLOCK(key_)                                \
    {                                              \
        .key = key_, .kind = F_BLOCK, .need = true \
    }
#define CALLEE(key_)                                \
    {                                               \
        .key = key_, .kind = F_CALLEE, .need = true \
    }
#define ARGS                               \
    {                                      \
        .key = "args", .kind = F_OF_CALLEE \
    }
#define SPECIAL(key_, kind_)                     \
    {                                            \
        .key = key_, .kind = kind_, .need = true \
    }
#define OPTIONAL(key_, kind_)      \
    {                              \
        .key = key_, .kind = kind_ \
    }

#endif
