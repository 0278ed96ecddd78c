/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/names.h"

#include <string.h>

#include "model/prog.h"
#include "sim/base/event_get.h"

enum { FIXED = 1 }; /* group 0: the runtime's goroutines */

/* A group of the program that is called as one of Go's own is another one all the same. */
static const char *own(const char *name)
{
    if (strcmp(name, "runtime") == 0)
        return "runtime (the program's)";
    return strcmp(name, "context") == 0 ? "context (the program's)" : name;
}

static const char *group(const void *of, uint32_t i)
{
    const struct program *p = of;
    if (i < FIXED)
        return "runtime";
    i -= FIXED;
    if (i < p->ngroups)
        return own(p->groups[i]);
    i -= p->ngroups;
    if (i < p->nfuncs)
        return own(p->funcs[i].name);
    return i == p->nfuncs ? "context" : "?";
}

static const char *span(const void *of, uint32_t i)
{
    const struct program *p = of;
    return i < p->nspans ? p->spans[i] : "?";
}

static const char *text(const void *of, uint32_t i)
{
    const struct program *p = of;
    return i < p->nstrings ? p->strings[i] : NULL;
}

static const char *func(const void *of, int32_t i)
{
    const struct program *p = of;
    return i >= 0 && (uint32_t)i < p->nfuncs ? p->funcs[i].name : NULL;
}

/* Is an instruction before `pc` in progress? Of the goroutines that have code, main alone waits
 * before its first instruction, while the runtime starts. */
static bool is_in_progress(const struct program *p, uint32_t pc)
{
    return pc > 0 && pc <= p->ncode && pc != p->funcs[p->main].entry;
}

static uint32_t line(const void *of, uint32_t pc)
{
    const struct program *p = of;
    return p->lines != NULL && is_in_progress(p, pc) ? p->lines[pc - 1] : 0;
}

static const char *object(const void *of, uint32_t pc)
{
    const struct program *p = of;
    const struct insn *in = is_in_progress(p, pc) ? &p->code[pc - 1] : NULL;
    if (in == NULL || in->op >= OPS || op_infos[in->op].d < D_OBJ || op_infos[in->op].d > D_CR)
        return NULL;
    return in->d >= 0 && (uint32_t)in->d < p->nobjects ? p->objects[in->d].name : NULL;
}

static uint32_t group_of(const void *of, int32_t func_, int32_t group_)
{
    const struct program *p = of;
    uint32_t f = (uint32_t)func_;
    if (func_ < 0)
        return group_ == GROUP_CONTEXT ? FIXED + p->ngroups + p->nfuncs : 0;
    if (group_ >= 0 && (uint32_t)group_ < p->ngroups && f != p->main)
        return FIXED + (uint32_t)group_;
    return FIXED + p->ngroups + (f < p->nfuncs ? f : p->main);
}

struct naming names_of_program(const struct program *p)
{
    return (struct naming){.of = p,
                           .ngroups = FIXED + p->ngroups + p->nfuncs + 1,
                           .nspans = p->nspans,
                           .codeless = FIXED + p->ngroups + p->nfuncs,
                           .group = group,
                           .span = span,
                           .text = text,
                           .func = func,
                           .line = line,
                           .object = object,
                           .group_of = group_of};
}

uint32_t names_born(const struct naming *n, const struct event_rec *r)
{
    struct got_g_create x = get_g_create(r);
    return x.kind == EV_born_runtime ? 0 : n->group_of(n->of, x.func, x.group);
}
