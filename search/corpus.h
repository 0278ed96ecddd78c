/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_CORPUS_H
#define GMPSIM_SEARCH_CORPUS_H

/* A folder of schedules that were findings once. What is known is tried before anything is
 * searched, also when the program has changed meanwhile: the answers may still lead there. */

#include "search/kept.h"

struct corpus {
    char **paths; /* of its schedules, by name */
    size_t count;
    size_t tried;   /* that are about this scenario */
    size_t foreign; /* ... about others, */
    size_t broken;  /* or not to be read; the last one's mistake: */
    struct failure why;
};

/* False: f says why not. A folder that is not there yet is an empty one. */
bool corpus_open(struct failure *f, struct corpus *c, const char *dir);
void corpus_close(struct corpus *c);

/* Tries them in order. The index of the first whose run is a finding, which x is then; -1: none.
 * file: the scenario's path. */
long corpus_replay(struct corpus *c, const struct scenario *s, const char *file, struct finding *x);

/* Adds a finding, unless one with the same program, rules and verdict is there. Gives the path in
 * `path` ("" if nothing was added). */
bool corpus_add(struct failure *f, struct corpus *c, const char *dir, const char *file,
                const struct finding *x, char *path, size_t size);

#endif
