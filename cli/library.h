/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_LIBRARY_H
#define GMPSIM_CLI_LIBRARY_H

/* Where scenarios are: the folders that GMPSIM_SCENARIOS names (separated by colons), the folder
 * scenarios here, the library installed with this program, that of the system. The first that
 * has any is it. */

#include <stddef.h>

struct library {
    char **paths;
    size_t count, room;
};

/* The scenarios among these files and folders, by name; without any, those of the library. Dies
 * when there are none. */
void library_collect(struct library *l, char **args, int count);
void library_release(struct library *l);

/* The file that somebody means who says this: that file, or else the scenario of the library with
 * this name ("http-service"). From malloc. Dies with what to do where there is neither. */
char *library_file(const char *said);

#endif
