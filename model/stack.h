/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames of a G's program. */
#ifndef MODEL_STACK_H
#define MODEL_STACK_H
#include "runtime2.h"

/* Functions that are one step, no program code; the step's argument: gp->opval. Then the G ends. */
#define FUNC_STEP(s) (UINT32_MAX - (uint32_t)(s))

static void *stackpool_get(uint32_t order);
static void stackpool_put(void *block, uint32_t order);
static uint32_t stack_order(uint32_t words);
/* gdestroy: a stack that grew goes back to its pool, the G keeps its inline registers. */
static void g_free_frames(struct g *gp);
static uint64_t g_rand(struct g *gp);
/* newproc: a fresh G (kont empty) will start in func; its stream of draws comes from the running
 * G's. */
static void g_start_at(struct g *gp, uint32_t func, const int64_t *args, uint32_t nargs);
static enum frame_kind frame_kind(const struct g *gp);
static void frame_push(struct g *gp, uint32_t func, enum frame_kind kind, uint8_t result);
static uint32_t frame_below(const struct g *gp, uint32_t fp);
static bool frame_uncall(struct g *gp, uint32_t fp);
static uint8_t frame_pop(struct g *gp);
#endif
