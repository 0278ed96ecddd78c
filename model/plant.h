/* SPDX-License-Identifier: BSD-3-Clause */
/* Breaks an invariant on purpose. */
#ifndef MODEL_PLANT_H
#define MODEL_PLANT_H
#include "runtime2.h"
#include "api.h"

static bool world_plant(enum core_plant what, bool quiet);
#endif
