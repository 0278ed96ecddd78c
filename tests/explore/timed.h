/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_TIMED_H
#define GMPSIM_TESTS_TIMED_H

/* One world on two hosts: timed_world.c is compiled for both. How it begins and ends is in
 * timed_virt.c for the timed host, in timed_test.c for the explorer. */

#include <stdint.h>

struct costs;
struct hostm;

enum { TIMED_THREADS = 6, TIMED_OPS_MAX = 500 };

struct timed_op {
    int64_t at;
    uint64_t value;
    uint32_t op;
};
/* What each thread did; the last is the environment. What a thread does between two points has no
 * order to what others do meanwhile, so there is no common list. */
struct timed_log {
    uint32_t count[TIMED_THREADS + 1];
    struct timed_op op[TIMED_THREADS + 1][TIMED_OPS_MAX];
};

#define TIMED_PASTE_(a, b) timed_##a##_##b
#define TIMED_NAME_(a, b)  TIMED_PASTE_(a, b)
#define TIMED(name)        TIMED_NAME_(TIMED_HOST, name)

#define TIMED_HOST_FUNCTIONS(host)                                                  \
    void timed_##host##_run(uint64_t seed, const struct costs *costs, uint32_t ops, \
                            struct timed_log *log);                                 \
    void timed_##host##_open(uint64_t seed, const struct costs *costs,              \
                             void (*sighandler)(void *));                           \
    void timed_##host##_start(struct hostm *hm, void (*fn)(void *), void *arg);     \
    void timed_##host##_finish(void);

TIMED_HOST_FUNCTIONS(virt)
TIMED_HOST_FUNCTIONS(explore)

#endif
