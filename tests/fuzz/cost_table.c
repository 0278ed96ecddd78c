/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a cost table: an answer, and a refusal has a place and a reason.
 * libs: gmpsim_costs */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/costs_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct cost_table table;
    struct failure f = {0};
    int line, column;
    bool ok = costs_parse(&f, "t", (const char *)data, size, &table);

    if (ok != (f.code == E_OK))
        abort();
    if (!ok && (sscanf(f.text, "t:%d:%d: ", &line, &column) != 2 || line < 1 || column < 1))
        abort();
    for (int i = 0; ok && i < COST_COUNT; i++)
        if (table.costs.kind[i] > COST_MAX_PS)
            abort();
    return 0;
}
