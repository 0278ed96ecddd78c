/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every mistake in a scenario is named with its place, exactly.
 * Method: a text with one mistake each, and the whole message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "scenarios/json.h"
#include "scenarios/scenario.h"

/* The message for a text, "" if it loads. */
static const char *message(const char *text, size_t size)
{
    static struct failure f;
    f = (struct failure){0};
    struct scenario *s = scenario_load(&f, "f.json", text, size);
    if (s != NULL)
        CHECK_EQ(f.code, E_OK);
    else
        CHECK_EQ(f.code, E_SCENARIO);
    scenario_free(s);
    return f.text;
}

static void says(const char *text, const char *want)
{
    CHECK_STR(message(text, strlen(text)), want);
}

/* A scenario around main's statements, objects and functions; main's begin at 2:10. */
static const char *main_says(const char *objects, const char *funcs, const char *body)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "{\"name\": \"n\", \"why\": \"w\",\n\"main\": [%s],\n\"objects\": {%s},\n"
             "\"funcs\": {%s}}",
             body, objects, funcs);
    return message(text, strlen(text));
}

TEST_CASE(Json, BrokenText)
{
    says("", "f.json:1:1: the text ends in the middle");
    says("{", "f.json:1:2: expected a key in double quotes");
    says("[1, 2", "f.json:1:6: the text ends inside an array");
    says("{\"a\" 1}", "f.json:1:6: expected ':'");
    says("{\"a\": 1,\n  }", "f.json:2:3: expected a key in double quotes");
    says("{\"a\": 1\n  \"b\": 2}", "f.json:2:3: expected ',' or the end of an object");
    says("{\"a\": \"no end\n}", "f.json:1:7: string without an end");
    says("{\"a\": \"tab\there\"}", "f.json:1:11: control character in a string");
    says("{\"a\": 1} x", "f.json:1:10: more text after the end");
    says("{\"a\": tru}", "f.json:1:7: not JSON");
    says("{\"a\": ?}", "f.json:1:7: unexpected '?'");
    says("{\"a\": \"\\", "f.json:1:7: string without an end");
}

TEST_CASE(Json, WhatPeopleWriteElsewhere)
{
    says("{\"a\": 1, // why\n \"b\": 2}",
         "f.json:1:10: JSON has no comments; a statement may have a \"why\"");
    says("[1, # why\n 2]", "f.json:1:5: JSON has no comments; a statement may have a \"why\"");
    says("[1, 2,]", "f.json:1:7: a value is missing before ']'; the last has no comma");
    says("{\"a\": }", "f.json:1:7: a value is missing before '}'; the last has no comma");
    says("['x']", "f.json:1:2: strings are written in double quotes");
    says("\xef\xbb\xbf{}", "f.json:1:1: a byte order mark; the file is UTF-8 without one");
    CHECK_STR(main_says("", "", "{\"sleep\": \"5 ms\"}"),
              "f.json:2:20: a unit follows its number without a space at character 3 of the"
              " expression \"5 ms\"");
    CHECK_STR(main_says("", "", "{\"alloc\": \"64KiB\"}"),
              "f.json:2:20: want a size such as \"64KB\", \"1.5MB\" or \"1GB\", got \"64KiB\"");
    CHECK_STR(main_says("\"m\": \"mutex\"", "", "{\"lock\": \"m\", \"unlock\": \"m\"}"),
              "f.json:2:24: \"unlock\" is a statement of its own: {...}, {\"unlock\": ...}");
}

TEST_CASE(Json, BytesThatAreNoText)
{
    says("{\"a\": \"\xff\"}", "f.json:1:8: not UTF-8");
    says("{\"a\": \"\xc0\xaf\"}", "f.json:1:8: not UTF-8");     /* overlong */
    says("{\"a\": \"\xed\xa0\x80\"}", "f.json:1:8: not UTF-8"); /* a surrogate */
    says("{\"a\": \"\\u0000\"}", "f.json:1:8: a string cannot hold the character 0");
    CHECK_STR(message("{\"a\"\0: 1}", 9), "f.json:1:5: a byte 0 in the text");
    /* Columns count characters, not bytes. */
    says("{\"\xc3\xa4\": 1 2}", "f.json:1:9: expected ',' or the end of an object");
}

TEST_CASE(Json, DuplicateKeys)
{
    says("{\"name\": 1,\n \"why\": 2,\n \"name\": 3}", "f.json:3:2: duplicate key \"name\"");
    says("{\"a\": {\"b\": 1, \"b\": 2}, \"a\": 3}", "f.json:1:16: duplicate key \"b\"");
    says("{\"n\\u0061me\": 1}", "f.json:1:2: a key is written without escapes");
}

TEST_CASE(Json, Depth)
{
    enum { DEEP = 100000 };
    char *text = malloc(DEEP);
    memset(text, '[', DEEP);
    CHECK_STR(message(text, DEEP), "f.json:1:130: nested more than 128 deep");
    for (int i = 0; i + 5 <= DEEP; i += 5)
        memcpy(text + i, "{\"a\":", 5);
    CHECK_STR(message(text, DEEP), "f.json:1:646: nested more than 128 deep");
    free(text);
}

TEST_CASE(Json, HundredMegabytes)
{
    size_t size = 100u << 20;
    char *text = malloc(size);
    memset(text, ' ', size);
    CHECK_STR(message(text, size), "f.json:1:1: 104857600 bytes; at most 67108864 are read");
    size = 60u << 20; /* below the limit of bytes: the one of values holds */
    memset(text, '1', size);
    text[0] = '[';
    for (size_t i = 2; i < size; i += 2)
        text[i] = ',';
    CHECK_HAS(message(text, size), ": more than 4194304 values");
    free(text);
}

/* Names are hashed: neither many of them nor many uses take quadratic time. */
TEST_CASE(Json, ManyNames)
{
    enum { N = 50000 };
    char *text = malloc(N * 100), *p = text;
    p += sprintf(p, "{\"name\": \"n\", \"why\": \"w\", \"objects\": {");
    for (int i = 0; i < N; i++)
        p += sprintf(p, "%s\"object%d\": \"mutex\"", i > 0 ? "," : "", i);
    p += sprintf(p, "}, \"main\": [");
    for (int i = 0; i < N; i++)
        p += sprintf(p, "%s{\"print\": \"%d\"}, {\"lock\": \"object%d\"}", i > 0 ? "," : "", i, i);
    p += sprintf(p, "]}");
    CHECK_STR(message(text, (size_t)(p - text)), "");
    p = text + sprintf(text, "{\"name\": \"n\", \"why\": \"w\", \"main\": [");
    for (int i = 0; i < N; i++)
        p += sprintf(p, "%s{\"span\": \"s%d\", \"do\": []}", i > 0 ? "," : "", i);
    p += sprintf(p, "], \"expect\": {\"spans\": {");
    for (int i = 0; i < N; i++)
        p += sprintf(p, "%s\"s%d\": {\"count\": \"== 1\"}", i > 0 ? "," : "", i);
    p += sprintf(p, "}}}");
    CHECK_STR(message(text, (size_t)(p - text)), "");
    free(text);
}

TEST_CASE(Top, Keys)
{
    says("[]", "f.json:1:1: want an object {...}, got []");
    says("{}", "f.json:1:1: \"name\" is missing here");
    says("{\"name\": 5}", "f.json:1:10: want a string, got 5");
    says("{\"name\": \"n\"}", "f.json:1:1: \"main\" is missing here");
    says("{\"name\": \"n\",\n \"proc\": 1}",
         "f.json:2:2: unknown key \"proc\"; did you mean \"procs\"?");
    says("{\"name\": \"n\", \"xyzzy\": 1}", "f.json:1:15: unknown key \"xyzzy\"");
    says("{\"name\": \"n\", \"why\": \"w\", \"procs\": 0}",
         "f.json:1:36: want a number from 1 to 65000, got 0");
    says("{\"name\": \"n\", \"why\": \"w\", \"procs\": 1.5}",
         "f.json:1:36: want a whole number between -2^53 and 2^53, got 1.5");
    says("{\"name\": \"n\", \"why\": \"w\", \"procs\": 1e300}",
         "f.json:1:36: want a whole number between -2^53 and 2^53, got 1e300");
    says("{\"name\": \"n\", \"why\": \"w\", \"procs\": \"2\"}",
         "f.json:1:36: want a whole number, got \"2\"");
    says("{\"name\": \"n\", \"why\": \"w\", \"until\": \"5\"}",
         "f.json:1:36: want a duration such as \"250us\", \"1.5ms\" or \"2s\", got \"5\"");
    says("{\"name\": \"n\", \"why\": \"w\", \"profile\": \"go1.99\"}",
         "f.json:1:38: no profile \"go1.99\"; they are go1.13 to go1.27 and latest");
    says("{\"name\": \"n\", \"why\": \"w\", \"profile\": \"go1.27\", \"profiles\": []}",
         "f.json:1:48: \"profile\" and \"profiles\" exclude each other");
    says("{\"name\": \"n\", \"why\": \"w\", \"rules\": {\"fair_perio\": 7}}",
         "f.json:1:37: unknown key \"fair_perio\"; did you mean \"fair_period\"?");
    says("{\"name\": \"n\", \"why\": \"w\", \"profiles\": [\"go1.22\", \"go1.24\"], "
         "\"rules\": {\"per_p_timers\": 0}, \"main\": []}",
         "f.json:1:61: with go1.24: timers_v2=on wants per_p_timers=on: its timers are in "
         "heaps of the Ps");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"quota\": 0.001}}",
         "f.json:1:45: want a quota of at least 1 ms per period, got 0.001");
    says("{\"name\": \"n\", \"why\": \"w\", \"rules\": {\"netpoll_batch\": 129}}",
         "f.json:1:54: netpoll_batch is from 1 to 128, not 129");
    says("{\"name\": \"n\", \"why\": \"w\", \"until\": \"0s\"}",
         "f.json:1:36: want a time longer than 0, got \"0s\"");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"quota\": \"no\"}}",
         "f.json:1:45: want a number from 0 to 4096, got \"no\"");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"quota\": []}}",
         "f.json:1:45: want a quota and up to 63 changes of it");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"quota\": [2, 3]}}",
         "f.json:1:49: want an object {...}, got 3");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"quota\": [2, {\"at\": \"1s\"}]}}",
         "f.json:1:49: \"quota\" is missing here");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"quota\": "
         "[2, {\"at\": \"1s\", \"quota\": 0.001}]}}",
         "f.json:1:71: want a quota of at least 1 ms per period, got 0.001");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"quota\": "
         "[2, {\"at\": \"1s\", \"quota\": 1}, {\"at\": \"1s\", \"quota\": 3}]}}",
         "f.json:1:82: want a time after that of the quota before, got \"1s\"");
    says("{\"name\": \"n\", \"why\": \"w\", \"host\": {\"period\": \"1us\"}}",
         "f.json:1:46: want a period from 1ms to 1s, got \"1us\"");
}

TEST_CASE(Objects, Mistakes)
{
    CHECK_STR(main_says("\"m\": \"mutx\"", "", ""),
              "f.json:3:18: unknown kind of object \"mutx\"; did you mean \"mutex\"?");
    CHECK_STR(main_says("\"c\": \"cond\"", "", ""),
              "f.json:3:18: a cond needs a parameter: {\"cond\": ...}");
    CHECK_STR(main_says("\"c\": {\"cond\": \"m\"}, \"m\": \"mutex\"", "", ""),
              "f.json:3:27: a cond wants the name of a mutex that stands before it, got \"m\"");
    CHECK_STR(main_says("\"c\": {\"chan\": -1}", "", ""),
              "f.json:3:27: want a number from 0 to 16777216, got -1");
    CHECK_STR(main_says("\"m\": {\"mutex\": 1}", "", ""),
              "f.json:3:19: this kind has no parameter; write its name as a string");
    CHECK_STR(main_says("\"a b\": \"mutex\"", "", ""),
              "f.json:3:13: want a name of letters, digits and _, got \"a b\"");
    CHECK_STR(main_says("\"f\": {\"fd\": {\"count\": 5}}", "", ""),
              "f.json:3:25: want one of \"every\", \"times\", \"clients\", got {\"count\": 5}");
    CHECK_STR(main_says("\"f\": {\"fd\": {\"times\": [\"2ms\", \"1ms\"]}}", "", ""),
              "f.json:3:43: times must not go back, to \"1ms\"");
}

TEST_CASE(Objects, MistakesInArraysAndStructs)
{
    const char *forks = "\"forks\": {\"array\": 3, \"of\": \"mutex\"}";
    CHECK_STR(main_says("\"a\": {\"array\": 0, \"of\": \"mutex\"}", "", ""),
              "f.json:3:28: want a number from 1 to 1048576, got 0");
    CHECK_STR(main_says("\"a\": {\"array\": 2}", "", ""), "f.json:3:13: \"of\" is missing here");
    CHECK_STR(
        main_says("\"a\": {\"array\": 2000, \"of\": {\"array\": 2000, \"of\": \"once\"}}", "", ""),
        "f.json:3:18: more than 1048576 objects");
    CHECK_STR(main_says("\"s\": {\"struct\": {}}", "", ""),
              "f.json:3:29: want a member at least, got {}");
    CHECK_STR(
        main_says("\"s\": {\"struct\": {\"c\": {\"cond\": \"m\"}, \"m\": \"mutex\"}}", "", ""),
        "f.json:3:44: a cond wants the name of a mutex that stands before it, got \"m\"");
    CHECK_STR(main_says(forks, "", "{\"lock\": \"forks[3]\"}"),
              "f.json:2:19: an index beyond the array before this at character 9 of the expression "
              "\"forks[3]\"");
    CHECK_STR(main_says(forks, "", "{\"lock\": \"forks\"}"),
              "f.json:2:19: want [ and an index into the array at character 6 of the expression "
              "\"forks\"");
    CHECK_STR(main_says(forks, "", "{\"send\": \"forks[1]\"}"),
              "f.json:2:19: \"forks[1]\" is a mutex, want a chan");
    CHECK_STR(main_says("\"s\": {\"struct\": {\"m\": \"mutex\"}}", "", "{\"lock\": \"s.x\"}"),
              "f.json:2:19: no such member at character 3 of the expression \"s.x\"");
    CHECK_STR(main_says("\"s\": {\"struct\": {\"m\": \"mutex\"}}", "", "{\"lock\": \"s\"}"),
              "f.json:2:19: want . and a member of the struct at character 2 of the expression "
              "\"s\"");
    CHECK_STR(main_says(forks, "", "{\"lock\": \"forks[forks[0]]\"}"),
              "f.json:2:19: want a number, got a mutex: \"forks[forks[0]]\"");
    CHECK_STR(main_says(forks, "", "{\"make\": \"x\", \"as\": {\"array\": 2, \"of\": \"mutex\"}}"),
              "f.json:2:30: arrays and structs are declared in \"objects\"");
}

/* They end up in reports, comments of generated Go, and pictures. */
TEST_CASE(Names, ControlCharacters)
{
    static const char said[] = "a name with a control character";
    CHECK_HAS(main_says("", "", "{\"mark\": \"a\\nb\"}"), said);
    CHECK_STR(main_says("", "", "{\"span\": \"a\\u001bb\", \"do\": []}"),
              "f.json:2:19: a name with a control character");
    CHECK_STR(main_says("", "", "{\"go\": [], \"group\": \"a\\r\"}"),
              "f.json:2:30: a name with a control character");
    CHECK_HAS(main_says("", "\"a\xc2\x9b\": []", ""), "f.json:4:11: a name with a control");
    CHECK_HAS(main_says("", "\"a\x7f\": []", ""), said);
    CHECK_HAS(main_says("\"a\x7f\": \"mutex\"", "", ""), "want a name of letters, digits and _");
    says("{\"name\": \"a\\u009b\"}", "f.json:1:10: a name with a control character");
}

TEST_CASE(Distributions, Mistakes)
{
    CHECK_STR(main_says("", "", "{\"cpu\": {\"expp\": \"1us\"}}"),
              "f.json:2:19: unknown key \"expp\"; did you mean \"exp\"?");
    CHECK_STR(main_says("", "", "{\"cpu\": {\"min\": \"1us\", \"exp\": \"1us\"}}"),
              "f.json:2:19: the distribution's own key comes first");
    CHECK_STR(main_says("", "", "{\"cpu\": {\"lognormal\": \"1us\"}}"),
              "f.json:2:18: lognormal wants \"p99\" or \"sigma\" beside the median");
    CHECK_STR(main_says("", "", "{\"cpu\": {\"uniform\": [\"1us\"]}}"),
              "f.json:2:30: want two durations, got [\"1us\"]");
    CHECK_HAS(main_says("", "", "{\"cpu\": {\"uniform\": [\"2us\", \"1us\"]}}"), "f.json:2:18: ");
}

TEST_CASE(Statements, Mistakes)
{
    CHECK_STR(main_says("", "", "{\"gosced\": true}"),
              "f.json:2:11: unknown statement \"gosced\"; did you mean \"gosched\"?");
    CHECK_STR(main_says("", "", "{}"), "f.json:2:10: an empty statement");
    CHECK_STR(main_says("", "", "5"), "f.json:2:10: want an object {...}, got 5");
    CHECK_STR(main_says("", "", "{\"gosched\": 1}"), "f.json:2:22: want true, got 1");
    CHECK_STR(main_says("\"c\": \"chan\"", "", "{\"send\": \"c\", \"valu\": 5}"),
              "f.json:2:24: unknown key \"valu\"; did you mean \"value\"?");
    CHECK_STR(main_says("\"chan1\": \"chan\"", "", "{\"send\": \"chn1\"}"),
              "f.json:2:19: unknown name \"chn1\"; did you mean \"chan1\"? at character 1 of the "
              "expression \"chn1\"");
    CHECK_STR(main_says("\"m\": \"mutex\"", "", "{\"send\": \"m\"}"),
              "f.json:2:19: \"m\" is a mutex, want a chan");
    CHECK_STR(main_says("", "\"work\": []", "{\"go\": \"wrok\"}"),
              "f.json:2:17: no function \"wrok\"; did you mean \"work\"?");
    CHECK_STR(main_says("", "\"f\": {\"params\": [\"a\"], \"do\": []}", "{\"go\": \"f\"}"),
              "f.json:2:17: \"f\" takes 1 arguments, got 0");
    CHECK_STR(main_says("", "\"f\": {\"params\": [\"a\", \"a\"], \"do\": []}", ""),
              "f.json:4:33: a second parameter \"a\"");
    CHECK_STR(main_says("", "\"main\": []", ""), "f.json:4:11: main is a key of its own");
    CHECK_STR(main_says("", "", "{\"break\": true}"), "f.json:2:10: no loop around this \"break\"");
    CHECK_STR(main_says("", "", "{\"break\": 1}"), "f.json:2:20: want true, got 1");
    CHECK_STR(main_says("", "", "{\"loop\": 3}"), "f.json:2:10: \"do\" is missing here");
    CHECK_STR(main_says("", "", "{\"print\": \"%d\"}"),
              "f.json:2:20: the format takes 1 arguments, got 0");
    CHECK_STR(main_says("", "", "{\"print\": \"%x\", \"args\": [1]}"),
              "f.json:2:20: a format has %d, %s, %t and %%");
    CHECK_STR(main_says("", "", "{\"cpu\": \"1us\", \"kind\": \"tigt\"}"),
              "f.json:2:33: unknown word \"tigt\"; did you mean \"tight\"");
    CHECK_STR(main_says("", "", "{\"go\": [], \"args\": [1]}"),
              "f.json:2:21: a body in place sees the names around it and takes no args");
    CHECK_STR(main_says("\"x\": \"mutex\"", "", "{\"set\": \"x\", \"value\": 1}"),
              "f.json:2:18: \"x\" is an object already");
    CHECK_STR(main_says("", "", "{\"set\": \"true\", \"value\": 1}"),
              "f.json:2:18: want a name of letters, digits and _, got \"true\"");
}

TEST_CASE(Statements, NeverReached)
{
    CHECK_STR(
        main_says("\"c\": \"chan\"", "", "{\"return\": null}, {\"gc\": true}"),
        "f.json:2:28: {\"gc\": true} is never reached: the \"return\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"loop\": \"forever\", \"do\": [{\"gosched\": true}]}, {\"gc\": true}"),
        "f.json:2:58: {\"gc\": true} is never reached: the \"loop\" before does not come back");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"if\": \"1\", \"then\": [{\"exit\": 0}], \"else\": [{\"panic\": "
                        "\"x\"}]}, {\"gc\": true}"),
              "f.json:2:72: {\"gc\": true} is never reached: the \"if\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "", "{\"select\": []}, {\"gc\": true}"),
        "f.json:2:26: {\"gc\": true} is never reached: the \"select\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"select\": [{\"recv\": \"c\", \"do\": [{\"return\": null}]}, {\"default\": "
                  "[{\"exit\": 0}]}]}, {\"gc\": true}"),
        "f.json:2:93: {\"gc\": true} is never reached: the \"select\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"random\": [{\"do\": [{\"return\": null}]}, {\"weight\": 0, \"do\": []}]}, "
                  "{\"gc\": true}"),
        "f.json:2:77: {\"gc\": true} is never reached: the \"random\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"while\": true, \"do\": [{\"gosched\": true}]}, {\"gc\": true}"),
        "f.json:2:54: {\"gc\": true} is never reached: the \"while\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"while\": 1, \"do\": [{\"gosched\": true}]}, {\"gc\": true}"),
        "f.json:2:51: {\"gc\": true} is never reached: the \"while\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"while\": \"1\", \"do\": [{\"gosched\": true}]}, {\"gc\": true}"),
        "f.json:2:53: {\"gc\": true} is never reached: the \"while\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"while\": \"true\", \"do\": [{\"gosched\": true}]}, {\"gc\": true}"),
        "f.json:2:56: {\"gc\": true} is never reached: the \"while\" before does not come back");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"span\": \"s\", \"do\": [{\"return\": null}]}, {\"gc\": true}"),
        "f.json:2:51: {\"gc\": true} is never reached: the \"span\" before does not come back");
}

TEST_CASE(Statements, StillReached)
{
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"loop\": \"forever\", \"do\": [{\"break\": true}]}, {\"gc\": true}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"while\": true, \"do\": [{\"if\": \"rand(2)\", \"then\": [{\"break\": "
                        "true}]}]}, {\"gc\": true}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"while\": \"rand(2)\", \"do\": [{\"gosched\": true}]}, {\"gc\": true}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"select\": [{\"recv\": \"c\", \"do\": [{\"return\": null}]}, "
                        "{\"default\": []}]}, {\"gc\": true}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "", "{\"select\": [{\"recv\": \"c\"}]}, {\"gc\": true}"),
              "");
    CHECK_STR(
        main_says("\"c\": \"chan\"", "",
                  "{\"random\": [{\"do\": [{\"return\": null}]}, {\"do\": []}]}, {\"gc\": true}"),
        "");
}

TEST_CASE(Functions, NobodyCalls)
{
    CHECK_STR(
        main_says("", "\"f\": []", ""),
        "f.json:4:11: nothing that main comes to starts or calls \"f\"; {\"go\": \"f\"} does");
    CHECK_STR(
        main_says("", "\"f\": [{\"call\": \"f\"}]", ""),
        "f.json:4:11: nothing that main comes to starts or calls \"f\"; {\"go\": \"f\"} does");
    CHECK_STR(
        main_says("", "\"f\": [{\"go\": \"g\"}], \"g\": [{\"go\": [{\"call\": \"f\"}]}]", ""),
        "f.json:4:11: nothing that main comes to starts or calls \"f\"; {\"go\": \"f\"} does");
    CHECK_STR(
        main_says("", "\"f\": [{\"go\": \"g\"}], \"g\": []", "{\"go\": [{\"defer\": \"f\"}]}"), "");
    CHECK_STR(main_says("", "\"f\": []", "{\"after_func\": \"f\", \"after\": \"1s\"}"), "");
    CHECK_STR(
        main_says("", "\"f\": {\"params\": [\"a\"], \"do\": []}", "{\"cgo_callback\": \"f\"}"), "");
    CHECK_STR(main_says("", "\"f\": [{\"yield\": 1}]", "{\"pull\": \"it\", \"from\": \"f\"}"), "");
}

TEST_CASE(Kinds, ReceiveOnly)
{
    CHECK_STR(main_says("", "", "{\"timer\": \"t\", \"after\": \"1s\"}, {\"send\": \"t.C\"}"),
              "f.json:2:50: \"t.C\" is receive-only: nobody can send on it or close it; a channel "
              "for that comes from {\"make\": ..., \"as\": \"chan\"}");
    CHECK_STR(main_says("", "", "{\"context\": \"c\"}, {\"close\": \"c.Done\"}"),
              "f.json:2:38: \"c.Done\" is receive-only: nobody can send on it or close it; a "
              "channel for that comes from {\"make\": ..., \"as\": \"chan\"}");
    CHECK_STR(main_says("", "",
                        "{\"timer\": \"t\", \"after\": \"1s\"}, {\"select\": [{\"send\": \"t.C\", "
                        "\"value\": 1}]}"),
              "f.json:2:62: \"t.C\" is receive-only: nobody can send on it or close it; a channel "
              "for that comes from {\"make\": ..., \"as\": \"chan\"}");
    CHECK_STR(
        main_says("", "", "{\"after\": \"1ms\", \"into\": \"t\"}, {\"send\": \"t\", \"value\": 1}"),
        "f.json:2:50: \"t\" is receive-only: nobody can send on it or close it; a channel for that "
        "comes from {\"make\": ..., \"as\": \"chan\"}");
    CHECK_STR(main_says("", "",
                        "{\"timer\": \"t\", \"after\": \"1s\"}, {\"set\": \"x\", \"value\": "
                        "\"t.C\"}, {\"set\": \"y\", \"value\": \"x\"}, {\"close\": \"y\"}"),
              "f.json:2:109: \"y\" is receive-only: nobody can send on it or close it; a channel "
              "for that comes from {\"make\": ..., \"as\": \"chan\"}");
    CHECK_STR(main_says("", "",
                        "{\"timer\": \"t\", \"after\": \"1s\"}, {\"go\": [{\"set\": \"x\", "
                        "\"value\": \"t.C\"}, {\"go\": [{\"send\": \"x\"}]}]}"),
              "f.json:2:96: \"x\" is receive-only: nobody can send on it or close it; a channel "
              "for that comes from {\"make\": ..., \"as\": \"chan\"}");
    CHECK_STR(main_says("", "\"f\": {\"params\": [\"q\"], \"do\": [{\"close\": \"q\"}]}",
                        "{\"timer\": \"t\", \"after\": \"1s\"}, {\"go\": \"f\", \"args\": "
                        "[\"t.C\"]}, {\"call\": \"f\", \"args\": [\"t.C\"]}"),
              "f.json:4:51: \"q\" is receive-only: nobody can send on it or close it; a channel "
              "for that comes from {\"make\": ..., \"as\": \"chan\"}");
    CHECK_STR(main_says("\"c\": \"chan\"",
                        "\"f\": {\"params\": [\"q\"], \"do\": [{\"close\": \"q\"}]}",
                        "{\"timer\": \"t\", \"after\": \"1s\"}, {\"go\": \"f\", \"args\": "
                        "[\"t.C\"]}, {\"call\": \"f\", \"args\": [\"c\"]}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"timer\": \"t\", \"after\": \"1s\"}, {\"set\": \"x\", \"value\": "
                        "\"t.C\"}, {\"set\": \"x\", \"value\": \"c\"}, {\"send\": \"x\"}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"timer\": \"t\", \"after\": \"1s\"}, {\"send\": \"c\", \"value\": "
                        "\"t.C\"}, {\"recv\": \"c\", \"into\": \"x\"}, {\"send\": \"x\"}"),
              "");
}

TEST_CASE(Kinds, OfValues)
{
    CHECK_STR(main_says("", "", "{\"set\": \"x\", \"value\": 5}, {\"send\": \"x\"}"),
              "f.json:2:45: want a chan, got a number: \"x\"; {\"make\": ..., \"as\": \"chan\"} "
              "makes one");
    CHECK_STR(main_says("", "", "{\"set\": \"x\", \"value\": \"now()\"}, {\"recv\": \"x\"}"),
              "f.json:2:51: want a chan, got a number: \"x\"; {\"make\": ..., \"as\": \"chan\"} "
              "makes one");
    CHECK_STR(main_says("", "", "{\"loop\": 2, \"index\": \"i\", \"do\": [{\"lock\": \"i\"}]}"),
              "f.json:2:52: want a mutex, got a number: \"i\"; {\"make\": ..., \"as\": \"mutex\"} "
              "makes one");
    CHECK_STR(main_says("\"m\": \"mutex\"",
                        "\"f\": {\"params\": [\"q\"], \"do\": [{\"send\": \"q\"}]}",
                        "{\"go\": \"f\", \"args\": [\"m\"]}"),
              "f.json:4:50: want a chan, got a mutex: \"q\"; {\"make\": ..., \"as\": \"chan\"} "
              "makes one");
    CHECK_STR(main_says("", "\"f\": {\"params\": [\"q\"], \"do\": [{\"wait\": \"q\"}]}",
                        "{\"after_func\": \"f\", \"after\": \"1s\", \"arg\": 7}"),
              "f.json:4:50: want a waitgroup, got a number: \"q\"; {\"make\": ..., \"as\": "
              "\"waitgroup\"} makes one");
    CHECK_STR(main_says("", "", "{\"timer\": \"t\", \"after\": \"1s\"}, {\"send\": \"t\"}"),
              "f.json:2:50: want a chan, got a timer: \"t\"; {\"make\": ..., \"as\": \"chan\"} "
              "makes one");
    CHECK_STR(main_says("", "", "{\"make\": \"c\", \"as\": \"chan\"}, {\"stop\": \"c\"}"),
              "f.json:2:48: want a timer, got a chan: \"c\"");
    CHECK_STR(main_says("\"c\": \"chan\"", "", "{\"context\": \"x\", \"parent\": \"c\"}"),
              "f.json:2:37: want a context, got a chan: \"c\"");
}

TEST_CASE(Kinds, OneOfTwo)
{
    CHECK_STR(
        main_says("\"m\": \"mutex\", \"rw\": \"rwmutex\"",
                  "\"f\": {\"params\": [\"l\"], \"do\": [{\"lock\": \"l\"}]}",
                  "{\"call\": \"f\", \"args\": [\"m\"]}, {\"call\": \"f\", \"args\": [\"rw\"]}"),
        "f.json:4:50: may be a mutex or a rwmutex");
}

TEST_CASE(Kinds, OfOperands)
{
    CHECK_STR(main_says("\"m\": \"mutex\"", "", "{\"if\": \"m + 1\", \"then\": []}"),
              "f.json:2:17: want a number, got a mutex: \"m + 1\"");
    CHECK_STR(main_says("\"m\": \"mutex\"", "", "{\"while\": \"m\", \"do\": []}"),
              "f.json:2:20: want a number, got a mutex: \"m\"");
    CHECK_STR(main_says("\"m\": \"mutex\"", "", "{\"assert\": \"1 && m\"}"),
              "f.json:2:21: want a number, got a mutex: \"1 && m\"");
    CHECK_STR(main_says("\"m\": \"mutex\"", "", "{\"sleep\": \"m\"}"),
              "f.json:2:20: want a number, got a mutex: \"m\"");
    CHECK_STR(main_says("\"m\": \"mutex\"", "", "{\"set\": \"x\", \"value\": \"len(m)\"}"),
              "f.json:2:32: want a channel at character 6 of the expression \"len(m)\"");
    CHECK_STR(main_says("", "", "{\"loop\": -5, \"do\": []}"),
              "f.json:2:19: want a number of times from 0 on, got -5");
    CHECK_STR(main_says("", "", "{\"go\": [], \"count\": -1}"),
              "f.json:2:30: want a number of times from 0 on, got -1");
    CHECK_STR(main_says("", "", "{\"print\": \"%s\", \"args\": [\"7\"]}"),
              "f.json:2:35: want a text of recover, got a number: \"7\"");
    CHECK_STR(main_says("", "", "{\"print\": \"%% %d %s\", \"args\": [1, 7]}"),
              "f.json:2:44: want a text of recover, got a number: 7");
    CHECK_STR(main_says("", "",
                        "{\"recover\": \"k\", \"value\": \"v\"}, {\"print\": \"%s %d\", \"args\": "
                        "[\"v\", \"k\"]}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"set\": \"x\", \"value\": \"nil\"}, {\"go\": [{\"recv\": \"x\"}]}, "
                        "{\"assert\": \"x != c\"}"),
              "");
    CHECK_STR(main_says("\"v\": \"var\", \"c\": \"chan\"", "",
                        "{\"store\": \"v\", \"value\": \"c\"}, {\"load\": \"v\", \"into\": \"x\"}, "
                        "{\"send\": \"x\"}"),
              "");
    CHECK_STR(main_says("\"c\": \"chan\"", "",
                        "{\"set\": \"x\", \"value\": 0}, {\"if\": \"x == 0\", \"then\": [{\"set\": "
                        "\"x\", \"value\": \"c\"}]}, {\"send\": \"x\"}"),
              "");
}

TEST_CASE(Statements, Select)
{
    CHECK_STR(
        main_says("\"c\": \"chan\"", "", "{\"select\": [{\"recv\": \"c\", \"send\": \"c\"}]}"),
        "f.json:2:22: want a case with one of \"recv\", \"send\", \"default\", got {\"recv\": "
        "\"c\", \"send\": \"c\"}");
    CHECK_STR(main_says("", "", "{\"select\": [{\"default\": []}, {\"default\": []}]}"),
              "f.json:2:39: a second default");
    CHECK_STR(main_says("", "", "{\"select\": [{\"default\": [], \"do\": []}]}"),
              "f.json:2:22: a default is written {\"default\": [...]}");
}

TEST_CASE(Expressions, Mistakes)
{
    CHECK_STR(main_says("", "", "{\"set\": \"x\", \"value\": \"1 +\"}"),
              "f.json:2:32: want a value at character 4 of the expression \"1 +\"");
    CHECK_STR(main_says("", "", "{\"set\": \"x\", \"value\": \"(1\"}"),
              "f.json:2:32: want ) at character 3 of the expression \"(1\"");
    CHECK_STR(main_says("", "", "{\"set\": \"x\", \"value\": \"1 2\"}"),
              "f.json:2:32: unexpected text at character 3 of the expression \"1 2\"");
    CHECK_HAS(main_says("", "", "{\"set\": \"x\", \"value\": \"foo(1)\"}"), "unknown function");
    CHECK_HAS(main_says("", "", "{\"set\": \"x\", \"value\": \"12345678901234567890\"}"),
              "want a whole number, or a duration (ns, us, ms, s, min, h)");
    CHECK_HAS(
        main_says("", "",
                  "{\"timer\": \"t\", \"after\": \"1s\"}, {\"set\": \"x\", \"value\": \"t.D\"}"),
        "want .C, .Done or .Err");
}

TEST_CASE(Expressions, Depth)
{
    char body[3000] = "{\"set\": \"x\", \"value\": \"";
    size_t n = strlen(body);
    memset(body + n, '(', 2000);
    strcpy(body + n + 2000, "\"}");
    CHECK_HAS(main_says("", "", body), "nested too deep");
    memset(body + n, '-', 2000);
    CHECK_HAS(main_says("", "", body), "nested too deep");
    for (int i = 0; i < 1000; i++)
        memcpy(body + n + 2 * i, "1+", 2);
    body[n + 2000] = '1';
    strcpy(body + n + 2001, "\"}");
    CHECK_HAS(main_says("", "", body), "too many names and intermediate values");
}

TEST_CASE(Limits, OfTheLanguage)
{
    char *body = malloc(1 << 20), *p = body;
    for (int i = 0; i < 40; i++)
        p += sprintf(p, "{\"while\": 1, \"do\": [");
    for (int i = 0; i < 40; i++)
        p += sprintf(p, "]}");
    CHECK_HAS(main_says("", "", body), "loops nested more than 32 deep");
    free(body);
}

TEST_CASE(Expect, Mistakes)
{
    const char *head = "{\"name\": \"n\", \"why\": \"w\", \"main\": [],\n\"expect\": ";
    char text[400];
    static const char *const cases[][2] = {
        {"{\"end\": \"finish\"}}",
         "f.json:2:19: unknown end \"finish\"; did you mean \"finishes\""},
        {"{\"counters\": {\"stael\": \"> 1\"}}}", "f.json:2:25: unknown key \"stael\""},
        {"{\"counters\": {\"steals_won\": \"1\"}}}",
         "f.json:2:39: want a condition such as \">= 5\", got \"1\""},
        {"{\"spans\": {\"request\": {}}}}",
         "f.json:2:22: no span of the program is called \"request\""},
        {"{\"makespan\": \"< 5\"}}",
         "f.json:2:24: want a condition with a unit such as \"< 2ms\", got \"< 5\""},
        {"{\"makespan\": \"< soon\"}}",
         "f.json:2:24: want a condition with a unit such as \"< 2ms\", got \"< soon\""},
        {"{\"runq_wait\": {\"p99\": \"< 2\"}}}",
         "f.json:2:33: want a condition with a unit such as \"< 2ms\", got \"< 2\""},
        {"[{\"profiles\": [\"go1.27\", \"go1.19\"]}]}",
         "f.json:2:36: the file is not for \"go1.19\"; name it in \"profiles\""},
        {"{\"profiles\": \"go1.19\"}}",
         "f.json:2:24: the file is not for \"go1.19\"; name it in \"profiles\""},
        {"{\"blocked\": [{\"group\": \"mian\"}]}}",
         "f.json:2:34: no goroutine of the program is called \"mian\"; did you mean \"main\"?"},
        {"{\"blocked\": [{\"group\": \"main\", \"reason\": \"chan recieve\"}]}}",
         "f.json:2:52: Go has no wait reason \"chan recieve\"; did you mean \"chan receive\"?"},
        {"[{\"profiles\": [\"go2\"]}]}",
         "f.json:2:26: no profile \"go2\"; they are go1.13 to go1.27 and latest"},
        {"{\"blocked\": [{}]}}", "f.json:2:24: \"group\" is missing here"},
        {"{\"order\": \"a\"}}", "f.json:2:21: want an array [...], got \"a\""},
        {"{\"order\": [\"a\", 1]}}", "f.json:2:27: want a string, got 1"},
        {"{\"ps\": {\"user\": \"< 5\"}}}",
         "f.json:2:27: want a condition in percent such as \"< 10%\", got \"< 5\""},
        {"{\"ps\": {\"usr\": \"< 5%\"}}}",
         "f.json:2:19: unknown key \"usr\"; did you mean \"user\"?"},
        {"{\"runq_wait\": {\"p98\": \"< 5ms\"}}}",
         "f.json:2:26: unknown key \"p98\"; did you mean \"p90\"?"},
        {"{\"throttled\": \"< 5%\"}}",
         "f.json:2:25: want a condition with a unit such as \"< 2ms\", got \"< 5%\""},
        {"{\"nr_throttled\": \"5\"}}", "f.json:2:28: want a condition such as \">= 5\", got \"5\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s%s", head, cases[i][0]);
        says(text, cases[i][1]);
    }
}

TEST_CASE(Expect, NamesWithASuggestion)
{
    says("{\"name\": \"n\", \"why\": \"w\", \"main\": [{\"span\": \"request\", \"do\": []}],\n"
         "\"expect\": {\"spans\": {\"reqest\": {}}}}",
         "f.json:2:22: no span of the program is called \"reqest\"; did you mean \"request\"?");
    says("{\"name\": \"n\", \"why\": \"w\", \"main\": [{\"go\": [], \"group\": \"pool\"}],\n"
         "\"expect\": {\"blocked\": [{\"group\": \"pol\"}]}}",
         "f.json:2:34: no goroutine of the program is called \"pol\"; did you mean \"pool\"?");
}

TEST_CASE(Json, AValueIsQuotedAsItStands)
{
    says("{\"name\": {\"a\": [1, \"}\"]}}", "f.json:1:10: want a string, got {\"a\": [1, \"}\"]}");
    says("{\"name\": [1,\n2]}", "f.json:1:10: want a string, got [1,...");
    says("{\"name\": [\""
         "0123456789012345678901234567890123456789012345678901234567890123456789"
         "\"]}",
         "f.json:1:10: want a string, got "
         "[\"0123456789012345678901234567890123456789012345678901234567...");
}

TEST_CASE(File, NotThere)
{
    struct failure f = {0};
    CHECK(scenario_load_file(&f, "/nowhere/x.json") == NULL);
    CHECK_STR(f.text, "/nowhere/x.json: No such file or directory");
    CHECK_EQ(f.code, E_IO);
    f = (struct failure){0};
    CHECK(scenario_load_file(&f, "/dev/zero") == NULL);
    CHECK_HAS(f.text, "bytes; at most 67108864 are read");
    f = (struct failure){0};
    CHECK(scenario_load_file(&f, "/") == NULL);
    CHECK_HAS(f.text, "/: ");
}
