/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim inspect: the whole state at an instant, by running up to it. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/machine.h"
#include "run/window.h"

enum { RING_SHOWN = 16, GS_DEFAULT = 100 };

struct inspect {
    struct machine m;
    struct run_opts o;
    int64_t at_ns, gs_max, step_ns;
    bool all, json;
};

static void print_queue(const char *name, const uint64_t *goids, size_t n)
{
    printf("%s [%zu]", name, n);
    for (size_t i = 0; i < n && i < RING_SHOWN; i++)
        printf(" g%" PRIu64, goids[i]);
    fputs(n > RING_SHOWN ? " ..." : "", stdout);
}

static void print_ps(int32_t procs)
{
    uint64_t ring[RING_SHOWN];
    for (int32_t i = 0; i < procs; i++) {
        struct look_p p;
        look_p(i, &p);
        printf("P%-3d %-8s", i, p.status);
        if (p.m >= 0)
            printf(" M%d", p.m);
        if (p.curg != 0)
            printf(" runs g%" PRIu64, p.curg);
        if (p.spinning)
            fputs(" spinning", stdout);
        if (p.runnext != 0)
            printf(" runnext g%" PRIu64, p.runnext);
        print_queue(" ring", ring, look_ring(i, ring, RING_SHOWN));
        printf(" timers %" PRIu32 " schedtick %" PRIu32 " syscalltick %" PRIu32 "\n", p.timers,
               p.schedtick, p.syscalltick);
    }
}

static void print_ms(int64_t ids)
{
    for (int64_t i = 0; i < ids; i++) {
        struct look_m m;
        if (!look_m(i, &m))
            continue;
        printf("M%-3d", m.id);
        if (m.p >= 0)
            printf(" P%d", m.p);
        if (m.curg != 0)
            printf(" runs g%" PRIu64, m.curg);
        if (m.lockedg != 0)
            printf(" locked to g%" PRIu64, m.lockedg);
        printf("%s%s%s\n", m.spinning ? " spinning" : "", m.blocked ? " blocked" : "",
               m.idle ? " idle" : "");
    }
}

static void print_gs(const struct inspect *in, int64_t now_ns)
{
    size_t n;
    struct run_g *gs = look_gs(in->o.program, in->all, &n);
    for (size_t i = 0; i < n && (int64_t)i < in->gs_max; i++) {
        const struct run_g *g = &gs[i];
        printf("g%-5" PRIu64 " %-9s %s", g->goid, g->status, g->group);
        if (g->func[0] != 0)
            printf(" in %s", g->func);
        if (g->line != 0)
            printf(" line %" PRIu32, g->line);
        if (g->reason[0] != 0)
            printf(" [%s, %s]", g->reason, time_text(now_ns - g->since_ns));
        putchar('\n');
    }
    if ((int64_t)n > in->gs_max)
        printf("... and %" PRId64 " more (--gs)\n", (int64_t)n - in->gs_max);
    free(gs);
}

static void print_text(const struct inspect *in, const struct look_sched *s, int64_t now_ns)
{
    static const char *const phases[] = {"off", "mark", "mark termination"};
    uint64_t queue[RING_SHOWN];
    printf("virtual time %s (%" PRId64
           " ns), GOMAXPROCS %d, idle Ps %d, spinning Ms %d, Ms %" PRId64 " of which idle %d%s%s\n",
           time_text(now_ns), now_ns, s->procs, s->npidle, s->nmspinning, s->nm, s->nmidle,
           s->gcwaiting ? ", the world is being stopped" : "",
           s->sysmonwait ? ", sysmon sleeps deeply" : "");
    if (s->gcphase < 3 && s->gcphase != 0)
        printf("GC: %s\n", phases[s->gcphase]);
    print_queue("global queue", queue, look_globrunq(queue, RING_SHOWN));
    fputs("\n\n", stdout);
    print_ps(s->procs);
    putchar('\n');
    print_ms(s->m_ids);
    putchar('\n');
    print_gs(in, now_ns);
}

/* ---- JSON ---- */

static cJSON *queue_json(const uint64_t *goids, size_t n)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)goids[i]));
    return list;
}

static cJSON *p_json(int32_t id)
{
    struct look_p p;
    cJSON *o = cJSON_CreateObject();
    look_p(id, &p);
    uint64_t *ring = run_alloc(p.ring * sizeof *ring);
    cJSON_AddNumberToObject(o, "id", id);
    cJSON_AddStringToObject(o, "status", p.status);
    cJSON_AddNumberToObject(o, "m", p.m);
    cJSON_AddNumberToObject(o, "runs", (double)p.curg);
    cJSON_AddNumberToObject(o, "runnext", (double)p.runnext);
    cJSON_AddItemToObject(o, "ring", queue_json(ring, look_ring(id, ring, p.ring)));
    cJSON_AddNumberToObject(o, "timers", p.timers);
    cJSON_AddBoolToObject(o, "spinning", p.spinning);
    free(ring);
    return o;
}

static cJSON *g_json(const struct run_g *g)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "goid", (double)g->goid);
    cJSON_AddStringToObject(o, "group", g->group);
    cJSON_AddStringToObject(o, "func", g->func);
    cJSON_AddStringToObject(o, "status", g->status);
    cJSON_AddStringToObject(o, "reason", g->reason);
    cJSON_AddNumberToObject(o, "since_ns", (double)g->since_ns);
    cJSON_AddNumberToObject(o, "line", g->line);
    return o;
}

static void print_json(const struct inspect *in, const struct look_sched *s, int64_t now_ns)
{
    size_t n;
    struct run_g *gs = look_gs(in->o.program, in->all, &n);
    cJSON *o = cJSON_CreateObject();
    cJSON_AddNumberToObject(o, "time_ns", (double)now_ns);
    cJSON_AddNumberToObject(o, "procs", s->procs);
    cJSON_AddNumberToObject(o, "idle_ps", s->npidle);
    cJSON_AddNumberToObject(o, "spinning_ms", s->nmspinning);
    cJSON_AddNumberToObject(o, "ms", (double)s->nm);
    uint64_t *queue = run_alloc((size_t)s->globrunq * sizeof *queue);
    cJSON_AddItemToObject(o, "global_queue",
                          queue_json(queue, look_globrunq(queue, (size_t)s->globrunq)));
    cJSON *ps = cJSON_AddArrayToObject(o, "ps"), *list = cJSON_AddArrayToObject(o, "goroutines");
    for (int32_t i = 0; i < s->procs; i++)
        cJSON_AddItemToArray(ps, p_json(i));
    for (size_t i = 0; i < n; i++)
        cJSON_AddItemToArray(list, g_json(&gs[i]));
    char *text = cJSON_Print(o);
    puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
    free(queue);
    free(gs);
}

/* ---- stepping ---- */

static struct run world;

static void begin(struct inspect *in)
{
    struct failure f = {0};
    if (!run_start(&f, &world, &in->o))
        cli_fail(&f);
}

/* The world at this time, or at its end. Gives the time where it is. */
static int64_t go_to(struct inspect *in, int64_t from_ns, int64_t to_ns)
{
    if (to_ns < from_ns) {
        run_free(&world);
        begin(in);
    }
    if (run_to(&world, (uint64_t)to_ns * 1000))
        return to_ns;
    struct vm_stats s;
    vm_stats(&s);
    printf("the run is over\n");
    return (int64_t)(s.now_ps / 1000);
}

static void print_short(const struct inspect *in, int64_t now_ns)
{
    struct look_sched s;
    size_t n;
    uint64_t queue[RING_SHOWN];
    struct run_g *gs = look_gs(in->o.program, false, &n);
    free(gs);
    look_sched(&s);
    printf("%s (%" PRId64 " ns), %zu goroutines, idle Ps %d, spinning Ms %d, ", time_text(now_ns),
           now_ns, n, s.npidle, s.nmspinning);
    print_queue("global queue", queue, look_globrunq(queue, RING_SHOWN));
    putchar('\n');
    print_ps(s.procs);
}

/* One command. False: the end. */
static bool command(struct inspect *in, char *line, int64_t *now_ns)
{
    char *word = strtok(line, " \t\n"), *argument = strtok(NULL, " \t\n");
    int64_t to = *now_ns;
    if (word != NULL && strcmp(word, "q") == 0)
        return false;
    if (word == NULL || strcmp(word, "n") == 0)
        to += in->step_ns;
    else if (strcmp(word, "b") == 0)
        to = to > in->step_ns ? to - in->step_ns : 0;
    else if (strcmp(word, "g") == 0) {
        print_gs(in, *now_ns);
        return true;
    } else if (strcmp(word, "at") != 0 || argument == NULL || !parse_time(argument, &to)) {
        puts("n: a step on, b: a step back, at TIME: to that instant, g: goroutines, q: the end");
        return true;
    }
    *now_ns = go_to(in, *now_ns, to);
    print_short(in, *now_ns);
    return true;
}

static void step(struct inspect *in)
{
    char line[256];
    int64_t now_ns = 0;
    begin(in);
    now_ns = go_to(in, now_ns, in->at_ns);
    print_short(in, now_ns);
    do {
        if (isatty(STDIN_FILENO))
            fputs("> ", stdout);
        fflush(stdout);
    } while (fgets(line, sizeof line, stdin) != NULL && command(in, line, &now_ns));
    run_free(&world);
}

/* ---- the verb ---- */

static void look(struct inspect *in)
{
    struct look_sched s;
    begin(in);
    bool there = run_to(&world, in->at_ns > 0 ? (uint64_t)in->at_ns * 1000 : UINT64_MAX / 2);
    run_end(&world);
    int64_t now_ns = there ? in->at_ns : (int64_t)(world.result.now_ps / 1000);
    look_sched(&s);
    if (!there && in->at_ns > 0)
        fprintf(stderr, GMPSIM_NAME ": the run had ended before: %s\n", run_verdict(&world.result));
    (in->json ? print_json : print_text)(in, &s, now_ns);
    run_free(&world);
}

int verb_inspect(const struct verb *v, int argc, char **argv)
{
    struct inspect in = {.gs_max = GS_DEFAULT};
    const struct opt table[] = {
        {"at", "TIME", "virtual time to look at (default: the end of the run)", OPT_TIME,
         &in.at_ns},
        {"step", "TIME", "then go on in steps of this length, by commands", OPT_TIME, &in.step_ns},
        {"gs", "N", "show so many goroutines (default 100)", OPT_INT, &in.gs_max},
        {"all", NULL, "the runtime's own goroutines too", OPT_FLAG, &in.all},
        {"json", NULL, "as JSON, with all goroutines and whole rings", OPT_FLAG, &in.json},
        MACHINE_OPTS(in.m),
        {0},
    };
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    machine_load(&in.m, argv[first], &in.o);
    if (in.step_ns > 0)
        step(&in);
    else
        look(&in);
    machine_release_all(&in.m);
    return EXIT_CLEAN;
}
