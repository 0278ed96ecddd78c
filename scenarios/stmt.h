/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_STMT_H
#define GMPSIM_SCENARIOS_STMT_H

/* What the files of statements share: operands, and one function per verb of verbs.def.
 *
 *   operands.c      names, amounts, arguments
 *   stmt.c          blocks, the table
 *   stmt_control.c  flow, calls, goroutines
 *   stmt_time.c     CPU, time, system calls, descriptors
 *   stmt_sync.c     channels, locks, variables, coroutines, output */

#include "scenarios/compile.h"

/* What an instruction on an object names: the object itself, or a register with a handle. */
struct target {
    int32_t obj;
    uint8_t reg;
};

/* How long: a distribution d, a register b, or imm nanoseconds (or bytes). */
struct amount {
    int32_t d;
    uint8_t b;
    int64_t imm;
};

struct target op_target(struct cc *c, const cJSON *v, enum object_kind kind);
enum object_kind op_kind_named(struct cc *c, const cJSON *v);
void op_on_object(struct cc *c, const cJSON *v, enum object_kind kind, enum op op);
uint8_t op_into(struct cc *c, const cJSON *o, const char *key, uint32_t kinds);
uint8_t op_index(struct cc *c, const cJSON *o);
uint8_t op_value_or(struct cc *c, const cJSON *o, const char *key, int64_t other, int64_t *imm);
struct amount op_duration(struct cc *c, const cJSON *v);
struct amount op_drawn(struct cc *c, const cJSON *v);
struct amount op_bytes(struct cc *c, const cJSON *v);
int op_choice(struct cc *c, const cJSON *o, const char *key, const char *const *words);
uint8_t op_arguments(struct cc *c, const cJSON *list, uint32_t *n);
int32_t op_inline_function(struct cc *c, const cJSON *body, const char *verb, uint8_t *first,
                           uint32_t *n);
const char **op_function_names(struct cc *c);
int32_t op_callee(struct cc *c, const cJSON *o, const cJSON *v, const char *verb, uint8_t *first,
                  uint32_t *n);

void op_block(struct cc *c, const cJSON *list); /* stmt.c */

typedef void compile_fn(struct cc *c, const cJSON *o, const cJSON *v);
#define VERB(name, fn, ...) compile_fn fn;
#include "scenarios/verbs.def"
#undef VERB

#endif
