/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model tells its host, heard by the rules' tests too: before the model is included. */
#ifndef GMPSIM_TESTS_MODEL_RULES_HOOKS_H
#define GMPSIM_TESTS_MODEL_RULES_HOOKS_H
#include <host.h>

/* What the model tells of its descriptors, as to threads (rules_fd.c); and what a poll finds. */
static int opened, unregistered, takes_told;
static int32_t opened_fd;
static uint8_t opened_mode;
#undef descriptor_open
#undef descriptor_close
#undef descriptor_take
#define descriptor_open(fd, mode) (opened++, opened_fd = (fd), opened_mode = (uint8_t)(mode))
#define descriptor_close(fd)      ((void)(fd), unregistered++)
#define descriptor_take(fd)       ((void)(fd), takes_told++)
static int32_t finds_events(int64_t ns, struct poll_event *ev, int32_t cap);
#undef netpoll_wait
#define netpoll_wait(ns, ev, cap) finds_events(ns, ev, cap)

/* What the world outside will do, and when: the last of it (rules_seen.c). */
static int64_t env_told;
static bool env_only_told;
static void env_at_host(int64_t ns, void (*fn)(void *), void *arg) { env_at(ns, fn, arg); }
#undef env_at
#define env_at(ns, fn, arg) \
    (env_told = (ns), env_only_told ? (void)0 : env_at_host(env_told, fn, arg))
static int64_t env_ready_told;
static void env_ready_host(int32_t fd, uint32_t mode) { env_ready(fd, mode, 0); }
#undef env_ready
#define env_ready(fd, mode, n) \
    (env_ready_told = (n), env_only_told ? (void)0 : env_ready_host(fd, mode))

/* The last thing that orders goroutines. */
static bool races_told;
static uint32_t race_told_edge, race_told_goid;
static uint64_t race_told_with;
#undef race_on
#undef race_tell
#define race_on() races_told
#define race_tell(edge, goid, with) \
    (race_told_edge = (edge), race_told_goid = (goid), race_told_with = (with))

/* Where main.main begins. */
static int mains;
#undef main_begins
#define main_begins() (void)mains++

/* How often memory was touched for the first time, and the like (firsttouch.c). */
static int jolts_told[NOISE_COUNT];
static void jolt_host(enum cost_noise kind)
{
    if (jolts())
        vm_jolt_(kind);
}
#undef jolt
#define jolt(kind) (jolts_told[NOISE_##kind]++, jolt_host(NOISE_##kind))

/* How often somebody waited a little. */
static int procyields, osyields;
static void procyield_host(uint32_t n) { procyield(n); }
static void osyield_host(void) { osyield(); }
#undef procyield
#undef osyield
#define procyield(n) (procyields++, procyield_host(n))
#define osyield()    (osyields++, osyield_host())
#endif
