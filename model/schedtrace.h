/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of GODEBUG=schedtrace. */
#ifndef MODEL_SCHEDTRACE_H
#define MODEL_SCHEDTRACE_H
#include "runtime2.h"

static void schedtrace(bool detailed);
#endif
