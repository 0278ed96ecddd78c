/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_INFER_H
#define GMPSIM_REPLAY_INFER_H

/* What a recording does not say, concluded from what it says: a pass per file, each with a switch,
 * and what it found. A pass adds to the recording's tables and never takes anything away: what no
 * pass explains is replayed as it was recorded. */

#include "replay/recording.h"

enum infer_pass {
#define INFER(name, text, what) INFER_##name,
#include "replay/infer.def"
#undef INFER
    INFER_COUNT
};

struct infer_found {
    uint64_t count, of; /* explained so many of so many */
    int confidence;     /* permille: how sure it is, where it can tell */
    char text[200];
};

struct infer {
    uint64_t off; /* a bit per pass that is switched off */
    struct infer_found found[INFER_COUNT];
};

extern const char *const infer_names[INFER_COUNT + 1]; /* then NULL */
extern const char *const infer_whats[INFER_COUNT];

void infer_all(struct recording *r, struct infer *in);

#define INFER(name, text, what) void infer_##name(struct recording *r, struct infer_found *f);
#include "replay/infer.def"
#undef INFER

#endif
