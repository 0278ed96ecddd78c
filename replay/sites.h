/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_SITES_H
#define GMPSIM_REPLAY_SITES_H

/* Stacks and strings of a trace that is being read, as sites and texts of a recording. */

#include "replay/recording.h"
#include "replay/trace.h"

struct sites {
    struct recording *r;
    struct trace *t;
    const char **texts; /* by the trace's number; the pool's */
    uint32_t *of_stack; /* site + 1, by the trace's number */
    uint32_t texts_room, stacks_room;
};

const char *sites_string(struct sites *s, uint32_t string);
uint32_t sites_of(struct sites *s, uint32_t stack);
/* The function that a goroutine with this stack runs; NULL: not known. */
const char *sites_function(struct sites *s, uint32_t stack);
/* A function of the runtime's or of package sync's: what the program is in, not where it is. */
bool sites_is_inner(const char *func);
void sites_release(struct sites *s);

#endif
