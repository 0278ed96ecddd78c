/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host surface in virtual time (docs/host.md is the contract, verb by verb; docs/time.md says
 * how time passes).
 *
 * An M is a coroutine of one OS thread, so an atomic is a plain access: what makes it one is that
 * nobody else runs between two points. A verb that is a point first lets everybody go who is due
 * earlier, then performs, then adds its cost. Arguments are evaluated once and before the point, as
 * for a function call.
 *
 * A verb inside an argument of another verb does not compile under -Wshadow: that is the rule "one
 * verb per full expression".
 */
#ifndef GMPSIM_HOST_H
#define GMPSIM_HOST_H

#include "hot.h"
#include "sim/base/event.h"
#include "sim/base/race.h"
#include "sim/base/syscall.h"
#include "sim/base/turn.h"
#include "sim/base/fail.h" /* throw */

/* A report says when. */
#undef throw
#define throw(msg) (VM_OUT_(), throw_at(__FILE__, __LINE__, __func__, "%s", (msg)))

/* ---- atomics ---- */

#define ATOMIC(T) \
    struct {      \
        T v;      \
    } /* a struct, so that plain access does not compile */
#define a_type(p) __typeof__(((void)0, (p)->v))

#define a_init(p, x)               \
    __extension__({                \
        __auto_type vm_p_ = (p);   \
        a_type(vm_p_) vm_x_ = (x); \
        vm_first_(vm_p_);          \
        vm_p_->v = vm_x_;          \
        (void)0;                   \
    })

#define VM_LOAD_(p, kind)        \
    __extension__({              \
        __auto_type vm_p_ = (p); \
        vm_point_();             \
        vm_read_(vm_p_, kind);   \
        vm_p_->v;                \
    })
#define VM_STORE_(p, x, kind)      \
    __extension__({                \
        __auto_type vm_p_ = (p);   \
        a_type(vm_p_) vm_x_ = (x); \
        vm_point_();               \
        vm_write_(vm_p_, kind);    \
        vm_p_->v = vm_x_;          \
        (void)0;                   \
    })
#define VM_CAS_(p, old, new, kind)       \
    __extension__({                      \
        __auto_type vm_p_ = (p);         \
        a_type(vm_p_) vm_o_ = (old);     \
        a_type(vm_p_) vm_x_ = (new);     \
        vm_point_();                     \
        vm_write_(vm_p_, kind);          \
        bool vm_ok_ = vm_p_->v == vm_o_; \
        if (vm_ok_)                      \
            vm_p_->v = vm_x_;            \
        vm_ok_;                          \
    })
/* `expr` computes the new value from vm_p_->v and vm_x_; `give` is what the verb returns, vm_o_ or
 * vm_n_. */
#define VM_RMW_(p, x, kind, expr, give)              \
    __extension__({                                  \
        __auto_type vm_p_ = (p);                     \
        a_type(vm_p_) vm_x_ = (x);                   \
        vm_point_();                                 \
        vm_write_(vm_p_, kind);                      \
        a_type(vm_p_) vm_o_ = vm_p_->v;              \
        a_type(vm_p_) vm_n_ = (a_type(vm_p_))(expr); \
        vm_p_->v = vm_n_;                            \
        (void)vm_o_;                                 \
        give;                                        \
    })

#define a_load(p)              VM_LOAD_(p, ATOMIC_load)
#define a_load_acq(p)          VM_LOAD_(p, ATOMIC_load_acq)
#define a_load_rlx(p)          VM_LOAD_(p, ATOMIC_load_rlx)
#define a_store(p, x)          VM_STORE_(p, x, ATOMIC_store)
#define a_store_rel(p, x)      VM_STORE_(p, x, ATOMIC_store_rel)
#define a_store_rlx(p, x)      VM_STORE_(p, x, ATOMIC_store_rlx)
#define a_cas(p, old, new)     VM_CAS_(p, old, new, ATOMIC_cas)
#define a_cas_rel(p, old, new) VM_CAS_(p, old, new, ATOMIC_cas_rel)
#define a_xchg(p, x)           VM_RMW_(p, x, ATOMIC_xchg, vm_x_, vm_o_)
#define a_add(p, d)            VM_RMW_(p, (a_type(p))(d), ATOMIC_add, vm_o_ + vm_x_, vm_n_)
#define a_or(p, m)             VM_RMW_(p, m, ATOMIC_add, vm_o_ | vm_x_, vm_o_)
#define a_and(p, m)            VM_RMW_(p, m, ATOMIC_add, vm_o_ &vm_x_, vm_o_)
#define a_xchg8(p, x)                                                                         \
    __extension__({                                                                           \
        __auto_type vm_p_ = (p);                                                              \
        uint8_t vm_x_ = (x);                                                                  \
        vm_point_();                                                                          \
        vm_write_(vm_p_, ATOMIC_xchg);                                                        \
        uint8_t vm_o_ = (uint8_t)(vm_p_->v & 0xff);                                           \
        vm_p_->v = (a_type(vm_p_))((vm_p_->v & ~(a_type(vm_p_))0xff) | (a_type(vm_p_))vm_x_); \
        vm_o_;                                                                                \
    })
#define a_peek(p) __extension__({ (p)->v; })
#define a_own(p)  a_peek(p)
#define a_fence()                                   \
    __extension__({                                 \
        vm_point_();                                \
        vm_now_ += vm_hot.atomic[ATOMIC_fence].hit; \
        (void)0;                                    \
    })

/* ---- time and CPU ---- */

enum burst_how { BURST_CUT, BURST_WHOLE };

#define nanotime()             vm_nanotime_()
#define host_now()             vm_host_now_()
#define record_now()           host_now()
#define record_begin()         host_now()
#define record_begin_after(t)  ((void)(t), host_now())
#define work(kind)             ((void)(vm_now_ += vm_hot.work[W_##kind]))
#define work_n(kind, n)        vm_work_n_(W_##kind, (uint64_t)(n))
#define main_begins()          VM_DO_(vm_main_begins_())
#define jolts()                (vm_hot.noisy)
#define jolt(kind)             ((void)(vm_hot.noisy && (VM_DO_(vm_jolt_(NOISE_##kind)), 0)))
#define procyield(n)           vm_procyield_(n)
#define osyield()              VM_DO_(vm_osyield_())
#define host_usleep(us)        VM_DO_(vm_usleep_(us))
#define burst(ns, how)         VM_CALL_(vm_burst_(ns, (how) == BURST_CUT))
#define syscall_body(ns, kind) VM_DO_(vm_syscall_body_(ns, syscall_off_cpu(kind)))
#define nudge(hm)              VM_DO_(vm_nudge_(hm))

/* The host's part of an M. */
struct hostm {
    struct vm_thread *thread;
};

int64_t vm_burst_(int64_t ns, bool cut);
void vm_jolt_(enum cost_noise kind);
void vm_main_begins_(void);
void vm_osyield_(void);
void vm_usleep_(uint32_t us);
void vm_syscall_body_(int64_t ns, bool off_cpu);
void vm_nudge_(struct hostm *hm);

static inline void vm_work_n_(enum work_kind kind, uint64_t n) { vm_now_ += vm_hot.work[kind] * n; }

static inline int64_t vm_host_now_(void) { return (int64_t)(vm_now_ / 1000); }

static inline int64_t vm_nanotime_(void)
{
    vm_point_();
    int64_t ns = vm_host_now_();
    vm_now_ += vm_hot.kind[COST_nanotime];
    return ns;
}

static inline void vm_procyield_(uint32_t n)
{
    uint64_t ps = (uint64_t)vm_hot.kind[COST_pause] * n;

    vm_point_();
    vm_now_ += ps;
    vm_hot.front->spin_ps += ps;
}

/* ---- threads ---- */

#define newosproc(hm, fn, arg)    VM_DO_(vm_newosproc_(hm, fn, arg))
#define thread_exit()             VM_DO_(vm_thread_exit_())
#define getarg()                  (vm_hot.arg)
#define signalm(hm)               VM_DO_(vm_signalm_(hm))
#define futexsleep(addr, val, ns) VM_DO_(vm_futexsleep_(&(addr)->v, val, ns))
#define futexwakeup(addr, n)      VM_DO_(vm_futexwakeup_(&(addr)->v, n))

void vm_newosproc_(struct hostm *hm, void (*fn)(void *), void *arg);
_Noreturn void vm_thread_exit_(void);
void vm_signalm_(struct hostm *hm);
void vm_futexsleep_(const uint32_t *addr, uint32_t val, int64_t ns);
void vm_futexwakeup_(const uint32_t *addr, uint32_t n);

/* ---- environment ---- */

struct poll_event {
    int32_t fd;    /* -1: the break descriptor */
    uint32_t mode; /* 1 readable, 2 writable, 3 both */
};

#define env_at(ns, fn, arg)             VM_DO_(vm_env_at_(ns, fn, arg))
#define env_ready(fd, mode, n)          ((void)(n), VM_DO_(vm_env_ready_(fd, mode)))
#define netpoll_wait(ns, ev, cap)       VM_CALL_(vm_netpoll_wait_(ns, ev, cap))
#define netpoll_wakeup()                VM_DO_(vm_netpoll_wakeup_())
#define host_ncpu()                     VM_CALL_(vm_ncpu_())
#define host_quota(quota_us, period_us) VM_CALL_(vm_quota_(quota_us, period_us))
#define draw(n, fallback)               (vm_chooser_ ? VM_CALL_(vm_draw_(n, fallback)) : (fallback))
#define host_seed64()                   VM_CALL_(vm_seed64_())
#define host_alloc(size, align)         VM_CALL_(vm_alloc_(size, align))
#define emit(type, g, a, b, c) \
    vm_emit_((enum event_type)(type), (uint32_t)(g), (uint64_t)(a), (uint32_t)(b), (uint16_t)(c))
#define emit_moves()    (vm_log_.moves)
#define host_set_p(pid) vm_set_p_((uint16_t)(pid)) /* -1 is EVENT_NO_P */
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
/* The text is made first: by functions of the model, which take their time. */
#define finding(kind, text)                  \
    __extension__({                          \
        const char *vm_text_ = (text);       \
        VM_DO_(vm_finding_(kind, vm_text_)); \
    })
#define host_stop() VM_DO_(vm_stop_())
/* No descriptor of the system stands behind one here: what has arrived the model knows. */
#define descriptor_open(fd, mode) ((void)(fd), (void)(mode))
#define descriptor_close(fd)      ((void)(fd))
#define descriptor_read(fd, ns)   ((void)(fd), syscall_body(ns, SYSCALL_SPIN), true)
#define descriptor_write(fd, ns)  ((void)(fd), syscall_body(ns, SYSCALL_SPIN))
#define descriptor_take(fd)       ((void)(fd))

void vm_env_at_(int64_t ns, void (*fn)(void *), void *arg);
void vm_env_ready_(int32_t fd, uint32_t mode);
int32_t vm_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap);
void vm_netpoll_wakeup_(void);
int32_t vm_ncpu_(void);
bool vm_quota_(int64_t *quota_us, int64_t *period_us);
uint64_t vm_seed64_(void);
void *vm_alloc_(size_t size, size_t align);
void vm_finding_(int kind, const char *text);
_Noreturn void vm_stop_(void);

OWN_DATA struct event_log vm_log_;

uint64_t vm_draw_(uint64_t n, uint64_t fallback);

static inline void vm_set_p_(uint16_t pid)
{
    vm_hot.front->who = event_who((uint16_t)vm_hot.front->who, pid);
}

static inline void vm_emit_(enum event_type type, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    if (event_put(&vm_log_, type, vm_now_, vm_hot.front->who, g, a, b, c))
        VM_DO_(event_log_full_(&vm_log_)); /* asks for the time before which all is settled */
    vm_now_ += vm_hot.record;
}

/* The traced host has its own. */
#ifndef GMPSIM_TRACED_HOST_H
#include "sim/base/emit.h"
#endif

#endif
