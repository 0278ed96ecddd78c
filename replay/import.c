/* SPDX-License-Identifier: BSD-3-Clause */
/* A recording becomes a scenario: goroutines become sequences of statements, what repeats becomes a
 * loop, goroutines that do the same share a function. */
#include "replay/import.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/prog.h"
#include "replay/import_int.h"
#include "replay/infer.h"
#include "replay/trace.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { STATEMENTS_MAX = 1 << 20, FUNCS_MAX = 4000, NO_BODY = 0, UNTIL_TIMES = 20 };

/* ---- statements ---- */

const char *imp_kept(struct imp *t, struct numbers *n, const char *text, uint32_t *number)
{
    uint32_t before = n->count;
    *number = texts_number(n, text);
    if (n->count > before)
        n->text[*number] = pool_text(t->pool, text);
    return n->text[*number];
}

uint32_t imp_statement(struct imp *t, const char *text)
{
    uint32_t id;
    (void)imp_kept(t, &t->statements, text, &id);
    X_REACH(t->site_of, t->site_room, id, id * 2 + 256);
    t->site_of[id] = t->site != REC_NONE ? t->site + 1 : 0;
    return id;
}

static const char *why(const struct imp *t)
{
    static char text[700];
    char quoted[640];
    const char *place = t->site != REC_NONE ? rec_site_text(t->r, t->site) : "";
    snprintf(text, sizeof text, "%s%s", place[0] != 0 ? ", \"why\": " : "",
             place[0] != 0 ? text_in(quoted, sizeof quoted, TEXT_JSON, place) : "");
    return text;
}

void imp_put(struct imp *t, const char *fmt, ...)
{
    static char text[IMP_LINE];
    va_list args;
    text[0] = '{';
    va_start(args, fmt);
    vsnprintf(text + 1, sizeof text - 800, fmt, args);
    va_end(args);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s}", why(t));
    uint32_t id = imp_statement(t, text);
    imp_compute(t);
    imp_add(t->to, id);
}

/* ---- objects ---- */

static const char *const kind_names[OBJ_KINDS] = {
    [OBJ_CHAN] = "ch",   [OBJ_MUTEX] = "mu",  [OBJ_RWMUTEX] = "rw", [OBJ_WAITGROUP] = "wg",
    [OBJ_COND] = "cond", [OBJ_ONCE] = "once", [OBJ_FD] = "fd"};

const char *imp_name(struct imp *t, uint32_t object)
{
    static char name[4][40];
    static int turn;
    char *to = name[turn++ % 4];
    const char *kind = kind_names[t->r->objects[object].kind];
    if (imp_own_timer(t, object)) {
        snprintf(to, sizeof name[0], "t%u.C", t->objects[object].alias);
        return to;
    }
    t->objects[object].used = true;
    snprintf(to, sizeof name[0], "%s%u", kind != NULL ? kind : "object", object);
    return to;
}

void imp_declare(struct imp *t, const char *fmt, ...)
{
    char text[200];
    uint32_t number;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)imp_kept(t, &t->extra, text, &number);
}

static void object_line(struct imp *t, uint32_t i)
{
    const struct rec_object *o = &t->r->objects[i];
    const char *name = imp_name(t, i);
    switch ((enum object_kind)o->kind) {
    case OBJ_CHAN:
        fprintf(t->text, "\"%s\": {\"chan\": %" PRId64 "},\n", name,
                o->timer && o->param < 1 ? 1 : o->param);
        break;
    case OBJ_FD: fprintf(t->text, "\"%s\": {\"chan\": 100000},\n", name); break;
    case OBJ_RWMUTEX: fprintf(t->text, "\"%s\": \"rwmutex\",\n", name); break;
    case OBJ_WAITGROUP: fprintf(t->text, "\"%s\": \"waitgroup\",\n", name); break;
    case OBJ_ONCE: fprintf(t->text, "\"%s\": \"once\",\n", name); break;
    case OBJ_COND:
        if (rec_has_mutex(t->r, o))
            fprintf(t->text, "\"%s\": {\"cond\": \"%s\"},\n", name,
                    imp_name(t, (uint32_t)o->param));
        break;
    default: fprintf(t->text, "\"%s\": \"mutex\",\n", name); break;
    }
    t->line++;
}

/* Mutexes stand before the Conds over them. */
static void object_lines(struct imp *t)
{
    for (uint32_t i = 0; i < t->r->nobjects; i++)
        if (t->r->objects[i].kind == OBJ_COND && t->objects[i].used &&
            rec_has_mutex(t->r, &t->r->objects[i]))
            t->objects[t->r->objects[i].param].used = true;
    for (int conds = 0; conds < 2; conds++)
        for (uint32_t i = 0; i < t->r->nobjects; i++)
            if (t->objects[i].used && (t->r->objects[i].kind == OBJ_COND) == (conds != 0))
                object_line(t, i);
    for (uint32_t i = 0; i < t->extra.count; i++, t->line++)
        fprintf(t->text, "%s,\n", t->extra.text[i]);
}

/* ---- functions ---- */

bool imp_plays(const struct imp *t, uint32_t g) { return !t->r->gs[g].system; }

/* "main" is where a scenario begins: the goroutine that it was is no function. */
static const char *base_of(const char *name)
{
    const char *base = strncmp(name, "main.", 5) == 0 ? name + 5 : name;
    if (strcmp(base, "main") == 0)
        return "main.main";
    return base[0] != 0 ? base : "goroutine";
}

/* "worker", then "worker~2". */
static const char *new_name(struct imp *t, const char *go_name)
{
    char line[180], plain[200], name[240];
    uint32_t number;
    snprintf(plain, sizeof plain, "f_%s", text_in(line, sizeof line, TEXT_LINE, base_of(go_name)));
    for (char *p = plain; *p != 0; p++)
        if (*p == '"' || *p == '\\')
            *p = '_';
    (void)imp_kept(t, &t->names, plain, &number);
    X_REACH(t->name_count, t->name_room, number, number * 2 + 64);
    uint32_t n = ++t->name_count[number];
    snprintf(name, sizeof name, n > 1 ? "%s~%u" : "%s", plain + 2, n);
    return pool_text(t->pool, name);
}

/* Goroutines of a name that do the same share a body. */
static void find_body(struct imp *t, uint32_t g)
{
    char *key = NULL;
    size_t size = 0;
    uint32_t number;
    FILE *out = x_memstream(&key, &size);
    fputs(t->r->gs[g].name, out);
    for (uint32_t i = 0; i < t->of[g].count; i++)
        fprintf(out, ",%u", t->of[g].ids[i]);
    x_memstream_close(out, &key);
    uint32_t before = t->bodies.count;
    (void)imp_kept(t, &t->bodies, key, &number);
    free(key);
    if (number >= t->body_room) {
        t->body_room = number * 2 + 64;
        t->body_g = x_grow(t->body_g, t->body_room * sizeof *t->body_g);
        t->body_name = x_grow(t->body_name, t->body_room * sizeof *t->body_name);
        t->body_started = x_grow(t->body_started, t->body_room);
    }
    if (t->bodies.count > before) {
        t->body_g[number] = g;
        t->body_started[number] = false;
        t->body_name[number] = new_name(t, t->r->gs[g].name);
    }
    t->func_of[g] = number + 1;
}

const char *imp_func(struct imp *t, uint32_t g)
{
    if (t->func_of[g] == NO_BODY)
        return "nothing"; /* the first time round */
    t->body_started[t->func_of[g] - 1] = true;
    return t->body_name[t->func_of[g] - 1];
}

/* ---- the file ---- */

static void functions(struct imp *t)
{
    char head[300];
    bool any = false;
    for (uint32_t i = 0; i < t->bodies.count; i++) {
        if (t->body_g[i] == t->root || !t->body_started[i])
            continue;
        snprintf(head, sizeof head, "%s\"%s\": [", any ? "," : "", t->body_name[i]);
        imp_line(t, head);
        imp_lines(t, &t->of[t->body_g[i]], false);
        imp_line(t, "]");
        any = true;
    }
    if (t->giver.count > 0) {
        imp_line(t, any ? ",\"giver\": [" : "\"giver\": [");
        imp_lines(t, &t->giver, false);
        imp_line(t, "]");
        any = true;
    }
    for (uint32_t i = 0; i < t->r->nobjects; i++) {
        if (!t->objects[i].called)
            continue;
        snprintf(head, sizeof head, "%s\"f_once%u\": [", any ? "," : "", i);
        imp_line(t, head);
        imp_lines(t, &t->once[i], false);
        imp_line(t, "]");
        any = true;
    }
}

static void write_all(struct imp *t)
{
    char name[300], quoted[320];
    int release = t->o->release > 0 ? t->o->release : t->r->version;
    text_in(name, sizeof name, TEXT_LINE, t->o->name); /* a file's, and those may have anything */
    text_in(quoted, sizeof quoted, TEXT_JSON, name);
    fprintf(t->text, "{\n\"name\": %s,\n", quoted);
    snprintf(name, sizeof name, "\"go1.%d\"", release);
    fprintf(t->text, "\"why\": \"made of a recorded trace\",\n\"profile\": %s,\n", name);
    fprintf(t->text, "\"procs\": %d,\n", t->r->procs > 0 ? t->r->procs : 1);
    if (t->o->readable) /* its tickers may go on for ever */
        fprintf(t->text, "\"until\": \"%" PRId64 "ms\",\n",
                t->r->length / 1000000 * UNTIL_TIMES + 1000);
    else
        fputs("\"until\": \"1000h\",\n", t->text);
    fputs("\"objects\": {\n", t->text);
    t->line = 8;
    object_lines(t);
    imp_line(t, "\"nothing\": \"var\"},");
    imp_line(t, "\"funcs\": {");
    functions(t);
    imp_line(t, "},");
    imp_line(t, "\"main\": [");
    bool has_body = t->root != REC_NONE && t->of[t->root].count > 0;
    imp_lines(t, &t->opening, has_body);
    if (has_body)
        imp_lines(t, &t->of[t->root], false);
    imp_line(t, t->o->explore ? "],\n\"expect\": {\"end\": \"exit\"}" : "]");
    fputs("}\n", t->text);
}

/* ---- all ---- */

static uint32_t find_root(const struct recording *r)
{
    uint32_t best = REC_NONE;
    if (r->main_g != REC_NONE && !r->gs[r->main_g].system)
        return r->main_g;
    for (uint32_t g = 0; g < r->ngs; g++)
        if (r->gs[g].born < 0 && !r->gs[g].system && (r->gs[g].id == 1 || best == REC_NONE))
            best = r->gs[g].id == 1 || r->gs[g].at_start == TRACE_RUNNING ? g : best;
    return best;
}

static void tables(struct imp *t)
{
    const struct recording *r = t->r;
    t->of = x_alloc((r->ngs + 1) * sizeof *t->of);
    t->started = x_alloc((r->ngs + 1) * sizeof *t->started);
    t->func_of = x_alloc((r->ngs + 1) * sizeof *t->func_of);
    t->once = x_alloc((r->nobjects + 1) * sizeof *t->once);
    t->objects = x_alloc((r->nobjects + 1) * sizeof *t->objects);
    t->item_at = x_alloc((r->ngs + 1) * sizeof *t->item_at);
    t->item_next = x_alloc(((size_t)r->nitems + 1) * sizeof *t->item_next);
    t->write_at = x_alloc((r->ngs + 1) * sizeof *t->write_at);
    t->write_next = x_alloc(((size_t)r->nwrites + 1) * sizeof *t->write_next);
    t->read_at = x_alloc((r->ngs + 1) * sizeof *t->read_at);
    t->read_next = x_alloc(((size_t)r->nios + 1) * sizeof *t->read_next);
}

static void release(struct imp *t)
{
    for (uint32_t g = 0; g < t->r->ngs; g++)
        free(t->of[g].ids);
    for (uint32_t i = 0; i < t->r->nobjects; i++)
        free(t->once[i].ids);
    for (uint32_t i = 0; i < t->ncpus; i++)
        free(t->cpus[i].ns);
    free(t->cpus);
    free(t->opening.ids);
    free(t->giver.ids);
    free(t->of);
    free(t->func_of);
    free(t->started);
    free(t->once);
    free(t->objects);
    free(t->item_at);
    free(t->item_next);
    free(t->write_at);
    free(t->write_next);
    free(t->read_at);
    free(t->read_next);
    free(t->site_of);
    free(t->blocks);
    free(t->body_g);
    free(t->body_name);
    free(t->body_started);
    free(t->name_count);
    texts_numbers_release(&t->statements);
    texts_numbers_release(&t->extra);
    texts_numbers_release(&t->bodies);
    texts_numbers_release(&t->names);
    map_release(&t->cpu_classes);
    map_release(&t->timer_sites);
    map_release(&t->asked_told);
    map_release(&t->learned);
    map_release(&t->gate_of);
    map_release(&t->gates_at);
    free(t->given);
    free(t->gates);
    pool_free(t->pool);
}

/* From the last to the first: whoever starts others comes before them in the recording, and is to
 * be written after them. */
static void goroutines(struct imp *t)
{
    t->selects = t->tries = t->outside = t->tokens = t->guards = 0;
    for (uint32_t i = 0; i < t->r->nobjects; i++)
        t->once[i].count = 0;
    imp_know(t);
    rec_link_writes(t->r, t->write_at, t->write_next);
    rec_link_reads(t->r, t->read_at, t->read_next);
    for (uint32_t g = t->r->ngs; g-- > 0;) {
        if (!imp_plays(t, g))
            continue;
        imp_goroutine(t, g);
        if (t->measures)
            continue;
        if (t->o->readable)
            imp_fold(t, &t->of[g]);
        find_body(t, g);
    }
}

/* Starts the goroutines that were there when the recording began, and those that nobody of the
 * program started. */
static void start_the_others(struct imp *t)
{
    t->site = REC_NONE;
    for (uint32_t g = 0; g < t->r->ngs; g++) {
        const struct rec_g *x = &t->r->gs[g];
        if (!imp_plays(t, g) || g == t->root || t->of[g].count == 0)
            continue;
        bool of_timer = x->creator != REC_NONE && x->by_timer;
        if (x->born < 0)
            imp_put(t, "\"go\": \"%s\"", imp_func(t, g));
        else if (!of_timer && (x->creator == REC_NONE || t->r->gs[x->creator].system))
            imp_put(t, "\"after_func\": \"%s\", \"after\": \"%" PRId64 "ns\"", imp_func(t, g),
                    x->born + 1);
    }
}

static void stand_by(struct imp *t)
{
    t->site = REC_NONE;
    t->to = &t->opening;
    if (t->gives_up)
        imp_giver(t);
    if (t->leaves) {
        imp_declare(t, "\"leave\": \"chan\"");
        imp_put(t, "\"go\": [{\"sleep\": \"20h\"}, {\"close\": \"leave\"}], \"group\": \"end\"");
    }
}

static __attribute__((format(printf, 2, 3))) void note(struct imp *t, const char *fmt, ...)
{
    struct imported *out = t->out;
    va_list args;
    if (out->nnotes == (int)(sizeof out->notes / sizeof *out->notes))
        return;
    va_start(args, fmt);
    vsnprintf(out->notes[out->nnotes++], sizeof out->notes[0], fmt, args);
    va_end(args);
}

static void notes(struct imp *t)
{
    uint32_t real = 0, conds = 0;
    for (uint32_t i = 0; i < t->r->nobjects; i++) {
        conds += t->r->objects[i].kind == OBJ_COND && t->objects[i].used;
        real += t->objects[i].real_cond;
    }
    note(t, "values are not in a recording: every goroutine does what it did, branch for branch");
    if (t->selects > 0)
        note(t, "%u selects: one that takes another case than recorded ends the schedule",
             t->selects);
    if (t->tries > 0)
        note(t,
             "%u operations that did not wait (a select with a default, TryLock): a schedule in "
             "which one of them cannot be done says nothing",
             t->tries);
    if (t->tokens > 0 || conds > real)
        note(t, "%u waits are for the recorded wake and no other%s", t->tokens,
             conds > real ? ": those of Conds that are signalled by who has held the lock" : "");
    if (t->blind > 0)
        note(t, "%s: the source looks at nothing between Lock and Wait, so it waits always",
             rec_site_text(t->r, t->blind - 1));
    if (t->outside > 0)
        note(t, "%u waits were ended from outside: they end at any time", t->outside);
    if (t->pins > 0)
        note(t, "%u channels carry what is answered: their items go to the recorded receivers",
             t->pins);
    if (t->guards > 0)
        note(t,
             "%u channels are closed under a lock under which others send: after them, as "
             "recorded",
             t->guards);
    if (t->daemons > 0)
        note(t, "%u goroutines were still blocked when the recording ended: that is no finding",
             t->daemons);
}

static bool is_possible(struct failure *f, const struct imp *t)
{
    uint64_t n = 0;
    if (t->root == REC_NONE) {
        fail(f, E_TRACE, "no goroutine of the program runs when the recording begins");
        return false;
    }
    for (uint32_t g = 0; g < t->r->ngs; g++)
        n += t->of[g].count;
    if (n <= STATEMENTS_MAX && t->bodies.count <= FUNCS_MAX)
        return true;
    fail(f, E_LIMIT,
         "%" PRIu64 " statements in %u functions: more than %d in %d; record less, or a part "
         "of it (trace cut)",
         n, t->bodies.count, STATEMENTS_MAX, FUNCS_MAX);
    return false;
}

bool import_recording(struct failure *f, struct recording *r, const struct import_opts *o,
                      struct imported *out)
{
    *out = (struct imported){.pool = pool_new(), .recorded_ns = r->length};
    if (r->deep == 0) {
        fail(f, E_TRACE,
             "not a deep recording: it says nothing of locks and channels that did not wait; "
             "gmpsim record makes one");
        imported_release(out);
        return false;
    }
    struct imp t = {.r = r, .o = o, .out = out, .pool = pool_new(), .root = find_root(r)};
    t.site = REC_NONE;
    tables(&t);
    t.measures = true;
    if (!o->explore && t.root != REC_NONE)
        goroutines(&t);
    imp_measured(&t);
    t.measures = false;
    if (t.root != REC_NONE)
        goroutines(&t);
    bool ok = is_possible(f, &t);
    if (ok) {
        stand_by(&t);
        imp_there(&t);
        start_the_others(&t);
        t.text = x_memstream(&out->text, &out->size);
        write_all(&t);
        x_memstream_close(t.text, &out->text);
        notes(&t);
    }
    release(&t);
    if (!ok)
        imported_release(out);
    return ok;
}

void imported_release(struct imported *im)
{
    free(im->text);
    free(im->places);
    pool_free(im->pool);
    *im = (struct imported){0};
}

struct scenario *import_load(struct failure *f, const char *path, bool sure, const char **notes_out)
{
    struct imported im;
    struct infer in = {0};
    struct recording *r = recording_load(f, path, NULL);
    if (r == NULL)
        return NULL;
    infer_all(r, &in);
    const char *slash = strrchr(path, '/');
    struct import_opts o = {.name = slash != NULL ? slash + 1 : path, .explore = true};
    bool ok = (sure || import_is_the_program(f, r, o.name)) && import_recording(f, r, &o, &im);
    recording_free(r);
    if (!ok)
        return NULL;
    struct scenario *s = scenario_load(f, path, im.text, im.size);
    if (s != NULL) {
        const char **places = pool_alloc(s->pool, (im.nplaces + 1) * sizeof *places);
        char all[sizeof im.notes];
        for (uint32_t i = 0; i < im.nplaces; i++)
            places[i] = im.places[i] != NULL ? pool_text(s->pool, im.places[i]) : NULL;
        s->places = places;
        s->nplaces = im.nplaces;
        s->unknown_status = IMP_UNKNOWN;
        all[0] = 0;
        for (int i = 0; i < im.nnotes; i++)
            snprintf(all + strlen(all), sizeof all - strlen(all), "%s\n", im.notes[i]);
        *notes_out = pool_text(s->pool, all);
    }
    imported_release(&im);
    return s;
}
