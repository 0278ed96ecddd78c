/* SPDX-License-Identifier: BSD-3-Clause */
/* Edits Go's sources by text: what is looked for is a whole line, so that a release that differs is
 * noticed and not misunderstood. The code that logs is made from the release's own trace_userLog,
 * for its inner interface changes. */
#include "cli/overlay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/overlay_text.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { PATH_LEN = 4096, SOURCE_MAX = 8 << 20 };

enum edit_how { AFTER, LINE, WRAP };

static const struct edit {
    const char *file;
    enum edit_how how;
    const char *what, *code;
} edits[] = {
#define EDIT(file, how, what, code) {file, how, what, code},
#include "cli/overlay.def"
#undef EDIT
};
enum { EDITS = sizeof edits / sizeof *edits };

struct files {
    const struct overlay_opts *o;
    struct failure *f;
    FILE *json;
    int count;
};

/* ---- files ---- */

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return NULL;
    char *text = x_alloc(SOURCE_MAX + 1);
    size_t n = fread(text, 1, SOURCE_MAX, in);
    fclose(in);
    text[n] = 0;
    return text;
}

static bool write_text(struct failure *f, const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    bool ok = out != NULL && fputs(text, out) >= 0;
    if (out != NULL && fclose(out) != 0)
        ok = false;
    if (!ok)
        fail(f, E_IO, "%s: cannot write: %s", path, strerror(errno));
    return ok;
}

/* The source at `place` is to be read from our copy. */
static bool replace(struct files *s, const char *place, const char *text)
{
    char copy[PATH_LEN], a[PATH_LEN * 2], b[PATH_LEN * 2];
    snprintf(copy, sizeof copy, "%.4000s/%d%s", s->o->dir, s->count, strrchr(place, '.'));
    if (!write_text(s->f, copy, text))
        return false;
    fprintf(s->json, "%s\n%s: %s", s->count > 0 ? "," : "", text_in(a, sizeof a, TEXT_JSON, place),
            text_in(b, sizeof b, TEXT_JSON, copy));
    s->count++;
    return true;
}

/* ---- text ---- */

static char *splice(char *text, size_t at, size_t cut, const char *put)
{
    size_t size = strlen(text) - cut + strlen(put) + 1;
    char *out = x_alloc(size);
    snprintf(out, size, "%.*s%s%s", (int)at, text, put, text + at + cut);
    free(text);
    return out;
}

/* Where the name begins in "func name(" or "func (r *T) name(". */
static size_t name_in(const char *head)
{
    size_t at = strlen("func ");
    if (head[at] == '(')
        at += strcspn(head + at, ")") + 2;
    return at;
}

/* The new function, and the old one's head under its new name. */
static char *wrapped(const struct edit *e)
{
    size_t name = name_in(e->what), room = 2 * strlen(e->what) + strlen(e->code) + 64;
    char *out = x_alloc(room);
    snprintf(out, room, "%s%s}\n\n%.*sgmpsim0%s", e->what, e->code, (int)name, e->what,
             e->what + name);
    return out;
}

static char *apply(struct failure *f, char *text, const struct edit *e, const char *path)
{
    char *at = strstr(text, e->what);
    if (at == NULL) {
        fail(f, E_IO, "%s: no line \"%.*s\": this Go release is not known", path,
             (int)strcspn(e->what, "\n"), e->what);
        free(text);
        return NULL;
    }
    size_t where = (size_t)(at - text), length = strlen(e->what);
    if (e->how == LINE)
        length += strcspn(at + length, "\n") + 1;
    if (e->how != WRAP)
        return splice(text, where + length, 0, e->code);
    char *put = wrapped(e);
    text = splice(text, where, length, put);
    free(put);
    return text;
}

/* All edits of one file, which are next to each other. */
static bool edit_file(struct files *s, int first, int *next)
{
    char path[PATH_LEN];
    snprintf(path, sizeof path, "%s/src/%s", s->o->goroot, edits[first].file);
    char *text = read_text(path);
    for (*next = first; *next < EDITS && strcmp(edits[*next].file, edits[first].file) == 0;) {
        const struct edit *e = &edits[(*next)++];
        if (text != NULL && (text = apply(s->f, text, e, path)) == NULL)
            return false;
    }
    bool ok = text == NULL || replace(s, path, text);
    free(text);
    return ok;
}

/* ---- what is added ---- */

static const char in_package[] =
    "package %s\n\nimport \"unsafe\"\n\n"
    "//go:linkname gmpsimLog\n//go:noescape\nfunc gmpsimLog(p unsafe.Pointer, op byte)\n\n"
    "//go:linkname gmpsimLogN\n//go:noescape\nfunc gmpsimLogN(p unsafe.Pointer, op byte, n "
    "int64)\n";

static const char in_sync[] =
    "\nfunc gmpsimOnce(o *Once, op byte) { gmpsimLog(unsafe.Pointer(o), op) }\n";

static const char in_time[] =
    "\nfunc gmpsimTimer(c <-chan Time, op byte, d Duration) {\n"
    "\tgmpsimLogN(*(*unsafe.Pointer)(unsafe.Pointer(&c)), op, int64(d))\n}\n\n"
    "func gmpsimPlace(t *Timer) unsafe.Pointer {\n\tif t.C != nil {\n"
    "\t\treturn *(*unsafe.Pointer)(unsafe.Pointer(&t.C))\n\t}\n\treturn unsafe.Pointer(t)\n}\n\n"
    "func gmpsimAfterFunc(t *Timer, d Duration) { gmpsimLogN(unsafe.Pointer(t), 'a', int64(d)) }\n"
    "func gmpsimStop(t *Timer) { gmpsimLogN(gmpsimPlace(t), 'y', 0) }\n"
    "func gmpsimReset(t *Timer, d Duration) { gmpsimLogN(gmpsimPlace(t), 'Y', int64(d)) }\n";

static const char in_main[] = "package main\n\nimport gmpsimTrace \"runtime/trace\"\n\n"
                              "func init() { gmpsimTrace.GmpsimRecord() }\n";

static bool add(struct files *s, const char *file, const char *text)
{
    char path[PATH_LEN];
    snprintf(path, sizeof path, "%.2000s/src/%.2000s", s->o->goroot, file);
    return replace(s, path, text);
}

static bool add_package(struct files *s, const char *folder, const char *name, const char *more)
{
    char path[PATH_LEN], text[4096], head[2048];
    struct stat st;
    snprintf(path, sizeof path, "%s/src/%s", s->o->goroot, folder);
    if (stat(path, &st) != 0)
        return true; /* the release has no such package */
    snprintf(head, sizeof head, in_package, name);
    snprintf(text, sizeof text, "%s%s", head, more);
    snprintf(path, sizeof path, "%s/gmpsim.go", folder);
    return add(s, path, text);
}

/* The line of trace_userLog that writes the event, for our own arguments. */
static char *event_line(struct files *s)
{
    static const char *const where[] = {"traceruntime.go", "trace2runtime.go", NULL};
    for (int i = 0; where[i] != NULL; i++) {
        char path[PATH_LEN];
        snprintf(path, sizeof path, "%s/src/runtime/%s", s->o->goroot, where[i]);
        char *text = read_text(path),
             *fn = text != NULL ? strstr(text, "func trace_userLog(") : NULL;
        char *at = fn != NULL ? strstr(fn, "\ttl.eventWriter(") : NULL;
        if (at != NULL) {
            char *line = x_alloc(SOURCE_MAX > 4096 ? 4096 : SOURCE_MAX);
            snprintf(line, 4096, "%.*s", (int)strcspn(at, "\n") + 1, at);
            free(text);
            return line;
        }
        free(text);
    }
    fail(s->f, E_IO, "%s/src/runtime: no trace_userLog: this Go release is not known",
         s->o->goroot);
    return NULL;
}

static char *swap(char *line, const char *was, const char *is)
{
    char *at = strstr(line, was);
    return at != NULL ? splice(line, (size_t)(at - line), strlen(was), is) : line;
}

/* What its first call is given: what G and P do while somebody logs. */
static void running_of(const char *line, char *running, size_t size)
{
    const char *at = strchr(line, '(') + 1;
    snprintf(running, size, "%.*s", (int)strcspn(at, ")"), at);
}

static bool exists(const struct files *s, const char *package)
{
    char path[PATH_LEN];
    struct stat st;
    snprintf(path, sizeof path, "%s/src/%s", s->o->goroot, package);
    return stat(path, &st) == 0;
}

static bool add_runtime(struct files *s)
{
    char imports[200], running[200];
    char *line = event_line(s);
    if (line == NULL)
        return false;
    running_of(line, running, sizeof running);
    line = swap(line, "tl.string(category)", "gmpsimName(tl, 0)");
    line = swap(line, "tl.uniqueString(message)", "name");
    line = swap(line, "tl.stack(3)", "stack");
    bool hooks = exists(s, "internal/runtime/exithook"), tracev2 = strstr(line, "tracev2.") != NULL;
    snprintf(imports, sizeof imports, "\t\"%s/atomic\"\n%s%s",
             exists(s, "internal/runtime/atomic") ? "internal/runtime" : "runtime/internal",
             hooks ? "\t\"internal/runtime/exithook\"\n" : "",
             tracev2 ? "\t\"internal/trace/tracev2\"\n" : "");
    char *text = swap(x_strdup(overlay_runtime), "@IMPORTS@", imports);
    text = swap(text, "@RUNNING@", running);
    text = swap(text, "@EV@", tracev2 ? "tracev2." : "trace");
    text = swap(text, "@LINE@", line);
    text = swap(text, "@HOOK@",
                hooks ? "exithook.Add(exithook.Hook{F: f, RunOnFailure: true})"
                      : "addExitHook(f, true)");
    bool ok = add(s, "runtime/gmpsim.go", text);
    free(line);
    free(text);
    return ok;
}

/* How the counter of cycles is read: by an instruction, or as Go does it. */
static bool add_cycles(struct files *s)
{
    return add(s, "runtime/gmpsim_amd64.s", overlay_cycles) &&
           add(s, "runtime/gmpsim_amd64.go", "package runtime\n\nfunc gmpsimCycles() int64\n") &&
           add(s, "runtime/gmpsim_cycles.go",
               "//go:build !amd64\n\npackage runtime\n\n"
               "func gmpsimCycles() int64 { return cputicks() }\n");
}

static bool add_all(struct files *s)
{
    char path[PATH_LEN];
    bool ok = add_runtime(s) && add_cycles(s) &&
              add(s, "runtime/trace/gmpsim_record.go", overlay_trace);
    if (ok && s->o->main_dir != NULL) {
        snprintf(path, sizeof path, "%s/" OVERLAY_MAIN, s->o->main_dir);
        ok = replace(s, path, in_main);
    }
    if (ok && s->o->deep)
        ok = add_package(s, "sync", "sync", in_sync) &&
             add_package(s, "internal/sync", "sync", "") &&
             add_package(s, "time", "time", in_time) &&
             add(s, "internal/poll/gmpsim.go", overlay_poll);
    return ok;
}

/* Where Mutex lies decides which of the two files its edits are for. */
static bool is_elsewhere(const struct files *s, int i)
{
    char path[PATH_LEN];
    struct stat st;
    if (strcmp(edits[i].file, "sync/mutex.go") != 0)
        return false;
    snprintf(path, sizeof path, "%s/src/internal/sync/mutex.go", s->o->goroot);
    return stat(path, &st) == 0;
}

bool overlay_write(struct failure *f, const struct overlay_opts *o)
{
    char path[PATH_LEN];
    struct files s = {.o = o, .f = f};
    snprintf(path, sizeof path, "%s/overlay.json", o->dir);
    s.json = fopen(path, "wb");
    if (s.json == NULL) {
        fail(f, E_IO, "%s: cannot write: %s", path, strerror(errno));
        return false;
    }
    fputs("{\"Replace\": {", s.json);
    bool ok = add_all(&s);
    for (int i = 0, next; ok && o->deep && i < EDITS; i = next)
        if (is_elsewhere(&s, i))
            next = i + 1;
        else
            ok = edit_file(&s, i, &next);
    fputs("\n}}\n", s.json);
    if (fclose(s.json) != 0)
        ok = false;
    return ok;
}
