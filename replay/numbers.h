/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_NUMBERS_H
#define GMPSIM_REPLAY_NUMBERS_H

/* Texts, numbered in the order in which they were first seen. */

#include <stdint.h>

#include "sim/base/map.h"

struct numbers {
    const char **text; /* the caller's */
    uint32_t count, room;
    struct map by_hash;
};

uint32_t texts_number(struct numbers *n, const char *text);
void texts_numbers_release(struct numbers *n);

#endif
