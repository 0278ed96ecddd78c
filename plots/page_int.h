/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_PLOTS_PAGE_INT_H
#define GMPSIM_PLOTS_PAGE_INT_H

/* Shared by the parts of the report: JSON to a file, and lists of names. */

#include "plots/page.h"
#include "sim/base/map.h"
#include "sim/base/text.h"

struct sqlite3_stmt;

/* page_files.S: the files of plots/page. */
extern const char page_html[], page_html_end[], page_css[], page_css_end[], page_js[],
    page_js_end[];

/* Names by their first use; the data have their numbers. */
struct page_names {
    char **of;
    int32_t count, room;
};

struct page {
    const struct page_args *args;
    FILE *to;
    int64_t run, makespan_ns;
    int32_t procs;
    bool failed;
    char *text;
    struct page_names names, reasons;
    /* The groups with most running time; others share a colour. */
    char *groups[8];
    int ngroups;
};

void page_fail(struct page *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* NULL after a failure. The run's number is bound to ?1. */
struct sqlite3_stmt *page_query(struct page *r, const char *sql);
/* True: there is a row. At the end it finalizes. */
bool page_row(struct page *r, struct sqlite3_stmt *st);
int64_t page_number(struct page *r, const char *sql, int64_t otherwise);
bool page_has_table(struct page *r, const char *name);
const char *page_text(struct sqlite3_stmt *st, int column);
int32_t page_name(struct page_names *n, const char *text);
void page_names_release(struct page_names *n);
/* ,"name": */
void page_key(struct page *r, const char *name);
/* The values of a row of the query as [a,b,...], one after the other, as an array. */
void page_rows(struct page *r, const char *key, const char *sql);

/* Spans, goroutines, stretches, window, overview (page_lanes.c). */
void page_lanes(struct page *r);

#endif
