/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "search/corpus.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { SCHEDULES_MAX = 10000 };

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_schedule(const char *name)
{
    static const char end[] = ".schedule";
    size_t n = strlen(name);
    return n > sizeof end - 1 && strcmp(name + n - (sizeof end - 1), end) == 0;
}

static char *path_in(const char *dir, const char *name)
{
    size_t size = strlen(dir) + strlen(name) + 2;
    char *path = x_alloc(size);
    snprintf(path, size, "%s/%s", dir, name);
    return path;
}

bool corpus_open(struct failure *f, struct corpus *c, const char *dir)
{
    *c = (struct corpus){0};
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        fail(f, E_IO, "%s: %s", dir, strerror(errno));
        return false;
    }
    DIR *d = opendir(dir);
    if (d == NULL) {
        fail(f, E_IO, "%s: %s", dir, strerror(errno));
        return false;
    }
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (!is_schedule(e->d_name))
            continue;
        if (c->count == SCHEDULES_MAX) {
            closedir(d);
            corpus_close(c);
            fail(f, E_LIMIT, "%s: more than %d schedules", dir, SCHEDULES_MAX);
            return false;
        }
        c->paths = x_grow(c->paths, (c->count + 1) * sizeof *c->paths);
        c->paths[c->count++] = path_in(dir, e->d_name);
    }
    closedir(d);
    if (c->count > 0)
        qsort(c->paths, c->count, sizeof *c->paths, by_name);
    return true;
}

void corpus_close(struct corpus *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->paths[i]);
    free(c->paths);
    *c = (struct corpus){0};
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The schedule was made with the very program. */
static bool is_of(const struct schedule *in, const struct scenario *s)
{
    char hash[24];
    const char *program = schedule_get(in, "program");
    snprintf(hash, sizeof hash, "%016" PRIx64, program_hash(&s->program));
    return program != NULL && strcmp(program, hash) == 0;
}

/* ... or names a file of that name. */
static bool is_about(const struct schedule *in, const struct scenario *s, const char *file)
{
    const char *named = schedule_scenario(in);
    return is_of(in, s) || (named != NULL && strcmp(last_part(named), last_part(file)) == 0);
}

/* Loaded, or c says why not. */
static bool load(struct corpus *c, const char *path, struct schedule *in)
{
    schedule_init(in);
    if (schedule_load(in, &c->why, path) >= 0)
        return true;
    c->broken++;
    schedule_release(in);
    return false;
}

static bool try_one(struct corpus *c, const struct schedule *in, const struct scenario *s,
                    struct finding *x)
{
    struct finding known;
    bool found = false;
    if (!finding_load(&c->why, in, s, /*anyway*/ true, &known)) {
        c->broken++;
        return false;
    }
    c->tried++;
    if (!finding_try(&c->why, &known, !is_of(in, s), x, &found))
        c->broken++;
    finding_release(&known);
    return found;
}

long corpus_replay(struct corpus *c, const struct scenario *s, const char *file, struct finding *x)
{
    static struct schedule in;
    for (size_t i = 0; i < c->count; i++) {
        bool found = false;
        if (!load(c, c->paths[i], &in))
            continue;
        if (is_about(&in, s, file))
            found = try_one(c, &in, s, x);
        else
            c->foreign++;
        schedule_release(&in);
        if (found)
            return (long)i;
    }
    return -1;
}

/* ---- adding ---- */

static bool same_value(const struct schedule *a, const struct schedule *b, const char *key)
{
    const char *x = schedule_get(a, key), *y = schedule_get(b, key);
    return x != NULL && y != NULL && strcmp(x, y) == 0;
}

static bool is_known(struct corpus *c, const struct schedule *s)
{
    static struct schedule old;
    bool known = false;
    for (size_t i = 0; i < c->count && !known; i++) {
        if (!load(c, c->paths[i], &old))
            continue;
        known = same_value(s, &old, "program") && same_value(s, &old, "rules") &&
                same_value(s, &old, "verdict") && same_value(s, &old, "says");
        schedule_release(&old);
    }
    return known;
}

bool corpus_add(struct failure *f, struct corpus *c, const char *dir, const char *file,
                const struct finding *x, char *path, size_t size)
{
    static struct schedule s;
    char name[300], plain[260];
    bool ok = true;
    path[0] = 0;
    schedule_init(&s);
    if (finding_save(f, x, file, &s) < 0)
        ok = false;
    if (ok && !is_known(c, &s)) {
        snprintf(name, sizeof name, "%.80s-%.30s-%016" PRIx64, x->world.scenario->name,
                 x->verdict.what, x->fingerprint);
        snprintf(path, size, "%s/%s.schedule", dir, text_in(plain, sizeof plain, TEXT_FILE, name));
        ok = schedule_save(&s, f, path) >= 0;
    }
    schedule_release(&s);
    return ok;
}
