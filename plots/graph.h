/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PLOTS_GRAPH_H
#define GMPSIM_PLOTS_GRAPH_H

/* A small graph with words in its nodes and at its edges, as DOT and as an SVG that needs no other
 * program. The caller's texts may hold anything. */

#include <stdbool.h>
#include <stdio.h>

struct graph_node {
    char *text; /* lines */
    bool round; /* an object, not who does something */
    bool marked;
};

struct graph_edge {
    int from, to;
    char *text;   /* "": none */
    double width; /* of the line; 1: as any other */
    bool marked, dashed;
};

struct graph {
    const char *title; /* lines */
    struct graph_node *nodes;
    struct graph_edge *edges;
    int nnodes, nedges;
    bool circle; /* the nodes stand in a circle; else in layers, edges going down */
};

/* Both add one and give its place. The texts are copied. */
int graph_add_node(struct graph *g, const char *text, bool round, bool marked);
int graph_add_edge(struct graph *g, int from, int to, const char *text);
void graph_release(struct graph *g);

void graph_dot(FILE *to, const struct graph *g);
void graph_svg(FILE *to, const struct graph *g);

#endif
