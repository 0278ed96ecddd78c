/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: the page of a finding says what happened: who waits for what, held by whom, who read from
 * whom, and whose order decides. Method: small programs of which that is known; each pair that is
 * said to decide is told apart from one that does not.
 */
#include <string.h>

#include "harness.h"
#include "search/history.h"

static const char abba[] =
    "{\"name\": \"abba\", \"why\": \"two locks in two orders\",\n"
    " \"objects\": {\"a\": \"mutex\", \"b\": \"mutex\", \"wg\": \"waitgroup\"},\n"
    " \"funcs\": {\"one\": [{\"lock\": \"a\"},\n {\"lock\": \"b\"},\n {\"unlock\": \"b\"},\n"
    "                       {\"unlock\": \"a\"}, {\"done\": \"wg\"}],\n"
    "             \"two\": [{\"lock\": \"b\"},\n {\"lock\": \"a\"},\n {\"unlock\": \"a\"},\n"
    "                       {\"unlock\": \"b\"}, {\"done\": \"wg\"}]},\n"
    " \"main\": [{\"add\": \"wg\", \"n\": 2}, {\"go\": \"one\"}, {\"go\": \"two\"},\n"
    "            {\"wait\": \"wg\"}]}";

static const char lost[] =
    "{\"name\": \"lost\", \"why\": \"an update gets lost\",\n"
    " \"objects\": {\"v\": \"var\", \"wg\": \"waitgroup\"},\n"
    " \"funcs\": {\"inc\": [{\"load\": \"v\", \"into\": \"x\", \"atomic\": true},\n"
    "   {\"store\": \"v\", \"value\": \"x + 1\", \"atomic\": true}, {\"done\": \"wg\"}]},\n"
    " \"main\": [{\"add\": \"wg\", \"n\": 2}, {\"go\": \"inc\"}, {\"go\": \"inc\"},\n"
    "   {\"wait\": \"wg\"}, {\"load\": \"v\", \"into\": \"x\", \"atomic\": true},\n"
    "   {\"assert\": \"x == 2\", \"text\": \"both\"}]}";

/* The third value is the wrong one, whatever the order: of elements in a buffer of two. */
static const char queue[] =
    "{\"name\": \"queue\", \"why\": \"elements come out as they went in\",\n"
    " \"objects\": {\"c\": {\"chan\": 2}, \"d\": \"chan\"},\n"
    " \"funcs\": {\"put\": [{\"send\": \"c\", \"value\": 5}, {\"send\": \"c\", \"value\": 6},\n"
    "   {\"send\": \"c\", \"value\": 7}, {\"send\": \"d\", \"value\": 8}]},\n"
    " \"main\": [{\"go\": \"put\"}, {\"recv\": \"c\", \"into\": \"x\"},\n"
    "   {\"recv\": \"c\", \"into\": \"y\"}, {\"recv\": \"c\", \"into\": \"z\"},\n"
    "   {\"recv\": \"d\", \"into\": \"w\"}, {\"assert\": \"x + y + z + w == 0\", \"text\": "
    "\"n\"}]}";

struct found {
    struct scenario *s;
    struct hunt_result r;
    struct history h;
};

static void find(struct found *x, const char *text)
{
    struct failure f = {0};
    x->s = scenario_load(&f, "test.json", text, strlen(text));
    if (x->s == NULL)
        FAIL_CASE("%s", f.text);
    struct hunt_opts o = {.world = {.scenario = x->s,
                                    .procs = 2,
                                    .seed = 1,
                                    .granularity = GRANULARITY_SYNC,
                                    .late_max_ns = 1000000,
                                    .steps_max = 1000},
                          .strategy = HUNT_RANDOM,
                          .seed = 1,
                          .runs_max = 2000};
    CHECK(scenario_profile(&f, x->s, 0, &o.world.profile));
    if (!hunt(&f, &o, &x->r))
        FAIL_CASE("%s", f.text);
    CHECK_EQ(x->r.end, HUNT_FOUND);
    if (!history_make(&f, &x->r.finding, 300, &x->h))
        FAIL_CASE("%s", f.text);
}

static void release(struct found *x)
{
    history_free(&x->h);
    finding_release(&x->r.finding);
    scenario_free(x->s);
}

static const struct history_stuck *stuck(const struct found *x, const char *name)
{
    for (size_t i = 0; i < x->h.nstuck; i++)
        if (strcmp(x->h.stuck[i].name, name) == 0)
            return &x->h.stuck[i];
    FAIL_CASE("%s is not stuck", name);
    return NULL;
}

TEST_CASE(History, WhoIsStuckAndWhoHoldsIt)
{
    static struct found x;
    find(&x, abba);
    CHECK_EQ(x.h.nstuck, 3);
    const struct history_stuck *one = stuck(&x, "one"), *two = stuck(&x, "two");
    CHECK_STR(one->on, "b");
    CHECK_STR(two->on, "a");
    CHECK_STR(one->reason, "sync.Mutex.Lock");
    CHECK_EQ(one->line, 4);
    CHECK_EQ(two->line, 8);
    CHECK_EQ(one->holders, 1);
    CHECK_EQ(one->holder[0].goid, two->goid);
    CHECK_EQ(one->holder[0].line, 7); /* where it took it, not where it is */
    CHECK_EQ(two->holder[0].goid, one->goid);
    CHECK_EQ(two->holder[0].line, 3);
    CHECK_STR(stuck(&x, "main")->on, "wg");
    CHECK_EQ(stuck(&x, "main")->holders, 0);
    CHECK(x.h.cycle[0] != 0);
    release(&x);
}

TEST_CASE(History, WhoseOrderDecidesADeadlock)
{
    static struct found x;
    find(&x, abba);
    CHECK_EQ(x.h.npairs, 2);
    for (size_t i = 0; i < x.h.npairs; i++) {
        const struct history_row *a = &x.h.rows[x.h.pair[i].first];
        const struct history_row *b = &x.h.rows[x.h.pair[i].second];
        CHECK(a->goid != b->goid);
        CHECK_STR(a->what, "lock");
        CHECK_STR(a->on, b->on);
        CHECK(!a->waits);
        CHECK(b->waits);
        CHECK_STR(x.h.pair[i].instead, "");
    }
    release(&x);
}

/* Stores that overwrite each other do not decide; the load that came too early does. */
TEST_CASE(History, WhoseOrderDecidesALostUpdate)
{
    static struct found x;
    find(&x, lost);
    CHECK_EQ(x.h.npairs, 1);
    const struct history_row *a = &x.h.rows[x.h.pair[0].first];
    const struct history_row *b = &x.h.rows[x.h.pair[0].second];
    CHECK_STR(a->what, "atomic load");
    CHECK_STR(b->what, "atomic store");
    CHECK(a->goid != b->goid);
    CHECK_GT(x.h.flips, 1);
    release(&x);
}

TEST_CASE(History, WhoReadsFromWhom)
{
    static struct found x;
    const char *sent[8];
    int n = 0;
    find(&x, queue);
    for (size_t i = 0; i < x.h.count; i++) {
        const struct history_row *r = &x.h.rows[i];
        if (strcmp(r->what, "recv") != 0)
            continue;
        CHECK(r->from != ROW_NONE);
        CHECK_STR(x.h.rows[r->from].on, r->on);
        sent[n++] = x.h.rows[r->from].state;
    }
    CHECK_EQ(n, 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(sent[i][0], '5' + i);
    release(&x);
}

/* Whatever the schedule, the elements come in order: so does what the history says of them. */
TEST_CASE(History, WhoReadsFromWhomInEverySchedule)
{
    static struct found x;
    struct failure f = {0};
    find(&x, queue);
    struct hunt_opts o = {.world = x.r.finding.world, .strategy = HUNT_RANDOM, .runs_max = 1};
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct hunt_result r;
        struct history h;
        int next = '5';
        o.seed = seed;
        CHECK(hunt(&f, &o, &r));
        CHECK_EQ(r.end, HUNT_FOUND);
        CHECK(history_make(&f, &r.finding, 0, &h));
        for (size_t i = 0; i < h.count; i++)
            if (strcmp(h.rows[i].what, "recv") == 0) {
                CHECK(h.rows[i].from != ROW_NONE);
                CHECK_EQ(h.rows[h.rows[i].from].state[0], next++);
            }
        CHECK_EQ(next, '9');
        history_free(&h);
        finding_release(&r.finding);
    }
    release(&x);
}
