/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_CSV_H
#define GMPSIM_CLI_CSV_H

/* CSV of what a command prints with --json: a table is a member of that document which is a list of
 * objects, or an object of them by name ("spans", "finding.turns"). A column is a member of theirs;
 * of an object within it "a.b"; a list of plain values is one cell, separated by blanks. */

#include <cjson/cJSON.h>

#include "cli/cli.h"

struct csv_wish {
    bool csv;
    const char *table;
};

#define CSV_OPTS(w)                                                                      \
    {"csv", NULL, "a table as CSV, times in ns", OPT_FLAG, &(w).csv},                    \
    {                                                                                    \
        "table", "NAME", "which table, a member of the JSON document; as CSV", OPT_TEXT, \
            &(w).table                                                                   \
    }

/* After the options were read: is a document wanted? If as CSV, out_json prints this table of it,
 * without a name given `main_table` (NULL: the document is the table). */
bool csv_or_json(const struct csv_wish *w, bool json, const char *main_table);
/* What out_json asks: prints the document's table; false: JSON is wanted. */
bool csv_print(const cJSON *document);

#endif
