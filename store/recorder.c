/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/recorder.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { NONE = -1, NS = 1000, END_AT_ONCE = 65536 };

/* Who did it, in one number that a view takes apart: the P, above it the M and the goroutine. */
static int64_t source(uint16_t p, uint16_t m, int64_t g)
{
    return (int64_t)((uint64_t)g << 32 | (uint64_t)m << 16 | p);
}

static void text(sqlite3_context *ctx, const char *s)
{
    if (s != NULL)
        sqlite3_result_text(ctx, s, -1, SQLITE_STATIC);
}

static int64_t goid(const struct recorder *r, uint32_t g)
{
    return (int64_t)names_goid(&r->names, g);
}

/* ---- chains ---- */

/* A chain as it is stored. */
struct chain_row {
    int64_t id, hows, end;
    int64_t duration[CHAIN_LENGTH], source[CHAIN_LENGTH];
};

static void chain_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    enum { FIXED = 3 };
    const int64_t *values = row;
    (void)arg;
    if (column < FIXED || (column - FIXED) % CHAIN_LENGTH < (values[1] & COUNT_MASK))
        sqlite3_result_int64(ctx, values[column]);
}

static void chain_end(struct rows *rows, int64_t id, struct chain *c)
{
    if ((c->hows & COUNT_MASK) == 0)
        return;
    struct chain_row *row = rows_add(rows);
    *row = (struct chain_row){.id = id, .hows = c->hows, .end = c->since};
    memcpy(row->duration, c->duration, sizeof row->duration);
    memcpy(row->source, c->source, sizeof row->source);
    c->hows = 0;
}

/* The chain's goroutine or P is in state `to` from now on. */
static void chain_add(struct rows *rows, int64_t id, struct chain *c, int64_t now, int to, int why,
                      int64_t src)
{
    int64_t n = c->hows & COUNT_MASK, how = c->state | to << TO_AT | why << WHY_AT;
    c->duration[n] = now - c->since;
    c->source[n] = src;
    c->hows = (c->hows | how << (HOW_AT + HOW_BITS * n)) + 1;
    c->since = now;
    c->state = (uint8_t)to;
    if (n + 1 == CHAIN_LENGTH)
        chain_end(rows, id, c);
}

/* ---- goroutines ---- */

struct goroutine_row {
    int64_t g, parent;
    uint32_t group;
    int64_t created, ended;
};

static void goroutine_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct goroutine_row *r = row;
    const struct recorder *rec = arg;
    switch (column) {
    case 0: sqlite3_result_int64(ctx, r->g); break;
    case 1: text(ctx, rec->names.group(rec->names.of, r->group)); break;
    case 2:
        if (r->parent != EVENT_NO_G)
            sqlite3_result_int64(ctx, r->parent);
        break;
    case 3: sqlite3_result_int64(ctx, r->created); break;
    case 4:
        if (r->ended != NONE)
            sqlite3_result_int64(ctx, r->ended);
        break;
    default: break;
    }
}

static void goroutine(struct recorder *r, uint32_t id, const struct tr_g *g, int64_t ended)
{
    struct goroutine_row *row = rows_add(&r->goroutines);
    *row = (struct goroutine_row){.g = goid(r, id),
                                  .group = g->group,
                                  .parent = goid(r, g->parent),
                                  .created = (int64_t)(g->born / NS),
                                  .ended = ended};
}

static const uint8_t g_codes[GS_STATES] = {[GS_NOTEXIST] = G_NOTEXIST,
                                           [GS_RUNNABLE] = G_RUNNABLE,
                                           [GS_RUNNING] = G_RUNNING,
                                           [GS_WAITING] = G_WAITING,
                                           [GS_SYSCALL] = G_SYSCALL};

/* A trace has reasons of its own, which come one by one. */
static uint8_t why_of(struct recorder *r, uint16_t reason)
{
    if (reason > WHY_MASK)
        return 0;
    for (; r->nwhy <= reason; r->nwhy++)
        r->why[r->nwhy] = codes_of(r->db, tr_reason(r->t, r->nwhy));
    return r->why[reason];
}

static void g_changes(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next,
                      uint64_t time)
{
    struct recorder *r = arg;
    struct chain *c = (struct chain *)(void *)(g->extra + r->extra_at);
    int64_t known = goid(r, id);
    int64_t now = (int64_t)(time / NS);
    if (g->now.state == GS_NOTEXIST)
        *c = (struct chain){.since = now, .state = G_NOTEXIST};
    if (next != NULL)
        chain_add(&r->g_rows, known, c, now, g_codes[next->state], why_of(r, next->reason),
                  source(next->p, next->m, goid(r, next->by)));
    else if (now > c->since)
        chain_add(&r->g_rows, known, c, now, G_OPEN, 0, source(TR_NONE, TR_NONE, EVENT_NO_G));
    if (next != NULL && next->state != GS_NOTEXIST)
        return;
    chain_end(&r->g_rows, known, c);
    goroutine(r, id, g, next != NULL ? now : NONE);
}

/* ---- Ps ---- */

static struct recorded_p *p_of(struct recorder *r, uint16_t id)
{
    if (id >= r->nps) {
        r->ps = x_grow(r->ps, ((size_t)id + 1) * sizeof *r->ps);
        for (size_t i = r->nps; i <= id; i++)
            r->ps[i] = (struct recorded_p){
                .chain.state = P_IDLE, .stall = PC_COUNT, .spin_since = NONE};
        r->nps = (size_t)id + 1;
    }
    return &r->ps[id];
}

static uint8_t p_code(const struct p_now *p)
{
    if (p->doing <= PD_IDLE)
        return P_IDLE;
    return p->doing == PD_SYSCALL ? P_SYSCALL : P_RUNNING;
}

/* ---- Ps without a CPU ---- */

struct stall_row {
    int64_t p, begin, end;
    bool throttled;
};

static void stall_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct stall_row *r = row;
    (void)arg;
    switch (column) {
    case 0: sqlite3_result_int64(ctx, r->p); break;
    case 1: sqlite3_result_int64(ctx, r->begin); break;
    case 2:
        if (r->end != NONE)
            sqlite3_result_int64(ctx, r->end);
        break;
    case 3: sqlite3_result_text(ctx, r->throttled ? "throttled" : "no cpu", -1, SQLITE_STATIC);
    default: break;
    }
}

static void stall_is(struct recorder *r, uint16_t id, struct recorded_p *p, uint8_t is, int64_t now)
{
    if (is != PC_THROTTLED && is != PC_NOCPU)
        is = PC_COUNT;
    if (is == p->stall)
        return;
    if (p->stall != PC_COUNT && now > p->stall_since) {
        struct stall_row *row = rows_add(&r->stall_rows);
        *row = (struct stall_row){
            .p = id, .begin = p->stall_since, .end = now, .throttled = p->stall == PC_THROTTLED};
    }
    p->stall = is;
    p->stall_since = now;
}

/* ---- ... whose M looks for work ---- */

struct spin_row {
    int64_t p, begin, end;
};

static void spin_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct spin_row *r = row;
    (void)arg;
    sqlite3_result_int64(ctx, column == 0 ? r->p : column == 1 ? r->begin : r->end);
}

static void spin_is(struct recorder *r, uint16_t id, struct recorded_p *p, bool spins, int64_t now)
{
    if (spins == (p->spin_since != NONE))
        return;
    if (!spins && now > p->spin_since) {
        struct spin_row *row = rows_add(&r->spin_rows);
        *row = (struct spin_row){.p = id, .begin = p->spin_since, .end = now};
    }
    p->spin_since = spins ? now : NONE;
}

static void p_changes(void *arg, uint16_t id, const struct p_now *now, const struct p_now *next,
                      uint64_t time)
{
    struct recorder *r = arg;
    struct recorded_p *p = p_of(r, id);
    int64_t ns = (int64_t)(time / NS);
    (void)now;
    stall_is(r, id, p, next != NULL ? (uint8_t)p_class_of(next) : PC_COUNT, ns);
    spin_is(r, id, p, next != NULL && next->doing == PD_SPIN, ns);
    int to = next != NULL ? p_code(next) : P_OPEN;
    if (to != p->chain.state)
        chain_add(&r->p_rows, id, &p->chain, ns, to, 0,
                  next != NULL ? source(id, next->m, goid(r, next->g))
                               : source(id, TR_NONE, EVENT_NO_G));
    if (next == NULL)
        chain_end(&r->p_rows, id, &p->chain);
}

/* ---- spans ---- */

struct span_row {
    int64_t key, begin, end, g;
    uint32_t span;
};

static void span_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct span_row *r = row;
    const struct recorder *rec = arg;
    switch (column) {
    case 0: text(ctx, rec->names.span(rec->names.of, r->span)); break;
    case 1: sqlite3_result_int64(ctx, r->key); break;
    case 2: sqlite3_result_int64(ctx, r->g); break;
    case 3: sqlite3_result_int64(ctx, r->begin); break;
    case 4: sqlite3_result_int64(ctx, r->end); break;
    default: break;
    }
}

static void span_ends(void *arg, const struct tr_span *s, uint32_t by, uint64_t time, bool open)
{
    struct recorder *r = arg;
    if (open)
        return;
    struct span_row *row = rows_add(&r->span_rows);
    *row = (struct span_row){.key = s->key,
                             .begin = (int64_t)(s->began / NS),
                             .end = (int64_t)(time / NS),
                             .span = s->span,
                             .g = goid(r, by)};
}

/* ---- steals ---- */

struct steal_row {
    int64_t values[5]; /* time, by, from, goroutine, count */
};

static void steal_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct steal_row *r = row;
    (void)arg;
    sqlite3_result_int64(ctx, r->values[column]);
}

static void steals(void *arg, uint16_t from_p, uint16_t by_p, uint32_t g, uint32_t count,
                   uint64_t time)
{
    struct recorder *r = arg;
    struct steal_row *row = rows_add(&r->steal_rows);
    *row = (struct steal_row){{(int64_t)(time / NS), by_p, from_p, goid(r, g), count}};
}

/* ---- bands: what concerns all Ps ---- */

struct band_row {
    const char *what;
    int64_t begin, end;
};

static void band_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct band_row *r = row;
    (void)arg;
    switch (column) {
    case 0: text(ctx, r->what); break;
    case 1: sqlite3_result_int64(ctx, r->begin); break;
    case 2: sqlite3_result_int64(ctx, r->end); break;
    default: break;
    }
}

static void band_ends(struct recorder *r, const char *what, uint64_t *began, uint64_t time)
{
    if (*began == 0)
        return;
    struct band_row *row = rows_add(&r->band_rows);
    *row = (struct band_row){what, (int64_t)((*began - 1) / NS), (int64_t)(time / NS)};
    *began = 0;
}

static void world_changes(void *arg, enum tr_world what, uint64_t time)
{
    struct recorder *r = arg;
    switch (what) {
    case TW_STOP_BEGINS: r->stop = time + 1; break;
    case TW_STOPPED: break;
    case TW_STOP_ENDS: band_ends(r, "stop", &r->stop, time); break;
    case TW_GC_BEGINS: r->gc = time + 1; break;
    case TW_GC_ENDS: band_ends(r, "gc", &r->gc, time); break;
    }
}

/* ---- metrics ---- */

struct metric_row {
    const char *name;
    int64_t time, value;
};

/* The columns behind these are sqlprof's: who said it is not known here. */
static void metric_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct metric_row *r = row;
    (void)arg;
    switch (column) {
    case 0: sqlite3_result_int64(ctx, r->time); break;
    case 1: text(ctx, r->name); break;
    case 2: sqlite3_result_int64(ctx, r->value); break;
    default: break;
    }
}

/* The name lives as long as its source. */
static void metric(void *arg, const char *name, int64_t value, uint64_t time)
{
    struct recorder *r = arg;
    struct metric_row *row = rows_add(&r->metric_rows);
    *row = (struct metric_row){name, (int64_t)(time / NS), value};
}

static void bands_end(struct recorder *r, uint64_t time)
{
    band_ends(r, "stop", &r->stop, time);
    band_ends(r, "gc", &r->gc, time);
}

/* ---- records ---- */

void recorder_feed(struct recorder *r, const struct event_rec *recs, size_t count)
{
    transitions_records(r->t, recs, count);
}

bool recorder_end(struct recorder *r, uint64_t now_ps)
{
    bands_end(r, now_ps);
    return transitions_end_some(r->t, now_ps, END_AT_ONCE);
}

/* ---- tables ---- */

#define CHAIN_COLUMNS "hows, end_time_ns, d1, d2, d3, d4, s1, s2, s3, s4"

#define ALL_ROWS(r)                                                                      \
    {                                                                                    \
        &(r)->goroutines, &(r)->g_rows, &(r)->p_rows, &(r)->span_rows, &(r)->stall_rows, \
            &(r)->spin_rows, &(r)->steal_rows, &(r)->band_rows, &(r)->metric_rows        \
    }

static int listen(struct recorder *r, sqlite3 *db)
{
    r->db = db;
    transitions_listen(r->t, &(struct listener){.arg = r,
                                                .g = g_changes,
                                                .p = p_changes,
                                                .span_ends = span_ends,
                                                .steal = steals,
                                                .world = world_changes,
                                                .metric = metric});
    r->goroutines = ROWS_OF(r, "goroutines", "g, name, parent, create_time_ns, end_time_ns",
                            struct goroutine_row, goroutine_column);
    r->g_rows = ROWS_OF(r, "raw_g_transitions", "g, " CHAIN_COLUMNS, struct chain_row,
                        chain_column);
    r->p_rows = ROWS_OF(r, "raw_p_transitions", "p, " CHAIN_COLUMNS, struct chain_row,
                        chain_column);
    r->span_rows = ROWS_OF(r, "spans", "name, key, g, begin_ns, end_ns", struct span_row,
                           span_column);
    r->stall_rows = ROWS_OF(r, "p_stalls", "p, begin_ns, end_ns, why", struct stall_row,
                            stall_column);
    r->spin_rows = ROWS_OF(r, "p_spins", "p, begin_ns, end_ns", struct spin_row, spin_column);
    r->steal_rows = ROWS_OF(r, "steals", "time_ns, p, from_p, g, count", struct steal_row,
                            steal_column);
    r->band_rows = ROWS_OF(r, "bands", "what, begin_ns, end_ns", struct band_row, band_column);
    r->metric_rows = ROWS_OF(r, "metrics",
                             "end_time_ns, name, value, src_stack_id, src_g, src_p, src_m",
                             struct metric_row, metric_column);
    struct rows *const all[] = ALL_ROWS(r);
    int rc = codes_get(db, r->t, r->why) ? SQLITE_OK : SQLITE_CORRUPT;
    r->nwhy = (uint16_t)r->t->nreasons;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == SQLITE_OK; i++)
        rc = rows_register(db, all[i]);
    return rc;
}

int recorder_init(struct recorder *r, sqlite3 *db, const struct program *program, int32_t cpus)
{
    memset(r, 0, sizeof *r);
    r->names = names_of_program(program);
    r->t = &r->own;
    transitions_init(r->t, &r->names, recorder_extra());
    r->t->cpus = cpus;
    return listen(r, db);
}

int recorder_listen(struct recorder *r, sqlite3 *db, struct transitions *t, size_t extra_at)
{
    memset(r, 0, sizeof *r);
    r->names = *t->names;
    r->t = t;
    r->extra_at = extra_at;
    return listen(r, db);
}

void recorder_ended(struct recorder *r, uint64_t now_ps) { bands_end(r, now_ps); }

size_t recorder_extra(void) { return sizeof(struct chain); }

size_t recorder_waits(const struct recorder *r)
{
    return r->goroutines.count + r->g_rows.count + r->p_rows.count + r->span_rows.count +
           r->band_rows.count + r->metric_rows.count;
}

int recorder_flush(struct recorder *r, long long run)
{
    struct rows *const all[] = ALL_ROWS(r);
    int rc = SQLITE_DONE;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == SQLITE_DONE; i++)
        rc = rows_flush(all[i], run);
    return rc;
}

void recorder_release(struct recorder *r)
{
    struct rows *const all[] = ALL_ROWS(r);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        rows_release(all[i]);
    if (r->t == &r->own)
        transitions_release(r->t);
    free(r->ps);
    r->ps = NULL;
    r->nps = 0;
}
