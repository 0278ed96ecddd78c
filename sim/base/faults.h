/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_FAULTS_H
#define GMPSIM_SIM_BASE_FAULTS_H

/* What may go wrong in a run that is explored, as data: scenarios/faults.h reads it from text. Each
 * occasion is a choice (CHOICE_FAULT) while fewer than `most` have happened. */

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
#define FAULT(name, ns, op, sync, what) FAULT_##name,
#include "sim/base/faults.def"
#undef FAULT
    FAULT_KINDS
};

enum { FAULT_WEAK_MAX = 8, FAULT_NAME_MAX = 40, FAULTS_MOST = 1 };

struct faults {
    bool on[FAULT_KINDS];
    int64_t ns[FAULT_KINDS]; /* of those that have a length */
    uint32_t most;           /* in one run; 0: FAULTS_MOST */
    /* Sites of the model that lose their order: those of `func` with `verb`. Nothing is chosen. */
    struct fault_weak {
        char func[FAULT_NAME_MAX], verb[FAULT_NAME_MAX];
    } weak[FAULT_WEAK_MAX];
    uint32_t weak_count;
};

#endif
