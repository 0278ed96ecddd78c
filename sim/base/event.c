/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- what the list says ---- */

#define EV_INFO(slot, type, name) \
    {#name, EV_TYPE_##type, EV_CHAR(EV_WORD_##slot), EV_AT_##slot, EV_WIDTH_##slot},
#define EV_CHAR(word)  EV_CHAR_(word)
#define EV_CHAR_(word) EV_LETTER_##word
enum { EV_LETTER_a = 'a', EV_LETTER_b, EV_LETTER_c };
#define EV_INFO_1(slot, type, name) EV_INFO(slot, type, name) EV_INFO_2
#define EV_INFO_2(slot, type, name) EV_INFO(slot, type, name) EV_INFO_1
#define EV_INFO_1_END
#define EV_INFO_2_END

const struct event_info event_infos[EV_COUNT] = {
#define ENUM(type, what, values)
#define EVENT(NAME, name, what, fields) [EV_##NAME] = {#name, what, {EV_EACH(EV_INFO, fields){0}}},
#define EVENT_G                         EVENT
#include "sim/base/events.def"
#undef EVENT_G
#undef EVENT
#undef ENUM
};

/* No field is wider than its slot, no two of an event lie over each other. */
#define EV_FITS(slot, type, name)                                                       \
    _Static_assert((int)EV_BITS_##type <= (int)EV_WIDTH_##slot, #name ": " #type " in " \
                                                                      "slot " #slot);
enum {
    EV_BITS_g = 32,
    EV_BITS_m = 16,
    EV_BITS_p = 16,
    EV_BITS_ns = 64,
    EV_BITS_when = 64,
    EV_BITS_value = 64,
    EV_BITS_number = 64,
    EV_BITS_count = 32,
    EV_BITS_n16 = 16,
    EV_BITS_flag = 1,
    EV_BITS_cpu = 16,
    EV_BITS_fd = 32,
    EV_BITS_func = 32,
    EV_BITS_group = 32,
    EV_BITS_span = 32,
    EV_BITS_text = 32,
    EV_BITS_pc = 32,
    EV_BITS_wait = 8,
    EV_BITS_place = 8,
    EV_BITS_born = 8,
    EV_BITS_preempt = 8,
    EV_BITS_retake = 8,
    EV_BITS_thread = 8,
    EV_BITS_gcphase = 8,
    EV_BITS_gcmode = 8,
    EV_BITS_stw = 8,
    EV_BITS_off = 8,
    EV_BITS_ready = 8,
    EV_BITS_panicked = 8
};
#define EV_FITS_1(slot, type, name) EV_FITS(slot, type, name) EV_FITS_2
#define EV_FITS_2(slot, type, name) EV_FITS(slot, type, name) EV_FITS_1
#define EV_FITS_1_END
#define EV_FITS_2_END
#define ENUM(type, what, values)
#define EVENT(NAME, name, what, fields)   EV_EACH(EV_FITS, fields)
#define EVENT_G(NAME, name, what, fields) EV_EACH(EV_FITS, fields)
#include "sim/base/events.def"
#undef EVENT_G
#undef EVENT
#undef ENUM

#define EV_TEXT_1(value, text) text, EV_TEXT_2
#define EV_TEXT_2(value, text) text, EV_TEXT_1
#define EV_TEXT_1_END
#define EV_TEXT_2_END
#define ENUM(type, what, values) \
    static const char *const type##_names[] = {EV_EACH(EV_TEXT, values) NULL};
#define EVENT(NAME, name, what, fields)
#define EVENT_G(NAME, name, what, fields)
#include "sim/base/events.def"
#undef EVENT_G
#undef EVENT
#undef ENUM
static const char *const wait_names[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
    NULL};

const char *event_value_name(enum ev_type type, uint64_t bits)
{
    static const struct {
        const char *const *names;
        size_t count;
    } of[EV_TYPE_COUNT] = {
#define NONE(type)
#define NAMED(type) [EV_TYPE_##type] = {type##_names, sizeof type##_names / sizeof(char *) - 1},
        EV_TYPES(NONE, NONE, NAMED)
#undef NAMED
#undef NONE
    };
    return type < EV_TYPE_COUNT && bits < of[type].count ? of[type].names[bits] : NULL;
}

uint64_t event_field(const struct event_rec *r, const struct event_field *field)
{
    uint64_t word = field->word == 'a' ? r->a : field->word == 'b' ? r->b : r->c;
    return word >> field->shift & ~UINT64_C(0) >> (64 - field->width);
}

bool event_is_none(enum ev_type type, uint64_t bits)
{
    switch (type) {
    case EV_TYPE_g: return bits == EVENT_NO_G;
    case EV_TYPE_m: return bits == EVENT_NO_M;
    case EV_TYPE_p: return bits == EVENT_NO_P;
    case EV_TYPE_func: /* those of Go's own libraries are below 0 */
    case EV_TYPE_group: return (int32_t)(uint32_t)bits < 0;
    case EV_TYPE_pc: return (uint32_t)bits == UINT32_MAX;
    default: return false;
    }
}

int event_value_text(enum ev_type type, uint64_t bits, char *buf, size_t size)
{
    const char *text = event_value_name(type, bits);
    if (event_is_none(type, bits))
        return snprintf(buf, size, "-");
    if (text != NULL)
        return snprintf(buf, size, "%s", text);
    switch (type) {
    case EV_TYPE_g: return snprintf(buf, size, "g%" PRIu64, bits);
    case EV_TYPE_m: return snprintf(buf, size, "M%" PRIu64, bits);
    case EV_TYPE_p: return snprintf(buf, size, "P%" PRIu64, bits);
    case EV_TYPE_flag: return snprintf(buf, size, "%s", bits != 0 ? "yes" : "no");
    case EV_TYPE_when:
    case EV_TYPE_value: return snprintf(buf, size, "%" PRId64, (int64_t)bits);
    case EV_TYPE_fd: return snprintf(buf, size, "%" PRId32, (int32_t)bits);
    default: return snprintf(buf, size, "%" PRIu64, bits);
    }
}

/* ---- the log ---- */

static void set_buffer(struct event_log *l, size_t count)
{
    l->begin = arena_alloc(l->arena, count * sizeof *l->begin, 64);
    if (!l->begin)
        throw("event log: the world went on without memory");
    l->next = l->begin;
    l->end = l->begin + count;
}

void event_log_init(struct event_log *l, struct arena *a, event_settled_fn *settled)
{
    memset(l, 0, sizeof *l);
    fp_init(&l->fp);
    l->arena = a;
    l->settled = settled;
    set_buffer(l, EVENT_RING_COUNT);
}

void event_log_sink(struct event_log *l, event_sink_fn *fn, void *arg, uint32_t batch)
{
    if (l->next != l->begin || l->flushed)
        throw("event log: the sink comes before the first event");
    if (batch != (uint32_t)(l->end - l->begin))
        set_buffer(l, batch ? batch : EVENT_BATCH_COUNT);
    l->sink = fn;
    l->sink_arg = arg;
}

static bool before(const struct event_rec *a, const struct event_rec *b)
{
    return a->time < b->time || (a->time == b->time && a->m < b->m);
}

/* Puts *r between those before it, which are in order. */
static void insert(struct event_rec *begin, struct event_rec *r)
{
    struct event_rec moving = *r;

    for (; r > begin && before(&moving, r - 1); r--)
        *r = r[-1];
    *r = moving;
}

/* A record is out of place by a few, if at all. */
static void sort(struct event_rec *begin, const struct event_rec *end)
{
    uint64_t last = 0;

    for (struct event_rec *r = begin; r < end; r++) {
        if (__builtin_expect(r->time <= last, 0))
            insert(begin, r);
        else
            last = r->time;
    }
}

static inline void mix_one(struct fingerprint *fp, const struct event_rec *r)
{
    fp_mix4(fp, r->time, r->a, (uint64_t)r->b << 32 | r->g,
            (uint64_t)r->c << 48 | (uint64_t)r->p << 32 | (uint64_t)r->m << 16 | r->type);
}

static void mix(struct fingerprint *to, const struct event_rec *r, const struct event_rec *end)
{
    struct fingerprint fp = *to;

    for (; r != end; r++)
        if (r->type < EV_UNMIXED)
            mix_one(&fp, r);
    *to = fp;
}

/* The end of those before `until`, if the log is in order. */
static struct event_rec *settled_end(const struct event_log *l, uint64_t until)
{
    struct event_rec *end = l->next;

    while (end > l->begin && end[-1].time >= until)
        end--;
    return end;
}

/* Most batches of a world with one busy M are in order as they are: one pass for all. False: this
 * one is not, and nothing is done. */
static bool mix_in_order(const struct event_log *l, struct fingerprint *to,
                         const struct event_rec *end)
{
    struct fingerprint fp = *to;
    const struct event_rec *r = l->begin;

    if (r != end)
        mix_one(&fp, r++);
    for (; r != end; r++) {
        if (__builtin_expect(r->time <= r[-1].time, 0))
            return false;
        mix_one(&fp, r);
    }
    *to = fp;
    return true;
}

/* Mixes those before `until`, which then are the first ones; their end. */
static struct event_rec *mix_settled(const struct event_log *l, struct fingerprint *fp,
                                     uint64_t until)
{
    struct event_rec *end = settled_end(l, until);

    if (!l->moves && !l->unmixed && mix_in_order(l, fp, end))
        return end;
    sort(l->begin, l->next);
    end = settled_end(l, until);
    mix(fp, l->begin, end);
    return end;
}

static uint64_t settled(const struct event_log *l)
{
    return l->settled ? l->settled() : UINT64_MAX;
}

static void leave(struct event_log *l, uint64_t until)
{
    struct event_rec *end = mix_settled(l, &l->fp, until);
    size_t count = (size_t)(end - l->begin), rest = (size_t)(l->next - end);

    if (count == 0)
        return;
    if (l->begin->time < l->left)
        throw("event log: a record is earlier than one that has left");
    l->left = end[-1].time;
    if (l->sink)
        l->sink(l->sink_arg, l->begin, count);
    l->flushed += count;
    l->previous = count;
    memmove(l->begin, end, rest * sizeof *end);
    l->next = l->begin + rest;
}

static void grow(struct event_log *l)
{
    const struct event_rec *old = l->begin;
    size_t rest = (size_t)(l->next - l->begin), room = (size_t)(l->end - l->begin);

    set_buffer(l, 2 * room);
    memcpy(l->begin, old, rest * sizeof *old);
    l->next += rest;
    l->previous = 0;
}

void event_log_full_(struct event_log *l)
{
    leave(l, settled(l));
    if (l->next - l->begin > (l->end - l->begin) / 2)
        grow(l);
}

void event_log_flush(struct event_log *l) { leave(l, settled(l)); }

void event_log_end(struct event_log *l, uint64_t at)
{
    leave(l, at + 1);
    if (l->next != l->begin)
        l->previous = 0;
    l->next = l->begin;
}

uint64_t event_log_fingerprint(const struct event_log *l)
{
    struct fingerprint fp = l->fp;

    (void)mix_settled(l, &fp, settled(l));
    return fp_value(&fp);
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

/* ---- text ---- */

static int put_id(char *buf, size_t size, const char *letter, unsigned id, unsigned none)
{
    return id == none ? snprintf(buf, size, " %s-", letter)
                      : snprintf(buf, size, " %s%u", letter, id);
}

static size_t rest(size_t size, int n) { return (size_t)n < size ? size - (size_t)n : 0; }

static int put_field(char *buf, size_t size, const struct event_rec *r,
                     const struct event_field *field)
{
    char text[64];
    event_value_text((enum ev_type)field->type, event_field(r, field), text, sizeof text);
    return snprintf(buf, size, " %s=%s", field->name, text);
}

int event_format(const struct event_rec *r, char *buf, size_t size)
{
    static const struct event_info unknown = {.name = "unknown"};
    const struct event_info *info = r->type < EV_COUNT ? &event_infos[r->type] : &unknown;
    int n = snprintf(buf, size, "%" PRIu64 ".%03u ns", r->time / 1000, (unsigned)(r->time % 1000));
    char *end = buf + size;
    n += put_id(end - rest(size, n), rest(size, n), "M", r->m, EVENT_NO_M);
    n += put_id(end - rest(size, n), rest(size, n), "P", r->p, EVENT_NO_P);
    n += put_id(end - rest(size, n), rest(size, n), "G", r->g, EVENT_NO_G);
    n += snprintf(end - rest(size, n), rest(size, n), " %s", info->name);
    for (const struct event_field *field = info->fields; field->name != NULL; field++)
        n += put_field(end - rest(size, n), rest(size, n), r, field);
    return n;
}
