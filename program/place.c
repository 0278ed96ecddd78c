/* SPDX-License-Identifier: BSD-3-Clause */
#include "program/place.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Line and column (in characters, from 1) of a place in a text. */
static void line_column(struct place at, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < at.offset && i < at.in->size; i++) {
        unsigned char c = (unsigned char)at.in->text[i];
        if (c == '\n') {
            ++*line;
            *column = 1;
        } else if ((c & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

void mistake_of(struct mistakes *m, struct place at, const char *fmt, va_list args)
{
    char text[400];
    unsigned line, column;
    vsnprintf(text, sizeof text, fmt, args);
    if (at.in == NULL) {
        fail(m->f, E_SCENARIO, "%s", text);
    } else if (at.in->text == NULL) {
        fail(m->f, E_SCENARIO, "%s:%u: %s", at.in->file, at.line, text);
    } else {
        line_column(at, &line, &column);
        fail(m->f, E_SCENARIO, "%s:%u:%u: %s", at.in->file, line, column, text);
    }
    longjmp(m->jump, 1);
}

void mistake(struct mistakes *m, struct place at, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    mistake_of(m, at, fmt, args);
}

void place_quote(struct place at, char *out, size_t size)
{
    const struct source *in = at.in;
    size_t n = 0, i = at.offset;
    int depth = 0;
    bool string = false;
    for (; in != NULL && in->text != NULL && i < in->size && in->text[i] != '\n' && n < size - 4;
         i++) {
        char ch = in->text[i];
        if (!string && depth == 0 && n > 0 && strchr(",}] \t\r", ch) != NULL)
            break;
        out[n++] = ch;
        if (ch == '"' && (n == 1 || out[n - 2] != '\\'))
            string = !string;
        if (!string)
            depth += (ch == '{' || ch == '[') - (ch == '}' || ch == ']');
        if (!string && depth == 0 && strchr("}]\"", ch) != NULL)
            break;
    }
    bool cut = n == size - 4 || depth > 0;
    while (cut && n > 0 && ((unsigned char)out[n - 1] & 0xc0) == 0x80)
        n--; /* not in the middle of a character */
    n -= cut && n > 0 && (unsigned char)out[n - 1] >= 0xc0;
    strcpy(out + n, cut ? "..." : "");
}

/* Edits (insert, delete, replace, swap neighbours) between two short words; large when they have
 * little in common. */
static unsigned distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > 31 || nb > 31)
        return 99;
    unsigned d[33][33];
    for (unsigned i = 0; i <= na; i++)
        for (unsigned j = 0; j <= nb; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[na][nb];
}

const char *nearest(const char *written, const char *const *names)
{
    const char *best = NULL;
    unsigned least = 3;
    for (; *names != NULL; names++) {
        unsigned d = distance(written, *names);
        if (d < least && d < strlen(written)) {
            least = d;
            best = *names;
        }
    }
    return best;
}
