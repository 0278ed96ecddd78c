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
 * Names are those of costs.def and work.def; every one appears exactly once. Numbers are whole, 0
 * to COST_MAX_PS, and have a source. A table with "inherits": NAME need only hold what differs from
 * that one, a table of costs/ (they are part of the program); "reference" is the built-in one.
 */
#ifndef GMPSIM_COSTS_JSON_H
#define GMPSIM_COSTS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/base/fail.h"
#include "sim/virt/costs.h"

enum { COSTS_FILE_MAX = 1 << 20, COSTS_NAME_MAX = 64 };

struct cost_table {
    char name[COSTS_NAME_MAX];
    struct costs costs;
};

/* The tables of costs/; the last has no name. */
struct costs_shipped {
    const char *name, *text;
    size_t size;
};
extern const struct costs_shipped costs_shipped[];

/* A file, or the name of a table of costs/. */
bool costs_load(struct failure *f, const char *path, struct cost_table *out);
/* path: only for messages. The text need not end with NUL. */
bool costs_parse(struct failure *f, const char *path, const char *text, size_t size,
                 struct cost_table *out);

#endif
