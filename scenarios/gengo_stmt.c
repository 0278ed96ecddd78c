/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements as Go, by the text of their row. */
#include <string.h>

#include "scenarios/gengo_int.h"

/* ---- results ---- */

void gen_assign(struct gen *g, const struct name *n, struct node *value)
{
    const char *go = gen_name(g, n->text), *text = gen_show(g, gen_int(g, value), 1);
    if (gen_in_scope(g, n)) {
        gen_line(g, "%s = %s", go, text);
        return;
    }
    gen_line(g, "var %s int64 = %s", go, text);
    gen_line(g, "_ = %s", go);
    gen_define(g, n);
}

static void assign_two(struct gen *g, const struct part *x, const struct part *y, const char *call)
{
    unsigned n = ++g->temps;
    const char *one = x->given ? gen_text(g, "v%u_", n) : "_",
               *two = y->given ? gen_text(g, "w%u_", n) : "_";
    gen_line(g, "%s, %s := %s", one, two, call);
    if (x->given)
        gen_assign(g, x->name, gen_leaf(g, one));
    if (y->given)
        gen_assign(g, y->name, gen_leaf(g, two));
}

void gen_results(struct gen *g, const struct stmt *s, const char *call)
{
    const struct part *name[2] = {0};
    int names = 0, wanted = 0;
    for (int i = 0; s->is->field[i].key != NULL && names < 2; i++)
        if (s->is->field[i].kind == F_NAME) {
            name[names++] = &s->part[i];
            wanted += s->part[i].given;
        }
    if (wanted == 0) {
        gen_line(g, "%s", call);
        return;
    }
    if (s->is->wrap != NULL)
        call = gen_text(g, "%s(%s)", s->is->wrap, call);
    if (names == 2)
        assign_two(g, name[0], name[1], call);
    else
        gen_assign(g, name[0]->name, gen_leaf(g, call));
}

/* ---- the text of a row ---- */

static enum object_kind first_kind(uint32_t kinds)
{
    int k = 1;
    while (k < OBJ_KINDS - 1 && (kinds & KIND(k)) == 0)
        k++;
    return (enum object_kind)k;
}

static const char *object_text(struct gen *g, const struct stmt *s, const struct field *f,
                               const struct part *p, char how, int depth)
{
    bool second = s->is->kind2 != 0 && g->b->code[s->insn].op == s->is->op2;
    if (how == '&')
        return gen_address(g, p->x);
    if (how == '=')
        return gen_show(g, gen_int(g, gen_value(g, p->x)), 2);
    return gen_object(g, p->x, second ? s->is->kind2 : first_kind(f->kinds), depth);
}

static const char *part_text(struct gen *g, const struct stmt *s, int i, char how, int depth)
{
    const struct field *f = &s->is->field[i];
    const struct part *p = &s->part[i];
    switch (f->kind) {
    case F_OBJECT: return object_text(g, s, f, p, how, depth);
    case F_AMOUNT:
    case F_DRAWN:
    case F_BYTES: return gen_show(g, gen_amount(g, p->amount), depth);
    case F_BOOL: return p->n != 0 ? "true" : "false";
    case F_LABEL: return gen_comment(g, p->text);
    case F_STATUS: return gen_text(g, "%lld", (long long)p->n);
    case F_COUNT:
        if (!p->given)
            return gen_text(g, "%lld", (long long)f->other);
        break;
    default: break;
    }
    return gen_show(g, gen_int(g, gen_value(g, p->x)), depth);
}

/* What stands in {brackets}: an address, a value; a word; the depth of its blanks. */
static const char *placed(struct gen *g, const struct stmt *s, const char *text, size_t size)
{
    char how = *text == '&' || *text == '=' ? *text : 0;
    const char *word = text + (how != 0);
    size_t n = strcspn(word, ":}");
    int depth = word[n] == ':' ? word[n + 1] - '0' : 1;
    for (int i = 0; s->is->field[i].key != NULL; i++)
        if (strlen(s->is->field[i].key) == n && strncmp(s->is->field[i].key, word, n) == 0)
            return part_text(g, s, i, how, depth);
    (void)size;
    return "";
}

static const char *filled(struct gen *g, const struct stmt *s)
{
    const char *out = "", *p = s->is->go;
    while (*p != 0) {
        size_t n = strcspn(p, "{"), word = p[n] == '{' ? strcspn(p + n, "}") : 0;
        out = gen_text(g, "%s%.*s%s", out, (int)n, p,
                       word > 0 ? placed(g, s, p + n + 1, word - 1) : "");
        p += n + (word > 0 ? word + 1 : 0);
    }
    return out;
}

/* ---- loops and blocks ---- */

/* Does the body leave or go on with the loop around it? */
static bool jumps(const struct stmt *list)
{
    for (; list != NULL; list = list->next) {
        if (list->is->in_loop)
            return true;
        for (int i = 0; list->is->flow != FLOW_LOOP && list->is->field[i].key != NULL; i++) {
            enum field_kind kind = list->is->field[i].kind;
            if (kind == F_BLOCK && jumps(list->part[i].body))
                return true;
            if (kind == F_ARMS || kind == F_CASES)
                for (const struct arm *a = list->part[i].arms; a != NULL; a = a->next)
                    if (jumps(a->body))
                        return true;
        }
    }
    return false;
}

void gen_loop(struct gen *g, const struct stmt *s, const char *head, const char *before)
{
    const struct stmt *body = part_of(s, "do")->body;
    const char *outer = g->label;
    if (jumps(body)) {
        g->label = gen_text(g, "loop%u_", ++g->temps);
        g->indent--;
        gen_line(g, "%s:", g->label);
        g->indent++;
    }
    gen_line(g, "%s {", head);
    g->indent++;
    if (before != NULL)
        gen_line(g, "%s", before);
    gen_block(g, body);
    g->indent--;
    gen_line(g, "}");
    g->label = outer;
}

void gen_counted(struct gen *g, const struct stmt *s, const struct expr *count,
                 void (*body)(struct gen *, const struct stmt *))
{
    const struct part *index = part_of(s, "index");
    int names = g->nnames;
    unsigned n = ++g->temps;
    gen_line(g, "var n%u_ int64 = %s", n, gen_show(g, gen_int(g, gen_value(g, count)), 1));
    const char *i = index != NULL ? gen_name(g, index->name->text) : gen_text(g, "i%u_", n);
    if (index != NULL)
        gen_define(g, index->name);
    const char *head = gen_text(g, "for %s := int64(0); %s < n%u_; %s++", i, i, n, i);
    if (body == NULL) {
        gen_loop(g, s, head, NULL);
    } else {
        gen_line(g, "%s {", head);
        g->indent++;
        body(g, s);
        g->indent--;
        gen_line(g, "}");
    }
    g->nnames = names;
}

void gen_inner(struct gen *g, const struct stmt *list)
{
    g->indent++;
    gen_block(g, list);
    g->indent--;
}

void gen_block(struct gen *g, const struct stmt *list)
{
    int names = g->nnames;
    for (; list != NULL; list = list->next) {
        if (list->is->gen != NULL)
            list->is->gen(g, list);
        else
            gen_results(g, list, filled(g, list));
    }
    g->nnames = names;
}

static bool all_end(const struct arm *a)
{
    for (; a != NULL; a = a->next)
        if (!gen_ends(a->body))
            return false;
    return true;
}

/* Would a statement after this list be unreachable, in go vet's eyes? */
bool gen_ends(const struct stmt *list)
{
    while (list != NULL && list->next != NULL)
        list = list->next;
    if (list == NULL)
        return false;
    const struct part *then = part_of(list, "then"), *other = part_of(list, "else");
    if (then != NULL)
        return other != NULL && gen_ends(then->body) && gen_ends(other->body);
    if (list->is->field[0].kind == F_CASES)
        return all_end(list->part[0].arms);
    if (list->is->field[0].kind == F_ROUNDS)
        return list->part[0].x == NULL && !jumps(part_of(list, "do")->body);
    return list->is->field[0].kind == F_RESULT || list->is->field[0].kind == F_REASON;
}
