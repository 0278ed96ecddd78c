/* SPDX-License-Identifier: BSD-3-Clause */
/* What -finstrument-functions calls: notes every function that was entered, and adds their
 * places to the file that COVERAGE_OUT names when the program ends: distances from where it is
 * loaded, which for a PIE are the addresses that nm prints. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 24 };

extern const char __executable_start;

static _Atomic unsigned char entered[TEXT_MAX];

void __cyg_profile_func_enter(void *fn, void *from);
void __cyg_profile_func_exit(void *fn, void *from);

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *fn, void *from)
{
    (void)from;
    uintptr_t at = (uintptr_t)fn - (uintptr_t)&__executable_start;
    if (at < TEXT_MAX)
        entered[at] = 1;
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *fn, void *from)
{
    (void)fn;
    (void)from;
}

__attribute__((no_instrument_function, destructor)) static void write_entered(void)
{
    const char *path = getenv("COVERAGE_OUT");
    FILE *f = path != NULL ? fopen(path, "a") : NULL;
    if (f == NULL)
        return;
    for (uintptr_t at = 0; at < TEXT_MAX; at++)
        if (entered[at])
            fprintf(f, "%lx\n", (unsigned long)at);
    fclose(f);
}
