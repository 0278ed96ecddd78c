/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_EXPLORE_SITE_H
#define GMPSIM_EXPLORE_SITE_H

/* A site: one atomic verb at one place of the source. Ids are dense, given in the order of file,
 * line and verb over the whole program, so they are the same for every compiler and every run
 * of a build; they never reach a schedule or a fingerprint. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/traced.h"

enum ex_verb {
#define VERB(name, ...) VERB_##name,
#include "sim/explore/verbs.def"
#undef VERB
    /* what else a trace shows */
    VERB_flush, /* a buffered store reaches memory */
    VERB_futexsleep,
    VERB_futexwakeup,
    VERB_wake, /* a wait is over */
    VERB_sleep,
    VERB_burst,
    VERB_syscall,
    VERB_poll,
    VERB_signal,
    VERB_start,
    VERB_exit,
    VERB_fault,
    VERB_COUNT
};

struct ex_site {
    const char *file, *func;
    uint32_t line;
    uint8_t verb;
    uint8_t without; /* an order fault: parts of its order that are left out, enum mm_bits */
    uint32_t id;     /* 1 .. ; valid after site_count() */
    struct traced_site told; /* for listeners */
};

/* Pointers to all sites lie in one linker section. field: as the source says it. */
#define EX_SITE(verb_, order_, field_, value_)                              \
    __extension__({                                                         \
        static struct ex_site site_ = {                                     \
            __FILE__,                                                       \
            __func__,                                                       \
            __LINE__,                                                       \
            VERB_##verb_,                                                   \
            false,                                                          \
            0,                                                              \
            {__FILE__, __func__, __LINE__, NULL, #order_, field_, value_}}; \
        static struct ex_site *const site_p_                                \
            __attribute__((used, section("gmpsim_sites"))) = &site_;        \
        (void)site_p_;                                                      \
        &site_;                                                             \
    })

/* Numbers the sites, once; returns how many there are. */
uint32_t site_count(void);
struct ex_site *site_get(uint32_t id); /* NULL: no such site */
const char *verb_name(enum ex_verb verb);
/* All sites of this function (NULL: any) and verb; returns how many there are. A site that is
 * weakened uses plain accesses until it is restored. */
uint32_t site_weaken(const char *func, enum ex_verb verb, bool weakened);

#endif
