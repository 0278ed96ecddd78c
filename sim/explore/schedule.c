/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/explore/schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/fail.h"
#include "sim/base/fingerprint.h"

static const char magic[] = "gmpsim-schedule";

void schedule_init(struct schedule *s)
{
    s->pair_count = 0;
    s->answers = NULL;
    s->count = s->capacity = 0;
}

void schedule_release(struct schedule *s)
{
    free(s->answers);
    schedule_init(s);
}

/* ---- pairs ---- */

static bool key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool key_ok(const char *key, size_t n)
{
    if (n == 0 || n > SCHEDULE_KEY_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!key_char(key[i]))
            return false;
    return true;
}

static bool value_ok(const char *value, size_t n)
{
    if (n == 0 || n > SCHEDULE_VALUE_MAX || value[0] == ' ' || value[n - 1] == ' ')
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)value[i] < ' ' || value[i] == 0x7f)
            return false;
    return true;
}

static struct schedule_pair *find(const struct schedule *s, const char *key, size_t n)
{
    for (uint32_t i = 0; i < s->pair_count; i++)
        if (strlen(s->pairs[i].key) == n && memcmp(s->pairs[i].key, key, n) == 0)
            return (struct schedule_pair *)(uintptr_t)&s->pairs[i];
    return NULL;
}

const char *schedule_get(const struct schedule *s, const char *key)
{
    const struct schedule_pair *p = find(s, key, strlen(key));
    return p != NULL ? p->value : NULL;
}

static bool is_reserved(const char *key, size_t n)
{
    return (n == 7 && memcmp(key, "answers", 7) == 0) || (n == 3 && memcmp(key, "end", 3) == 0);
}

int schedule_set(struct schedule *s, struct failure *f, const char *key, const char *value)
{
    struct schedule_pair *p = find(s, key, strlen(key));

    if (!key_ok(key, strlen(key)) || is_reserved(key, strlen(key)))
        return fail(f, E_SCHEDULE, "schedule: bad key \"%s\"", key);
    if (!value_ok(value, strlen(value)))
        return fail(f, E_SCHEDULE, "schedule: bad value of %s", key);
    if (p == NULL) {
        if (s->pair_count == SCHEDULE_PAIRS_MAX)
            return fail(f, E_LIMIT, "schedule: more than %d keys", SCHEDULE_PAIRS_MAX);
        p = &s->pairs[s->pair_count++];
        strcpy(p->key, key);
    }
    strcpy(p->value, value);
    return 0;
}

/* ---- answers ---- */

static int reserve(struct schedule *s, struct failure *f, size_t count)
{
    size_t want = s->capacity < 64 ? 64 : s->capacity;

    if (count > SCHEDULE_ANSWERS_MAX)
        return fail(f, E_LIMIT, "schedule: more than %d answers", SCHEDULE_ANSWERS_MAX);
    if (count <= s->capacity)
        return 0;
    while (want < count)
        want *= 2;
    struct answer *a = realloc(s->answers, want * sizeof(*a));
    if (a == NULL)
        return fail(f, E_LIMIT, "schedule: no memory for %zu answers", want);
    s->answers = a;
    s->capacity = want;
    return 0;
}

int schedule_take(struct schedule *s, struct failure *f, const struct answer *a, size_t count)
{
    int rc = reserve(s, f, count);

    if (rc != 0)
        return rc;
    if (count > 0)
        memcpy(s->answers, a, count * sizeof(*a));
    s->count = count;
    return 0;
}

static uint64_t checksum(const struct schedule *s)
{
    struct fingerprint fp;

    fp_init(&fp);
    for (size_t i = 0; i < s->count; i++)
        fp_mix2(&fp, s->answers[i].word >> 32, answer_pick(s->answers[i]));
    return fp_value(&fp);
}

/* ---- out ---- */

int schedule_print(const struct schedule *s, FILE *out)
{
    int column = 0;

    fprintf(out, "%s %d\n", magic, SCHEDULE_VERSION);
    for (uint32_t i = 0; i < s->pair_count; i++)
        fprintf(out, "%s %s\n", s->pairs[i].key, s->pairs[i].value);
    fprintf(out, "answers %zu\n", s->count);
    for (size_t i = 0, n; i < s->count; i += n) {
        struct answer a = s->answers[i];
        char token[64];
        for (n = 1; i + n < s->count && memcmp(&s->answers[i + n], &a, sizeof(a)) == 0; n++)
            continue;
        int len = snprintf(token, sizeof(token), "%c%u:%u", choice_letters[answer_kind(a)],
                           answer_n(a), answer_pick(a));
        if (n > 1)
            len += snprintf(token + len, sizeof(token) - (size_t)len, "*%zu", n);
        if (column + len + 1 > 99) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%s%s", column > 0 ? " " : "", token);
    }
    fprintf(out, "%send %016" PRIx64 "\n", column > 0 ? "\n" : "", checksum(s));
    return ferror(out) ? -1 : 0;
}

/* ---- in ---- */

struct reader {
    const char *name, *at, *end, *line_start;
    unsigned line;
    struct failure *f;
};

static int bad(const struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int bad(const struct reader *r, const char *fmt, ...)
{
    char text[300];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    fail(r->f, E_SCHEDULE, "%s:%u:%u: %s", r->name, r->line, (unsigned)(r->at - r->line_start) + 1,
         text);
    return -E_SCHEDULE;
}

static bool at_eol(const struct reader *r) { return r->at == r->end || *r->at == '\n'; }

static bool next_line(struct reader *r)
{
    if (r->at == r->end || *r->at != '\n')
        return false;
    r->line_start = ++r->at;
    r->line++;
    return true;
}

/* A decimal number up to max, at least one digit, no sign, no leading zero. */
static int number(struct reader *r, uint64_t max, const char *what, uint64_t *out)
{
    const char *start = r->at;
    uint64_t v = 0;

    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        v = v * 10 + (uint64_t)(*r->at - '0');
        if (v > max) {
            r->at = start;
            return bad(r, "%s is more than %" PRIu64, what, max);
        }
        r->at++;
    }
    if (r->at == start)
        return bad(r, "want %s, a decimal number", what);
    if (*start == '0' && r->at - start > 1) {
        r->at = start;
        return bad(r, "%s has a leading zero", what);
    }
    *out = v;
    return 0;
}

static size_t word(const struct reader *r)
{
    const char *p = r->at;

    while (p < r->end && key_char(*p))
        p++;
    return (size_t)(p - r->at);
}

static bool is_word(const struct reader *r, const char *w)
{
    return word(r) == strlen(w) && memcmp(r->at, w, strlen(w)) == 0;
}

static int want_char(struct reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return bad(r, "want '%c'", c);
    r->at++;
    return 0;
}

static int want_eol(struct reader *r)
{
    if (!at_eol(r))
        return bad(r, "unexpected text at the end of the line");
    return next_line(r) ? 0 : bad(r, "the file ends here, unfinished");
}

static int read_magic(struct reader *r)
{
    uint64_t version = 0;
    int rc;

    if (!is_word(r, magic))
        return bad(r, "not a schedule: the first line is \"%s %d\"", magic, SCHEDULE_VERSION);
    r->at += strlen(magic);
    if ((rc = want_char(r, ' ')) != 0 || (rc = number(r, 1000000, "the version", &version)) != 0)
        return rc;
    if (version != SCHEDULE_VERSION)
        return bad(r, "version %" PRIu64 " of the format; this program reads version %d", version,
                   SCHEDULE_VERSION);
    return want_eol(r);
}

static int read_pair(struct reader *r, struct schedule *s)
{
    const char *key = r->at;
    size_t n = word(r), v;
    int rc;

    if (!key_ok(key, n))
        return bad(r, "want a key of a-z, 0-9 and -, at most %d long", SCHEDULE_KEY_MAX);
    if (find(s, key, n) != NULL)
        return bad(r, "duplicate key %.*s", (int)n, key);
    if (s->pair_count == SCHEDULE_PAIRS_MAX)
        return bad(r, "more than %d keys", SCHEDULE_PAIRS_MAX);
    r->at += n;
    if ((rc = want_char(r, ' ')) != 0)
        return rc;
    const char *value = r->at;
    while (!at_eol(r))
        r->at++;
    v = (size_t)(r->at - value);
    if (!value_ok(value, v)) {
        r->at = value;
        return bad(r, "bad value of %.*s: want 1 to %d printable characters", (int)n, key,
                   SCHEDULE_VALUE_MAX);
    }
    struct schedule_pair *p = &s->pairs[s->pair_count++];
    memcpy(p->key, key, n);
    p->key[n] = '\0';
    memcpy(p->value, value, v);
    p->value[v] = '\0';
    return want_eol(r);
}

/* One token: k N : pick [* times]. */
static int read_answer(struct reader *r, struct schedule *s, size_t expected)
{
    const char *letter = *r->at != '\0' ? strchr(choice_letters, *r->at) : NULL;
    uint64_t n = 0, pick = 0, times = 1;
    int rc;

    if (letter == NULL)
        return bad(r, "want an answer, one of %s and a number", choice_letters);
    r->at++;
    if ((rc = number(r, CHOICE_N_MAX, "the number of answers", &n)) != 0 ||
        (rc = want_char(r, ':')) != 0 || (rc = number(r, CHOICE_N_MAX, "the answer", &pick)) != 0)
        return rc;
    if (n < 2 || pick >= n)
        return bad(r, "answer %" PRIu64 " of %" PRIu64, pick, n);
    if (r->at < r->end && *r->at == '*') {
        r->at++;
        if ((rc = number(r, SCHEDULE_ANSWERS_MAX, "the repetition", &times)) != 0)
            return rc;
    }
    if (times == 0 || times > expected - s->count)
        return bad(r, "more answers than the %zu announced", expected);
    if ((rc = reserve(s, r->f, s->count + times)) != 0)
        return rc;
    struct answer a = answer_make((enum choice_kind)(letter - choice_letters), (uint32_t)n,
                                  (uint32_t)pick);
    for (uint64_t i = 0; i < times; i++)
        s->answers[s->count++] = a;
    return 0;
}

static int read_answers(struct reader *r, struct schedule *s, size_t expected)
{
    int rc;

    while (!is_word(r, "end")) {
        if (at_eol(r)) {
            if (!next_line(r))
                return bad(r, "the file ends after %zu of %zu answers", s->count, expected);
            continue;
        }
        if (*r->at == ' ') {
            r->at++;
            continue;
        }
        if ((rc = read_answer(r, s, expected)) != 0)
            return rc;
        if (!at_eol(r) && *r->at != ' ')
            return bad(r, "want a space between answers");
    }
    if (s->count != expected)
        return bad(r, "%zu answers, %zu announced", s->count, expected);
    return 0;
}

static int read_end(struct reader *r, const struct schedule *s)
{
    char want[40];

    snprintf(want, sizeof(want), "end %016" PRIx64, checksum(s));
    if ((size_t)(r->end - r->at) < strlen(want) || memcmp(r->at, want, strlen(want)) != 0)
        return bad(r, "the answers do not match their check: damaged or edited (want \"%s\")",
                   want);
    r->at += strlen(want);
    if (!at_eol(r) || (next_line(r) && r->at != r->end))
        return bad(r, "text after the end");
    return 0;
}

int schedule_parse(struct schedule *s, struct failure *f, const char *name, const char *text,
                   size_t size)
{
    if (text == NULL) /* an empty file */
        text = "";
    struct reader r = {name, text, text + size, text, 1, f};
    uint64_t expected = 0;
    int rc = read_magic(&r);

    while (rc == 0 && !is_word(&r, "answers"))
        rc = read_pair(&r, s);
    if (rc != 0)
        return rc;
    r.at += strlen("answers");
    if ((rc = want_char(&r, ' ')) != 0 ||
        (rc = number(&r, SCHEDULE_ANSWERS_MAX, "the number of answers", &expected)) != 0 ||
        (rc = want_eol(&r)) != 0 || (rc = read_answers(&r, s, expected)) != 0)
        return rc;
    return read_end(&r, s);
}

/* ---- files ---- */

static int read_all(FILE *in, struct failure *f, const char *path, char **text, size_t *size)
{
    size_t room = 0, n = 1;

    *text = NULL;
    *size = 0;
    while (n > 0) {
        if (*size == room) {
            room = room == 0 ? 1 << 16 : room * 2;
            char *more = room <= SCHEDULE_FILE_MAX ? realloc(*text, room) : NULL;
            if (more == NULL)
                return fail(f, E_LIMIT, "%s: larger than %d bytes, or no memory", path,
                            SCHEDULE_FILE_MAX);
            *text = more;
        }
        n = fread(*text + *size, 1, room - *size, in);
        *size += n;
    }
    return ferror(in) ? fail(f, E_IO, "%s: %s", path, strerror(errno)) : 0;
}

int schedule_load(struct schedule *s, struct failure *f, const char *path)
{
    FILE *in = fopen(path, "rb");
    char *text;
    size_t size;

    if (in == NULL)
        return fail(f, E_IO, "%s: %s", path, strerror(errno));
    int rc = read_all(in, f, path, &text, &size);
    fclose(in);
    if (rc == 0)
        rc = schedule_parse(s, f, path, text, size);
    free(text);
    return rc;
}

int schedule_save(const struct schedule *s, struct failure *f, const char *path)
{
    size_t n = strlen(path) + 5;
    char *beside = malloc(n);
    int rc = 0;

    if (beside == NULL)
        return fail(f, E_LIMIT, "%s: no memory", path);
    snprintf(beside, n, "%s.new", path);
    FILE *out = fopen(beside, "wb");
    if (out == NULL) {
        rc = fail(f, E_IO, "%s: %s", beside, strerror(errno));
    } else {
        int wrong = schedule_print(s, out);
        wrong |= fclose(out);
        if (wrong != 0 || rename(beside, path) != 0) {
            rc = fail(f, E_IO, "%s: %s", path, strerror(errno));
            remove(beside);
        }
    }
    free(beside);
    return rc;
}
