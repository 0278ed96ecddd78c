/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a goroutine's status changes along the edges of Go's source and no others, in each release
 * along all of its own. Method: the model is compiled in here with an exchange that writes down
 * what it changes a status from and to; one program in which everything happens runs in every
 * release; the edges that were seen are the table. */
#include <stdint.h>
static void edge_note(const char *what, uint64_t from, uint64_t to);

#include <host.h>
#undef a_cas
#define a_cas(p, old, new)                                                         \
    __extension__({                                                                \
        bool edge_ok_ = VM_CAS_(p, old, new, ATOMIC_cas);                          \
        if (edge_ok_)                                                              \
            edge_note(#p, (uint64_t)(uintptr_t)(old), (uint64_t)(uintptr_t)(new)); \
        edge_ok_;                                                                  \
    })

/* What orders goroutines is told as to a host that looks for data races (edges_orders.c). */
static bool telling;
static void note_edge(enum race_edge edge, uint32_t goid, uint64_t with);
static void note_access(uint32_t goid, uint32_t pc, uint64_t at, int32_t object,
                        enum race_kind kind);
#undef race_on
#undef race_tell
#undef race_access
#define race_on()                               telling
#define race_tell(edge, goid, with)             note_edge(edge, goid, with)
#define race_access(goid, pc, at, object, kind) note_access(goid, pc, at, object, kind)

/* Where memory is touched first, as to a world with noise (edges_touch.c). */
static bool jolting;
static void note_jolt(int kind);
#undef jolts
#undef jolt
#define jolts()    jolting
#define jolt(kind) note_jolt(NOISE_##kind)
#include "model/model.c"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "asm.h"
#include "harness.h"
#include "run/host.h"

enum { US = 1000, MS = 1000000, SCAN = 12, STATES = 24 };

static struct as a;
static bool happened[STATES][STATES];

/* 0 .. 11, and 12 more with the scan bit. */
static unsigned state_of(uint64_t status)
{
    return (unsigned)(status & 15) + ((status & Gscan) != 0 ? SCAN : 0);
}

static void edge_note(const char *what, uint64_t from, uint64_t to)
{
    if (strstr(what, "atomicstatus") != NULL)
        happened[state_of(from)][state_of(to)] = true;
}

/* ---- the table: facts of runtime2.go and proc.go ---- */

static const struct {
    uint32_t from, to;
    int first, last;
    const char *by;
} edges[] = {
    {Gidle, Gdead, 13, 99, "newproc1; up to 1.25 oneNewExtraM"},
    {Gidle, Gdeadextra, 26, 99, "oneNewExtraM"},
    {Gdead, Grunnable, 13, 99, "newproc1"},
    {Gdead, Gwaiting, 23, 99, "newproc1, parked"},
    {Grunnable, Gwaiting, 22, 22, "newcoro"},
    {Grunnable, Grunning, 13, 99, "execute"},
    {Grunning, Grunnable, 13, 99, "goschedImpl, goyield_m; 1.26+ exitsyscallNoP"},
    {Grunning, Gwaiting, 13, 99, "park_m, casGToWaiting"},
    {Gwaiting, Grunnable, 13, 99, "ready, injectglist, findRunnable, park_m"},
    {Gwaiting, Grunning, 13, 99, "the end of a pseudo-wait, coroswitch_m"},
    {Grunning, Gsyscall, 13, 99, "reentersyscall, entersyscallblock"},
    {Gsyscall, Grunning, 13, 99, "exitsyscall"},
    {Gsyscall, Grunnable, 13, 25, "exitsyscall0"},
    {Grunning, Gdead, 13, 99, "gdestroy"},
    {Grunning, Gcopystack, 13, 99, "newstack"},
    {Gcopystack, Grunning, 13, 99, "newstack"},
    {Grunning, Gpreempted | Gscan, 14, 99, "preemptPark: casGToPreemptScan"},
    {Gpreempted | Gscan, Gpreempted, 14, 99, "preemptPark"},
    {Gpreempted, Gwaiting, 14, 99, "suspendG: casGFromPreempted"},
    {Gdead, Gsyscall, 13, 25, "needm"},
    {Gsyscall, Gdead, 13, 20, "dropm; later only when a thread of C ends"},
    {Gdeadextra, Gsyscall, 26, 99, "needm"},
    {Gwaiting, Gleaked, 26, 99, "findGoroutineLeaks"},
    {Gleaked, Gwaiting, 26, 99, "allGsSnapshotSortedForGC"},
    {Grunnable, Grunnable | Gscan, 13, 99, "suspendG"},
    {Grunnable | Gscan, Grunnable, 13, 99, "resumeG"},
    {Grunning, Grunning | Gscan, 14, 99, "suspendG"},
    {Grunning | Gscan, Grunning, 14, 99, "suspendG"},
    {Gsyscall, Gsyscall | Gscan, 13, 99, "suspendG; 1.26+ setBlockOnExitSyscall"},
    {Gsyscall | Gscan, Gsyscall, 13, 99, "resumeG, syscallingThread.resume"},
    {Gwaiting, Gwaiting | Gscan, 13, 99, "suspendG"},
    {Gwaiting | Gscan, Gwaiting, 13, 99, "resumeG"},
    {Gleaked, Gleaked | Gscan, 26, 99, "suspendG"},
    {Gleaked | Gscan, Gleaked, 26, 99, "resumeG"},
};

static bool in_table(int release, unsigned from, unsigned to)
{
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
        if (state_of(edges[i].from) == from && state_of(edges[i].to) == to)
            return release >= edges[i].first && release <= edges[i].last;
    return false;
}

/* ---- the program ---- */

static void hog(int64_t ns) { as_op(&a, OP_CPU, CPU_normal, NOREG, 0, -1, ns); }

static void everything(int release)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    for (int i = 0; i < 50; i++) /* numbers that stand in registers are no handle of never then */
        as_object(&a, OBJ_MUTEX, 0);
    int never = as_object(&a, OBJ_CHAN, 0);
    int deep = as_func(&a, "deep", 0, 60);
    as_plain(&a, OP_GOSCHED);
    as_ret(&a);
    int body = as_func(&a, "body", 0, 3);
    as_op(&a, OP_YIELD, 1, NOREG, 0, 0, 0);
    as_ret(&a);
    int back = as_func(&a, "back", 0, 2);
    as_ret(&a);
    as_func(&a, "end", 0, 2); /* where a callback that is over stands, and what comes next there */
    as_ret(&a);
    int lost = as_func(&a, "lost", 0, 2);
    as_recv(&a, never, 0);
    as_ret(&a);
    int blocks = as_func(&a, "blocks", 0, 2);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 30 * MS);
    as_ret(&a);
    int f = as_func(&a, "f", 0, 6);
    as_const(&a, 3, 12);
    int l = as_here(&a);
    hog(3 * MS);
    as_op(&a, OP_SYSCALL, 1, NOREG, 0, -1, 700 * US);
    as_sleep(&a, 100 * US);
    as_op(&a, OP_ALLOC, 0, NOREG, 0, -1, 1 << 20);
    as_call(&a, deep, 0, 0, NOREG);
    as_plain(&a, OP_GOSCHED);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 6);
    as_op(&a, OP_ALLOC, 1, NOREG, 0, -1, 8 << 20);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 8);
    for (int i = 0; i < 8; i++)
        as_go(&a, f, 0, 0);
    as_go(&a, lost, 0, 0);
    as_go(&a, blocks, 0, 0);
    if (release >= 22) {
        as_op(&a, OP_CORONEW, 0, 0, 0, body, 0);
        as_op(&a, OP_CORONEXT, 1, 2, 0, OBJ_REG, 0);
    }
    as_op(&a, OP_CGOCB, 1, NOREG, NOREG, back, 1000);
    as_const(&a, 3, 4);
    l = as_here(&a);
    as_sleep(&a, 2 * MS);
    as_op(&a, OP_FINALIZER, 0, 0, 0, back, 0);
    as_op(&a, OP_CLEANUP, 0, 0, 0, back, 0);
    as_op(&a, OP_LEAKS, 0, 0, 0, 0, 0);
    as_plain(&a, OP_GC);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 2);
    as_op(&a, OP_GOMAXPROCS, NOREG, NOREG, 0, 0, 3);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

static void run(int release, uint64_t seed)
{
    static struct profile profile;
    struct failure f = {0};
    struct host host = host_virt;
    host.core = &core_edges;
    CHECK(profile_init(&profile, release));
    const struct host_opts o = {.seed = seed,
                                .throws_end_process = true,
                                .world = {.profile = &profile, .program = as_done(&a), .procs = 3}};
    CHECK(world_open(&host, &f, &o));
    CHECK_EQ(host.run(UINT64_MAX), END_STOPPED);
    host.close();
}

TEST_CASE(Edges, AStatusChangesAsInGoAndInAllTheseWays)
{
    for (int release = 13; release <= 27; release++) {
        memset(happened, 0, sizeof happened);
        everything(release);
        for (uint64_t seed = 1; seed <= 6; seed++)
            run(release, seed);
        for (unsigned from = 0; from < STATES; from++)
            for (unsigned to = 0; to < STATES; to++)
                if (happened[from][to] != in_table(release, from, to))
                    FAIL_CASE("go1.%d: %u -> %u %s (from 12 on: with the scan bit)", release, from,
                              to, happened[from][to] ? "is no edge" : "was not seen");
    }
}

/* The other parts: one translation unit, because the model is inside it. */
#include "edges_orders.c"
#include "edges_census.c"
#include "edges_touch.c"
