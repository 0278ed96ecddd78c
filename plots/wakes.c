/* SPDX-License-Identifier: BSD-3-Clause */
/* Which group woke which: a graph, drawn here and written as DOT. The time at an edge is what those
 * who were woken had waited. */
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "plots/graph.h"
#include "plots/plot_int.h"

enum { GROUPS_MAX = 24, EDGES_MAX = 60, NAME_COLUMNS = 36 };

static const char outside[] = "timers, network,\nwho is not a goroutine";

static const char *text_of(sqlite3_stmt *st, int column)
{
    const char *text = (const char *)sqlite3_column_text(st, column);
    return text != NULL ? text : outside;
}

static int node_of(struct graph *g, const char *name, int64_t *left_out)
{
    char text[200];
    bool is_outside = strcmp(name, outside) == 0;
    snprintf(text, sizeof text, "%s", is_outside ? outside : text_cut(name, NAME_COLUMNS));
    for (int i = 0; i < g->nnodes; i++)
        if (strcmp(g->nodes[i].text, text) == 0)
            return i;
    if (g->nnodes == GROUPS_MAX) {
        ++*left_out;
        return -1;
    }
    return graph_add_node(g, text, is_outside, false);
}

static void add_wakes(struct graph *g, sqlite3_stmt *st, int64_t *left_out)
{
    char text[100];
    int64_t n = sqlite3_column_int64(st, 2), waited = sqlite3_column_int64(st, 3);
    if (n < 1 || waited < 0)
        return;
    if (g->nedges == EDGES_MAX) {
        ++*left_out;
        return;
    }
    int from = node_of(g, text_of(st, 0), left_out), to = node_of(g, text_of(st, 1), left_out);
    if (from < 0 || to < 0)
        return;
    snprintf(text, sizeof text, "%" PRId64 " \xc3\x97 after %s", n, plot_time(waited / n));
    int e = graph_add_edge(g, from, to, text);
    g->edges[e].width = 1 + log10((double)n);
}

void plot_wakes(struct plot *p)
{
    char title[700], more[80] = "";
    int64_t left_out = 0;
    struct graph g = {.circle = true};
    sqlite3_stmt *st = plot_query(
        p, "SELECT b.name, a.name, count(*), sum(t.duration_ns) FROM g_transitions t"
           " JOIN goroutines a ON a.run = ?1 AND a.g = t.g"
           " LEFT JOIN goroutines b ON b.run = ?1 AND b.g = t.src_g"
           " WHERE t.run = ?1 AND t.from_state = 'waiting' AND t.to_state = 'runnable'"
           " AND (a.name <> 'runtime' OR ifnull(b.name, '') NOT IN ('', 'runtime'))"
           " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2");
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW)
        add_wakes(&g, st, &left_out);
    plot_done(p, st);
    if (g.nnodes == 0)
        graph_add_node(&g, "no goroutine of the program woke another", true, false);
    if (left_out > 0)
        snprintf(more, sizeof more, "; %" PRId64 " pairs that woke less often are not drawn",
                 left_out);
    snprintf(title, sizeof title, "Who woke whom: how often, and after how long on average%s\n%s",
             more, p->title);
    g.title = title;
    graph_svg(p->gp, &g);
    graph_dot(p->dat, &g);
    graph_release(&g);
}
