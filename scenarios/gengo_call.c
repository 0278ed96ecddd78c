/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in Go: of functions by name, and of bodies in place. */
#include <string.h>

#include "scenarios/gengo_int.h"

const char *gen_arguments(struct gen *g, const struct exprs *list)
{
    const char *s = "";
    int depth = list->count > 1 ? 2 : 1;
    for (uint32_t i = 0; i < list->count; i++)
        s = gen_text(g, "%s%s%s", s, i > 0 ? ", " : "",
                     gen_show(g, gen_int(g, gen_value(g, list->x[i])), depth));
    return s;
}

/* Each name once, and no more than are in scope. */
static const char *captured(struct gen *g)
{
    const char *s = "";
    for (int i = 0; i < g->nnames; i++) {
        bool again = false;
        for (int k = i + 1; k < g->nnames; k++)
            again = again || strcmp(g->names[i], g->names[k]) == 0;
        if (!again)
            s = gen_text(g, "%s%s%s", s, *s != 0 ? ", " : "", gen_name(g, g->names[i]));
    }
    return s;
}

void gen_call_line(struct gen *g, const char *prefix, const struct callee *f, const char *suffix)
{
    if (!f->in_place) {
        gen_line(g, "%s%s(%s)%s", prefix, gen_func_name(g, f->func), gen_arguments(g, &f->args),
                 suffix);
        return;
    }
    const char *names = suffix != NULL ? captured(g) : "", *label = g->label;
    bool returns = g->returns;
    gen_line(g, "%sfunc(%s%s) {", prefix, names, *names != 0 ? " int64" : "");
    g->returns = false;
    gen_inner(g, g->tree->funcs[f->func].body);
    g->returns = returns;
    g->label = label;
    if (suffix != NULL)
        gen_line(g, "}(%s)%s", names, suffix);
    else
        gen_line(g, "}");
}

void gen_later_line(struct gen *g, const char *prefix, const struct callee *f)
{
    const char *names = f->in_place ? captured(g) : "",
               *values = f->in_place ? names : gen_arguments(g, &f->args);
    for (uint32_t i = 0; i < f->args.count; i++)
        names = gen_text(g, "%s%sa%u", names, i > 0 ? ", " : "", i);
    gen_line(g, "%sfunc(%s%s) func() {", prefix, names, *names != 0 ? " int64" : "");
    g->indent++;
    if (f->in_place)
        gen_call_line(g, "return ", f, NULL);
    else
        gen_line(g, "return func() { %s(%s) }", gen_func_name(g, f->func), names);
    g->indent--;
    gen_line(g, "}(%s))", values);
}
