/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a run's result says what happened, and looking does not change it. Method: small scenarios
 * whose outcome is known. */
#include <string.h>

#include "harness.h"
#include "run/run.h"
#include "run/window.h"

static struct run r;

static struct scenario *load(const char *text, struct run_opts *o)
{
    struct failure f = {0};
    struct scenario *s = scenario_load(&f, "test", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    CHECK(run_opts_of(&f, s, 0, o));
    return s;
}

static const struct run_group *group(const char *name)
{
    for (size_t i = 0; i < r.result.ngroups; i++)
        if (strcmp(r.result.groups[i].name, name) == 0)
            return &r.result.groups[i];
    FAIL_CASE("no group %s", name);
    return NULL;
}

static const char *const workers =
    "{\"name\": \"w\", \"why\": \"w\", \"procs\": 2, \"objects\": {\"wg\": \"waitgroup\","
    " \"mu\": \"mutex\"}, \"funcs\": {\"work\": [{\"span\": \"s\", \"do\": [{\"cpu\": \"20us\"},"
    " {\"lock\": \"mu\"}, {\"cpu\": \"5us\"}, {\"unlock\": \"mu\"}, {\"sleep\": \"2ms\"}]},"
    " {\"done\": \"wg\"}]}, \"main\": [{\"add\": \"wg\", \"n\": 50}, {\"go\": \"work\","
    " \"count\": 50, \"group\": \"workers\"}, {\"wait\": \"wg\"}]}";

TEST_CASE(Run, TimesOfPsAndGroupsAddUp)
{
    struct run_opts o;
    struct failure f = {0};
    struct scenario *s = load(workers, &o);
    CHECK(run_all(&f, &r, &o));
    const struct run_result *q = &r.result;
    CHECK_EQ(q->end, END_STOPPED);
    uint64_t sum = 0;
    for (int c = 0; c < PC_COUNT; c++)
        sum += q->p_ps[c];
    CHECK(sum <= 2 * q->now_ps);
    CHECK(sum > 2 * q->now_ps - 2 * 1000000); /* but for the first microsecond */
    CHECK(q->p_ps[PC_USER] >= UINT64_C(50) * 25 * 1000000);
    CHECK_EQ(q->spans[0].latency->count, 50);
    CHECK(q->spans[0].latency->min >= 2025000);
    const struct run_group *g = group("workers");
    CHECK_EQ(g->created, 50);
    CHECK_EQ(g->exited, 50);
    CHECK(g->waiting_ps >= UINT64_C(50) * 2000000000);
    run_free(&r);
    scenario_free(s);
}

/* Neither what a context starts at its deadline nor a coroutine is a second main. */
TEST_CASE(Run, DeadlinesAndCoroutinesAreNotTheirCreatorsGroup)
{
    struct run_opts o;
    struct failure f = {0};
    struct scenario *s = load(
        "{\"name\": \"w\", \"why\": \"w\", \"procs\": 1, \"funcs\": {"
        " \"numbers\": [{\"yield\": 1}],"
        " \"back\": {\"params\": [\"x\"], \"do\": []}}, \"main\": ["
        " {\"context\": \"c\", \"timeout\": \"1ms\"}, {\"recv\": \"c.Done\"},"
        " {\"pull\": \"it\", \"from\": \"numbers\"}, {\"next\": \"it\", \"into\": \"x\"},"
        " {\"cgo_callback\": \"back\", \"arg\": 7, \"thread\": \"foreign\"},"
        " {\"sleep\": \"1ms\"}]}",
        &o);
    CHECK(run_all(&f, &r, &o));
    CHECK_EQ(group("main")->created, 1);
    CHECK_EQ(group("context")->created, 1);
    CHECK_EQ(group("context")->exited, 1);
    CHECK_EQ(group("numbers")->created, 1);
    CHECK_EQ(group("back")->created, 1);
    run_free(&r);
    scenario_free(s);
}

/* The host's queue of events grows while the program runs, and a little earlier when somebody
 * stops the world: that must not move the model's objects to other places in their cache lines. */
TEST_CASE(Run, LookingOnTheWayDoesNotChangeIt)
{
    struct run_opts o;
    struct failure f = {0};
    struct scenario *s = load(workers, &o);
    uint64_t fingerprints[3];
    for (int i = 0; i < 3; i++) {
        o.no_analysis = i == 2;
        CHECK(run_start(&f, &r, &o));
        uint64_t step = i == 1 ? 7777777 : UINT64_C(1) << 60, at = step;
        size_t looked = 0;
        for (; run_to(&r, at); at += step) {
            struct look_sched look;
            look_sched(&look);
            CHECK_EQ(look.procs, 2);
            looked++;
        }
        CHECK(i != 1 || looked > 100);
        run_end(&r);
        fingerprints[i] = r.result.fingerprint;
        run_free(&r);
    }
    CHECK_EQ(fingerprints[0], fingerprints[1]);
    CHECK_EQ(fingerprints[0], fingerprints[2]);
    scenario_free(s);
}

struct heard {
    uint64_t ops, records, last_ps[64], failed_cas;
};

static void hear_op(void *arg, const struct traced_op *op)
{
    struct heard *h = arg;
    CHECK_EQ(op->number, ++h->ops);
    CHECK(op->m < 64);
    CHECK(op->time_ps >= h->last_ps[op->m]); /* an M's own operations are in order */
    h->last_ps[op->m] = op->time_ps;
    if (strcmp(op->site->verb, "load") == 0)
        CHECK_EQ(op->before, op->after);
    if (!op->done) {
        h->failed_cas++;
        CHECK_EQ(op->before, op->after);
        CHECK(op->before != op->wanted);
    }
}

static void hear_record(void *arg, const struct event_rec *rec)
{
    struct heard *h = arg;
    h->records += rec->type < EV_COUNT;
}

TEST_CASE(Run, ATracedRunIsTheSameRunStoppedOrNot)
{
    struct run_opts o;
    struct failure f = {0};
    struct scenario *s = load(workers, &o);
    static const int releases[] = {13, 19, 27};
    for (int i = 0; i < 3; i++) {
        struct heard h = {0};
        const struct traced_to to = {.op = hear_op, .event = hear_record, .arg = &h};
        uint64_t stops = 0, all = 0, plain;
        CHECK(run_opts_of(&f, s, releases[i], &o));
        o.cpus = i == 1 ? 1 : 0;
        CHECK(run_all(&f, &r, &o));
        plain = r.result.fingerprint;
        run_free(&r);
        o.traced = &to;
        CHECK(run_all(&f, &r, &o));
        CHECK_EQ(r.result.fingerprint, plain);
        CHECK(h.ops > 1000);
        CHECK(h.records > 100);
        all = h.ops;
        run_free(&r);
        h = (struct heard){0};
        CHECK(run_start(&f, &r, &o));
        while (run_after_op(&r, h.ops + 7)) {
            CHECK_EQ(h.ops, 7 * ++stops);
            CHECK_EQ(traced_count(), h.ops);
        }
        run_end(&r);
        CHECK_EQ(h.ops, all);
        CHECK_EQ(stops, all / 7);
        CHECK_EQ(r.result.fingerprint, plain);
        run_free(&r);
    }
    scenario_free(s);
}

TEST_CASE(Run, ADeadlockNamesWhoWaitsForWhat)
{
    struct run_opts o;
    struct failure f = {0};
    struct scenario *s = load(
        "{\"name\": \"d\", \"why\": \"d\", \"objects\": {\"c\": {\"chan\": 0},"
        " \"mu\": \"mutex\"}, \"funcs\": {\"f\": [{\"recv\": \"c\"}]}, \"main\": [{\"go\":"
        " \"f\", \"group\": \"readers\"}, {\"lock\": \"mu\"}, {\"lock\": \"mu\"}]}",
        &o);
    CHECK(run_all(&f, &r, &o));
    const struct run_result *q = &r.result;
    CHECK_EQ(q->end, END_FINDING);
    CHECK_EQ(q->kind, FIND_DEADLOCK);
    CHECK_STR(run_verdict(q), "deadlock");
    CHECK_EQ(run_exit_code(q), EXIT_FINDING);
    CHECK_EQ(q->ngs, 2);
    CHECK_STR(q->gs[0].is->group, "main");
    CHECK_STR(q->gs[0].is->reason, "sync.Mutex.Lock");
    CHECK_STR(q->gs[1].is->group, "readers");
    CHECK_STR(q->gs[1].is->reason, "chan receive");
    CHECK(q->gs[0].is->blocked);
    CHECK(q->gs[1].is->blocked);
    run_free(&r);
    scenario_free(s);
}

TEST_CASE(Run, StopsAtTheTimeItWasGiven)
{
    struct run_opts o;
    struct failure f = {0};
    struct scenario *s = load(workers, &o);
    o.until_ns = 1000000;
    CHECK(run_all(&f, &r, &o));
    CHECK_EQ(r.result.end, END_TIME);
    CHECK_EQ(r.result.now_ps, UINT64_C(1000000000));
    CHECK(r.result.ngs > 1);
    CHECK(!r.result.gs[1].is->blocked); /* asleep: a timer will wake it */
    run_free(&r);
    scenario_free(s);
}

/* A world has room for every GOMAXPROCS that its machine or its program asks for. */
TEST_CASE(Run, AsManyPsAsTheMachineOrTheProgramWants)
{
    static const struct {
        const char *text;
        int32_t cpus, procs;
    } rows[] = {
        {"{\"name\": \"n\", \"why\": \"w\", \"main\": [{\"print\": \"a\"}]}", 65, 65},
        {"{\"name\": \"n\", \"why\": \"w\", \"main\": [{\"print\": \"a\"}]}", 1024, 1024},
        {"{\"name\": \"n\", \"why\": \"w\", \"main\": [{\"gomaxprocs\": 300}]}", 2, 300},
        {"{\"name\": \"n\", \"why\": \"w\", \"main\": [{\"set\": \"n\", \"value\": 3000},"
         " {\"gomaxprocs\": \"n\"}]}",
         2, 3000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_opts o;
        struct failure f = {0};
        struct scenario *s = load(rows[i].text, &o);
        o.cpus = rows[i].cpus;
        CHECK(run_all(&f, &r, &o));
        CHECK_EQ(r.result.end, END_STOPPED);
        CHECK_EQ(r.result.procs, rows[i].procs);
        run_free(&r);
        scenario_free(s);
    }
}

/* A loop that prints takes time for it, and cannot fill the memory of whoever keeps the output. */
TEST_CASE(Run, OutputTakesTimeAndHasALimit)
{
    static const char *const text =
        "{\"name\": \"n\", \"why\": \"w\", \"procs\": 1, \"main\": [{\"loop\": \"forever\", \"do\":"
        " [{\"print\": \"fifty-two characters in a line of output of a test.\"}]}]}";
    struct run_opts o;
    struct failure f = {0};
    struct scenario *s = load(text, &o);
    o.until_ns = 10000000;
    CHECK(run_all(&f, &r, &o));
    CHECK_EQ(r.result.end, END_TIME);
    CHECK(r.result.out_size > 500000 && r.result.out_size < 2000000);
    run_free(&r);
    o.until_ns = 1000000000; /* twice what the limit lets it come to */
    CHECK(run_all(&f, &r, &o));
    CHECK_EQ(run_exit_code(&r.result), EXIT_USAGE);
    CHECK_HAS(r.result.text, "--prints");
    CHECK(r.result.out_size < RUN_OUTPUT_MAX + 100);
    run_free(&r);
    scenario_free(s);
}
