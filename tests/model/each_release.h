/* SPDX-License-Identifier: BSD-3-Clause */
/* One program on every release. In a header, because what runs it differs from host to host. */
#ifndef GMPSIM_TESTS_MODEL_EACH_RELEASE_H
#define GMPSIM_TESTS_MODEL_EACH_RELEASE_H

#include "asm.h"
#include "harness.h"

#define EACH_RELEASE(rel) for (int rel = 13; rel <= 27; rel++)

/* A file has one program and one result at a time. */
static struct as a;
static struct as_result r;

/* for i := 1..n { go f(i); Gosched() }: all run, and park, in this order. */
static inline void spawn_parked(int func, int n)
{
    for (int i = 1; i <= n; i++) {
        as_const(&a, 0, i);
        as_go(&a, func, 0, 1);
        as_plain(&a, OP_GOSCHED);
    }
}

static inline void check_all(const char *out)
{
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_STR(r.text, "");
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, out);
    }
}

static inline void check_dies(int kind, const char *text)
{
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_EQ(r.end, END_FINDING);
        CHECK_EQ(r.kind, kind);
        CHECK_HAS(r.text, text);
    }
}

#endif
