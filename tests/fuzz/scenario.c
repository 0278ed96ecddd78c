/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a scenario: it loads, or there is a place and a reason; and the compiler never makes
 * a program that program_check refuses.
 * libs: gmpsim_scenarios */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct failure f = {0};
    static const char refused[] = "f:1:1: the compiled program is not safe";
    unsigned line, column;
    struct scenario *s = scenario_load(&f, "f", (const char *)data, size);
    if ((s != NULL) != (f.code == E_OK))
        abort();
    if (s == NULL && (sscanf(f.text, "f:%u:%u: ", &line, &column) != 2 || line < 1 || column < 1))
        abort();
    if (s == NULL && strncmp(f.text, refused, strlen(refused)) == 0)
        abort();
    scenario_free(s);
    return 0;
}
