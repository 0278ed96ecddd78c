/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/sampler.h"

#include <string.h>

#include "run/window.h"

enum {
    INTERVAL_NS = 1000,
    LONG_NS = 1000000,
    SAMPLES_FIRST = 256,
    SAMPLES_MAX = 16384,
    PS_PER_NS = 1000,
    RINGS_MAX = 1024
};

void sampler_init(struct sampler *s, struct store *db, struct analysis *a)
{
    *s = (struct sampler){
        .db = db, .analysis = a, .interval_ps = (uint64_t)INTERVAL_NS * PS_PER_NS};
}

static int64_t sample_rings(struct sampler *s, int64_t time_ns, int32_t procs)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < procs; i++) {
        struct look_p p;
        look_p(i, &p);
        int32_t length = (int32_t)p.ring + (p.runnext != 0);
        sum += length;
        if (procs <= RINGS_MAX && length > 0)
            store_add_ring(s->db, time_ns, i, length);
    }
    return sum;
}

/* What the analysis knows, since the last sample. */
static struct store_sample since_last(struct sampler *s, uint64_t now_ps)
{
    struct analysis *a = s->analysis;
    uint64_t ps[PC_COUNT];
    analysis_ps_until(a, now_ps, ps);
    struct store_sample out = {.time_ns = (int64_t)(now_ps / PS_PER_NS),
                               .interval_ns = (int64_t)((now_ps - s->last_ps) / PS_PER_NS),
                               .runnable = (int64_t)a->runnable,
                               .runnable_max = (int64_t)a->runnable_peak,
                               .runnable_area = (int64_t)(a->runnable_area - s->area_before)};
    for (int c = 0; c < PC_COUNT; c++)
        out.p_ns[c] = (int64_t)((ps[c] - s->before[c]) / PS_PER_NS);
    memcpy(s->before, ps, sizeof ps);
    s->area_before = a->runnable_area;
    a->runnable_peak = a->runnable;
    return out;
}

static void add(struct sampler *s, const struct store_sample *sample, uint64_t now_ps)
{
    store_add_sample(s->db, sample);
    s->at_ps = s->last_ps = now_ps;
    bool is_long = s->interval_ps >= (uint64_t)LONG_NS * PS_PER_NS;
    if (++s->count >= (is_long ? SAMPLES_MAX : SAMPLES_FIRST)) {
        s->interval_ps *= 2;
        s->count = 0;
    }
}

void sample_world(struct sampler *s, uint64_t now_ps)
{
    struct look_sched look;
    look_sched(&look);
    struct store_sample out = since_last(s, now_ps);
    out.globrunq = look.globrunq;
    out.ring = sample_rings(s, out.time_ns, look.procs);
    out.idle_ps = look.npidle;
    out.spinning_ms = look.nmspinning;
    out.idle_ms = look.nmidle;
    out.ms = look.nm;
    add(s, &out, now_ps);
}

void sample_known(struct sampler *s, uint64_t now_ps, int64_t threads)
{
    struct store_sample out = since_last(s, now_ps);
    out.globrunq = out.ring = out.spinning_ms = out.idle_ms = STORE_UNKNOWN;
    out.idle_ps = s->analysis->idle_ps;
    out.ms = threads;
    add(s, &out, now_ps);
}

uint64_t sampler_next(const struct sampler *s) { return s->at_ps + s->interval_ps; }

bool sampler_wants_last(const struct sampler *s, uint64_t end_ps)
{
    return end_ps / PS_PER_NS > s->last_ps / PS_PER_NS;
}
