/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/names.h"
#include "sim/base/alloc.h"
#include "sim/base/event_get.h"
#include "sim/base/text.h"

enum { NS = 1000, BUFFER = 1 << 20 };

struct export
{
    FILE *out;
    char *path, *buffer;
    struct naming names;
    bool *has_code; /* by goroutine */
    size_t ngs;
};

/* What a number of the program's is called; NULL: it is a number. */
static const char *name_of(const struct naming *n, enum ev_type type, uint64_t value)
{
    switch (type) {
    case EV_TYPE_span: return n->span(n->of, (uint32_t)value);
    case EV_TYPE_text: return n->text(n->of, (uint32_t)value);
    case EV_TYPE_func: return n->func(n->of, (int32_t)value);
    default: return event_value_name(type, value);
    }
}

static void put_number(FILE *out, enum ev_type type, uint64_t value)
{
    if (type == EV_TYPE_flag)
        fputs(value != 0 ? "true" : "false", out);
    else if (type == EV_TYPE_value || type == EV_TYPE_when)
        fprintf(out, "%" PRId64, (int64_t)value);
    else if (type == EV_TYPE_fd)
        fprintf(out, "%" PRId32, (int32_t)value);
    else
        fprintf(out, "%" PRIu64, value);
}

/* What an author sees of an instruction is its line. */
static void put_line_of(const struct export *e, uint32_t g, uint32_t pc)
{
    bool has_code = g < e->ngs && e->has_code[g];
    uint32_t line = has_code ? e->names.line(e->names.of, pc) : 0;
    if (line != 0)
        fprintf(e->out, ",\"line\":%" PRIu32, line);
}

static void put_argument(const struct export *e, const struct event_field *field, uint64_t value)
{
    enum ev_type type = (enum ev_type)field->type;
    const char *name = name_of(&e->names, type, value);
    if (event_is_none(type, value) || type == EV_TYPE_group) /* it has been named */
        return;
    fprintf(e->out, ",\"%s\":", field->name);
    if (name != NULL)
        text_put(e->out, TEXT_JSON, name);
    else
        put_number(e->out, type, value);
}

static void put_line(struct export *e, const struct event_rec *r)
{
    const struct event_info *info = &event_infos[r->type];
    fprintf(e->out, "{\"time_ns\":%" PRIu64 ".%03u,\"event\":\"%s\"", r->time / NS,
            (unsigned)(r->time % NS), info->name);
    if (r->m != EVENT_NO_M)
        fprintf(e->out, ",\"m\":%u", r->m);
    if (r->p != EVENT_NO_P)
        fprintf(e->out, ",\"p\":%u", r->p);
    if (r->g != EVENT_NO_G)
        fprintf(e->out, ",\"g\":%" PRIu32, r->g);
    if (r->type == EV_G_CREATE) {
        uint32_t group = names_born(&e->names, r);
        X_REACH(e->has_code, e->ngs, r->g, r->g * (size_t)2 + 64);
        e->has_code[r->g] = names_has_code(&e->names, group);
        fputs(",\"group\":", e->out);
        text_put(e->out, TEXT_JSON, e->names.group(e->names.of, group));
    }
    for (const struct event_field *f = info->fields; f->name != NULL; f++)
        if (f->type == EV_TYPE_pc)
            put_line_of(e, r->g, (uint32_t)event_field(r, f));
        else
            put_argument(e, f, event_field(r, f));
    fputs("}\n", e->out);
}

struct export *export_open(struct failure *f, const char *path, const struct program *program)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (out == NULL) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct export *e = x_alloc(sizeof *e);
    *e = (struct export){.out = out, .path = x_strdup(path), .names = names_of_program(program)};
    if (out != stdout) {
        e->buffer = x_alloc(BUFFER);
        setvbuf(out, e->buffer, _IOFBF, BUFFER);
    }
    return e;
}

void export_sink(void *arg, const struct event_rec *recs, size_t count)
{
    struct export *e = arg;
    for (size_t i = 0; i < count; i++)
        put_line(e, &recs[i]);
}

bool export_close(struct export *e, struct failure *f)
{
    if (e == NULL)
        return true;
    bool ok = fflush(e->out) == 0 && !ferror(e->out);
    if (e->out != stdout && fclose(e->out) != 0)
        ok = false;
    if (!ok)
        fail(f, E_IO, "%s: cannot be written: %s", e->path, strerror(errno));
    free(e->has_code);
    free(e->buffer);
    free(e->path);
    free(e);
    return ok;
}
