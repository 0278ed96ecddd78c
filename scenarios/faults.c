/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/faults.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/json.h"

enum { ONE_MAX = 120, MOST_MAX = 1000 };

static const struct {
    const char *name;
    int64_t ns;
} kinds[FAULT_KINDS] = {
#define FAULT(name, ns, op, sync, what) {#name, ns},
#include "sim/base/faults.def"
#undef FAULT
};

/* ---- reading ---- */

static bool add_weak(struct failure *f, struct faults *x, const char *site)
{
    struct fault_weak w = {0};
    const char *colon = strchr(site, ':');
    size_t n = colon != NULL ? (size_t)(colon - site) : 0;
    if (n == 0 || n >= sizeof w.func || colon[1] == 0 || strlen(colon + 1) >= sizeof w.verb) {
        fail(f, E_USAGE, "faults: want weaken:FUNCTION:VERB, such as weaken:runqput:store_rel");
        return false;
    }
    if (x->weak_count == FAULT_WEAK_MAX) {
        fail(f, E_USAGE, "faults: more than %d sites to weaken", FAULT_WEAK_MAX);
        return false;
    }
    memcpy(w.func, site, n);
    memcpy(w.verb, colon + 1, strlen(colon + 1));
    x->weak[x->weak_count++] = w;
    return true;
}

static bool add_most(struct failure *f, struct faults *x, const char *number)
{
    char *end;
    long n = strtol(number, &end, 10);
    if (end == number || *end != 0 || n < 1 || n > MOST_MAX) {
        fail(f, E_USAGE, "faults: most: want 1 to %d, got '%s'", MOST_MAX, number);
        return false;
    }
    x->most = (uint32_t)n;
    return true;
}

static bool unknown(struct failure *f, const char *name)
{
    char all[200] = "";
    for (int k = 0; k < FAULT_KINDS; k++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s, ", kinds[k].name);
    fail(f, E_USAGE, "faults: want %sweaken:FUNCTION:VERB or most=N, got '%s'", all, name);
    return false;
}

static bool add_one(struct failure *f, struct faults *x, char *one)
{
    char *value = strchr(one, '=');
    int k = 0;
    if (strncmp(one, "weaken:", 7) == 0)
        return add_weak(f, x, one + 7);
    if (value != NULL)
        *value++ = 0;
    if (strcmp(one, "most") == 0)
        return add_most(f, x, value != NULL ? value : "");
    while (k < FAULT_KINDS && strcmp(kinds[k].name, one) != 0)
        k++;
    if (k == FAULT_KINDS)
        return unknown(f, one);
    x->ns[k] = kinds[k].ns;
    if (value != NULL &&
        (kinds[k].ns == 0 || !json_parse_duration(value, &x->ns[k]) || x->ns[k] <= 0)) {
        fail(f, E_USAGE,
             kinds[k].ns == 0 ? "faults: %s has no length"
                              : "faults: %s: want a time such as 10ms, got '%s'",
             one, value);
        return false;
    }
    x->on[k] = true;
    return true;
}

bool faults_add(struct failure *f, struct faults *x, const char *text)
{
    while (*text != 0) {
        char one[ONE_MAX];
        size_t n = strcspn(text, ",");
        if (n == 0 || n >= sizeof one) {
            fail(f, E_USAGE, n == 0 ? "faults: a name is missing" : "faults: a name is too long");
            return false;
        }
        memcpy(one, text, n);
        one[n] = 0;
        if (!add_one(f, x, one))
            return false;
        text += n + (text[n] == ',' && text[n + 1] != 0);
        if (*text == ',')
            return fail(f, E_USAGE, "faults: a name is missing"), false;
    }
    return true;
}

/* ---- writing ---- */

static void put(char *buf, size_t size, const char *text)
{
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, "%s%s", n > 0 ? "," : "", text);
}

void faults_text(const struct faults *x, char *buf, size_t size)
{
    char one[ONE_MAX];
    buf[0] = 0;
    for (int k = 0; k < FAULT_KINDS; k++) {
        if (!x->on[k])
            continue;
        snprintf(one, sizeof one, kinds[k].ns != 0 ? "%s=%" PRId64 "ns" : "%s", kinds[k].name,
                 x->ns[k]);
        put(buf, size, one);
    }
    for (uint32_t i = 0; i < x->weak_count; i++) {
        snprintf(one, sizeof one, "weaken:%s:%s", x->weak[i].func, x->weak[i].verb);
        put(buf, size, one);
    }
    snprintf(one, sizeof one, "most=%u", x->most);
    if (x->most != 0)
        put(buf, size, one);
}
