/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_WAITSFOR_H
#define GMPSIM_RUN_WAITSFOR_H

/* Who waits for whom at the end of a run: from a goroutine to the object that it waits on, and from
 * the object to who holds it, or to those whose program could still do what is waited for.
 *
 * Who holds a lock is not kept by a run, and need not be: the same run is made again on the host
 * that tells operations, and locks are followed there from the first to the last. */

#include "run/run.h"

enum { WAITS_OBJECTS_MAX = 8, WAITS_GS_MAX = 2000 };

struct waits_g {
    uint64_t goid;
    char group[170], reason[64];
    uint32_t line;
    bool stuck;  /* it waits, and nothing outside will wake it */
    bool leaked; /* nobody can ever wake it */
    bool in_circle;
    int nobjects; /* 0: it waits for nobody, or for what is never ready (a nil channel) */
    size_t object[WAITS_OBJECTS_MAX]; /* places in objects */
};

struct waits_object {
    int64_t handle;
    char name[170], kind[24], state[64];
    const char *wanted; /* what somebody would have to do: "send", "unlock" */
    bool in_circle;
};

enum waits_how { WAITS_HELD, WAITS_SHARED, WAITS_COULD };

/* From an object to a goroutine. */
struct waits_by {
    size_t object;
    uint64_t goid;
    size_t g; /* its place in gs, SIZE_MAX: it is not there */
    enum waits_how how;
    uint32_t line; /* where it got the lock, or would do what is wanted */
    bool ended;    /* it has ended, and holds the lock for ever */
    bool in_circle;
};

struct waitsfor {
    struct waits_g *gs; /* who is stuck, then those that others wait for */
    struct waits_object *objects;
    struct waits_by *by;
    size_t ngs, nobjects, nby;
    uint64_t more; /* goroutines that are stuck and found no room in gs */
    bool circle;   /* there is one, and it is marked */
};

/* Is anybody stuck? r: of a run in virtual time. */
bool waitsfor_any(const struct run_result *r);
/* After the run whose options these are was freed. False: it could not be made again. */
bool waitsfor_make(const struct run_opts *opts, struct waitsfor *out);
/* Finds a circle and marks it, of a picture that somebody else has made. */
void waitsfor_circle(struct waitsfor *w);
void waitsfor_release(struct waitsfor *w);

#endif
