/* SPDX-License-Identifier: BSD-3-Clause */
/* Does the program come to its end? With a deep recording who meets whom is decided anew, and what
 * a goroutine does then may not fit: a client waits for an answer that the server gives to another,
 * for what decides is in values that nobody recorded. Then nothing goes with items any more
 * (infer_items.c); channels that somebody is stuck at even so are replayed as they were recorded
 * (level 1), a few at a time; if that does not help, all of them, and at last every deed and every
 * connection. */
#include <stdlib.h>

#include "model/prog.h"
#include "replay/replay.h"
#include "run/run.h"

enum { ROUNDS = 13 };
/* A replay takes about as long as the recording; many times as long is for ever. */
enum { PATIENCE = 4, SECONDS = 2000000000 };

/* Does it end at so many Ps? If not, stuck counts the channels that somebody waits at; with mark
 * they become tokens. */
static bool ends_at(struct failure *f, struct replay *rp, int32_t procs, bool mark, uint32_t *stuck)
{
    static struct run r;
    struct run_opts o;
    struct recording *rec = rp->rec;
    if (!run_opts_of(f, rp->scenario, 0, &o))
        return true;
    o.procs = procs;
    o.until_ns = rec->length * PATIENCE * (rec->procs > procs ? rec->procs : 1) + SECONDS;
    o.costs = &rp->costs;
    if (!run_all(f, &r, &o))
        return true;
    bool ends = r.result.end == END_STOPPED || r.result.end == END_LIMIT;
    if (r.result.end == END_LIMIT)
        fail(f, E_LIMIT, "%s", r.result.text);
    for (size_t i = 0; mark && !ends && i < r.result.ngs; i++) {
        int64_t c = r.result.gs[i].channel;
        if (c < 0 || c >= rec->nobjects || rec->objects[c].tokens)
            continue;
        rec->objects[c].tokens = true;
        (*stuck)++;
    }
    run_free(&r);
    return ends;
}

/* At the recorded settings, at one P, where order differs most, and at more. */
static bool ends(struct failure *f, struct replay *rp, bool mark, uint32_t *stuck)
{
    int32_t was = rp->rec->procs > 0 ? rp->rec->procs : 1;
    *stuck = 0;
    return ends_at(f, rp, was, mark, stuck) && (was == 1 || ends_at(f, rp, 1, mark, stuck)) &&
           ends_at(f, rp, was * 2, mark, stuck);
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

static void forget_items(struct recording *r)
{
    for (uint32_t g = 0; g < r->ngs; g++)
        r->gs[g].deals = REC_NONE;
}

/* More is replayed as it was recorded; gives of how many objects. */
static uint32_t leave_out(struct replay *rp, uint32_t stuck, int round)
{
    uint32_t more = stuck;
    if (more == 0 || round == ROUNDS - 3)
        more += all_of(rp->rec, OBJ_CHAN);
    if (more == 0 || round == ROUNDS - 2) {
        rp->tape.no_deep = true;
        more += all_of(rp->rec, OBJ_FD);
    }
    return more;
}

void replay_settle(struct failure *f, struct replay *rp)
{
    if (!rp->rec->deep)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t stuck;
        if (ends(f, rp, /*mark=*/round > 0, &stuck))
            return;
        if (round == 0)
            forget_items(rp->rec);
        else
            rp->left_out += leave_out(rp, stuck, round);
        replay_make(rp);
    }
}
