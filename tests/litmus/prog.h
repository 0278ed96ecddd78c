/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Litmus programs as data, and their sets of outcomes from two sides that share nothing but the
 * table of what a port's instructions are (sim/explore/verbs.def): the explorer, running every
 * schedule, and the axioms of the published models, checking every candidate execution.
 */
#ifndef GMPSIM_LITMUS_PROG_H
#define GMPSIM_LITMUS_PROG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/explore/mm.h"
#include "sim/explore/site.h"

enum {
    LIT_THREADS_MAX = 4,
    LIT_OPS_MAX = 4,
    LIT_LOCS_MAX = 3,
    LIT_REGS_MAX = 10,
    LIT_OUTCOMES_MAX = 4096
};

/* One operation: op is an enum ex_verb; a load or read-modify-write puts what it read into the next
 * register (a failed CAS as well: success is then clear from the value). CAS is from `expect` to
 * value; add adds value. */
struct lit_op {
    uint8_t op, loc, value, expect;
};

struct lit_prog {
    const char *name; /* "MP rel acq"; may be NULL */
    int threads, locs;
    int ops[LIT_THREADS_MAX];
    struct lit_op op[LIT_THREADS_MAX][LIT_OPS_MAX];
};

/* Registers in thread and program order, four bits each, then final values of the locations. */
typedef uint64_t lit_outcome;

struct lit_set {
    lit_outcome at[LIT_OUTCOMES_MAX]; /* sorted */
    size_t count;
    uint64_t runs; /* schedules, or candidate executions */
    bool whole;    /* the search was complete */
};

enum { LIT_CTRL = 1, LIT_PORF = 2 };

/* Every schedule of p under the memory model. */
void lit_explore(const struct lit_prog *p, enum mm_kind kind, bool ctrl, struct lit_set *out);

/* Every candidate execution that the axioms allow. LIT_CTRL: a control dependency from every load
 * to everything later. LIT_PORF: only executions in which program order and reads-from have no
 * cycle. */
void lit_axioms(const struct lit_prog *p, enum mm_kind kind, unsigned flags, struct lit_set *out);

bool lit_reads(uint8_t op);
bool lit_writes(uint8_t op);
bool lit_rmw(uint8_t op);
int lit_regs(const struct lit_prog *p);
/* Bits of enum mm_bits that op has on the port of this model. */
unsigned lit_bits(enum mm_kind kind, uint8_t op);
void lit_add(struct lit_set *s, lit_outcome o);
bool lit_has(const struct lit_set *s, lit_outcome o);
bool lit_equal(const struct lit_set *a, const struct lit_set *b);
bool lit_subset(const struct lit_set *a, const struct lit_set *b);
/* "0:r0=1 1:r1=0 x=1"; returns buf. */
char *lit_format(const struct lit_prog *p, lit_outcome o, char *buf, size_t size);
char *lit_format_prog(const struct lit_prog *p, char *buf, size_t size);

#endif
