/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/gengo.h"

#include <stdarg.h>
#include <string.h>

#include "scenarios/gengo_int.h"

/* ---- text ---- */

void gen_line(struct gen *g, const char *fmt, ...)
{
    va_list args;
    for (int i = 0; i < g->indent; i++)
        fputc('\t', g->out);
    va_start(args, fmt);
    vfprintf(g->out, fmt, args);
    va_end(args);
    fputc('\n', g->out);
}

const char *gen_text(struct gen *g, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    size_t size = (size_t)vsnprintf(NULL, 0, fmt, args) + 1;
    char *s = pool_alloc(g->pool, size);
    vsnprintf(s, size, fmt, again);
    va_end(args);
    va_end(again);
    return s;
}

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

/* ---- names ---- */

const char *gen_name(struct gen *g, const char *name)
{
    static const char *const taken[] = {
        "any",     "append",  "atomic", "bool",        "break",    "byte",    "cap",       "case",
        "chan",    "close",   "const",  "context",     "continue", "copy",    "default",   "defer",
        "delete",  "else",    "error",  "fallthrough", "float64",  "fmt",     "for",       "func",
        "go",      "goto",    "if",     "import",      "int",      "int64",   "interface", "len",
        "main",    "make",    "map",    "math",        "max",      "min",     "new",       "os",
        "package", "panic",   "print",  "println",     "rand",     "range",   "recover",   "return",
        "rune",    "runtime", "select", "strconv",     "string",   "strings", "struct",    "switch",
        "sync",    "syscall", "time",   "trace",       "type",     "uint64",  "var",       "init",
        "_"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(taken[i], name) == 0)
            return gen_text(g, "%sX", name);
    return name;
}

const char *gen_func_name(struct gen *g, const char *name)
{
    char *s = pool_text(g->pool, gen_text(g, "do_%s", name));
    for (char *p = s; *p != 0; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9')))
            *p = '_';
    return s;
}

/* ---- objects ---- */

static const char *kind_word(const cJSON *spec)
{
    return cJSON_IsString(spec) ? spec->valuestring : spec->child->string;
}

enum object_kind gen_kind(const struct gen *g, const char *name)
{
    const cJSON *o = g->objects != NULL ? json_member(g->objects, name) : NULL;
    for (int k = 1; o != NULL && k < OBJ_DECLARED; k++)
        if (strcmp(object_kind_name((enum object_kind)k), kind_word(o)) == 0)
            return (enum object_kind)k;
    return OBJ_KINDS;
}

static long long number_of(const cJSON *o, const char *key, long long other)
{
    const cJSON *v = json_member(o, key);
    int64_t ns;
    if (cJSON_IsString(v) && json_parse_duration(v->valuestring, &ns))
        return (long long)ns;
    return v != NULL ? (long long)v->valuedouble : other;
}

/* simNewFD(times, gap, burst, count, start, end, clients) */
static const char *descriptor(struct gen *g, const cJSON *o)
{
    if (o == NULL || cJSON_IsNull(o))
        return "simNewFD(nil, nil, 0, 0, 0, 0, 0)";
    const cJSON *times = json_member(o, "times"), *every = json_member(o, "every"),
                *think = json_member(o, "think");
    const char *list = "nil", *gap = "nil";
    if (times != NULL) {
        list = "[]int64{";
        for (const cJSON *t = times->child; t != NULL; t = t->next)
            list = gen_text(g, "%s%s%s", list, t == times->child ? "" : ", ",
                            gen_show(g, gen_amount(g, t), 1));
        list = gen_text(g, "%s}", list);
    } else {
        gap = gen_text(g, "func() int64 { return %s }",
                       gen_show(g, gen_amount(g, every != NULL ? every : think), 1));
    }
    return gen_text(g, "simNewFD(%s, %s, %lld, %lld, %lld, %lld, %lld)", list, gap,
                    number_of(o, "burst", 1), number_of(o, "count", 0), number_of(o, "start", 0),
                    number_of(o, "end", 0), number_of(o, "clients", 0));
}

/* A new object as a value for simAdd. */
struct node *gen_made(struct gen *g, const cJSON *spec)
{
    const char *word = kind_word(spec);
    const cJSON *param = cJSON_IsObject(spec) ? spec->child : NULL;
    long long n = param != NULL && cJSON_IsNumber(param) ? (long long)param->valuedouble : 0;
    const char *s = "new(sync.Mutex)";
    if (strcmp(word, "chan") == 0)
        s = n > 0 ? gen_text(g, "make(chan int64, %lld)", n) : "make(chan int64)";
    else if (strcmp(word, "rwmutex") == 0)
        s = "new(sync.RWMutex)";
    else if (strcmp(word, "waitgroup") == 0)
        s = "new(sync.WaitGroup)";
    else if (strcmp(word, "once") == 0)
        s = "new(sync.Once)";
    else if (strcmp(word, "pool") == 0)
        s = "new(sync.Pool)";
    else if (strcmp(word, "cond") == 0 && param != NULL)
        s = gen_text(g, "sync.NewCond(%s)", gen_name(g, param->valuestring));
    else if (strcmp(word, "semaphore") == 0)
        s = gen_text(g, "&simSemaphore{size: %lld, free: %lld}", n, n);
    else if (strcmp(word, "var") == 0)
        s = "new(int64)";
    else if (strcmp(word, "fd") == 0)
        s = descriptor(g, param);
    return gen_leaf(g, s);
}

static void objects(struct gen *g)
{
    for (const cJSON *o = g->objects != NULL ? g->objects->child : NULL; o != NULL; o = o->next) {
        const char *name = gen_name(g, o->string);
        if (strcmp(kind_word(o), "var") == 0) {
            gen_line(g, "var %s int64 = %lld", name,
                     cJSON_IsObject(o) ? (long long)o->child->valuedouble : 0LL);
            gen_line(g, "var handle_%s = simAdd(&%s)", o->string, name);
        } else {
            gen_line(g, "var %s = %s", name, gen_show(g, gen_made(g, o), 1));
            gen_line(g, "var handle_%s = simAdd(%s)", o->string, name);
        }
    }
    if (g->objects != NULL && g->objects->child != NULL)
        gen_line(g, "%s", "");
}

/* ---- functions ---- */

static void function(struct gen *g, const cJSON *f)
{
    const cJSON *params = cJSON_IsObject(f) ? json_member(f, "params") : NULL;
    const char *list = "";
    g->nnames = 0;
    for (const cJSON *p = params != NULL ? params->child : NULL; p != NULL; p = p->next) {
        list = gen_text(g, "%s%s%s", list, *list != 0 ? ", " : "", gen_name(g, p->valuestring));
        gen_define(g, p->valuestring);
    }
    gen_line(g, "func %s(%s%s) int64 {", gen_func_name(g, f->string), list,
             *list != 0 ? " int64" : "");
    g->indent = 1;
    g->returns = true;
    const cJSON *body = cJSON_IsObject(f) ? json_member(f, "do") : f;
    gen_block(g, body);
    if (!gen_ends(body))
        gen_line(g, "return 0");
    g->indent = 0;
    gen_line(g, "}\n");
}

/* Of the rules those that real Go has a setting for. */
static void settings(struct gen *g, const cJSON *rules)
{
    static const char *const known[][2] = {{"async_preempt_off", "asyncpreemptoff"},
                                           {"async_timer_chan", "asynctimerchan"},
                                           {"gcstoptheworld", "gcstoptheworld"}};
    for (size_t i = 0; rules != NULL && i < sizeof known / sizeof *known; i++) {
        const cJSON *v = json_member(rules, known[i][0]);
        if (v != NULL && (cJSON_IsTrue(v) || v->valuedouble > 0))
            gen_line(g, "simGodebug(\"%s=%d\")", known[i][1],
                     cJSON_IsTrue(v) ? 1 : (int)v->valuedouble);
    }
}

static void program(struct gen *g, int procs)
{
    const cJSON *root = g->doc.root, *funcs = json_member(root, "funcs");
    static const char marker[] = "// ---- what the program";
    const char *helpers = strstr(gengo_helpers, marker);
    fwrite(gengo_helpers, 1, (size_t)(helpers - gengo_helpers), g->out);
    objects(g);
    for (const cJSON *f = funcs != NULL ? funcs->child : NULL; f != NULL; f = f->next)
        function(g, f);
    gen_line(g, "func main() {");
    g->indent = 1;
    g->nnames = 0;
    g->returns = false;
    settings(g, json_member(root, "rules"));
    if (procs > 0)
        gen_line(g, "simProcs(%d)", procs);
    gen_block(g, json_member(root, "main"));
    g->indent = 0;
    gen_line(g, "}\n");
    fputs(helpers, g->out);
}

bool scenario_gen_go(struct failure *f, const char *path, const char *text, size_t size, FILE *out)
{
    struct scenario *s = scenario_load(f, path, text, size);
    if (s == NULL)
        return false;
    struct gen *g = pool_alloc(s->pool, sizeof *g);
    char *copy = pool_alloc(s->pool, size + 1);
    memcpy(copy, text, size);
    g->pool = s->pool;
    g->out = out;
    g->doc = (struct json){.mistakes.f = f, .source = {path, copy, size}};
    if (setjmp(g->doc.mistakes.jump) != 0) {
        scenario_free(s);
        return false;
    }
    json_open(&g->doc);
    g->objects = json_member(g->doc.root, "objects");
    program(g, s->procs);
    json_close(&g->doc);
    scenario_free(s);
    return true;
}
