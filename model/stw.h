/* SPDX-License-Identifier: BSD-3-Clause */
/* Stopping and starting the world, and changing the number of Ps while it stands. */
#ifndef MODEL_STW_H
#define MODEL_STW_H
#include "runtime2.h"

static void stopwait_dec(void);
static void gcstop_p(struct p *pp);
static COLD void gcstopm(void);
static void stopTheWorldWithSema(enum ev_stw reason, bool pseudo_wait);
static void stopTheWorld(enum ev_stw reason, const char *why);
static void startTheWorldWithSema(enum ev_stw reason);
static struct p *procresize(int32_t nprocs);
static void safepoint_done(struct p *pp);
static COLD void runSafePointFn(void);
static void forEachP(void (*fn)(struct p *));
#endif
