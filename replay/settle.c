/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the program come to its end at the recorded settings? With a deep recording who meets
 * whom is decided anew, and what a goroutine does then may not fit: a client waits for an answer
 * that the server gives to another, for what decides is in values that nobody recorded. Then
 * channels that somebody is stuck at are replayed as they were recorded (level 1), a few at a
 * time; if that does not help, all of them, and at last every deed and every connection. */
#include <stdlib.h>

#include "model/prog.h"
#include "replay/replay.h"
#include "run/run.h"

enum { ROUNDS = 12 };
/* A replay takes about as long as the recording; many times as long is for ever. */
enum { PATIENCE = 4 };

struct tried {
    bool finished;
    uint32_t stuck; /* channels that are tokens now and were not */
};

static struct tried try_it(struct failure *f, struct replay *rp)
{
    static struct run r;
    struct run_opts o;
    struct tried t = {0};
    if (!run_opts_of(f, rp->scenario, 0, &o))
        return (struct tried){.finished = true};
    o.until_ns = rp->rec->length * PATIENCE + INT64_C(2000000000);
    o.costs = &rp->costs;
    if (!run_all(f, &r, &o))
        return (struct tried){.finished = true};
    t.finished = r.result.end == END_STOPPED || r.result.end == END_LIMIT;
    if (r.result.end == END_LIMIT)
        fail(f, E_LIMIT, "%s", r.result.text);
    for (size_t i = 0; !t.finished && i < r.result.ngs; i++) {
        int64_t c = r.result.gs[i].channel;
        if (c < 0 || c >= rp->rec->nobjects || rp->rec->objects[c].tokens)
            continue;
        rp->rec->objects[c].tokens = true;
        t.stuck++;
    }
    run_free(&r);
    return t;
}

static uint32_t all_of(struct recording *r, uint8_t kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->nobjects; i++)
        if (r->objects[i].kind == kind && !r->objects[i].tokens) {
            r->objects[i].tokens = true;
            n++;
        }
    return n;
}

/* Channels that are replayed as recorded do not deal items: what was done with one stays with the
 * goroutine that received it. */
static void keep_items(struct recording *r)
{
    for (uint32_t g = 0; g < r->ngs; g++)
        if (r->gs[g].deals != REC_NONE && r->objects[r->gs[g].deals].tokens)
            r->gs[g].deals = REC_NONE;
}

void replay_settle(struct failure *f, struct replay *rp)
{
    if (!rp->rec->deep)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        struct tried t = try_it(f, rp);
        if (t.finished)
            return;
        uint32_t more = t.stuck;
        if (more == 0 || round == ROUNDS - 3)
            more += all_of(rp->rec, OBJ_CHAN);
        if (more == 0 || round == ROUNDS - 2) {
            rp->tape.no_deep = true;
            more += all_of(rp->rec, OBJ_FD);
        }
        rp->left_out += more;
        keep_items(rp->rec);
        replay_make(rp);
    }
}
