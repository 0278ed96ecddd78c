/* SPDX-License-Identifier: BSD-3-Clause */
/* One-time events for Ms (note_*) and for a G that waits on one. */
#ifndef MODEL_NOTE_H
#define MODEL_NOTE_H
#include "step.h"

static void noteclear(struct note *n);
static void notewakeup(struct note *n);
static void notesleep(struct note *n);
static bool notetsleep(struct note *n, int64_t ns);
static enum opres notetsleepg(struct g *gp, struct note *n, int64_t ns);
#endif
