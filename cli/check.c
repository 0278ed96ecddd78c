/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim scenarios check. */
#include "cli/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

/* What a file came to is a record, an object of JSON, whoever ran it: what is printed comes from
 * the records alone, here and after a merge. */
struct check {
    int64_t repeat;
    cJSON *list; /* NULL: text */
    struct progress_run progress;
    size_t file, files;
    int runs, bad, refused, worst; /* bad: runs and refused files */
};

/* One file on one release. */
struct outcome {
    const char *path;
    int release;
    int status;
    bool repeats;
    struct complaints c;
    char verdict[40], text[400];
    uint64_t fingerprint;
    int64_t makespan_ns;
};

static void take_records(void *arg, const struct event_rec *recs, size_t count)
{
    progress_sink(arg, recs, count);
}

static void take_result(struct outcome *o, const struct scenario *s, const struct run_opts *ro,
                        const struct run_result *q)
{
    complaints_of(s, ro, q, &o->c);
    o->status = report_status(q, &o->c);
    o->fingerprint = q->fingerprint;
    o->makespan_ns = (int64_t)(q->now_ps / 1000);
    snprintf(o->verdict, sizeof o->verdict, "%s", run_verdict(q));
    snprintf(o->text, sizeof o->text, "%s", q->text);
}

static void check_release(struct check *c, struct scenario *s, struct outcome *o)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts ro;
    if (!run_opts_of(&f, s, o->release, &ro))
        cli_fail(&f);
    if (c->progress.p.on) {
        ro.sink = take_records;
        ro.arg = &c->progress;
    }
    for (int64_t i = 0; i < c->repeat && o->status == EXIT_CLEAN; i++) {
        uint64_t before = o->fingerprint;
        if (!run_all(&f, &r, &ro))
            cli_fail(&f);
        take_result(o, s, &ro, &r.result);
        if (i > 0 && o->fingerprint != before && o->status == EXIT_CLEAN) {
            o->repeats = false;
            o->status = EXIT_INTERNAL;
        }
        run_free(&r);
    }
}

static cJSON *outcome_json(const struct outcome *o)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddStringToObject(j, "file", o->path);
    cJSON_AddStringToObject(j, "profile", profile_name(o->release));
    cJSON_AddStringToObject(j, "verdict", o->verdict);
    cJSON_AddStringToObject(j, "text", o->text);
    cJSON_AddBoolToObject(j, "as_expected", o->c.count == 0);
    cJSON_AddStringToObject(j, "complaints", o->c.text);
    cJSON_AddBoolToObject(j, "repeats", o->repeats);
    out_hash(j, "fingerprint", o->fingerprint);
    cJSON_AddNumberToObject(j, "makespan_ns", (double)o->makespan_ns);
    cJSON_AddNumberToObject(j, "status", o->status); /* tell takes it away */
    return j;
}

static const char *member(const cJSON *o, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    return text != NULL ? text : "";
}

static int number_of(const cJSON *o, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    return cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 1e6 ? (int)v->valuedouble
                                                                            : 0;
}

static void print_bad(const cJSON *o)
{
    printf("%s: %s: %s%s", text_line(member(o, "file")), text_line(member(o, "profile")),
           text_line(member(o, "verdict")), member(o, "text")[0] != 0 ? ": " : "");
    text_put(stdout, TEXT_LINES, member(o, "text"));
    putchar('\n');
    text_put(stdout, TEXT_LINES, member(o, "complaints"));
    putchar('\n');
}

static void tell(struct check *c, cJSON *o)
{
    int status = number_of(o, "status");
    cJSON_DeleteItemFromObjectCaseSensitive(o, "status");
    if (c->list != NULL)
        cJSON_AddItemToArray(c->list, cJSON_Duplicate(o, true));
    else if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "repeats")))
        printf("%s: %s: does not repeat\n", text_line(member(o, "file")),
               text_line(member(o, "profile")));
    else if (status != EXIT_CLEAN)
        print_bad(o);
}

static void count(struct check *c, int status)
{
    c->bad += status != EXIT_CLEAN;
    c->worst = c->worst > status ? c->worst : status;
}

/* A file's record: its results, or why it was refused. */
static cJSON *check_file(struct check *c, const char *path)
{
    struct failure f = {0};
    struct scenario *s = scenario_load_file(&f, path);
    cJSON *record = cJSON_CreateObject(), *results;
    if (s == NULL) {
        cJSON_AddStringToObject(record, "refused", f.text);
        return record;
    }
    snprintf(c->progress.of, sizeof c->progress.of, "%zu of %zu, %s", c->file, c->files,
             text_cut(s->name, 40));
    results = cJSON_AddArrayToObject(record, "results");
    for (int k = 0; k < s->nprofiles; k++) {
        struct outcome o = {.path = path, .release = s->profiles[k], .repeats = true};
        check_release(c, s, &o);
        cJSON_AddItemToArray(results, outcome_json(&o));
    }
    scenario_free(s);
    return record;
}

static void show_record(struct check *c, cJSON *record)
{
    const cJSON *refused = cJSON_GetObjectItemCaseSensitive(record, "refused");
    cJSON *o, *results = cJSON_GetObjectItemCaseSensitive(record, "results");
    if (refused != NULL) {
        progress_end(&c->progress.p);
        text_put(c->list != NULL ? stderr : stdout, TEXT_LINES, member(record, "refused"));
        fputc('\n', c->list != NULL ? stderr : stdout);
        count(c, EXIT_USAGE);
        c->refused++;
    }
    cJSON_ArrayForEach (o, results) {
        int status = number_of(o, "status");
        if (status != EXIT_CLEAN)
            progress_end(&c->progress.p);
        tell(c, o);
        count(c, status);
        c->runs++;
    }
}

static int finish(struct check *c, cJSON *o)
{
    progress_end(&c->progress.p);
    if (o != NULL) {
        cJSON_AddNumberToObject(o, "scenarios", (double)c->files);
        cJSON_AddNumberToObject(o, "runs", c->runs);
        cJSON_AddNumberToObject(o, "bad", c->bad);
        out_json(o);
    } else {
        printf("%zu scenarios, %d of %d runs not as expected", c->files, c->bad - c->refused,
               c->runs);
        if (c->refused > 0)
            printf(", %d files refused", c->refused);
        putchar('\n');
    }
    return c->worst;
}

/* ---- parts ---- */

enum { RECORD_BYTES = 64 << 20, FILES_MAX = 1000000 };

/* FNV-1a over what is checked: names and contents. */
static void mix(uint64_t *hash, const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
}

static uint64_t hash_of(char *const *paths, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char buf[1 << 14];
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(paths[i], '/');
        FILE *from = fopen(paths[i], "rb");
        mix(&hash, slash != NULL ? slash + 1 : paths[i],
            strlen(slash != NULL ? slash + 1 : paths[i]) + 1);
        for (size_t n; from != NULL && (n = fread(buf, 1, sizeof buf, from)) > 0;)
            mix(&hash, buf, n);
        if (from != NULL)
            fclose(from);
    }
    return hash;
}

static void head_of(char *const *paths, size_t files, int64_t repeat, char *buf, size_t size)
{
    snprintf(buf, size,
             "{\"gmpsim\":\"" CHECKED_WHAT "\",\"version\":\"" GMPSIM_VERSION
             "\",\"hash\":\"%016" PRIx64 "\",\"files\":%zu,\"repeat\":%" PRId64 "}\n",
             hash_of(paths, files), files, repeat);
}

struct records {
    cJSON **of; /* by file, NULL: not there */
    size_t files;
};

/* Whole lines; of a process that was killed the last may be half a line. Gives the length of what
 * is good, -1: the file begins with something else than `head`. */
static long read_records(struct records *r, FILE *from, const char *path, const char *head)
{
    char *line = NULL;
    size_t room = 0;
    long good = 0;
    ssize_t n = getline(&line, &room, from);
    if (n > 0 && strcmp(line, head) != 0)
        good = -1;
    while (good >= 0 && n > 0 && line[n - 1] == '\n' && n < RECORD_BYTES) {
        good += n;
        if ((n = getline(&line, &room, from)) <= 0 || line[n - 1] != '\n')
            break;
        cJSON *o = cJSON_ParseWithLength(line, (size_t)n);
        const cJSON *at = cJSON_GetObjectItemCaseSensitive(o, "at");
        if (!cJSON_IsNumber(at) || !(at->valuedouble >= 0) || !(at->valuedouble < (double)r->files))
            cli_die(EXIT_USAGE, "%s: not a line of such a journal", text_line(path));
        cJSON **to = &r->of[(size_t)at->valuedouble];
        cJSON_Delete(*to);
        *to = o;
    }
    free(line);
    return good;
}

static void put_record(FILE *to, const char *path, cJSON *record, size_t at)
{
    cJSON_AddNumberToObject(record, "at", (double)at);
    char *text = cJSON_PrintUnformatted(record);
    if (text == NULL)
        cli_die(EXIT_USAGE, "the system has no more memory");
    text_put(to, TEXT_JSON_WHOLE, text);
    fputc('\n', to);
    cJSON_free(text);
    if (fflush(to) != 0)
        cli_die(EXIT_USAGE, "%s: %s", text_line(path), strerror(errno));
}

static FILE *open_journal(struct records *r, const char *path, const char *head)
{
    FILE *to = fopen(path, "a+");
    if (to == NULL)
        cli_die(EXIT_USAGE, "--journal: %s: %s", text_line(path), strerror(errno));
    rewind(to);
    long good = read_records(r, to, path, head);
    if (good < 0)
        cli_die(EXIT_USAGE, "--journal: %s is of other scenarios", text_line(path));
    if (ftruncate(fileno(to), good) != 0)
        cli_die(EXIT_USAGE, "--journal: %s: %s", text_line(path), strerror(errno));
    fseek(to, 0, SEEK_END);
    if (good == 0)
        fputs(head, to);
    return to;
}

static void records_release(struct records *r)
{
    for (size_t i = 0; i < r->files; i++)
        cJSON_Delete(r->of[i]);
    free(r->of);
}

int scenarios_check_part(char *const *paths, size_t files, int64_t repeat,
                         const struct shard *shard, const char *journal)
{
    char head[400];
    struct check c = {.repeat = repeat, .files = files};
    struct records r = {x_alloc((files + 1) * sizeof *r.of), files};
    size_t done = 0;
    head_of(paths, files, repeat, head, sizeof head);
    FILE *to = open_journal(&r, journal, head);
    progress_begin(&c.progress.p, GMPSIM_NAME " check");
    for (size_t i = 0; i < files; i++) {
        c.file = i + 1;
        if (r.of[i] != NULL || !shard_has(shard, (int64_t)i))
            continue;
        cJSON *record = check_file(&c, paths[i]);
        put_record(to, journal, record, i);
        cJSON_Delete(record);
        done++;
    }
    progress_end(&c.progress.p);
    if (fclose(to) != 0)
        cli_die(EXIT_USAGE, "%s: %s", text_line(journal), strerror(errno));
    records_release(&r);
    printf("%zu scenarios into %s; gmpsim merge puts the parts together\n", done,
           text_line(journal));
    return EXIT_CLEAN;
}

/* The first line of the first journal, which says what all of them are of. */
static char *first_line(const char *path, size_t *files)
{
    char *line = NULL;
    size_t room = 0;
    FILE *from = fopen(path, "r");
    if (from == NULL || getline(&line, &room, from) <= 0)
        cli_die(EXIT_USAGE, "%s: %s", text_line(path),
                from == NULL ? strerror(errno) : "the file is empty");
    fclose(from);
    cJSON *o = cJSON_Parse(line);
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, "files");
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) || !(v->valuedouble <= FILES_MAX))
        cli_die(EXIT_USAGE, "%s: no journal of gmpsim scenarios check", text_line(path));
    *files = (size_t)v->valuedouble;
    cJSON_Delete(o);
    return line;
}

int scenarios_check_merge(char *const *paths, int count_, bool json)
{
    struct check c = {0};
    struct records r = {0};
    cJSON *o = json ? cJSON_CreateObject() : NULL;
    char *head = first_line(paths[0], &c.files);
    r = (struct records){x_alloc((c.files + 1) * sizeof *r.of), c.files};
    for (int i = 0; i < count_; i++) {
        FILE *from = fopen(paths[i], "r");
        if (from == NULL)
            cli_die(EXIT_USAGE, "%s: %s", text_line(paths[i]), strerror(errno));
        if (read_records(&r, from, paths[i], head) < 0)
            cli_die(EXIT_USAGE, "%s: is of other scenarios than %s", text_line(paths[i]),
                    text_line(paths[0]));
        fclose(from);
    }
    if (json)
        c.list = cJSON_AddArrayToObject(o, "results");
    for (size_t i = 0; i < c.files; i++)
        if (r.of[i] == NULL)
            cli_die(EXIT_USAGE,
                    "merge: scenario %zu of %zu is missing; is a part not there, or not ready?",
                    i + 1, c.files);
    for (size_t i = 0; i < c.files; i++)
        show_record(&c, r.of[i]);
    records_release(&r);
    free(head);
    return finish(&c, o);
}

/* ---- all ---- */

int scenarios_check(char *const *paths, size_t files, int64_t repeat, bool json)
{
    struct check c = {.repeat = repeat, .files = files};
    cJSON *o = json ? cJSON_CreateObject() : NULL;
    if (json)
        c.list = cJSON_AddArrayToObject(o, "results");
    progress_begin(&c.progress.p, GMPSIM_NAME " check");
    while (c.file < files) {
        c.file++;
        cJSON *record = check_file(&c, paths[c.file - 1]);
        show_record(&c, record);
        cJSON_Delete(record);
    }
    return finish(&c, o);
}
