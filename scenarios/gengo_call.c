/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls in Go: of functions by name, and of bodies in place. */
#include <string.h>

#include "scenarios/gengo_int.h"

const char *gen_arguments(struct gen *g, const cJSON *list)
{
    const char *s = "";
    int depth = list != NULL && cJSON_GetArraySize(list) > 1 ? 2 : 1;
    for (const cJSON *v = list != NULL ? list->child : NULL; v != NULL; v = v->next)
        s = gen_text(g, "%s%s%s", s, *s != 0 ? ", " : "",
                     gen_show(g, gen_int(g, gen_value(g, v)), depth));
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

void gen_call_line(struct gen *g, const char *prefix, const cJSON *callee, const cJSON *args,
                   const char *suffix)
{
    if (cJSON_IsString(callee)) {
        gen_line(g, "%s%s(%s)%s", prefix, gen_func_name(g, callee->valuestring),
                 gen_arguments(g, args), suffix);
        return;
    }
    const char *names = suffix != NULL ? captured(g) : "", *label = g->label;
    bool returns = g->returns;
    gen_line(g, "%sfunc(%s%s) {", prefix, names, *names != 0 ? " int64" : "");
    g->returns = false;
    gen_inner(g, callee);
    g->returns = returns;
    g->label = label;
    if (suffix != NULL)
        gen_line(g, "}(%s)%s", names, suffix);
    else
        gen_line(g, "}");
}

/* A value of type func() that calls with the arguments of now. */
void gen_later_line(struct gen *g, const char *prefix, const cJSON *callee, const cJSON *args)
{
    bool named = cJSON_IsString(callee);
    const char *names = named ? "" : captured(g), *values = named ? gen_arguments(g, args) : names;
    for (int i = 0; named && i < cJSON_GetArraySize(args); i++)
        names = gen_text(g, "%s%sa%d", names, i > 0 ? ", " : "", i);
    gen_line(g, "%sfunc(%s%s) func() {", prefix, names, *names != 0 ? " int64" : "");
    g->indent++;
    if (named)
        gen_line(g, "return func() { %s(%s) }", gen_func_name(g, callee->valuestring), names);
    else
        gen_call_line(g, "return ", callee, NULL, NULL);
    g->indent--;
    gen_line(g, "}(%s))", values);
}
