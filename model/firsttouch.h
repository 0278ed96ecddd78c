/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is touched for the first time, see firsttouch.c. pp == NULL: nothing comes of it. */
#ifndef GMPSIM_FIRSTTOUCH_H
#define GMPSIM_FIRSTTOUCH_H

#include <stdint.h>

struct g;
struct p;

static void new_g(struct p *pp);
static void new_stack(struct p *pp);
static void main_stack_grew(struct p *pp);
static void main_makes(const struct p *pp);
static void first_wait(const struct g *gp, struct p *pp);
static void new_closure(struct p *pp, uint32_t func);

#endif
