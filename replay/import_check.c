/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the program that a recording tells the one that was recorded? That one came to its end. Where
 * values decide (which of the idle connections is taken), a program without them may meet the wrong
 * partner at once, and every schedule of it would be a deadlock that Go cannot have. So before
 * others are tried it runs as it was recorded, with its times, a few times with the noise of a
 * machine; if it never comes to its end, nothing is said of it. A real bug shows there now and
 * then, but not always: it did not when the recording was made. */
#include "replay/import.h"

#include <stdio.h>
#include <string.h>

#include "run/run.h"

enum { TRIES = 5, NOISE = 1000 };

static bool comes_to_its_end(struct failure *f, const struct scenario *s)
{
    static struct run r;
    struct run_opts o;
    bool ends = false;
    if (!run_opts_of(f, s, 0, &o))
        return false;
    o.no_analysis = true;
    for (uint64_t seed = 1; seed <= TRIES && !ends; seed++) {
        o.seed = seed;
        o.ties_by_seed = seed > 1;
        o.noise_permille = seed > 1 ? NOISE : 0;
        if (!run_all(f, &r, &o))
            return false;
        ends = r.result.end == END_STOPPED || r.result.end == END_LIMIT;
        if (!ends && seed == TRIES)
            fail(f, E_TRACE,
                 "the recording does not tell enough of the program: at the recorded settings what "
                 "is known of it ends with: %s, in %d of %d tries. Values that are not recorded "
                 "decide who meets whom; a smaller test may do without them",
                 run_verdict(&r.result), TRIES, TRIES);
        run_free(&r);
    }
    return ends;
}

bool import_is_the_program(struct failure *f, struct recording *r, const char *name)
{
    struct imported im;
    struct import_opts o = {.name = name};
    if (!import_recording(f, r, &o, &im))
        return false;
    struct scenario *s = scenario_load(f, name, im.text, im.size);
    imported_release(&im);
    if (s == NULL)
        return false;
    bool ends = comes_to_its_end(f, s);
    scenario_free(s);
    return ends;
}

bool import_try(struct failure *f, const struct imported *im, const char *name,
                struct import_end *end)
{
    static struct run r;
    struct run_opts o;
    struct scenario *s = scenario_load(f, name, im->text, im->size);
    bool ok = s != NULL && run_opts_of(f, s, 0, &o);
    if (ok) {
        o.no_analysis = true;
        ok = run_all(f, &r, &o);
    }
    if (ok) {
        const char *verdict = run_verdict(&r.result);
        end->ns = (int64_t)(r.result.now_ps / 1000);
        end->finished = r.result.end == END_STOPPED;
        snprintf(end->verdict, sizeof end->verdict, "%.*s", (int)strcspn(verdict, "\n"), verdict);
        run_free(&r);
    }
    scenario_free(s);
    return ok;
}
