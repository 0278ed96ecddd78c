/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: nothing is lost between emit and sink, and who listens makes no difference to the
 * fingerprint. */
#include "harness.h"

#include <string.h>

#include "sim/base/event.h"

static struct arena arena;
static struct event_log event_log_;

struct sum {
    uint64_t records, calls, a;
    uint64_t next_time;
};

static void take(void *arg, const struct event_rec *recs, size_t count)
{
    struct sum *s = arg;
    s->calls++;
    for (size_t i = 0; i < count; i++, s->records++) {
        CHECK_EQ(recs[i].time, s->next_time++);
        s->a += recs[i].a;
    }
}

static struct event_log *begin(struct sum *s, uint32_t batch)
{
    struct failure f = {0};
    arena_release(&arena);
    CHECK_EQ(arena_init(&arena, 64 << 20, 0, &f), 0);
    event_log_init(&event_log_, &arena, NULL);
    if (s)
        event_log_sink(&event_log_, take, s, batch);
    return &event_log_;
}

static void emit(struct event_log *l, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        event_emit(l, i % 2 ? EV_MARK : EV_SPAN_BEGIN, i, event_who(1, 2), 3, i * i, (uint32_t)i,
                   4);
}

TEST_CASE(Event, TheSinkSeesEveryRecordInOrder)
{
    static const uint64_t counts[] = {0, 1, 9, 10, 11, 100, 12345};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct sum s = {0};
        struct event_log *l = begin(&s, 10);
        emit(l, counts[i]);
        CHECK_EQ(s.calls, counts[i] / 10);
        event_log_flush(l);
        event_log_flush(l);
        CHECK_EQ(s.records, counts[i]);
        CHECK_EQ(s.calls, (counts[i] + 9) / 10);
        CHECK_EQ(event_log_total(l), counts[i]);
    }
    arena_release(&arena);
}

TEST_CASE(Event, ListeningDoesNotChangeTheFingerprint)
{
    struct sum s = {0};
    struct event_log *l = begin(NULL, 0);
    emit(l, 1000);
    uint64_t off = event_log_fingerprint(l);
    l = begin(&s, 7);
    emit(l, 1000);
    CHECK_EQ(event_log_fingerprint(l), off);
    l = begin(NULL, 0);
    emit(l, 999);
    CHECK_NE(event_log_fingerprint(l), off);
    arena_release(&arena);
}

static void check_last(const struct event_log *l, uint64_t total, uint64_t least)
{
    struct event_rec recs[50];
    size_t n = event_log_last(l, recs, 50);
    CHECK_GE(n, least);
    CHECK_LE(n, total);
    for (size_t i = 0; i < n; i++)
        CHECK_EQ(recs[i].time, total - n + i);
}

TEST_CASE(Event, TheLastRecordsAreThere)
{
    for (uint64_t n = 0; n < 1000; n++) {
        struct event_log *l = begin(NULL, 0);
        emit(l, n);
        check_last(l, n, n < 50 ? n : 50);
    }
    arena_release(&arena);
}

TEST_CASE(Event, TheLastRecordsAreThereAfterEarlyFlushes)
{
    for (uint64_t n = 0; n < 100; n++) {
        struct sum s = {0};
        struct event_log *l = begin(&s, 16);
        for (uint64_t i = 0; i < n; i++) {
            event_emit(l, EV_MARK, i, 0, 0, 0, 0, 0);
            if (i % 7 == 5)
                event_log_flush(l);
            check_last(l, i + 1, i < 6 ? i + 1 : 6);
        }
    }
    arena_release(&arena);
}

/* Order of (time, M, place), whatever the order of making: known by sorting indices by hand. */
static uint64_t settled_at;
static uint64_t settled_before(void) { return settled_at; }

struct heard {
    struct event_rec recs[400];
    size_t count;
};

static void hear(void *arg, const struct event_rec *recs, size_t count)
{
    struct heard *h = arg;
    for (size_t i = 0; i < count; i++)
        h->recs[h->count++] = recs[i];
}

static void put_at(struct event_log *l, uint64_t time, uint16_t m, uint64_t value)
{
    event_emit(l, EV_MARK, time, event_who(m, 0), 0, value, 0, 0);
}

TEST_CASE(Event, RecordsLeaveInTheOrderOfTimeAndM)
{
    static const struct {
        uint64_t time;
        uint16_t m;
    } made[] = {{5, 1}, {3, 2}, {3, 0}, {5, 0}, {3, 2}, {9, 0}, {4, EVENT_NO_M}, {9, 0}};
    static const uint64_t want[] = {2, 1, 4, 6, 3, 0, 5, 7};
    struct failure f = {0};
    static struct heard h;
    h.count = 0;
    arena_release(&arena);
    CHECK_EQ(arena_init(&arena, 64 << 20, 0, &f), 0);
    event_log_init(&event_log_, &arena, settled_before);
    event_log_sink(&event_log_, hear, &h, 16);
    for (uint64_t i = 0; i < sizeof made / sizeof made[0]; i++)
        put_at(&event_log_, made[i].time, made[i].m, i);
    settled_at = 5;
    event_log_flush(&event_log_);
    CHECK_EQ(h.count, 4); /* those before 5 */
    event_log_end(&event_log_, 9);
    CHECK_EQ(h.count, 8);
    for (size_t i = 0; i < 8; i++)
        CHECK_EQ(h.recs[i].a, want[i]);
    arena_release(&arena);
}

TEST_CASE(Event, WhatIsLaterThanTheEndDidNotHappen)
{
    struct failure f = {0};
    static struct heard h;
    h.count = 0;
    arena_release(&arena);
    CHECK_EQ(arena_init(&arena, 64 << 20, 0, &f), 0);
    event_log_init(&event_log_, &arena, settled_before);
    event_log_sink(&event_log_, hear, &h, 16);
    put_at(&event_log_, 7, 0, 0);
    put_at(&event_log_, 8, 1, 1);
    settled_at = 0;
    event_log_end(&event_log_, 7);
    CHECK_EQ(h.count, 1);
    uint64_t fp = event_log_fingerprint(&event_log_);
    event_log_init(&event_log_, &arena, NULL);
    put_at(&event_log_, 7, 0, 0);
    CHECK_EQ(event_log_fingerprint(&event_log_), fp);
    arena_release(&arena);
}

/* However far the Ms of a host run ahead of each other, and however long records wait. */
static uint64_t fingerprint_of(int run_ahead, uint32_t batch, struct heard *h)
{
    struct failure f = {0};
    enum { MS = 3, EACH = 120 };
    uint64_t done[MS] = {0};
    h->count = 0;
    arena_release(&arena);
    CHECK_EQ(arena_init(&arena, 64 << 20, 0, &f), 0);
    settled_at = 0;
    event_log_init(&event_log_, &arena, settled_before);
    event_log_sink(&event_log_, hear, h, batch);
    for (uint64_t at = 0; at < EACH; at += (uint64_t)run_ahead)
        for (uint32_t m = 0; m < MS; m++)
            for (; done[m] < at + (uint64_t)run_ahead && done[m] < EACH; done[m]++) {
                settled_at = at * 10;
                put_at(&event_log_, done[m] * 10 + m % 2, (uint16_t)m, done[m]);
            }
    event_log_end(&event_log_, UINT64_MAX - 1);
    return event_log_fingerprint(&event_log_);
}

TEST_CASE(Event, HowFarAnMRunsAheadChangesNothing)
{
    static struct heard first, other;
    uint64_t fp = fingerprint_of(1, 8, &first);
    static const int aheads[] = {2, 5, 30, 120};
    CHECK_EQ(first.count, 360);
    for (size_t i = 0; i < sizeof aheads / sizeof aheads[0]; i++)
        for (uint32_t batch = 4; batch <= 256; batch *= 4) {
            CHECK_EQ(fingerprint_of(aheads[i], batch, &other), fp);
            CHECK_EQ(other.count, 360);
            CHECK(memcmp(first.recs, other.recs, sizeof first.recs) == 0);
        }
    arena_release(&arena);
}

TEST_CASE(Event, WhatIsForListenersIsNotInTheFingerprint)
{
    struct sum s = {0};
    struct event_log *l = begin(NULL, 0);
    emit(l, 10);
    uint64_t fp = event_log_fingerprint(l);
    l = begin(&s, 100);
    l->moves = true;
    emit(l, 10);
    event_emit(l, EV_G_MOVE, 10, 0, 1, 0, 0, 0);
    CHECK_EQ(event_log_fingerprint(l), fp);
    event_log_flush(l);
    CHECK_EQ(s.records, 11);
    l = begin(&s, 100);
    l->unmixed = true;
    emit(l, 10);
    event_emit(l, EV_NETPOLL_LATE, 10, 0, EVENT_NO_G, 0, 0, 0);
    CHECK_EQ(event_log_fingerprint(l), fp);
    arena_release(&arena);
}

TEST_CASE(Event, Text)
{
    struct event_rec r = {.time = 1500123,
                          .b = 8,
                          .c = EV_wait_Sleep,
                          .g = 5,
                          .type = EV_G_PARK,
                          .m = 2,
                          .p = EVENT_NO_P};
    char buf[200];
    int n = event_format(&r, buf, sizeof buf);
    CHECK_STR(buf, "1500.123 ns M2 P- G5 g_park pc=8 reason=sleep");
    CHECK_EQ(n, strlen(buf));
    char small[10];
    CHECK_EQ(event_format(&r, small, sizeof small), n);
    CHECK_STR(small, "1500.123 ");
    r.type = EV_COUNT;
    event_format(&r, buf, sizeof buf);
    CHECK_HAS(buf, "unknown");
}

TEST_CASE(Event, TheSignOfAValueStaysInItsSlot)
{
    uint64_t word = ev_bits_func(-3) << EV_AT_AL | ev_bits_group(5) << EV_AT_AH;
    CHECK_EQ(ev_from_func(word & UINT32_MAX), -3);
    CHECK_EQ(ev_from_group(word >> EV_AT_AH), 5);
    CHECK_EQ(ev_bits_value(-1), UINT64_MAX);
}

TEST_CASE(Event, EveryTypeHasAName)
{
    for (int i = 0; i < EV_COUNT; i++) {
        CHECK(event_infos[i].name != NULL && event_infos[i].name[0]);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(event_infos[i].name, event_infos[j].name) != 0);
    }
}
