/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_SCALE_H
#define GMPSIM_CLI_SCALE_H

/* A program with more or fewer arrivals: gaps shorter, times nearer, or more clients. */

#include "cli/cli.h"

struct scaled {
    struct program program; /* a copy; what changes is its own */
    struct arrivals *arrivals;
    struct dist *dists;
    const struct dist **list;
    int64_t *times;
};

enum { RATE_ONE = 1000000 }; /* millionths */

/* How many arrival processes of the program have a rate. */
uint32_t scale_count(const struct program *p);
void scale_program(struct scaled *s, const struct program *p, int64_t rate_ppm);
void scale_release(struct scaled *s);

#endif
