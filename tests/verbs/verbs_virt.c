/* SPDX-License-Identifier: BSD-3-Clause */
#include "verbs_world.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/virt/vm.h"

static struct hostm *hostms;
static int nthreads;
static int64_t limit_ns;

void *verbs_begin(size_t size, const struct verbs_opts *opts)
{
    struct vm_opts o = {.catch_throws = true};
    struct failure f = {0};

    vm_free(); /* what a failed case may have left */
    limit_ns = 0;
    if (opts) {
        o.seed = opts->seed;
        o.sighandler = opts->sighandler;
        o.quota_us = opts->quota_us;
        o.period_us = opts->period_us;
        limit_ns = opts->limit_ns;
    }
    if (limit_ns == 0)
        limit_ns = 100000000000;
    if (!vm_init(&f, &o)) {
        fprintf(stderr, "%s\n", f.text);
        abort();
    }
    nthreads = 0;
    hostms = host_alloc(sizeof *hostms * VERBS_THREADS_MAX, 64);
    return host_alloc(size, 64);
}

void verbs_thread(void (*fn)(void *), void *arg) { vm_start(verbs_hostm(nthreads++), fn, arg); }

struct hostm *verbs_hostm(int n) { return &hostms[n]; }

enum verbs_why verbs_run(void)
{
    static const enum verbs_why whys[] = {
        [VM_STOPPED] = VERBS_STOPPED, [VM_IDLE] = VERBS_IDLE,    [VM_TIME] = VERBS_TIME,
        [VM_FINDING] = VERBS_FINDING, [VM_LIMIT] = VERBS_THROWN, [VM_THROWN] = VERBS_THROWN,
    };

    return whys[vm_run((uint64_t)limit_ns * 1000)];
}

void verbs_end(void) { vm_free(); }

int verbs_kind(void) { return vm_verdict()->kind; }
const char *verbs_text(void) { return vm_verdict()->text; }
bool verbs_exact(void) { return true; }

uint64_t verbs_events(uint32_t type) { return vm_log_.counts[type]; }
