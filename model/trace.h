/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost that a running execution trace has, and its reader goroutine. */
#ifndef MODEL_TRACE_H
#define MODEL_TRACE_H
#include "step.h"

/* Is there a trace, or the end of one? */
static inline bool trace_active(void)
{
    return a_peek(&rt->trace.on) || a_peek(&rt->trace.shutdown);
}

static void trace_world_init(void);
static COLD void trace_events(struct m *mp, uint32_t n);
static COLD struct g *traceReaderAvailable(void);
static COLD struct g *traceReader(void);
static enum opres traceStart(struct g *gp);
static enum opres traceStop(struct g *gp);
#endif
