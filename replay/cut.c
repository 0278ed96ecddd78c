/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/cut.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/recording.h"
#include "replay/trace_int.h"
#include "sim/base/alloc.h"

/* What a string was used for decides what it becomes. */
enum use { USE_FUNC, USE_FILE, USE_NAME, USE_TEXT, USES };

struct cut {
    struct trace *t;
    const struct cut_opts *o;
    /* The tables of the new trace, if names change; numbers by those of the old, plus 1. */
    struct names names;
    struct stacks stacks;
    uint32_t *strings[USES], *new_stacks;
    size_t strings_room[USES], stacks_room;
    uint32_t counts[USES];
};

/* ---- strings ---- */

static uint32_t *place_of(uint32_t **array, size_t *room, uint32_t number)
{
    X_REACH(*array, *room, number, (size_t)number * 2 + 1024);
    return &(*array)[number];
}

static uint32_t kept(struct cut *c, uint32_t string)
{
    const struct interned_string *s = &c->t->names.strings[string];
    return names_put(&c->names, s->text, s->size);
}

/* A number in place of the name, the same for the same name. */
static uint32_t hidden(struct cut *c, enum use use, uint32_t string)
{
    static const char *const forms[USES] = {"main.f%u", "f%u.go", "name%u", "text%u"};
    char text[40];
    if (string == 0)
        return 0;
    uint32_t *slot = place_of(&c->strings[use], &c->strings_room[use], string);
    if (*slot == 0) {
        int n = snprintf(text, sizeof text, forms[use], ++c->counts[use]);
        *slot = 1 + names_put(&c->names, text, (size_t)n);
    }
    return *slot - 1;
}

/* What a deep recording logs names nothing of the program. */
static bool is_own(const struct cut *c, uint32_t category)
{
    return rec_format_of(c->t->names.strings[category].text) != 0;
}

/* The name of a file of the standard library says where Go was installed: from "src" on it is the
 * same everywhere. */
static uint32_t standard_file(struct cut *c, uint32_t file)
{
    const struct interned_string *s = &c->t->names.strings[file];
    const char *src = NULL, *next = s->text;
    while ((next = strstr(next, "/src/")) != NULL)
        src = next, next++;
    if (src != NULL)
        return names_put(&c->names, src + 5, s->size - (size_t)(src + 5 - s->text));
    return s->text[0] == '/' ? hidden(c, USE_FILE, file) : kept(c, file);
}

static uint32_t new_stack(struct cut *c, uint32_t stack)
{
    uint32_t frames[256];
    if (stack == 0)
        return 0;
    uint32_t *slot = place_of(&c->new_stacks, &c->stacks_room, stack);
    if (*slot != 0)
        return *slot - 1;
    const struct stacks *s = &c->t->stacks;
    const struct stack_at *k = &s->stacks[stack];
    uint32_t count = k->count < 256 ? k->count : 256;
    for (uint32_t i = 0; i < count; i++) {
        struct trace_frame f = s->frames[s->lists[k->at + i]];
        bool open = trace_is_standard(c->t->names.strings[f.func].text);
        f.func = open ? kept(c, f.func) : hidden(c, USE_FUNC, f.func);
        f.file = open ? standard_file(c, f.file) : hidden(c, USE_FILE, f.file);
        frames[i] = stacks_frame(&c->stacks, &f);
    }
    *slot = 1 + stacks_put(&c->stacks, frames, count);
    return *slot - 1;
}

static void anonymize(struct cut *c, struct trace_event *e)
{
    e->stack = new_stack(c, e->stack);
    e->new_stack = new_stack(c, e->new_stack);
    bool users = e->kind == TRACE_TASK_BEGIN || e->kind == TRACE_TASK_END ||
                 e->kind == TRACE_REGION_BEGIN || e->kind == TRACE_REGION_END ||
                 (e->kind == TRACE_LOG && !is_own(c, e->name));
    e->name = users ? hidden(c, USE_NAME, e->name) : kept(c, e->name);
    e->text = users ? hidden(c, USE_TEXT, e->text) : kept(c, e->text);
}

/* ---- the part ---- */

/* Unix time of an instant of the trace. */
static int64_t unix_of(const struct trace_info *info, int64_t time)
{
    if (!info->has_clock)
        return 0;
    return (int64_t)(info->clock_unix_s * 1000000000 + info->clock_unix_ns) + time - info->clock_ns;
}

static bool write_events(struct cut *c, struct failure *f, struct gotrace *w,
                         const struct trace_event *evs, size_t count, uint64_t *events,
                         uint64_t *left_out)
{
    const struct trace_info *info = &c->t->info;
    int64_t from = info->start_ns + c->o->from_ns;
    int64_t to = c->o->to_ns > 0 ? info->start_ns + c->o->to_ns : INT64_MAX;
    for (size_t i = 0; i < count; i++) {
        struct trace_event e = evs[i];
        if (e.kind == TRACE_EXPERIMENT) {
            ++*left_out;
            continue;
        }
        if (e.time > to)
            return true;
        if (c->o->anonymize)
            anonymize(c, &e);
        if (e.time < from ? !gotrace_skip(w, f, &e, 1) : !gotrace_put(w, f, &e, 1))
            return false;
        *events += e.time >= from && e.kind != TRACE_SYNC;
    }
    return true;
}

static bool write_part(struct cut *c, struct failure *f, const char *to, uint64_t *events,
                       uint64_t *left_out)
{
    struct trace *t = c->t;
    const struct trace_event *evs;
    size_t count;
    struct gotrace *w = NULL;
    bool ok = true;
    while (ok && trace_next(t, f, &evs, &count) == TRACE_MORE) {
        if (w == NULL) { /* the first sync has said when the trace begins */
            int64_t from = t->info.start_ns + c->o->from_ns;
            struct gotrace_opts o = {.version = c->o->version ? c->o->version : t->info.version,
                                     .clock_unix_ns = unix_of(&t->info, from),
                                     .begin_ns = from};
            w = gotrace_open(f, to, c->o->anonymize ? &c->names : &t->names,
                             c->o->anonymize ? &c->stacks : &t->stacks, &o);
            if (w == NULL)
                return false;
        }
        ok = write_events(c, f, w, evs, count, events, left_out);
        if (c->o->to_ns > 0 && evs[count - 1].time > t->info.start_ns + c->o->to_ns)
            break;
    }
    int64_t end = t->info.end_ns;
    if (c->o->to_ns > 0 && t->info.start_ns + c->o->to_ns < end)
        end = t->info.start_ns + c->o->to_ns;
    if (w != NULL && !gotrace_close(w, f, end))
        ok = false;
    return ok && f->code == E_OK;
}

bool trace_write_part(struct trace *t, struct failure *f, const char *to, const struct cut_opts *o,
                      uint64_t *events, uint64_t *left_out)
{
    struct cut c = {.t = t, .o = o};
    *events = *left_out = 0;
    if (t->info.version < 22) {
        fail(f, E_TRACE,
             "a trace of Go 1.21 or older cannot be cut: only the newer format is "
             "written");
        return false;
    }
    names_init(&c.names);
    stacks_init(&c.stacks);
    bool ok = write_part(&c, f, to, events, left_out);
    for (int i = 0; i < USES; i++)
        free(c.strings[i]);
    free(c.new_stacks);
    names_release(&c.names);
    stacks_release(&c.stacks);
    return ok;
}
