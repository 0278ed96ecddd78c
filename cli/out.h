/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_OUT_H
#define GMPSIM_CLI_OUT_H

#include <cjson/cJSON.h>

#include "cli/cli.h"

/* Prints it on standard output, and frees it. */
void out_json(cJSON *o);

#endif
