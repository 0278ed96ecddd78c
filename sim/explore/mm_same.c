/* SPDX-License-Identifier: BSD-3-Clause */
/* What two states of a weak memory have to have in common to be the same from there on (seen.c). */
#include "sim/base/fingerprint.h"
#include "sim/explore/mm_weak.h"

/* Of a state counts what somebody can still tell. No thread of `threads` ever stores at or before
 * `behind`; a message at or before it that all of them have gone past is out of everything but its
 * value. The rest count by their order. */
static struct {
    uint64_t threads, behind;
    uint64_t from[MM_LOCS_MAX];   /* loads of a location see this or what is later */
    uint64_t stamps[MM_MSGS_MAX]; /* of messages that count, in order */
    uint32_t count;
    bool counts[MM_MSGS_MAX];
} same;

/* How many stamps that count are not after this one. */
static uint64_t rank(uint64_t stamp)
{
    uint32_t low = 0, high = same.count;

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (same.stamps[middle] <= stamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Stores of this thread come after it, wherever they go. */
static uint64_t stores_after(int t)
{
    if ((uint32_t)t >= weak.threads)
        return 0;
    if (mm.kind == MM_POWER)
        return weak_power[t].bound_max;
    return mm.ctrl ? max2(weak_arm[t].w_new, weak_arm[t].cap) : weak_arm[t].w_new;
}

/* ... and loads of l see this or what is later. */
static uint64_t loads_from(int t, uint32_t l)
{
    if ((uint32_t)t >= weak.threads)
        return 0;
    return mm.kind == MM_POWER ? power_read_bound(t, l)
                               : max2(weak_arm[t].r_new, weak_arm_loc[l][t].coh);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t all_load_from(uint32_t l)
{
    uint64_t from = UINT64_MAX;

    for (uint64_t rest = same.threads; rest != 0; rest &= rest - 1)
        from = least(from, loads_from(__builtin_ctzll(rest), l));
    return from;
}

/* A message counts if a store may come before or right after it, or a load may see it or not. Once
 * all are past the newest, only what it brings who reads it is left of it. */
static void find_what_counts(uint32_t l)
{
    bool past = false;

    for (uint32_t m = weak_locs[l].last; m != 0; m = weak_msgs[m].prev) {
        bool settled = weak_msgs[m].stamp <= same.behind && weak_msgs[m].stamp <= same.from[l];
        same.counts[m] = !past &&
                         (!settled || weak_msgs[m].next != 0 || weak_msgs[m].sealed > same.behind);
        past |= settled;
    }
}

static void same_begin(uint64_t threads)
{
    same.threads = threads;
    same.behind = UINT64_MAX;
    same.count = 0;
    for (uint64_t rest = threads; rest != 0; rest &= rest - 1)
        same.behind = least(same.behind, stores_after(__builtin_ctzll(rest)));
    for (uint32_t l = 0; l < weak.locs; l++) {
        same.from[l] = all_load_from(l);
        find_what_counts(l);
    }
    for (uint32_t m = weak.oldest; m != 0; m = weak_msgs[m].newer)
        if (same.counts[m])
            same.stamps[same.count++] = weak_msgs[m].stamp;
}

/* The view that a message has for who reads it, its locations in any order. 0: nothing. */
static uint64_t view_of(uint32_t m)
{
    uint64_t view = 0;

    for (uint32_t i = 0; i < weak_msgs[m].view_len; i++) {
        uint64_t at = rank(weak_views[m].at[i]);
        struct fingerprint one;
        if (at == 0)
            continue;
        fp_init(&one);
        fp_mix2(&one, (uint64_t)(uintptr_t)weak_locs[i].addr, at);
        view += fp_value(&one);
    }
    return view;
}

/* 0: it is as if it had been there from the start. */
static uint64_t mix_message(struct fingerprint *f, uint32_t l, uint32_t m)
{
    uint32_t next = weak_msgs[m].next;
    bool seen = next == 0 || weak_msgs[next].stamp > same.from[l];
    uint64_t at = rank(weak_msgs[m].stamp), view = seen && mm.kind == MM_POWER ? view_of(m) : 0;
    uint64_t sealed = weak_msgs[m].sealed > same.behind ? rank(weak_msgs[m].sealed) : 0;

    fp_mix4(f, at, seen ? weak_msgs[m].value : 0, sealed, weak_msgs[m].locked);
    fp_mix(f, view);
    return at | view | sealed | next;
}

/* What a thread knows of a location; 0: nothing. */
static uint64_t mix_known(struct fingerprint *f, uint32_t l, int t)
{
    uint64_t a, b, c;

    if ((uint32_t)t >= weak.threads)
        return 0;
    if (mm.kind == MM_ARM) {
        const struct arm_loc *o = &weak_arm_loc[l][t];
        a = rank(o->coh);
        b = o->fwd != 0 && o->fwd == weak_msgs[weak_locs[l].last].stamp ? UINT64_MAX : rank(o->fwd);
        c = rank(o->fwd_view);
    } else {
        a = rank(weak_power[t].floor.at[l]);
        b = rank(weak_power[t].bound.at[l]);
        c = rank(weak_power[t].seen.at[l]);
    }
    if ((a | b | c) != 0)
        fp_mix4(f, (uint64_t)t, a, b, c);
    return a | b | c;
}

/* 0: as if nobody had been there. */
static uint64_t mix_loc(uint32_t l)
{
    struct fingerprint f;
    uint64_t known = 0;

    fp_init(&f);
    fp_mix(&f, (uint64_t)(uintptr_t)weak_locs[l].addr);
    for (uint64_t rest = same.threads; rest != 0; rest &= rest - 1)
        known |= mix_known(&f, l, __builtin_ctzll(rest));
    if (mm.kind == MM_POWER) {
        known |= rank(weak_sync_map.at[l]);
        fp_mix(&f, rank(weak_sync_map.at[l]));
    }
    for (uint32_t m = weak_locs[l].first; m != 0; m = weak_msgs[m].next)
        if (same.counts[m] || weak_msgs[m].next == 0)
            known |= mix_message(&f, l, m);
    return known != 0 ? fp_value(&f) : 0;
}

static void mix_thread(struct fingerprint *f, int t)
{
    const struct arm_thread *a = &weak_arm[t];

    if ((uint32_t)t >= weak.threads) {
        fp_mix(f, 0);
    } else if (mm.kind == MM_ARM) {
        fp_mix4(f, rank(a->r_old), rank(a->w_old), rank(a->r_new), rank(a->w_new));
        fp_mix2(f, rank(a->rel), rank(a->cap));
    } else {
        fp_mix(f, rank(weak_power[t].bound_max));
    }
}

void weak_mix(struct fingerprint *f, uint64_t threads)
{
    uint64_t all = 0; /* in any order */

    same_begin(threads);
    for (uint32_t l = 0; l < weak.locs; l++)
        all += mix_loc(l);
    fp_mix(f, all);
    for (; threads != 0; threads &= threads - 1)
        mix_thread(f, __builtin_ctzll(threads));
}
