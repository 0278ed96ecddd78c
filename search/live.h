/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SEARCH_LIVE_H
#define GMPSIM_SEARCH_LIVE_H

/* Which registers matter at an instruction: what they hold then may still decide something. A
 * register that is only counted in (r = r + k), or that is written before it is read, does not. */

#include "run/window.h"

/* One of each instruction; from malloc. */
struct look_live *live_registers(const struct program *p);

#endif
