/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim scenarios check. */
#include "cli/check.h"

#include <inttypes.h>

#include "cli/out.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "sim/base/text.h"

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
    char fingerprint[20];
    cJSON *j = cJSON_CreateObject();
    snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, o->fingerprint);
    cJSON_AddStringToObject(j, "file", o->path);
    cJSON_AddStringToObject(j, "profile", profile_name(o->release));
    cJSON_AddStringToObject(j, "verdict", o->verdict);
    cJSON_AddStringToObject(j, "text", o->text);
    cJSON_AddBoolToObject(j, "as_expected", o->c.count == 0);
    cJSON_AddStringToObject(j, "complaints", o->c.text);
    cJSON_AddBoolToObject(j, "repeats", o->repeats);
    cJSON_AddStringToObject(j, "fingerprint", fingerprint);
    cJSON_AddNumberToObject(j, "makespan_ns", (double)o->makespan_ns);
    return j;
}

static void print_bad(const struct outcome *o)
{
    printf("%s: %s: %s%s", text_line(o->path), profile_name(o->release), o->verdict,
           o->text[0] != 0 ? ": " : "");
    text_put(stdout, TEXT_LINES, o->text);
    putchar('\n');
    text_put(stdout, TEXT_LINES, o->c.text);
    putchar('\n');
}

static void tell(struct check *c, const struct outcome *o)
{
    if (c->list != NULL)
        cJSON_AddItemToArray(c->list, outcome_json(o));
    else if (!o->repeats)
        printf("%s: %s: does not repeat\n", text_line(o->path), profile_name(o->release));
    else if (o->status != EXIT_CLEAN)
        print_bad(o);
}

static void count(struct check *c, int status)
{
    c->bad += status != EXIT_CLEAN;
    c->worst = c->worst > status ? c->worst : status;
}

static void check_file(struct check *c, const char *path)
{
    struct failure f = {0};
    struct scenario *s = scenario_load_file(&f, path);
    if (s == NULL) {
        progress_end(&c->progress.p);
        text_put(c->list != NULL ? stderr : stdout, TEXT_LINES, f.text);
        fputc('\n', c->list != NULL ? stderr : stdout);
        count(c, EXIT_USAGE);
        c->refused++;
        return;
    }
    snprintf(c->progress.of, sizeof c->progress.of, "%zu of %zu, %s", c->file, c->files,
             text_cut(s->name, 40));
    for (int k = 0; k < s->nprofiles; k++, c->runs++) {
        struct outcome o = {.path = path, .release = s->profiles[k], .repeats = true};
        check_release(c, s, &o);
        if (o.status != EXIT_CLEAN)
            progress_end(&c->progress.p);
        tell(c, &o);
        count(c, o.status);
    }
    scenario_free(s);
}

int scenarios_check(char *const *paths, size_t files, int64_t repeat, bool json)
{
    struct check c = {.repeat = repeat, .files = files};
    cJSON *o = json ? cJSON_CreateObject() : NULL;
    if (json)
        c.list = cJSON_AddArrayToObject(o, "results");
    progress_begin(&c.progress.p, GMPSIM_NAME " check");
    while (c.file < files) {
        c.file++;
        check_file(&c, paths[c.file - 1]);
    }
    progress_end(&c.progress.p);
    if (json) {
        cJSON_AddNumberToObject(o, "scenarios", (double)files);
        cJSON_AddNumberToObject(o, "runs", c.runs);
        cJSON_AddNumberToObject(o, "bad", c.bad);
        out_json(o);
    } else {
        printf("%zu scenarios, %d of %d runs not as expected", files, c.bad - c.refused, c.runs);
        if (c.refused > 0)
            printf(", %d files refused", c.refused);
        putchar('\n');
    }
    return c.worst;
}
