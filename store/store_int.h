/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_STORE_INT_H
#define GMPSIM_STORE_STORE_INT_H

/* Shared inside of the store. */

#include "store/store.h"

/* Puts what SQLite says last into words. */
void store_error_(struct store *s, struct failure *f);
bool store_exec_(struct store *s, struct failure *f, const char *sql);

#endif
