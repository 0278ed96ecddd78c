/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading recorded traces: MB and events per second of CPU time, beside Go's own reader (with all
 * that its collector uses) where there is a Go with sources. Both read the same bytes in memory and
 * do nothing with the events; they take turns, the best of each counts.
 *
 *   bench_trace [FILE]    FILE: plain, of Go 1.22 or later; default: one from the tests
 *   GO=/path/to/go        which Go; default: the newest that is installed
 *
 * libs: gmpsim_trace
 */
#define _GNU_SOURCE
#include <glob.h>
#include <unistd.h>

#include "bench.h"
#include "replay/trace.h"

enum { ROUNDS = 5, BYTES_MIN = 50 << 20 };

static char folder[] = "/tmp/bench-trace-XXXXXX";

struct input_file {
    char *bytes;
    size_t size;
};

static struct input_file load(const char *path)
{
    struct input_file in = {NULL, 0};
    FILE *f = fopen(path, "rb");
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    in.size = (size_t)ftell(f);
    in.bytes = malloc(in.size);
    rewind(f);
    if (in.bytes == NULL || fread(in.bytes, 1, in.size, f) != in.size) {
        perror(path);
        exit(1);
    }
    fclose(f);
    return in;
}

/* Bytes per second of CPU time. */
static double read_here(const struct input_file *in, uint64_t *events)
{
    size_t times = BYTES_MIN / in->size + 1;
    bench_begin();
    *events = 0;
    for (size_t i = 0; i < times; i++) {
        struct failure f = {.code = E_OK};
        struct trace *t = trace_open_bytes(&f, in->bytes, in->size, NULL);
        const struct trace_event *evs;
        size_t count;
        enum trace_got got = TRACE_BROKEN;
        while (t != NULL && (got = trace_next(t, &f, &evs, &count)) == TRACE_MORE)
            *events += count;
        if (got == TRACE_BROKEN) {
            fprintf(stderr, "bench_trace: %s\n", f.text);
            exit(1);
        }
        trace_close(t);
    }
    bench_end(*events);
    return (double)in->size * (double)times / ((double)bench_ns_ / 1e9);
}

static const char *find_go(void)
{
    static const char *const places[] = {"/usr/lib/go-1.*/bin/go", "/opt/go*/bin/go",
                                         "/usr/local/go/bin/go"};
    static char found[300];
    const char *go = getenv("GO");
    if (go != NULL)
        return go;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        glob_t g;
        if (glob(places[i], 0, NULL, &g) == 0)
            snprintf(found, sizeof found, "%s", g.gl_pathv[g.gl_pathc - 1]);
        globfree(&g);
    }
    return found[0] != '\0' ? found : NULL;
}

static bool build_go(const char *go)
{
    char command[800];
    snprintf(command, sizeof command,
             "python3 tests/trace/oracle/build.py '%s' %s/oracle >/dev/null 2>&1", go, folder);
    return system(command) == 0;
}

static double read_go(const char *path, size_t size)
{
    char command[800], line[100] = "";
    snprintf(command, sizeof command, "%s/oracle bench '%s' %zu", folder, path,
             BYTES_MIN / 4 / size + 1);
    FILE *p = popen(command, "r");
    double wall, used;
    if (p == NULL || fgets(line, sizeof line, p) == NULL ||
        sscanf(line, "%lf %lf", &wall, &used) != 2)
        used = 0;
    if (p != NULL)
        pclose(p);
    return used;
}

int main(int argc, char **argv)
{
    char path[400], command[900];
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/x.trace", folder);
    snprintf(command, sizeof command, argc > 1 ? "cp '%s' %s" : "gzip -dc '%s' >%s",
             argc > 1 ? argv[1] : "tests/trace/recorded/features-go24.trace.gz", path);
    if (system(command) != 0)
        return 1;
    struct input_file in = load(path);
    const char *go = find_go();
    bool with_go = go != NULL && build_go(go);
    double here = 0, there = 0;
    uint64_t events = 0, ns = UINT64_MAX;
    for (int i = 0; i < ROUNDS; i++) {
        double rate = read_here(&in, &events);
        here = rate > here ? rate : here;
        ns = bench_ns_ < ns ? bench_ns_ : ns;
        rate = with_go ? read_go(path, in.size) : 0;
        there = rate > there ? rate : there;
    }
    printf("reading a trace (CPU time, best of %d)\n", ROUNDS);
    printf("  %-34s %7.1f MB/s %7.1f ns/event\n", "here", here / 1e6, (double)ns / (double)events);
    if (with_go)
        printf("  %-34s %7.1f MB/s            here is %.1f times as fast\n", go, there / 1e6,
               here / there);
    else
        printf("  no Go with the sources of its reader: nothing to compare with\n");
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}
