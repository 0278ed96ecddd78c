/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/trace_run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/db.h"
#include "cli/explain.h"
#include "cli/retrace.h"
#include "cli/sampler.h"
#include "cli/trace.h"
#include "sim/base/text.h"

struct trace *trace_file_open(struct failure *f, void *arg)
{
    const struct trace_file *file = arg;
    return trace_open(f, file->path, &(struct trace_opts){.strict = file->strict});
}

/* ---- into a store ---- */

struct storing {
    struct account *account;
    struct store *db;
    struct sampler sampler;
};

static uint64_t take_sample(void *arg, uint64_t time)
{
    struct storing *s = arg;
    sample_known(&s->sampler, time, tracks_threads(s->account->tracks));
    return sampler_next(&s->sampler);
}

static void write_some(void *arg) { store_write_some(((struct storing *)arg)->db); }

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

static int64_t begin(struct storing *s, const char *path)
{
    struct failure f = {0};
    struct account *a = s->account;
    char release[24], repeat[4096], word[4000];
    snprintf(release, sizeof release, "go1.%d", tracks_version(a->tracks));
    snprintf(repeat, sizeof repeat, GMPSIM_NAME " trace info %s",
             text_in(word, sizeof word, TEXT_SHELL, path));
    struct store_run info = {.scenario = name_of(path),
                             .file = path,
                             .profile = release,
                             .rules = "",
                             .repeat = repeat,
                             .version = GMPSIM_VERSION,
                             .host = "recorded"};
    int64_t run = store_begin(s->db, &f, &info);
    if (run == 0 || !store_listen(s->db, &f, &a->transitions, a->extra_at))
        cli_fail(&f);
    sampler_init(&s->sampler, s->db, &a->analysis);
    return run;
}

static void finish(struct storing *s)
{
    struct failure f = {0};
    const struct run_result *q = &s->account->result;
    if (sampler_wants_last(&s->sampler, q->now_ps))
        sample_known(&s->sampler, q->now_ps, q->threads);
    if (!store_finish(s->db, &f, q, ""))
        cli_fail(&f);
}

int64_t trace_account(struct account *a, const struct trace_file *file, struct store *db)
{
    struct failure f = {0};
    struct trace_file opening = *file;
    struct storing s = {.account = a, .db = db};
    int64_t run = 0;
    if (strcmp(file->path, "-") == 0)
        cli_die(EXIT_USAGE, "the trace is read more than once: want a file, not standard input");
    if (!account_open(&f, a, trace_file_open, &opening, db != NULL ? store_extra() : 0))
        cli_fail(&f);
    if (db != NULL)
        run = begin(&s, file->path);
    struct tracks_pause pause = {
        .arg = &s, .at = take_sample, .first = s.sampler.interval_ps, .often = write_some};
    bool whole = account_read(a, db != NULL ? &pause : NULL, &f);
    if (!whole)
        store_close(db);
    trace_done_or_die(file->path, whole, &f);
    if (db != NULL)
        finish(&s);
    return run;
}

/* ---- in words ---- */

struct told {
    struct trace_file file;
    struct tracks *tracks; /* for the names */
};

static struct tracks *open_tracks(struct trace_file *file)
{
    struct failure f = {0};
    if (strcmp(file->path, "-") == 0)
        cli_die(EXIT_USAGE, "the trace is read more than once: want a file, not standard input");
    struct tracks *k = tracks_open(&f, trace_file_open, file);
    if (k == NULL)
        cli_fail(&f);
    return k;
}

static void tell(void *arg, void (*listen)(void *to, struct transitions *t), void *to)
{
    struct told *told = arg;
    struct failure f = {0};
    struct transitions t;
    struct tracks *k = open_tracks(&told->file);
    transitions_init(&t, tracks_names(k), 0);
    listen(to, &t);
    trace_done_or_die(told->file.path, tracks_put(k, &t, NULL, &f), &f);
    transitions_release(&t);
    tracks_close(k);
}

static uint32_t number(void *arg, uint64_t goid)
{
    return tracks_number(((struct told *)arg)->tracks, goid);
}

void trace_explain(const struct trace_file *file, const char *what)
{
    struct told told = {.file = *file};
    told.tracks = open_tracks(&told.file);
    explain_check(tracks_names(told.tracks), what);
    explain_of(
        &(struct explain_source){
            .arg = &told, .names = tracks_names(told.tracks), .tell = tell, .number = number},
        what);
    tracks_close(told.tracks);
}

/* ---- a store for a moment ---- */

enum { PATH_ROOM = 4096 };
static char folder[PATH_ROOM], file_in_it[PATH_ROOM + 16];

static void remove_store(void)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[sizeof file_in_it + 8];
        snprintf(path, sizeof path, "%s%s", file_in_it, endings[i]);
        unlink(path);
    }
    rmdir(folder);
}

const char *store_of(const char *path)
{
    static struct account a;
    const char *tmp = getenv("TMPDIR");
    if (!is_trace(path))
        return path;
    snprintf(folder, sizeof folder, "%s/gmpsim-XXXXXX", tmp != NULL && *tmp != 0 ? tmp : "/tmp");
    if (mkdtemp(folder) == NULL)
        cli_die(EXIT_USAGE, "%s: cannot be made: TMPDIR names another folder", folder);
    snprintf(file_in_it, sizeof file_in_it, "%s/trace.db", folder);
    atexit(remove_store);
    struct store *db = db_to_write(file_in_it, 0);
    struct trace_file file = {.path = path};
    trace_account(&a, &file, db);
    account_close(&a);
    store_close(db);
    return file_in_it;
}
