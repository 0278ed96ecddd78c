/* SPDX-License-Identifier: BSD-3-Clause */
/* Worlds of the timed host for its own tests: costs that are easy to count, threads by number. */
#ifndef GMPSIM_VIRT_WORLD_H
#define GMPSIM_VIRT_WORLD_H

#include "harness.h"

#include "sim/virt/host.h"
#include "sim/virt/vm.h"

#define PS_PER_MS UINT64_C(1000000000)

enum { WORLD_THREADS_MAX = 5000 };

/* Everything free but what a case sets. */
extern struct costs world_costs;

/* Ends what a failed case left, clears world_costs, begins a world with it; zeroed memory in it. */
void *world_begin(const struct vm_opts *opts, size_t size);
void world_free_costs(void);
/* The next thread, m0 first. */
void world_thread(void (*fn)(void *), void *arg);
struct hostm *world_hostm(int n);
void world_end(void);

struct vm_thread_info world_info(int id);
struct vm_stats world_stats(void);

#endif
