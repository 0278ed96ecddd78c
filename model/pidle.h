/* SPDX-License-Identifier: BSD-3-Clause */
/* The stack of idle Ps and the masks that thieves read. sched.lock is held, but to read a mask. */
#ifndef MODEL_PIDLE_H
#define MODEL_PIDLE_H
#include "runtime2.h"

static bool pMask_read(maskword *mask, int32_t id);
static void pMask_set(maskword *mask, int32_t id);
static void pMask_clear(maskword *mask, int32_t id);
static int64_t idle_clock(int64_t now);
static int64_t pidleput(struct p *pp, int64_t now);
static inline struct p *pidleget(int64_t now);
static inline struct p *pidlegetSpinning(int64_t now);
#endif
