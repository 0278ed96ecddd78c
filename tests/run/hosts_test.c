/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: one run over every host: the same options give the same verdict, output and, as far as it
 * does not depend on time, the same analysis.
 * Method: scenarios whose output one P or no order decides; the explorer under a random strategy,
 * and again from its log of answers. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "run/judge.h"
#include "run/run.h"
#include "run/window.h"
#include "sim/explore/explore.h"

static struct run r;
static struct scenario *scenario;

static const char *const fan =
    "{\"name\": \"fan\", \"why\": \"w\", \"procs\": 2, \"objects\": {\"wg\": \"waitgroup\"},"
    " \"main\": [{\"add\": \"wg\", \"n\": 3}, {\"go\": [{\"span\": \"work\", \"do\":"
    " [{\"gosched\": true}]}, {\"done\": \"wg\"}], \"count\": 3}, {\"wait\": \"wg\"},"
    " {\"print\": \"done\"}]}";
static const char *const stuck =
    "{\"name\": \"stuck\", \"why\": \"w\", \"procs\": 1, \"objects\": {\"c\": \"chan\"},"
    " \"expect\": {\"end\": \"deadlock\"}, \"main\": [{\"print\": \"before\"}, {\"recv\": \"c\"}]}";

static struct run_opts opts_of(const char *text)
{
    struct failure f = {0};
    struct run_opts o = {0};
    scenario = scenario_load(&f, "s.json", text, strlen(text));
    if (scenario == NULL || !run_opts_of(&f, scenario, 0, &o))
        FAIL_CASE("%s", f.text);
    return o;
}

static void go(const struct run_opts *o)
{
    struct failure f = {0};
    if (!run_all(&f, &r, o))
        FAIL_CASE("%s", f.text);
}

static void no_complaint(void *arg, const char *text)
{
    (void)arg;
    FAIL_CASE("%s", text);
}

static void done(void)
{
    run_free(&r);
    scenario_free(scenario);
}

static void check_fan(const struct run_opts *o)
{
    go(o);
    CHECK_STR(run_verdict(&r.result), "finished");
    CHECK_EQ(scenario_check(scenario, o->profile.release, &r.result, no_complaint, NULL), 0);
    CHECK_EQ(r.result.out_size, 5);
    CHECK(memcmp(r.result.out, "done\n", 5) == 0);
    CHECK_EQ(r.result.spans[0].latency->count, 3);
    CHECK_EQ(r.result.spans[0].open->count, 0);
    CHECK_EQ(r.result.procs, 2);
    CHECK_LT(0, r.result.counters[COUNTER_switches]);
}

static void check_stuck(const struct run_opts *o)
{
    struct look_sched s;
    go(o);
    CHECK_STR(run_verdict(&r.result), "deadlock");
    CHECK_EQ(scenario_check(scenario, o->profile.release, &r.result, no_complaint, NULL), 0);
    CHECK_EQ(r.result.ngs, 1);
    CHECK_STR(r.result.gs[0].is->reason, "chan receive");
    look_sched(&s); /* the world is still there, in its host's layout */
    CHECK_EQ(s.procs, 1);
    CHECK_EQ(s.globrunq, 0);
}

static void on_each(const struct run_opts *base, void (*check)(const struct run_opts *))
{
    static struct strategy_random random; /* the world lives on after this returns */
    static struct host_explore e;
    struct run_opts o = *base;
    e.strategy = &random.s;
    check(&o);
    run_free(&r);
    o.host = &host_real;
    check(&o);
    run_free(&r);
    o.host = &host_explore;
    o.explore = &e;
    strategy_random_init(&random, 3, 1);
    check(&o);
    run_free(&r); /* while its strategy lives */
}

TEST_CASE(Hosts, AProgramFinishesTheSameOnEach)
{
    struct run_opts o = opts_of(fan);
    on_each(&o, check_fan);
    done();
}

TEST_CASE(Hosts, ADeadlockIsTheSameOnEach)
{
    struct run_opts o = opts_of(stuck);
    on_each(&o, check_stuck);
    done();
}

/* ---- the explorer's records ---- */

enum { RECORDS_MAX = 20000 };
static struct event_rec records[2][RECORDS_MAX];
static size_t nrecords[2];
static int turn;

static void keep(void *arg, const struct event_rec *recs, size_t count)
{
    (void)arg;
    CHECK_LT(nrecords[turn] + count, RECORDS_MAX);
    memcpy(records[turn] + nrecords[turn], recs, count * sizeof *recs);
    nrecords[turn] += count;
}

static uint64_t explored(struct run_opts *o, struct strategy *s, int number)
{
    struct host_explore e = {.strategy = s};
    o->host = &host_explore;
    o->explore = &e;
    o->sink = keep;
    turn = number;
    nrecords[turn] = 0;
    go(o);
    return r.result.fingerprint;
}

TEST_CASE(Hosts, AScheduleGivesTheSameRecordsAgain)
{
    struct strategy_random random;
    struct strategy_replay replay;
    struct run_opts o = opts_of(fan);
    size_t count;
    for (uint64_t seed = 0; seed < 20; seed++) {
        strategy_random_init(&random, seed, 1);
        uint64_t first = explored(&o, &random.s, 0);
        const struct answer *log = ex_answers(&count);
        struct answer *answers = malloc(count * sizeof *answers);
        memcpy(answers, log, count * sizeof *answers);
        run_free(&r);
        strategy_replay_init(&replay, answers, count, true);
        CHECK_EQ(explored(&o, &replay.s, 1), first);
        CHECK(!replay.diverged);
        run_free(&r);
        free(answers);
        CHECK_LT(0, nrecords[0]);
        CHECK_EQ(nrecords[0], nrecords[1]);
        CHECK(memcmp(records[0], records[1], nrecords[0] * sizeof records[0][0]) == 0);
        for (size_t i = 1; i < nrecords[0]; i++)
            CHECK_LT(records[0][i - 1].time, records[0][i].time);
    }
    scenario_free(scenario);
}

TEST_CASE(Hosts, AWorldIsBuiltAgainForTheNextRun)
{
    struct strategy_random random;
    struct host_explore e = {.strategy = &random.s};
    struct run_opts o = opts_of(fan);
    struct host_opts ho = {.world = {.profile = &o.profile, .program = o.program, .procs = 2},
                           .explore = &e};
    struct failure f = {0};
    uint64_t prints[4];
    strategy_random_init(&random, 1, 4);
    if (!world_open(&host_explore, &f, &ho))
        FAIL_CASE("%s", f.text);
    int n = 0;
    do {
        struct host_stats s;
        CHECK_EQ(host_explore.run(UINT64_MAX), END_STOPPED);
        host_explore.stats(&s);
        prints[n++] = s.fingerprint;
    } while (world_again(&random.s));
    host_explore.close();
    CHECK_EQ(n, 4);
    CHECK(prints[0] != prints[1] && prints[1] != prints[2]);
    scenario_free(scenario);
}

/* ---- the explorer's operations ---- */

struct heard {
    uint64_t ops, last, records;
    bool rises;
};

static void hear_op(void *arg, const struct traced_op *op)
{
    struct heard *h = arg;
    h->ops++;
    h->rises &= op->number > h->last;
    h->last = op->number;
    CHECK(op->site->field != NULL && op->site->verb != NULL);
}

static void hear_record(void *arg, const struct event_rec *rec)
{
    struct heard *h = arg;
    (void)rec;
    h->records++;
}

static uint64_t run_in_steps(struct run_opts *o, uint64_t step, struct heard *h)
{
    struct failure f = {0};
    struct look_sched s;
    uint64_t stops = 0;
    *h = (struct heard){.rises = true};
    if (!run_start(&f, &r, o))
        FAIL_CASE("%s", f.text);
    for (uint64_t at = step; run_after_op(&r, step != 0 ? at : 0); at += step) {
        CHECK_LE(at, h->last); /* a point that is no atomic operation ends nothing */
        look_sched(&s);
        CHECK(s.procs <= 2);
        stops++;
    }
    run_end(&r);
    CHECK_STR(run_verdict(&r.result), "finished");
    return stops;
}

TEST_CASE(Hosts, AScheduleIsSteppedThroughByOperations)
{
    struct strategy_random random;
    struct host_explore e = {.strategy = &random.s};
    struct run_opts o = opts_of(fan);
    struct heard whole, steps;
    const struct traced_to to = {.op = hear_op, .event = hear_record, .arg = &whole};
    const struct traced_to to_steps = {.op = hear_op, .event = hear_record, .arg = &steps};
    strategy_random_init(&random, 8, 1);
    uint64_t quiet = explored(&o, &random.s, 0);
    run_free(&r);
    o.explore = &e;
    o.sink = NULL;
    o.traced = &to;
    strategy_random_init(&random, 8, 1);
    CHECK_EQ(run_in_steps(&o, 0, &whole), 0);
    CHECK_EQ(r.result.fingerprint, quiet);
    run_free(&r);
    o.traced = &to_steps;
    strategy_random_init(&random, 8, 1);
    CHECK_LE(10, run_in_steps(&o, 97, &steps));
    CHECK_EQ(r.result.fingerprint, quiet);
    CHECK(whole.rises && steps.rises);
    CHECK_LT(500, whole.ops);
    CHECK_EQ(whole.ops, steps.ops);
    CHECK_EQ(whole.records, nrecords[0]);
    CHECK_EQ(whole.records, steps.records);
    done();
}
