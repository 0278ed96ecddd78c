/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_EXPLORE_CI_H
#define GMPSIM_CLI_EXPLORE_CI_H

/* What a lane of continuous integration reads of a search: JUnit's XML, annotations of GitHub, a
 * summary in Markdown. */

#include "cli/finding_page.h"

struct ci_opts {
    const char *junit, *summary;
    bool github; /* annotations; and the summary where GITHUB_STEP_SUMMARY says */
};

struct ci_result {
    const char *file, *schedule; /* of the scenario; of the finding */
    const struct scenario *scenario;
    const struct finding *finding; /* NULL: none */
    const struct history *history;
    const struct shrink_result *shrunk;
    uint64_t runs;
    double seconds;
    int status; /* the command's exit status */
};

/* Before anything is printed. */
void ci_begin(const struct ci_opts *o);
void ci_report(const struct ci_opts *o, const struct ci_result *r);

#endif
