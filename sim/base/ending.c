/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/ending.h"

const char *world_end_name(enum world_end end)
{
    static const char *const names[WORLD_ENDS] = {
        [END_STOPPED] = "finished",      [END_DONE] = "threads ended", [END_IDLE] = "idle",
        [END_TIME] = "time limit",       [END_FINDING] = "finding",    [END_LIMIT] = "limit",
        [END_THROWN] = "internal error", [END_RECORDED] = "recorded"};
    return end < WORLD_ENDS ? names[end] : "?";
}
