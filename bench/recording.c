/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a recorded trace takes in memory: bytes for each entry of its tapes (a stretch of running
 * time, a wait, a wake, a deed ...), of each table, and of the process at its largest, until it has
 * been replayed once.
 *
 *   bench_recording [FILE]   default: three stages over channels, 1e6 entries, then 1e7; every
 *                            fourth entry is a wait, of which traces have more than of the rest
 *
 * libs: gmpsim_replay
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "replay/replay.h"
#include "replay/simtrace.h"
#include "run/run.h"

static const char stages[] =
    "{\"name\": \"stages\", \"why\": \"to be recorded\", \"profiles\": [\"go1.26\"], \"procs\": 4,"
    " \"objects\": {\"a\": \"chan\", \"b\": \"chan\"}, \"funcs\": {\"work\": [{\"range\": \"a\","
    " \"into\": \"x\", \"do\": [{\"cpu\": \"50us\"}, {\"send\": \"b\", \"value\": \"x\"}]},"
    " {\"close\": \"b\"}], \"feed\": [{\"loop\": %d, \"do\": [{\"cpu\": \"20us\"},"
    " {\"send\": \"a\", \"value\": 1}]}, {\"close\": \"a\"}]}, \"main\": [{\"go\": \"work\"},"
    " {\"go\": \"feed\"}, {\"range\": \"b\", \"into\": \"x\", \"do\": [{\"cpu\": \"10us\"}]}]}";
enum { ENTRIES_OF_ITEM = 8 };

static _Noreturn void die(const char *text)
{
    fprintf(stderr, "bench_recording: %s\n", text);
    exit(1);
}

static struct run run;

static void record(const char *path, int items)
{
    char text[sizeof stages + 20];
    struct failure f = {0};
    struct run_opts o;
    snprintf(text, sizeof text, stages, items);
    struct scenario *s = scenario_load(&f, "stages", text, strlen(text));
    if (s == NULL || !run_opts_of(&f, s, 0, &o))
        die(f.text);
    struct simtrace *t = simtrace_open(&f, path, o.program, "stages", o.procs, 0);
    if (t == NULL)
        die(f.text);
    o.until_ns = INT64_MAX;
    o.sink = simtrace_sink;
    o.arg = t;
    if (!run_all(&f, &run, &o) || !simtrace_close(t, &f, run.result.now_ps))
        die(f.text);
    run_free(&run);
    scenario_free(s);
}

static void line(const char *name, size_t bytes, uint64_t entries)
{
    printf("  %-32s %8.2f\n", name, (double)bytes / (double)entries);
}

static size_t largest(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (size_t)use.ru_maxrss * 1024;
}

static void measure(const char *path)
{
    struct failure f = {0};
    struct run_opts o;
    struct replay rp;
    size_t empty = largest();
    if (!replay_open(&f, path, &(struct replay_opts){.event_ns = -1, .wake_ns = -1}, &rp) ||
        !run_opts_of(&f, rp.scenario, 0, &o))
        die(f.text);
    o.costs = &rp.costs;
    if (!run_all(&f, &run, &o))
        die(f.text);
    const struct recording *r = rp.rec;
    const struct program *p = &rp.scenario->program;
    uint64_t n = rec_entries(r);
    printf("%s: %llu entries, %u waits, %u goroutines\n", path, (unsigned long long)n, r->nwaits,
           r->ngs);
    line("waits", r->nwaits * sizeof *r->waits, n);
    line("goroutines", r->ngs * sizeof *r->gs, n);
    line("tapes", r->nbytes, n);
    line("all of the recording", rec_bytes(r), n);
    line("the program's tapes", p->tapes[p->ntapes], n);
    line("its events", p->nevents * sizeof(uint64_t), n);
    line("the process, at most", largest() - empty, n);
    run_free(&run);
    replay_close(&rp);
}

/* In a process of its own, for what is kept is what was the most. */
static void apart(const char *path)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure(path);
        exit(0);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        die("the child failed");
}

int main(int argc, char **argv)
{
    char path[] = "/tmp/bench-recording-XXXXXX";
    printf("memory of a recording, bytes for each entry\n");
    if (argc > 1) {
        apart(argv[1]);
        return 0;
    }
    if (close(mkstemp(path)) != 0)
        die("no file for the trace");
    for (int entries = 1000000; entries <= 10000000; entries *= 10) {
        fflush(stdout);
        if (fork() == 0) { /* what it took to make is not counted */
            record(path, entries / ENTRIES_OF_ITEM);
            exit(0);
        }
        wait(NULL);
        apart(path);
    }
    return remove(path);
}
