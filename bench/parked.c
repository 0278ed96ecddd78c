/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a parked goroutine costs in memory: the whole process (world, analysis, report), a million
 * goroutines against one, each in a process of its own. Beside it real Go's figure from the same
 * run, if a Go is installed (bench/go/run.sh finds it).
 *
 * libs: gmpsim_run
 */
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "run/run.h"

enum { MANY = 1000000, TEXT = 1000 };

static void die(const char *what)
{
    fprintf(stderr, "bench_parked: %s\n", what);
    exit(1);
}

struct kind {
    const char *name, *objects, *before, *body, *release;
};

/* Everybody parks, then everybody is let go: both ends of a goroutine's life are in the figure. */
static const struct kind kinds[] = {
    {"receive", "\"c\": \"chan\"", "", "{\"recv\": \"c\"}", "{\"close\": \"c\"},"},
    {"select of 2", "\"c\": \"chan\", \"d\": \"chan\"", "",
     "{\"select\": [{\"recv\": \"c\", \"do\": []}, {\"recv\": \"d\", \"do\": []}]}",
     "{\"close\": \"c\"},"},
    {"mutex", "\"m\": \"mutex\"", "{\"lock\": \"m\"},", "{\"lock\": \"m\"}, {\"unlock\": \"m\"}",
     "{\"unlock\": \"m\"},"},
    {"WaitGroup", "\"w\": \"waitgroup\"", "{\"add\": \"w\"},", "{\"wait\": \"w\"}",
     "{\"done\": \"w\"},"},
    {"sleep", "", "", "{\"sleep\": \"10s\"}", ""},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void run_parked(const struct kind *k, int count)
{
    static struct run r;
    char text[TEXT];
    struct failure f = {0};
    struct run_opts o;
    snprintf(text, sizeof text,
             "{\"name\": \"s\", \"why\": \"s\", \"procs\": 4, \"rules\": {\"gc_percent\": -1},"
             " \"objects\": {%s%s\"all\": \"waitgroup\"}, \"main\": [{\"add\": \"all\", \"n\": %d},"
             " %s {\"go\": [%s, {\"done\": \"all\"}], \"count\": %d}, {\"sleep\": \"1s\"}, %s"
             " {\"wait\": \"all\"}]}",
             k->objects, k->objects[0] != 0 ? ", " : "", count, k->before, k->body, count,
             k->release);
    struct scenario *s = scenario_load(&f, "s", text, strlen(text));
    if (s == NULL || !run_opts_of(&f, s, 0, &o) || !run_all(&f, &r, &o))
        die(f.text);
    if (r.result.end != END_STOPPED)
        die(run_verdict(&r.result));
}

/* Kilobytes of a child that does it. */
static long resident(const struct kind *k, int count)
{
    int ends[2], status;
    long kilobytes = 0;
    if (pipe(ends) != 0)
        die("pipe");
    pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0) {
        struct rusage use;
        run_parked(k, count);
        getrusage(RUSAGE_SELF, &use);
        kilobytes = use.ru_maxrss;
        _exit(write(ends[1], &kilobytes, sizeof kilobytes) != sizeof kilobytes);
    }
    if (waitpid(child, &status, 0) != child || status != 0 ||
        read(ends[0], &kilobytes, sizeof kilobytes) != sizeof kilobytes)
        die("a child failed");
    close(ends[0]);
    close(ends[1]);
    return kilobytes;
}

/* What bench/go says, in bytes each: 0 where it says nothing. */
static void real_go(double bytes[KINDS])
{
    char line[300], kind[100] = "";
    double each;
    FILE *in = popen("bench/go/run.sh -parked 200000 2>&1", "r");
    while (in != NULL && fgets(line, sizeof line, in) != NULL) {
        if (sscanf(line, "parked %99[^:]: %lf", kind, &each) != 2)
            fputs(line, stdout);
        for (int i = 0; i < KINDS; i++)
            if (strcmp(kind, kinds[i].name) == 0)
                bytes[i] = each;
    }
    if (in != NULL)
        pclose(in);
}

int main(void)
{
    double go[KINDS] = {0};
    real_go(go);
    printf("a parked goroutine: bytes of resident memory, of %d against 1, all in\n", MANY);
    printf("  %-14s %10s %12s %12s\n", "", "simulated", "whole, MB", "real Go");
    for (int i = 0; i < KINDS; i++) {
        long one = resident(&kinds[i], 1), many = resident(&kinds[i], MANY);
        printf("  %-14s %10.0f %12.0f", kinds[i].name, (double)(many - one) * 1024 / MANY,
               (double)many * 1024 / 1e6);
        if (go[i] > 0)
            printf(" %12.0f\n", go[i]);
        else
            printf(" %12s\n", "-");
        fflush(stdout);
    }
    return 0;
}
