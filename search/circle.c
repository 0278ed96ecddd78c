/* SPDX-License-Identifier: BSD-3-Clause */
/* Who has which lock is read off the code: between the begin of its function and where it is, in
 * each of its frames, a goroutine has taken and not given it. That is right for code without
 * branches whose loops give back what they take, as programs made of recordings are; only those
 * come here. A Mutex has no owner to ask. */
#include "search/circle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/prog.h"
#include "run/host.h"
#include "run/result.h"
#include "run/window.h"

enum { WAITERS_MAX = 64, HELD_MAX = 16, FRAMES_MAX = 16 };

struct waiter {
    const struct run_g *g;
    uint32_t line;
    int32_t wants;
    bool reads, out; /* out: not in a circle */
    int32_t held[HELD_MAX];
    bool held_to_read[HELD_MAX];
    int nheld;
};

static bool takes(uint16_t op)
{
    return op == OP_LOCK || op == OP_WLOCK || op == OP_RLOCK || op == OP_TRYLOCK ||
           op == OP_TRYWLOCK || op == OP_TRYRLOCK;
}

static bool to_read(uint16_t op) { return op == OP_RLOCK || op == OP_TRYRLOCK; }

static void gives_back(struct waiter *w, int32_t object)
{
    for (int i = w->nheld; i-- > 0;)
        if (w->held[i] == object) {
            w->held[i] = w->held[--w->nheld];
            w->held_to_read[i] = w->held_to_read[w->nheld];
            return;
        }
}

static void walk(struct waiter *w, const struct program *p, uint32_t pc)
{
    int32_t func = program_func_at(p, pc);
    for (uint32_t at = func >= 0 ? p->funcs[func].entry : pc; at < pc; at++) {
        const struct insn *in = &p->code[at];
        if (takes(in->op) && w->nheld < HELD_MAX) {
            w->held_to_read[w->nheld] = to_read(in->op);
            w->held[w->nheld++] = in->d;
        } else if (in->op == OP_UNLOCK || in->op == OP_WUNLOCK || in->op == OP_RUNLOCK) {
            gives_back(w, in->d);
        }
    }
}

/* False: it does not wait for a lock. */
static bool look(struct waiter *w, const struct program *p, const struct run_g *g)
{
    uint32_t pcs[FRAMES_MAX];
    struct look_doing is;
    const struct runtime *world = core_explore.runtime();
    size_t n = host_explore.window->frames(world, g->goid, pcs, FRAMES_MAX);
    if (n == 0 || n > FRAMES_MAX || !host_explore.window->doing(world, p, g->goid, &is) ||
        !is.waits || !takes(p->code[is.pc].op))
        return false;
    pcs[0] = is.pc;
    *w = (struct waiter){
        .g = g, .line = is.line, .wants = p->code[is.pc].d, .reads = to_read(p->code[is.pc].op)};
    for (size_t i = n; i-- > 0;)
        walk(w, p, pcs[i]);
    return w->wants >= 0;
}

static bool keeps_out(const struct waiter *holder, const struct waiter *w)
{
    for (int i = 0; i < holder->nheld; i++)
        if (holder->held[i] == w->wants && !(holder->held_to_read[i] && w->reads))
            return true;
    return false;
}

/* Whoever is kept out by nobody who waits is in no circle; then others are not, either. */
static bool leave_out(struct waiter *all, int n)
{
    bool any = false;
    for (int i = 0; i < n; i++) {
        bool kept = all[i].out;
        for (int k = 0; k < n && !kept; k++)
            kept = !all[k].out && keeps_out(&all[k], &all[i]);
        any |= !kept;
        all[i].out |= !kept;
    }
    return any;
}

/* In the words of Go's deadlock. */
static void tell(const struct waiter *all, int n, char *text, size_t size)
{
    snprintf(text, size, "a circle of locks: none of these can ever go on");
    for (int i = 0; i < n; i++) {
        size_t used = strlen(text);
        if (!all[i].out)
            snprintf(text + used, size - used,
                     "\n\ngoroutine %" PRIu64 " [%s]:\nmain.%s (line %" PRIu32 ")", all[i].g->goid,
                     all[i].g->is->reason, all[i].g->is->func, all[i].line);
    }
}

bool circle_of_locks(const struct run_result *r, char *text, size_t size)
{
    static struct waiter all[WAITERS_MAX];
    bool any = false;
    int n = 0;
    for (size_t i = 0; i < r->ngs && n < WAITERS_MAX; i++)
        n += look(&all[n], r->program, &r->gs[i]);
    while (leave_out(all, n))
        ;
    for (int i = 0; i < n; i++)
        any |= !all[i].out;
    if (any)
        tell(all, n, text, size);
    return any;
}
