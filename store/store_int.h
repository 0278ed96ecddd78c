/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_STORE_INT_H
#define GMPSIM_STORE_STORE_INT_H

/* Shared inside of the store. */

#include "store/store.h"

/* Puts what SQLite says last into words. */
void store_error_(struct store *s, struct failure *f);
bool store_exec_(struct store *s, struct failure *f, const char *sql);
/* From here on work is lost if it cannot be written. */
void store_be_patient_(struct store *s);
/* owner.h */
int store_owner_(struct store *s);

#endif
