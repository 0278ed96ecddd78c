/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/virt/costs.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
const struct costs costs_builtin = {
    .atomic = {
#define ATOMIC_COST(name, amd_hit, amd_miss, arm_hit, arm_miss, ppc_hit, ppc_miss) \
        [PORT_AMD64][ATOMIC_##name] = { amd_hit, amd_miss },                       \
        [PORT_ARM64][ATOMIC_##name] = { arm_hit, arm_miss },                       \
        [PORT_PPC64LE][ATOMIC_##name] = { ppc_hit, ppc_miss },
#include "sim/virt/costs.def"
#undef ATOMIC_COST
    },
    .kind = {
#define COST(name, ps) [COST_##name] = ps,
#include "sim/virt/costs.def"
#undef COST
    },
    .work = {
#define WORK(name, ps, source) [W_##name] = ps,
#include "sim/base/work.def"
#undef WORK
    },
    .noise = {
#define NOISE_COST(name, ...) [NOISE_##name] = { __VA_ARGS__ },
#define NOISE_ONCE(name, ...) [NOISE_##name] = { __VA_ARGS__ },
#define NOISE_TIME(name, ...) [NOISE_##name] = { __VA_ARGS__ },
#include "sim/virt/noise.def"
#undef NOISE_COST
#undef NOISE_ONCE
#undef NOISE_TIME
    },
};

static const char *const ports[PORT_COUNT] = { "amd64", "arm64", "ppc64le" };

static const char *const atomics[ATOMIC_COUNT] = {
#define ATOMIC_COST(name, ...) #name,
#include "sim/virt/costs.def"
#undef ATOMIC_COST
};

static const char *const kinds[COST_COUNT] = {
#define COST(name, ps) #name,
#include "sim/virt/costs.def"
#undef COST
};

static const char *const noises[NOISE_COUNT] = {
#define NOISE_COST(name, ...) #name,
#define NOISE_ONCE(name, ...) #name,
#define NOISE_TIME(name, ...) #name,
#include "sim/virt/noise.def"
#undef NOISE_COST
#undef NOISE_ONCE
#undef NOISE_TIME
};

static const enum cost_kind noise_of[NOISE_COUNT] = {
#define NOISE_COST(name, ...) [NOISE_##name] = COST_##name,
#define NOISE_ONCE(name, ...) [NOISE_##name] = COST_COUNT,
#define NOISE_TIME(name, ...) [NOISE_##name] = COST_COUNT,
#include "sim/virt/noise.def"
#undef NOISE_COST
#undef NOISE_ONCE
#undef NOISE_TIME
};

static const char *const works[W_COUNT] = {
#define WORK(name, ps, source) #name,
#include "sim/base/work.def"
#undef WORK
};
/* clang-format on */

const char *cost_port_name(enum cost_port port) { return ports[port]; }
const char *cost_atomic_name(enum cost_atomic kind) { return atomics[kind]; }
const char *cost_kind_name(enum cost_kind kind) { return kinds[kind]; }
const char *work_kind_name(enum work_kind kind) { return works[kind]; }
const char *cost_noise_name(enum cost_noise kind) { return noises[kind]; }
enum cost_kind cost_noise_of(enum cost_noise kind) { return noise_of[kind]; }

int cost_port_parse(const char *name)
{
    for (int i = 0; i < PORT_COUNT; i++)
        if (strcmp(name, ports[i]) == 0)
            return i;
    return -1;
}
