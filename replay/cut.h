/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_CUT_H
#define GMPSIM_REPLAY_CUT_H

/* A part of a recorded trace as a trace of its own, with the statuses that it then begins with; and
 * without the names that are nobody's business. Functions of Go's standard library, reasons, and
 * what gmpsim's own recording logs keep their names. */

#include "replay/gotrace.h"

struct cut_opts {
    int64_t from_ns, to_ns; /* since the first sync; to_ns 0: up to the end */
    bool anonymize;
    int version; /* of the header that is written; 0: that of the trace */
};

/* Reads the trace to the end of the part. False: f says why. *events: how many were written;
 * *left_out: events of experiments, which are not. */
bool trace_write_part(struct trace *t, struct failure *f, const char *to, const struct cut_opts *o,
                      uint64_t *events, uint64_t *left_out);

#endif
