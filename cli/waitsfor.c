/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/waitsfor.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "plots/graph.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { LINES_MAX = 40, BY_SHOWN = 4, WORDS = 400 };

/* ---- many alike ---- */

static bool is_waited_for(const struct waitsfor *w, size_t g)
{
    for (size_t i = 0; i < w->nby; i++)
        if (w->by[i].g == g && w->by[i].how != WAITS_COULD)
            return true;
    return false;
}

static bool alike(const struct waits_g *a, const struct waits_g *b)
{
    return a->line == b->line && a->stuck == b->stuck && a->leaked == b->leaked &&
           a->in_circle == b->in_circle && a->nobjects == b->nobjects &&
           memcmp(a->object, b->object, (size_t)a->nobjects * sizeof *a->object) == 0 &&
           strcmp(a->group, b->group) == 0 && strcmp(a->reason, b->reason) == 0;
}

/* Of each goroutine: the first that is like it, and of each first how many there are. Who holds
 * something, or is in the circle, stands for itself. */
struct kinds {
    size_t *first, *count;
};

static struct kinds kinds_of(const struct waitsfor *w)
{
    struct kinds k = {x_alloc((w->ngs + 1) * sizeof *k.first),
                      x_alloc((w->ngs + 1) * sizeof *k.count)};
    for (size_t i = 0; i < w->ngs; i++) {
        size_t j = 0;
        bool alone = w->gs[i].in_circle || is_waited_for(w, i);
        while (j < i && (alone || k.first[j] != j || w->gs[j].in_circle || is_waited_for(w, j) ||
                         !alike(&w->gs[j], &w->gs[i])))
            j++;
        k.first[i] = j;
        k.count[j]++;
    }
    return k;
}

static void kinds_release(struct kinds *k)
{
    free(k->first);
    free(k->count);
}

static const char *name_of(const struct waitsfor *w, const struct kinds *k, size_t g, char *buf)
{
    if (k->count[g] > 1)
        snprintf(buf, WORDS, "%zu of %s", k->count[g], w->gs[g].group);
    else
        snprintf(buf, WORDS, "%s g%" PRIu64, w->gs[g].group, w->gs[g].goid);
    return buf;
}

/* ---- words ---- */

/* Goroutines that are alike help alike: the first of them is named. */
static bool is_repeated(const struct waitsfor *w, const struct kinds *k, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (w->by[i].object == w->by[at].object && w->by[i].how == w->by[at].how &&
            w->by[i].g != SIZE_MAX && w->by[at].g != SIZE_MAX &&
            k->first[w->by[i].g] == k->first[w->by[at].g])
            return true;
    return false;
}

static const char *by_words(const struct waitsfor *w, const struct kinds *k,
                            const struct waits_by *b, char *buf)
{
    char name[WORDS];
    if (b->g == SIZE_MAX)
        snprintf(name, sizeof name, "g%" PRIu64 "%s", b->goid,
                 b->ended ? ", which has ended," : "");
    else
        name_of(w, k, k->first[b->g], name);
    if (b->how == WAITS_COULD)
        snprintf(buf, 2 * WORDS, "%s could %s at line %" PRIu32, name, w->objects[b->object].wanted,
                 b->line);
    else
        snprintf(buf, 2 * WORDS, "%s %s since line %" PRIu32,
                 b->how == WAITS_SHARED ? "read-locked by" : "held by", name, b->line);
    return buf;
}

static void print_object(FILE *to, const struct waitsfor *w, const struct kinds *k, size_t object)
{
    const struct waits_object *o = &w->objects[object];
    char words[2 * WORDS];
    int shown = 0;
    fprintf(to, "    %s%s%s%s%s", text_line(o->name), o->kind[0] != 0 ? " (" : "",
            text_line(o->kind), o->state[0] != 0 ? ", " : "", text_line(o->state));
    fputs(o->kind[0] != 0 ? ")" : "", to);
    for (size_t i = 0; i < w->nby; i++) {
        if (w->by[i].object != object || is_repeated(w, k, i) || shown == BY_SHOWN)
            continue;
        fprintf(to, "%s %s", shown++ == 0 ? ":" : ";", text_line(by_words(w, k, &w->by[i], words)));
    }
    if (shown == 0)
        fprintf(to, ": nobody is left who could %s", o->wanted);
    fputc('\n', to);
}

/* From the first goroutine of the circle around. */
static void print_circle(FILE *to, const struct waitsfor *w)
{
    size_t first = 0, at, steps = 0;
    while (!w->gs[first].in_circle)
        first++;
    fprintf(to, "  in a circle: %s g%" PRIu64, text_line(w->gs[first].group), w->gs[first].goid);
    at = first;
    do {
        const struct waits_by *next = NULL;
        for (size_t i = 0; i < w->nby && next == NULL; i++)
            for (int o = 0; o < w->gs[at].nobjects; o++)
                if (w->by[i].in_circle && w->by[i].object == w->gs[at].object[o])
                    next = &w->by[i];
        if (next == NULL || next->g == SIZE_MAX)
            break;
        at = next->g;
        fprintf(to, " -> %s -> %s g%" PRIu64, text_line(w->objects[next->object].name),
                text_line(w->gs[at].group), w->gs[at].goid);
    } while (at != first && ++steps < w->ngs);
    fputc('\n', to);
}

void waitsfor_print(FILE *to, const struct waitsfor *w)
{
    struct kinds k = kinds_of(w);
    int lines = 0;
    fputs("who waits for whom\n", to);
    for (size_t i = 0; i < w->ngs; i++) {
        const struct waits_g *g = &w->gs[i];
        char name[WORDS];
        if (k.first[i] != i || !g->stuck || lines++ >= LINES_MAX)
            continue;
        fprintf(to, "  %s, line %" PRIu32 " [%s]%s\n", text_line(name_of(w, &k, i, name)), g->line,
                text_line(g->reason), g->leaked ? ", for ever" : "");
        for (int o = 0; o < g->nobjects; o++)
            print_object(to, w, &k, g->object[o]);
        if (g->nobjects == 0)
            fputs("    nothing that could ever be ready\n", to);
    }
    if (lines > LINES_MAX || w->more > 0)
        fprintf(to, "  and %" PRIu64 " more\n",
                w->more + (uint64_t)(lines > LINES_MAX ? lines - LINES_MAX : 0));
    if (w->circle)
        print_circle(to, w);
    kinds_release(&k);
}

/* ---- a graph ---- */

static void add_nodes(struct graph *g, const struct waitsfor *w, const struct kinds *k, int *of_g,
                      int *of_object)
{
    char name[WORDS], text[3 * WORDS];
    for (size_t i = 0; i < w->ngs; i++) {
        of_g[i] = k->first[i] < i ? of_g[k->first[i]] : -1;
        if (k->first[i] != i)
            continue;
        snprintf(text, sizeof text, "%s\nline %" PRIu32 "\n%s", name_of(w, k, i, name),
                 w->gs[i].line, w->gs[i].reason);
        of_g[i] = graph_add_node(g, text, /*round*/ false, w->gs[i].in_circle);
    }
    for (size_t i = 0; i < w->nobjects; i++) {
        const struct waits_object *o = &w->objects[i];
        bool alone = true;
        for (size_t b = 0; b < w->nby; b++)
            alone &= w->by[b].object != i;
        snprintf(text, sizeof text, "%s\n%s%s%s%s%s", o->name, o->kind,
                 o->kind[0] != 0 && o->state[0] != 0 ? ", " : "", o->state,
                 alone ? "\nnobody is left who could " : "", alone ? o->wanted : "");
        of_object[i] = graph_add_node(g, text, /*round*/ true, o->in_circle);
    }
}

static void add_by_edge(struct graph *g, const struct waitsfor *w, const struct waits_by *b,
                        int from, int to)
{
    static const char *const words[] = {"held since", "read-locked since", "could %s at"};
    char what[80], text[120];
    if (to < 0) {
        snprintf(text, sizeof text, "g%" PRIu64 "%s", b->goid, b->ended ? "\nhas ended" : "");
        to = graph_add_node(g, text, /*round*/ false, /*marked*/ b->ended);
    }
    if (b->how == WAITS_COULD)
        snprintf(what, sizeof what, "could %s at", w->objects[b->object].wanted);
    else
        snprintf(what, sizeof what, "%s", words[b->how]);
    snprintf(text, sizeof text, "%s\nline %" PRIu32, what, b->line);
    int e = graph_add_edge(g, from, to, text);
    g->edges[e].marked = b->in_circle;
    g->edges[e].dashed = b->how == WAITS_COULD;
}

static void add_edges(struct graph *g, const struct waitsfor *w, const struct kinds *k,
                      const int *of_g, const int *of_object)
{
    for (size_t i = 0; i < w->ngs; i++)
        for (int o = 0; k->first[i] == i && o < w->gs[i].nobjects; o++) {
            int e = graph_add_edge(g, of_g[i], of_object[w->gs[i].object[o]], "waits for");
            g->edges[e].marked = w->gs[i].in_circle && w->objects[w->gs[i].object[o]].in_circle;
        }
    for (size_t i = 0; i < w->nby; i++)
        if (!is_repeated(w, k, i))
            add_by_edge(g, w, &w->by[i], of_object[w->by[i].object],
                        w->by[i].g != SIZE_MAX ? of_g[w->by[i].g] : -1);
}

static void make_graph(struct graph *g, const struct waitsfor *w)
{
    struct kinds k = kinds_of(w);
    int *of_g = x_alloc((w->ngs + 1) * sizeof *of_g);
    int *of_object = x_alloc((w->nobjects + 1) * sizeof *of_object);
    add_nodes(g, w, &k, of_g, of_object);
    add_edges(g, w, &k, of_g, of_object);
    if (g->nnodes == 0)
        graph_add_node(g, "nobody waits for ever", /*round*/ true, /*marked*/ false);
    free(of_g);
    free(of_object);
    kinds_release(&k);
}

/* ---- JSON ---- */

static cJSON *g_json(const struct waitsfor *w, const struct waits_g *g)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "goroutine", (double)g->goid);
    cJSON_AddStringToObject(o, "group", g->group);
    cJSON_AddStringToObject(o, "reason", g->reason);
    cJSON_AddNumberToObject(o, "line", g->line);
    cJSON_AddBoolToObject(o, "stuck", g->stuck);
    cJSON_AddBoolToObject(o, "leaked", g->leaked);
    cJSON_AddBoolToObject(o, "in_circle", g->in_circle);
    cJSON *list = cJSON_AddArrayToObject(o, "waits_for");
    for (int i = 0; i < g->nobjects; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(w->objects[g->object[i]].name));
    return o;
}

static cJSON *by_json(const struct waits_by *b)
{
    static const char *const how[] = {"holds", "read-locks", "could"};
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "goroutine", (double)b->goid);
    cJSON_AddStringToObject(o, "how", how[b->how]);
    cJSON_AddNumberToObject(o, "line", b->line);
    cJSON_AddBoolToObject(o, "ended", b->ended);
    cJSON_AddBoolToObject(o, "in_circle", b->in_circle);
    return o;
}

static cJSON *object_json(const struct waitsfor *w, size_t at)
{
    const struct waits_object *from = &w->objects[at];
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "object", from->name);
    cJSON_AddStringToObject(o, "kind", from->kind);
    cJSON_AddStringToObject(o, "state", from->state);
    cJSON_AddStringToObject(o, "wanted", from->wanted);
    cJSON *list = cJSON_AddArrayToObject(o, "by");
    for (size_t i = 0; i < w->nby; i++)
        if (w->by[i].object == at)
            cJSON_AddItemToArray(list, by_json(&w->by[i]));
    return o;
}

static void put_json(FILE *to, const struct waitsfor *w)
{
    cJSON *o = cJSON_CreateObject(), *list = cJSON_AddArrayToObject(o, "goroutines");
    for (size_t i = 0; i < w->ngs; i++)
        cJSON_AddItemToArray(list, g_json(w, &w->gs[i]));
    list = cJSON_AddArrayToObject(o, "objects");
    for (size_t i = 0; i < w->nobjects; i++)
        cJSON_AddItemToArray(list, object_json(w, i));
    cJSON_AddBoolToObject(o, "circle", w->circle);
    char *text = cJSON_Print(o);
    text_put(to, TEXT_JSON_WHOLE, text);
    fputc('\n', to);
    cJSON_free(text);
    cJSON_Delete(o);
}

/* ---- files ---- */

static bool ends_with(const char *path, const char *ending)
{
    size_t n = strlen(path), m = strlen(ending);
    return n > m && strcmp(path + n - m, ending) == 0;
}

void waitsfor_check_name(const char *path)
{
    if (!ends_with(path, ".svg") && !ends_with(path, ".dot") && !ends_with(path, ".json"))
        cli_die(EXIT_USAGE, "--waits-for: want a name that ends with .svg, .dot or .json");
}

void waitsfor_write(const char *path, const struct waitsfor *w, const char *title)
{
    struct graph g = {.title = title};
    FILE *to = fopen(path, "w");
    if (to == NULL)
        cli_die(EXIT_USAGE, "%s: %s", text_line(path), strerror(errno));
    if (ends_with(path, ".json")) {
        put_json(to, w);
    } else {
        make_graph(&g, w);
        (ends_with(path, ".dot") ? graph_dot : graph_svg)(to, &g);
        graph_release(&g);
    }
    bool bad = ferror(to) != 0;
    if (fclose(to) != 0 || bad)
        cli_die(EXIT_USAGE, "%s: cannot be written", text_line(path));
}
