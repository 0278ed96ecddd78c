/* SPDX-License-Identifier: BSD-3-Clause */
/* Channels: what a send, a receive and a close do to whom, and in which order waiters run
 * afterwards. Method: small programs at GOMAXPROCS=1, where Go's order is
 * fixed, on every release. */
#include "each_release.h"

static void wait_for(int wg)
{
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
}

TEST_CASE(Chan, CloseWakesFirstThenNewestToOldest)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 1, 4);
    as_op(&a, OP_RECV, 1, 2, 0, ch, 0);
    as_print2(&a, "%d:%d", 0); /* number:value */
    as_print1(&a, ":%t ", 2);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 5);
    spawn_parked(f, 5);
    as_obj(&a, OP_CLOSE, ch);
    wait_for(wg);
    check_all("1:0:false 5:0:false 4:0:false 3:0:false 2:0:false ");
}

TEST_CASE(Chan, UnbufferedReceiversAreServedInOrder)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0), wg = as_object(&a, OBJ_WAITGROUP, 0);
    int f = as_func(&a, "f", 1, 4);
    as_recv(&a, ch, 1);
    as_print2(&a, "%d=%d ", 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 3);
    spawn_parked(f, 3);
    for (int i = 1; i <= 3; i++) {
        as_const(&a, 1, i * 10);
        as_send(&a, ch, 1);
    }
    wait_for(wg);
    /* Each wake displaces the one before from runnext: 3 first, then 1, 2. */
    check_all("3=30 1=10 2=20 ");
}

TEST_CASE(Chan, FullBufferTakesTheSendersValueAtItsTail)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 2);
    int f = as_func(&a, "sender", 0, 2);
    for (int i = 1; i <= 4; i++) {
        as_const(&a, 0, i);
        as_send(&a, ch, 0);
    }
    as_obj(&a, OP_CLOSE, ch);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_LEN, 0, 0, 0, ch, 0);
    as_op(&a, OP_CAP, 1, 0, 0, ch, 0);
    as_print2(&a, "%d/%d:", 0);
    int loop = as_here(&a), end = as_label(&a);
    as_op(&a, OP_RECV, 0, 1, 0, ch, 0);
    as_jump(&a, OP_JZ, 1, 0, 0, end);
    as_print1(&a, " %d", 0);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    as_place(&a, end);
    as_print2(&a, " end %d %d", 0);
    as_ret(&a);
    check_all("2/2: 1 2 3 4 end 0 0");
}

TEST_CASE(Chan, ChannelsTravelThroughChannels)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "server", 0, 4);
    int loop = as_here(&a);
    as_recv(&a, ch, 0); /* a reply channel */
    as_const(&a, 1, 42);
    as_op(&a, OP_SEND, 1, 0, 0, OBJ_REG, 0);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    as_func(&a, "main", 0, 4);
    as_go(&a, f, 0, 0);
    for (int i = 0; i < 2; i++) {
        as_op(&a, OP_MAKE, 0, OBJ_CHAN, NOREG, 0, i);
        as_send(&a, ch, 0);
        as_op(&a, OP_RECV, 1, NOREG, 0, OBJ_REG, 0);
        as_print1(&a, "%d ", 1);
    }
    as_ret(&a);
    check_all("42 42 ");
}

TEST_CASE(Chan, SendOnClosedPanics)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_CLOSE, ch);
    as_send(&a, ch, 0);
    as_ret(&a);
    check_dies(FIND_PANIC, "panic: send on closed channel\n\ngoroutine 1 [running]:\nmain.main");
}

TEST_CASE(Chan, ParkedSenderPanicsWhenClosed)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    int f = as_func(&a, "sender", 0, 2);
    as_send(&a, ch, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_obj(&a, OP_CLOSE, ch);
    as_plain(&a, OP_GOSCHED);
    as_ret(&a);
    check_dies(FIND_PANIC, "panic: send on closed channel");
}

TEST_CASE(Chan, CloseOfClosedAndOfNilPanic)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    as_func(&a, "main", 0, 2);
    as_obj(&a, OP_CLOSE, ch);
    as_obj(&a, OP_CLOSE, ch);
    as_ret(&a);
    check_dies(FIND_PANIC, "panic: close of closed channel");
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_CLOSE, 0, 0, 0, OBJ_REG, 0);
    as_ret(&a);
    check_dies(FIND_PANIC, "panic: close of nil channel");
}

TEST_CASE(Chan, DeadlockNamesTheWait)
{
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 0);
    as_func(&a, "main", 0, 2);
    as_recv(&a, ch, 0);
    as_ret(&a);
    check_dies(FIND_DEADLOCK, "all goroutines are asleep - deadlock!");
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_op(&a, OP_RECV, 0, NOREG, 1, OBJ_REG, 0);
    as_ret(&a);
    check_dies(FIND_DEADLOCK, "all goroutines are asleep - deadlock!");
}

TEST_CASE(Chan, HandleOfAnotherKindIsFatal)
{
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0);
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, mu + 1);
    as_op(&a, OP_SEND, 1, 0, 0, OBJ_REG, 0);
    as_ret(&a);
    check_dies(FIND_FATAL, "handle");
    as_init(&a);
    as_func(&a, "main", 0, 2);
    as_const(&a, 0, INT64_MAX);
    as_op(&a, OP_SEND, 1, 0, 0, OBJ_REG, 0);
    as_ret(&a);
    check_dies(FIND_FATAL, "handle");
}

/* Many producers and consumers on several Ps: nothing is lost, nothing comes twice. */
TEST_CASE(Chan, SumsAreRightOnManyPs)
{
    enum { WORKERS = 8, ITEMS = 200 };
    as_init(&a);
    int ch = as_object(&a, OBJ_CHAN, 3), wg = as_object(&a, OBJ_WAITGROUP, 0),
        done = as_object(&a, OBJ_WAITGROUP, 0);
    int sum = as_object(&a, OBJ_VAR, 0);
    int producer = as_func(&a, "producer", 1, 4);
    as_const(&a, 1, ITEMS);
    int loop = as_here(&a);
    as_send(&a, ch, 1);
    as_jump(&a, OP_LOOP, 1, 0, 0, loop);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    int consumer = as_func(&a, "consumer", 1, 4);
    loop = as_here(&a);
    int end = as_label(&a);
    as_op(&a, OP_RECV, 1, 2, 0, ch, 0);
    as_jump(&a, OP_JZ, 2, 0, 0, end);
    as_op(&a, OP_ADDA, NOREG, 1, 0, sum, 0);
    as_jump(&a, OP_JMP, 0, 0, 0, loop);
    as_place(&a, end);
    as_obj(&a, OP_WGDONE, done);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, WORKERS);
    as_op(&a, OP_WGADD, NOREG, 0, 0, done, WORKERS);
    for (int i = 0; i < WORKERS; i++) {
        as_go(&a, producer, 0, 1);
        as_go(&a, consumer, 0, 1);
    }
    as_obj(&a, OP_WGWAIT, wg);
    as_obj(&a, OP_CLOSE, ch);
    as_obj(&a, OP_WGWAIT, done);
    as_op(&a, OP_LOADA, 0, 0, 0, sum, 0);
    as_print1(&a, "%d", 0);
    as_ret(&a);
    EACH_RELEASE(rel)
    for (int procs = 1; procs <= 4; procs++) {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = procs, .seed = (uint64_t)procs});
        CHECK_STR(r.text, "");
        CHECK_EQ(r.end, END_STOPPED);
        CHECK_STR(r.out, "160800");
    }
}

/* A sudog is used again for the next wait, and nothing of the last one shows: who waited with a
 * value and got through, and waits for the close then, receives none and is not sent. */
static int waits_twice(bool send, int c1, int c2)
{
    int f = as_func(&a, "f", 0, 4);
    as_const(&a, 0, 7);
    as_send(&a, c1, 0);
    if (send)
        as_send(&a, c2, 0);
    else
        as_op(&a, OP_RECV, 1, 2, 0, c2, 0);
    as_print1(&a, "%d", 1);
    as_print1(&a, " %t", 2);
    as_ret(&a);
    return f;
}

static void close_after_send(bool send)
{
    as_init(&a);
    int c1 = as_object(&a, OBJ_CHAN, 0), c2 = as_object(&a, OBJ_CHAN, 0);
    int f = waits_twice(send, c1, c2);
    as_func(&a, "main", 0, 2);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED); /* f waits to send */
    as_recv(&a, c1, 0);
    as_plain(&a, OP_GOSCHED); /* ... and for the second channel */
    as_obj(&a, OP_CLOSE, c2);
    as_plain(&a, OP_GOSCHED);
    as_ret(&a);
}

TEST_CASE(Chan, AWaitHasNothingOfTheOneBefore)
{
    close_after_send(false);
    check_all("0 false");
    close_after_send(true);
    check_dies(FIND_PANIC, "panic: send on closed channel");
}
