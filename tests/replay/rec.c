/* SPDX-License-Identifier: BSD-3-Clause */
#include "rec.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

struct recording *R;

void rec_new(void)
{
    recording_free(R);
    R = recording_new();
    R->version = 26;
    R->procs = 2;
    R->length = INT64_C(1000000000);
    (void)rec_site(LEAF_OTHER, "");
}

uint32_t rec_site(enum rec_leaf leaf, const char *func)
{
    X_ROOM(R->sites, R->nsites, R->sites_room, 64);
    R->sites[R->nsites] = (struct rec_site){.func = func,
                                            .file = "x.go",
                                            .line = R->nsites,
                                            .leaf = leaf,
                                            .told = {func, "x.go", R->nsites}};
    return R->nsites++;
}

uint32_t rec_goroutine(uint32_t creator, const char *name, int64_t born, int64_t ended)
{
    X_ROOM(R->gs, R->ngs, R->gs_room, 64);
    R->gs[R->ngs] = (struct rec_g){.id = R->ngs + 1,
                                   .creator = creator,
                                   .go_site = REC_NONE,
                                   .name = name,
                                   .born = born,
                                   .born_low = born,
                                   .ended = ended,
                                   .run_by = REC_NONE,
                                   .last_wait = REC_NONE,
                                   .done = REC_NONE,
                                   .deals = REC_NONE,
                                   .at_start = born < 0 ? 3 : 0};
    if (creator != REC_NONE)
        rec_put(R, creator, REC_GO, R->ngs, 0);
    return R->ngs++;
}

uint32_t rec_wait(uint32_t g, uint32_t waker, uint32_t site, uint8_t reason, int64_t from,
                  int64_t woken)
{
    uint32_t number = R->nwaits;
    *rec_add_wait(R) = (struct rec_wait){.g = g,
                                         .waker = waker,
                                         .site = site,
                                         .by_site = REC_NONE,
                                         .from = from,
                                         .woken = woken,
                                         .on = woken,
                                         .due_low = from,
                                         .object = REC_NONE,
                                         .reason = reason,
                                         .level = 1,
                                         .by_sched = waker == REC_NONE};
    rec_put(R, g, REC_WAIT, number, 0);
    if (waker != REC_NONE)
        rec_put(R, waker, REC_POST, number, 0);
    return number;
}

void rec_write(uint32_t g, uint32_t site, int64_t from, int64_t until)
{
    X_ROOM(R->writes, R->nwrites, R->writes_room, 64);
    R->writes[R->nwrites++] = (struct rec_write){
        .g = g, .site = site, .object = REC_NONE, .from = from, .until = until};
    rec_put(R, g, REC_SYS, (uint64_t)(until - from), site);
}

void rec_cpu(uint32_t g, int64_t ns)
{
    rec_put(R, g, REC_CPU, (uint64_t)ns, 0);
    R->gs[g].cpu += ns;
}

void rec_done(void)
{
    for (uint32_t g = 0; g < R->ngs; g++)
        if (R->gs[g].ended != INT64_MAX)
            rec_put(R, g, REC_END, 0, 0);
}
