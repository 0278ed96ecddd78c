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

/* ---- objects ---- */

/* simNewFD(times, gap, burst, count, start, end, clients) */
static const char *descriptor(struct gen *g, const struct arrivals_spec *s)
{
    if (s == NULL)
        return "simNewFD(nil, nil, 0, 0, 0, 0, 0)";
    const struct arrivals *a = &s->a;
    const char *list = "nil", *gap = "nil";
    if (a->kind == ARRIVE_TIMES) {
        list = "[]int64{";
        for (uint64_t i = 0; i < a->ntimes; i++)
            list = gen_text(g, "%s%s%lld", list, i == 0 ? "" : ", ", (long long)a->times[i]);
        list = gen_text(g, "%s}", list);
    } else {
        const struct amount each = {.dist = s->gap, .imm = s->gap_ns};
        gap = gen_text(g, "func() int64 { return %s }", gen_show(g, gen_amount(g, &each), 1));
    }
    bool closed = a->kind == ARRIVE_CLOSED;
    return gen_text(g, "simNewFD(%s, %s, %lld, %lld, %lld, %lld, %lld)", list, gap,
                    closed ? 1LL : (long long)a->size, (long long)a->count, (long long)a->start_ns,
                    (long long)a->end_ns, closed ? (long long)a->size : 0LL);
}

/* A new object as a value for simAdd; of a cond: its lock is object -1 - param. */
struct node *gen_made(struct gen *g, const struct shape *o)
{
    long long n = (long long)o->param;
    const char *s = "new(sync.Mutex)";
    switch (o->kind) {
    case OBJ_CHAN: s = n > 0 ? gen_text(g, "make(chan int64, %lld)", n) : "make(chan int64)"; break;
    case OBJ_RWMUTEX: s = "new(sync.RWMutex)"; break;
    case OBJ_WAITGROUP: s = "new(sync.WaitGroup)"; break;
    case OBJ_ONCE: s = "new(sync.Once)"; break;
    case OBJ_POOL: s = "new(sync.Pool)"; break;
    case OBJ_COND:
        s = gen_text(g, "sync.NewCond(%s%s)", gen_object_name(g, (int32_t)(-1 - o->param)),
                     o->rlocker ? ".RLocker()" : "");
        break;
    case OBJ_SEMA: s = gen_text(g, "&simSemaphore{size: %lld, free: %lld}", n, n); break;
    case OBJ_VAR: s = n != 0 ? gen_text(g, "simNewVar(%lld)", n) : "new(int64)"; break;
    case OBJ_FD: s = descriptor(g, o->arrivals); break;
    default: break;
    }
    return gen_leaf(g, s);
}

/* The variable of one object; gives what simAdd takes. */
static const char *one_object(struct gen *g, const struct shape *o, int32_t row, int32_t object)
{
    const char *name = gen_object_name(g, object);
    struct shape plain = *o;
    if (o->kind == OBJ_VAR) {
        gen_line(g, "var %s int64 = %lld", name, (long long)o->param);
        return gen_text(g, "&%s", name);
    }
    if (o->kind == OBJ_COND && o->param >= 0)
        plain.param = -1 - (row + o->param);
    gen_line(g, "var %s = %s", name, gen_show(g, gen_made(g, &plain), 1));
    return name;
}

/* The variables of a row of objects, and a list of them. */
static const char *row_of(struct gen *g, const struct shape *o, int32_t row, int32_t *object,
                          const char *list)
{
    const char *comma = *list != 0 ? ", " : "";
    int32_t first = *object;
    switch (o->is) {
    case S_ONE: return gen_text(g, "%s%s%s", list, comma, one_object(g, o, row, (*object)++));
    case S_ARRAY:
        for (uint32_t i = 0; i < o->count; i++)
            list = row_of(g, o->of, *object, object, list);
        return list;
    case S_STRUCT:
        for (const struct member *m = o->members; m != NULL; m = m->next)
            list = row_of(g, m->shape, first, object, list);
        return list;
    }
    return list;
}

static void objects(struct gen *g)
{
    for (uint32_t i = 0; i < g->tree->nthings; i++) {
        const struct thing *t = &g->tree->things[i];
        int32_t object = t->first;
        const char *list = row_of(g, t->shape, t->first, &object, "");
        gen_line(g, "var handle_%s = simAdd(%s)", t->name, list);
    }
    if (g->tree->nthings > 0)
        gen_line(g, "%s", "");
}

/* ---- functions ---- */

static void function(struct gen *g, int32_t f)
{
    const struct function *fn = &g->tree->funcs[f];
    const char *list = "";
    g->nnames = 0;
    for (uint32_t i = 0; i < g->b->funcs[f].nparams; i++) {
        list = gen_text(g, "%s%s%s", list, *list != 0 ? ", " : "",
                        gen_name(g, fn->params[i]->text));
        gen_define(g, fn->params[i]);
    }
    gen_line(g, "func %s(%s%s) int64 {", gen_func_name(g, f), list, *list != 0 ? " int64" : "");
    g->indent = 1;
    g->returns = true;
    gen_block(g, fn->body);
    if (!gen_ends(fn->body))
        gen_line(g, "return 0");
    g->indent = 0;
    gen_line(g, "}\n");
}

/* Of the rules those that real Go has a setting for. */
static void settings(struct gen *g, const struct scenario *s)
{
    static const char *const known[][2] = {{"async_preempt_off", "asyncpreemptoff"},
                                           {"async_timer_chan", "asynctimerchan"},
                                           {"gcstoptheworld", "gcstoptheworld"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int r = 0; r < s->nrules; r++)
            if (strcmp(s->rules[r].name, known[i][0]) == 0 && s->rules[r].value > 0)
                gen_line(g, "simGodebug(\"%s=%d\")", known[i][1], (int)s->rules[r].value);
}

/* A program that is measured begins its clock itself. */
static void put_helpers(const struct gen *g, const char *helpers, bool measured)
{
    static const char clock[] = "// The clock starts", next[] = "// Computing";
    const char *from = strstr(helpers, clock);
    if (!measured) {
        fputs(helpers, g->out);
        return;
    }
    fwrite(helpers, 1, (size_t)(from - helpers), g->out);
    fputs(strstr(from, next), g->out);
}

static void program(struct gen *g, const struct scenario *s, int32_t main, bool measured)
{
    static const char marker[] = "// ---- what the program";
    const char *helpers = strstr(gengo_helpers, marker);
    fwrite(gengo_helpers, 1, (size_t)(helpers - gengo_helpers), g->out);
    objects(g);
    for (uint32_t f = 0; f < g->tree->nfuncs; f++)
        if ((int32_t)f != main && !g->tree->funcs[f].in_place)
            function(g, (int32_t)f);
    gen_line(g, "func main() {");
    g->indent = 1;
    g->nnames = 0;
    g->returns = false;
    settings(g, s);
    if (measured) /* and GOMAXPROCS is the environment's */
        gen_line(g, "defer simEnd()");
    else if (s->procs > 0)
        gen_line(g, "simProcs(%d)", (int)s->procs);
    gen_block(g, g->tree->funcs[main].body);
    g->indent = 0;
    gen_line(g, "}\n");
    put_helpers(g, helpers, measured);
}

static void gen_go(const struct scenario *s, FILE *out, bool measured)
{
    struct gen *g = pool_alloc(s->pool, sizeof *g);
    *g = (struct gen){
        .tree = &s->compiled->tree, .b = &s->compiled->b, .pool = s->pool, .out = out};
    program(g, s, s->compiled->main, measured);
}

void scenario_gen_go(const struct scenario *s, FILE *out) { gen_go(s, out, false); }

void scenario_gen_go_measured(const struct scenario *s, FILE *out, FILE *measure)
{
    gen_go(s, out, true);
    fputs(gengo_measure, measure);
}
