/* SPDX-License-Identifier: BSD-3-Clause */
/* What run_virt.c and run_real.c say to as_run. */
#ifndef GMPSIM_TESTS_MODEL_RUN_H
#define GMPSIM_TESTS_MODEL_RUN_H

#include "asm.h"
#include "run/host.h"

extern const struct host *const as_host;
/* Runs the open world; until_ps 0: to its end, if that comes in a time that makes sense here. */
enum world_end as_to_end(uint64_t until_ps);

#endif
