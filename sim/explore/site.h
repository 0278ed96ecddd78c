/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_EXPLORE_SITE_H
#define GMPSIM_EXPLORE_SITE_H

/* A site: one atomic verb at one place of the source. Ids are dense, given in the order of file,
 * line and operation over the whole program, so they are the same for every compiler and every run
 * of a build; they never reach a schedule or a fingerprint. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/traced.h"

enum ex_op {
#define OP(name, ...) OP_##name,
#include "sim/explore/ops.def"
#undef OP
    /* what else a trace shows */
    OP_flush, /* a buffered store reaches memory */
    OP_futexsleep,
    OP_futexwakeup,
    OP_wake, /* a wait is over */
    OP_sleep,
    OP_burst,
    OP_syscall,
    OP_poll,
    OP_signal,
    OP_start,
    OP_exit,
    OP_COUNT
};

struct ex_site {
    const char *file, *func;
    uint32_t line;
    uint8_t op;
    bool weakened; /* an order fault: the access goes without the order that it declares */
    uint32_t id;   /* 1 .. ; valid after site_number() */
    struct traced_site told; /* for listeners */
};

/* Pointers to all sites lie in one linker section. field: as the source says it. */
#define EX_SITE(op_, order_, field_, value_)                                \
    __extension__({                                                         \
        static struct ex_site site_ = {                                     \
            __FILE__,                                                       \
            __func__,                                                       \
            __LINE__,                                                       \
            OP_##op_,                                                       \
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
const char *op_name(enum ex_op op);
/* "file.c:12", without folders. */
void site_format(const struct ex_site *s, char *buf, size_t size);
/* All sites of this function (NULL: any) and operation; returns how many there are. A site that is
 * weakened uses plain accesses until it is restored. */
uint32_t site_weaken(const char *func, enum ex_op op, bool weakened);

#endif
