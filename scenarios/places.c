/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

/* An expectation that the import added means nothing to who reads the original program. */
static const char EXPECTED[] = "expected the run to end with: exit; it ended with: ";

static const char *place_of(const struct scenario *s, const char *number, char **end)
{
    unsigned long line = strtoul(number, end, 10);
    return *end != number && line < s->nplaces ? s->places[line] : NULL;
}

struct told {
    char *to;
    size_t room;
};

static void put(struct told *t, const char *text, size_t n)
{
    n = n < t->room ? n : t->room;
    memcpy(t->to, text, n);
    t->to += n;
    t->room -= n;
}

/* The name before " (line N)" is the scenario's own. */
static void take_name_back(struct told *t, const char *begin)
{
    while (t->to > begin && t->to[-1] != '\n') {
        t->to--;
        t->room++;
    }
}

/* "pool.go:55" of "main.worker pool.go:55" */
static const char *short_of(const char *place)
{
    const char *space = strrchr(place, ' ');
    return space != NULL ? space + 1 : place;
}

/* The place that begins there; *end behind it. NULL: there is none. */
static const char *page_place(const struct scenario *s, const char *file, const char *p,
                              const char **end)
{
    size_t n = strlen(file);
    char *stop;
    const char *place = NULL;
    if (strncmp(p, file, n) == 0 && p[n] == ':')
        place = place_of(s, p + n + 1, &stop);
    else if (strncmp(p, "line ", 5) == 0)
        place = place_of(s, p + 5, &stop);
    else if (strncmp(p, " :", 2) == 0 && (place = place_of(s, p + 2, &stop)) != NULL)
        place = *stop == '\n' ? place : NULL;
    if (place == NULL)
        return NULL;
    *end = stop;
    return p[0] == ' ' || strncmp(p, "line ", 5) == 0 ? short_of(place) : place;
}

char *scenario_tell_page(const struct scenario *s, const char *file, const char *page)
{
    size_t room = strlen(page) * 16 + 1024;
    char *out = x_alloc(room);
    struct told t = {out, room - 1};
    for (const char *p = page; *p != 0;) {
        const char *end, *place = s->nplaces > 0 ? page_place(s, file, p, &end) : NULL;
        if (place == NULL) {
            put(&t, p++, 1);
            continue;
        }
        if (*p == ' ')
            put(&t, " ", 1);
        put(&t, place, strlen(place));
        p = end;
    }
    return out;
}

void scenario_tell(const struct scenario *s, char *text, size_t size)
{
    char *end, *copy = x_strdup(text);
    struct told t = {text, size - 1};
    if (s->nplaces == 0) {
        free(copy);
        return;
    }
    for (const char *p = copy; *p != 0;) {
        const char *place = NULL;
        if (strncmp(p, EXPECTED, strlen(EXPECTED)) == 0) {
            p += strlen(EXPECTED);
            p += strcspn(p, ":\n");
            p += strspn(p, ": \n");
        } else if (strncmp(p, " (line ", 7) == 0 && (place = place_of(s, p + 7, &end)) != NULL) {
            take_name_back(&t, text);
            put(&t, place, strlen(place));
            p = end + (*end == ')');
        } else if (strncmp(p, "line ", 5) == 0 && (place = place_of(s, p + 5, &end)) != NULL) {
            put(&t, place, strlen(place));
            p = end;
        } else {
            put(&t, p++, 1);
        }
    }
    *t.to = 0;
    free(copy);
}
