/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "run/analysis.h"
#include "sim/base/alloc.h"
#include "sim/base/event_get.h"
#include "sim/base/text.h"

enum { NS = 1000, OTHERS_MAX = 6, PAUSES_MAX = 3, LINES_MAX = 400, MS_MAX = UINT16_MAX + 1 };

/* ---- first run: which goroutine, from when to when ---- */

struct found {
    const struct program *program;
    uint32_t span;
    struct map open; /* key -> begin in ns, goroutine (a) */
    uint64_t since;  /* of the next span, ns + 1; 0: it begins when its record says */
    bool any;
    uint64_t begin, end; /* ns */
    uint64_t key;
    uint32_t g;
};

static void find_begin(struct found *f, const struct event_rec *r)
{
    struct map_slot *s = map_put(&f->open, r->a, 0);
    s->at = f->since != 0 ? f->since - 1 : r->time / NS;
    s->a = r->g;
    f->since = 0;
}

static void find_end(struct found *f, const struct event_rec *r)
{
    struct map_slot *s = map_find(&f->open, r->a, 0);
    uint64_t now = r->time / NS;
    if (s == NULL)
        return;
    if (!f->any || now - s->at > f->end - f->begin) {
        f->any = true;
        f->begin = s->at;
        f->end = now;
        f->key = r->a;
        f->g = s->a;
    }
    map_take(&f->open, s);
}

static void find_sink(void *arg, const struct event_rec *recs, size_t count)
{
    struct found *f = arg;
    for (size_t i = 0; i < count; i++) {
        if (recs[i].type == EV_SPAN_SINCE)
            f->since = recs[i].a + 1;
        else if (recs[i].type == EV_SPAN_BEGIN && recs[i].b == f->span)
            find_begin(f, &recs[i]);
        else if (recs[i].type == EV_SPAN_END && recs[i].b == f->span)
            find_end(f, &recs[i]);
    }
}

/* ---- second run: what happened to it ---- */

struct lane {       /* a P */
    uint32_t g;     /* runs here, 0: nobody */
    uint64_t since; /* ps */
    bool idle, throttled, off_cpu;
};

struct other { /* somebody who ran on our P while we were runnable */
    uint32_t g;
    uint64_t ran; /* ps */
};

struct pause {         /* our P was throttled */
    uint64_t from, to; /* ps */
};

enum m_state { M_OTHER, M_MADE, M_LOOKS };

/* Why nobody else took it while it was runnable, as far as records tell. */
struct thieves {
    int looking;        /* Ms that looked for work when it became runnable */
    int making;         /* threads that had been made then, and did not run yet */
    uint64_t came;      /* when the first M came to look after that, ps; 0: none did */
    uint64_t idle_from; /* when the first other P was idle meanwhile, ps */
    uint64_t idle_ps;   /* of all of them together */
    bool next;          /* in runnext */
};

struct watch {
    const struct program *program;
    uint32_t g;
    uint64_t from, to;  /* ns */
    int64_t backoff_ns; /* the profile's runnext_backoff_ns */
    struct lane *lanes;
    size_t nlanes;
    struct map names; /* goroutine -> group (a) */
    /* of our goroutine */
    enum { UNKNOWN, RUNNABLE, RUNNING, WAITING, SYSCALL } state;
    uint64_t since; /* ps */
    uint16_t p, reason;
    uint32_t by;
    bool global; /* runnable in the global queue */
    struct other others[OTHERS_MAX];
    int nothers;
    struct thieves thieves;
    struct pause pauses[PAUSES_MAX]; /* the first ones of this stretch */
    int npauses;
    uint64_t throttled_ps, off_cpu_ps; /* of our P */
    unsigned char ms[MS_MAX];          /* enum m_state */
    int looking, making;               /* how many of them */
    uint64_t now;                      /* ps */
    int lines;
};

static const char *const reasons[] = {
#define WAITREASON(name, text) text,
#include "model/waitreason.def"
#undef WAITREASON
};

static struct lane *lane(struct watch *w, uint32_t p)
{
    if (p >= w->nlanes) {
        w->lanes = x_grow(w->lanes, (p + 1) * sizeof *w->lanes);
        for (size_t i = w->nlanes; i <= p; i++)
            w->lanes[i] = (struct lane){.idle = true};
        w->nlanes = p + 1;
    }
    return &w->lanes[p];
}

static const char *who(const struct watch *w, uint32_t g, char *buf, size_t size)
{
    const struct map_slot *s = map_find(&w->names, g, 0);
    snprintf(buf, size, "g%" PRIu32 " (%s)", g,
             s != NULL ? text_cut(analysis_group_name(w->program, s->a), 20) : "?");
    return buf;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* The longest few are kept, in the order in which they ran. */
static void add_other(struct watch *w, uint32_t g, uint64_t ran)
{
    int least = 0;
    if (ran == 0 || g == w->g)
        return;
    if (w->nothers == OTHERS_MAX) {
        for (int i = 1; i < OTHERS_MAX; i++)
            if (w->others[i].ran < w->others[least].ran)
                least = i;
        if (w->others[least].ran >= ran)
            return;
        w->nothers--;
        memmove(&w->others[least], &w->others[least + 1],
                (size_t)(w->nothers - least) * sizeof *w->others);
    }
    w->others[w->nothers++] = (struct other){g, ran};
}

static void add_pause(struct watch *w, uint64_t from, uint64_t to)
{
    w->throttled_ps += to - from;
    if (w->npauses > 0 && w->npauses <= PAUSES_MAX && w->pauses[w->npauses - 1].to == from)
        w->pauses[w->npauses - 1].to = to;
    else if (w->npauses++ < PAUSES_MAX)
        w->pauses[w->npauses - 1] = (struct pause){from, to};
}

static void of_our_lane(struct watch *w, const struct lane *l, uint64_t from, uint64_t to)
{
    if (l->throttled) {
        add_pause(w, from, to);
        return;
    }
    if (l->off_cpu)
        w->off_cpu_ps += to - from;
    if (l->g != 0)
        add_other(w, l->g, to - from);
}

static void of_idle_lane(struct thieves *t, uint64_t from, uint64_t to)
{
    if (t->idle_ps == 0 || from < t->idle_from)
        t->idle_from = from;
    t->idle_ps += to - from;
}

/* Whoever ran on this P stops; what of it overlaps our waiting counts. */
static void lane_stops(struct watch *w, uint32_t p, uint64_t now)
{
    struct lane *l = lane(w, p);
    uint64_t from = later(l->since, w->since);
    if (now > from && (w->state == RUNNABLE || w->state == RUNNING)) {
        if (p == w->p)
            of_our_lane(w, l, from, now);
        else if (l->idle)
            of_idle_lane(&w->thieves, from, now);
    }
    l->since = now;
    l->g = 0;
}

static void print_others(const struct watch *w)
{
    char name[80];
    for (int i = 0; i < w->nothers; i++)
        printf("%s%s %s", i == 0 ? "; meanwhile there: " : ", ",
               who(w, w->others[i].g, name, sizeof name),
               time_text((int64_t)(w->others[i].ran / NS)));
}

/* What the lanes did up to now, as far as it concerns us. */
static void catch_up(struct watch *w, uint64_t now)
{
    for (size_t p = 0; p < w->nlanes; p++) {
        uint32_t g = w->lanes[p].g;
        lane_stops(w, (uint32_t)p, now);
        w->lanes[p].g = g;
    }
}

static void print_throttled(const struct watch *w)
{
    if (w->npauses > 0)
        printf("; P%u was throttled", w->p);
    for (int i = 0; i < w->npauses && i < PAUSES_MAX; i++)
        printf("%s from %s until %s", i > 0 ? "," : "",
               time_text((int64_t)(w->pauses[i].from / NS)),
               time_text((int64_t)(w->pauses[i].to / NS)));
    if (w->npauses > PAUSES_MAX)
        printf(" and %d more, %s in all", w->npauses - PAUSES_MAX,
               time_text((int64_t)(w->throttled_ps / NS)));
    if (w->off_cpu_ps > 0)
        printf("; its thread had no CPU for %s", time_text((int64_t)(w->off_cpu_ps / NS)));
}

static void print_looking(int n)
{
    printf("%d M%s looking for work already", n, n > 1 ? "s were" : " was");
}

/* Other Ps were idle: why did nobody come? */
static void print_thieves(const struct watch *w)
{
    const struct thieves *t = &w->thieves;
    if (t->idle_ps == 0) {
        fputs("; no other P was idle", stdout);
        if (t->looking > 0) {
            fputs(", ", stdout);
            print_looking(t->looking);
        }
        return;
    }
    printf("; other Ps were idle from %s on, for %s together, and did not take it: ",
           time_text((int64_t)(t->idle_from / NS)), time_text((int64_t)(t->idle_ps / NS)));
    if (t->next && !w->global)
        printf("it was in runnext, which thieves take last and leave to a running P for %s; ",
               time_text(w->backoff_ns));
    if (t->looking > 0)
        print_looking(t->looking);
    else if (t->making > 0)
        fputs("the thread that was to look for work was still being made", stdout);
    else if (t->came != 0)
        printf("no M was spinning, the next came at %s", time_text((int64_t)(t->came / NS)));
    else
        fputs("no M was spinning, and none came", stdout);
}

static void print_runnable(const struct watch *w)
{
    if (w->global)
        fputs("runnable, in the global queue", stdout);
    else
        printf("runnable, queued on P%u", w->p);
    if (!w->global)
        print_others(w);
    print_throttled(w);
    print_thieves(w);
}

static void print_state(struct watch *w, uint64_t now)
{
    char name[80];
    uint64_t from = later(w->since, w->from * NS);
    if (w->state == UNKNOWN || now <= w->from * NS || w->since >= w->to * NS ||
        w->lines++ >= LINES_MAX)
        return;
    printf("  %12s  %9s  ", time_text((int64_t)(from / NS)),
           time_text((int64_t)((now - from) / NS)));
    catch_up(w, now);
    switch (w->state) {
    case RUNNABLE: print_runnable(w); break;
    case RUNNING:
        printf("runs on P%u", w->p);
        print_throttled(w);
        break;
    case SYSCALL: fputs("in a system call", stdout); break;
    case WAITING:
        printf("waits: %s",
               w->reason < sizeof reasons / sizeof *reasons ? reasons[w->reason] : "?");
        if (w->by != 0)
            printf("; woken by %s", who(w, w->by, name, sizeof name));
        break;
    case UNKNOWN: break;
    }
    putchar('\n');
}

static void turn(struct watch *w, const struct event_rec *r, int state)
{
    print_state(w, r->time);
    w->state = (__typeof__(w->state))state;
    w->since = r->time;
    w->p = r->p;
    w->nothers = 0;
    w->npauses = 0;
    w->throttled_ps = w->off_cpu_ps = 0;
    w->thieves = (struct thieves){.looking = w->looking, .making = w->making};
    w->by = 0;
    w->global = false;
}

static void of_ours(struct watch *w, const struct event_rec *r)
{
    switch ((enum event_type)r->type) {
    case EV_G_CREATE:
        turn(w, r, RUNNABLE);
        w->thieves.next = true;
        break;
    case EV_G_START: turn(w, r, RUNNING); break;
    case EV_G_PARK:
        turn(w, r, WAITING);
        w->reason = (uint16_t)get_g_park(r).reason;
        break;
    case EV_G_READY:
        w->by = get_g_ready(r).by.id;
        turn(w, r, RUNNABLE);
        w->thieves.next = get_g_ready(r).place == EV_place_runnext;
        break;
    case EV_G_GOSCHED:
    case EV_G_PREEMPT:
        turn(w, r, RUNNABLE);
        w->global = (r->type == EV_G_GOSCHED ? get_g_gosched(r).place : get_g_preempt(r).place) ==
                    EV_place_global;
        break;
    case EV_G_SYSCALL_ENTER: turn(w, r, SYSCALL); break;
    case EV_G_SYSCALL_EXIT:
        turn(w, r, get_g_syscall_exit(r).place == EV_place_none ? RUNNING : RUNNABLE);
        w->global = get_g_syscall_exit(r).place == EV_place_global;
        break;
    case EV_G_EXIT: turn(w, r, UNKNOWN); break;
    default: break;
    }
}

/* Ps from..to-1 are new, or to..from-1 gone. */
static void resized(struct watch *w, uint32_t from, uint32_t to, uint64_t now)
{
    for (uint32_t p = from < to ? from : to; p < (from < to ? to : from); p++) {
        lane_stops(w, p, now);
        lane(w, p)->idle = p < to;
    }
}

static void of_lanes(struct watch *w, const struct event_rec *r)
{
    if (r->type == EV_P_RESIZE)
        resized(w, get_p_resize(r).from, get_p_resize(r).to, r->time);
    if (r->p == EVENT_NO_P)
        return;
    switch ((enum event_type)r->type) {
    case EV_G_START:
        lane_stops(w, r->p, r->time);
        lane(w, r->p)->g = r->g;
        break;
    case EV_G_PARK:
    case EV_G_GOSCHED:
    case EV_G_PREEMPT:
    case EV_G_EXIT: lane_stops(w, r->p, r->time); break;
    case EV_P_START:
    case EV_P_STOP:
        lane_stops(w, r->p, r->time);
        lane(w, r->p)->idle = r->type == EV_P_STOP;
        lane(w, r->p)->throttled = lane(w, r->p)->off_cpu = false; /* another M's affair */
        break;
    case EV_THROTTLE_ON:
    case EV_THROTTLE_OFF: {
        uint32_t g = lane(w, r->p)->g;
        lane_stops(w, r->p, r->time);
        lane(w, r->p)->g = g;
        lane(w, r->p)->throttled = r->type == EV_THROTTLE_ON;
        break;
    }
    case EV_HOST_ON_CPU:
    case EV_HOST_OFF_CPU: {
        uint32_t g = lane(w, r->p)->g;
        lane_stops(w, r->p, r->time);
        lane(w, r->p)->g = g;
        lane(w, r->p)->off_cpu = r->type == EV_HOST_OFF_CPU &&
                                 get_host_off_cpu(r).why == EV_off_taken;
        break;
    }
    default: break;
    }
}

static void m_is(struct watch *w, uint16_t m, enum m_state state)
{
    w->making += (state == M_MADE) - (w->ms[m] == M_MADE);
    w->looking += (state == M_LOOKS) - (w->ms[m] == M_LOOKS);
    w->ms[m] = (unsigned char)state;
    if (state == M_LOOKS && w->state == RUNNABLE && w->thieves.came == 0)
        w->thieves.came = w->now;
}

/* An M that comes to look for work: one that begins to spin or wakes, and a new one that has got
 * its P. */
static void of_ms(struct watch *w, const struct event_rec *r)
{
    switch ((enum event_type)r->type) {
    case EV_M_CREATE:
        m_is(w, get_m_create(r).new_m.id,
             get_m_create(r).why == EV_thread_spinning ? M_MADE : M_OTHER);
        break;
    case EV_P_START:
        if (w->ms[r->m] == M_MADE)
            m_is(w, r->m, M_LOOKS);
        break;
    case EV_M_SPIN_BEGIN:
    case EV_M_WAKE: m_is(w, r->m, M_LOOKS); break;
    case EV_G_START:
    case EV_M_SPIN_END:
    case EV_M_PARK:
    case EV_M_EXIT: m_is(w, r->m, M_OTHER); break;
    default: break;
    }
}

/* Another G in runnext of our P puts ours into the ring. */
static void of_runnext(struct watch *w, const struct event_rec *r)
{
    bool next = r->type == EV_G_CREATE ||
                (r->type == EV_G_READY && get_g_ready(r).place == EV_place_runnext);
    if (next && r->g != w->g && r->p == w->p)
        w->thieves.next = false;
}

static void watch_sink(void *arg, const struct event_rec *recs, size_t count)
{
    struct watch *w = arg;
    for (size_t i = 0; i < count; i++) {
        const struct event_rec *r = &recs[i];
        if (r->type == EV_G_CREATE)
            map_put(&w->names, r->g, 0)->a = analysis_group(w->program, r);
        if (r->g == w->g) /* before the lanes: it ends our waiting */
            of_ours(w, r);
        of_lanes(w, r);
        w->now = r->time;
        of_ms(w, r);
        of_runnext(w, r);
    }
}

/* ---- both ---- */

static void run_with(const struct run_opts *o, event_sink_fn *sink, void *arg)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts with = *o;
    with.sink = sink;
    with.arg = arg;
    with.print = NULL;
    with.sched_line = NULL;
    with.traced = NULL;
    if (!run_all(&f, &r, &with))
        cli_fail(&f);
    run_free(&r);
}

static const char *span_list(const struct program *p, char *buf, size_t size)
{
    size_t n = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < p->nspans && n < size; i++)
        n += (size_t)snprintf(buf + n, size - n, "%s%s", i > 0 ? ", " : "", p->spans[i]);
    return buf;
}

static uint32_t span_index(const struct program *p, const char *name)
{
    for (uint32_t i = 0; i < p->nspans; i++)
        if (strcmp(p->spans[i], name) == 0)
            return i;
    char list[400];
    cli_die(EXIT_USAGE, "--explain: no span '%s'; %s%s; a goroutine is g and its number", name,
            p->nspans > 0 ? "spans: " : "the scenario has no spans",
            span_list(p, list, sizeof list));
}

static bool goroutine_number(const char *what, uint32_t *g)
{
    int64_t n;
    if (what[0] != 'g' || !parse_int(what + 1, &n) || n < 1 || n > UINT32_MAX)
        return false;
    *g = (uint32_t)n;
    return true;
}

void explain_check(const struct program *p, const char *what)
{
    uint32_t g;
    if (!goroutine_number(what, &g))
        (void)span_index(p, what);
}

static void find(const struct run_opts *o, const char *what, struct watch *w)
{
    struct found f = {.program = o->program, .span = span_index(o->program, what)};
    run_with(o, find_sink, &f);
    map_release(&f.open);
    if (!f.any)
        cli_die(EXIT_USAGE, "--explain: no span %s ended", what);
    w->g = f.g;
    w->from = f.begin;
    w->to = f.end;
    printf("\nthe slowest %s: %s, key %" PRId64 ", goroutine g%" PRIu32 "\n", text_line(what),
           time_text((int64_t)(f.end - f.begin)), (int64_t)f.key, f.g);
}

void explain(const struct run_opts *o, const char *what)
{
    static struct watch w;
    w = (struct watch){
        .program = o->program, .to = UINT64_MAX / NS, .backoff_ns = o->profile.runnext_backoff_ns};
    if (goroutine_number(what, &w.g)) {
        printf("\ngoroutine %s\n", what);
    } else {
        find(o, what, &w);
    }
    printf("  %12s  %9s\n", "at", "for");
    run_with(o, watch_sink, &w);
    if (w.lines == 0)
        puts("  nothing: there is no such goroutine");
    else if (w.lines > LINES_MAX)
        printf("  ... and %d more\n", w.lines - LINES_MAX);
    map_release(&w.names);
    free(w.lanes);
}
