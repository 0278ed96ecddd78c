/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_OVERLAY_H
#define GMPSIM_CLI_OVERLAY_H

/* Go sources for `go build -overlay`, made from the user's own GOROOT: the program writes a trace
 * when GMPSIM_TRACE names a file, and of a deep recording, its locks, channels, wait groups and
 * timers say in the trace what is done to them. */

#include <stdbool.h>

#include "sim/base/fail.h"

struct overlay_opts {
    const char *goroot;
    const char *main_dir; /* of package main: it gets a file that starts the trace; NULL: none */
    const char *dir;      /* an empty folder of ours */
    bool deep;
};

/* Writes DIR/overlay.json and what it names. False: this release's sources are not what we know. */
bool overlay_write(struct failure *f, const struct overlay_opts *o);
/* The file that is added to package main. */
#define OVERLAY_MAIN "zz_gmpsim_record.go"

#endif
