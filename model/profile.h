/* SPDX-License-Identifier: BSD-3-Clause */
/* A profile is a Go release as data: named switches and constants, each of which can be overridden
 * alone. */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROFILE_FIRST = 13, PROFILE_LATEST = 27 };

struct profile {
    int32_t release; /* N of go1.N */
#define SWITCH(name, first, last, what) bool name;
#define CONST(name, value, what)
#include "profile.def"
#undef SWITCH
#undef CONST
#define SWITCH(name, first, last, what)
#define CONST(name, value, what) int64_t name;
#include "profile.def"
#undef SWITCH
#undef CONST
};

/* One row of the table, for listing, parsing and tests. */
struct profile_rule {
    const char *name, *what;
    bool is_switch;
    int first, last; /* a switch's releases */
    int64_t value;   /* a constant's value */
    uint16_t offset; /* into struct profile */
};

extern const struct profile_rule profile_rules[];
extern const size_t profile_rules_count;

bool profile_init(struct profile *f, int release); /* false: no such release */
int profile_parse(const char *name);               /* "go1.24", "1.24" or "latest"; -1: unknown */
/* What it may be set to; false: unknown name. ring_len has to be a power of two besides. */
bool profile_range(const char *name, int64_t *min, int64_t *max);
/* Sets one rule by name. 0 done, -1 unknown name, -2 value out of range. */
int profile_set(struct profile *f, const char *name, int64_t value);
/* What does not go together in it, as a sentence; NULL: a world can be made of it. */
const char *profile_refusal(const struct profile *f);
int64_t profile_get(const struct profile *f, const struct profile_rule *r);
#endif
