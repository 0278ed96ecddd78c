/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs many test cases against many mutants of the model: all are in this one program, a mutant is
 * a number in wrong_mutant, and each is tried in a process of its own that is forked and not
 * started.
 *
 *     runner MUTANTS [-j JOBS] [-b MILLISECONDS] [-o NUMBER] [-s SECONDS] [-t 1]
 *
 * First each case runs on the model as it is: it has to pass, and what it takes and which mutants'
 * places it comes by are written down. Then each mutant meets the cases that come by it, quick
 * ones first, until one fails. A case that needs five times its CPU time and some, or that
 * crashes, has failed. Prints a line per mutant as soon as it is known:
 *
 *     NUMBER  "caught" CASE | "crashes" CASE | "endless" CASE | "survives" |
 *         "unreached"  MS
 *         "differs" CASE: no case fails, but the runs of that scenario are others
 *
 * -c FILE: only the pairs in its lines, NUMBER <tab> CASE, where CASE may be a suite or a golden
 * program, too. Prints the pairs whose mutant is caught, and with NUMBER 0 names that no case has.
 *
 * -o: this mutant alone, and what the case that fails says. -s: each mutant meets only as many
 * cases as together take so long, at least one. -t: only the cases and what each takes, in
 * microseconds. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "library.h"

int wrong_mutant;
unsigned char *wrong_reached; /* a byte per mutant */

enum { PASSES, FAILS, CRASHES, ENDLESS, DIFFERS, SKIPPED, CASES_MAX = 4096, JOBS_MAX = 64 };

struct one_case {
    struct harness_case *c;
    uint64_t us;
    int end;
};

static struct one_case *cases; /* shared with the children, like all of these */
static unsigned char *reached; /* a row per case */
static int ncases, mutants, budget_ms = 300, only, seconds, times;
static bool failed, skipped, differs;

struct slot {
    int mutant, at;  /* the case it is at */
    int first_other; /* the first case with other runs than the model's, -1: none */
    bool survives;
};
static struct slot *slots;

static void *shared(size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("runner: mmap");
        exit(2);
    }
    return p;
}

void harness_report(struct harness_at at, const char *text, bool skip)
{
    failed |= !skip;
    skipped |= skip;
    if (only > 0)
        fprintf(stderr, "%s:%d: %s\n", at.file, at.line, text);
}

/* What the runs of a scenario come to is no test: but who changes it has changed what somebody
 * sees. */
static uint64_t *runs_of_case; /* of the model, by case */
static struct one_case *current;

void library_saw(const char *path, uint64_t fingerprint)
{
    uint64_t *seen = &runs_of_case[current - cases];
    (void)path;
    if (wrong_mutant == 0)
        *seen = fingerprint;
    else
        differs |= *seen != fingerprint;
}

static uint64_t cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* SIGPROF ends the process: it counts CPU time, so a busy machine changes nothing. */
static void limit_cpu(uint64_t us)
{
    struct itimerval t = {.it_value = {(time_t)(us / 1000000), (suseconds_t)(us % 1000000)}};
    setitimer(ITIMER_PROF, &t, NULL);
}

static void run_case(struct one_case *c)
{
    failed = skipped = differs = false;
    current = c;
    harness_run_body(c->c->body);
    fflush(stdout);
}

static void quiet(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (only > 0)
        return;
    if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL)
        _exit(FAILS);
}

/* ---- the model as it is ---- */

static void as_it_is(struct one_case *c)
{
    quiet();
    wrong_reached = reached + (size_t)(c - cases) * (size_t)(mutants + 1);
    uint64_t before = cpu_us();
    run_case(c);
    c->us = cpu_us() - before;
    c->end = failed ? FAILS : skipped ? SKIPPED : PASSES;
    _exit(0);
}

/* A case that does not come to its end has crashed. */
static void run_all_as_it_is(int jobs)
{
    for (int i = 0, running = 0; i < ncases || running > 0;) {
        if (i == ncases || running == jobs) {
            wait(NULL);
            running--;
            continue;
        }
        cases[i].end = CRASHES;
        fflush(stdout);
        if (fork() == 0)
            as_it_is(&cases[i]);
        running++;
        i++;
    }
}

static int by_time(const void *a, const void *b)
{
    const struct one_case *const *x = a, *const *y = b;
    if ((*x)->us != (*y)->us)
        return (*x)->us < (*y)->us ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static struct one_case *order[CASES_MAX]; /* quick ones first; those that pass */
static int nordered;

static bool try_all_as_it_is(int jobs)
{
    bool good = true;
    uint64_t us = 0;
    run_all_as_it_is(jobs);
    for (int i = 0; i < ncases; i++) {
        us += cases[i].us;
        if (cases[i].end == PASSES)
            order[nordered++] = &cases[i];
        else if (cases[i].end != SKIPPED) {
            fprintf(stderr, "runner: the model as it is fails: %s.%s\n", cases[i].c->suite,
                    cases[i].c->name);
            good = false;
        }
    }
    qsort(order, (size_t)nordered, sizeof *order, by_time);
    for (int i = 0; i < nordered && times > 0; i++)
        printf("%s.%s\t%" PRIu64 "\n", order[i]->c->suite, order[i]->c->name, order[i]->us);
    fprintf(stderr, "runner: %d cases, %" PRIu64 " ms\n", nordered, us / 1000);
    return good;
}

/* ---- a mutant ---- */

static bool reaches(const struct one_case *c, int mutant)
{
    return reached[(size_t)(c - cases) * (size_t)(mutants + 1) + (size_t)mutant] != 0;
}

static void child(struct slot *s)
{
    quiet();
    wrong_mutant = s->mutant;
    wrong_reached = calloc((size_t)mutants + 1, 1);
    uint64_t us = 0; /* of the true model */
    for (int i = 0; i < nordered; i++) {
        if (!reaches(order[i], s->mutant))
            continue;
        if (seconds > 0 && us > 0 && us + order[i]->us > (uint64_t)seconds * 1000000)
            break;
        us += order[i]->us;
        s->at = i;
        limit_cpu(order[i]->us * 5 + (uint64_t)budget_ms * 1000);
        run_case(order[i]);
        if (failed)
            _exit(FAILS);
        if (differs && s->first_other < 0)
            s->first_other = i;
    }
    limit_cpu(0);
    s->survives = true;
    _exit(PASSES);
}

static bool any_reaches(int mutant)
{
    for (int i = 0; i < nordered; i++)
        if (reaches(order[i], mutant))
            return true;
    return false;
}

struct outcome {
    int how, at; /* -1: unreached */
    uint64_t us;
};

static void print_outcome(int mutant, const struct outcome *o)
{
    static const char *const names[] = {"survives", "caught", "crashes", "endless", "differs"};
    if (o->how < 0)
        printf("%d\tunreached\t\t0\n", mutant);
    else if (o->how == PASSES)
        printf("%d\tsurvives\t\t%" PRIu64 "\n", mutant, o->us / 1000);
    else
        printf("%d\t%s\t%s.%s\t%" PRIu64 "\n", mutant, names[o->how], order[o->at]->c->suite,
               order[o->at]->c->name, o->us / 1000);
    fflush(stdout); /* whoever ends this program keeps what is known */
}

static void ended(pid_t *pids, int jobs)
{
    int status, i = 0;
    struct rusage use;
    pid_t pid = wait4(-1, &status, 0, &use);
    while (i < jobs && pids[i] != pid)
        i++;
    if (i == jobs)
        return;
    pids[i] = 0;
    struct outcome o = {.at = slots[i].at};
    o.us = (uint64_t)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    if (WIFEXITED(status)) /* one that ends the whole process, with whatever status, is caught */
        o.how = slots[i].survives && WEXITSTATUS(status) == PASSES ? PASSES : FAILS;
    else if (WIFSIGNALED(status))
        o.how = WTERMSIG(status) == SIGPROF ? ENDLESS : CRASHES;
    if (o.how == PASSES && slots[i].first_other >= 0) {
        o.how = DIFFERS;
        o.at = slots[i].first_other;
    }
    print_outcome(slots[i].mutant, &o);
}

static void try_mutants(int jobs)
{
    static pid_t pids[JOBS_MAX];
    int running = 0;
    for (int m = 1; m <= mutants; m++) {
        if (only > 0 && m != only)
            continue;
        if (!any_reaches(m)) {
            print_outcome(m, &(struct outcome){.how = -1});
            continue;
        }
        if (running == jobs) {
            ended(pids, jobs);
            running--;
        }
        int i = 0;
        while (pids[i] != 0)
            i++;
        slots[i] = (struct slot){.mutant = m, .first_other = -1};
        fflush(stdout);
        pids[i] = fork();
        if (pids[i] == 0)
            child(&slots[i]);
        running++;
    }
    for (; running > 0; running--)
        ended(pids, jobs);
}

/* ---- pairs ---- */

struct pair {
    pid_t pid;
    int mutant;
    char name[128];
};

static bool is_called(const struct one_case *c, const char *name)
{
    size_t suite = strlen(c->c->suite);
    if (strncmp(name, c->c->suite, suite) == 0 && (name[suite] == 0 || name[suite] == '.'))
        return name[suite] == 0 || strcmp(name + suite + 1, c->c->name) == 0;
    return strcmp(c->c->suite, "Golden") == 0 && strcmp(name, c->c->name) == 0;
}

static void pair_child(const struct pair *p)
{
    bool meant = false, caught = false;
    quiet();
    wrong_mutant = p->mutant;
    wrong_reached = calloc((size_t)mutants + 1, 1);
    for (int i = 0; i < nordered && !caught; i++) {
        if (!is_called(order[i], p->name))
            continue;
        meant = true;
        limit_cpu(order[i]->us * 5 + (uint64_t)budget_ms * 1000);
        if (reaches(order[i], p->mutant))
            run_case(order[i]);
        caught = failed;
    }
    _exit(caught ? FAILS : meant ? PASSES : SKIPPED);
}

static void pair_ended(struct pair *running, int jobs)
{
    int status, i = 0;
    pid_t pid = wait(&status);
    while (i < jobs && running[i].pid != pid)
        i++;
    if (i == jobs)
        return;
    bool ended = WIFEXITED(status);
    running[i].pid = 0;
    if (ended && WEXITSTATUS(status) == SKIPPED)
        printf("0\t%s\n", running[i].name);
    else if (!ended || WEXITSTATUS(status) != PASSES)
        printf("%d\t%s\n", running[i].mutant, running[i].name);
}

static void try_pairs(FILE *f, int jobs)
{
    static struct pair running[JOBS_MAX];
    struct pair next;
    int n = 0;
    while (fscanf(f, "%d %127s", &next.mutant, next.name) == 2) {
        if (n == jobs) {
            pair_ended(running, jobs);
            n--;
        }
        int i = 0;
        while (running[i].pid != 0)
            i++;
        fflush(stdout);
        running[i] = next;
        running[i].pid = fork();
        if (running[i].pid == 0)
            pair_child(&next);
        n++;
    }
    for (; n > 0; n--)
        pair_ended(running, jobs);
}

int main(int argc, char **argv)
{
    FILE *pairs = NULL;
    int jobs = 2;
    for (int i = 2; i + 1 < argc; i += 2) {
        int value = atoi(argv[i + 1]);
        if (strcmp(argv[i], "-j") == 0 && value > 0 && value <= JOBS_MAX)
            jobs = value;
        else if (strcmp(argv[i], "-b") == 0)
            budget_ms = value;
        else if (strcmp(argv[i], "-o") == 0)
            only = value;
        else if (strcmp(argv[i], "-s") == 0)
            seconds = value;
        else if (strcmp(argv[i], "-t") == 0)
            times = value;
        else if (strcmp(argv[i], "-c") == 0)
            pairs = fopen(argv[i + 1], "r");
    }
    mutants = argc > 1 ? atoi(argv[1]) : 0;
    for (struct harness_case *c = harness_cases; c != NULL; c = c->next)
        ncases++;
    if (mutants <= 0 || ncases > CASES_MAX) {
        fprintf(stderr, "usage: runner MUTANTS [-j JOBS] [-b MILLISECONDS] [-o NUMBER]\n");
        return 2;
    }
    cases = shared((size_t)ncases * sizeof *cases);
    reached = shared((size_t)ncases * (size_t)(mutants + 1));
    slots = shared(JOBS_MAX * sizeof *slots);
    runs_of_case = shared((size_t)ncases * sizeof *runs_of_case);
    int n = 0;
    for (struct harness_case *c = harness_cases; c != NULL; c = c->next)
        cases[n++].c = c;
    int verbose = only;
    only = 0;
    if (!try_all_as_it_is(jobs))
        return 1;
    if (times > 0)
        return 0;
    if (pairs != NULL) {
        try_pairs(pairs, jobs);
        return 0;
    }
    only = verbose;
    try_mutants(jobs);
    return 0;
}
