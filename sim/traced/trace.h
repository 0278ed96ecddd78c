/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TRACED_TRACE_H
#define GMPSIM_TRACED_TRACE_H

/* The atomic operations of a run on the traced host (host.h), one by one, in the order in which
 * they happen; with the event records between them. And a run that stops after one of them. */

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/event.h"

enum traced_value { TRACED_UNSIGNED, TRACED_SIGNED, TRACED_POINTER };

struct traced_site {
    const char *file, *func;
    uint32_t line;
    const char *op;    /* load, store, cas, xchg, xchg8, add, or, and */
    const char *order; /* as Go declares it: sc, acq, rel, rlx (a plain access in Go) */
    const char *field; /* as the source says it: "&pp->runqhead" */
    enum traced_value value;
};

struct traced_op {
    uint64_t number; /* from 1 */
    uint64_t time_ps;
    uint16_t m, p; /* EVENT_NO_M, EVENT_NO_P */
    const struct traced_site *site;
    const void *addr;
    uint64_t before, after;
    uint64_t wanted; /* cas: the value that it compares with */
    bool done;       /* false: a cas that failed */
};

/* Either may be NULL. Called on an M's stack, between two points. */
struct traced_to {
    void (*op)(void *arg, const struct traced_op *op);
    void (*event)(void *arg, const struct event_rec *rec);
    void *arg;
};

/* Before a run: counts from 1 again. NULL: nobody listens. */
void traced_begin(const struct traced_to *to);
/* vm_run returns END_TIME when operation `number` and the plain code after it are done. 0: never.
 */
void traced_stop_after(uint64_t number);
/* Called by a listener: vm_run returns END_TIME when the plain code that is under way is done. */
void traced_stop_now(void);
bool traced_stopped(void); /* since the last traced_stop_after, vm_run has returned so */
uint64_t traced_count(void);

/* For host.h. */
void tr_op_(struct traced_op *op);
void tr_event_(void); /* the record that was just made */

#endif
