/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/trace_int.h"
bool v1_read(struct trace *t, struct failure *f)
{
    (void)t;
    fail(f, E_TRACE, "the format of Go 1.21 and older is not read yet");
    return false;
}
bool v1_next(struct trace *t)
{
    (void)t;
    return false;
}
void v1_release(struct v1 *v) { (void)v; }
