/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_WINDOW_H
#define GMPSIM_RUN_WINDOW_H

/* A look into the model's records while the world stands still, between two calls of the host's
 * run(). window.c alone knows the model's structs; it is compiled once per host, and the functions
 * here (look.c) ask that of the world that exists. Nothing here changes the world. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/result.h"

struct program;
struct runtime;

struct look_p {
    int32_t id;
    const char *status;
    int32_t m;        /* -1: none */
    uint64_t curg;    /* goid that runs here, 0: none */
    uint64_t runnext; /* goid, 0: none */
    uint32_t ring;    /* Gs in the ring */
    uint32_t schedtick, syscalltick, timers;
    bool spinning;
};

struct look_m {
    int32_t id, p;
    uint64_t curg, lockedg;
    bool spinning, blocked, idle;
};

struct look_timer {
    int64_t when_ns, period_ns; /* period 0: once */
    uint64_t g;                 /* goroutine that it wakes, 0: none */
    bool chan;                  /* sends on a channel */
};

struct look_sched {
    int32_t procs, npidle, nmspinning, nmidle;
    int64_t nm, m_ids; /* alive; ids are below m_ids */
    int32_t globrunq;
    bool gcwaiting, sysmonwait;
    uint32_t gcphase;
    uint64_t ngs;
};

/* An M, its P and the G that it runs. */
struct look_where {
    int32_t m, p; /* -1: none */
    bool spinning;
    const char *p_status;
    uint64_t g; /* 0: none; the M is in the scheduler */
    const char *g_status, *g_group;
    uint32_t line; /* of the scenario, 0: not known */
};

void look_where(const struct program *program, int32_t m, struct look_where *out);
void look_sched(struct look_sched *s);
void look_p(int32_t id, struct look_p *out);
/* goids of P's ring from head to tail; at most max; gives how many there are. */
size_t look_ring(int32_t id, uint64_t *out, size_t max);
/* The timers of P's heap, earliest first; at most max; gives how many there are (1.13 has none on
 * Ps). */
size_t look_timers(int32_t id, struct look_timer *out, size_t max);
size_t look_globrunq(uint64_t *out, size_t max);
/* False: no such M (any more). */
bool look_m(int64_t id, struct look_m *out);
/* Goroutines that have not ended, in order of goid; the runtime's own ones only if asked for. The
 * array comes from malloc and is the caller's. */
struct run_g *look_gs(const struct program *program, bool system, size_t *count);

/* What an address of the world is part of: "g5", "M1", "P0", "sched.lock" or "runtime"; else its
 * distance from the scheduler's own struct, which is the same on every machine. */
enum { LOOK_NAME_SIZE = 32 };
const char *look_name(uintptr_t addr, char *buf);

/* One host's window.c: the functions above, given the world. */
struct window {
    void (*where)(const struct runtime *w, const struct program *program, int32_t m,
                  struct look_where *out);
    void (*sched)(const struct runtime *w, struct look_sched *s);
    void (*p)(const struct runtime *w, int32_t id, struct look_p *out);
    size_t (*ring)(const struct runtime *w, int32_t id, uint64_t *out, size_t max);
    size_t (*timers)(const struct runtime *w, int32_t id, struct look_timer *out, size_t max);
    size_t (*globrunq)(const struct runtime *w, uint64_t *out, size_t max);
    bool (*m)(const struct runtime *w, int64_t id, struct look_m *out);
    struct run_g *(*gs)(const struct runtime *w, const struct program *program, bool system,
                        size_t *count);
    const char *(*name)(const struct runtime *w, uintptr_t addr, char *buf);
};

#endif
