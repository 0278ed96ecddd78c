/* SPDX-License-Identifier: BSD-3-Clause */
/* The models behind one switch, and the two simple ones: sc and tso. */
#include "sim/explore/mm.h"

#include <assert.h>
#include <string.h>

#include "sim/base/choose.h"
#include "sim/base/fingerprint.h"

struct mm mm;

/* ---- tso ---- */

/* Indices run on; an entry is at index % MM_TSO_DEPTH. */
struct tso_entry {
    void *addr;
    uint64_t value;
    unsigned size;
};
static struct tso_buffer {
    struct tso_entry e[MM_TSO_DEPTH];
    uint32_t head, tail; /* oldest, next */
} tso[MM_THREADS_MAX];

void tso_reset(void)
{
    for (int i = 0; i < MM_THREADS_MAX; i++)
        tso[i].head = tso[i].tail = 0;
}

void mm_flush_one(int tid)
{
    struct tso_buffer *b = &tso[tid];
    const struct tso_entry *e = &b->e[b->head % MM_TSO_DEPTH];

    assert(b->head != b->tail);
    mm_raw_put(e->addr, e->size, e->value);
    if (++b->head == b->tail)
        mm.pending &= ~(UINT64_C(1) << tid);
}

const void *mm_oldest(int tid, uint64_t *value)
{
    const struct tso_entry *e = &tso[tid].e[tso[tid].head % MM_TSO_DEPTH];

    *value = e->value;
    return e->addr;
}

void tso_drain(int tid)
{
    while (tso[tid].head != tso[tid].tail)
        mm_flush_one(tid);
}

/* The newest store of tid's buffer to addr. */
bool tso_own(int tid, const void *addr, uint64_t *value)
{
    const struct tso_buffer *b = &tso[tid];

    for (uint32_t i = b->tail; i != b->head; i--) {
        const struct tso_entry *e = &b->e[(i - 1) % MM_TSO_DEPTH];
        if (e->addr == addr) {
            *value = e->value;
            return true;
        }
    }
    return false;
}

uint64_t tso_load(int tid, void *addr, unsigned size)
{
    uint64_t v;

    if ((mm.pending >> tid & 1) && tso_own(tid, addr, &v))
        return v;
    return mm_raw_get(addr, size);
}

void tso_store(int tid, void *addr, unsigned size, uint64_t value)
{
    struct tso_buffer *b = &tso[tid];

    if (b->tail - b->head == MM_TSO_DEPTH) {
        mm_flush_one(tid);
        mm.stats.forgotten++;
    }
    b->e[b->tail++ % MM_TSO_DEPTH] = (struct tso_entry){addr, mm_cut(value, size), size};
    mm.pending |= UINT64_C(1) << tid;
}

/* What lies in the buffers that are not empty. */
static void tso_copy(struct mm_copy *c, bool back)
{
    for (uint64_t rest = c->mm.pending; rest != 0; rest &= rest - 1) {
        struct tso_buffer *b = &tso[__builtin_ctzll(rest)];
        mm_copy_part(c, &b->head, sizeof b->head, back);
        mm_copy_part(c, &b->tail, sizeof b->tail, back);
        for (uint32_t i = b->head; i != b->tail; i++)
            mm_copy_part(c, &b->e[i % MM_TSO_DEPTH], sizeof *b->e, back);
    }
}

static void tso_empty(uint64_t threads)
{
    for (; threads != 0; threads &= threads - 1)
        tso[__builtin_ctzll(threads)].head = tso[__builtin_ctzll(threads)].tail = 0;
}

/* ---- the switch ---- */

void mm_reset(enum mm_kind kind, bool ctrl, struct chooser *chooser)
{
    mm = (struct mm){.kind = kind, .ctrl = ctrl || kind == MM_POWER, .chooser = chooser};
    if (kind == MM_TSO)
        tso_reset();
    else if (kind != MM_SC)
        weak_reset();
}

void mm_copy_part(struct mm_copy *c, void *part, size_t size, bool back)
{
    if (size > MM_COPY_MAX - c->used) {
        c->over = true;
        return;
    }
    if (back)
        memcpy(part, c->bytes + c->used, size);
    else
        memcpy(c->bytes + c->used, part, size);
    c->used += (uint32_t)size;
}

static void copy_model(struct mm_copy *c, bool back)
{
    c->used = 0;
    c->over = false;
    if (mm.kind == MM_TSO)
        tso_copy(c, back);
    else if (mm.kind != MM_SC)
        weak_copy(c, back);
}

bool mm_save(struct mm_copy *c)
{
    c->mm = mm;
    copy_model(c, /*back*/ false);
    return !c->over;
}

void mm_put_back(struct mm_copy *c)
{
    tso_empty(mm.pending);
    mm = c->mm;
    copy_model(c, /*back*/ true);
}

static void tso_mix(struct fingerprint *f)
{
    for (uint64_t rest = mm.pending; rest != 0; rest &= rest - 1) {
        const struct tso_buffer *b = &tso[__builtin_ctzll(rest)];
        fp_mix2(f, (uint64_t)__builtin_ctzll(rest), b->tail - b->head);
        for (uint32_t i = b->head; i != b->tail; i++) {
            const struct tso_entry *e = &b->e[i % MM_TSO_DEPTH];
            fp_mix2(f, (uint64_t)(uintptr_t)e->addr, e->value);
        }
    }
}

void mm_mix(struct fingerprint *f, uint64_t threads)
{
    if (mm.kind == MM_TSO)
        tso_mix(f);
    else if (mm.kind != MM_SC)
        weak_mix(f, threads);
}

void mm_init_value(void *addr, unsigned size, uint64_t value)
{
    mm_raw_put(addr, size, value);
    if (mm.kind >= MM_ARM)
        weak_init_value(addr, size, value);
}

uint64_t mm_load(int tid, void *addr, unsigned size, unsigned bits)
{
    switch (mm.kind) {
    case MM_TSO: return tso_load(tid, addr, size);
    case MM_ARM:
    case MM_POWER: return weak_load(tid, addr, size, bits);
    case MM_SC:
    case MM_KINDS: break;
    }
    return mm_raw_get(addr, size);
}

void mm_store(int tid, void *addr, unsigned size, unsigned bits, uint64_t value)
{
    switch (mm.kind) {
    case MM_TSO:
        tso_store(tid, addr, size, value);
        if (bits & MM_DRAIN)
            tso_drain(tid);
        return;
    case MM_ARM:
    case MM_POWER: weak_store(tid, addr, size, bits, mm_cut(value, size)); return;
    case MM_SC:
    case MM_KINDS: break;
    }
    mm_raw_put(addr, size, value);
}

uint64_t mm_rmw(int tid, void *addr, unsigned size, unsigned bits, enum mm_rmw how,
                uint64_t operand, uint64_t expect, bool *wrote)
{
    if (mm.kind >= MM_ARM)
        return weak_rmw(tid, addr, size, bits, how, operand, mm_cut(expect, size), wrote);
    if (mm.kind == MM_TSO)
        tso_drain(tid); /* every read-modify-write of amd64 is LOCKed, a failing one too */
    uint64_t old = mm_raw_get(addr, size);
    *wrote = how != RMW_CAS || old == mm_cut(expect, size);
    if (*wrote)
        mm_raw_put(addr, size, mm_rmw_value(how, old, operand, size));
    return old;
}

void mm_fence(int tid, unsigned bits)
{
    if (mm.kind == MM_TSO && (bits & MM_DRAIN))
        tso_drain(tid);
    else if (mm.kind >= MM_ARM)
        weak_fence(tid, bits);
}

/* Memory when all buffers are empty. Where two hold a store to one location, which one is last is
 * open; a location whose stores are ordered by what the program does has one at most. */
static uint64_t tso_drained(const void *addr, unsigned size)
{
    uint64_t v;

    for (uint64_t rest = mm.pending; rest != 0; rest &= rest - 1)
        if (tso_own(__builtin_ctzll(rest), addr, &v))
            return v;
    return mm_raw_get(addr, size);
}

uint64_t mm_peek(int tid, const void *addr, unsigned size)
{
    uint64_t v;

    if (tid < 0)
        return tso_drained(addr, size);
    if (mm.kind == MM_TSO && tso_own(tid, addr, &v))
        return v;
    return mm_raw_get(addr, size);
}

void mm_kernel(int from, int to)
{
    if (mm.kind == MM_TSO && from >= 0)
        tso_drain(from);
    else if (mm.kind >= MM_ARM)
        weak_kernel(from, to);
}

uint64_t mm_kernel_read(int tid, void *addr, unsigned size)
{
    mm_kernel(tid, tid);
    return mm.kind >= MM_ARM ? weak_kernel_read(tid, addr, size) : mm_raw_get(addr, size);
}

static const char *const kind_names[MM_KINDS] = {"sc", "tso", "arm64", "ppc64"};

const char *mm_kind_name(enum mm_kind k) { return k < MM_KINDS ? kind_names[k] : "?"; }
