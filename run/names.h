/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_NAMES_H
#define GMPSIM_RUN_NAMES_H

/* What things are called, for whoever shows or stores what goroutines did. A program has names
 * (names_of_program), a recorded Go trace has others: nobody behind transitions.h knows which.
 *
 * Goroutines are in groups, numbered from 0, and group 0 is the runtime's. Two groups may have one
 * name. The texts live as long as the names. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct program;
struct event_rec;

struct naming {
    const void *of;
    uint32_t ngroups, nspans;
    uint32_t codeless; /* its goroutines run no instructions, as those of group 0; 0: no other */
    /* The number that people know a goroutine by; NULL: its own. */
    uint64_t (*goid)(const void *of, uint32_t g);
    const char *(*group)(const void *of, uint32_t group);
    const char *(*span)(const void *of, uint32_t span);
    /* A text and a function that records name by number; NULL: there is none. */
    const char *(*text)(const void *of, uint32_t text);
    const char *(*func)(const void *of, int32_t func);
    /* The line of the source that the instruction before `pc` comes from, the one in progress;
     * 0: not known, or there is none. */
    uint32_t (*line)(const void *of, uint32_t pc);
    /* ... and where it is, in words that need no line; NULL or no such function: line() says it. */
    const char *(*place)(const void *of, uint32_t pc);
    /* The name of the object that this instruction names; NULL: none. */
    const char *(*object)(const void *of, uint32_t pc);
    /* Of a goroutine that a record tells of: its function and the program's group (-1: none). */
    uint32_t (*group_of)(const void *of, int32_t func, int32_t group);
};

static inline bool names_has_code(const struct naming *n, uint32_t group)
{
    return group != 0 && group != n->codeless;
}

static inline uint64_t names_goid(const struct naming *n, uint32_t g)
{
    return n->goid != NULL ? n->goid(n->of, g) : g;
}

/* The program stays the caller's. Groups: the runtime's; then those that the program declares; then
 * one for each function, for goroutines without a group; then package context's. */
struct naming names_of_program(const struct program *p);
/* A goroutine's group, from the record of its birth (g_create). */
uint32_t names_born(const struct naming *n, const struct event_rec *r);

#endif
