/* SPDX-License-Identifier: BSD-3-Clause */
#include "search/kept.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/faults.h"
#include "sim/base/fingerprint.h"

/* ---- hashes ---- */

static void mix_text(struct fingerprint *h, const char *s) { fp_mix_bytes(h, s, strlen(s)); }

static void mix_objects(struct fingerprint *h, const struct program *p)
{
    for (uint32_t i = 0; i < p->nobjects; i++) {
        mix_text(h, p->objects[i].name);
        fp_mix2(h, p->objects[i].kind, (uint64_t)p->objects[i].param);
    }
    for (uint32_t i = 0; i < p->nselects; i++)
        fp_mix4(h, p->selects[i].first, p->selects[i].ncases, p->selects[i].has_default, 0);
    for (uint32_t i = 0; i < p->ncases; i++)
        fp_mix4(h, (uint64_t)(int64_t)p->cases[i].obj, p->cases[i].hreg, p->cases[i].reg,
                p->cases[i].send);
}

uint64_t program_hash(const struct program *p)
{
    struct fingerprint h;
    fp_init(&h);
    for (uint32_t i = 0; i < p->ncode; i++) {
        const struct insn *in = &p->code[i];
        fp_mix4(&h, (uint64_t)in->op << 24 | (uint64_t)in->a << 16 | (uint64_t)in->b << 8 | in->c,
                (uint64_t)(int64_t)in->d, (uint64_t)in->imm, 0);
    }
    for (uint32_t i = 0; i < p->nfuncs; i++) {
        mix_text(&h, p->funcs[i].name);
        fp_mix2(&h, p->funcs[i].entry, p->funcs[i].nregs);
    }
    for (uint32_t i = 0; i < p->nstrings; i++)
        mix_text(&h, p->strings[i]);
    mix_objects(&h, p);
    return fp_value(&h);
}

/* The hash of one function, wherever it stands. */
static uint64_t func_hash(const struct program *p, const struct func *fn)
{
    struct fingerprint h;
    fp_init(&h);
    for (uint32_t i = fn->entry; i < fn->end; i++) {
        const struct insn *in = &p->code[i];
        int64_t d = op_infos[in->op].d == D_TG ? in->d - (int64_t)fn->entry : in->d;
        fp_mix4(&h, (uint64_t)in->op << 24 | (uint64_t)in->a << 16 | (uint64_t)in->b << 8 | in->c,
                (uint64_t)d, (uint64_t)in->imm, 0);
    }
    return fp_value(&h);
}

/* "objects 1f0c22aa main 03be66d1 ...": so that it can be said what has changed. As many as there
 * is room for. */
static void parts_text(const struct program *p, char *buf, size_t size)
{
    struct fingerprint h;
    fp_init(&h);
    mix_objects(&h, p);
    size_t n = (size_t)snprintf(buf, size, "objects %08" PRIx32, (uint32_t)fp_value(&h));
    for (uint32_t i = 0; i < p->nfuncs; i++) {
        char one[120];
        size_t length = (size_t)snprintf(one, sizeof one, " %.80s %08" PRIx32, p->funcs[i].name,
                                         (uint32_t)func_hash(p, &p->funcs[i]));
        if (n + length >= size)
            return;
        memcpy(buf + n, one, length + 1);
        n += length;
    }
}

/* Names the parts whose hash is another one now; names may hold spaces, hashes end a part. */
static void say_parts(const char *then, const char *now, char *buf, size_t size)
{
    buf[0] = 0;
    while (*now != 0) {
        const char *end = now;
        while (*end != 0 && !(end[0] == ' ' && strspn(end + 1, "0123456789abcdef") == 8 &&
                              (end[9] == ' ' || end[9] == 0)))
            end++;
        if (*end == 0)
            return;
        size_t part = (size_t)(end - now) + 9, n = strlen(buf);
        char text[140];
        snprintf(text, sizeof text, "%.*s", (int)(part < 130 ? part : 130), now);
        if (strstr(then, text) == NULL)
            snprintf(buf + n, size - n, "%s%.*s", n > 0 ? ", " : "", (int)(end - now), now);
        now += part;
        now += *now == ' ';
    }
}

static uint64_t profile_hash(const struct profile *p)
{
    struct fingerprint h;
    fp_init(&h);
    for (size_t i = 0; i < profile_rules_count; i++) {
        mix_text(&h, profile_rules[i].name);
        fp_mix(&h, (uint64_t)profile_get(p, &profile_rules[i]));
    }
    return fp_value(&h);
}

/* Of all sites of the model: one with other atomic operations asks other questions. */
static uint64_t model_hash(void)
{
    struct fingerprint h;
    uint32_t n = site_count();
    fp_init(&h);
    for (uint32_t id = 1; id <= n; id++) {
        const struct ex_site *s = site_get(id);
        mix_text(&h, s->func);
        fp_mix2(&h, s->line, s->verb);
    }
    return fp_value(&h);
}

/* ---- writing ---- */

struct writer {
    struct schedule *s;
    struct failure *f;
    bool ok;
};

static void put(struct writer *w, const char *key, const char *value)
{
    char line[SCHEDULE_VALUE_MAX + 1];
    size_t n = 0;
    for (; value[n] != 0 && n < SCHEDULE_VALUE_MAX; n++)
        line[n] = value[n] >= ' ' && value[n] < 127 ? value[n] : ' ';
    while (n > 0 && line[n - 1] == ' ')
        n--;
    line[n] = 0;
    if (w->ok && n > 0)
        w->ok = schedule_set(w->s, w->f, key, line) >= 0;
}

static void put_number(struct writer *w, const char *key, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, v);
    put(w, key, text);
}

static void put_hash(struct writer *w, const char *key, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, v);
    put(w, key, text);
}

/* The rules that are not the release's own. */
static void put_rules(struct writer *w, const struct profile *p)
{
    struct profile own;
    char key[16];
    int n = 0;
    if (!profile_init(&own, p->release))
        return;
    for (size_t i = 0; i < profile_rules_count; i++) {
        const struct profile_rule *rule = &profile_rules[i];
        int64_t v = profile_get(p, rule);
        char text[100];
        if (v == profile_get(&own, rule))
            continue;
        snprintf(key, sizeof key, "rule-%d", ++n);
        snprintf(text, sizeof text, "%s=%" PRId64, rule->name, v);
        put(w, key, text);
    }
}

int finding_save(struct failure *f, const struct finding *x, const char *path, struct schedule *out)
{
    const struct explored_opts *o = &x->world;
    struct writer w = {out, f, true};
    char text[40];
    put(&w, "scenario", path);
    put_hash(&w, "program", program_hash(&o->scenario->program));
    char parts[SCHEDULE_VALUE_MAX + 1];
    parts_text(&o->scenario->program, parts, sizeof parts);
    put(&w, "parts", parts);
    snprintf(text, sizeof text, "go1.%d", o->profile.release);
    put(&w, "profile", text);
    put_rules(&w, &o->profile);
    put_hash(&w, "rules", profile_hash(&o->profile));
    put(&w, "simulator", GMPSIM_VERSION);
    put_hash(&w, "model", model_hash());
    put_number(&w, "procs", (uint64_t)o->procs);
    put(&w, "granularity", granularity_name(o->granularity));
    put(&w, "memory", mm_kind_name(o->memory));
    put(&w, "start", explored_start_name(o->start));
    put_number(&w, "seed", o->seed);
    char faults[600];
    faults_text(&o->faults, faults, sizeof faults);
    if (faults[0] != 0)
        put(&w, "faults", faults);
    put_number(&w, "late-ns", (uint64_t)o->late_max_ns);
    put_number(&w, "until-ns", (uint64_t)o->until_ns);
    put_number(&w, "steps-max", o->steps_max);
    put_number(&w, "timed", x->timed);
    if (x->repeat > 0)
        put_number(&w, "repeat", x->repeat);
    put(&w, "verdict", x->verdict.what);
    put(&w, "says", x->verdict.text);
    put_hash(&w, "fingerprint", x->fingerprint);
    if (!w.ok)
        return -(int)f->code;
    return schedule_take(out, f, x->answers, x->count);
}

/* ---- reading ---- */

const char *schedule_scenario(const struct schedule *s) { return schedule_get(s, "scenario"); }

struct reader {
    const struct schedule *s;
    struct failure *f;
    bool ok;
};

static const char *need(struct reader *r, const char *key)
{
    const char *v = schedule_get(r->s, key);
    if (v != NULL)
        return v;
    fail(r->f, E_SCHEDULE, "the schedule has no '%s'", key);
    r->ok = false;
    return "";
}

static uint64_t number(struct reader *r, const char *key, int base)
{
    const char *text = need(r, key);
    char *end;
    uint64_t v = strtoull(text, &end, base);
    if (r->ok && (end == text || *end != 0 || *text == '-')) {
        fail(r->f, E_SCHEDULE, "the schedule's '%s': want a number, got '%s'", key, text);
        r->ok = false;
    }
    return v;
}

static int name_index(struct reader *r, const char *key, const char *(*name)(int i), int count)
{
    const char *text = need(r, key);
    for (int i = 0; i < count; i++)
        if (strcmp(name(i), text) == 0)
            return i;
    if (r->ok)
        fail(r->f, E_SCHEDULE, "the schedule's '%s': no such thing as '%s'", key, text);
    r->ok = false;
    return 0;
}

static const char *memory_name(int i) { return mm_kind_name((enum mm_kind)i); }
static const char *gran_name(int i) { return granularity_name((enum granularity)i); }
static const char *start_name(int i) { return explored_start_name((enum explored_start)i); }

static void read_rule(struct reader *r, struct profile *p, const char *rule)
{
    char name[64];
    const char *eq = strchr(rule, '=');
    if (eq != NULL && (size_t)(eq - rule) < sizeof name) {
        snprintf(name, sizeof name, "%.*s", (int)(eq - rule), rule);
        if (profile_set(p, name, strtoll(eq + 1, NULL, 10)) == 0)
            return;
    }
    fail(r->f, E_SCHEDULE, "the schedule's rule '%s' is not one of this simulator", rule);
    r->ok = false;
}

static void read_profile(struct reader *r, struct profile *p)
{
    const char *name = need(r, "profile");
    char key[16];
    if (!r->ok)
        return;
    if (!profile_init(p, profile_parse(name))) {
        fail(r->f, E_SCHEDULE, "the schedule's profile '%s' is not one of this simulator", name);
        r->ok = false;
        return;
    }
    for (int n = 1;; n++) {
        snprintf(key, sizeof key, "rule-%d", n);
        const char *rule = schedule_get(r->s, key);
        if (rule == NULL || !r->ok)
            return;
        read_rule(r, p, rule);
    }
}

/* A number that has to be as it was. */
static void compare(struct reader *r, const char *key, uint64_t now, const char *what,
                    const char *differs)
{
    uint64_t then = number(r, key, 16);
    if (r->ok && then != now) {
        fail(r->f, E_SCHEDULE,
             "%s (%s): the schedule was made with %016" PRIx64 ", this is %016" PRIx64
             "; its answers mean something else here (--anyway tries them)",
             what, differs, then, now);
        r->ok = false;
    }
}

/* In words what differs, as far as the schedule says. */
static void compare_all(struct reader *r, const struct program *program, const struct profile *p)
{
    char now[SCHEDULE_VALUE_MAX + 1], parts[200], versions[120];
    const char *then = schedule_get(r->s, "parts"), *made_by = schedule_get(r->s, "simulator");
    parts_text(program, now, sizeof now);
    say_parts(then != NULL ? then : "", now, parts, sizeof parts);
    if (then == NULL || parts[0] == 0)
        snprintf(parts, sizeof parts, "something of it");
    snprintf(versions, sizeof versions, "made by %.40s, this is " GMPSIM_VERSION,
             made_by != NULL ? made_by : "an unknown version");
    compare(r, "program", program_hash(program), "the program has changed", parts);
    compare(r, "rules", profile_hash(p), "the profile has changed", versions);
    compare(r, "model", model_hash(), "the simulator has changed", versions);
}

static void read_world(struct reader *r, struct explored_opts *o)
{
    o->procs = (int32_t)number(r, "procs", 10);
    o->granularity = (enum granularity)name_index(r, "granularity", gran_name, GRANULARITIES);
    o->memory = (enum mm_kind)name_index(r, "memory", memory_name, MM_KINDS);
    o->start = (enum explored_start)name_index(r, "start", start_name, START_KINDS);
    o->seed = number(r, "seed", 10);
    const char *faults = schedule_get(r->s, "faults");
    if (faults != NULL && r->ok)
        r->ok = faults_add(r->f, &o->faults, faults);
    o->late_max_ns = (int64_t)number(r, "late-ns", 10);
    o->until_ns = (int64_t)number(r, "until-ns", 10);
    o->steps_max = number(r, "steps-max", 10);
    if (r->ok && (o->procs < 0 || o->procs > PROCS_MAX)) {
        fail(r->f, E_SCHEDULE, "the schedule's 'procs' is out of range");
        r->ok = false;
    }
}

bool finding_load(struct failure *f, const struct schedule *in, const struct scenario *s,
                  bool anyway, struct finding *x)
{
    struct reader r = {in, f, true};
    *x = (struct finding){.world.scenario = s};
    read_profile(&r, &x->world.profile);
    read_world(&r, &x->world);
    if (!anyway)
        compare_all(&r, &s->program, &x->world.profile);
    x->fingerprint = number(&r, "fingerprint", 16);
    x->timed = number(&r, "timed", 10) != 0;
    snprintf(x->verdict.what, sizeof x->verdict.what, "%.39s", need(&r, "verdict"));
    x->verdict.kind = VERDICT_FINDING;
    if (schedule_get(in, "repeat") != NULL)
        x->repeat = number(&r, "repeat", 10);
    if (r.ok && x->repeat > in->count) {
        fail(f, E_SCHEDULE, "the schedule's 'repeat': %zu of %zu answers", x->repeat, in->count);
        r.ok = false;
    }
    if (!r.ok)
        return false;
    x->count = in->count;
    x->answers = malloc(in->count * sizeof *x->answers + 1);
    if (x->answers == NULL) {
        fail(f, E_LIMIT, "no memory for %zu answers", in->count);
        return false;
    }
    if (in->count > 0)
        memcpy(x->answers, in->answers, in->count * sizeof *x->answers);
    return true;
}
