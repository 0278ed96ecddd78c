/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_STORE_MEASURED_INT_H
#define GMPSIM_STORE_MEASURED_INT_H

/* What the readers of store/measured_*.c share: a text that is read line by line, and bins. */

#include "store/measured.h"

struct line {
    const char *at, *end; /* without the newline; `at` moves on as it is read */
};

struct source {
    struct failure *f;
    const char *file, *text, *end, *next; /* next: the line to come */
    const struct measured_opts *o;
    struct measured *m;
};

bool source_line(struct source *s, struct line *l);
void source_rewind(struct source *s);
/* Refuses the file at this place. Gives false. */
bool source_wrong(struct source *s, const char *at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Something that the file does not say. */
void source_note(struct source *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

void skip_blanks(struct line *l);
/* Goes past the word, and says whether it was there. */
bool skip_word(struct line *l, const char *word);
bool line_has(const struct line *l, const char *word);
/* A number that is not negative, without a sign, not "nan"; false: there is none here. */
bool read_number(struct line *l, double *v);
/* "1.5ms", "1m2.5s", "0.0123 secs"; without a unit that of the options. */
bool read_duration(struct source *s, struct line *l, double *ns);

/* Values one by one, in classes that are 3 % wide. */
enum { TALLY_CLASSES = 64 * 32 };
struct tally {
    uint64_t of[TALLY_CLASSES];
    double count, sum, squares;
};
void tally_add(struct tally *t, double value);
size_t tally_bins(const struct tally *t, struct measured_bin bins[MEASURED_BINS_MAX]);
/* Bins in rising order become at most MEASURED_BINS_MAX, finer where the slow ones are. */
size_t bins_join(const struct measured_bin *all, size_t n,
                 struct measured_bin bins[MEASURED_BINS_MAX]);
int64_t to_ns(double ns); /* within bounds */

/* Each format: is it this, and its reader. */
bool is_prometheus(struct source *s);
bool read_prometheus(struct source *s);
bool is_schedtrace(struct source *s);
bool read_schedtrace(struct source *s);
bool is_go_metrics(struct source *s);
bool read_go_metrics(struct source *s);

#endif
