/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/finding.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/machine.h"
#include "cli/out.h"
#include "sim/base/fingerprint.h"
#include "sim/base/text.h"

const char *world_text(const struct explored_opts *o)
{
    static char text[200];
    size_t n = (size_t)snprintf(text, sizeof text, "%s", profile_name(o->profile.release));
    if (o->procs > 0)
        n += (size_t)snprintf(text + n, sizeof text - n, ", procs %d", o->procs);
    if (o->memory != MM_SC)
        n += (size_t)snprintf(text + n, sizeof text - n, ", memory %s", mm_kind_name(o->memory));
    snprintf(text + n, sizeof text - n, ", start %s", explored_start_name(o->start));
    return text;
}

uint64_t seed_of_text(const char *text)
{
    struct fingerprint h;
    char *end;
    uint64_t v = strtoull(text, &end, 0);
    if (end != text && *end == 0 && *text != '-')
        return v;
    fp_init(&h);
    fp_mix_bytes(&h, text, strlen(text));
    return fp_value(&h);
}

void finding_write(const struct finding *x, const char *scenario, const char *path)
{
    static struct schedule s;
    struct failure f = {0};
    schedule_init(&s);
    if (finding_save(&f, x, scenario, &s) < 0 || schedule_save(&s, &f, path) < 0)
        cli_fail(&f);
    schedule_release(&s);
}

const char *finding_word(const char *path)
{
    static char word[4096], from_here[4096];
    /* a name that begins with a dash is no option */
    snprintf(from_here, sizeof from_here, "%s%s", path[0] == '-' ? "./" : "", path);
    return text_in(word, sizeof word, TEXT_SHELL, from_here);
}

void finding_print(FILE *to, const struct finding *x, const struct shrink_result *shrunk)
{
    fprintf(to, "%s: %s\n\n", text_line(x->world.scenario->name), x->verdict.what);
    text_put(to, TEXT_LINES, x->verdict.text);
    fputs("\n\n", to);
    if (x->world.scenario->bugs != NULL)
        fprintf(to, "this is %s the file describes\n\n",
                x->verdict.known ? "the bug that" : "not the bug that");
    fprintf(to, "%s\n", world_text(&x->world));
    if (shrunk != NULL)
        fprintf(to,
                "%zu preemptions (%zu before shrinking), %zu %s (%zu), %zu answers that are not "
                "the dull one (%zu), %" PRIu64 " points (%" PRIu64 "); %s after %" PRIu64 " runs\n",
                shrunk->after.preemptions, shrunk->before.preemptions, shrunk->after.actors,
                x->world.granularity == GRANULARITY_SYNC ? "goroutines" : "threads",
                shrunk->before.actors, shrunk->after.choices, shrunk->before.choices,
                shrunk->after.steps, shrunk->before.steps,
                shrunk->minimal ? "no single one can go" : "the budget was spent", shrunk->runs);
    if (x->repeat > 0)
        fprintf(to, "a round for ever: after %zu answers the last %zu come over and over\n",
                x->count, x->repeat);
}

static void weight_json(cJSON *j, const char *when, const struct shrink_weight *w)
{
    const struct {
        const char *name;
        uint64_t value;
    } parts[] = {{"preemptions", w->preemptions},
                 {"actors", w->actors},
                 {"choices", w->choices},
                 {"steps", w->steps}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s%s", parts[i].name, when);
        cJSON_AddNumberToObject(j, name, (double)parts[i].value);
    }
}

cJSON *finding_json(const struct finding *x, const struct shrink_result *shrunk)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddStringToObject(j, "verdict", x->verdict.what);
    cJSON_AddStringToObject(j, "text", x->verdict.text);
    if (x->world.scenario->bugs != NULL)
        cJSON_AddBoolToObject(j, "known_bug", x->verdict.known);
    cJSON_AddStringToObject(j, "profile", profile_name(x->world.profile.release));
    cJSON_AddNumberToObject(j, "procs", x->world.procs);
    cJSON_AddStringToObject(j, "memory", mm_kind_name(x->world.memory));
    out_hash(j, "fingerprint", x->fingerprint);
    cJSON_AddNumberToObject(j, "points", (double)x->steps);
    cJSON_AddNumberToObject(j, "answers", (double)x->count);
    if (shrunk != NULL) {
        weight_json(j, "", &shrunk->after);
        weight_json(j, "_before", &shrunk->before);
        cJSON_AddBoolToObject(j, "minimal", shrunk->minimal);
    }
    return j;
}
