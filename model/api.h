/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model offers to whoever embeds it: one struct of functions per host it was compiled for.
 * Plain C, no atomics, no seam: tests and other folders may include it.
 *
 * Life on any host: start the host's world; init; start a thread of the host on (m0, run_m0, m0's
 * arg); run the host. */
#ifndef MODEL_API_H
#define MODEL_API_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"

struct program;
struct hostm;
struct runtime;

enum finding_kind {
    FIND_NONE,
    FIND_DEADLOCK,  /* checkdead: nobody can ever run */
    FIND_FATAL,     /* Go's "fatal error: ..." */
    FIND_PANIC,     /* an unrecovered panic */
    FIND_THREADS,   /* "thread exhaustion" */
    FIND_ASSERT,    /* an assertion of the program */
    FIND_INVARIANT, /* the scheduler broke one of its own rules */
    FIND_LIMIT,     /* a limit of the simulation was crossed */
    FIND_EXIT,      /* the program called exit with a status that is not 0 */
    FIND_KINDS
};

struct world_opts {
    const struct profile *profile;
    const struct program *program;
    int32_t procs;         /* GOMAXPROCS; 0: the release's default for this host */
    int64_t schedtrace_ns; /* GODEBUG=schedtrace; 0: none */
    bool scheddetail;
    uint64_t output_max; /* bytes that the program may print before the run ends; 0: no limit */
    /* The program's prints, and the SCHED lines; NULL: nowhere. */
    void (*print)(void *arg, const char *text, size_t size);
    void (*sched_line)(void *arg, const char *text, size_t size);
    void *arg;
};

enum counter_id {
#define COUNTER(name, what) COUNTER_##name,
#include "counters.def"
#undef COUNTER
    COUNTER_COUNT
};
extern const char *const counter_names[COUNTER_COUNT + 1]; /* ends with NULL */

/* One for each of the eight invariants; PLANT(name, what it breaks). */
#define CORE_PLANTS(PLANT)                                                \
    PLANT(status, "a waiting goroutine has a status that does not exist") \
    PLANT(running, "an M forgets the goroutine that it runs")             \
    PLANT(queue, "a queued goroutine is queued once more")                \
    PLANT(wait, "a waiting goroutine is not where it says")               \
    PLANT(spinning, "nmspinning counts an M too many")                    \
    PLANT(idle_m, "an M on the idle list spins")                          \
    PLANT(lost_p, "an idle P is on no list")                              \
    PLANT(locks, "an M sleeps with a lock")

enum core_plant {
#define PLANT(name, what) PLANT_##name,
    CORE_PLANTS(PLANT)
#undef PLANT
        PLANT_COUNT
};

/* Something that was owed at a look, so that a later look can tell it from another one like it. */
struct due {
    bool owed;
    const void *who;
    int64_t when;
    uint64_t what, round; /* the monitor had begun so many rounds */
};
enum { DUE_PS = 64 }; /* of the first so many Ps */
/* What `due` below has seen. Whoever looks at a world more than once keeps it, zero at first. */
struct core_due {
    struct due poll, slices[DUE_PS], calls[DUE_PS];
};

struct core {
    const char *host;
    /* Gives m0; allocates from the host's arena. */
    struct hostm *(*init)(const struct world_opts *o, void **arg);
    void (*run_m0)(void *arg);
    void (*sighandler)(void *arg);
    struct runtime *(*runtime)(
        void); /* the world, for code that is compiled with the same host.h */
    void (*counters)(uint64_t out[COUNTER_COUNT]);
    int32_t (*gomaxprocs)(void);
    int64_t (*exit_status)(void); /* of FIND_EXIT; else 0 */
    /* At the end of a run: marks the goroutines of the program that nobody can ever wake (struct
     * g's `stranded`) and gives their number. stopped: the program ended. */
    int32_t (*strand)(bool stopped);
    /* A broken invariant in words, or NULL; for a world that stands still between two points.
     * quiet: every M is asleep or computing, so that nobody is on the way to look for work. */
    const char *(*check)(bool quiet);
    /* Likewise: what somebody should have done by now, and did not. */
    const char *(*due)(struct core_due *seen, bool quiet);
    /* Breaks the invariant `what`, on purpose. False: not possible at this moment. */
    bool (*plant)(enum core_plant what, bool quiet);
};

extern const struct core core_virt, core_traced, core_explore, core_real, core_stress;
#endif
