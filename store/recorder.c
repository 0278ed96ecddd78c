/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/recorder.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "run/analysis.h"
#include "sim/base/alloc.h"
#include "sim/base/event_get.h"

enum { NONE = -1, NS = 1000, END_AT_ONCE = 65536 };

/* ---- goroutine states ---- */

enum { G_NOTEXIST, G_RUNNABLE, G_RUNNING, G_WAITING, G_SYSCALL };

struct recorded_g {
    struct chain chain;
    int64_t born; /* ns */
    uint32_t group, parent;
    uint16_t p; /* of the latest record */
};

/* Reasons: Go's wait reasons by their number, 0 is none; and these. */
enum {
#define WAITREASON(name, text) WHY_##name,
#include "model/waitreason.def"
#undef WAITREASON
    WHY_GOSCHED,
    WHY_PREEMPTED
};

const char *recorder_reason(int code)
{
    static const char *const texts[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
        "gosched", "preempted"};
    return code >= 0 && (size_t)code < sizeof texts / sizeof *texts ? texts[code] : NULL;
}

/* A view takes it apart: the P, above it the M and the goroutine that did it. */
static int64_t source(const struct event_rec *e, uint32_t g)
{
    return (int64_t)((uint64_t)g << 32 | (uint64_t)e->m << 16 | e->p);
}

static void text(sqlite3_context *ctx, const char *s)
{
    if (s != NULL)
        sqlite3_result_text(ctx, s, -1, SQLITE_STATIC);
}

/* An id that may be missing: NULL then. */
static void id(sqlite3_context *ctx, uint32_t v, uint32_t none)
{
    if (v != none)
        sqlite3_result_int64(ctx, v);
}

/* ---- chains ---- */

/* hows: the number in the lowest 3 bits; from bit 4 on 12 bits for each: the state before, the one
 * after, the reason. */
enum { HOW_AT = 4, HOW_BITS = 12, TO_AT = 3, WHY_AT = 6, COUNT_MASK = 7 };
_Static_assert(WHY_PREEMPTED < 1 << (HOW_BITS - WHY_AT), "a reason has 6 bits");
_Static_assert(HOW_AT + HOW_BITS * CHAIN_LENGTH < 63, "and all fit");

/* As it is stored. */
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

static void chain_end(struct rows *rows, uint32_t id, struct chain *c)
{
    if ((c->hows & COUNT_MASK) == 0)
        return;
    struct chain_row *row = rows_add(rows);
    *row = (struct chain_row){.id = id, .hows = c->hows, .end = c->since};
    memcpy(row->duration, c->duration, sizeof row->duration);
    memcpy(row->source, c->source, sizeof row->source);
    c->hows = 0;
}

static void chain_add(struct rows *rows, uint32_t id, struct chain *c, const struct event_rec *e,
                      int to, int why, uint32_t src_g)
{
    int64_t now = (int64_t)(e->time / NS), n = c->hows & COUNT_MASK;
    int64_t how = c->state | to << TO_AT | why << WHY_AT;
    c->duration[n] = now - c->since;
    c->source[n] = source(e, src_g);
    c->hows = (c->hows | how << (HOW_AT + HOW_BITS * n)) + 1;
    c->since = now;
    c->state = (uint8_t)to;
    if (n + 1 == CHAIN_LENGTH)
        chain_end(rows, id, c);
}

static void g_move(struct recorder *r, const struct event_rec *e, int to, uint16_t why,
                   uint32_t src_g)
{
    struct recorded_g *s = gtable_find(&r->gs, e->g);
    if (s == NULL)
        return;
    chain_add(&r->g_rows, e->g, &s->chain, e, to, why, src_g);
    s->p = e->p;
}

/* ---- goroutines ---- */

struct goroutine_row {
    uint32_t g, group, parent;
    int64_t created, ended;
};

static void goroutine_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct goroutine_row *r = row;
    const struct recorder *rec = arg;
    switch (column) {
    case 0: sqlite3_result_int64(ctx, r->g); break;
    case 1: text(ctx, analysis_group_name(rec->program, r->group)); break;
    case 2: id(ctx, r->parent, EVENT_NO_G); break;
    case 3: sqlite3_result_int64(ctx, r->created); break;
    case 4:
        if (r->ended != NONE)
            sqlite3_result_int64(ctx, r->ended);
        break;
    default: break;
    }
}

static void goroutine(struct recorder *r, uint32_t goid, const struct recorded_g *s, int64_t ended)
{
    struct goroutine_row *row = rows_add(&r->goroutines);
    *row = (struct goroutine_row){
        .g = goid, .group = s->group, .parent = s->parent, .created = s->born, .ended = ended};
}

static void g_create(struct recorder *r, const struct event_rec *e)
{
    struct recorded_g *s = gtable_put(&r->gs, e->g);
    int64_t now = (int64_t)(e->time / NS);
    *s = (struct recorded_g){.chain = {.since = now, .state = G_NOTEXIST},
                             .born = now,
                             .group = analysis_group(r->program, e),
                             .parent = get_g_create(e).parent.id,
                             .p = EVENT_NO_P};
    g_move(r, e, get_g_create(e).kind == EV_born_coroutine ? G_WAITING : G_RUNNABLE, WHY_Zero,
           get_g_create(e).parent.id);
}

static void g_exit(struct recorder *r, const struct event_rec *e)
{
    g_move(r, e, G_NOTEXIST, WHY_Zero, EVENT_NO_G);
    struct recorded_g *s = gtable_find(&r->gs, e->g);
    if (s == NULL)
        return;
    chain_end(&r->g_rows, e->g, &s->chain);
    goroutine(r, e->g, s, (int64_t)(e->time / NS));
    gtable_take(&r->gs, e->g);
}

/* ---- Ps ---- */

enum { P_IDLE, P_RUNNING, P_SYSCALL };

static struct chain *p_of(struct recorder *r, size_t p)
{
    if (p >= r->nps) {
        r->ps = x_grow(r->ps, (p + 1) * sizeof *r->ps);
        r->stalls = x_grow(r->stalls, (p + 1) * sizeof *r->stalls);
        for (size_t i = r->nps; i <= p; i++) {
            r->ps[i] = (struct chain){.state = P_IDLE};
            r->stalls[i] = (struct stall){.open = false};
        }
        r->nps = p + 1;
    }
    return &r->ps[p];
}

static void p_move(struct recorder *r, const struct event_rec *e, size_t p, int to)
{
    if (p == EVENT_NO_P)
        return;
    struct chain *c = p_of(r, p);
    if (c->state != to)
        chain_add(&r->p_rows, (uint32_t)p, c, e, to, 0, e->g);
}

/* From 1.26 on the record names the goroutine in the system call, not the P. */
static size_t retaken_p(const struct recorder *r, const struct event_rec *e)
{
    (void)r;
    return get_p_retake(e).of_p.id;
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

static void stall_end(struct recorder *r, size_t p, int64_t end)
{
    struct stall *s = p < r->nps ? &r->stalls[p] : NULL;
    if (s == NULL || !s->open)
        return;
    s->open = false;
    if (s->since == end)
        return;
    struct stall_row *row = rows_add(&r->stall_rows);
    *row = (struct stall_row){
        .p = (int64_t)p, .begin = s->since, .end = end, .throttled = s->throttled};
}

/* What ends one stall may begin the next: throttled no more, but there is no CPU yet. */
static void stall(struct recorder *r, const struct event_rec *e, bool open, bool throttled)
{
    if (e->p == EVENT_NO_P)
        return;
    int64_t now = (int64_t)(e->time / NS);
    p_of(r, e->p);
    struct stall *s = &r->stalls[e->p];
    if (!s->open && e->type == EV_HOST_ON_CPU && e->a > 0)
        *s = (struct stall){.since = now - (int64_t)e->a, .open = true};
    stall_end(r, e->p, now);
    *s = (struct stall){.since = now, .open = open, .throttled = throttled};
}

/* ---- spans ---- */

struct span_row {
    int64_t key, begin, end;
    uint32_t span, g;
};

static void span_column(sqlite3_context *ctx, const void *row, int column, void *arg)
{
    const struct span_row *r = row;
    const struct recorder *rec = arg;
    switch (column) {
    case 0: text(ctx, rec->program->spans[r->span]); break;
    case 1: sqlite3_result_int64(ctx, r->key); break;
    case 2: sqlite3_result_int64(ctx, r->g); break;
    case 3: sqlite3_result_int64(ctx, r->begin); break;
    case 4: sqlite3_result_int64(ctx, r->end); break;
    default: break;
    }
}

/* c = 1: the second record of a span that began earlier, at time a. */
static void span_begin(struct recorder *r, const struct event_rec *e)
{
    if (e->b >= r->program->nspans)
        return;
    map_put(&r->spans, e->a, e->b)->at = r->span_since != 0 ? r->span_since - 1 : e->time / NS;
    r->span_since = 0;
}

static void span_end(struct recorder *r, const struct event_rec *e)
{
    struct map_slot *s = e->b < r->program->nspans ? map_find(&r->spans, e->a, e->b) : NULL;
    if (s == NULL)
        return;
    struct span_row *row = rows_add(&r->span_rows);
    *row = (struct span_row){.key = (int64_t)e->a,
                             .begin = (int64_t)s->at,
                             .end = (int64_t)(e->time / NS),
                             .span = e->b,
                             .g = e->g};
    map_take(&r->spans, s);
}

/* ---- records ---- */

static void feed(struct recorder *r, const struct event_rec *e)
{
    switch ((enum event_type)e->type) {
    case EV_G_CREATE: g_create(r, e); break;
    case EV_G_START: g_move(r, e, G_RUNNING, WHY_Zero, EVENT_NO_G); break;
    case EV_G_PARK: g_move(r, e, G_WAITING, (uint16_t)get_g_park(e).reason, EVENT_NO_G); break;
    case EV_G_READY: g_move(r, e, G_RUNNABLE, WHY_Zero, get_g_ready(e).by.id); break;
    case EV_G_GOSCHED: g_move(r, e, G_RUNNABLE, WHY_GOSCHED, EVENT_NO_G); break;
    case EV_G_PREEMPT: g_move(r, e, G_RUNNABLE, WHY_PREEMPTED, EVENT_NO_G); break;
    case EV_G_EXIT: g_exit(r, e); break;
    case EV_G_SYSCALL_ENTER:
        g_move(r, e, G_SYSCALL, WHY_Zero, EVENT_NO_G);
        p_move(r, e, e->p, P_SYSCALL);
        break;
    case EV_G_SYSCALL_EXIT:
        g_move(r, e, get_g_syscall_exit(e).place == EV_place_none ? G_RUNNING : G_RUNNABLE,
               WHY_Zero, EVENT_NO_G);
        if (get_g_syscall_exit(e).place == EV_place_none)
            p_move(r, e, e->p, P_RUNNING);
        break;
    case EV_P_START:
        p_move(r, e, e->p, P_RUNNING);
        stall_end(r, e->p, (int64_t)(e->time / NS));
        break;
    case EV_P_STOP: p_move(r, e, e->p, P_IDLE); break;
    case EV_P_RETAKE: p_move(r, e, retaken_p(r, e), P_IDLE); break;
    case EV_SPAN_SINCE: r->span_since = (uint64_t)get_span_since(e).began_ns + 1; break;
    case EV_SPAN_BEGIN: span_begin(r, e); break;
    case EV_SPAN_END: span_end(r, e); break;
    case EV_HOST_OFF_CPU:
        stall(r, e, /*open*/ get_host_off_cpu(e).why == EV_off_taken, /*throttled*/ false);
        break;
    case EV_HOST_ON_CPU: stall(r, e, /*open*/ false, /*throttled*/ false); break;
    case EV_THROTTLE_ON: stall(r, e, /*open*/ true, /*throttled*/ true); break;
    case EV_THROTTLE_OFF: stall(r, e, /*open*/ true, /*throttled*/ false); break;
    default: break;
    }
}

void recorder_feed(struct recorder *r, const struct event_rec *recs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        feed(r, &recs[i]);
}

bool recorder_end(struct recorder *r)
{
    struct recorded_g *s;
    for (uint64_t goid = 0; (s = gtable_next(&r->gs, &goid)) != NULL; goid++) {
        if (r->goroutines.count >= END_AT_ONCE)
            return true;
        chain_end(&r->g_rows, (uint32_t)goid, &s->chain);
        goroutine(r, (uint32_t)goid, s, NONE);
        gtable_take(&r->gs, (uint32_t)goid);
    }
    for (size_t p = 0; p < r->nps; p++)
        chain_end(&r->p_rows, (uint32_t)p, &r->ps[p]);
    for (size_t p = 0; p < r->nps; p++)
        stall_end(r, p, NONE);
    return false;
}

/* ---- tables ---- */

#define CHAIN_COLUMNS         "hows, end_time_ns, d1, d2, d3, d4, s1, s2, s3, s4"
#define INSERT(table, source) "INSERT INTO " table " SELECT ?1, * FROM " source

int recorder_init(struct recorder *r, sqlite3 *db, const struct program *program)
{
    memset(r, 0, sizeof *r);
    r->program = program;
    gtable_init(&r->gs, sizeof(struct recorded_g));
    r->goroutines = (struct rows){.name = "batch_goroutines",
                                  .columns = "g, name, parent, create_time_ns, end_time_ns",
                                  .insert = INSERT("goroutines", "batch_goroutines"),
                                  .size = sizeof(struct goroutine_row),
                                  .column = goroutine_column,
                                  .arg = r};
    r->g_rows = (struct rows){.name = "batch_g",
                              .columns = "g, " CHAIN_COLUMNS,
                              .insert = INSERT("raw_g_transitions", "batch_g"),
                              .size = sizeof(struct chain_row),
                              .column = chain_column};
    r->p_rows = (struct rows){.name = "batch_p",
                              .columns = "p, " CHAIN_COLUMNS,
                              .insert = INSERT("raw_p_transitions", "batch_p"),
                              .size = sizeof(struct chain_row),
                              .column = chain_column};
    r->span_rows = (struct rows){.name = "batch_spans",
                                 .columns = "name, key, g, begin_ns, end_ns",
                                 .insert = INSERT("spans", "batch_spans"),
                                 .size = sizeof(struct span_row),
                                 .column = span_column,
                                 .arg = r};
    r->stall_rows = (struct rows){.name = "batch_stalls",
                                  .columns = "p, begin_ns, end_ns, why",
                                  .insert = INSERT("p_stalls", "batch_stalls"),
                                  .size = sizeof(struct stall_row),
                                  .column = stall_column};
    struct rows *const all[] = {&r->goroutines, &r->g_rows, &r->p_rows, &r->span_rows,
                                &r->stall_rows};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == SQLITE_OK; i++)
        rc = rows_register(db, all[i]);
    return rc;
}

int recorder_flush(struct recorder *r, long long run)
{
    struct rows *const all[] = {&r->goroutines, &r->g_rows, &r->p_rows, &r->span_rows,
                                &r->stall_rows};
    int rc = SQLITE_DONE;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == SQLITE_DONE; i++)
        rc = rows_flush(all[i], run);
    return rc;
}

void recorder_release(struct recorder *r)
{
    rows_release(&r->goroutines);
    rows_release(&r->g_rows);
    rows_release(&r->p_rows);
    rows_release(&r->span_rows);
    rows_release(&r->stall_rows);
    gtable_release(&r->gs);
    map_release(&r->spans);
    free(r->ps);
    free(r->stalls);
    r->ps = NULL;
    r->stalls = NULL;
    r->nps = 0;
}
