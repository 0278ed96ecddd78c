/* SPDX-License-Identifier: BSD-3-Clause */
/* A timer's channel in Go has times in it, every other channel of a scenario int64s, and a handle
 * may be of either: a timer's channel that becomes a handle is copied by a goroutine, which has a
 * place more than the channel itself. A name that is only received from needs no handle. */
#include <string.h>

#include "scenarios/gengo_int.h"

static bool is_word(char ch)
{
    return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
           ch == '_';
}

/* Does the text name it otherwise than in len(name) and cap(name)? */
static bool is_used(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)) != NULL; p += n) {
        if ((p > text && is_word(p[-1])) || is_word(p[n]))
            continue;
        bool measured = p - text >= 4 && p[n] == ')' &&
                        (strncmp(p - 4, "len(", 4) == 0 || strncmp(p - 4, "cap(", 4) == 0);
        if (!measured)
            return true;
    }
    return false;
}

static const char *timer_of(const cJSON *value)
{
    const char *s = cJSON_IsString(value) ? value->valuestring : "";
    const char *dot = strchr(s, '.');
    return dot != NULL && dot > s && strcmp(dot, ".C") == 0 ? s : NULL;
}

/* Set once, to a timer's channel, and then received from or measured. */
static bool only_ticks(const cJSON *v, const char *name, int *sets)
{
    for (; v != NULL; v = v->next) {
        const char *key = v->string != NULL ? v->string : "";
        if (cJSON_IsString(v) && strcmp(v->valuestring, name) == 0 && strcmp(key, "set") == 0) {
            if (timer_of(v->next) == NULL || ++*sets > 1)
                return false;
        } else if (cJSON_IsString(v) && is_used(v->valuestring, name) &&
                   (strcmp(key, "recv") != 0 || strcmp(v->valuestring, name) != 0)) {
            return false;
        }
        if (!only_ticks(v->child, name, sets))
            return false;
    }
    return true;
}

bool gen_is_ticks(const struct gen *g, const char *name)
{
    for (int i = 0; i < g->nticks; i++)
        if (strcmp(g->ticks[i], name) == 0)
            return true;
    return false;
}

const char *gen_new_ticks(struct gen *g, const char *name, const cJSON *value)
{
    int sets = 0;
    const char *timer = timer_of(value);
    if (timer == NULL || g->nticks == GEN_NAMES || !only_ticks(g->doc.root->child, name, &sets))
        return NULL;
    g->ticks[g->nticks++] = name;
    return gen_text(g, "simTimerC(%s)",
                    gen_name(g, gen_text(g, "%.*s", (int)strcspn(timer, "."), timer)));
}
