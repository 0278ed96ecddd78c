/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Worlds of the timed host must be the same everywhere: one line per kind of world.
 * libs: gmpsim_virt
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/virt/host.h"
#include "sim/virt/vm.h"

enum { THREADS = 7, ROUNDS = 300 };

struct worker {
    struct hostm hm, child;
    ATOMIC(uint32_t) key;
    uint32_t id;
    uint64_t sum;
};

static struct worker *workers;
static struct {
    ATOMIC(uint64_t) total;
} * shared;

static void child(void *arg)
{
    struct worker *w = arg;

    burst(1500 + w->id, BURST_WHOLE);
    a_add(&shared->total, 1);
}

static void on_signal(void *arg)
{
    struct worker *w = arg;

    w->sum++;
    a_add(&shared->total, 1);
}

static void ready(void *arg)
{
    uint32_t n = *(uint32_t *)arg;

    env_ready((int32_t)(n % 5), 1 + n % 3, 1);
    if (++*(uint32_t *)arg < 200)
        env_at(host_now() + 30000 + n, ready, arg);
}

static void poll(void *arg)
{
    struct poll_event ev[4];

    (void)arg;
    for (;;) {
        int32_t n = netpoll_wait(100000000, ev, 4);

        if (n == 0)
            return;
        for (int32_t i = 0; i < n; i++)
            emit(EV_NETPOLL_READY, 0, 0, ev[i].fd, ev[i].mode);
    }
}

static void work_hard(void *arg)
{
    struct worker *w = arg, *next = &workers[(w->id + 1) % THREADS];

    for (uint32_t i = 0; i < ROUNDS; i++) {
        w->sum += host_seed64() % 997;
        work_n(op, w->sum % 40);
        if (a_load(&w->key) == 0)
            futexsleep(&w->key, 0, 15000);
        a_store(&w->key, 0u);
        a_store_rel(&next->key, 1u);
        futexwakeup(&next->key, 1);
        w->sum += (uint64_t)burst(2000 + (int64_t)(w->sum % 555), BURST_CUT);
        if (i % 16 == w->id)
            signalm(&next->hm);
        if (i % 64 == 9)
            newosproc(&w->child, child, w);
        if (i % 7 == 2)
            syscall_body(1200, i % 2);
        procyield(10);
        osyield();
        emit(EV_MARK, w->id, w->sum, i, 0);
    }
}

static void run(const char *name, struct vm_opts o)
{
    struct failure f = {0};
    struct fingerprint fp;
    struct vm_stats s;
    uint32_t *arrivals;

    o.sighandler = on_signal;
    if (!vm_init(&f, &o)) {
        fprintf(stderr, "%s\n", f.text);
        exit(1);
    }
    workers = host_alloc(sizeof *workers * THREADS, 64);
    shared = host_alloc(sizeof *shared, 64);
    arrivals = host_alloc(sizeof *arrivals, 8);
    for (uint32_t i = 0; i < THREADS; i++) {
        workers[i].id = i;
        vm_start(&workers[i].hm, work_hard, &workers[i]);
    }
    vm_start(&workers[0].child, poll, NULL);
    env_at(1000, ready, arrivals);
    fp_init(&fp);
    fp_mix(&fp, vm_run(UINT64_MAX));
    vm_stats(&s);
    fp_mix4(&fp, s.fingerprint, s.now_ps, s.cpu_ps, s.wait_ps);
    fp_mix4(&fp, s.switches, s.events, s.nr_throttled, s.throttled_ps);
    fp_mix2(&fp, s.spin_ps, a_peek(&shared->total));
    for (uint32_t i = 0; i < THREADS; i++)
        fp_mix(&fp, workers[i].sum);
    vm_free();
    printf("%s %016" PRIx64 "\n", name, fp_value(&fp));
}

int main(void)
{
    run("dedicated", (struct vm_opts){.seed = 1});
    run("ties-and-noise",
        (struct vm_opts){.seed = 2, .ties = VM_TIES_BY_SEED, .noise_permille = 300});
    run("one-cpu", (struct vm_opts){.seed = 3, .cpus = 1});
    run("two-cpus-ticks", (struct vm_opts){.seed = 4, .cpus = 2, .sched = {.tick_ns = 1000000}});
    run("quota", (struct vm_opts){.seed = 5, .cpus = 3, .quota_us = 15000, .period_us = 10000});
    run("dedicated-quota", (struct vm_opts){.seed = 6, .quota_us = 12000, .period_us = 5000});
    run("arm64", (struct vm_opts){.seed = 7, .port = PORT_ARM64});
    run("ppc64le", (struct vm_opts){.seed = 8, .port = PORT_PPC64LE, .cpus = 4});
    return 0;
}
