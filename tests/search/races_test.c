/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: each edge of Go's memory model orders what it should, and nothing else does. Method: the
 * programs of races.json: with the edge no data race in any schedule tried, without it one in the
 * first; by turns and by operations, as races_test.py does with the command. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "search/hunt.h"
#include "sim/base/alloc.h"

enum { FILE_MAX = 1 << 20, RUNS = 60, RUNS_MAX = 2000 };

static cJSON *edges_of_file(void)
{
    char *text = x_alloc(FILE_MAX);
    FILE *f = fopen(RACES_JSON, "rb");
    CHECK(f != NULL);
    size_t n = fread(text, 1, FILE_MAX - 1, f);
    fclose(f);
    cJSON *all = cJSON_ParseWithLength(text, n);
    free(text);
    CHECK(cJSON_IsArray(all));
    return all;
}

static struct scenario *scenario_of(const cJSON *body)
{
    struct failure f = {0};
    cJSON *whole = cJSON_Duplicate(body, 1);
    cJSON_AddStringToObject(whole, "name", "race");
    cJSON_AddStringToObject(whole, "why", "a test");
    cJSON_AddNumberToObject(whole, "procs", 2);
    cJSON_AddItemToObject(whole, "expect", cJSON_Parse("{\"end\": \"finishes\", \"blocked\": []}"));
    char *text = cJSON_PrintUnformatted(whole);
    struct scenario *s = scenario_load(&f, "race.json", text, strlen(text));
    if (s == NULL)
        FAIL_CASE("%s in %s", f.text, text);
    free(text);
    cJSON_Delete(whole);
    return s;
}

static void try_one(const char *edge, const cJSON *body, enum granularity granularity, bool race)
{
    struct failure f = {0};
    struct hunt_result r;
    struct scenario *s = scenario_of(body);
    struct hunt_opts o = {.world = {.scenario = s,
                                    .procs = s->procs,
                                    .granularity = granularity,
                                    .seed = 1,
                                    .late_max_ns = 500000000,
                                    .steps_max = 100000},
                          .strategy = granularity == GRANULARITY_SYNC ? HUNT_RANDOM : HUNT_POS,
                          .seed = 1,
                          .runs_max = race ? RUNS_MAX : RUNS};
    CHECK(scenario_profile(NULL, s, 0, &o.world.profile));
    if (!hunt(&f, &o, &r))
        FAIL_CASE("%s: %s", edge, f.text);
    bool found = r.end == HUNT_FOUND;
    if (found != race || (found && strcmp(r.finding.verdict.what, "data race") != 0))
        FAIL_CASE("%s, %s: %s", edge, race ? "without it" : "with it",
                  found ? r.finding.verdict.text : "nothing");
    if (found && strstr(r.finding.verdict.text, "data race on x: ") == NULL)
        FAIL_CASE("%s: another variable: %s", edge, r.finding.verdict.text);
    if (found)
        finding_release(&r.finding);
    scenario_free(s);
}

static void all_edges(enum granularity granularity)
{
    cJSON *all = edges_of_file(), *edge;
    cJSON_ArrayForEach (edge, all) {
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(edge, "edge"));
        const cJSON *with = cJSON_GetObjectItem(edge, "with"),
                    *without = cJSON_GetObjectItem(edge, "without");
        if (cJSON_IsObject(with))
            try_one(name, with, granularity, false);
        if (cJSON_IsObject(without))
            try_one(name, without, granularity, true);
    }
    cJSON_Delete(all);
}

TEST_CASE(Races, EachEdgeOrdersByTurns) { all_edges(GRANULARITY_SYNC); }

TEST_CASE(Races, EachEdgeOrdersByOperations) { all_edges(GRANULARITY_OP); }
