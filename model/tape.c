/* SPDX-License-Identifier: BSD-3-Clause */
/* Recorded goroutines: the instruction that stands for the next one of a tape (tape.h), and the
 * instants that a recording has in place of durations. */
#include "tapeop.h"

#include "interp.h"
#include "objs.h"
#include "timer.h"

static COLD const struct insn *tape_insn(const struct g *gp, struct insn *room)
{
    (void)tape_get(rt->prog->tape + regs(gp)[TAPE_AT], room);
    return room;
}

static enum opres op_tapebegin(struct g *gp, const struct insn *in)
{
    (void)in;
    int64_t *R = regs(gp);
    uint64_t i = (uint64_t)R[TAPE_AT];
    if (i >= rt->prog->ntapes)
        throw("TAPEBEGIN: no such tape");
    R[TAPE_AT] = R[TAPE_NEXT] = (int64_t)rt->prog->tapes[i];
    return OP_DONE;
}

static enum opres op_tapezero(struct g *gp, const struct insn *in)
{
    (void)gp;
    (void)in;
    rt->tape_ns = nanotime();
    return OP_DONE;
}

/* TAPECALL: plays the tape with the number in a register. A number that is no tape (a receive from
 * a closed channel gives 0) does nothing. */
static enum opres op_tapecall(struct g *gp, const struct insn *in)
{
    int64_t *R = regs(gp);
    uint64_t i = (uint64_t)R[in->a];
    if (i >= rt->prog->ntapes)
        return OP_DONE;
    R[TAPE_BACK] = R[TAPE_NEXT];
    R[TAPE_NEXT] = (int64_t)rt->prog->tapes[i];
    return OP_DONE;
}

static enum opres op_tapeback(struct g *gp, const struct insn *in)
{
    (void)in;
    int64_t *R = regs(gp);
    R[TAPE_NEXT] = R[TAPE_BACK];
    return OP_DONE;
}

/* TAPE: does the next entry of the tape. CONST entries are done on the way: they set registers for
 * the entry behind them. RET is not passed: with a deferred call it runs twice, and what lies
 * behind it is another tape. */
static enum opres op_tape(struct g *gp, const struct insn *in)
{
    (void)in;
    int64_t *R = regs(gp);
    struct insn entry;
    const uint8_t *tape = rt->prog->tape, *next;
    for (;;) {
        R[TAPE_AT] = R[TAPE_NEXT];
        next = tape_get(tape + R[TAPE_AT], &entry);
        if (entry.op != OP_RET)
            R[TAPE_NEXT] = next - tape;
        if (entry.op != OP_CONST)
            return interp_do(gp, &entry);
        R[entry.a] = entry.imm;
    }
}

/* ns from now until an instant of the recording. */
static int64_t tape_until(int64_t instant)
{
    int64_t now = nanotime(), past = now - rt->tape_ns;
    return instant - past;
}

static enum opres op_sleepto(struct g *gp, const struct insn *in)
{
    return timeSleep(gp, tape_until(in->imm));
}

static enum opres op_afterto(struct g *gp, const struct insn *in)
{
    (void)time_AfterFunc(tape_until(in->imm), (uint32_t)in->d, regs(gp) + in->a, in->b, gp->group);
    return OP_DONE;
}
