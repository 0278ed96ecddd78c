/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a recorded trace: what can be read becomes a program that is safe, and a scenario
 * that can be loaded, or says why not.
 * libs: gmpsim_replay */
#include <stdio.h>
#include <stdlib.h>

#include "replay/import.h"
#include "replay/infer.h"
#include "replay/tape.h"
#include "replay/trace.h"
#include "sim/base/pool.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_scenario(struct recording *r, bool explore)
{
    struct failure f = {0};
    struct imported im;
    struct import_opts o = {.name = "fuzz", .explore = explore};
    if (!import_recording(&f, r, &o, &im)) {
        if (f.code == E_OK || f.text[0] == 0)
            abort();
        return;
    }
    struct scenario *s = scenario_load(&f, "fuzz", im.text, im.size);
    if (s == NULL && f.code != E_LIMIT && f.code != E_PROFILE) {
        fprintf(stderr, "%s\n%s", f.text, im.text);
        abort();
    }
    scenario_free(s);
    imported_release(&im);
}

static void as_program(const struct recording *r)
{
    char text[200];
    struct pool *pool = pool_new();
    struct tape_opts o = {.event_ns = 80, .wake_ns = 4000};
    if (!program_check(tape_program(r, &o, pool), text, sizeof text)) {
        fprintf(stderr, "%s\n", text);
        abort();
    }
    pool_free(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct failure f = {0};
    struct infer in = {0};
    struct trace_opts o = {.generation_bytes = 64 << 20};
    struct trace *t = trace_open_bytes(&f, data, size, &o);
    if (t == NULL)
        return 0;
    struct recording *r = recording_read(&f, t, NULL);
    trace_close(t);
    if (r == NULL)
        return 0;
    infer_all(r, &in);
    as_program(r);
    as_scenario(r, true);
    as_scenario(r, false);
    recording_free(r);
    return 0;
}
