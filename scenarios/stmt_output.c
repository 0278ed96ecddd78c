/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements that leave something to look at. */
#include <string.h>

#include "scenarios/gengo_int.h"

/* The text with its end. */
static char *line_of(struct pool *pool, const struct stmt *s)
{
    const struct part *end = part_of(s, "end");
    const char *format = s->part[0].text, *after = end != NULL ? end->text : "\n";
    char *line = pool_alloc(pool, strlen(format) + strlen(after) + 1);
    return strcat(strcpy(line, format), after);
}

/* The next verb of a format: 'd', 's' or 't'; 0 at its end, '?' for what is none. *s goes on behind
 * it. */
static char next_verb(const char **s)
{
    for (; **s != 0; ++*s) {
        if (**s != '%')
            continue;
        char verb = *++*s;
        if (verb != '%') {
            *s += verb != 0;
            return verb == 'd' || verb == 's' || verb == 't' ? verb : '?';
        }
    }
    return 0;
}

static void emit_print(struct cc *c, const struct stmt *s)
{
    const struct part *args = part_of(s, "args");
    struct place at = s->part[0].at;
    static const struct exprs none;
    const struct exprs *list = args != NULL ? &args->args : &none;
    const char *line = line_of(c->pool, s), *f = line;
    uint32_t n = 0;
    for (char verb; (verb = next_verb(&f)) != 0; n++)
        if (verb == '?')
            mistake(&c->doc->mistakes, at, "a format has %%d, %%s, %%t and %%%%");
    uint8_t first = emit_arguments(c, list);
    if (n != list->count)
        mistake(&c->doc->mistakes, at, "the format takes %u arguments, got %u", n, list->count);
    f = line;
    for (uint32_t i = 0; i < n; i++)
        if (next_verb(&f) == 's') /* what recover gave */
            kind_want(&c->b, list->x[i]->at, (uint8_t)(first + i), KIND_TEXT);
    build_op(&c->b, OP_PRINT, first, (int)n, 0, build_string(&c->b, line), 0);
}

static void go_print(struct gen *g, const struct stmt *s)
{
    const struct part *args = part_of(s, "args");
    const char *line = line_of(g->pool, s), *f = line, *text = "";
    for (uint32_t i = 0; args != NULL && i < args->args.count; i++) {
        struct node *n = gen_value(g, args->args.x[i]);
        char verb = next_verb(&f);
        n = verb == 't'   ? gen_bool(g, n)
            : verb == 's' ? gen_call(g, "simString", gen_int(g, n), NULL, NULL)
                          : gen_int(g, n);
        text = gen_text(g, "%s, %s", text, gen_show(g, n, 2));
    }
    gen_line(g, "fmt.Printf(%s%s)", gen_quote(g, line), text);
}

static void emit_span(struct cc *c, const struct stmt *s)
{
    const struct part *since = part_of(s, "since");
    int32_t span = build_span(&c->b, s->part[0].text);
    uint8_t r = since != NULL ? emit_value(c, since->x) : NOREG;
    build_op(&c->b, OP_SPANB, NOREG, r, 0, span, 0);
    emit_block(c, part_of(s, "do")->body);
    build_op(&c->b, OP_SPANE, NOREG, 0, 0, span, 0);
}

static void go_span(struct gen *g, const struct stmt *s)
{
    gen_line(g, "{ // span %s", gen_comment(g, s->part[0].text));
    gen_inner(g, part_of(s, "do")->body);
    gen_line(g, "}");
}

static const struct statement output_statements[] = {
    {.field = {SPECIAL("print", F_TEXT), OPTIONAL("args", F_ARGS), OPTIONAL("end", F_TEXT)},
     .what =
         "Prints a line: `%d` number, `%t` boolean, `%s` text of `recover`, `%%`; `end` replaces "
         "the line's end.",
     .example = "{\"print\": \"worker %d: %t\", \"args\": [\"i\", \"x > 0\"]}",
     .emit = emit_print,
     .gen = go_print},
    {.field = {SPECIAL("span", F_LABEL), BLOCK("do"), OPTIONAL("since", F_VALUE)},
     .what = "Measures how long the block takes. Latency is reported by name; `since`: it began "
             "earlier, e.g. when the request arrived.",
     .example = "{\"span\": \"request\", \"since\": \"arrived\", \"do\": [{\"cpu\": \"1ms\"}]}",
     .flow = FLOW_BLOCK,
     .emit = emit_span,
     .gen = go_span},
    {.field = {SPECIAL("mark", F_LABEL), {.key = "value", .kind = F_VALUE, .slot = SLOT_A}},
     .what = "A mark in the records. Shows in records and pictures.",
     .example = "{\"mark\": \"queue length\", \"value\": \"len(ch)\"}",
     .op = OP_MARK,
     .go = "// mark {mark}"},
};
GROUP(output, "Output");
