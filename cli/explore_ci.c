/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explore_ci.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { PAGE_ROWS = 200, SUMMARY_ROWS = 60, ANNOTATIONS_MAX = 9 };

static char *page_of(const struct ci_result *r, size_t rows)
{
    char *text = NULL;
    size_t size = 0;
    FILE *to = x_memstream(&text, &size);
    finding_print(to, r->finding, r->shrunk);
    fprintf(to, "\n");
    finding_page_tell(to, r->scenario, r->history, r->file, rows);
    fprintf(to, "repeat: " GMPSIM_NAME " replay %s\n", finding_word(r->schedule));
    x_memstream_close(to, &text);
    return text;
}

static FILE *open_to(const char *path, const char *how)
{
    FILE *to = fopen(path, how);
    if (to == NULL)
        cli_die(EXIT_USAGE, "%s: %s", text_line(path), strerror(errno));
    return to;
}

static void close_to(FILE *to, const char *path)
{
    bool ok = fflush(to) == 0 && !ferror(to);
    if (fclose(to) != 0 || !ok)
        cli_die(EXIT_USAGE, "%s: cannot be written: %s", text_line(path), strerror(errno));
}

/* What the lane says in one line; NULL: all is well. */
static const char *trouble_of(const struct ci_result *r)
{
    if (r->status == EXIT_BUDGET)
        return "the budget was spent without a verdict";
    if (r->status == EXIT_CLEAN)
        return NULL;
    return r->finding != NULL ? r->finding->verdict.what : "no finding, and one was expected";
}

/* A page keeps its lines. */
static void xml_lines(FILE *to, const char *text)
{
    for (const char *end; *text != 0; text = *end != 0 ? end + 1 : end) {
        end = strchrnul(text, '\n');
        text_put_n(to, TEXT_XML, text, (size_t)(end - text));
        fputc('\n', to);
    }
}

/* ---- JUnit ---- */

static void xml(FILE *to, const char *before, const char *text, const char *after)
{
    fputs(before, to);
    text_put(to, TEXT_XML, text);
    fputs(after, to);
}

static void junit(const char *path, const struct ci_result *r)
{
    const char *trouble = trouble_of(r);
    bool error = r->status == EXIT_BUDGET;
    FILE *to = open_to(path, "w");
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n<testsuite name=\"gmpsim explore\" tests=\"1\" failures=\"%d\" "
            "errors=\"%d\" time=\"%.3f\">\n",
            trouble != NULL && !error, error, r->seconds);
    xml(to, "<testcase classname=\"gmpsim.explore\" name=\"", r->scenario->name, "\"");
    xml(to, " file=\"", r->file, "\"");
    fprintf(to, " time=\"%.3f\">\n", r->seconds);
    if (trouble != NULL) {
        char *page = r->finding != NULL ? page_of(r, PAGE_ROWS) : NULL;
        xml(to, error ? "<error message=\"" : "<failure message=\"", trouble, "\">");
        xml_lines(to, page != NULL ? page : trouble);
        fputs(error ? "</error>\n" : "</failure>\n", to);
        free(page);
    }
    fprintf(to, "<system-out>%" PRIu64 " schedules</system-out>\n</testcase>\n", r->runs);
    fputs("</testsuite>\n</testsuites>\n", to);
    close_to(to, path);
}

/* ---- GitHub ---- */

/* What a program prints may be a workflow command too: while our own words are printed there are
 * none. The word that ends this is one that nobody can know. */
static char go_on_with[40];

void ci_begin(const struct ci_opts *o)
{
    uint64_t random[2] = {0};
    if (!o->github)
        return;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        cli_die(EXIT_USAGE, "--github: the system has no random numbers: %s", strerror(errno));
    snprintf(go_on_with, sizeof go_on_with, "%016" PRIx64 "%016" PRIx64, random[0], random[1]);
    printf("::stop-commands::%s\n", go_on_with);
}

/* Workflow commands: what ends a line or a property is escaped, and all that is no plain text. */
static void command_text(FILE *to, const char *text, bool property)
{
    char line[600];
    text_in(line, sizeof line, TEXT_LINE, text);
    for (const char *c = line; *c != 0; c++)
        if (*c == '%' || (property && (*c == ':' || *c == ',')))
            fprintf(to, "%%%02X", (unsigned char)*c);
        else
            fputc(*c, to);
}

static void annotation(const struct ci_result *r, uint32_t line, const char *title,
                       const char *text)
{
    printf("::error file=");
    command_text(stdout, r->file, true);
    if (line != 0)
        printf(",line=%" PRIu32, line);
    printf(",title=");
    command_text(stdout, title, true);
    printf("::");
    command_text(stdout, text, false);
    printf("\n");
}

/* One at each place where somebody is stuck; else one for the operations whose order decides; else
 * one for the file. */
static void annotate_finding(const struct ci_result *r, const char *title)
{
    const struct history *h = r->history;
    char text[500];
    for (size_t i = 0; i < h->nstuck && i < ANNOTATIONS_MAX; i++) {
        const struct history_stuck *s = &h->stuck[i];
        size_t n = (size_t)snprintf(text, sizeof text, "g%" PRIu32 " %s [%s] waits for %s", s->goid,
                                    s->name, s->reason, s->on[0] != 0 ? s->on : "nothing");
        if (s->holders > 0 && n < sizeof text)
            snprintf(text + n, sizeof text - n, ", held by %s since line %" PRIu32,
                     history_g_name(h, s->holder[0].goid), s->holder[0].line);
        annotation(r, s->line, title, text);
    }
    if (h->nstuck > 0)
        return;
    for (size_t i = 0; i < h->npairs && i < 2; i++)
        annotation(r, h->rows[h->pair[i].first].line, title, r->finding->verdict.text);
    if (h->npairs == 0)
        annotation(r, h->count > 0 ? h->rows[h->count - 1].line : 1, title,
                   r->finding->verdict.text);
}

static void annotate(const struct ci_result *r)
{
    const char *trouble = trouble_of(r);
    char title[200];
    if (trouble == NULL)
        return;
    snprintf(title, sizeof title, "%.40s: %.120s", trouble, r->scenario->name);
    if (r->finding != NULL)
        annotate_finding(r, title);
    else
        annotation(r, 1, title, trouble);
}

/* ---- Markdown ---- */

static void summary(const char *path, const char *how, const struct ci_result *r)
{
    const char *trouble = trouble_of(r);
    FILE *to = open_to(path, how);
    fprintf(to, "### %s `", r->status == EXIT_CLEAN ? "✅" : "❌");
    for (const char *c = text_line(r->file); *c != 0; c++)
        fputc(*c == '`' ? '\'' : *c, to);
    fprintf(to, "`: %s\n\n%" PRIu64 " schedules, %.1f s\n\n",
            trouble != NULL      ? trouble
            : r->finding != NULL ? "found, as expected"
                                 : "nothing found",
            r->runs, r->seconds);
    if (r->finding != NULL) {
        char *page = page_of(r, SUMMARY_ROWS);
        fprintf(to, "<details><summary>the finding</summary>\n\n<pre>");
        xml_lines(to, page);
        fprintf(to, "</pre>\n</details>\n\n");
        free(page);
    }
    close_to(to, path);
}

void ci_report(const struct ci_opts *o, const struct ci_result *r)
{
    const char *step = getenv("GITHUB_STEP_SUMMARY");
    if (o->junit != NULL)
        junit(o->junit, r);
    if (o->summary != NULL)
        summary(o->summary, "w", r);
    if (!o->github)
        return;
    printf("::%s::\n", go_on_with);
    annotate(r);
    if (step != NULL && step[0] != 0)
        summary(step, "a", r);
}
