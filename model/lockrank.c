/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock ranks (lockrank.go, lockrank_on.go): which lock may be taken while which others are held. */
#include "runtime2.h"

/* lockrank_on.go lockInit. */
static void lockInit(struct mutex *l, enum lockrank rank) { l->rank = (uint8_t)rank; }

/* lockrank_on.go acquireLockRank. */
static void lockrank_acquire(struct m *mp, const struct mutex *l) {
    if (mp->nheld == HELD_MAX)
        throw("lock: too many locks held");
    mp->held[mp->nheld++] = l;
}

/* lockrank_on.go lockRelease: locks are mostly released in the reverse order, not always. */
static void lockrank_release(struct m *mp, const struct mutex *l) {
    int32_t i = mp->nheld;
    while (i > 0 && mp->held[i - 1] != l)
        i--;
    if (i == 0)
        throw("unlock of a lock that is not held");
    mp->nheld--;
    for (; i <= mp->nheld; i++)
        mp->held[i - 1] = mp->held[i];
}
