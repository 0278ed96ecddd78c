/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct event_info event_infos[EV_COUNT] = {
#define EVENT(NAME, name, a, b, c) [EV_##NAME] = {name, {a, b, c}},
#include "sim/base/events.def"
#undef EVENT
};

static void set_buffer(struct event_log *l, struct arena *a, uint32_t count)
{
    l->begin = arena_alloc(a, count * sizeof *l->begin, 64);
    if (!l->begin)
        throw("event log: the world went on without memory");
    l->next = l->mixed = l->begin;
    l->end = l->begin + count;
}

void event_log_init(struct event_log *l, struct arena *a)
{
    memset(l, 0, sizeof *l);
    fp_init(&l->fp);
    set_buffer(l, a, EVENT_RING_COUNT);
}

void event_log_sink(struct event_log *l, struct arena *a, event_sink_fn *fn, void *arg,
                    uint32_t batch)
{
    if (l->next != l->begin || l->flushed)
        throw("event log: the sink comes before the first event");
    if (batch != (uint32_t)(l->end - l->begin))
        set_buffer(l, a, batch ? batch : EVENT_BATCH_COUNT);
    l->sink = fn;
    l->sink_arg = arg;
}

static void mix(struct event_log *l)
{
    struct fingerprint fp = l->fp;

    for (const struct event_rec *r = l->mixed; r != l->next; r++)
        fp_mix4(&fp, r->time, r->a, (uint64_t)r->b << 32 | r->g,
                (uint64_t)r->c << 48 | (uint64_t)r->p << 32 | (uint64_t)r->m << 16 | r->type);
    l->fp = fp;
    l->mixed = l->next;
}

uint64_t event_log_fingerprint(struct event_log *l)
{
    mix(l);
    return fp_value(&l->fp);
}

void event_log_full_(struct event_log *l)
{
    size_t count = (size_t)(l->next - l->begin);

    mix(l);
    if (l->sink)
        l->sink(l->sink_arg, l->begin, count);
    l->flushed += count;
    l->previous = count;
    l->next = l->mixed = l->begin;
}

void event_log_flush(struct event_log *l)
{
    if (l->sink && l->next != l->begin)
        event_log_full_(l);
}

/* Before next lies the present batch, behind it what is left of the previous one: its later part,
 * unless an early flush made it shorter. */
size_t event_log_last(const struct event_log *l, struct event_rec *out, size_t max)
{
    size_t now = (size_t)(l->next - l->begin);
    size_t old = l->previous > now ? l->previous - now : 0;
    size_t skip = now + old > max ? now + old - max : 0, n = 0;
    for (size_t i = now + (skip < old ? skip : old); i < now + old; i++)
        out[n++] = l->begin[i];
    for (size_t i = skip > old ? skip - old : 0; i < now; i++)
        out[n++] = l->begin[i];
    return n;
}

uint64_t event_log_total(const struct event_log *l)
{
    return l->flushed + (uint64_t)(l->next - l->begin);
}

static int put_id(char *buf, size_t size, const char *letter, unsigned id, unsigned none)
{
    return id == none ? snprintf(buf, size, " %s-", letter)
                      : snprintf(buf, size, " %s%u", letter, id);
}

static size_t rest(size_t size, int n) { return (size_t)n < size ? size - (size_t)n : 0; }

int event_format(const struct event_rec *r, char *buf, size_t size)
{
    static const struct event_info unknown = {"unknown", {"a", "b", "c"}};
    const struct event_info *info = r->type < EV_COUNT ? &event_infos[r->type] : &unknown;
    const uint64_t args[3] = {r->a, r->b, r->c};
    int n = snprintf(buf, size, "%" PRIu64 ".%03u ns", r->time / 1000, (unsigned)(r->time % 1000));
    char *end = buf + size;
    n += put_id(end - rest(size, n), rest(size, n), "M", r->m, EVENT_NO_M);
    n += put_id(end - rest(size, n), rest(size, n), "P", r->p, EVENT_NO_P);
    n += put_id(end - rest(size, n), rest(size, n), "G", r->g, EVENT_NO_G);
    n += snprintf(end - rest(size, n), rest(size, n), " %s", info->name);
    for (int i = 0; i < 3; i++)
        if (info->arg[i][0])
            n += snprintf(end - rest(size, n), rest(size, n), " %s=%" PRIu64, info->arg[i],
                          args[i]);
    return n;
}
