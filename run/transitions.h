/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_RUN_TRANSITIONS_H
#define GMPSIM_RUN_TRANSITIONS_H

/* What goroutines, Ps, Ms and spans did, one after the other: the one reader of records, and the
 * seam between whoever knows what happened and whoever counts, stores, draws or explains it.
 *
 *     source                                              listener
 *     records of a run (transitions_records)  ---+     +---  run/analysis.c: times, report
 *     a recorded Go trace, ... (put_g, put_p)    +--->-+---  store/recorder.c: rows
 *                                                      +---  store/perfetto.c: slices
 *                                                      +---  cli/explain.c: words
 *
 * A source says, in order of time, what somebody does *from now on*: put_g(t, time, 7, next). What
 * everybody does and since when is kept here, so a listener hears of each stretch once, when
 * it ends: who, what it was, since when, and what comes next. transitions_end closes what is open:
 * nobody is left out because the run was over. Memory is that of the living.
 *
 * A listener is called with what was (tr->now) and what comes (next; NULL: it is not known, the
 * observation ends here). After all listeners are told, tr->now is *next. Everything handed over is
 * good during the call only; listeners do not call back. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/names.h"
#include "run/result.h"
#include "sim/base/event.h"
#include "sim/base/gtable.h"
#include "sim/base/map.h"

enum { TR_NONE = UINT16_MAX }; /* no M, no P */

/* ---- goroutines ---- */

enum g_state { GS_NOTEXIST, GS_RUNNABLE, GS_RUNNING, GS_WAITING, GS_SYSCALL, GS_STATES };
extern const char *const g_state_names[GS_STATES]; /* "notexist", ...: as sqlprof has them */

/* What a wait is for, by its reason. */
enum wait_kind {
    WK_OTHER,
    WK_CHANNEL, /* and select */
    WK_LOCK,    /* Mutex, RWMutex, and what semaphores stand for in old releases */
    WK_GROUP,   /* WaitGroup, Cond */
    WK_TIMER,
    WK_NETWORK,
    WK_ASSIST, /* for the collector */
    WK_STOP,   /* for or while a stop of the world */
    WK_RUNTIME,
    WK_KINDS
};

/* Where a runnable goroutine is: enum ev_place; its P is `p`. */
struct g_now {
    uint64_t since; /* ps */
    uint32_t by;    /* the goroutine that woke or made it; 0: none did (a timer, the network) */
    uint32_t pc;    /* of a wait: the instruction after it, for names.line; EVENT_NO_PC */
    uint16_t p;     /* runs on it, is in its queue, or was on it last; TR_NONE */
    uint16_t m;
    uint16_t reason; /* tr_reason's number: of a wait, or why it was put back; 0: none */
    uint8_t state;   /* enum g_state */
    uint8_t place;   /* of a runnable one: enum ev_place */
};

struct tr_g {
    struct g_now now;
    uint64_t born; /* ps */
    uint32_t group, parent;
    uint64_t extra[]; /* transitions_init's bytes for one listener, zeros at first */
};

/* ---- Ps ---- */

enum p_doing {
    PD_GONE, /* GOMAXPROCS is smaller */
    PD_IDLE,
    PD_SCHED, /* in the scheduler */
    PD_SPIN,
    PD_USER,   /* runs g */
    PD_SYSTEM, /* runs g, one of the runtime's */
    PD_ASSIST, /* runs g, which helps the collector */
    PD_SYSCALL,
    PD_DOINGS
};

/* Of the M that has it. */
enum p_cpu { CPU_ON, CPU_SLEEPS, CPU_WAITS, CPU_THROTTLED };

struct p_now {
    uint64_t since; /* ps */
    uint32_t g;
    uint16_t m;
    uint8_t doing;    /* enum p_doing */
    uint8_t cpu;      /* enum p_cpu. A source says what its M has; kept is what that comes to */
    uint8_t said_cpu; /* as the source said; for transitions.c */
};

/* The class of a P's time in reports: what its CPU does may hide what it does itself. PD_GONE has
 * none: PC_COUNT. */
extern const uint8_t tr_class_of_doing[PD_DOINGS];
enum p_class tr_class_off_cpu(const struct p_now *p);
static inline enum p_class p_class_of(const struct p_now *p)
{
    return p->cpu == CPU_ON ? (enum p_class)tr_class_of_doing[p->doing] : tr_class_off_cpu(p);
}

/* ---- Ms ---- */

enum m_doing {
    MD_NOTEXIST,
    MD_MADE, /* the thread does not run yet */
    MD_RUNS,
    MD_SPINS,
    MD_SLEEPS, /* idle */
    MD_POLLS,  /* sleeps in the poller */
    MD_DOINGS
};

struct m_now {
    uint64_t since; /* ps */
    uint16_t p;
    uint8_t doing; /* enum m_doing */
    uint8_t why;   /* enum ev_thread: what it was made for */
};

/* ---- spans ---- */

struct tr_span {
    int64_t key;
    uint64_t began; /* ps; may be earlier than when that was said */
    uint32_t span, g;
    uint16_t p, m; /* where it began */
};

/* ---- the world ---- */

enum tr_world { TW_STOP_BEGINS, TW_STOPPED, TW_STOP_ENDS, TW_GC_BEGINS, TW_GC_ENDS };

/* ---- listeners ---- */

struct transitions;

/* Any may be NULL. time: now, ps. */
struct listener {
    void *arg;
    void (*g)(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next, uint64_t time);
    /* The goroutine stays runnable, at another place. */
    void (*g_moves)(void *arg, uint32_t id, const struct tr_g *g, const struct g_now *next,
                    uint64_t time);
    void (*p)(void *arg, uint16_t id, const struct p_now *now, const struct p_now *next,
              uint64_t time);
    void (*m)(void *arg, uint16_t id, const struct m_now *now, const struct m_now *next,
              uint64_t time);
    /* P by_p takes `count` goroutines from P from_p's ring; it runs g first. */
    void (*steal)(void *arg, uint16_t from_p, uint16_t by_p, uint32_t g, uint32_t count,
                  uint64_t time);
    void (*span_begins)(void *arg, const struct tr_span *s, uint64_t time);
    /* by: the goroutine that ended it; 0 and open: nobody has. */
    void (*span_ends)(void *arg, const struct tr_span *s, uint32_t by, uint64_t time, bool open);
    void (*world)(void *arg, enum tr_world what, uint64_t time);
    /* The CPU that M m runs on is throttled, or no longer. */
    void (*m_throttled)(void *arg, uint16_t m, bool on, uint64_t time);
    /* The program says `text` on this P, NULL: nothing more; `name` is now `value`. */
    void (*mark)(void *arg, uint16_t p, const char *name, const char *text, uint64_t time);
    void (*metric)(void *arg, const char *name, int64_t value, uint64_t time);
};

enum { LISTENERS_MAX = 8 };

struct transitions {
    const struct naming *names;
    struct listener listeners[LISTENERS_MAX];
    int nlisteners;
    struct g_listener { /* those of them that hear of goroutines, and of Ps: for most records */
        void (*fn)(void *arg, uint32_t id, struct tr_g *g, const struct g_now *next, uint64_t time);
        void *arg;
    } of_g[LISTENERS_MAX];
    struct p_listener {
        void (*fn)(void *arg, uint16_t id, const struct p_now *now, const struct p_now *next,
                   uint64_t time);
        void *arg;
    } of_p[LISTENERS_MAX];
    int nof_g, nof_p;
    bool of_m;        /* somebody hears of Ms: else nothing is kept of them */
    struct gtable gs; /* struct tr_g */
    struct p_now *ps;
    size_t nps;
    struct m_now *ms;
    size_t nms;
    struct map spans; /* (key, span) -> place in open */
    struct tr_span *open;
    uint32_t nopen, open_room, open_free;
    int32_t cpus; /* of the host; 0: each thread has its own. Set before the first put */
    int32_t throttled;
    uint32_t procs;      /* 0: nobody has said */
    uint64_t time;       /* of the latest put */
    uint64_t span_since; /* of the next span, ps; 0: when it is said */
    /* For a listener that hears of a goroutine that can run again: since when what it waited for
     * had been there, ps, without anybody looking; 0: not known. */
    uint64_t due;
    struct tr_late {    /* descriptors that were ready, and whose goroutines are woken next */
        uint64_t since; /* ps */
        int32_t fd;
        uint32_t g; /* 0: not known yet */
    } * late;
    uint32_t nlate, late_room;
    uint64_t *fired; /* by M: when the timer that went off there last was due, ps */
    size_t nfired;
    uint64_t end_g; /* transitions_end_some: the next goroutine */
    const char **reasons;
    uint8_t *kinds;
    uint32_t nreasons;
    uint16_t gosched, preempted, yielded; /* reasons */
};

/* extra: bytes in every struct tr_g for the one listener that wants them. The names stay the
 * caller's. */
void transitions_init(struct transitions *t, const struct naming *names, size_t extra);
void transitions_listen(struct transitions *t, const struct listener *l);
void transitions_release(struct transitions *t);

/* The one reader of records. */
void transitions_records(struct transitions *t, const struct event_rec *recs, size_t count);

/* ---- for every other source; times in ps, never falling ---- */

/* The number of a reason; the text must live as long as the transitions. Waits of two kinds may
 * have one text. */
uint16_t tr_reason_number(struct transitions *t, const char *text, enum wait_kind kind);
const char *tr_reason(const struct transitions *t, uint16_t reason); /* "": none */
enum wait_kind tr_kind(const struct transitions *t, uint16_t reason);

/* A goroutine that is not known yet begins to be; one that is known only changes. */
void put_g_born(struct transitions *t, uint64_t time, uint32_t id, uint32_t group, uint32_t parent,
                const struct g_now *first);
/* next->since is set here. GS_NOTEXIST: it ended. Nothing happens for one that is not known. */
void put_g(struct transitions *t, uint64_t time, uint32_t id, struct g_now next);
void put_g_place(struct transitions *t, uint64_t time, uint32_t id, enum ev_place place,
                 uint16_t p);
void put_p(struct transitions *t, uint64_t time, uint16_t id, struct p_now next);
/* The P's M woke so long ago, and has waited for a CPU since. */
void put_p_waited(struct transitions *t, uint64_t time, uint16_t id, uint64_t waited);
void put_procs(struct transitions *t, uint64_t time, uint32_t procs);
void put_m(struct transitions *t, uint64_t time, uint16_t id, struct m_now next);
void put_steal(struct transitions *t, uint64_t time, uint16_t from_p, uint16_t by_p, uint32_t g,
               uint32_t count);
void put_span_begin(struct transitions *t, uint64_t time, const struct tr_span *s);
void put_span_end(struct transitions *t, uint64_t time, uint32_t span, int64_t key, uint32_t by);
void put_world(struct transitions *t, uint64_t time, enum tr_world what);
void put_mark(struct transitions *t, uint64_t time, uint16_t p, const char *name, const char *text);
void put_metric(struct transitions *t, uint64_t time, const char *name, int64_t value);
/* A CPU of the host is throttled (+1), or no longer (-1), and with it the M on it. */
void put_throttled(struct transitions *t, uint64_t time, int delta, uint16_t m);

/* NULL: not known. */
static inline struct tr_g *tr_find_g(const struct transitions *t, uint32_t id)
{
    return gtable_find(&t->gs, id); /* nobody is EVENT_NO_G */
}
static inline const struct p_now *tr_find_p(const struct transitions *t, uint16_t id)
{
    return id < t->nps ? &t->ps[id] : NULL;
}
const struct m_now *tr_find_m(const struct transitions *t, uint16_t id);

/* Everything that is open ends here, for the listeners. */
void transitions_end(struct transitions *t, uint64_t time);
/* The same a part at a time, for listeners that must not have all at once: false when done. */
bool transitions_end_some(struct transitions *t, uint64_t time, size_t goroutines);

#endif
