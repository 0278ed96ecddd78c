/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/fingerprint.h"

static uint64_t little_endian(const unsigned char *p, uint64_t n)
{
    uint64_t x = 0;
    for (uint64_t i = 0; i < n; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return x;
}

void fp_mix_bytes(struct fingerprint *f, const void *bytes, uint64_t size)
{
    const unsigned char *p = bytes;
    fp_mix(f, size);
    for (; size >= 8; size -= 8, p += 8)
        fp_mix(f, little_endian(p, 8));
    if (size)
        fp_mix(f, little_endian(p, size));
}
