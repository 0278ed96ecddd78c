/* SPDX-License-Identifier: BSD-3-Clause */
/* Timers of declared channels, in a table by the channel's number. Only recorded programs have
 * them: in the scenario language a timer makes its channel. */
#include "chtimer.h"

#include "objs.h"
#include "timer.h"

/* The place of the channel's timer; NULL: a channel that is not declared. */
static struct timeTimer **chtimer_of(const struct insn *in)
{
    if (in->d < 0)
        return NULL;
    if (rt->chtimers == NULL)
        rt->chtimers = host_alloc(rt->prog->nobjects * sizeof *rt->chtimers, 8);
    return &rt->chtimers[in->d];
}

static int64_t chtimer_ns(struct g *gp, const struct insn *in)
{
    int64_t ns = in->b != NOREG ? regs(gp)[in->b] : in->imm;
    return ns > 0 ? ns : 1;
}

static enum opres op_chtimer(struct g *gp, const struct insn *in)
{
    struct timeTimer **t = chtimer_of(in);
    struct hchan *c = object_of(gp, in, in->c, OBJ_CHAN);
    int64_t ns = chtimer_ns(gp, in);
    if (t != NULL && c != NULL && *t == NULL)
        *t = in->a != 0 ? time_NewTicker(ns, c) : time_NewTimer(ns, c);
    return OP_DONE;
}

static enum opres op_chstop(struct g *gp, const struct insn *in)
{
    struct timeTimer **t = chtimer_of(in);
    (void)gp;
    if (t != NULL && *t != NULL)
        (void)time_Stop(*t);
    return OP_DONE;
}

static enum opres op_chreset(struct g *gp, const struct insn *in)
{
    struct timeTimer **t = chtimer_of(in);
    if (t == NULL || *t == NULL)
        return OP_DONE;
    if ((*t)->t.period > 0)
        time_ResetTicker(*t, chtimer_ns(gp, in));
    else
        (void)time_Reset(*t, chtimer_ns(gp, in));
    return OP_DONE;
}
