/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking for work on other Ps. */
#ifndef MODEL_STEAL_H
#define MODEL_STEAL_H
#include "runtime2.h"

struct steal_result {
    struct g *gp;
    bool inherit, newWork;
    int64_t now, pollUntil;
};

static void randomOrder_reset(struct randomOrder *ord, uint32_t count);
static struct steal_result stealWork(int64_t now);
static struct p *checkRunqsNoP(struct p **allp, int32_t n);
static int64_t checkTimersNoP(struct p **allp, int32_t n, int64_t pollUntil);
#endif
