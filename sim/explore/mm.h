/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_EXPLORE_MM_H
#define GMPSIM_EXPLORE_MM_H

/* Memory models: what a load may see (docs/memory-models.md is the long form).
 *
 *   sc     one memory, every access at once
 *   tso    x86: a FIFO store buffer per thread, own stores forwarded
 *   arm64  multi-copy atomic, views: ARMv8
 *   ppc64  not multi-copy atomic, cumulative barriers, views: POWER
 *
 * The bytes of a location always hold the newest value of its coherence order (tso: the newest that
 * left a buffer); a model keeps the rest beside. All calls are made between two points, so nothing
 * here is concurrent. Thread -1 is nobody: set-up, environment and observers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sim/base/own_data.h"

enum mm_kind { MM_SC, MM_TSO, MM_ARM, MM_POWER, MM_KINDS };

/* What the instructions of an access do besides the access. */
enum mm_bits {
    MM_DRAIN = 1,   /* amd64: LOCK prefix or MFENCE; the store buffer is empty after it */
    MM_ACQ = 2,     /* arm64: LDAR and the A of CASAL */
    MM_REL = 4,     /* arm64: STLR and the L of CASAL */
    MM_DMB = 8,     /* arm64: DMB ISH */
    MM_SYNC = 16,   /* ppc64: SYNC before */
    MM_LWSYNC = 32, /* ppc64: LWSYNC before */
    MM_ISYNC = 64,  /* ppc64: conditional branch on the value and ISYNC after */
    MM_LWSYNC_AFTER = 128
};

/* Atomic read-modify-writes, on the word of the location. */
enum mm_rmw { RMW_CAS, RMW_XCHG, RMW_XCHG8, RMW_ADD, RMW_OR, RMW_AND };

enum {
    MM_THREADS_MAX = 64,
    MM_TSO_DEPTH = 32,  /* stores in a buffer; one more pushes the oldest out */
    MM_LOCS_MAX = 4096, /* locations of a world under arm64; accessed by a_* at least once */
    MM_POWER_LOCS_MAX = 1024,
    MM_HISTORY_MAX =
        12, /* stores of a location that a load can still see; older ones are forgotten */
    MM_SLOTS_MAX = 12, /* places among the latest stores where a store can go */
    MM_MSGS_MAX = 1 << 16,
    MM_COPY_MAX = 1 << 16
};

struct chooser;
struct fingerprint;

struct mm_stats {
    uint64_t stale_loads, moved_stores;
    uint64_t forgotten; /* histories cut, slots not offered: 0 means nothing was left out */
};

struct mm {
    enum mm_kind kind;
    bool ctrl; /* every load is followed by a branch that later stores depend on (ppc64: always) */
    struct chooser *chooser;
    uint64_t pending;  /* tso: threads with a buffer that is not empty */
    const char *limit; /* set when a limit was crossed: the run must be cut */
    struct mm_stats stats;
};
OWN_DATA struct mm mm;

/* Once per world; ctrl as in struct mm. Forgets everything of the last world. */
void mm_reset(enum mm_kind kind, bool ctrl, struct chooser *chooser);

/* addr is aligned to size, 1, 2, 4 or 8. A location is always accessed with one size. */
void mm_init_value(void *addr, unsigned size, uint64_t value);
uint64_t mm_load(int tid, void *addr, unsigned size, unsigned bits);
void mm_store(int tid, void *addr, unsigned size, unsigned bits, uint64_t value);
/* Returns the old value; *wrote says whether a store happened (RMW_CAS that failed: no). */
uint64_t mm_rmw(int tid, void *addr, unsigned size, unsigned bits, enum mm_rmw how,
                uint64_t operand, uint64_t expect, bool *wrote);
void mm_fence(int tid, unsigned bits);

/* What an observer on thread tid sees: its own stores, else the newest value; nobody (-1) sees the
 * newest value of the coherence order when all buffers have emptied. No effect. */
uint64_t mm_peek(int tid, const void *addr, unsigned size);

/* A kernel call that orders: everything before it on `from` is visible to everything after it on
 * `to` (a thread start, a futex wake). from == to: a full fence, whatever the port. */
void mm_kernel(int from, int to);
/* The value that the kernel reads at addr, after a full fence of tid. */
uint64_t mm_kernel_read(int tid, void *addr, unsigned size);

/* tso: the oldest store of thread id's buffer reaches memory; which it will be. */
void mm_flush_one(int tid);
const void *mm_oldest(int tid, uint64_t *value);

/* All that a model knows in the middle of a run. False: it is too much for a copy. Only what was
 * saved in this run can be put back. */
struct mm_copy {
    struct mm mm;
    uint32_t used;
    bool over;
    unsigned char bytes[MM_COPY_MAX];
};
bool mm_save(struct mm_copy *c);
void mm_put_back(struct mm_copy *c);
/* All that decides what these threads may see and do from now on; not by which steps it came to be
 * so. */
void mm_mix(struct fingerprint *f, uint64_t threads);

const char *mm_kind_name(enum mm_kind k);

/* ---- inside ---- */

static inline uint64_t mm_raw_get(const void *addr, unsigned size)
{
    switch (size) {
    case 1: {
        uint8_t v;
        memcpy(&v, addr, 1);
        return v;
    }
    case 2: {
        uint16_t v;
        memcpy(&v, addr, 2);
        return v;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, addr, 4);
        return v;
    }
    default: {
        uint64_t v;
        memcpy(&v, addr, 8);
        return v;
    }
    }
}

static inline void mm_raw_put(void *addr, unsigned size, uint64_t value)
{
    switch (size) {
    case 1: memcpy(addr, &(uint8_t){(uint8_t)value}, 1); break;
    case 2: memcpy(addr, &(uint16_t){(uint16_t)value}, 2); break;
    case 4: memcpy(addr, &(uint32_t){(uint32_t)value}, 4); break;
    default: memcpy(addr, &value, 8); break;
    }
}

static inline uint64_t mm_cut(uint64_t value, unsigned size)
{
    return size == 8 ? value : value & ((UINT64_C(1) << size * 8) - 1);
}

static inline uint64_t mm_rmw_value(enum mm_rmw how, uint64_t old, uint64_t operand, unsigned size)
{
    switch (how) {
    case RMW_CAS:
    case RMW_XCHG: return mm_cut(operand, size);
    case RMW_XCHG8: return (old & ~UINT64_C(0xff)) | (operand & 0xff);
    case RMW_ADD: return mm_cut(old + operand, size);
    case RMW_OR: return mm_cut(old | operand, size);
    case RMW_AND: return mm_cut(old & operand, size);
    }
    return 0;
}

/* Into the copy, or from where it was put there. */
void mm_copy_part(struct mm_copy *c, void *part, size_t size, bool back);

void tso_reset(void);
uint64_t tso_load(int tid, void *addr, unsigned size);
void tso_store(int tid, void *addr, unsigned size, uint64_t value);
void tso_drain(int tid);
bool tso_own(int tid, const void *addr, uint64_t *value);

void weak_reset(void);
void weak_copy(struct mm_copy *c, bool back);
void weak_mix(struct fingerprint *f, uint64_t threads);
void weak_init_value(void *addr, unsigned size, uint64_t value);
uint64_t weak_load(int tid, void *addr, unsigned size, unsigned bits);
void weak_store(int tid, void *addr, unsigned size, unsigned bits, uint64_t value);
uint64_t weak_rmw(int tid, void *addr, unsigned size, unsigned bits, enum mm_rmw how,
                  uint64_t operand, uint64_t expect, bool *wrote);
void weak_fence(int tid, unsigned bits);
void weak_kernel(int from, int to);
uint64_t weak_kernel_read(int tid, void *addr, unsigned size);

#endif
