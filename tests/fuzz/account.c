/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a Go trace that is summed up as a run: nobody listens to nonsense. Where the time of
 * spans went adds up to it, and no P did more than there was time for.
 * libs: gmpsim_replay */
#include <stdlib.h>

#include "replay/account.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct bytes {
    const uint8_t *data;
    size_t size;
};

static struct trace *open_bytes(struct failure *f, void *arg)
{
    const struct bytes *b = arg;
    return trace_open_bytes(f, b->data, b->size,
                            &(struct trace_opts){.generation_bytes = 64 << 20});
}

static void look_at_span(const struct run_span *s)
{
    uint64_t slow = 0;
    for (int p = 0; p < SP_COUNT; p++)
        slow += s->went.slow_ps[p];
    if (s->went.slow > s->went.count || s->went.count != s->latency->count)
        abort();
    if (s->latency->count > 0 && slow / 1000 > (uint64_t)s->latency->sum)
        abort();
}

static void look_at(const struct account *a)
{
    const struct run_result *q = &a->result;
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < q->nspans; i++)
        look_at_span(&q->spans[i]);
    for (int c = 0; c < PC_COUNT; c++)
        sum += q->p_ps[c];
    if (sum > (unsigned __int128)q->now_ps * (a->transitions.nps + 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct failure f = {0};
    struct account a;
    struct bytes b = {data, size};
    if (!account_open(&f, &a, open_bytes, &b, 0))
        return 0;
    (void)account_read(&a, NULL, &f);
    look_at(&a);
    account_close(&a);
    return 0;
}
