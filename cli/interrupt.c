/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t came;
static void (*then_do)(void);

static void on_interrupt(int sig)
{
    (void)sig;
    came = 1;
    if (then_do != NULL)
        then_do();
}

bool interrupted(void) { return came != 0; }

/* SA_RESETHAND: the second interrupt meets the default, which ends the process. */
void interrupt_catch(void (*then)(void))
{
    then_do = then;
    sigaction(
        SIGINT,
        &(struct sigaction){.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART},
        NULL);
}
