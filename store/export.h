/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_EXPORT_H
#define GMPSIM_STORE_EXPORT_H

/* Records as JSON lines, written while the world runs: an object per record with time_ns, event, m,
 * p, g and the record's own arguments (docs/records.md). */

#include <stdbool.h>
#include <stddef.h>

#include "model/prog.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"

struct export;

/* NULL: f says why. "-" is standard output. */
struct export *export_open(struct failure *f, const char *path, const struct program *program);
void export_sink(void *e, const struct event_rec *recs, size_t count);
/* False: something could not be written. */
bool export_close(struct export *e, struct failure *f);

#endif
