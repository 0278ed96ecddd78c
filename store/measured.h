/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_MEASURED_H
#define GMPSIM_STORE_MEASURED_H

/* What others measured of a program, as their tools print it: latencies (Prometheus histograms,
 * wrk, wrk2, hey, oha, vegeta, lists of numbers) and what Go's scheduler says of itself
 * (runtime/metrics, GODEBUG=schedtrace). The format is seen from the text. Lines that say nothing
 * of either are passed over; one that ought to say something and does not is refused with
 * file:line:column. Memory is a few times the file's, and files are at most MEASURED_FILE_MAX.
 *
 * What a file cannot say is listed in notes, in sentences for people. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/fail.h"

enum { MEASURED_FILE_MAX = 64 << 20, MEASURED_BINS_MAX = 64, MEASURED_NOTES_MAX = 16 };

struct measured_bin {
    int64_t from_ns, to_ns;
    uint64_t weight;
};

struct measured {
    const char *format; /* "the output of wrk" */
    char name[200];     /* of what was measured; "" */
    /* Latencies as their client or server saw them. */
    struct measured_bin bins[MEASURED_BINS_MAX];
    size_t nbins;
    double count;      /* 0: not known */
    double mean_ns;    /* 0: not known */
    double per_second; /* 0: not known */
    double seconds;    /* of the measurement; 0: not known */
    int64_t clients;   /* connections that ask, wait and ask again; 0: an open load, or not known */
    bool constant;     /* arrivals are evenly spaced */
    struct measured_bin gaps[MEASURED_BINS_MAX]; /* between arrivals */
    size_t ngaps;
    /* What the scheduler says: no latencies of requests. */
    bool of_scheduler;
    int64_t procs;                   /* GOMAXPROCS */
    double busy;                     /* Ps that ran goroutines, the mean */
    double starts;                   /* of goroutines on a P, per second; 0: not known */
    double queued;                   /* goroutines in run queues, the mean; below 0: not known */
    double wait_p50_ns, wait_p99_ns; /* in run queues; 0: not known */
    double alloc_bytes;              /* per start; 0: not known */
    double live_bytes;               /* 0: not known */
    char notes[MEASURED_NOTES_MAX][300];
    int nnotes;
};

struct measured_opts {
    const char *metric; /* of several histograms; NULL: the one in which most time was spent */
    const char *label;  /* only series with this label, as `code="200"`; NULL: all of them */
    double unit_ns;     /* of numbers without a unit; 0: seconds */
};

bool measured_read(struct failure *f, const char *path, const struct measured_opts *o,
                   struct measured *m);
/* path: for messages. The text need not end with NUL. */
bool measured_parse(struct failure *f, const char *path, const char *text, size_t size,
                    const struct measured_opts *o, struct measured *m);

#endif
