/* SPDX-License-Identifier: BSD-3-Clause */
/* The print instruction. */
#ifndef MODEL_PRINT_H
#define MODEL_PRINT_H
#include "step.h"

/* Who takes the program's prints and the SCHED lines; set before the world runs (world.c). */
static void (*world_print)(void *arg, const char *text, size_t size);
static void (*world_sched_line)(void *arg, const char *text, size_t size);
static void *world_arg;

static enum opres op_print(struct g *gp, const struct insn *in);
#endif
