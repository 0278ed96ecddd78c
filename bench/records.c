/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Raw records: what emitting one costs, and what somebody who listens to all of them costs a run
 * that does nothing but switch goroutines. "Streamed" is a sink that copies every record away, as
 * the store's does. On threads the CPU time of who merges the records of all is in it.
 *
 * libs: gmpsim_run
 */
#include "bench.h"
#include "run/run.h"

enum { RECORDS = 20000000, REPS = 5, STREAM = 1 << 16 };

static struct event_rec stream[STREAM];
static uint64_t seen;

static void die(const char *what)
{
    fprintf(stderr, "bench_records: %s\n", what);
    exit(1);
}

static void count_only(void *arg, const struct event_rec *recs, size_t count)
{
    (void)arg;
    seen += recs[0].type != EV_NONE ? count : 0;
}

/* A batch has as many records as are settled; one that does not fit behind the one before begins
 * anew. */
static void copy_away(void *arg, const struct event_rec *recs, size_t count)
{
    size_t at = seen % STREAM;

    (void)arg;
    if (count > STREAM)
        die("a batch longer than the stream");
    memcpy(stream + (at + count <= STREAM ? at : 0), recs, count * sizeof *recs);
    seen += count;
}

struct hearer {
    event_sink_fn *sink;
    const struct host *host;
    const char *program;
};

static void emit_records(void *arg)
{
    const struct hearer *l = arg;
    struct failure f = {0};
    struct arena arena;
    struct event_log log;
    if (arena_init(&arena, 16 << 20, 0, &f) != 0)
        die(f.text);
    event_log_init(&log, &arena, NULL);
    seen = 0;
    if (l->sink != NULL)
        event_log_sink(&log, l->sink, NULL, 0);
    bench_begin();
    for (uint64_t i = 0; i < RECORDS; i++) {
        event_emit(&log, EV_G_START, i, event_who(1, 2), 3, i, 4, 5);
        bench_keep(&log);
    }
    bench_end(RECORDS);
    arena_release(&arena);
}

static const char *const ping_pong =
    "{\"name\": \"s\", \"why\": \"s\", \"procs\": 1, \"objects\": {\"c\": \"chan\"},"
    " \"main\": [{\"go\": [{\"loop\": 500000, \"do\": [{\"recv\": \"c\"}]}]},"
    " {\"loop\": 500000, \"do\": [{\"send\": \"c\", \"value\": 1}]}]}";

static const char *const switches =
    "{\"name\": \"s\", \"why\": \"s\", \"procs\": 1, \"objects\": {\"wg\": \"waitgroup\"},"
    " \"main\": [{\"add\": \"wg\", \"n\": 100}, {\"go\": [{\"loop\": 20000, \"do\":"
    " [{\"gosched\": true}]}, {\"done\": \"wg\"}], \"count\": 100}, {\"wait\": \"wg\"}]}";

/* Per switch. */
static void run_program(void *arg)
{
    const struct hearer *l = arg;
    struct failure f = {0};
    struct run_opts o;
    struct scenario *s = scenario_load(&f, "s", l->program, strlen(l->program));
    if (s == NULL || !run_opts_of(&f, s, 0, &o))
        die(f.text);
    struct host_opts ho = {.world = {.profile = &o.profile, .program = o.program, .procs = o.procs},
                           .seed = 1,
                           .sink = l->sink};
    seen = 0;
    if (!world_open(l->host, &f, &ho))
        die(f.text);
    bench_begin();
    l->host->run(UINT64_MAX / 2);
    uint64_t counters[COUNTER_COUNT];
    l->host->core->counters(counters);
    bench_end(counters[COUNTER_switches]);
    l->host->close();
    scenario_free(s);
}

static void table(const char *title, void (*run)(void *), const struct host *host,
                  const char *program, int reps)
{
    static const char *const names[] = {"records off", "... to a sink that counts", "... streamed"};
    struct hearer hearers[] = {
        {NULL, host, program}, {count_only, host, program}, {copy_away, host, program}};
    struct bench_case cases[3];
    for (int i = 0; i < 3; i++)
        cases[i] = (struct bench_case){names[i], run, &hearers[i]};
    bench_table(title, cases, 3, reps);
}

int main(int argc, char **argv)
{
    int reps = bench_reps(argc, argv, REPS);
    table("one record", emit_records, NULL, NULL, reps);
    table("one switch of 100 goroutines that yield, procs=1", run_program, &host_virt, switches,
          reps);
    table("... on threads", run_program, &host_real, switches, reps);
    table("one switch of a sender and a receiver, procs=1", run_program, &host_virt, ping_pong,
          reps);
    table("... on threads", run_program, &host_real, ping_pong, reps);
    return 0;
}
