/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/traced/trace.h"

#include "sim/virt/vm_int.h"

static struct traced_to to;
static uint64_t count, stop_after;
static bool stopped;

void traced_begin(const struct traced_to *listener)
{
    to = listener != NULL ? *listener : (struct traced_to){0};
    count = 0;
    traced_stop_after(0);
}

void traced_stop_after(uint64_t number)
{
    stop_after = number;
    stopped = false;
}

bool traced_stopped(void) { return stopped; }

uint64_t traced_count(void) { return count; }

/* An event that is due before everything else; taking it does not touch the world. */
void traced_stop_now(void)
{
    stopped = true;
    vm_event_cancel_(VE_UNTIL, &vm_w_.until_event);
    vm_w_.until_event = vm_event_(vm_w_.now, VE_UNTIL, 0);
}

void tr_op_(struct traced_op *op)
{
    op->number = ++count;
    op->m = (uint16_t)vm_hot.front->who;
    op->p = (uint16_t)(vm_hot.front->who >> 16);
    if (to.op != NULL)
        to.op(to.arg, op);
    if (count == stop_after)
        traced_stop_now();
}

void tr_event_(void)
{
    struct event_rec rec;
    if (to.event != NULL && event_log_last(&vm_log_, &rec, 1) == 1)
        to.event(to.arg, &rec);
}
