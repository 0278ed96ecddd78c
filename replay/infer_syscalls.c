/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls. Whether a call used a CPU or waited in the kernel is not in a trace; its innermost
 * function says so for most: nanosleep, futex, wait4, flock, a read of a pipe wait; pread, write,
 * close use a CPU. A call of which nothing is known waits if it was long: what uses a CPU seldom
 * takes more than a millisecond. */
#include <string.h>

#include "replay/tape_int.h"

enum { LONG_NS = 1000000 };

static bool has(const char *text, const char *part) { return strstr(text, part) != NULL; }

bool tape_is_off_cpu(const struct recording *r, uint32_t site, int64_t ns)
{
    const struct rec_site *s = &r->sites[site];
    if (s->leaf == LEAF_OFFCPU)
        return true;
    if (has(s->func, "syscall.Syscall") && ns < LONG_NS)
        return false;
    return ns >= LONG_NS;
}
