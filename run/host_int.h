/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_HOST_INT_H
#define GMPSIM_RUN_HOST_INT_H

/* What the files of the hosts share. */

#include "run/host.h"

/* host_virt's own, which host_traced takes as they are. */
bool virt_open_(const struct host *h, struct failure *f, const struct host_opts *o);
void virt_start_(struct hostm *hm, void (*fn)(void *), void *arg);
enum world_end virt_run_(uint64_t until_ps);
void virt_stats_(struct host_stats *s);
const struct world_verdict *virt_verdict_(void);

/* host_real's, which host_stress takes. */
struct rt_opts;
void real_prepare_(struct world_opts *o);
/* ro: what host_opts does not say. */
bool real_open_with_(struct failure *f, const struct host_opts *o, struct rt_opts ro);
enum world_end real_run_(uint64_t until_ps);
void real_stats_(struct host_stats *s);
uint64_t real_p_cpu_ps_(int32_t pid);
bool real_quiet_(void);
/* What host_real and host_stress have in common: all but the core and how they are opened. */
#define REAL_HOST_                                                                             \
    .window = &window_real, .prepare = real_prepare_, .start = rt_start, .run = real_run_,     \
    .close = rt_free, .stats = real_stats_, .verdict = rt_verdict, .p_cpu_ps = real_p_cpu_ps_, \
    .quiet = real_quiet_

extern const struct window window_virt, window_explore, window_real;

#endif
