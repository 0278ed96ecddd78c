/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: what is written is what was read: every recorded trace comes back from the writer with the
 * same events, times, names and stacks, in one generation or in many, under every header.
 * Method: read, write to a temporary file, read again, compare event by event. Syncs and statuses
 * are the writer's own affair. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/gotrace.h"
#include "replay/trace_int.h"

static const char *const files[] = {
    "allocfree-pipeline-go26.trace",
    "features-go22.trace.zst",
    "features-go24.trace.gz",
    "features-go26.trace.zst",
    "multigen-mutex-go23.trace",
    "multigen-mutex-go26.trace",
    "mutex-go22.trace",
    "mutex-go23.trace",
    "mutex-go24.trace",
    "mutex-go25.trace",
    "mutex-go26.trace",
    "mutex-go27.trace",
    "preempt-go26.trace",
};

static const char *path_of(const char *file)
{
    static char path[500];
    snprintf(path, sizeof path, "%s/%s", RECORDED, file);
    return path;
}

/* Said by the writer where its own rules want it. */
static bool is_own(const struct trace_event *e)
{
    return e->kind == TRACE_SYNC || e->kind == TRACE_RANGE_ACTIVE || e->kind == TRACE_EXPERIMENT ||
           ((e->kind == TRACE_G || e->kind == TRACE_P) &&
            (e->from == e->to || e->from == TRACE_UNDETERMINED) && e->wire != WIRE_PROC_STEAL);
}

struct events {
    struct trace *t;
    const struct trace_event *evs;
    size_t count, at;
};

static const struct trace_event *next_own(struct events *s)
{
    for (;;) {
        if (s->at == s->count) {
            struct failure f = {.code = E_OK};
            enum trace_got got = trace_next(s->t, &f, &s->evs, &s->count);
            if (got == TRACE_BROKEN)
                printf("%s\n", f.text);
            CHECK(got != TRACE_BROKEN);
            s->at = 0;
            if (got == TRACE_END)
                return NULL;
        }
        const struct trace_event *e = &s->evs[s->at++];
        if (!is_own(e))
            return e;
    }
}

static void check_text(const struct trace *a, uint32_t x, const struct trace *b, uint32_t y)
{
    CHECK(strcmp(trace_string(a, x, NULL), trace_string(b, y, NULL)) == 0);
}

static void check_stack(const struct trace *a, uint32_t x, const struct trace *b, uint32_t y)
{
    struct trace_stack p = trace_stack_of(a, x), q = trace_stack_of(b, y);
    CHECK_EQ(p.count, q.count);
    for (uint32_t i = 0; i < p.count; i++) {
        struct trace_frame f = trace_frame_of(a, p.frames[i]), g = trace_frame_of(b, q.frames[i]);
        CHECK_EQ(f.pc, g.pc);
        CHECK_EQ(f.line, g.line);
        check_text(a, f.func, b, g.func);
        check_text(a, f.file, b, g.file);
    }
}

static void check_same(const char *was, const char *is, int64_t late_max)
{
    struct events a = {.t = trace_open(NULL, was, NULL)};
    struct events b = {.t = trace_open(NULL, is, &(struct trace_opts){.strict = true})};
    CHECK(a.t != NULL && b.t != NULL);
    const struct trace_event *x, *y;
    while (x = next_own(&a), y = next_own(&b), x != NULL && y != NULL) {
        CHECK(y->time >= x->time && y->time - x->time <= late_max);
        CHECK_EQ(x->kind, y->kind);
        CHECK_EQ(x->from, y->from);
        CHECK_EQ(x->to, y->to);
        CHECK_EQ(x->m, y->m);
        CHECK_EQ(x->p, y->p);
        CHECK_EQ(x->g, y->g);
        CHECK_EQ(x->id, y->id);
        CHECK_EQ(x->value, y->value);
        CHECK_EQ(x->value2, y->value2);
        CHECK_EQ(x->scope, y->scope);
        check_text(a.t, x->name, b.t, y->name);
        check_text(a.t, x->text, b.t, y->text);
        check_stack(a.t, x->stack, b.t, y->stack);
        check_stack(a.t, x->new_stack, b.t, y->new_stack);
    }
    CHECK(x == NULL && y == NULL);
    trace_close(a.t);
    trace_close(b.t);
}

static void copy(const char *from, const char *to, const struct gotrace_opts *o)
{
    struct failure f = {.code = E_OK};
    struct trace *t = trace_open(&f, from, NULL);
    CHECK(t != NULL);
    struct gotrace *w = gotrace_open(&f, to, &t->names, &t->stacks, o);
    CHECK(w != NULL);
    const struct trace_event *evs;
    size_t count;
    while (trace_next(t, &f, &evs, &count) == TRACE_MORE && f.code == E_OK)
        gotrace_put(w, &f, evs, count);
    bool ok = gotrace_close(w, &f, 0);
    if (!ok || f.code != E_OK)
        printf("%s: %s\n", from, f.text);
    CHECK(ok && f.code == E_OK);
    trace_close(t);
}

static void round_trips(const struct gotrace_opts *o, int64_t late_max, bool coroutines)
{
    char to[] = "/tmp/gotrace-test-XXXXXX";
    int fd = mkstemp(to);
    CHECK(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!coroutines && strstr(files[i], "features") != NULL && strstr(files[i], "22") == NULL)
            continue;
        copy(path_of(files[i]), to, o);
        check_same(path_of(files[i]), to, late_max);
    }
    unlink(to);
}

TEST_CASE(Gotrace, Header22BringsBackWhatHasNoCoroutines)
{
    round_trips(&(struct gotrace_opts){.version = 22}, 0, false);
}

TEST_CASE(Gotrace, Header23BringsBackEverything)
{
    round_trips(&(struct gotrace_opts){.version = 23}, 0, true);
}

TEST_CASE(Gotrace, Headers25And26BringBackEverything)
{
    round_trips(&(struct gotrace_opts){.version = 25}, 0, true);
    round_trips(&(struct gotrace_opts){.version = 26}, 0, true);
}

/* Statuses between two events that are nearly at once move the second by a few ns. */
TEST_CASE(Gotrace, ManyGenerationsBringBackEverything)
{
    round_trips(&(struct gotrace_opts){.version = 23, .generation_ns = 1000000}, 8, true);
    round_trips(&(struct gotrace_opts){.version = 26, .generation_ns = 3000000}, 8, true);
}

TEST_CASE(Gotrace, ACoroutineUnderHeader22IsRefused)
{
    struct failure f = {.code = E_OK};
    struct trace *t = trace_open(&f, path_of("features-go24.trace.gz"), NULL);
    struct gotrace *w = gotrace_open(&f, "/dev/null", &t->names, &t->stacks, NULL);
    const struct trace_event *evs;
    size_t count;
    while (trace_next(t, &f, &evs, &count) == TRACE_MORE && gotrace_put(w, &f, evs, count))
        ;
    CHECK(strstr(f.text, "a coroutine needs header 1.23") != NULL);
    CHECK(!gotrace_close(w, NULL, 0));
    trace_close(t);
}
