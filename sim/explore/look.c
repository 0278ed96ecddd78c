/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of the last run. */
#include "sim/explore/ex_int.h"

enum world_end ex_why(void) { return ex.why; }
const char *ex_text(void) { return ex.text; }
int ex_finding_kind(void) { return ex.finding_kind; }

const struct world_verdict *ex_verdict(void)
{
    static struct world_verdict v;
    v = (struct world_verdict){
        .kind = ex.finding_kind, .text = ex.text, .m = ex.ender, .at_ps = ex.order};
    return &v;
}

uint64_t ex_fingerprint(void) { return fp_value(&ex_hot.fp); }
uint64_t ex_steps(void) { return ex_steps_(); }
int64_t ex_now(void) { return (int64_t)(ex.order / 1000); }
int ex_threads(void) { return ex.thread_count; }

const struct answer *ex_answers(size_t *count)
{
    *count = ex.ch.count;
    return ex.ch.log;
}

const char *ex_waits(int tid)
{
    static const char *const names[] = {NULL, "futex", "sleep", "burst", "syscall", "poll", NULL};
    return tid >= 0 && tid < ex.thread_count ? names[ex.threads[tid].wait] : NULL;
}

void ex_totals(struct ex_totals *t)
{
    *t = ex.totals;
    ex_seen_totals_(t);
}
