/* SPDX-License-Identifier: BSD-3-Clause */
#include "virt_world.h"

#include <string.h>

struct costs world_costs;

static struct hostm *hostms;
static int threads;

void world_free_costs(void) { memset(&world_costs, 0, sizeof world_costs); }

void *world_begin(const struct vm_opts *opts, size_t size)
{
    struct vm_opts o = *opts;
    struct failure f = {0};

    vm_free();
    if (o.costs == NULL)
        o.costs = &world_costs;
    o.catch_throws = true;
    if (!vm_init(&f, &o))
        FAIL_CASE("vm_init: %s", f.text);
    threads = 0;
    hostms = host_alloc(sizeof *hostms * WORLD_THREADS_MAX, 64);
    return size ? host_alloc(size, 64) : NULL;
}

void world_thread(void (*fn)(void *), void *arg) { vm_start(&hostms[threads++], fn, arg); }

struct hostm *world_hostm(int n) { return &hostms[n]; }

void world_end(void)
{
    vm_free();
    world_free_costs();
}

struct vm_thread_info world_info(int id)
{
    struct vm_thread_info i;

    if (!vm_thread_info(id, &i))
        FAIL_CASE("no thread %d", id);
    return i;
}

struct vm_stats world_stats(void)
{
    struct vm_stats s;

    vm_stats(&s);
    return s;
}
