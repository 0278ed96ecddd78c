/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_INTERRUPT_H
#define GMPSIM_CLI_INTERRUPT_H

/* For commands that report what they have so far when the user interrupts them (SIGINT). */

#include <stdbool.h>

/* The first interrupt is noted, and `then` called in the handler (NULL: nothing); the second one
 * ends the process. */
void interrupt_catch(void (*then)(void));
bool interrupted(void);

#endif
