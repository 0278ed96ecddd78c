/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules fitted by eye to the programs of tests/accuracy (docs/accuracy.md has what they come to):
 * each source of error adds its part. */
#include "replay/trust.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PERMILLE = 1000,
    BASE = 60, /* noise of the machine, and of what the model does not know */
    OTHER = 30,
    QUOTA = 120,
    LEFT_OUT = 100,
    ASKED = 100,
    CLOCK = 400,
    STRETCH_NS = 1000000,
    SELF_WORTHLESS = 200,
    HIDDEN_WORTHLESS = 500,
    NET_WORTHLESS = 100,
    ORDER_BINDS = 500, /* with so many waits in the recorded order, ... */
    IDLE_BINDS = 750,  /* ... and the Ps less in use than this */
    DRIVEN = 300,      /* mostly by the outside */
    RANGE_WORTHLESS = 500
};

static int share(uint64_t part, uint64_t of) { return of > 0 ? (int)(part * PERMILLE / of) : 0; }

static __attribute__((format(printf, 2, 3))) void note(struct trust *t, const char *fmt, ...)
{
    va_list args;
    if (t->nnotes == TRUST_NOTES)
        return;
    va_start(args, fmt);
    vsnprintf(t->notes[t->nnotes++], sizeof t->notes[0], fmt, args);
    va_end(args);
}

static void count_waits(const struct recording *r, bool no_deep, struct trust *t)
{
    uint64_t all = 0, outside = 0, order = 0, net = 0, locked = 0;
    for (uint32_t i = 0; rec_is_wait(r, i); i++) {
        const struct rec_wait *w = &r->waits[i];
        if (r->gs[w->g].system || w->woken == INT64_MAX || w->from < 0)
            continue;
        bool known = w->waker != REC_NONE && !r->gs[w->waker].system;
        bool token = (w->how == HOW_TOKEN && w->level < 3) || (w->level == 3 && no_deep);
        all++;
        outside += w->how == HOW_OUTSIDE || (token && !known);
        order += token && known;
        net += w->how == HOW_NET && r->objects[w->object].level < 3;
        locked += r->gs[w->g].locked;
    }
    t->net = share(net, all);
    t->locked = share(locked, all);
    t->outside = share(outside, all);
    t->order = share(order, all);
}

static void end_stretch(uint64_t *stretch, uint64_t *all, uint64_t *lengthy)
{
    *all += *stretch;
    *lengthy += *stretch > STRETCH_NS ? *stretch : 0;
    *stretch = 0;
}

/* The part of the running time in long stretches: there may be locks that nobody had to wait for.
 */
static void count_stretches(const struct recording *r, int64_t event_ns, struct trust *t)
{
    uint64_t all = 0, lengthy = 0, percent = 0;
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_reader rd;
        struct rec_entry e;
        if (r->gs[g].system)
            continue;
        uint64_t stretch = 0; /* allocations do not end it */
        for (rec_rewind(&rd, r, g); rec_next(&rd, &e);)
            if (e.what == REC_CPU) {
                stretch += e.a;
            } else {
                percent += (uint64_t)tape_event_percent(r, &e);
                if (e.what != REC_ALLOC)
                    end_stretch(&stretch, &all, &lengthy);
            }
        end_stretch(&stretch, &all, &lengthy);
    }
    t->hidden = r->deep > 0 ? 0 : share(lengthy, all);
    t->tracer = share(percent * (uint64_t)event_ns / 100, all);
}

/* The replay is without the tracer: it should be shorter by that part of what the Ps ran. */
static int self_error(const struct recording *r, const struct agreement *base, int tracer)
{
    int64_t was = base->makespan[0], ran = base->cpu[0] / (r->procs > 0 ? r->procs : 1);
    int64_t without = was - (ran < was ? ran : was) * tracer / PERMILLE;
    return without > 0 ? (int)((base->makespan[1] - without) * PERMILLE / without) : 0;
}

/* How often somebody asks others by the clock depends on how long all of it takes; the others wait
 * as often as in the recording, which is right where nothing changes. */
static int clock_of(const struct recording *r)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < r->nloops; i++) {
        int64_t ns = r->loops[i].until - r->loops[i].from;
        if (r->loops[i].sends && ns > most)
            most = ns;
    }
    return r->length > 0 ? share((uint64_t)most, (uint64_t)r->length) : 0;
}

/* Of what there is in the program's tapes: how many of each deed, how long of each entry. */
static void count_entries(const struct recording *r, uint64_t of[DEED_COUNT],
                          uint64_t ns[REC_WHATS])
{
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_reader rd;
        struct rec_entry e;
        for (rec_rewind(&rd, r, g); !r->gs[g].system && rec_next(&rd, &e);) {
            ns[e.what] += e.what == REC_CPU || e.what == REC_SYS ? e.a : 0;
            if (e.what == REC_DEED)
                of[e.a & 0xff]++;
        }
    }
}

/* What hangs on the clock alone: operations that do not wait, of which only those that could be
 * done are in the recording, and timers that were set in vain. And what the kernel did. */
static void count_deeds(const struct recording *r, struct trust *t)
{
    uint64_t of[DEED_COUNT] = {0}, ns[REC_WHATS] = {0}, waits = 0, in_vain = 0;
    count_entries(r, of, ns);
    t->kernel = share(ns[REC_SYS], ns[REC_SYS] + ns[REC_CPU]);
    for (uint32_t i = 0; i < r->nafters; i++)
        in_vain += r->afters[i].child == REC_NONE;
    for (uint32_t i = 0; rec_is_wait(r, i); i++)
        waits += !r->gs[r->waits[i].g].system;
    uint64_t tries = of[DEED_trysend] + of[DEED_tryrecv] + of[DEED_trylock] + of[DEED_trywlock] +
                     of[DEED_tryrlock];
    t->tries = share(tries, tries + of[DEED_send] + of[DEED_recv] + of[DEED_lock] + of[DEED_wlock] +
                                of[DEED_rlock]);
    in_vain += of[DEED_tstop];
    t->deadlines = share(in_vain < waits ? in_vain : waits, waits);
}

/* By how much shorter it would be if nobody kept to the recorded order: that is the program's, or
 * only the recording's. */
static int freed(const struct trust_runs *runs)
{
    int64_t with = runs->is.makespan[1], without = runs->free.makespan[1];
    if (!runs->free.finished || with <= 0 || without >= with)
        return 0;
    return (int)((with - without) * PERMILLE / with);
}

/* By how much longer it would be if the part of the running time in which there may be locks came
 * one after the other. */
static int serial(const struct agreement *is, int hidden)
{
    int64_t more = is->cpu[1] - is->makespan[1];
    return more > 0 && is->makespan[1] > 0 ? (int)(more * hidden / is->makespan[1]) : 0;
}

static void look_at(const struct replay *rp, const struct trust_runs *runs, struct trust *t)
{
    const struct recording *r = rp->rec;
    const struct agreement *base = &runs->base, *is = &runs->is;
    int64_t gc = r->gc.worker_ns + r->gc.assist_ns;
    int64_t ps = r->length * (r->procs > 0 ? r->procs : 1);
    count_waits(r, rp->tape.no_deep, t);
    count_stretches(r, rp->tape.event_ns, t);
    count_deeds(r, t);
    t->freed = freed(runs);
    t->serial = r->procs == 1 && t->raised ? serial(is, t->hidden) : 0;
    t->self = self_error(r, base, t->tracer);
    t->early = share(is->early, is->tokens);
    t->quota = is->quota;
    t->asked = r->asked;
    t->clock = is->makespan[1] != base->makespan[1] ? clock_of(r) : 0;
    t->gc = ps > 0 ? (int)(gc * PERMILLE / ps) : 0;
    int64_t threads = rp->side.thread_run_ns + rp->side.thread_wait_ns;
    t->os = threads > 0 ? (int)(rp->side.thread_wait_ns * PERMILLE / threads) : -1;
}

/* A loop with as many workers as there are Ps: the recording has those of the recorded Ps. */
static bool procs_matter(const struct replay *rp, const struct trust *t)
{
    return t->asked > 0 && t->procs != rp->rec->procs;
}

static void widen(struct trust *t, const char *why, int below, int above)
{
    below = below > 0 ? below : 0;
    above = above > 0 ? above : 0;
    if (below + above == 0 || t->nparts == TRUST_PARTS)
        return;
    t->parts[t->nparts++] = (struct trust_part){why, below, above};
    t->below += below;
    t->above += above;
}

static void both(struct trust *t, const char *why, int part) { widen(t, why, part, part); }

/* What the recording itself says of its own settings. */
static void range_of_own(struct trust *t)
{
    both(t, "what the machine does otherwise each time", BASE);
    widen(t, "the replay is off at the recorded settings", t->self, -t->self);
    both(t, "what the tracer's events took", t->tracer / 2);
    both(t, "what the collector does to the others", t->gc / 4);
    both(t, "system calls", t->kernel / 8);
}

static void range_of_other(const struct replay *rp, struct trust *t)
{
    both(t, "other settings", OTHER);
    widen(t, "waits that only the recorded order may ask for", t->freed, 0);
    widen(t, "locks and channels that nobody waited for at one P", 0, t->serial);
    if (!t->raised && rp->rec->deep == 0)
        widen(t, "waits that are not needed any more", t->early / 8, 0);
    both(t, "operations that do not wait: what they find is the clock's", t->tries / 2);
    both(t, "deadlines that were kept", t->deadlines / 6);
    both(t, "... and where it would be otherwise", t->gc / 4);
    both(t, "what comes from outside", t->outside > DRIVEN ? 0 : t->outside / 2);
    both(t, "goroutines that are locked to threads", t->locked);
    both(t, "who sends by the clock", t->clock * CLOCK / PERMILLE);
    both(t, "a program that asks how many Ps there are", procs_matter(rp, t) ? ASKED : 0);
    both(t, "channels that are replayed as recorded", rp->left_out > 0 ? LEFT_OUT : 0);
    both(t, "where in its period the quota begins", t->quota ? QUOTA : 0);
}

static void set_range(const struct replay *rp, struct trust *t)
{
    range_of_own(t);
    if (t->other)
        range_of_other(rp, t);
}

int trust_width(const struct trust *t) { return t->below > t->above ? t->below : t->above; }

static void say(struct trust *t, const char *fmt, int n)
{
    t->worthless = true;
    snprintf(t->why, sizeof t->why, fmt, n / 10, n % 10);
}

static void judge(const struct replay *rp, const struct trust_runs *runs, struct trust *t)
{
    const struct agreement *base = &runs->base, *is = &runs->is;
    bool one_p = t->raised && rp->rec->procs == 1;
    if (!base->finished)
        say(t, "the replay does not come to its end at the recorded settings", 0);
    else if (!is->finished)
        say(t, "the replay does not come to its end at these settings", 0);
    else if (abs(t->self) > SELF_WORTHLESS)
        say(t,
            "the replay is off by %d.%d %% at the recorded settings: record a deep trace (gmpsim "
            "record), on a quiet machine, of a part that is all Go",
            abs(t->self));
    else if (one_p && t->asked > 0 && is->utilisation[1] < IDLE_BINDS)
        say(t,
            "recorded at one P of a program that asks how many Ps there are, and Ps stand idle: it "
            "would start more goroutines; record at so many",
            0);
    else if (one_p && t->hidden > HIDDEN_WORTHLESS)
        say(t,
            "recorded at one P, plain, %d.%d %% of the running time in stretches without an event: "
            "nobody ever waited for a lock there; record at two Ps or more, or deep",
            t->hidden);
    else if (one_p && t->net > NET_WORTHLESS)
        say(t,
            "recorded at one P, %d.%d %% of the waits are for descriptors, of which one P sees "
            "many "
            "ready at once: whose is whose cannot be told; record at two Ps or more",
            t->net);
    else if (one_p && t->order > ORDER_BINDS && is->utilisation[1] < IDLE_BINDS)
        say(t,
            "recorded at one P, %d.%d %% of the waits are for the recorded wake, and Ps stand "
            "idle: it "
            "may be the recorded order that keeps them so; record a deep trace, or at two Ps",
            t->order);
    else if (trust_width(t) > RANGE_WORTHLESS)
        say(t, "it would only be within %d.%d %%, for the reasons that replay says",
            trust_width(t));
}

static void notes(const struct replay *rp, struct trust *t)
{
    if (rp->rec->deep == 0)
        note(t, "a plain recording: locks and channels that did not wait are not in it");
    if (t->locked > 20)
        note(t, "%d.%d %% of the waits are of goroutines locked to their threads", t->locked / 10,
             t->locked % 10);
    if (t->tracer > 20)
        note(t, "the recording's own events took some %d.%d %% of the running time", t->tracer / 10,
             t->tracer % 10);
    if (t->order > 0 && t->other)
        note(t, "%d.%d %% of the waits are for the recorded wake, whatever the order is now",
             t->order / 10, t->order % 10);
    if (t->early > 0)
        note(t, "%d.%d %% of those had been ended before they began", t->early / 10, t->early % 10);
    if (t->outside > 0)
        note(t, "%d.%d %% of the waits were ended from outside: at the recorded times",
             t->outside / 10, t->outside % 10);
    if (t->asked > 0)
        note(t,
             "the program asked %" PRIu64 " times how many Ps there are: at other numbers it may "
             "do other things",
             t->asked);
    if (t->quota)
        note(t, "a quota: where in its period the program begins is not known");
    if (t->tries > 0 && t->other)
        note(t,
             "%d.%d %% of the operations on channels and locks would not have waited: those that "
             "could not be done are in no recording",
             t->tries / 10, t->tries % 10);
    if (t->clock > 0 && t->other)
        note(
            t,
            "for %d.%d %% of it somebody sends by the clock, and others wait for that: as often as "
            "it was recorded",
            t->clock / 10, t->clock % 10);
    if (t->outside > DRIVEN && t->other)
        note(t, "so the load is an open one: the makespan stays, look at waits and regions");
    if (t->gc > 20)
        note(t, "the collector took %d.%d %% of the Ps' time; %s", t->gc / 10, t->gc % 10,
             rp->rec->gc.replayed ? "what it does is computed anew" : "it is not replayed");
    if (rp->left_out > 0)
        note(t, "%u channels are replayed as they were recorded", rp->left_out);
    if (!rp->has_side)
        note(t, "what waking a thread cost there is not known (gmpsim record measures it)");
    else if (t->os > 50)
        note(t, "threads waited for a CPU %d.%d %% of their time: that is in the running times",
             t->os / 10, t->os % 10);
}

void trust_of(const struct replay *rp, const struct trust_runs *runs, struct trust *t)
{
    *t = (struct trust){
        .other = runs->other, .procs = runs->procs, .raised = runs->procs > rp->rec->procs};
    look_at(rp, runs, t);
    set_range(rp, t);
    judge(rp, runs, t);
    notes(rp, t);
}
