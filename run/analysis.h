/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_ANALYSIS_H
#define GMPSIM_RUN_ANALYSIS_H

/* Event records into times: per goroutine group, per span, per P, queue lengths. Fed batch by batch
 * while the world runs; it keeps state per living goroutine and open span, never per record.
 *
 *   goroutine   runnable -> running -> waiting | syscall | runnable ...   times add up per group
 *   P           one class at a time (enum p_class); "throttled" and "no CPU" lie over what its M
 * was doing, except that a P in a system call stays there unless throttled
 *
 * An M that starts out spinning has no record that says so: the record of the end of spinning turns
 * the time since its P started into spinning. An assist is known when it is over: its time moves
 * from user to GC then, as far as its goroutine has run without a break. */

#include <stdint.h>

#include "model/prog.h"
#include "sim/base/gtable.h"
#include "sim/base/map.h"
#include "run/result.h"
#include "sim/base/event.h"

struct pclock {
    uint64_t since;
    uint8_t state;                   /* enum p_class, without the two that lie over it */
    bool off_cpu, throttled, asleep; /* of its M */
    bool gone;                       /* GOMAXPROCS shrank */
    uint64_t ps[PC_COUNT];
    uint64_t stretch; /* ps of user time since its goroutine started, or since a sample */
};

struct goroutine {
    uint64_t since, born; /* ps */
    uint32_t group;
    uint16_t p;    /* of its last record */
    uint8_t state; /* enum gstate */
};

struct analysis {
    const struct program *program;
    struct arena arena; /* histograms */
    struct gtable gs;   /* struct goroutine */
    struct map spans;   /* (key, span) -> begin in ns */
    struct run_group *groups;
    size_t ngroups;
    struct run_span *span_stats;
    struct hist runq_wait;
    struct pclock *ps; /* by P id */
    size_t nps;
    uint64_t runnable, runnable_max;
    uint64_t runnable_peak;  /* since whoever wants to know set it to `runnable` */
    uint64_t runnable_since; /* ps */
    uint64_t runnable_area;  /* count * ns */
    uint32_t idle_ps;        /* Ps that nobody has, now */
    struct idle_beside beside;
    uint64_t beside_at, beside_stretch; /* up to when it is known; how long it has been so */
    int32_t cpus;                       /* of the host; 0: dedicated */
    int32_t cpus_throttled;             /* now */
    uint64_t span_since; /* of the next span, ns + 1; 0: it begins when its record says */
    uint64_t now;        /* of the latest record */
};

bool analysis_init(struct analysis *a, const struct program *program, struct failure *f);
void analysis_feed(struct analysis *a, const struct event_rec *recs, size_t count);
/* Closes what is open at this time; feeding may go on afterwards. */
void analysis_until(struct analysis *a, uint64_t now_ps);
/* Only the Ps and the count of runnable goroutines, for a sample in between. */
void analysis_ps_until(struct analysis *a, uint64_t now_ps, uint64_t sum[PC_COUNT]);
void analysis_release(struct analysis *a);

/* A goroutine's group from its g_create record: 0 is the runtime's; then the program's groups; then
 * one per function for goroutines without a group. */
uint32_t analysis_group(const struct program *p, const struct event_rec *create);
const char *analysis_group_name(const struct program *p, uint32_t group);

#endif
