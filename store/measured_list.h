/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_MEASURED_LIST_H
#define GMPSIM_STORE_MEASURED_LIST_H

/* What load generators print: percentiles (wrk, wrk2, hey, oha), vegeta's reports, a value per
 * line or row of CSV. */

#include "store/measured_int.h"

bool is_vegeta_json(struct source *s);
bool read_vegeta_json(struct source *s); /* a report, or an object per line (vegeta encode) */
bool is_vegeta(struct source *s);
bool read_vegeta(struct source *s); /* the text report, with or without a histogram */
bool is_percentiles(struct source *s);
bool read_percentiles(struct source *s);
bool is_samples(struct source *s);
bool read_samples(struct source *s); /* hey -o csv, vegeta encode -to csv, durations */

#endif
