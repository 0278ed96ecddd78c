/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: the map is a map. Method: random operations beside an array that cannot be wrong; the keys
 * are few, so that chains form and holes are filled again. */
#include "harness.h"
#include "sim/base/map.h"

enum { KEYS = 300, STEPS = 200000 };

static uint32_t draw(uint64_t *state, uint32_t n)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % n);
}

TEST_CASE(Map, BehavesAsAnArray)
{
    struct map m = {0};
    uint64_t at[KEYS] = {0}, state = 1;
    bool there[KEYS] = {false};
    size_t count = 0;
    for (int i = 0; i < STEPS; i++) {
        uint32_t k = draw(&state, KEYS);
        struct map_slot *s = map_find(&m, k / 3, k % 3);
        CHECK_EQ(s != NULL, there[k]);
        if (s != NULL)
            CHECK_EQ(s->at, at[k]);
        switch (draw(&state, 3)) {
        case 0:
        case 1:
            count += !there[k];
            at[k] = (uint64_t)i;
            there[k] = true;
            map_put(&m, k / 3, k % 3)->at = at[k];
            break;
        default:
            if (s != NULL) {
                map_take(&m, s);
                there[k] = false;
                count--;
            }
        }
        CHECK_EQ(m.count, count);
    }
    map_release(&m);
}
