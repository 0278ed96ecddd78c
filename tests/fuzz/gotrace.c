/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a Go trace: read in bounded memory; times go up, indices are dense; a refusal has a
 * place and a reason; what is read can be written.
 * libs: gmpsim_trace */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/gotrace.h"
#include "replay/trace_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(struct trace *t, const struct trace_event *e, int64_t *last)
{
    if (e->time <= *last || e->kind >= TRACE_KINDS || e->from >= TRACE_STATES ||
        e->to >= TRACE_STATES || e->name >= trace_strings(t) || e->text >= trace_strings(t) ||
        e->stack >= trace_stacks(t) || e->new_stack >= trace_stacks(t))
        abort();
    *last = e->time;
    struct trace_stack s = trace_stack_of(t, e->stack);
    for (uint32_t i = 0; i < s.count; i++)
        if (trace_frame_of(t, s.frames[i]).func >= trace_strings(t))
            abort();
}

static void read_all(const uint8_t *data, size_t size, bool strict, int version)
{
    struct failure f = {0}, g = {0};
    struct trace_opts o = {.strict = strict, .generation_bytes = 64 << 20};
    struct trace *t = trace_open_bytes(&f, data, size, &o);
    const struct trace_event *evs;
    size_t count;
    int64_t last = INT64_MIN;
    enum trace_got got = TRACE_BROKEN;
    if (t != NULL) {
        struct gotrace *w = gotrace_open(&g, "/dev/null", &t->names, &t->stacks,
                                         &(struct gotrace_opts){.version = version});
        while ((got = trace_next(t, &f, &evs, &count)) == TRACE_MORE) {
            for (size_t i = 0; i < count; i++)
                look(t, &evs[i], &last);
            if (w != NULL && g.code == E_OK)
                gotrace_put(w, &g, evs, count);
        }
        if (w != NULL)
            gotrace_close(w, &g, 0);
    }
    if (got == TRACE_BROKEN && (f.code == E_OK || f.text[0] == '\0'))
        abort();
    if (got == TRACE_BROKEN && f.code == E_TRACE && strstr(f.text, "byte ") == NULL)
        abort();
    trace_close(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_all(data, size, true, 23);
    read_all(data, size, false, 26);
    return 0;
}
