/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/traced/traced.h"

#include <string.h>

#include "sim/virt/vm_int.h"

enum { WAITING_MAX = 4096 };

static struct traced_to to;
static struct event_rec waiting[WAITING_MAX]; /* in order */
static size_t nwaiting;
static uint64_t count, stop_after;
bool tr_orders_;
static bool stopped;

void traced_begin(const struct traced_to *listener)
{
    to = listener != NULL ? *listener : (struct traced_to){0};
    count = 0;
    nwaiting = 0;
    tr_orders_ = to.order != NULL;
    vm_heard_ = to.event != NULL ? tr_event_ : NULL;
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

/* ---- records in order ---- */

static bool comes_before(const struct event_rec *r, uint64_t time, uint16_t m)
{
    return r->time < time || (r->time == time && r->m <= m);
}

/* Tells the records up to that moment of that M. */
static void tell_until(uint64_t time, uint16_t m)
{
    size_t n = 0;
    while (n < nwaiting && comes_before(&waiting[n], time, m))
        to.event(to.arg, &waiting[n++]);
    nwaiting -= n;
    memmove(waiting, waiting + n, nwaiting * sizeof *waiting);
}

static void wait_for_order(const struct event_rec *rec)
{
    if (nwaiting == WAITING_MAX)
        throw("too many records wait for their order");
    size_t i = nwaiting++;
    for (; i > 0 && !comes_before(&waiting[i - 1], rec->time, rec->m); i--)
        waiting[i] = waiting[i - 1];
    waiting[i] = *rec;
}

void traced_settle(bool ended)
{
    if (ended)
        tell_until(vm_w_.now, UINT16_MAX);
    else
        tell_until(vm_settled_() - 1, UINT16_MAX);
    if (ended)
        nwaiting = 0;
}

void tr_op_(struct traced_op *op)
{
    op->number = ++count;
    op->m = (uint16_t)vm_hot.front->who;
    op->p = (uint16_t)(vm_hot.front->who >> 16);
    if (nwaiting > 0)
        tell_until(op->time_ps, op->m);
    if (to.op != NULL)
        to.op(to.arg, op);
    if (count == stop_after)
        traced_stop_now();
}

void tr_order_(enum race_edge edge, uint32_t goid, uint64_t with)
{
    to.order(to.arg, (uint16_t)vm_hot.front->who, edge, goid, with);
}

void tr_event_(void)
{
    struct event_rec rec;
    if (to.event == NULL || event_log_last(&vm_log_, &rec, 1) != 1)
        return;
    if (to.in_order)
        wait_for_order(&rec);
    else
        to.event(to.arg, &rec);
}
