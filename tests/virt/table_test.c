/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a cost table is read completely and exactly, or refused with place and reason. Method: the
 * reference table against the built-in one; then small damages to a small table, each with the
 * message it must give. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "store/costs_json.h"

static struct cost_table table;
static struct failure failure;

static bool parse(const char *text)
{
    fail_reset(&failure);
    return costs_parse(&failure, "t.json", text, strlen(text), &table);
}

TEST_CASE(Tables, TheReferenceTableIsTheBuiltInOne)
{
    fail_reset(&failure);
    if (!costs_load(&failure, COSTS_DIR "/reference.json", &table))
        FAIL_CASE("%s", failure.text);
    CHECK_STR(table.name, "reference");
    for (int port = 0; port < PORT_COUNT; port++)
        for (int i = 0; i < ATOMIC_COUNT; i++) {
            CHECK_EQ(table.costs.atomic[port][i].hit, costs_builtin.atomic[port][i].hit);
            CHECK_EQ(table.costs.atomic[port][i].miss, costs_builtin.atomic[port][i].miss);
        }
    for (int i = 0; i < COST_COUNT; i++)
        CHECK_EQ(table.costs.kind[i], costs_builtin.kind[i]);
    for (int i = 0; i < W_COUNT; i++)
        CHECK_EQ(table.costs.work[i], costs_builtin.work[i]);
    CHECK_MEM(table.costs.noise, costs_builtin.noise, sizeof costs_builtin.noise);
}

TEST_CASE(Tables, TheMeasuredTableIsValid)
{
    fail_reset(&failure);
    if (!costs_load(&failure, COSTS_DIR "/zen5-vm.json", &table))
        FAIL_CASE("%s", failure.text);
    CHECK_STR(table.name, "zen5-vm");
    CHECK_EQ(table.costs.atomic[PORT_AMD64][ATOMIC_cas].miss, 33000);
}

#define HEAD "{\"version\": 1, \"name\": \"x\", \"unit\": \"ps\", \"inherits\": \"reference\""

TEST_CASE(Tables, AnyShippedTableCanBeInherited)
{
    CHECK(parse("{\"version\": 1, \"name\": \"x\", \"unit\": \"ps\", \"costs\": {\"pause\": "
                "{\"ps\": 35000, "
                "\"source\": \"s\"}}, \"inherits\": \"zen5-vm\"}"));
    CHECK_EQ(table.costs.kind[COST_pause], 35000);
    CHECK_EQ(table.costs.atomic[PORT_AMD64][ATOMIC_cas].miss, 33000); /* of zen5-vm */
    CHECK_EQ(table.costs.kind[COST_osyield], costs_builtin.kind[COST_osyield]);
    CHECK_STR(table.name, "x");
    CHECK(costs_load(&failure, "zen5-vm", &table));
    CHECK_STR(table.name, "zen5-vm");
}

TEST_CASE(Tables, AnInheritingTableChangesOnlyWhatItHolds)
{
    CHECK(parse(
        HEAD ",\n \"costs\": {\"pause\": {\"ps\": 35000, \"source\": \"a}b\\\"{\"}},\n"
             " \"ports\": {\"arm64\": {\"cas\": {\"source\": \"s\", \"miss\": 7, \"hit\": 2}}},\n"
             " \"work\": {}}"));
    CHECK_EQ(table.costs.kind[COST_pause], 35000);
    CHECK_EQ(table.costs.kind[COST_osyield], costs_builtin.kind[COST_osyield]);
    CHECK_EQ(table.costs.atomic[PORT_ARM64][ATOMIC_cas].hit, 2);
    CHECK_EQ(table.costs.atomic[PORT_ARM64][ATOMIC_cas].miss, 7);
    CHECK_EQ(table.costs.atomic[PORT_AMD64][ATOMIC_cas].hit,
             costs_builtin.atomic[PORT_AMD64][ATOMIC_cas].hit);
}

#define OF(release, ps) "\"" release "\": {\"mark_kb\": {\"ps\": " ps ", \"source\": \"s\"}}"

/* The first that is named stands for older ones, too; each for those after it. */
TEST_CASE(Tables, AReleaseHasWorkOfItsOwn)
{
    static const struct {
        int release;
        int64_t ps;
    } want[] = {{13, 100000}, {19, 100000}, {22, 100000}, {23, 350000}, {26, 350000}, {27, 600000}};
    struct costs c;
    struct profile p;
    CHECK(parse(HEAD ", \"releases\": {" OF("go1.19", "100000") ", " OF("go1.23", "350000") ", " OF(
        "go1.27", "600000") "}}"));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        costs_of_release(&table, want[i].release, &c);
        CHECK_EQ(c.work[W_mark_kb], want[i].ps);
        CHECK_EQ(c.work[W_schedule], costs_builtin.work[W_schedule]);
        CHECK(profile_init(&p, want[i].release));
        costs_rules(&c, &p);
        CHECK_EQ(p.gc_mark_ns_per_kb, want[i].ps / 1000);
    }
    costs_of_release(&(struct cost_table){.costs = costs_builtin}, 27, &c);
    CHECK(profile_init(&p, 27));
    costs_rules(&c, &p);
    CHECK_EQ(p.gc_mark_ns_per_kb, 1000); /* no table that measured it */
}

static void refused(const char *text, const char *message)
{
    CHECK(!parse(text));
    CHECK_STR(failure.text, message);
    CHECK_EQ(failure.code, E_COST);
}

#define PAUSE(entry) HEAD ",\n \"costs\": {\n  \"pause\": " entry "}}"

TEST_CASE(Tables, BadNumbersAreRefused)
{
    refused(PAUSE("{\"ps\": -1, \"source\": \"s\"}"),
            "t.json:3:19: ps: want a whole number of picoseconds, not a negative one");
    refused(PAUSE("{\"ps\": 1.5, \"source\": \"s\"}"),
            "t.json:3:19: ps: want a whole number of picoseconds");
    refused(PAUSE("{\"ps\": 1e3, \"source\": \"s\"}"),
            "t.json:3:19: ps: want a whole number of picoseconds");
    refused(PAUSE("{\"ps\": \"3\", \"source\": \"s\"}"),
            "t.json:3:19: ps: want a whole number of picoseconds");
    refused(PAUSE("{\"ps\": true, \"source\": \"s\"}"),
            "t.json:3:19: ps: want a whole number of picoseconds");
    refused(PAUSE("{\"ps\": 4000000001, \"source\": \"s\"}"),
            "t.json:3:19: ps: more than the 4000000000 ps that one operation may cost");
    refused(PAUSE("{\"ps\": 99999999999999999999999999, \"source\": \"s\"}"),
            "t.json:3:19: ps: more than the 4000000000 ps that one operation may cost");
    refused(PAUSE("{\"ps\": 0700, \"source\": \"s\"}"),
            "t.json:3:19: ps: a number does not begin with 0");
    CHECK(parse(PAUSE("{\"ps\": 4000000000, \"source\": \"s\"}")));
    CHECK_EQ(table.costs.kind[COST_pause], 4000000000);
}

#define LOAD(hit, miss)                                                            \
    HEAD ",\n\"ports\": {\"arm64\": {\"load\": {\"hit\": " hit ", \"miss\": " miss \
         ", \"source\": \"s\"}}}}"

/* A loop of operations that take no time would turn for ever at one instant. */
TEST_CASE(Tables, AnOperationTakesTime)
{
    CHECK(parse(LOAD("1", "1")));
    refused(LOAD("0", "5"), "t.json:2:21: load: every operation takes time");
    refused(LOAD("6", "5"), "t.json:2:21: load: a miss is not cheaper than a hit");
}

TEST_CASE(Tables, AByteOrderMarkIsRefused)
{
    refused("\xef\xbb\xbf{}", "t.json:1:1: a byte order mark");
}

TEST_CASE(Tables, MissingUnknownAndDoubleKeysAreRefused)
{
    refused(PAUSE("{\"ps\": 1}"), "t.json:3:3: pause: its source is missing");
    refused(PAUSE("{\"source\": \"s\"}"), "t.json:3:3: pause: a number is missing");
    refused(PAUSE("{\"ps\": 1, \"source\": \"\"}"),
            "t.json:3:32: source: want a text that says where the numbers come from");
    refused(PAUSE("{\"ps\": 1, \"source\": \"s\", \"ns\": 2}"), "t.json:3:37: unknown key \"ns\"");
    refused(PAUSE("{\"ps\": 1, \"source\": \"s\", \"ps\": 2}"),
            "t.json:3:37: \"ps\" appears twice");
    refused(PAUSE("3"), "t.json:3:12: pause: want an object with numbers and a source");
    refused(PAUSE("{\"ps\": 1, \"source\": \"s\"}, \"pause\": {\"ps\": 1, \"source\": \"s\"}"),
            "t.json:3:38: \"pause\" appears twice");
    refused(PAUSE("{\"ps\": 1, \"source\": \"s\"}, \"paws\": {}"),
            "t.json:3:38: unknown name \"paws\"");
    refused(HEAD ",\n\"costs\": []}", "t.json:2:10: costs: want an object");
    refused(HEAD ",\n\"ports\": {\"riscv\": {}}}", "t.json:2:11: unknown port \"riscv\"");
    refused(HEAD ",\n\"ports\": {\"arm64\": {}, \"arm64\": {}}}",
            "t.json:2:24: \"arm64\" appears twice");
    refused(HEAD ",\n\"price\": 1}", "t.json:2:1: unknown key \"price\"");
    refused("{\"version\": 1, \"name\": \"x\", \"unit\": \"ps\"}",
            "t.json:1:1: \"ports\" is missing");
    refused("{\"version\": 1,\n\"name\": \"x\", \"unit\": \"ps\", \"ports\": {}}",
            "t.json:2:28: \"amd64\" is missing here");
    refused("{\"name\": \"x\", \"unit\": \"ps\", \"inherits\": \"reference\"}",
            "t.json:1:1: \"version\" is missing");
}

TEST_CASE(Tables, ReleasesAreKnownAndRise)
{
    refused(HEAD ",\n\"releases\": {\"go2\": {}}}",
            "t.json:2:14: want a release such as go1.23, not \"go2\"");
    refused(HEAD ",\n\"releases\": {\"go1.23\": {}, \"go1.19\": {}}}",
            "t.json:2:28: go1.19: releases rise");
    refused(HEAD ",\n\"releases\": {\"go1.23\": {\"futex_wake\": {}}}}",
            "t.json:2:25: unknown name \"futex_wake\"");
    refused(HEAD ",\n\"releases\": 1}", "t.json:2:13: releases: want an object");
}

TEST_CASE(Tables, WrongHeadsAreRefused)
{
    refused("{\"version\": 2}", "t.json:1:13: version: want 1");
    refused("{\"version\": \"1\"}", "t.json:1:13: version: want 1");
    refused("{\"unit\": \"ns\"}", "t.json:1:10: want \"ps\" here");
    refused("{\"inherits\": \"mine\"}",
            "t.json:1:14: want the name of a table of costs/, such as \"reference\"");
    refused("{\"inherits\": 5}",
            "t.json:1:14: want the name of a table of costs/, such as \"reference\"");
    refused("{\"name\": \"\"}", "t.json:1:10: name: want a text of 1 to 63 bytes");
    refused("{\"name\": 3}", "t.json:1:10: name: want a text of 1 to 63 bytes");
    refused(" [1]", "t.json:1:2: want an object");
}

TEST_CASE(Tables, WhatIsNotJsonIsRefusedWhereItStops)
{
    refused("", "t.json:1:1: not JSON near here");
    refused("{\n  \"version\": 1,\n  oops", "t.json:3:4: not JSON near here");
    refused(HEAD "} trailing", "t.json:1:68: more text after the table");
}

TEST_CASE(Tables, DeepAndLargeInputsAreRefused)
{
    size_t size = COSTS_FILE_MAX + 1;
    char *text = malloc(size);

    memset(text, '[', size);
    CHECK(!costs_parse(NULL, "t.json", text, 100000, &table));
    fail_reset(&failure);
    CHECK(!costs_parse(&failure, "t.json", text, size, &table));
    CHECK_STR(failure.text, "t.json:1:1: larger than the 1 MiB that a cost table may have");
    fail_reset(&failure);
    CHECK(!costs_parse(&failure, "t.json", "{\0}", 3, &table));
    CHECK_STR(failure.text, "t.json:1:2: a NUL byte");
    free(text);
}

TEST_CASE(Tables, AFileThatIsNotThereIsAMessage)
{
    fail_reset(&failure);
    CHECK(!costs_load(&failure, COSTS_DIR "/no-such-table.json", &table));
    CHECK_HAS(failure.text, "no-such-table.json: No such file");
    CHECK_EQ(failure.code, E_IO);
    fail_reset(&failure);
    CHECK(!costs_load(&failure, COSTS_DIR, &table));
    CHECK_EQ(failure.code, E_IO);
}

/* Every prefix and every single damaged byte of the reference table: an answer, never a crash. */
TEST_CASE(Tables, DamagedTablesAreAnswered)
{
    static char text[1 << 16], copy[1 << 16];
    FILE *file = fopen(COSTS_DIR "/reference.json", "rb");
    size_t size, refusals = 0;

    CHECK(file != NULL);
    size = fread(text, 1, sizeof text, file);
    fclose(file);
    CHECK_LT(size, sizeof text);
    for (size_t i = 0; i < size; i += 97)
        refusals += !costs_parse(NULL, "t.json", text, i, &table);
    CHECK_EQ(refusals, (size + 96) / 97);
    for (size_t i = 0; i < size; i += 89) {
        memcpy(copy, text, size);
        copy[i] = "\"{}[]:,\\x0-\n"[i % 12];
        (void)costs_parse(NULL, "t.json", copy, size, &table);
    }
}

/* ---- noise ---- */

#define NOISE(entry) HEAD ",\n \"noise\": {\n  " entry "}}"
#define TEN          "1, 2, 3, 4, 5, 6, 7, 8, 9, 9"

TEST_CASE(Tables, NoiseIsElevenQuantiles)
{
    CHECK(parse(NOISE("\"boot\": {\"ps\": [" TEN ", 4000000000], \"source\": \"x\"},\n"
                      "\"wake_latency\": {\"source\": \"]\", \"permille\": [ 0, " TEN " ]}")));
    CHECK_EQ(table.costs.noise[NOISE_boot][0], 1);
    CHECK_EQ(table.costs.noise[NOISE_boot][10], 4000000000);
    CHECK_EQ(table.costs.noise[NOISE_wake_latency][0], 0);
    CHECK_EQ(table.costs.noise[NOISE_wake_latency][10], 9);
    CHECK_MEM(table.costs.noise[NOISE_stall], costs_builtin.noise[NOISE_stall],
              sizeof costs_builtin.noise[0]); /* what is not there is the built-in one's */
}

TEST_CASE(Tables, NoiseThatIsNoneIsRefused)
{
    refused(NOISE("\"boot\": {\"ps\": [" TEN "], \"source\": \"x\"}"),
            "t.json:3:18: ps: want eleven numbers: 0, 1, 5, 10, 25, 50, 75, 90, 95, 99 and 100 %");
    refused(NOISE("\"boot\": {\"ps\": [" TEN ", 8], \"source\": \"x\"}"),
            "t.json:3:49: ps: a quantile is not below the one before");
    refused(NOISE("\"boot\": {\"ps\": [" TEN ", \"9\"], \"source\": \"x\"}"),
            "t.json:3:49: ps: want a whole number of picoseconds");
    refused(NOISE("\"boot\": {\"permille\": [" TEN ", 9], \"source\": \"x\"}"),
            "t.json:3:12: unknown key \"permille\"");
    refused(NOISE("\"boot\": {\"ps\": [" TEN ", 9]}"), "t.json:3:3: boot: its source is missing");
    refused(NOISE("\"boot\": {\"source\": \"x\"}"), "t.json:3:3: \"ps\" is missing here");
    refused(NOISE("\"boot\": 7"), "t.json:3:11: boot: want an object with numbers and a source");
    refused(NOISE("\"rain\": {}"), "t.json:3:3: unknown name \"rain\"");
    refused(HEAD ",\n\"noise\": []}", "t.json:2:10: noise: want an object");
}
