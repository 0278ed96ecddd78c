/* SPDX-License-Identifier: BSD-3-Clause */
/* What the counters of a run are called, for whoever shows or asks for them. */
#include "api.h"

const char *const counter_names[COUNTER_COUNT + 1] = {
#define COUNTER(name, what) #name,
#include "counters.def"
#undef COUNTER
};
