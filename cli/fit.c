/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim fit: what was measured of a service becomes a scenario that runs at once, and that says
 * what could not be known. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/out.h"
#include "scenarios/scenario.h"
#include "sim/base/text.h"
#include "store/measured.h"

/* Where nothing is known: so many requests a second, and so much of a request's time on a CPU. */
enum {
    RATE_ASSUMED = 1000,
    CPU_SHARE = 10,
    CLIENTS_MAX = 100000,
    WORKERS_LEAST = 64,
    WORKERS_MAX = 20000
};
#define RATE_MAX  1e8
#define ALLOC_MAX 1e11
#define UNTIL     "2s"

struct fit {
    const char *file, *out, *rate_text, *unit;
    struct measured_opts o;
    int64_t cpu_ns, over_ns, clients, procs;
    bool json;
    struct measured m;
    double rate; /* arrivals, or starts, per second */
    char unknown[8][300];
    int nunknown;
};

static void not_known(struct fit *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void not_known(struct fit *f, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->unknown[f->nunknown++], sizeof f->unknown[0], fmt, ap);
    va_end(ap);
}

/* ---- JSON of the scenario ---- */

static const char *ns_text(double ns)
{
    static char ring[4][24];
    static unsigned next;
    char *out = ring[next++ % 4];
    snprintf(out, sizeof ring[0], "%.0fns", ns < 1 ? 1 : ns > 1e15 ? 1e15 : ns);
    return out;
}

static cJSON *one(const char *key, cJSON *value)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddItemToObject(o, key, value);
    return o;
}

static cJSON *duration(const char *key, double ns)
{
    return one(key, cJSON_CreateString(ns_text(ns)));
}

/* less: taken off each, the part that is computed. */
static cJSON *empirical(const struct measured_bin *bins, size_t n, double less)
{
    cJSON *list = cJSON_CreateArray();
    uint64_t most = 1;
    for (size_t i = 0; i < n; i++)
        most = bins[i].weight > most ? bins[i].weight : most;
    uint64_t unit = most / 1000000000 + 1; /* weights are at most that */
    for (size_t i = 0; i < n; i++) {
        if (bins[i].weight == 0)
            continue;
        cJSON *o = duration("from", fmax(0, (double)bins[i].from_ns - less));
        cJSON_AddStringToObject(o, "to", ns_text(fmax(1, (double)bins[i].to_ns - less)));
        uint64_t weight = bins[i].weight / unit;
        cJSON_AddNumberToObject(o, "weight", (double)(weight > 0 ? weight : 1));
        cJSON_AddItemToArray(list, o);
    }
    return one("empirical", list);
}

static cJSON *parse(const char *text)
{
    cJSON *v = cJSON_Parse(text);
    if (v == NULL)
        cli_die(EXIT_INTERNAL, "fit: a part of the scenario is no JSON");
    return v;
}

/* ---- a service ---- */

static double median_of(const struct measured *m)
{
    double sum = 0, below = 0;
    for (size_t i = 0; i < m->nbins; i++)
        sum += (double)m->bins[i].weight;
    for (size_t i = 0; i < m->nbins; i++) {
        below += (double)m->bins[i].weight;
        if (below >= sum / 2)
            return ((double)m->bins[i].from_ns + (double)m->bins[i].to_ns) / 2;
    }
    return 0;
}

/* What somebody says goes before what the file does. */
static double rate_said(const struct fit *f)
{
    char *end;
    if (f->rate_text == NULL)
        return f->over_ns > 0 && f->m.count > 0 ? f->m.count / ((double)f->over_ns / 1e9) : 0;
    double rate = strtod(f->rate_text, &end);
    if (end == f->rate_text || *end != 0 || !(rate > 0) || rate > RATE_MAX)
        cli_die(EXIT_USAGE, "--rate: want arrivals per second, got '%s'", f->rate_text);
    return rate;
}

static double rate_measured(const struct measured *m)
{
    if (m->of_scheduler)
        return m->starts;
    if (m->per_second > 0)
        return m->per_second;
    return m->seconds > 0 ? m->count / m->seconds : 0;
}

static void choose_rate(struct fit *f)
{
    f->rate = rate_said(f);
    if (f->rate <= 0)
        f->rate = rate_measured(&f->m);
    if (f->rate <= 0 && !f->m.of_scheduler)
        not_known(f,
                  "how many requests came per second: taken as %d (--rate N, or --over TIME that"
                  " the measurement took)",
                  RATE_ASSUMED);
    if (f->rate <= 0)
        f->rate = RATE_ASSUMED;
    f->rate = fmin(f->rate, RATE_MAX);
}

static cJSON *arrivals(struct fit *f)
{
    const struct measured *m = &f->m;
    bool said = f->rate_text != NULL || f->over_ns > 0;
    int64_t clients = f->clients > 0 ? f->clients : said ? 0 : m->clients;
    cJSON *o = cJSON_CreateObject();
    f->rate = rate_measured(m);
    if (clients > 0) { /* the load generator asked again after an answer */
        cJSON_AddNumberToObject(o, "clients", (double)clients);
        cJSON_AddItemToObject(o, "think", duration("fixed", 1));
        return o;
    }
    choose_rate(f);
    if (m->ngaps > 0 && !said)
        cJSON_AddItemToObject(o, "every", empirical(m->gaps, m->ngaps, 0));
    else if (m->constant)
        cJSON_AddStringToObject(o, "every", ns_text(1e9 / f->rate));
    else {
        cJSON_AddItemToObject(o, "every", duration("exp", 1e9 / f->rate));
        not_known(f, "when requests came: taken as independent of each other (a Poisson process)");
    }
    return o;
}

static double cpu_of(struct fit *f)
{
    if (f->cpu_ns > 0)
        return (double)f->cpu_ns;
    double ns = median_of(&f->m) / CPU_SHARE;
    if (ns > 0.5e9 / (f->rate > 0 ? f->rate : 1)) /* half a CPU: more would be a load of its own */
        ns = 0.5e9 / f->rate;
    not_known(f,
              "how much of a request's time is computed: taken as %s, the rest as waiting (--cpu"
              " TIME; CPU seconds by requests)",
              time_text((int64_t)ns));
    return ns;
}

/* So many that no request waits for a worker as long as things go as measured. */
static double workers_of(const struct fit *f, const cJSON *conn)
{
    const cJSON *clients = cJSON_GetObjectItemCaseSensitive(conn, "clients");
    if (clients != NULL)
        return clients->valuedouble;
    double sum = 0, weight = 0;
    for (size_t i = 0; i < f->m.nbins; i++) {
        const struct measured_bin *b = &f->m.bins[i];
        sum += (double)b->weight * ((double)b->from_ns + (double)b->to_ns) / 2;
        weight += (double)b->weight;
    }
    return fmin(WORKERS_MAX, WORKERS_LEAST + ceil(4 * f->rate * sum / weight / 1e9));
}

/* A request waits for an answer from the network: a sleep of less than a millisecond would be as
 * long as the poller makes it. The backend's first answer comes unasked. */
static cJSON *serve(const struct fit *f, double cpu)
{
    cJSON *backend = cJSON_CreateObject();
    cJSON_AddNumberToObject(backend, "clients", 1);
    cJSON_AddItemToObject(backend, "think", empirical(f->m.bins, f->m.nbins, cpu));
    cJSON *make = one("make", cJSON_CreateString("backend"));
    cJSON_AddItemToObject(make, "as", one("fd", backend));
    cJSON *work = cJSON_CreateArray(), *round = cJSON_CreateArray(), *body = cJSON_CreateArray();
    cJSON_AddItemToArray(work, one("cpu", duration("exp", cpu)));
    cJSON_AddItemToArray(work, parse("{\"write\":\"backend\",\"value\":\"got\"}"));
    cJSON_AddItemToArray(work, parse("{\"read\":\"backend\",\"into\":\"got\"}"));
    cJSON *span = one("span", cJSON_CreateString("request"));
    cJSON_AddStringToObject(span, "since", "arrived");
    cJSON_AddItemToObject(span, "do", work);
    cJSON_AddItemToArray(round, parse("{\"read\":\"conn\",\"into\":\"n\",\"time\":\"arrived\"}"));
    cJSON_AddItemToArray(round, span);
    cJSON_AddItemToArray(round, parse("{\"write\":\"conn\",\"value\":\"n\"}"));
    cJSON *loop = one("loop", cJSON_CreateString("forever"));
    cJSON_AddItemToObject(loop, "do", round);
    cJSON_AddItemToArray(body, make);
    cJSON_AddItemToArray(body, parse("{\"read\":\"backend\",\"into\":\"got\"}"));
    cJSON_AddItemToArray(body, loop);
    return body;
}

static void fill_service(struct fit *f, cJSON *s)
{
    cJSON *conn = arrivals(f);
    double cpu = cpu_of(f), workers = workers_of(f, conn);
    cJSON_AddItemToObject(s, "objects", one("conn", one("fd", conn)));
    cJSON_AddItemToObject(s, "funcs", one("serve", serve(f, cpu)));
    cJSON *all = cJSON_AddArrayToObject(s, "main"), *go = one("go", cJSON_CreateString("serve"));
    cJSON_AddNumberToObject(go, "count", workers);
    cJSON_AddStringToObject(go, "group", "request");
    cJSON_AddItemToArray(all, go);
    cJSON_AddItemToArray(all, parse("{\"sleep\":\"1h\"}"));
    not_known(f, "what the measured latencies hold: they are taken as the time of the work itself,"
                 " waiting as for the network, and may have had waits in queues and stops in them"
                 " already");
}

/* ---- a load of the scheduler ---- */

/* How long a goroutine runs when it gets a P. */
static double burst_of(struct fit *f)
{
    if (f->cpu_ns > 0)
        return (double)f->cpu_ns;
    if (rate_said(f) <= 0 && f->m.starts <= 0)
        not_known(f, "how long a goroutine ran at a time: taken as %d a second (--rate)",
                  RATE_ASSUMED);
    return f->m.busy > 0 ? 1e9 * f->m.busy / f->rate : 1000;
}

static cJSON *alloc_of(double bytes, bool live)
{
    cJSON *o = one("alloc", cJSON_CreateNumber(floor(fmin(bytes, ALLOC_MAX))));
    if (live)
        cJSON_AddBoolToObject(o, "live", true);
    return o;
}

static void fill_load(struct fit *f, cJSON *s)
{
    choose_rate(f);
    double burst = burst_of(f);
    cJSON_AddItemToObject(s, "objects",
                          one("work", one("fd", one("every", duration("exp", 1e9 / f->rate)))));
    cJSON *work = cJSON_CreateArray(), *body = cJSON_CreateArray();
    if (f->m.alloc_bytes >= 1)
        cJSON_AddItemToArray(work, alloc_of(f->m.alloc_bytes, false));
    cJSON_AddItemToArray(work, one("cpu", duration("exp", burst)));
    cJSON *span = one("span", cJSON_CreateString("burst"));
    cJSON_AddStringToObject(span, "since", "arrived");
    cJSON_AddItemToObject(span, "do", work);
    cJSON_AddItemToArray(body, span);
    cJSON *func = parse("{\"params\":[\"arrived\"]}");
    cJSON_AddItemToObject(func, "do", body);
    cJSON_AddItemToObject(s, "funcs", one("burst", func));
    cJSON *all = cJSON_AddArrayToObject(s, "main");
    if (f->m.live_bytes >= 1)
        cJSON_AddItemToArray(all, alloc_of(f->m.live_bytes, true));
    cJSON_AddItemToArray(
        all, parse("{\"loop\":\"forever\",\"do\":[{\"read\":\"work\",\"time\":\"arrived\"},"
                   "{\"go\":\"burst\",\"args\":[\"arrived\"]}]}"));
    not_known(f, "when goroutines became runnable: taken as independent of each other");
}

/* ---- the whole ---- */

static void put_why(struct fit *f, cJSON *s)
{
    char why[8000];
    size_t n = (size_t)snprintf(why, sizeof why, "Made from %s%s%s by " GMPSIM_NAME " fit.",
                                f->m.format, f->m.name[0] != 0 ? ", " : "", f->m.name);
    if (f->m.wait_p99_ns > 0)
        n += (size_t)snprintf(
            why + n, sizeof why - n, " Measured waits in run queues, to compare: p50 %s, p99 %s.",
            time_text((int64_t)f->m.wait_p50_ns), time_text((int64_t)f->m.wait_p99_ns));
    if (f->m.queued >= 0)
        n += (size_t)snprintf(why + n, sizeof why - n,
                              " Measured, to compare: %.3g Ps busy, %.3g goroutines runnable.",
                              f->m.busy, f->m.queued);
    n += (size_t)snprintf(why + n, sizeof why - n, " Not known:");
    for (int i = 0; i < f->m.nnotes + f->nunknown && n < sizeof why; i++)
        n += (size_t)snprintf(why + n, sizeof why - n, "%s %s", i > 0 ? ";" : "",
                              i < f->m.nnotes ? f->m.notes[i] : f->unknown[i - f->m.nnotes]);
    if (n < sizeof why)
        snprintf(why + n, sizeof why - n, ".");
    char clean[sizeof why];
    cJSON_AddStringToObject(s, "why", text_in(clean, sizeof clean, TEXT_LINE, why));
}

static cJSON *scenario_of(struct fit *f)
{
    char name[120], file[100];
    const char *base = strrchr(f->file, '/');
    cJSON *s = cJSON_CreateObject(), *rest = cJSON_CreateObject();
    snprintf(name, sizeof name, "fit of %s",
             text_in(file, sizeof file, TEXT_FILE, base != NULL ? base + 1 : f->file));
    if (f->m.of_scheduler)
        fill_load(f, rest);
    else
        fill_service(f, rest);
    cJSON_AddStringToObject(s, "name", name);
    put_why(f, s);
    if (f->procs > 0 || f->m.procs > 0)
        cJSON_AddNumberToObject(s, "procs", (double)(f->procs > 0 ? f->procs : f->m.procs));
    cJSON_AddStringToObject(s, "until", UNTIL);
    while (rest->child != NULL) {
        cJSON *item = cJSON_DetachItemViaPointer(rest, rest->child);
        cJSON_AddItemToObject(s, item->string, item);
    }
    cJSON_Delete(rest);
    return s;
}

/* What is given out can be run. */
static void check_scenario(const char *text)
{
    struct failure f = {0};
    struct scenario *s = scenario_load(&f, "the fitted scenario", text, strlen(text));
    if (s == NULL)
        cli_die(strstr(f.text, "out of memory") != NULL ? EXIT_USAGE : EXIT_INTERNAL, "fit: %s",
                f.text);
    scenario_free(s);
}

static void write_scenario(const char *path, const char *text)
{
    FILE *to = fopen(path, "wx");
    if (to == NULL || fputs(text, to) < 0 || fputc('\n', to) < 0 || fclose(to) != 0)
        cli_die(EXIT_USAGE, "%s: %s", path, strerror(errno));
}

static void tell(FILE *to, const struct fit *f)
{
    fprintf(to, "%s: %s%s%s", text_line(f->file), f->m.format, f->m.name[0] != 0 ? ", " : "",
            text_line(f->m.name));
    if (f->m.count > 0)
        fprintf(to, ", %.0f values", f->m.count);
    if (f->m.mean_ns > 0)
        fprintf(to, ", mean %s", time_text((int64_t)f->m.mean_ns));
    if (f->m.of_scheduler)
        fprintf(to, ", %.3g of %" PRId64 " Ps busy", f->m.busy, f->m.procs);
    fputs("\nnot known:\n", to);
    for (int i = 0; i < f->m.nnotes; i++)
        fprintf(to, "  - %s\n", text_line(f->m.notes[i]));
    for (int i = 0; i < f->nunknown; i++)
        fprintf(to, "  - %s\n", text_line(f->unknown[i]));
}

static void add_texts(cJSON *list, const char (*texts)[300], int n)
{
    for (int i = 0; i < n; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(texts[i]));
}

static void print_json(struct fit *f, cJSON *scenario)
{
    cJSON *o = cJSON_CreateObject();
    cJSON_AddStringToObject(o, "file", f->file);
    cJSON_AddStringToObject(o, "format", f->m.format);
    cJSON_AddStringToObject(o, "metric", f->m.name);
    cJSON_AddNumberToObject(o, "count", f->m.count);
    cJSON_AddNumberToObject(o, "mean_ns", f->m.mean_ns);
    cJSON_AddNumberToObject(o, "per_second", f->rate);
    cJSON *list = cJSON_AddArrayToObject(o, "not_known");
    add_texts(list, (const char(*)[300])f->m.notes, f->m.nnotes);
    add_texts(list, (const char(*)[300])f->unknown, f->nunknown);
    cJSON_AddItemToObject(o, "scenario", cJSON_Duplicate(scenario, true));
    out_json(o);
}

static double unit_of(const char *text)
{
    static const char *const words[] = {"s", "ms", "us", "ns", NULL};
    static const double ns[] = {1e9, 1e6, 1e3, 1};
    return text != NULL ? ns[cli_choice("--unit: no", text, words)] : 0;
}

static void give(struct fit *f)
{
    cJSON *scenario = scenario_of(f);
    char *text = cJSON_Print(scenario);
    check_scenario(text);
    if (f->out != NULL)
        write_scenario(f->out, text);
    if (f->json)
        print_json(f, scenario);
    else if (f->out != NULL) {
        char quoted[4096];
        tell(stdout, f);
        printf("run it: " GMPSIM_NAME " run %s\n",
               text_in(quoted, sizeof quoted, TEXT_SHELL, f->out));
    } else {
        puts(text);
        tell(stderr, f);
    }
    cJSON_free(text);
    cJSON_Delete(scenario);
}

int command_fit(const struct command *v, int argc, char **argv)
{
    static struct fit f;
    const char *unit = NULL;
    const struct opt table[] = {
        {"metric", "NAME", "of several histograms this one (default: the one with most time)",
         OPT_TEXT, &f.o.metric},
        {"label", "LABEL", "only series with this label, as 'code=\"200\"'", OPT_TEXT, &f.o.label},
        {"unit", "UNIT", "of numbers that have none: s (default), ms, us, ns", OPT_TEXT, &unit},
        {"rate", "N", "arrivals per second, where the file does not say", OPT_TEXT, &f.rate_text},
        {"over", "TIME", "... or how long the measurement took", OPT_LENGTH, &f.over_ns},
        {"clients", "N", "a closed loop: so many ask, wait for the answer, ask again", OPT_COUNT,
         &f.clients},
        {"cpu", "TIME", "what a request computes, the mean", OPT_LENGTH, &f.cpu_ns},
        {"procs", "N", "GOMAXPROCS of the scenario", OPT_COUNT, &f.procs},
        {"out", "FILE", "write the scenario there (default: standard output)", OPT_TEXT, &f.out},
        {"json", NULL, "the scenario, and what is not known, as one document", OPT_FLAG, &f.json},
        {0},
    };
    struct failure why = {0};
    int first = opts_parse(v, table, argc, argv);
    opts_want(v, argc, first, 1, 1);
    if (f.procs > PROCS_MAX)
        cli_die(EXIT_USAGE, "--procs: want 1 to %d, got %" PRId64, PROCS_MAX, f.procs);
    if (f.clients > CLIENTS_MAX)
        cli_die(EXIT_USAGE, "--clients: want 1 to %d, got %" PRId64, CLIENTS_MAX, f.clients);
    f.o.unit_ns = unit_of(unit);
    f.file = argv[first];
    if (!measured_read(&why, f.file, &f.o, &f.m))
        cli_fail(&why);
    give(&f);
    return EXIT_CLEAN;
}
