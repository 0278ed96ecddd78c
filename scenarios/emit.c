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

/* ---- names ---- */

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s != 0; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

/* The texts may be members of structs that are `stride` bytes apart. */
static const char *text_at(const char *const *texts, size_t stride, uint32_t index)
{
    return *(const char *const *)((const char *)texts + stride * index);
}

int32_t names_find(const struct names *n, const char *const *texts, size_t stride, const char *s)
{
    if (n->cap == 0)
        return -1;
    for (uint32_t i = hash(s) & (n->cap - 1); n->slots[i] != 0; i = (i + 1) & (n->cap - 1))
        if (strcmp(text_at(texts, stride, n->slots[i] - 1), s) == 0)
            return (int32_t)n->slots[i] - 1;
    return -1;
}

static void names_put(struct names *n, const char *s, uint32_t index)
{
    uint32_t i = hash(s) & (n->cap - 1);
    while (n->slots[i] != 0)
        i = (i + 1) & (n->cap - 1);
    n->slots[i] = index + 1;
}

void names_add(struct cc *c, struct names *n, const char *const *texts, size_t stride,
               uint32_t index)
{
    if (n->count * 2 >= n->cap) {
        struct names old = *n;
        n->cap = old.cap != 0 ? old.cap * 2 : 16;
        n->slots = pool_alloc(c->pool, n->cap * sizeof *n->slots);
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slots[i] != 0)
                names_put(n, text_at(texts, stride, old.slots[i] - 1), old.slots[i] - 1);
    }
    n->count++;
    names_put(n, text_at(texts, stride, index), index);
}

static int32_t add_name(struct cc *c, struct names *n, const char **table, uint32_t *count,
                        const char *s)
{
    table[*count] = pool_text(c->pool, s);
    names_add(c, n, table, sizeof *table, *count);
    return (int32_t)(*count)++;
}

int32_t add_string(struct cc *c, const char *s)
{
    int32_t found = names_find(&c->string_names, c->strings, sizeof *c->strings, s);
    if (found >= 0)
        return found;
    GROW(c, strings, c->s->program.nstrings);
    return add_name(c, &c->string_names, c->strings, &c->s->program.nstrings, s);
}

int32_t add_group(struct cc *c, const char *s)
{
    int32_t found = names_find(&c->group_names, c->groups, sizeof *c->groups, s);
    if (found >= 0)
        return found;
    GROW(c, groups, c->s->program.ngroups);
    return add_name(c, &c->group_names, c->groups, &c->s->program.ngroups, s);
}

int32_t add_span(struct cc *c, const char *s)
{
    int32_t found = names_find(&c->span_names, c->spans, sizeof *c->spans, s);
    if (found >= 0)
        return found;
    GROW(c, spans, c->s->program.nspans);
    return add_name(c, &c->span_names, c->spans, &c->s->program.nspans, s);
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
    kind_new(c, r);
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

const char *name_nearest(struct cc *c, const char *wrong)
{
    uint32_t n = c->nlocals, objects = c->s->program.nobjects;
    const char **names = pool_alloc(c->pool, (n + objects + 1) * sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = c->locals[i].name;
    for (uint32_t i = 0; i < objects; i++)
        names[n + i] = c->objects[i].name;
    return json_nearest(wrong, names);
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
    if (object_find(c, name) >= 0)
        json_bad(c->doc, at, false, "\"%.60s\" is an object already", name);
    uint8_t r = reg_new(c, at);
    c->locals[c->nlocals++] = (struct local){pool_text(c->pool, name), r};
    return r;
}

int32_t func_find(const struct cc *c, const char *name)
{
    if (c->defs == NULL)
        return -1;
    return names_find(&c->func_names, &c->defs[0].name, sizeof *c->defs, name);
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
    if (func_find(c, name) < 0)
        names_add(c, &c->func_names, &c->defs[0].name, sizeof *c->defs, n);
    return (int32_t)c->s->program.nfuncs++;
}
