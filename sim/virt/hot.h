/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state that every verb touches, in one file-scope struct, and the fast path over it.
 *
 * A point is two loads and a compare: the running thread may pass it while its clock is below the
 * horizon, the earliest thing that anybody else will do. Everything else is in sched.c.
 */
#ifndef GMPSIM_VIRT_HOT_H
#define GMPSIM_VIRT_HOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costs.h"
#include "sim/base/coro.h" /* GMPSIM_ASAN */
#include "sim/base/own_data.h"

/* What verbs need of a thread besides its clock; the head of struct vm_thread. */
struct vm_front {
    void *arg; /* goes to vm_hot while the thread runs */
    uint64_t bit;
    uint64_t rank;    /* order among threads due at one instant */
    uint64_t spin_ps; /* spent spinning */
    uint32_t who;     /* the M and its P in records (event_who) */
};

struct vm_hot {
    /* Of their own type: a store to any uint64_t of the model would otherwise force a reload. */
    unsigned long long now;     /* the running thread's clock, ps */
    unsigned long long horizon; /* it may perform points while now < horizon */
    unsigned long long bit;     /* of the CPU it runs on, in the masks below */
    void *arg;                  /* of the running thread's M; NULL while none runs */
    /* One mask per 64-byte line of the arena: the CPUs (modulo 64) that hold the line. One bit:
     * that CPU may write. The address of the mask of the line at address 0, if there were one. */
    uintptr_t lines;
    struct vm_front *front; /* of the running thread; while none runs, a spare one */
    /* The row of the world's port. As wide as the clock: added to it in one instruction. */
    struct {
        unsigned long long hit, miss;
    } atomic[ATOMIC_COUNT];
    unsigned long long work[W_COUNT];
    unsigned long long record; /* what each takes */
    uint32_t kind[COST_COUNT];
    bool noisy;
};

OWN_DATA struct vm_hot vm_hot;

/*
 * gcc keeps what every verb changes or compares in registers of the model's own: through memory
 * each operation's cost would wait for the store of the one before (4 cycles and more, some 80
 * times from one switch to the next). The host's own files know nothing of it: vm_hot is true while
 * they run, the registers while the model does, and each way between the two goes through one of
 * these:
 *
 *   VM_CALL_(call), VM_DO_(call)   the model calls the host, for a value or for none
 *   host_enter(), host_leave()     around what the host calls, or whoever embeds the model
 *
 * The lines stay where they are as long as the world lives.
 *
 * The three are registers that a callee must preserve, so that other code may be called as ever.
 */
#if defined(VM_REGISTERS) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    !defined(GMPSIM_ASAN) && !defined(GMPSIM_TSAN)
register unsigned long long vm_now_ __asm__("r15");
register unsigned long long vm_bit_ __asm__("r14");
register uintptr_t vm_lines_ __asm__("r13");
#define VM_OUT_() (void)(vm_hot.now = vm_now_)
#define VM_IN_()  (void)(vm_now_ = vm_hot.now, vm_bit_ = vm_hot.bit)
#define VM_CALL_(call)              \
    __extension__({                 \
        VM_OUT_();                  \
        __auto_type vm_r_ = (call); \
        VM_IN_();                   \
        vm_r_;                      \
    })
#define VM_DO_(call) \
    __extension__({  \
        VM_OUT_();   \
        call;        \
        VM_IN_();    \
        (void)0;     \
    })
#define host_enter()                                                                             \
    __attribute__((unused)) unsigned long long vm_now_saved_ = vm_now_, vm_bit_saved_ = vm_bit_; \
    __attribute__((unused)) uintptr_t vm_lines_saved_ = vm_lines_;                               \
    VM_IN_();                                                                                    \
    vm_lines_ = vm_hot.lines
#define host_leave()                                                                           \
    (VM_OUT_(), vm_now_ = vm_now_saved_, vm_bit_ = vm_bit_saved_, vm_lines_ = vm_lines_saved_, \
     (void)0)
#else
#define vm_now_        vm_hot.now
#define vm_bit_        vm_hot.bit
#define vm_lines_      vm_hot.lines
#define VM_OUT_()      (void)0
#define VM_CALL_(call) (call)
#define VM_DO_(call)   (call)
#define host_enter()   (void)0
#define host_leave()   (void)0
#endif

/* Who answers what a rule or a seed decides otherwise; NULL: nobody (choose.c). */
OWN_DATA struct chooser *vm_chooser_;

/* Lets everybody go who is due before the running thread; comes back when it is its turn. */
void vm_yield_(void);

#define VM_LIKELY(x) __builtin_expect(!!(x), 1)

static inline __attribute__((always_inline)) void vm_point_(void)
{
    if (!VM_LIKELY(vm_now_ < vm_hot.horizon))
        VM_DO_(vm_yield_());
}

/* The rest of the two below: another CPU has to give the line up. */
void vm_read_miss_(const volatile void *p, enum cost_atomic kind);
void vm_write_miss_(const volatile void *p, enum cost_atomic kind);

#define VM_INLINE static inline __attribute__((always_inline))

/* Every ATOMIC of a world is in its arena: no other address has a line. Only builds with
 * AddressSanitizer look. */
void vm_check_line_(const volatile void *p);

VM_INLINE unsigned long long *vm_line_(const volatile void *p)
{
#if defined(GMPSIM_ASAN)
    vm_check_line_(p);
#endif
    return (unsigned long long *)(vm_lines_ + ((uintptr_t)p >> 6) * sizeof(long long));
}

VM_INLINE void vm_read_(const volatile void *p, enum cost_atomic kind)
{
    if (VM_LIKELY(*vm_line_(p) & vm_bit_))
        vm_now_ += vm_hot.atomic[kind].hit;
    else
        VM_DO_(vm_read_miss_(p, kind));
}

VM_INLINE void vm_write_(const volatile void *p, enum cost_atomic kind)
{
    if (VM_LIKELY(*vm_line_(p) == vm_bit_))
        vm_now_ += vm_hot.atomic[kind].hit;
    else
        VM_DO_(vm_write_miss_(p, kind));
}

static inline void vm_first_(const volatile void *p)
{
    if (vm_bit_)
        *vm_line_(p) = vm_bit_;
}

#endif
