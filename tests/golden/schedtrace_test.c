/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: SCHED lines have the form of real Go's, for each release there is a sample of.
 * Method: of each line only its shape is kept (numbers become 0, true and false become B, wait
 * reasons go); every shape the model prints must occur in schedtrace/go1.NN.*.txt. What does not
 * depend on the moment is the same to the letter: the goroutines that rest, sysmon's line, and the
 * fields of a world that nobody stops. */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "recorded.h"
#include "run/host.h"

enum { TEXT_MAX = 1 << 17, SHAPE_MAX = 400 };

static struct as a;
static const struct program *program;
static char lines[TEXT_MAX], sample[TEXT_MAX];

static void take_line(void *arg, const char *text, size_t size)
{
    (void)arg;
    size_t n = strlen(lines);
    CHECK_LT(n + size, sizeof lines);
    memcpy(lines + n, text, size);
    lines[n + size] = 0;
}

static void read_sample(int release, bool detail)
{
    char path[100];
    snprintf(path, sizeof path, "schedtrace/go1.%d.%s.txt", release,
             detail ? "scheddetail" : "schedtrace");
    recorded_read(sample, sizeof sample, path);
}

/* The word at s that stands for a value: its length, and what it becomes. 0: no value. */
static size_t value_at(const char *s, bool after_sign, const char **becomes)
{
    static const char *const words[] = {"true", "false", "nil", "-1"};
    static const char *const shapes[] = {"B", "B", "ID", "ID"};
    for (size_t i = 0; after_sign && i < 4; i++)
        if (strncmp(s, words[i], strlen(words[i])) == 0) {
            *becomes = shapes[i];
            return strlen(words[i]);
        }
    *becomes = "0";
    return strspn(s, "0123456789");
}

/* The shape of one line; a missing id (nil or -1) and a number are the same there. */
static void shape_of(char *out, const char *s, size_t size)
{
    size_t n = 0;
    char before = 0;
    const char *end = s + size;
    while (s < end && n < SHAPE_MAX - 8) {
        const char *word;
        size_t k = value_at(s, before == '=', &word);
        if (k == 0) {
            before = *s;
            out[n++] = *s++;
            const char *reason_end = strstr(s, ") m=");
            if (before == '(' && reason_end != NULL && reason_end < end)
                s = reason_end;
            continue;
        }
        n += (size_t)snprintf(out + n, SHAPE_MAX - n, "%s", word[0] == 'I' ? "0" : word);
        s += k;
        before = '0';
    }
    out[n] = 0;
}

static bool sample_has(const char *shape)
{
    for (const char *s = sample; *s != 0;) {
        char other[SHAPE_MAX];
        size_t n = strcspn(s, "\n");
        shape_of(other, s, n);
        if (strcmp(shape, other) == 0)
            return true;
        s += n + (s[n] == '\n');
    }
    return false;
}

static void read_program(void)
{
    static struct scenario *s;
    scenario_free(s);
    s = recorded_scenario("schedtrace/program.json");
    program = &s->program;
}

static void run_each(const struct profile *prof, int32_t procs, int64_t every_ns, bool detail)
{
    struct failure f = {0};
    const struct host_opts o = {.seed = 1,
                                .throws_end_process = true,
                                .world = {.profile = prof,
                                          .program = program,
                                          .procs = procs,
                                          .schedtrace_ns = every_ns,
                                          .scheddetail = detail,
                                          .sched_line = take_line}};
    lines[0] = 0;
    if (!world_open(&host_virt, &f, &o))
        FAIL_CASE("%s", f.text);
    enum world_end why = host_virt.run(UINT64_C(1000000000000));
    host_virt.close();
    CHECK_EQ(why, END_STOPPED);
}

static void run(int release, bool detail, int64_t every_ns)
{
    struct profile prof;
    CHECK(profile_init(&prof, release));
    run_each(&prof, 4, every_ns, detail);
}

static void check_release(int release, bool detail)
{
    int count = 0;
    read_program();
    run(release, detail, 20000000);
    read_sample(release, detail);
    for (const char *s = lines; *s != 0; count++) {
        char shape[SHAPE_MAX];
        size_t n = strcspn(s, "\n");
        shape_of(shape, s, n);
        if (!sample_has(shape))
            FAIL_CASE("go1.%d prints no line like\n%.*s\n(%s)", release, (int)n, s, shape);
        s += n + (s[n] == '\n');
    }
    if (count == 0)
        SKIP_CASE("the model prints no SCHED lines");
    CHECK_LT(3, count);
    /* A missing id is -1 up to 1.19 and nil since. */
    CHECK(strstr(lines, release <= 19 ? "=nil" : "=-1") == NULL);
}

static void check_shape(const char *line, const char *want)
{
    char shape[SHAPE_MAX];
    shape_of(shape, line, strlen(line));
    CHECK_STR(shape, want);
}

TEST_CASE(Schedtrace, ShapeKeepsAllButValues)
{
    check_shape("SCHED 21ms: gomaxprocs=4 runqueue=2 [10 1] gcwaiting=false",
                "SCHED 0ms: gomaxprocs=0 runqueue=0 [0 0] gcwaiting=B");
    check_shape("  G12: status=4(force gc (idle)) m=nil lockedm=-1",
                "  G0: status=0() m=0 lockedm=0");
    check_shape("  M3: p=-1 curg=12 preemptoff= locks=0", "  M0: p=0 curg=0 preemptoff= locks=0");
}

TEST_CASE(Schedtrace, LinesHaveTheFormOfTheRelease)
{
    check_release(19, false);
    for (int release = 21; release <= 27; release++)
        check_release(release, false);
}

TEST_CASE(Schedtrace, DetailHasTheFormOfTheRelease)
{
    check_release(19, true);
    for (int release = 21; release <= 27; release++)
        check_release(release, true);
}

/* ---- what is the same to the letter ---- */

/* The second SCHED line and what belongs to it; it ends at *end. */
static const char *second_block(const char *text, const char **end)
{
    const char *s = strstr(text + 1, "SCHED ");
    CHECK(s != NULL);
    *end = strstr(s + 1, "SCHED ");
    if (*end == NULL)
        *end = s + strlen(s);
    return s;
}

/* " name=value" of a line, copied. */
static void field_of(char *out, size_t size, const char *line, const char *name)
{
    const char *s = strstr(line, name);
    CHECK(s != NULL && strcspn(line, "\n") > (size_t)(s - line));
    snprintf(out, size, "%.*s", (int)strcspn(s + 1, " \n"), s + 1);
}

static void check_same_field(const char *ours, const char *theirs, const char *name)
{
    char a_text[80], b_text[80];
    field_of(a_text, sizeof a_text, ours, name);
    field_of(b_text, sizeof b_text, theirs, name);
    CHECK_STR(a_text, b_text);
}

/* The goroutines of a block that wait or are in a system call, in the block's order, without ids:
 * "4(select) ", and "locked " where there is a thread of its own. */
static void resting(char *out, size_t size, const char *s, const char *end)
{
    size_t n = 0;
    for (; s < end; s += strcspn(s, "\n") + 1) {
        const char *status = strstr(s, "status="), *m = strstr(s, ") m=");
        if (strncmp(s, "  G", 3) != 0 || (status[7] != '3' && status[7] != '4'))
            continue;
        if (strncmp(status + 8, "(finalizer wait)", 16) == 0)
            continue; /* package os starts it, which program.go does not import */
        const char *thread = strstr(m, "lockedm=") + strlen("lockedm=");
        bool locked = strncmp(thread, "nil", 3) != 0 && strncmp(thread, "-1", 2) != 0;
        n += (size_t)snprintf(out + n, size - n, "%.*s %s", (int)(m + 1 - status - 7), status + 7,
                              locked ? "locked " : "");
        CHECK_LT(n, size);
    }
}

static void check_rest(int release)
{
    static const char *const calm[] = {
        " gomaxprocs=", " gcwaiting=", " nmidlelocked=", " stopwait=", " sysmonwait="};
    char ours[1000] = "", theirs[1000] = "";
    const char *our_end, *their_end;
    run(release, true, 50000000);
    read_sample(release, true);
    const char *us = second_block(lines, &our_end), *them = second_block(sample, &their_end);
    for (size_t i = 0; i < sizeof calm / sizeof *calm; i++)
        check_same_field(us, them, calm[i]);
    resting(ours, sizeof ours, us, our_end);
    resting(theirs, sizeof theirs, them, their_end);
    CHECK_STR(ours, theirs);
    const char *our_m1 = strstr(us, "  M1: "), *their_m1 = strstr(them, "  M1: ");
    CHECK(our_m1 != NULL && their_m1 != NULL);
    size_t n = strcspn(their_m1, "\n");
    if (strncmp(our_m1, their_m1, n + 1) != 0)
        FAIL_CASE("go1.%d: sysmon prints\n%.*s\nnot\n%.*s", release, (int)strcspn(our_m1, "\n"),
                  our_m1, (int)n, their_m1);
}

TEST_CASE(Schedtrace, WhoRestsIsTheSameToTheLetter)
{
    read_program();
    check_rest(19);
    for (int release = 21; release <= 27; release++)
        check_rest(release);
}

/* A thread that stops the world while a loop without calls runs on: so printed by real Go 1.19,
 * 1.25 and 1.27, with GODEBUG=asyncpreemptoff=1. */
static void check_stop(int release)
{
    struct profile prof;
    CHECK(profile_init(&prof, release));
    CHECK_EQ(profile_set(&prof, "async_preempt_off", 1), 0);
    run_each(&prof, 2, 10000000, true);
    const char *stop = strstr(lines, release <= 19 ? " gcwaiting=1" : " gcwaiting=true");
    CHECK(stop != NULL);
    CHECK(strncmp(strstr(stop, " stopwait="), " stopwait=1 ", 12) == 0);
    CHECK(strstr(stop, ": status=3 ") != NULL); /* the stopper's own P */
    const char *who = strstr(stop, "preemptoff=GOMAXPROCS locks=0 dying=0 spinning=false "
                                   "blocked=true ");
    CHECK(who != NULL);
    const char *last = lines;
    for (const char *s = lines; (s = strstr(s + 1, "SCHED ")) != NULL;)
        last = s;
    CHECK(strstr(last, "gomaxprocs=1 ") != NULL);
    CHECK(strstr(last, "preemptoff=GOMAXPROCS") == NULL);
}

TEST_CASE(Schedtrace, AStopIsSeenFromOutside)
{
    as_init(&a);
    int f = as_func(&a, "loop", 0, 1);
    as_op(&a, OP_CPU, CPU_tight, NOREG, 0, -1, 60000000);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, f, 0, 0);
    as_cpu(&a, 5000000);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 1);
    as_sleep(&a, 30000000);
    as_ret(&a);
    program = as_done(&a);
    for (int release = 14; release <= 27; release++)
        check_stop(release);
}
