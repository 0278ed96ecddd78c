/* SPDX-License-Identifier: BSD-3-Clause */
/* as_run in virtual time. */
#include "run.h"
#include "sim/base/fail.h"
#include "tests/base/no_malloc.h"

static const uint64_t LIMIT_PS = UINT64_C(100) * 1000000000000;

const struct host *const as_host = &host_virt;

/* With an allocator that ends the process while the world runs; looks at the world's invariants on
 * the way, more often at the beginning. */
enum world_end as_to_end(uint64_t until_ps)
{
    until_ps = until_ps != 0 ? until_ps : LIMIT_PS;
    for (uint64_t at = 0;;) {
        at += at / 8 + 2000000;
        at = at < until_ps ? at : until_ps;
        no_malloc_begin();
        enum world_end why = host_virt.run(at);
        no_malloc_end();
        const char *bad = why != END_LIMIT && why != END_THROWN
                              ? host_virt.core->check(host_virt.quiet())
                              : NULL;
        if (bad != NULL)
            throw(bad);
        if (why != END_TIME || at == until_ps)
            return why;
    }
}
