/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/finding_page.h"

#include <stdlib.h>

#include "scenarios/places.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"

void finding_page_tell(FILE *to, const struct scenario *s, const struct history *h,
                       const char *file, size_t rows_max)
{
    char *page = NULL;
    size_t size = 0;
    FILE *own = x_memstream(&page, &size);
    history_print(own, h, file, rows_max);
    x_memstream_close(own, &page);
    char *told = scenario_tell_page(s, text_line(file), page);
    fputs(told, to);
    free(told);
    free(page);
}

/* ---- JSON ---- */

static void json_row(cJSON *to, const char *name, int32_t row)
{
    if (row != ROW_NONE)
        cJSON_AddNumberToObject(to, name, row + 1);
}

static cJSON *stuck_json(const struct history_stuck *s)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddNumberToObject(j, "goroutine", s->goid);
    cJSON_AddStringToObject(j, "group", s->name);
    cJSON_AddStringToObject(j, "reason", s->reason);
    cJSON_AddNumberToObject(j, "line", s->line);
    cJSON_AddStringToObject(j, "object", s->on);
    cJSON_AddStringToObject(j, "state", s->state);
    cJSON_AddBoolToObject(j, "leaked", s->leaked);
    json_row(j, "since", s->since);
    cJSON *held = cJSON_AddArrayToObject(j, "held_by");
    for (int i = 0; i < s->holders; i++) {
        cJSON *by = cJSON_CreateObject();
        cJSON_AddNumberToObject(by, "goroutine", s->holder[i].goid);
        cJSON_AddNumberToObject(by, "line", s->holder[i].line);
        json_row(by, "turn", s->holder[i].row);
        cJSON_AddItemToArray(held, by);
    }
    return j;
}

static cJSON *row_json(const struct history *h, size_t at)
{
    const struct history_row *r = &h->rows[at];
    char text[400];
    cJSON *j = cJSON_CreateObject();
    history_row_text(h, r, text, sizeof text);
    cJSON_AddNumberToObject(j, "turn", (double)at + 1);
    cJSON_AddNumberToObject(j, "goroutine", r->goid);
    cJSON_AddNumberToObject(j, "line", r->line);
    cJSON_AddStringToObject(j, "does", r->what);
    cJSON_AddStringToObject(j, "object", r->on);
    cJSON_AddStringToObject(j, "state", r->state);
    cJSON_AddStringToObject(j, "text", text);
    cJSON_AddBoolToObject(j, "switch", r->switched);
    cJSON_AddBoolToObject(j, "preemption", r->preempts);
    cJSON_AddBoolToObject(j, "waits", r->waits);
    json_row(j, "from", r->from);
    json_row(j, "woken_by", r->woken_by);
    return j;
}

void finding_page_json(cJSON *to, const struct history *h, const char *file)
{
    char text[800];
    cJSON_AddStringToObject(to, "file", file);
    cJSON *stuck = cJSON_AddArrayToObject(to, "stuck");
    for (size_t i = 0; i < h->nstuck; i++)
        cJSON_AddItemToArray(stuck, stuck_json(&h->stuck[i]));
    cJSON_AddStringToObject(to, "circle", h->cycle);
    cJSON *gs = cJSON_AddArrayToObject(to, "goroutines");
    for (size_t i = 0; i < h->ngs; i++) {
        cJSON *g = cJSON_CreateObject();
        cJSON_AddNumberToObject(g, "goroutine", h->gs[i].goid);
        cJSON_AddStringToObject(g, "group", h->gs[i].name);
        cJSON_AddItemToArray(gs, g);
    }
    cJSON *rows = cJSON_AddArrayToObject(to, "turns");
    for (size_t i = 0; i < h->count; i++)
        cJSON_AddItemToArray(rows, row_json(h, i));
    cJSON *pairs = cJSON_AddArrayToObject(to, "decides");
    for (size_t i = 0; i < h->npairs; i++) {
        cJSON *p = cJSON_CreateObject();
        json_row(p, "first", h->pair[i].first);
        json_row(p, "second", h->pair[i].second);
        cJSON_AddStringToObject(p, "instead", h->pair[i].instead);
        history_pair_text(h, &h->pair[i], text, sizeof text);
        cJSON_AddStringToObject(p, "text", text);
        cJSON_AddItemToArray(pairs, p);
    }
    cJSON_AddNumberToObject(to, "orders_tried", (double)h->flips);
    cJSON_AddBoolToObject(to, "all_orders_tried", h->flips_done);
}

void finding_trace_ops(FILE *to, const struct finding *x)
{
    struct failure f = {0};
    if (!history_trace_ops(&f, x, to, 0))
        cli_fail(&f);
}
