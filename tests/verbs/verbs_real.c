/* SPDX-License-Identifier: BSD-3-Clause */
/* The world of verbs_world.h on real threads. */
#include "verbs_world.h"

#include <stdlib.h>
#include <string.h>

#include "sim/real/rt.h"

#include "sim/base/event.h"

static struct hostm *hostms;
static int nthreads;
static int64_t limit_ns;
static bool open;
static uint64_t counts[EV_COUNT];

static void take_events(void *arg, const struct event_rec *recs, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        counts[recs[i].type]++;
}

void *verbs_begin(size_t size, const struct verbs_opts *opts)
{
    struct rt_opts o = {.records_max = 1 << 16, .sink = take_events};
    struct failure f = {0};

    if (open)
        verbs_end();
    limit_ns = 0;
    if (opts) {
        o.seed = opts->seed;
        o.sighandler = opts->sighandler;
        o.quota_us = opts->quota_us;
        o.period_us = opts->period_us;
        o.pin = opts->pin;
        limit_ns = opts->limit_ns;
    }
    if (limit_ns == 0)
        limit_ns = 100000000000;
    if (!rt_init(&f, &o))
        abort();
    open = true;
    nthreads = 0;
    memset(counts, 0, sizeof counts);
    hostms = host_alloc(sizeof *hostms * VERBS_THREADS_MAX, 64);
    return host_alloc(size, 64);
}

void verbs_thread(void (*fn)(void *), void *arg) { rt_start(verbs_hostm(nthreads++), fn, arg); }

struct hostm *verbs_hostm(int n) { return &hostms[n]; }

enum world_end verbs_run(void) { return rt_run(limit_ns); }

void verbs_end(void)
{
    rt_free();
    open = false;
}

int verbs_kind(void) { return rt_verdict()->kind; }
const char *verbs_text(void) { return rt_verdict()->text; }
bool verbs_exact(void) { return false; }

uint64_t verbs_events(uint32_t type) { return counts[type]; }
