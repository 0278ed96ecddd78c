/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host surface under exploration (docs/host.md is the contract, verb by verb;
 * docs/exploration.md says what differs).
 *
 * Every atomic verb is a point and a site: first the explorer decides who goes on, then the value
 * goes through the memory model.
 */
#ifndef GMPSIM_HOST_H
#define GMPSIM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/event.h"
#include "sim/base/race.h"
#include "sim/base/syscall.h"
#include "sim/base/turn.h"

#include "sim/explore/hot.h"
#include "sim/virt/costs.h"

/* ---- atomics ---- */

#define ATOMIC(T) \
    struct {      \
        T v;      \
    } /* a struct, so that plain access does not compile */
#define a_type(p) __typeof__(((void)0, (p)->v))

/* Integers, bool and pointers travel as 64 bits. */
#define EX_TO_U64_(p, x)   ((uint64_t)(uintptr_t)(a_type(p))(x))
#define EX_FROM_U64_(p, u) ((a_type(p))(uintptr_t)(u))

#define a_init(p, x)                                                      \
    __extension__({                                                       \
        __auto_type ex_p_ = (p);                                          \
        mm_init_value(&ex_p_->v, sizeof(ex_p_->v), EX_TO_U64_(ex_p_, x)); \
        (void)0;                                                          \
    })
#define EX_SITE_(verb, order, text, p) EX_SITE(verb, order, text, TRACED_VALUE((p)->v))
#define EX_LOAD_(p, text, verb, order)                                                           \
    __extension__({                                                                              \
        __auto_type ex_p_ = (p);                                                                 \
        EX_FROM_U64_(ex_p_, ex_load_(EX_SITE_(verb, order, text, ex_p_), VERB_##verb, &ex_p_->v, \
                                     sizeof(ex_p_->v)));                                         \
    })
#define EX_STORE_(p, text, x, verb, order)                                                      \
    __extension__({                                                                             \
        __auto_type ex_p_ = (p);                                                                \
        uint64_t ex_x_ = EX_TO_U64_(ex_p_, x);                                                  \
        ex_store_(EX_SITE_(verb, order, text, ex_p_), VERB_##verb, &ex_p_->v, sizeof(ex_p_->v), \
                  ex_x_);                                                                       \
    })
#define EX_CAS_(p, text, old, new, verb, order)                                               \
    __extension__({                                                                           \
        __auto_type ex_p_ = (p);                                                              \
        uint64_t ex_o_ = EX_TO_U64_(ex_p_, old), ex_x_ = EX_TO_U64_(ex_p_, new);              \
        bool ex_ok_;                                                                          \
        ex_rmw_(EX_SITE_(verb, order, text, ex_p_), VERB_##verb, &ex_p_->v, sizeof(ex_p_->v), \
                RMW_CAS, ex_x_, ex_o_, &ex_ok_);                                              \
        ex_ok_;                                                                               \
    })
/* The old value. */
#define EX_RMW_(p, text, x, verb, how)                                                       \
    __extension__({                                                                          \
        __auto_type ex_p_ = (p);                                                             \
        uint64_t ex_x_ = EX_TO_U64_(ex_p_, x);                                               \
        bool ex_ok_;                                                                         \
        EX_FROM_U64_(ex_p_, ex_rmw_(EX_SITE_(verb, sc, text, ex_p_), VERB_##verb, &ex_p_->v, \
                                    sizeof(ex_p_->v), how, ex_x_, 0, &ex_ok_));              \
    })

#define a_load(p)              EX_LOAD_(p, #p, load, sc)
#define a_load_acq(p)          EX_LOAD_(p, #p, load_acq, acq)
#define a_load_rlx(p)          EX_LOAD_(p, #p, load_rlx, rlx)
#define a_store(p, x)          EX_STORE_(p, #p, x, store, sc)
#define a_store_rel(p, x)      EX_STORE_(p, #p, x, store_rel, rel)
#define a_store_rlx(p, x)      EX_STORE_(p, #p, x, store_rlx, rlx)
#define a_cas(p, old, new)     EX_CAS_(p, #p, old, new, cas, sc)
#define a_cas_rel(p, old, new) EX_CAS_(p, #p, old, new, cas_rel, rel)
#define a_xchg(p, x)           EX_RMW_(p, #p, x, xchg, RMW_XCHG)
#define a_or(p, m)             EX_RMW_(p, #p, m, or, RMW_OR)
#define a_and(p, m)            EX_RMW_(p, #p, m, and, RMW_AND)
#define a_xchg8(p, x)                                                                              \
    __extension__({                                                                                \
        __auto_type ex_q_ = (p);                                                                   \
        bool ex_ok_;                                                                               \
        (uint8_t) ex_rmw_(EX_SITE_(xchg8, sc, #p, ex_q_), VERB_xchg8, &ex_q_->v, sizeof(ex_q_->v), \
                          RMW_XCHG8, (uint64_t)(uint8_t)(x), 0, &ex_ok_);                          \
    })
#define a_add(p, d)                                                                    \
    __extension__({                                                                    \
        __auto_type ex_q_ = (p);                                                       \
        uint64_t ex_d_ = EX_TO_U64_(ex_q_, d);                                         \
        bool ex_ok_;                                                                   \
        EX_FROM_U64_(ex_q_, ex_rmw_(EX_SITE_(add, sc, #p, ex_q_), VERB_add, &ex_q_->v, \
                                    sizeof(ex_q_->v), RMW_ADD, ex_d_, 0, &ex_ok_) +    \
                                ex_d_);                                                \
    })
/* Not a point, so it may stand inside another verb. */
#define a_peek(p)                                                   \
    __extension__({                                                 \
        __auto_type ex_k_ = (p);                                    \
        EX_FROM_U64_(ex_k_, ex_peek_(&ex_k_->v, sizeof(ex_k_->v))); \
    })
#define a_own(p)  a_peek(p)
#define a_fence() ex_fence_(EX_SITE(fence, sc, "", TRACED_UNSIGNED))

void ex_fence_(const struct ex_site *s);

/* ---- time and CPU ---- */

enum burst_how { BURST_CUT, BURST_WHOLE };

#define nanotime()             ex_nanotime_()
#define host_now()             ex_host_now_()
#define record_now()           host_now()
#define record_begin()         host_now()
#define record_begin_after(t)  ((void)(t), host_now())
#define jolts()                false
#define jolt(kind)             ((void)0) /* any order is looked at as it is */
#define main_begins()          ((void)0)
#define work(kind)             ex_work_(W_##kind, 1)
#define work_n(kind, n)        ex_work_(W_##kind, (uint64_t)(n))
#define procyield(n)           ex_procyield_(n)
#define osyield()              ex_osyield_()
#define host_usleep(us)        ex_usleep_(us)
#define burst(ns, how)         ex_burst_(ns, (how) == BURST_CUT)
#define syscall_body(ns, kind) ex_syscall_body_(ns, syscall_off_cpu(kind))
#define nudge(hm)              ex_nudge_(hm)

/* The host's part of an M. */
struct hostm {
    struct ex_thread *thread;
};

int64_t ex_nanotime_(void);
int64_t ex_host_now_(void);
void ex_work_(enum work_kind kind, uint64_t n);
void ex_procyield_(uint32_t n);
void ex_osyield_(void);
void ex_usleep_(uint32_t us);
int64_t ex_burst_(int64_t ns, bool cut);
void ex_syscall_body_(int64_t ns, bool off_cpu);
void ex_nudge_(struct hostm *hm);

/* ---- threads ---- */

#define host_enter()              (void)0
#define host_leave()              (void)0
#define newosproc(hm, fn, arg)    ex_newosproc_(hm, fn, arg)
#define thread_exit()             ex_thread_exit_()
#define getarg()                  ex_getarg_()
#define signalm(hm)               ex_signalm_(hm)
#define futexsleep(addr, val, ns) ex_futexsleep_(&(addr)->v, val, ns)
#define futexwakeup(addr, n)      ex_futexwakeup_(&(addr)->v, n)

void ex_newosproc_(struct hostm *hm, void (*fn)(void *), void *arg);
_Noreturn void ex_thread_exit_(void);
void *ex_getarg_(void);
void ex_signalm_(struct hostm *hm);
void ex_futexsleep_(uint32_t *addr, uint32_t val, int64_t ns);
void ex_futexwakeup_(uint32_t *addr, uint32_t n);

/* ---- environment ---- */

struct poll_event {
    int32_t fd;    /* -1: the break descriptor */
    uint32_t mode; /* 1 readable, 2 writable, 3 both */
};

#define env_at(ns, fn, arg)             ex_env_at_(ns, fn, arg)
#define env_ready(fd, mode, n)          ((void)(n), ex_env_ready_(fd, mode))
#define netpoll_wait(ns, ev, cap)       ex_netpoll_wait_(ns, ev, cap)
#define netpoll_wakeup()                ex_netpoll_wakeup_()
#define host_ncpu()                     ex_ncpu_()
#define host_quota(quota_us, period_us) ex_quota_(quota_us, period_us)
#define draw(n, fallback)               ex_draw_(n, fallback)
#define host_seed64()                   ex_seed64_()
#define host_alloc(size, align)         ex_alloc_(size, align)
#define emit(type, g, a, b, c) \
    ex_emit_(type, (uint32_t)(g), (uint64_t)(a), (uint32_t)(b), (uint16_t)(c))
#define emit_moves()    false
#define host_set_p(pid) ex_set_p_(pid)
/* Turns: at granularity sync the host decides among goroutines. */
#define turns()                __builtin_expect(ex_hot.turns, 0)
#define turn_on()              __builtin_expect(ex_hot.sync, 0)
#define turn_begin()           ex_turn_begin_()
#define turn_settle()          ex_turn_settle_()
#define turn_ask(t)            ex_turn_ask_(t)
#define turn_does(t)           ex_turn_does_(t)
#define turn_draw(n)           (uint32_t) ex_draw_(n, 0)
#define turn_call(ns)          ex_turn_call_(ns)
#define turn_took(goid, index) ex_turn_took_(goid, index)
/* A draw of the program with few outcomes is a choice. */
#define program_draws(n) ((n) > 1)
/* Data races are looked for by whoever explores. */
#define race_on()                                 __builtin_expect(ex_hot.race, 0)
#define race_actor(goid)                          ex_race_actor_(goid)
#define race_tell(edge, goid, with)               ex_race_tell_(edge, goid, with)
#define race_access(goid, pc, addr, object, kind) ex_race_access_(goid, pc, addr, object, kind)
#undef throw /* sim/base/fail.h has one for the simulator itself */
#define throw(text) ex_throw_(text)
#define finding(kind, text) ex_finding_(kind, text)
#define host_stop()         ex_stop_()
/* No descriptor of the system stands behind one here: what has arrived the model knows. */
#define descriptor_open(fd, mode) ((void)(fd), (void)(mode))
#define descriptor_close(fd)      ((void)(fd))
#define descriptor_read(fd, ns)   ((void)(fd), syscall_body(ns, SYSCALL_SPIN), true)
#define descriptor_write(fd, ns)  ((void)(fd), syscall_body(ns, SYSCALL_SPIN))
#define descriptor_take(fd)       ((void)(fd))

void ex_env_at_(int64_t ns, void (*fn)(void *), void *arg);
void ex_env_ready_(int32_t fd, uint32_t mode);
int32_t ex_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap);
void ex_netpoll_wakeup_(void);
int32_t ex_ncpu_(void);
bool ex_quota_(int64_t *quota_us, int64_t *period_us);
uint64_t ex_draw_(uint64_t n, uint64_t fallback);
uint64_t ex_seed64_(void);
void *ex_alloc_(size_t size, size_t align);
void ex_emit_(uint32_t type, uint64_t g, uint64_t a, uint32_t b, uint32_t c);
void ex_set_p_(int32_t pid);
void ex_turn_begin_(void);
void ex_turn_settle_(void);
int32_t ex_turn_ask_(const struct turn *t);
void ex_turn_does_(const struct turn *t);
int64_t ex_turn_call_(int64_t ns);
void ex_turn_took_(uint64_t goid, int64_t index);
uint32_t ex_race_actor_(uint32_t goid);
void ex_race_tell_(enum race_edge edge, uint32_t goid, uint64_t with);
void ex_race_access_(uint32_t goid, uint32_t pc, uint64_t addr, int32_t object,
                     enum race_kind kind);
_Noreturn void ex_throw_(const char *text);
void ex_finding_(int kind, const char *text);
_Noreturn void ex_stop_(void);

#include "sim/base/emit.h"

#endif
