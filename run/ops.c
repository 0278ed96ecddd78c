/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled with the virtual host's <host.h>, as the model is. */
#include "run/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/api.h"
#include "model/runtime2.h"
#include "sim/base/alloc.h"
#include "run/run.h"
#include "run/window.h"

enum { PS_PER_US = 1000000, LINE = 400, NAME = LOOK_NAME_SIZE, PLACE = 64 };

/* ---- what an address is part of ---- */

/* Goroutines in order of creation. They come from an arena that only grows, so this is the order of
 * their addresses too; where it is not, a goroutine has no name. */
static struct {
    const struct runtime *of;
    const struct g **items, *last;
    size_t count, room;
} gs;

static void take_new_gs(const struct runtime *w)
{
    if (gs.of != w || (gs.count > 0 && gs.items[0] != w->allgs))
        gs.count = 0, gs.last = NULL, gs.of = w;
    const struct g *gp = gs.last != NULL ? gs.last->alllink : w->allgs;
    for (; gp != NULL; gp = gp->alllink) {
        if (gs.count == gs.room) {
            gs.room = gs.room * 2 + 64;
            gs.items = x_grow(gs.items, gs.room * sizeof *gs.items);
        }
        gs.items[gs.count++] = gs.last = gp;
    }
}

static const struct g *g_at(const struct runtime *w, uintptr_t addr)
{
    take_new_gs(w);
    size_t low = 0, high = gs.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((uintptr_t)gs.items[middle] <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    const struct g *gp = low > 0 ? gs.items[low - 1] : NULL;
    return gp != NULL && addr - (uintptr_t)gp < sizeof *gp ? gp : NULL;
}

static bool is_of_p(uintptr_t addr, const struct p *pp)
{
    return addr - (uintptr_t)pp < sizeof *pp ||
           addr - (uintptr_t)pp->runq < (pp->ringmask + 1) * sizeof *pp->runq;
}

static bool inside(uintptr_t addr, const void *base, size_t size)
{
    return base != NULL && addr - (uintptr_t)base < size;
}

/* Locks look alike in the source (l->word); these have names. */
static const struct part {
    size_t at, size;
    const char *name;
} parts[] = {
#define PART(field)                                                                 \
    {                                                                               \
        offsetof(struct runtime, field), sizeof((struct runtime *)0)->field, #field \
    }
    PART(sched.lock),
    PART(sched.gFree_lock),
    PART(sched.sudoglock),
    PART(sched.sysmonlock),
    PART(allpLock),
    PART(allglock),
    PART(newmHandoff.lock),
    PART(gc.assistLock),
    PART(gc.sweepWaiters),
    PART(gc.sweepLock),
    PART(gc.forcegcLock),
    PART(sched),
    {0, sizeof(struct runtime), "runtime"},
#undef PART
};

static const char *part_of(size_t off)
{
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (off - parts[i].at < parts[i].size)
            return parts[i].name;
    return NULL;
}

const char *look_name(uintptr_t addr, char *buf)
{
    const struct runtime *w = run_core()->runtime();
    const struct g *gp = g_at(w, addr);
    if (gp != NULL) {
        snprintf(buf, NAME, "g%" PRIu32, gp->goid);
        return buf;
    }
    for (int64_t i = 0; i < w->sched.mnext; i++)
        if (inside(addr, w->ms[i], sizeof *w->ms[i])) {
            snprintf(buf, NAME, "M%" PRId64, i);
            return buf;
        }
    for (int32_t i = 0; i < w->allp_cap; i++)
        if (w->allp[i] != NULL && is_of_p(addr, w->allp[i])) {
            snprintf(buf, NAME, "P%d", i);
            return buf;
        }
    const char *part = part_of(addr - (uintptr_t)w);
    if (part != NULL)
        return part;
    snprintf(buf, NAME, "@%" PRIxPTR, addr - (uintptr_t)w);
    return buf;
}

/* ---- a line ---- */

static const char *value_text(enum traced_value kind, uint64_t v, char *buf)
{
    if (kind == TRACED_POINTER && v != 0)
        return look_name((uintptr_t)v, buf);
    if (kind == TRACED_POINTER)
        return "nil";
    if (kind == TRACED_SIGNED)
        snprintf(buf, NAME, "%" PRId64, (int64_t)v);
    else
        snprintf(buf, NAME, v > UINT32_MAX ? "0x%" PRIx64 : "%" PRIu64, v);
    return buf;
}

static const char *change_text(const struct traced_op *op, char *buf)
{
    char a[NAME], b[NAME];
    enum traced_value kind = op->site->value;
    const char *before = value_text(kind, op->before, a);
    if (!op->done)
        snprintf(buf, PLACE * 2, "%s, not %s: fails", before, value_text(kind, op->wanted, b));
    else if (strcmp(op->site->op, "load") == 0)
        snprintf(buf, PLACE * 2, "%s", before);
    else
        snprintf(buf, PLACE * 2, "%s -> %s", before, value_text(kind, op->after, b));
    return buf;
}

static const char *thread_text(uint16_t m, uint16_t p, char *buf)
{
    char mt[8] = "-", pt[8] = "-";
    if (m != EVENT_NO_M)
        snprintf(mt, sizeof mt, "M%u", m);
    if (p != EVENT_NO_P)
        snprintf(pt, sizeof pt, "P%u", p);
    snprintf(buf, PLACE, "%-4s %-4s", mt, pt);
    return buf;
}

static const char *time_column(uint64_t ps, char *buf)
{
    snprintf(buf, PLACE, "%" PRIu64 ".%06" PRIu64 "us", ps / PS_PER_US, ps % PS_PER_US);
    return buf;
}

const char *op_text(const struct traced_op *op)
{
    static char line[LINE];
    char time[PLACE], thread[PLACE], owner[NAME], change[PLACE * 2], field[PLACE * 2];
    const struct traced_site *s = op->site;
    const char *slash = strrchr(s->file, '/');
    snprintf(field, sizeof field, "%s [%s]", s->field + (s->field[0] == '&'),
             look_name((uintptr_t)op->addr, owner));
    snprintf(line, sizeof line, "%8" PRIu64 " %16s %s %-5s %-3s %-32s %-20s %s %s:%u", op->number,
             time_column(op->time_ps, time), thread_text(op->m, op->p, thread), s->op, s->order,
             field, change_text(op, change), s->func, slash != NULL ? slash + 1 : s->file, s->line);
    return line;
}

const char *op_event_text(const struct event_rec *rec)
{
    static char line[LINE];
    char time[PLACE], thread[PLACE], text[LINE / 2];
    const struct event_info *info = &event_infos[rec->type];
    uint64_t args[3] = {rec->a, rec->b, rec->c};
    int n = snprintf(text, sizeof text, "%s", info->name);
    if (rec->g != EVENT_NO_G)
        n += snprintf(text + n, sizeof text - (size_t)n, " g%" PRIu32, rec->g);
    for (int i = 0; i < 3 && n < (int)sizeof text; i++)
        if (info->arg[i][0] != 0)
            n += snprintf(text + n, sizeof text - (size_t)n, " %s=%" PRIu64, info->arg[i], args[i]);
    snprintf(line, sizeof line, "%8s %16s %s == %s", "", time_column(rec->time, time),
             thread_text(rec->m, rec->p, thread), text);
    return line;
}
