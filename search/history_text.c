/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of a finding, as text. */
#include <inttypes.h>
#include <string.h>

#include "search/history.h"
#include "sim/base/text.h"

enum { LEFT = 9, CELL_MIN = 30, CELL_MAX = 44, WIDTH = 150 };

/* ---- words ---- */

static void add(char *buf, size_t size, const char *before, const char *text)
{
    size_t n = strlen(buf);
    if (text[0] != 0 && n + 1 < size)
        snprintf(buf + n, size - n, "%s%s", before, text);
}

static void add_row(char *buf, size_t size, const char *before, int32_t row)
{
    char number[32];
    if (row == ROW_NONE)
        return;
    snprintf(number, sizeof number, "#%" PRId32, row + 1);
    add(buf, size, before, number);
}

/* "recv jobs", "send out", "default". */
static void history_case_text(const struct history *h, const struct history_row *r, int64_t index,
                              char *buf, size_t size)
{
    const struct program *p = h->program;
    const struct select_table *t = &p->selects[p->code[r->pc].d];
    if (index < 0 || index >= t->ncases) {
        snprintf(buf, size, "the default");
        return;
    }
    const struct select_case *k = &p->cases[t->first + (uint32_t)index];
    const char *name = k->obj >= 0 ? p->objects[k->obj].name : NULL;
    if (name != NULL && name[0] != 0)
        snprintf(buf, size, "%s %s", k->send ? "send" : "recv", name);
    else
        snprintf(buf, size, "case %d, a %s", (int)index + 1, k->send ? "send" : "receive");
}

void history_row_text(const struct history *h, const struct history_row *r, char *buf, size_t size)
{
    snprintf(buf, size, "%s", r->what);
    add(buf, size, " ", r->on);
    add(buf, size, r->op == OP_LOADA || r->op == OP_LOADP ? " " : ": ", r->state);
    add_row(buf, size, ", from ", r->from);
    if (r->waits)
        add(buf, size, "; ", "waits");
    if (r->waits)
        add_row(buf, size, " until ", r->woken_by);
    if (r->chose) {
        char taken[80];
        history_case_text(h, r, r->took, taken, sizeof taken);
        add(buf, size, "; takes ", taken);
    }
    if (r->last != NULL)
        add(buf, size, "; ", r->last);
}

const char *history_g_name(const struct history *h, uint32_t goid)
{
    static char text[4][100];
    static unsigned next;
    char *t = text[next++ % 4];
    int at = history_column(h, goid);
    snprintf(t, sizeof text[0], "g%" PRIu32 "%s%s", goid, at >= 0 ? " " : "",
             at >= 0 ? h->gs[at].name : "");
    return t;
}

/* ---- who is stuck ---- */

void history_print_stuck(FILE *to, const struct history *h, const char *file)
{
    for (size_t i = 0; i < h->nstuck; i++) {
        const struct history_stuck *s = &h->stuck[i];
        fprintf(to, "  g%" PRIu32 " %s [%s] at %s:%" PRIu32, s->goid, s->name, s->reason, file,
                s->line);
        if (s->on[0] != 0)
            fprintf(to, ", waits for %s%s%s%s", s->on, s->state[0] != 0 ? " (" : "", s->state,
                    s->state[0] != 0 ? ")" : "");
        for (int k = 0; k < s->holders; k++)
            fprintf(to, "%s %s since line %" PRIu32, k == 0 ? ", held by" : " and",
                    history_g_name(h, s->holder[k].goid), s->holder[k].line);
        fprintf(to, "%s\n", s->leaked ? "; nobody can ever wake it" : "");
    }
}

/* ---- columns ---- */

static int cell_of(const struct history *h)
{
    int cell = h->ngs > 0 ? (WIDTH - LEFT) / (int)h->ngs : 0;
    if (cell > CELL_MAX)
        cell = CELL_MAX;
    return cell < CELL_MIN ? 0 : cell;
}

static void print_head(FILE *to, const struct history *h, int cell)
{
    fprintf(to, "%*s", LEFT, "");
    for (size_t i = 0; i < h->ngs && cell > 0; i++) {
        bool last = i + 1 == h->ngs;
        fprintf(to, "%-*.*s%s", last ? 0 : cell - 1, cell - 1, history_g_name(h, h->gs[i].goid),
                last ? "" : " ");
    }
    fprintf(to, "\n");
}

/* A text in its column, in as many lines as it needs. */
static void print_cell(FILE *to, const char *text, int column, int cell)
{
    size_t width = (size_t)cell - 2, left = strlen(text);
    for (bool first = true; left > 0; first = false) {
        size_t n = left;
        if (n > width)
            for (n = width; n > width / 2 && text[n] != ' ';)
                n--;
        fprintf(to, "%*s%s%.*s\n", first ? column * cell : LEFT + column * cell, "",
                first ? "" : "  ", (int)n, text);
        text += n;
        left -= n;
        while (left > 0 && *text == ' ')
            text++, left--;
        width = (size_t)cell - 4;
    }
}

static char mark_of(const struct history_row *r)
{
    return r->preempts ? '*' : r->switched ? '>' : ' ';
}

static void print_row(FILE *to, const struct history *h, size_t at, int cell)
{
    const struct history_row *r = &h->rows[at];
    char text[400], line[24] = "";
    int column = history_column(h, r->goid);
    history_row_text(h, r, text, sizeof text);
    if (r->line != 0)
        snprintf(line, sizeof line, "%" PRIu32, r->line);
    fprintf(to, "%4zu %c ", at + 1, mark_of(r));
    if (r->line != 0)
        add(text, sizeof text, "  :", line);
    if (cell > 0)
        fprintf(to, "%*s", LEFT - 7, "");
    if (cell > 0)
        print_cell(to, text, column >= 0 ? column : 0, cell);
    else
        fprintf(to, "%s: %s\n", r->goid != 0 ? history_g_name(h, r->goid) : "time", text);
}

enum { PERIOD_MAX = 16, ALIKE_MIN = 3 };

static bool same_row(const struct history *h, size_t a, size_t b)
{
    const struct history_row *x = &h->rows[a], *y = &h->rows[b];
    char one[400], other[400];
    if (x->goid != y->goid || x->pc != y->pc || mark_of(x) != mark_of(y))
        return false;
    history_row_text(h, x, one, sizeof one);
    history_row_text(h, y, other, sizeof other);
    return strcmp(one, other) == 0;
}

/* A loop that waits by looking is told once: how many rows behind the *period ones from `at` on
 * repeat those, a multiple of *period; 0: too few to be worth it. */
static size_t rows_alike(const struct history *h, size_t at, size_t *period)
{
    for (size_t p = 1; p <= PERIOD_MAX && at + p < h->count; p++) {
        size_t n = 0;
        while (at + p + n < h->count && same_row(h, at + n, at + p + n))
            n++;
        if (n >= ALIKE_MIN * p) {
            *period = p;
            return n / p * p;
        }
    }
    return 0;
}

static void print_alike(FILE *to, size_t period, size_t n)
{
    if (period <= 1)
        fprintf(to, " ...  (%zu turns more like this one)\n", n);
    else
        fprintf(to, " ...  (these %zu turns %zu times more)\n", period, n / period);
}

/* What the rows from `first` on take on the page. */
static size_t lines_from(const struct history *h, size_t first)
{
    size_t lines = 0, period = 1;
    for (size_t i = first; i < h->count; lines++) {
        size_t n = rows_alike(h, i, &period);
        lines += n > 0 ? period : 0;
        i += n > 0 ? period + n : 1;
    }
    return lines;
}

static void print_rows_from(FILE *to, const struct history *h, size_t first, int cell)
{
    size_t period = 1;
    for (size_t i = first; i < h->count;) {
        size_t n = rows_alike(h, i, &period);
        for (size_t end = i + (n > 0 ? period : 1); i < end; i++)
            print_row(to, h, i, cell);
        if (n > 0)
            print_alike(to, period, n);
        i += n;
    }
}

static void print_rows(FILE *to, const struct history *h, size_t rows_max)
{
    int cell = cell_of(h);
    bool fits = rows_max == 0 || lines_from(h, 0) <= rows_max;
    size_t first = fits || h->count <= rows_max ? 0 : h->count - rows_max;
    print_head(to, h, cell);
    if (first > 0)
        fprintf(to, " ...  (%zu turns before)\n", first);
    print_rows_from(to, h, first, cell);
    if (h->cut)
        fprintf(to, " ...  (more turns than are kept)\n");
    fprintf(to, "\n* somebody else goes on although the last one could have; > because it could "
                "not; :N line of the file\n");
}

/* ---- what decides ---- */

static void pair_row(const struct history *h, const struct history_row *r, int32_t row, char *buf,
                     size_t size)
{
    char line[32] = "", number[32] = "";
    if (row != ROW_NONE)
        snprintf(number, sizeof number, "#%" PRId32 " (", row + 1);
    if (r->line != 0)
        snprintf(line, sizeof line, ", line %" PRIu32, r->line);
    snprintf(buf, size, "%s%s: %s%s%s%s%s", number,
             r->goid != 0 ? history_g_name(h, r->goid) : "time", r->what, r->on[0] != 0 ? " " : "",
             r->on, line, row != ROW_NONE ? ")" : "");
}

static void choice_text(const struct history *h, const struct history_pair *p, char *buf,
                        size_t size)
{
    const struct history_row *r = &h->rows[p->first];
    char took[80] = "one value", would[80] = "another one";
    if (r->op == OP_SELECT && r->chose)
        history_case_text(h, r, r->took, took, sizeof took);
    if (r->op == OP_SELECT && p->other.chose)
        history_case_text(h, r, p->other.took, would, sizeof would);
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, " took %s; had it taken %s: ", took, would);
}

static void order_text(const struct history *h, const struct history_pair *p, char *buf,
                       size_t size)
{
    char second[300];
    bool came = p->second != ROW_NONE;
    pair_row(h, came ? &h->rows[p->second] : &p->other, p->second, second, sizeof second);
    size_t n = strlen(buf);
    n += (size_t)snprintf(buf + n, size - n, " before %s", second);
    if (!came)
        n += (size_t)snprintf(buf + n, size - n, ", which does not come any more");
    if (p->others > 0)
        n += (size_t)snprintf(buf + n, size - n, " (and %" PRIu32 " more like it)", p->others);
    snprintf(buf + n, size - n, "; the other way round: ");
}

void history_pair_text(const struct history *h, const struct history_pair *p, char *buf,
                       size_t size)
{
    pair_row(h, &h->rows[p->first], p->first, buf, size);
    if (p->kind == DECIDES_CHOICE)
        choice_text(h, p, buf, size);
    else
        order_text(h, p, buf, size);
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, "%s", p->instead[0] != 0 ? p->instead : "it ends well");
}

static void print_pairs(FILE *to, const struct history *h)
{
    char text[800];
    for (size_t i = 0; i < h->npairs; i++) {
        history_pair_text(h, &h->pair[i], text, sizeof text);
        fprintf(to, "  %s\n", text);
    }
    if (h->npairs == 0 && h->flips > 0)
        fprintf(to,
                "  no two operations alone: %" PRIu64 " orders and choices turned round, the end "
                "is the same\n",
                h->flips);
    if (h->npairs == 0 && h->flips == 0)
        fprintf(to, "  nobody's: no two operations could have come the other way round\n");
}

void history_print(FILE *to, const struct history *h, const char *file, size_t rows_max)
{
    if (h->nstuck > 0) {
        fprintf(to, "stuck\n");
        history_print_stuck(to, h, text_line(file));
        if (h->cycle[0] != 0)
            fprintf(to, "  in a circle: %s\n", h->cycle);
        fprintf(to, "\n");
    }
    if (h->count > 0)
        print_rows(to, h, rows_max);
    if (h->trace != NULL)
        fprintf(to, "%s", h->trace);
    if (h->npairs > 0 || h->flips > 0 || h->flips_done) {
        fprintf(to, "\nwhose order decides\n");
        print_pairs(to, h);
    }
    fprintf(to, "\n");
}
