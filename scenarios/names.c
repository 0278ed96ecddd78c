/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of a function in work, and the list of functions. */
#include <string.h>

#include "scenarios/compile.h"

uint8_t reg_new(struct cc *c, const cJSON *at) { return build_reg(&c->b, json_at(c->doc, at)); }

void want_kind(struct cc *c, const cJSON *at, uint8_t reg, uint32_t fits)
{
    kind_want(&c->b, json_at(c->doc, at), reg, fits);
}

const struct local *local_find(const struct cc *c, const char *name)
{
    for (uint32_t i = c->nlocals; i > 0; i--)
        if (strcmp(c->locals[i - 1].name, name) == 0)
            return &c->locals[i - 1];
    return NULL;
}

const char *name_nearest(struct cc *c, const char *wrong)
{
    uint32_t n = c->nlocals, objects = c->b.p.nobjects;
    const char **names = pool_alloc(c->pool, (n + objects + 1) * sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = c->locals[i].name;
    for (uint32_t i = 0; i < objects; i++)
        names[n + i] = c->b.objects[i].name;
    return nearest(wrong, names);
}

bool name_ok(const char *s)
{
    bool good = s[0] != 0 && strlen(s) < 60 && !(s[0] >= '0' && s[0] <= '9');
    for (const char *p = s; *p != 0; p++)
        good = good && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                        (*p >= '0' && *p <= '9') || *p == '_');
    return good && strcmp(s, "true") != 0 && strcmp(s, "false") != 0 && strcmp(s, "nil") != 0;
}

uint8_t local_new(struct cc *c, const cJSON *at, const char *name)
{
    const struct local *l = local_find(c, name);
    return l != NULL ? l->reg : local_shadow(c, at, name);
}

/* A new one, even where the name is in scope. */
uint8_t local_shadow(struct cc *c, const cJSON *at, const char *name)
{
    if (!name_ok(name))
        json_bad(c->doc, at, false, "want a name of letters, digits and _, got \"%.60s\"", name);
    if (c->nlocals == LOCALS_MAX)
        json_bad(c->doc, at, false, "more than %d names in one function", LOCALS_MAX);
    if (build_find_object(&c->b, name) >= 0)
        json_bad(c->doc, at, false, "\"%.60s\" is an object already", name);
    uint8_t r = reg_new(c, at);
    c->locals[c->nlocals++] = (struct local){pool_text(c->pool, name), r};
    return r;
}

int32_t func_add(struct cc *c, const char *name, const char **params, uint32_t nparams,
                 const cJSON *at, const cJSON *body)
{
    int32_t f = build_func(&c->b, name, nparams, json_key_at(c->doc, at));
    POOL_ROOM(c->pool, c->defs, (uint32_t)f, c->defs_cap);
    c->defs[f] = (struct funcdef){.body = body, .at = at, .params = params};
    return f;
}
