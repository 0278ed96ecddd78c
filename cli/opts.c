/* SPDX-License-Identifier: BSD-3-Clause */
/* Options from tables, on getopt_long. */
#include "cli/cli.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sim/base/text.h"

enum { OPTS_MAX = 64, NAME_MAX_LEN = 40 };

/* ---- mistakes ---- */

void cli_die(int status, const char *fmt, ...)
{
    va_list ap;
    char text[8192]; /* longer than a path; it may quote anything */
    fflush(stdout);
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fputs(GMPSIM_NAME ": ", stderr);
    text_put(stderr, TEXT_LINES, text);
    fputc('\n', stderr);
    exit(status);
}

void cli_fail(const struct failure *f) { cli_die(fail_exit_code(f->code), "%s", f->text); }

void cli_die_of(const struct failure *f, const char *what)
{
    cli_die(f->code == E_LIMIT ? EXIT_USAGE : EXIT_INTERNAL, "%s: %s", what, f->text);
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;
    return m < c ? m : c;
}

/* Levenshtein's distance, of names up to NAME_MAX_LEN. */
static size_t distance(const char *a, const char *b)
{
    size_t la = strlen(a), lb = strlen(b), row[NAME_MAX_LEN + 1];
    if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
        return NAME_MAX_LEN;
    for (size_t j = 0; j <= lb; j++)
        row[j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[lb];
}

const char *cli_nearest(const char *text, const char *const *candidates)
{
    const char *best = NULL;
    size_t best_distance = strlen(text) / 2 + 2;
    if (best_distance > 4)
        best_distance = 4;
    for (; *candidates != NULL; candidates++) {
        size_t d = distance(text, *candidates);
        if (d < best_distance) {
            best = *candidates;
            best_distance = d;
        }
    }
    return best;
}

int cli_choice(const char *what, const char *text, const char *const *candidates)
{
    char all[1000] = "";
    size_t n = 0;
    for (int i = 0; candidates[i] != NULL; i++) {
        if (strcmp(candidates[i], text) == 0)
            return i;
        if (n < sizeof all)
            n += (size_t)snprintf(all + n, sizeof all - n, "%s%s", i > 0 ? ", " : "",
                                  candidates[i]);
    }
    const char *near = cli_nearest(text, candidates);
    cli_die(EXIT_USAGE, "%s '%s'; %s%s", what, text_line(text),
            near != NULL ? "did you mean " : "there are ", near != NULL ? near : all);
}

/* ---- values ---- */

bool parse_int(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 0);
    if (errno != 0 || end == text || *end != 0 || v < 0)
        return false;
    *value = v;
    return true;
}

static int64_t unit_ns(const char *unit)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},         {"us", 1000},       {"\u00b5s", 1000},   {"ms", 1000000},
                 {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0)
            return units[i].ns;
    return 0;
}

/* A decimal number and a unit; whole arithmetic, so "0.1ms" is 100000 ns. */
bool parse_time(const char *text, int64_t *ns)
{
    const char *s = text;
    int64_t whole = 0, fraction = 0, scale = 1;
    if (!isdigit((unsigned char)*s))
        return false;
    for (; isdigit((unsigned char)*s); s++)
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *s - '0', &whole))
            return false;
    if (*s == '.')
        for (s++; isdigit((unsigned char)*s); s++)
            if (scale < 1000000000) {
                fraction = fraction * 10 + (*s - '0');
                scale *= 10;
            }
    if (*s == 0 && whole == 0 && fraction == 0) {
        *ns = 0;
        return true;
    }
    int64_t unit = unit_ns(s);
    if (unit == 0 || __builtin_mul_overflow(whole, unit, &whole))
        return false;
    __extension__ __int128 part = (__int128)fraction * unit / scale;
    return !__builtin_add_overflow(whole, (int64_t)part, ns);
}

bool parse_seed(const char *text, struct opt_seed *seed)
{
    char *end;
    seed->given = true;
    seed->random = strcmp(text, "random") == 0;
    if (seed->random)
        return getrandom(&seed->value, sizeof seed->value, 0) == sizeof seed->value;
    errno = 0;
    seed->value = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == 0 && *text != '-';
}

const char *time_text(int64_t ns)
{
    static char ring[8][24];
    static unsigned next;
    static const char *const units[] = {"ns", "us", "ms", "s"};
    char *out = ring[next++ % 8];
    int64_t scale = 1;
    int u = 0;
    while (u < 3 && ns / scale >= 1000) {
        scale *= 1000;
        u++;
    }
    double v = (double)ns / (double)scale;
    snprintf(out, sizeof ring[0],
             u == 0    ? "%.0f%s"
             : v < 10  ? "%.3f%s"
             : v < 100 ? "%.2f%s"
                       : "%.1f%s",
             v, units[u]);
    return out;
}

const char *time_exact(int64_t ns)
{
    static char ring[4][24];
    static unsigned next;
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"s", 1000000000}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
    char *out = ring[next++ % 4];
    int u = 0;
    while (ns % units[u].ns != 0)
        u++;
    snprintf(out, sizeof ring[0], "%" PRId64 "%s", ns / units[u].ns, units[u].name);
    return out;
}

/* ---- help ---- */

static void print_help(const struct command *v, const struct opt *table)
{
    printf("usage: " GMPSIM_NAME " %s %s\n\n%s.\n\nOptions:\n", v->name, v->args, v->what);
    for (const struct opt *o = table; o->name != NULL; o++) {
        char left[80];
        snprintf(left, sizeof left, "%s--%s%s%s", strcmp(o->name, "out") == 0 ? "-o, " : "",
                 o->name, o->arg != NULL ? " " : "", o->arg != NULL ? o->arg : "");
        printf("  %-24s %s\n", left, o->what);
    }
    printf("  %-24s %s\n\n%s", "--help", "this text", v->more);
}

/* ---- parsing ---- */

static void set_value(const struct opt *o, const char *text)
{
    bool ok = true;
    assert(o != NULL);
    struct opt_list *list = o->to;
    switch (o->kind) {
    case OPT_FLAG: *(bool *)o->to = true; break;
    case OPT_INT: ok = parse_int(text, o->to); break;
    case OPT_COUNT: ok = parse_int(text, o->to) && *(int64_t *)o->to > 0; break;
    case OPT_TEXT: *(const char **)o->to = text; break;
    case OPT_TIME: ok = parse_time(text, o->to); break;
    case OPT_LENGTH: ok = parse_time(text, o->to) && *(int64_t *)o->to > 0; break;
    case OPT_SEED: ok = parse_seed(text, o->to); break;
    case OPT_REPEATED:
        if (list->count == OPT_LIST_MAX)
            cli_die(EXIT_USAGE, "--%s: more than %d", o->name, OPT_LIST_MAX);
        list->items[list->count++] = text;
        break;
    }
    if (ok)
        return;
    static const char *const wants[] = {
        [OPT_INT] = "a number that is not negative",
        [OPT_COUNT] = "a number from 1 on",
        [OPT_LENGTH] = "a duration longer than 0, such as 1.5ms or 2s",
        [OPT_TIME] = "a duration such as 250us, 1.5ms or 2s",
        [OPT_SEED] = "a number, 0x... or random",
    };
    cli_die(EXIT_USAGE, "--%s: want %s, got '%s'", o->name, wants[o->kind], text);
}

static _Noreturn void unknown_option(const struct command *v, const struct option *options,
                                     const char *word)
{
    const char *names[OPTS_MAX + 1];
    char name[NAME_MAX_LEN + 1];
    int n = 0;
    for (; options[n].name != NULL; n++)
        names[n] = options[n].name;
    names[n] = NULL;
    while (*word == '-')
        word++;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *near = cli_nearest(name, names);
    if (near != NULL && strcmp(near, name) == 0)
        cli_die(EXIT_USAGE, "%s: option --%s takes no argument", v->name, name);
    if (near != NULL)
        cli_die(EXIT_USAGE, "%s: no option --%s; did you mean --%s?", v->name, name, near);
    cli_die(EXIT_USAGE, "%s: no option --%s; " GMPSIM_NAME " %s --help lists them", v->name, name,
            v->name);
}

int opts_parse(const struct command *v, const struct opt *table, int argc, char **argv)
{
    struct option options[OPTS_MAX + 1] = {{.name = "help", .val = 'h'}};
    const struct opt *out = NULL; /* -o is short for it */
    int n = 1, c;
    for (const struct opt *o = table; o->name != NULL && n < OPTS_MAX; o++, n++)
        options[n] = (struct option){.name = o->name,
                                     .has_arg = o->arg != NULL ? required_argument : no_argument,
                                     .val = 256 + (int)(o - table)};
    for (const struct opt *o = table; o->name != NULL; o++)
        if (strcmp(o->name, "out") == 0)
            out = o;
    optind = 1;
    opterr = 0;
    while ((c = getopt_long(argc, argv, out != NULL ? ":ho:" : ":h", options, NULL)) != -1) {
        if (c == 'h') {
            print_help(v, table);
            exit(EXIT_CLEAN);
        }
        if (c == ':')
            cli_die(EXIT_USAGE, "%s: option '%s' needs an argument", v->name, argv[optind - 1]);
        if (c == '?')
            unknown_option(v, options, argv[optind - 1]);
        set_value(c == 'o' ? out : &table[c - 256], optarg);
    }
    return optind;
}

void opts_want(const struct command *v, int argc, int first, int min, int max)
{
    int got = argc - first;
    if (got >= min && got <= max)
        return;
    cli_die(EXIT_USAGE, "%s: %s; usage: " GMPSIM_NAME " %s %s", v->name,
            got < min ? "an argument is missing" : "too many arguments", v->name, v->args);
}
