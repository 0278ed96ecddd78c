/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/track_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/sites.h"
#include "sim/base/alloc.h"
#include "sim/base/event.h"

enum { NAMES_MAX = 2000, NO_NUMBER = UINT32_MAX };
#define FOR_GROUP (UINT32_C(1) << 31) /* in of_stack */

/* ---- lists ---- */

static uint32_t list_add(struct name_list *l, char *name)
{
    X_ROOM(l->names, l->count, l->room, 16);
    l->names[l->count] = name;
    return l->count++;
}

static uint32_t list_has(const struct name_list *l, const char *name)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (strcmp(l->names[i], name) == 0)
            return i;
    return NO_NUMBER;
}

/* A list must not have one name twice, because the store goes by names: the later one says of which
 * kind it is. */
static char *own_name(const struct name_list *l, const char *text, const char *kind)
{
    char *name = x_alloc(strlen(text) + strlen(kind) + 4);
    strcpy(name, text[0] != 0 ? text : "(no name)");
    if (list_has(l, name) != NO_NUMBER)
        sprintf(name, "%s (%s)", text, kind);
    return name;
}

static uint32_t number_of(struct name_list *l, const struct trace *t, uint32_t string,
                          uint32_t kind, const char *kind_name)
{
    const struct map_slot *s = map_find(&l->numbers, string, kind);
    uint32_t number;
    if (s != NULL)
        return s->a;
    if (l->count + 1 < l->max) {
        number = list_add(l, own_name(l, trace_string(t, string, NULL), kind_name));
    } else {
        if (l->others == 0)
            l->others = list_add(l, x_strdup("(others)"));
        number = l->others;
    }
    map_put(&l->numbers, string, kind)->a = number;
    return number;
}

static void list_release(struct name_list *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        free(l->names[i]);
    free(l->names);
    map_release(&l->numbers);
}

/* ---- groups ---- */

/* The runtime's own goroutines are one group; main is one of the program's. */
static bool is_runtimes(const char *func)
{
    static const char own[] = "runtime.";
    return strncmp(func, own, sizeof own - 1) == 0 && strcmp(func, "runtime.main") != 0;
}

uint32_t track_group(struct track_names *n, uint32_t stack)
{
    struct trace_stack s = trace_stack_of(n->t, stack);
    if (s.count == 0)
        return 0;
    uint32_t func = trace_frame_of(n->t, s.frames[s.count - 1]).func;
    return 1 + (is_runtimes(trace_string(n->t, func, NULL))
                    ? (uint32_t)TRACK_GROUP_RUNTIME
                    : number_of(&n->groups, n->t, func, 0, "function"));
}

/* ---- spans ---- */

void track_learn_span(struct track_names *n, uint32_t string, bool task)
{
    (void)number_of(&n->spans, n->t, string, task, task ? "task" : "region");
}

uint32_t track_span(const struct track_names *n, uint32_t string, bool task)
{
    const struct map_slot *s = map_find(&n->spans.numbers, string, task);
    return s != NULL ? s->a : NO_NUMBER;
}

/* ---- places ---- */

/* The program's own before the standard library's before the runtime's; the innermost. */
static struct trace_frame frame_of_interest(const struct track_names *n, struct trace_stack s)
{
    struct trace_frame best = trace_frame_of(n->t, s.frames[0]);
    bool outer = false;
    for (uint32_t i = 0; i < s.count; i++) {
        struct trace_frame f = trace_frame_of(n->t, s.frames[i]);
        const char *func = trace_string(n->t, f.func, NULL);
        if (!trace_is_standard(func))
            return f;
        if (!outer && !sites_is_inner(func)) {
            best = f;
            outer = true;
        }
    }
    return best;
}

static uint32_t add_place(struct track_names *n, struct trace_stack s)
{
    struct trace_frame f = frame_of_interest(n, s);
    size_t before = n->place_of.count;
    struct map_slot *slot = map_put(&n->place_of, f.line, f.func);
    if (n->place_of.count == before)
        return slot->a;
    X_ROOM(n->places, n->nplaces, n->places_room, 64);
    n->places[n->nplaces] = (struct track_place){.func = f.func, .file = f.file, .line = f.line};
    slot->a = n->nplaces;
    return n->nplaces++;
}

static bool has_function(const struct track_names *n, struct trace_stack s, const char *func)
{
    for (uint32_t i = 0; i < s.count; i++)
        if (strcmp(trace_string(n->t, trace_frame_of(n->t, s.frames[i]).func, NULL), func) == 0)
            return true;
    return false;
}

/* 1 + place, with the bit; 0: the stack is empty. */
static uint32_t look(struct track_names *n, uint32_t stack)
{
    X_REACH(n->of_stack, n->of_stack_room, stack, stack * 2 + 256);
    if (n->of_stack[stack] == 0) {
        struct trace_stack s = trace_stack_of(n->t, stack);
        if (s.count == 0)
            return 0;
        n->of_stack[stack] = 1 + add_place(n, s);
        if (has_function(n, s, "sync.(*WaitGroup).Wait"))
            n->of_stack[stack] |= FOR_GROUP;
    }
    return n->of_stack[stack];
}

uint32_t track_place_of(struct track_names *n, uint32_t stack)
{
    uint32_t is = look(n, stack) & ~FOR_GROUP;
    return is != 0 ? is - 1 : EVENT_NO_PC;
}

bool track_waits_for_group(struct track_names *n, uint32_t stack)
{
    return (look(n, stack) & FOR_GROUP) != 0;
}

/* "main.worker, main.go:32" */
static char *place_text(const struct track_names *n, const struct track_place *p)
{
    const char *func = trace_string(n->t, p->func, NULL);
    const char *file = trace_string(n->t, p->file, NULL), *slash = strrchr(file, '/');
    if (slash != NULL)
        file = slash + 1;
    size_t size = strlen(func) + strlen(file) + 32;
    char *text = x_alloc(size);
    snprintf(text, size, "%s, %s:%" PRIu64, func, file, p->line);
    return text;
}

/* ---- for naming ---- */

static const char *list_name(const struct name_list *l, uint32_t i)
{
    return i < l->count ? l->names[i] : "?";
}

static const char *group(const void *of, uint32_t i)
{
    return list_name(&((const struct track_names *)of)->groups, i);
}

static const char *span(const void *of, uint32_t i)
{
    return list_name(&((const struct track_names *)of)->spans, i);
}

static uint32_t line(const void *of, uint32_t pc)
{
    const struct track_names *n = of;
    return pc < n->nplaces ? (uint32_t)n->places[pc].line : 0;
}

static const char *place(const void *of, uint32_t pc)
{
    const struct track_names *n = of;
    if (pc >= n->nplaces)
        return NULL;
    if (n->places[pc].text == NULL)
        n->places[pc].text = place_text(n, &n->places[pc]);
    return n->places[pc].text;
}

static const char *object(const void *of, uint32_t pc)
{
    (void)of;
    (void)pc;
    return NULL;
}

struct naming track_naming(const struct track_names *n)
{
    return (struct naming){.of = n,
                           .ngroups = n->groups.count,
                           .nspans = n->spans.count,
                           .group = group,
                           .span = span,
                           .line = line,
                           .place = place,
                           .object = object};
}

/* ---- life ---- */

void track_names_init(struct track_names *n)
{
    *n = (struct track_names){.groups.max = NAMES_MAX, .spans.max = NAMES_MAX};
    (void)list_add(&n->groups, x_strdup("runtime"));
    (void)list_add(&n->groups, x_strdup("(not known)"));
}

void track_names_release(struct track_names *n)
{
    list_release(&n->groups);
    list_release(&n->spans);
    for (uint32_t i = 0; i < n->nplaces; i++)
        free(n->places[i].text);
    free(n->places);
    free(n->of_stack);
    map_release(&n->place_of);
}
