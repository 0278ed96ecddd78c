/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a file that is no whole trace is told as such, with a place and a reason, whatever is wrong
 * with it, and reading it ends.
 * Method: traces cut at every byte, with every byte changed, with lengths and numbers out of all
 * bounds; fuzz.gotrace has the rest. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trace.h"

struct file {
    char *bytes;
    size_t size;
};

static struct file load(const char *name)
{
    char path[500];
    struct file in = {.size = 0};
    snprintf(path, sizeof path, "%s/%s", RECORDED, name);
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL && fseek(f, 0, SEEK_END) == 0);
    in.size = (size_t)ftell(f);
    in.bytes = malloc(in.size + 1);
    rewind(f);
    CHECK(fread(in.bytes, 1, in.size, f) == in.size);
    fclose(f);
    return in;
}

/* How it ends; f says why if it is broken. */
static enum trace_got read_all(const void *bytes, size_t size, bool strict, struct failure *f,
                               uint64_t *events)
{
    const struct trace_event *evs;
    size_t count;
    enum trace_got got = TRACE_BROKEN;
    *events = 0;
    fail_reset(f);
    struct trace *t = trace_open_bytes(f, bytes, size, &(struct trace_opts){.strict = strict});
    while (t != NULL && (got = trace_next(t, f, &evs, &count)) == TRACE_MORE)
        *events += count;
    CHECK(got == TRACE_END || (f->code != E_OK && f->text[0] != '\0'));
    CHECK(got == TRACE_END || f->code != E_TRACE || strstr(f->text, "byte ") != NULL);
    trace_close(t);
    return got;
}

static void cut_everywhere(const char *name, size_t whole_from)
{
    struct file in = load(name);
    struct failure f = {.code = E_OK};
    uint64_t events;
    for (size_t size = 0; size < in.size; size++) {
        char *part = malloc(size + 1); /* of its own, so that a step too far is seen */
        memcpy(part, in.bytes, size);
        enum trace_got got = read_all(part, size, true, &f, &events);
        CHECK(size >= whole_from || got == TRACE_BROKEN);
        read_all(part, size, false, &f, &events);
        free(part);
    }
    CHECK_EQ(read_all(in.bytes, in.size, true, &f, &events), TRACE_END);
    free(in.bytes);
}

/* The header alone is a trace without events to Go 1.26, and so is one with a sync batch. An old
 * trace may lack stacks, which come last; its events do not do without their end. */
TEST_CASE(BadTrace, CutAtEveryByteIsToldWithItsPlace)
{
    cut_everywhere("mutex-go21.trace", 800);
    cut_everywhere("mutex-go22.trace", 16);
    cut_everywhere("mutex-go26.trace", 16);
}

TEST_CASE(BadTrace, EveryByteMayBeWrong)
{
    static const unsigned char values[] = {0x00, 0x7f, 0x80, 0xff};
    struct file in = load("mutex-go26.trace");
    struct failure f = {.code = E_OK};
    uint64_t events;
    for (size_t i = 0; i < in.size; i++) {
        char was = in.bytes[i];
        in.bytes[i] = (char)values[i % sizeof values];
        read_all(in.bytes, in.size, i % 2 == 0, &f, &events);
        in.bytes[i] = was;
    }
    free(in.bytes);
}

static void broken_with(const char *bytes, size_t size, const char *why)
{
    struct failure f = {.code = E_OK};
    uint64_t events;
    CHECK_EQ(read_all(bytes, size, false, &f, &events), TRACE_BROKEN);
    if (strstr(f.text, why) == NULL)
        printf("%s\n", f.text);
    CHECK(strstr(f.text, why) != NULL);
}

TEST_CASE(BadTrace, WhatIsNoTraceIsTold)
{
    broken_with("", 0, "byte 0: the file is empty");
    broken_with("hello, world; this is a text", 28, "byte 0: no Go execution trace");
    broken_with("go 1.24 trace\0\0", 16, "byte 0: header go 1.24");
    broken_with("go 1.22 trace\0\0", 15, "byte 0: no Go execution trace");
    broken_with("\x1f\x8b\x08\x00 no gzip at all", 19, "gzip: ");
    broken_with("\x28\xb5\x2f\xfd no zstd at all", 19, "zstd: ");
}

TEST_CASE(BadTrace, LengthsAreNotBelieved)
{
#define HEAD "go 1.23 trace\0\0\0"
#define MUCH "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    static const char batch[] = HEAD "\x01\x01\x05\x0a" MUCH;
    static const char number[] = HEAD "\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    static const char string[] = HEAD "\x01\x01\x05\x0a\x0d\x04\x05\x01" MUCH;
    static const char frames[] = HEAD "\x01\x01\x05\x0a\x0d\x02\x03\x01" MUCH;
    broken_with(batch, sizeof batch - 1, "65536 is the most");
    broken_with(number, sizeof number - 1, "byte 18: no number of up to 64 bits");
    broken_with(string, sizeof string - 1, "a string of more than 1024 bytes");
    broken_with(frames, sizeof frames - 1, "a stack of more than 128 frames");
}
