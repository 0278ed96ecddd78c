/* SPDX-License-Identifier: BSD-3-Clause */
#include "interp.h"
static void schedtrace(bool detailed) { (void)detailed; }
