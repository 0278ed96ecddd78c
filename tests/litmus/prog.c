/* SPDX-License-Identifier: BSD-3-Clause */
#include "prog.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/virt/costs.h"

static char kind_of(uint8_t op)
{
    static const char kinds[VERB_COUNT + 1] = {
#define R                     'R'
#define W                     'W'
#define U                     'U'
#define F                     'F'
#define VERB(name, kind, ...) [VERB_##name] = kind,
#include "sim/explore/verbs.def"
#undef VERB
#undef R
#undef W
#undef U
#undef F
    };
    return kinds[op];
}

bool lit_reads(uint8_t op) { return kind_of(op) == 'R' || kind_of(op) == 'U'; }

bool lit_writes(uint8_t op) { return kind_of(op) == 'W' || kind_of(op) == 'U'; }

bool lit_rmw(uint8_t op) { return kind_of(op) == 'U'; }

unsigned lit_bits(enum mm_kind kind, uint8_t op)
{
    enum {
        DRAIN = 1,
        ACQ = 2,
        REL = 4,
        DMB = 8,
        SYNC = 16,
        LWSYNC = 32,
        ISYNC = 64,
        LWSYNC_AFTER = 128
    };
    static const unsigned bits[][3] = {
#define VERB(name, k, amd64, arm64, ppc64le) {amd64, arm64, ppc64le},
#include "sim/explore/verbs.def"
#undef VERB
    };
    return kind == MM_ARM ? bits[op][1] : kind == MM_POWER ? bits[op][2] : bits[op][0];
}

int lit_regs(const struct lit_prog *p)
{
    int n = 0;

    for (int t = 0; t < p->threads; t++)
        for (int i = 0; i < p->ops[t]; i++)
            n += lit_reads(p->op[t][i].op);
    return n;
}

static size_t place(const struct lit_set *s, lit_outcome o)
{
    size_t low = 0, high = s->count;

    while (low < high) {
        size_t mid = (low + high) / 2;
        if (s->at[mid] < o)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

bool lit_has(const struct lit_set *s, lit_outcome o)
{
    size_t i = place(s, o);
    return i < s->count && s->at[i] == o;
}

void lit_add(struct lit_set *s, lit_outcome o)
{
    size_t i = place(s, o);

    if (i < s->count && s->at[i] == o)
        return;
    if (s->count == LIT_OUTCOMES_MAX) {
        s->whole = false;
        return;
    }
    memmove(&s->at[i + 1], &s->at[i], (s->count - i) * sizeof(s->at[0]));
    s->at[i] = o;
    s->count++;
}

bool lit_subset(const struct lit_set *a, const struct lit_set *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (!lit_has(b, a->at[i]))
            return false;
    return true;
}

bool lit_equal(const struct lit_set *a, const struct lit_set *b)
{
    return a->count == b->count && lit_subset(a, b);
}

static void add(char *buf, size_t size, const char *fmt, ...)
{
    size_t at = strlen(buf);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(buf + at, size - at, fmt, ap);
    va_end(ap);
}

char *lit_format(const struct lit_prog *p, lit_outcome o, char *buf, size_t size)
{
    int regs = lit_regs(p), at = 0;

    buf[0] = '\0';
    for (int t = 0; t < p->threads; t++)
        for (int i = 0, r = 0; i < p->ops[t]; i++)
            if (lit_reads(p->op[t][i].op))
                add(buf, size, "%d:r%d=%d ", t, r++, (int)(o >> 4 * at++ & 15));
    for (int l = 0; l < p->locs; l++)
        add(buf, size, "%c=%d ", "xyz"[l], (int)(o >> 4 * (regs + l) & 15));
    return buf;
}

char *lit_format_prog(const struct lit_prog *p, char *buf, size_t size)
{
    buf[0] = '\0';
    for (int t = 0; t < p->threads; t++) {
        add(buf, size, "%s", t == 0 ? "" : " || ");
        for (int i = 0; i < p->ops[t]; i++) {
            const struct lit_op *o = &p->op[t][i];
            add(buf, size, "%s%s", i == 0 ? "" : "; ", verb_name(o->op));
            if (o->op == VERB_fence)
                continue;
            add(buf, size, " %c", "xyz"[o->loc]);
            if (o->op == VERB_cas || o->op == VERB_cas_rel)
                add(buf, size, " %d->%d", o->expect, o->value);
            else if (lit_writes(o->op))
                add(buf, size, " %d", o->value);
        }
    }
    return buf;
}
