/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TRACK_NAMES_H
#define GMPSIM_REPLAY_TRACK_NAMES_H

/* The names of a recorded trace behind run/names.h: groups are the functions that goroutines begin
 * with, spans are its tasks and regions, and places are lines of the program in which goroutines
 * wait. Of groups and spans so many are told apart, the rest is "(others)": each costs its
 * listeners some kilobytes, and a trace may have as many names as bytes. */

#include <stdbool.h>
#include <stdint.h>

#include "replay/trace.h"
#include "run/names.h"
#include "sim/base/map.h"

enum { TRACK_GROUP_RUNTIME, TRACK_GROUP_UNKNOWN };

struct name_list {
    struct map numbers; /* (string, kind) -> a: its number */
    char **names;
    uint32_t count, room, max;
    uint32_t others; /* 0: none yet */
};

struct track_place {
    uint32_t func, file; /* strings */
    uint64_t line;
    char *text; /* NULL until somebody asks */
};

struct track_names {
    const struct trace *t; /* set by whoever opens it; strings and stacks keep their numbers */
    struct name_list groups, spans;
    struct track_place *places;
    uint32_t nplaces, places_room;
    struct map place_of; /* (function, line) -> a */
    uint32_t *of_stack;  /* by stack: 1 + place, and a bit; 0: not looked at */
    uint32_t of_stack_room;
};

void track_names_init(struct track_names *n);
void track_names_release(struct track_names *n);

/* The group of goroutines that have such a stack; 0: the stack says nothing. */
uint32_t track_group(struct track_names *n, uint32_t stack);
void track_learn_span(struct track_names *n, uint32_t string, bool task);
/* UINT32_MAX: nobody has begun such a one. */
uint32_t track_span(const struct track_names *n, uint32_t string, bool task);
/* Where in the program: the innermost frame that is not the standard library's. For
 * naming.place; EVENT_NO_PC: the stack is empty. */
uint32_t track_place_of(struct track_names *n, uint32_t stack);
/* It waits in sync.(*WaitGroup).Wait, for others: the tracer gives locks the same reason. */
bool track_waits_for_group(struct track_names *n, uint32_t stack);

/* What is known by now. The names stay where they are. */
struct naming track_naming(const struct track_names *n);

#endif
