/* SPDX-License-Identifier: BSD-3-Clause */
#include "run/ops.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/window.h"

enum { PS_PER_US = 1000000, LINE = 400, NAME = LOOK_NAME_SIZE, PLACE = 64 };

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
    else if (strcmp(op->site->verb, "load") == 0)
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
             time_column(op->time_ps, time), thread_text(op->m, op->p, thread), s->verb, s->order,
             field, change_text(op, change), s->func, slash != NULL ? slash + 1 : s->file, s->line);
    return line;
}

const char *op_event_text(const struct event_rec *rec)
{
    static char line[LINE];
    char time[PLACE], thread[PLACE], text[LINE / 2];
    const struct event_info *info = &event_infos[rec->type];
    int n = snprintf(text, sizeof text, "%s", info->name);
    if (rec->g != EVENT_NO_G)
        n += snprintf(text + n, sizeof text - (size_t)n, " g%" PRIu32, rec->g);
    for (const struct event_field *f = info->fields; f->name != NULL && n < (int)sizeof text; f++) {
        char value[PLACE];
        event_value_text((enum ev_type)f->type, event_field(rec, f), value, sizeof value);
        n += snprintf(text + n, sizeof text - (size_t)n, " %s=%s", f->name, value);
    }
    snprintf(line, sizeof line, "%8s %16s %s == %s", "", time_column(rec->time, time),
             thread_text(rec->m, rec->p, thread), text);
    return line;
}
