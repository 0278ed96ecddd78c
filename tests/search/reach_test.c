/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: whoever waits is leaked if nobody can come to what would wake him, and is not if somebody
 * can, whatever he waits on and however the other comes there; at the end of a run, and for a
 * collection of 1.26+ that looks. Method: each kind of wait with each way to its end, and the
 * answer that the way alone decides.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "run/judge.h"
#include "run/run.h"

struct kind {
    const char *name, *objects, *setup, *waits, *wakes;
};

static const struct kind kinds[] = {
    {"receive", "'c': 'chan'", "", "{'recv': 'c'}", "{'send': 'c', 'value': 1}"},
    {"send", "'c': 'chan'", "", "{'send': 'c', 'value': 1}", "{'recv': 'c'}"},
    {"full", "'c': {'chan': 1}", "{'send': 'c', 'value': 7},", "{'send': 'c', 'value': 1}",
     "{'recv': 'c'}"},
    {"range", "'c': 'chan'", "", "{'range': 'c', 'into': 'j', 'do': []}", "{'close': 'c'}"},
    {"select", "'c': 'chan', 'd': 'chan'", "", "{'select': [{'recv': 'c'}, {'recv': 'd'}]}",
     "{'send': 'd', 'value': 1}"},
    {"woken in a select", "'c': 'chan', 'd': 'chan'", "", "{'send': 'd', 'value': 1}",
     "{'select': [{'recv': 'c'}, {'recv': 'd'}]}"},
    {"mutex", "'m': 'mutex'", "{'lock': 'm'},", "{'lock': 'm'}", "{'unlock': 'm'}"},
    {"writer", "'w': 'rwmutex'", "{'rlock': 'w'},", "{'lock': 'w'}", "{'runlock': 'w'}"},
    {"reader", "'w': 'rwmutex'", "{'lock': 'w'},", "{'rlock': 'w'}", "{'unlock': 'w'}"},
    {"second writer", "'w': 'rwmutex'", "{'lock': 'w'},", "{'lock': 'w'}", "{'unlock': 'w'}"},
    {"wait group", "'g': 'waitgroup'", "{'add': 'g'},", "{'wait': 'g'}", "{'done': 'g'}"},
    {"cond", "'m': 'mutex', 'q': {'cond': 'm'}", "", "{'lock': 'm'}, {'wait': 'q'}",
     "{'signal': 'q'}"},
    {"cond's lock", "'m': 'mutex', 'q': {'cond': 'm'}", "{'lock': 'm'},", "{'lock': 'm'}",
     "{'wait': 'q'}"},
    {"semaphore", "'s': {'semaphore': 1}", "{'acquire': 's'},", "{'acquire': 's'}",
     "{'release': 's'}"},
};

/* @ is what wakes, h a function that does it. */
static const struct way {
    const char *name, *main, *h;
    int leaked;
} ways[] = {
    {"nobody", "", "", 1},
    {"who has gone by", "{'go': [{'if': '1 == 2', 'then': [@]}, {'sleep': '1h'}]},", "", 1},
    {"who waits too", "{'go': [{'recv': 'x'}, @]},", "", 2},
    {"who sleeps", "{'go': [{'sleep': '1h'}, @]},", "", 0},
    {"who will call", "{'go': [{'sleep': '1h'}, {'call': 'h'}]},", "@", 0},
    {"who was called", "{'go': [{'call': 'h'}]},", "{'sleep': '1h'}, @", 0},
    {"who called", "{'go': [{'call': 'h'}, @]},", "{'sleep': '1h'}", 0},
    {"who defers", "{'go': [{'defer': [@]}, {'sleep': '1h'}]},", "", 0},
    {"who will start another", "{'go': [{'sleep': '1h'}, {'go': [@]}]},", "", 0},
    {"who is woken", "{'go': [{'recv': 'x'}, @]}, {'go': [{'sleep': '1h'}, {'close': 'x'}]},", "",
     0},
    {"a branch",
     "{'go': [{'sleep': '1h'}, {'if': '1 == 2', 'then': [{'cpu': '1us'}], 'else': [@]}]},", "", 0},
    {"a way back",
     "{'go': [{'loop': 3, 'index': 'k', 'do': [{'if': 'k == 2', 'then': [@]}, {'sleep': '1h'}]}]},",
     "", 0},
    {"a draw",
     "{'go': [{'sleep': '1h'}, {'random': [{'weight': 1, 'do': [{'cpu': '1us'}]}, {'weight': 1,"
     " 'do': [{'cpu': '2us'}]}, {'weight': 1, 'do': [@]}]}]},",
     "", 0},
    {"a timer", "{'after_func': 'h', 'after': '1h'},", "@", 0},
    {"a system call", "{'go': [{'syscall': '1h'}, @]},", "", 0},
};

/* With @ replaced. */
static void put(char *text, size_t size, const char *from, const char *wakes)
{
    size_t n = strlen(text);
    for (; *from != 0 && n + 1 < size; from++)
        if (*from == '@')
            n += (size_t)snprintf(text + n, size - n, "%s", wakes);
        else
            text[n++] = *from;
    CHECK(n + 1 < size);
    text[n] = 0;
}

/* ' is ". */
static struct scenario *loaded(char *text)
{
    struct failure f = {0};
    for (char *p = text; *p != 0; p++)
        if (*p == '\'')
            *p = '"';
    struct scenario *s = scenario_load(&f, "reach.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s in %s", f.text, text);
    return s;
}

static struct scenario *load(const struct kind *k, const struct way *w, const char *last)
{
    static char text[4000];
    text[0] = 0;
    put(text, sizeof text, "{'name': 'reach', 'why': 'test', 'procs': 2, 'objects': {", "");
    put(text, sizeof text, k->objects, "");
    put(text, sizeof text, ", 'x': 'chan'}, 'funcs': {'h': [", "");
    put(text, sizeof text, w->h, k->wakes);
    put(text, sizeof text, "]}, 'main': [{'if': '1 == 2', 'then': [{'call': 'h'}]},", "");
    put(text, sizeof text, k->setup, "");
    put(text, sizeof text, "{'go': [", "");
    put(text, sizeof text, k->waits, "");
    put(text, sizeof text, "]}, {'sleep': '1ms'},", "");
    put(text, sizeof text, w->main, k->wakes);
    put(text, sizeof text, "{'sleep': '1ms'}", "");
    put(text, sizeof text, last, "");
    put(text, sizeof text, "]}", "");
    return loaded(text);
}

/* What the program printed is this number. */
static bool printed(const struct run *r, int n)
{
    char want[16];
    snprintf(want, sizeof want, "%d\n", n);
    return r->result.out_size == strlen(want) &&
           memcmp(r->result.out, want, r->result.out_size) == 0;
}

static void run_of(const struct scenario *s, int release, struct run *r)
{
    struct failure f = {0};
    struct run_opts o;
    CHECK(run_opts_of(&f, s, release, &o));
    o.until_ns = 100000000;
    if (!run_all(&f, r, &o))
        FAIL_CASE("%s", f.text);
}

TEST_CASE(Reach, AtTheEndOfARun)
{
    static const int releases[] = {PROFILE_FIRST, 22, PROFILE_LATEST};
    static struct run r;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            struct scenario *s = load(&kinds[k], &ways[w], "");
            for (int i = 0; i < 3; i++) {
                run_of(s, releases[i], &r);
                if ((int)r.result.stranded != ways[w].leaked)
                    FAIL_CASE("%s, %s, go1.%d: %d leaked, want %d", kinds[k].name, ways[w].name,
                              releases[i], (int)r.result.stranded, ways[w].leaked);
                run_free(&r);
            }
            scenario_free(s);
        }
}

TEST_CASE(Reach, OfACollectionThatLooks)
{
    static struct run r;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            struct scenario *s = load(&kinds[k], &ways[w],
                                      ", {'leak_profile': 'n'}, {'print': '%d', 'args': ['n']}");
            run_of(s, PROFILE_LATEST, &r);
            if (!printed(&r, ways[w].leaked))
                FAIL_CASE("%s, %s: not %d leaked", kinds[k].name, ways[w].name, ways[w].leaked);
            run_free(&r);
            scenario_free(s);
        }
}

/* ---- arrays ---- */

/* Who holds the lock of an element, which a function took, sleeps, and then ... */
static const struct {
    const char *name, *then;
    int leaked;
} elements[] = {
    {"unlocks it", "{'unlock': 'm[i].mu'}", 0},
    {"unlocks that of another array", "{'unlock': 'other[i]'}", 1},
    {"looks at another field", "{'load': 'm[i].n', 'into': 'x'}", 1},
    {"unlocks one in a row of rows", "{'unlock': 'rows[i - 1][i]'}", 0},
};

/* Two of them, or what is reached in steps too wide or too narrow may be it by chance. */
static void holds_element(size_t i, const char *of)
{
    static struct run r;
    static char text[2000];
    text[0] = 0;
    put(text, sizeof text,
        "{'name': 'reach', 'why': 'test', 'procs': 2, 'objects': {'rows': {'array': 2, 'of':"
        " {'array': 3, 'of': 'mutex'}}, 'm': {'array': 3, 'of': {'struct': {'n': 'var', 'mu':"
        " 'mutex'}}}, 'other': {'array': 3, 'of': 'mutex'}}, 'funcs': {"
        "'take': {'params': ['i'], 'do': [{'lock': 'm[i].mu'}]}, 'holds': {'params': ['i'],"
        " 'do': [{'call': 'take', 'args': ['i']}, {'sleep': '1h'}, ",
        "");
    put(text, sizeof text, elements[i].then, "");
    put(text, sizeof text,
        "]}, 'wants': {'params': ['i'], 'do': [{'sleep': '1ms'}, {'lock': 'm[i].mu'}]}},"
        " 'main': [{'go': 'holds', 'args': [@]}, {'go': 'wants', 'args': [@]},"
        " {'sleep': '3ms'}]}",
        of);
    struct scenario *s = loaded(text);
    run_of(s, PROFILE_LATEST, &r);
    if ((int)r.result.stranded != elements[i].leaked)
        FAIL_CASE("%s, of %s: %d leaked, want %d", elements[i].name, of, (int)r.result.stranded,
                  elements[i].leaked);
    run_free(&r);
    scenario_free(s);
}

TEST_CASE(Reach, AnElementOfAnArray)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        holds_element(i, "1");
        holds_element(i, "2");
    }
}

/* ---- handles ---- */

/* What somebody who sleeps may do with the only channel that the waiter can be woken by: c, made in
 * a function that main has called and that has returned. */
static const struct way handles[] = {
    {"nobody", "", "", 1},
    {"a register", "{'go': 'h', 'args': ['c']},", "{'sleep': '1h'}, {'send': 'k', 'value': 1}", 0},
    {"a register of no use", "{'go': 'h', 'args': ['c']},", "{'sleep': '1h'}", 0},
    {"a frame below", "{'go': 'h', 'args': ['c']},", "{'call': 'nap'}, {'send': 'k', 'value': 1}",
     0},
    {"a variable", "{'store': 'v', 'value': 'c'}, {'go': 'reads'},", "", 0},
    {"a variable that nobody reads", "{'store': 'v', 'value': 'c'}, {'go': 'nap'},", "", 1},
    {"a buffer", "{'send': 'box', 'value': 'c'}, {'go': 'opens'},", "", 0},
    {"a buffer that nobody empties", "{'send': 'box', 'value': 'c'}, {'go': 'nap'},", "", 1},
    {"an argument of a deferred call", "{'go': 'h', 'args': ['c']},",
     "{'defer': 'tell', 'args': ['k']}, {'make': 'k', 'as': 'chan'}, {'sleep': '1h'}", 0},
    {"a timer's argument", "{'after_func': 'tell', 'after': '1h', 'arg': 'c'},", "", 0},
    {"who waits too", "{'go': 'h', 'args': ['c']},", "{'recv': 'x'}, {'send': 'k', 'value': 1}", 2},
};

/* first: who may wake is there before who waits. */
static struct scenario *load_handle(const struct way *w, bool first, const char *last)
{
    static char text[4000];
    static const char waits[] = "{'go': 'wait', 'args': ['c']},";
    text[0] = 0;
    put(text, sizeof text,
        "{'name': 'reach', 'why': 'test', 'procs': 2, 'objects': {'x': 'chan', 'v': 'var',"
        " 'box': {'chan': 1}}, 'funcs': {'nap': [{'sleep': '1h'}],"
        " 'reads': [{'sleep': '1h'}, {'load': 'v', 'into': 'l'}],"
        " 'opens': [{'sleep': '1h'}, {'recv': 'box'}],"
        " 'tell': {'params': ['k'], 'do': [{'send': 'k', 'value': 1}]},"
        " 'wait': {'params': ['k'], 'do': [{'recv': 'k'}]}, 'h': {'params': ['k'], 'do': [",
        "");
    put(text, sizeof text, w->h, "");
    put(text, sizeof text,
        "]}, 'begin': [{'make': 'c', 'as': 'chan'}, {'if': '1 == 2', 'then': [{'call': 'h',"
        " 'args': ['c']}, {'call': 'nap'}, {'call': 'reads'}, {'call': 'opens'},"
        " {'call': 'tell', 'args': ['c']}]},",
        "");
    put(text, sizeof text, first ? w->main : waits, "");
    put(text, sizeof text, first ? waits : w->main, "");
    put(text, sizeof text, "{'cpu': '1us'}]}, 'main': [{'call': 'begin'}, {'sleep': '1ms'}", "");
    put(text, sizeof text, last, "");
    put(text, sizeof text, "]}", "");
    return loaded(text);
}

TEST_CASE(Reach, AHandleIsAReference)
{
    static struct run r;
    for (size_t i = 0; i < 2 * sizeof handles / sizeof *handles; i++) {
        const struct way *w = &handles[i / 2];
        struct scenario *s = load_handle(w, i % 2, "");
        for (int release = 22; release <= PROFILE_LATEST; release += 5) {
            run_of(s, release, &r);
            if ((int)r.result.stranded != w->leaked)
                FAIL_CASE("%s, %zu, go1.%d: %d leaked, want %d", w->name, i % 2, release,
                          (int)r.result.stranded, w->leaked);
            run_free(&r);
        }
        scenario_free(s);
        s = load_handle(w, i % 2, ", {'leak_profile': 'n'}, {'print': '%d', 'args': ['n']}");
        run_of(s, PROFILE_LATEST, &r);
        if (!printed(&r, w->leaked))
            FAIL_CASE("%s, %zu: not %d leaked", w->name, i % 2, w->leaked);
        run_free(&r);
        scenario_free(s);
    }
}

/* Who waits for a once waits for what its function waits for; the function is deferred work of the
 * one who does it, which is found from there alone. */
TEST_CASE(Reach, AOnceIsHeldByItsFunction)
{
    static const struct {
        const char *slow;
        int leaked;
    } onces[] = {{"{'sleep': '1h'}", 0}, {"{'recv': 'nil'}", 2}};
    static struct run r;
    for (int i = 0; i < 2; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{'name': 'once', 'why': 'test', 'procs': 2, 'objects': {'o': 'once'},"
                 " 'funcs': {'slow': [%s]}, 'main': [{'go': [{'once': 'o', 'do': 'slow'}]},"
                 " {'sleep': '1ms'}, {'go': [{'once': 'o', 'do': 'slow'}]}, {'sleep': '1ms'},"
                 " {'leak_profile': 'n'}, {'print': '%%d', 'args': ['n']}]}",
                 onces[i].slow);
        struct scenario *s = loaded(text);
        run_of(s, PROFILE_LATEST, &r);
        if (!printed(&r, onces[i].leaked) || (int)r.result.stranded != onces[i].leaked)
            FAIL_CASE("%s: %d leaked, want %d", onces[i].slow, (int)r.result.stranded,
                      onces[i].leaked);
        run_free(&r);
        scenario_free(s);
    }
}
