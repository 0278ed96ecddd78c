/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_EXPLORE_SCHEDULE_H
#define GMPSIM_EXPLORE_SCHEDULE_H

/* A schedule in a file: what was run, and the answers. Text, so that it can be mailed, diffed and
 * cut by hand.
 *
 *     gmpsim-schedule 1
 *     scenario wake.json          any number of "key value" lines; keys: a-z, 0-9 and -
 *     seed 33
 *     memory tso
 *     answers 17
 *     t2:0*13 t3:1 l2:1           letter of the kind, number of answers, the answer, times
 *     d8:5 b3:2
 *     end 9f86d081884c7d65        checksum of the answers
 *
 * Letters: t thread, b thread or buffer, l load, s store, d draw, f fault, i tie at one instant, g
 * goroutine (enum choice_kind). */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/choose.h"

struct failure;

enum {
    SCHEDULE_PAIRS_MAX = 64,
    SCHEDULE_KEY_MAX = 31,
    SCHEDULE_VALUE_MAX = 255,
    SCHEDULE_ANSWERS_MAX = 1 << 24,
    SCHEDULE_FILE_MAX = 1 << 28,
    SCHEDULE_VERSION = 1
};

struct schedule_pair {
    char key[SCHEDULE_KEY_MAX + 1];
    char value[SCHEDULE_VALUE_MAX + 1];
};

struct schedule {
    struct schedule_pair pairs[SCHEDULE_PAIRS_MAX];
    uint32_t pair_count;
    struct answer *answers; /* malloc'ed */
    size_t count, capacity;
};

void schedule_init(struct schedule *s);
void schedule_release(struct schedule *s);

/* Adds or replaces. 0, or a negative fail code: bad key, bad value, too many. */
int schedule_set(struct schedule *s, struct failure *f, const char *key, const char *value);
const char *schedule_get(const struct schedule *s, const char *key); /* NULL: not there */
/* Takes a copy of the answers. */
int schedule_take(struct schedule *s, struct failure *f, const struct answer *a, size_t count);

/* name is what messages call the text: file:line:column. Reads into an initialised, empty schedule.
 */
int schedule_parse(struct schedule *s, struct failure *f, const char *name, const char *text,
                   size_t size);
int schedule_print(const struct schedule *s, FILE *out); /* 0, or -1 and errno */

int schedule_load(struct schedule *s, struct failure *f, const char *path);
/* Written beside and renamed: never half a file. */
int schedule_save(const struct schedule *s, struct failure *f, const char *path);

#endif
