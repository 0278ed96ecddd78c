/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- complaints ---- */

static struct place at_offset(const struct json *doc, size_t offset)
{
    return (struct place){.in = &doc->source, .offset = (uint32_t)offset};
}

static _Noreturn __attribute__((format(printf, 3, 4))) void bad_offset(struct json *doc,
                                                                       size_t offset,
                                                                       const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    mistake_of(&doc->mistakes, at_offset(doc, offset), fmt, args);
}

/* A value keeps its number in document order in valueint, which only old users of cJSON read. */
struct place json_at(const struct json *doc, const cJSON *value)
{
    if (value == NULL)
        return at_offset(doc, 0);
    const struct json_place *p = &doc->places[value->valueint];
    return (struct place){&doc->source, p->value, p->line};
}

struct place json_key_at(const struct json *doc, const cJSON *value)
{
    struct place at = json_at(doc, value);
    uint32_t key = value != NULL ? doc->places[value->valueint].key : UINT32_MAX;
    if (key != UINT32_MAX)
        at.offset = key;
    return at;
}

void json_bad(struct json *doc, const cJSON *at, bool with_key, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    mistake_of(&doc->mistakes, with_key ? json_key_at(doc, at) : json_at(doc, at), fmt, args);
}

void json_want(struct json *doc, const cJSON *value, const char *what)
{
    char text[64];
    place_quote(json_at(doc, value), text, sizeof text);
    json_bad(doc, value, false, "want %s, got %s", what, text);
}

static void number_values(cJSON *from, uint32_t *index)
{
    for (; from != NULL; from = from->next) {
        from->valueint = (int)(*index)++;
        number_values(from->child, index);
    }
}

/* ---- the scanner ---- */

struct scan {
    struct json *doc;
    size_t at;
    uint32_t cap, line, nkeys, keys_cap;
};

static void skip_space(struct scan *s)
{
    const char *t = s->doc->source.text;
    for (; t[s->at] == ' ' || t[s->at] == '\t' || t[s->at] == '\n' || t[s->at] == '\r'; s->at++)
        s->line += t[s->at] == '\n';
}

static void add_place(struct scan *s, uint32_t key)
{
    struct json *doc = s->doc;
    if (doc->count == JSON_VALUES_MAX)
        bad_offset(doc, s->at, "more than %d values", JSON_VALUES_MAX);
    if (doc->count == s->cap) {
        s->cap = s->cap != 0 ? s->cap * 2 : 256;
        struct json_place *p = realloc(doc->places, s->cap * sizeof *p);
        if (p == NULL)
            bad_offset(doc, s->at, "out of memory");
        doc->places = p;
    }
    doc->places[doc->count++] = (struct json_place){(uint32_t)s->at, key, s->line};
}

/* One character of UTF-8; an overlong form or a surrogate is a mistake. */
static size_t utf8_length(const unsigned char *c)
{
    if (c[0] < 0x80)
        return 1;
    size_t n = c[0] >= 0xf0 && c[0] < 0xf5 ? 4 : c[0] >= 0xe0 ? 3 : c[0] >= 0xc2 ? 2 : 0;
    if (c[0] >= 0xf5 || n == 0)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80)
            return 0;
    if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] >= 0xa0) ||
        (c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] >= 0x90))
        return 0;
    return n;
}

static void scan_string(struct scan *s)
{
    struct json *doc = s->doc;
    size_t start = s->at++;
    for (;;) {
        unsigned char c = s->at < doc->source.size ? (unsigned char)doc->source.text[s->at] : 0;
        if (c < 0x20)
            bad_offset(doc, s->at < doc->source.size && c != '\n' ? s->at : start,
                       s->at < doc->source.size && c != '\n' ? "control character in a string"
                                                             : "string without an end");
        if (c == '"')
            break;
        size_t n = c == '\\' ? 2 : utf8_length((const unsigned char *)doc->source.text + s->at);
        if (n == 0)
            bad_offset(doc, s->at, "not UTF-8");
        if (c == '\\' && strncmp(doc->source.text + s->at, "\\u0000", 6) == 0)
            bad_offset(doc, s->at, "a string cannot hold the character 0");
        s->at += n;
    }
    s->at++;
}

/* The character begins no value: says what it may have been meant for. */
static _Noreturn void bad_value(struct scan *s)
{
    char c = s->doc->source.text[s->at];
    if (s->at >= s->doc->source.size)
        bad_offset(s->doc, s->at, "the text ends in the middle");
    if (c == ']' || c == '}')
        bad_offset(s->doc, s->at, "a value is missing before '%c'; the last has no comma", c);
    if (c == '\'')
        bad_offset(s->doc, s->at, "strings are written in double quotes");
    if (c == '/' || c == '#')
        bad_offset(s->doc, s->at, "JSON has no comments; a statement may have a \"why\"");
    if (strncmp(s->doc->source.text + s->at, "\xef\xbb\xbf", 3) == 0)
        bad_offset(s->doc, s->at, "a byte order mark; the file is UTF-8 without one");
    bad_offset(s->doc, s->at, "unexpected '%c'", c >= 0x20 && c < 0x7f ? c : '?');
}

static void scan_scalar(struct scan *s)
{
    size_t start = s->at;
    const char *t = s->doc->source.text;
    while (t[s->at] != 0 && strchr("+-.0123456789abcdefghijklmnopqrstuvwxyzE", t[s->at]) != NULL)
        s->at++;
    if (s->at == start)
        bad_value(s);
}

static void scan_value(struct scan *s, uint32_t key, int depth);

static size_t key_length(const char *text, uint32_t at)
{
    size_t n = 1;
    while (text[at + n] != '"')
        n += text[at + n] == '\\' ? 2 : 1;
    return n;
}

static int compare_text(const char *text, uint32_t a, uint32_t b)
{
    size_t na = key_length(text, a), nb = key_length(text, b);
    int c = memcmp(text + a, text + b, na < nb ? na : nb);
    return c != 0 ? c : na < nb ? -1 : na > nb;
}

static const char *sort_text;
static int compare_keys(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    int c = compare_text(sort_text, *x, *y);
    return c != 0 ? c : *x < *y ? -1 : *x > *y;
}

/* The keys of the object that ends are those since `first`; they leave the stack. */
static void check_duplicates(struct scan *s, uint32_t first)
{
    const char *text = s->doc->source.text;
    uint32_t *keys = s->doc->keys + first, count = s->nkeys - first;
    sort_text = text;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 1; i < count; i++) {
        if (compare_text(text, keys[i - 1], keys[i]) != 0)
            continue;
        size_t n = key_length(text, keys[i]) - 1;
        bad_offset(s->doc, keys[i], "duplicate key \"%.*s\"", n > 60 ? 60 : (int)n,
                   text + keys[i] + 1);
    }
    s->nkeys = first;
}

static void add_key(struct scan *s)
{
    if (s->nkeys == s->keys_cap) {
        s->keys_cap = s->keys_cap != 0 ? s->keys_cap * 2 : 64;
        uint32_t *p = realloc(s->doc->keys, s->keys_cap * sizeof *p);
        if (p == NULL)
            bad_offset(s->doc, s->at, "out of memory");
        s->doc->keys = p;
    }
    s->doc->keys[s->nkeys++] = (uint32_t)s->at;
}

/* An escape would let two spellings of one key pass as different. */
static void scan_key(struct scan *s)
{
    size_t start = s->at;
    add_key(s);
    scan_string(s);
    if (memchr(s->doc->source.text + start, '\\', s->at - start) != NULL)
        bad_offset(s->doc, start, "a key is written without escapes");
}

static void expect_char(struct scan *s, char c)
{
    skip_space(s);
    if (s->doc->source.text[s->at] != c)
        bad_offset(
            s->doc, s->at,
            s->at >= s->doc->source.size ? "the text ends where '%c' is due" : "expected '%c'", c);
    s->at++;
}

/* After an element: true if another one follows. */
static bool scan_comma(struct scan *s, char close)
{
    skip_space(s);
    char c = s->doc->source.text[s->at];
    if (c != ',' && c != close)
        bad_offset(s->doc, s->at,
                   s->at >= s->doc->source.size ? "the text ends inside %s"
                                                : "expected ',' or the end of %s",
                   close == '}' ? "an object" : "an array");
    s->at++;
    return c == ',';
}

static void scan_object(struct scan *s, int depth)
{
    uint32_t first = s->nkeys;
    s->at++;
    skip_space(s);
    if (s->doc->source.text[s->at] == '}') {
        s->at++;
        return;
    }
    do {
        skip_space(s);
        if (s->doc->source.text[s->at] == '/' || s->doc->source.text[s->at] == '#')
            bad_value(s);
        if (s->doc->source.text[s->at] != '"')
            bad_offset(s->doc, s->at, "expected a key in double quotes");
        uint32_t key = (uint32_t)s->at;
        scan_key(s);
        expect_char(s, ':');
        scan_value(s, key, depth + 1);
    } while (scan_comma(s, '}'));
    check_duplicates(s, first);
}

static void scan_array(struct scan *s, int depth)
{
    s->at++;
    skip_space(s);
    if (s->doc->source.text[s->at] == ']') {
        s->at++;
        return;
    }
    do
        scan_value(s, UINT32_MAX, depth + 1);
    while (scan_comma(s, ']'));
}

static void scan_value(struct scan *s, uint32_t key, int depth)
{
    if (depth > JSON_DEPTH_MAX)
        bad_offset(s->doc, s->at, "nested more than %d deep", JSON_DEPTH_MAX);
    skip_space(s);
    add_place(s, key);
    switch (s->doc->source.text[s->at]) {
    case '{': scan_object(s, depth); break;
    case '[': scan_array(s, depth); break;
    case '"': scan_string(s); break;
    default: scan_scalar(s);
    }
}

void json_open(struct json *doc)
{
    if (doc->source.size > JSON_SIZE_MAX)
        bad_offset(doc, 0, "%zu bytes; at most %d are read", doc->source.size, JSON_SIZE_MAX);
    if (strlen(doc->source.text) != doc->source.size)
        bad_offset(doc, strlen(doc->source.text), "a byte 0 in the text");
    struct scan s = {.doc = doc, .line = 1};
    scan_value(&s, UINT32_MAX, 0);
    skip_space(&s);
    if (s.at != doc->source.size)
        bad_offset(doc, s.at, "more text after the end");
    const char *end = doc->source.text;
    doc->root = cJSON_ParseWithLengthOpts(doc->source.text, doc->source.size + 1, &end, 1);
    if (doc->root == NULL)
        bad_offset(doc, (size_t)(end - doc->source.text), "not JSON");
    uint32_t index = 0;
    number_values(doc->root, &index);
}

void json_close(struct json *doc)
{
    cJSON_Delete(doc->root);
    free(doc->places);
    free(doc->keys);
    doc->root = NULL;
    doc->places = NULL;
    doc->keys = NULL;
}

/* ---- names ---- */

void json_keys(struct json *doc, const cJSON *object, const char *const *names)
{
    for (const cJSON *m = object->child; m != NULL; m = m->next) {
        const char *const *n = names;
        while (*n != NULL && strcmp(*n, m->string) != 0)
            n++;
        if (*n != NULL)
            continue;
        const char *near = nearest(m->string, names);
        if (near != NULL)
            json_bad(doc, m, true, "unknown key \"%.60s\"; did you mean \"%s\"?", m->string, near);
        json_bad(doc, m, true, "unknown key \"%.60s\"", m->string);
    }
}

/* ---- members ---- */

const cJSON *json_member(const cJSON *object, const char *key)
{
    for (const cJSON *m = object->child; m != NULL; m = m->next)
        if (m->string != NULL && strcmp(m->string, key) == 0)
            return m;
    return NULL;
}

const cJSON *json_need(struct json *doc, const cJSON *object, const char *key)
{
    const cJSON *m = json_member(object, key);
    if (m == NULL)
        json_bad(doc, object, true, "\"%s\" is missing here", key);
    return m;
}

const char *json_string(struct json *doc, const cJSON *value)
{
    if (!cJSON_IsString(value))
        json_want(doc, value, "a string");
    return value->valuestring;
}

/* cJSON keeps numbers as double: whole numbers are exact up to 2^53, larger ones are refused. */
int64_t json_int(struct json *doc, const cJSON *value, int64_t min, int64_t max)
{
    const double exact = 9007199254740992.0;
    if (!cJSON_IsNumber(value))
        json_want(doc, value, "a whole number");
    if (!(value->valuedouble >= -exact && value->valuedouble <= exact) ||
        (double)(int64_t)value->valuedouble != value->valuedouble)
        json_want(doc, value, "a whole number between -2^53 and 2^53");
    int64_t n = (int64_t)value->valuedouble;
    if (n < min || n > max)
        json_bad(doc, value, false, "want a number from %lld to %lld, got %lld", (long long)min,
                 (long long)max, (long long)n);
    return n;
}

int64_t json_int_or(struct json *doc, const cJSON *object, const char *key, int64_t other,
                    int64_t min, int64_t max)
{
    const cJSON *m = json_member(object, key);
    return m == NULL ? other : json_int(doc, m, min, max);
}

bool json_bool_or(struct json *doc, const cJSON *object, const char *key, bool other)
{
    const cJSON *m = json_member(object, key);
    if (m == NULL)
        return other;
    if (!cJSON_IsBool(m))
        json_want(doc, m, "true or false");
    return cJSON_IsTrue(m);
}

void json_want_object(struct json *doc, const cJSON *value)
{
    if (!cJSON_IsObject(value))
        json_want(doc, value, "an object {...}");
}

void json_want_array(struct json *doc, const cJSON *value)
{
    if (!cJSON_IsArray(value))
        json_want(doc, value, "an array [...]");
}

/* ---- quantities ---- */

struct unit {
    const char *name;
    int64_t factor;
};

/* digits[.digits]unit, exact in the smallest unit. */
static bool parse_quantity(const char *s, const struct unit *units, int64_t *out)
{
    int64_t whole = 0, fraction = 0, scale = 1;
    const char *p = s;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (whole > INT64_MAX / 100)
            return false;
        whole = whole * 10 + (*p - '0');
    }
    if (*p == '.') {
        const char *first = ++p;
        for (; *p >= '0' && *p <= '9'; p++) {
            if (scale > 100000000000000)
                return false;
            fraction = fraction * 10 + (*p - '0');
            scale *= 10;
        }
        if (p == first)
            return false;
    }
    for (; units->name != NULL; units++) {
        if (strcmp(p, units->name) != 0)
            continue;
        __int128 v = (__int128)whole * units->factor + (__int128)fraction * units->factor / scale;
        *out = (int64_t)v;
        return v <= INT64_MAX / 4;
    }
    return false;
}

bool json_parse_duration(const char *s, int64_t *ns)
{
    static const struct unit units[] = {
        {"ns", 1},         {"us", 1000},         {"ms", 1000000},
        {"s", 1000000000}, {"min", 60000000000}, {"h", 3600000000000},
        {NULL, 0}};
    return parse_quantity(s, units, ns);
}

bool json_parse_size(const char *s, int64_t *bytes)
{
    static const struct unit units[] = {
        {"B", 1}, {"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {NULL, 0}};
    return parse_quantity(s, units, bytes);
}

int64_t json_duration(struct json *doc, const cJSON *value)
{
    int64_t ns;
    if (!cJSON_IsString(value) || !json_parse_duration(value->valuestring, &ns))
        json_want(doc, value, "a duration such as \"250us\", \"1.5ms\" or \"2s\"");
    return ns;
}

int64_t json_duration_or(struct json *doc, const cJSON *object, const char *key, int64_t other)
{
    const cJSON *m = json_member(object, key);
    return m == NULL ? other : json_duration(doc, m);
}

static _Noreturn void bad_number(struct json *doc, const cJSON *value, int64_t max)
{
    char what[60];
    snprintf(what, sizeof what, "a number from 0 to %lld", (long long)max);
    json_want(doc, value, what);
}

int64_t json_milli(struct json *doc, const cJSON *value, int64_t max)
{
    if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0 && value->valuedouble <= (double)max))
        bad_number(doc, value, max);
    return (int64_t)(value->valuedouble * 1000 + 0.5);
}
