/* SPDX-License-Identifier: BSD-3-Clause */
/* A timer's channel in Go has times in it, every other channel of a scenario int64s, and a handle
 * may be of either: so a timer's channel that becomes a handle is copied by a goroutine into one of
 * int64s, which buffers one time more than Go's own. A name that is only received from needs no
 * handle, and none of this. */
#include <string.h>

#include "scenarios/gengo_int.h"

/* Looks for uses of a name, in the whole program: bodies in place have copies of it. */
struct search {
    const struct gen *g;
    const char *name;
    int sets; /* to a timer's channel */
};

static bool list_is_fine(struct search *s, const struct stmt *list);

static bool is_it(const struct search *s, const struct expr *x)
{
    return x != NULL && x->is == X_LOCAL && strcmp(x->name->text, s->name) == 0;
}

static bool is_timer_channel(const struct expr *x)
{
    return x->is == X_FIELD && x->which == W_C && x->a->is == X_LOCAL;
}

/* Does the expression use the name only in len(name) and cap(name)? */
static bool value_is_fine(const struct search *s, const struct expr *x)
{
    if (x == NULL)
        return true;
    if (is_it(s, x))
        return false;
    if (x->is == X_CALL && x->which <= C_CAP && is_it(s, x->a))
        return true;
    for (const struct index *i = x->indices; i != NULL; i = i->next)
        if (!value_is_fine(s, i->at))
            return false;
    return value_is_fine(s, x->a) && value_is_fine(s, x->b);
}

static bool values_are_fine(const struct search *s, const struct exprs *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (!value_is_fine(s, list->x[i]))
            return false;
    return true;
}

static bool name_is_other(const struct search *s, const struct name *n)
{
    return n == NULL || strcmp(n->text, s->name) != 0;
}

static bool arms_are_fine(struct search *s, const struct arm *a)
{
    for (; a != NULL; a = a->next)
        if (!(is_it(s, a->recv) || value_is_fine(s, a->recv)) || !value_is_fine(s, a->send) ||
            !value_is_fine(s, a->value) || !name_is_other(s, a->into) || !name_is_other(s, a->ok) ||
            !list_is_fine(s, a->body))
            return false;
    return true;
}

static bool part_is_fine(struct search *s, const struct stmt *in, const struct field *f,
                         const struct part *p)
{
    switch (f->kind) {
    case F_NAME:
    case F_INDEX: return name_is_other(s, p->name);
    case F_OBJECT: return (in->is->op == OP_RECV && is_it(s, p->x)) || value_is_fine(s, p->x);
    case F_AMOUNT:
    case F_DRAWN:
    case F_BYTES: return value_is_fine(s, p->amount->x);
    case F_BLOCK: return list_is_fine(s, p->body);
    case F_CALLEE: return values_are_fine(s, &p->callee->args);
    case F_ARGS: return values_are_fine(s, &p->args);
    case F_ARMS:
    case F_CASES: return arms_are_fine(s, p->arms);
    case F_VALUE:
    case F_OR_0:
    case F_CHECKED:
    case F_COUNT:
    case F_ROUNDS:
    case F_TIMES:
    case F_RESULT:
    case F_REASON: return value_is_fine(s, p->x);
    default: return true;
    }
}

static bool list_is_fine(struct search *s, const struct stmt *list)
{
    for (; list != NULL; list = list->next) {
        const struct part *value = part_of(list, "value");
        bool sets = list->is->field[0].kind == F_NAME && list->is->field[1].kind == F_VALUE &&
                    !name_is_other(s, list->part[0].name);
        if (sets && (!is_timer_channel(value->x) || ++s->sets > 1))
            return false;
        for (int i = sets; list->is->field[i].key != NULL; i++)
            if (list->part[i].given && !part_is_fine(s, list, &list->is->field[i], &list->part[i]))
                return false;
    }
    return true;
}

bool gen_is_ticks(const struct gen *g, const struct expr *x)
{
    for (int i = 0; x->is == X_LOCAL && i < g->nticks; i++)
        if (strcmp(g->ticks[i], x->name->text) == 0)
            return true;
    return false;
}

const char *gen_new_ticks(struct gen *g, const struct name *n, const struct expr *value)
{
    struct search s = {g, n->text, 0};
    if (!is_timer_channel(value) || g->nticks == GEN_NAMES)
        return NULL;
    for (uint32_t f = 0; f < g->tree->nfuncs; f++)
        if (!list_is_fine(&s, g->tree->funcs[f].body))
            return NULL;
    g->ticks[g->nticks++] = n->text;
    return gen_text(g, "simTimerC(%s)", gen_name(g, value->a->name->text));
}
