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

/* What a goroutine of the program is in the middle of, or about to do. */
enum { LOOK_OBJECTS_MAX = 8 };

struct look_doing {
    bool waits; /* else it can go on, or runs */
    bool busy;  /* in the middle of the instruction, which may have to wait */
    uint32_t pc, line;
    const char *group, *reason;
    int64_t value;                    /* of a send: what */
    uint32_t count;                   /* of objects that the instruction names */
    int64_t object[LOOK_OBJECTS_MAX]; /* handles */
};

struct look_object {
    uint8_t kind;   /* enum object_kind */
    int64_t number; /* buffered, value, counter, readers (-1: a writer), taken; 1: locked, done */
    int64_t lock;   /* a Cond's lock: its handle */
    bool closed;    /* a channel */
    const char *kind_name; /* as the language says it: "mutex" */
    const char *name;      /* as declared, "" if it was made while the program ran */
    char state[48];        /* in words */
};

enum { LOOK_RUNNABLE_MAX = 64 };

/* Registers that may still decide something, before an instruction. */
struct look_live {
    uint64_t regs[4];
};

/* All that decides what the program's goroutines do next, in one number, when nothing but they
 * themselves decides it: no timer is set but those of sleepers, no descriptor or system call is
 * waited for. How long each still sleeps is a part of it, to the microsecond. */
enum { LOOK_VARS_MAX = 64 };

struct look_state {
    const struct look_live *live; /* given: of each instruction; NULL: all are */
    bool apart;                   /* given: shared variables are no part of the hash: */
    int64_t var[LOOK_VARS_MAX];   /* but here, by handle - 1; of those with a small one */
    int64_t now_ns;               /* given */
    uint64_t hash;
    bool ages;         /* somebody waits for a lock, and gets it after 1 ms at the latest */
    uint32_t sleepers; /* goroutines that sleep */
    uint32_t count;    /* who can go on */
    uint64_t runnable[LOOK_RUNNABLE_MAX];
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

/* False: it has ended, or is not the program's. */
bool look_doing(const struct program *program, uint64_t goid, struct look_doing *out);
/* False: there is no such object. */
bool look_object(const struct program *program, int64_t handle, struct look_object *out);

/* Where the goroutine may go on: the instruction it is in, and where its frames return to; at most
 * max; gives how many there are. */
size_t look_frames(uint64_t goid, uint32_t *pcs, size_t max);

/* A lock that changes hands, concluded from an edge that orders goroutines, said while M m runs the
 * goroutine that takes or gives the lock. False: the edge is something else. */
struct look_lock {
    int64_t object; /* handle */
    uint64_t goid;
    uint32_t line;
    bool taken, shared; /* else given back; with others */
};
bool look_lock(const struct program *program, int32_t m, enum race_edge edge, uint64_t addr,
               struct look_lock *out);

/* What an address of the world is part of: "g5", "M1", "P0", "sched.lock" or "runtime"; else its
 * distance from the scheduler's own struct, which is the same wherever gmpsim runs. */
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
    bool (*doing)(const struct runtime *w, const struct program *program, uint64_t goid,
                  struct look_doing *out);
    /* False: something else decides, or nobody can tell. */
    bool (*state)(const struct runtime *w, const struct program *program, struct look_state *out);
    bool (*object)(const struct runtime *w, const struct program *program, int64_t handle,
                   struct look_object *out);
    size_t (*frames)(const struct runtime *w, uint64_t goid, uint32_t *pcs, size_t max);
    bool (*lock)(const struct runtime *w, const struct program *program, int32_t m,
                 enum race_edge edge, uint64_t addr, struct look_lock *out);
    const char *(*name)(const struct runtime *w, uintptr_t addr, char *buf);
};

#endif
