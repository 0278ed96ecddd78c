/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STRESS_STRESS_H
#define GMPSIM_STRESS_STRESS_H

/* Delays, and a world that stands still.
 *
 * At each point a thread may pause, yield or sleep. Some of the places of the source, or some
 * neighbourhoods, are hot in a run: there it happens often, and long, so that a window of a few
 * instructions becomes one of microseconds for that run. Which places, and when, is drawn from the
 * seed; the run is not repeated by it, as the machine has its say.
 *
 *   a thread is   outside (computes, or sleeps until it is woken) | inside (in the model) | parked
 *
 * stress_freeze() returns when none is inside: those that come to a point park, those that come
 * back from a call park before they touch anything. A world that ends while it stands still stays
 * so: rt_run stops the threads where they are. Whoever looks then sees what it would see in
 * virtual time between two points. */

#include <stdbool.h>
#include <stdint.h>

/* Before rt_run, for the next world. Without a call nothing is disturbed. */
void stress_begin(uint64_t seed);
/* On the controlling thread, while the world runs. False: a thread did not come to a point, and the
 * world goes on. */
bool stress_freeze(void);
/* Between the two: every thread computes or is asleep, and nothing is on its way to one that
 * sleeps: nobody is in the middle of something, however little CPU the threads get. forever: all
 * sleep without an end, but for one (the monitor), and the environment has nothing to do. */
bool stress_quiet(bool *forever);
void stress_thaw(void);
/* The model's handler of signals, called only while its thread may go on. */
void stress_sighandler(void *arg, void (*handler)(void *arg));

struct stress_stats {
    uint64_t points, pauses, yields, sleeps, freezes;
};
void stress_stats(struct stress_stats *s);

/* For host.h. */
void stress_point_(uint32_t site);
enum stress_out { ST_COMPUTES, ST_SLEEPS };
void stress_out_(enum stress_out what);
void stress_in_(void);
/* Does a futex sleep end before it began, as it may (docs/host.md)? */
bool stress_wakes_for_nothing_(void);

#endif
