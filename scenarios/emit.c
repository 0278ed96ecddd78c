/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "scenarios/compile.h"

uint32_t emit_op(struct cc *c, enum op op, int a, int b, int rc, int32_t d, int64_t imm)
{
    uint32_t n = c->s->program.ncode;
    if (n == c->code_cap) {
        uint32_t cap = n != 0 ? n * 2 : 256;
        c->code = pool_grow(c->pool, c->code, n * sizeof *c->code, cap * sizeof *c->code);
        c->lines = pool_grow(c->pool, c->lines, n * sizeof *c->lines, cap * sizeof *c->lines);
        c->code_cap = cap;
    }
    c->code[n] = (struct insn){
        .op = (uint8_t)op, .a = (uint8_t)a, .b = (uint8_t)b, .c = (uint8_t)rc, .d = d, .imm = imm};
    c->lines[n] = c->line;
    return c->s->program.ncode++;
}

int label_new(struct cc *c)
{
    GROW(c, labels, c->nlabels);
    c->labels[c->nlabels] = -1;
    return (int)c->nlabels++;
}

void label_place(struct cc *c, int label) { c->labels[label] = (int32_t)c->s->program.ncode; }

void emit_jump(struct cc *c, enum op op, int a, int b, int64_t imm, int label)
{
    GROW(c, fixups, c->nfixups);
    c->fixups[c->nfixups++] = emit_op(c, op, a, b, 0, label, imm);
}

/* At the end of a function: its labels become instructions. */
void labels_resolve(struct cc *c)
{
    for (uint32_t i = 0; i < c->nfixups; i++) {
        struct insn *in = &c->code[c->fixups[i]];
        in->d = c->labels[in->d];
    }
    c->nfixups = c->nlabels = 0;
}

static int32_t add_name(struct cc *c, const char **table, uint32_t count, const char *s)
{
    (void)c;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(table[i], s) == 0)
            return (int32_t)i;
    return -1;
}

int32_t add_string(struct cc *c, const char *s)
{
    int32_t found = add_name(c, c->strings, c->s->program.nstrings, s);
    if (found >= 0)
        return found;
    GROW(c, strings, c->s->program.nstrings);
    c->strings[c->s->program.nstrings] = pool_text(c->pool, s);
    return (int32_t)c->s->program.nstrings++;
}

int32_t add_group(struct cc *c, const char *s)
{
    int32_t found = add_name(c, c->groups, c->s->program.ngroups, s);
    if (found >= 0)
        return found;
    GROW(c, groups, c->s->program.ngroups);
    c->groups[c->s->program.ngroups] = pool_text(c->pool, s);
    return (int32_t)c->s->program.ngroups++;
}

int32_t add_span(struct cc *c, const char *s)
{
    int32_t found = add_name(c, c->spans, c->s->program.nspans, s);
    if (found >= 0)
        return found;
    GROW(c, spans, c->s->program.nspans);
    c->spans[c->s->program.nspans] = pool_text(c->pool, s);
    return (int32_t)c->s->program.nspans++;
}

int32_t add_dist(struct cc *c, const struct dist *d)
{
    GROW(c, dists, c->s->program.ndists);
    c->dists[c->s->program.ndists] = d;
    return (int32_t)c->s->program.ndists++;
}

uint8_t reg_new(struct cc *c, const cJSON *at)
{
    if (c->next_reg >= NREGS_MAX - 1)
        json_bad(c->doc, at, false, "too many names and intermediate values in one function");
    uint8_t r = c->next_reg++;
    if (c->next_reg > c->max_regs)
        c->max_regs = c->next_reg;
    return r;
}

const struct local *local_find(const struct cc *c, const char *name)
{
    for (uint32_t i = c->nlocals; i > 0; i--)
        if (strcmp(c->locals[i - 1].name, name) == 0)
            return &c->locals[i - 1];
    return NULL;
}

uint8_t local_new(struct cc *c, const cJSON *at, const char *name)
{
    const struct local *l = local_find(c, name);
    if (l != NULL)
        return l->reg;
    if (c->nlocals == LOCALS_MAX)
        json_bad(c->doc, at, false, "more than %d names in one function", LOCALS_MAX);
    if (object_find(c, name) >= 0)
        json_bad(c->doc, at, false, "\"%.60s\" is an object already", name);
    uint8_t r = reg_new(c, at);
    c->locals[c->nlocals++] = (struct local){pool_text(c->pool, name), r};
    return r;
}

int32_t func_find(const struct cc *c, const char *name)
{
    for (uint32_t i = 0; i < c->s->program.nfuncs; i++)
        if (strcmp(c->defs[i].name, name) == 0)
            return (int32_t)i;
    return -1;
}

int32_t func_add(struct cc *c, const char *name, const cJSON *at, const cJSON *body)
{
    uint32_t n = c->s->program.nfuncs;
    if (n == FUNCS_MAX)
        json_bad(c->doc, at, true, "more than %d functions", FUNCS_MAX);
    if (n == c->funcs_cap) {
        uint32_t cap = n != 0 ? n * 2 : 16;
        c->funcs = pool_grow(c->pool, c->funcs, n * sizeof *c->funcs, cap * sizeof *c->funcs);
        c->defs = pool_grow(c->pool, c->defs, n * sizeof *c->defs, cap * sizeof *c->defs);
        c->funcs_cap = cap;
    }
    c->defs[n] = (struct funcdef){.name = pool_text(c->pool, name), .body = body, .at = at};
    c->funcs[n] = (struct func){.name = c->defs[n].name};
    return (int32_t)c->s->program.nfuncs++;
}
