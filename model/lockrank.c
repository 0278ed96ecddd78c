/* SPDX-License-Identifier: BSD-3-Clause */
/* Lock ranks (lockrank.go, lockrank_on.go): which lock may be taken while which others are held. */
#include "runtime2.h"

/* lockrank_on.go lockInit. */
static void lockInit(struct mutex *l, enum lockrank rank) { l->rank = (uint8_t)rank; }

/* A select holds all its channels' locks: the first one stands for them. */
static int32_t held_chan(const struct m *mp)
{
    int32_t i = mp->nheld;
    while (i > 0 && mp->held[i - 1]->rank != lockRankHchan)
        i--;
    return i - 1;
}

/* lockrank_on.go acquireLockRank. */
static void lockrank_acquire(struct m *mp, const struct mutex *l)
{
    if (l->rank == lockRankHchan && held_chan(mp) >= 0) {
        mp->nchans++;
        return;
    }
    if (mp->nheld == HELD_MAX)
        throw("lock: too many locks held");
    mp->held[mp->nheld++] = l;
}

/* lockrank_on.go lockRelease: locks are mostly released in the reverse order, not always. */
static void lockrank_release(struct m *mp, const struct mutex *l)
{
    if (l->rank == lockRankHchan && mp->nchans > 0) {
        mp->nchans--;
        return;
    }
    if (l->rank == lockRankHchan && held_chan(mp) >= 0)
        l = mp->held[held_chan(mp)];
    int32_t i = mp->nheld;
    while (i > 0 && mp->held[i - 1] != l)
        i--;
    if (i == 0)
        throw("unlock of a lock that is not held");
    mp->nheld--;
    for (; i <= mp->nheld; i++)
        mp->held[i - 1] = mp->held[i];
}
