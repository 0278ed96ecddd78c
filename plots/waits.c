/* SPDX-License-Identifier: BSD-3-Clause */
/* What goroutines waited for: a bar per reason, in parts per group. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "plots/plot_int.h"
#include "sim/base/alloc.h"
#include "sim/base/map.h"

enum { NAME_COLUMNS = 28, REASONS = 16, GROUPS = 7, REASON_COLUMNS = 30 };

struct waits {
    char *groups[GROUPS], *reasons[REASONS]; /* with most time first */
    int nreasons;
    bool others; /* groups without a colour of their own */
    int64_t count[REASONS], ns[REASONS][GROUPS + 1], longest[REASONS];
    bool more; /* reasons */
};

/* ---- sums, in one pass over the transitions ---- */

/* Numbers for names: of groups there may be many. */
struct numbering {
    struct map of; /* hash of a name -> its number */
    char **names;
    uint32_t count;
};

static uint32_t number_of(struct numbering *n, const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    uint32_t again = 0;
    for (const char *c = name; *c != 0; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    for (;; again++) { /* two names may have one hash */
        struct map_slot *s = map_put(&n->of, hash, again);
        if (s->a == 0) {
            n->names = x_grow(n->names, (n->count + 1) * sizeof *n->names);
            n->names[n->count] = x_strdup(name);
            s->a = ++n->count;
        }
        if (strcmp(n->names[s->a - 1], name) == 0)
            return s->a - 1;
    }
}

static void numbering_release(struct numbering *n)
{
    for (uint32_t i = 0; i < n->count; i++)
        free(n->names[i]);
    free(n->names);
    map_release(&n->of);
}

struct sum {
    uint32_t reason, group;
    int64_t count, ns, longest;
};

struct reading {
    struct numbering groups, reasons;
    struct map gs;    /* a goroutine -> its group and one more; at: the reason of its latest row */
    struct map pairs; /* reason and group -> place in sums and one more */
    struct sum *sums;
    uint32_t nsums;
    uint32_t queue, syscall; /* reasons */
};

static const char *column(sqlite3_stmt *st, int i)
{
    const char *text = (const char *)sqlite3_column_text(st, i);
    return text != NULL ? text : "";
}

static void read_groups(struct plot *p, struct reading *r)
{
    sqlite3_stmt *st = plot_query(
        p, "SELECT g, name FROM goroutines WHERE run = ?1 AND name <> 'runtime'");
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
        uint32_t group = number_of(&r->groups, column(st, 1));
        map_put(&r->gs, (uint64_t)sqlite3_column_int64(st, 0), 0)->a = group + 1;
    }
    plot_done(p, st);
}

static void add_wait(struct reading *r, uint32_t reason, uint32_t group, int64_t ns)
{
    struct map_slot *s = map_put(&r->pairs, (uint64_t)reason << 32 | group, 0);
    if (s->a == 0) {
        r->sums = x_grow(r->sums, (r->nsums + 1) * sizeof *r->sums);
        r->sums[r->nsums] = (struct sum){.reason = reason, .group = group};
        s->a = ++r->nsums;
    }
    struct sum *sum = &r->sums[s->a - 1];
    if (ns < 0 || ns > PLOT_TIME_MAX || sum->ns > PLOT_TIME_MAX)
        return;
    sum->count++;
    sum->ns += ns;
    sum->longest = ns > sum->longest ? ns : sum->longest;
}

/* What it waited for is said where the wait begins, a row before. */
static void read_transitions(struct plot *p, struct reading *r)
{
    sqlite3_stmt *st = plot_query(
        p, "SELECT g, from_state, duration_ns, reason FROM g_transitions WHERE run = ?1");
    while (st != NULL && sqlite3_step(st) == SQLITE_ROW) {
        struct map_slot *g = map_find(&r->gs, (uint64_t)sqlite3_column_int64(st, 0), 0);
        const char *state = column(st, 1);
        if (g == NULL)
            continue;
        int64_t ns = sqlite3_column_int64(st, 2);
        if (strcmp(state, "waiting") == 0)
            add_wait(r, (uint32_t)g->at, g->a - 1, ns);
        else if (strcmp(state, "runnable") == 0)
            add_wait(r, r->queue, g->a - 1, ns);
        else if (strcmp(state, "syscall") == 0)
            add_wait(r, r->syscall, g->a - 1, ns);
        g->at = sqlite3_column_type(st, 3) != SQLITE_NULL && column(st, 3)[0] != 0
                    ? number_of(&r->reasons, column(st, 3))
                    : 0;
    }
    plot_done(p, st);
}

/* ---- those with most ---- */

struct rank {
    int64_t ns;
    uint32_t number;
};

static int by_time(const void *a, const void *b)
{
    const struct rank *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The place of each number among those with most time; `most` and up: not among them. */
static uint32_t *ranks_of(const struct reading *r, bool of_groups, uint32_t count)
{
    struct rank *ranks = x_alloc((count + 1) * sizeof *ranks);
    uint32_t *place = x_alloc((count + 1) * sizeof *place);
    for (uint32_t i = 0; i < count; i++)
        ranks[i].number = i;
    for (uint32_t i = 0; i < r->nsums; i++)
        ranks[of_groups ? r->sums[i].group : r->sums[i].reason].ns += r->sums[i].ns / 1000 + 1;
    qsort(ranks, count, sizeof *ranks, by_time);
    for (uint32_t i = 0; i < count; i++)
        place[ranks[i].number] = ranks[i].ns > 0 ? i : UINT32_MAX;
    free(ranks);
    return place;
}

static void take_most(const struct reading *r, struct waits *w)
{
    uint32_t *of_group = ranks_of(r, /*of_groups*/ true, r->groups.count);
    uint32_t *of_reason = ranks_of(r, /*of_groups*/ false, r->reasons.count);
    for (uint32_t i = 0; i < r->nsums; i++) {
        const struct sum *s = &r->sums[i];
        uint32_t at = of_reason[s->reason], group = of_group[s->group];
        if (at >= REASONS) {
            w->more = true;
            continue;
        }
        if (w->reasons[at] == NULL)
            w->reasons[at] = x_strdup(r->reasons.names[s->reason]);
        if (group < GROUPS && w->groups[group] == NULL)
            w->groups[group] = x_strdup(r->groups.names[s->group]);
        w->nreasons = (int)at + 1 > w->nreasons ? (int)at + 1 : w->nreasons;
        w->others |= group >= GROUPS;
        w->count[at] += s->count;
        w->ns[at][group < GROUPS ? group : GROUPS] += s->ns;
        w->longest[at] = s->longest > w->longest[at] ? s->longest : w->longest[at];
    }
    free(of_group);
    free(of_reason);
}

static void read_waits(struct plot *p, struct waits *w)
{
    struct reading r = {0};
    (void)number_of(&r.reasons, "waiting"); /* 0: no reason is known */
    r.queue = number_of(&r.reasons, "in a run queue");
    r.syscall = number_of(&r.reasons, "system call");
    read_groups(p, &r);
    read_transitions(p, &r);
    take_most(&r, w);
    numbering_release(&r.groups);
    numbering_release(&r.reasons);
    map_release(&r.gs);
    map_release(&r.pairs);
    free(r.sums);
}

/* ---- the picture ---- */

static int64_t sum_of(const struct waits *w, int r)
{
    int64_t sum = 0;
    for (int g = 0; g <= GROUPS; g++)
        sum += w->ns[r][g];
    return sum;
}

/* A block per group: boxes after those of the groups before. */
static void write_waits(struct plot *p, const struct waits *w, double unit)
{
    for (int g = 0; g <= GROUPS; g++) {
        plot_block(p);
        fputs("NaN NaN NaN NaN NaN NaN\n", p->dat);
        for (int r = 0; r < w->nreasons; r++) {
            double from = 0, ns = (double)w->ns[r][g];
            for (int k = 0; k < g; k++)
                from += (double)w->ns[r][k];
            if (ns > 0)
                fprintf(p->dat, "%.9g %d %.9g %.9g %.3g %.3g\n", (from + ns / 2) / unit, r,
                        from / unit, (from + ns) / unit, r - 0.36, r + 0.36);
        }
    }
}

static void put_waits(struct plot *p, const struct waits *w, double unit, const char *name)
{
    char quoted[300], text[160];
    int64_t most = sum_of(w, 0);
    fprintf(p->gp,
            "set format x '%%.6g %s'\nset xrange [0:%.6g]\nset yrange [%d.5:-0.5]\n"
            "set key below left Left reverse\nset grid noytics\nset ytics (",
            name, (double)(most > 0 ? most : 1) * 1.5 / unit, w->nreasons - 1);
    for (int r = 0; r < w->nreasons; r++)
        fprintf(p->gp, "%s%s %d", r > 0 ? ", " : "",
                plot_quote(text_cut(w->reasons[r], REASON_COLUMNS), quoted, sizeof quoted), r);
    fputs(")\n", p->gp);
    for (int r = 0; r < w->nreasons; r++) {
        int64_t sum = sum_of(w, r), n = w->count[r] > 0 ? w->count[r] : 1;
        snprintf(text, sizeof text, "%" PRId64 " times %s, at most %s", w->count[r],
                 plot_time(sum / n), plot_time(w->longest[r]));
        fprintf(p->gp, "set label %s at %.9g,%d left offset char 0.6,0 font ',12'\n",
                plot_quote(text, quoted, sizeof quoted), (double)sum / unit, r);
    }
    for (int g = 0; g <= GROUPS; g++) {
        bool other = g == GROUPS;
        fprintf(p->gp,
                "%s %s index %d using 1:2:3:4:5:6 with boxxyerror fs solid 1 noborder lc rgb '%s' ",
                g == 0 ? "plot" : ", \\\n    ", p->dat_name, g, other ? "#999999" : colours[g]);
        if (other ? w->others : w->groups[g] != NULL)
            fprintf(p->gp, "title %s",
                    plot_quote(other ? "other groups" : text_cut(w->groups[g], NAME_COLUMNS),
                               quoted, sizeof quoted));
        else
            fputs("notitle", p->gp);
    }
    fputc('\n', p->gp);
}

void plot_waits(struct plot *p)
{
    static const char what[] = "What goroutines waited for: sums over them, by group";
    const char *name;
    char more[100] = "";
    struct waits *w = x_alloc(sizeof *w);
    read_waits(p, w);
    if (w->nreasons == 0) {
        plot_nothing(p, what,
                     "no goroutine of the program waited, or the run was recorded without them");
    } else {
        int64_t unit = plot_unit(sum_of(w, 0), &name);
        if (w->more)
            snprintf(more, sizeof more, "the %d reasons with most time", REASONS);
        plot_begin(p, PLOT_HEIGHT, what, more);
        write_waits(p, w, (double)unit);
        put_waits(p, w, (double)unit, name);
    }
    for (int i = 0; i < GROUPS; i++)
        free(w->groups[i]);
    for (int i = 0; i < w->nreasons; i++)
        free(w->reasons[i]);
    free(w);
}
