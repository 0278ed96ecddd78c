/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TRACED_TRACED_H
#define GMPSIM_TRACED_TRACED_H

/* The atomic operations of a run on the traced host (host.h), one by one, in the order in which
 * they happen; with the event records between them. And a run that stops after one of them. */

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/traced.h"

/* Before a run: counts from 1 again. NULL: nobody listens. */
void traced_begin(const struct traced_to *to);
/* vm_run returns END_TIME when operation `number` and the plain code after it are done. 0: never.
 */
void traced_stop_after(uint64_t number);
/* Called by a listener: vm_run returns END_TIME when the plain code that is under way is done. */
void traced_stop_now(void);
bool traced_stopped(void); /* since the last traced_stop_after, vm_run has returned so */
uint64_t traced_count(void);
/* vm_run came back: what waits for its order and is settled is told; at the end of the world all up
 * to its last moment, and the rest did not happen. */
void traced_settle(bool ended);

/* For host.h. */
void tr_op_(struct traced_op *op);
void tr_event_(void);   /* the record that was just made */
extern bool tr_orders_; /* somebody hears of what orders goroutines */
void tr_order_(enum race_edge edge, uint32_t goid, uint64_t with);

#endif
