/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost table: what every verb of the host surface costs in virtual time. Picoseconds, at most
 * COST_MAX_PS each. Plain data: a world copies the row of its port when it starts, so a table may
 * be changed or freed afterwards.
 */
#ifndef GMPSIM_COSTS_H
#define GMPSIM_COSTS_H

#include <stdint.h>

#include "sim/base/work.h"

/* Nothing may cost more than 4 ms, so that a cost is a 32-bit number. */
#define COST_MAX_PS 4000000000u

enum cost_port { PORT_AMD64, PORT_ARM64, PORT_PPC64LE, PORT_COUNT };

enum cost_atomic {
#define ATOMIC_COST(name, ...) ATOMIC_##name,
#include "costs.def"
#undef ATOMIC_COST
    ATOMIC_COUNT
};

enum cost_kind {
#define COST(name, ps) COST_##name,
#include "costs.def"
#undef COST
    COST_COUNT
};

enum cost_noise {
#define NOISE_COST(name, ...) NOISE_##name,
#define NOISE_ONCE(name, ...) NOISE_##name,
#define NOISE_TIME(name, ...) NOISE_##name,
#include "noise.def"
#undef NOISE_COST
#undef NOISE_ONCE
#undef NOISE_TIME
    NOISE_COUNT
};

/* Kinds of noise from NOISE_COSTS on, below NOISE_ONCES, come once in a world. */
enum {
    NOISE_COSTS = 0
#define NOISE_COST(name, ...) +1
#include "noise.def"
#undef NOISE_COST
    ,
    NOISE_ONCES = NOISE_COSTS
#define NOISE_ONCE(name, ...) +1
#include "noise.def"
#undef NOISE_ONCE
};

enum { NOISE_QUANTILES = 11 };

struct cost_pair {
    uint32_t hit, miss;
};

struct costs {
    struct cost_pair atomic[PORT_COUNT][ATOMIC_COUNT];
    uint32_t kind[COST_COUNT];
    uint32_t work[W_COUNT];
    uint32_t noise[NOISE_COUNT][NOISE_QUANTILES]; /* see noise.def */
};

/* The built-in table; equal to costs/reference.json. */
extern const struct costs costs_builtin;

const char *cost_port_name(enum cost_port port);
const char *cost_atomic_name(enum cost_atomic kind);
const char *cost_kind_name(enum cost_kind kind);
const char *work_kind_name(enum work_kind kind);
const char *cost_noise_name(enum cost_noise kind);
/* The cost that this noise is thousandths of; COST_COUNT: it is a time of its own. */
enum cost_kind cost_noise_of(enum cost_noise kind);
/* -1 when there is no port of that name. */
int cost_port_parse(const char *name);

#endif
