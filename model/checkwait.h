/* SPDX-License-Identifier: BSD-3-Clause */
/* The half of check.c that looks at waiting goroutines: who will wake each of them. */
#ifndef MODEL_CHECKWAIT_H
#define MODEL_CHECKWAIT_H
#include "runtime2.h"

static const char *check_says(const char *what, struct g *gp, struct p *pp, struct m *mp);
static const char *check_waiting(void);
/* Its wait reason is the recorded one and names no place here. */
static bool is_for_event(const struct g *gp);
#endif
