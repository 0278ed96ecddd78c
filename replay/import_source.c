/* SPDX-License-Identifier: BSD-3-Clause */
/* One question about the Go source, where it is at hand: is anything looked at between the Lock and
 * the Wait of a Cond? If not, it waits whatever it would find: a signal before it is lost. What was
 * looked at before the Lock may have changed since. Asked of the text between the two, within one
 * function: a condition around both is none, one that leaves between them is one; what stands in
 * other functions nobody knows here. The file is the one of the stack, or, of a build with
 * -trimpath, a suffix of its name from here; the lines have to say Lock and Wait. */
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

static bool decides(const char *from, size_t n)
{
    static const char *const words[] = {"for", "if", "switch", "select", NULL};
    for (int i = 0; words[i] != NULL; i++)
        if (has_word(from, n, words[i]))
            return true;
    return false;
}

/* Where a line says what; NULL: it does not. */
static const char *said(const char *text, uint64_t number, const char *what)
{
    const char *line = line_of(text, number);
    const char *at = line != NULL ? strstr(line, what) : NULL;
    return at != NULL && at < line + strcspn(line, "\n") ? at : NULL;
}

static enum imp_wait look(const char *text, uint64_t lock, uint64_t wait)
{
    const char *from = said(text, lock, "Lock("), *to = said(text, wait, "Wait(");
    if (from == NULL || to == NULL || from > to)
        return WAIT_UNKNOWN;
    return decides(from, (size_t)(to - from)) ? WAIT_LOOKS : WAIT_BLIND;
}

enum imp_wait imp_wait_at(const struct rec_site *lock, const struct rec_site *wait)
{
    enum imp_wait found = WAIT_UNKNOWN;
    if (strcmp(lock->func, wait->func) != 0 || strcmp(lock->file, wait->file) != 0)
        return found;
    for (const char *path = wait->file; path != NULL && found == WAIT_UNKNOWN;) {
        char *text = read_source(path);
        if (text != NULL)
            found = look(text, lock->line, wait->line);
        free(text);
        path = strchr(path[0] == '/' ? path + 1 : path, '/');
        if (path != NULL)
            path++;
    }
    return found;
}
