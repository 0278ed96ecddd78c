/* SPDX-License-Identifier: BSD-3-Clause */
/* How the world of timed_world.c begins and ends on the timed host. */
#include "harness.h"
#include "timed.h"

#include "sim/base/fail.h"
#include "sim/virt/vm.h"

void timed_virt_open(uint64_t seed, const struct costs *costs, void (*sighandler)(void *))
{
    struct failure f = {0};

    vm_free();
    CHECK(vm_init(&f, &(struct vm_opts){.seed = seed, .costs = costs, .sighandler = sighandler}));
}

void timed_virt_start(struct hostm *hm, void (*fn)(void *), void *arg) { vm_start(hm, fn, arg); }

void timed_virt_finish(void)
{
    CHECK_EQ(vm_run(UINT64_MAX), END_IDLE);
    vm_free();
}
