/* SPDX-License-Identifier: BSD-3-Clause */
/* A program whose output depends on the compiler: compare.sh must find that out. */
#include <stdio.h>

int main(void)
{
#ifdef __clang__
    puts("compiler clang");
#else
    puts("compiler other");
#endif
    return 0;
}
