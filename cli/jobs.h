/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_JOBS_H
#define GMPSIM_CLI_JOBS_H

/* Tasks in child processes, a few at a time. There is one world per process, so this is how several
 * runs happen at once; and a task that dies takes nothing with it. Children end with their parent,
 * however it ends. Which task is next is asked whenever there is room for one, so it may depend on
 * what came back. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JOBS_NONE = -1 }; /* no task now; when none is under way either, that was all */

struct jobs {
    int at_once;      /* children at a time; 0: as many as there are CPUs */
    size_t size;      /* bytes of one task's result */
    const char *what; /* for the line that shows how far it is (progress.h) */
    void *arg;
    int64_t (*next)(void *arg);
    /* In the child: fills result, which is zero; false ends the child as failed, with its message
     * on stderr. */
    bool (*task)(void *arg, int64_t task, void *result);
    void (*done)(void *arg, int64_t task, const void *result);
    /* How many are done, of how many; 0: nobody knows. */
    void (*far)(void *arg, int64_t *done, int64_t *total);
};

/* Runs all. EXIT_CLEAN, or the status with which a child ended; EXIT_USAGE if one was ended by a
 * signal or could not be started. A message is on stderr then. */
int jobs_run(struct jobs *j);

#endif
