/* SPDX-License-Identifier: BSD-3-Clause */
/* What the report's timeline is drawn from: stretches of goroutines (a state from when to when), of
 * a run with many of them those of a window and those of the slowest requests; of the rest what the
 * Ps did, in columns. One pass over the transitions, which come in order for each goroutine. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "plots/page_int.h"
#include "sim/base/alloc.h"

enum {
    GROUPS = 8,
    OTHER = GROUPS,
    RUNTIME,
    KINDS,
    RUNTIME_CODE = 255,
    COLUMNS = 64000, /* of the overview, all Ps together */
    PER_P_MAX = 2000,
    SLOWEST = 10, /* of each span, whose goroutines are kept whole */
    SLOWEST_LISTED = 100,
    SAMPLED = 400,      /* of each span's others */
    SPANS_MORE = 20000, /* of the goroutines kept */
    REASONS_MAX = 255,
    SHARE_MAX = 255
};

enum state { NOTEXIST, RUNNABLE, RUNNING, WAITING, SYSCALL };

struct stretch {
    int64_t g, begin, end, by;
    int32_t p, reason;
    uint8_t state;
};

struct goroutine {
    int64_t g, parent, created, ended; /* -1: none, not known, not ended */
    int32_t name;
    size_t first, count; /* stretches */
};

struct span {
    int64_t id, key, g, begin, end;
    int32_t name;
};

struct lanes {
    struct page *r;
    int64_t from, to, all;
    bool whole;
    struct stretch *of;
    size_t count, room, most;
    struct goroutine *gs;
    size_t ngs;
    struct span *spans;
    size_t nspans, spans_room;
    struct map chosen; /* goroutines that are kept whole */
    struct map last;   /* goroutine -> end of its latest stretch; a: state after it, reason << 8 */
    struct map listed; /* spans, by rowid */
    float *busy;       /* overview: [p][column][kind], ns */
    int64_t columns, width;
};

/* ---- spans ---- */

static void add_span(struct lanes *l, sqlite3_stmt *st)
{
    X_ROOM(l->spans, l->nspans, l->spans_room, 256);
    struct span *s = &l->spans[l->nspans++];
    *s = (struct span){.id = sqlite3_column_int64(st, 0),
                       .name = page_name(&l->r->names, page_text(st, 1)),
                       .key = sqlite3_column_int64(st, 2),
                       .g = sqlite3_column_int64(st, 3),
                       .begin = sqlite3_column_int64(st, 4),
                       .end = sqlite3_column_int64(st, 5)};
    map_put(&l->listed, (uint64_t)s->id, 0);
}

/* The slowest of each name, and every so-manieth of the others. */
static void find_spans(struct lanes *l)
{
    char sql[600];
    snprintf(sql, sizeof sql,
             "SELECT id, name, key, g, begin_ns, end_ns, n FROM (SELECT rowid AS id, *,"
             " row_number() OVER (PARTITION BY name ORDER BY end_ns - begin_ns DESC, rowid) AS n,"
             " count(*) OVER (PARTITION BY name) AS of FROM spans WHERE run = ?1)"
             " WHERE n <= %d OR n %% max(1, of / %d) = 0 ORDER BY n, id",
             SLOWEST_LISTED, SAMPLED);
    sqlite3_stmt *st = page_query(l->r, sql);
    while (page_row(l->r, st)) {
        add_span(l, st);
        if (sqlite3_column_int64(st, 6) <= SLOWEST)
            map_put(&l->chosen, (uint64_t)sqlite3_column_int64(st, 3), 0);
    }
}

/* The spans of the goroutines that are in the report. */
static void find_more_spans(struct lanes *l)
{
    sqlite3_stmt *st = page_query(l->r, "SELECT rowid, name, key, g, begin_ns, end_ns FROM spans"
                                        " WHERE run = ?1");
    size_t before = l->nspans;
    while (page_row(l->r, st))
        if (l->nspans - before < SPANS_MORE &&
            map_find(&l->chosen, (uint64_t)sqlite3_column_int64(st, 3), 0) != NULL &&
            map_find(&l->listed, (uint64_t)sqlite3_column_int64(st, 0), 0) == NULL)
            add_span(l, st);
}

/* ---- the window ---- */

/* Around the slowest request, as long as the stretches allow if they came evenly. */
static void choose_window(struct lanes *l)
{
    const struct page_args *a = l->r->args;
    int64_t makespan = l->r->makespan_ns;
    l->to = makespan;
    l->whole = l->all <= (int64_t)l->most;
    if (l->whole)
        return;
    if (a->to_ns > 0 || a->from_ns > 0) {
        l->from = a->from_ns;
        l->to = a->to_ns > 0 && a->to_ns < makespan ? a->to_ns : makespan;
        return;
    }
    int64_t length = (int64_t)((double)makespan / (double)l->all * (double)l->most), begin = 0;
    for (size_t i = 0, slowest = 0; i < l->nspans; i++)
        if (l->spans[i].end - l->spans[i].begin > l->spans[slowest].end - l->spans[slowest].begin ||
            i == 0) {
            slowest = i;
            begin = l->spans[i].begin - (length - (l->spans[i].end - l->spans[i].begin)) / 2;
            if (begin > l->spans[i].begin - length / 20)
                begin = l->spans[i].begin - length / 20;
        }
    l->from = begin < 0 ? 0 : begin > makespan - length ? makespan - length : begin;
    l->to = l->from + length;
}

static bool is_kept(const struct lanes *l, const struct stretch *s)
{
    return (s->end > l->from && s->begin < l->to) ||
           map_find(&l->chosen, (uint64_t)s->g, 0) != NULL;
}

/* Stretches came less evenly than was thought: half of the window. */
static void shrink(struct lanes *l)
{
    size_t kept = 0;
    l->whole = false;
    l->to = l->from + (l->to - l->from) / 2;
    for (size_t i = 0; i < l->count; i++)
        if (is_kept(l, &l->of[i]))
            l->of[kept++] = l->of[i];
    l->count = kept;
}

static void keep(struct lanes *l, const struct stretch *s)
{
    if (!is_kept(l, s))
        return;
    while (l->count >= 2 * l->most && l->to - l->from > 1)
        shrink(l);
    if (l->count >= 4 * l->most || !is_kept(l, s))
        return;
    X_ROOM(l->of, l->count, l->room, 4096);
    l->of[l->count++] = *s;
}

/* ---- the overview ---- */

static void begin_overview(struct lanes *l)
{
    int64_t procs = l->r->procs;
    if (l->whole || l->r->failed)
        return;
    l->columns = COLUMNS / procs < PER_P_MAX ? COLUMNS / procs : PER_P_MAX;
    l->width = l->r->makespan_ns / l->columns + 1;
    l->busy = x_alloc((size_t)(procs * l->columns * KINDS) * sizeof *l->busy);
}

static void add_busy(struct lanes *l, const struct stretch *s, int kind)
{
    int64_t from = s->begin > 0 ? s->begin : 0, to = s->end;
    if (l->busy == NULL || s->p < 0 || s->p >= l->r->procs || to > l->r->makespan_ns)
        return;
    while (from < to) {
        int64_t column = from / l->width, end = (column + 1) * l->width;
        if (end > to)
            end = to;
        l->busy[(s->p * l->columns + column) * KINDS + kind] += (float)(end - from);
        from = end;
    }
}

static int code_of(const float *busy, int64_t width)
{
    int most = 0;
    float sum = 0;
    for (int k = 0; k < KINDS; k++) {
        sum += busy[k];
        if (busy[k] > busy[most])
            most = k;
    }
    int share = (int)(SHARE_MAX * sum / (float)width + 0.5F);
    return (most == RUNTIME ? RUNTIME_CODE : most) << 8 | (share > SHARE_MAX ? SHARE_MAX : share);
}

static void put_overview(struct lanes *l)
{
    FILE *to = l->r->to;
    page_key(l->r, "overview");
    if (l->busy == NULL) {
        fputs("null", to);
        return;
    }
    fprintf(to, "{\"width\":%" PRId64 ",\"of\":[", l->width);
    for (int64_t p = 0; p < l->r->procs; p++) {
        fputs(p > 0 ? ",\n[" : "[", to);
        for (int64_t c = 0; c < l->columns; c++)
            fprintf(to, "%s%d", c > 0 ? "," : "",
                    code_of(&l->busy[(p * l->columns + c) * KINDS], l->width));
        fputc(']', to);
    }
    fputs("]}", to);
}

/* ---- the pass ---- */

static uint8_t state_of(const char *text)
{
    static const char *const states[] = {"notexist", "runnable", "running", "waiting", "syscall"};
    for (uint8_t i = 0; i < 5; i++)
        if (strcmp(states[i], text) == 0)
            return i;
    return NOTEXIST;
}

static int32_t reason_of(struct lanes *l, const char *text)
{
    int32_t i = page_name(&l->r->reasons, text);
    return i < REASONS_MAX ? i : 0;
}

/* What a stretch waited for is said by the transition that began it. */
static void take(struct lanes *l, sqlite3_stmt *st, int kind)
{
    int64_t g = sqlite3_column_int64(st, 0), took = sqlite3_column_int64(st, 4);
    struct stretch s = {.g = g, .end = sqlite3_column_int64(st, 5), .p = -1, .by = -1};
    struct map_slot *last = map_put(&l->last, (uint64_t)g, 0);
    uint8_t after = state_of(page_text(st, 2));
    s.state = state_of(page_text(st, 1));
    if (took < 0 || s.end < took) {
        page_fail(l->r, "run %" PRId64 " is damaged: a transition of goroutine %" PRId64, l->r->run,
                  g);
        return;
    }
    s.begin = s.end - took;
    s.reason = (int32_t)(last->a >> 8);
    if (sqlite3_column_type(st, 6) != SQLITE_NULL)
        s.by = sqlite3_column_int64(st, 6);
    if (sqlite3_column_type(st, 7) != SQLITE_NULL)
        s.p = sqlite3_column_int(st, 7);
    last->at = (uint64_t)s.end;
    last->a = (uint32_t)reason_of(l, page_text(st, 3)) << 8 | after;
    if (s.state == RUNNING)
        add_busy(l, &s, kind);
    if (s.state != NOTEXIST || took == 0) /* where it was put when it was made */
        keep(l, &s);
}

static void pass(struct lanes *l)
{
    struct map kinds = {0}; /* goroutine -> its kind for the overview */
    sqlite3_stmt *st = l->busy == NULL
                           ? NULL
                           : page_query(l->r, "SELECT g, name FROM goroutines WHERE run = ?1");
    while (st != NULL && page_row(l->r, st)) {
        const char *name = page_text(st, 1);
        uint32_t kind = strcmp(name, "runtime") == 0 ? RUNTIME : OTHER;
        for (int i = 0; i < l->r->ngroups; i++)
            if (strcmp(l->r->groups[i], name) == 0)
                kind = (uint32_t)i;
        map_put(&kinds, (uint64_t)sqlite3_column_int64(st, 0), 0)->a = kind;
    }
    st = page_query(l->r, "SELECT g, from_state, to_state, ifnull(reason, ''), duration_ns,"
                          " end_time_ns, src_g, src_p FROM g_transitions WHERE run = ?1");
    while (page_row(l->r, st)) {
        const struct map_slot *kind = map_find(&kinds, (uint64_t)sqlite3_column_int64(st, 0), 0);
        take(l, st, kind != NULL ? (int)kind->a : OTHER);
    }
    map_release(&kinds);
}

/* ---- goroutines ---- */

static int by_goroutine(const void *a, const void *b)
{
    const struct stretch *x = a, *y = b;
    if (x->g != y->g)
        return x->g < y->g ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The stretch that each goroutine was in when the run ended. */
static void add_open(struct lanes *l)
{
    size_t n = l->count;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && l->of[i].g == l->of[i - 1].g)
            continue;
        const struct map_slot *last = map_find(&l->last, (uint64_t)l->of[i].g, 0);
        struct stretch s = {.g = l->of[i].g, .end = l->r->makespan_ns, .p = -1, .by = -1};
        if (last == NULL || (last->a & 0xff) == NOTEXIST || (int64_t)last->at >= s.end)
            continue;
        s.begin = (int64_t)last->at;
        s.state = (uint8_t)last->a;
        s.reason = (int32_t)(last->a >> 8);
        if (l->count == l->room) {
            l->room *= 2;
            l->of = x_grow(l->of, l->room * sizeof *l->of);
        }
        l->of[l->count++] = s;
    }
}

static void sort_stretches(struct lanes *l)
{
    if (l->count > 0)
        qsort(l->of, l->count, sizeof *l->of, by_goroutine);
}

static void find_goroutines(struct lanes *l)
{
    l->gs = x_alloc((l->count + 1) * sizeof *l->gs);
    for (size_t i = 0; i < l->count; i++) {
        if (l->ngs == 0 || l->gs[l->ngs - 1].g != l->of[i].g) {
            l->gs[l->ngs++] = (struct goroutine){.g = l->of[i].g,
                                                 .parent = -1,
                                                 .created = l->of[i].begin,
                                                 .ended = -1,
                                                 .name = page_name(&l->r->names, "?"),
                                                 .first = i};
            map_put(&l->chosen, (uint64_t)l->of[i].g, 0)->at = l->ngs;
        }
        l->gs[l->ngs - 1].count++;
    }
    sqlite3_stmt *st = page_query(l->r, "SELECT g, name, parent, create_time_ns, end_time_ns"
                                        " FROM goroutines WHERE run = ?1");
    while (page_row(l->r, st)) {
        const struct map_slot *at = map_find(&l->chosen, (uint64_t)sqlite3_column_int64(st, 0), 0);
        if (at == NULL || at->at == 0)
            continue;
        struct goroutine *g = &l->gs[at->at - 1];
        g->name = page_name(&l->r->names, page_text(st, 1));
        if (sqlite3_column_type(st, 2) != SQLITE_NULL)
            g->parent = sqlite3_column_int64(st, 2);
        g->created = sqlite3_column_int64(st, 3);
        if (sqlite3_column_type(st, 4) != SQLITE_NULL)
            g->ended = sqlite3_column_int64(st, 4);
    }
}

/* ---- JSON ---- */

static void put_or_null(FILE *to, int64_t v, const char *after)
{
    if (v >= 0)
        fprintf(to, "%" PRId64 "%s", v, after);
    else
        fprintf(to, "null%s", after);
}

static void put_goroutines(struct lanes *l)
{
    page_key(l->r, "goroutines");
    fputc('[', l->r->to);
    for (size_t i = 0; i < l->ngs; i++) {
        const struct goroutine *g = &l->gs[i];
        fprintf(l->r->to, "%s[%" PRId64 ",%d,", i > 0 ? ",\n" : "", g->g, g->name);
        put_or_null(l->r->to, g->parent, ",");
        fprintf(l->r->to, "%" PRId64 ",", g->created);
        put_or_null(l->r->to, g->ended, "]");
    }
    fputc(']', l->r->to);
}

static void put_stretch(FILE *to, const struct stretch *s, int64_t begin)
{
    fprintf(to, ",%d,%" PRId64 ",%d,%" PRId64, s->state | s->reason << 3, s->end - begin, s->p,
            s->by);
}

/* Per stretch: state, length, P, who ended it; where there is a gap, nothing. */
static void put_stretches(struct lanes *l)
{
    page_key(l->r, "stretches");
    fputc('[', l->r->to);
    for (size_t i = 0; i < l->ngs; i++) {
        const struct goroutine *g = &l->gs[i];
        int64_t at = l->of[g->first].begin;
        fprintf(l->r->to, "%s[%" PRId64, i > 0 ? ",\n" : "", at);
        for (size_t k = g->first; k < g->first + g->count; k++) {
            const struct stretch *s = &l->of[k];
            if (s->begin > at)
                put_stretch(l->r->to, &(struct stretch){.end = s->begin, .p = -1, .by = -1}, at);
            if (s->begin > at)
                at = s->begin;
            if (s->end < at)
                continue;
            put_stretch(l->r->to, s, at);
            at = s->end;
        }
        fputc(']', l->r->to);
    }
    fputc(']', l->r->to);
}

/* JavaScript's numbers hold 53 bits. */
static void put_spans(struct lanes *l)
{
    page_key(l->r, "spans");
    fputc('[', l->r->to);
    for (size_t i = 0; i < l->nspans; i++) {
        const struct span *s = &l->spans[i];
        bool big = s->key > (INT64_C(1) << 53) || s->key < -(INT64_C(1) << 53);
        fprintf(l->r->to, "%s[%d,%s%" PRId64 "%s,%" PRId64 ",%" PRId64 ",%" PRId64 "]",
                i > 0 ? ",\n" : "", s->name, big ? "\"" : "", s->key, big ? "\"" : "", s->g,
                s->begin, s->end);
    }
    fputc(']', l->r->to);
}

static void put_window(struct lanes *l)
{
    page_key(l->r, "window");
    fprintf(l->r->to,
            "{\"whole\":%s,\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"all\":%" PRId64
            ",\"kept\":%zu}",
            l->whole ? "true" : "false", l->from, l->to, l->all, l->count);
}

void page_lanes(struct page *r)
{
    struct lanes l = {.r = r};
    l.most = (size_t)(r->args->stretches_max > 0 ? r->args->stretches_max : PAGE_STRETCHES);
    l.all = page_number(r, "SELECT count(*) FROM g_transitions WHERE run = ?1", 0);
    reason_of(&l, ""); /* 0: none */
    find_spans(&l);
    choose_window(&l);
    begin_overview(&l);
    pass(&l);
    sort_stretches(&l);
    add_open(&l);
    sort_stretches(&l);
    find_goroutines(&l);
    find_more_spans(&l);
    put_goroutines(&l);
    put_stretches(&l);
    put_spans(&l);
    put_window(&l);
    put_overview(&l);
    map_release(&l.chosen);
    map_release(&l.last);
    map_release(&l.listed);
    free(l.of);
    free(l.gs);
    free(l.spans);
    free(l.busy);
}
