/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: what goroutines did is counted by one rule whoever tells of it, from main.main on. Method:
 * records written by hand; and a program whose numbers can be known, in virtual time. */
#include "harness.h"
#include "run/run.h"
#include "run/tally.h"

enum { NS = 1000 };

static const char *const groups[] = {"main", "worker"};
static const struct func funcs[] = {{.name = "main"}, {.name = "work"}};
static const struct program program = {.groups = groups, .ngroups = 2, .funcs = funcs, .nfuncs = 2};

static struct naming names;
static struct transitions t;
static struct tally sum;

static void begin(bool from_start)
{
    struct failure f = {0};
    names = names_of_program(&program);
    transitions_init(&t, &names, 0);
    CHECK(tally_init(&sum, &t, from_start, &f));
}

static void end(void)
{
    tally_release(&sum);
    transitions_release(&t);
}

static uint64_t now_ns;
static uint16_t cur_p;

static void emit(enum event_type type, uint32_t g, uint64_t x, uint32_t b, uint16_t d)
{
    struct event_rec r = {.time = now_ns * NS,
                          .a = x,
                          .b = b,
                          .g = g,
                          .type = (uint16_t)type,
                          .m = 0,
                          .p = cur_p,
                          .c = d};
    transitions_records(&t, &r, 1);
}
#include "sim/base/emit.h"

static void at(uint64_t ns, uint16_t p)
{
    now_ns = ns;
    cur_p = p;
}

static const ev_g g1 = {1}, g2 = {2}, g7 = {7}, nobody = {EVENT_NO_G};
enum { INIT_PC = 0, OTHER_PC = 5 };

static void born(ev_g g, enum ev_born kind, ev_g parent)
{
    ev_g_create(g, kind == EV_born_runtime ? -1 : 1, kind == EV_born_runtime ? -1 : 1, parent, kind,
                EV_place_runnext);
}

TEST_CASE(Tally, CountsWhoRanElsewhereThanWhereHeWasWoken)
{
    begin(false);
    at(0, 0);
    born(g1, EV_born_program, nobody);
    at(10, 0);
    ev_g_start(g1, 10, false);
    born(g7, EV_born_program, g1);
    at(25, 1);
    ev_g_start(g7, 15, false); /* made on P 0 */
    at(30, 1);
    ev_g_park(g7, OTHER_PC, EV_wait_ChanReceive);
    at(40, 0);
    ev_g_ready(g7, g1, EV_place_runnext);
    at(45, 0);
    ev_g_preempt(g1, OTHER_PC, EV_preempt_slice, EV_place_global);
    at(48, 0);
    ev_g_start(g7, 8, true); /* woken and run on P 0 */
    at(60, 1);
    ev_g_start(g1, 15, false); /* from the global queue: nobody took it from P 0 */
    at(70, 1);
    ev_g_gosched(g1, EV_place_global);
    transitions_end(&t, 100 * NS);
    CHECK_EQ(sum.switches, 4);
    CHECK_EQ(sum.taken, 1);
    CHECK_EQ(sum.preempted, 1);
    CHECK_EQ(sum.yielded, 1);
    CHECK_EQ(sum.parks, 1);
    CHECK_EQ(sum.wakes, 1);
    CHECK_EQ(sum.created, 2);
    CHECK_EQ(sum.wait.count, 4);
    CHECK_EQ(sum.wake.count, 1);
    CHECK_EQ(hist_percentile(&sum.wake, 500000), 8);
    CHECK_EQ(sum.running_ps / NS, 35 + 5 + 10 + 52);
    end();
}

TEST_CASE(Tally, BeginsWithMainMain)
{
    begin(true);
    at(0, 0);
    born(g1, EV_born_program, nobody);
    at(5, 0);
    ev_g_start(g1, 5, false);
    born(g2, EV_born_runtime, g1);
    at(10, 0);
    ev_g_park(g1, INIT_PC, EV_wait_ChanReceive);
    at(12, 0);
    ev_g_start(g2, 2, false);
    ev_g_ready(g1, g2, EV_place_runnext);
    at(14, 0);
    ev_g_park(g2, INIT_PC, EV_wait_GCScavengeWait);
    at(20, 0);
    ev_g_start(g1, 8, false);
    CHECK_EQ(sum.began_ps / NS, 20);
    born(g7, EV_born_program, g1);
    at(30, 0);
    ev_g_park(g1, OTHER_PC, EV_wait_ChanReceive);
    at(31, 0);
    ev_g_ready(g1, g2, EV_place_runnext); /* the collector's doing: main runs already */
    at(35, 0);
    ev_g_start(g1, 4, false);
    transitions_end(&t, 40 * NS);
    CHECK_EQ(sum.began_ps / NS, 20);
    CHECK_EQ(sum.switches, 2);
    CHECK_EQ(sum.parks, 1);
    CHECK_EQ(sum.wakes, 1);
    CHECK_EQ(sum.running_ps / NS, 10 + 5);
    end();
}
