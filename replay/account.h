/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_REPLAY_ACCOUNT_H
#define GMPSIM_REPLAY_ACCOUNT_H

/* What a recorded trace comes to, in the terms of a simulated run's report (run/result.h): the same
 * analysis and the same attribution listen to it. What only a simulator knows (counters, queues by
 * place, threads that spin, a fingerprint) is zero there; result.end is END_RECORDED.
 *
 *     account_open(&f, &a, open, arg, extra);
 *     transitions_listen(&a.transitions, ...);      whoever else wants to hear of it
 *     account_read(&a, NULL, &f);
 *     ... a.result ...
 *     account_close(&a); */

#include "replay/tracks.h"
#include "run/analysis.h"
#include "run/attribution.h"

struct account {
    struct tracks *tracks;
    struct transitions transitions;
    struct analysis analysis;
    struct attribution attribution;
    struct run_result result;
    size_t extra_at; /* where the caller's bytes of a struct tr_g begin, in words */
};

/* As tracks_open; extra: bytes of every goroutine for one more listener. */
bool account_open(struct failure *f, struct account *a,
                  struct trace *(*open)(struct failure *f, void *arg), void *arg, size_t extra);
/* False: the trace is broken; the result is of what came before. */
bool account_read(struct account *a, const struct tracks_pause *pause, struct failure *f);
void account_close(struct account *a);

#endif
