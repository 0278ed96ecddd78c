/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a G's status. Nothing else writes the status word. */
#ifndef MODEL_GSTATUS_H
#define MODEL_GSTATUS_H
#include "runtime2.h"

static inline uint32_t readgstatus(struct g *gp);
static inline void casgstatus(struct g *gp, uint32_t oldval, uint32_t newval);
static bool gdeadextra_exists(void);
static bool castogscanstatus(struct g *gp, uint32_t oldval, uint32_t newval);
static void casfrom_Gscanstatus(struct g *gp, uint32_t oldval, uint32_t newval);
static void casGToPreemptScan(struct g *gp, uint32_t oldval, uint32_t newval);
static bool casGFromPreempted(struct g *gp, uint32_t oldval, uint32_t newval);
static void casGToWaiting(struct g *gp, uint32_t oldval, enum waitreason reason);
static const char *waitreason_text(uint8_t reason);
#endif
