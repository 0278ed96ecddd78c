/* SPDX-License-Identifier: BSD-3-Clause */
/* The world's memory and tables: made, emptied for another run, given back. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/fail.h"
#include "sim/explore/ex_int.h"
#include "sim/explore/host.h"

#undef throw
#undef finding

static void on_throw(void *arg, const struct throw_site *site)
{
    (void)arg;
    if (!ex.running)
        return; /* not ours: the default ends the process */
    throw_caught();
    ex_leave_(END_THROWN, site->text);
}

/* What the ports make of the orders that Go declares. */
#define ACQ          MM_ACQ
#define REL          MM_REL
#define DMB          MM_DMB
#define DRAIN        MM_DRAIN
#define SYNC         MM_SYNC
#define LWSYNC       MM_LWSYNC
#define ISYNC        MM_ISYNC
#define LWSYNC_AFTER MM_LWSYNC_AFTER
static const unsigned port_bits[][PORT_COUNT] = {
#define VERB(name, kind, amd64, arm64, ppc64le) {amd64, arm64, ppc64le},
#include "sim/explore/verbs.def"
#undef VERB
};

unsigned verb_bits(enum cost_port port, enum ex_verb verb)
{
    return verb <= VERB_fence ? port_bits[verb][port] : 0;
}

static void set_ports(void)
{
    static const enum cost_atomic cost[] = {
        [VERB_load] = ATOMIC_load,
        [VERB_load_acq] = ATOMIC_load_acq,
        [VERB_load_rlx] = ATOMIC_load_rlx,
        [VERB_store] = ATOMIC_store,
        [VERB_store_rel] = ATOMIC_store_rel,
        [VERB_store_rlx] = ATOMIC_store_rlx,
        [VERB_cas] = ATOMIC_cas,
        [VERB_cas_rel] = ATOMIC_cas_rel,
        [VERB_xchg] = ATOMIC_xchg,
        [VERB_xchg8] = ATOMIC_xchg,
        [VERB_add] = ATOMIC_add,
        [VERB_or] = ATOMIC_add,
        [VERB_and] = ATOMIC_add,
        [VERB_fence] = ATOMIC_fence,
    };
    for (int i = 0; i <= VERB_fence; i++) {
        ex.bits[i] = port_bits[i][ex.o.port];
        ex_hot.cost[i] = ex.cost_table->atomic[ex.o.port][cost[i]].hit;
    }
}

static bool opts_ok(struct failure *f, const struct ex_opts *o)
{
    static const enum cost_port wanted[MM_KINDS] = {PORT_COUNT, PORT_AMD64, PORT_ARM64,
                                                    PORT_PPC64LE};

    if (o->memory >= MM_KINDS || o->port >= PORT_COUNT)
        return fail(f, E_USAGE, "explore: no such memory model or port"), false;
    if (wanted[o->memory] != PORT_COUNT && wanted[o->memory] != o->port)
        return fail(f, E_USAGE, "memory model %s wants port %s, got %s", mm_kind_name(o->memory),
                    cost_port_name(wanted[o->memory]), cost_port_name(o->port)),
               false;
    size_t outside = 0;
    for (uint32_t i = 0; i < o->outside_count; i++)
        outside += o->outside[i].size;
    if (outside > EX_OUTSIDE_MAX)
        return fail(f, E_USAGE, "explore: %zu bytes outside of the world, of %d", outside,
                    EX_OUTSIDE_MAX),
               false;
    return true;
}

/* May be done twice. */
static void release_memory(void)
{
    arena_release(&ex.arena);
    free(ex.records);
    free(ex.ch.log);
    ex.records = NULL;
    ex.ch.log = NULL;
}

enum { COMMIT_FIRST = 4 << 20 };

static void nothing_to_do(void *unused) { (void)unused; }

/* What a world is built of while nobody can leave it: some memory and the first stack. */
static bool first_of_all(struct failure *f)
{
    struct coro c = {0};
    size_t size = ex.arena.limit < COMMIT_FIRST ? ex.arena.limit : COMMIT_FIRST;
    if (arena_commit(&ex.arena, size, f) != 0)
        return false;
    if (stackpool_start(&ex.stacks, &c, nothing_to_do, NULL) < 0)
        return fail(f, E_LIMIT, "%s", ex.arena.failure.text), false;
    stackpool_end(&ex.stacks, &c);
    return true;
}

/* Sanitizers forbid to read a stack as a whole. */
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
enum { STATES_CAN_BE_READ = 0 };
#else
enum { STATES_CAN_BE_READ = 1 };
#endif

bool ex_init(struct failure *f, const struct ex_opts *o)
{
    if (!opts_ok(f, o))
        return false;
    memset(&ex, 0, sizeof(ex));
    ex.o = *o;
    ex.o.steps_max = o->steps_max != 0 ? o->steps_max : 1000000;
    ex.o.turns_max = o->turns_max != 0 ? o->turns_max : 100000;
    ex.o.ncpu = o->ncpu != 0 ? o->ncpu : 8;
    ex.o.states_max = STATES_CAN_BE_READ ? o->states_max : 0;
    ex.copy_at = SIZE_MAX;
    ex.until = o->until_ns != 0 ? (uint64_t)o->until_ns * 1000 : NEVER;
    static const struct costs nothing; /* by turns, a turn is what takes time */
    ex.cost_table = o->sync ? &nothing : o->costs != NULL ? o->costs : &costs_builtin;
    ex.timeless = o->eager_clock && o->check == NULL &&
                  memcmp(ex.cost_table, &nothing, sizeof nothing) == 0;
    ex.ch.log_max = (o->answers_max != 0 ? o->answers_max : 1 << 20) + 256;
    ex.answers_soft = ex.ch.log_max - 256;
    ex.ch.log = malloc(ex.ch.log_max * sizeof(*ex.ch.log));
    if (ex.ch.log == NULL)
        return fail(f, E_LIMIT, "explore: no memory for %zu answers", ex.ch.log_max), false;
    if (o->sink != NULL && (ex.records = malloc(EVENT_BATCH_COUNT * sizeof *ex.records)) == NULL) {
        release_memory();
        return fail(f, E_LIMIT, "explore: no memory for records"), false;
    }
    size_t stack = o->stack_size != 0 ? o->stack_size : STACK_SIZE_DEFAULT;
    size_t memory = o->memory_max != 0 ? o->memory_max : (size_t)1 << 30;
    if (arena_init(&ex.arena, memory, stackpool_space(stack, EX_THREADS_MAX), f) < 0 ||
        stackpool_init(&ex.stacks, &ex.arena, stack, EX_THREADS_MAX, f) < 0 || !first_of_all(f)) {
        release_memory();
        return false;
    }
    if (ex.o.states_max != 0 && !ex_seen_init_(ex.o.states_max, f)) {
        release_memory();
        return false;
    }
    arena_on_fail(&ex.arena, ex_refuse_, NULL);
    ex.arena_mark = ex.arena.used;
    ex_hot.base = (uintptr_t)ex.arena.base;
    ex_hot.size = ex.arena.reserved;
    ex.of_able = (struct choice){.kind = CHOICE_THREAD, .preempts = true};
    coro_init_thread(&ex.main); /* once: sanitizers look the stack up in a file */
    set_ports();
    site_count();
    throw_set_reporter(on_throw, NULL);
    ex_faults_catch_();
    return true;
}

void ex_end_threads_(int from)
{
    for (int i = from; i < ex.thread_count; i++)
        stackpool_end(&ex.stacks, &ex.threads[i].coro);
    if (ex.thread_count > from)
        ex.thread_count = from;
}

void ex_free(void)
{
    ex_forget();
    ex_races_free_();
    ex_seen_free_();
    ex_faults_release_();
    throw_set_reporter(NULL, NULL);
    /* With it go the stacks; nothing is written there, because the system may have refused to open
     * pages again that a copy had protected. */
    release_memory();
    ex.thread_count = 0;
}

enum { CLEAR_BY_HAND = 256 * 1024, PAGE = 4096 };

/* The arena promises zeros above what is used. A large world has tables that are mostly not
 * touched: the system takes their pages back for less than clearing them would cost. */
static void arena_clear(void)
{
    size_t by_hand = ex.arena_mark + CLEAR_BY_HAND;

    by_hand += PAGE - by_hand % PAGE;
    if (ex.arena.used <= by_hand)
        by_hand = ex.arena.used;
    else if (madvise(ex.arena.base + by_hand, ex.arena.used - by_hand, MADV_DONTNEED) != 0)
        by_hand = ex.arena.used;
    memset(ex.arena.base + ex.arena_mark, 0, by_hand - ex.arena_mark);
    ex.arena.used = ex.arena_mark;
}

/* Back to an empty world. */
void ex_world_reset_(void)
{
    ex_end_threads_(0);
    arena_clear();
    ex.cur = ex.lender = NULL;
    ex_hot.now = ex.order = ex.steps = ex.seq = ex.late = 0;
    ex.faults = 0;
    ex.turns = (struct ex_turns){0};
    ex.able_count = 0;
    ex.to_first = NULL;
    ex.at_first = false;
    ex.at = NULL;
    ex.due = NEVER;
    ex_unsettle_();
    ex.timer_count = ex.ready_count = 0;
    ex.poll_broken = false;
    rng_init(&ex.seeds, ex.o.seed, RNG_SCHED, 0);
    ex.record_count = 0;
    ex.record_time = 0;
    fp_init(&ex_hot.fp);
}
