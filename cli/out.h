/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_OUT_H
#define GMPSIM_CLI_OUT_H

/* What commands write to standard output: JSON, and text that others wrote. */

#include <cjson/cJSON.h>

#include "cli/cli.h"

/* Prints it on standard output, and frees it. */
void out_json(cJSON *o);
/* As text: JSON's numbers hold 53 bits. Seeds are decimal, fingerprints are not. */
void out_u64(cJSON *o, const char *name, uint64_t v);
void out_hash(cJSON *o, const char *name, uint64_t v);
/* What a program printed or a file holds: byte by byte, but nothing that steers a terminal. */
void out_foreign(FILE *to, const char *text, size_t size);
/* Around what stands out: nothing where it would be seen as text (no terminal, NO_COLOR). */
const char *out_bold(FILE *to);
const char *out_plain(FILE *to);

#endif
