/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GMPSIM_SCENARIOS_JSON_H
#define GMPSIM_SCENARIOS_JSON_H

/* JSON with places: cJSON parses, a scanner over the same text checks what cJSON lets through
 * (duplicate keys, depth, raw control characters, UTF-8) and remembers where every value and key
 * stands, so that any later complaint can say file:line:column.
 *
 * A mistake leaves by longjmp to json_open's caller (program/place.h). One document at a time per
 * struct. */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/place.h"

enum { JSON_SIZE_MAX = 64 << 20, JSON_DEPTH_MAX = 128, JSON_VALUES_MAX = 4 << 20 };

struct json_place {
    uint32_t value, key; /* byte offsets; key is UINT32_MAX for an element of an array */
    uint32_t line;
};

struct json {
    struct mistakes mistakes;
    struct source source;
    cJSON *root;
    struct json_place *places; /* in document order */
    uint32_t count;
    uint32_t *keys; /* of the scanner: places of the keys of all open objects */
};

/* Zero the struct, fill mistakes.f and source; call after `if (setjmp(doc->mistakes.jump)) ->
 * error`. */
void json_open(struct json *doc);
void json_close(struct json *doc);

/* file:line:column: message. `at` is a value of the document (NULL: its beginning); with_key points
 * at its key. */
_Noreturn void json_bad(struct json *doc, const cJSON *at, bool with_key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
struct place json_at(const struct json *doc, const cJSON *value); /* NULL: the beginning */
struct place json_key_at(const struct json *doc, const cJSON *value);
/* "want WHAT, got ..." with the value's text. */
_Noreturn void json_want(struct json *doc, const cJSON *value, const char *what);

/* Every key of an object must be among the names. */
void json_keys(struct json *doc, const cJSON *object, const char *const *names);

/* Members; each complains about a wrong type. The _or forms give the default when the key is
 * absent. */
const cJSON *json_member(const cJSON *object, const char *key);
const cJSON *json_need(struct json *doc, const cJSON *object, const char *key);
const char *json_string(struct json *doc, const cJSON *value);
int64_t json_int(struct json *doc, const cJSON *value, int64_t min, int64_t max);
int64_t json_int_or(struct json *doc, const cJSON *object, const char *key, int64_t other,
                    int64_t min, int64_t max);
bool json_bool_or(struct json *doc, const cJSON *object, const char *key, bool other);
void json_want_object(struct json *doc, const cJSON *value);
void json_want_array(struct json *doc, const cJSON *value);

/* "250us", "1.5ms", "2s", "100" is an error; exact, in nanoseconds. false: no duration. */
bool json_parse_duration(const char *s, int64_t *ns);
/* "64KB", "1.5MB", "10B", or a number of bytes. */
bool json_parse_size(const char *s, int64_t *bytes);
int64_t json_duration(struct json *doc, const cJSON *value);
int64_t json_duration_or(struct json *doc, const cJSON *object, const char *key, int64_t other);
/* A number with up to three decimals, times 1000. */
int64_t json_milli(struct json *doc, const cJSON *value, int64_t max);

#endif
