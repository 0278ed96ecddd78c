/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_ORACLE_H
#define GMPSIM_RUN_ORACLE_H

/* What must hold of every goroutine, from the records alone, on any host: it is born once, one M
 * runs it at a time, and nobody does after its end. It reads records by itself: the reader of
 * transitions.h keeps one state per goroutine, so two Ms that run one would not be seen by it. */

#include <stdbool.h>

#include "sim/base/event.h"
#include "sim/base/gtable.h"

struct oracle {
    struct gtable gs;
    uint64_t born, ended;
    char wrong[160]; /* the first thing that did not hold; "": all did */
};

void oracle_init(struct oracle *o);
/* In the order of time. */
void oracle_feed(struct oracle *o, const struct event_rec *recs, size_t count);
void oracle_release(struct oracle *o);

#endif
