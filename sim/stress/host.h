/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host surface on real threads, disturbed: every verb that is a point elsewhere may take a
 * while here, now and then, as a seed decides (stress.h). And every verb is a place where a world
 * can be made to stand still, as it does in virtual time: the model's invariants are looked at on
 * real threads too. Layouts are those of sim/real.
 */
#ifndef GMPSIM_STRESS_HOST_H
#define GMPSIM_STRESS_HOST_H

#include "sim/real/host.h"
#include "sim/stress/stress.h"

/* The model is one unit: the counter tells its places apart. */
#define ST_POINT_ stress_point_(__COUNTER__)

#undef a_load
#undef a_store
#undef a_load_acq
#undef a_store_rel
#undef a_load_rlx
#undef a_store_rlx
#undef a_cas
#undef a_cas_rel
#undef a_xchg
#undef a_xchg8
#undef a_add
#undef a_or
#undef a_and
#undef a_fence
#define a_load(p)         (ST_POINT_, atomic_load(&(p)->v))
#define a_store(p, x)     (ST_POINT_, atomic_store(&(p)->v, (x)))
#define a_load_acq(p)     a_load(p)
#define a_store_rel(p, x) a_store(p, x)
#define a_load_rlx(p)     (ST_POINT_, atomic_load_explicit(&(p)->v, memory_order_relaxed))
#define a_store_rlx(p, x) (ST_POINT_, atomic_store_explicit(&(p)->v, (x), memory_order_relaxed))
#define a_cas(p, old, new) \
    (ST_POINT_, atomic_compare_exchange_strong(&(p)->v, &(a_type(p)){old}, (new)))
#define a_cas_rel(p, old, new) a_cas(p, old, new)
#define a_xchg(p, x)           (ST_POINT_, atomic_exchange(&(p)->v, (x)))
#define a_xchg8(p, x)          (ST_POINT_, rt_xchg8_((p), sizeof(p)->v, (x)))
#define a_add(p, d) \
    (ST_POINT_, __atomic_add_fetch((a_type(p) *)&(p)->v, (a_type(p))(d), __ATOMIC_SEQ_CST))
#define a_or(p, m)  (ST_POINT_, atomic_fetch_or(&(p)->v, (m)))
#define a_and(p, m) (ST_POINT_, atomic_fetch_and(&(p)->v, (m)))
#ifdef __SANITIZE_THREAD__
#define a_fence() (ST_POINT_, (void)atomic_exchange(&(_Atomic(int)){0}, 0))
#else
#define a_fence() (ST_POINT_, atomic_thread_fence(memory_order_seq_cst))
#endif

/* Calls in which a thread may stay for long: outside the model, as far as standing still goes. */
#undef host_usleep
#undef burst
#undef syscall_body
#undef futexsleep
#undef futexwakeup
#undef netpoll_wait
#undef netpoll_wakeup
#undef newosproc
#undef signalm
#undef nudge
#undef env_ready
#undef descriptor_read
#undef descriptor_write
#define host_usleep(us) (ST_POINT_, stress_out_(ST_SLEEPS), rt_usleep_(us), stress_in_())
#define burst(ns, how)  (ST_POINT_, stress_burst_(ns, how))
#define syscall_body(ns, kind) \
    (ST_POINT_, stress_out_(ST_COMPUTES), rt_syscall_body_(ns, kind), stress_in_())
#define futexsleep(addr, val, ns)       \
    (ST_POINT_, stress_out_(ST_SLEEPS), \
     stress_wakes_for_nothing_() ? (void)0 : rt_futexsleep_(&(addr)->v, val, ns), stress_in_())
#define futexwakeup(addr, n)      (ST_POINT_, rt_futexwakeup_(&(addr)->v, n))
#define netpoll_wait(ns, ev, cap) (ST_POINT_, stress_netpoll_wait_(ns, ev, cap))
#define netpoll_wakeup()          (ST_POINT_, rt_netpoll_wakeup_())
#define newosproc(hm, fn, arg)    (ST_POINT_, rt_newosproc_(hm, fn, arg))
#define signalm(hm)               (ST_POINT_, rt_signalm_(hm))
#define nudge(hm)                 (ST_POINT_, rt_nudge_(hm))
#define env_ready(fd, mode, n)    (ST_POINT_, rt_env_ready_(fd, mode, n))
#define descriptor_read(fd, ns)   (ST_POINT_, (void)(ns), rt_descriptor_read_(fd))
#define descriptor_write(fd, ns)  (ST_POINT_, (void)(ns), rt_descriptor_write_(fd))

static inline int64_t stress_burst_(int64_t ns, enum burst_how how)
{
    stress_out_(ST_COMPUTES);
    int64_t left = rt_burst_(ns, how);
    stress_in_();
    return left;
}

static inline int32_t stress_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap)
{
    stress_out_(ST_SLEEPS);
    int32_t n = rt_netpoll_wait_(ns, ev, cap);
    stress_in_();
    return n;
}

#endif
