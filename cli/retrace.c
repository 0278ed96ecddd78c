/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim replay of a recorded Go trace. */
#include "cli/retrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out.h"
#include "replay/trace.h"
#include "sim/base/text.h"

enum { HEAD = 64 };

bool is_trace(const char *path)
{
    char head[HEAD] = {0};
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return false;
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return trace_looks_like(head, n);
}

struct scenario *retrace_scenario(const char *path, struct costs *costs)
{
    struct failure f = {0};
    struct replay rp;
    struct replay_opts o = {.event_ns = -1, .wake_ns = -1};
    if (!replay_open(&f, path, &o, &rp))
        cli_fail(&f);
    struct scenario *s = replay_take_scenario(&rp);
    *costs = rp.costs;
    replay_close(&rp);
    return s;
}

/* "sleeps,network": passes that are left out. */
static uint64_t passes_of(const char *list)
{
    uint64_t off = 0;
    while (list != NULL && *list != 0) {
        size_t n = strcspn(list, ",");
        char name[40];
        int i = 0;
        snprintf(name, sizeof name, "%.*s", (int)n, list);
        while (i < INFER_COUNT && strcmp(infer_names[i], name) != 0)
            i++;
        if (i == INFER_COUNT)
            cli_die(EXIT_USAGE, "--without: no pass '%s'; is it '%s'?", name,
                    cli_nearest(name, infer_names) != NULL ? cli_nearest(name, infer_names)
                                                           : infer_names[0]);
        off |= UINT64_C(1) << i;
        list += n + (list[n] == ',');
    }
    return off;
}

static double percent(int64_t was, int64_t is)
{
    return was > 0 ? 100.0 * ((double)is - (double)was) / (double)was : 0.0;
}

static void line(const char *what, const int64_t v[2])
{
    printf("  %-22s %12s %12s   %+.1f %%\n", what, time_text(v[0]), time_text(v[1]),
           percent(v[0], v[1]));
}

static void count_line(const char *what, const uint64_t v[2])
{
    printf("  %-22s %12" PRIu64 " %12" PRIu64 "   %+.1f %%\n", what, v[0], v[1],
           percent((int64_t)v[0], (int64_t)v[1]));
}

static void print_found(const struct replay *rp)
{
    printf("\nconcluded\n");
    for (int i = 0; i < INFER_COUNT; i++) {
        const struct infer_found *f = &rp->infer.found[i];
        bool off = (rp->infer.off >> i & 1) != 0;
        if (f->of > 0 || off)
            printf("  %-50s %" PRIu64 " of %" PRIu64 "%s%s\n", infer_whats[i], f->count, f->of,
                   off               ? ", switched off"
                   : f->text[0] != 0 ? ", "
                                     : "",
                   f->text);
    }
}

enum { STUCK_SHOWN = 60 };

/* Whose wake is missing, first of all. */
static void print_stuck(const struct run_result *q)
{
    printf("\nthe replay did not come to its end: %s %s\n", run_verdict(q), q->text);
    for (size_t i = 0, shown = 0; i < q->ngs && shown < STUCK_SHOWN; i++, shown++)
        printf("  goroutine %" PRIu64 " [%s] %s\n", q->gs[i].goid,
               q->gs[i].is->reason[0] != 0 ? q->gs[i].is->reason : q->gs[i].is->status,
               q->gs[i].is->group);
}

static void print_text(const struct retrace_args *a, const struct agreement *g,
                       const struct run_result *q)
{
    const struct recording *r = a->rp.rec;
    printf("%s: Go 1.%d, GOMAXPROCS %d, %s, %" PRIu32 " goroutines, %" PRIu32 " waits\n",
           text_line(a->m.scenario->name), r->version, r->procs, time_text(r->length), r->ngs,
           r->nwaits);
    for (int i = 0; i < r->nnotes; i++)
        printf("note: %s\n", r->notes[i]);
    print_found(&a->rp);
    if (a->rp.left_out > 0)
        printf("  %" PRIu32
               " channels are replayed as they were recorded: at the recorded settings the"
               " program\n  does not come to its end otherwise\n",
               a->rp.left_out);
    if (!g->finished)
        print_stuck(q);
    printf("\n%-24s %12s %12s\n", "", "recorded", "replayed");
    line("makespan", g->makespan);
    line("goroutines ran", g->cpu);
    line("run-queue wait, p50", g->wait_p50);
    line("run-queue wait, p90", g->wait_p90);
    line("run-queue wait, p99", g->wait_p99);
    line("run-queue wait, sum", g->wait_sum);
    count_line("starts", g->starts);
    printf("  %-22s %10.1f %% %10.1f %%\n", "Ps in use", g->utilisation[0] / 10.0,
           g->utilisation[1] / 10.0);
    if (g->tokens > 0)
        printf("\nwaits replayed as they were recorded: %" PRIu64 ", of which %" PRIu64
               " had been ended before they began\n",
               g->tokens, g->early);
}

static void add_pair(cJSON *j, const char *name, double was, double is)
{
    cJSON *pair = cJSON_AddObjectToObject(j, name);
    cJSON_AddNumberToObject(pair, "recorded", was);
    cJSON_AddNumberToObject(pair, "replayed", is);
}

static cJSON *trust_json(const struct trust *t)
{
    cJSON *j = cJSON_CreateObject(), *notes = cJSON_AddArrayToObject(j, "notes");
    cJSON *reasons = cJSON_AddArrayToObject(j, "reasons");
    cJSON_AddNumberToObject(j, "self", t->self / 1000.0);
    cJSON_AddNumberToObject(j, "below", t->below / 1000.0);
    cJSON_AddNumberToObject(j, "above", t->above / 1000.0);
    cJSON_AddNumberToObject(j, "order", t->order / 1000.0);
    cJSON_AddNumberToObject(j, "early_share", t->early / 1000.0);
    cJSON_AddNumberToObject(j, "outside", t->outside / 1000.0);
    cJSON_AddNumberToObject(j, "net", t->net / 1000.0);
    cJSON_AddNumberToObject(j, "locked", t->locked / 1000.0);
    cJSON_AddNumberToObject(j, "tracer", t->tracer / 1000.0);
    cJSON_AddNumberToObject(j, "hidden", t->hidden / 1000.0);
    cJSON_AddNumberToObject(j, "tries", t->tries / 1000.0);
    cJSON_AddNumberToObject(j, "deadlines", t->deadlines / 1000.0);
    cJSON_AddNumberToObject(j, "freed", t->freed / 1000.0);
    cJSON_AddNumberToObject(j, "serial", t->serial / 1000.0);
    cJSON_AddNumberToObject(j, "gc", t->gc / 1000.0);
    for (int i = 0; i < t->nparts; i++) {
        cJSON *part = cJSON_CreateObject();
        cJSON_AddStringToObject(part, "why", t->parts[i].why);
        cJSON_AddNumberToObject(part, "below", t->parts[i].below / 1000.0);
        cJSON_AddNumberToObject(part, "above", t->parts[i].above / 1000.0);
        cJSON_AddItemToArray(reasons, part);
    }
    cJSON_AddBoolToObject(j, "worthless", t->worthless);
    cJSON_AddStringToObject(j, "why", t->why);
    for (int i = 0; i < t->nnotes; i++)
        cJSON_AddItemToArray(notes, cJSON_CreateString(t->notes[i]));
    return j;
}

static void print_json(const struct retrace_args *a, const struct agreement *g,
                       const struct run_result *q, const struct trust *t)
{
    cJSON *j = cJSON_CreateObject(), *passes = cJSON_AddObjectToObject(j, "concluded");
    cJSON_AddStringToObject(j, "trace", a->m.file);
    cJSON_AddNumberToObject(j, "version", a->rp.rec->version);
    cJSON_AddNumberToObject(j, "recorded_procs", a->rp.rec->procs);
    cJSON_AddStringToObject(j, "verdict", run_verdict(q));
    for (int i = 0; i < INFER_COUNT; i++) {
        cJSON *p = cJSON_AddObjectToObject(passes, infer_names[i]);
        cJSON_AddNumberToObject(p, "count", (double)a->rp.infer.found[i].count);
        cJSON_AddNumberToObject(p, "of", (double)a->rp.infer.found[i].of);
        cJSON_AddNumberToObject(p, "confidence", a->rp.infer.found[i].confidence / 1000.0);
    }
    add_pair(j, "makespan_ns", (double)g->makespan[0], (double)g->makespan[1]);
    add_pair(j, "cpu_ns", (double)g->cpu[0], (double)g->cpu[1]);
    add_pair(j, "wait_p50_ns", (double)g->wait_p50[0], (double)g->wait_p50[1]);
    add_pair(j, "wait_p90_ns", (double)g->wait_p90[0], (double)g->wait_p90[1]);
    add_pair(j, "wait_p99_ns", (double)g->wait_p99[0], (double)g->wait_p99[1]);
    add_pair(j, "wait_sum_ns", (double)g->wait_sum[0], (double)g->wait_sum[1]);
    add_pair(j, "starts", (double)g->starts[0], (double)g->starts[1]);
    cJSON_AddNumberToObject(j, "deep", (double)a->rp.rec->deep);
    cJSON_AddNumberToObject(j, "left_out", a->rp.left_out);
    cJSON_AddNumberToObject(j, "tokens", (double)g->tokens);
    cJSON_AddNumberToObject(j, "early", (double)g->early);
    cJSON_AddItemToObject(j, "trust", trust_json(t));
    out_json(j);
}

/* ---- trust ---- */

static void run_or_die(struct run *r, const struct run_opts *o)
{
    struct failure f = {0};
    if (!run_all(&f, r, o))
        cli_fail(&f);
    if (r->result.end == END_LIMIT)
        cli_die(EXIT_USAGE, "%s", r->result.text);
}

static void agree_at(struct replay *rp, const struct scenario *s, int32_t procs,
                     struct agreement *g)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    if (!run_opts_of(&f, s, 0, &o))
        cli_fail(&f);
    if (procs > 0)
        o.procs = procs;
    o.costs = &rp->costs;
    run_or_die(&r, &o);
    validate(rp, &o, &r.result, g);
    run_free(&r);
}

/* The same without the recorded order; not of a long recording, of which a second program would
 * not fit beside the first. What happens then is nobody's run: it may panic. */
static void agree_free(struct replay *rp, const struct run_opts *asked, struct agreement *g)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o = *asked;
    *g = (struct agreement){0};
    if (rp->rec->nbytes > REPLAY_TWICE_MAX || asked->host != NULL)
        return;
    rp->tape.free = true;
    replay_make(rp);
    o.program = &rp->scenario->program;
    if (run_all(&f, &r, &o))
        validate(rp, &o, &r.result, g);
    run_free(&r);
    rp->tape.free = false;
}

static void print_trust(FILE *to, const struct trust *t)
{
    fprintf(to,
            "\nnine times of ten the truth is within -%d.%d %% and +%d.%d %% of the answer (at the "
            "recorded settings the replay is off by %+.1f %%)\n",
            t->below / 10, t->below % 10, t->above / 10, t->above % 10, t->self / 10.0);
    for (int i = 0; i < t->nparts; i++)
        fprintf(to, "  -%d.%d %% +%d.%d %%  %s\n", t->parts[i].below / 10, t->parts[i].below % 10,
                t->parts[i].above / 10, t->parts[i].above % 10, t->parts[i].why);
    for (int i = 0; i < t->nnotes; i++)
        fprintf(to, "  - %s\n", t->notes[i]);
    if (t->worthless)
        fprintf(to, "worthless: %s\n", t->why);
}

/* Is any setting asked about that is not the recorded one? */
static bool is_other(const struct machine *m, int32_t recorded_procs)
{
    struct machine rest = *m;
    if (rest.procs == recorded_procs)
        rest.procs = 0;
    return machine_is_said(&rest);
}

_Noreturn static void refuse(const struct trust *t)
{
    cli_die(EXIT_USAGE, "an answer would be worthless: %s; --anyway gives it", t->why);
}

/* What is asked at so many Ps stands on; the widest is kept. */
static void widest(struct replay *rp, const struct agreement *base, int32_t procs, struct trust *t)
{
    struct trust_runs runs = {.base = *base, .procs = procs, .other = true};
    struct failure f = {0};
    struct run_opts o;
    struct trust at;
    if (!run_opts_of(&f, rp->scenario, 0, &o))
        cli_fail(&f);
    o.procs = procs > 0 ? procs : o.procs;
    o.costs = &rp->costs;
    agree_free(rp, &o, &runs.free);
    replay_make(rp);
    agree_at(rp, rp->scenario, procs, &runs.is);
    trust_of(rp, &runs, &at);
    if (trust_width(&at) >= trust_width(t) || at.worthless > t->worthless)
        *t = at;
}

void retrace_trust(const char *path, const struct axis *procs, bool anyway)
{
    struct failure f = {0};
    struct replay rp;
    struct replay_opts o = {.event_ns = -1, .wake_ns = -1};
    struct agreement base;
    struct trust t = {0};
    if (!is_trace(path))
        return;
    if (!replay_open(&f, path, &o, &rp))
        cli_fail(&f);
    agree_at(&rp, rp.scenario, rp.rec->procs, &base);
    int64_t low = rp.rec->procs, high = low, n;
    for (int i = 0; i < procs->count; i++)
        if (procs->values[i] != NULL && parse_int(procs->values[i], &n)) {
            low = n < low ? n : low;
            high = n > high ? n : high;
        }
    widest(&rp, &base, (int32_t)low, &t);
    if (high != low)
        widest(&rp, &base, (int32_t)high, &t);
    if (t.worthless && !anyway)
        refuse(&t);
    print_trust(stderr, &t);
    replay_close(&rp);
}

int replay_trace(struct retrace_args *a, const char *path)
{
    static struct run r;
    struct failure f = {0};
    struct trust_runs runs;
    struct trust t;
    struct replay_opts o = {.window = a->window,
                            .off = passes_of(a->without),
                            .event_ns = a->event_ns,
                            .wake_ns = a->wake_ns};
    if (!replay_open(&f, path, &o, &a->rp))
        cli_fail(&f);
    agree_at(&a->rp, a->rp.scenario, a->rp.rec->procs, &runs.base);
    machine_load_scenario(&a->m, path, replay_take_scenario(&a->rp), &a->o);
    if (a->o.costs == NULL)
        a->o.costs = &a->rp.costs;
    agree_free(&a->rp, &a->o, &runs.free);
    run_or_die(&r, &a->o);
    validate(&a->rp, &a->o, &r.result, &runs.is);
    runs.procs = a->o.procs;
    runs.other = is_other(&a->m, a->rp.rec->procs);
    trust_of(&a->rp, &runs, &t);
    if (t.worthless && t.other && !a->anyway)
        refuse(&t);
    if (a->json) {
        print_json(a, &runs.is, &r.result, &t);
    } else {
        print_text(a, &runs.is, &r.result);
        print_trust(stdout, &t);
    }
    run_free(&r);
    machine_release_all(&a->m);
    replay_close(&a->rp);
    return EXIT_CLEAN;
}
