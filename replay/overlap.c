/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/overlap.h"

#include <stdlib.h>

#include "sim/base/alloc.h"

int overlap_by_length(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return a < b ? -1 : a > b;
}

int64_t overlap_roundest(int64_t low, int64_t high)
{
    for (int64_t unit = INT64_C(1000000000000); unit >= 1; unit /= 10) {
        int64_t n = high / unit * unit;
        if (n >= low && n > 0)
            return n;
    }
    return high;
}

/* A sweep over the ends. */
size_t overlap_most(const struct bounds *b, size_t n, int64_t *low, int64_t *high)
{
    int64_t *lows = x_alloc((n + 1) * sizeof *lows), *highs = x_alloc((n + 1) * sizeof *highs);
    size_t most = 0, open = 0, j = 0;
    for (size_t i = 0; i < n; i++) {
        lows[i] = b[i].low;
        highs[i] = b[i].high;
    }
    qsort(lows, n, sizeof *lows, overlap_by_length);
    qsort(highs, n, sizeof *highs, overlap_by_length);
    for (size_t i = 0; i < n; i++) {
        for (; highs[j] < lows[i]; j++)
            open--;
        if (++open > most) {
            most = open;
            *low = lows[i];
            *high = highs[j];
        }
    }
    free(lows);
    free(highs);
    return most;
}
