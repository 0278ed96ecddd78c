/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about what a program prints, the order of a select's locks, and the
 * rings of a Pool's queue. */

/* ---- print ---- */

static char printed[1024];
static size_t nprinted, nflushed;

static void take_text(void *arg, const char *text, size_t size)
{
    (void)arg;
    nflushed++;
    CHECK_GT(size, 0);
    CHECK_LT(nprinted + size, sizeof printed);
    memcpy(printed + nprinted, text, size);
    nprinted += size;
    printed[nprinted] = 0;
}

#define FIFTY "01234567890123456789012345678901234567890123456789"
static const char *const print_strings[] = {
    "",
    "%d|%d|%d|%d",
    "%t %t %s %s %s",
    "100%% %x%",
    "%d %d",
    "name",
    FIFTY FIFTY FIFTY FIFTY FIFTY "012345",
    FIFTY FIFTY FIFTY FIFTY FIFTY "0123456",
};
enum { PRINT_STRINGS = sizeof print_strings / sizeof *print_strings };
static const struct program print_program = {.strings = print_strings, .nstrings = PRINT_STRINGS};

static void prints(struct g *gp, int32_t format, uint8_t n, const char *want, size_t flushes)
{
    const struct insn in = {.op = OP_PRINT, .a = 1, .b = n, .d = format};
    nprinted = nflushed = 0;
    printed[0] = 0;
    uint64_t before = a_peek(&rt->printed);
    CHECK_EQ(op_print(gp, &in), OP_DONE);
    CHECK_STR(printed, want);
    CHECK_EQ(nflushed, flushes);
    CHECK_EQ(a_peek(&rt->printed), before + strlen(want));
}

static void prints_all(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    int64_t *r = gp->inline_regs;
    (void)mp;
    rt->prog = &print_program;
    world_print = take_text;
    prints(gp, 0, 0, "", 0);
    r[1] = 0;
    r[2] = 1;
    r[3] = -1;
    r[4] = INT64_MIN;
    prints(gp, 1, 4, "0|1|-1|-9223372036854775808", 1);
    r[4] = INT64_MAX;
    prints(gp, 1, 4, "0|1|-1|9223372036854775807", 1);
    prints(gp, 1, 2, "0|1|%!(MISSING)|%!(MISSING)", 1);
    r[3] = 5;
    r[4] = PRINT_STRINGS;
    r[5] = PRINT_STRINGS - 8;
    prints(gp, 2, 5, "false true name %!s(BAD) ", 1);
    prints(gp, 3, 1, "100% %x%", 1);
    prints(gp, 6, 0, print_strings[6], 1); /* as long as the buffer */
    prints(gp, 7, 0, print_strings[7], 2);
    rt->output_max = a_peek(&rt->printed) + 4;
    prints(gp, 5, 0, "name", 1); /* just so much */
    world_print = NULL;
    rt->prog = world_program;
}

TEST_CASE(PrintRules, WhatAFormatGives) { each_leak_world(27, prints_all); }

static void prints_too_much(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    (void)mp;
    rt->prog = &print_program;
    rt->output_max = 3;
    prints(gp, 0, 0, "", 0);
    const struct insn in = {.op = OP_PRINT, .a = 1, .d = 5};
    (void)op_print(gp, &in);
}

TEST_CASE(PrintRules, OutputHasALimit)
{
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, prints_too_much),
             END_FINDING);
    CHECK_HAS(host_virt.verdict()->text, "prints more than the run keeps");
    host_virt.close();
}

/* ---- the order of a select's locks ---- */

static void orders_locks(struct m *mp)
{
    enum { MOST = 40 };
    static struct hchan chans[MOST];
    struct hchan *c[MOST];
    uint16_t poll[MOST], order[MOST];
    (void)mp;
    for (uint32_t n = 0; n <= MOST; n++)
        for (uint32_t round = 0; round < 8; round++) {
            struct selector s = {
                .c = c, .pollorder = poll, .lockorder = order, .ncases = n, .n = n};
            uint64_t seen = 0;
            for (uint32_t i = 0; i < n; i++) {
                chans[i].index = (int32_t)(cheaprandn(round < 4 ? MOST : 5));
                c[i] = &chans[i];
                poll[i] = (uint16_t)((i * 7 + round) % n); /* some permutation */
            }
            if (n % 7 == 0)
                for (uint32_t i = 0; i < n; i++)
                    poll[i] = (uint16_t)((i + round) % n);
            select_lockorder(&s);
            for (uint32_t i = 0; i < n; i++) {
                seen |= UINT64_C(1) << order[i];
                CHECK(i == 0 || chans[order[i - 1]].index <= chans[order[i]].index);
            }
            CHECK_EQ(seen, (UINT64_C(1) << n) - 1);
        }
}

TEST_CASE(SelectRules, ChannelsAreLockedInTheirOrder) { each_leak_world(27, orders_locks); }

/* ---- the rings of a Pool's queue ---- */

static void uses_rings_again(struct m *mp)
{
    struct poolChain *c = host_alloc(sizeof *c, 64);
    struct poolChainElt *was[3];
    int64_t v;
    (void)mp;
    for (int64_t i = 1; i <= 8; i++)
        poolChain_pushHead(c, i);
    for (int64_t i = 1; i <= 4; i++)
        CHECK(poolChain_popTail(c, &v));
    for (int64_t i = 9; i <= 12; i++) /* around the end of the ring, which has room again */
        poolChain_pushHead(c, i);
    CHECK_EQ(c->head->len, 8);
    for (int64_t i = 0; i < 40; i++)
        poolChain_pushHead(c, i);
    CHECK_EQ(c->head->len, 32);
    was[2] = c->head;
    was[1] = a_peek(&c->head->prev);
    was[0] = a_peek(&c->tail);
    for (int round = 0; round < 2; round++) {
        poolChain_collect(c); /* with values in it */
        CHECK(c->made == NULL && c->head == NULL);
        CHECK(!poolChain_popHead(c, &v) && !poolChain_popTail(c, &v));
        for (int64_t i = 0; i < 50; i++)
            poolChain_pushHead(c, 100 + i);
        CHECK(c->head == was[2]);
        CHECK(a_peek(&c->head->prev) == was[1] && a_peek(&was[1]->prev) == was[0]);
        CHECK(a_peek(&c->tail) == was[0] && a_peek(&was[0]->prev) == NULL);
        CHECK(c->spare == NULL);
        for (int64_t i = 0; i < 50; i++) {
            CHECK(poolChain_popTail(c, &v));
            CHECK_EQ(v, 100 + i);
        }
        CHECK(!poolChain_popTail(c, &v));
    }
    struct poolChainElt *a = elt_new(c, 64), *b = elt_new(c, 64);
    CHECK(a != b);
    for (uint32_t i = 0; i < 64; i++)
        a_store(&a->vals[i].used, 1);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(a_peek(&b->vals[i].used), 0);
    poolChain_collect(c);
    for (uint32_t i = 0; i < 64; i++)
        CHECK_EQ(a_peek(&a->vals[i].used), 0);
    CHECK(elt_new(c, 64) != elt_new(c, 64));
}

TEST_CASE(PoolRules, RingsAreEmptiedAndUsedAgain) { each_leak_world(27, uses_rings_again); }
