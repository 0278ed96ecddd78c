/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as what a load generator or a program's metrics printed: bins in order with weights, or
 * a refusal with a place and a reason.
 * libs: gmpsim_measured */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/measured.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_bins(const struct measured_bin *bins, size_t n)
{
    if (n > MEASURED_BINS_MAX)
        abort();
    for (size_t i = 0; i < n; i++)
        if (bins[i].from_ns < 0 || bins[i].to_ns < bins[i].from_ns ||
            bins[i].to_ns > INT64_C(1000000000000000))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct measured m;
    struct failure f = {0};
    int line, column;
    bool ok = measured_parse(&f, "t", (const char *)data, size, NULL, &m);

    if (ok != (f.code == E_OK))
        abort();
    if (!ok && (sscanf(f.text, "t:%d:%d: ", &line, &column) != 2 || line < 1 || column < 1))
        abort();
    if (!ok)
        return 0;
    check_bins(m.bins, m.nbins);
    check_bins(m.gaps, m.ngaps);
    if (m.of_scheduler ? m.procs < 1 : m.nbins == 0)
        abort();
    if (!(m.mean_ns <= 1e15) || !(m.wait_p99_ns <= 1e15) || !isfinite(m.busy) ||
        !isfinite(m.starts))
        abort();
    return 0;
}
