/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread without a P. */
#ifndef MODEL_SYSMON_H
#define MODEL_SYSMON_H
#include "runtime2.h"

static void sysmon(void);
#endif
