/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h for whoever looks: the window is that of the host whose world exists. */
#include "run/host.h"
#include "run/window.h"

static const struct window *window(void) { return world_host()->window; }

static const struct runtime *world(void) { return world_host()->core->runtime(); }

void look_where(const struct program *program, int32_t m, struct look_where *out)
{
    window()->where(world(), program, m, out);
}

void look_sched(struct look_sched *s) { window()->sched(world(), s); }

void look_p(int32_t id, struct look_p *out) { window()->p(world(), id, out); }

size_t look_ring(int32_t id, uint64_t *out, size_t max)
{
    return window()->ring(world(), id, out, max);
}

size_t look_timers(int32_t id, struct look_timer *out, size_t max)
{
    return window()->timers(world(), id, out, max);
}

size_t look_globrunq(uint64_t *out, size_t max) { return window()->globrunq(world(), out, max); }

bool look_m(int64_t id, struct look_m *out) { return window()->m(world(), id, out); }

struct run_g *look_gs(const struct program *program, bool system, size_t *count)
{
    return window()->gs(world(), program, system, count);
}

bool look_doing(const struct program *program, uint64_t goid, struct look_doing *out)
{
    return window()->doing(world(), program, goid, out);
}

bool look_object(const struct program *program, int64_t handle, struct look_object *out)
{
    return window()->object(world(), program, handle, out);
}

size_t look_frames(uint64_t goid, uint32_t *pcs, size_t max)
{
    return window()->frames(world(), goid, pcs, max);
}

bool look_lock(const struct program *program, int32_t m, enum race_edge edge, uint64_t addr,
               struct look_lock *out)
{
    return window()->lock(world(), program, m, edge, addr, out);
}

const char *look_name(uintptr_t addr, char *buf) { return window()->name(world(), addr, buf); }
