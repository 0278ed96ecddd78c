/* SPDX-License-Identifier: BSD-3-Clause */
/* What the registers hold. Every use of a register gets a variable; values flow from one to
 * another, through assignments, arguments and bodies in place, whatever the order of statements.
 * In the end a use is wrong if nothing that it wants can ever be there. What comes out of channels,
 * variables, pools and calls may be anything. */
#include <string.h>

#include "scenarios/compile.h"

struct flow {
    uint32_t from, to;
};

struct want {
    const cJSON *at;
    uint32_t var, fits;
};

/* From 1 on; 0 is no variable. */
static uint32_t var_new(struct cc *c)
{
    GROW(c, kinds, c->nkinds);
    uint32_t var = ++c->nkinds;
    GROW(c, kinds, var);
    c->kinds[var] = 0;
    return var;
}

static uint32_t param_var(struct cc *c, int32_t f, uint32_t param)
{
    struct funcdef *d = &c->defs[f];
    if (d->vars == 0) {
        d->vars = var_new(c);
        for (uint32_t i = 1; i < d->nparams; i++)
            (void)var_new(c);
    }
    return d->vars + param;
}

static void flow(struct cc *c, uint32_t from, uint32_t to)
{
    GROW(c, flows, c->nflows);
    c->flows[c->nflows++] = (struct flow){from, to};
}

void kind_new(struct cc *c, uint8_t reg) { c->var_of[reg] = var_new(c); }

void kind_param(struct cc *c, uint8_t reg, int32_t f, uint32_t param)
{
    c->var_of[reg] = param_var(c, f, param);
}

void kind_is(struct cc *c, uint8_t reg, uint32_t kinds) { c->kinds[c->var_of[reg]] |= kinds; }

void kind_flow(struct cc *c, uint8_t from, uint8_t to) { flow(c, c->var_of[from], c->var_of[to]); }

void kind_pass(struct cc *c, uint8_t from, int32_t f, uint32_t param)
{
    flow(c, c->var_of[from], param_var(c, f, param));
}

void kind_want(struct cc *c, const cJSON *at, uint8_t reg, uint32_t fits)
{
    GROW(c, wants, c->nwants);
    c->wants[c->nwants++] = (struct want){at, c->var_of[reg], fits};
}

static const char *kinds_name(uint32_t kinds)
{
    for (int k = 1; k < OBJ_KINDS; k++)
        if ((kinds & KIND(k)) != 0)
            return object_kind_name((enum object_kind)k);
    return (kinds & KIND_TEXT) != 0 && (kinds & KIND_NUMBER) == 0 ? "text of recover"
           : (kinds & KIND_RECV) != 0                             ? "receive-only channel"
           : (kinds & KIND_TEXT) != 0                             ? "value of recover"
                                                                  : "number";
}

static _Noreturn void wrong(struct cc *c, const struct want *w)
{
    uint32_t have = c->kinds[w->var];
    char quoted[80];
    json_quote(c->doc, w->at, quoted, sizeof quoted);
    if (have == KIND_RECV && w->fits == KIND(OBJ_CHAN))
        json_bad(c->doc, w->at, false,
                 "%s is receive-only: nobody can send on it or close it; a channel for that comes "
                 "from {\"make\": ..., \"as\": \"chan\"}",
                 quoted);
    const char *want = kinds_name(w->fits);
    bool made = (w->fits & (KIND(OBJ_DECLARED) - 2)) != 0;
    json_bad(c->doc, w->at, false, "want a %s, got a %s: %s%s%s%s", want, kinds_name(have), quoted,
             made ? "; {\"make\": ..., \"as\": \"" : "", made ? want : "",
             made ? "\"} makes one" : "");
}

/* One pass is enough where values flow down the text; many are needed only by a text made for
 * that, about which nothing is said. */
static bool settled(struct cc *c)
{
    enum { PASSES = 64 };
    bool more = true;
    for (int i = 0; more && i < PASSES; i++) {
        more = false;
        for (uint32_t k = 0; k < c->nflows; k++) {
            uint32_t *to = &c->kinds[c->flows[k].to], both = *to | c->kinds[c->flows[k].from];
            more = more || both != *to;
            *to = both;
        }
    }
    return !more;
}

void kinds_check(struct cc *c)
{
    if (!settled(c))
        return;
    for (uint32_t i = 0; i < c->nwants; i++) {
        uint32_t have = c->kinds[c->wants[i].var];
        if (have != 0 && (have & (c->wants[i].fits | KIND_ANY)) == 0)
            wrong(c, &c->wants[i]);
    }
}
