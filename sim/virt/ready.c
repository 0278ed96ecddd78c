/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/virt/ready.h"

#include <assert.h>

static struct vm_ready *const r = &vm_w_.ready;

static void rebuild(void)
{
    for (size_t i = r->capacity; i-- > 1;) {
        uint64_t a = r->node[2 * i], b = r->node[2 * i + 1];

        r->node[i] = a < b ? a : b;
    }
}

/* Leaves keep their numbers; the array for the largest size is there from the start (node_room). */
static void resize(uint32_t capacity)
{
    uint32_t keep = capacity < r->capacity ? capacity : r->capacity;
    uint64_t *from = r->node + r->capacity, *to = r->node + capacity;

    assert(r->count <= capacity);
    if (to > from) {
        for (uint32_t i = keep; i-- > 0;)
            to[i] = from[i];
    } else {
        for (uint32_t i = 0; i < keep; i++)
            to[i] = from[i];
    }
    for (uint32_t i = r->count; i < capacity; i++)
        to[i] = VM_NEVER;
    r->capacity = capacity;
    rebuild();
}

/* Room for `count` leaves: doubling copies cost at most as much arena again. */
static void make_room(uint32_t count)
{
    uint64_t *node;

    if (count <= r->room)
        return;
    r->room = r->room ? r->room * 2 : 16;
    node = arena_array(&vm_w_.arena, uint64_t, 2 * (size_t)r->room);
    if (r->node)
        for (size_t i = 0; i < 2 * (size_t)r->capacity; i++)
            node[i] = r->node[i];
    r->node = node;
}

void vm_ready_init_(void)
{
    *r = (struct vm_ready){0};
    make_room(1);
    r->capacity = 1;
    r->node[1] = VM_NEVER;
}

void vm_ready_add_(struct vm_thread *t)
{
    assert(t->leaf == VM_NO_LEAF);
    if (t->clock - r->epoch >= VM_READY_SPAN)
        vm_ready_rebase_();
    if (t->clock - r->epoch >= VM_READY_SPAN) {
        t->event = vm_event_(t->clock, VE_RUN, t->id);
        return;
    }
    if (r->count == r->capacity) {
        make_room(2 * r->capacity);
        resize(2 * r->capacity);
    }
    t->leaf = r->count++;
    vm_ready_set_(t->leaf, vm_ready_key_(t->clock, t->f.rank));
    vm_lower_horizon_(t);
}

void vm_ready_remove_(struct vm_thread *t)
{
    uint32_t last = r->count - 1;

    if (t->leaf == VM_NO_LEAF) { /* far ahead, or standing in vm_dispatch_ */
        vm_event_cancel_(VE_RUN, &t->event);
        return;
    }
    if (t->leaf != last) {
        uint64_t key = r->node[r->capacity + last];

        vm_ready_thread_(key)->leaf = t->leaf;
        vm_ready_set_(t->leaf, key);
    }
    vm_ready_set_(last, VM_NEVER);
    r->count = last;
    t->leaf = VM_NO_LEAF;
    if (r->capacity > 4 && r->count <= r->capacity / 4)
        resize(r->capacity / 2);
}

/* Moves the epoch to the earliest instant at which anything can still happen. */
void vm_ready_rebase_(void)
{
    uint64_t epoch = vm_ready_time_(vm_ready_top_()), step;

    if (vm_hot.now < epoch)
        epoch = vm_hot.now;
    if (vm_w_.next_ev < epoch)
        epoch = vm_w_.next_ev;
    if (epoch <= r->epoch)
        return;
    step = epoch - r->epoch;
    for (uint32_t i = 0; i < r->count; i++)
        r->node[r->capacity + i] -= step << VM_RANK_BITS;
    r->epoch = epoch;
    if (r->capacity > 1)
        rebuild();
}
