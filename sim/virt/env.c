/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment: callbacks at a time, descriptors that become ready, memory, seeds, the ends of
 * the world. */
#include "sim/virt/vm_int.h"

#include <assert.h>
#include <string.h>

#include "sim/virt/host.h"

/* ---- callbacks ---- */

void vm_env_at_(int64_t ns, void (*fn)(void *), void *arg)
{
    struct vm_env_call *c = vm_w_.env_free;
    uint64_t at = ns > 0 ? (uint64_t)ns : 0;

    if (at > VM_TIME_MAX_PS / 1000)
        return; /* the world ends before */
    at *= 1000;
    if (at < vm_hot.now)
        at = vm_hot.now;
    if (at < vm_w_.now)
        at = vm_w_.now;
    if (c)
        vm_w_.env_free = c->next_free;
    else
        c = arena_new(&vm_w_.arena, struct vm_env_call);
    *c = (struct vm_env_call){.fn = fn, .arg = arg};
    vm_event_(at, VE_ENV, arena_offset(&vm_w_.arena, c));
}

void vm_env_call_(uint64_t offset)
{
    struct vm_env_call *c = arena_at(&vm_w_.arena, offset), call = *c;

    c->next_free = vm_w_.env_free;
    vm_w_.env_free = c;
    call.fn(call.arg);
}

/* ---- descriptors ---- */

static struct vm_fds *const f = &vm_w_.fds;

static void fds_room(uint32_t fd)
{
    uint32_t count = f->count ? f->count : 32;
    uint8_t *mode;
    int32_t *next;
    uint64_t *since;

    if (fd < f->count)
        return;
    while (count <= fd)
        count *= 2;
    mode = arena_array(&vm_w_.arena, uint8_t, count);
    next = arena_array(&vm_w_.arena, int32_t, count);
    since = arena_array(&vm_w_.arena, uint64_t, count);
    if (f->count) {
        memcpy(mode, f->mode, f->count * sizeof *mode);
        memcpy(next, f->next, f->count * sizeof *next);
        memcpy(since, f->since, f->count * sizeof *since);
    }
    f->mode = mode;
    f->next = next;
    f->since = since;
    f->count = count;
}

void vm_env_init_(void)
{
    *f = (struct vm_fds){.head = -1, .tail = -1};
    fds_room(0);
}

static void wake_poller(void)
{
    if (f->pollers)
        vm_wake_(f->pollers, vm_hot.now);
}

void vm_env_ready_(int32_t fd, uint32_t mode)
{
    if (fd < 0 || (uint32_t)fd >= VM_FDS_MAX)
        throw("env_ready: descriptor out of range");
    if (mode == 0 || mode > 3)
        throw("env_ready: mode is 1, 2 or 3");
    fds_room((uint32_t)fd);
    if (f->mode[fd] == 0) {
        f->next[fd] = -1;
        if (f->tail >= 0)
            f->next[f->tail] = fd;
        else
            f->head = fd;
        f->tail = fd;
        f->since[fd] = vm_hot.now;
    }
    f->mode[fd] = (uint8_t)(f->mode[fd] | mode);
    wake_poller();
}

/* For who asks what a request waited for: under a quota one is there while nobody may run. */
static void tell_late(int32_t fd)
{
    uint64_t since = f->since[fd];

    if (vm_log_.unmixed && vm_hot.now > since && vm_hot.now - since >= VM_LATE_PS)
        vm_record_late_(vm_cur_(), vm_hot.now, since, (uint32_t)fd);
}

static int32_t take_ready(struct poll_event *ev, int32_t cap, bool blocking)
{
    int32_t n = 0;

    if (blocking && f->brk && cap > 0) {
        f->brk = false;
        ev[n++] = (struct poll_event){.fd = -1, .mode = 1};
    }
    for (; f->head >= 0 && n < cap; n++) {
        int32_t fd = f->head;

        ev[n] = (struct poll_event){.fd = fd, .mode = f->mode[fd]};
        f->mode[fd] = 0;
        f->head = f->next[fd];
        tell_late(fd);
    }
    if (f->head < 0)
        f->tail = -1;
    vm_hot.now += (uint64_t)(uint32_t)n * vm_hot.kind[COST_epoll_event];
    return n;
}

static void poll_sleep(struct vm_thread *t, uint64_t until)
{
    t->next = NULL;
    t->prev = f->pollers_tail;
    if (t->prev)
        t->prev->next = t;
    else
        f->pollers = t;
    f->pollers_tail = t;
    vm_block_(VM_SLEEP_POLL, until);
}

void vm_poll_forget_(struct vm_thread *t)
{
    if (t->prev)
        t->prev->next = t->next;
    else
        f->pollers = t->next;
    if (t->next)
        t->next->prev = t->prev;
    else
        f->pollers_tail = t->prev;
    t->next = t->prev = NULL;
}

/* A poller that finds nothing when it wakes (another one was faster) sleeps on; a signal ends a
 * sleep that has a timeout. */
int32_t vm_netpoll_wait_(int64_t ns, struct poll_event *ev, int32_t cap)
{
    struct vm_thread *t = vm_cur_();
    uint64_t until = VM_NEVER;
    int32_t n;

    vm_point_();
    if (ns >= 0 && (uint64_t)ns < VM_TIME_MAX_PS / 1000)
        until = vm_hot.now + (uint64_t)ns * 1000;
    vm_hot.now += vm_hot.kind[COST_epoll_poll];
    while ((n = take_ready(ev, cap, ns != 0)) == 0 && ns != 0 && vm_hot.now < until) {
        uint64_t signals = t->signals;

        poll_sleep(t, until);
        if (t->signals != signals && ns > 0)
            return take_ready(ev, cap, /*blocking*/ true);
    }
    return n;
}

void vm_netpoll_wakeup_(void)
{
    vm_point_();
    vm_hot.now += vm_hot.kind[COST_epoll_break];
    f->brk = true;
    wake_poller();
}

/* ---- the rest ---- */

int32_t vm_ncpu_(void)
{
    if (vm_w_.opts.ncpu_shown)
        return vm_w_.opts.ncpu_shown;
    return vm_w_.opts.cpus ? vm_w_.opts.cpus : VM_NCPU_DEDICATED;
}

bool vm_quota_(int64_t *quota_us, int64_t *period_us)
{
    vm_point_();
    vm_hot.now += vm_hot.kind[COST_quota_read];
    if (!vm_w_.bw.on)
        return false;
    *quota_us = (int64_t)(vm_w_.bw.quota / 1000000);
    *period_us = vm_w_.opts.period_us;
    return true;
}

uint64_t vm_seed64_(void) { return rng_next(&vm_w_.seeds); }

/* The model's objects come from chunks of their own: where one lies within its cache line, and so
 * what it costs, must not depend on what the host allocates in between. The host's queue of events
 * grows a little earlier when somebody stops the world to look at it. */
void *vm_alloc_(size_t size, size_t align)
{
    struct vm_chunk *c = &vm_w_.chunk;
    size_t at = (c->at + align - 1) & ~(align - 1);

    if (at + size > c->end) {
        bool large = size > VM_CHUNK;
        uintptr_t p = (uintptr_t)arena_alloc(
            &vm_w_.arena, large ? (size + 63) & ~(size_t)63 : VM_CHUNK, align > 64 ? align : 64);

        if (large || p == 0)
            return (void *)p;
        *c = (struct vm_chunk){.at = p, .end = p + VM_CHUNK};
        at = p;
    }
    c->at = at + size;
    return (void *)at;
}

void vm_finding_(int kind, const char *text)
{
    if (!vm_w_.over)
        vm_w_.verdict = (struct world_verdict){.kind = kind,
                                               .text = text,
                                               .m = vm_cur_() ? (int32_t)vm_cur_()->id : -1,
                                               .at_ps = vm_hot.now};
    if (vm_cur_())
        vm_leave_world_(END_FINDING);
    vm_end_(END_FINDING);
}

_Noreturn void vm_stop_(void)
{
    vm_point_();
    vm_leave_world_(END_STOPPED);
}
