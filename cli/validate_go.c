/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario as a Go program that measures itself (scenarios/gengo.h), built and run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/trace_run.h"
#include "cli/validate.h"
#include "model/profile.h"
#include "replay/account.h"
#include "run/tally.h"
#include "scenarios/gengo.h"

enum { PATH_LEN = 4096, NOT_FOUND = 127, UNTIL_S = 60, BUCKETS_MAX = 1000, SECOND = 1000000000 };

/* ---- processes ---- */

struct process {
    const char *const *argv; /* ends with NULL */
    const char *cwd;
    const char *const *env; /* NAME, value, ...; NULL */
    int out, err;           /* where its output goes; -1: nowhere */
    int32_t cpus;           /* 0: all */
    int64_t until_ns;       /* 0: for ever */
};

/* The first so many of those that this process may use. */
static void set_cpus(int32_t n)
{
    cpu_set_t have, want;
    CPU_ZERO(&want);
    if (n <= 0 || sched_getaffinity(0, sizeof have, &have) != 0)
        return;
    for (size_t i = 0; i < CPU_SETSIZE && n > 0; i++)
        if (CPU_ISSET(i, &have)) {
            CPU_SET(i, &want);
            n--;
        }
    (void)sched_setaffinity(0, sizeof want, &want);
}

static _Noreturn void become(const struct process *p, pid_t parent, const sigset_t *mask)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(NOT_FOUND);
    sigprocmask(SIG_SETMASK, mask, NULL);
    dup2(nowhere, STDIN_FILENO);
    dup2(p->out >= 0 ? p->out : nowhere, STDOUT_FILENO);
    dup2(p->err >= 0 ? p->err : nowhere, STDERR_FILENO);
    for (int i = 0; p->env != NULL && p->env[i] != NULL; i += 2)
        setenv(p->env[i], p->env[i + 1], 1);
    set_cpus(p->cpus);
    if (p->cwd == NULL || chdir(p->cwd) == 0)
        execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
    dprintf(STDERR_FILENO, "%s: %s\n", p->argv[0], strerror(errno));
    _exit(NOT_FOUND);
}

/* Its exit status, 128 + signal; -1: it took too long and was ended, -2: there is no process. */
static int run_process(const struct process *p)
{
    sigset_t child, before;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &before);
    fflush(NULL);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        become(p, parent, &before);
    bool late = false;
    int status = 0;
    struct timespec limit = {.tv_sec = p->until_ns / SECOND, .tv_nsec = p->until_ns % SECOND};
    while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
        int heard = sigtimedwait(&child, NULL, p->until_ns > 0 && !late ? &limit : NULL);
        if (heard < 0 && errno == EAGAIN) {
            late = true;
            kill(pid, SIGKILL);
        }
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid < 0 || late)
        return pid < 0 ? -2 : -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- the tool ---- */

/* No download, nothing of the user's settings, nothing from C. */
static const char *const build_env[] = {"GOTOOLCHAIN", "local", "GOFLAGS",     "",  "GOWORK", "off",
                                        "GOPROXY",     "off",   "CGO_ENABLED", "0", NULL};

void go_ask(struct go_tool *go, const char *path)
{
    const char *argv[] = {path, "env", "GOVERSION", NULL};
    int ends[2];
    char name[16] = "";
    go->path = path;
    if (pipe2(ends, O_CLOEXEC) != 0)
        cli_die(EXIT_USAGE, "validate: no pipe: %s", strerror(errno));
    int status = run_process(
        &(struct process){.argv = argv, .env = build_env, .out = ends[1], .err = STDERR_FILENO});
    close(ends[1]);
    ssize_t n = read(ends[0], go->version, sizeof go->version - 1);
    close(ends[0]);
    go->version[n > 0 ? n : 0] = 0;
    go->version[strcspn(go->version, " \n")] = 0;
    if (status != 0 || strncmp(go->version, "go1.", 4) != 0)
        cli_die(EXIT_USAGE, "--go: '%s env GOVERSION' did not name a release", path);
    snprintf(name, sizeof name, "go1.%d", atoi(go->version + 4));
    go->release = profile_parse(name);
    if (go->release < 19)
        cli_die(EXIT_USAGE, "--go: %s is %s; want go1.19 to go1.%d", path, go->version,
                PROFILE_LATEST);
}

/* ---- build ---- */

/* The file holds this text already, or does now: then true. */
static bool is_written(const char *path, const char *text, size_t size)
{
    bool same = false;
    FILE *f = fopen(path, "re");
    if (f != NULL) {
        size_t at = 0;
        int c;
        while ((c = getc(f)) != EOF && at < size && c == (unsigned char)text[at])
            at++;
        same = c == EOF && at == size;
        fclose(f);
    }
    if (same)
        return true;
    f = fopen(path, "we");
    if (f == NULL || fwrite(text, 1, size, f) != size || fclose(f) != 0)
        cli_die(EXIT_USAGE, "%s: cannot be written", path);
    return false;
}

static bool sources(const struct comparison *c, const char *folder)
{
    char path[PATH_LEN], *text[2] = {NULL, NULL};
    static const char *const names[] = {"main.go", "measure.go"};
    size_t size[2];
    bool same = true;
    FILE *to[2] = {open_memstream(&text[0], &size[0]), open_memstream(&text[1], &size[1])};
    if (to[0] == NULL || to[1] == NULL)
        cli_die(EXIT_USAGE, "the system has no more memory");
    scenario_gen_go_measured(c->scenario, to[0], to[1]);
    for (int i = 0; i < 2; i++) {
        if (fclose(to[i]) != 0)
            cli_die(EXIT_USAGE, "the system has no more memory");
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        same = is_written(path, text[i], size[i]) && same;
        free(text[i]);
    }
    return same;
}

/* "scenarios/basics/gosched.json" of go1.23.5 is "basics-gosched-go1.23.5". */
static void folder_of(const struct comparison *c, const char *folder, char *out, size_t size)
{
    const char *name = c->path + strlen(c->path);
    for (int slashes = 0; name > c->path && (name[-1] != '/' || ++slashes < 2);)
        name--;
    int n = snprintf(out, size, "%s/", folder);
    snprintf(out + n, size - (size_t)n, "%.200s-%s", name, c->go->version);
    for (char *at = out + n; *at != 0; at++)
        if (*at == '/')
            *at = '-';
}

void go_build(struct comparison *c, const char *folder)
{
    char own[PATH_LEN - 64], cache[PATH_LEN];
    folder_of(c, folder, own, sizeof own);
    if (mkdir(own, 0777) != 0 && errno != EEXIST)
        cli_die(EXIT_USAGE, "%s: cannot make a folder: %s", own, strerror(errno));
    snprintf(c->program, sizeof c->program, "%s/program", own);
    bool same = sources(c, own);
    if (same && access(c->program, X_OK) == 0)
        return;
    if (getenv("HOME") == NULL && getenv("GOCACHE") == NULL) {
        snprintf(cache, sizeof cache, "%s/cache", folder);
        setenv("GOCACHE", cache, 1);
    }
    const char *argv[] = {c->go->path, "build", "-o", "program", "main.go", "measure.go", NULL};
    if (run_process(&(struct process){.argv = argv,
                                      .cwd = own,
                                      .env = build_env,
                                      .out = STDERR_FILENO,
                                      .err = STDERR_FILENO}) != 0)
        cli_die(EXIT_USAGE, "%s: %s does not build it as Go program", c->path, c->go->version);
}

void go_remove(const char *folder)
{
    const char *argv[] = {"rm", "-rf", "--", folder, NULL};
    (void)run_process(&(struct process){.argv = argv, .out = -1, .err = STDERR_FILENO});
}

/* ---- run ---- */

struct buckets {
    int64_t from[BUCKETS_MAX];
    uint64_t count[BUCKETS_MAX], sum;
    int n;
};

/* The lower end of the bucket, as Go's own tools say it. */
static double percentile(const struct buckets *b, double share)
{
    uint64_t seen = 0;
    for (int i = 0; i < b->n; i++) {
        seen += b->count[i];
        if ((double)seen >= share * (double)b->sum)
            return (double)b->from[i];
    }
    return NAN;
}

static bool read_measure(const char *path, struct taken *to)
{
    static struct buckets b;
    char line[200], name[40];
    long long x, y;
    FILE *f = fopen(path, "re");
    if (f == NULL)
        return false;
    b = (struct buckets){.n = 0};
    while (fgets(line, sizeof line, f) != NULL) {
        int n = sscanf(line, "%39s %lld %lld", name, &x, &y);
        if (n == 3 && strcmp(name, "latency") == 0 && b.n < BUCKETS_MAX) {
            b.from[b.n] = x;
            b.count[b.n++] = (uint64_t)y;
            b.sum += (uint64_t)y;
        } else if (n == 2 && strcmp(name, "wall_ns") == 0) {
            to->value[V_makespan] = (double)x;
        } else if (n == 2 && strcmp(name, "cpu_ns") == 0) {
            to->value[V_cpu] = (double)x;
        } else if (n == 2 && strcmp(name, "burst_permille") == 0) {
            to->value[V_burst] = (double)x;
        }
    }
    fclose(f);
    if (b.sum > 0) {
        to->value[V_metrics_p50] = percentile(&b, 0.5);
        to->value[V_metrics_p99] = percentile(&b, 0.99);
    }
    return !isnan(to->value[V_burst]);
}

/* The trace, through the same reader of transitions as a run. */
static void read_trace(const char *path, struct taken *to)
{
    static struct account a;
    struct failure f = {0};
    struct tally tally;
    struct trace_file file = {.path = path};
    if (!account_open(&f, &a, trace_file_open, &file, 0)) {
        snprintf(to->why, sizeof to->why, "its trace: %.200s", f.text);
        return;
    }
    if (!tally_init(&tally, &a.transitions, false, &f) || !account_read(&a, NULL, &f)) {
        snprintf(to->why, sizeof to->why, "its trace: %.200s", f.text);
    } else {
        take_tally(&tally, &a.result, to);
        to->value[V_threads] = a.result.threads;
    }
    tally_release(&tally);
    account_close(&a);
}

static void say_status(const struct comparison *c, int status, struct taken *to)
{
    if (status == -1)
        snprintf(to->why, sizeof to->why, "the program of %s took too long", c->go->version);
    else if (status == 0)
        snprintf(to->why, sizeof to->why, "the program of %s ended without reaching main's end",
                 c->go->version);
    else
        snprintf(to->why, sizeof to->why, "the program of %s ended with status %d", c->go->version,
                 status);
}

/* Only a program that allocates has something to collect. */
static bool allocates(const struct program *p)
{
    for (uint32_t i = 0; i < p->ncode; i++)
        if (p->code[i].op == OP_ALLOC)
            return true;
    return false;
}

void go_take(const struct validation *v, const struct comparison *c, bool seen, int run,
             struct taken *to)
{
    static const char seeds[] = "randseednop=0"; /* from go1.24 on rand.Seed does nothing without */
    const char *gogc = allocates(&c->scenario->program) ? "100" : "off";
    char measure[PATH_LEN + 20], trace[PATH_LEN + 20], procs[16], seed[24];
    const char *argv[] = {c->program, NULL};
    snprintf(measure, sizeof measure, "%s.measure", c->program);
    snprintf(trace, sizeof trace, "%s.trace", c->program);
    snprintf(procs, sizeof procs, "%d", c->procs);
    snprintf(seed, sizeof seed, "%" PRIu64, v->seed + (uint64_t)run);
    const char *env[] = {"GOMAXPROCS",
                         procs,
                         "GMPSIM_SEED",
                         seed,
                         "GMPSIM_MEASURE",
                         measure,
                         "GMPSIM_TRACE",
                         seen ? trace : "",
                         "GODEBUG",
                         seeds,
                         "GOGC",
                         gogc,
                         NULL};
    (void)unlink(measure);
    int status = run_process(&(struct process){
        .argv = argv,
        .env = env,
        .out = -1,
        .err = -1,
        .cpus = c->cpus,
        .until_ns = v->until_ns > 0 ? v->until_ns : UNTIL_S * INT64_C(1000000000)});
    if (status != 0 || !read_measure(measure, to))
        say_status(c, status, to);
    else if (seen)
        read_trace(trace, to);
    (void)unlink(measure);
    (void)unlink(trace);
}
