/* SPDX-License-Identifier: BSD-3-Clause */
/* The world of verbs_world.h on the timed host. */
#include "verbs_world.h"

#include <stdlib.h>
#include <string.h>

#include "sim/virt/vm.h"

static struct hostm *hostms;
static int nthreads;
static int64_t limit_ns;
static bool open;
static uint64_t counts[EV_COUNT];

static void count(void *arg, const struct event_rec *recs, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        counts[recs[i].type]++;
}

void *verbs_begin(size_t size, const struct verbs_opts *opts)
{
    struct vm_opts o = {.sink = count, .records_batch = 16, .catch_throws = true};
    struct failure f = {0};

    if (open)
        verbs_end();
    limit_ns = 0;
    if (opts) {
        o.seed = opts->seed;
        o.sighandler = opts->sighandler;
        o.quota_us = opts->quota_us;
        o.period_us = opts->period_us;
        limit_ns = opts->limit_ns;
    }
    if (limit_ns == 0)
        limit_ns = INT64_C(36000000000000);
    if (!vm_init(&f, &o))
        abort();
    open = true;
    nthreads = 0;
    memset(counts, 0, sizeof counts);
    hostms = host_alloc(sizeof *hostms * VERBS_THREADS_MAX, 64);
    return host_alloc(size, 64);
}

void verbs_thread(void (*fn)(void *), void *arg) { vm_start(verbs_hostm(nthreads++), fn, arg); }

struct hostm *verbs_hostm(int n) { return &hostms[n]; }

enum world_end verbs_run(void) { return vm_run((uint64_t)limit_ns * 1000); }

void verbs_end(void)
{
    vm_free();
    open = false;
}

int verbs_kind(void) { return vm_verdict()->kind; }
const char *verbs_text(void) { return vm_verdict()->text; }
bool verbs_exact(void) { return true; }
uint64_t verbs_events(uint32_t type) { return counts[type]; }
