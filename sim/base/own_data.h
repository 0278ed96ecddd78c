/* SPDX-License-Identifier: BSD-3-Clause */
/* The word for data that one file of the library defines and others use. -fvisibility=hidden is
 * about definitions alone: behind a plain extern, code for a shared library finds the data through
 * a table of addresses, which cost every function of the model an instruction and a register. */
#ifndef GMPSIM_BASE_OWN_DATA_H
#define GMPSIM_BASE_OWN_DATA_H

#define OWN_DATA extern __attribute__((visibility("hidden")))

#endif
