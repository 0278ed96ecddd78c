/* SPDX-License-Identifier: BSD-3-Clause */
/* Locked threads. runtime.LockOSThread is no event. It shows: from its fourth start on the
 * goroutine ran on one M, which ran nobody else, and nearly each time that M had been given a P
 * just for it, by another M: a locked thread never looks for work itself. */
#include <stdio.h>

#include "replay/infer.h"

enum { STARTS_MIN = 8 };

void infer_locked(struct recording *r, struct infer_found *f)
{
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_g *x = &r->gs[g];
        if (x->system || x->starts < STARTS_MIN)
            continue;
        f->of++;
        if (x->run_by == REC_NONE || x->fresh * 10 < (x->starts - 4) * 9)
            continue;
        x->locked = true;
        f->count++;
    }
    snprintf(f->text, sizeof f->text, "of %llu that ran often", (unsigned long long)f->of);
}
