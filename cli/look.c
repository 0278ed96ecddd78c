/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/look.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cli/out.h"
#include "sim/base/alloc.h"
#include "run/window.h"
#include "sim/base/text.h"

enum { RING_SHOWN = 16, TIMERS_SHOWN = 8 };

/* ---- text ---- */

static void print_queue(const char *name, const uint64_t *goids, size_t n)
{
    printf("%s [%zu]", name, n);
    for (size_t i = 0; i < n && i < RING_SHOWN; i++)
        printf(" g%" PRIu64, goids[i]);
    fputs(n > RING_SHOWN ? " ..." : "", stdout);
}

static void print_p(int32_t id)
{
    uint64_t ring[RING_SHOWN];
    struct look_p p;
    look_p(id, &p);
    printf("P%-3d %-8s", id, p.status);
    if (p.m >= 0)
        printf(" M%d", p.m);
    if (p.curg != 0)
        printf(" runs g%" PRIu64, p.curg);
    if (p.spinning)
        fputs(" spinning", stdout);
    if (p.runnext != 0)
        printf(" runnext g%" PRIu64, p.runnext);
    print_queue(" ring", ring, look_ring(id, ring, RING_SHOWN));
    printf(" timers %" PRIu32 " schedtick %" PRIu32 " syscalltick %" PRIu32 "\n", p.timers,
           p.schedtick, p.syscalltick);
}

static void print_ps(void)
{
    struct look_sched s;
    look_sched(&s);
    for (int32_t i = 0; i < s.procs; i++)
        print_p(i);
}

static void print_m(const struct look_m *m)
{
    printf("M%-3d", m->id);
    if (m->p >= 0)
        printf(" P%d", m->p);
    else if (!m->idle)
        fputs(" without a P", stdout);
    if (m->curg != 0)
        printf(" runs g%" PRIu64, m->curg);
    if (m->lockedg != 0)
        printf(" locked to g%" PRIu64, m->lockedg);
    printf("%s%s%s\n", m->spinning ? " spinning" : "", m->blocked ? " blocked" : "",
           m->idle ? " idle" : "");
}

void look_print_ms(void)
{
    struct look_sched s;
    struct look_m m;
    look_sched(&s);
    for (int64_t i = 0; i < s.m_ids; i++)
        if (look_m(i, &m))
            print_m(&m);
}

static void print_timer(const struct look_timer *t)
{
    printf("  at %s", time_text(t->when_ns));
    if (t->period_ns > 0)
        printf(", every %s", time_text(t->period_ns));
    if (t->g != 0)
        printf(", wakes g%" PRIu64, t->g);
    else
        fputs(t->chan ? ", sends on a channel" : ", calls a function", stdout);
}

void look_print_timers(void)
{
    struct look_sched s;
    struct look_timer timers[TIMERS_SHOWN];
    look_sched(&s);
    for (int32_t i = 0; i < s.procs; i++) {
        size_t n = look_timers(i, timers, TIMERS_SHOWN);
        if (n == 0)
            continue;
        printf("timers of P%d [%zu]\n", i, n);
        for (size_t k = 0; k < n && k < TIMERS_SHOWN; k++) {
            print_timer(&timers[k]);
            putchar('\n');
        }
        if (n > TIMERS_SHOWN)
            printf("  ... and %zu more\n", n - TIMERS_SHOWN);
    }
}

static void print_g(const struct run_g *g, int64_t now_ns)
{
    printf("g%-5" PRIu64 " %-9s %s", g->goid, g->is->status, text_line(g->is->group));
    if (g->is->func[0] != 0)
        printf(" in %s", text_line(g->is->func));
    if (g->is->line != 0)
        printf(" line %" PRIu32, g->is->line);
    if (g->is->reason[0] != 0)
        printf(" [%s, %s]", g->is->reason, time_text(now_ns - g->since_ns));
    putchar('\n');
}

void look_print_gs(const struct look_what *what, int64_t now_ns)
{
    size_t n;
    struct run_g *gs = look_gs(what->program, what->all, &n);
    for (size_t i = 0; i < n && (int64_t)i < what->gs_max; i++)
        print_g(&gs[i], now_ns);
    if ((int64_t)n > what->gs_max)
        printf("... and %" PRId64 " more (--gs)\n", (int64_t)n - what->gs_max);
    free(gs);
}

void look_print(const struct look_what *what, int64_t now_ns)
{
    static const char *const phases[] = {"off", "mark", "mark termination"};
    uint64_t queue[RING_SHOWN];
    struct look_sched s;
    look_sched(&s);
    printf("virtual time %s (%" PRId64
           " ns), GOMAXPROCS %d, idle Ps %d, spinning Ms %d, Ms %" PRId64 " of which idle %d%s%s\n",
           time_text(now_ns), now_ns, s.procs, s.npidle, s.nmspinning, s.nm, s.nmidle,
           s.gcwaiting ? ", the world is being stopped" : "",
           s.sysmonwait ? ", sysmon sleeps deeply" : "");
    if (s.gcphase < 3 && s.gcphase != 0)
        printf("GC: %s\n", phases[s.gcphase]);
    print_queue("global queue", queue, look_globrunq(queue, RING_SHOWN));
    fputs("\n\n", stdout);
    print_ps();
    putchar('\n');
    look_print_ms();
    putchar('\n');
    look_print_timers();
    putchar('\n');
    look_print_gs(what, now_ns);
}

void look_print_short(const struct look_what *what, int64_t now_ns)
{
    struct look_sched s;
    size_t n;
    uint64_t queue[RING_SHOWN];
    struct run_g *gs = look_gs(what->program, false, &n);
    free(gs);
    look_sched(&s);
    printf("%s (%" PRId64 " ns), %zu goroutines, idle Ps %d, spinning Ms %d, ", time_text(now_ns),
           now_ns, n, s.npidle, s.nmspinning);
    print_queue("global queue", queue, look_globrunq(queue, RING_SHOWN));
    putchar('\n');
    print_ps();
}

/* ---- JSON ---- */

static void number(cJSON *to, const char *name, int64_t v)
{
    cJSON_AddNumberToObject(to, name, (double)v);
}

static cJSON *queue_json(const uint64_t *goids, size_t n)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)goids[i]));
    return list;
}

static cJSON *timers_json(int32_t id, size_t n)
{
    cJSON *list = cJSON_CreateArray();
    struct look_timer *timers = x_alloc(n * sizeof *timers);
    look_timers(id, timers, n);
    for (size_t i = 0; i < n; i++) {
        cJSON *o = cJSON_CreateObject();
        number(o, "when_ns", timers[i].when_ns);
        number(o, "period_ns", timers[i].period_ns);
        number(o, "goid", (int64_t)timers[i].g);
        cJSON_AddBoolToObject(o, "channel", timers[i].chan);
        cJSON_AddItemToArray(list, o);
    }
    free(timers);
    return list;
}

static cJSON *p_json(int32_t id)
{
    struct look_p p;
    cJSON *o = cJSON_CreateObject();
    look_p(id, &p);
    uint64_t *ring = x_alloc(p.ring * sizeof *ring);
    number(o, "id", id);
    cJSON_AddStringToObject(o, "status", p.status);
    number(o, "m", p.m);
    number(o, "runs", (int64_t)p.curg);
    number(o, "runnext", (int64_t)p.runnext);
    cJSON_AddItemToObject(o, "ring", queue_json(ring, look_ring(id, ring, p.ring)));
    cJSON_AddItemToObject(o, "timers", timers_json(id, p.timers));
    cJSON_AddBoolToObject(o, "spinning", p.spinning);
    free(ring);
    return o;
}

static cJSON *m_json(const struct look_m *m)
{
    cJSON *o = cJSON_CreateObject();
    number(o, "id", m->id);
    number(o, "p", m->p);
    number(o, "runs", (int64_t)m->curg);
    number(o, "locked_to", (int64_t)m->lockedg);
    cJSON_AddBoolToObject(o, "spinning", m->spinning);
    cJSON_AddBoolToObject(o, "blocked", m->blocked);
    cJSON_AddBoolToObject(o, "idle", m->idle);
    return o;
}

static cJSON *g_json(const struct run_g *g)
{
    cJSON *o = cJSON_CreateObject();
    number(o, "goid", (int64_t)g->goid);
    cJSON_AddStringToObject(o, "group", g->is->group);
    cJSON_AddStringToObject(o, "func", g->is->func);
    cJSON_AddStringToObject(o, "status", g->is->status);
    cJSON_AddStringToObject(o, "reason", g->is->reason);
    number(o, "since_ns", g->since_ns);
    number(o, "line", g->is->line);
    return o;
}

static void add_gs(cJSON *to, const struct look_what *what)
{
    size_t n;
    struct run_g *gs = look_gs(what->program, what->all, &n);
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(to, g_json(&gs[i]));
    free(gs);
}

void look_print_json(const struct look_what *what, int64_t now_ns)
{
    struct look_sched s;
    struct look_m m;
    cJSON *o = cJSON_CreateObject();
    look_sched(&s);
    number(o, "time_ns", now_ns);
    number(o, "procs", s.procs);
    number(o, "idle_ps", s.npidle);
    number(o, "spinning_ms", s.nmspinning);
    uint64_t *queue = x_alloc((size_t)s.globrunq * sizeof *queue);
    cJSON_AddItemToObject(o, "global_queue",
                          queue_json(queue, look_globrunq(queue, (size_t)s.globrunq)));
    free(queue);
    cJSON *ps = cJSON_AddArrayToObject(o, "ps"), *ms = cJSON_AddArrayToObject(o, "ms");
    for (int32_t i = 0; i < s.procs; i++)
        cJSON_AddItemToArray(ps, p_json(i));
    for (int64_t i = 0; i < s.m_ids; i++)
        if (look_m(i, &m))
            cJSON_AddItemToArray(ms, m_json(&m));
    add_gs(cJSON_AddArrayToObject(o, "goroutines"), what);
    out_json(o);
}
