/* SPDX-License-Identifier: BSD-3-Clause */
#include "plots/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum {
    CHAR_WIDTH = 8,
    LINE_HEIGHT = 18,
    PAD = 12,
    GAP_X = 70,
    GAP_Y = 90,
    MARGIN = 40,
    LINES_MAX = 8,
    LINE_COLUMNS = 48,
    TITLE_COLUMNS = 110,
    SWEEPS = 4
};

#define MARKED "#c02020"

/* ---- a graph ---- */

int graph_add_node(struct graph *g, const char *text, bool round, bool marked)
{
    g->nodes = x_grow(g->nodes, ((size_t)g->nnodes + 1) * sizeof *g->nodes);
    g->nodes[g->nnodes] = (struct graph_node){x_strdup(text), round, marked};
    return g->nnodes++;
}

int graph_add_edge(struct graph *g, int from, int to, const char *text)
{
    g->edges = x_grow(g->edges, ((size_t)g->nedges + 1) * sizeof *g->edges);
    g->edges[g->nedges] = (struct graph_edge){from, to, x_strdup(text), 1, false, false};
    return g->nedges++;
}

void graph_release(struct graph *g)
{
    for (int i = 0; i < g->nnodes; i++)
        free(g->nodes[i].text);
    for (int i = 0; i < g->nedges; i++)
        free(g->edges[i].text);
    free(g->nodes);
    free(g->edges);
    *g = (struct graph){0};
}

/* ---- DOT ---- */

/* Its lines, one string after the other: a newline inside of a string would be quoted. */
static void put_dot(FILE *to, const char *text)
{
    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1) {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)(end - text), text);
        text_put(to, TEXT_DOT, line);
        fputs(" + \"\\n\" + ", to);
    }
    text_put(to, TEXT_DOT, text);
}

void graph_dot(FILE *to, const struct graph *g)
{
    fputs("digraph g {\n  label=", to);
    put_dot(to, g->title);
    fputs(";\n  node [fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\"];\n", to);
    for (int i = 0; i < g->nnodes; i++) {
        fprintf(to, "  n%d [shape=%s%s, label=", i, g->nodes[i].round ? "ellipse" : "box",
                g->nodes[i].marked ? ", color=\"" MARKED "\", penwidth=2" : "");
        put_dot(to, g->nodes[i].text);
        fputs("];\n", to);
    }
    for (int i = 0; i < g->nedges; i++) {
        const struct graph_edge *e = &g->edges[i];
        fprintf(to, "  n%d -> n%d [penwidth=%.2f%s%s, label=", e->from, e->to, e->width,
                e->marked ? ", color=\"" MARKED "\"" : "", e->dashed ? ", style=dashed" : "");
        put_dot(to, e->text);
        fputs("];\n", to);
    }
    fputs("}\n", to);
}

/* ---- places ---- */

struct place {
    double x, y, w, h; /* the middle; the whole width and height */
    int layer;
    double order;
};

struct layout {
    const struct graph *g;
    struct place *at;
    unsigned char *state; /* of the walk */
    bool *back;           /* edges that close a circle */
    struct point {
        double x, y;
    } * words; /* where an edge's text stands */
    double width, height, top;
};

/* Lines of a text, each cut to a width that fits into a picture. */
static int lines_of(const char *text, int columns, char lines[LINES_MAX][256])
{
    int n = 0;
    while (n < LINES_MAX) {
        const char *end = strchr(text, '\n');
        char one[512];
        snprintf(one, sizeof one, "%.*s", end != NULL ? (int)(end - text) : 500, text);
        snprintf(lines[n++], 256, "%s", text_cut(one, columns));
        if (end == NULL)
            break;
        text = end + 1;
    }
    return n;
}

static void measure(const struct graph_node *n, struct place *p)
{
    char lines[LINES_MAX][256];
    int count = lines_of(n->text, LINE_COLUMNS, lines), columns = 4;
    for (int i = 0; i < count; i++)
        columns = text_columns(lines[i]) > columns ? text_columns(lines[i]) : columns;
    p->w = columns * CHAR_WIDTH + 2 * PAD + (n->round ? 16 : 0);
    p->h = count * LINE_HEIGHT + PAD;
}

static void stand_in_circle(struct layout *l)
{
    const struct graph *g = l->g;
    double widest = 0, tallest = 0;
    for (int i = 0; i < g->nnodes; i++) {
        widest = fmax(widest, l->at[i].w);
        tallest = fmax(tallest, l->at[i].h);
    }
    double rx = fmax(260, g->nnodes * (widest * 0.4 + 20) / 3), ry = fmax(190, g->nnodes * 34);
    if (g->nnodes == 1)
        rx = ry = 0;
    l->width = 2 * rx + widest + 2 * MARGIN + 120;
    l->height = l->top + 2 * ry + tallest + 2 * MARGIN;
    for (int i = 0; i < g->nnodes; i++) {
        double a = 2 * acos(-1.0) * i / g->nnodes - acos(0.0);
        l->at[i].x = l->width / 2 + rx * cos(a);
        l->at[i].y = l->top + (l->height - l->top) / 2 + ry * sin(a);
    }
}

enum { NEW, OPEN, DONE };

struct step {
    int node, edge;
};

/* In the order of a walk along the edges; an edge to who is still being walked from closes a
 * circle. Without recursion: a chain may be long. */
static void walk(struct layout *l, int root)
{
    const struct graph *g = l->g;
    struct step *stack = x_alloc(((size_t)g->nnodes + 1) * sizeof *stack);
    int n = 0;
    stack[n++] = (struct step){root, 0};
    l->state[root] = OPEN;
    while (n > 0) {
        struct step *s = &stack[n - 1];
        while (s->edge < g->nedges && g->edges[s->edge].from != s->node)
            s->edge++;
        if (s->edge == g->nedges) {
            l->state[s->node] = DONE;
            n--;
            continue;
        }
        int e = s->edge++, to = g->edges[e].to;
        if (l->state[to] == OPEN)
            l->back[e] = true;
        if (l->state[to] != NEW)
            continue;
        l->state[to] = OPEN;
        stack[n++] = (struct step){to, 0};
    }
    free(stack);
}

static int find_layers(struct layout *l)
{
    const struct graph *g = l->g;
    int layers = 1;
    bool changed = true;
    for (int i = 0; i < g->nnodes; i++)
        if (l->state[i] == NEW)
            walk(l, i);
    for (int round = 0; changed && round <= g->nnodes; round++) {
        changed = false;
        for (int e = 0; e < g->nedges; e++) {
            int from = l->at[g->edges[e].from].layer, to = l->at[g->edges[e].to].layer;
            if (l->back[e] || to > from)
                continue;
            l->at[g->edges[e].to].layer = from + 1;
            layers = from + 2 > layers ? from + 2 : layers;
            changed = true;
        }
    }
    return layers;
}

static void spread(struct layout *l, int layer)
{
    double x = 0;
    for (int k = 0; k < l->g->nnodes; k++) { /* the next by its order, the earlier where equal */
        int next = -1;
        for (int i = 0; i < l->g->nnodes; i++)
            if (l->at[i].layer == layer && l->state[i] != OPEN &&
                (next < 0 || l->at[i].order < l->at[next].order))
                next = i;
        if (next < 0)
            break;
        l->state[next] = OPEN;
        l->at[next].x = x + l->at[next].w / 2;
        x += l->at[next].w + GAP_X;
    }
    for (int i = 0; i < l->g->nnodes; i++)
        if (l->at[i].layer == layer) {
            l->at[i].x -= (x - GAP_X) / 2; /* around the middle */
            l->state[i] = DONE;
        }
}

/* A node goes to the middle of its neighbours, so that few edges cross. */
static void find_order(struct layout *l, int layers)
{
    const struct graph *g = l->g;
    for (int i = 0; i < g->nnodes; i++)
        l->at[i].order = i;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (int layer = 0; layer < layers; layer++)
            spread(l, layer);
        for (int i = 0; i < g->nnodes; i++) {
            double sum = 0;
            int n = 0;
            for (int e = 0; e < g->nedges; e++) {
                int other = g->edges[e].from == i ? g->edges[e].to
                            : g->edges[e].to == i ? g->edges[e].from
                                                  : -1;
                if (other < 0 || other == i)
                    continue;
                sum += l->at[other].x;
                n++;
            }
            l->at[i].order = n > 0 ? sum / n : l->at[i].x;
        }
    }
    for (int layer = 0; layer < layers; layer++)
        spread(l, layer);
}

static void stand_in_layers(struct layout *l)
{
    const struct graph *g = l->g;
    double low = 0, high = 0;
    int layers = find_layers(l);
    find_order(l, layers);
    double y = l->top + MARGIN;
    for (int layer = 0; layer < layers; layer++) {
        double tallest = 0;
        for (int i = 0; i < g->nnodes; i++)
            if (l->at[i].layer == layer)
                tallest = fmax(tallest, l->at[i].h);
        for (int i = 0; i < g->nnodes; i++)
            if (l->at[i].layer == layer)
                l->at[i].y = y + tallest / 2;
        y += tallest + GAP_Y;
    }
    for (int i = 0; i < g->nnodes; i++) {
        low = fmin(low, l->at[i].x - l->at[i].w / 2);
        high = fmax(high, l->at[i].x + l->at[i].w / 2);
    }
    double side = MARGIN + 140; /* for arcs around, and what stands at edges */
    for (int i = 0; i < g->nnodes; i++)
        l->at[i].x += side - low;
    l->width = high - low + 2 * side;
    l->height = y - GAP_Y + MARGIN;
}

/* ---- SVG ---- */

static void put_text(FILE *to, double x, double y, const char *more, const char *text)
{
    fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\"%s>", x, y, more);
    text_put(to, TEXT_XML, text);
    fputs("</text>\n", to);
}

static void put_lines(FILE *to, double x, double middle, const char *more, const char *text)
{
    char lines[LINES_MAX][256];
    int n = lines_of(text, LINE_COLUMNS, lines);
    for (int i = 0; i < n; i++)
        put_text(to, x, middle + (i - (n - 1) / 2.0) * LINE_HEIGHT + 5, more, lines[i]);
}

static void put_node(FILE *to, const struct graph_node *n, const struct place *p)
{
    fprintf(to,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%.1f\" fill=\"%s\""
            " stroke=\"%s\" stroke-width=\"%s\"><title>",
            p->x - p->w / 2, p->y - p->h / 2, p->w, p->h, n->round ? p->h / 2 : 4,
            n->round ? "#fff4dc" : "#e8f0fe", n->marked ? MARKED : "#7a8aa0",
            n->marked ? "2.5" : "1");
    text_put(to, TEXT_XML, n->text);
    fputs("</title></rect>\n", to);
    put_lines(to, p->x, p->y, "", n->text);
}

/* Where the line from the middle of p towards (x, y) leaves its box. */
static void leave(const struct place *p, double x, double y, double *ox, double *oy)
{
    double dx = x - p->x, dy = y - p->y;
    double tx = dx != 0 ? (p->w / 2 + 2) / fabs(dx) : HUGE_VAL;
    double ty = dy != 0 ? (p->h / 2 + 2) / fabs(dy) : HUGE_VAL;
    double t = fmin(fmin(tx, ty), 1);
    *ox = p->x + dx * t;
    *oy = p->y + dy * t;
}

static const char *label_style(const struct graph_edge *e)
{
    return e->marked ? " fill=\"" MARKED "\" class=\"l\"" : " fill=\"#444\" class=\"l\"";
}

static void put_loop(FILE *to, const struct layout *l, const struct graph_edge *e,
                     struct point *words)
{
    const struct place *p = &l->at[e->from];
    double x = p->x + p->w / 2, y = p->y;
    fprintf(to,
            "<path d=\"M%.1f %.1f C%.1f %.1f %.1f %.1f %.1f %.1f\" fill=\"none\" stroke=\"%s\""
            " stroke-width=\"%.2f\" marker-end=\"url(#%s)\"/>\n",
            x, y - 8, x + 50, y - 34, x + 50, y + 34, x + 3, y + 8, e->marked ? MARKED : "#667",
            e->width, e->marked ? "m" : "a");
    *words = (struct point){x + 46, y - 26};
}

/* A bow to the right of its direction, so that there and back are two. What goes up or past others
 * goes around them. */
static void put_edge(FILE *to, const struct layout *l, int at)
{
    const struct graph_edge *e = &l->g->edges[at];
    const struct place *a = &l->at[e->from], *b = &l->at[e->to];
    if (e->from == e->to) {
        put_loop(to, l, e, &l->words[at]);
        return;
    }
    double dx = b->x - a->x, dy = b->y - a->y, length = hypot(dx, dy), bow = length * 0.14;
    if (!l->g->circle && (l->back[at] || b->layer > a->layer + 1))
        bow = 0.35 * length + (a->w + b->w) / 2;
    if (length == 0)
        length = 1;
    double cx = (a->x + b->x) / 2 - dy / length * bow, cy = (a->y + b->y) / 2 + dx / length * bow;
    double x0, y0, x1, y1;
    leave(a, cx, cy, &x0, &y0);
    leave(b, cx, cy, &x1, &y1);
    fprintf(to,
            "<path d=\"M%.1f %.1f Q%.1f %.1f %.1f %.1f\" fill=\"none\" stroke=\"%s\""
            " stroke-width=\"%.2f\"%s marker-end=\"url(#%s)\"/>\n",
            x0, y0, cx, cy, x1, y1, e->marked ? MARKED : "#667", e->width,
            e->dashed ? " stroke-dasharray=\"6 4\"" : "", e->marked ? "m" : "a");
    l->words[at] = (struct point){x0 / 4 + cx / 2 + x1 / 4, y0 / 4 + cy / 2 + y1 / 4};
}

static void put_head(FILE *to, const struct layout *l)
{
    static const char marker[] =
        "<marker id=\"%s\" markerUnits=\"userSpaceOnUse\" markerWidth=\"12\" markerHeight=\"12\""
        " refX=\"9\" refY=\"5\" orient=\"auto\"><path d=\"M0 0 L10 5 L0 10 z\" "
        "fill=\"%s\"/></marker>";
    char lines[LINES_MAX][256];
    int n = lines_of(l->g->title, TITLE_COLUMNS, lines);
    fprintf(to,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\""
            " font-family=\"sans-serif\" font-size=\"14\">\n<style>.l{font-size:12px;"
            "paint-order:stroke;stroke:#fff;stroke-width:4px}</style>\n<defs>",
            l->width, l->height);
    fprintf(to, marker, "a", "#667");
    fprintf(to, marker, "m", MARKED);
    fprintf(to, "</defs>\n<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", l->width,
            l->height);
    for (int i = 0; i < n; i++)
        put_text(to, l->width / 2, 24 + i * 20, i == 0 ? " font-weight=\"bold\"" : "", lines[i]);
}

/* The title has room above a graph that is small. */
static void widen(struct layout *l)
{
    char lines[LINES_MAX][256];
    int n = lines_of(l->g->title, TITLE_COLUMNS, lines), columns = 0;
    for (int i = 0; i < n; i++)
        columns = text_columns(lines[i]) > columns ? text_columns(lines[i]) : columns;
    double more = columns * CHAR_WIDTH + 2 * MARGIN - l->width;
    for (int i = 0; i < l->g->nnodes && more > 0; i++)
        l->at[i].x += more / 2;
    l->width += more > 0 ? more : 0;
}

void graph_svg(FILE *to, const struct graph *g)
{
    char lines[LINES_MAX][256];
    struct layout l = {.g = g,
                       .at = x_alloc(((size_t)g->nnodes + 1) * sizeof *l.at),
                       .state = x_alloc((size_t)g->nnodes + 1),
                       .back = x_alloc((size_t)g->nedges + 1),
                       .words = x_alloc(((size_t)g->nedges + 1) * sizeof *l.words),
                       .top = 20.0 * lines_of(g->title, TITLE_COLUMNS, lines) + 10};
    for (int i = 0; i < g->nnodes; i++)
        measure(&g->nodes[i], &l.at[i]);
    if (g->circle)
        stand_in_circle(&l);
    else
        stand_in_layers(&l);
    widen(&l);
    put_head(to, &l);
    for (int i = 0; i < g->nedges; i++)
        put_edge(to, &l, i);
    for (int i = 0; i < g->nnodes; i++)
        put_node(to, &g->nodes[i], &l.at[i]);
    for (int i = 0; i < g->nedges; i++) /* above all lines */
        put_lines(to, l.words[i].x, l.words[i].y, label_style(&g->edges[i]), g->edges[i].text);
    fputs("</svg>\n", to);
    free(l.words);
    free(l.at);
    free(l.state);
    free(l.back);
}
