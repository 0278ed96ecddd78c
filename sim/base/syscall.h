/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_SYSCALL_H
#define GMPSIM_SIM_BASE_SYSCALL_H

/* What a system call of a program does, on every host. Programs and tapes hold the numbers. */

#include <stdbool.h>

enum syscall_kind {
    SYSCALL_SPIN,  /* computes in the kernel */
    SYSCALL_SLEEP, /* nanosleep */
    SYSCALL_PIPE,  /* reads from a pipe until somebody has written */
    SYSCALL_FILE,  /* reads a file that is in the page cache */
    SYSCALL_KINDS
};

/* Its thread needs no CPU meanwhile. */
static inline bool syscall_off_cpu(enum syscall_kind kind)
{
    return kind == SYSCALL_SLEEP || kind == SYSCALL_PIPE;
}

#endif
