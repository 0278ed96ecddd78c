/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime's own mutex. */
#ifndef MODEL_LOCK_H
#define MODEL_LOCK_H
#include "runtime2.h"

static void lock_world_init(void); /* after the profile is set: what a lock adds to m.locks */
static void lock(struct mutex *l);
static void unlock(struct mutex *l);
/* The same without a call: for what does little else. */
static inline void lock_inline(struct mutex *l);
static inline void unlock_inline(struct mutex *l);
#endif
