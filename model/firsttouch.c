/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is touched for the first time: where the allocator takes a new span, whose pages the
 * kernel has to give. A page that is read before it is written is a shared one of zeros until then;
 * taking that back interrupts every CPU on which a thread of the process runs (`flush`). Only runs
 * with noise take time for it; where it comes is the same in all. */
#include "firsttouch.h"

#include <host.h>

#include "runtime2.h"

/* Of a size class, 416, 448 or 480 bytes, in 8 KB, from 1.22 on less what a span says of them. */
static uint32_t gs_of_a_span(void)
{
    return prof->release <= 21 ? 19 : prof->release <= 25 ? 18 : 16;
}

/* malg's new(g): a P takes Gs of a span of two pages, those of Ms (g0, gsignal) among them. */
static void new_g(struct p *pp)
{
    if (pp == NULL)
        return;
    bool first = pp->id == 0; /* the very first is m0's gsignal */
    uint32_t at = (pp->touched.gs + first) % gs_of_a_span();
    pp->touched.gs = (pp->touched.gs + 1) % gs_of_a_span() & 31;
    if (at == 0) {
        jolt(g_span);
        if (prof->release >= 22)
            jolt(flush);
    } else if (at == gs_of_a_span() / 2) {
        jolt(g_page);
    }
}

/* stack.go stackcacherefill: every second one of all Ps needs a span, and links through it. */
static void new_stack(struct p *pp)
{
    enum { OF_A_REFILL = 8 }; /* half of stackcache's 32 KB, which is half of a span */
    if (pp == NULL)
        return;
    if (pp->touched.stacks == 0) {
        pp->touched.stacks = OF_A_REFILL;
        if (jolts() && rt->stack_refills++ % 2 == 0) /* no count where Ps have threads */
            jolt(stack_refill);
    }
    pp->touched.stacks--;
}

/* stack.go copystack: main's first stack is too small for what the packages do. */
static void main_stack_grew(struct p *pp) { pp->touched.stacks++; }

/* The closure of a go statement: the first of its size on a P needs a span. Each function's are
 * taken to have a size of their own. */
static void new_closure(struct p *pp, uint32_t func)
{
    enum { SIZES = 21 };
    uint32_t bit = UINT32_C(1) << func % SIZES;

    if ((pp->touched.sizes & bit) != 0)
        return;
    pp->touched.sizes |= bit & ((UINT32_C(1) << SIZES) - 1);
    jolt(new_size);
    jolt(flush);
}

/* The first objects of main.main. Packages were set up on P 0, whose spans have been read by then;
 * on others there are none yet (to 1.21: they are taken of pages that have been). */
static void main_makes(const struct p *pp)
{
    if ((pp->id == 0) == (prof->release >= 22)) {
        jolt(new_size);
        jolt(flush);
    }
}

/* The first wait of main, whose stack is large enough by then, and of a goroutine on each P, whose
 * is not: a larger one is copied to, and its sudog is the P's first. */
static void first_wait(const struct g *gp, struct p *pp)
{
    if (gp == rt->main_g) {
        jolt(first_wait);
        if (prof->release < 22 && pp->id != 0)
            jolt(flush);
    } else if (!pp->touched.waited && gp->system == SYSTEM_NOT) {
        pp->touched.waited = true;
        jolt(new_size);
        jolt(flush);
        jolt(flush);
    }
}
