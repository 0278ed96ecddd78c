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
    event_log_init(&event_log_, &arena);
    if (s)
        event_log_sink(&event_log_, &arena, take, s, batch);
    return &event_log_;
}

static void emit(struct event_log *l, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        event_emit(l, i % 2 ? EV_RUNQ_PUT : EV_RUNQ_GET, i, event_who(1, 2), 3, i * i, (uint32_t)i,
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

TEST_CASE(Event, Text)
{
    struct event_rec r = {.time = 1500123,
                          .a = 7,
                          .b = 8,
                          .c = 9,
                          .g = 5,
                          .type = EV_G_PARK,
                          .m = 2,
                          .p = EVENT_NO_P};
    char buf[200];
    int n = event_format(&r, buf, sizeof buf);
    CHECK_STR(buf, "1500.123 ns M2 P- G5 g_park object=7 wait_reason=9");
    CHECK_EQ(n, strlen(buf));
    char small[10];
    CHECK_EQ(event_format(&r, small, sizeof small), n);
    CHECK_STR(small, "1500.123 ");
    r.type = EV_COUNT;
    event_format(&r, buf, sizeof buf);
    CHECK_HAS(buf, "unknown");
}

TEST_CASE(Event, EveryTypeHasAName)
{
    for (int i = 0; i < EV_COUNT; i++) {
        CHECK(event_infos[i].name != NULL && event_infos[i].name[0]);
        for (int j = 0; j < i; j++)
            CHECK(strcmp(event_infos[i].name, event_infos[j].name) != 0);
    }
}
