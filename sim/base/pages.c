/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "sim/base/pages.h"

#include <sys/mman.h>

#include "sim/base/coro.h" /* GMPSIM_ASAN */

enum { FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

static int protection(bool usable) { return usable ? PROT_READ | PROT_WRITE : PROT_NONE; }

#if defined(GMPSIM_ASAN)
#include <sanitizer/asan_interface.h>
#include <sys/syscall.h>
#include <unistd.h>

void *pages_map(size_t size, bool usable)
{
    long p = syscall(SYS_mmap, NULL, size, protection(usable), FLAGS, -1, 0);
    return p == -1 ? NULL : (void *)p;
}

void pages_used(void *p, size_t size) { __asan_unpoison_memory_region(p, size); }

void pages_unmap(void *p, size_t size)
{
    if (p != NULL)
        (void)syscall(SYS_munmap, p, size);
}
#else
void *pages_map(size_t size, bool usable)
{
    void *p = mmap(NULL, size, protection(usable), FLAGS, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void pages_used(void *p, size_t size) { (void)p, (void)size; }

void pages_unmap(void *p, size_t size)
{
    if (p != NULL)
        munmap(p, size);
}
#endif
