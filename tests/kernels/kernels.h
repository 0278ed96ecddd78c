/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_TESTS_KERNELS_KERNELS_H
#define GMPSIM_TESTS_KERNELS_KERNELS_H

/* All files of scenarios/kernels that have a bug, without folder and ".json"; then NULL. */
extern const char *const kernels[];

/* The bug that the file describes is found within the budget; in every schedule, if it always
 * comes. */
void kernel_is_found(const char *name);
/* Every schedule with one preemption is as expected, and so are many random ones. */
void kernel_is_clean(const char *name);

#endif
