/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_WAITSFOR_H
#define GMPSIM_CLI_WAITSFOR_H

/* Who waits for whom, in words and as a picture. */

#include <stdio.h>

#include "run/waitsfor.h"

/* A line per goroutine (many alike: one line) and what it waits for; then the circle. */
void waitsfor_print(FILE *to, const struct waitsfor *w);
/* By the name's end: .svg, .dot or .json. title: what was run. Dies of mistakes. */
void waitsfor_check_name(const char *path);
void waitsfor_write(const char *path, const struct waitsfor *w, const char *title);

#endif
