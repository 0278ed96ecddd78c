/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

enum { EVENT_NS = 80, WAKE_NS = 4300, UNTIL_FACTOR = 10 };

/* The release that wrote such a header; of two the older one. */
static int release_of(int version)
{
    if (version < 13)
        return 13;
    return version;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static struct scenario *make_scenario(const struct replay *rp, const char *path)
{
    const struct recording *r = rp->rec;
    struct pool *pool = pool_new();
    struct scenario *s = pool_alloc(pool, sizeof *s);
    *s = (struct scenario){.name = pool_text(pool, base_name(path)),
                           .why = "a recorded trace",
                           .profiles = {release_of(r->version)},
                           .nprofiles = 1,
                           .procs = r->procs,
                           .until_ns = r->length * UNTIL_FACTOR + INT64_C(10000000000),
                           .pool = pool};
    s->program = *tape_program(r, &rp->tape, pool);
    return s;
}

bool replay_open(struct failure *f, const char *path, const struct replay_opts *o,
                 struct replay *out)
{
    char text[200];
    struct rec_opts ro = {.window = o->window};
    *out = (struct replay){.infer = {.off = o->off}, .costs = costs_builtin};
    out->tape = (struct tape_opts){.event_ns = o->event_ns >= 0 ? o->event_ns : EVENT_NS,
                                   .wake_ns = o->wake_ns >= 0 ? o->wake_ns : WAKE_NS,
                                   .demand_permille = 1000};
    out->rec = recording_load(f, path, &ro);
    if (out->rec == NULL)
        return false;
    infer_all(out->rec, &out->infer);
    out->scenario = make_scenario(out, path);
    if (program_check(&out->scenario->program, text, sizeof text))
        return true;
    fail(f, E_INTERNAL, "%s: the program made of it is not safe: %s", path, text);
    replay_close(out);
    return false;
}

struct scenario *replay_take_scenario(struct replay *rp)
{
    struct scenario *s = rp->scenario;
    rp->scenario = NULL;
    return s;
}

void replay_close(struct replay *rp)
{
    recording_free(rp->rec);
    scenario_free(rp->scenario);
    *rp = (struct replay){0};
}
