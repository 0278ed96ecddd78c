/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the table of goroutines is a table, and forgets those that ended. Method: random operations
 * beside an array that cannot be wrong; then a long row of goroutines of which few live. */
#include "harness.h"
#include "sim/base/gtable.h"

enum { GOIDS = 400, STEPS = 100000, LONG = 1000000 };

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

TEST_CASE(Gtable, BehavesAsAnArray)
{
    struct gtable t;
    uint64_t want[GOIDS] = {0}, state = 1;
    gtable_init(&t, 2 * sizeof(uint64_t));
    for (uint64_t i = 1; i <= STEPS; i++) {
        uint32_t g = draw(&state, GOIDS);
        uint64_t *e = gtable_find(&t, g);
        CHECK_EQ(e != NULL, want[g] != 0);
        if (e != NULL)
            CHECK_EQ(e[1], want[g]);
        if (draw(&state, 3) == 0) {
            gtable_take(&t, g);
            want[g] = 0;
        } else {
            e = gtable_put(&t, g);
            CHECK_EQ(e[0], want[g]); /* zeros when new */
            e[0] = e[1] = want[g] = i;
        }
    }
    size_t count = 0;
    uint64_t at = 0;
    for (uint32_t g = 0; g < GOIDS; g++) {
        if (want[g] == 0)
            continue;
        const uint64_t *e = gtable_next(&t, &at);
        CHECK(e != NULL && at == g && e[1] == want[g]);
        count++;
        at++;
    }
    CHECK(gtable_next(&t, &at) == NULL);
    CHECK_EQ(t.count, count);
    gtable_release(&t);
}

TEST_CASE(Gtable, ForgetsTheEnded)
{
    struct gtable t;
    gtable_init(&t, 8);
    for (uint32_t g = 1; g <= LONG; g++) {
        gtable_put(&t, g);
        if (g > 100)
            gtable_take(&t, g - 100);
    }
    size_t chunks = 0;
    for (size_t i = 0; i < t.room; i++)
        chunks += t.chunks[i] != NULL;
    CHECK_EQ(t.count, (size_t)100);
    CHECK(chunks <= 3);
    gtable_release(&t);
}
