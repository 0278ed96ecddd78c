/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/infer.h"

#include <string.h>

const char *const infer_names[INFER_COUNT + 1] = {
#define INFER(name, text, what) text,
#include "replay/infer.def"
#undef INFER
    NULL};

const char *const infer_whats[INFER_COUNT] = {
#define INFER(name, text, what) what,
#include "replay/infer.def"
#undef INFER
};

static void (*const passes[INFER_COUNT])(struct recording *r, struct infer_found *f) = {
#define INFER(name, text, what) infer_##name,
#include "replay/infer.def"
#undef INFER
};

void infer_all(struct recording *r, struct infer *in)
{
    for (int i = 0; i < INFER_COUNT; i++) {
        in->found[i] = (struct infer_found){0};
        if ((in->off >> i & 1) == 0)
            passes[i](r, &in->found[i]);
    }
}
