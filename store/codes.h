/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_CODES_H
#define GMPSIM_STORE_CODES_H

/* The numbers that stand in packed rows. They lie in files: what a number means never changes.
 * States are numbered here; of wait reasons, whose list changes with the model, each file has a
 * table of its own (reasons): a reason keeps the number that it got in that file, wherever it
 * stands in waitreason.def. */

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct transitions;

#define G_STATES(STATE) \
    STATE(0, notexist) STATE(1, runnable) STATE(2, running) STATE(3, waiting) STATE(4, syscall)
#define P_STATES(STATE) STATE(0, idle) STATE(1, running) STATE(2, syscall)
/* After a stretch that the end of the run cut off there is no state: NULL in the views. */

enum { G_NOTEXIST = 0, G_RUNNABLE = 1, G_RUNNING = 2, G_WAITING = 3, G_SYSCALL = 4, G_OPEN = 7 };
enum { P_IDLE = 0, P_RUNNING = 1, P_SYSCALL = 2, P_OPEN = 7 };

/* hows: the number of transitions in the lowest 3 bits; from bit HOW_AT on HOW_BITS for each: the
 * state before, the one after, the reason. Macros, as they are part of SQL too. */
#define COUNT_MASK   7
#define CHAIN_LENGTH 4
#define HOW_AT       4
#define HOW_BITS     14
#define TO_AT        3
#define WHY_AT       6
#define STATE_MASK   7
#define WHY_MASK     255
_Static_assert(WHY_MASK + 1 == 1 << (HOW_BITS - WHY_AT), "a reason has what is left");
_Static_assert(HOW_AT + HOW_BITS * CHAIN_LENGTH < 63, "and all fit");

/* Gives a number of the file to every reason that has none there. */
bool codes_put(struct sqlite3 *db, const struct transitions *t);
/* The file's number of one, made if need be; 0: the file has as many as there can be. */
uint8_t codes_of(struct sqlite3 *db, const char *reason);
/* The file's numbers, by those of the transitions. */
bool codes_get(struct sqlite3 *db, const struct transitions *t, uint8_t why[WHY_MASK + 1]);

#endif
