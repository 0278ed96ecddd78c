/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_CLI_HWMEASURE_H
#define GMPSIM_CLI_HWMEASURE_H

/* What operations take on the machine at hand: the entries of a cost table that a program can
 * measure. Every sample is a time in picoseconds; who asks gets all of them, sorted. */

#include <stdbool.h>
#include <stdint.h>

enum {
    HW_SAMPLES_MAX = 2000,
    HW_DEEP_NS = 100000 /* idle for longer: told as HW_WAKE_LATER; for less: wake_latency */
};
#define HW_WAKE_LATER "wake of a CPU idle for 400 us"

struct hw_entry {
    const char *name; /* in the table; of the operation, for one that is in none */
    bool atomic;      /* of the list "ports"; else of "costs" */
    bool miss;        /* another CPU has the line */
    bool in_table;    /* else it is only told */
    int n;            /* samples; 0: not measured, as with one CPU */
    int64_t ps[HW_SAMPLES_MAX];
    int share; /* permille of the time in which the measuring thread had its CPU; -1: it slept */
};

/* One after the other; tell is called with each. The entry is gone when tell returns. False: the
 * system gave no thread or no descriptor, and entries are missing. */
bool hw_measure(int samples, void (*tell)(void *arg, const struct hw_entry *e), void *arg);
/* "amd64", "arm64", ...; NULL: no port has this processor. */
const char *hw_port(void);

#endif
