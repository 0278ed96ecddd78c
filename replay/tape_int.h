/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TAPE_INT_H
#define GMPSIM_REPLAY_TAPE_INT_H

/* A program while it is made from a recording (tape.c, tape_ops.c). */

#include "replay/numbers.h"
#include "replay/tape.h"

/* enum trace_state, as rec_g.at_start has it */
enum { STATE_RUNNABLE = 2, STATE_RUNNING = 3, STATE_WAITING = 4 };

struct tp {
    const struct recording *r;
    const struct tape_opts *o;
    uint8_t *bytes;
    size_t used, room;
    uint64_t *starts; /* of the tapes */
    uint32_t ntapes;
    uint32_t root;                          /* goroutine, REC_NONE: our own */
    uint32_t all, there;                    /* wait groups of our own */
    uint32_t *tape_of, *func_of, *start_of; /* by goroutine */
    bool *armed;
    uint32_t nstarts;
    uint32_t *write_at, *write_next; /* writes of a goroutine, in order */
    struct numbers names;
    int64_t cpu, spent; /* of the stretch in progress: it ran; of which it did not work */
};

void tape_emit(struct tp *t, enum op op, int a, int b, int c, int32_t d, int64_t imm);
void tape_emit_obj(struct tp *t, enum op op, uint32_t object);
/* infer_syscalls.c: does the call wait in the kernel, or use a CPU? */
bool tape_is_off_cpu(const struct recording *r, uint32_t site, int64_t ns);

#endif
