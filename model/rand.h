/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of the runtime, a stream per M. */
#ifndef MODEL_RAND_H
#define MODEL_RAND_H
#include "runtime2.h"

static uint32_t cheaprandn(uint32_t n);
static uint32_t cheaprand_order(void);
#endif
