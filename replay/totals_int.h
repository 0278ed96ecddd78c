/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_TOTALS_INT_H
#define GMPSIM_REPLAY_TOTALS_INT_H

/* What the files of the sums share: totals.c has goroutines, Ps and ranges, totals_waits.c run
 * queues and idle Ps, totals_named.c regions and tasks. */

#include "replay/totals.h"
#include "replay/trace_int.h"
#include "sim/base/map.h"

enum { GS_PER_PAGE = 1024, PAGES_KEPT = 1024 }; /* of goroutines that ended: a million */

/* A region that a goroutine is inside of: what its clocks said as it began. */
struct open_region {
    uint32_t name;
    uint64_t task;
    int64_t begin, ns[SPENT_COUNT], idle_ns;
    struct reasons waits;
};

struct task_link {
    struct live_task *task;
    uint32_t regions; /* of the task that the goroutine is inside of */
    bool creator;
};

struct live_g {
    int64_t since;              /* of its state */
    int64_t no_p_since;         /* in a system call without a P; -1: not */
    int64_t queued;             /* when it became runnable */
    int64_t idle_at;            /* the clock of idle Ps then */
    uint64_t m;                 /* on which it is in a system call */
    uint32_t reason;            /* of its wait */
    bool unblocked;             /* runnable, after a wait */
    struct live_g *next, *prev; /* in the run queue, the longest waiting first */
    struct goroutine_total *row;
    struct open_region *regions;
    uint32_t nregions, regions_room;
    struct task_link *links;
    uint32_t nlinks, links_room;
};

struct live_task {
    uint64_t id;
    uint32_t name;
    uint32_t in[SPENT_COUNT]; /* goroutines inside of a region of it, by what they do */
    struct live_g *creator;   /* NULL: ended */
    struct live_g **members;  /* goroutines that have a link to it */
    uint32_t nmembers, members_room;
    int64_t begin, since, idle_at;
    uint32_t reason; /* of the latest wait of one of them */
    struct named_time time;
};

struct live_p {
    size_t at; /* in totals.ps */
    int64_t since;
    bool idle;   /* nothing runs on it */
    bool usable; /* ... and it is below GOMAXPROCS */
    uint64_t m;  /* that holds it */
};

struct live_m {
    struct live_p *p; /* that it holds */
    uint32_t syscall; /* index of the goroutine that was last in a system call on it */
};

struct g_page {
    struct goroutine_total rows[GS_PER_PAGE];
    struct live_g *live[GS_PER_PAGE];
    uint32_t ended;
};

struct totals_state {
    struct arena arena;
    struct g_page **pages;
    size_t npages;
    struct id_table ps, ms, tasks; /* struct live_p, live_m, live_task */
    struct map ranges;             /* (id, name) -> begin, index + 1 in gc_and_stw (a) */
    struct map named, range_index; /* name -> index in totals.named, .ranges */
    struct live_g queue;           /* ring */
    uint64_t nqueue, nidle, stw;   /* runnable goroutines, idle Ps, stopped worlds */
    uint64_t procs;                /* GOMAXPROCS; 0: not said yet */
    int64_t idle_sum, idle_since;  /* the clock of idle Ps: runs while one is, and no world stops */
    uint64_t *idle_first;          /* Ps that are idle as the trace begins */
    size_t nidle_first;
    bool unused_open;
    struct unused unused;
};

/* ---- totals.c ---- */

void reasons_add(struct reasons *r, uint32_t reason, int64_t ns);

/* Charges the time since its last change to the goroutine's state. */
void g_charge(struct totals *t, struct live_g *g, int64_t now);
struct live_g *live_of(const struct totals *t, uint32_t index);

/* ---- totals_waits.c ---- */

int64_t idle_clock(const struct totals *t, int64_t now);
void queue_enter(struct totals *t, struct live_g *g, int64_t now);
/* g runs on this P from now on, or is in no queue any more (TRACE_NONE). */
void queue_leave(struct totals *t, struct live_g *g, uint64_t p, int64_t now);
void p_idle(struct totals *t, struct live_p *p, bool idle, int64_t now);
void procs_change(struct totals *t, uint64_t procs, int64_t now);
void stw_change(struct totals *t, int delta, int64_t now);
void waits_end(struct totals *t, int64_t now);

/* ---- totals_named.c ---- */

void region_begins(struct totals *t, const struct trace_event *e);
void region_ends(struct totals *t, const struct trace_event *e);
void task_begins(struct totals *t, const struct trace_event *e);
void task_ends(struct totals *t, const struct trace_event *e);
/* The goroutine will go to another state, or end (SPENT_COUNT); reason: of a wait. */
void tasks_hear(struct totals *t, struct live_g *g, enum spent to, uint32_t reason, int64_t now);
void g_regions_free(struct live_g *g);
void named_end(struct totals *t);
void named_release(struct totals *t);

#endif
