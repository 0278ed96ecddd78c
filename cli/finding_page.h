/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_FINDING_PAGE_H
#define GMPSIM_CLI_FINDING_PAGE_H

/* The page of a finding: who is stuck, what each goroutine did, whose order decides. As text:
 * history_print. */

#include "cli/finding.h"
#include "search/history.h"

/* As text, with places in the words of what the scenario was made of. */
void finding_page_tell(FILE *to, const struct scenario *s, const struct history *h,
                       const char *file, size_t rows_max);
/* More members for a finding's object. */
void finding_page_json(cJSON *to, const struct history *h, const char *file);
/* The columns as a picture, and for ui.perfetto.dev. */
void finding_page_svg(FILE *to, const struct finding *x, const struct history *h);
void finding_page_perfetto(FILE *to, const struct finding *x, const struct history *h);
void finding_perfetto_file(const char *path, const struct finding *x, const struct history *h);
/* Every atomic operation of the run. */
void finding_trace_ops(FILE *to, const struct finding *x);

/* Makes the folder, before anything is searched; dies of mistakes. */
void finding_out_folder(const char *dir);
/* Everything about a finding, as files in it. */
void finding_out(const char *dir, const struct finding *x, const struct history *h,
                 const struct shrink_result *shrunk, const char *file);

#endif
