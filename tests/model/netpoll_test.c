/* SPDX-License-Identifier: BSD-3-Clause */
/* The poller and descriptors as a program sees them: order of the woken, batches, deadlines, close,
 * arrival processes. */
#include <stdlib.h>

#include "asm.h"
#include "harness.h"
#include "sim/base/dist.h"

static struct as a;
static struct as_result r;
static struct dist gap;

enum { US = 1000, MS = 1000000 };

static const int64_t at_5ms[] = {5 * MS};

static int add_arrivals(struct arrivals x) { return build_arrivals(&a.b, &x); }
static int arrive_at(int mode, const int64_t *times, uint64_t n)
{
    return add_arrivals((struct arrivals){
        .kind = ARRIVE_TIMES, .mode = (uint8_t)mode, .times = times, .ntimes = n});
}
static int add_gap(void) { return build_dist(&a.b, &gap); }
static void fd_wait(int result, int mode, int fd) { as_op(&a, OP_FDWAIT, result, mode, 0, fd, 0); }
static void fd_read(int number, int when, int fd) { as_op(&a, OP_FDREAD, number, when, 0, fd, 0); }
static void fd_write(int result, int number, int fd)
{
    as_op(&a, OP_FDWRITE, result, number, 0, fd, 0);
}
static void cpu_nopreempt(int64_t ns) { as_op(&a, OP_CPU, CPU_nopreempt, NOREG, 0, -1, ns); }

static void run_rule(int release, int procs, const char *rule, int64_t value)
{
    as_run(&r, &a,
           (struct as_opts){.release = release, .procs = procs, .rule = rule, .value = value});
    CHECK_STR(r.text, "");
    CHECK_EQ(r.end, END_STOPPED);
}
static void run(int release, int procs) { run_rule(release, procs, NULL, 0); }

static int64_t printed(int i)
{
    char *p = r.out;
    for (; i > 0; i--)
        strtoll(p, &p, 10);
    return strtoll(p, NULL, 10);
}
#define CHECK_BETWEEN(low, x, high)   \
    do {                              \
        CHECK_LE((int64_t)(low), x);  \
        CHECK_LE(x, (int64_t)(high)); \
    } while (0)

/* n goroutines, each waits for its own descriptor; all get ready at once, in the order of their
 * numbers. */
static void many_ready(int n, int64_t hog)
{
    as_init(&a);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), fd0 = 0, p = arrive_at(1, at_5ms, 1);
    for (int i = 0; i < n; i++) {
        int fd = as_object(&a, OBJ_FD, p);
        fd0 = i == 0 ? fd : fd0;
    }
    int f = as_func(&a, "f", 1, 3); /* the handle of a declared object is its index + 1 */
    as_op(&a, OP_ADDI, 1, 0, 0, 0, fd0 + 1);
    as_op(&a, OP_FDWAIT, 2, 1, 1, OBJ_REG, 0);
    as_print1(&a, "%d ", 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 1);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, n);
    for (int i = 0; i < n; i++) {
        as_const(&a, 0, i);
        as_go(&a, f, 0, 1);
    }
    if (hog > 0) {
        as_sleep(&a, MS);
        cpu_nopreempt(hog);
    }
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

TEST_CASE(Netpoll, ReadyOnesRunInReverseOfTheEvents)
{
    for (int rel = 13; rel <= 27; rel++) {
        many_ready(4, 9 * MS);
        run(rel, 1);
        CHECK_STR(r.out, "3 2 1 0 ");
    }
}

/* A poll takes two: they come reversed, and the next poll is only made when nothing is left to run.
 */
TEST_CASE(Netpoll, APollTakesABatch)
{
    for (int rel = 13; rel <= 27; rel++) {
        many_ready(5, 9 * MS);
        run_rule(rel, 1, "netpoll_batch", 2);
        CHECK_STR(r.out, "1 0 3 2 4 ");
    }
}

TEST_CASE(Netpoll, WriterRunsBeforeReader)
{
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int wg = as_object(&a, OBJ_WAITGROUP, 0),
            fd = as_object(&a, OBJ_FD, arrive_at(3, at_5ms, 1));
        int f[2];
        for (int mode = 1; mode <= 2; mode++) {
            f[mode - 1] = as_func(&a, "f", 0, 1);
            fd_wait(0, mode, fd);
            as_print(&a, mode == 1 ? "reader " : "writer ");
            as_obj(&a, OP_WGDONE, wg);
            as_ret(&a);
        }
        as_func(&a, "main", 0, 1);
        as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 2);
        as_go(&a, f[0], 0, 0);
        as_go(&a, f[1], 0, 0);
        as_obj(&a, OP_WGWAIT, wg);
        as_ret(&a);
        run(rel, 1);
        CHECK_STR(r.out, "writer reader ");
    }
}

/* ---- reading ---- */

static void print_us_since(int when, int tmp)
{
    as_op(&a, OP_NOW, tmp, 0, 0, 0, 0);
    as_op(&a, OP_SUB, tmp, tmp, when, 0, 0);
    as_const(&a, tmp + 1, US);
    as_op(&a, OP_DIV, tmp, tmp, tmp + 1, 0, 0);
    as_print1(&a, "%d ", tmp);
}

/* Numbers in order, with the time of the arrival; the reader of an idle machine is told at once. */
TEST_CASE(Netpoll, ReadGivesArrivalsInOrder)
{
    static const int64_t times[] = {2 * MS, 2 * MS, 7 * MS};
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int fd = as_object(&a, OBJ_FD, arrive_at(1, times, 3));
        as_func(&a, "main", 0, 6);
        for (int i = 0; i < 3; i++) {
            fd_read(0, 1, fd);
            as_print1(&a, "%d ", 0);
            print_us_since(1, 2);
        }
        as_ret(&a);
        run(rel, 1);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(printed(2 * i), (int64_t)i);
            CHECK_BETWEEN(0, printed(2 * i + 1), 150);
        }
    }
}

/* Several goroutines may read one descriptor: internal/poll's lock lets one in at a time. */
TEST_CASE(Netpoll, ReadersOfOneDescriptorTakeTurns)
{
    static const int64_t times[] = {2 * MS, 3 * MS, 4 * MS, 4 * MS, 5 * MS, 6 * MS};
    for (int rel = 13; rel <= 27; rel++)
        for (int procs = 1; procs <= 3; procs += 2) {
            as_init(&a);
            int wg = as_object(&a, OBJ_WAITGROUP, 0),
                fd = as_object(&a, OBJ_FD, arrive_at(1, times, 6));
            int sum = as_object(&a, OBJ_VAR, 0);
            int f = as_func(&a, "f", 0, 3);
            for (int i = 0; i < 2; i++) {
                fd_read(0, NOREG, fd);
                as_op(&a, OP_ADDI, 0, 0, 0, 0, 1);
                as_op(&a, OP_MUL, 0, 0, 0, 0, 0);
                as_op(&a, OP_ADDA, NOREG, 0, 0, sum, 0);
            }
            as_obj(&a, OP_WGDONE, wg);
            as_ret(&a);
            as_func(&a, "main", 0, 1);
            as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 3);
            for (int i = 0; i < 3; i++)
                as_go(&a, f, 0, 0);
            as_obj(&a, OP_WGWAIT, wg);
            as_op(&a, OP_LOADA, 0, 0, 0, sum, 0);
            as_print1(&a, "%d", 0);
            as_ret(&a);
            run(rel, procs);
            CHECK_STR(r.out, "91"); /* 1 + 4 + 9 + 16 + 25 + 36: every request once */
        }
}

/* A wait takes the edge that ended it: the next wait is for the next edge. */
TEST_CASE(Netpoll, AnEdgeEndsOneWait)
{
    static const int64_t times[] = {5 * MS, 20 * MS};
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int fd = as_object(&a, OBJ_FD, arrive_at(2, times, 2));
        as_func(&a, "main", 0, 4);
        as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
        for (int i = 0; i < 2; i++) {
            fd_wait(0, 2, fd);
            print_us_since(1, 2);
        }
        as_ret(&a);
        run(rel, 1);
        CHECK_BETWEEN(4900, printed(0), 5200);
        CHECK_BETWEEN(19900, printed(1), 20200);
    }
}

/* ---- deadlines and close ---- */

TEST_CASE(Netpoll, DeadlineEndsARead)
{
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int fd = as_object(&a, OBJ_FD, -1);
        as_func(&a, "main", 0, 6);
        as_op(&a, OP_NOW, 1, 0, 0, 0, 0);
        as_op(&a, OP_FDDEADLINE, 1, NOREG, 0, fd, 5 * MS);
        fd_read(0, NOREG, fd);
        as_print1(&a, "%d ", 0);
        print_us_since(1, 2);
        fd_read(0, NOREG, fd); /* stays expired */
        as_print1(&a, "%d ", 0);
        as_op(&a, OP_FDDEADLINE, 3, NOREG, 0, fd, 3 * MS); /* one timer for both directions */
        fd_read(0, NOREG, fd);
        as_print1(&a, "%d ", 0);
        fd_write(0, NOREG, fd);
        as_print1(&a, "%d ", 0);
        as_op(&a, OP_FDDEADLINE, 3, NOREG, 0, fd, -1);
        fd_write(0, NOREG, fd);
        as_print1(&a, "%d ", 0);
        as_ret(&a);
        run(rel, 1);
        CHECK_EQ(printed(0), INT64_C(-2));
        CHECK_BETWEEN(5000, printed(1), 6300);
        for (int i = 2; i <= 4; i++)
            CHECK_EQ(printed(i), INT64_C(-2));
        CHECK_EQ(printed(5), INT64_C(0));
    }
}

/* A deadline that is moved or taken away does not fire. */
TEST_CASE(Netpoll, MovedDeadlineDoesNotFire)
{
    static const int64_t times[] = {20 * MS};
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int fd = as_object(&a, OBJ_FD, arrive_at(1, times, 1));
        int mover = as_func(&a, "mover", 0, 1);
        as_sleep(&a, 2 * MS);
        as_op(&a, OP_FDDEADLINE, 1, NOREG, 0, fd, 50 * MS);
        as_sleep(&a, 2 * MS);
        as_op(&a, OP_FDDEADLINE, 1, NOREG, 0, fd, -1);
        as_ret(&a);
        as_func(&a, "main", 0, 6);
        as_op(&a, OP_FDDEADLINE, 1, NOREG, 0, fd, 5 * MS);
        as_go(&a, mover, 0, 0);
        fd_read(0, NOREG, fd);
        as_print1(&a, "%d", 0);
        as_ret(&a);
        run(rel, 2);
        CHECK_STR(r.out, "0");
    }
}

TEST_CASE(Netpoll, CloseWakesEverybodyAndWaitsForThem)
{
    for (int rel = 13; rel <= 27; rel++) {
        as_init(&a);
        int wg = as_object(&a, OBJ_WAITGROUP, 0), fd = as_object(&a, OBJ_FD, -1);
        int f = as_func(&a, "f", 0, 1);
        fd_read(0, NOREG, fd);
        as_print1(&a, "%d ", 0);
        as_obj(&a, OP_WGDONE, wg);
        as_ret(&a);
        as_func(&a, "main", 0, 1);
        as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 3);
        for (int i = 0; i < 3; i++)
            as_go(&a, f, 0, 0);
        as_sleep(&a, 2 * MS);
        as_obj(&a, OP_FDCLOSE, fd);
        as_print(&a, "closed ");
        as_obj(&a, OP_WGWAIT, wg);
        fd_read(0, NOREG, fd);
        as_print1(&a, "%d ", 0);
        as_obj(&a, OP_FDCLOSE, fd);
        as_ret(&a);
        run(rel, 1);
        CHECK_HAS(r.out, "closed ");
        CHECK_EQ(r.nout, sizeof "-1 -1 -1 -1 closed " - 1);
    }
}

/* ---- the count of waiters ---- */

/* Until 1.21 a G that netpoll returned was never taken off the count: from then on an M without
 * work sleeps in the poller, as if somebody waited for IO, where 1.22 parks it. */
TEST_CASE(Netpoll, WaitersAreCountedDownSince122)
{
    static const int64_t times[] = {1 * MS};
    for (int rel = 14; rel <= 27; rel++) {
        as_init(&a);
        int fd = as_object(&a, OBJ_FD, arrive_at(1, times, 1));
        int f = as_func(&a, "f", 0, 1);
        cpu_nopreempt(50 * US);
        as_ret(&a);
        as_func(&a, "main", 0, 3);
        fd_read(0, NOREG, fd);
        for (int i = 0; i < 20; i++) {
            as_go(&a, f, 0, 0);
            cpu_nopreempt(200 * US);
        }
        as_ret(&a);
        run(rel, 2);
        /* Once for the read; then the M that ran f goes idle, but does so as the poller. */
        if (rel >= 22)
            CHECK_EQ(r.counters[COUNTER_netpoll_blocks], UINT64_C(1));
        else
            CHECK_GE(r.counters[COUNTER_netpoll_blocks], UINT64_C(2));
    }
}

/* A deadline or a close takes its G off the count in every release. */
TEST_CASE(Netpoll, DeadlineAndCloseCountDown)
{
    for (int rel = 16; rel <= 27; rel++)
        for (int close = 0; close <= 1; close++) {
            as_init(&a);
            int fd = as_object(&a, OBJ_FD, -1);
            int closer = as_func(&a, "closer", 0, 1);
            as_sleep(&a, MS);
            as_obj(&a, OP_FDCLOSE, fd);
            as_ret(&a);
            int f = as_func(&a, "f", 0, 1);
            cpu_nopreempt(50 * US);
            as_ret(&a);
            as_func(&a, "main", 0, 3);
            if (close)
                as_go(&a, closer, 0, 0);
            else
                as_op(&a, OP_FDDEADLINE, 1, NOREG, 0, fd, MS);
            fd_read(0, NOREG, fd);
            as_print1(&a, "%d", 0);
            for (int i = 0; i < 20; i++) {
                as_go(&a, f, 0, 0);
                cpu_nopreempt(200 * US);
            }
            as_ret(&a);
            run(rel, 2);
            CHECK_STR(r.out, close ? "-1" : "-2");
            /* once, while the timer was set */
            CHECK_EQ(r.counters[COUNTER_netpoll_blocks], UINT64_C(1));
        }
}

/* ---- arrival processes ---- */

/* Reads for 100 ms and prints how many requests came. */
static void count_arrivals(struct arrivals x, int64_t service)
{
    as_init(&a);
    x.gap = add_gap();
    int fd = as_object(&a, OBJ_FD, add_arrivals(x));
    as_func(&a, "main", 0, 4);
    as_const(&a, 1, 0);
    as_op(&a, OP_FDDEADLINE, 1, NOREG, 0, fd, 100 * MS);
    int l = as_here(&a), end = as_label(&a);
    fd_read(0, NOREG, fd);
    as_jump(&a, OP_JLTI, 0, 0, 0, end);
    as_op(&a, OP_ADDI, 1, 1, 0, 0, 1);
    cpu_nopreempt(service);
    fd_write(NOREG, 0, fd);
    as_jump(&a, OP_JMP, 0, 0, 0, l);
    as_place(&a, end);
    as_print1(&a, "%d", 1);
    as_ret(&a);
    run(27, 1);
}

TEST_CASE(Netpoll, FixedRate)
{
    CHECK_EQ(dist_fixed(&gap, MS, NULL), 0);
    count_arrivals((struct arrivals){.kind = ARRIVE_EVERY, .mode = 1}, 100 * US);
    CHECK_BETWEEN(98, printed(0), 100);
    count_arrivals((struct arrivals){.kind = ARRIVE_EVERY, .mode = 1, .count = 7}, 100 * US);
    CHECK_STR(r.out, "7");
    count_arrivals((struct arrivals){.kind = ARRIVE_EVERY, .mode = 1, .start_ns = 50 * MS},
                   100 * US);
    CHECK_BETWEEN(48, printed(0), 50);
    count_arrivals((struct arrivals){.kind = ARRIVE_EVERY, .mode = 1, .end_ns = 30 * MS}, 100 * US);
    CHECK_BETWEEN(28, printed(0), 30);
}

TEST_CASE(Netpoll, Bursts)
{
    CHECK_EQ(dist_fixed(&gap, 10 * MS, NULL), 0);
    count_arrivals((struct arrivals){.kind = ARRIVE_BURSTS, .mode = 1, .size = 5}, 100 * US);
    CHECK_BETWEEN(45, printed(0), 50);
    count_arrivals((struct arrivals){.kind = ARRIVE_BURSTS, .mode = 1, .size = 5, .count = 12},
                   100 * US);
    CHECK_STR(r.out, "12");
}

/* Requests that find 4096 others waiting are refused. */
TEST_CASE(Netpoll, BacklogIsFinite)
{
    CHECK_EQ(dist_fixed(&gap, 10 * MS, NULL), 0);
    count_arrivals(
        (struct arrivals){.kind = ARRIVE_BURSTS, .mode = 1, .size = 10000, .count = 10000}, US);
    CHECK_STR(r.out, "4096");
}

TEST_CASE(Netpoll, PoissonRate)
{
    CHECK_EQ(dist_exponential(&gap, 100 * US, NULL), 0);
    count_arrivals((struct arrivals){.kind = ARRIVE_EVERY, .mode = 1}, 10 * US);
    CHECK_BETWEEN(900, printed(0), 1100); /* 1000 with a standard deviation of 32 */
}

/* Three clients think 1 ms each: one server of 0.1 ms answers about three per 1.1 ms or a little
 * more. */
TEST_CASE(Netpoll, ClosedLoopWaitsForItsAnswers)
{
    CHECK_EQ(dist_fixed(&gap, MS, NULL), 0);
    count_arrivals((struct arrivals){.kind = ARRIVE_CLOSED, .mode = 1, .size = 3}, 100 * US);
    CHECK_BETWEEN(200, printed(0), 273);
    /* A slow server is the bottleneck: one per 5 ms, whoever waits. */
    count_arrivals((struct arrivals){.kind = ARRIVE_CLOSED, .mode = 1, .size = 3}, 5 * MS);
    CHECK_BETWEEN(19, printed(0), 23);
}

/* Same seed, same run; another seed, another run. */
TEST_CASE(Netpoll, ArrivalsFollowTheSeed)
{
    CHECK_EQ(dist_exponential(&gap, 100 * US, NULL), 0);
    count_arrivals((struct arrivals){.kind = ARRIVE_EVERY, .mode = 1}, 10 * US);
    uint64_t first = r.fingerprint;
    count_arrivals((struct arrivals){.kind = ARRIVE_EVERY, .mode = 1}, 10 * US);
    CHECK_EQ(r.fingerprint, first);
    as_run(&r, &a, (struct as_opts){.release = 27, .seed = 5});
    CHECK_NE(r.fingerprint, first);
}
