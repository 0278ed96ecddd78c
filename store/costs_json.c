/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/costs_json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * cJSON checks the syntax and gives the tree, but forgets where things stood and reads numbers as
 * floating point. So the text is walked a second time, member by member, for places and for digits.
 */
struct reader {
    struct failure *f;
    const char *path, *text, *end;
    bool inherits; /* not everything must be there */
    int depth;     /* of inheritance */
};

/* ---- places ---- */

static bool fail_at(struct reader *r, const char *at, const char *fmt, const char *what)
{
    int line = 1, column = 1;

    for (const char *p = r->text; p < at && p < r->end; p++) {
        column = *p == '\n' ? 1 : column + 1;
        line += *p == '\n';
    }
    fail(r->f, E_COST, fmt, what);
    fail_prefix(r->f, "%s:%d:%d", r->path, line, column);
    return false;
}

static const char *skip_space(const struct reader *r, const char *p)
{
    while (p < r->end && (unsigned char)*p <= ' ')
        p++;
    return p;
}

static const char *skip_string(const struct reader *r, const char *p)
{
    for (p++; p < r->end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p + 1;
}

/* The text is known to be JSON, so nesting can be counted. */
static const char *skip_value(const struct reader *r, const char *p)
{
    int depth = 0;

    while (p < r->end) {
        if (*p == '"') {
            p = skip_string(r, p);
        } else {
            if (*p == '{' || *p == '[')
                depth++;
            else if (*p == '}' || *p == ']')
                depth--;
            else if (depth == 0 && *p == ',')
                return p;
            if (depth < 0)
                return p;
            p++;
        }
    }
    return p;
}

/* Walks the members of the object that begins at `p`, beside the tree. */
struct member {
    const cJSON *item;
    const char *key, *value; /* places in the text */
};

static void member_first(const struct reader *r, struct member *m, const cJSON *object,
                         const char *p)
{
    m->item = object->child;
    m->key = skip_space(r, p + 1);
    m->value = m->item ? skip_space(r, skip_space(r, skip_string(r, m->key)) + 1) : m->key;
}

static void member_next(const struct reader *r, struct member *m)
{
    m->item = m->item->next;
    m->key = skip_space(r, skip_value(r, m->value) + 1);
    m->value = m->item ? skip_space(r, skip_space(r, skip_string(r, m->key)) + 1) : m->key;
}

#define EACH_MEMBER(r, m, object, place) \
    for (member_first(r, &(m), object, place); (m).item; member_next(r, &(m)))

/* ---- values ---- */

static bool read_ps(struct reader *r, const struct member *m, uint32_t *out)
{
    uint64_t value = 0;
    const char *p = m->value;

    if (*p == '-')
        return fail_at(r, p, "%s: want a whole number of picoseconds, not a negative one",
                       m->item->string);
    if (*p == '0' && p + 1 < r->end && p[1] >= '0' && p[1] <= '9')
        return fail_at(r, p, "%s: a number does not begin with 0", m->item->string);
    for (; p < r->end && *p >= '0' && *p <= '9' && value <= COST_MAX_PS; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (value > COST_MAX_PS)
        return fail_at(r, m->value, "%s: more than the 4000000000 ps that one operation may cost",
                       m->item->string);
    if (!cJSON_IsNumber(m->item) || strchr(".eE", *p))
        return fail_at(r, m->value, "%s: want a whole number of picoseconds", m->item->string);
    *out = (uint32_t)value;
    return true;
}

static bool read_source(struct reader *r, const struct member *m)
{
    if (!cJSON_IsString(m->item) || m->item->valuestring[0] == '\0')
        return fail_at(r, m->value, "%s: want a text that says where the numbers come from",
                       m->item->string);
    return true;
}

/* One entry: the numbers called a and b (b may be NULL), and their source. */
static bool read_entry(struct reader *r, const struct member *entry, const char *a, uint32_t *a_out,
                       const char *b, uint32_t *b_out)
{
    struct member m;
    bool have_a = false, have_b = b == NULL, have_source = false, *have;

    if (!cJSON_IsObject(entry->item))
        return fail_at(r, entry->value, "%s: want an object with numbers and a source",
                       entry->item->string);
    EACH_MEMBER(r, m, entry->item, entry->value)
    {
        uint32_t *number = NULL;

        if (strcmp(m.item->string, a) == 0) {
            have = &have_a;
            number = a_out;
        } else if (b && strcmp(m.item->string, b) == 0) {
            have = &have_b;
            number = b_out;
        } else if (strcmp(m.item->string, "source") == 0) {
            have = &have_source;
        } else {
            return fail_at(r, m.key, "unknown key \"%s\"", m.item->string);
        }
        if (*have)
            return fail_at(r, m.key, "\"%s\" appears twice", m.item->string);
        *have = true;
        if (number ? !read_ps(r, &m, number) : !read_source(r, &m))
            return false;
    }
    if (!have_a || !have_b)
        return fail_at(r, entry->key, "%s: a number is missing", entry->item->string);
    if (b && *a_out == 0) /* else a loop could turn for ever at one instant */
        return fail_at(r, entry->key, "%s: every operation takes time", entry->item->string);
    if (b && *b_out < *a_out)
        return fail_at(r, entry->key, "%s: a miss is not cheaper than a hit", entry->item->string);
    return have_source || fail_at(r, entry->key, "%s: its source is missing", entry->item->string);
}

/* ---- noise: eleven quantiles ---- */

static const char *array_next(const struct reader *r, const char *p)
{
    return skip_space(r, skip_value(r, p) + 1);
}

static bool read_quantiles(struct reader *r, const struct member *m, uint32_t *out)
{
    if (!cJSON_IsArray(m->item) || cJSON_GetArraySize(m->item) != NOISE_QUANTILES)
        return fail_at(r, m->value,
                       "%s: want eleven numbers: 0, 1, 5, 10, 25, 50, 75, 90, 95, 99 "
                       "and 100 %%",
                       m->item->string);
    struct member one = {.item = m->item->child, .value = skip_space(r, m->value + 1)};
    for (int i = 0; i < NOISE_QUANTILES; i++) {
        cJSON named = *one.item;
        named.string = m->item->string;
        if (!read_ps(r, &(struct member){.item = &named, .value = one.value}, &out[i]))
            return false;
        if (i > 0 && out[i] < out[i - 1])
            return fail_at(r, one.value, "%s: a quantile is not below the one before",
                           m->item->string);
        one.item = one.item->next;
        one.value = array_next(r, one.value);
    }
    return true;
}

/* {"permille": [...], "source": "..."}, "ps" for a time of its own. */
static bool read_noise_entry(struct reader *r, const struct member *entry, enum cost_noise kind,
                             uint32_t *out)
{
    const char *key = cost_noise_of(kind) == COST_COUNT ? "ps" : "permille";
    bool have_numbers = false, have_source = false;
    struct member m;

    if (!cJSON_IsObject(entry->item))
        return fail_at(r, entry->value, "%s: want an object with numbers and a source",
                       entry->item->string);
    EACH_MEMBER(r, m, entry->item, entry->value)
    {
        bool numbers = strcmp(m.item->string, key) == 0;
        bool *have = numbers ? &have_numbers : &have_source;

        if (!numbers && strcmp(m.item->string, "source") != 0)
            return fail_at(r, m.key, "unknown key \"%s\"", m.item->string);
        if (*have)
            return fail_at(r, m.key, "\"%s\" appears twice", m.item->string);
        *have = true;
        if (numbers ? !read_quantiles(r, &m, out) : !read_source(r, &m))
            return false;
    }
    if (!have_numbers)
        return fail_at(r, entry->key, "\"%s\" is missing here", key);
    return have_source || fail_at(r, entry->key, "%s: its source is missing", entry->item->string);
}

static bool read_noise(struct reader *r, const struct member *at, struct costs *c)
{
    bool have[NOISE_COUNT] = {false};
    struct member m;

    if (!cJSON_IsObject(at->item))
        return fail_at(r, at->value, "%s: want an object", at->item->string);
    EACH_MEMBER(r, m, at->item, at->value)
    {
        int i = 0;

        while (i < NOISE_COUNT && strcmp(cost_noise_name((enum cost_noise)i), m.item->string) != 0)
            i++;
        if (i == NOISE_COUNT)
            return fail_at(r, m.key, "unknown name \"%s\"", m.item->string);
        if (have[i])
            return fail_at(r, m.key, "\"%s\" appears twice", m.item->string);
        have[i] = true;
        if (!read_noise_entry(r, &m, (enum cost_noise)i, c->noise[i]))
            return false;
    }
    return true; /* what is not here is as in the built-in table */
}

/* ---- lists of entries ---- */

/* A list: its names, and where the numbers of each go. */
struct list {
    const char *what;
    const char *(*name)(uint32_t i);
    uint32_t count;
    struct cost_pair *pairs; /* or */
    uint32_t *numbers;
};

static const char *atomic_name(uint32_t i) { return cost_atomic_name((enum cost_atomic)i); }
static const char *kind_name(uint32_t i) { return cost_kind_name((enum cost_kind)i); }
static const char *work_name(uint32_t i) { return work_kind_name((enum work_kind)i); }

static uint32_t list_find(const struct list *l, const char *name)
{
    uint32_t i = 0;

    while (i < l->count && strcmp(l->name(i), name) != 0)
        i++;
    return i;
}

#define LIST_MAX 256
_Static_assert((int)ATOMIC_COUNT <= LIST_MAX && (int)COST_COUNT <= LIST_MAX &&
                   (int)W_COUNT <= LIST_MAX,
               "");

/* What the built-in table does not have, older tables do not know. */
static bool is_off(const struct list *l, uint32_t i) { return l->numbers && l->numbers[i] == 0; }

static bool read_list(struct reader *r, const struct member *at, const struct list *l)
{
    bool have[LIST_MAX] = {false};
    struct member m;

    if (!cJSON_IsObject(at->item))
        return fail_at(r, at->value, "%s: want an object", at->item->string);
    EACH_MEMBER(r, m, at->item, at->value)
    {
        uint32_t i = list_find(l, m.item->string);

        if (i == l->count)
            return fail_at(r, m.key, "unknown name \"%s\"", m.item->string);
        if (have[i])
            return fail_at(r, m.key, "\"%s\" appears twice", m.item->string);
        have[i] = true;
        if (l->pairs ? !read_entry(r, &m, "hit", &l->pairs[i].hit, "miss", &l->pairs[i].miss)
                     : !read_entry(r, &m, "ps", &l->numbers[i], NULL, NULL))
            return false;
    }
    for (uint32_t i = 0; i < l->count && !r->inherits; i++)
        if (!have[i] && !is_off(l, i))
            return fail_at(r, at->key, "\"%s\" is missing here", l->name(i));
    return true;
}

static bool read_ports(struct reader *r, const struct member *at, struct costs *c)
{
    bool have[PORT_COUNT] = {false};
    struct member m;

    if (!cJSON_IsObject(at->item))
        return fail_at(r, at->value, "%s: want an object", at->item->string);
    EACH_MEMBER(r, m, at->item, at->value)
    {
        int port = cost_port_parse(m.item->string);

        if (port < 0)
            return fail_at(r, m.key, "unknown port \"%s\"", m.item->string);
        if (have[port])
            return fail_at(r, m.key, "\"%s\" appears twice", m.item->string);
        have[port] = true;
        if (!read_list(r, &m,
                       &(struct list){"ports", atomic_name, ATOMIC_COUNT, c->atomic[port], NULL}))
            return false;
    }
    for (int i = 0; i < PORT_COUNT && !r->inherits; i++)
        if (!have[i])
            return fail_at(r, at->key, "\"%s\" is missing here", cost_port_name((enum cost_port)i));
    return true;
}

/* ---- releases ---- */

static bool read_release(struct reader *r, const struct member *m, struct cost_table *t)
{
    struct costs_release *own = &t->releases[t->nreleases];
    int release = profile_parse(m->item->string);
    bool inherits = r->inherits;

    if (release < 0 || strcmp(m->item->string, "latest") == 0)
        return fail_at(r, m->key, "want a release such as go1.23, not \"%s\"", m->item->string);
    if (t->nreleases == COSTS_RELEASES_MAX || (t->nreleases > 0 && own[-1].release >= release))
        return fail_at(r, m->key, "%s: releases rise", m->item->string);
    own->release = release;
    memset(own->work, 0xff, sizeof own->work);
    t->nreleases++;
    r->inherits = true; /* what differs */
    bool ok = read_list(r, m, &(struct list){"releases", work_name, W_COUNT, NULL, own->work});
    r->inherits = inherits;
    return ok;
}

static bool read_releases(struct reader *r, const struct member *at, struct cost_table *t)
{
    struct member m;

    if (!cJSON_IsObject(at->item))
        return fail_at(r, at->value, "%s: want an object", at->item->string);
    t->nreleases = 0; /* all of them, not those of the table that this one begins with */
    EACH_MEMBER(r, m, at->item, at->value)
    if (!read_release(r, &m, t))
        return false;
    return true;
}

void costs_of_release(const struct cost_table *t, int release, struct costs *out)
{
    const struct costs_release *own = t->releases;

    *out = t->costs;
    if (t->nreleases == 0)
        return;
    while (own + 1 < t->releases + t->nreleases && own[1].release <= release)
        own++;
    for (int i = 0; i < W_COUNT; i++)
        if (own->work[i] != COSTS_UNSAID)
            out->work[i] = own->work[i];
}

void costs_rules(const struct costs *c, struct profile *p)
{
    if (c->work[W_mark_kb] > 0)
        p->gc_mark_ns_per_kb = (c->work[W_mark_kb] + 500) / 1000;
    if (c->work[W_touch_kb] > 0)
        p->gc_touch_ns_per_kb = (c->work[W_touch_kb] + 500) / 1000;
}

/* ---- the top ---- */

enum top {
    TOP_VERSION,
    TOP_NAME,
    TOP_UNIT,
    TOP_INHERITS,
    TOP_PORTS,
    TOP_COSTS,
    TOP_WORK,
    TOP_NOISE,
    TOP_RELEASES,
    TOP_COUNT
};
static const char *const tops[TOP_COUNT] = {"version", "name", "unit",  "inherits", "ports",
                                            "costs",   "work", "noise", "releases"};

static bool want_text(struct reader *r, const struct member *m, const char *text)
{
    if (!cJSON_IsString(m->item) || strcmp(m->item->valuestring, text) != 0)
        return fail_at(r, m->value, "want \"%s\" here", text);
    return true;
}

static bool read_name(struct reader *r, const struct member *m, char *name)
{
    if (!cJSON_IsString(m->item) || m->item->valuestring[0] == '\0' ||
        strlen(m->item->valuestring) >= COSTS_NAME_MAX)
        return fail_at(r, m->value, "%s: want a text of 1 to 63 bytes", "name");
    strcpy(name, m->item->valuestring);
    return true;
}

static bool read_version(struct reader *r, const struct member *m)
{
    uint32_t version = 0;

    if (!cJSON_IsNumber(m->item) || !read_ps(r, m, &version) || version != 1)
        return r->f && r->f->code ? false : fail_at(r, m->value, "%s: want 1", "version");
    return true;
}

static bool read_top(struct reader *r, const struct member *m, enum top top, struct cost_table *t)
{
    struct costs *c = &t->costs;

    switch (top) {
    case TOP_VERSION: return read_version(r, m);
    case TOP_NAME: return read_name(r, m, t->name);
    case TOP_UNIT: return want_text(r, m, "ps");
    case TOP_INHERITS: return true; /* read before all others */
    case TOP_PORTS: return read_ports(r, m, c);
    case TOP_COSTS:
        return read_list(r, m, &(struct list){"costs", kind_name, COST_COUNT, NULL, c->kind});
    case TOP_WORK:
        return read_list(r, m, &(struct list){"work", work_name, W_COUNT, NULL, c->work});
    case TOP_NOISE: return read_noise(r, m, c);
    case TOP_RELEASES: return read_releases(r, m, t);
    case TOP_COUNT: break;
    }
    return false;
}

static bool parse(struct failure *f, const char *path, const char *text, size_t size, int depth,
                  struct cost_table *out);

/* Begins with the table of that name. */
static bool inherit(struct reader *r, const struct member *m, struct cost_table *t)
{
    enum { DEPTH_MAX = 8 };
    const struct costs_shipped *s = costs_shipped;
    const char *name = cJSON_IsString(m->item) ? m->item->valuestring : "";

    r->inherits = true;
    if (strcmp(name, "reference") == 0)
        return true; /* it has begun so */
    while (s->name != NULL && strcmp(s->name, name) != 0)
        s++;
    if (s->name == NULL)
        return fail_at(r, m->value, "want the name of a table of costs/%s",
                       ", such as \"reference\"");
    if (r->depth == DEPTH_MAX)
        return fail_at(r, m->value, "%s", "inherits from itself");
    return parse(r->f, s->name, s->text, s->size, r->depth + 1, t);
}

static bool read_inherits(struct reader *r, const cJSON *root, const char *start,
                          struct cost_table *t)
{
    struct member m;

    EACH_MEMBER(r, m, root, start)
    if (strcmp(m.item->string, "inherits") == 0)
        return inherit(r, &m, t);
    return true;
}

static bool read_tree(struct reader *r, const cJSON *root, struct cost_table *t)
{
    const char *start = skip_space(r, r->text);
    bool have[TOP_COUNT] = {false};
    struct member m;

    if (!cJSON_IsObject(root))
        return fail_at(r, start, "%s", "want an object");
    if (!read_inherits(r, root, start, t))
        return false;
    EACH_MEMBER(r, m, root, start)
    {
        uint32_t i = 0;

        while (i < TOP_COUNT && strcmp(tops[i], m.item->string) != 0)
            i++;
        if (i == TOP_COUNT)
            return fail_at(r, m.key, "unknown key \"%s\"", m.item->string);
        if (have[i])
            return fail_at(r, m.key, "\"%s\" appears twice", m.item->string);
        have[i] = true;
        if (!read_top(r, &m, (enum top)i, t))
            return false;
    }
    for (uint32_t i = 0; i < TOP_COUNT; i++)
        if (!have[i] && i != TOP_INHERITS && i != TOP_NOISE && i != TOP_RELEASES &&
            !(r->inherits && i >= TOP_PORTS))
            return fail_at(r, start, "\"%s\" is missing", tops[i]);
    return true;
}

static bool parse(struct failure *f, const char *path, const char *text, size_t size, int depth,
                  struct cost_table *out)
{
    struct reader r = {.f = f, .path = path, .text = text, .end = text + size, .depth = depth};
    const char *stopped = text;
    cJSON *root;
    bool ok;

    if (size > COSTS_FILE_MAX)
        return fail_at(&r, text, "%s", "larger than the 1 MiB that a cost table may have");
    if (memchr(text, '\0', size))
        return fail_at(&r, memchr(text, '\0', size), "%s", "a NUL byte");
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return fail_at(&r, text, "%s", "a byte order mark");
    root = cJSON_ParseWithLengthOpts(text, size, &stopped, /*require_null_terminated*/ 0);
    if (root == NULL)
        return fail_at(&r, stopped, "%s", "not JSON near here");
    if (skip_space(&r, stopped) < r.end) {
        cJSON_Delete(root);
        return fail_at(&r, skip_space(&r, stopped), "%s", "more text after the table");
    }
    *out = (struct cost_table){.costs = costs_builtin};
    ok = read_tree(&r, root, out);
    cJSON_Delete(root);
    return ok;
}

bool costs_parse(struct failure *f, const char *path, const char *text, size_t size,
                 struct cost_table *out)
{
    return parse(f, path, text, size, 0, out);
}

bool costs_load(struct failure *f, const char *path, struct cost_table *out)
{
    FILE *file = fopen(path, "rb");
    const struct costs_shipped *s = costs_shipped;
    char *text = NULL;
    size_t size = 0;
    bool ok = false;

    while (file == NULL && s->name != NULL && strcmp(s->name, path) != 0)
        s++;
    if (file == NULL && s->name != NULL)
        return costs_parse(f, path, s->text, s->size, out);
    if (file == NULL) {
        fail(f, E_IO, "%s: %s", path, strerror(errno));
        return false;
    }
    text = malloc(COSTS_FILE_MAX + 1);
    if (text == NULL) {
        fail(f, E_LIMIT, "%s: no memory", path);
        goto out;
    }
    size = fread(text, 1, COSTS_FILE_MAX + 1, file);
    if (ferror(file))
        fail(f, E_IO, "%s: cannot be read", path);
    else
        ok = costs_parse(f, path, text, size, out);
out:
    free(text);
    fclose(file);
    return ok;
}
