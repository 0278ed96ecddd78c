/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cost tables as files. A table is input like any other: it is complete and correct, or refused
 * with file:line:column and the reason (failure code E_COST; E_IO when the file cannot be read).
 *
 *     {
 *       "version": 1, "name": "reference", "unit": "ps",
 *       "ports": { "amd64": { "load": { "hit": 1000, "miss": 16000, "source": "" }, ... }, ... },
 *       "costs": { "futex_sleep": { "ps": 400000, "source": "..." }, ... },
 *       "work":  { "schedule": { "ps": 3000, "source": "..." }, ... }
 *     }
 *
 * "releases": { "go1.23": { "mark_kb": { "ps": 350000, "source": "..." } } } may give work of its
 * own to a release and those after it, up to the next that is named; the first named stands for
 * older ones, too.
 *
 * Names are those of costs.def and work.def; every one appears exactly once. Numbers are whole, 0
 * to COST_MAX_PS, and have a source. A table with "inherits": NAME need only hold what differs from
 * that one, a table of costs/ (they are part of the program); "reference" is the built-in one.
 */
#ifndef GMPSIM_COSTS_JSON_H
#define GMPSIM_COSTS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/profile.h"
#include "sim/base/fail.h"
#include "sim/virt/costs.h"

enum { COSTS_FILE_MAX = 1 << 20, COSTS_NAME_MAX = 64, COSTS_RELEASES_MAX = 16 };

/* Compiled Go is not equally fast in each release: work of its own from this one on. */
struct costs_release {
    int release;
    uint32_t work[W_COUNT]; /* COSTS_UNSAID: as in the others */
};
#define COSTS_UNSAID UINT32_MAX

struct cost_table {
    char name[COSTS_NAME_MAX];
    struct costs costs;
    struct costs_release releases[COSTS_RELEASES_MAX]; /* rising */
    int nreleases;
};

/* The tables of costs/; the last has no name. */
struct costs_shipped {
    const char *name, *text;
    size_t size;
};
extern const struct costs_shipped costs_shipped[];

/* A file, or the name of a table of costs/. */
bool costs_load(struct failure *f, const char *path, struct cost_table *out);
/* What the table says of this release. */
void costs_of_release(const struct cost_table *t, int release, struct costs *out);
/* The rules about marking that are a machine's, if the table has them. */
void costs_rules(const struct costs *c, struct profile *p);
/* path: only for messages. The text need not end with NUL. */
bool costs_parse(struct failure *f, const char *path, const char *text, size_t size,
                 struct cost_table *out);

#endif
