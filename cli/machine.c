/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/library.h"
#include "cli/retrace.h"
#include "scenarios/json.h"
#include "sim/base/alloc.h"
#include "sim/base/text.h"
#include "store/costs_json.h"
#include "sim/real/rt.h"
#include "sim/virt/costs.h"
#include "sim/virt/limits.h"

enum {
    PERIOD_DEFAULT_US = 100000,
    CPUS_MAX = 1024,
    NOISE_MAX = 1000,
    QUOTA_MIN_US = 1000,
    MILLI = 1000,
    RULES_MAX = 256
};

const char *profile_name(int release)
{
    static char ring[4][16];
    static unsigned next;
    char *out = ring[next++ % 4];
    snprintf(out, sizeof ring[0], "go1.%d", release);
    return out;
}

int machine_release(const char *text)
{
    int release = profile_parse(text);
    if (release < 0)
        cli_die(EXIT_USAGE, "--profile: want go1.%d to go1.%d or latest, got '%s'", PROFILE_FIRST,
                PROFILE_LATEST, text);
    return release;
}

int32_t machine_cpus(const char *text)
{
    int64_t n;
    if (strcmp(text, "dedicated") == 0)
        return 0;
    if (!parse_int(text, &n) || n < 1 || n > CPUS_MAX)
        cli_die(EXIT_USAGE, "--cpus: want 1 to %d or dedicated, got '%s'", CPUS_MAX, text);
    return (int32_t)n;
}

/* CPUs: "1.5", or as Kubernetes says it "1500m", thousandths (a minute is no part of a period). Or
 * time per period, as the kernel says it: "150ms". Microseconds; -1: it is none of these. */
static int64_t quota_us_of(const char *text, int64_t period_us)
{
    int64_t ns;
    const char *unit = text + strspn(text, "0123456789.");
    bool milli = strcmp(unit, "m") == 0;
    if (unit == text)
        return -1;
    if (*unit != 0 && !milli)
        return parse_time(text, &ns) ? ns / 1000 : -1;
    char *end;
    double cpus = strtod(text, &end) / (milli ? MILLI : 1);
    if (end != unit || cpus > CPUS_MAX)
        return -1;
    return (int64_t)(cpus * (double)period_us + 0.5);
}

void machine_quota(const char *text, int64_t period_us, int64_t *quota_us)
{
    *quota_us = 0;
    if (strcmp(text, "none") == 0)
        return;
    *quota_us = quota_us_of(text, period_us);
    if (*quota_us < 0)
        cli_die(EXIT_USAGE,
                "--quota: want CPUs such as 1.5 or 500m, a time per period such as 150ms, or none;"
                " got '%s'",
                text);
    if (*quota_us < QUOTA_MIN_US || *quota_us > CPUS_MAX * period_us)
        cli_die(EXIT_USAGE,
                "--quota: want at least 1ms and at most %d CPUs per period of %s, got"
                " '%s'",
                CPUS_MAX, time_text(period_us * 1000), text);
}

static _Noreturn void unknown_rule(const char *name)
{
    const char *names[RULES_MAX + 1] = {NULL};
    for (size_t i = 0; i < profile_rules_count && i < RULES_MAX; i++)
        names[i] = profile_rules[i].name;
    const char *near = cli_nearest(name, names);
    if (near != NULL)
        cli_die(EXIT_USAGE, "--rule: no rule '%s'; did you mean %s?", name, near);
    cli_die(EXIT_USAGE, "--rule: no rule '%s'", name);
}

static _Noreturn void bad_rule(const char *name, const char *rule)
{
    int64_t min = 0, max = 0;
    (void)profile_range(name, &min, &max);
    cli_die(EXIT_USAGE, "--rule: %s is from %" PRId64 " to %" PRId64 "%s, got '%s'", name, min, max,
            strcmp(name, "ring_len") == 0 ? " and a power of two" : "", rule);
}

static bool rule_value(const char *text, int64_t *value)
{
    if (strcmp(text, "on") == 0 || strcmp(text, "true") == 0)
        *value = 1;
    else if (strcmp(text, "off") == 0 || strcmp(text, "false") == 0)
        *value = 0;
    else if (strcmp(text, "-1") == 0) /* gc_percent */
        *value = -1;
    else
        return parse_int(text, value) || parse_time(text, value);
    return true;
}

void machine_rule(struct profile *p, const char *rule)
{
    char name[64];
    const char *eq = strchr(rule, '=');
    int64_t value;
    if (eq == NULL || eq == rule || (size_t)(eq - rule) >= sizeof name ||
        !rule_value(eq + 1, &value))
        cli_die(EXIT_USAGE, "--rule: want NAME=VALUE, got '%s'", rule);
    memcpy(name, rule, (size_t)(eq - rule));
    name[eq - rule] = 0;
    switch (profile_set(p, name, value)) {
    case 0: return;
    case -1: unknown_rule(name);
    default: bad_rule(name, rule);
    }
}

bool machine_is_said(const struct machine *m)
{
    const char *const texts[] = {m->profile, m->cpus, m->quota, m->costs, m->memory,
                                 m->port,    m->ties, m->host,  m->sched};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL)
            return true;
    return m->procs != 0 || m->pin || m->noise != NULL || m->period_ns != 0 || m->until_ns != 0 ||
           m->rules.count != 0 || m->seed.given;
}

static void set_seed(const struct machine *m, struct run_opts *o)
{
    const char *env = getenv("GMPSIM_SEED");
    if (m->seed.given) {
        o->seed = m->seed.value;
        if (m->seed.random) /* first, so that it is known of a run that never ends too */
            fprintf(stderr, "seed %" PRIu64 "\n", o->seed);
    } else if (env != NULL && *env != 0) {
        struct opt_seed seed;
        if (!parse_seed(env, &seed))
            cli_die(EXIT_USAGE, "GMPSIM_SEED: want a number below 2^64, got '%s'", env);
        o->seed = seed.value;
    }
}

static void load_costs(struct machine *m, struct run_opts *o)
{
    struct failure f = {0};
    if (m->costs == NULL)
        return;
    m->table = x_alloc(sizeof *m->table);
    if (!costs_load(&f, m->costs, m->table))
        cli_fail(&f);
    costs_of_release(m->table, o->profile.release, &m->costs_here);
    o->costs = &m->costs_here;
    costs_rules(o->costs, &o->profile);
}

void machine_release_all(struct machine *m)
{
    scenario_free(m->scenario);
    free(m->table);
    free(m->path);
}

static void set_memory(const struct machine *m, struct run_opts *o)
{
    int64_t bytes;
    if (m->memory == NULL)
        return;
    if (!json_parse_size(m->memory, &bytes) || bytes < (int64_t)VM_MEMORY_MIN ||
        bytes > (int64_t)VM_MEMORY_MAX)
        cli_die(EXIT_USAGE, "--memory: want 1MB to 1024GB, got '%s'", m->memory);
    o->memory_max = bytes;
}

/* Of the measured noise, in thousandths. */
static uint32_t noise_of(const struct machine *m)
{
    int64_t share;
    if (m->noise == NULL || strcmp(m->noise, "off") == 0)
        return 0;
    if (strcmp(m->noise, "on") == 0)
        return NOISE_MAX;
    if (!parse_int(m->noise, &share) || share < 1 || share > NOISE_MAX)
        cli_die(EXIT_USAGE, "--noise: want on, off or 1 to %d (permille), got '%s'", NOISE_MAX,
                m->noise);
    return (uint32_t)share;
}

void machine_of_many(const struct machine *m, struct run_opts *o)
{
    if (m->noise == NULL && o->host == NULL)
        o->noise_permille = NOISE_MAX;
}

static void set_host(const struct machine *m, struct run_opts *o)
{
    int port = m->port != NULL ? cost_port_parse(m->port) : PORT_AMD64;
    if (port < 0)
        cli_die(EXIT_USAGE, "--port: want amd64, arm64 or ppc64le, got '%s'", m->port);
    if (m->ties != NULL && strcmp(m->ties, "id") != 0 && strcmp(m->ties, "seed") != 0)
        cli_die(EXIT_USAGE, "--ties: want id or seed, got '%s'", m->ties);
    o->port = port;
    o->noise_permille = noise_of(m);
    o->ties_by_seed = m->ties != NULL && strcmp(m->ties, "seed") == 0;
}

static void no_option(const void *given, const char *name, const char *why)
{
    if (given != NULL)
        cli_die(EXIT_USAGE, "%s is for virtual time: on threads %s", name, why);
}

void machine_want_virtual(const struct run_opts *o, const char *what, const char *why)
{
    if (o->host != NULL)
        cli_die(EXIT_USAGE, "%s is for virtual time: on %s %s", what, o->host->name, why);
}

static enum rt_sched class_of(const char *name)
{
    if (name != NULL && strcmp(name, "other") != 0 && strcmp(name, "fifo") != 0)
        cli_die(EXIT_USAGE, "--sched: want other or fifo, got '%s'", name);
    return name == NULL ? RT_SCHED_OWN : strcmp(name, "fifo") == 0 ? RT_SCHED_FIFO : RT_SCHED_OTHER;
}

const char *machine_sched(const struct run_opts *o)
{
    return o->threads != NULL ? rt_sched_name((enum rt_sched)o->threads->sched) : NULL;
}

static void set_threads(struct machine *m, struct run_opts *o)
{
    int32_t have = rt_cpus();
    no_option(m->costs, "--costs", "things cost what they cost");
    no_option(m->port, "--port", "the machine is the one that it runs on");
    no_option(m->ties, "--ties", "no two things happen at one instant");
    no_option(m->noise, "--noise", "there is enough of it");
    if (m->cpus != NULL && o->cpus > have)
        cli_die(EXIT_USAGE, "--cpus: this process may use %d, got '%s'", have, m->cpus);
    o->host = &host_real;
    o->cpus = o->cpus > 0 && o->cpus < have ? o->cpus : have;
    m->threads.pin = m->pin;
    m->threads.sched = (int)class_of(m->sched);
    o->threads = &m->threads;
}

static void choose_host(struct machine *m, struct run_opts *o)
{
    if (m->host != NULL && strcmp(m->host, "threads") == 0)
        set_threads(m, o);
    else if (m->host != NULL && strcmp(m->host, "virtual") != 0)
        cli_die(EXIT_USAGE, "--host: want virtual or threads, got '%s'", m->host);
    else if (m->pin)
        cli_die(EXIT_USAGE, "--pin is for --host threads");
    else
        o->fifo = class_of(m->sched) == RT_SCHED_FIFO;
}

static void set_quota(const struct machine *m, struct run_opts *o)
{
    int64_t quota_us;
    if (m->period_ns > 0)
        o->period_us = m->period_ns / 1000;
    if (m->period_ns > 0 && (o->period_us < VM_PERIOD_MIN_US || o->period_us > VM_PERIOD_MAX_US))
        cli_die(EXIT_USAGE, "--period: want 1ms to 1s, got %s", time_exact(m->period_ns));
    if (o->period_us == 0)
        o->period_us = PERIOD_DEFAULT_US;
    if (m->quota != NULL) {
        machine_quota(m->quota, o->period_us, &quota_us);
        run_set_quota(o, quota_us);
    } else if (m->period_ns > 0 && o->quota_us == 0 && o->nquotas == 0 && !m->quota_later)
        cli_die(EXIT_USAGE, "--period: of a quota, and there is none; add --quota");
}

#define JITTER_MAX_NS INT64_C(3600000000000)

void machine_load(struct machine *m, const char *file, struct run_opts *o)
{
    struct failure f = {0};
    char *path = library_file(file);
    bool traced = is_trace(path);
    if (traced && m->jitter_ns > 0)
        cli_die(EXIT_USAGE, "--jitter: a recording has no statements");
    if (m->jitter_ns > JITTER_MAX_NS)
        cli_die(EXIT_USAGE, "--jitter: want up to 1h");
    struct scenario *s = traced ? retrace_scenario(path, &m->recorded)
                                : scenario_load_jittered(&f, path, m->jitter_ns);
    if (s == NULL)
        cli_fail(&f);
    machine_load_scenario(m, path, s, o);
    if (traced && m->costs == NULL)
        o->costs = &m->recorded;
    m->path = path;
}

void machine_load_scenario(struct machine *m, const char *file, struct scenario *s,
                           struct run_opts *o)
{
    struct failure f = {0};
    int release = m->profile != NULL ? machine_release(m->profile) : 0;
    m->file = file;
    m->scenario = s;
    if (!run_opts_of(&f, m->scenario, release, o))
        cli_fail(&f);
    if (m->procs > PROCS_MAX)
        cli_die(EXIT_USAGE, "--procs: want 1 to %d, got %" PRId64, PROCS_MAX, m->procs);
    if (m->procs > 0)
        o->procs = (int32_t)m->procs;
    if (m->cpus != NULL)
        o->cpus = machine_cpus(m->cpus);
    choose_host(m, o);
    load_costs(m, o);
    scenario_rules(s, &o->profile); /* what is said goes before what a table measured */
    for (int i = 0; i < m->rules.count; i++)
        machine_rule(&o->profile, m->rules.items[i]);
    set_quota(m, o);
    set_memory(m, o);
    set_host(m, o);
    if (m->until_ns > 0)
        o->until_ns = m->until_ns;
    o->warmup_ns = m->warmup_ns;
    if (o->until_ns > 0 && o->warmup_ns >= o->until_ns)
        cli_die(EXIT_USAGE, "--warmup: %s, and the run ends at %s", time_exact(o->warmup_ns),
                time_exact(o->until_ns));
    set_seed(m, o);
}

/* ---- the line that repeats a run ---- */

struct line {
    char *buf;
    size_t size, used;
};

static void add(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct line *l, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(l->buf + l->used, l->size - l->used, fmt, ap);
    va_end(ap);
    if (n > 0)
        l->used += (size_t)n < l->size - l->used ? (size_t)n : l->size - l->used - 1;
}

/* A word of a shell's command line. A name that looks like an option is named by its folder. */
static void add_word(struct line *l, const char *before, const char *word)
{
    char quoted[4096];
    add(l, "%s%s%s", before, *word == '-' ? "./" : "",
        text_in(quoted, sizeof quoted, TEXT_SHELL, word));
}

const char *machine_line(const struct machine *m, const struct run_opts *o, char *buf, size_t size)
{
    struct line l = {buf, size, 0};
    add_word(&l, "", m->file);
    if (o->host != NULL)
        add(&l, " --host %s%s", o->host->name, m->pin ? " --pin" : "");
    if (m->sched != NULL)
        add(&l, " --sched %s", m->sched);
    add(&l, " --profile %s", profile_name(o->profile.release));
    for (int i = 0; i < m->rules.count; i++)
        add_word(&l, " --rule ", m->rules.items[i]);
    if (o->procs > 0)
        add(&l, " --procs %d", o->procs);
    if (o->cpus > 0)
        add(&l, " --cpus %d", o->cpus);
    else if (m->cpus != NULL)
        add(&l, " --cpus dedicated");
    if (o->nquotas > 0) { /* the file says it, all but the period */
        if (m->period_ns > 0)
            add(&l, " --period %s", time_exact(o->period_us * 1000));
    } else if (o->quota_us > 0)
        add(&l, " --quota %s --period %s", time_exact(o->quota_us * 1000),
            time_exact(o->period_us * 1000));
    else if (m->quota != NULL)
        add(&l, " --quota none");
    if (m->costs != NULL)
        add_word(&l, " --costs ", m->costs);
    if (m->memory != NULL)
        add_word(&l, " --memory ", m->memory);
    if (o->port != PORT_AMD64)
        add(&l, " --port %s", cost_port_name((enum cost_port)o->port));
    if (o->noise_permille == NOISE_MAX)
        add(&l, " --noise on");
    else if (o->noise_permille > 0)
        add(&l, " --noise %" PRIu32, o->noise_permille);
    if (o->ties_by_seed)
        add(&l, " --ties seed");
    if (o->until_ns > 0)
        add(&l, " --until %s", time_exact(o->until_ns));
    if (o->warmup_ns > 0)
        add(&l, " --warmup %s", time_exact(o->warmup_ns));
    if (m->jitter_ns > 0)
        add(&l, " --jitter %s", time_exact(m->jitter_ns));
    if (o->schedtrace_ns > 0)
        add(&l, " --schedtrace %s", time_exact(o->schedtrace_ns));
    if (o->scheddetail)
        add(&l, " --scheddetail");
    if (m->plant != NULL)
        add_word(&l, " --plant ", m->plant);
    add(&l, " --seed %" PRIu64, o->seed);
    return buf;
}
