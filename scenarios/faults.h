/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_FAULTS_H
#define GMPSIM_SCENARIOS_FAULTS_H

/* Faults as text: "syscall=10s,spurious,weaken:runqput:store_rel,most=2". */

#include <stddef.h>

#include "sim/base/fail.h"
#include "sim/base/faults.h"

/* A length of "10s" and the like follows a name that has one; what is named again counts last.
 * False: f says what is wrong. Who weakens a site has to see whether it is there. */
bool faults_add(struct failure *f, struct faults *x, const char *text);
/* The same text in one order, with all lengths; "" if there are none. */
void faults_text(const struct faults *x, char *buf, size_t size);

#endif
