/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a table that is too large for memory keeps what is in it, wherever it lies. Method: tables
 * that go to a file early, without a folder for it, and with a disk that is full. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "harness.h"
#include "sim/base/spill.h"

enum { FROM = 1 << 12, COUNT = 1 << 16, STEP_BYTES = 64 << 20 };

/* As many numbers, each other than its neighbours. */
static void fill(struct spill *s, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        spill_grow(s, (i + 1) * sizeof(uint32_t));
        ((uint32_t *)s->at)[i] = i * 2654435761u;
    }
}

static void is_filled(const struct spill *s, uint32_t end)
{
    for (uint32_t i = 0; i < end; i++)
        CHECK_EQ(((const uint32_t *)s->at)[i], i * 2654435761u);
}

TEST_CASE(Spill, WhatIsWrittenStays)
{
    struct spill s = {0};
    spill_from(FROM);
    fill(&s, 0, FROM / sizeof(uint32_t) - 1);
    CHECK_EQ(s.file, 0);
    fill(&s, FROM / sizeof(uint32_t) - 1, COUNT);
    if (s.file == 0)
        SKIP_CASE("no room for a file");
    spill_rest(&s);
    is_filled(&s, COUNT);
    spill_grow(&s, (size_t)STEP_BYTES + 1); /* the file gets longer */
    CHECK(s.file != 0);
    CHECK_LT(STEP_BYTES, s.room);
    ((uint8_t *)s.at)[s.room - 1] = 7;
    is_filled(&s, COUNT);
    spill_free(&s);
    CHECK_EQ(s.room, 0);
    spill_from(0);
}

TEST_CASE(Spill, WithoutAFolderItStaysInMemory)
{
    struct spill s = {0};
    const char *folder = getenv("TMPDIR");
    char *was = folder != NULL ? strdup(folder) : NULL;
    setenv("TMPDIR", "/nonexistent", 1);
    spill_from(FROM);
    fill(&s, 0, COUNT);
    CHECK_EQ(s.file, 0);
    spill_rest(&s); /* is not for it */
    is_filled(&s, COUNT);
    spill_free(&s);
    spill_from(0);
    if (was != NULL)
        setenv("TMPDIR", was, 1);
    else
        unsetenv("TMPDIR");
    free(was);
}

/* The disk gets full while the table grows: all of it comes back to memory. */
TEST_CASE(Spill, AFullDiskIsNotTheEnd)
{
    struct spill s = {0};
    struct rlimit was, less;
    spill_from(FROM);
    fill(&s, 0, COUNT);
    if (s.file == 0)
        SKIP_CASE("no room for a file");
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &was), 0);
    less = was;
    less.rlim_cur = s.room;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &less), 0);
    spill_grow(&s, s.room + 1);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &was), 0);
    signal(SIGXFSZ, handler);
    CHECK_EQ(s.file, 0);
    CHECK_LT(STEP_BYTES, s.room);
    ((uint8_t *)s.at)[s.room - 1] = 7;
    is_filled(&s, COUNT);
    spill_free(&s);
    spill_from(0);
}

/* Of a table that has been touched everywhere nothing is left in memory. */
TEST_CASE(Spill, WhatRestsIsNotInMemory)
{
    enum { LARGE = 256 << 20 };
    struct spill s = {0};
    spill_grow(&s, LARGE);
    if (s.file == 0)
        SKIP_CASE("no room for a file");
    memset(s.at, 1, LARGE);
    CHECK(spill_is_much());
    spill_rest(&s);
    CHECK(!spill_is_much());
    CHECK_EQ(((uint8_t *)s.at)[LARGE - 1], 1);
    spill_free(&s);
}
