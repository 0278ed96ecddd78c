/* SPDX-License-Identifier: BSD-3-Clause */
/* Data races: what the model tells goes to sim/base/race.c. Nothing of it is kept with the common
 * beginning of runs, which touches no variable. */
#include "sim/base/race.h"
#include "sim/explore/ex_int.h"
#include "sim/explore/host.h"

static struct race race;

/* Ids there: a thread's that acts for a timer, then those of goroutines. */
enum { GOROUTINES = EX_THREADS_MAX };

static uint32_t id_of(uint32_t goid)
{
    return goid != 0 ? GOROUTINES + goid : (uint32_t)(ex.cur != NULL ? ex.cur->id : 0);
}

void ex_races_begin_(void)
{
    if (ex.o.races)
        race_begin(&race);
}

void ex_races_free_(void) { race_free(&race); }

uint32_t ex_race_actor_(uint32_t goid) { return ex.cur != NULL && ex.cur->for_timer ? 0 : goid; }

void ex_race_tell_(enum race_edge edge, uint32_t goid, uint64_t with)
{
    bool other = edge == RACE_CREATE || edge == RACE_HAND;
    if (edge == RACE_TIMER || edge == RACE_TIMER_END) {
        if (ex.cur != NULL)
            ex.cur->for_timer = edge == RACE_TIMER;
        if (edge == RACE_TIMER)
            race_becomes(&race, id_of(0), with);
        return;
    }
    race_tells(&race, edge, id_of(goid), other ? id_of((uint32_t)with) : with);
}

void ex_race_access_(uint32_t goid, uint32_t pc, uint64_t addr, int32_t object, enum race_kind kind)
{
    race_accesses(&race, &(struct race_access){id_of(goid), pc, kind}, addr, object);
}

const struct race_report *ex_races(uint32_t *count)
{
    static struct race_report reports[RACE_REPORTS_MAX];
    *count = ex.o.races ? race.report_count : 0;
    for (uint32_t i = 0; i < *count; i++) {
        reports[i] = race.reports[i];
        reports[i].first.goid -= GOROUTINES;
        reports[i].second.goid -= GOROUTINES;
    }
    return reports;
}
