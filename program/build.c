/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/build.h"

#include <string.h>

#define GROW(b, field, count) POOL_ROOM((b)->pool, (b)->field, count, (b)->field##_cap)

void build_init(struct build *b, struct pool *pool, struct mistakes *m)
{
    memset(b, 0, sizeof *b);
    b->pool = pool;
    b->mistakes = m;
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
static const char *text_at(const void *texts, size_t stride, uint32_t index)
{
    return *(const char *const *)((const char *)texts + stride * index);
}

static int32_t find(const struct names *n, const void *texts, size_t stride, const char *s)
{
    if (n->cap == 0)
        return -1;
    for (uint32_t i = hash(s) & (n->cap - 1); n->slots[i] != 0; i = (i + 1) & (n->cap - 1))
        if (strcmp(text_at(texts, stride, n->slots[i] - 1), s) == 0)
            return (int32_t)n->slots[i] - 1;
    return -1;
}

static void put(struct names *n, const char *s, uint32_t index)
{
    uint32_t i = hash(s) & (n->cap - 1);
    while (n->slots[i] != 0)
        i = (i + 1) & (n->cap - 1);
    n->slots[i] = index + 1;
}

/* Of two things with one name the first is found. */
static void add(struct pool *pool, struct names *n, const void *texts, size_t stride,
                uint32_t index)
{
    if (find(n, texts, stride, text_at(texts, stride, index)) >= 0)
        return;
    if (n->count * 2 >= n->cap) {
        struct names old = *n;
        n->cap = old.cap != 0 ? old.cap * 2 : 16;
        n->slots = pool_alloc(pool, n->cap * sizeof *n->slots);
        for (uint32_t i = 0; i < old.cap; i++)
            if (old.slots[i] != 0)
                put(n, text_at(texts, stride, old.slots[i] - 1), old.slots[i] - 1);
    }
    n->count++;
    put(n, text_at(texts, stride, index), index);
}

/* ---- tables ---- */

int32_t texts_find(const struct texts *t, const char *s)
{
    return find(&t->names, t->text, sizeof *t->text, s);
}

int32_t texts_add(struct pool *pool, struct texts *t, const char *s)
{
    int32_t found = texts_find(t, s);
    if (found >= 0)
        return found;
    POOL_ROOM(pool, t->text, t->count, t->cap);
    t->text[t->count] = pool_text(pool, s);
    add(pool, &t->names, t->text, sizeof *t->text, t->count);
    return (int32_t)t->count++;
}

int32_t build_string(struct build *b, const char *s) { return texts_add(b->pool, &b->strings, s); }
int32_t build_group(struct build *b, const char *s) { return texts_add(b->pool, &b->groups, s); }
int32_t build_span(struct build *b, const char *s) { return texts_add(b->pool, &b->spans, s); }

int32_t build_dist(struct build *b, const struct dist *d)
{
    GROW(b, dists, b->p.ndists);
    b->dists[b->p.ndists] = d;
    return (int32_t)b->p.ndists++;
}

int32_t build_arrivals(struct build *b, const struct arrivals *a)
{
    GROW(b, arrivals, b->p.narrivals);
    b->arrivals[b->p.narrivals] = *a;
    return (int32_t)b->p.narrivals++;
}

int32_t build_object(struct build *b, enum object_kind kind, int64_t param, const char *name)
{
    uint32_t n = b->p.nobjects;
    GROW(b, objects, n);
    b->objects[n] = (struct object_decl){
        .name = pool_text(b->pool, name), .param = param, .kind = (uint8_t)kind};
    return (int32_t)b->p.nobjects++;
}

/* ---- functions ---- */

int32_t build_func(struct build *b, const char *name, uint32_t nparams, struct place at)
{
    uint32_t n = b->p.nfuncs;
    if (n == BUILD_FUNCS_MAX)
        mistake(b->mistakes, at, "more than %d functions", BUILD_FUNCS_MAX);
    GROW(b, funcs, n);
    GROW(b, params, n);
    b->funcs[n] = (struct func){.name = pool_text(b->pool, name), .nparams = (uint16_t)nparams};
    add(b->pool, &b->func_names, &b->funcs[0].name, sizeof *b->funcs, n);
    return (int32_t)b->p.nfuncs++;
}

int32_t build_find_func(const struct build *b, const char *name)
{
    return find(&b->func_names, b->funcs, sizeof *b->funcs, name);
}

void build_enter(struct build *b, int32_t f)
{
    b->in_work = f;
    b->funcs[f].entry = b->p.ncode;
    b->next_reg = 0;
    b->max_regs = 0;
}

/* Labels become instructions. */
void build_leave(struct build *b)
{
    struct func *f = &b->funcs[b->in_work];
    f->end = b->p.ncode;
    f->nregs = b->max_regs;
    for (uint32_t i = 0; i < b->nfixups; i++) {
        struct insn *in = &b->code[b->fixups[i]];
        in->d = b->labels[in->d];
    }
    b->nfixups = b->nlabels = 0;
}

/* ---- code ---- */

uint32_t build_op(struct build *b, enum op op, int a, int rb, int c, int32_t d, int64_t imm)
{
    uint32_t n = b->p.ncode;
    GROW(b, code, n);
    GROW(b, lines, n);
    b->code[n] = (struct insn){
        .op = (uint8_t)op, .a = (uint8_t)a, .b = (uint8_t)rb, .c = (uint8_t)c, .d = d, .imm = imm};
    b->lines[n] = b->line;
    b->has_lines |= b->line != 0;
    return b->p.ncode++;
}

int build_label(struct build *b)
{
    GROW(b, labels, b->nlabels);
    b->labels[b->nlabels] = -1;
    return (int)b->nlabels++;
}

void build_here(struct build *b, int label) { b->labels[label] = (int32_t)b->p.ncode; }

void build_jump(struct build *b, enum op op, int a, int rb, int64_t imm, int label)
{
    GROW(b, fixups, b->nfixups);
    b->fixups[b->nfixups++] = build_op(b, op, a, rb, 0, label, imm);
}

int32_t build_select(struct build *b, bool has_default)
{
    GROW(b, selects, b->p.nselects);
    b->selects[b->p.nselects] = (struct select_table){b->p.ncases, 0, has_default};
    return (int32_t)b->p.nselects++;
}

void build_case(struct build *b, struct select_case sc)
{
    GROW(b, cases, b->p.ncases);
    b->cases[b->p.ncases++] = sc;
    b->selects[b->p.nselects - 1].ncases++;
}

uint8_t build_reg(struct build *b, struct place at)
{
    if (b->next_reg >= NREGS_MAX - 1)
        mistake(b->mistakes, at, "too many names and intermediate values in one function");
    uint8_t r = b->next_reg++;
    kind_new(b, r);
    if (b->next_reg > b->max_regs)
        b->max_regs = b->next_reg;
    return r;
}

/* ---- the program ---- */

const struct program *build_tables(struct build *b, uint32_t main)
{
    struct program *p = &b->p;
    p->code = b->code;
    p->lines = b->has_lines ? b->lines : NULL;
    p->funcs = b->funcs;
    p->objects = b->objects;
    p->selects = b->selects;
    p->cases = b->cases;
    p->strings = b->strings.text;
    p->nstrings = b->strings.count;
    p->dists = b->dists;
    p->groups = b->groups.text;
    p->ngroups = b->groups.count;
    p->spans = b->spans.text;
    p->nspans = b->spans.count;
    p->arrivals = b->arrivals;
    p->main = main;
    return p;
}

const struct program *build_done(struct build *b, uint32_t main, struct place at)
{
    const struct program *p = build_tables(b, main);
    char text[300];
    if (!program_check(p, text, sizeof text))
        mistake(b->mistakes, at, "the compiled program is not safe: %s", text);
    return p;
}
