/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_GUEST_H
#define GMPSIM_RUN_GUEST_H

/* What the parts of the public library share (include/gmpsim.h): it is a guest in somebody else's
 * process.
 *
 *     guest_enter();
 *     if (setjmp(guest_no_memory) == 0) ...
 *     guest_leave();
 *
 * One call at a time; without memory a call jumps back, and nothing ends the process. */

#include <setjmp.h>

#include "include/gmpsim.h"
#include "sim/base/fail.h"

struct gmpsim_scenario {
    struct scenario *s;
    char *path; /* as it was opened, or what stands for it */
};

extern jmp_buf guest_no_memory;

void guest_enter(void);
void guest_leave(void);

/* Write a sentence to error (may be NULL), and give the status. */
int guest_say(char *error, const struct failure *f);
int guest_said_no_memory(char *error);
int guest_said_null(char *error, const char *what);

#endif
