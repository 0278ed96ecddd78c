/* SPDX-License-Identifier: BSD-3-Clause */
/* PRINT: formats, and hands the text to whoever embeds the model. It takes the time of a short
 * write(2), but is no system call of the scheduler's: prints are how a run is compared with Go, and
 * must not move a P. It leaves a record of the text, then one of each argument. */
#include "print.h"
#include "api.h"
#include "objs.h"
#include "panic.h"

static void *world_arg;

struct printer {
    char text[256];
    uint32_t n;
    uint64_t size; /* of all that was flushed */
};

static void print_flush(struct printer *p)
{
    p->size += p->n;
    if (p->n > 0 && world_print != NULL)
        world_print(world_arg, p->text, p->n);
    p->n = 0;
}

static void print_char(struct printer *p, char c)
{
    if (p->n == sizeof p->text)
        print_flush(p);
    p->text[p->n++] = c;
}

static void print_text(struct printer *p, const char *s)
{
    for (; *s != 0; s++)
        print_char(p, *s);
}

static void print_int(struct printer *p, int64_t v)
{
    char digits[20];
    int n = 0;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    if (v < 0)
        print_char(p, '-');
    do
        digits[n++] = (char)('0' + u % 10);
    while ((u /= 10) != 0);
    while (n > 0)
        print_char(p, digits[--n]);
}

static void print_verb(struct printer *p, char verb, int64_t v)
{
    const char *s;
    switch (verb) {
    case 'd': print_int(p, v); return;
    case 't': print_text(p, v != 0 ? "true" : "false"); return;
    case 's':
        s = string_of(v);
        print_text(p, s != NULL ? s : "%!s(BAD)");
        return;
    default: print_char(p, '%'); print_char(p, verb);
    }
}

/* Whoever keeps the output has room for so much of it. */
static void print_limit(uint64_t size)
{
    uint64_t all = a_add(&rt->printed, size);
    if (rt->output_max != 0 && all > rt->output_max)
        finding(FIND_LIMIT,
                "the program prints more than the run keeps (64 MiB); run --prints keeps "
                "nothing, --until ends earlier");
}

static enum opres op_print(struct g *gp, const struct insn *in)
{
    work(print);
    struct printer p = {.n = 0};
    const int64_t *arg = regs(gp) + in->a;
    uint32_t used = 0;
    for (const char *s = rt->prog->strings[in->d]; *s != 0; s++) {
        if (*s != '%' || s[1] == 0)
            print_char(&p, *s);
        else if (*++s == '%')
            print_char(&p, '%');
        else if (used < in->b)
            print_verb(&p, *s, arg[used++]);
        else
            print_text(&p, "%!(MISSING)");
    }
    print_flush(&p);
    print_limit(p.size);
    ev_print(rec_g(gp), (uint32_t)in->d, in->b);
    for (uint32_t i = 0; i < in->b; i++)
        ev_print_arg(rec_g(gp), arg[i], (uint16_t)(i + 1));
    return OP_DONE;
}
