/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns of goroutines, on a host that decides among them. */
#ifndef MODEL_TURN_H
#define MODEL_TURN_H
#include "prog.h"
#include "step.h"

/* Before an instruction of the program. True: gp gives way; the instruction runs when it comes
 * back. */
static COLD bool turn_gives_way(struct g *gp, const struct insn *in);
/* The same at the end of main: what others do before it counts. */
static COLD bool turn_gives_way_at_end(struct g *gp);
/* schedule's part: who is next, off its queue. NULL: nobody is runnable. */
static COLD struct g *turn_take(struct p *pp);
/* Which of the cases that can go a select takes: their order of polling. */
static COLD uint32_t turn_select(uint32_t ready);
#endif
