/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim report. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/recorded.h"
#include "plots/page.h"
#include "sim/base/text.h"

/* A report that is half there is none: it gets its name when it is whole. */
static int64_t write_file(const struct page_args *a, const char *path)
{
    char part[4096], text[PLOT_TEXT_MAX] = "";
    struct stat st = {0};
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* a device would be gone */
        cli_die(EXIT_USAGE, "%s: is not a file", path);
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
    cJSON_AddItemToObject(o, "runs", recorded_runs_json(a->runs, a->nruns));
    out_json(o);
}

int command_report(const struct command *v, int argc, char **argv)
{
    struct page_args a = {0};
    struct opt_list runs = {0};
    const char *out = "report.html";
    bool json = false;
    struct recorded from;
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
    a.db = recorded_open(&from, argv[first], &runs, a.runs, &a.nruns, PLOT_RUNS_MAX);
    recorded_read(&from, GMPSIM_NAME " report");
    int64_t size = write_file(&a, out);
    recorded_close(&from);
    if (json)
        print_json(&a, out, size);
    else
        puts(out);
    return EXIT_CLEAN;
}
