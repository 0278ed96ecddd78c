/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_LOOK_H
#define GMPSIM_CLI_LOOK_H

/* The state of a world that stands still, as text and as JSON. */

#include "cli/cli.h"

struct look_what {
    const struct program *program;
    int64_t gs_max; /* goroutines shown */
    bool all;       /* the runtime's own ones too */
};

enum { LOOK_GS_DEFAULT = 100 };

void look_print(const struct look_what *what, int64_t now_ns);
/* The same, short: one line, and the Ps. */
void look_print_short(const struct look_what *what, int64_t now_ns);
void look_print_ms(void);
void look_print_gs(const struct look_what *what, int64_t now_ns);
void look_print_timers(void);
/* All goroutines and whole queues. */
void look_print_json(const struct look_what *what, int64_t now_ns);

#endif
