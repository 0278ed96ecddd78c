/* SPDX-License-Identifier: BSD-3-Clause */
/* as_run on real threads: the same programs and checks as in virtual time. */
#include "run.h"

static const uint64_t LIMIT_PS = UINT64_C(60) * 1000000000000; /* a world that takes longer hangs */

const struct host *const as_host = &host_real;

enum world_end as_to_end(uint64_t until_ps)
{
    return host_real.run(until_ps != 0 ? until_ps : LIMIT_PS);
}
