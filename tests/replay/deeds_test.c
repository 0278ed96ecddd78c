/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: what a deep recording says means the same in each format. Method: the same deeds, with
 * numbers as digits and above the address; tapes, objects and their sums are equal. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "rec.h"
#include "replay/record_int.h"

enum { AT = 0xc000, COND = 0xc100, MUTEX = 0xc200, GROUP = 0xc300, CONN = 0xc400, DEEDS_MAX = 40 };

struct said {
    uint64_t task;
    const char *text;
};

static const struct said digits[] = {
    {AT, "M3"},       {AT, "s3"},     {AT, "v3"},       {GROUP, "A2"}, {GROUP, "A-1"},
    {0, "Q2"},        {AT, "q3"},     {AT, "p3"},       {0, "k1"},     {0, "Q1"},
    {AT, "p3"},       {0, "d0"},      {0, "k-1"},       {0, "Z70000"}, {MUTEX, "L"},
    {COND, "N49664"}, {COND, "D"},    {MUTEX, "U"},     {MUTEX, "L"},  {MUTEX, "U"},
    {CONN, "F0"},     {CONN, "G512"}, {CONN, "H40000"}, {AT, "a1000"}, {0, "P0"},
};

#define WITH(address, n) ((uint64_t)(address) | (uint64_t)(uint16_t)(n) << 48)
static const struct said packed[] = {
    {WITH(AT, 3), "M"},
    {WITH(AT, 3), "s"},
    {WITH(AT, 3), "v"},
    {WITH(GROUP, 2), "A"},
    {WITH(GROUP, -1), "A"},
    {2, "Q"},
    {WITH(AT, 3), "q"},
    {WITH(AT, 3), "p"},
    {1, "k"},
    {1, "Q"},
    {WITH(AT, 3), "p"},
    {0, "d"},
    {UINT64_MAX, "k"},
    {70000, "Z"},
    {MUTEX, "L"},
    {MUTEX, "n"},
    {COND, "D"},
    {MUTEX, "U"},
    {MUTEX, "L"},
    {MUTEX, "U"},
    {CONN, "F"},
    {WITH(CONN, 512), "G"},
    {CONN, "H40000"},
    {WITH(AT, 1000), "a"},
    {0, "P"},
};

struct tape {
    struct rec_entry entries[DEEDS_MAX * 2];
    struct rec_object objects[8];
    size_t count;
    uint32_t nobjects;
};

static void play(const struct said *said, size_t count, struct tape *out)
{
    rec_new();
    uint32_t g = rec_goroutine(REC_NONE, "main.main", -1, INT64_MAX);
    struct rr_g gs[1] = {{.wait = REC_NONE, .deed = DEED_COUNT, .io_deed = REC_NONE}};
    struct rr b = {.r = R, .gs = gs, .ngs = 1, .open = true};
    for (size_t i = 0; i < count; i++)
        rr_op(&b, g, said[i].task, said[i].text, 0);
    rr_ops_release(&b);
    struct rec_reader rd;
    memset(out, 0, sizeof *out);
    for (rec_rewind(&rd, R, g); rec_next(&rd, &out->entries[out->count]);)
        out->count++;
    out->nobjects = R->nobjects;
    memcpy(out->objects, R->objects, R->nobjects * sizeof *R->objects);
}

TEST_CASE(Deeds, MeanTheSameInEachFormat)
{
    static struct tape a, b;
    play(digits, sizeof digits / sizeof *digits, &a);
    play(packed, sizeof packed / sizeof *packed, &b);
    CHECK(a.count > 18);
    CHECK_EQ(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        CHECK_EQ(a.entries[i].what, b.entries[i].what);
        CHECK_EQ(a.entries[i].a, b.entries[i].a);
        CHECK_EQ(a.entries[i].b, b.entries[i].b);
    }
    CHECK_EQ(a.nobjects, b.nobjects);
    for (uint32_t i = 0; i < a.nobjects; i++) {
        CHECK_EQ(a.objects[i].kind, b.objects[i].kind);
        CHECK_EQ(a.objects[i].param, b.objects[i].param);
        CHECK_EQ(a.objects[i].sum[0], b.objects[i].sum[0]);
        CHECK_EQ(a.objects[i].address, b.objects[i].address);
    }
}

TEST_CASE(Deeds, AFormatIsItsCategorys)
{
    CHECK_EQ(rec_format_of("gmpsim"), 1);
    CHECK_EQ(rec_format_of("gmpsim2"), 2);
    CHECK_EQ(rec_format_of("gmpsim3"), 3);
    CHECK_EQ(rec_format_of("gmpsim17"), 17);
    CHECK_EQ(rec_format_of("gmpsims"), 0);
    CHECK_EQ(rec_format_of("gmpsim2x"), 0);
    CHECK_EQ(rec_format_of("gmp"), 0);
}
