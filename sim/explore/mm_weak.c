/* SPDX-License-Identifier: BSD-3-Clause */
/* Two weak memories over one set of histories (docs/memory-models.md says why they are right).
 *
 * Every store is a message with a stamp. Stamps are one timeline over all locations; the messages
 * of a location in stamp order are its coherence order. A load may see any message of its location
 * that no later one hides; a store may go to an earlier place of the timeline than the last, unless
 * that would hide what somebody has read already or comes before what it is ordered after.
 *
 * arm64: stamps are all there is, because ARMv8 is multi-copy atomic: what one thread has seen, is
 * there for all. The views of a thread are stamps. The rules are those of Promising-ARM (Pulte,
 * Pichon-Pharabod, Kang, Lee, Hur, PLDI 2019) with stores placed into the past in place of
 * promises.
 *
 * ppc64: POWER may show stores to threads in different orders. The views of a thread are maps from
 * location to stamp, a message carries the view that its thread was bound to, lwsync and sync widen
 * what is bound, and syncs exchange views through a global map. Stamps order only stores.
 *
 * Dependencies: the host sees no registers. Address and data dependencies do not exist here; with
 * `ctrl` every load has a branch behind it that all later stores depend on. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/choose.h"
#include "sim/explore/mm_weak.h"

enum { POWER_MSGS_MAX = 1 << 14, HASH_SIZE = 2 * MM_LOCS_MAX };
#define STAMP_STEP \
    (UINT64_C(1) << 32) /* between two appended messages: room for 32 nested inserts */

struct weak weak;
struct loc weak_locs[MM_LOCS_MAX];
struct msg weak_msgs[MM_MSGS_MAX];
struct arm_thread weak_arm[MM_THREADS_MAX];
struct arm_loc weak_arm_loc[MM_LOCS_MAX][MM_THREADS_MAX];
struct power_thread weak_power[MM_THREADS_MAX];
struct map weak_sync_map;
struct map *weak_views; /* POWER_MSGS_MAX of them */
static struct {
    const void *addr;
    uint32_t generation, loc;
} hash[HASH_SIZE];

static inline void raise_to(uint64_t *v, uint64_t x)
{
    if (*v < x)
        *v = x;
}

/* Cuts the run: what the model answers from here on does not matter, but must be safe. */
static void over(const char *limit)
{
    if (mm.limit == NULL)
        mm.limit = limit;
}

void weak_reset(void)
{
    uint32_t generation = weak.generation + 1;

    if (generation == 0) {
        memset(hash, 0, sizeof(hash));
        generation = 1;
    }
    weak = (struct weak){.generation = generation, .msgs = 1};
    memset(weak_arm, 0, sizeof(weak_arm));
    if (mm.kind == MM_POWER && weak_views == NULL) {
        void *p = mmap(NULL, POWER_MSGS_MAX * sizeof(*weak_views), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        assert(p != MAP_FAILED);
        weak_views = p;
    }
}

/* ---- histories ---- */

static uint32_t msg_new(void)
{
    uint32_t m = weak.free_msg;

    if (m != 0) {
        weak.free_msg = weak_msgs[m].next;
    } else if (weak.msgs < (mm.kind == MM_POWER ? POWER_MSGS_MAX : MM_MSGS_MAX)) {
        m = weak.msgs++;
    } else {
        over("messages of the memory model");
        return 1;
    }
    weak_msgs[m] = (struct msg){0};
    return m;
}

static void timeline_unlink(uint32_t m)
{
    uint32_t older = weak_msgs[m].older, newer = weak_msgs[m].newer;

    if (older != 0)
        weak_msgs[older].newer = newer;
    else if (weak.oldest == m)
        weak.oldest = newer;
    if (newer != 0)
        weak_msgs[newer].older = older;
    else if (weak.newest == m)
        weak.newest = older;
}

static void msg_free(uint32_t m)
{
    timeline_unlink(m);
    weak_msgs[m].next = weak.free_msg;
    weak.free_msg = m;
}

static void power_zero_loc(uint32_t l)
{
    for (uint32_t t = 0; t < weak.threads; t++)
        weak_power[t].floor.at[l] = weak_power[t].bound.at[l] = weak_power[t].seen.at[l] = 0;
    weak_sync_map.at[l] = 0;
}

/* The location starts with one message that everybody sees. */
static void loc_start(uint32_t l, uint64_t value)
{
    struct loc *o = &weak_locs[l];

    o->first = o->last = msg_new();
    o->count = 1;
    weak_msgs[o->first].value = value;
    memset(weak_arm_loc[l], 0, sizeof(weak_arm_loc[l]));
    if (mm.kind == MM_POWER)
        power_zero_loc(l);
}

static uint32_t hash_of(const void *addr)
{
    return (uint32_t)(((uintptr_t)addr >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 51);
}

static uint32_t loc_find(void *addr, unsigned size, bool *made)
{
    uint32_t at = hash_of(addr);

    *made = false;
    for (;; at++) {
        at %= HASH_SIZE;
        if (hash[at].generation != weak.generation)
            break;
        if (hash[at].addr == addr)
            return hash[at].loc;
    }
    *made = true;
    if (weak.locs == (mm.kind == MM_POWER ? MM_POWER_LOCS_MAX : MM_LOCS_MAX)) {
        over("locations of the memory model");
        *made = false;
        return 0;
    }
    hash[at].addr = addr;
    hash[at].generation = weak.generation;
    hash[at].loc = weak.locs;
    weak_locs[weak.locs] = (struct loc){.addr = addr, .size = size};
    return weak.locs++;
}

static uint32_t loc_of(void *addr, unsigned size)
{
    bool made;
    uint32_t l = loc_find(addr, size, &made);

    if (made)
        loc_start(l, mm_raw_get(addr, size));
    return l;
}

void weak_init_value(void *addr, unsigned size, uint64_t value)
{
    bool made;
    uint32_t l = loc_find(addr, size, &made);

    if (!made)
        for (uint32_t m = weak_locs[l].first; m != 0;) {
            uint32_t next = weak_msgs[m].next;
            msg_free(m);
            m = next;
        }
    loc_start(l, mm_raw_get(addr, size));
    assert(mm.limit != NULL || weak_msgs[weak_locs[l].first].value == value);
}

/* A thread that appears late starts with nothing seen. */
static void thread_seen(int tid)
{
    while (weak.threads <= (uint32_t)tid) {
        struct power_thread *t = &weak_power[weak.threads++];
        if (mm.kind != MM_POWER)
            continue;
        memset(t->floor.at, 0, weak.locs * sizeof(uint64_t));
        memset(t->bound.at, 0, weak.locs * sizeof(uint64_t));
        memset(t->seen.at, 0, weak.locs * sizeof(uint64_t));
        t->bound_max = 0;
    }
}

static uint32_t ask(enum choice_kind kind, uint32_t n)
{
    if (n == 1)
        return 0;
    struct choice c = {.kind = kind, .n = n};
    return choose(mm.chooser, &c);
}

/* ---- where a store can go ---- */

struct slot {
    uint64_t stamp;
    uint32_t before; /* message of the timeline that comes next; 0: the end */
};

/* The slot between older(b) and b, if it is after floor and behind message `after` of the location
 * (0: behind whichever is there). */
static bool slot_at(uint32_t l, uint32_t b, uint64_t floor, uint32_t after, struct slot *out)
{
    uint32_t p = weak_locs[l].last;
    uint64_t lower = floor;

    while (p != 0 && weak_msgs[p].stamp >= weak_msgs[b].stamp)
        p = weak_msgs[p].prev;
    if (p == 0 || weak_msgs[p].locked || (after != 0 && p != after))
        return false;
    if (weak_msgs[b].older != 0)
        raise_to(&lower, weak_msgs[weak_msgs[b].older].stamp);
    raise_to(&lower, weak_msgs[p].sealed);
    raise_to(&lower, weak_msgs[p].stamp);
    if (weak_msgs[b].stamp <= lower)
        return false;
    if (weak_msgs[b].stamp - lower < 2) {
        mm.stats.forgotten++;
        return false;
    }
    *out = (struct slot){lower + (weak_msgs[b].stamp - lower) / 2, b};
    return true;
}

static uint32_t slots_find(uint32_t l, uint64_t floor, uint32_t after, struct slot *out)
{
    uint32_t n = 0;

    if (after == 0 || after == weak_locs[l].last)
        out[n++] = (struct slot){weak.last_stamp + STAMP_STEP, 0};
    for (uint32_t b = weak.newest; b != 0 && weak_msgs[b].stamp > floor; b = weak_msgs[b].older) {
        if (n == MM_SLOTS_MAX) {
            mm.stats.forgotten++;
            break;
        }
        n += slot_at(l, b, floor, after, &out[n]);
    }
    return n;
}

static void link_timeline(uint32_t m, uint32_t before)
{
    uint32_t older = before != 0 ? weak_msgs[before].older : weak.newest;

    weak_msgs[m].older = older;
    weak_msgs[m].newer = before;
    if (older != 0)
        weak_msgs[older].newer = m;
    else
        weak.oldest = m;
    if (before != 0)
        weak_msgs[before].older = m;
    else
        weak.newest = m;
}

static void link_loc(uint32_t m, uint32_t l)
{
    struct loc *o = &weak_locs[l];
    uint32_t next = 0, prev = o->last;

    while (weak_msgs[prev].stamp > weak_msgs[m].stamp) {
        next = prev;
        prev = weak_msgs[prev].prev;
    }
    weak_msgs[m].prev = prev;
    weak_msgs[m].next = next;
    weak_msgs[prev].next = m;
    if (next != 0)
        weak_msgs[next].prev = m;
    else
        o->last = m;
    if (++o->count > MM_HISTORY_MAX) {
        uint32_t gone = o->first;
        o->first = weak_msgs[gone].next;
        weak_msgs[o->first].prev = 0;
        o->count--;
        msg_free(gone);
        mm.stats.forgotten++;
    }
}

/* Puts a store of value into slot s. */
static uint32_t put(uint32_t l, struct slot s, uint64_t value)
{
    uint32_t m = msg_new();

    if (mm.limit != NULL)
        return 1;
    weak_msgs[m].stamp = s.stamp;
    weak_msgs[m].value = value;
    link_timeline(m, s.before);
    link_loc(m, l);
    if (s.before == 0)
        weak.last_stamp = s.stamp;
    else
        mm.stats.moved_stores++;
    if (weak_locs[l].last == m)
        mm_raw_put(weak_locs[l].addr, weak_locs[l].size, value);
    return m;
}

/* ---- what a load can see ---- */

/* Newest first; the last one is the newest that is not after bound. */
static uint32_t visible(uint32_t l, uint64_t bound, uint32_t *out)
{
    uint32_t n = 0;

    for (uint32_t m = weak_locs[l].last; m != 0; m = weak_msgs[m].prev) {
        out[n++] = m;
        if (weak_msgs[m].stamp <= bound)
            break;
    }
    return n;
}

static uint32_t pick_visible(uint32_t l, uint64_t bound)
{
    uint32_t seen[MM_HISTORY_MAX + 1];
    uint32_t n = visible(l, bound, seen);

    assert(n > 0); /* the newest is always there */
    uint32_t i = ask(CHOICE_LOAD, n);
    mm.stats.stale_loads += i != 0;
    return seen[i];
}

/* ---- arm64 ---- */

static uint64_t arm_read_pre(const struct arm_thread *t, unsigned bits)
{
    return bits & MM_ACQ ? max2(t->r_new, t->rel) : t->r_new;
}

/* The view after reading m; no effect. */
static uint64_t arm_read_post(int tid, uint32_t l, uint32_t m, uint64_t pre)
{
    const struct arm_loc *a = &weak_arm_loc[l][tid];
    bool forwarded = weak_msgs[m].stamp != 0 && a->fwd == weak_msgs[m].stamp;

    return max2(pre, forwarded ? a->fwd_view : weak_msgs[m].stamp);
}

static void arm_did_read(int tid, uint32_t l, uint32_t m, uint64_t pre, unsigned bits)
{
    struct arm_thread *t = &weak_arm[tid];
    struct arm_loc *a = &weak_arm_loc[l][tid];
    uint64_t post = arm_read_post(tid, l, m, pre);

    raise_to(&weak_msgs[m].sealed, max2(pre, a->coh));
    raise_to(&a->coh, post);
    raise_to(&t->r_old, post);
    raise_to(&t->cap, post);
    if (bits & MM_ACQ) {
        raise_to(&t->r_new, post);
        raise_to(&t->w_new, post);
    }
}

static uint64_t arm_load(int tid, uint32_t l, unsigned bits)
{
    uint64_t pre = arm_read_pre(&weak_arm[tid], bits);
    uint32_t m = pick_visible(l, max2(pre, weak_arm_loc[l][tid].coh));

    arm_did_read(tid, l, m, pre, bits);
    return weak_msgs[m].value;
}

/* A store comes after this. */
static uint64_t arm_write_floor(int tid, uint32_t l, unsigned bits)
{
    const struct arm_thread *t = &weak_arm[tid];
    uint64_t floor = max2(t->w_new, weak_arm_loc[l][tid].coh);

    if (bits & MM_REL)
        floor = max2(floor, max2(t->r_old, t->w_old));
    return mm.ctrl ? max2(floor, t->cap) : floor;
}

static void arm_did_write(int tid, uint32_t l, uint64_t stamp, uint64_t fwd_view, unsigned bits)
{
    struct arm_thread *t = &weak_arm[tid];

    weak_arm_loc[l][tid] = (struct arm_loc){.coh = stamp, .fwd = stamp, .fwd_view = fwd_view};
    raise_to(&t->w_old, stamp);
    if (bits & MM_REL)
        raise_to(&t->rel, stamp);
}

static void arm_store(int tid, uint32_t l, unsigned bits, uint64_t value)
{
    struct slot slots[MM_SLOTS_MAX];
    uint32_t n = slots_find(l, arm_write_floor(tid, l, bits), 0, slots);
    struct slot s = slots[ask(CHOICE_STORE, n)];

    put(l, s, value);
    arm_did_write(tid, l, s.stamp, 0, bits);
}

static void arm_dmb(int tid)
{
    struct arm_thread *t = &weak_arm[tid];
    uint64_t v = max2(t->r_old, t->w_old);

    raise_to(&t->r_new, v);
    raise_to(&t->w_new, v);
}

/* ---- ppc64 ---- */

static uint64_t join(struct map *to, const struct map *from, uint32_t n)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < n; i++) {
        raise_to(&to->at[i], from->at[i]);
        raise_to(&most, from->at[i]);
    }
    return most;
}

static void power_isync(struct power_thread *t) { join(&t->floor, &t->bound, weak.locs); }

static void power_lwsync(struct power_thread *t)
{
    raise_to(&t->bound_max, join(&t->bound, &t->seen, weak.locs));
    power_isync(t);
}

static void power_sync(struct power_thread *t)
{
    raise_to(&t->bound_max, join(&t->bound, &weak_sync_map, weak.locs));
    power_lwsync(t);
    join(&weak_sync_map, &t->bound, weak.locs);
}

static void power_before(int tid, unsigned bits)
{
    if (bits & MM_SYNC)
        power_sync(&weak_power[tid]);
    else if (bits & MM_LWSYNC)
        power_lwsync(&weak_power[tid]);
}

static void power_after(int tid, unsigned bits)
{
    if (bits & MM_LWSYNC_AFTER)
        power_lwsync(&weak_power[tid]);
    else if (bits & MM_ISYNC)
        power_isync(&weak_power[tid]);
}

static void power_did_read(int tid, uint32_t l, uint32_t m)
{
    struct power_thread *t = &weak_power[tid];

    raise_to(&t->seen.at[l], weak_msgs[m].stamp);
    if (weak_msgs[m].view_len > 0)
        raise_to(&t->bound_max, join(&t->bound, &weak_views[m], weak_msgs[m].view_len));
}

static uint64_t power_load(int tid, uint32_t l, unsigned bits)
{
    power_before(tid, bits);
    uint32_t m = pick_visible(l, power_read_bound(tid, l));
    power_did_read(tid, l, m);
    power_after(tid, bits);
    return weak_msgs[m].value;
}

/* A store goes after all that its thread is bound to: coherence and lwsync never contradict. */
static uint64_t power_write_floor(int tid, uint32_t l)
{
    return max2(weak_power[tid].seen.at[l], weak_power[tid].bound_max);
}

static void power_did_write(int tid, uint32_t l, uint32_t m)
{
    struct power_thread *t = &weak_power[tid];

    memcpy(weak_views[m].at, t->bound.at, weak.locs * sizeof(uint64_t));
    weak_msgs[m].view_len = weak.locs;
    t->seen.at[l] = weak_msgs[m].stamp;
}

static void power_store(int tid, uint32_t l, unsigned bits, uint64_t value)
{
    struct slot slots[MM_SLOTS_MAX];

    power_before(tid, bits);
    uint32_t n = slots_find(l, power_write_floor(tid, l), 0, slots);
    power_did_write(tid, l, put(l, slots[ask(CHOICE_STORE, n)], value));
    power_after(tid, bits);
}

/* ---- read-modify-write, both ---- */

struct rmw {
    int tid;
    uint32_t l;
    unsigned bits;
    enum mm_rmw how;
    uint64_t expect, pre;
};

/* The store comes after this if the load part reads m. */
static uint64_t rmw_floor(const struct rmw *r, uint32_t m)
{
    if (mm.kind == MM_ARM)
        return max2(arm_write_floor(r->tid, r->l, r->bits), arm_read_post(r->tid, r->l, m, r->pre));
    uint64_t floor = max2(power_write_floor(r->tid, r->l), weak_msgs[m].stamp);
    for (uint32_t i = 0; i < weak_msgs[m].view_len; i++)
        raise_to(&floor, weak_views[m].at[i]);
    return floor;
}

static bool rmw_writes(const struct rmw *r, uint32_t m)
{
    return r->how != RMW_CAS || weak_msgs[m].value == r->expect;
}

/* The messages that the load part may see: those whose next place is free, if it stores. */
static uint32_t rmw_visible(const struct rmw *r, uint32_t *out)
{
    struct slot slots[MM_SLOTS_MAX];
    uint64_t bound = mm.kind == MM_ARM ? max2(r->pre, weak_arm_loc[r->l][r->tid].coh)
                                       : power_read_bound(r->tid, r->l);
    uint32_t n = visible(r->l, bound, out), kept = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!rmw_writes(r, out[i]) || slots_find(r->l, rmw_floor(r, out[i]), out[i], slots) > 0)
            out[kept++] = out[i];
    return kept;
}

static void rmw_store(const struct rmw *r, uint32_t m, uint64_t floor, uint64_t post,
                      uint64_t value)
{
    struct slot slots[MM_SLOTS_MAX];
    struct slot s = slots[ask(CHOICE_STORE, slots_find(r->l, floor, m, slots))];
    uint32_t made = put(r->l, s, value);

    weak_msgs[m].locked = true; /* m may just have been forgotten: then this is harmless */
    if (mm.kind == MM_POWER) {
        power_did_write(r->tid, r->l, made);
        return;
    }
    arm_did_write(r->tid, r->l, s.stamp, post, r->bits);
    if ((r->bits & (MM_ACQ | MM_REL)) == (MM_ACQ | MM_REL)) {
        raise_to(&weak_arm[r->tid].r_new, s.stamp);
        raise_to(&weak_arm[r->tid].w_new, s.stamp);
    }
}

uint64_t weak_rmw(int tid, void *addr, unsigned size, unsigned bits, enum mm_rmw how,
                  uint64_t operand, uint64_t expect, bool *wrote)
{
    uint32_t seen[MM_HISTORY_MAX + 1];
    struct rmw r = {tid, loc_of(addr, size), bits, how, expect, 0};

    thread_seen(tid);
    if (mm.kind == MM_POWER)
        power_before(tid, bits);
    else
        r.pre = arm_read_pre(&weak_arm[tid], bits);
    uint32_t i = ask(CHOICE_LOAD, rmw_visible(&r, seen)), m = seen[i];
    uint64_t old = weak_msgs[m].value, floor = rmw_floor(&r, m);
    uint64_t post = mm.kind == MM_ARM ? arm_read_post(tid, r.l, m, r.pre) : 0;

    mm.stats.stale_loads += i != 0;
    *wrote = rmw_writes(&r, m);
    if (mm.kind == MM_ARM)
        arm_did_read(tid, r.l, m, r.pre, bits);
    else
        power_did_read(tid, r.l, m);
    if (*wrote)
        rmw_store(&r, m, floor, post, mm_rmw_value(how, old, operand, size));
    if (mm.kind == MM_POWER)
        power_after(tid, bits);
    return old;
}

/* ---- the rest of the surface ---- */

uint64_t weak_load(int tid, void *addr, unsigned size, unsigned bits)
{
    uint32_t l = loc_of(addr, size);

    thread_seen(tid);
    return mm.kind == MM_ARM ? arm_load(tid, l, bits) : power_load(tid, l, bits);
}

void weak_store(int tid, void *addr, unsigned size, unsigned bits, uint64_t value)
{
    uint32_t l = loc_of(addr, size);

    thread_seen(tid);
    if (mm.kind == MM_ARM)
        arm_store(tid, l, bits, value);
    else
        power_store(tid, l, bits, value);
}

void weak_fence(int tid, unsigned bits)
{
    thread_seen(tid);
    if (mm.kind == MM_ARM && (bits & MM_DMB))
        arm_dmb(tid);
    else if (mm.kind == MM_POWER)
        power_before(tid, bits);
}

void weak_kernel(int from, int to)
{
    if (from < 0)
        return;
    thread_seen(from);
    if (to >= 0)
        thread_seen(to);
    if (mm.kind == MM_ARM) {
        arm_dmb(from);
        if (to >= 0) {
            raise_to(&weak_arm[to].r_new, weak_arm[from].r_new);
            raise_to(&weak_arm[to].w_new, weak_arm[from].w_new);
        }
        return;
    }
    power_sync(&weak_power[from]);
    if (to >= 0 && to != from) {
        raise_to(&weak_power[to].bound_max,
                 join(&weak_power[to].bound, &weak_power[from].bound, weak.locs));
        power_isync(&weak_power[to]);
    }
}

uint64_t weak_kernel_read(int tid, void *addr, unsigned size)
{
    uint32_t l = loc_of(addr, size);
    uint32_t m = weak_locs[l].last;

    if (mm.kind == MM_ARM) {
        arm_did_read(tid, l, m, arm_read_pre(&weak_arm[tid], MM_ACQ), MM_ACQ);
    } else {
        power_did_read(tid, l, m);
        power_lwsync(&weak_power[tid]);
    }
    return weak_msgs[m].value;
}

/* ---- copies ---- */

/* The latest first: on the way to a location lie only earlier ones. */
static void forget_locs(uint32_t from, uint32_t to)
{
    for (uint32_t l = to; l-- > from;) {
        uint32_t at = hash_of(weak_locs[l].addr) % HASH_SIZE;
        while (hash[at].generation != weak.generation || hash[at].addr != weak_locs[l].addr)
            at = (at + 1) % HASH_SIZE;
        hash[at].generation = 0;
    }
}

/* Threads that appear later start with nothing. */
static void arm_forget(uint32_t from, uint32_t to)
{
    if (to <= from)
        return;
    memset(&weak_arm[from], 0, (to - from) * sizeof *weak_arm);
    for (uint32_t l = 0; l < weak.locs; l++)
        memset(&weak_arm_loc[l][from], 0, (to - from) * sizeof *weak_arm_loc[l]);
}

static void arm_copy(struct mm_copy *c, bool back)
{
    mm_copy_part(c, weak_arm, weak.threads * sizeof *weak_arm, back);
    for (uint32_t l = 0; l < weak.locs; l++)
        mm_copy_part(c, weak_arm_loc[l], weak.threads * sizeof *weak_arm_loc[l], back);
}

static void power_copy(struct mm_copy *c, bool back)
{
    size_t size = weak.locs * sizeof(uint64_t);
    mm_copy_part(c, weak_sync_map.at, size, back);
    for (uint32_t i = 0; i < weak.threads; i++) {
        struct power_thread *t = &weak_power[i];
        mm_copy_part(c, t->floor.at, size, back);
        mm_copy_part(c, t->bound.at, size, back);
        mm_copy_part(c, t->seen.at, size, back);
        mm_copy_part(c, &t->bound_max, sizeof t->bound_max, back);
    }
    for (uint32_t m = 1; m < weak.msgs; m++)
        mm_copy_part(c, weak_views[m].at, weak_msgs[m].view_len * sizeof(uint64_t), back);
}

void weak_copy(struct mm_copy *c, bool back)
{
    uint32_t locs_now = weak.locs, threads_now = weak.threads;

    mm_copy_part(c, &weak, sizeof weak, back);
    if (back)
        forget_locs(weak.locs, locs_now);
    mm_copy_part(c, weak_locs, weak.locs * sizeof *weak_locs, back);
    mm_copy_part(c, weak_msgs, weak.msgs * sizeof *weak_msgs, back);
    if (mm.kind == MM_POWER) {
        power_copy(c, back);
        return;
    }
    arm_copy(c, back);
    if (back)
        arm_forget(weak.threads, threads_now);
}
