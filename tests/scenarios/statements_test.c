/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every statement compiles to what it says.
 * Method: programs whose output follows from the statements alone; a list of all makes sure that
 * none is left out. */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "runner.h"
#include "scenarios/statements.h"

static const char *words[STATEMENT_WORDS_MAX];
static bool seen[STATEMENT_WORDS_MAX];

/* Which statements does this text use? */
static void note_statements(const char *text)
{
    char word[80];
    for (int i = 0; words[i] != NULL; i++) {
        snprintf(word, sizeof word, "{\"%s\":", words[i]);
        seen[i] = seen[i] || strstr(text, word) != NULL;
    }
}

static void outputs(const char *objects, const char *funcs, const char *body, const char *want)
{
    static char text[1 << 14];
    static struct verdict v;
    char out[4096];
    struct failure f = {0};
    snprintf(text, sizeof text,
             "{\"name\": \"n\", \"why\": \"w\", \"profiles\": [\"go1.27\"], \"procs\": 1,\n"
             "\"objects\": {%s},\n\"funcs\": {%s},\n\"main\": [%s]}",
             objects, funcs, body);
    note_statements(text);
    struct scenario *s = scenario_load(&f, "t.json", text, strlen(text));
    CHECK_STR(f.text, "");
    CHECK(s != NULL);
    run_scenario(s, 0, &v, out, sizeof out);
    scenario_free(s);
    CHECK_STR(v.text, "");
    CHECK_STR(out, want);
}

static void flow(void)
{
    outputs(
        "", "",
        "{\"loop\": 3, \"index\": \"i\", \"do\": [{\"loop\": 2, \"index\": \"i\", \"do\": ["
        "{\"print\": \"%d\", \"args\": [\"i\"], \"end\": \" \"}]},"
        "{\"if\": \"i == 1\", \"then\": [{\"break\": true}], \"else\": [{\"continue\": true}]}]},"
        "{\"set\": \"x\", \"value\": 3},"
        "{\"while\": \"x > 0\", \"do\": [{\"set\": \"x\", \"value\": \"x - 1\"}]},"
        "{\"print\": \"x=%d %t %%\", \"args\": [\"x\", \"x == 0\"]}",
        "0 1 0 1 x=0 true %\n");
    outputs(
        "", "\"twice\": {\"params\": [\"n\"], \"do\": [{\"return\": \"n * 2\"}]}",
        "{\"call\": \"twice\", \"args\": [21], \"into\": \"r\"}, {\"print\": \"%d\", \"args\": "
        "[\"r\"]},"
        "{\"random\": [{\"weight\": 0, \"do\": [{\"print\": \"never\"}]}, {\"do\": [{\"print\": "
        "\"always\"}]}]},"
        "{\"assert\": \"r == 42\", \"text\": \"doubled\"}, {\"mark\": \"here\", \"value\": \"r\"}",
        "42\nalways\n");
    outputs("",
            "\"bad\": [{\"defer\": [{\"recover\": \"k\", \"value\": \"v\"}, {\"print\": \"%d %s\", "
            "\"args\": [\"k\", \"v\"]}]}, {\"panic\": \"oh\"}]",
            "{\"call\": \"bad\"}, {\"print\": \"on\"}, {\"exit\": 0}", "1 oh\non\n");
    outputs("\"wg\": \"waitgroup\"", "",
            "{\"add\": \"wg\"}, {\"go\": [{\"defer\": [{\"done\": \"wg\"}]}, {\"goexit\": true}]}, "
            "{\"wait\": \"wg\"}, {\"print\": \"%d\", \"args\": [\"numgoroutine()\"]}",
            "1\n");
}

static void expressions(void)
{
    outputs("\"c\": {\"chan\": 3}", "",
            "{\"send\": \"c\", \"value\": 1}, {\"print\": \"%d %d %d %d %d %d %d %t %t %t %t\", "
            "\"args\": [\"1 + 2 * 3\", \"(1 + 2) * 3\", \"7 / 2\", \"-7 % 3\", \"min(2, 1)\", "
            "\"max(2, 1) + len(c)\", \"cap(c)\", \"1 < 2 && 2 <= 2\", \"!(1 >= 2) || false\", "
            "\"(3 > 2) == true\", \"2 != 2\"]}",
            "7 9 3 -1 1 3 3 true true true false\n");
    outputs(
        "", "",
        "{\"set\": \"a\", \"value\": \"rand(1) + 5us\"}, {\"set\": \"b\", \"value\": \"now()\"}, "
        "{\"assert\": \"goid() > 0 && b > 0\"}, {\"print\": \"%d\", \"args\": [\"a\"]}",
        "5000\n");
}

static void channels(void)
{
    outputs("\"c\": {\"chan\": 4}, \"d\": \"chan\"", "",
            "{\"send\": \"c\", \"value\": 1}, {\"send\": \"c\", \"value\": \"1 + 1\"}, {\"close\": "
            "\"c\"},"
            "{\"range\": \"c\", \"into\": \"x\", \"do\": [{\"print\": \"%d\", \"args\": [\"x\"]}]},"
            "{\"recv\": \"c\", \"into\": \"x\", \"ok\": \"ok\"}, {\"print\": \"%d %t\", \"args\": "
            "[\"x\", "
            "\"ok\"]},"
            "{\"select\": [{\"recv\": \"d\", \"do\": []}, {\"default\": [{\"print\": \"none\"}]}]},"
            "{\"select\": [{\"recv\": \"c\", \"into\": \"x\", \"ok\": \"ok\", \"do\": [{\"print\": "
            "\"closed %t\", \"args\": [\"ok\"]}]}, {\"send\": \"d\", \"value\": 5}]}",
            "1\n2\n0 false\nnone\nclosed false\n");
    outputs(
        "", "",
        "{\"make\": \"cc\", \"as\": {\"chan\": 1}}, {\"make\": \"c\", \"as\": {\"chan\": 1}},"
        "{\"send\": \"cc\", \"value\": \"c\"}, {\"recv\": \"cc\", \"into\": \"d\"}, {\"send\": "
        "\"d\", "
        "\"value\": 9}, {\"recv\": \"c\", \"into\": \"x\"}, {\"print\": \"%d\", \"args\": [\"x\"]}",
        "9\n");
}

static void locks(void)
{
    outputs("\"m\": \"mutex\", \"r\": \"rwmutex\", \"s\": {\"semaphore\": 2}, \"o\": \"once\"", "",
            "{\"lock\": \"m\"}, {\"trylock\": \"m\", \"into\": \"a\"}, {\"unlock\": \"m\"},"
            "{\"set\": \"b\", \"value\": 1}, {\"with_lock\": \"r\", \"do\": [{\"tryrlock\": \"r\", "
            "\"into\": \"b\"}]},"
            "{\"rlock\": \"r\"}, {\"tryrlock\": \"r\", \"into\": \"c\"}, {\"runlock\": \"r\"}, "
            "{\"runlock\": \"r\"},"
            "{\"acquire\": \"s\"}, {\"tryacquire\": \"s\", \"n\": 2, \"into\": \"d\"}, "
            "{\"release\": \"s\"},"
            "{\"loop\": 2, \"do\": [{\"once\": \"o\", \"do\": [{\"print\": \"once\"}]}]},"
            "{\"print\": \"%t %t %t %t\", \"args\": [\"a\", \"b\", \"c\", \"d\"]}",
            "once\nfalse false true false\n");
    outputs("\"m\": \"mutex\", \"c\": {\"cond\": \"m\"}, \"wg\": \"waitgroup\"",
            "\"waiter\": {\"params\": [\"i\"], \"do\": [{\"lock\": \"m\"}, {\"wait\": \"c\"}, "
            "{\"print\": "
            "\"%d\", \"args\": [\"i\"]}, {\"unlock\": \"m\"}, {\"done\": \"wg\"}]}",
            "{\"add\": \"wg\", \"n\": 3}, {\"go\": \"waiter\", \"count\": 3, \"index\": \"i\", "
            "\"args\": "
            "[\"i\"]}, {\"sleep\": \"1ms\"}, {\"signal\": \"c\"}, {\"sleep\": \"1ms\"}, "
            "{\"broadcast\": "
            "\"c\"}, {\"wait\": \"wg\"}",
            "2\n1\n0\n");
    outputs(
        "\"v\": {\"var\": 5}, \"p\": \"pool\"", "",
        "{\"load\": \"v\", \"into\": \"a\"}, {\"store\": \"v\", \"value\": \"a + 1\", \"atomic\": "
        "true},"
        "{\"atomic_add\": \"v\", \"value\": 2, \"into\": \"b\"}, {\"swap\": \"v\", \"value\": 1, "
        "\"into\": \"c\"}, {\"cas\": \"v\", \"old\": 1, \"new\": 7, \"into\": \"d\"}, {\"load\": "
        "\"v\", "
        "\"into\": \"e\", \"atomic\": true},"
        "{\"pool_get\": \"p\", \"into\": \"f\", \"ok\": \"g\"}, {\"pool_put\": \"p\", \"value\": "
        "3}, "
        "{\"pool_get\": \"p\", \"into\": \"f\", \"ok\": \"h\"},"
        "{\"print\": \"%d %d %d %t %d %t %t %d\", \"args\": [\"a\", \"b\", \"c\", \"d\", \"e\", "
        "\"g\", "
        "\"h\", \"f\"]}",
        "5 8 8 true 7 false true 3\n");
}

static void times(void)
{
    outputs("\"d\": {\"chan\": 1}",
            "\"f\": {\"params\": [\"x\"], \"do\": [{\"send\": \"d\", \"value\": \"x\"}]}",
            "{\"timer\": \"t\", \"after\": \"1ms\"}, {\"recv\": \"t.C\"}, {\"stop\": \"t\", "
            "\"into\": \"a\"},"
            "{\"reset\": \"t\", \"after\": \"1ms\", \"into\": \"b\"}, {\"recv\": \"t.C\"},"
            "{\"after\": \"1ms\", \"into\": \"c\"}, {\"recv\": \"c\"},"
            "{\"ticker\": \"k\", \"every\": \"1ms\"}, {\"recv\": \"k.C\"}, {\"stop\": \"k\"},"
            "{\"after_func\": \"f\", \"after\": \"1ms\", \"arg\": 8}, {\"recv\": \"d\", \"into\": "
            "\"x\"},"
            "{\"context\": \"p\"}, {\"context\": \"q\", \"parent\": \"p\", \"timeout\": \"1ms\"}, "
            "{\"recv\": \"q.Done\"}, {\"cancel\": \"p\"},"
            "{\"print\": \"%t %t %d %d %d %d\", \"args\": [\"a\", \"b\", \"x\", \"now() / 1ms\", "
            "\"p.Err\", "
            "\"q.Err\"]}",
            "false false 8 6 1 2\n");
    outputs(
        "\"wg\": \"waitgroup\"",
        "\"back\": {\"params\": [\"x\"], \"do\": [{\"print\": \"called %d\", "
        "\"args\": [\"x\"]}]}",
        "{\"lock_os_thread\": true}, {\"unlock_os_thread\": true}, {\"cpu\": \"5us\", \"kind\": "
        "\"nopreempt\"}, {\"syscall\": {\"uniform\": [\"1us\", \"2us\"]}, \"kind\": \"short\"}, "
        "{\"cgo\": "
        "\"1us\"}, {\"cgo_callback\": \"back\", \"arg\": 4, \"after\": \"1us\"},"
        "{\"alloc\": \"64KB\", \"live\": true}, {\"free\": 65536}, {\"gc\": true}, "
        "{\"trace_start\": true}, {\"read_mem_stats\": true}, {\"trace_stop\": true}, "
        "{\"leak_profile\": \"leaks\"}, {\"gosched\": "
        "true}, "
        "{\"gomaxprocs\": 2, \"into\": \"old\"}, {\"print\": \"%d\", \"args\": [\"old\"]}, "
        "{\"span\": \"s\", \"do\": [{\"sleep\": {\"exp\": \"1ms\", \"max\": \"2ms\"}}]}",
        "called 4\n1\n");
    outputs("", "", "{\"exec\": \"20us\"}, {\"print\": \"%t\", \"args\": [\"now() >= 20us\"]}",
            "true\n");
    outputs("\"ch\": {\"chan\": 2}",
            "\"tell\": {\"params\": [\"x\"], \"do\": [{\"send\": \"ch\", \"value\": \"x\"}]}",
            "{\"set\": \"n\", \"value\": 4}, {\"finalizer\": \"tell\", \"args\": [\"n\"]}, "
            "{\"set\": \"n\", \"value\": 5}, {\"gc\": true}, {\"recv\": \"ch\", \"into\": \"x\"}, "
            "{\"cleanup\": [{\"send\": \"ch\", \"value\": \"n\"}]}, {\"gc\": true}, "
            "{\"recv\": \"ch\", \"into\": \"y\"}, {\"print\": \"%d %d\", \"args\": [\"x\", \"y\"]}",
            "4 5\n");
    outputs(
        "\"c\": {\"fd\": {\"every\": \"1ms\", \"count\": 2}}", "",
        "{\"read\": \"c\", \"into\": \"n\", \"time\": \"t\"}, {\"poll\": \"c\", \"for\": "
        "\"read\"}, "
        "{\"read\": \"c\", \"into\": \"m\"}, {\"deadline\": \"c\", \"after\": \"1ms\", \"for\": "
        "\"read\"}, {\"read\": \"c\", \"into\": \"e\"}, {\"write\": \"c\", \"value\": 1, \"into\": "
        "\"w\"}, {\"close\": \"c\"}, {\"print\": \"%d %d %d\", \"args\": [\"m - n\", \"e\", "
        "\"t / 1ms\"]}",
        "1 -2 1\n");
}

static void coroutines(void)
{
    outputs(
        "",
        "\"gen\": {\"params\": [\"n\"], \"do\": [{\"loop\": \"n\", \"index\": \"i\", \"do\": "
        "[{\"yield\": \"i * i\", \"into\": \"more\"}, {\"if\": \"!more\", \"then\": [{\"return\": "
        "null}]}]}]}",
        "{\"pull\": \"it\", \"from\": \"gen\", \"args\": [5]}, {\"next\": \"it\", \"into\": \"x\", "
        "\"ok\": \"ok\"}, {\"loop\": 2, \"do\": [{\"next\": "
        "\"it\", "
        "\"into\": \"x\", \"ok\": \"ok\"}]}, {\"stop_pull\": \"it\"}, {\"print\": \"%d %t\", "
        "\"args\": "
        "[\"x\", \"ok\"]}",
        "4 true\n");
}

/* What a handle is of decides which Wait and which Lock it is. */
TEST_CASE(Handles, OfCondsAndRWMutexes)
{
    outputs("\"rw\": \"rwmutex\"",
            "\"cond_wait\": {\"params\": [\"c\"], \"do\": [{\"wait\": \"c\"}]}, \"w\": "
            "{\"params\": [\"l\", "
            "\"c\"], \"do\": [{\"lock\": \"l\"}, {\"broadcast\": \"c\"}, {\"print\": \"written\"}, "
            "{\"unlock\": \"l\"}]}",
            "{\"set\": \"ok\", \"value\": 1}, {\"make\": \"c\", \"as\": {\"cond\": "
            "\"rw.RLocker\"}}, {\"rlock\": \"rw\"}, {\"go\": "
            "[{\"sleep\": \"1ms\"}, {\"call\": \"w\", \"args\": [\"rw\", \"c\"]}]}, {\"call\": "
            "\"cond_wait\", \"args\": [\"c\"]}, {\"print\": \"read\"}, {\"runlock\": \"rw\"}, "
            "{\"set\": "
            "\"x\", \"value\": \"rw\"}, {\"with_lock\": \"x\", \"do\": [{\"trylock\": \"rw\", "
            "\"into\": "
            "\"ok\"}]}, {\"print\": \"%t\", \"args\": [\"ok\"]}",
            "written\nread\nfalse\n");
}

/* A body in place has what the names around it were, whatever happens to them. */
TEST_CASE(Timers, BodiesInPlace)
{
    outputs(
        "\"wg\": \"waitgroup\"",
        "\"two\": {\"params\": [\"a\", \"b\"], \"do\": [{\"print\": \"two %d %d\", \"args\": "
        "[\"a\", "
        "\"b\"]}, {\"done\": \"wg\"}]}",
        "{\"add\": \"wg\", \"n\": 2}, {\"set\": \"a\", \"value\": 1}, {\"set\": \"b\", \"value\": "
        "2}, "
        "{\"set\": \"c\", \"value\": 3}, {\"after_func\": [{\"print\": \"%d %d %d\", \"args\": "
        "[\"a\", "
        "\"b\", \"c\"]}, {\"done\": \"wg\"}], \"after\": \"1ms\"}, {\"set\": \"b\", \"value\": 7}, "
        "{\"after_func\": \"two\", \"args\": [\"a\", \"b\"], \"after\": \"2ms\"}, {\"wait\": "
        "\"wg\"}",
        "1 2 3\ntwo 1 7\n");
}

/* Nobody's name may get what nobody wants. */
TEST_CASE(Verbs, ResultsThatNobodyWants)
{
    outputs("\"p\": \"pool\"", "",
            "{\"set\": \"a\", \"value\": 7}, {\"after\": \"1ms\"}, {\"pool_put\": \"p\", "
            "\"value\": 3}, "
            "{\"pool_get\": \"p\"}, {\"pool_get\": \"p\"}, {\"print\": \"%d\", \"args\": [\"a\"]}",
            "7\n");
    outputs("", "", "{\"after\": \"1ms\"}, {\"print\": \"ok\"}", "ok\n");
}

TEST_CASE(Timers, TheirChannelHasALength)
{
    outputs("", "",
            "{\"timer\": \"t\", \"after\": \"1ms\"}, {\"sleep\": \"2ms\"}, {\"print\": \"%t %t\", "
            "\"args\": [\"len(t.C) <= 1\", \"cap(t.C) <= 1\"]}",
            "true true\n");
}

TEST_CASE(Objects, ArraysAndStructs)
{
    outputs(
        "\"v\": {\"array\": 3, \"of\": {\"var\": 5}}, \"s\": {\"array\": 2, \"of\": {\"struct\": "
        "{\"m\": \"mutex\", \"full\": {\"cond\": \"m\"}, \"q\": {\"array\": 2, \"of\": {\"chan\": "
        "1}}}}}",
        "",
        "{\"loop\": 3, \"index\": \"i\", \"do\": [{\"store\": \"v[i]\", \"value\": \"i * 10\"}]}, "
        "{\"load\": \"v[2]\", \"into\": \"a\"}, {\"set\": \"one\", \"value\": 1}, {\"load\": "
        "\"v[one]\", \"into\": \"b\"}, {\"print\": \"%d %d\", \"args\": [\"a\", \"b\"]}, "
        "{\"loop\": 2, \"index\": \"i\", \"do\": [{\"loop\": 2, \"index\": \"k\", \"do\": "
        "[{\"send\": "
        "\"s[i].q[k]\", \"value\": \"10 * i + k\"}]}]}, {\"recv\": \"s[1].q[0]\", \"into\": "
        "\"x\"}, "
        "{\"recv\": \"s[one].q[one]\", \"into\": \"y\"}, {\"recv\": \"s[0].q[1]\", \"into\": "
        "\"z\"}, {\"print\": \"%d %d %d %d\", \"args\": [\"x\", \"y\", \"z\", "
        "\"len(s[0].q[1])\"]}, "
        "{\"go\": [{\"with_lock\": \"s[one].m\", \"do\": [{\"wait\": \"s[one].full\"}]}, "
        "{\"print\": "
        "\"woken\"}]}, {\"sleep\": \"1ms\"}, {\"signal\": \"s[1].full\"}, {\"sleep\": \"1ms\"}",
        "20 10\n10 11 1 0\nwoken\n");
    outputs("\"v\": {\"array\": 3, \"of\": \"var\"}", "",
            "{\"defer\": [{\"recover\": \"k\", \"value\": \"what\"}, {\"print\": \"%s\", \"args\": "
            "[\"what\"]}]}, {\"set\": \"i\", \"value\": 3}, {\"load\": \"v[i]\"}",
            "runtime error: index out of range\n");
}

TEST_CASE(Verbs, EachDoesWhatItSays)
{
    CHECK_GT(statement_words(words, STATEMENT_WORDS_MAX), 80);
    flow();
    expressions();
    channels();
    locks();
    times();
    coroutines();
    for (int i = 0; words[i] != NULL; i++)
        if (!seen[i])
            FAIL_CASE("no test uses \"%s\"", words[i]);
}

TEST_CASE(Statements, WhatATryAnswersIsOneOrZero)
{
    outputs("\"rw\": \"rwmutex\"", "",
            "{\"trylock\": \"rw\", \"into\": \"a\"}, {\"trylock\": \"rw\", \"into\": \"b\"},"
            "{\"tryrlock\": \"rw\", \"into\": \"c\"}, {\"unlock\": \"rw\"},"
            "{\"tryrlock\": \"rw\", \"into\": \"d\"}, {\"trylock\": \"rw\", \"into\": \"e\"},"
            "{\"print\": \"%d %d %d %d %d\", \"args\": [\"a\", \"b\", \"c\", \"d\", \"e\"]}",
            "1 0 0 1 0\n");
}

TEST_CASE(Statements, ARecoverWithoutAPanicIsNothing)
{
    outputs("", "",
            "{\"defer\": [{\"recover\": \"k\", \"value\": \"v\"}, {\"print\": \"%d %d\", "
            "\"args\": [\"k\", \"v\"]}]}",
            "0 0\n");
}
