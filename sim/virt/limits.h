/* SPDX-License-Identifier: BSD-3-Clause */
/* Every limit of a virtual world. Crossing one is a message that names it, never a crash. */
#ifndef GMPSIM_VIRT_LIMITS_H
#define GMPSIM_VIRT_LIMITS_H

#define VM_THREADS_ALIVE_MAX 16384      /* Go itself stops at 10000 */
#define VM_THREADS_MAX       (1u << 20) /* created in one world, dead ones included */
#define VM_CPUS_MAX          1024       /* with a CPU scheduler; `dedicated` has one per thread */
#define VM_NCPU_DEDICATED    8          /* what host_ncpu says then, unless told otherwise */
#define VM_FDS_MAX           (1u << 20) /* descriptors that env_ready may name */
#define VM_LATE_PS           (UINT64_C(100) * 1000000) /* so long a descriptor is ready unseen */
#define VM_TIME_MAX_PS       (UINT64_C(200) * 86400 * 1000000000000u) /* 200 days */
#define VM_MEMORY_DEFAULT    (UINT64_C(8) << 30)
#define VM_MEMORY_MAX        (UINT64_C(1) << 40)
#define VM_MEMORY_MIN        (UINT64_C(1) << 20)
#define VM_MEMORY_FIRST      (UINT64_C(2) << 20) /* more than any world has before it runs */
#define VM_NCPU_SHOWN_MAX    65536
#define VM_QUOTA_MIN_US      1000                /* as Linux */
#define VM_QUOTA_MAX_US      INT64_C(1000000000) /* a thousand CPUs for the longest period */
#define VM_PERIOD_MIN_US     1000                /* as Linux: cpu.max takes 1 ms to 1 s */
#define VM_PERIOD_MAX_US     1000000

#endif
