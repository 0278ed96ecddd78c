/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: a goroutine that nobody can ever wake is a verdict of its own, and one that somebody may
 * still wake is none, on every release. Method: programs of a few lines whose main ends with
 * somebody waiting; run in virtual time, and what the run says of itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "run/judge.h"
#include "run/run.h"

static char complaint[600];

static void complain(void *arg, const char *text)
{
    (void)arg;
    snprintf(complaint, sizeof complaint, "%s", text);
}

static struct scenario *load(const char *program)
{
    struct failure f = {0};
    char text[4000];
    snprintf(text, sizeof text, "{\"name\": \"leak\", \"why\": \"test\", \"procs\": 2, %s}",
             program);
    for (char *p = text; *p != 0; p++)
        if (*p == '\'')
            *p = '"';
    struct scenario *s = scenario_load(&f, "leak.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    return s;
}

/* The verdict of this release; its complaint is kept. */
static const char *verdict_of(const struct scenario *s, int release)
{
    static struct run r;
    static char word[40];
    struct failure f = {0};
    struct run_opts o;
    CHECK(run_opts_of(&f, s, release, &o));
    o.until_ns = 100000000;
    if (!run_all(&f, &r, &o))
        FAIL_CASE("%s", f.text);
    complaint[0] = 0;
    (void)scenario_check(s, release, &r.result, complain, NULL);
    snprintf(word, sizeof word, "%s", run_verdict(&r.result));
    run_free(&r);
    return word;
}

/* On all releases the same. */
static void is(const char *program, const char *want)
{
    struct scenario *s = load(program);
    for (int release = PROFILE_FIRST; release <= PROFILE_LATEST; release++)
        if (strcmp(verdict_of(s, release), want) != 0)
            FAIL_CASE("go1.%d: %s, want %s: %s", release, verdict_of(s, release), want, program);
    scenario_free(s);
}

TEST_CASE(LeakVerdict, NobodyReceives)
{
    is("'objects': {'c': 'chan'}, 'main': [{'go': [{'send': 'c', 'value': 1}]},"
       " {'sleep': '1ms'}]",
       "leak");
    is("'objects': {'c': {'chan': 1}}, 'main': [{'go': [{'send': 'c', 'value': 1}]},"
       " {'sleep': '1ms'}]",
       "finished");
}

TEST_CASE(LeakVerdict, SaysWhoAndWhere)
{
    struct scenario *s = load("'objects': {'c': 'chan'}, 'funcs': {'w': [{'recv': 'c'}]},\n"
                              "'main': [{'go': 'w', 'count': 3}, {'sleep': '1ms'}]");
    CHECK_STR(verdict_of(s, PROFILE_LATEST), "leak");
    CHECK_STR(complaint, "leaked: nobody can ever wake 3 of \"w\" [chan receive] at line 1");
    scenario_free(s);
}

/* The partner sleeps, or computes, or is in a system call: it will come. */
TEST_CASE(LeakVerdict, APartnerThatOnlySleepsWillCome)
{
    is("'objects': {'c': 'chan'}, 'main': [{'go': [{'loop': 'forever', 'do': [{'recv': 'c'}]}]},"
       " {'go': [{'loop': 'forever', 'do': [{'sleep': '1us'}, {'send': 'c', 'value': 1}]}]},"
       " {'sleep': '1ms'}]",
       "finished");
    is("'objects': {'c': 'chan'}, 'main': [{'go': [{'recv': 'c'}]},"
       " {'go': [{'syscall': '5ms'}, {'close': 'c'}]}, {'sleep': '1ms'}]",
       "finished");
    is("'objects': {'m': 'mutex'}, 'main': [{'lock': 'm'}, {'go': [{'lock': 'm'}]},"
       " {'go': [{'cpu': '5ms'}, {'unlock': 'm'}]}, {'sleep': '1ms'}]",
       "finished");
}

/* What woke it once from outside does not wake it for ever. */
TEST_CASE(LeakVerdict, WhoWaitedForADescriptorMayLeakAfterwards)
{
    is("'objects': {'c': 'chan', 'f': {'fd': {'times': ['1ms']}}}, 'main': ["
       " {'go': [{'read': 'f', 'into': 'x'}, {'recv': 'c'}]}, {'sleep': '5ms'}]",
       "leak");
}

TEST_CASE(LeakVerdict, EachWaitsForTheOther)
{
    is("'objects': {'a': 'chan', 'b': 'chan'}, 'main': [{'go': [{'recv': 'a'}, {'send': 'b'}]},"
       " {'go': [{'recv': 'b'}, {'send': 'a'}]}, {'sleep': '1ms'}]",
       "leak");
    is("'objects': {'a': 'mutex', 'b': 'mutex'}, 'main': ["
       " {'go': [{'lock': 'a'}, {'gosched': true}, {'sleep': '2ms'}, {'lock': 'b'}]},"
       " {'go': [{'lock': 'b'}, {'sleep': '2ms'}, {'lock': 'a'}]}, {'sleep': '9ms'}]",
       "leak");
}

/* Each kind of wait, with nobody left who could end it. */
TEST_CASE(LeakVerdict, EveryObjectThatIsWaitedFor)
{
    is("'objects': {'wg': 'waitgroup'}, 'main': [{'add': 'wg'}, {'go': [{'wait': 'wg'}]},"
       " {'sleep': '1ms'}]",
       "leak");
    is("'objects': {'m': 'mutex', 'cv': {'cond': 'm'}},"
       "'main': [{'go': [{'lock': 'm'}, {'wait': 'cv'}]}, {'sleep': '1ms'}]",
       "leak");
    is("'objects': {'w': 'rwmutex'}, 'main': [{'rlock': 'w'}, {'go': [{'lock': 'w'}]},"
       " {'sleep': '1ms'}]",
       "leak");
    is("'objects': {'s': {'semaphore': 1}}, 'main': [{'acquire': 's'}, {'go': [{'acquire': 's'}]},"
       " {'sleep': '1ms'}]",
       "leak");
    is("'main': [{'go': [{'recv': 'nil'}]}, {'sleep': '1ms'}]", "leak");
    is("'objects': {'c': 'chan', 'd': 'chan'},"
       "'main': [{'go': [{'select': [{'recv': 'c'}, {'send': 'd', 'value': 1}]}]},"
       " {'sleep': '1ms'}]",
       "leak");
}

TEST_CASE(LeakVerdict, WhatATimerWillDo)
{
    is("'main': [{'go': [{'after': '1h', 'into': 't'}, {'recv': 't'}]}, {'sleep': '1ms'}]",
       "finished");
    is("'main': [{'go': [{'timer': 't', 'after': '1h'}, {'stop': 't'}, {'recv': 't.C'}]},"
       " {'sleep': '1ms'}]",
       "leak");
    is("'main': [{'go': [{'ticker': 't', 'every': '1h'}, {'recv': 't.C'}]}, {'sleep': '1ms'}]",
       "finished");
    is("'objects': {'c': 'chan'}, 'funcs': {'f': [{'close': 'c'}]},"
       "'main': [{'go': [{'recv': 'c'}]}, {'after_func': 'f', 'after': '1h', 'timer': 't'},"
       " {'sleep': '1ms'}]",
       "finished");
    is("'objects': {'c': 'chan'}, 'funcs': {'f': [{'close': 'c'}]},"
       "'main': [{'go': [{'recv': 'c'}]}, {'after_func': 'f', 'after': '1h', 'timer': 't'},"
       " {'stop': 't'}, {'sleep': '1ms'}]",
       "leak");
}

TEST_CASE(LeakVerdict, WhatAContextWillDo)
{
    is("'main': [{'context': 'ctx'}, {'go': [{'recv': 'ctx.Done'}]}, {'sleep': '1ms'}]", "leak");
    is("'main': [{'context': 'ctx', 'timeout': '1h'}, {'go': [{'recv': 'ctx.Done'}]},"
       " {'sleep': '1ms'}]",
       "finished");
    is("'main': [{'context': 'p', 'timeout': '1h'}, {'context': 'ctx', 'parent': 'p'},"
       " {'go': [{'recv': 'ctx.Done'}]}, {'sleep': '1ms'}]",
       "finished");
    is("'main': [{'context': 'p', 'timeout': '1h'}, {'context': 'ctx', 'parent': 'p'},"
       " {'go': [{'recv': 'ctx.Done'}]}, {'sleep': '1ms'}, {'cancel': 'p'}]",
       "finished");
    is("'main': [{'context': 'p'}, {'context': 'ctx', 'parent': 'p'},"
       " {'go': [{'recv': 'ctx.Done'}]}, {'go': [{'sleep': '1h'}, {'cancel': 'p'}]},"
       " {'sleep': '1ms'}]",
       "finished");
}

/* main waits for what cannot come, and somebody goes on: no deadlock for Go. */
TEST_CASE(LeakVerdict, MainIsStuckAndOthersGoOn)
{
    is("'objects': {'c': 'chan'},"
       "'main': [{'go': [{'loop': 'forever', 'do': [{'sleep': '1ms'}]}]}, {'recv': 'c'}]",
       "partial deadlock");
    is("'main': [{'go': [{'loop': 'forever', 'do': [{'sleep': '1ms'}]}]}, {'recv': 'nil'}]",
       "time limit");
}

TEST_CASE(LeakVerdict, AnExitLeavesNobodyBehind)
{
    is("'objects': {'c': 'chan'}, 'main': [{'go': [{'recv': 'c'}]}, {'sleep': '1ms'}, {'exit': 0}]",
       "finished");
}

/* What the file says about who is blocked stays its own business. */
TEST_CASE(LeakVerdict, AFileMayExpectIt)
{
    struct scenario *s = load(
        "'objects': {'c': 'chan'}, 'main': [{'go': [{'recv': 'c'}], 'group': 'w'},"
        " {'sleep': '1ms'}], 'expect': {'blocked': [{'group': 'w'}]}");
    CHECK_STR(verdict_of(s, PROFILE_LATEST), "leak");
    CHECK_STR(complaint, "");
    scenario_free(s);
}
