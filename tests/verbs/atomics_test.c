/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: every atomic verb returns and stores what docs/host.md says, for every width, and is
 * atomic among threads. Method: one thread for the values; several that hammer one word, with a
 * total that any lost or torn update would change. */
#include "harness.h"
#include "verbs_world.h"

struct widths {
    ATOMIC(uint8_t) u8;
    ATOMIC(uint16_t) u16;
    ATOMIC(int32_t) i32;
    ATOMIC(uint32_t) u32;
    ATOMIC(int64_t) i64;
    ATOMIC(uint64_t) u64;
    ATOMIC(bool) flag;
    ATOMIC(struct widths *) ptr;
    uint64_t got[16];
};
static struct widths *w;

static void run_alone(void (*body)(void *))
{
    w = verbs_begin(sizeof *w, NULL);
    verbs_thread(body, w);
    CHECK_EQ(verbs_run(), END_IDLE);
}

static void load_store(void *arg)
{
    (void)arg;
    a_init(&w->u32, 7u);
    w->got[0] = a_load(&w->u32);
    a_store(&w->u32, 8u);
    w->got[1] = a_load_acq(&w->u32);
    a_store_rel(&w->u32, 9u);
    w->got[2] = a_load_rlx(&w->u32);
    a_store_rlx(&w->u32, 10u);
    w->got[3] = a_peek(&w->u32);
    w->got[4] = a_own(&w->u32);
    a_store(&w->u8, 0xab);
    a_store(&w->u16, 0xabcd);
    a_store(&w->i32, -5);
    a_store(&w->i64, INT64_MIN);
    a_store(&w->u64, UINT64_MAX);
    a_store(&w->flag, true);
    a_store(&w->ptr, w);
    a_fence();
}

TEST_CASE(Atomics, ALoadSeesTheLastStoreOfEveryOrder)
{
    run_alone(load_store);
    for (uint64_t i = 0; i < 4; i++)
        CHECK_EQ(w->got[i], 7 + i);
    CHECK_EQ(w->got[4], 10);
    verbs_end();
}

TEST_CASE(Atomics, EveryWidthKeepsItsValue)
{
    run_alone(load_store);
    CHECK_EQ(a_peek(&w->u8), 0xab);
    CHECK_EQ(a_peek(&w->u16), 0xabcd);
    CHECK_EQ(a_peek(&w->i32), -5);
    CHECK_EQ(a_peek(&w->i64), INT64_MIN);
    CHECK_EQ(a_peek(&w->u64), UINT64_MAX);
    CHECK_EQ(a_peek(&w->flag), true);
    CHECK_EQ(a_peek(&w->ptr), w);
    verbs_end();
}

static void read_modify_write(void *arg)
{
    (void)arg;
    w->got[0] = a_add(&w->u32, 5);
    w->got[1] = a_add(&w->u32, -2);
    a_store(&w->u8, 255);
    w->got[2] = a_add(&w->u8, 2);
    w->got[3] = (uint64_t)a_add(&w->i64, -7);
    w->got[4] = a_xchg(&w->u32, 100u);
    w->got[5] = a_or(&w->u32, 3u);
    w->got[6] = a_and(&w->u32, 0xf0u);
    w->got[7] = a_load(&w->u32);
    w->got[8] = a_xchg(&w->flag, true);
    w->got[9] = a_xchg(&w->ptr, w) == NULL;
    w->got[10] = a_xchg(&w->ptr, NULL) == w;
}

TEST_CASE(Atomics, AddReturnsTheNewValueTheOthersTheOld)
{
    static const uint64_t want[] = {5, 3, 1, (uint64_t)-7, 3, 100, 103, 0x60, 0, 1, 1};

    run_alone(read_modify_write);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        CHECK_EQ(w->got[i], want[i]);
    verbs_end();
}

static void compare_and_swap(void *arg)
{
    (void)arg;
    w->got[0] = a_cas(&w->u32, 0u, 1u);
    w->got[1] = a_cas(&w->u32, 0u, 2u);
    w->got[2] = a_load(&w->u32);
    w->got[3] = a_cas_rel(&w->u32, 1u, 3u);
    w->got[4] = a_cas_rel(&w->u32, 1u, 4u);
    w->got[5] = a_load(&w->u32);
    w->got[6] = a_cas(&w->ptr, NULL, w);
    w->got[7] = a_cas(&w->ptr, NULL, w);
    w->got[8] = a_cas(&w->flag, false, true);
    w->got[9] = a_cas(&w->flag, false, true);
    w->got[10] = a_cas(&w->i64, 0, -1);
    w->got[11] = a_cas(&w->i64, -1, 5);
}

TEST_CASE(Atomics, CasWritesOnlyWhenItSaysSo)
{
    static const uint64_t want[] = {1, 0, 1, 1, 0, 3, 1, 0, 1, 0, 1, 1};

    run_alone(compare_and_swap);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        CHECK_EQ(w->got[i], want[i]);
    verbs_end();
}

static void exchange_byte(void *arg)
{
    (void)arg;
    a_store(&w->u64, 0x1122334455667788);
    w->got[0] = a_xchg8(&w->u64, 0xff);
    w->got[1] = a_load(&w->u64);
}

TEST_CASE(Atomics, Xchg8ExchangesTheLowestByteAlone)
{
    run_alone(exchange_byte);
    CHECK_EQ(w->got[0], 0x88);
    CHECK_EQ(w->got[1], 0x11223344556677ff);
    verbs_end();
}

/* ---- among threads ---- */

enum { THREADS = 4, ROUNDS = 5000 };

struct shared {
    ATOMIC(uint64_t) word;
    ATOMIC(uint32_t) bits;
    ATOMIC(uint32_t) token;
    struct {
        uint64_t sum;
        uint32_t failed;
        uint32_t id;
    } of[THREADS];
};
static struct shared *s;

static void run_shared(void (*body)(void *))
{
    s = verbs_begin(sizeof *s, NULL);
    for (uint32_t i = 0; i < THREADS; i++) {
        s->of[i].id = i;
        verbs_thread(body, &s->of[i]);
    }
    CHECK_EQ(verbs_run(), END_IDLE);
}

static uint32_t my_id(void *arg)
{
    return (uint32_t)(((char *)arg - (char *)s->of) / (long)sizeof s->of[0]);
}

/* The sum of all new values is that of 1..n exactly if each was returned once. */
static void adder(void *arg)
{
    uint32_t me = my_id(arg);

    for (int i = 0; i < ROUNDS; i++)
        s->of[me].sum += a_add(&s->word, 1);
}

TEST_CASE(Atomics, AddGivesEachNewValueToOneThread)
{
    const uint64_t n = THREADS * ROUNDS;
    uint64_t sum = 0;

    run_shared(adder);
    for (int i = 0; i < THREADS; i++)
        sum += s->of[i].sum;
    CHECK_EQ(a_peek(&s->word), n);
    CHECK_EQ(sum, n * (n + 1) / 2);
    verbs_end();
}

static void cas_adder(void *arg)
{
    uint32_t me = my_id(arg);

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t old = a_load_rlx(&s->word);
        bool won = me % 2 ? a_cas(&s->word, old, old + 1) : a_cas_rel(&s->word, old, old + 1);

        s->of[me].sum += won;
    }
}

TEST_CASE(Atomics, EveryCasThatSucceedsCounts)
{
    uint64_t won = 0;

    run_shared(cas_adder);
    for (int i = 0; i < THREADS; i++)
        won += s->of[i].sum;
    CHECK_EQ(a_peek(&s->word), won);
    CHECK_GE(won, ROUNDS);
    verbs_end();
}

/* What goes in by an exchange comes out of exactly one: the sum of what came out and what is left
 * is the sum of what went in. */
static void exchanger(void *arg)
{
    uint32_t me = my_id(arg);

    for (uint32_t i = 1; i <= ROUNDS; i++)
        s->of[me].sum += a_xchg(&s->word, (uint64_t)i);
}

TEST_CASE(Atomics, ExchangeHandsEachValueToOneThread)
{
    uint64_t out = 0;

    run_shared(exchanger);
    for (int i = 0; i < THREADS; i++)
        out += s->of[i].sum;
    CHECK_EQ(out + a_peek(&s->word), (uint64_t)THREADS * ROUNDS * (ROUNDS + 1) / 2);
    verbs_end();
}

/* Each owns a bit: nobody else may change it. */
static void bit_owner(void *arg)
{
    uint32_t me = my_id(arg), bit = 1u << me;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t before = a_or(&s->bits, bit);
        uint32_t after = a_and(&s->bits, ~bit);

        s->of[me].failed += (before & bit) != 0 || (after & bit) == 0;
    }
}

TEST_CASE(Atomics, OrAndLeaveOtherBitsAlone)
{
    run_shared(bit_owner);
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(s->of[i].failed, 0);
    CHECK_EQ(a_peek(&s->bits), 0);
    verbs_end();
}

/* Thread 0 owns the lowest byte, as unlock2 does; the others add above it. */
static void byte_and_rest(void *arg)
{
    uint32_t me = my_id(arg);

    for (int i = 0; i < ROUNDS; i++) {
        if (me > 0) {
            a_add(&s->word, 256);
            continue;
        }
        uint8_t old = a_xchg8(&s->word, (uint8_t)(i + 1));

        s->of[me].failed += old != (uint8_t)i;
    }
}

TEST_CASE(Atomics, Xchg8AndAddsAboveItDoNotDisturbEachOther)
{
    run_shared(byte_and_rest);
    CHECK_EQ(s->of[0].failed, 0);
    CHECK_EQ(a_peek(&s->word), 256u * ROUNDS * (THREADS - 1) + (ROUNDS & 0xff));
    verbs_end();
}
