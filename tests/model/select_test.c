/* SPDX-License-Identifier: BSD-3-Clause */
/* select: which case wins, that a wait leaves nothing behind, fairness as a distribution. */
#include "each_release.h"

static void op_select(int table, int chosen, int ok)
{
    as_op(&a, OP_SELECT, chosen, ok, 0, table, 0);
}

TEST_CASE(Select, TheReadyCaseWinsAndDefaultOnlyWithoutOne)
{
    as_init(&a);
    int c1 = as_object(&a, OBJ_CHAN, 1), c2 = as_object(&a, OBJ_CHAN, 1);
    int s = as_select(&a, true);
    as_case(&a, false, c1, 0, 2);
    as_case(&a, false, c2, 0, 2);
    as_func(&a, "main", 0, 4);
    op_select(s, 0, 1);
    as_print1(&a, "%d ", 0);
    as_const(&a, 3, 7);
    as_send(&a, c2, 3);
    op_select(s, 0, 1);
    as_print2(&a, "%d %t ", 0);
    as_print1(&a, "%d ", 2);
    as_obj(&a, OP_CLOSE, c1);
    op_select(s, 0, 1);
    as_print2(&a, "%d %t ", 0);
    as_print1(&a, "%d", 2);
    as_ret(&a);
    check_all("-1 1 true 7 0 false 0");
}

TEST_CASE(Select, SmallShapesOfTheCompiler)
{
    as_init(&a);
    int c = as_object(&a, OBJ_CHAN, 1);
    int send_default = as_select(&a, true);
    as_case(&a, true, c, 0, 3);
    int recv_default = as_select(&a, true);
    as_case(&a, false, c, 0, 2);
    int send_one = as_select(&a, false);
    as_case(&a, true, c, 0, 3);
    int recv_one = as_select(&a, false);
    as_case(&a, false, c, 0, 2);
    int only_default = as_select(&a, true);
    as_func(&a, "main", 0, 4);
    as_const(&a, 3, 5);
    op_select(send_default, 0, 1);
    as_print2(&a, "%d%t ", 0);
    op_select(send_default, 0, 1); /* full */
    as_print2(&a, "%d%t ", 0);
    op_select(recv_default, 0, 1);
    as_print2(&a, "%d%t ", 0);
    op_select(recv_default, 0, 1); /* empty */
    as_print2(&a, "%d%t ", 0);
    as_const(&a, 3, 6);
    op_select(send_one, 0, 1);
    as_print2(&a, "%d%t ", 0);
    op_select(recv_one, 0, 1);
    as_print2(&a, "%d%t ", 0);
    as_print1(&a, "%d ", 2);
    op_select(only_default, 0, 1);
    as_print2(&a, "%d%t", 0);
    as_ret(&a);
    check_all("0false -1false 0true -1false 0false 0true 6 -1false");
}

/* A parked select is on two queues; after the wake it must be on none. */
TEST_CASE(Select, LosersLeaveTheirQueues)
{
    as_init(&a);
    int c1 = as_object(&a, OBJ_CHAN, 0), c2 = as_object(&a, OBJ_CHAN, 0);
    int s = as_select(&a, false);
    as_case(&a, false, c1, 0, 2);
    as_case(&a, false, c2, 0, 2);
    int t = as_select(&a, true);
    as_case(&a, true, c1, 0, 3);
    int f = as_func(&a, "f", 0, 4);
    op_select(s, 0, 1);
    as_print2(&a, "%d%t", 0);
    as_print1(&a, "=%d ", 2);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_const(&a, 3, 9);
    as_send(&a, c2, 3);
    as_plain(&a, OP_GOSCHED);
    op_select(t, 0, 1); /* nobody receives on c1 */
    as_print1(&a, "%d", 0);
    as_ret(&a);
    check_all("1true=9 -1");
}

TEST_CASE(Select, ClosedSendCasePanicsAtOnceAndWhenParked)
{
    as_init(&a);
    int c1 = as_object(&a, OBJ_CHAN, 0), c2 = as_object(&a, OBJ_CHAN, 0);
    int s = as_select(&a, false);
    as_case(&a, true, c1, 0, 2);
    as_case(&a, false, c2, 0, 2);
    int f = as_func(&a, "f", 0, 4);
    op_select(s, 0, 1);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_obj(&a, OP_CLOSE, c1);
    as_plain(&a, OP_GOSCHED);
    as_ret(&a);
    EACH_RELEASE(rel)
    {
        as_run(&r, &a, (struct as_opts){.release = rel});
        CHECK_EQ(r.kind, FIND_PANIC);
        CHECK_HAS(r.text, "send on closed channel");
    }
}

TEST_CASE(Select, TwoSelectsMeet)
{
    as_init(&a);
    int c = as_object(&a, OBJ_CHAN, 0), d = as_object(&a, OBJ_CHAN, 0);
    int sender = as_select(&a, false), wg = as_object(&a, OBJ_WAITGROUP, 0);
    as_case(&a, true, c, 0, 3);
    as_case(&a, true, d, 0, 3);
    int receiver = as_select(&a, false);
    as_case(&a, false, d, 0, 2);
    as_case(&a, false, c, 0, 2);
    int f = as_func(&a, "sender", 0, 5);
    as_const(&a, 4, 100);
    int loop = as_here(&a);
    as_op(&a, OP_MOVE, 3, 4, 0, 0, 0);
    op_select(sender, 0, 1);
    as_jump(&a, OP_LOOP, 4, 0, 0, loop);
    as_ret(&a);
    int g = as_func(&a, "receiver", 0, 6);
    as_const(&a, 4, 100);
    as_const(&a, 5, 0);
    loop = as_here(&a);
    op_select(receiver, 0, 1);
    as_op(&a, OP_ADD, 5, 5, 2, 0, 0);
    as_jump(&a, OP_LOOP, 4, 0, 0, loop);
    as_print1(&a, "%d", 5);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 1);
    as_go(&a, f, 0, 0);
    as_go(&a, g, 0, 0);
    as_obj(&a, OP_WGWAIT, wg);
    as_ret(&a);
    EACH_RELEASE(rel)
    for (int procs = 1; procs <= 3; procs++) {
        as_run(&r, &a, (struct as_opts){.release = rel, .procs = procs});
        CHECK_STR(r.text, "");
        CHECK_STR(r.out, "5050");
    }
}

/* 1000 choices between cases that are all ready: each gets its share. 20 cases take the path of
 * large selects. */
static void fairness(int cases, int low, int high)
{
    as_init(&a);
    int s = as_select(&a, false);
    for (int i = 0; i < cases; i++)
        as_case(&a, false, as_object(&a, OBJ_CHAN, 0), 0, NOREG);
    as_func(&a, "main", 0, 250);
    for (int i = 0; i < cases; i++)
        as_obj(&a, OP_CLOSE, i);
    as_const(&a, 0, 1000);
    int loop = as_here(&a), next = as_label(&a);
    op_select(s, 1, 2);
    as_op(&a, OP_SWITCH, 1, 0, 0, 0, cases);
    int arm[64];
    for (int i = 0; i < cases; i++) {
        arm[i] = as_label(&a);
        as_jump(&a, OP_JMP, 0, 0, 0, arm[i]);
    }
    for (int i = 0; i < cases; i++) {
        as_place(&a, arm[i]);
        as_op(&a, OP_ADDI, 10 + i, 10 + i, 0, 0, 1);
        as_jump(&a, OP_JMP, 0, 0, 0, next);
    }
    as_place(&a, next);
    as_jump(&a, OP_LOOP, 0, 0, 0, loop);
    for (int i = 0; i < cases; i++) {
        int ok = as_label(&a), bad = as_label(&a);
        as_jump(&a, OP_JLTI, 10 + i, 0, low, bad);
        as_jump(&a, OP_JLTI, 10 + i, 0, high, ok);
        as_place(&a, bad);
        as_print1(&a, "%d ", 10 + i);
        as_place(&a, ok);
    }
    as_ret(&a);
    check_all("");
}

TEST_CASE(Select, FairBetweenTwo) { fairness(2, 400, 600); }
TEST_CASE(Select, FairBetweenTwenty) { fairness(20, 20, 90); }

TEST_CASE(Select, WithoutCasesOrWithNilChannelsItWaitsForEver)
{
    as_init(&a);
    int none = as_select(&a, false);
    as_func(&a, "main", 0, 4);
    op_select(none, 0, 1);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){0});
    CHECK_EQ(r.kind, FIND_DEADLOCK);
    as_init(&a);
    int nils = as_select(&a, false);
    as_case(&a, false, OBJ_REG, 2, 3);
    as_case(&a, true, OBJ_REG, 2, 3);
    as_func(&a, "main", 0, 4);
    op_select(nils, 0, 1);
    as_ret(&a);
    as_run(&r, &a, (struct as_opts){0});
    CHECK_EQ(r.kind, FIND_DEADLOCK);
}

/* One channel in several cases is locked once. */
TEST_CASE(Select, OneChannelInManyCases)
{
    as_init(&a);
    int c = as_object(&a, OBJ_CHAN, 0);
    int s = as_select(&a, false);
    as_case(&a, false, c, 0, 2);
    as_case(&a, true, c, 0, 3);
    as_case(&a, false, c, 0, 2);
    int f = as_func(&a, "f", 0, 4);
    as_const(&a, 3, 1);
    op_select(s, 0, 1);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_const(&a, 3, 8);
    as_send(&a, c, 3);
    as_plain(&a, OP_GOSCHED);
    as_print(&a, "ok");
    as_ret(&a);
    check_all("ok");
}

/* A close reaches whoever waits in a select: ok = false, and the zero value. */
TEST_CASE(Select, ACloseWakesAWaitingSelect)
{
    as_init(&a);
    int c = as_object(&a, OBJ_CHAN, 0), d = as_object(&a, OBJ_CHAN, 0);
    int done = as_object(&a, OBJ_CHAN, 0);
    int s = as_select(&a, false);
    as_case(&a, false, c, 0, 2);
    as_case(&a, false, d, 0, 2);
    int f = as_func(&a, "f", 0, 4);
    as_const(&a, 2, 5);
    op_select(s, 0, 1);
    as_print2(&a, "%d %t ", 0);
    as_print1(&a, "%d", 2);
    as_send(&a, done, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_go(&a, f, 0, 0);
    as_plain(&a, OP_GOSCHED);
    as_obj(&a, OP_CLOSE, d);
    as_recv(&a, done, 0);
    as_ret(&a);
    check_all("1 false 0");
}

/* A send to a closed channel panics with every lock given back: the channels work as before. */
TEST_CASE(Select, APanicLeavesNoChannelLocked)
{
    as_init(&a);
    int c1 = as_object(&a, OBJ_CHAN, 1), c2 = as_object(&a, OBJ_CHAN, 1);
    int s = as_select(&a, false);
    as_case(&a, true, c1, 0, 2);
    as_case(&a, false, c2, 0, 2);
    int again = as_select(&a, false);
    as_case(&a, false, c1, 0, 2);
    as_case(&a, false, c2, 0, 2);
    int recovers = as_func(&a, "recovers", 0, 2);
    as_op(&a, OP_RECOVER, 0, 1, 0, 0, 0);
    as_print1(&a, "%d ", 0);
    as_ret(&a);
    int f = as_func(&a, "f", 0, 4);
    as_op(&a, OP_DEFER, 0, 0, 0, recovers, 0);
    op_select(s, 0, 1);
    as_ret(&a);
    as_func(&a, "main", 0, 4);
    as_obj(&a, OP_CLOSE, c1);
    as_call(&a, f, 0, 0, NOREG);
    as_send(&a, c2, 3);
    as_recv(&a, c2, 2);
    as_op(&a, OP_RECV, 2, 1, 0, c1, 0);
    as_print1(&a, "%t ", 1);
    op_select(again, 0, 1);
    as_print1(&a, "%d", 0);
    as_ret(&a);
    check_all("1 false 0");
}
