/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and texts of a scenario as Go takes them. Every name of the generator's own begins with
 * "sim", "do" or "handle_", or ends with "_". A name of the scenario that looks like one of those,
 * or is a word of Go, gets an X at its end; so does one that ends with X, so that no two names
 * become the same. */
#include <stdlib.h>
#include <string.h>

#include "scenarios/gengo_int.h"
#include "sim/base/text.h"

const char *gen_quote(struct gen *g, const char *s)
{
    char *out = pool_alloc(g->pool, strlen(s) * 4 + 3), *p = out;
    *p++ = '"';
    for (; *s != 0; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            p += sprintf(p, "\\%c", c);
        else if (c == '\n')
            p += sprintf(p, "\\n");
        else if (c < 0x20 || c == 0x7f)
            p += sprintf(p, "\\x%02x", c);
        else
            *p++ = (char)c;
    }
    *p++ = '"';
    *p = 0;
    return out;
}

const char *gen_comment(struct gen *g, const char *s)
{
    size_t size = strlen(s) * 8 + 16;
    return text_in(pool_alloc(g->pool, size), size, TEXT_GO_COMMENT, s);
}

static bool is_taken(const char *name)
{
    static const char *const taken[] = {
        "any",     "append", "atomic",    "bool",    "break",   "byte",        "cap",
        "case",    "chan",   "close",     "const",   "context", "continue",    "copy",
        "default", "defer",  "delete",    "else",    "error",   "fallthrough", "float64",
        "fmt",     "for",    "func",      "go",      "goto",    "if",          "import",
        "int",     "int64",  "interface", "io",      "len",     "main",        "make",
        "map",     "math",   "max",       "min",     "new",     "os",          "package",
        "panic",   "pprof",  "print",     "println", "rand",    "range",       "recover",
        "return",  "rune",   "runtime",   "select",  "strconv", "string",      "strings",
        "struct",  "switch", "sync",      "syscall", "time",    "trace",       "type",
        "uint64",  "var",    "init",      "clear",   "complex", "imag",        "real",
        "iota",    "uint"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i], name) == 0)
            return true;
    size_t n = strlen(name);
    bool function = strncmp(name, "do", 2) == 0 &&
                    (name[2] == '_' || (name[2] >= '0' && name[2] <= '9'));
    return function || name[n - 1] == '_' || name[n - 1] == 'X' || strncmp(name, "sim", 3) == 0 ||
           strncmp(name, "handle_", 7) == 0;
}

const char *gen_name(struct gen *g, const char *name)
{
    return is_taken(name) ? gen_text(g, "%sX", name) : name;
}

const char *gen_func_name(struct gen *g, int32_t f)
{
    const char *name = g->b->funcs[f].name;
    char *s = pool_text(g->pool, name);
    bool same = true;
    for (char *p = s; *p != 0; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '_')) {
            *p = '_';
            same = false;
        }
    return same ? gen_text(g, "do_%s", s) : gen_text(g, "do%d_%s", (int)f, s);
}

const struct thing *gen_thing_of(struct gen *g, int32_t object)
{
    const struct thing *t = g->tree->things;
    while (object >= t->first + (int32_t)t->shape->size)
        t++;
    return t;
}

const char *gen_object_name(struct gen *g, int32_t object)
{
    const struct thing *t = gen_thing_of(g, object);
    if (t->shape->is == S_ONE)
        return gen_name(g, t->name);
    return gen_text(g, "%s_%d_", t->name, (int)object);
}

bool gen_in_scope(const struct gen *g, const struct name *n)
{
    for (int i = 0; i < g->nnames; i++)
        if (strcmp(g->names[i], n->text) == 0)
            return true;
    return false;
}

void gen_define(struct gen *g, const struct name *n)
{
    if (g->nnames < GEN_NAMES)
        g->names[g->nnames++] = n->text;
}
