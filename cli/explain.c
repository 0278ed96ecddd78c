/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/text.h"

enum { PS_PER_NS = 1000, OTHERS_MAX = 6, PAUSES_MAX = 3, LINES_MAX = 400 };

/* ---- first run: which goroutine, from when to when ---- */

struct slowest {
    bool any;
    struct tr_span is;
    uint64_t end; /* ps */
};

/* A program's start is not over as long as a collection goes on that began before the first span of
 * the name asked for had ended: such a collection comes of what main allocates at first. */
struct found {
    uint32_t span;
    uint64_t from;    /* the warm-up ends, ps */
    bool starts;      /* the program does, in what is told */
    bool first_ended; /* a span of that name */
    bool start_gc;    /* a collection of the start goes on */
    uint64_t started; /* when the last of these ended, ps; 0: there was none */
    struct slowest start, after;
};

static void find_end(void *arg, const struct tr_span *s, uint32_t by, uint64_t time, bool open)
{
    struct found *f = arg;
    (void)by;
    if (open || s->span != f->span)
        return;
    f->first_ended = true;
    struct slowest *to = f->start_gc || s->began < f->started ? &f->start : &f->after;
    if (s->began < f->from || (to->any && time - s->began <= to->end - to->is.began))
        return;
    *to = (struct slowest){.any = true, .is = *s, .end = time};
}

static void find_collection(void *arg, enum tr_world what, uint64_t time)
{
    struct found *f = arg;
    if (what == TW_GC_BEGINS && !f->first_ended && f->starts)
        f->start_gc = true;
    if (what == TW_GC_ENDS && f->start_gc) {
        f->start_gc = false;
        f->started = time;
    }
}

static void find_listen(void *arg, struct transitions *t)
{
    transitions_listen(
        t, &(struct listener){.arg = arg, .span_ends = find_end, .world = find_collection});
}

/* ---- second run: what happened to it ---- */

struct other { /* somebody who ran on our P while we were runnable */
    uint32_t g, group;
    uint64_t ran; /* ps */
};

struct pause {         /* our P was throttled */
    uint64_t from, to; /* ps */
};

/* Why nobody else took it while it was runnable, as far as records tell. */
struct thieves {
    int looking;        /* Ms that looked for work when it became runnable */
    int making;         /* threads that had been made then, and did not run yet */
    uint64_t came;      /* when the first M came to look after that, ps; 0: none did */
    uint64_t idle_from; /* when the first other P was idle meanwhile, ps */
    uint64_t idle_ps;   /* of all other Ps together */
};

/* The stretch that the explained ("our") goroutine is in, and what is known of it. */
struct stretch {
    uint64_t from; /* ps: since when it is what it is, where it is */
    struct other others[OTHERS_MAX];
    int nothers;
    struct thieves thieves;
    struct pause pauses[PAUSES_MAX]; /* the first ones */
    int npauses;
    uint64_t throttled_ps, off_cpu_ps; /* of our P */
};

struct watch {
    const struct transitions *t;
    uint32_t g;
    uint64_t from, to;  /* ps */
    int64_t backoff_ns; /* the profile's runnext_backoff_ns */
    struct stretch is;
    int lines;
};

static uint32_t group_of(const struct watch *w, uint32_t g)
{
    const struct tr_g *is = tr_find_g(w->t, g);
    return is != NULL ? is->group : w->t->names->ngroups; /* "?" */
}

static const char *who(const struct watch *w, uint32_t g, uint32_t group, char *buf, size_t size)
{
    const char *name = w->t->names->group(w->t->names->of, group);
    snprintf(buf, size, "g%" PRIu64 " (%s)", names_goid(w->t->names, g), text_cut(name, 20));
    return buf;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void put_time(uint64_t ps) { fputs(time_text((int64_t)(ps / PS_PER_NS)), stdout); }

/* The longest few are kept, in the order in which they ran. */
static void add_other(struct stretch *s, uint32_t g, uint32_t group, uint64_t ran)
{
    int least = 0;
    if (s->nothers > 0 && s->others[s->nothers - 1].g == g) {
        s->others[s->nothers - 1].ran += ran;
        return;
    }
    if (s->nothers == OTHERS_MAX) {
        for (int i = 1; i < OTHERS_MAX; i++)
            if (s->others[i].ran < s->others[least].ran)
                least = i;
        if (s->others[least].ran >= ran)
            return;
        s->nothers--;
        memmove(&s->others[least], &s->others[least + 1],
                (size_t)(s->nothers - least) * sizeof *s->others);
    }
    s->others[s->nothers++] = (struct other){g, group, ran};
}

static void add_pause(struct stretch *s, uint64_t from, uint64_t to)
{
    s->throttled_ps += to - from;
    if (s->npauses > 0 && s->npauses <= PAUSES_MAX && s->pauses[s->npauses - 1].to == from)
        s->pauses[s->npauses - 1].to = to;
    else if (s->npauses++ < PAUSES_MAX)
        s->pauses[s->npauses - 1] = (struct pause){from, to};
}

static void of_our_p(struct watch *w, const struct p_now *p, uint64_t from, uint64_t to)
{
    enum p_class c = p_class_of(p);
    if (c == PC_THROTTLED)
        add_pause(&w->is, from, to);
    else if (c == PC_NOCPU)
        w->is.off_cpu_ps += to - from;
    if (c != PC_THROTTLED && p->g != EVENT_NO_G && p->g != w->g)
        add_other(&w->is, p->g, group_of(w, p->g), to - from);
}

static void of_idle_p(struct thieves *t, uint64_t from, uint64_t to)
{
    if (t->idle_ps == 0 || from < t->idle_from)
        t->idle_from = from;
    t->idle_ps += to - from;
}

/* What this P did until now, as far as it was during our stretch. */
static void of_p(struct watch *w, const struct tr_g *g, uint16_t id, const struct p_now *p,
                 uint64_t now)
{
    uint64_t from = later(p->since, w->is.from);
    if (now <= from)
        return;
    if (id == g->now.p && g->now.place != EV_place_global)
        of_our_p(w, p, from, now);
    else if (p->doing == PD_IDLE)
        of_idle_p(&w->is.thieves, from, now);
}

static void p_changes(void *arg, uint16_t id, const struct p_now *now, const struct p_now *next,
                      uint64_t time)
{
    struct watch *w = arg;
    const struct tr_g *g = tr_find_g(w->t, w->g);
    (void)next;
    if (g != NULL && (g->now.state == GS_RUNNABLE || g->now.state == GS_RUNNING))
        of_p(w, g, id, now, time);
}

static void m_changes(void *arg, uint16_t id, const struct m_now *now, const struct m_now *next,
                      uint64_t time)
{
    struct watch *w = arg;
    (void)id;
    if (next == NULL || w->is.thieves.came != 0)
        return;
    bool woke = (now->doing == MD_SLEEPS || now->doing == MD_POLLS) && next->doing == MD_RUNS;
    if (next->doing == MD_SPINS || woke)
        w->is.thieves.came = time;
}

static void begin_stretch(struct watch *w, uint64_t now)
{
    w->is = (struct stretch){.from = now};
    for (size_t i = 0; i < w->t->nms; i++) {
        const struct m_now *m = &w->t->ms[i];
        w->is.thieves.looking += m->doing == MD_SPINS;
        w->is.thieves.making += m->doing == MD_MADE && m->why == EV_thread_spinning;
    }
}

/* ---- in words ---- */

static void print_others(const struct watch *w)
{
    char name[80];
    for (int i = 0; i < w->is.nothers; i++) {
        printf("%s%s ", i == 0 ? "; meanwhile there: " : ", ",
               who(w, w->is.others[i].g, w->is.others[i].group, name, sizeof name));
        put_time(w->is.others[i].ran);
    }
}

static void print_throttled(const struct stretch *s, uint16_t p)
{
    if (s->npauses > 0)
        printf("; P%u was throttled", p);
    for (int i = 0; i < s->npauses && i < PAUSES_MAX; i++)
        printf("%s from %s until %s", i > 0 ? "," : "",
               time_text((int64_t)(s->pauses[i].from / PS_PER_NS)),
               time_text((int64_t)(s->pauses[i].to / PS_PER_NS)));
    if (s->npauses > PAUSES_MAX)
        printf(" and %d more, %s in all", s->npauses - PAUSES_MAX,
               time_text((int64_t)(s->throttled_ps / PS_PER_NS)));
    if (s->off_cpu_ps > 0)
        printf("; its thread had no CPU for %s", time_text((int64_t)(s->off_cpu_ps / PS_PER_NS)));
}

static void print_looking(int n)
{
    printf("%d M%s looking for work already", n, n > 1 ? "s were" : " was");
}

/* Other Ps were idle: why did nobody come? */
static void print_thieves(const struct watch *w, enum ev_place place)
{
    const struct thieves *t = &w->is.thieves;
    if (t->idle_ps == 0) {
        fputs("; no other P was idle", stdout);
        if (t->looking > 0) {
            fputs(", ", stdout);
            print_looking(t->looking);
        }
        return;
    }
    printf("; other Ps were idle from %s on, for %s together, and did not take it",
           time_text((int64_t)(t->idle_from / PS_PER_NS)),
           time_text((int64_t)(t->idle_ps / PS_PER_NS)));
    if (w->t->nms == 0)
        return; /* a source that knows no threads */
    fputs(": ", stdout);
    if (place == EV_place_runnext)
        printf("it was in runnext, which thieves take last and leave to a running P for %s; ",
               time_text(w->backoff_ns));
    if (t->looking > 0)
        print_looking(t->looking);
    else if (t->making > 0)
        fputs("the thread that was to look for work was still being made", stdout);
    else if (t->came != 0)
        printf("no M was spinning, the next came at %s", time_text((int64_t)(t->came / PS_PER_NS)));
    else
        fputs("no M was spinning, and none came", stdout);
}

static void print_runnable(const struct watch *w, const struct g_now *is)
{
    switch ((enum ev_place)is->place) {
    case EV_place_global: fputs("runnable, in the global queue", stdout); break;
    case EV_place_runnext: printf("runnable, in runnext of P%u", is->p); break;
    case EV_place_ring: printf("runnable, queued on P%u", is->p); break;
    case EV_place_kept: printf("runnable, next on P%u", is->p); break;
    case EV_place_none: /* who tells of it does not know */
        fputs("runnable", stdout);
        if (is->p != TR_NONE)
            printf(", since something on P%u made it so", is->p);
        break;
    }
    print_others(w);
    print_throttled(&w->is, is->p);
    if (is->place != EV_place_kept)
        print_thieves(w, (enum ev_place)is->place);
}

static void print_place(const struct watch *w, uint32_t pc)
{
    const struct naming *n = w->t->names;
    const char *place = pc != EVENT_NO_PC && n->place != NULL ? n->place(n->of, pc) : NULL;
    uint32_t line = pc != EVENT_NO_PC && place == NULL ? n->line(n->of, pc) : 0;
    if (place != NULL)
        printf(", %s", text_line(place));
    else if (line != 0)
        printf(", line %" PRIu32, line);
}

static void print_wait(const struct watch *w, const struct g_now *is, const struct g_now *next)
{
    char name[80];
    printf("waits: %s", is->reason != 0 ? tr_reason(w->t, is->reason) : "for what is not said");
    print_place(w, is->pc);
    if (next == NULL)
        fputs("; until the end, nobody woke it", stdout);
    else if (next->by != 0)
        printf("; woken by %s", who(w, next->by, group_of(w, next->by), name, sizeof name));
}

/* next: what comes; NULL: the end of the run. */
static void print_state(struct watch *w, const struct g_now *is, const struct g_now *next,
                        uint64_t now)
{
    uint64_t from = later(w->is.from, w->from);
    if (now <= w->from || w->is.from >= w->to || (now == from && next != NULL) ||
        w->lines++ >= LINES_MAX)
        return;
    printf("  %12s", time_text((int64_t)(from / PS_PER_NS)));
    printf("  %9s  ", time_text((int64_t)((now - from) / PS_PER_NS)));
    switch ((enum g_state)is->state) {
    case GS_RUNNABLE: print_runnable(w, is); break;
    case GS_RUNNING:
        printf("runs on P%u", is->p);
        print_throttled(&w->is, is->p);
        break;
    case GS_SYSCALL:
        fputs("in a system call", stdout);
        print_place(w, is->pc);
        break;
    case GS_WAITING: print_wait(w, is, next); break;
    case GS_NOTEXIST:
    case GS_STATES: break;
    }
    if (next == NULL && is->state != GS_WAITING)
        fputs("; until the end", stdout);
    putchar('\n');
}

static void end_stretch(struct watch *w, const struct tr_g *g, const struct g_now *next,
                        uint64_t now)
{
    bool on_ps = g->now.state == GS_RUNNABLE || g->now.state == GS_RUNNING;
    for (size_t p = 0; on_ps && p < w->t->nps; p++)
        of_p(w, g, (uint16_t)p, &w->t->ps[p], now);
    if (g->now.state != GS_NOTEXIST)
        print_state(w, &g->now, next, now);
    begin_stretch(w, now);
}

static void g_changes(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next,
                      uint64_t time)
{
    struct watch *w = arg;
    if (id == w->g)
        end_stretch(w, g, next, time);
}

static void g_moves(void *arg, uint32_t id, const struct tr_g *g, const struct g_now *next,
                    uint64_t time)
{
    struct watch *w = arg;
    if (id == w->g && (next->place != g->now.place || next->p != g->now.p))
        end_stretch(w, g, next, time);
}

static void watch_listen(void *arg, struct transitions *t)
{
    struct watch *w = arg;
    w->t = t;
    transitions_listen(
        t, &(struct listener){
               .arg = w, .g = g_changes, .g_moves = g_moves, .p = p_changes, .m = m_changes});
}

/* ---- both ---- */

struct telling {
    const struct run_opts *o;
};

static void run_with(void *arg, void (*listen)(void *, struct transitions *), void *to)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts with = *((const struct telling *)arg)->o;
    with.sink = NULL;
    with.listen = listen;
    with.moves = true;
    with.arg = to;
    with.print = NULL;
    with.sched_line = NULL;
    with.traced = NULL;
    if (!run_all(&f, &r, &with))
        cli_fail(&f);
    run_free(&r);
}

static const char *span_list(const struct naming *n, char *buf, size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (uint32_t i = 0; i < n->nspans && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 n->span(n->of, i));
    return buf;
}

static uint32_t span_index(const struct naming *n, const char *name)
{
    for (uint32_t i = 0; i < n->nspans; i++)
        if (strcmp(n->span(n->of, i), name) == 0)
            return i;
    char list[400];
    cli_die(EXIT_USAGE, "--explain: no span '%s'; %s%s; a goroutine is g and its number", name,
            n->nspans > 0 ? "spans: " : "it has no spans", span_list(n, list, sizeof list));
}

static bool goroutine_number(const char *what, uint64_t *g)
{
    int64_t n;
    if (what[0] != 'g' || !parse_int(what + 1, &n) || n < 1)
        return false;
    *g = (uint64_t)n;
    return true;
}

void explain_check(const struct naming *n, const char *what)
{
    uint64_t g;
    if (!goroutine_number(what, &g))
        (void)span_index(n, what);
}

static const char *length_text(const struct slowest *s)
{
    return time_text((int64_t)((s->end - s->is.began) / PS_PER_NS));
}

static void find(const struct explain_source *s, const char *what, struct watch *w)
{
    struct found f = {.span = span_index(s->names, what),
                      .starts = s->starts,
                      .from = (uint64_t)s->warmup_ns * PS_PER_NS};
    s->tell(s->arg, find_listen, &f);
    const struct slowest *is = f.after.any ? &f.after : &f.start;
    if (!is->any)
        cli_die(EXIT_USAGE, "--explain: no span %s ended%s", what,
                f.from > 0 ? " that began after the warm-up" : "");
    w->g = is->is.g;
    w->from = is->is.began;
    w->to = is->end;
    printf("\nthe slowest %s%s: %s, key %" PRId64 ", goroutine g%" PRIu64 "\n", text_line(what),
           f.start.any ? f.after.any ? " after the start" : ", one of the start" : "",
           length_text(is), is->is.key, names_goid(s->names, is->is.g));
    if (f.after.any && f.start.any && f.start.end - f.start.is.began > is->end - is->is.began)
        printf("(%s of the start took %s, key %" PRId64 ", g%" PRIu64
               ": a collection that the program's start asked for went on until %s)\n",
               text_line(what), length_text(&f.start), f.start.is.key,
               names_goid(s->names, f.start.is.g), time_text((int64_t)(f.started / PS_PER_NS)));
}

static uint32_t number_of(const struct explain_source *s, uint64_t goid)
{
    if (s->number != NULL)
        return s->number(s->arg, goid);
    return goid <= UINT32_MAX ? (uint32_t)goid : EVENT_NO_G;
}

void explain_of(const struct explain_source *s, const char *what)
{
    struct watch w = {.to = UINT64_MAX, .backoff_ns = s->backoff_ns};
    uint64_t goid;
    if (goroutine_number(what, &goid)) {
        w.g = number_of(s, goid);
        printf("\ngoroutine %s\n", what);
    } else {
        find(s, what, &w);
    }
    printf("  %12s  %9s\n", "at", "for");
    s->tell(s->arg, watch_listen, &w);
    if (w.lines == 0)
        puts("  nothing: there is no such goroutine");
    else if (w.lines > LINES_MAX)
        printf("  ... and %d more\n", w.lines - LINES_MAX);
}

void explain(const struct run_opts *o, const char *what)
{
    struct telling telling = {o};
    struct naming names = names_of_program(o->program);
    explain_of(&(struct explain_source){.arg = &telling,
                                        .names = &names,
                                        .warmup_ns = o->warmup_ns,
                                        .starts = true,
                                        .backoff_ns = o->profile.runnext_backoff_ns,
                                        .tell = run_with},
               what);
}
