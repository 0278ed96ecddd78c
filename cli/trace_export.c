/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim trace export and gmpsim trace cut. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trace.h"
#include "cli/trace_run.h"
#include "replay/cut.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"
#include "store/perfetto.h"

/* What the formats need to know of a goroutine: by index. */
struct known {
    uint32_t name; /* the outermost function of its first stack */
    uint8_t state;
    int64_t since;
};

struct out {
    FILE *to;
    const char *path;
    const struct trace *t;
    const struct trace_words *w;
    struct known *gs;
    size_t ngs;
    int64_t start;
    /* schedtrace: */
    int64_t next_line;
    uint64_t procs, runnable, running_ps, known_ps, threads;
    bool gc, stw;
    struct map ms, ps;
};

static struct known *known_of(struct out *o, uint32_t index)
{
    X_REACH(o->gs, o->ngs, index, ((size_t)index + 1) * 2);
    return &o->gs[index];
}

static void learn_name(struct out *o, struct known *k, const struct trace_event *e)
{
    uint32_t stack = e->wire == WIRE_GO_UNBLOCK   ? 0
                     : e->from == TRACE_NOT_EXIST ? e->new_stack
                                                  : e->stack;
    if (k->name != 0 || stack == 0)
        return;
    struct trace_stack s = trace_stack_of(o->t, stack);
    k->name = trace_frame_of(o->t, s.frames[s.count - 1]).func;
}

static void put_text(struct out *o, enum text_form form, uint32_t string)
{
    size_t size;
    const char *text = trace_string(o->t, string, &size);
    text_put_n(o->to, form, text, size);
}

/* ---- JSON lines ---- */

static void json_id(struct out *o, const char *name, uint64_t id)
{
    if (id != TRACE_NONE)
        fprintf(o->to, ",\"%s\":%" PRIu64, name, id);
}

static void json_text(struct out *o, const char *name, uint32_t string)
{
    fprintf(o->to, ",\"%s\":", name);
    put_text(o, TEXT_JSON, string);
}

static void json_stack(struct out *o, const char *name, uint32_t stack)
{
    struct trace_stack s = trace_stack_of(o->t, stack);
    if (s.count == 0)
        return;
    fprintf(o->to, ",\"%s\":[", name);
    for (uint32_t i = 0; i < s.count; i++) {
        struct trace_frame f = trace_frame_of(o->t, s.frames[i]);
        fputs(i > 0 ? ",{\"func\":" : "{\"func\":", o->to);
        put_text(o, TEXT_JSON, f.func);
        json_text(o, "file", f.file);
        fprintf(o->to, ",\"line\":%" PRIu64 "}", f.line);
    }
    fputs("]", o->to);
}

static void json_details(struct out *o, const struct trace_event *e)
{
    switch ((enum trace_kind)e->kind) {
    case TRACE_G:
    case TRACE_P:
        fprintf(o->to, ",\"%s\":%" PRIu64 ",\"from\":\"%s\",\"to\":\"%s\"",
                e->kind == TRACE_G ? "goroutine" : "proc", e->id, trace_state_name(e->from),
                trace_state_name(e->to));
        if (e->name != 0)
            json_text(o, "reason", e->name);
        break;
    case TRACE_METRIC:
        json_text(o, "name", e->name);
        fprintf(o->to, ",\"value\":%" PRIu64, e->value);
        break;
    case TRACE_TASK_BEGIN:
    case TRACE_TASK_END: json_id(o, "parent", e->value); /* fall through */
    case TRACE_REGION_BEGIN:
    case TRACE_REGION_END:
    case TRACE_LOG:
        fprintf(o->to, ",\"task\":%" PRIu64, e->id);
        json_text(o, "name", e->name);
        if (e->kind == TRACE_LOG)
            json_text(o, "text", e->text);
        break;
    case TRACE_RANGE_END:
        if (e->wire == WIRE_GC_SWEEP_END)
            fprintf(o->to, ",\"swept\":%" PRIu64 ",\"reclaimed\":%" PRIu64, e->value, e->value2);
        json_text(o, "name", e->name);
        break;
    case TRACE_RANGE_BEGIN:
    case TRACE_RANGE_ACTIVE:
    case TRACE_LABEL: json_text(o, "name", e->name); break;
    case TRACE_EXPERIMENT:
        fprintf(o->to, ",\"arguments\":[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", e->id, e->value,
                e->value2);
        break;
    case TRACE_SYNC:
    case TRACE_SAMPLE:
    case TRACE_KINDS: break;
    }
}

static void put_jsonl(struct out *o, const struct trace_event *e)
{
    fprintf(o->to, "{\"time_ns\":%" PRId64 ",\"kind\":\"%s\"", e->time - o->start,
            trace_kind_name(e->kind));
    if (e->wire != 0)
        fprintf(o->to, ",\"event\":\"%s\"", trace_wire_name(e->wire));
    json_id(o, "m", e->m);
    json_id(o, "p", e->p);
    json_id(o, "g", e->g);
    json_details(o, e);
    json_stack(o, "stack", e->stack);
    json_stack(o, "new_stack", e->new_stack);
    fputs("}\n", o->to);
}

/* ---- CSV ---- */

static void put_csv(struct out *o, const struct trace_event *e)
{
    if (e->kind != TRACE_G || e->from == e->to)
        return;
    struct known *k = known_of(o, e->idx);
    int64_t since = e->from == TRACE_UNDETERMINED ? o->start : k->since;
    fprintf(o->to, "%" PRId64 ",%" PRIu64 ",", e->time - o->start, e->id);
    put_text(o, TEXT_CSV, k->name);
    fprintf(o->to, ",%s,%s,", trace_state_name(e->from), trace_state_name(e->to));
    put_text(o, TEXT_CSV, e->name);
    fprintf(o->to, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
            e->from == TRACE_NOT_EXIST ? 0 : e->time - since, (int64_t)e->m, (int64_t)e->p);
    struct trace_stack s = trace_stack_of(o->t, e->stack);
    if (s.count > 0) {
        struct trace_frame f = trace_frame_of(o->t, s.frames[0]);
        put_text(o, TEXT_CSV, f.func);
        fputs(",", o->to);
        put_text(o, TEXT_CSV, f.file);
        fprintf(o->to, ",%" PRIu64 "\n", f.line);
    } else {
        fputs(",,\n", o->to);
    }
}

/* ---- schedtrace ---- */

static void sched_lines(struct out *o, int64_t time)
{
    for (; o->next_line <= time; o->next_line += o->w->period_ns) {
        uint64_t procs = o->procs != 0 ? o->procs : o->known_ps;
        fprintf(o->to,
                "SCHED %" PRId64 "ms: gomaxprocs=%" PRIu64 " idleprocs=%" PRIu64 " threads=%" PRIu64
                " runqueue=%" PRIu64 " gcwaiting=%d\n",
                (o->next_line - o->start) / 1000000, procs,
                procs > o->running_ps ? procs - o->running_ps : 0, o->threads, o->runnable, o->stw);
    }
}

static void sched_p(struct out *o, const struct trace_event *e)
{
    struct map_slot *s = map_find(&o->ps, e->id, 0);
    if (s == NULL) {
        s = map_put(&o->ps, e->id, 0);
        o->known_ps++;
    }
    bool runs = e->to == TRACE_RUNNING;
    if (runs != (s->a != 0))
        o->running_ps += runs ? 1 : (uint64_t)-1;
    s->a = runs;
}

static void put_sched(struct out *o, const struct trace_event *e)
{
    sched_lines(o, e->time);
    if (e->m != TRACE_NONE && map_find(&o->ms, e->m, 0) == NULL) {
        map_put(&o->ms, e->m, 0);
        o->threads++;
    }
    if (e->kind == TRACE_P)
        sched_p(o, e);
    if (e->kind == TRACE_G && e->from != e->to)
        o->runnable += (uint64_t)(int64_t)((e->to == TRACE_RUNNABLE) - (e->from == TRACE_RUNNABLE));
    if (e->kind == TRACE_METRIC && e->wire == WIRE_PROCS_CHANGE)
        o->procs = e->value;
    if (e->wire == WIRE_STW_BEGIN || e->wire == WIRE_STW_END)
        o->stw = e->wire == WIRE_STW_BEGIN;
}

/* ---- one format ---- */

static void put_event(struct out *o, const struct trace_event *e)
{
    struct known *k = e->kind == TRACE_G ? known_of(o, e->idx) : NULL;
    if (k != NULL)
        learn_name(o, k, e);
    if (o->w->jsonl != NULL)
        put_jsonl(o, e);
    else if (o->w->csv != NULL)
        put_csv(o, e);
    else
        put_sched(o, e);
    if (k == NULL || e->from == e->to)
        return;
    k->state = e->to;
    k->since = e->from == TRACE_UNDETERMINED ? o->start : e->time;
}

static void sink(void *arg, const struct trace_event *evs, size_t count)
{
    struct out *o = arg;
    for (size_t i = 0; i < count; i++) {
        if (evs[i].kind != TRACE_SYNC) {
            put_event(o, &evs[i]);
        } else if (evs[i].id == 1) {
            o->start = o->next_line = evs[i].time;
        }
    }
}

static void open_out(struct out *o, const char *path)
{
    o->path = path;
    o->to = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (o->to == NULL)
        cli_die(EXIT_USAGE, "%s: %s", text_line(path), strerror(errno));
    if (o->w->csv != NULL)
        fputs("time_ns,g,name,from,to,reason,duration_ns,m,p,func,file,line\n", o->to);
}

static void close_out(struct out *o)
{
    bool ok = fflush(o->to) == 0 && !ferror(o->to);
    if (o->to != stdout && fclose(o->to) != 0)
        ok = false;
    if (!ok)
        cli_die(EXIT_USAGE, "%s: cannot be written", text_line(o->path));
    free(o->gs);
    map_release(&o->ms);
    map_release(&o->ps);
}

static void notes(const struct trace_info *info)
{
    for (int i = 0; i < info->nnotes; i++)
        fprintf(stderr, GMPSIM_NAME ": note: %s\n", text_line(info->notes[i]));
}

static void export_one(const char *path, const char *file, const struct trace_words *w)
{
    struct failure f = {.code = E_OK};
    struct trace *t = trace_open_or_die(path, w->strict);
    struct out o = {.t = t, .w = w};
    open_out(&o, file);
    trace_done_or_die(path, trace_each(t, &f, sink, &o), &f);
    close_out(&o);
    notes(trace_info_of(t));
    trace_close(t);
}

/* The timeline comes from transitions, as a simulated run's does. */
static void export_timeline(const char *path, const struct trace_words *w)
{
    struct failure f = {.code = E_OK};
    struct trace_file opening = {path, w->strict};
    struct transitions t;
    if (strcmp(path, "-") == 0)
        cli_die(EXIT_USAGE, "trace export --perfetto: the trace is read twice: want a file");
    struct tracks *k = tracks_open(&f, trace_file_open, &opening);
    if (k == NULL)
        cli_fail(&f);
    struct perfetto *out = perfetto_open(&f, w->perfetto, 0);
    if (out == NULL)
        cli_fail(&f);
    transitions_init(&t, tracks_names(k), 0);
    perfetto_listen(out, &t);
    trace_done_or_die(path, tracks_put(k, &t, NULL, &f), &f);
    if (!perfetto_close(out, &f))
        cli_fail(&f);
    notes(tracks_info(k));
    transitions_release(&t);
    tracks_close(k);
}

int trace_export(const char *path, const struct trace_words *all)
{
    const char *const files[] = {all->jsonl, all->csv, all->schedtrace};
    int wanted = all->perfetto != NULL;
    for (int i = 0; i < 3; i++) {
        struct trace_words one = *all;
        one.jsonl = i == 0 ? files[0] : NULL;
        one.csv = i == 1 ? files[1] : NULL;
        one.schedtrace = i == 2 ? files[2] : NULL;
        if (files[i] == NULL)
            continue;
        if (wanted++ > 0 && strcmp(path, "-") == 0)
            cli_die(EXIT_USAGE, "trace export: standard input can be read only once");
        export_one(path, files[i], &one);
    }
    if (all->perfetto != NULL)
        export_timeline(path, all);
    if (wanted == 0)
        cli_die(EXIT_USAGE,
                "trace export: to what? --perfetto, --csv, --jsonl or --schedtrace FILE");
    return EXIT_CLEAN;
}

int trace_cut(const char *path, const struct trace_words *w)
{
    struct failure f = {.code = E_OK};
    uint64_t events, left_out;
    if (w->out == NULL)
        cli_die(EXIT_USAGE, "trace cut: where to? --out FILE");
    if (w->to_ns > 0 && w->to_ns <= w->from_ns)
        cli_die(EXIT_USAGE, "trace cut: --to is not after --from");
    if (w->version != 0 && w->version != 22 && w->version != 23 && w->version != 25 &&
        w->version != 26)
        cli_die(EXIT_USAGE, "trace cut: --header is 22, 23, 25 or 26");
    struct cut_opts o = {.from_ns = w->from_ns,
                         .to_ns = w->to_ns,
                         .anonymize = w->anonymize,
                         .version = (int)w->version};
    struct trace *t = trace_open_or_die(path, w->strict);
    trace_done_or_die(path, trace_write_part(t, &f, w->out, &o, &events, &left_out), &f);
    notes(trace_info_of(t));
    if (left_out > 0)
        fprintf(stderr, GMPSIM_NAME ": note: %" PRIu64 " events of experiments are left out\n",
                left_out);
    if (strcmp(w->out, "-") != 0)
        printf("%s: %" PRIu64 " events\n", text_line(w->out), events);
    trace_close(t);
    return EXIT_CLEAN;
}
