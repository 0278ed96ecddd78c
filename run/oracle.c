/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/event_get.h"

struct life {
    uint16_t m; /* that runs it, EVENT_NO_M */
};

void oracle_init(struct oracle *o)
{
    memset(o, 0, sizeof *o);
    gtable_init(&o->gs, sizeof(struct life));
}

void oracle_release(struct oracle *o) { gtable_release(&o->gs); }

static void wrong(struct oracle *o, const struct event_rec *r, const char *what, uint16_t other)
{
    int n;
    if (o->wrong[0] != 0)
        return;
    n = snprintf(o->wrong, sizeof o->wrong, "goroutine %" PRIu32 " %s at %" PRIu64 " ns on M%u",
                 r->g, what, r->time / 1000, r->m);
    if (other != EVENT_NO_M)
        snprintf(o->wrong + n, sizeof o->wrong - (size_t)n, ", and M%u runs it", other);
}

static void start(struct oracle *o, const struct event_rec *r)
{
    struct life *l = gtable_find(&o->gs, r->g);
    if (l == NULL)
        wrong(o, r, "runs, and is not alive,", EVENT_NO_M);
    else if (l->m != EVENT_NO_M)
        wrong(o, r, "starts", l->m);
    if (l != NULL)
        l->m = r->m;
}

static void stop(struct oracle *o, const struct event_rec *r)
{
    struct life *l = gtable_find(&o->gs, r->g);
    if (l != NULL)
        l->m = EVENT_NO_M;
}

static void end(struct oracle *o, const struct event_rec *r)
{
    const struct life *l = gtable_find(&o->gs, r->g);
    if (l == NULL)
        wrong(o, r, "ends, and is not alive,", EVENT_NO_M);
    else if (l->m != r->m)
        wrong(o, r, "ends", l->m);
    o->ended++;
    if (l != NULL)
        gtable_take(&o->gs, r->g);
}

static void birth(struct oracle *o, const struct event_rec *r)
{
    if (gtable_find(&o->gs, r->g) != NULL)
        wrong(o, r, "is born twice,", EVENT_NO_M);
    o->born++;
    *(struct life *)gtable_put(&o->gs, r->g) = (struct life){.m = EVENT_NO_M};
}

static void feed(struct oracle *o, const struct event_rec *r)
{
    switch ((enum event_type)r->type) {
    case EV_G_CREATE: birth(o, r); break;
    case EV_G_START: start(o, r); break;
    case EV_G_PARK:
    case EV_G_GOSCHED:
    case EV_G_PREEMPT: stop(o, r); break;
    case EV_G_SYSCALL_EXIT:
        if (get_g_syscall_exit(r).place != EV_place_none) /* without its P */
            stop(o, r);
        break;
    case EV_G_EXIT: end(o, r); break;
    default: break;
    }
}

void oracle_feed(struct oracle *o, const struct event_rec *recs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        feed(o, &recs[i]);
}
