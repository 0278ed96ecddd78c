/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "sim/base/coro.h"

#include <string.h>

#if defined(GMPSIM_CORO_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(GMPSIM_ASAN)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(GMPSIM_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

/* ---- what the sanitizers want to know; nothing without them ---- */

/* Before the stack pointer changes. dying: the fake stack of from may go. */
static inline void san_leave(struct coro *from, struct coro *to, int dying)
{
#if defined(GMPSIM_ASAN)
    __sanitizer_start_switch_fiber(dying ? NULL : &from->fiber, to->stack, to->size);
#elif defined(GMPSIM_TSAN)
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)from, (void)to, (void)dying;
}

/* On the new stack. */
static inline void san_arrive(struct coro *c, int first)
{
#if defined(GMPSIM_ASAN)
    __sanitizer_finish_switch_fiber(first ? NULL : c->fiber, NULL, NULL);
#endif
    (void)c, (void)first;
}

static void san_init(struct coro *c)
{
#if defined(GMPSIM_ASAN)
    __asan_unpoison_memory_region(c->stack, c->size); /* left by who used the stack before */
#elif defined(GMPSIM_TSAN)
    c->fiber = __tsan_create_fiber(0);
#endif
    (void)c;
}

static void san_init_thread(struct coro *c)
{
#if defined(GMPSIM_ASAN)
    pthread_attr_t attr;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        throw("coro: the bounds of the thread's stack are unknown");
    pthread_attr_getstack(&attr, &c->stack, &c->size);
    pthread_attr_destroy(&attr);
#elif defined(GMPSIM_TSAN)
    c->fiber = __tsan_get_current_fiber();
#endif
    (void)c;
}

void coro_release(struct coro *c)
{
#if defined(GMPSIM_TSAN)
    __tsan_destroy_fiber(c->fiber);
#endif
    memset(c, 0, sizeof *c);
}

int coro_can_checkpoint(void)
{
#if defined(GMPSIM_TSAN)
    return 0;
#elif defined(GMPSIM_ASAN)
    return __asan_get_current_fake_stack() == NULL; /* else locals are elsewhere */
#else
    return 1;
#endif
}

/* ---- the switch ---- */

static _Noreturn void coro_main(struct coro *c)
{
    san_arrive(c, /*first*/ 1);
    c->fn(c->arg);
    throw("coro: the function of a coroutine returned");
}

#if defined(GMPSIM_CORO_ASM)

#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
void coro_switch_asm_(void **from_sp, void *const *to_sp);
#endif
void coro_enter_asm_(void);

const char *coro_kind(void) { return "asm"; }

static void raw_switch(void **from_sp, void *const *to_sp) { coro_switch_asm_(from_sp, to_sp); }

/* The frame that coro_switch_asm_ pops, see there. */
#if defined(__x86_64__)
enum { FRAME_WORDS = 7, FRAME_FN = 4, FRAME_ARG = 3, FRAME_PC = 6 };
#else
enum { FRAME_WORDS = 20, FRAME_FN = 2, FRAME_ARG = 3, FRAME_PC = 1 };
#endif

static void raw_init(struct coro *c)
{
    uintptr_t top = ((uintptr_t)c->stack + c->size) & ~(uintptr_t)15;
    uintptr_t *frame = (uintptr_t *)top - 2 - FRAME_WORDS - FRAME_WORDS % 2;
#if defined(__x86_64__)
    frame++; /* the return takes one word more than the frame has of others: aligned after it */
#endif
    memset(frame, 0, top - (uintptr_t)frame);
    frame[FRAME_FN] = (uintptr_t)coro_main;
    frame[FRAME_ARG] = (uintptr_t)c;
    frame[FRAME_PC] = (uintptr_t)coro_enter_asm_;
    c->sp = frame;
}

unsigned char *coro_used_from(const struct coro *c)
{
    return c->sp ? c->sp : (unsigned char *)c->stack + c->size;
}

#else /* ucontext: the saved context lies on the stack of its owner, sp points to it */

const char *coro_kind(void) { return "ucontext"; }

__attribute__((noinline, no_sanitize_address)) static void raw_switch(void **from_sp,
                                                                      void *const *to_sp)
{
    ucontext_t here;
    *from_sp = &here;
    if (swapcontext(&here, *to_sp) != 0)
        throw("coro: swapcontext failed");
}

/* makecontext passes ints only. */
static void raw_enter(unsigned high, unsigned low)
{
    coro_main((struct coro *)((uintptr_t)high << 32 | low));
}

static void raw_init(struct coro *c)
{
    uintptr_t at = ((uintptr_t)c->stack + c->size - sizeof(ucontext_t)) & ~(uintptr_t)63;
    ucontext_t *uc = (ucontext_t *)at;
    if (getcontext(uc) != 0)
        throw("coro: getcontext failed");
    uc->uc_stack.ss_sp = c->stack;
    uc->uc_stack.ss_size = at - (uintptr_t)c->stack;
    uc->uc_link = NULL;
    uintptr_t p = (uintptr_t)c;
    makecontext(uc, (void (*)(void))raw_enter, 2, (unsigned)(p >> 32), (unsigned)p);
    c->sp = uc;
}

/* The frame of raw_switch reaches a little below its context. */
unsigned char *coro_used_from(const struct coro *c)
{
    enum { FRAME_MAX = 512 };
    unsigned char *low = c->stack, *sp = c->sp;
    if (!sp)
        return low + c->size;
    return sp - low < FRAME_MAX ? low : sp - FRAME_MAX;
}

#endif

#if !defined(GMPSIM_CORO_ASM) || defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
void coro_switch(struct coro *from, struct coro *to)
{
    san_leave(from, to, /*dying*/ 0);
    raw_switch(&from->sp, &to->sp);
    san_arrive(from, /*first*/ 0);
}
#endif

_Noreturn void coro_exit_to(struct coro *from, struct coro *to)
{
    static void *nowhere; /* not on this stack: ASan may have put its locals where they go now */
    from->sp = NULL;
    san_leave(from, to, /*dying*/ 1);
    raw_switch(&nowhere, &to->sp);
    throw("coro: switched to a coroutine that had exited");
}

void coro_init_thread(struct coro *c)
{
    memset(c, 0, sizeof *c);
    san_init_thread(c);
}

void coro_init(struct coro *c, void *stack, size_t size, coro_fn *fn, void *arg)
{
    *c = (struct coro){.stack = stack, .size = size, .fn = fn, .arg = arg};
    san_init(c);
    raw_init(c);
}
