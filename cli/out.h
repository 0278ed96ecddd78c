/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_OUT_H
#define GMPSIM_CLI_OUT_H

#include <cjson/cJSON.h>

#include "cli/cli.h"

/* Prints it on standard output, and frees it. */
void out_json(cJSON *o);
/* What a program printed or a file holds: byte by byte, but nothing that steers a terminal. */
void out_foreign(FILE *to, const char *text, size_t size);

#endif
