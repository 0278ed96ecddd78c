/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequences of statements as lines, each with the place that it comes from. What repeats exactly
 * becomes a loop. */
#include <stdlib.h>
#include <string.h>

#include "replay/import_int.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

enum { PERIOD_MAX = 64 };

/* ---- blocks ---- */

void imp_part(struct imp *t, struct imp_block *b, const char *open, struct imp_seq seq,
              const char *close)
{
    struct imp_part *p;
    POOL_ROOM(t->pool, b->parts, b->nparts, b->room);
    p = &b->parts[b->nparts++];
    p->open = pool_text(t->pool, open);
    p->close = close;
    p->seq = (struct imp_seq){.ids = pool_alloc(t->pool, (seq.count + 1) * sizeof *seq.ids),
                              .count = seq.count};
    if (seq.count > 0)
        memcpy(p->seq.ids, seq.ids, seq.count * sizeof *seq.ids);
}

/* Two that are the same have one number, by a text that no statement has. */
uint32_t imp_block(struct imp *t, const struct imp_block *b)
{
    char *key = NULL;
    size_t size = 0;
    FILE *out = x_memstream(&key, &size);
    fprintf(out, "# %s", b->head);
    for (uint32_t i = 0; i < b->nparts; i++) {
        fputs(b->parts[i].open, out);
        for (uint32_t k = 0; k < b->parts[i].seq.count; k++)
            fprintf(out, ",%u", b->parts[i].seq.ids[k]);
    }
    x_memstream_close(out, &key);
    t->site = REC_NONE;
    uint32_t id = imp_statement(t, key), room = t->blocks_room;
    free(key);
    X_REACH(t->blocks, t->blocks_room, id, id * 2 + 256);
    if (t->blocks_room > room)
        memset(t->blocks + room, 0, (t->blocks_room - room) * sizeof *t->blocks);
    t->blocks[id] = *b;
    t->blocks[id].head = pool_text(t->pool, b->head);
    return id;
}

/* ---- lines ---- */

static void end_line(struct imp *t, uint32_t site)
{
    struct imported *out = t->out;
    uint32_t room = out->nplaces;
    if (t->line >= room) {
        out->nplaces = t->line * 2 + 256;
        out->places = x_grow(out->places, out->nplaces * sizeof *out->places);
        memset(out->places + room, 0, (out->nplaces - room) * sizeof *out->places);
    }
    if (site != 0)
        out->places[t->line] = pool_text(out->pool, rec_site_text(t->r, site - 1));
    t->line++;
}

void imp_line(struct imp *t, const char *text)
{
    fprintf(t->text, "%s\n", text);
    end_line(t, 0);
}

static void statement_lines(struct imp *t, uint32_t id, bool last)
{
    const struct imp_block *b = id < t->blocks_room ? &t->blocks[id] : NULL;
    const char *end = last ? "" : ",";
    if (b == NULL || b->nparts == 0) {
        fprintf(t->text, "%s%s\n", t->statements.text[id], end);
        end_line(t, t->site_of[id]);
        return;
    }
    imp_line(t, b->head);
    for (uint32_t i = 0; i < b->nparts; i++) {
        const struct imp_part *p = &b->parts[i];
        if (p->open[0] != 0)
            imp_line(t, p->open);
        imp_lines(t, &p->seq, false);
        if (p->close[0] != 0)
            imp_line(t, p->close);
    }
    fprintf(t->text, "%s%s\n", b->tail, end);
    end_line(t, 0);
}

/* The best tandem repeat from i on: its period; how often. */
static uint32_t repeats(const struct imp_seq *s, uint32_t i, uint32_t *times)
{
    uint32_t best = 0, gain = 0;
    for (uint32_t p = 1; p <= PERIOD_MAX && i + 2 * p <= s->count; p++) {
        uint32_t n = 0;
        while (i + p + n < s->count && s->ids[i + n] == s->ids[i + p + n])
            n++;
        uint32_t k = n / p + 1;
        if (k >= 2 && (k - 1) * p > gain + 2) {
            gain = (k - 1) * p;
            best = p;
            *times = k;
        }
    }
    return best;
}

void imp_lines(struct imp *t, const struct imp_seq *s, bool more)
{
    for (uint32_t i = 0, times; i < s->count;) {
        uint32_t p = repeats(s, i, &times), end = i + (p > 0 ? p : 1);
        if (p > 0) {
            fprintf(t->text, "{\"loop\": %u, \"do\": [\n", times);
            end_line(t, 0);
        }
        for (uint32_t k = i; k < end; k++)
            statement_lines(t, s->ids[k], k + 1 == end && (p > 0 || (end == s->count && !more)));
        i = p > 0 ? i + p * times : end;
        if (p > 0) {
            fprintf(t->text, "]}%s\n", i == s->count && !more ? "" : ",");
            end_line(t, 0);
        }
    }
}
