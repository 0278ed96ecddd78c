/* SPDX-License-Identifier: BSD-3-Clause */
/* Tapes: the code of recorded goroutines, a few bytes per instruction where struct insn has 16.
 *
 * A recording is instructions that run once each, and there are millions of them. All recorded
 * goroutines of a name run one function of three instructions,
 *
 *     TAPEBEGIN 0; loop: TAPE 0; JMP loop
 *
 * whose parameter is the number of the goroutine's tape. TAPE reads an instruction there and does
 * it as if it stood in its place; the one that a G is in the middle of (cur_insn) is read again
 * from the tape. A tape has no jumps and no calls; it ends with RET or the like. Register TAPE_SITE
 * says where in the recorded program it is, TAPE_BACK where TAPECALL came from (so a tape that was
 * called calls none); the ones behind them are free.
 *
 * An entry: a byte for the opcode, which from TAPE_SHORT on also says that every field that may be
 * absent is (opcodes from GO on have both forms); then the fields that the instruction has
 * (ops.def), registers and small numbers as a byte, d + 1 and imm as numbers of seven bits a byte,
 * lowest first, imm with its sign in the lowest bit. */
#ifndef MODEL_TAPE_H
#define MODEL_TAPE_H
#include "prog.h"

enum { TAPE_AT, TAPE_NEXT, TAPE_SITE, TAPE_BACK, TAPE_FREE, TAPE_REGS = 6, TAPE_ENTRY_MAX = 24 };
enum { TAPE_SHORT = OPS, TAPE_SHORT_FROM = OP_GO, TAPE_CODES = TAPE_SHORT + OPS - TAPE_SHORT_FROM };
_Static_assert(TAPE_CODES <= 256, "an operation and its form are a byte");

static inline bool tape_is_short(uint8_t code) { return code >= (unsigned)TAPE_SHORT; }
static inline uint8_t tape_op(uint8_t code)
{
    return tape_is_short(code) ? (uint8_t)(code - TAPE_SHORT + TAPE_SHORT_FROM) : code;
}

static inline uint8_t *tape_put_number(uint8_t *at, uint64_t v)
{
    for (; v > 0x7f; v >>= 7)
        *at++ = (uint8_t)(v | 0x80);
    *at++ = (uint8_t)v;
    return at;
}

static inline uint64_t tape_number(const uint8_t **at)
{
    const uint8_t *p = *at;
    uint64_t v = *p & 0x7f;
    for (unsigned shift = 7; (*p++ & 0x80) != 0 && shift < 70; shift += 7)
        v |= (uint64_t)(*p & 0x7f) << (shift & 63);
    *at = p;
    return v;
}

/* What a field is when the entry does not have it. */
static inline uint8_t tape_default(uint8_t kind) { return kind == RO || kind == RX ? NOREG : 0; }
static inline bool tape_d_absent(uint8_t kind)
{
    return kind == N_ || kind == D_DO || kind == D_FO || kind == D_SO;
}

/* The entry at `at`, which is one; gives the next one's place. */
static inline const uint8_t *tape_get(const uint8_t *at, struct insn *in)
{
    uint8_t first = *at++;
    const struct op_info *o = &op_infos[tape_op(first)];
    bool all = !tape_is_short(first);
    in->op = tape_op(first);
    in->a = all && o->a != N_ ? *at++ : tape_default(o->a);
    in->b = all && o->b != N_ ? *at++ : tape_default(o->b);
    in->c = all && o->c != N_ ? *at++ : tape_default(o->c);
    in->d = o->d == N_ ? 0 : -1;
    if (all ? o->d != N_ : !tape_d_absent(o->d))
        in->d = (int32_t)(tape_number(&at) - 1);
    in->imm = 0;
    if (o->imm != N_) {
        uint64_t v = tape_number(&at);
        in->imm = (int64_t)(v >> 1 ^ (0 - (v & 1)));
    }
    return at;
}

/* prog.c: writes an entry, at most TAPE_ENTRY_MAX bytes; gives how many. */
size_t tape_put(uint8_t *to, const struct insn *in);
/* The entry if there is a whole one before end, and if it starts with an opcode that there is; else
 * NULL. */
const uint8_t *tape_read(const uint8_t *at, const uint8_t *end, struct insn *in);
#endif
