/* SPDX-License-Identifier: BSD-3-Clause */
/* What --out DIR holds of a finding: the page as text and JSON, its columns as a picture and for
 * ui.perfetto.dev. Each is bounded: of a long run, the last turns. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/finding_page.h"
#include "cli/waitsfor.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { TEXT_ROWS = 1000, SVG_ROWS = 400, COLUMN = 250, ROW = 22, LEFT = 60, TOP = 46 };

/* ---- SVG ---- */

static int x_of(const struct history *h, uint32_t goid)
{
    int at = history_column(h, goid);
    return LEFT + (at >= 0 ? at : 0) * COLUMN;
}

static void svg_text(FILE *to, int x, int y, const char *more, const char *text)
{
    fprintf(to, "<text x=\"%d\" y=\"%d\"%s>", x, y, more);
    text_put(to, TEXT_XML, text);
    fprintf(to, "</text>\n");
}

static bool decides(const struct history *h, size_t row)
{
    for (size_t i = 0; i < h->npairs; i++)
        if (h->pair[i].first == (int32_t)row || h->pair[i].second == (int32_t)row)
            return true;
    return false;
}

static void svg_row(FILE *to, const struct history *h, size_t at, size_t first)
{
    const struct history_row *r = &h->rows[at];
    char text[400], cut[160], number[24];
    int x = x_of(h, r->goid), y = TOP + (int)(at - first) * ROW;
    history_row_text(h, r, text, sizeof text);
    snprintf(cut, sizeof cut, "%s", text_cut(text, 38));
    snprintf(number, sizeof number, "%zu%s", at + 1, r->preempts ? " *" : r->switched ? " >" : "");
    svg_text(to, 6, y + 15, " fill=\"#666\"", number);
    fprintf(to,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"3\" fill=\"%s\" "
            "stroke=\"%s\"><title>",
            x, y, COLUMN - 8, ROW - 3, r->waits ? "#fde0dd" : "#e8f0fe",
            decides(h, at) ? "#c00\" stroke-width=\"2" : "#9ab");
    text_put(to, TEXT_XML, text);
    fprintf(to, "</title></rect>\n");
    svg_text(to, x + 6, y + 15, "", cut);
    if (r->from != ROW_NONE && r->from >= (int32_t)first) {
        int fx = x_of(h, h->rows[r->from].goid) + COLUMN / 2;
        int fy = TOP + (int)(r->from - (int32_t)first) * ROW + ROW - 3;
        fprintf(to,
                "<path d=\"M%d %d L%d %d\" stroke=\"#393\" fill=\"none\" "
                "marker-end=\"url(#a)\"/>\n",
                fx, fy, x + COLUMN / 2, y);
    }
}

void finding_page_svg(FILE *to, const struct finding *x, const struct history *h)
{
    size_t first = h->count > SVG_ROWS ? h->count - SVG_ROWS : 0;
    int width = LEFT + (h->ngs > 0 ? (int)h->ngs : 1) * COLUMN;
    int height = TOP + (int)(h->count - first) * ROW + 30;
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n"
            "<defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"6\" refY=\"3\" "
            "orient=\"auto\"><path d=\"M0 0 L6 3 L0 6 z\" fill=\"#393\"/></marker></defs>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
            width, height, width, height);
    svg_text(to, 6, 16, " font-weight=\"bold\"", x->verdict.what);
    for (size_t i = 0; i < h->ngs; i++) {
        char name[100];
        snprintf(name, sizeof name, "g%" PRIu32 " %s", h->gs[i].goid, h->gs[i].name);
        svg_text(to, LEFT + (int)i * COLUMN, 36, " font-weight=\"bold\"", name);
    }
    for (size_t i = first; i < h->count; i++)
        svg_row(to, h, i, first);
    svg_text(to, 6, height - 10, " fill=\"#666\"",
             "* preemption, > switch; red rows wait, red borders: their order decides; green: who "
             "reads from whom");
    fprintf(to, "</svg>\n");
}

/* ---- Perfetto: a turn is a microsecond ---- */

static void perfetto_row(FILE *to, const struct history *h, size_t at)
{
    const struct history_row *r = &h->rows[at];
    char text[400];
    history_row_text(h, r, text, sizeof text);
    fprintf(to, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32 ",\"ts\":%zu,\"dur\":1,\"name\":",
            r->goid, at + 1);
    text_put(to, TEXT_JSON, text);
    fprintf(to, ",\"args\":{\"line\":%" PRIu32 "}}", r->line);
    if (r->from == ROW_NONE)
        return;
    fprintf(to,
            ",\n{\"ph\":\"s\",\"pid\":1,\"tid\":%" PRIu32 ",\"ts\":%" PRId32
            ".5,\"id\":%zu,\"name\":\"value\",\"cat\":\"reads\"}",
            h->rows[r->from].goid, r->from + 1, at + 1);
    fprintf(to,
            ",\n{\"ph\":\"f\",\"bp\":\"e\",\"pid\":1,\"tid\":%" PRIu32
            ",\"ts\":%zu.5,\"id\":%zu,\"name\":\"value\",\"cat\":\"reads\"}",
            r->goid, at + 1, at + 1);
}

void finding_page_perfetto(FILE *to, const struct finding *x, const struct history *h)
{
    fprintf(to, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
                "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":");
    text_put(to, TEXT_JSON, x->world.scenario->name);
    fprintf(to, "}}");
    for (size_t i = 0; i < h->ngs; i++) {
        char name[100];
        snprintf(name, sizeof name, "g%" PRIu32 " %s", h->gs[i].goid, h->gs[i].name);
        fprintf(to,
                ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32
                ",\"name\":\"thread_name\",\"args\":{\"name\":",
                h->gs[i].goid);
        text_put(to, TEXT_JSON, name);
        fprintf(to, "}}");
    }
    for (size_t i = 0; i < h->count; i++)
        perfetto_row(to, h, i);
    fprintf(to, "\n]}\n");
}

/* ---- who waits for whom ---- */

static size_t object_of(struct waitsfor *w, const struct history_stuck *s)
{
    for (size_t i = 0; i < w->nobjects; i++)
        if (w->objects[i].handle == s->object && strcmp(w->objects[i].name, s->on) == 0)
            return i;
    struct waits_object *o = &w->objects[w->nobjects];
    *o = (struct waits_object){.handle = s->object, .wanted = "end the wait"};
    snprintf(o->name, sizeof o->name, "%s", s->on);
    snprintf(o->state, sizeof o->state, "%s", s->state);
    return w->nobjects++;
}

static void add_holders(struct waitsfor *w, const struct history *h, const struct history_stuck *s,
                        size_t object)
{
    for (size_t i = 0; i < w->nby; i++)
        if (w->by[i].object == object)
            return; /* told with another one who waits for it */
    for (int i = 0; i < s->holders; i++) {
        struct waits_by *b = &w->by[w->nby++];
        *b = (struct waits_by){.object = object,
                               .goid = s->holder[i].goid,
                               .g = SIZE_MAX,
                               .how = WAITS_HELD,
                               .line = s->holder[i].line};
        for (size_t k = 0; k < h->nstuck; k++)
            if (h->stuck[k].goid == b->goid)
                b->g = k;
    }
}

/* What the page says, as run says it (waitsfor.h). */
static void waits_of(const struct history *h, struct waitsfor *w)
{
    *w = (struct waitsfor){.gs = x_alloc((h->nstuck + 1) * sizeof *w->gs),
                           .objects = x_alloc((h->nstuck + 1) * sizeof *w->objects),
                           .by = x_alloc((h->nstuck * HOLDERS_SHOWN + 1) * sizeof *w->by)};
    for (size_t i = 0; i < h->nstuck; i++) {
        const struct history_stuck *s = &h->stuck[i];
        struct waits_g *g = &w->gs[w->ngs++];
        *g = (struct waits_g){.goid = s->goid, .line = s->line, .stuck = true, .leaked = s->leaked};
        snprintf(g->group, sizeof g->group, "%s", s->name);
        snprintf(g->reason, sizeof g->reason, "%s", s->reason);
        if (s->on[0] == 0)
            continue;
        g->object[g->nobjects++] = object_of(w, s);
        add_holders(w, h, s, g->object[0]);
    }
    waitsfor_circle(w);
}

/* ---- files ---- */

static FILE *open_in(const char *dir, const char *name, char *path, size_t size)
{
    if (snprintf(path, size, "%s/%s", dir, name) >= (int)size)
        cli_die(EXIT_USAGE, "--out: the name is too long");
    FILE *to = fopen(path, "w");
    if (to == NULL)
        cli_die(EXIT_USAGE, "%s: %s", path, strerror(errno));
    return to;
}

static void close_it(FILE *to, const char *path)
{
    bool ok = fflush(to) == 0 && !ferror(to);
    if (fclose(to) != 0 || !ok)
        cli_die(EXIT_USAGE, "%s: cannot be written: %s", path, strerror(errno));
}

void finding_perfetto_file(const char *path, const struct finding *x, const struct history *h)
{
    FILE *to = fopen(path, "w");
    if (to == NULL)
        cli_die(EXIT_USAGE, "%s: %s", text_line(path), strerror(errno));
    finding_page_perfetto(to, x, h);
    close_it(to, path);
}

/* As waits.svg and waits.dot, if somebody is stuck. */
static void put_waits(const char *dir, const struct finding *x, const struct history *h)
{
    struct waitsfor w;
    char path[4096], title[400];
    if (h->nstuck == 0)
        return;
    waits_of(h, &w);
    snprintf(title, sizeof title, "Who waits for whom\n%s: %s",
             text_cut(x->world.scenario->name, 60), x->verdict.what);
    for (int dot = 0; dot < 2; dot++) {
        fclose(open_in(dir, dot ? "waits.dot" : "waits.svg", path, sizeof path));
        waitsfor_write(path, &w, title);
    }
    waitsfor_release(&w);
}

void finding_out_folder(const char *dir)
{
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        cli_die(EXIT_USAGE, "--out: %s: %s", dir, strerror(errno));
}

void finding_out(const char *dir, const struct finding *x, const struct history *h,
                 const struct shrink_result *shrunk, const char *file)
{
    char path[4096];
    FILE *to = open_in(dir, "finding.txt", path, sizeof path);
    finding_print(to, x, shrunk);
    fprintf(to, "\n");
    finding_page_tell(to, x->world.scenario, h, file, TEXT_ROWS);
    close_it(to, path);
    to = open_in(dir, "finding.json", path, sizeof path);
    cJSON *j = finding_json(x, shrunk);
    finding_page_json(j, h, file);
    char *text = cJSON_Print(j);
    if (text != NULL)
        text_put(to, TEXT_JSON_WHOLE, text);
    cJSON_free(text);
    cJSON_Delete(j);
    close_it(to, path);
    if (h->count == 0)
        return; /* operations of Ms are in the text */
    to = open_in(dir, "finding.svg", path, sizeof path);
    finding_page_svg(to, x, h);
    close_it(to, path);
    to = open_in(dir, "finding.perfetto.json", path, sizeof path);
    finding_page_perfetto(to, x, h);
    close_it(to, path);
    put_waits(dir, x, h);
}
