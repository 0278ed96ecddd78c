/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the seam costs nothing. Method: the machine code of the run queue written with verbs is
 * compared with that of hand-written C11 atomics, and both do the same. */
#include "seam.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

#ifndef __OPTIMIZE__
#define NOT_COMPARABLE "without optimisation"
#elif defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#define NOT_COMPARABLE "with a sanitizer"
#elif defined __has_feature
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define NOT_COMPARABLE "with a sanitizer"
#endif
#endif

TEST_CASE(Seam, VerbsCompileToTheCodeOfHandWrittenAtomics)
{
#ifdef NOT_COMPARABLE
    SKIP_CASE("%s", NOT_COMPARABLE);
#endif
    CHECK_GT(seam_verb_size(), 100);
    CHECK_EQ(seam_verb_size(), seam_hand_size());
    CHECK_MEM(__start_seam_verb, __start_seam_hand, seam_hand_size());
}

static struct verb_ring verb, verb_thief;
static struct hand_ring hand, hand_thief;

static struct item *item(uintptr_t n) { return (struct item *)(n << 4); }

/* The same moves on both; they must agree on every result. */
TEST_CASE(Seam, BothQueuesDoTheSame)
{
    srand(1);
    for (uintptr_t i = 1; i < 20000; i++) {
        int what = rand() % 8;

        if (what < 4)
            CHECK_EQ(verb_put(&verb, item(i), what == 0), hand_put(&hand, item(i), what == 0));
        else if (what < 7)
            CHECK_EQ(verb_get(&verb), hand_get(&hand));
        else
            CHECK_EQ(verb_grab(&verb, &verb_thief, 0), hand_grab(&hand, &hand_thief, 0));
    }
    for (int i = 0; i < SEAM_RING; i++)
        CHECK_EQ(a_peek(&verb_thief.slot[i]), hand_thief.slot[i]);
}
