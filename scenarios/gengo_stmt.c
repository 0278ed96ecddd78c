/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements as Go. */
#include <string.h>

#include "scenarios/gengo_int.h"
#include "sim/base/text.h"

typedef void gen_fn(struct gen *g, const cJSON *o, const cJSON *v);

/* ---- names ---- */

static bool in_scope(const struct gen *g, const char *name)
{
    for (int i = 0; i < g->nnames; i++)
        if (strcmp(g->names[i], name) == 0)
            return true;
    return false;
}

void gen_define(struct gen *g, const char *name)
{
    if (g->nnames < GEN_NAMES)
        g->names[g->nnames++] = name;
}

static const char *show(struct gen *g, struct node *n) { return gen_show(g, n, 1); }
static const char *show_int(struct gen *g, struct node *n) { return show(g, gen_int(g, n)); }

/* What a key names gets the value; a new name is declared. */
static void assign_name(struct gen *g, const char *name, struct node *value)
{
    const char *go = gen_name(g, name), *text = show_int(g, value);
    if (in_scope(g, name)) {
        gen_line(g, "%s = %s", go, text);
        return;
    }
    gen_line(g, "var %s int64 = %s", go, text);
    gen_line(g, "_ = %s", go);
    gen_define(g, name);
}

static void assign(struct gen *g, const cJSON *o, const char *key, struct node *value)
{
    const cJSON *v = json_member(o, key);
    if (v != NULL)
        assign_name(g, v->valuestring, value);
}

/* A call whose result may be thrown away. */
static void assign_call(struct gen *g, const cJSON *o, const char *key, const char *call)
{
    if (json_member(o, key) != NULL)
        assign(g, o, key, gen_leaf(g, call));
    else
        gen_line(g, "%s", call);
}

/* A call with two int64 results. */
static void assign_two(struct gen *g, const cJSON *o, const char *a, const char *b,
                       const char *call)
{
    const cJSON *x = json_member(o, a), *y = json_member(o, b);
    if (x == NULL && y == NULL) {
        gen_line(g, "%s", call);
        return;
    }
    unsigned n = ++g->temps;
    const char *one = x != NULL ? gen_text(g, "v%d_", n) : "_",
               *two = y != NULL ? gen_text(g, "w%d_", n) : "_";
    gen_line(g, "%s, %s := %s", one, two, call);
    assign(g, o, a, gen_leaf(g, one));
    assign(g, o, b, gen_leaf(g, two));
}

/* ---- objects ---- */

/* The object that v names: a Go variable (pointers are taken where needed), or by its handle. */
static const char *object(struct gen *g, const cJSON *v, const char *type)
{
    const char *s = v->valuestring;
    if (!in_scope(g, s) && gen_kind(g, s) != OBJ_KINDS)
        return gen_name(g, s);
    return gen_text(g, "simGet[%s](%s)", type, show_int(g, gen_value(g, v)));
}

static const char *sync_object(struct gen *g, const cJSON *v, bool rw)
{
    return object(g, v, rw ? "*sync.RWMutex" : "*sync.Mutex");
}

static bool is_rw(struct gen *g, const cJSON *v)
{
    return !in_scope(g, v->valuestring) && gen_kind(g, v->valuestring) == OBJ_RWMUTEX;
}

/* Where values come from: 'v' values, 't' times of a timer, 'd' a context's end. */
static const char *source(struct gen *g, const cJSON *v, char *kind)
{
    const char *s = v->valuestring, *dot = strrchr(s, '.');
    *kind = 'v';
    if (gen_is_ticks(g, s)) {
        *kind = 't';
        return gen_name(g, s);
    }
    if (dot != NULL && (strcmp(dot, ".C") == 0 || strcmp(dot, ".Done") == 0)) {
        const char *name = gen_name(g, gen_text(g, "%.*s", (int)(dot - s), s));
        *kind = dot[1] == 'C' ? 't' : 'd';
        return gen_text(g, "%s(%s)", dot[1] == 'C' ? "simTimerC" : "simDone", name);
    }
    if (!in_scope(g, s) && gen_kind(g, s) == OBJ_CHAN)
        return gen_name(g, s);
    return gen_text(g, "simChan(%s)", show_int(g, gen_value(g, v)));
}

static struct node *received(struct gen *g, char kind, const char *v)
{
    return gen_leaf(g, kind == 't'   ? gen_text(g, "int64(%s.Sub(simStart))", v)
                       : kind == 'd' ? "0"
                                     : v);
}

/* ---- flow ---- */

/* Does the body leave or go on with the loop around it? */
static bool jumps(const cJSON *v)
{
    if (cJSON_IsObject(v) && v->child != NULL) {
        const char *verb = v->child->string;
        if (strcmp(verb, "break") == 0 || strcmp(verb, "continue") == 0)
            return true;
        if (strcmp(verb, "loop") == 0 || strcmp(verb, "while") == 0 || strcmp(verb, "range") == 0)
            return false;
    }
    for (const cJSON *e = v->child; e != NULL; e = e->next)
        if (jumps(e))
            return true;
    return false;
}

/* A loop with the head that is given; before: a line at the beginning of its body. */
static void loop(struct gen *g, const cJSON *o, const char *head, const char *before)
{
    const cJSON *body = json_member(o, "do");
    const char *outer = g->label;
    if (jumps(body)) {
        g->label = gen_text(g, "loop%u", ++g->temps);
        g->indent--;
        gen_line(g, "%s:", g->label);
        g->indent++;
    }
    gen_line(g, "%s {", head);
    g->indent++;
    if (before != NULL)
        gen_line(g, "%s", before);
    gen_block(g, body);
    g->indent--;
    gen_line(g, "}");
    g->label = outer;
}

static void counted(struct gen *g, const cJSON *o, struct node *count,
                    void (*body)(struct gen *, const cJSON *))
{
    const cJSON *index = json_member(o, "index");
    int names = g->nnames;
    unsigned n = ++g->temps;
    gen_line(g, "var n%u int64 = %s", n, show_int(g, count));
    const char *i = index != NULL ? gen_name(g, index->valuestring) : gen_text(g, "i%u_", n);
    if (index != NULL)
        gen_define(g, index->valuestring);
    const char *head = gen_text(g, "for %s := int64(0); %s < n%u; %s++", i, i, n, i);
    if (body == NULL) {
        loop(g, o, head, NULL);
    } else {
        gen_line(g, "%s {", head);
        g->indent++;
        body(g, o);
        g->indent--;
        gen_line(g, "}");
    }
    g->nnames = names;
}

static void go_loop(struct gen *g, const cJSON *o, const cJSON *v)
{
    if (cJSON_IsString(v) && strcmp(v->valuestring, "forever") == 0)
        loop(g, o, "for", NULL);
    else
        counted(g, o, gen_value(g, v), NULL);
}

static void go_while(struct gen *g, const cJSON *o, const cJSON *v)
{
    loop(g, o, gen_text(g, "for %s", show(g, gen_bool(g, gen_value(g, v)))), NULL);
}

static void go_break(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)v;
    gen_line(g, "%s %s", o->child->string, g->label);
}

void gen_inner(struct gen *g, const cJSON *list)
{
    g->indent++;
    gen_block(g, list);
    g->indent--;
}

static void go_if(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_line(g, "if %s {", show(g, gen_bool(g, gen_value(g, v))));
    gen_inner(g, json_member(o, "then"));
    const cJSON *other = json_member(o, "else");
    if (other != NULL) {
        gen_line(g, "} else {");
        gen_inner(g, other);
    }
    gen_line(g, "}");
}

static void go_random(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    long long total = 0, below = 0;
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        const cJSON *w = json_member(e, "weight");
        total += w != NULL ? (long long)w->valuedouble : 1;
    }
    gen_line(g, "switch r := simRand(%lld); {", total);
    for (const cJSON *e = v->child; e != NULL; e = e->next) {
        const cJSON *w = json_member(e, "weight");
        below += w != NULL ? (long long)w->valuedouble : 1;
        gen_line(g, "case r < %lld:", below);
        gen_inner(g, json_member(e, "do"));
    }
    gen_line(g, "}");
}

static void go_set(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *ticks = gen_new_ticks(g, v->valuestring, json_member(o, "value"));
    if (ticks != NULL) {
        gen_line(g, "var %s = %s", gen_name(g, v->valuestring), ticks);
        gen_line(g, "_ = %s", gen_name(g, v->valuestring));
        return;
    }
    assign_name(g, v->valuestring, gen_value(g, json_member(o, "value")));
}

/* ---- calls ---- */

static void go_call(struct gen *g, const cJSON *o, const cJSON *v)
{
    const cJSON *args = json_member(o, "args");
    if (cJSON_IsString(v))
        assign_call(
            g, o, "into",
            gen_text(g, "%s(%s)", gen_func_name(g, v->valuestring), gen_arguments(g, args)));
    else
        gen_call_line(g, "", v, args, "");
}

static void go_defer(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_call_line(g, "defer ", v, json_member(o, "args"), "");
}

static void go_finalizer(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_later_line(g, "simFinalizer(", v, json_member(o, "args"));
}

static void go_cleanup(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_later_line(g, "runtime.AddCleanup(new(simObject), func(f func()) { f() }, ", v,
                   json_member(o, "args"));
}

static void one_go(struct gen *g, const cJSON *o)
{
    gen_call_line(g, "go ", o->child, json_member(o, "args"), "");
}

static void go_go(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)v;
    const cJSON *count = json_member(o, "count");
    if (count == NULL)
        one_go(g, o);
    else
        counted(g, o, gen_value(g, count), one_go);
}

static void go_once(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_line(g, "%s.Do(func() {", object(g, v, "*sync.Once"));
    g->indent++;
    gen_call_line(g, "", json_member(o, "do"), json_member(o, "args"), "");
    g->indent--;
    gen_line(g, "})");
}

static void go_return(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    if (g->returns)
        gen_line(g, "return %s", cJSON_IsNull(v) ? "0" : show_int(g, gen_value(g, v)));
    else
        gen_line(g, "return");
}

static void go_panic(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    if (cJSON_IsNumber(v))
        gen_line(g, "panic(int64(%lld))", (long long)v->valuedouble);
    else
        gen_line(g, "panic(%s)", gen_quote(g, v->valuestring));
}

static void go_recover(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)v;
    assign_two(g, o, "recover", "value", "simRecovered(recover())");
}

static void go_assert(struct gen *g, const cJSON *o, const cJSON *v)
{
    const cJSON *text = json_member(o, "text");
    gen_line(g, "simAssert(%s, %s)", gen_show(g, gen_bool(g, gen_value(g, v)), 2),
             gen_quote(g, gen_text(g, "assertion failed: %s",
                                   text != NULL        ? text->valuestring
                                   : cJSON_IsString(v) ? v->valuestring
                                                       : "false")));
}

/* ---- channels ---- */

static void go_send(struct gen *g, const cJSON *o, const cJSON *v)
{
    char kind;
    gen_line(g, "%s <- %s", source(g, v, &kind),
             show_int(g, gen_value(g, json_member(o, "value"))));
}

/* After a receive into v and ok. */
static void take(struct gen *g, const cJSON *o, char kind, const char *v, const char *ok)
{
    struct node *flag = gen_leaf(g, ok);
    flag->is_bool = true;
    assign(g, o, "into", received(g, kind, v));
    assign(g, o, "ok", flag);
}

/* The left side of a receive, "" if nobody wants anything. */
static const char *left_side(struct gen *g, const cJSON *o, char kind, const char **v,
                             const char **ok)
{
    bool value = json_member(o, "into") != NULL && kind != 'd', flag = json_member(o, "ok") != NULL;
    unsigned n = ++g->temps;
    *v = value ? gen_text(g, "v%u_", n) : "_";
    *ok = gen_text(g, "ok%u_", n);
    return flag ? gen_text(g, "%s, %s := ", *v, *ok) : value ? gen_text(g, "%s := ", *v) : "";
}

static void go_recv(struct gen *g, const cJSON *o, const cJSON *v)
{
    char kind;
    const char *from = source(g, v, &kind), *value, *ok;
    const char *left = left_side(g, o, kind, &value, &ok);
    gen_line(g, "%s<-%s", left, from);
    take(g, o, kind, value, ok);
}

static void go_range(struct gen *g, const cJSON *o, const cJSON *v)
{
    char kind;
    const cJSON *into = json_member(o, "into");
    const char *from = source(g, v, &kind);
    int names = g->nnames;
    if (into == NULL) {
        loop(g, o, gen_text(g, "for range %s", from), NULL);
    } else if (in_scope(g, into->valuestring)) {
        const char *temp = gen_text(g, "v%u_", ++g->temps);
        loop(g, o, gen_text(g, "for %s := range %s", temp, from),
             gen_text(g, "%s = %s", gen_name(g, into->valuestring), temp));
    } else {
        const char *x = gen_name(g, into->valuestring);
        gen_define(g, into->valuestring);
        loop(g, o, gen_text(g, "for %s := range %s", x, from), gen_text(g, "_ = %s", x));
    }
    g->nnames = names;
}

static void select_case(struct gen *g, const cJSON *e)
{
    const cJSON *recv = json_member(e, "recv"), *body = json_member(e, "do");
    char kind = 'v';
    int names = g->nnames;
    const char *value = "_", *ok = "_";
    if (json_member(e, "default") != NULL) {
        gen_line(g, "default:");
        body = json_member(e, "default");
    } else if (recv != NULL) {
        const char *from = source(g, recv, &kind), *left = left_side(g, e, kind, &value, &ok);
        gen_line(g, "case %s<-%s:", left, from);
    } else {
        const char *to = source(g, json_member(e, "send"), &kind);
        gen_line(g, "case %s <- %s:", to, show_int(g, gen_value(g, json_member(e, "value"))));
    }
    g->indent++;
    if (recv != NULL)
        take(g, e, kind, value, ok);
    if (body != NULL)
        gen_block(g, body);
    g->indent--;
    g->nnames = names;
}

static void go_select(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    if (v->child == NULL) {
        gen_line(g, "select {}");
        return;
    }
    gen_line(g, "select {");
    for (const cJSON *e = v->child; e != NULL; e = e->next)
        select_case(g, e);
    gen_line(g, "}");
}

static void go_close(struct gen *g, const cJSON *o, const cJSON *v)
{
    char kind;
    (void)o;
    if (gen_kind(g, v->valuestring) == OBJ_FD && !in_scope(g, v->valuestring))
        gen_line(g, "close(%s.closed)", object(g, v, "*simFD"));
    else
        gen_line(g, "close(%s)", source(g, v, &kind));
}

static void go_make(struct gen *g, const cJSON *o, const cJSON *v)
{
    assign_name(g, v->valuestring,
                gen_call(g, "simAdd", gen_made(g, json_member(o, "as")), NULL, NULL));
}

/* ---- methods of objects ---- */

/* VERB -> object.Method(), the type for handles. */
static void go_method(struct gen *g, const cJSON *o, const cJSON *v)
{
    static const char *const methods[][3] = {
        {"rlock", "RLock", "*sync.RWMutex"},      {"runlock", "RUnlock", "*sync.RWMutex"},
        {"done", "Done", "*sync.WaitGroup"},      {"signal", "Signal", "*sync.Cond"},
        {"broadcast", "Broadcast", "*sync.Cond"}, {"stop_pull", "stop", "*simCoroutine"},
        {"cancel", "cancel", "*simContext"},
    };
    size_t i = 0;
    while (strcmp(methods[i][0], o->child->string) != 0)
        i++;
    gen_line(g, "%s.%s()", object(g, v, methods[i][2]), methods[i][1]);
}

static void go_lock(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_line(g, "%s.%s()", sync_object(g, v, is_rw(g, v)),
             o->child->string[0] == 'u' ? "Unlock" : "Lock");
}

static void go_with_lock(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *lock = sync_object(g, v, is_rw(g, v));
    gen_line(g, "%s.Lock()", lock);
    gen_line(g, "{");
    gen_inner(g, json_member(o, "do"));
    gen_line(g, "}");
    gen_line(g, "%s.Unlock()", lock);
}

static void go_trylock(struct gen *g, const cJSON *o, const cJSON *v)
{
    bool read = o->child->string[3] == 'r';
    const char *method = read ? "TryRLock" : "TryLock",
               *call = gen_text(g, "%s.%s()", sync_object(g, v, read || is_rw(g, v)), method);
    if (json_member(o, "into") != NULL)
        call = gen_text(g, "simInt(%s)", call);
    assign_call(g, o, "into", call);
}

static struct node *count_of(struct gen *g, const cJSON *o, const char *key)
{
    const cJSON *v = json_member(o, key);
    return v != NULL ? gen_int(g, gen_value(g, v)) : gen_leaf(g, "1");
}

static void go_add(struct gen *g, const cJSON *o, const cJSON *v)
{
    struct node *n = count_of(g, o, "n");
    gen_line(g, "%s.Add(int(%s))", object(g, v, "*sync.WaitGroup"), show(g, n));
}

static void go_wait(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    gen_line(g, "%s.Wait()", object(g, v, "*sync.WaitGroup"));
}

static void go_semaphore(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *verb = o->child->string, *s = object(g, v, "*simSemaphore");
    const char *n = show(g, count_of(g, o, "n"));
    if (strcmp(verb, "tryacquire") == 0)
        assign_call(g, o, "into", gen_text(g, "%s.try(%s)", s, n));
    else
        gen_line(g, "%s.%s(%s)", s, verb, n);
}

static void go_pool_get(struct gen *g, const cJSON *o, const cJSON *v)
{
    assign_two(g, o, "into", "ok", gen_text(g, "simPoolGet(%s)", object(g, v, "*sync.Pool")));
}

static void go_pool_put(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_line(g, "%s.Put(%s)", object(g, v, "*sync.Pool"),
             show_int(g, gen_value(g, json_member(o, "value"))));
}

static const char *address(struct gen *g, const cJSON *v)
{
    const char *s = object(g, v, "*int64");
    return strchr(s, '(') != NULL ? s : gen_text(g, "&%s", s);
}

static void go_variable(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *verb = o->child->string, *a = address(g, v);
    bool atomic = cJSON_IsTrue(json_member(o, "atomic"));
    const char *plain = *a == '&' ? a + 1 : gen_text(g, "*%s", a);
    struct node *value = gen_int(g, gen_value(g, json_member(o, "value")));
    if (strcmp(verb, "load") == 0) {
        if (json_member(o, "into") != NULL)
            assign(g, o, "into",
                   gen_leaf(g, atomic ? gen_text(g, "atomic.LoadInt64(%s)", a) : plain));
    } else if (strcmp(verb, "store") == 0) {
        if (atomic)
            gen_line(g, "atomic.StoreInt64(%s, %s)", a, gen_show(g, value, 2));
        else
            gen_line(g, "%s = %s", plain, show(g, value));
    } else if (strcmp(verb, "cas") == 0) {
        const char *old = gen_show(g, gen_int(g, gen_value(g, json_member(o, "old"))), 2),
                   *new = gen_show(g, gen_int(g, gen_value(g, json_member(o, "new"))), 2);
        const char *call = gen_text(g, "atomic.CompareAndSwapInt64(%s, %s, %s)", a, old, new);
        assign_call(g, o, "into",
                    json_member(o, "into") != NULL ? gen_text(g, "simInt(%s)", call) : call);
    } else {
        bool add = strcmp(verb, "atomic_add") == 0;
        if (add && json_member(o, "value") == NULL)
            value = gen_leaf(g, "1");
        assign_call(
            g, o, "into",
            gen_text(g, "atomic.%sInt64(%s, %s)", add ? "Add" : "Swap", a, gen_show(g, value, 2)));
    }
}

/* ---- time and work ---- */

static void go_work(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *verb = o->child->string, *n = show(g, gen_amount(g, v));
    const cJSON *kind = json_member(o, "kind");
    bool calls = kind == NULL || strcmp(kind->valuestring, "normal") == 0;
    if (strcmp(verb, "sleep") == 0)
        gen_line(g, "time.Sleep(time.Duration(%s))", n);
    else if (strcmp(verb, "cpu") == 0)
        gen_line(g, "%s(%s)", calls ? "simCPU" : "simTight", n);
    else if (strcmp(verb, "free") == 0)
        gen_line(g, "simFree(%s)", n);
    else
        gen_line(g, "simSyscall(%s)", n);
}

static void go_alloc(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_line(g, "simAlloc(%s, %s)", gen_show(g, gen_amount(g, v), 2),
             cJSON_IsTrue(json_member(o, "live")) ? "true" : "false");
}

static void go_cgo_callback(struct gen *g, const cJSON *o, const cJSON *v)
{
    const cJSON *after = json_member(o, "after"), *arg = json_member(o, "arg");
    if (after != NULL)
        gen_line(g, "simSyscall(%s)", show(g, gen_amount(g, after)));
    gen_line(g, "%s(%s)", gen_func_name(g, v->valuestring), show_int(g, gen_value(g, arg)));
}

static void go_runtime(struct gen *g, const cJSON *o, const cJSON *v)
{
    static const char *const calls[][2] = {
        {"gosched", "runtime.Gosched()"},
        {"goexit", "runtime.Goexit()"},
        {"gc", "runtime.GC()"},
        {"read_mem_stats", "runtime.ReadMemStats(new(runtime.MemStats))"},
        {"lock_os_thread", "runtime.LockOSThread()"},
        {"trace_start", "simTraceStart()"},
        {"trace_stop", "trace.Stop()"},
        {"unlock_os_thread", "runtime.UnlockOSThread()"}};
    (void)v;
    size_t i = 0;
    while (strcmp(calls[i][0], o->child->string) != 0)
        i++;
    gen_line(g, "%s", calls[i][1]);
}

static void go_leak_profile(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    assign_name(g, v->valuestring, gen_leaf(g, "simLeakProfile()"));
}

static void go_gomaxprocs(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *call = gen_text(g, "runtime.GOMAXPROCS(int(%s))", show_int(g, gen_value(g, v)));
    if (json_member(o, "into") != NULL)
        call = gen_text(g, "int64(%s)", call);
    assign_call(g, o, "into", call);
}

static void go_exit(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    gen_line(g, "os.Exit(%d)", (int)v->valuedouble);
}

/* ---- timers, contexts, descriptors, coroutines ---- */

static void go_timer(struct gen *g, const cJSON *o, const cJSON *v)
{
    bool ticker = strcmp(o->child->string, "ticker") == 0;
    struct node *d = gen_amount(g, json_member(o, ticker ? "every" : "after"));
    assign_name(g, v->valuestring,
                ticker ? gen_call(g, "simNewTicker", d, NULL, NULL)
                       : gen_call(g, "simNewTimer", d, gen_leaf(g, "nil"), NULL));
}

static void go_after_func(struct gen *g, const cJSON *o, const cJSON *v)
{
    const cJSON *arg = json_member(o, "arg");
    unsigned n = ++g->temps;
    gen_line(g, "d%u_ := int64(%s)", n, show(g, gen_amount(g, json_member(o, "after"))));
    if (arg != NULL)
        gen_line(g, "a%u_ := int64(%s)", n, show_int(g, gen_value(g, arg)));
    const char *a = arg != NULL ? gen_text(g, "a%u_", n) : "";
    assign_call(g, o, "timer",
                gen_text(g, "simNewTimer(d%u_, func() { %s(%s) })", n,
                         gen_func_name(g, v->valuestring), a));
}

static void go_after(struct gen *g, const cJSON *o, const cJSON *v)
{
    assign_call(g, o, "into", gen_text(g, "simAfter(%s)", show(g, gen_amount(g, v))));
}

static void go_stop(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *t = gen_show(g, gen_int(g, gen_value(g, v)), 2);
    const cJSON *after = json_member(o, "after");
    if (after != NULL)
        assign_call(g, o, "into",
                    gen_text(g, "simReset(%s, %s)", t, gen_show(g, gen_amount(g, after), 2)));
    else
        assign_call(g, o, "into", gen_text(g, "simStop(%s)", t));
}

static void go_context(struct gen *g, const cJSON *o, const cJSON *v)
{
    const cJSON *parent = json_member(o, "parent"), *timeout = json_member(o, "timeout");
    struct node *p = parent != NULL ? gen_value(g, parent) : gen_leaf(g, "0"),
                *t = timeout != NULL ? gen_amount(g, timeout) : gen_leaf(g, "-1");
    assign_name(g, v->valuestring, gen_call(g, "simNewContext", p, t, NULL));
}

static void go_fd(struct gen *g, const cJSON *o, const cJSON *v)
{
    const char *verb = o->child->string, *f = object(g, v, "*simFD");
    if (strcmp(verb, "read") == 0)
        assign_two(g, o, "into", "time", gen_text(g, "%s.read()", f));
    else if (strcmp(verb, "deadline") == 0)
        gen_line(g, "atomic.StoreInt64(&%s.deadline, simNow()+%s)", f,
                 gen_show(g, gen_amount(g, json_member(o, "after")), 3));
    else
        assign_call(g, o, "into",
                    gen_text(g, "%s.%s()", f, strcmp(verb, "poll") == 0 ? "ready" : "write"));
}

static void go_pull(struct gen *g, const cJSON *o, const cJSON *v)
{
    const cJSON *args = json_member(o, "args");
    unsigned n = ++g->temps;
    gen_line(g, "p%u_ := simPull(func() {", n);
    g->indent++;
    gen_call_line(g, "", json_member(o, "from"), args, "");
    g->indent--;
    gen_line(g, "})");
    assign_name(g, v->valuestring, gen_leaf(g, gen_text(g, "p%u_", n)));
}

static void go_next(struct gen *g, const cJSON *o, const cJSON *v)
{
    assign_two(g, o, "into", "ok", gen_text(g, "%s.get()", object(g, v, "*simCoroutine")));
}

static void go_yield(struct gen *g, const cJSON *o, const cJSON *v)
{
    assign_call(g, o, "into", gen_text(g, "simYield(%s)", show_int(g, gen_value(g, v))));
}

/* ---- output ---- */

static void go_print(struct gen *g, const cJSON *o, const cJSON *v)
{
    const cJSON *end = json_member(o, "end"), *args = json_member(o, "args");
    const char *f = v->valuestring, *s = "";
    const cJSON *a = args != NULL ? args->child : NULL;
    for (const char *p = strchr(f, '%'); p != NULL && a != NULL; p = strchr(p + 2, '%')) {
        if (p[1] == '%')
            continue;
        struct node *n = gen_value(g, a);
        n = p[1] == 't'   ? gen_bool(g, n)
            : p[1] == 's' ? gen_call(g, "simString", gen_int(g, n), NULL, NULL)
                          : gen_int(g, n);
        s = gen_text(g, "%s, %s", s, gen_show(g, n, 2));
        a = a->next;
    }
    gen_line(g, "fmt.Printf(%s%s)",
             gen_quote(g, gen_text(g, "%s%s", f, end != NULL ? end->valuestring : "\n")), s);
}

/* A name of the scenario's in a comment: whatever it holds, the comment ends with its line. */
static const char *gen_comment(const char *name)
{
    static char text[200];
    return text_in(text, sizeof text, TEXT_GO_COMMENT, name);
}

static void go_span(struct gen *g, const cJSON *o, const cJSON *v)
{
    gen_line(g, "{ // span %s", gen_comment(v->valuestring));
    gen_inner(g, json_member(o, "do"));
    gen_line(g, "}");
}

static void go_mark(struct gen *g, const cJSON *o, const cJSON *v)
{
    (void)o;
    gen_line(g, "// mark %s", gen_comment(v->valuestring));
}

/* ---- the table ---- */

static const struct {
    const char *verb;
    gen_fn *fn;
} verbs[] = {
    {"acquire", go_semaphore},
    {"add", go_add},
    {"after", go_after},
    {"after_func", go_after_func},
    {"alloc", go_alloc},
    {"assert", go_assert},
    {"atomic_add", go_variable},
    {"break", go_break},
    {"broadcast", go_method},
    {"call", go_call},
    {"cancel", go_method},
    {"cas", go_variable},
    {"cgo", go_work},
    {"cgo_callback", go_cgo_callback},
    {"close", go_close},
    {"context", go_context},
    {"continue", go_break},
    {"cpu", go_work},
    {"deadline", go_fd},
    {"defer", go_defer},
    {"finalizer", go_finalizer},
    {"cleanup", go_cleanup},
    {"done", go_method},
    {"exit", go_exit},
    {"free", go_work},
    {"gc", go_runtime},
    {"read_mem_stats", go_runtime},
    {"go", go_go},
    {"goexit", go_runtime},
    {"gomaxprocs", go_gomaxprocs},
    {"leak_profile", go_leak_profile},
    {"gosched", go_runtime},
    {"if", go_if},
    {"load", go_variable},
    {"lock", go_lock},
    {"lock_os_thread", go_runtime},
    {"loop", go_loop},
    {"make", go_make},
    {"mark", go_mark},
    {"next", go_next},
    {"once", go_once},
    {"panic", go_panic},
    {"poll", go_fd},
    {"pool_get", go_pool_get},
    {"pool_put", go_pool_put},
    {"print", go_print},
    {"pull", go_pull},
    {"random", go_random},
    {"range", go_range},
    {"read", go_fd},
    {"recover", go_recover},
    {"recv", go_recv},
    {"release", go_semaphore},
    {"reset", go_stop},
    {"return", go_return},
    {"rlock", go_method},
    {"runlock", go_method},
    {"select", go_select},
    {"send", go_send},
    {"set", go_set},
    {"signal", go_method},
    {"sleep", go_work},
    {"span", go_span},
    {"stop", go_stop},
    {"stop_pull", go_method},
    {"store", go_variable},
    {"swap", go_variable},
    {"syscall", go_work},
    {"ticker", go_timer},
    {"timer", go_timer},
    {"trace_start", go_runtime},
    {"trace_stop", go_runtime},
    {"tryacquire", go_semaphore},
    {"trylock", go_trylock},
    {"tryrlock", go_trylock},
    {"unlock", go_lock},
    {"unlock_os_thread", go_runtime},
    {"wait", go_wait},
    {"while", go_while},
    {"with_lock", go_with_lock},
    {"write", go_fd},
    {"yield", go_yield},
};

/* Would a statement after this list be unreachable, in go vet's eyes? */
bool gen_ends(const cJSON *list)
{
    const cJSON *last = list->child;
    while (last != NULL && last->next != NULL)
        last = last->next;
    if (last == NULL)
        return false;
    const char *verb = last->child->string;
    if (strcmp(verb, "if") == 0)
        return json_member(last, "else") != NULL && gen_ends(json_member(last, "then")) &&
               gen_ends(json_member(last, "else"));
    if (strcmp(verb, "loop") == 0)
        return cJSON_IsString(last->child) && strcmp(last->child->valuestring, "forever") == 0 &&
               !jumps(json_member(last, "do"));
    return strcmp(verb, "return") == 0 || strcmp(verb, "panic") == 0;
}

void gen_block(struct gen *g, const cJSON *list)
{
    int names = g->nnames;
    for (const cJSON *o = list->child; o != NULL; o = o->next)
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
            if (strcmp(verbs[i].verb, o->child->string) == 0)
                verbs[i].fn(g, o, o->child);
    g->nnames = names;
}
