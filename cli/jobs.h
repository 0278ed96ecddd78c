/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_JOBS_H
#define GMPSIM_CLI_JOBS_H

/* Tasks in child processes, a few at a time. There is one world per process, so this is how several
 * runs happen at once; and a task that dies takes nothing with it. */

#include <stdbool.h>
#include <stddef.h>

struct jobs {
    size_t count;     /* of tasks */
    int at_once;      /* children at a time; 0: as many as there are CPUs */
    size_t size;      /* bytes of one task's result */
    void *results;    /* count * size, zero before */
    const char *what; /* for the line that shows how far it is (progress.h) */
    /* In the child: fills result; false ends the child as failed, with its message on stderr. */
    bool (*task)(void *arg, size_t index, void *result);
    void *arg;
};

/* Runs all. EXIT_CLEAN, or the status with which a child ended; EXIT_USAGE if one was ended by a
 * signal or could not be started. A message is on stderr then. */
int jobs_run(struct jobs *j);

#endif
