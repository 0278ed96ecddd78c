/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/analysis.h"
#include "sim/base/alloc.h"
#include "sim/base/event_get.h"
#include "sim/base/text.h"

enum { NS = 1000, BUFFER = 1 << 20, PID_PS = 1, PID_SPANS = 2 };

struct drawn_g {
    uint64_t since; /* ps: when it began to run */
    uint32_t group;
    uint16_t p;
    bool running, runnable;
};

struct export
{
    FILE *out;
    char *path, *buffer;
    enum export_kind kind;
    const struct program *program;
    struct gtable gs;    /* struct drawn_g */
    struct map spans;    /* (key, span) -> begin in ns, goid (a) */
    uint64_t span_since; /* of the next span, ns + 1; 0: it begins when its record says */
    uint64_t records;
    int64_t runnable;
};

/* ---- JSON lines ---- */

static void put_argument(FILE *out, const struct event_field *field, uint64_t value)
{
    enum ev_type type = (enum ev_type)field->type;
    const char *name = event_value_name(type, value);
    if (event_is_none(type, value) || type == EV_TYPE_group) /* it has been named */
        return;
    fprintf(out, ",\"%s\":", field->name);
    if (name != NULL)
        text_put(out, TEXT_JSON, name);
    else if (type == EV_TYPE_flag)
        fputs(value != 0 ? "true" : "false", out);
    else if (type == EV_TYPE_value || type == EV_TYPE_when)
        fprintf(out, "%" PRId64, (int64_t)value);
    else if (type == EV_TYPE_fd)
        fprintf(out, "%" PRId32, (int32_t)value);
    else
        fprintf(out, "%" PRIu64, value);
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
        fputs(",\"group\":", e->out);
        text_put(e->out, TEXT_JSON, analysis_group_name(e->program, analysis_group(e->program, r)));
    }
    for (const struct event_field *f = info->fields; f->name != NULL; f++)
        put_argument(e->out, f, event_field(r, f));
    fputs("}\n", e->out);
}

/* ---- Chrome JSON ---- */

static void begin_event(struct export *e) { fputs(e->records++ > 0 ? ",\n" : "\n", e->out); }

/* Microseconds with three digits: nanoseconds. */
static void put_time(FILE *out, const char *name, uint64_t ns)
{
    fprintf(out, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (unsigned)(ns % 1000));
}

static void put_slice(struct export *e, const char *name, uint32_t g, int pid, uint32_t tid,
                      uint64_t begin_ns, uint64_t end_ns)
{
    begin_event(e);
    fputs("{\"ph\":\"X\",\"name\":", e->out);
    text_put(e->out, TEXT_JSON, name);
    fprintf(e->out, ",\"pid\":%d,\"tid\":%" PRIu32, pid, tid);
    put_time(e->out, "ts", begin_ns);
    put_time(e->out, "dur", end_ns - begin_ns);
    fprintf(e->out, ",\"args\":{\"g\":%" PRIu32 "}}", g);
}

/* A goroutine becomes runnable, or stops being it. */
static void put_runnable(struct export *e, const struct event_rec *r, bool is)
{
    struct drawn_g *s = gtable_find(&e->gs, r->g);
    if (s == NULL || s->runnable == is)
        return;
    s->runnable = is;
    e->runnable += is ? 1 : -1;
    begin_event(e);
    fprintf(e->out, "{\"ph\":\"C\",\"name\":\"runnable\",\"pid\":%d", PID_PS);
    put_time(e->out, "ts", r->time / NS);
    fprintf(e->out, ",\"args\":{\"goroutines\":%" PRId64 "}}", e->runnable);
}

static void put_name(struct export *e, int pid, const char *name)
{
    begin_event(e);
    fprintf(e->out,
            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"%s\"}}", pid,
            name);
}

static void g_created(struct export *e, const struct event_rec *r)
{
    struct drawn_g *s = gtable_put(&e->gs, r->g);
    *s = (struct drawn_g){.group = analysis_group(e->program, r)};
}

static void g_starts(struct export *e, const struct event_rec *r)
{
    struct drawn_g *s = gtable_find(&e->gs, r->g);
    if (s == NULL || r->p == EVENT_NO_P)
        return;
    s->since = r->time;
    s->p = r->p;
    s->running = true;
}

static void g_stops(struct export *e, const struct event_rec *r)
{
    struct drawn_g *s = gtable_find(&e->gs, r->g);
    if (s == NULL || !s->running)
        return;
    put_slice(e, analysis_group_name(e->program, s->group), r->g, PID_PS, s->p, s->since / NS,
              r->time / NS);
    s->running = false;
}

static void span_begins(struct export *e, const struct event_rec *r)
{
    struct map_slot *s;
    if (r->b >= e->program->nspans)
        return;
    s = map_put(&e->spans, r->a, r->b);
    s->at = e->span_since != 0 ? e->span_since - 1 : r->time / NS;
    s->a = r->g;
    e->span_since = 0;
}

static void span_ends(struct export *e, const struct event_rec *r)
{
    struct map_slot *s = r->b < e->program->nspans ? map_find(&e->spans, r->a, r->b) : NULL;
    if (s == NULL)
        return;
    put_slice(e, e->program->spans[r->b], s->a, PID_SPANS, s->a, s->at, r->time / NS);
    map_take(&e->spans, s);
}

static void put_chrome(struct export *e, const struct event_rec *r)
{
    switch ((enum event_type)r->type) {
    case EV_G_CREATE:
        g_created(e, r);
        put_runnable(e, r, get_g_create(r).kind != EV_born_coroutine);
        break;
    case EV_G_START:
        g_starts(e, r);
        put_runnable(e, r, false);
        break;
    case EV_G_SYSCALL_EXIT:
        if (get_g_syscall_exit(r).place == EV_place_none)
            g_starts(e, r);
        else
            put_runnable(e, r, true);
        break;
    case EV_G_READY: put_runnable(e, r, true); break;
    case EV_G_GOSCHED:
    case EV_G_PREEMPT:
        g_stops(e, r);
        put_runnable(e, r, true);
        break;
    case EV_G_PARK:
    case EV_G_SYSCALL_ENTER: g_stops(e, r); break;
    case EV_G_EXIT:
        g_stops(e, r);
        gtable_take(&e->gs, r->g);
        break;
    case EV_SPAN_SINCE: e->span_since = (uint64_t)get_span_since(r).began_ns + 1; break;
    case EV_SPAN_BEGIN: span_begins(e, r); break;
    case EV_SPAN_END: span_ends(e, r); break;
    default: break;
    }
}

/* ---- life ---- */

struct export *export_open(struct failure *f, const char *path, enum export_kind kind,
                           const struct program *program)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (out == NULL) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct export *e = x_alloc(sizeof *e);
    *e = (struct export){.out = out, .path = x_strdup(path), .kind = kind, .program = program};
    gtable_init(&e->gs, sizeof(struct drawn_g));
    if (out != stdout) {
        e->buffer = x_alloc(BUFFER);
        setvbuf(out, e->buffer, _IOFBF, BUFFER);
    }
    if (kind == EXPORT_CHROME) {
        fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
        put_name(e, PID_PS, "Ps");
        put_name(e, PID_SPANS, "spans");
    }
    return e;
}

void export_sink(void *arg, const struct event_rec *recs, size_t count)
{
    struct export *e = arg;
    for (size_t i = 0; i < count; i++)
        (e->kind == EXPORT_JSONL ? put_line : put_chrome)(e, &recs[i]);
}

bool export_close(struct export *e, struct failure *f)
{
    if (e == NULL)
        return true;
    if (e->kind == EXPORT_CHROME)
        fputs("\n]}\n", e->out);
    bool ok = fflush(e->out) == 0 && !ferror(e->out);
    if (e->out != stdout && fclose(e->out) != 0)
        ok = false;
    if (!ok)
        fail(f, E_IO, "%s: cannot be written: %s", e->path, strerror(errno));
    gtable_release(&e->gs);
    map_release(&e->spans);
    free(e->buffer);
    free(e->path);
    free(e);
    return ok;
}
