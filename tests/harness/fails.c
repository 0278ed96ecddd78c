/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: cases that fail on purpose. harness_test.c runs them and reads what they print. */
#include "harness.h"

#include <pthread.h>
#include <stdio.h>

static int seven(void) { return 7; }

TEST_CASE(Fails, Eq)
{
    CHECK_EQ(seven(), 8u);
    puts("the case went on");
}

TEST_CASE(Fails, SignedAgainstUnsigned) { CHECK_EQ(-1, UINT64_MAX); }
TEST_CASE(Fails, Plain) { CHECK(seven() < 3); }
TEST_CASE(Fails, Str) { CHECK_STR("left text", "right text"); }
TEST_CASE(Fails, Null) { CHECK_STR(NULL, "x"); }
TEST_CASE(Fails, Has) { CHECK_HAS("haystack", "needle"); }
TEST_CASE(Fails, Mem) { CHECK_MEM("abcd", "abXd", 4); }
TEST_CASE(Fails, Message) { FAIL_CASE("seed %d lost", 33); }
TEST_CASE(Fails, Lt) { CHECK_LT(seven(), 7); }

static void *check_elsewhere(void *arg)
{
    CHECK_EQ(seven(), 9);
    return arg;
}

TEST_CASE(Fails, OnAnotherThread)
{
    pthread_t t;

    CHECK_EQ(pthread_create(&t, NULL, check_elsewhere, NULL), 0);
    pthread_join(t, NULL);
}

TEST_CASE(Passes, Skipped) { SKIP_CASE("not on %s", "this machine"); }
TEST_CASE(Passes, Plain) { CHECK_EQ(seven(), 7); }
