/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: a schedule survives its file, and no file makes the reader do anything but say what is
 * wrong with it. Method: round trips of random schedules; a table of bad files with the words that
 * must come; random damage.
 */
#define _GNU_SOURCE /* open_memstream, mkstemp */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "sim/base/fail.h"
#include "sim/base/rng.h"
#include "sim/explore/schedule.h"

static struct schedule a, b;

static void random_schedule(struct rng *r, struct schedule *s)
{
    struct answer list[500];
    size_t n = rng_below(r, 500);

    for (size_t i = 0; i < n; i++) {
        uint32_t of = 2 + (uint32_t)rng_below(r, rng_below(r, 4) == 0 ? CHOICE_N_MAX - 2 : 5);
        list[i] = answer_make((enum choice_kind)rng_below(r, CHOICE_KINDS), of,
                              rng_below(r, 2) ? 0 : (uint32_t)rng_below(r, of));
        if (i > 0 && rng_below(r, 2))
            list[i] = list[i - 1];
    }
    schedule_init(s);
    CHECK_EQ(schedule_take(s, NULL, list, n), 0);
    CHECK_EQ(schedule_set(s, NULL, "scenario", "a b/c \"d\".json"), 0);
    CHECK_EQ(schedule_set(s, NULL, "seed", "1"), 0);
    CHECK_EQ(schedule_set(s, NULL, "seed", "33"), 0);
}

/* Text of s; the caller frees. */
static char *text_of(const struct schedule *s, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);

    CHECK_EQ(schedule_print(s, out), 0);
    CHECK_EQ(fclose(out), 0);
    return text;
}

static bool same(const struct schedule *x, const struct schedule *y)
{
    return x->count == y->count && x->pair_count == y->pair_count &&
           (x->count == 0 ||
            memcmp(x->answers, y->answers, x->count * sizeof(x->answers[0])) == 0) &&
           strcmp(x->pairs[0].value, y->pairs[0].value) == 0;
}

TEST_CASE(Schedule, SurvivesItsText)
{
    struct rng r;

    rng_init(&r, 1, RNG_USER, 0);
    for (int i = 0; i < 200; i++) {
        struct failure f = {0};
        size_t size;
        random_schedule(&r, &a);
        char *text = text_of(&a, &size);
        schedule_init(&b);
        CHECK_EQ(schedule_parse(&b, &f, "t", text, size), 0);
        CHECK(same(&a, &b));
        CHECK_STR(schedule_get(&b, "scenario"), "a b/c \"d\".json");
        CHECK_STR(schedule_get(&b, "seed"), "33");
        CHECK(schedule_get(&b, "profile") == NULL);
        for (const char *p = text; *p != '\0'; p = strchr(p, '\n') + 1)
            CHECK_LE(strcspn(p, "\n"), 100);
        free(text);
        schedule_release(&a);
        schedule_release(&b);
    }
}

TEST_CASE(Schedule, SurvivesItsFile)
{
    char path[] = "/tmp/gmpsim-schedule-XXXXXX";
    struct failure f = {0};
    struct rng r;
    int fd = mkstemp(path);

    CHECK_GE(fd, 0);
    close(fd);
    rng_init(&r, 2, RNG_USER, 0);
    random_schedule(&r, &a);
    CHECK_EQ(schedule_save(&a, &f, path), 0);
    schedule_init(&b);
    CHECK_EQ(schedule_load(&b, &f, path), 0);
    CHECK(same(&a, &b));
    remove(path);
    CHECK_NE(schedule_load(&b, &f, path), 0);
    CHECK_HAS(f.text, "No such file");
    schedule_release(&a);
    schedule_release(&b);
}

#define HEAD "gmpsim-schedule 1\n"

TEST_CASE(Schedule, SaysWhatIsWrongAndWhere)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "x:1:1: not a schedule"},
        {"gmpsim", "x:1:1: not a schedule"},
        {"gmpsim-schedule 2\n", "x:1:18: version 2 of the format; this program reads version 1"},
        {"gmpsim-schedule -1\n", "x:1:17: want the version"},
        {"gmpsim-schedule 1", "x:1:18: the file ends here"},
        {HEAD, "x:2:1: want a key"},
        {HEAD "Seed 3\n", "x:2:1: want a key"},
        {HEAD "seed\n", "x:2:5: want ' '"},
        {HEAD "seed 3\nseed 4\n", "x:3:1: duplicate key seed"},
        {HEAD "seed  3\n", "x:2:6: bad value of seed"},
        {HEAD "seed \x1b[2J\n", "x:2:6: bad value of seed"},
        {HEAD "answers\n", "x:2:8: want ' '"},
        {HEAD "answers 1x\n", "x:2:10: unexpected text"},
        {HEAD "answers 99999999999999999999999\n", "x:2:9: the number of answers is more than"},
        {HEAD "answers 007\n", "x:2:9: the number of answers has a leading zero"},
        {HEAD "answers 1\n", "x:3:1: the file ends after 0 of 1 answers"},
        {HEAD "answers 1\nq2:0\n", "x:3:1: want an answer, one of"},
        {HEAD "answers 1\nt1:0\n", "x:3:5: answer 0 of 1"},
        {HEAD "answers 1\nt2:2\n", "x:3:5: answer 2 of 2"},
        {HEAD "answers 1\nt2\n", "x:3:3: want ':'"},
        {HEAD "answers 1\nt2:0*0\n", "x:3:7: more answers than the 1 announced"},
        {HEAD "answers 1\nt2:0*2\n", "x:3:7: more answers than the 1 announced"},
        {HEAD "answers 1\nt2:0*16777217\n", "x:3:6: the repetition is more than"},
        {HEAD "answers 2\nt2:0t2:0\n", "x:3:5: want a space between answers"},
        {HEAD "answers 2\nt2:0\nend 0\n", "x:4:1: 1 answers, 2 announced"},
        {HEAD "answers 1\nt2:0\nend 0123456789abcdef\n",
         "x:4:1: the answers do not match their check"},
        {HEAD "answers 1\nt268435456:0\n", "x:3:2: the number of answers is more than 268435455"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct failure f = {0};
        schedule_init(&a);
        CHECK_EQ(schedule_parse(&a, &f, "x", cases[i].text, strlen(cases[i].text)), -E_SCHEDULE);
        CHECK_HAS(f.text, cases[i].says);
        CHECK_EQ(fail_exit_code(f.code), EXIT_USAGE);
        schedule_release(&a);
    }
}

TEST_CASE(Schedule, KeysAndValuesAreChecked)
{
    struct failure f = {0};
    char key[40];

    schedule_init(&a);
    CHECK_NE(schedule_set(&a, &f, "Seed", "1"), 0);
    CHECK_NE(schedule_set(&a, &f, "end", "1"), 0);
    CHECK_NE(schedule_set(&a, &f, "seed", ""), 0);
    CHECK_NE(schedule_set(&a, &f, "seed", "a\nanswers 0"), 0);
    for (int i = 0; i < SCHEDULE_PAIRS_MAX; i++) {
        snprintf(key, sizeof(key), "key-%d", i);
        CHECK_EQ(schedule_set(&a, &f, key, "v"), 0);
    }
    CHECK_NE(schedule_set(&a, &f, "one-more", "v"), 0);
    CHECK_EQ(schedule_set(&a, &f, "key-3", "w"), 0);
    CHECK_STR(schedule_get(&a, "key-3"), "w");
    schedule_release(&a);
}

/* Damage of any kind ends in an error or in a schedule that says of itself that it is whole. */
TEST_CASE(Schedule, DamageIsNoticedOrHarmless)
{
    struct rng r;
    int accepted = 0;

    rng_init(&r, 3, RNG_USER, 0);
    for (int i = 0; i < 5000; i++) {
        struct failure f = {0};
        size_t size;
        random_schedule(&r, &a);
        char *text = text_of(&a, &size);
        size_t at = rng_below(&r, size);
        text[at] = (char)rng_below(&r, 256);
        size_t cut = rng_below(&r, 4) == 0 ? rng_below(&r, size) : size;
        schedule_init(&b);
        accepted += schedule_parse(&b, &f, "x", text, cut) == 0;
        free(text);
        schedule_release(&a);
        schedule_release(&b);
    }
    CHECK_LT(accepted, 1000); /* a byte of a value, or a byte replaced by itself */
}
