/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <zlib.h>

#include "sim/base/alloc.h"
#include "sim/base/gtable.h"
#include "sim/base/text.h"

/* A process of the format is a folder of tracks. */
enum { PID_PS = 1, PID_MS, PID_GROUPS, PID_SPANS, PID_WORLD, PIDS };
static const char *const folders[PIDS] = {[PID_PS] = "Ps",
                                          [PID_MS] = "Ms",
                                          [PID_GROUPS] = "groups",
                                          [PID_SPANS] = "spans",
                                          [PID_WORLD] = "world"};

/* A counter that changes with every event is drawn at most so often. */
enum { PS_PER_NS = 1000, BUFFER = 1 << 20, COUNT_EVERY_NS = 10000 };

struct counter {
    int64_t now[GS_STATES], drawn[GS_STATES];
    uint64_t drawn_ns;
    bool any;
};

struct wake {
    uint64_t time; /* ps */
    uint64_t p;    /* of who woke it */
};

struct perfetto {
    FILE *out;
    char *path, *buffer;
    const struct transitions *t;
    struct gtable wakes; /* struct wake of each goroutine that was woken and does not run yet */
    struct counter *groups;
    uint32_t ngroups;
    bool *named[2]; /* Ps and Ms whose tracks have a name */
    size_t nnamed[2];
    uint64_t events, arrow;
    uint64_t stop, mark; /* since when, ps + 1; 0: not now */
    uint64_t from;       /* what was before is not drawn, ps */
};

/* ---- the format ---- */

/* tid 0: of the folder, not of a track. */
static void begin(struct perfetto *p, const char *phase, int pid, uint32_t tid)
{
    fprintf(p->out, "%s{\"ph\":\"%s\",\"pid\":%d", p->events++ > 0 ? ",\n" : "\n", phase, pid);
    if (tid != 0)
        fprintf(p->out, ",\"tid\":%" PRIu32, tid);
}

/* Microseconds, with as many digits as there are nanoseconds. */
static void put_time(struct perfetto *p, const char *name, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000), digits = 3;
    fprintf(p->out, ",\"%s\":%" PRIu64, name, ns / 1000);
    for (; rest > 0 && rest % 10 == 0; digits--)
        rest /= 10;
    if (rest > 0)
        fprintf(p->out, ".%0*u", (int)digits, rest);
}

static void put_text(struct perfetto *p, const char *name, const char *text)
{
    fprintf(p->out, ",\"%s\":", name);
    text_put(p->out, TEXT_JSON, text);
}

static void end(struct perfetto *p) { fputc('}', p->out); }

static void name_folder(struct perfetto *p, int pid)
{
    begin(p, "M", pid, 0);
    fprintf(p->out, ",\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}", folders[pid]);
    end(p);
    begin(p, "M", pid, 0);
    fprintf(p->out, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%d}", pid);
    end(p);
}

static void name_track(struct perfetto *p, int pid, uint32_t tid, const char *name)
{
    begin(p, "M", pid, tid);
    fprintf(p->out, ",\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}", name);
    end(p);
    begin(p, "M", pid, tid);
    fprintf(p->out, ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":%" PRIu32 "}", tid);
    end(p);
}

/* Track numbers begin at 1: 0 is what has none. */
static uint32_t track(struct perfetto *p, int pid, uint16_t id)
{
    int which = pid == PID_MS;
    X_REACH(p->named[which], p->nnamed[which], id, (id + 1U) * 2);
    if (!p->named[which][id]) {
        char name[16];
        snprintf(name, sizeof name, "%c%u", which ? 'M' : 'P', id);
        p->named[which][id] = true;
        name_track(p, pid, id + 1U, name);
    }
    return id + 1U;
}

/* Stays open for arguments, if it is drawn at all. */
static bool begin_slice(struct perfetto *p, int pid, uint32_t tid, const char *name, uint64_t from,
                        uint64_t to)
{
    uint64_t ns = (from < p->from ? p->from : from) / PS_PER_NS;
    if (name == NULL || from == to || to <= p->from)
        return false;
    begin(p, "X", pid, tid);
    put_text(p, "name", name);
    put_time(p, "ts", ns);
    put_time(p, "dur", to / PS_PER_NS - ns);
    return true;
}

static void put_arrow_end(struct perfetto *p, bool starts, const char *what, uint16_t at,
                          uint64_t time)
{
    uint32_t tid = track(p, PID_PS, at);
    begin(p, starts ? "s" : "f", PID_PS, tid);
    fprintf(p->out, ",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 "%s", what, what, p->arrow,
            starts ? "" : ",\"bp\":\"e\"");
    put_time(p, "ts", time / PS_PER_NS);
    end(p);
}

/* Both Ps must have a slice open at their moment: the viewer binds an arrow's ends to slices. */
static void put_arrow(struct perfetto *p, const char *what, uint16_t from, uint64_t begins,
                      uint16_t to, uint64_t ends)
{
    if (begins < p->from)
        return;
    p->arrow++;
    put_arrow_end(p, true, what, from, begins);
    put_arrow_end(p, false, what, to, ends);
}

/* ---- Ps and Ms ---- */

static const char *name_of_p(const struct perfetto *p, const struct p_now *is)
{
    const struct tr_g *g;
    switch (p_class_of(is)) {
    case PC_THROTTLED: return "throttled";
    case PC_NOCPU: return "no CPU";
    default: break;
    }
    switch ((enum p_doing)is->doing) {
    case PD_SCHED: return "scheduler";
    case PD_SPIN: return "spinning";
    case PD_SYSCALL: return "system call";
    case PD_ASSIST: return "GC assist";
    case PD_USER:
    case PD_SYSTEM:
        g = tr_find_g(p->t, is->g);
        return p->t->names->group(p->t->names->of, g != NULL ? g->group : UINT32_MAX);
    case PD_IDLE:
    case PD_GONE:
    case PD_DOINGS: break;
    }
    return NULL;
}

static void p_changes(void *arg, uint16_t id, const struct p_now *now, const struct p_now *next,
                      uint64_t time)
{
    struct perfetto *p = arg;
    uint32_t tid = track(p, PID_PS, id);
    (void)next;
    if (!begin_slice(p, PID_PS, tid, name_of_p(p, now), now->since, time))
        return;
    if (now->g != EVENT_NO_G)
        fprintf(p->out, ",\"args\":{\"g\":%" PRIu32 "}", now->g);
    end(p);
}

static void m_changes(void *arg, uint16_t id, const struct m_now *now, const struct m_now *next,
                      uint64_t time)
{
    struct perfetto *p = arg;
    char text[16];
    const char *name = NULL;
    (void)next;
    uint32_t tid = track(p, PID_MS, id);
    if (now->doing == MD_SPINS || now->doing == MD_POLLS) {
        name = now->doing == MD_SPINS ? "spins" : "polls";
    } else if (now->doing == MD_RUNS && now->p != TR_NONE) {
        snprintf(text, sizeof text, "P%u", now->p);
        name = text;
    }
    if (begin_slice(p, PID_MS, tid, name, now->since, time))
        end(p);
}

static bool is_drawn(const struct perfetto *p, uint16_t id)
{
    const struct p_now *is = tr_find_p(p->t, id);
    return is != NULL && is->doing > PD_IDLE;
}

static void steal(void *arg, uint16_t from_p, uint16_t by_p, uint32_t g, uint32_t count,
                  uint64_t time)
{
    struct perfetto *p = arg;
    (void)g;
    (void)count;
    if (is_drawn(p, from_p) && is_drawn(p, by_p))
        put_arrow(p, "steal", from_p, time, by_p, time);
}

/* ---- goroutines: wakes, and how many of a group do what ---- */

static void put_counter(struct perfetto *p, uint32_t group, uint64_t ns)
{
    struct counter *c = &p->groups[group];
    if (memcmp(c->now, c->drawn, sizeof c->now) == 0)
        return;
    begin(p, "C", PID_GROUPS, 0);
    put_text(p, "name", p->t->names->group(p->t->names->of, group));
    put_time(p, "ts", ns);
    fputs(",\"args\":{", p->out);
    const char *before = ""; /* each is a track of its own, and stays as it is */
    for (int s = GS_RUNNABLE; s < GS_STATES; s++)
        if (!c->any || c->now[s] != c->drawn[s]) {
            fprintf(p->out, "%s\"%s\":%" PRId64, before, g_state_names[s], c->now[s]);
            before = ",";
        }
    fputs("}", p->out);
    end(p);
    memcpy(c->drawn, c->now, sizeof c->now);
    c->drawn_ns = ns;
    c->any = true;
}

static void count(struct perfetto *p, uint32_t group, uint8_t was, uint8_t is, uint64_t time)
{
    struct counter *c = &p->groups[group < p->ngroups ? group : 0];
    uint64_t ns = time / PS_PER_NS;
    c->now[was] -= was != GS_NOTEXIST;
    c->now[is] += is != GS_NOTEXIST;
    if (time >= p->from && (!c->any || ns - c->drawn_ns >= COUNT_EVERY_NS))
        put_counter(p, group < p->ngroups ? group : 0, ns);
}

static void g_wakes(struct perfetto *p, uint32_t id, const struct g_now *next, uint64_t time)
{
    if (next->by != EVENT_NO_G && is_drawn(p, next->p))
        *(struct wake *)gtable_put(&p->wakes, id) = (struct wake){time, next->p};
}

static void g_runs(struct perfetto *p, uint32_t id, const struct g_now *next, uint64_t time)
{
    const struct wake *w = gtable_find(&p->wakes, id);
    if (w == NULL)
        return;
    if (next->p != TR_NONE)
        put_arrow(p, "wake", (uint16_t)w->p, w->time, next->p, time);
    gtable_take(&p->wakes, id);
}

static void g_changes(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next,
                      uint64_t time)
{
    struct perfetto *p = arg;
    if (next == NULL)
        return;
    count(p, g->group, g->now.state, next->state, time);
    if (next->state == GS_RUNNABLE)
        g_wakes(p, id, next, time);
    else if (next->state == GS_RUNNING)
        g_runs(p, id, next, time);
}

/* ---- spans and the world ---- */

static void put_span_side(struct perfetto *p, const char *phase, const struct tr_span *s,
                          uint64_t time)
{
    begin(p, phase, PID_SPANS, 0);
    put_text(p, "name", p->t->names->span(p->t->names->of, s->span));
    fprintf(p->out, ",\"cat\":\"span%" PRIu32 "\",\"id\":\"%" PRIx64 "\"", s->span,
            (uint64_t)s->key);
    put_time(p, "ts", time / PS_PER_NS);
}

static void span_ends(void *arg, const struct tr_span *s, uint32_t by, uint64_t time, bool open)
{
    struct perfetto *p = arg;
    if (s->began < p->from)
        return;
    put_span_side(p, "b", s, s->began);
    fprintf(p->out, ",\"args\":{\"key\":%" PRId64 ",\"g\":%" PRIu32, s->key, s->g);
    if (!open && by != s->g)
        fprintf(p->out, ",\"ended_by\":%" PRIu32, by);
    fputs(open ? ",\"open\":true}" : "}", p->out);
    end(p);
    put_span_side(p, "e", s, time);
    end(p);
}

static void world_slice(struct perfetto *p, const char *name, uint32_t tid, uint64_t *since,
                        uint64_t time)
{
    if (*since > 0 && begin_slice(p, PID_WORLD, tid, name, *since - 1, time))
        end(p);
    *since = 0;
}

static void world(void *arg, enum tr_world what, uint64_t time)
{
    struct perfetto *p = arg;
    switch (what) {
    case TW_STOP_BEGINS: p->stop = time + 1; break;
    case TW_STOP_ENDS: world_slice(p, "the world is stopped", 1, &p->stop, time); break;
    case TW_GC_BEGINS: p->mark = time + 1; break;
    case TW_GC_ENDS: world_slice(p, "GC marks", 2, &p->mark, time); break;
    case TW_STOPPED: break;
    }
}

static void mark(void *arg, uint16_t id, const char *name, const char *text, uint64_t time)
{
    struct perfetto *p = arg;
    bool on_p = id != TR_NONE;
    if (time < p->from)
        return;
    begin(p, "i", on_p ? PID_PS : PID_WORLD, on_p ? track(p, PID_PS, id) : 1);
    put_text(p, "name", name);
    put_time(p, "ts", time / PS_PER_NS);
    fputs(",\"s\":\"t\",\"args\":{\"text\":", p->out);
    text_put(p->out, TEXT_JSON, text != NULL ? text : "");
    fputs("}", p->out);
    end(p);
}

static void metric(void *arg, const char *name, int64_t value, uint64_t time)
{
    struct perfetto *p = arg;
    if (time < p->from)
        return;
    begin(p, "C", PID_WORLD, 0);
    put_text(p, "name", name);
    put_time(p, "ts", time / PS_PER_NS);
    fprintf(p->out, ",\"args\":{\"value\":%" PRId64 "}", value);
    end(p);
}

/* ---- the file: packed where its name says so, to about a tenth ---- */

static ssize_t gz_write(void *gz, const char *data, size_t size)
{
    unsigned n = size < BUFFER ? (unsigned)size : BUFFER;
    return gzwrite(gz, data, n) > 0 ? (ssize_t)n
                                    : -1; /* 0, as gzwrite says, would be tried again */
}

static int gz_close(void *gz) { return gzclose(gz) == Z_OK ? 0 : -1; }

static bool is_packed(const char *path)
{
    size_t n = strlen(path);
    return n > 3 && strcmp(path + n - 3, ".gz") == 0;
}

static FILE *open_file(const char *path)
{
    if (strcmp(path, "-") == 0)
        return stdout;
    if (!is_packed(path))
        return fopen(path, "w");
    gzFile gz = gzopen(path, "w6");
    if (gz == NULL)
        return NULL;
    return fopencookie(gz, "w", (cookie_io_functions_t){.write = gz_write, .close = gz_close});
}

/* ---- life ---- */

struct perfetto *perfetto_open(struct failure *f, const char *path, int64_t from_ns)
{
    FILE *out = open_file(path);
    if (out == NULL) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        return NULL;
    }
    struct perfetto *p = x_alloc(sizeof *p);
    p->out = out;
    p->path = x_strdup(path);
    p->from = (uint64_t)from_ns * PS_PER_NS;
    gtable_init(&p->wakes, sizeof(struct wake));
    if (out != stdout) {
        p->buffer = x_alloc(BUFFER);
        setvbuf(out, p->buffer, _IOFBF, BUFFER);
    }
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
    for (int pid = PID_PS; pid < PIDS; pid++)
        name_folder(p, pid);
    name_track(p, PID_WORLD, 1, "stops");
    name_track(p, PID_WORLD, 2, "collector");
    return p;
}

void perfetto_listen(struct perfetto *p, struct transitions *t)
{
    p->t = t;
    p->ngroups = t->names->ngroups;
    p->groups = x_alloc((p->ngroups + 1) * sizeof *p->groups);
    transitions_listen(t, &(struct listener){.arg = p,
                                             .g = g_changes,
                                             .p = p_changes,
                                             .m = m_changes,
                                             .steal = steal,
                                             .span_ends = span_ends,
                                             .world = world,
                                             .mark = mark,
                                             .metric = metric});
}

bool perfetto_close(struct perfetto *p, struct failure *f)
{
    if (p == NULL)
        return true;
    fputs("\n]}\n", p->out);
    bool ok = fflush(p->out) == 0 && !ferror(p->out);
    if (p->out != stdout && fclose(p->out) != 0)
        ok = false;
    if (!ok)
        fail(f, E_IO, "%s: cannot be written: %s", p->path, strerror(errno));
    gtable_release(&p->wakes);
    free(p->groups);
    free(p->named[0]);
    free(p->named[1]);
    free(p->buffer);
    free(p->path);
    free(p);
    return ok;
}
