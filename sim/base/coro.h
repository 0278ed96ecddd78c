/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SIM_BASE_CORO_H
#define GMPSIM_SIM_BASE_CORO_H

/* Coroutines: the Ms of the virtual hosts, and nothing else, run on them.
 *
 * A switch saves the registers that a callee must preserve and changes the stack pointer. It is
 * an assembly function, so the compiler cannot see through it (a switch in a static function let
 * gcc keep statics in registers across it). Not saved: mxcsr and the x87 control word, and on
 * arm64 fpcr. The ABI makes them the callee's to keep, but nothing in this program writes them, so
 * they are equal on both sides, and saving them costs more than the rest of the switch.
 *
 * Everything happens in one OS thread. The functions allocate nothing (TSan's fibers excepted).
 *
 * Life: coro_init -> coro_switch to it ... -> its fn must not return; it ends by coro_exit_to(),
 * after which coro_release() and a new coro_init() may use the stack again. */

#include <stddef.h>
#include <stdint.h>

#include "sim/base/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#define GMPSIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GMPSIM_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define GMPSIM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GMPSIM_TSAN 1
#endif
#endif

typedef void coro_fn(void *arg);

struct coro {
    void *sp;    /* where it stopped; meaningless while it runs */
    void *stack; /* lowest usable byte; for the OS thread's own stack only under ASan */
    size_t size; /* usable bytes from stack */
    void *fiber; /* ASan's fake stack or TSan's fiber; NULL otherwise */
    coro_fn *fn;
    void *arg;
};

/* c stands for the calling OS thread: the place that the first coro_switch comes from. */
void coro_init_thread(struct coro *c);

/* c will run fn(arg) on the stack [stack, stack + size) at the first switch to it. */
void coro_init(struct coro *c, void *stack, size_t size, coro_fn *fn, void *arg);

/* After coro_exit_to(), from another coroutine. */
void coro_release(struct coro *c);

#if defined(GMPSIM_CORO_ASM) && !defined(GMPSIM_ASAN) && !defined(GMPSIM_TSAN)
void coro_switch_asm_(void **from_sp, void *const *to_sp);
static inline void coro_switch(struct coro *from, struct coro *to)
{
    coro_switch_asm_(&from->sp, &to->sp);
}
#else
/* from is the running one; returns when somebody switches back to it. */
void coro_switch(struct coro *from, struct coro *to);
#endif

/* The last switch of a coroutine. */
_Noreturn void coro_exit_to(struct coro *from, struct coro *to);

/* The lowest byte of c's stack that matters while c is not running. */
unsigned char *coro_used_from(const struct coro *c);

/* "asm" or "ucontext". */
const char *coro_kind(void);

/* Can a coroutine's stack be copied away and back? Not under TSan, which keeps a call stack of its
 * own per fiber; everywhere else yes. */
int coro_can_checkpoint(void);

/* ---- Stacks: equal sizes, a guard page below each, inside the arena's reserved range. ----
 *
 * A stack is STACK_SIZE_DEFAULT of address space of which only touched pages cost memory. They are
 * mapped at first use and kept (last in, first out) for the next coroutine. Tops are coloured: they
 * start at different cache lines of their page, else the hot frames of all Ms share a cache set.
 * Two kernel mappings per stack: STACK_COUNT_MAX stays well under vm.max_map_count (65530). */
enum {
    STACK_GUARD_SIZE = 4096,
    STACK_COUNT_MAX = 24000,
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
    STACK_SIZE_DEFAULT = 256 * 1024,
#else
    STACK_SIZE_DEFAULT = 64 * 1024,
#endif
};

struct stack {
    struct coro *coro; /* whose stack it is; NULL when free */
    uint32_t next_free;
};

/* Lives in the arena; so do its records. */
struct stackpool {
    struct arena *arena;
    size_t stack_size; /* usable bytes, a multiple of the page size */
    uint32_t count_max;
    uint32_t count_used; /* alive now */
    uint32_t count_made; /* mapped so far */
    uint32_t free_head;  /* index + 1 of the last one given back, 0: none */
    struct stack *stacks;
};

/* Bytes of address space that arena_init() must reserve for so many stacks. */
size_t stackpool_space(size_t stack_size, uint32_t count_max);

/* Once per world, after arena_init() or arena_reset(). 0 or a negative fail code. */
int stackpool_init(struct stackpool *sp, struct arena *a, size_t stack_size, uint32_t count_max,
                   struct failure *f);

/* coro_init() on a stack of the pool. -E_LIMIT (recorded in the arena's failure, after its on_fail)
 * when count_max stacks are alive or the system gives no more memory. */
int stackpool_start(struct stackpool *sp, struct coro *c, coro_fn *fn, void *arg);

/* coro_release() and the stack back to the pool. */
void stackpool_end(struct stackpool *sp, struct coro *c);

#endif
