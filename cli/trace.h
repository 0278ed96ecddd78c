/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_TRACE_H
#define GMPSIM_CLI_TRACE_H

/* gmpsim trace: what info, export, cut and import share. */

#include "cli/cli.h"
#include "replay/totals.h"

/* Opens or dies; "-" is standard input. */
struct trace *trace_open_or_die(const char *path, bool strict);
/* Dies unless the trace was read to its end. */
void trace_done_or_die(const char *path, bool whole, const struct failure *f);
/* A string of the trace; "(others)" for what was not told apart any more. */
const char *trace_name_of(const struct totals *t, uint32_t string);
/* Indices of goroutines that are kept, most time not waiting first; at most max. From malloc. */
uint32_t *trace_goroutines(const struct totals *t, size_t max, size_t *count);

/* q: where the time of its tasks and regions went; NULL: not known, the trace was no file. */
void trace_info_text(const struct trace *trace, const char *path, struct totals *t, int64_t rows,
                     const struct run_result *q);
void trace_info_json(const struct trace *trace, const char *path, struct totals *t, int64_t rows,
                     const struct run_result *q);

struct trace_words {
    const char *perfetto, *csv, *jsonl, *schedtrace; /* files; "-" is standard output */
    const char *out;                                 /* of cut */
    int64_t from_ns, to_ns; /* since the trace's beginning; to 0: the end */
    int64_t period_ns;      /* of schedtrace */
    int64_t version;        /* of the header that cut writes */
    bool anonymize, strict;
};

int trace_export(const char *path, const struct trace_words *w);
/* out NULL: standard output. */
int trace_import(const char *path, const char *out, bool explore);
int trace_cut(const char *path, const struct trace_words *w);

#endif
