/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: SCHED lines have the form of real Go's, for each release there is a sample of.
 * Method: of each line only its shape is kept (numbers become 0, true and false become B, wait
 * reasons go); every shape the model prints must occur in schedtrace/go1.NN.*.txt. */
#include <stdio.h>
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "sim/virt/vm.h"
#include "text.h"

enum { TEXT_MAX = 1 << 17, SHAPE_MAX = 400 };

static struct as a;
static struct text_opts opts;
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
    char path[500];
    snprintf(path, sizeof path, GOLDEN_DIR "/schedtrace/go1.%d.%s.txt", release,
             detail ? "scheddetail" : "schedtrace");
    FILE *f = fopen(path, "r");
    if (f == NULL)
        FAIL_CASE("cannot read %s", path);
    size_t n = fread(sample, 1, sizeof sample - 1, f);
    fclose(f);
    sample[n] = 0;
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

static void run(int release, bool detail)
{
    struct profile prof;
    CHECK(profile_init(&prof, release));
    struct failure f = {0};
    struct vm_opts vo = {.seed = 1, .sighandler = core_virt.sighandler};
    if (!vm_init(&f, &vo))
        FAIL_CASE("vm_init: %s", f.text);
    struct world_opts wo = {.profile = &prof,
                            .program = &a.p,
                            .procs = 4,
                            .schedtrace_ns = 20000000,
                            .scheddetail = detail,
                            .sched_line = take_line};
    void *arg;
    lines[0] = 0;
    struct hostm *m0 = core_virt.init(&wo, &arg);
    vm_start(m0, core_virt.run_m0, arg);
    enum vm_why why = vm_run(UINT64_C(1000000000000));
    vm_free();
    CHECK_EQ(why, VM_STOPPED);
}

static void check_release(int release, bool detail)
{
    int count = 0;
    text_compile(&a, &opts, GOLDEN_DIR "/schedtrace/program.prog");
    as_done(&a);
    run(release, detail);
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
