/* SPDX-License-Identifier: BSD-3-Clause */
/* The one way to build a world, and whose the present one is. */
#include "run/host.h"

static const struct host *current;

const struct host *world_host(void) { return current; }

void world_build(const struct host *h, const struct world_opts *o)
{
    void *arg;
    struct world_opts mine = *o;
    if (h->prepare != NULL)
        h->prepare(&mine);
    struct hostm *m0 = h->core->init(&mine, &arg);
    h->start(m0, h->core->run_m0, arg);
}

bool world_open(const struct host *h, struct failure *f, const struct host_opts *o)
{
    current = h;
    if (!h->open(h, f, o))
        return false;
    world_build(h, &o->world);
    return true;
}
