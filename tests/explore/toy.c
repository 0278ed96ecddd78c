/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/fail.h"

#include <host.h>
#include <stdio.h>

#include "harness.h"
#include "toy.h"

static struct shared {
    ATOMIC(uint32_t) total;
} * shared;
static const struct toy *toy;

void toy_open(enum mm_kind memory)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    struct ex_opts o = {
        .memory = memory, .port = ports[memory], .memory_max = 1 << 22, .steps_max = 100000};
    struct failure f = {0};

    if (!ex_init(&f, &o))
        FAIL_CASE("%s", f.text);
}

static void toy_add(void *arg)
{
    (void)arg;
    for (int i = 0; i < toy->rounds; i++) {
        if (toy->atomic) {
            a_add(&shared->total, 1);
            continue;
        }
        uint32_t v = a_load(&shared->total);
        if (toy->yields)
            osyield();
        a_store(&shared->total, v + 1);
    }
}

static bool name_of(const void *addr, char *buf, size_t size)
{
    snprintf(buf, size, "total");
    return addr == &shared->total;
}

void toy_build(void *arg)
{
    toy = arg;
    shared = host_alloc(sizeof(*shared), 64);
    ex_namer(name_of);
    for (int i = 0; i < toy->threads; i++)
        ex_start(NULL, toy_add, NULL);
}

uint32_t toy_total(void) { return a_peek(&shared->total); }

void toy_check(void *arg)
{
    const struct toy *t = arg;

    if (!t->ignore && toy_total() != (uint32_t)(t->threads * t->rounds))
        ex_fail("lost update");
}

struct search toy_search(const struct toy *t)
{
    return (struct search){toy_build, toy_check, (void *)(uintptr_t)t, 0, false};
}
