/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: a tape does what the same instructions do as code; events happen once; instants, posted
 * arrivals; what is no tape is refused. Method: tapes written entry by entry, played by goroutines
 * of the three instructions; prints and virtual times. */
#include <stdlib.h>
#include <string.h>

#include "asm.h"
#include "harness.h"
#include "model/tape.h"

static struct as a;
static struct as_result r;
static uint8_t bytes[4096];
static uint64_t starts[32];
static size_t used;

enum { US = 1000, MS = 1000000 };
enum { REASON_CHAN_RECEIVE = 14, REASON_SELECT = 9 }; /* places in waitreason.def */

static void begin(void)
{
    as_init(&a);
    used = 0;
    a.b.p.tape = bytes;
    a.b.p.tapes = starts;
    a.b.p.ntapes = 0;
}

/* The entries that follow are a new tape; gives its number. */
static int tape(void)
{
    starts[a.b.p.ntapes] = used;
    return (int)a.b.p.ntapes++;
}

static void put(enum op op, int ra, int rb, int rc, int32_t d, int64_t imm)
{
    struct insn in = {(uint8_t)op, (uint8_t)ra, (uint8_t)rb, (uint8_t)rc, d, imm};
    used += tape_put(bytes + used, &in);
    starts[a.b.p.ntapes] = used;
}
static void put_const(int reg, int64_t v) { put(OP_CONST, reg, 0, 0, 0, v); }
static void put_cpu(int64_t ns) { put(OP_CPU, CPU_normal, NOREG, 0, -1, ns); }
static void put_ret(void) { put(OP_RET, NOREG, 0, 0, 0, 0); }
static void put_wait(int64_t e) { put(OP_EVWAIT, REASON_CHAN_RECEIVE, 0, 0, 0, e); }
static void put_post(int64_t e) { put(OP_EVPOST, 0, 0, 0, 0, e); }
static void put_go(int func, int tape_number)
{
    put_const(TAPE_FREE, tape_number);
    put(OP_GO, TAPE_FREE, 1, 0, func, -1);
}
static void put_print(const char *text) { put(OP_PRINT, 0, 0, 0, as_string(&a, text), 0); }

/* The function that plays tapes. */
static int player(void)
{
    int f = as_func(&a, "recorded", 1, TAPE_REGS);
    as_op(&a, OP_TAPEBEGIN, 0, 0, 0, 0, 0);
    int loop = as_here(&a);
    as_op(&a, OP_TAPE, 0, 0, 0, 0, 0);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    return f;
}

/* main starts tape 0 and lets it run for a second. */
static void main_plays(int f)
{
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, 0);
    as_go(&a, f, 0, 1);
    as_sleep(&a, 1000 * MS);
    as_ret(&a);
}

static void run_on(int release, int procs)
{
    as_run(&r, &a, (struct as_opts){.release = release, .procs = procs});
    CHECK_STR(r.text, "");
    CHECK_EQ(r.end, END_STOPPED);
}

/* ---- the code ---- */

TEST_CASE(Tape, EveryInstructionComesBackAsItWasPut)
{
    static const int64_t values[] = {0, 1, -1, 63, 64, 12345, INT64_MAX, INT64_MIN};
    for (int op = 0; op < OPS; op++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            for (int full = 0; full < 3; full++) { /* 2: of what most leave out, only d is there */
                const struct op_info *o = &op_infos[op];
                struct insn in = {.op = (uint8_t)op}, out;
                in.a = o->a == N_ ? 0 : full == 1 ? 5 : tape_default(o->a);
                in.b = o->b == N_ ? 0 : full == 1 ? 200 : tape_default(o->b);
                in.c = o->c == N_ ? 0 : full == 1 ? 3 : tape_default(o->c);
                in.d = o->d == N_ ? 0 : full || !tape_d_absent(o->d) ? (int32_t)values[v] : -1;
                if (in.d < -1)
                    in.d = INT32_MAX;
                in.imm = o->imm == N_ ? 0 : values[v];
                size_t n = tape_put(bytes, &in);
                CHECK_LE(n, (size_t)TAPE_ENTRY_MAX);
                CHECK(tape_get(bytes, &out) == bytes + n);
                CHECK_EQ(memcmp(&in, &out, sizeof in), 0);
                memset(bytes + n, 0xff, 40);
                CHECK(tape_read(bytes, bytes + n, &out) == bytes + n);
                for (size_t cut = 0; cut < n; cut++)
                    CHECK(tape_read(bytes, bytes + cut, &out) == NULL);
            }
}

TEST_CASE(Tape, WhatIsMostOfARecordingIsShort)
{
    begin();
    tape();
    put_cpu(12345);
    CHECK_LE(used, 4);
    put_post(100000);
    CHECK_LE(used, 8);
    put(OP_SYSCALL, 0, NOREG, 0, -1, 2500);
    CHECK_LE(used, 11);
}

TEST_CASE(Tape, ATapeDoesWhatCodeDoes)
{
    for (int rel = 13; rel <= 27; rel += 7) {
        uint64_t taped;
        for (int as_code = 0; as_code < 2; as_code++) {
            begin();
            int ch = as_object(&a, OBJ_CHAN, 0), mu = as_object(&a, OBJ_MUTEX, 0);
            if (as_code) {
                int f = as_func(&a, "f", 0, 2);
                as_cpu(&a, 30 * US);
                as_obj(&a, OP_LOCK, mu);
                as_const(&a, 1, 42);
                as_send(&a, ch, 1);
                as_obj(&a, OP_UNLOCK, mu);
                as_ret(&a);
                as_func(&a, "main", 0, 2);
                as_go(&a, f, 0, 0);
            } else {
                int f = player();
                tape();
                put_cpu(30 * US);
                put(OP_LOCK, 0, 0, 0, mu, 0);
                put_const(5, 42);
                put(OP_SEND, 5, 0, 0, ch, 0);
                put(OP_UNLOCK, 0, 0, 0, mu, 0);
                put_ret();
                as_func(&a, "main", 0, 2);
                as_const(&a, 0, 0);
                as_go(&a, f, 0, 1);
            }
            as_recv(&a, ch, 0);
            as_print1(&a, "%d", 0);
            as_ret(&a);
            run_on(rel, 2);
            CHECK_STR(r.out, "42");
            if (as_code)
                CHECK_LE(llabs((long long)(taped - r.now_ps)), 100000); /* 100 ns of reading it */
            taped = r.now_ps;
        }
    }
}

/* A goroutine that was cut in the middle of an entry goes on with it. */
TEST_CASE(Tape, ABurstThatIsPreemptedIsNotCutShort)
{
    begin();
    int f = player();
    tape();
    put_cpu(60 * MS);
    put_print("recorded ");
    put_ret();
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, 0);
    as_go(&a, f, 0, 1);
    as_plain(&a, OP_GOSCHED);
    as_cpu(&a, 45 * MS);
    as_print(&a, "main ");
    as_sleep(&a, MS);
    as_cpu(&a, 100 * MS);
    as_ret(&a);
    run_on(27, 1);
    CHECK_STR(r.out, "main recorded ");
    CHECK_LE(205 * (uint64_t)MS * 1000, r.now_ps);
    CHECK_LE(4, r.counters[COUNTER_preempted]);
}

/* RET runs twice when the frame has deferred calls: Once's body is one. */
TEST_CASE(Tape, ABodyOfOnceIsATape)
{
    begin();
    int f = player(), once = as_object(&a, OBJ_ONCE, 0);
    tape();
    for (int i = 0; i < 2; i++) {
        put_const(TAPE_FREE, 1);
        put(OP_ONCE, TAPE_FREE, 1, 0, once, f);
    }
    put_print("after ");
    put_ret();
    tape();
    put_print("body ");
    put_ret();
    tape();
    put_print("never ");
    put_ret();
    main_plays(f);
    run_on(27, 1);
    CHECK_STR(r.out, "body after ");
}

/* ---- events ---- */

static void wait_and_post(int64_t waiter_works, int64_t poster_works)
{
    begin();
    int f = player();
    a.b.p.nevents = 3;
    tape();
    put_go(f, 1);
    put_cpu(poster_works);
    put_print("post ");
    put_post(2);
    put_ret();
    tape();
    put_cpu(waiter_works);
    put_wait(2);
    put_print("woken ");
    put_ret();
    main_plays(f);
}

TEST_CASE(Tape, AnEventThatHappenedIsNotWaitedFor)
{
    for (int rel = 13; rel <= 27; rel++)
        for (int procs = 1; procs <= 2; procs++) {
            wait_and_post(10 * US, 500 * US);
            run_on(rel, procs);
            CHECK_STR(r.out, "post woken ");
            uint64_t parked = r.counters[COUNTER_parks];
            wait_and_post(500 * US, 10 * US);
            run_on(rel, procs);
            CHECK_STR(r.out, "post woken ");
            CHECK_EQ(r.counters[COUNTER_parks], parked - (procs == 2));
        }
}

/* The poster has the lock while he runs, and lets go of it. */
TEST_CASE(Tape, NobodyMeetsALockAtOneP)
{
    for (int procs = 1; procs <= 2; procs++) {
        begin();
        int f = player();
        a.b.p.nevents = 1;
        tape();
        put_go(f, 1);
        put_cpu(500 * US);
        put_post(0);
        put_print("post ");
        put_ret();
        tape();
        put(OP_EVLOCK, REASON_SELECT, 0, 0, 0, 0);
        put_print("has ");
        put_ret();
        main_plays(f);
        run_on(27, procs);
        CHECK_STR(r.out, "post has ");
        CHECK_EQ(r.counters[COUNTER_events_waited], procs - 1);
    }
}

TEST_CASE(Tape, WhoWaitsForAnEventSaysWhatWasRecorded)
{
    begin();
    int f = player();
    a.b.p.nevents = 1;
    tape();
    put(OP_EVWAIT, REASON_SELECT, 0, 0, 0, 0);
    put_ret();
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, 0);
    as_go(&a, f, 0, 1);
    int ch = as_object(&a, OBJ_CHAN, 0);
    as_recv(&a, ch, 0);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){.procs = 1});
    CHECK_EQ(r.end, END_FINDING);
    CHECK(strstr(r.text, "[select]") != NULL);
}

/* ---- instants ---- */

TEST_CASE(Tape, AnInstantIsThatFarFromTheBegin)
{
    begin();
    int f = player();
    tape();
    put_go(f, 1);
    put_cpu(700 * US);
    put(OP_AFTERTO, TAPE_FREE, 1, 0, f, 3 * MS);
    put(OP_SLEEPTO, 0, 0, 0, 0, 500 * US); /* past: no sleep */
    put(OP_SLEEPTO, 0, 0, 0, 0, 2 * MS);
    put_print("slept ");
    put(OP_SLEEPTO, 0, 0, 0, 0, 5 * MS);
    put_ret();
    tape();
    put_print("began ");
    put_ret();
    main_plays(f);
    run_on(27, 1);
    CHECK_STR(r.out, "began slept began ");
}

/* Instant 0 is where TAPEZERO stands, not where the world began. */
static uint64_t sleeps_until(int64_t instant)
{
    begin();
    int f = player();
    tape();
    put_cpu(3 * MS);
    put(OP_TAPEZERO, 0, 0, 0, 0, 0);
    put(OP_SLEEPTO, 0, 0, 0, 0, instant);
    put_ret();
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, 0);
    as_call(&a, f, 0, 1, NOREG);
    as_ret(&a);
    run_on(27, 1);
    return r.now_ps;
}

TEST_CASE(Tape, InstantsCountFromWhereTheTapeSays)
{
    uint64_t t0 = sleeps_until(0), t9 = sleeps_until(9 * MS);
    CHECK_LE(t0, 4 * (uint64_t)MS * 1000);
    CHECK_LE(12 * (uint64_t)MS * 1000, t9);
    CHECK_LE(t9, 14 * (uint64_t)MS * 1000);
}

TEST_CASE(Tape, ATimerFeedsAChannelThatIsThere)
{
    for (int rel = 13; rel <= 27; rel += 2) {
        begin();
        int f = player(), once = as_object(&a, OBJ_CHAN, 1), tick = as_object(&a, OBJ_CHAN, 1);
        tape();
        put(OP_CHTIMER, 0, NOREG, 0, once, 3 * MS);
        put(OP_CHTIMER, 1, NOREG, 0, tick, 2 * MS);
        put(OP_RECV, NOREG, NOREG, 0, tick, 0);
        put_print("tick ");
        put(OP_RECV, NOREG, NOREG, 0, once, 0);
        put_print("once ");
        put(OP_RECV, NOREG, NOREG, 0, tick, 0);
        put_print("tick ");
        put(OP_CHSTOP, 0, 0, 0, tick, 0);
        put(OP_CHRESET, 0, NOREG, 0, once, 5 * MS);
        put(OP_RECV, NOREG, NOREG, 0, once, 0);
        put_print("again ");
        put(OP_RECV, NOREG, NOREG, 0, tick, 0);
        put_print("never ");
        put_ret();
        main_plays(f);
        run_on(rel, 1);
        CHECK_STR(r.out, "tick once tick again ");
    }
}

/* What is received is the number of a tape, which is played before the receiver's own goes on. For
 * 0, and for what is no tape's number, nothing is played. */
TEST_CASE(Tape, AnItemBringsItsTape)
{
    begin();
    int f = player(), ch = as_object(&a, OBJ_CHAN, 9);
    tape();
    for (int i = 2; i >= 0; i--) {
        put_const(TAPE_FREE, i > 0 ? i : 77);
        put(OP_SEND, TAPE_FREE, 0, 0, ch, 0);
    }
    for (int i = 0; i < 3; i++) {
        put(OP_RECV, TAPE_FREE, NOREG, 0, ch, 0);
        put(OP_TAPECALL, TAPE_FREE, 0, 0, 0, 0);
        put_print("own ");
    }
    put_ret();
    tape();
    put_print("one ");
    put(OP_SLEEP, 0, NOREG, 0, -1, MS);
    put(OP_TAPEBACK, 0, 0, 0, 0, 0);
    tape();
    put_print("two ");
    put(OP_TAPEBACK, 0, 0, 0, 0, 0);
    main_plays(f);
    run_on(27, 1);
    CHECK_STR(r.out, "two own one own own ");
}

/* ---- descriptors ---- */

static int posted_fd(int64_t most)
{
    struct arrivals posted = {.kind = ARRIVE_POSTED, .mode = 1, .size = most};
    return as_object(&a, OBJ_FD, build_arrivals(&a.b, &posted));
}

TEST_CASE(Tape, AWriteOfAnotherGoroutineWakesThroughThePoller)
{
    for (int rel = 13; rel <= 27; rel += 2) {
        begin();
        int f = player(), fd = posted_fd(2);
        tape();
        put_go(f, 1);
        put(OP_SLEEP, 0, NOREG, 0, -1, MS);
        put_print("write ");
        put(OP_FDPOST, 0, NOREG, 0, fd, 5 * US);
        put(OP_SLEEP, 0, NOREG, 0, -1, MS);
        put(OP_FDPOST, 0, NOREG, 0, fd, 1);
        put(OP_FDPOST, 0, NOREG, 0, fd, 2);
        put_ret();
        tape();
        put(OP_FDTAKE, NOREG, 0, 0, fd, 0);
        put_print("read ");
        put(OP_SLEEP, 0, NOREG, 0, -1, 4 * MS); /* both are there before it looks */
        put(OP_FDTAKE, NOREG, 0, 0, fd, 0);
        put(OP_FDTAKE, NOREG, 0, 0, fd, 0);
        put_print("read two ");
        put(OP_FDTAKE, NOREG, 0, 0, fd, 0);
        put_print("never ");
        put_ret();
        main_plays(f);
        run_on(rel, 1);
        CHECK_STR(r.out, "write read read two ");
        CHECK_LE(1, r.counters[COUNTER_netpolls]);
    }
}

/* ---- what is no tape ---- */

static char why[200];
static const char *refusal(void)
{
    (void)player();
    as_func(&a, "main", 0, 1);
    as_ret(&a);
    build_leave(&a.b);
    const struct program *p = build_tables(&a.b, a.b.p.nfuncs - 1);
    return program_check(p, why, sizeof why) ? strcpy(why, "") : why;
}

#define REFUSED(entry, text)                    \
    do {                                        \
        begin();                                \
        a.b.p.nevents = 2;                      \
        tape();                                 \
        entry;                                  \
        put_ret();                              \
        CHECK(strstr(refusal(), text) != NULL); \
    } while (0)

TEST_CASE(Tape, WhatHasNoPlaceOnOneIsRefused)
{
    REFUSED(put_cpu(1), "");
    CHECK_STR(why, "");
    REFUSED(put(OP_JMP, 0, 0, 0, 0, 0), "has no place");
    REFUSED(put(OP_LOOP, 5, 0, 0, 0, 0), "has no place");
    REFUSED(put(OP_ADD, 5, 5, 5, 0, 0), "has no place");
    REFUSED(put(OP_CALL, 5, 0, NOREG, 0, 0), "has no place");
    REFUSED(put(OP_TAPE, 0, 0, 0, 0, 0), "has no place");
    REFUSED(put(OP_CGOCALL, 0, NOREG, 0, -1, 5), "has no place");
    REFUSED(put_const(TAPE_NEXT, 1), "changes where");
    REFUSED(put_const(TAPE_AT, 1), "changes where");
    REFUSED(put_const(TAPE_BACK, 1), "changes where");
    REFUSED(put(OP_GOMAXPROCS, TAPE_NEXT, NOREG, 0, 0, 1), "changes where");
    REFUSED(put_const(TAPE_REGS, 1), "no such register");
    REFUSED(put_wait(2), "no such event");
    REFUSED(put_post(-1), "negative");
    REFUSED(put(OP_EVWAIT, 99, 0, 0, 0, 1), "unknown kind");
    REFUSED(put(OP_EVLOCK, 99, 0, 0, 0, 1), "unknown kind");
    REFUSED(put(OP_LOCK, 0, 0, 0, 7, 0), "no such object");
}

TEST_CASE(Tape, ATapeEndsWhereItSays)
{
    begin();
    tape();
    put_cpu(1);
    CHECK(strstr(refusal(), "does not end here") != NULL);
    begin();
    tape();
    put_ret();
    starts[1]--;
    CHECK(strstr(refusal(), "no whole instruction") != NULL);
    begin();
    tape();
    put_ret();
    bytes[0] = 0xff;
    CHECK(strstr(refusal(), "no whole instruction") != NULL);
    begin();
    tape();
    tape();
    put_ret();
    starts[1] = 0;
    CHECK(strstr(refusal(), "out of range") != NULL);
}

TEST_CASE(Tape, OnlyThreeInstructionsPlayOne)
{
    begin();
    tape();
    put_ret();
    as_func(&a, "f", 1, TAPE_REGS);
    as_op(&a, OP_TAPEBEGIN, 0, 0, 0, 0, 0);
    as_op(&a, OP_ADDI, TAPE_NEXT, TAPE_NEXT, 0, 0, 1);
    as_op(&a, OP_TAPE, 0, 0, 0, 0, 0);
    as_ret(&a);
    CHECK(strstr(refusal(), "no function that plays a tape") != NULL);
}
