/* SPDX-License-Identifier: BSD-3-Clause */
/* All statements, by their words. */
#include "scenarios/statements.h"

#include <string.h>

const struct group *const groups[] = {&group_flow,        &group_goroutines, &group_work,
                                      &group_channels,    &group_locks,      &group_timers,
                                      &group_descriptors, &group_variables,  &group_coroutines,
                                      &group_made,        &group_output,     NULL};

const char *field_kind_name(enum field_kind kind)
{
    static const char *const names[] = {
        [F_NONE] = "none",      [F_NAME] = "name",          [F_INDEX] = "name",
        [F_VALUE] = "value",    [F_OR_0] = "value",         [F_CHECKED] = "value",
        [F_COUNT] = "value",    [F_OBJECT] = "object",      [F_AMOUNT] = "amount",
        [F_DRAWN] = "amount",   [F_BYTES] = "bytes",        [F_ROUNDS] = "rounds",
        [F_TIMES] = "value",    [F_TRUE] = "true",          [F_BOOL] = "bool",
        [F_WORD] = "word",      [F_STATUS] = "status",      [F_TEXT] = "text",
        [F_LABEL] = "label",    [F_BLOCK] = "block",        [F_CALLEE] = "callee",
        [F_ARGS] = "arguments", [F_OF_CALLEE] = "argument", [F_ARMS] = "arms",
        [F_CASES] = "cases",    [F_SHAPE] = "shape",        [F_RESULT] = "result",
        [F_REASON] = "reason"};
    return names[kind];
}

const struct statement *statement_find(const char *word)
{
    for (const struct group *const *g = groups; *g != NULL; g++)
        for (size_t i = 0; i < (*g)->count; i++)
            if (strcmp((*g)->row[i].field[0].key, word) == 0)
                return &(*g)->row[i];
    return NULL;
}

size_t statement_words(const char **words, size_t room)
{
    size_t n = 0;
    for (const struct group *const *g = groups; *g != NULL; g++)
        for (size_t i = 0; i < (*g)->count && n < room - 1; i++)
            words[n++] = (*g)->row[i].field[0].key;
    words[n] = NULL;
    return n;
}

const struct part *part_of(const struct stmt *s, const char *key)
{
    for (int i = 0; s->is->field[i].key != NULL; i++)
        if (strcmp(s->is->field[i].key, key) == 0)
            return s->part[i].given ? &s->part[i] : NULL;
    return NULL;
}
