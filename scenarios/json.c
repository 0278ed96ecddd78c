/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- complaints ---- */

/* Line and column (in characters, from 1) of a byte offset. */
static void line_column(const struct json *doc, size_t offset, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset && i < doc->size; i++) {
        unsigned char c = (unsigned char)doc->text[i];
        if (c == '\n') {
            ++*line;
            *column = 1;
        } else if ((c & 0xc0) != 0x80) {
            ++*column;
        }
    }
}

static _Noreturn void bad_at(struct json *doc, size_t offset, const char *fmt, va_list args)
{
    char text[400];
    unsigned line, column;
    line_column(doc, offset, &line, &column);
    vsnprintf(text, sizeof text, fmt, args);
    fail(doc->f, E_SCENARIO, "%s:%u:%u: %s", doc->path, line, column, text);
    longjmp(doc->jump, 1);
}

static _Noreturn __attribute__((format(printf, 3, 4))) void bad_offset(struct json *doc,
                                                                       size_t offset,
                                                                       const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    bad_at(doc, offset, fmt, args);
}

/* Position of a value in document order. The tree is walked only to complain. */
static bool find_index(const cJSON *from, const cJSON *what, uint32_t *index)
{
    for (; from != NULL; from = from->next) {
        if (from == what)
            return true;
        ++*index;
        if (find_index(from->child, what, index))
            return true;
    }
    return false;
}

static size_t place_of(struct json *doc, const cJSON *at, bool with_key)
{
    uint32_t index = 0;
    if (at == NULL || !find_index(doc->root, at, &index) || index >= doc->count)
        return 0;
    const struct json_place *p = &doc->places[index];
    return with_key && p->key != UINT32_MAX ? p->key : p->value;
}

void json_bad(struct json *doc, const cJSON *at, bool with_key, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    bad_at(doc, place_of(doc, at, with_key), fmt, args);
}

/* The value as it stands in the file: one line of it, at most `size` - 4 bytes. */
static void quote(const struct json *doc, size_t at, char *out, size_t size)
{
    size_t n = 0;
    int depth = 0;
    bool string = false;
    for (; at < doc->size && doc->text[at] != '\n' && n < size - 4; at++) {
        char ch = doc->text[at];
        if (!string && depth == 0 && n > 0 && strchr(",}] \t\r", ch) != NULL)
            break;
        out[n++] = ch;
        if (ch == '"' && (n == 1 || out[n - 2] != '\\'))
            string = !string;
        if (!string)
            depth += (ch == '{' || ch == '[') - (ch == '}' || ch == ']');
        if (!string && depth == 0 && strchr("}]\"", ch) != NULL)
            break;
    }
    bool cut = n == size - 4 || depth > 0;
    while (cut && n > 0 && ((unsigned char)out[n - 1] & 0xc0) == 0x80)
        n--; /* not in the middle of a character */
    n -= cut && n > 0 && (unsigned char)out[n - 1] >= 0xc0;
    strcpy(out + n, cut ? "..." : "");
}

void json_quote(struct json *doc, const cJSON *value, char *out, size_t size)
{
    quote(doc, place_of(doc, value, false), out, size);
}

void json_want(struct json *doc, const cJSON *value, const char *what)
{
    char text[64];
    size_t at = place_of(doc, value, false);
    quote(doc, at, text, sizeof text);
    bad_offset(doc, at, "want %s, got %s", what, text);
}

/* An object keeps its place in valueint, which cJSON has no use for there. */
uint32_t json_line(const struct json *doc, const cJSON *object)
{
    return cJSON_IsObject(object) ? doc->places[object->valueint].line : 0;
}

static void number_objects(cJSON *from, uint32_t *index)
{
    for (; from != NULL; from = from->next) {
        if (cJSON_IsObject(from))
            from->valueint = (int)*index;
        ++*index;
        number_objects(from->child, index);
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
    const char *t = s->doc->text;
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
        unsigned char c = s->at < doc->size ? (unsigned char)doc->text[s->at] : 0;
        if (c < 0x20)
            bad_offset(doc, s->at < doc->size && c != '\n' ? s->at : start,
                       s->at < doc->size && c != '\n' ? "control character in a string"
                                                      : "string without an end");
        if (c == '"')
            break;
        size_t n = c == '\\' ? 2 : utf8_length((const unsigned char *)doc->text + s->at);
        if (n == 0)
            bad_offset(doc, s->at, "not UTF-8");
        if (c == '\\' && strncmp(doc->text + s->at, "\\u0000", 6) == 0)
            bad_offset(doc, s->at, "a string cannot hold the character 0");
        s->at += n;
    }
    s->at++;
}

/* Something that begins no value: what is it that people write here? */
static _Noreturn void bad_value(struct scan *s)
{
    char c = s->doc->text[s->at];
    if (s->at >= s->doc->size)
        bad_offset(s->doc, s->at, "the text ends in the middle");
    if (c == ']' || c == '}')
        bad_offset(s->doc, s->at, "a value is missing before '%c'; the last has no comma", c);
    if (c == '\'')
        bad_offset(s->doc, s->at, "strings are written in double quotes");
    if (c == '/' || c == '#')
        bad_offset(s->doc, s->at, "JSON has no comments; a statement may have a \"why\"");
    if (strncmp(s->doc->text + s->at, "\xef\xbb\xbf", 3) == 0)
        bad_offset(s->doc, s->at, "a byte order mark; the file is UTF-8 without one");
    bad_offset(s->doc, s->at, "unexpected '%c'", c >= 0x20 && c < 0x7f ? c : '?');
}

static void scan_scalar(struct scan *s)
{
    size_t start = s->at;
    const char *t = s->doc->text;
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
    const char *text = s->doc->text;
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
    if (memchr(s->doc->text + start, '\\', s->at - start) != NULL)
        bad_offset(s->doc, start, "a key is written without escapes");
}

static void expect_char(struct scan *s, char c)
{
    skip_space(s);
    if (s->doc->text[s->at] != c)
        bad_offset(s->doc, s->at,
                   s->at >= s->doc->size ? "the text ends where '%c' is due" : "expected '%c'", c);
    s->at++;
}

/* After an element: true if another one follows. */
static bool scan_comma(struct scan *s, char close)
{
    skip_space(s);
    char c = s->doc->text[s->at];
    if (c != ',' && c != close)
        bad_offset(s->doc, s->at,
                   s->at >= s->doc->size ? "the text ends inside %s"
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
    if (s->doc->text[s->at] == '}') {
        s->at++;
        return;
    }
    do {
        skip_space(s);
        if (s->doc->text[s->at] == '/' || s->doc->text[s->at] == '#')
            bad_value(s);
        if (s->doc->text[s->at] != '"')
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
    if (s->doc->text[s->at] == ']') {
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
    switch (s->doc->text[s->at]) {
    case '{': scan_object(s, depth); break;
    case '[': scan_array(s, depth); break;
    case '"': scan_string(s); break;
    default: scan_scalar(s);
    }
}

void json_open(struct json *doc)
{
    if (doc->size > JSON_SIZE_MAX)
        bad_offset(doc, 0, "%zu bytes; at most %d are read", doc->size, JSON_SIZE_MAX);
    if (strlen(doc->text) != doc->size)
        bad_offset(doc, strlen(doc->text), "a byte 0 in the text");
    struct scan s = {.doc = doc, .line = 1};
    scan_value(&s, UINT32_MAX, 0);
    skip_space(&s);
    if (s.at != doc->size)
        bad_offset(doc, s.at, "more text after the end");
    const char *end = doc->text;
    doc->root = cJSON_ParseWithLengthOpts(doc->text, doc->size + 1, &end, 1);
    if (doc->root == NULL)
        bad_offset(doc, (size_t)(end - doc->text), "not JSON");
    uint32_t index = 0;
    number_objects(doc->root, &index);
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

/* Edits (insert, delete, replace, swap neighbours) between two short words; large when they have
 * little in common. */
static unsigned distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    if (na > 31 || nb > 31)
        return 99;
    unsigned d[33][33];
    for (unsigned i = 0; i <= na; i++)
        for (unsigned j = 0; j <= nb; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[na][nb];
}

const char *json_nearest(const char *written, const char *const *names)
{
    const char *best = NULL;
    unsigned least = 3;
    for (; *names != NULL; names++) {
        unsigned d = distance(written, *names);
        if (d < least && d < strlen(written)) {
            least = d;
            best = *names;
        }
    }
    return best;
}

void json_keys(struct json *doc, const cJSON *object, const char *const *names)
{
    for (const cJSON *m = object->child; m != NULL; m = m->next) {
        const char *const *n = names;
        while (*n != NULL && strcmp(*n, m->string) != 0)
            n++;
        if (*n != NULL)
            continue;
        const char *near = json_nearest(m->string, names);
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
