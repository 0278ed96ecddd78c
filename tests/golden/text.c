/* SPDX-License-Identifier: BSD-3-Clause */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "recorded.h"

enum { LINES_MAX = 400, WORDS_MAX = 12, FILE_MAX = 1 << 15, NAMES_MAX = 24, BLOCKS_MAX = 16 };
/* A function's registers: its variables, arguments being passed, values of one statement. */
enum { ARGS = NAMES_MAX, TEMPS = ARGS + 8, REGS = TEMPS + 6 };

enum block_kind { B_IF, B_LOOP, B_SELECT };

struct block {
    enum block_kind kind;
    int top, next, out; /* labels: loop again, else or next case, after */
    int counter, chosen, arm;
};

struct line {
    int number, n;
    char *word[WORDS_MAX];
};

static char file_text[FILE_MAX], strings[FILE_MAX];
static size_t nstrings;
static const char *file_path;
static struct line lines[LINES_MAX];
static int nlines, at;
static struct as *a;
static struct {
    char *name[AS_TABLE];
    int n;
} objects, funcs;
static char *names[NAMES_MAX];
static int nnames, ntemps, nargs;
static struct block blocks[BLOCKS_MAX];
static int nblocks;

#define WRONG(...)                                                   \
    do {                                                             \
        char wrong_[200];                                            \
        snprintf(wrong_, sizeof wrong_, __VA_ARGS__);                \
        FAIL_CASE("%s:%d: %s", file_path, lines[at].number, wrong_); \
    } while (0)

/* ---- lines and words ---- */

static char *one_word(char **s)
{
    char *w = *s, stop = ' ';
    if (*w == '"')
        stop = *w++;
    char *e = w;
    while (*e != 0 && *e != stop)
        e++;
    *s = *e == 0 ? e : e + 1;
    *e = 0;
    return w;
}

static void split(char *s, int number)
{
    struct line *l = &lines[nlines];
    *l = (struct line){.number = number};
    for (;;) {
        while (*s == ' ')
            s++;
        if (*s == 0 || *s == '#')
            break;
        CHECK_LT(l->n, WORDS_MAX);
        l->word[l->n++] = one_word(&s);
    }
    if (l->n > 0)
        nlines++;
    CHECK_LT(nlines, LINES_MAX);
}

static void read_lines(const char *path)
{
    recorded_read(file_text, sizeof file_text, path);
    nlines = 0;
    int number = 0;
    for (char *s = file_text; s != NULL;) {
        char *e = strchr(s, '\n');
        if (e != NULL)
            *e++ = 0;
        split(s, ++number);
        s = e;
    }
}

static const char *word(int i)
{
    if (i >= lines[at].n)
        WRONG("%s: too few words", lines[at].word[0]);
    return lines[at].word[i];
}

static bool has(int i) { return i < lines[at].n; }
static bool is(int i, const char *s) { return has(i) && strcmp(word(i), s) == 0; }

/* The text with a newline, kept for the program's life. */
static const char *keep(const char *s, const char *end)
{
    char *k = strings + nstrings;
    nstrings += strlen(s) + strlen(end) + 1;
    CHECK_LT(nstrings, sizeof strings);
    strcat(strcpy(k, s), end);
    return k;
}

/* ---- names and values ---- */

static int find(char *const *table, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(table[i], name) == 0)
            return i;
    return -1;
}

static bool number(const char *s, int64_t *v)
{
    char *e;
    *v = strtoll(s, &e, 10);
    if (e == s)
        return false;
    if (strcmp(e, "ns") == 0)
        return true;
    if (strcmp(e, "us") == 0)
        *v *= 1000;
    else if (strcmp(e, "ms") == 0)
        *v *= 1000000;
    else if (strcmp(e, "s") == 0)
        *v *= 1000000000;
    else
        return *e == 0;
    return true;
}

static int temp(void)
{
    CHECK_LT(TEMPS + ntemps, REGS);
    return TEMPS + ntemps++;
}

static int var_of(const char *name)
{
    int r = find(names, nnames, name);
    if (r >= 0)
        return r;
    CHECK_LT(nnames, NAMES_MAX);
    names[nnames] = (char *)(uintptr_t)name;
    return nnames++;
}

static int func_of(const char *name)
{
    int f = find(funcs.name, funcs.n, name);
    if (f < 0)
        WRONG("no function %s", name);
    return f;
}

/* A register with the value of the word. */
static int value(int i)
{
    const char *s = word(i);
    int r = find(names, nnames, s), o = find(objects.name, objects.n, s);
    int64_t v = 0;
    if (r >= 0)
        return r;
    if (o >= 0)
        v = o + 1;
    else if (strcmp(s, "nil") != 0 && !number(s, &v))
        WRONG("%s is no value", s);
    r = temp();
    as_const(a, r, v);
    return r;
}

/* The object of the word: its index, or OBJ_REG with *hreg. */
static int object(int i, int *hreg)
{
    int o = find(objects.name, objects.n, word(i));
    *hreg = 0;
    if (o >= 0)
        return o;
    *hreg = value(i);
    return OBJ_REG;
}

/* Words from i on in consecutive registers; nargs says how many. */
static int args(int i)
{
    nargs = 0;
    for (; has(i); i++) {
        CHECK_LT(ARGS + nargs, TEMPS);
        as_op(a, OP_MOVE, ARGS + nargs++, value(i), 0, 0, 0);
        ntemps = 0;
    }
    return ARGS;
}

/* ---- blocks ---- */

static struct block *open_block(enum block_kind kind)
{
    CHECK_LT(nblocks, BLOCKS_MAX);
    blocks[nblocks] = (struct block){.kind = kind, .next = as_label(a), .out = as_label(a)};
    return &blocks[nblocks++];
}

static struct block *top_block(enum block_kind kind)
{
    if (nblocks == 0 || blocks[nblocks - 1].kind != kind)
        WRONG("%s without its block", word(0));
    return &blocks[nblocks - 1];
}

/* A register that is 0 if `words i..i+2` do not hold. */
static int condition(int i)
{
    static const struct {
        const char *text;
        enum op op;
        bool swap;
    } ops[] = {{"==", OP_EQ, false}, {"!=", OP_NE, false}, {"<", OP_LT, false},
               {"<=", OP_LE, false}, {">", OP_LT, true},   {">=", OP_LE, true}};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (is(i + 1, ops[k].text)) {
            int x = value(i), y = value(i + 2), r = temp();
            as_op(a, ops[k].op, r, ops[k].swap ? y : x, ops[k].swap ? x : y, 0, 0);
            return r;
        }
    WRONG("no condition: %s", word(i + 1));
    return 0;
}

static void st_if(void)
{
    int r = condition(1);
    as_jump(a, OP_JZ, r, 0, 0, open_block(B_IF)->next);
}

static void st_else(void)
{
    struct block *b = top_block(B_IF);
    as_jump(a, OP_JMP, 0, 0, 0, b->out);
    as_place(a, b->next);
    b->next = -1;
}

static void st_forever(void)
{
    struct block *b = open_block(B_LOOP);
    b->counter = -1;
    b->top = as_here(a);
}

static void st_while(void)
{
    st_forever();
    as_jump(a, OP_JZ, condition(1), 0, 0, top_block(B_LOOP)->out);
}

static void st_loop(void)
{
    int i = var_of(word(1));
    as_op(a, OP_MOVE, i, value(2), 0, 0, 0);
    st_forever();
    struct block *b = top_block(B_LOOP);
    b->counter = i;
    int last = value(3), ok = temp();
    as_op(a, OP_LE, ok, i, last, 0, 0);
    as_jump(a, OP_JZ, ok, 0, 0, b->out);
}

static void st_break(void)
{
    int i = nblocks - 1;
    while (i >= 0 && blocks[i].kind != B_LOOP)
        i--;
    if (i < 0)
        WRONG("break outside of a loop");
    as_jump(a, OP_JMP, 0, 0, 0, blocks[i].out);
}

/* The lines of a select's cases at the same depth, for its table; until its end. */
static void select_cases(int *ok)
{
    int depth = 0, here = at;
    for (at++; at < nlines && depth >= 0; at++) {
        if (is(0, "if") || is(0, "while") || is(0, "loop") || is(0, "forever") || is(0, "select"))
            depth++;
        else if (is(0, "end"))
            depth--;
        if (depth != 0 || !is(0, "case"))
            continue;
        bool send = is(1, "send");
        int hreg, o = object(2, &hreg), reg = NOREG;
        if (send)
            reg = value(3);
        else if (has(3))
            reg = var_of(word(3));
        if (!send && has(4))
            *ok = var_of(word(4));
        as_case(a, send, o, hreg, reg);
    }
    at = here;
}

static bool select_default(void)
{
    int depth = 0, here = at;
    bool found = false;
    for (at++; at < nlines && depth >= 0; at++) {
        if (is(0, "if") || is(0, "while") || is(0, "loop") || is(0, "forever") || is(0, "select"))
            depth++;
        else if (is(0, "end"))
            depth--;
        found |= depth == 0 && is(0, "default");
    }
    at = here;
    return found;
}

static void st_select(void)
{
    static char chosen_name[BLOCKS_MAX][16];
    char *name = chosen_name[nblocks];
    snprintf(name, sizeof *chosen_name, "(select %d)", nblocks);
    struct block *b = open_block(B_SELECT);
    b->chosen = var_of(name);
    int s = as_select(a, select_default()), ok = NOREG;
    select_cases(&ok);
    as_op(a, OP_SELECT, b->chosen, ok, 0, s, 0);
    b->arm = -1;
    as_jump(a, OP_JMP, 0, 0, 0, b->next);
}

static void arm(int n)
{
    struct block *b = top_block(B_SELECT);
    as_jump(a, OP_JMP, 0, 0, 0, b->out); /* of the arm before; at first it is skipped */
    as_place(a, b->next);
    b->next = as_label(a);
    as_jump(a, OP_JNEI, b->chosen, 0, n, b->next);
}

static void st_case(void) { arm(++top_block(B_SELECT)->arm); }
static void st_default(void) { arm(-1); }

static void st_end(void)
{
    if (nblocks == 0)
        WRONG("end without a block");
    struct block *b = &blocks[--nblocks];
    if (b->kind == B_LOOP) {
        if (b->counter >= 0)
            as_op(a, OP_ADDI, b->counter, b->counter, 0, 0, 1);
        as_jump(a, OP_JMP, 0, 0, 0, b->top);
    }
    if (b->next >= 0)
        as_place(a, b->next);
    as_place(a, b->out);
}

/* ---- statements ---- */

static void st_print(void)
{
    const char *s = keep(word(1), "\n");
    int first = args(2);
    as_op(a, OP_PRINT, first, nargs, 0, as_string(a, s), 0);
}

static void st_return(void) { as_op(a, OP_RET, has(1) ? value(1) : NOREG, 0, 0, 0, 0); }

static void st_panic(void)
{
    int64_t v;
    if (find(names, nnames, word(1)) >= 0 || number(word(1), &v))
        as_op(a, OP_PANIC, value(1), 0, 0, -1, 0);
    else
        as_op(a, OP_PANIC, NOREG, 0, 0, as_string(a, keep(word(1), "")), 0);
}

static void st_exit(void)
{
    int64_t v = 0;
    (void)number(word(1), &v);
    as_op(a, OP_EXIT, 0, 0, 0, 0, v);
}

static void st_recv(void)
{
    int hreg, o = object(1, &hreg);
    int v = has(2) ? var_of(word(2)) : temp(), ok = has(3) ? var_of(word(3)) : NOREG;
    as_op(a, OP_RECV, v, ok, hreg, o, 0);
}

static void st_once(void)
{
    int hreg, o = object(1, &hreg), first = args(3);
    as_op(a, OP_ONCE, first, nargs, hreg, o, func_of(word(2)));
}

/* Bytes that stay reachable. */
static void st_alloc(void) { as_op(a, OP_ALLOC, 1, NOREG, 0, -1, strtoll(word(1), NULL, 10)); }

static void st_recover(void) { as_op(a, OP_RECOVER, var_of(word(1)), var_of(word(2)), 0, 0, 0); }

static void st_yield(void)
{
    int v = value(1);
    as_op(a, OP_YIELD, v, var_of(word(2)), 0, 0, 0);
}

/* WORD OBJECT [VALUE]: the value's register goes into field a. */
static void object_op(enum op op, bool with_value)
{
    int hreg, o = object(1, &hreg);
    as_op(a, op, with_value ? value(2) : 0, 0, hreg, o, 0);
}

/* WORD OBJECT X OK */
static void object_pair(enum op op)
{
    int hreg, o = object(1, &hreg);
    as_op(a, op, var_of(word(2)), var_of(word(3)), hreg, o, 0);
}

static void duration(enum op op, int kind) { as_op(a, op, kind, value(1), 0, -1, 0); }

static void func_op(enum op op)
{
    int first = args(2);
    as_op(a, op, first, nargs, op == OP_CALL ? NOREG : 0, func_of(word(1)), op == OP_GO ? -1 : 0);
}

#define PLAIN(name, op) \
    static void name(void) { as_plain(a, op); }
#define OBJECT(name, op) \
    static void name(void) { object_op(op, false); }
#define VALUED(name, op) \
    static void name(void) { object_op(op, true); }
#define PAIRED(name, op) \
    static void name(void) { object_pair(op); }
#define FUNCS(name, op) \
    static void name(void) { func_op(op); }
#define TIMED(name, op, kind) \
    static void name(void) { duration(op, kind); }
#define AS_IS(name, fn)
#include "text.def"
#undef PLAIN
#undef OBJECT
#undef VALUED
#undef PAIRED
#undef FUNCS
#undef TIMED
#undef AS_IS

/* ---- assignments: X = WORD ... ---- */

static bool assign_sum(int x)
{
    static const struct {
        const char *text;
        enum op op;
    } ops[] = {{"+", OP_ADD}, {"-", OP_SUB}, {"*", OP_MUL}, {"/", OP_DIV}, {"%", OP_MOD}};
    if (lines[at].n == 3) {
        as_op(a, OP_MOVE, x, value(2), 0, 0, 0);
        return true;
    }
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
        if (lines[at].n == 5 && is(3, ops[k].text)) {
            int y = value(2), z = value(4);
            as_op(a, ops[k].op, x, y, z, 0, 0);
            return true;
        }
    return false;
}

/* X = WORD OBJECT [VALUE [VALUE]] */
static bool assign_object(int x)
{
    static const struct {
        const char *text;
        enum op op;
    } ops[] = {{"len", OP_LEN},           {"cap", OP_CAP},           {"trylock", OP_TRYLOCK},
               {"tryrlock", OP_TRYRLOCK}, {"trywlock", OP_TRYWLOCK}, {"timerc", OP_TIMERC},
               {"stop", OP_TSTOP},        {"reset", OP_TRESET},      {"ctxdone", OP_CTXDONE},
               {"ctxerr", OP_CTXERR},     {"load", OP_LOADP},        {"aload", OP_LOADA},
               {"aadd", OP_ADDA}};
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        if (!is(2, ops[k].text))
            continue;
        int hreg, o = object(3, &hreg);
        as_op(a, ops[k].op, x, has(4) ? value(4) : 0, hreg, o, 0);
        return true;
    }
    if (!is(2, "cas"))
        return false;
    int hreg, o = object(3, &hreg), old = value(4);
    as_op(a, OP_CASA, x, old, value(5), o, hreg);
    return true;
}

/* X = WORD DURATION ... */
static bool assign_time(int x)
{
    if (is(2, "timer") || is(2, "afterfunc")) {
        int d = value(3), arg = has(5) ? value(5) : NOREG;
        as_op(a, OP_TIMER, x, d, arg, is(2, "timer") ? -1 : func_of(word(4)), 0);
    } else if (is(2, "ticker")) {
        as_op(a, OP_TICKER, x, value(3), 0, 0, 0);
    } else if (is(2, "after")) {
        as_op(a, OP_AFTER, x, value(3), 0, 0, 0);
    } else if (is(2, "ctx")) {
        as_op(a, OP_CTXNEW, x, value(3), 0, 0, 0);
    } else if (is(2, "ctxtimeout")) {
        int parent = value(3);
        as_op(a, OP_CTXTMO, x, parent, value(4), 0, 0);
    } else {
        return false;
    }
    return true;
}

static bool assign_other(int x)
{
    int hreg;
    if (is(2, "call")) {
        int first = args(4);
        as_op(a, OP_CALL, first, nargs, x, func_of(word(3)), 0);
    } else if (is(2, "pull")) {
        int first = args(4);
        as_op(a, OP_CORONEW, x, first, nargs, func_of(word(3)), 0);
    } else if (is(2, "make")) {
        as_op(a, OP_MAKE, x, OBJ_CHAN, value(4), 0, 0);
    } else if (is(2, "gomaxprocs")) {
        as_op(a, OP_GOMAXPROCS, x, value(3), 0, 0, 0);
    } else if (is(2, "numgoroutine")) {
        as_op(a, OP_NUMGOROUTINE, x, 0, 0, 0, 0);
    } else if (is(2, "leakprofile")) {
        as_op(a, OP_LEAKS, x, 0, 0, 0, 0);
    } else if (is(2, "now")) {
        as_op(a, OP_NOW, x, 0, 0, 0, 0);
    } else if (is(2, "fdread")) {
        int o = object(3, &hreg);
        as_op(a, OP_FDREAD, x, NOREG, hreg, o, 0);
    } else {
        return false;
    }
    return true;
}

static void assign(void)
{
    /* The value first: it may be a variable that does not exist yet. */
    int x = find(names, nnames, word(0));
    bool fresh = x < 0;
    if (fresh)
        x = temp();
    word(2);
    if (!assign_object(x) && !assign_time(x) && !assign_other(x) && !assign_sum(x))
        WRONG("no such value: %s", word(2));
    if (fresh)
        as_op(a, OP_MOVE, var_of(word(0)), x, 0, 0, 0);
}

/* ---- the file ---- */

static const struct {
    const char *name;
    void (*fn)(void);
} statements[] = {
#define PLAIN(name, op)       {&#name[3], name},
#define OBJECT(name, op)      {&#name[3], name},
#define VALUED(name, op)      {&#name[3], name},
#define PAIRED(name, op)      {&#name[3], name},
#define FUNCS(name, op)       {&#name[3], name},
#define TIMED(name, op, kind) {&#name[3], name},
#define AS_IS(name, fn)       {#name, fn},
#include "text.def"
};

static void statement(void)
{
    ntemps = 0;
    if (is(1, "=")) {
        assign();
        return;
    }
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (is(0, statements[i].name)) {
            statements[i].fn();
            return;
        }
    WRONG("no such statement: %s", word(0));
}

static const struct {
    const char *name;
    enum object_kind kind;
} kinds[] = {{"chan", OBJ_CHAN},    {"mutex", OBJ_MUTEX}, {"rwmutex", OBJ_RWMUTEX},
             {"wg", OBJ_WAITGROUP}, {"cond", OBJ_COND},   {"once", OBJ_ONCE},
             {"pool", OBJ_POOL},    {"var", OBJ_VAR}};

static int64_t arrival_times[WORDS_MAX];

static void declare_fd(void)
{
    for (int i = 2; has(i); i++)
        (void)number(word(i), &arrival_times[i - 2]);
    int n = (int)a->p.narrivals++;
    a->arrivals[n] = (struct arrivals){.kind = ARRIVE_TIMES,
                                       .mode = 1,
                                       .gap = -1,
                                       .times = arrival_times,
                                       .ntimes = (uint64_t)lines[at].n - 2};
    as_object(a, OBJ_FD, n);
    objects.name[objects.n++] = lines[at].word[1];
}

static bool declare_object(void)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (!is(0, kinds[k].name))
            continue;
        int64_t param = 0;
        if (kinds[k].kind == OBJ_COND)
            param = find(objects.name, objects.n, word(2));
        else if (has(2))
            (void)number(word(2), &param);
        as_object(a, kinds[k].kind, param);
        objects.name[objects.n++] = lines[at].word[1];
        return true;
    }
    return false;
}

static void declare(struct text_opts *o)
{
    if (is(0, "rule")) {
        snprintf(o->rule, sizeof o->rule, "%s", word(1));
        (void)number(word(2), &o->value);
    } else if (is(0, "prints-p")) {
        o->prints_p = true;
    } else if (is(0, "fd")) {
        declare_fd();
    } else if (is(0, "func")) {
        funcs.name[funcs.n++] = lines[at].word[1];
    } else if (!declare_object() && funcs.n == 0) {
        WRONG("not a declaration: %s", word(0));
    }
}

static void end_func(void)
{
    if (nblocks > 0)
        WRONG("a block without its end before this line");
    as_ret(a);
}

static void begin_func(void)
{
    nnames = 0;
    for (int i = 2; has(i); i++)
        var_of(word(i));
    as_func(a, word(1), lines[at].n - 2, REGS);
}

void text_compile(struct as *as, struct text_opts *o, const char *path)
{
    a = as;
    file_path = path;
    *o = (struct text_opts){.value = 0};
    nstrings = 0;
    objects.n = funcs.n = nblocks = 0;
    read_lines(path);
    as_init(a);
    for (at = 0; at < nlines; at++)
        declare(o);
    bool inside = false;
    for (at = 0; at < nlines; at++) {
        if (is(0, "func")) {
            if (inside)
                end_func();
            begin_func();
            inside = true;
        } else if (inside) {
            statement();
        }
    }
    at = nlines - 1;
    end_func();
}
