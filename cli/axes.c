/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/axes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/machine.h"
#include "cli/scale.h"
#include "run/host.h"
#include "sim/base/alloc.h"
#include "sim/virt/limits.h"

enum { RATE_MIN = 1000, RATE_MAX = 1000000000, STEPS_PER_DOUBLE = 2 };

static const char *const policies[] = {"default", "node", "automaxprocs", "go1.25", NULL};

static void add(struct axis *a, const char *name, const char *value)
{
    if (a->count == AXIS_MAX)
        cli_die(EXIT_USAGE, "--%s: more than %d values", name, AXIS_MAX);
    a->values[a->count++] = value != NULL ? x_strdup(value) : NULL;
}

/* Each word of the list is given to `word`. */
static void each(struct axis *a, const char *name, void (*word)(struct axis *, const char *))
{
    if (a->given == NULL) {
        add(a, name, NULL); /* the scenario's own */
        return;
    }
    char *copy = x_strdup(a->given);
    for (char *save, *w = strtok_r(copy, ",", &save); w != NULL; w = strtok_r(NULL, ",", &save))
        word(a, w);
    free(copy);
    if (a->count == 0)
        cli_die(EXIT_USAGE, "--%s: want a list such as 1,2,4", name);
}

/* The parts before and behind "..", or "-"; false: it is no range. */
static bool split_range(const char *word, const char *mark, char *low, char *high, size_t size)
{
    const char *at = strstr(word, mark);
    if (at == NULL || at == word || at[strlen(mark)] == 0 || (size_t)(at - word) >= size ||
        strlen(at + strlen(mark)) >= size)
        return false;
    memcpy(low, word, (size_t)(at - word));
    low[at - word] = 0;
    strcpy(high, at + strlen(mark));
    return true;
}

/* ---- GOMAXPROCS ---- */

static int64_t procs_number(const char *text)
{
    int64_t n;
    if (!parse_int(text, &n) || n < 1 || n > PROCS_MAX)
        cli_die(EXIT_USAGE,
                "--procs: want numbers from 1 to %d, ranges such as 1-4, default, node,"
                " automaxprocs or go1.25; got '%s'",
                PROCS_MAX, text);
    return n;
}

static void word_procs(struct axis *a, const char *word)
{
    char low[32], high[32], text[32];
    for (int i = 0; policies[i] != NULL; i++)
        if (strcmp(policies[i], word) == 0) {
            add(a, "procs", word);
            return;
        }
    if (!split_range(word, "..", low, high, sizeof low) &&
        !split_range(word, "-", low, high, sizeof low)) {
        (void)procs_number(word);
        add(a, "procs", word);
        return;
    }
    int64_t from = procs_number(low), to = procs_number(high);
    if (from > to)
        cli_die(EXIT_USAGE, "--procs: %s ends before it begins", word);
    for (; from <= to; from++) {
        snprintf(text, sizeof text, "%" PRId64, from);
        add(a, "procs", text);
    }
}

void axis_procs(struct axis *a) { each(a, "procs", word_procs); }

int32_t procs_of_policy(const char *word, int32_t cpus, int64_t quota_us, int64_t period_us)
{
    if (cpus == 0)
        cpus = VM_NCPU_DEDICATED;
    int64_t down = quota_us / period_us, up = (quota_us + period_us - 1) / period_us;
    if (strcmp(word, "default") == 0)
        return 0;
    if (strcmp(word, "node") == 0)
        return cpus;
    if (strcmp(word, "automaxprocs") == 0)
        return quota_us == 0 ? cpus : down < 1 ? 1 : down < cpus ? (int32_t)down : cpus;
    if (strcmp(word, "go1.25") == 0) {
        if (up < 2)
            up = 2;
        return quota_us == 0 || up > cpus ? cpus : (int32_t)up;
    }
    return -1;
}

/* ---- releases ---- */

static void word_profile(struct axis *a, const char *word)
{
    char low[32], high[32];
    if (!split_range(word, "..", low, high, sizeof low)) {
        (void)machine_release(word);
        add(a, "profile", word);
        return;
    }
    int from = machine_release(low), to = machine_release(high);
    if (from > to)
        cli_die(EXIT_USAGE, "--profile: %s ends before it begins", word);
    for (; from <= to; from++)
        add(a, "profile", profile_name(from));
}

void axis_profiles(struct axis *a) { each(a, "profile", word_profile); }

static void word_plain(struct axis *a, const char *word) { add(a, "list", word); }

void axis_plain(struct axis *a, const char *name) { each(a, name, word_plain); }

/* ---- arrival rates ---- */

int64_t rate_of(const char *text)
{
    char *end;
    size_t n = strspn(text, "0123456789.");
    double rate = n > 0 ? strtod(text, &end) : 0;
    if (n == 0 || end != text + n || strcmp(end, "x") != 0 || rate * RATE_ONE < RATE_MIN ||
        rate * RATE_ONE > RATE_MAX)
        cli_die(EXIT_USAGE,
                "--rate: want times of the scenario's own rate, such as 0.5x,1x,2x or 0.5x..2x;"
                " got '%s'",
                text);
    return (int64_t)(rate * RATE_ONE + 0.5);
}

/* A range has two steps per doubling: 0.5x..2x is 0.5, 0.707, 1, 1.41, 2. */
static void word_rate(struct axis *a, const char *word)
{
    char low[32], high[32], text[40];
    if (!split_range(word, "..", low, high, sizeof low)) {
        (void)rate_of(word);
        add(a, "rate", word);
        return;
    }
    int64_t from = rate_of(low), to = rate_of(high);
    if (from > to)
        cli_die(EXIT_USAGE, "--rate: %s ends before it begins", word);
    double ratio = (double)to / (double)from;
    int steps = (int)ceil(STEPS_PER_DOUBLE * log2(ratio) - 1e-6);
    for (int i = 0; i <= steps; i++) {
        double at = (double)from * pow(ratio, steps > 0 ? (double)i / steps : 0);
        snprintf(text, sizeof text, "%.4gx", at / RATE_ONE);
        add(a, "rate", text);
    }
}

void axis_rates(struct axis *a) { each(a, "rate", word_rate); }

void axis_release(struct axis *a)
{
    for (int i = 0; i < a->count; i++)
        free(a->values[i]);
    a->count = 0;
}
