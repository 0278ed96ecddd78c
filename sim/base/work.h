/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_WORK_H
#define GMPSIM_SIM_BASE_WORK_H

/* The kinds of straight-line work that the model charges, on every host. */
enum work_kind {
#define WORK(name, ps, source) W_##name,
#include "sim/base/work.def"
#undef WORK
    W_COUNT
};

#endif
