/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_OPS_H
#define GMPSIM_RUN_OPS_H

/* Atomic operations of a traced run (run_opts.traced) as text: whose field it is, and the values,
 * with goroutines, Ms and Ps by name. */

#include "sim/traced/traced.h"

/* "     12        1.234567us M0 P0 g1    cas   sc   [g5] &gp->atomicstatus  1 -> 2  casgstatus
 * gstatus.c:73". Valid until the next call. */
const char *op_text(const struct traced_op *op);
/* A record in the same columns. */
const char *op_event_text(const struct event_rec *rec);

#endif
