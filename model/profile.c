/* SPDX-License-Identifier: BSD-3-Clause */
#include "profile.h"
#include <string.h>

#define SWITCH(n, f, l, w) \
    {.name = #n,           \
     .what = w,            \
     .is_switch = true,    \
     .first = f,           \
     .last = l,            \
     .offset = offsetof(struct profile, n)},
#define CONST(n, v, w) {.name = #n, .what = w, .value = v, .offset = offsetof(struct profile, n)},
const struct profile_rule profile_rules[] = {
#include "profile.def"
};
#undef SWITCH
#undef CONST
const size_t profile_rules_count = sizeof profile_rules / sizeof *profile_rules;

static void put(struct profile *f, const struct profile_rule *r, int64_t value)
{
    char *at = (char *)f + r->offset;
    if (r->is_switch)
        *(bool *)at = value != 0;
    else
        memcpy(at, &value, sizeof value);
}

static const struct profile_rule *profile_rule_of(const char *name)
{
    for (size_t i = 0; i < profile_rules_count; i++)
        if (strcmp(profile_rules[i].name, name) == 0)
            return &profile_rules[i];
    return NULL;
}

int64_t profile_get(const struct profile *f, const struct profile_rule *r)
{
    const char *at = (const char *)f + r->offset;
    int64_t value;
    if (r->is_switch)
        return *(const bool *)at;
    memcpy(&value, at, sizeof value);
    return value;
}

bool profile_init(struct profile *f, int release)
{
    if (release < PROFILE_FIRST || release > PROFILE_LATEST)
        return false;
    memset(f, 0, sizeof *f);
    f->release = release;
    for (size_t i = 0; i < profile_rules_count; i++) {
        const struct profile_rule *r = &profile_rules[i];
        put(f, r, r->is_switch ? release >= r->first && release <= r->last : r->value);
    }
    return true;
}

int profile_parse(const char *name)
{
    if (strcmp(name, "latest") == 0)
        return PROFILE_LATEST;
    if (strncmp(name, "go", 2) == 0)
        name += 2;
    if (strncmp(name, "1.", 2) != 0 || name[2] < '1' || name[2] > '9' || name[3] < '0' ||
        name[3] > '9' || name[4] != 0)
        return -1;
    int release = (name[2] - '0') * 10 + (name[3] - '0');
    return release < PROFILE_FIRST || release > PROFILE_LATEST ? -1 : release;
}

/* Constants whose meaning leaves less room than a time does: a ring below 2 cannot be split,
 * nothing can be taken from a list without room, who sleeps for no time at all looks for ever, ids
 * have 32 bits, and products have to fit 64. */
enum { SPINS_MAX = 1000000 };
static const int64_t time_max = INT64_C(1000000000000000);
static const struct {
    const char *name;
    int64_t min, max;
} ranges[] = {
    {"ring_len", 2, 65536},
    {"steal_passes", 0, 1000},
    {"fair_period", 1, INT32_MAX},
    {"runnext_backoff_ns", 0, INT64_C(1000000000000)},
    {"sysmon_min_us", 1, INT32_MAX},
    {"sysmon_max_us", 1, INT32_MAX},
    {"sysmon", 0, 1},
    {"stw_repreempt_ns", 1, INT64_C(1000000000000000)},
    {"goid_batch", 1, 65536},
    {"gfree_max", 1, INT32_MAX},
    {"gfree_keep", 1, INT32_MAX},
    {"sudog_cap", 1, 1000000},
    {"netpoll_batch", 1, 128},
    {"maxmcount", 1, INT32_MAX},
    {"mutex_spin", 0, SPINS_MAX},
    {"mutex_spin_cnt", 0, SPINS_MAX},
    {"sema_roots", 1, 65536},
    {"lock_active_spin", 0, SPINS_MAX},
    {"lock_active_cnt", 0, SPINS_MAX},
    {"lock_passive_spin", 0, SPINS_MAX},
    {"spinbit_tail_period", 1, INT32_MAX},
    {"gc_percent", -1, 1000000},
    {"gc_mark_ns_per_kb", 0, 1000000},
    {"gc_touch_ns_per_kb", 0, 1000000},
    {"gc_data_kb", 0, 1 << 22},
    {"gc_bss_kb", 0, 1 << 22},
    {"gc_spans", 0, 100000},
    {"gc_util_percent", 1, 100},
    {"trace_buf_events", 1, INT32_MAX},
    {"async_preempt_off", 0, 1},
    {"async_timer_chan", 0, 1},
    {"update_max_procs", 0, 1},
    {"container_max_procs", 0, 1},
    {"iscgo", 0, 1},
    {"main_go_line", 0, 99},
};

bool profile_range(const char *name, int64_t *min, int64_t *max)
{
    const struct profile_rule *r = profile_rule_of(name);
    if (r == NULL)
        return false;
    *min = 0;
    *max = r->is_switch ? 1 : time_max;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (strcmp(ranges[i].name, name) == 0) {
            *min = ranges[i].min;
            *max = ranges[i].max;
        }
    }
    return true;
}

int profile_set(struct profile *f, const char *name, int64_t value)
{
    int64_t min, max;
    if (!profile_range(name, &min, &max))
        return -1;
    bool power = (value & (value - 1)) == 0 || strcmp(name, "ring_len") != 0;
    if (value < min || value > max || !power)
        return -2;
    put(f, profile_rule_of(name), value);
    return 0;
}

const char *profile_refusal(const struct profile *f)
{
    if (f->timers_v2 && !f->per_p_timers)
        return "timers_v2=on wants per_p_timers=on: its timers are in heaps of the Ps";
    if (f->steal_gives_up && f->per_p_timers)
        return "steal_gives_up=on wants per_p_timers=off: an M that gives up without a look at the "
               "other Ps never runs the timers of a P that is busy";
    return NULL;
}
