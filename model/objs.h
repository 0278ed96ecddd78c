/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects of a program and the functions on them that other files of the goroutine side use.
 * Objects live in the arena and are never freed: the model has no view of which handles are still
 * in use.
 *
 * A handle is 1 + the object's index; 0 is nil. Fields that are read without the lock are ATOMIC;
 * the holder of the lock is the only one who writes them, so it reads them by a_own. */
#ifndef MODEL_OBJS_H
#define MODEL_OBJS_H
#include "objrec.h"
#include "step.h"

/* The two tables that the interpreter reads all the time; constant while the world runs. */
static const struct insn *prog_code;
static void *const *objs_decl; /* the program's objects */

/* ---- the instruction that the G executes, and its registers ---- */
/* tape.c: the entry of a tape that gp is in the middle of */
static const struct insn *tape_insn(const struct g *gp, struct insn *room);
static inline const struct insn *cur_insn_in(const struct g *gp, struct insn *room)
{
    const struct insn *in = &prog_code[gp->pc - 1];
    return in->op != OP_TAPE ? in : tape_insn(gp, room);
}
/* Valid to the end of the block that asks. */
#define cur_insn(gp) cur_insn_in(gp, &(struct insn){0})
/* Where a G is, for people: the instruction that it is in or did last; of a function that it has
 * not begun, the first. */
static inline uint32_t shown_pc(const struct program *p, const struct g *gp)
{
    return gp->pc != p->funcs[gp->func].entry ? gp->pc - 1 : gp->pc;
}

/* The registers of all frames. */
static inline int64_t *g_stack(const struct g *gp)
{
    return gp->stack_order != 0 ? gp->grown : (int64_t *)gp->inline_regs;
}

static inline int64_t *regs(const struct g *gp) { return g_stack(gp) + gp->fp; }
static inline void set_reg(const struct g *gp, uint8_t reg, int64_t v)
{
    if (reg != NOREG)
        regs(gp)[reg] = v;
}

/* objs.c */
static void *object_slow(struct g *gp, int64_t handle, uint8_t kind); /* by handle */
static int64_t object_add(void *p, uint8_t kind);                     /* gives the handle */
/* The object an instruction names. NULL: nil, or a handle of something else. */
static inline void *object_of(struct g *gp, const struct insn *in, uint8_t handle_reg, uint8_t kind)
{
    if (in->d >= 0)
        return objs_decl[in->d];
    return object_slow(gp, regs(gp)[handle_reg], kind);
}

static int64_t chan_object(int64_t size, struct hchan **c);

/* ---- objs.c for the others ---- */
static const struct object *object_at(uint64_t handle);
/* After prof, prog and the locks; creates the declared objects. */
static void objs_world_init(void);
static enum opres op_make(struct g *gp, const struct insn *in);

#endif
