/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim report. */
#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/progress.h"
#include "plots/page.h"
#include "sim/base/text.h"
#include "store/store.h"

enum { STEPS_BETWEEN_LOOKS = 100000 }; /* of SQLite's virtual machine */

static int still_reading(void *arg)
{
    struct progress *p = arg;
    if (progress_due(p))
        progress_draw(p, 0, 0, "reading, %.0f s", progress_seconds(p));
    return 0;
}

/* Those that were named, else the latest. */
static void find_runs(struct page_args *a, struct store *s, const struct opt_list *wanted)
{
    struct failure f = {0};
    if (wanted->count > PLOT_RUNS_MAX)
        cli_die(EXIT_USAGE, "--run: more than %d", PLOT_RUNS_MAX);
    for (int i = 0; i < wanted->count || i == 0; i++) {
        int64_t id = 0;
        if (wanted->count > 0 && (!parse_int(wanted->items[i], &id) || id == 0))
            cli_die(EXIT_USAGE, "--run: want a run's number, got '%s'", wanted->items[i]);
        if ((a->runs[a->nruns++] = store_run_id(s, &f, id)) == 0)
            cli_fail(&f);
    }
}

/* A report that is half there is none: it gets its name when it is whole. */
static int64_t write_file(const struct page_args *a, const char *path)
{
    char part[4096], text[PLOT_TEXT_MAX] = "";
    struct stat st = {0};
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        cli_die(EXIT_USAGE, "%s: the name is too long", path);
    FILE *to = fopen(part, "w");
    if (to == NULL)
        cli_die(EXIT_USAGE, "%s: %s", part, strerror(errno));
    bool ok = page_write(a, to, text);
    if (ok && (fflush(to) != 0 || ferror(to) || fstat(fileno(to), &st) != 0))
        snprintf(text, sizeof text, "%s: cannot be written: %s", text_line(path), strerror(errno));
    fclose(to);
    if (text[0] == 0 && rename(part, path) != 0)
        snprintf(text, sizeof text, "%s: %s", text_line(path), strerror(errno));
    if (text[0] == 0)
        return st.st_size;
    unlink(part);
    cli_die(EXIT_USAGE, "%s", text);
}

static void print_json(const struct page_args *a, const char *out, int64_t size)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "file", out);
    cJSON_AddNumberToObject(o, "bytes", (double)size);
    cJSON *runs = cJSON_AddArrayToObject(o, "runs");
    for (int i = 0; i < a->nruns; i++)
        cJSON_AddItemToArray(runs, cJSON_CreateNumber((double)a->runs[i]));
    out_json(o);
}

int verb_report(const struct verb *v, int argc, char **argv)
{
    struct page_args a = {0};
    struct opt_list runs = {0};
    const char *out = "report.html";
    bool json = false;
    struct progress reading;
    struct failure f = {0};
    const struct opt table[] = {
        {"run", "N", "the run's number (default: the latest); repeatable, side by side",
         OPT_REPEATED, &runs},
        {"out", "FILE", "page to write (default report.html)", OPT_TEXT, &out},
        {"from", "TIME", "of a long run: where the part begins that is kept whole", OPT_TIME,
         &a.from_ns},
        {"to", "TIME", "... and ends", OPT_TIME, &a.to_ns},
        {"stretches", "N", "how many stretches of goroutines at the most (default 100000)",
         OPT_COUNT, &a.stretches_max},
        {"json", NULL, "what was written, as JSON", OPT_FLAG, &json},
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    struct store *s = store_open(&f, argv[first], STORE_READ);
    if (s == NULL)
        cli_fail(&f);
    find_runs(&a, s, &runs);
    a.db = store_db(s);
    progress_begin(&reading, GMPSIM_NAME " report");
    sqlite3_progress_handler(a.db, STEPS_BETWEEN_LOOKS, still_reading, &reading);
    int64_t size = write_file(&a, out);
    progress_end(&reading);
    store_close(s);
    if (json)
        print_json(&a, out, size);
    else
        puts(out);
    return EXIT_CLEAN;
}
