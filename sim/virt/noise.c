/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Noise: times that vary as they do on a machine. A table has quantiles of each (noise.def); a draw
 * picks a place between 0 and 1 from the world's seed, or as the chooser says, and gives what lies
 * there, evenly between two quantiles. Off, nothing is drawn and every time is its median.
 */
#include "sim/virt/vm_int.h"

#include "sim/virt/host.h"

static const uint32_t places[NOISE_QUANTILES] = {0,      10000,  50000,  100000, 250000,     500000,
                                                 750000, 900000, 950000, 990000, NOISE_WHOLE};

static uint64_t between(const uint32_t *q, uint64_t u)
{
    uint32_t i = 1;

    while (u > places[i])
        i++;
    uint64_t from = q[i - 1], to = q[i]; /* they do not go down */
    return from + (to - from) * (u - places[i - 1]) / (places[i] - places[i - 1]);
}

uint64_t vm_noise_place_(void)
{
    if (vm_w_.opts.noise_permille == 0)
        return 0;
    uint64_t u = rng_below(&vm_w_.noise, NOISE_WHOLE + 1);
    return draw(NOISE_WHOLE + 1, u);
}

static uint64_t drawn(enum cost_noise kind)
{
    return between(vm_w_.quantiles[kind], vm_noise_place_());
}

uint64_t vm_noise_cost_at_(enum cost_noise kind, uint64_t place)
{
    uint64_t ps = vm_hot.kind[cost_noise_of(kind)], share = vm_w_.opts.noise_permille;

    if (share == 0 || ps == 0)
        return ps;
    uint64_t noisy = ps * between(vm_w_.quantiles[kind], place) / 1000;
    return (ps * (1000 - share) + noisy * share) / 1000;
}

uint64_t vm_noise_cost_(enum cost_noise kind)
{
    return vm_noise_cost_at_(kind, vm_hot.kind[cost_noise_of(kind)] == 0 ? 0 : vm_noise_place_());
}

uint64_t vm_noise_time_(enum cost_noise kind)
{
    uint64_t share = vm_w_.opts.noise_permille;

    return share == 0 ? 0 : drawn(kind) * share / 1000;
}

void vm_jolt_(enum cost_noise kind)
{
    uint32_t bit = (int)kind < NOISE_ONCES ? 1u << kind : 0, inits = 1u << NOISE_inits;

    if (kind != NOISE_inits && (vm_w_.jolted & inits) == 0)
        return;  /* what happens before main.main is part of that */
    vm_point_(); /* who else runs is seen as it is now */
    uint64_t ps = (vm_w_.jolted & bit) == 0 ? vm_noise_time_(kind) : 0;
    if (kind != NOISE_flush || vm_interrupt_others_(ps))
        vm_hot.now += ps;
    vm_w_.jolted |= bit;
}
