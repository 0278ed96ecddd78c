/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explore_seeds.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/finding.h"
#include "cli/jobs.h"
#include "cli/out.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { SEEDS_MAX = 100000, LINE_BYTES = 400 };

/* ---- which ---- */

static bool number(const char *text, char **end, uint64_t *v)
{
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    errno = 0;
    *v = strtoull(text, end, hex ? 16 : 10);
    return *end != text && errno == 0 && text[0] != '-' && text[0] != ' ';
}

void seeds_parse(const char *text, uint64_t *first, uint64_t *count)
{
    char *end, *end2;
    uint64_t a, b;
    *count = 1;
    *first = seed_of_text(text);
    if (!number(text, &end, &a) || *end != '-' || !number(end + 1, &end2, &b) || *end2 != 0)
        return;
    if (b < a || b - a >= SEEDS_MAX)
        cli_die(EXIT_USAGE, "--seeds: want a range FIRST-LAST of up to %d, got '%s'", SEEDS_MAX,
                text);
    *first = a;
    *count = b - a + 1;
}

/* ---- the journal ---- */

struct run_of_seeds {
    struct seeds *s;
    struct seed_result *results;
    bool *known;
    uint64_t next, first_found; /* count: none yet */
    uint64_t done;
    FILE *journal;
};

static void take(struct run_of_seeds *r, uint64_t i, const struct seed_result *x)
{
    r->results[i] = *x;
    r->known[i] = true;
    r->done++;
    if (x->found && i < r->first_found)
        r->first_found = i;
}

static uint64_t count_of(const cJSON *o, const char *name, bool *ok)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, name);
    *ok &= cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 9e15;
    return *ok ? (uint64_t)v->valuedouble : 0;
}

static bool read_line(struct run_of_seeds *r, const char *line)
{
    bool ok = true;
    cJSON *o = cJSON_Parse(line);
    uint64_t i = count_of(o, "index", &ok);
    struct seed_result x = {.whole = true};
    x.runs = count_of(o, "runs", &ok);
    x.steps = count_of(o, "points", &ok);
    x.cut = count_of(o, "cut", &ok);
    x.exhausted = (int64_t)count_of(o, "exhausted", &ok);
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(o, "found");
    ok &= cJSON_IsBool(found);
    x.found = cJSON_IsTrue(found);
    cJSON_Delete(o);
    if (!ok || i >= r->s->count || r->known[i])
        return false;
    take(r, i, &x);
    return true;
}

static void head_of(const struct seeds *s, char *buf, size_t size)
{
    snprintf(buf, size,
             "{\"gmpsim\":\"" SEEDS_WHAT "\",\"search\":\"%016" PRIx64 "\",\"first\":\"%" PRIu64
             "\",\"count\":%" PRIu64 "}\n",
             s->hash, s->first, s->count);
}

/* Whole lines; the last may be half a line of a process that was killed: it is written again.
 * Gives the length of what is good. */
static long read_journal(struct run_of_seeds *r, FILE *f, const char *path)
{
    char line[LINE_BYTES], head[LINE_BYTES];
    long good = 0;
    head_of(r->s, head, sizeof head);
    for (unsigned n = 1; fgets(line, sizeof line, f) != NULL; n++) {
        if (line[strlen(line) - 1] != '\n' && feof(f))
            return good;
        if (n == 1 && strcmp(line, head) != 0)
            cli_die(EXIT_USAGE, "--journal: %s is of another search", text_line(path));
        if (n > 1 && !read_line(r, line))
            cli_die(EXIT_USAGE, "--journal: %s:%u: not a line of such a journal", text_line(path),
                    n);
        good = ftell(f);
    }
    return good;
}

static void open_journal(struct run_of_seeds *r)
{
    const char *path = r->s->journal;
    char head[LINE_BYTES];
    if (path == NULL)
        return;
    r->journal = fopen(path, "a+");
    if (r->journal == NULL)
        cli_die(EXIT_USAGE, "--journal: %s: %s", text_line(path), strerror(errno));
    rewind(r->journal);
    long good = read_journal(r, r->journal, path);
    if (ftruncate(fileno(r->journal), good) != 0)
        cli_die(EXIT_USAGE, "--journal: %s: %s", text_line(path), strerror(errno));
    fseek(r->journal, 0, SEEK_END);
    head_of(r->s, head, sizeof head);
    if (good == 0)
        fputs(head, r->journal);
    if (fflush(r->journal) != 0)
        cli_die(EXIT_USAGE, "--journal: %s: %s", text_line(path), strerror(errno));
}

static void write_line(struct run_of_seeds *r, uint64_t i, const struct seed_result *x)
{
    if (r->journal == NULL || !x->whole)
        return;
    fprintf(r->journal,
            "{\"index\":%" PRIu64 ",\"runs\":%" PRIu64 ",\"points\":%" PRIu64 ",\"cut\":%" PRIu64
            ",\"exhausted\":%" PRId64 ",\"found\":%s}\n",
            i, x->runs, x->steps, x->cut, x->exhausted, x->found ? "true" : "false");
    if (fflush(r->journal) != 0)
        cli_die(EXIT_USAGE, "--journal: %s: %s", text_line(r->s->journal), strerror(errno));
}

/* ---- the processes ---- */

static int64_t next_seed(void *arg)
{
    struct run_of_seeds *r = arg;
    while (r->next < r->s->count &&
           (r->known[r->next] || !shard_has(&r->s->shard, (int64_t)r->next)))
        r->next++;
    if (r->next >= r->s->count || r->next >= r->first_found)
        return JOBS_NONE;
    return (int64_t)r->next++;
}

static bool search_task(void *arg, int64_t task, void *result)
{
    struct run_of_seeds *r = arg;
    r->s->search(r->s->arg, r->s->first + (uint64_t)task, result);
    return true;
}

static void task_done(void *arg, int64_t task, const void *result)
{
    struct run_of_seeds *r = arg;
    take(r, (uint64_t)task, result);
    write_line(r, (uint64_t)task, result);
}

static void how_far(void *arg, int64_t *done, int64_t *total)
{
    const struct run_of_seeds *r = arg;
    *done = (int64_t)r->done;
    *total = (int64_t)r->s->count;
}

static void add_up(const struct run_of_seeds *r, struct seed_result *sum)
{
    *sum = (struct seed_result){.whole = true};
    for (uint64_t i = 0; i < r->first_found; i++) {
        if (!shard_has(&r->s->shard, (int64_t)i))
            continue;
        sum->runs += r->results[i].runs;
        sum->steps += r->results[i].steps;
        sum->cut += r->results[i].cut;
        sum->exhausted += r->results[i].exhausted;
        sum->whole &= r->results[i].whole;
    }
}

uint64_t seeds_search(struct seeds *s, struct seed_result *sum)
{
    struct run_of_seeds r = {.s = s,
                             .results = x_alloc(s->count * sizeof *r.results),
                             .known = x_alloc(s->count * sizeof *r.known),
                             .first_found = s->count};
    memset(r.known, 0, s->count * sizeof *r.known);
    open_journal(&r);
    struct jobs j = {.at_once = (int)s->jobs,
                     .size = sizeof(struct seed_result),
                     .what = GMPSIM_NAME " explore",
                     .arg = &r,
                     .next = next_seed,
                     .task = search_task,
                     .done = task_done,
                     .far = how_far};
    int status = jobs_run(&j);
    if (status != EXIT_CLEAN)
        exit(status);
    if (r.journal != NULL)
        fclose(r.journal);
    add_up(&r, sum);
    free(r.results);
    free(r.known);
    return r.first_found;
}

/* ---- parts ---- */

static uint64_t text_u64(const cJSON *o, const char *name, int base, bool *ok)
{
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, name));
    char *end = NULL;
    errno = 0;
    uint64_t v = s != NULL && *s != '-' && *s != 0 ? strtoull(s, &end, base) : 0;
    *ok &= end != NULL && *end == 0 && errno == 0;
    return v;
}

static void read_head(struct seeds *s, const char *path)
{
    char line[LINE_BYTES] = "";
    bool ok = true;
    FILE *from = fopen(path, "r");
    if (from == NULL)
        cli_die(EXIT_USAGE, "%s: %s", text_line(path), strerror(errno));
    if (fgets(line, sizeof line, from) == NULL)
        ok = false;
    fclose(from);
    cJSON *o = cJSON_Parse(line);
    s->hash = text_u64(o, "search", 16, &ok);
    s->first = text_u64(o, "first", 10, &ok);
    s->count = count_of(o, "count", &ok);
    cJSON_Delete(o);
    if (!ok || s->count == 0 || s->count > SEEDS_MAX)
        cli_die(EXIT_USAGE, "%s: no journal of gmpsim explore", text_line(path));
}

static void write_into(struct run_of_seeds *r, const char *into)
{
    char head[LINE_BYTES];
    r->journal = fopen(into, "w");
    if (r->journal == NULL)
        cli_die(EXIT_USAGE, "--into: %s: %s", text_line(into), strerror(errno));
    head_of(r->s, head, sizeof head);
    fputs(head, r->journal);
    r->s->journal = into;
    for (uint64_t i = 0; i < r->s->count; i++)
        if (r->known[i])
            write_line(r, i, &r->results[i]);
    if (fclose(r->journal) != 0)
        cli_die(EXIT_USAGE, "--into: %s: %s", text_line(into), strerror(errno));
}

static void tell(const struct run_of_seeds *r, const struct seed_result *sum, bool json)
{
    bool found = r->first_found < r->s->count;
    if (json) {
        cJSON *o = cJSON_CreateObject();
        cJSON_AddBoolToObject(o, "found", found);
        if (found)
            out_u64(o, "seed", r->s->first + r->first_found);
        cJSON_AddNumberToObject(o, "seeds", (double)r->s->count);
        cJSON_AddNumberToObject(o, "runs", (double)sum->runs);
        out_json(o);
        return;
    }
    if (found)
        printf("a finding with seed %" PRIu64 ", after %" PRIu64
               " schedules of the seeds before it; gmpsim explore FILE --seeds %" PRIu64
               " has it again\n",
               r->s->first + r->first_found, sum->runs, r->s->first + r->first_found);
    else
        printf("nothing found in %" PRIu64 " schedules of %" PRIu64 " seeds from %" PRIu64 "\n",
               sum->runs, r->s->count, r->s->first);
}

int seeds_merge(char *const *paths, int count, const char *into, bool json)
{
    struct seeds s = {0};
    struct seed_result sum;
    read_head(&s, paths[0]);
    struct run_of_seeds r = {.s = &s,
                             .results = x_alloc(s.count * sizeof *r.results),
                             .known = x_alloc(s.count * sizeof *r.known),
                             .first_found = s.count};
    for (int i = 0; i < count; i++) {
        FILE *from = fopen(paths[i], "r");
        if (from == NULL)
            cli_die(EXIT_USAGE, "%s: %s", text_line(paths[i]), strerror(errno));
        (void)read_journal(&r, from, paths[i]);
        fclose(from);
    }
    for (uint64_t i = 0; i < r.first_found; i++)
        if (!r.known[i])
            cli_die(EXIT_USAGE,
                    "merge: seed %" PRIu64 " is missing; is a part not there, or not ready?",
                    s.first + i);
    add_up(&r, &sum);
    if (into != NULL)
        write_into(&r, into);
    tell(&r, &sum, json);
    bool found = r.first_found < s.count;
    free(r.results);
    free(r.known);
    return found ? EXIT_FINDING : EXIT_CLEAN;
}
