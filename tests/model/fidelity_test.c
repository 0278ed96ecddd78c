/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps in which the model once differed from Go's source, each shown by what it does to a run. */
#include "asm.h"
#include "harness.h"

static struct as a;
static struct as_result r;

enum { US = 1000, MS = 1000000, MB = 1 << 20 };

static void cpu_nopreempt(int64_t ns) { as_op(&a, OP_CPU, CPU_nopreempt, NOREG, 0, -1, ns); }

static uint64_t failed_steals(int release)
{
    as_init(&a);
    int never = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "f", 0, 1);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    cpu_nopreempt(MS); /* the start of the world is over */
    as_go(&a, f, 0, 0);
    as_recv(&a, never, 0);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.release = release, .procs = 2});
    CHECK_EQ(r.end, END_FINDING);
    return r.counters[COUNTER_steals_tried] - r.counters[COUNTER_steals_won];
}

/* main starts f and sleeps; the M that was woken for f, spinning, finds everybody idle when it gets
 * there. 1.13 tests that before it tests whether it spins; 1.14 visits the only victim four times.
 */
TEST_CASE(Fidelity, NobodyStealsIn113WhenAllOthersAreIdle)
{
    CHECK_EQ(failed_steals(13) + 4, failed_steals(14));
}

/* A descriptor gets ready every 30 ms; whoever reads works a little. */
static uint64_t polls(int release)
{
    static const int64_t at[] = {30 * MS, 60 * MS, 90 * MS, 120 * MS};
    as_init(&a);
    const struct arrivals burst = {.kind = ARRIVE_TIMES, .mode = 1, .times = at, .ntimes = 4};
    int fd = as_object(&a, OBJ_FD, build_arrivals(&a.b, &burst));
    as_func(&a, "main", 0, 2);
    for (int i = 0; i < 4; i++) {
        as_op(&a, OP_FDREAD, 0, 1, 0, fd, 0);
        cpu_nopreempt(MS);
    }
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.release = release, .procs = 1});
    CHECK_EQ(r.end, END_STOPPED);
    return r.counters[COUNTER_netpolls];
}

/* 1.19 and 1.20 note the time before a blocking poll as the time of the last poll. sysmon, which a
 * system call wakes, polls again at once after each. */
TEST_CASE(Fidelity, LastpollIsStaleIn119And120)
{
    for (int rel = 14; rel <= 27; rel++)
        CHECK_EQ(polls(rel), rel == 19 || rel == 20 ? 12 : 8);
}

static uint64_t sweeper_yields(int release)
{
    as_init(&a);
    as_func(&a, "main", 0, 2);
    for (int i = 0; i < 3; i++)
        as_op(&a, OP_ALLOC, 0, NOREG, 0, -1, 3 * MB);
    as_sleep(&a, 20 * MS);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.release = release, .procs = 2});
    CHECK_EQ(r.end, END_STOPPED);
    return r.counters[COUNTER_grq_puts];
}

/* bgsweep goes to the global queue after each span; since 1.20 after ten, and if no P is idle. */
TEST_CASE(Fidelity, SweeperYieldsOnlyToBusyPs)
{
    uint64_t always = sweeper_yields(18);
    for (int rel = 13; rel <= 19; rel++)
        CHECK(sweeper_yields(rel) + 5 > always);
    CHECK(always > 400); /* 4 MB and more */
    for (int rel = 20; rel <= 27; rel++)
        CHECK(sweeper_yields(rel) * 20 < always);
}

/* Burns the time up to a fixed moment. */
static void cpu_until(int64_t at)
{
    as_op(&a, OP_NOW, 0, 0, 0, 0, 0);
    as_const(&a, 1, at);
    as_op(&a, OP_SUB, 1, 1, 0, 0, 0);
    as_op(&a, OP_CPU, CPU_nopreempt, 1, 0, -1, 0);
}

enum { WORKERS = 5 };

/* Workers end one after the other, shortly after main started f and went on with its own work. */
static uint64_t spins(int release, int64_t before)
{
    as_init(&a);
    int f = as_func(&a, "f", 0, 1), w[WORKERS];
    as_ret(&a);
    for (int i = 0; i < WORKERS; i++) {
        w[i] = as_func(&a, "w", 0, 2);
        cpu_until(400 * US + i * 500);
        as_ret(&a);
    }
    as_func(&a, "main", 0, 2);
    for (int i = 0; i < WORKERS; i++)
        as_go(&a, w[i], 0, 0);
    cpu_until(400 * US - before);
    as_go(&a, f, 0, 0);
    cpu_nopreempt(150 * US);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.release = release, .procs = WORKERS + 2});
    CHECK_EQ(r.end, END_STOPPED);
    return r.counters[COUNTER_spins];
}

/* While f waits in runnext for its first thief, the gate keeps a worker's M from spinning. Up to
 * 1.16 it looks once more after it gave up its P, sees f, takes the P back and tries again, but
 * without spinning: so in many of these worlds no more Ms spin than in 1.17, where it goes to
 * sleep. */
TEST_CASE(Fidelity, WhoDidNotSpinDoesNotSpinAfterTheRecheck)
{
    int same = 0;
    for (int64_t before = 2 * US; before < 10 * US; before += 200) {
        uint64_t old = spins(16, before), new = spins(17, before);
        CHECK(old >= new);
        same += old == new;
    }
    CHECK(same >= 10);
}

/* Goroutines that keep going to the global queue, so that many Ms want the scheduler's lock. */
static void yield_storm(int release, int procs)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 0, 1);
    as_const(&a, 0, 0);
    int l = as_here(&a);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
    as_jump(&a, OP_JLTI, 0, 0, 50, l);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 200);
    for (int i = 0; i < 200; i++)
        as_go(&a, f, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    as_run(&r, &a,
           (struct as_opts){.release = release,
                            .procs = procs,
                            .rule = "lock_active_spin",
                            .value = 1,
                            .rule2 = "lock_passive_spin",
                            .value2 = 0});
    CHECK_EQ(r.end, END_STOPPED);
}

/* The rounds of a spin-bit mutex are counted from the first look on: a failed try is one, and a
 * sleep leaves the count at one. Where one round is allowed, whoever tried or slept spins no more;
 * when both began at zero, nine in ten of those that had to wait did spin. */
TEST_CASE(Fidelity, LockRoundsGoOnAfterTriesAndSleeps)
{
    const uint64_t round_ps = 30 * 10000; /* 30 PAUSEs */
    for (int rel = 24; rel <= 27; rel++)
        for (int procs = 32; procs <= 128; procs *= 2) {
            yield_storm(rel, procs);
            CHECK(r.counters[COUNTER_lock_contended] > 4000);
            CHECK_LE(r.spin_ps / round_ps * 10, r.counters[COUNTER_lock_contended] * 6);
        }
}

/* A dedicated worker marks for longer than a slice on a P with goroutines in its ring, while the
 * other Ps have long ones. Gives the puts on the global queue up to the middle of the marking. */
static uint64_t given_away(int release)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 0, 1);
    cpu_nopreempt(30 * MS);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    as_plain(&a, OP_GC); /* makes the workers */
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 100);
    for (int i = 0; i < 100; i++)
        as_go(&a, f, 0, 0);
    as_op(&a, OP_ALLOC, 1, NOREG, 0, -1, 60 * MB); /* reachable: 60 ms of marking */
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.release = release, .procs = 4, .until_ms = 75});
    CHECK_EQ(r.end, END_TIME);
    return r.counters[COUNTER_grq_puts];
}

/* All at once since 1.17, one by one before; from 1.18 on other rules change where the ring is. */
TEST_CASE(Fidelity, APreemptedDedicatedWorkerGivesItsRingAway)
{
    for (int rel = 13; rel <= 17; rel++)
        CHECK(given_away(rel) >= 25);
}

/* Somebody collects while main computes for 2 ms and then does `op`; prints whether that took more
 * than 5 ms. */
static void during_a_collection(int release, enum op op, int64_t imm)
{
    bool procs = op == OP_GOMAXPROCS;
    as_init(&a);
    int gc = as_func(&a, "gc", 0, 1);
    as_plain(&a, OP_GC);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_ALLOC, 1, NOREG, 0, -1, 40 * MB);
    as_plain(&a, OP_GC);
    as_go(&a, gc, 0, 0);
    cpu_nopreempt(2 * MS);
    as_op(&a, OP_NOW, 0, 0, 0, 0, 0);
    as_op(&a, op, procs ? NOREG : 0, procs ? NOREG : 0, 0, 0, imm);
    as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
    as_op(&a, OP_SUB, 0, 1, 0, 0, 0);
    int soon = as_label(&a);
    as_jump(&a, OP_JLTI, 0, 0, 5 * MS, soon);
    as_print(&a, "waited");
    as_place(&a, soon);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.release = release, .procs = 4});
    CHECK_EQ(r.end, END_STOPPED);
}

/* Whoever wants another number of Ps waits for the end of a collection: by worldsema up to 1.14,
 * which the collector then kept from start to end, by gcsema since. */
TEST_CASE(Fidelity, AChangeOfPsWaitsForTheCollection)
{
    for (int rel = 13; rel <= 27; rel++) {
        during_a_collection(rel, OP_GOMAXPROCS, 6);
        CHECK_STR(r.out, "waited");
    }
}

/* Others who stop the world need only worldsema, and since 1.15 the dedicated worker stops for them
 * in the middle of its marking. */
TEST_CASE(Fidelity, ReadMemStatsWaitsForACollectionUpTo114)
{
    for (int rel = 13; rel <= 27; rel++) {
        during_a_collection(rel, OP_READMEM, 0);
        CHECK_STR(r.out, rel <= 14 ? "waited" : "");
    }
}
