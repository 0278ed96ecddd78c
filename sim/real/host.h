/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host surface on real threads (docs/host.md is the contract, verb by verb).
 *
 * An M is a pthread, an atomic is a C11 atomic, a futex is a futex. The atomics below are macros
 * over <stdatomic.h> and compile to exactly what a person would write by hand (bench/real_runq.c
 * compares the machine code). Every other verb is a call into this directory, because it ends in a
 * system call anyway.
 *
 * Verbs are function-like macros over names with the prefix rt_, so that one binary can hold all
 * hosts.
 *
 * What differs from the virtual host, and is legal by the contract:
 *   - sighandler(arg) runs inside a real signal handler, at any instruction of the M: it may use
 *     a_*, emit, host_now, nudge and signalm, and must not touch plain fields that the interrupted
 *     code may be changing.
 *   - a burst may be cut by a signal that arrived shortly before it began; the cut is used up by
 *     that burst.
 *   - work() is nothing: straight-line work costs what it costs.
 */
#ifndef GMPSIM_HOST_H
#define GMPSIM_HOST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/event.h"
#include "sim/base/own_data.h"
#include "sim/base/race.h"
#include "sim/base/syscall.h"
#include "sim/base/turn.h"
#include "sim/base/work.h"

/* ---- atomics ---- */

#define ATOMIC(T)     \
    struct {          \
        _Atomic(T) v; \
    } /* a struct, so that plain access does not compile */
#define a_type(p) __typeof__(((void)0, (p)->v)) /* the comma drops _Atomic */

#define a_init(p, x)  atomic_store_explicit(&(p)->v, (x), memory_order_relaxed)
#define a_load(p)     atomic_load(&(p)->v)
#define a_store(p, x) atomic_store(&(p)->v, (x))
/* Go's compiler realises LoadAcq, StoreRel and CasRel as sequentially consistent on every port but
 * ppc64le. */
#define a_load_acq(p)          atomic_load(&(p)->v)
#define a_store_rel(p, x)      atomic_store(&(p)->v, (x))
#define a_load_rlx(p)          atomic_load_explicit(&(p)->v, memory_order_relaxed)
#define a_store_rlx(p, x)      atomic_store_explicit(&(p)->v, (x), memory_order_relaxed)
#define a_cas(p, old, new)     atomic_compare_exchange_strong(&(p)->v, &(a_type(p)){old}, (new))
#define a_cas_rel(p, old, new) a_cas(p, old, new)
#define a_xchg(p, x)           atomic_exchange(&(p)->v, (x))
#define a_xchg8(p, x)          rt_xchg8_((p), sizeof(p)->v, (x))
/* C11 has no add that returns the new value; the builtin wants the type without _Atomic. */
#define a_add(p, d) __atomic_add_fetch((a_type(p) *)&(p)->v, (a_type(p))(d), __ATOMIC_SEQ_CST)
#define a_or(p, m)  atomic_fetch_or(&(p)->v, (m))
#define a_and(p, m) atomic_fetch_and(&(p)->v, (m))
#define a_own(p)    a_peek(p)
#define a_peek(p)   atomic_load_explicit(&(p)->v, memory_order_relaxed)
#ifdef __SANITIZE_THREAD__ /* gcc's ThreadSanitizer knows no fences: an exchange is one too */
#define a_fence() ((void)atomic_exchange(&(_Atomic(int)){0}, 0))
#else
#define a_fence() atomic_thread_fence(memory_order_seq_cst)
#endif

/* The byte that holds the low bits of a word of `size` bytes. */
static inline uint8_t rt_xchg8_(void *word, size_t size, uint8_t x)
{
    const uint16_t one = 1;
    size_t low = *(const uint8_t *)&one ? 0 : size - 1;

    return __atomic_exchange_n((uint8_t *)word + low, x, __ATOMIC_SEQ_CST);
}

/* ---- time and CPU ---- */

enum burst_how { BURST_CUT, BURST_WHOLE };

#define nanotime()             rt_nanotime_()
#define host_now()             rt_nanotime_()
#define record_now()           (__builtin_expect(rt_recording_, 0) ? rt_nanotime_() : 0)
#define record_begin()         (__builtin_expect(rt_recording_, 0) ? rt_record_begin_() : 0)
#define record_begin_after(t)  (__builtin_expect(rt_recording_, 0) ? rt_record_begin_after_(t) : 0)
#define jolts()                false
#define jolt(kind)             ((void)0) /* the machine has its own */
#define main_begins()          rt_main_begins_()
#define work(kind)             ((void)W_##kind) /* nothing, but the kind must exist */
#define work_n(kind, n)        ((void)W_##kind, (void)(n))
#define procyield(n)           rt_procyield_(n)
#define osyield()              rt_osyield_()
#define host_usleep(us)        rt_usleep_(us)
#define burst(ns, how)         rt_burst_(ns, how)
#define syscall_body(ns, kind) rt_syscall_body_(ns, kind)
#define nudge(hm)              rt_nudge_(hm)

int64_t rt_nanotime_(void);
int64_t rt_record_begin_(void);
int64_t rt_record_begin_after_(int64_t t);
void rt_main_begins_(void);
OWN_DATA bool rt_recording_; /* constant while a world runs */
void rt_osyield_(void);
void rt_usleep_(uint32_t us);
int64_t rt_burst_(int64_t ns, enum burst_how how);
void rt_syscall_body_(int64_t ns, enum syscall_kind kind);

static inline void rt_procyield_(uint32_t n)
{
    while (n-- > 0) {
#if defined __x86_64__ || defined __i386__
        __builtin_ia32_pause();
#elif defined __aarch64__
        __asm__ volatile("yield" ::: "memory");
#else
        __asm__ volatile("" ::: "memory");
#endif
    }
}

/* ---- threads ---- */

/* The host's part of an M. The thread record outlives the M's exit, so that a late signalm finds
 * no freed memory. */
struct hostm {
    _Atomic(struct rt_thread *) thread;
};

#define host_enter()              (void)0
#define host_leave()              (void)0
#define newosproc(hm, fn, arg)    rt_newosproc_(hm, fn, arg)
#define thread_exit()             rt_thread_exit_()
#define getarg()                  (rt_arg_)
#define signalm(hm)               rt_signalm_(hm)
#define futexsleep(addr, val, ns) rt_futexsleep_(&(addr)->v, val, ns)
#define futexwakeup(addr, n)      rt_futexwakeup_(&(addr)->v, n)

extern _Thread_local void *rt_arg_ __attribute__((tls_model("initial-exec")));

void rt_newosproc_(struct hostm *hm, void (*fn)(void *), void *arg);
_Noreturn void rt_thread_exit_(void);
void rt_signalm_(struct hostm *hm);
void rt_nudge_(struct hostm *hm);
void rt_futexsleep_(_Atomic(uint32_t) *addr, uint32_t val, int64_t ns);
void rt_futexwakeup_(_Atomic(uint32_t) *addr, uint32_t n);

/* ---- environment ---- */

struct poll_event {
    int32_t fd;    /* -1: the break descriptor */
    uint32_t mode; /* 1 readable, 2 writable, 3 both */
};

#define env_at(ns, fn, arg)             rt_env_at_(ns, fn, arg)
#define env_ready(fd, mode, n)          rt_env_ready_(fd, mode, n)
#define descriptor_open(fd, mode)       rt_descriptor_open_(fd, mode)
#define descriptor_close(fd)            rt_descriptor_close_(fd)
#define descriptor_read(fd, ns)         ((void)(ns), rt_descriptor_read_(fd))
#define descriptor_write(fd, ns)        ((void)(ns), rt_descriptor_write_(fd))
#define descriptor_take(fd)             ((void)rt_descriptor_read_(fd))
#define netpoll_wait(ns, ev, cap)       rt_netpoll_wait_(ns, ev, cap)
#define netpoll_wakeup()                rt_netpoll_wakeup_()
#define host_ncpu()                     rt_ncpu_()
#define host_quota(quota_us, period_us) rt_quota_(quota_us, period_us)
#define draw(n, fallback)               ((void)(n), (fallback))
#define host_seed64()                   rt_seed64_()
#define host_alloc(size, align)         rt_alloc_(size, align)
#define emit(type, g, a, b, c)                                                          \
    do {                                                                                \
        if (__builtin_expect(rt_recording_, 0))                                         \
            rt_emit_(type, (uint32_t)(g), (uint64_t)(a), (uint32_t)(b), (uint16_t)(c)); \
    } while (0)
#define emit_at(now, type, g, a, b, c)                                                          \
    do {                                                                                        \
        if (__builtin_expect(rt_recording_, 0))                                                 \
            rt_emit_at_(now, type, (uint32_t)(g), (uint64_t)(a), (uint32_t)(b), (uint16_t)(c)); \
    } while (0)
#define emit_moves()    __builtin_expect(rt_recording_, 0)
#define host_set_p(pid) rt_set_p_(pid)
/* Threads decide among themselves here. */
#define turns()                false
#define turn_on()              false
#define turn_begin()           (void)0
#define turn_settle()          (void)0
#define turn_ask(t)            ((void)(t), 0)
#define turn_does(t)           (void)(t)
#define turn_draw(n)           0
#define turn_call(ns)          (ns)
#define turn_took(goid, index) (void)0
#define program_draws(n)       false
/* Nobody looks for data races. */
#define race_on()                   false
#define race_actor(goid)            (goid)
#define race_tell(edge, goid, with) ((void)(edge), (void)(goid), (void)(with))
#define race_access(goid, pc, addr, object, kind) \
    ((void)(goid), (void)(pc), (void)(addr), (void)(object), (void)(kind))
#undef throw /* fail.h has one for code outside worlds */
#define throw(text) rt_throw_(text)
#define finding(kind, text) rt_finding_(kind, text)
#define host_stop()         rt_stop_()

extern _Thread_local int32_t rt_pid_ __attribute__((tls_model("initial-exec")));

void rt_env_at_(int64_t ns, void (*fn)(void *), void *arg);
void rt_env_ready_(int32_t fd, uint32_t mode, int64_t n);
void rt_descriptor_open_(int32_t fd, uint32_t mode);
void rt_descriptor_close_(int32_t fd);
bool rt_descriptor_read_(int32_t fd);
void rt_descriptor_write_(int32_t fd);
int32_t rt_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap);
void rt_netpoll_wakeup_(void);
int32_t rt_ncpu_(void);
bool rt_quota_(int64_t *quota_us, int64_t *period_us);
uint64_t rt_seed64_(void);
void *rt_alloc_(size_t size, size_t align);
void rt_set_p_(int32_t pid);
void rt_emit_(uint32_t type, uint32_t g, uint64_t a, uint32_t b, uint16_t c);
void rt_emit_at_(int64_t now, uint32_t type, uint32_t g, uint64_t a, uint32_t b, uint16_t c);
_Noreturn void rt_throw_(const char *text);
void rt_finding_(int kind, const char *text);
_Noreturn void rt_stop_(void);

#include "sim/base/emit.h"

#endif
