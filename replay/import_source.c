/* SPDX-License-Identifier: BSD-3-Clause */
/* One question about the Go source, where it is at hand: does a Cond.Wait stand in a loop, or
 * under a condition? One that does not waits whatever it would find: a signal before it is lost.
 * The file is the one of the stack, or, of a build with -trimpath, a suffix of its name from here;
 * the line has to say Wait. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "replay/import_int.h"

enum { SOURCE_MAX = 4 << 20 };

static char *read_source(const char *path)
{
    struct stat st;
    bool is_file = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    FILE *f = is_file ? fopen(path, "rb") : NULL;
    if (f == NULL)
        return NULL;
    char *text = x_alloc(SOURCE_MAX + 1);
    text[fread(text, 1, SOURCE_MAX, f)] = 0;
    fclose(f);
    return text;
}

/* The begin of a line, counted from 1; NULL: there are not as many. */
static const char *line_of(const char *text, uint64_t line)
{
    for (; line > 1; line--) {
        text = strchr(text, '\n');
        if (text == NULL)
            return NULL;
        text++;
    }
    return text;
}

static bool has_word(const char *line, size_t size, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= size; i++) {
        bool begins = i == 0 || strchr(" \t{;(", line[i - 1]) != NULL;
        bool ends = i + n == size || strchr(" \t{;(", line[i + n]) != NULL;
        if (begins && ends && strncmp(line + i, word, n) == 0)
            return true;
    }
    return false;
}

/* The line of the brace that the place is within; NULL: there is none. */
static const char *opener_of(const char *text, const char *at)
{
    int depth = 0;
    for (const char *p = at; p > text;) {
        p--;
        depth += *p == '}';
        depth -= *p == '{';
        if (depth < 0) {
            while (p > text && p[-1] != '\n')
                p--;
            return p;
        }
    }
    return NULL;
}

static bool decides(const char *line, size_t n)
{
    static const char *const words[] = {"for", "if", "else", "switch", "select", NULL};
    for (int i = 0; words[i] != NULL; i++)
        if (has_word(line, n, words[i]))
            return true;
    return false;
}

static enum imp_wait look(const char *text, uint64_t number)
{
    const char *line = line_of(text, number);
    const char *wait = line != NULL ? strstr(line, "Wait(") : NULL;
    if (wait == NULL || wait > line + strcspn(line, "\n"))
        return WAIT_UNKNOWN;
    for (const char *opener = wait; (opener = opener_of(text, opener)) != NULL;) {
        size_t n = strcspn(opener, "\n");
        if (decides(opener, n))
            return WAIT_LOOKS;
        if (has_word(opener, n, "func"))
            return WAIT_BLIND;
    }
    return WAIT_UNKNOWN;
}

enum imp_wait imp_wait_at(const struct rec_site *s)
{
    enum imp_wait found = WAIT_UNKNOWN;
    for (const char *path = s->file; path != NULL && found == WAIT_UNKNOWN;) {
        char *text = read_source(path);
        if (text != NULL)
            found = look(text, s->line);
        free(text);
        path = strchr(path[0] == '/' ? path + 1 : path, '/');
        if (path != NULL)
            path++;
    }
    return found;
}
