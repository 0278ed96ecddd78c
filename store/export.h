/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_EXPORT_H
#define GMPSIM_STORE_EXPORT_H

/* Records as text files, written while the world runs.
 *
 *   JSON lines   an object per record: time_ns, event, m, p, g and the record's own arguments
 *   Chrome JSON  for ui.perfetto.dev and chrome://tracing: a track per P with a slice per stretch
 * of a goroutine, tracks for spans, and the number of runnable goroutines */

#include <stdbool.h>
#include <stddef.h>

#include "model/prog.h"
#include "sim/base/event.h"
#include "sim/base/fail.h"

struct export;

enum export_kind { EXPORT_JSONL, EXPORT_CHROME };

/* NULL: f says why. "-" is standard output. */
struct export *export_open(struct failure *f, const char *path, enum export_kind kind,
                           const struct program *program);
void export_sink(void *e, const struct event_rec *recs, size_t count);
/* False: something could not be written. */
bool export_close(struct export *e, struct failure *f);

#endif
