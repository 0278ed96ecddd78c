/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host surface in virtual time, with a witness: what every atomic verb did is told to whoever
 * asked (traced.h). Layout, points and costs are those of sim/virt, so a run is the same run, and
 * the timed host pays nothing for it: this is one more instance of the model.
 *
 * The point is passed first and the horizon taken away for the rest of the verb: between the value
 * before and the value after nobody else runs.
 */
#ifndef GMPSIM_TRACED_HOST_H
#define GMPSIM_TRACED_HOST_H

#include "sim/virt/host.h"

#include "sim/traced/traced.h"

#define TR_SITE_(op_, order_, p, text_)                                                \
    __extension__({                                                                    \
        static const struct traced_site tr_site_ = {                                   \
            __FILE__, __func__, __LINE__, #op_, #order_, text_, TRACED_VALUE((p)->v)}; \
        &tr_site_;                                                                     \
    })
#define TR_WORD_(v) ((uint64_t)(uintptr_t)(v))

struct tr_step_ {
    unsigned long long at, horizon;
    uint64_t before;
};

static inline void tr_point_(struct tr_step_ *s)
{
    vm_point_();
    s->at = vm_hot.now;
    s->horizon = vm_hot.horizon;
    vm_hot.horizon = UINT64_MAX;
}

static inline void tr_done_(const struct tr_step_ *s, const struct traced_site *site,
                            const volatile void *p, uint64_t after, uint64_t wanted, bool done)
{
    vm_hot.horizon = s->horizon;
    tr_op_(&(struct traced_op){.time_ps = s->at,
                               .site = site,
                               .addr = (const void *)(uintptr_t)p,
                               .before = s->before,
                               .after = after,
                               .wanted = wanted,
                               .done = done});
}

/* `does` performs the verb; the names of its arguments are tr_p_, tr_x_ and tr_o_. */
#define TR_DO_(verb, order, text, does, wanted, done) \
    struct tr_step_ tr_s_;                            \
    tr_point_(&tr_s_);                                \
    tr_s_.before = TR_WORD_(tr_p_->v);                \
    does;                                             \
    tr_done_(&tr_s_, TR_SITE_(verb, order, tr_p_, text), tr_p_, TR_WORD_(tr_p_->v), wanted, done)

#define TR_LOAD_(p, text, order, kind)                                                   \
    __extension__({                                                                      \
        __auto_type tr_p_ = (p);                                                         \
        TR_DO_(load, order, text, a_type(tr_p_) tr_v_ = VM_LOAD_(tr_p_, kind), 0, true); \
        tr_v_;                                                                           \
    })
#define TR_STORE_(p, text, x, order, kind)                                  \
    __extension__({                                                         \
        __auto_type tr_p_ = (p);                                            \
        a_type(tr_p_) tr_x_ = (x);                                          \
        TR_DO_(store, order, text, VM_STORE_(tr_p_, tr_x_, kind), 0, true); \
        (void)0;                                                            \
    })
#define TR_CAS_(p, text, old, new, order, kind)                                    \
    __extension__({                                                                \
        __auto_type tr_p_ = (p);                                                   \
        a_type(tr_p_) tr_o_ = (old);                                               \
        a_type(tr_p_) tr_x_ = (new);                                               \
        TR_DO_(cas, order, text, bool tr_ok_ = VM_CAS_(tr_p_, tr_o_, tr_x_, kind), \
               TR_WORD_(tr_o_), tr_ok_);                                           \
        tr_ok_;                                                                    \
    })
#define TR_RMW_(p, text, x, verb, kind, expr, give)                                              \
    __extension__({                                                                              \
        __auto_type tr_p_ = (p);                                                                 \
        a_type(tr_p_) tr_x_ = (x);                                                               \
        TR_DO_(verb, sc, text, a_type(tr_p_) tr_v_ = VM_RMW_(tr_p_, tr_x_, kind, expr, give), 0, \
               true);                                                                            \
        tr_v_;                                                                                   \
    })

#undef a_load
#undef a_load_acq
#undef a_load_rlx
#undef a_store
#undef a_store_rel
#undef a_store_rlx
#undef a_cas
#undef a_cas_rel
#undef a_xchg
#undef a_xchg8
#undef a_add
#undef a_or
#undef a_and
#define a_load(p)              TR_LOAD_(p, #p, sc, ATOMIC_load)
#define a_load_acq(p)          TR_LOAD_(p, #p, acq, ATOMIC_load_acq)
#define a_load_rlx(p)          TR_LOAD_(p, #p, rlx, ATOMIC_load_rlx)
#define a_store(p, x)          TR_STORE_(p, #p, x, sc, ATOMIC_store)
#define a_store_rel(p, x)      TR_STORE_(p, #p, x, rel, ATOMIC_store_rel)
#define a_store_rlx(p, x)      TR_STORE_(p, #p, x, rlx, ATOMIC_store_rlx)
#define a_cas(p, old, new)     TR_CAS_(p, #p, old, new, sc, ATOMIC_cas)
#define a_cas_rel(p, old, new) TR_CAS_(p, #p, old, new, rel, ATOMIC_cas_rel)
#define a_xchg(p, x)           TR_RMW_(p, #p, x, xchg, ATOMIC_xchg, vm_x_, vm_o_)
#define a_add(p, d)            TR_RMW_(p, #p, (a_type(p))(d), add, ATOMIC_add, vm_o_ + vm_x_, vm_n_)
#define a_or(p, m)             TR_RMW_(p, #p, m, or, ATOMIC_add, vm_o_ | vm_x_, vm_o_)
#define a_and(p, m)            TR_RMW_(p, #p, m, and, ATOMIC_add, vm_o_ &vm_x_, vm_o_)
#define a_xchg8(p, x)                                                     \
    ((uint8_t)TR_RMW_(p, #p, (a_type(p))(uint8_t)(x), xchg8, ATOMIC_xchg, \
                      (vm_o_ & ~(a_type(vm_p_))0xff) | vm_x_, vm_o_))

#undef race_on
#undef race_tell
#define race_on()                 tr_orders_
#define race_tell(op, goid, with) tr_order_(op, goid, with)

#undef emit
#define emit(type, g, a, b, c) \
    tr_emit_((enum event_type)(type), (uint32_t)(g), (uint64_t)(a), (uint32_t)(b), (uint16_t)(c))

static inline void tr_emit_(enum event_type type, uint32_t g, uint64_t a, uint32_t b, uint16_t c)
{
    vm_emit_(type, g, a, b, c);
    tr_event_();
}

#include "sim/base/emit.h"

#endif
