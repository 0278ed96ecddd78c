/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_EXPLORE_SEEDS_H
#define GMPSIM_CLI_EXPLORE_SEEDS_H

/* A search for many seeds, in several processes, with a journal: what was killed goes on where it
 * was. The result is that of a search of one seed after the other: the first seed with a finding
 * counts, and what other processes did for later seeds does not. */

#include "cli/cli.h"
#include "cli/shard.h"

/* What the first line of a journal says. */
#define SEEDS_WHAT "searched seeds, 1"

/* "1-500", also "0x10-0x1f": a range; anything else is one seed, a text's hash. Dies of mistakes.
 */
void seeds_parse(const char *text, uint64_t *first, uint64_t *count);

struct seed_result {
    uint64_t runs, steps, cut;
    int64_t exhausted;
    bool found;
    bool whole; /* time did not end it */
};

struct seeds {
    uint64_t first, count;
    int64_t jobs;        /* processes */
    const char *journal; /* NULL: none */
    struct shard shard;  /* of the seeds */
    uint64_t hash;       /* of all that decides what is searched */
    void *arg;
    void (*search)(void *arg, uint64_t seed, struct seed_result *r);
};

/* The index of the first seed with a finding, `count` if there is none; sum: of those before it.
 * Dies of mistakes, and when a search did. */
uint64_t seeds_search(struct seeds *s, struct seed_result *sum);
/* The journals of parts: says what they come to, and writes them as one, `into`, if that is not
 * NULL: from there the search goes on as if one machine had done it. Exit status. */
int seeds_merge(char *const *paths, int count, const char *into, bool json);

#endif
