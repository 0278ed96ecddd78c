/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: the explorer's memory models give exactly the outcomes that the axioms of the published
 * models allow. Method: thousands of generated programs of 2 to 4 threads over every verb; both
 * sides enumerate completely.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "prog.h"
#include "sim/base/coro.h"
#include "sim/base/rng.h"

static struct lit_set ran, allowed;

static struct lit_op random_op(struct rng *r, int locs)
{
    static const uint8_t ops[] = {VERB_load_rlx,  VERB_load_rlx,  VERB_load_acq,  VERB_load_acq,
                                  VERB_load,      VERB_store_rlx, VERB_store_rlx, VERB_store_rlx,
                                  VERB_store_rel, VERB_store_rel, VERB_store,     VERB_cas,
                                  VERB_cas_rel,   VERB_xchg,      VERB_add,       VERB_fence};
    struct lit_op o = {.op = ops[rng_below(r, sizeof(ops))]};

    o.loc = (uint8_t)rng_below(r, (uint64_t)locs);
    o.value = (uint8_t)(1 + rng_below(r, 2));
    o.expect = (uint8_t)rng_below(r, 2);
    return o;
}

/* Sizes that both sides enumerate in milliseconds. */
static void random_prog(struct rng *r, struct lit_prog *p)
{
    static const int ops_by_threads[] = {0, 0, 3, 3, 2};
    int left = 7;

    memset(p, 0, sizeof(*p));
    p->threads = 2 + (int)rng_below(r, 3);
    p->locs = 2 + (int)rng_below(r, 2);
    for (int t = 0; t < p->threads; t++) {
        int others = p->threads - 1 - t;
        int most = ops_by_threads[p->threads];
        p->ops[t] = 1 + (int)rng_below(r, (uint64_t)most);
        if (p->ops[t] > left - others)
            p->ops[t] = left - others;
        left -= p->ops[t];
        for (int i = 0; i < p->ops[t]; i++)
            p->op[t][i] = random_op(r, p->locs);
    }
}

static void show_missing(const struct lit_prog *p, const char *what, const struct lit_set *a,
                         const struct lit_set *b)
{
    char buf[512];

    for (size_t i = 0; i < a->count; i++)
        if (!lit_has(b, a->at[i]))
            fprintf(stderr, "  %s %s\n", what, lit_format(p, a->at[i], buf, sizeof(buf)));
}

/* Programs whose sets differ. */
static int compare(enum mm_kind kind, bool ctrl, unsigned flags, uint64_t seed, int count)
{
    struct lit_prog p;
    struct rng r;
    char buf[512];
    int wrong = 0;

    rng_init(&r, seed, RNG_USER, 0);
    for (int i = 0; i < count; i++) {
        random_prog(&r, &p);
        lit_explore(&p, kind, ctrl, &ran);
        lit_axioms(&p, kind, flags, &allowed);
        if (!ran.whole) {
            fprintf(stderr, "%s %d: not whole: %s\n", mm_kind_name(kind), i,
                    lit_format_prog(&p, buf, sizeof(buf)));
            wrong++;
        }
        if (lit_equal(&ran, &allowed))
            continue;
        wrong++;
        if (wrong > 5)
            continue;
        fprintf(stderr, "%s %d: %s\n", mm_kind_name(kind), i,
                lit_format_prog(&p, buf, sizeof(buf)));
        show_missing(&p, "forbidden, seen:", &ran, &allowed);
        show_missing(&p, "allowed, not seen:", &allowed, &ran);
    }
    return wrong;
}

static int programs(int few)
{
    const char *more = getenv("GMPSIM_LITMUS_PROGRAMS");

#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN) /* far slower, and the sets are the same */
    few /= 5;
#endif
    return more != NULL ? atoi(more) : few;
}

TEST_CASE(Generated, ScIsSequentialConsistency)
{
    CHECK_EQ(compare(MM_SC, false, 0, 1, programs(500)), 0);
}

TEST_CASE(Generated, TsoIsX86Tso) { CHECK_EQ(compare(MM_TSO, false, 0, 2, programs(300)), 0); }

TEST_CASE(Generated, Arm64IsArmv8WithoutLoadBuffering)
{
    CHECK_EQ(compare(MM_ARM, false, LIT_PORF, 3, programs(300)), 0);
}

TEST_CASE(Generated, Arm64WithBranchesIsArmv8)
{
    CHECK_EQ(compare(MM_ARM, true, LIT_CTRL, 4, programs(300)), 0);
}

TEST_CASE(Generated, Ppc64WithBranchesIsPower)
{
    CHECK_EQ(compare(MM_POWER, true, LIT_CTRL, 5, programs(300)), 0);
}
