/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/base/text.h"

#include <stdint.h>
#include <string.h>

#include "sim/base/alloc.h"

enum {
    REPLACEMENT = 0xfffd,
    PIECE = 16,  /* bytes of what one character becomes */
    RING = 8,    /* static buffers */
    SHORT = 241, /* bytes of each, with the end */
    BYTE_BITS = 6
};

/* ---- characters ---- */

/* The code point at s, and in *size how many bytes it has; a byte that begins none is REPLACEMENT
 * with size 1. Overlong forms, surrogates and what is beyond U+10FFFF begin none. */
static uint32_t decode(const char *text, size_t left, size_t *size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    size_t n = s[0] < 0x80             ? 1
               : (s[0] & 0xe0) == 0xc0 ? 2
               : (s[0] & 0xf0) == 0xe0 ? 3
               : (s[0] & 0xf8) == 0xf0 ? 4
                                       : 0;
    *size = 1;
    if (n == 1)
        return s[0];
    if (n == 0 || n > left)
        return REPLACEMENT;
    uint32_t c = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return REPLACEMENT;
        c = c << BYTE_BITS | (s[i] & 0x3f);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return REPLACEMENT;
    *size = n;
    return c;
}

static size_t encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= BYTE_BITS)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00u >> n & 0xff) | c);
    return n;
}

/* C0, DEL, C1: a terminal may obey. */
static bool is_control(uint32_t c) { return c < ' ' || (c >= 0x7f && c < 0xa0); }

/* Shows other text than there is (directions, invisible ones), or breaks lines unseen. */
static bool is_deceptive(uint32_t c)
{
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || c == 0x61c;
}

static size_t puts_at(char *out, const char *text)
{
    size_t n = 0;
    for (; text[n] != 0; n++)
        out[n] = text[n];
    return n;
}

/* ---- what a character becomes ---- */

static size_t escape(uint32_t c, char *out)
{
    if (c == '\n')
        return puts_at(out, "\\n");
    if (c == '\t')
        return puts_at(out, "\\t");
    if (c == '\r')
        return puts_at(out, "\\r");
    return (size_t)snprintf(out, PIECE, c < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)c);
}

static size_t as_line(uint32_t c, char *out)
{
    return is_control(c) || is_deceptive(c) ? escape(c, out) : encode(c, out);
}

static size_t as_json(uint32_t c, char *out)
{
    if (c == '"' || c == '\\') {
        out[0] = '\\';
        out[1] = (char)c;
        return 2;
    }
    if (c == '\n' || c == '\t' || c == '\r')
        return escape(c, out);
    if (is_control(c) || is_deceptive(c) || c == '<' || c == '>' || c == '&')
        return (size_t)snprintf(out, PIECE, "\\u%04x", (unsigned)c);
    return encode(c, out);
}

/* Between strings there are no such characters but newline and tab. */
static size_t as_json_whole(uint32_t c, char *out)
{
    if ((is_control(c) && c != '\n' && c != '\t') || is_deceptive(c))
        return (size_t)snprintf(out, PIECE, "\\u%04x", (unsigned)c);
    return encode(c, out);
}

static size_t as_xml(uint32_t c, char *out)
{
    switch (c) {
    case '&': return puts_at(out, "&amp;");
    case '<': return puts_at(out, "&lt;");
    case '>': return puts_at(out, "&gt;");
    case '"': return puts_at(out, "&quot;");
    case '\'': return puts_at(out, "&#39;");
    default: break;
    }
    if (is_control(c) || is_deceptive(c) || (c & 0xfffe) == 0xfffe)
        return escape(c, out);
    return encode(c, out);
}

/* Graphviz reads entities as HTML does, and \n \l \N as its own. */
static size_t as_dot(uint32_t c, char *out)
{
    if (c == '&')
        return puts_at(out, "&amp;");
    if (c == '"')
        return puts_at(out, "\\\"");
    if (c == '\\')
        return puts_at(out, "\\\\");
    if (is_control(c) || is_deceptive(c)) {
        out[0] = '\\';
        return escape(c, out + 1) + 1;
    }
    return encode(c, out);
}

static bool is_file_char(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static size_t as_file(uint32_t c, bool first, char *out)
{
    out[0] = is_file_char(c) && !(first && (c == '.' || c == '-')) ? (char)c : '_';
    return 1;
}

/* Inside '...', or inside $'...' where there is what a line cannot show; a word must come back as
 * it was, so a byte that is no UTF-8 stays itself. */
static size_t as_shell(uint32_t c, const char *raw, size_t size, bool dollar, char *out)
{
    if (c == '\'')
        return puts_at(out, dollar ? "\\'" : "'\\''");
    if (!dollar)
        return encode(c, out);
    if (c == '\\')
        return puts_at(out, "\\\\");
    if (c == REPLACEMENT && size == 1)
        return escape((unsigned char)*raw, out);
    if (c >= 0x80 && c < 0xa0) /* \x80 would be a byte */
        return (size_t)snprintf(out, PIECE, "\\u%04x", (unsigned)c);
    return as_line(c, out);
}

static size_t as_tsv(uint32_t c, char *out)
{
    return c == '\\' ? puts_at(out, "\\\\") : as_line(c, out);
}

/* RFC 4180 has quotes doubled; lines may go on. */
static size_t as_csv(uint32_t c, char *out)
{
    if (c == '"')
        return puts_at(out, "\"\"");
    return c == '\n' ? encode(c, out) : as_line(c, out);
}

static size_t as_gnuplot(uint32_t c, char *out)
{
    return c == '\'' ? puts_at(out, "''") : as_line(c, out);
}

/* ---- a text ---- */

struct frame {
    enum text_form form;
    bool dollar; /* TEXT_SHELL */
    const char *before, *after;
};

/* The first character of text, which has *size bytes there; gives the bytes in `out`. */
static size_t piece(const struct frame *f, const char *text, size_t left, size_t *size, bool first,
                    char *out)
{
    uint32_t c = decode(text, left, size);
    switch (f->form) {
    case TEXT_LINE:
    case TEXT_GO_COMMENT: return as_line(c, out);
    case TEXT_LINES: return c == '\n' || c == '\t' ? encode(c, out) : as_line(c, out);
    case TEXT_TSV: return as_tsv(c, out);
    case TEXT_CSV: return as_csv(c, out);
    case TEXT_JSON: return as_json(c, out);
    case TEXT_JSON_WHOLE: return as_json_whole(c, out);
    case TEXT_XML: return as_xml(c, out);
    case TEXT_DOT: return as_dot(c, out);
    case TEXT_GNUPLOT: return as_gnuplot(c, out);
    case TEXT_SHELL: return as_shell(c, text, *size, f->dollar, out);
    case TEXT_FILE: return as_file(c, first, out);
    }
    return 0;
}

/* Holds what one line of UTF-8 cannot show as it is. */
static bool is_unshowable(const char *text, size_t size)
{
    size_t n;
    for (size_t i = 0; i < size; i += n) {
        uint32_t c = decode(text + i, size - i, &n);
        if (is_control(c) || is_deceptive(c) || (c == REPLACEMENT && n == 1))
            return true;
    }
    return false;
}

static bool shell_needs_quotes(const char *text, size_t size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./=+-:,@%";
    for (size_t i = 0; i < size; i++)
        if (text[i] == 0 || strchr(plain, text[i]) == NULL)
            return true;
    return size == 0;
}

static struct frame csv_frame(const char *text, size_t size)
{
    bool quotes = false;
    for (size_t i = 0; i < size; i++)
        if (strchr(",\"\n\r", text[i]) != NULL)
            quotes = true;
    if (size > 0 && (text[0] == ' ' || text[size - 1] == ' '))
        quotes = true;
    bool formula = size > 0 && text[0] != 0 && strchr("=+-@", text[0]) != NULL;
    if (formula) /* a spreadsheet would compute it */
        return (struct frame){TEXT_CSV, false, quotes ? "\"'" : "'", quotes ? "\"" : ""};
    return (struct frame){TEXT_CSV, false, quotes ? "\"" : "", quotes ? "\"" : ""};
}

static struct frame frame_of(enum text_form form, const char *text, size_t size)
{
    switch (form) {
    case TEXT_JSON:
    case TEXT_DOT: return (struct frame){form, false, "\"", "\""};
    case TEXT_GNUPLOT: return (struct frame){form, false, "'", "'"};
    case TEXT_CSV: return csv_frame(text, size);
    case TEXT_SHELL:
        if (is_unshowable(text, size))
            return (struct frame){form, true, "$'", "'"};
        if (shell_needs_quotes(text, size))
            return (struct frame){form, false, "'", "'"};
        break;
    case TEXT_FILE:
        if (size == 0)
            return (struct frame){form, false, "_", ""};
        break;
    default: break;
    }
    return (struct frame){form, false, "", ""};
}

void text_put_n(FILE *to, enum text_form form, const char *text, size_t size)
{
    struct frame f = frame_of(form, text, size);
    char out[PIECE];
    size_t n;
    fputs(f.before, to);
    for (size_t i = 0; i < size; i += n) {
        size_t m = piece(&f, text + i, size - i, &n, i == 0, out);
        fwrite(out, 1, m, to);
    }
    fputs(f.after, to);
}

void text_put(FILE *to, enum text_form form, const char *text)
{
    text_put_n(to, form, text, strlen(text));
}

char *text_in(char *buf, size_t size, enum text_form form, const char *text)
{
    static const char ellipsis[] = "\u2026";
    size_t length = strlen(text), used, n, good;
    struct frame f = frame_of(form, text, length);
    const char *mark = form == TEXT_FILE ? "_" : ellipsis;
    size_t after = strlen(f.after) + 1;
    used = good = puts_at(buf, f.before);
    for (size_t i = 0; i < length; i += n) {
        char out[PIECE];
        size_t m = piece(&f, text + i, length - i, &n, i == 0, out);
        if (used + m + after > size) {
            used = good + puts_at(buf + good, mark);
            break;
        }
        memcpy(buf + used, out, m);
        used += m;
        if (used + strlen(mark) + after <= size)
            good = used; /* the mark still fits behind it */
    }
    memcpy(buf + used, f.after, after);
    return buf;
}

/* ---- columns ---- */

static bool between(uint32_t c, const uint32_t (*ranges)[2], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

/* As wcwidth does, without the locale. */
static int width_of(uint32_t c)
{
    static const uint32_t none[][2] = {{0x300, 0x36f}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}};
    static const uint32_t two[][2] = {{0x1100, 0x115f},   {0x2e80, 0x303e},  {0x3041, 0xa4cf},
                                      {0xac00, 0xd7a3},   {0xf900, 0xfaff},  {0xfe30, 0xfe6f},
                                      {0xff00, 0xff60},   {0xffe0, 0xffe6},  {0x1f300, 0x1f64f},
                                      {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd}};
    if (between(c, none, sizeof none / sizeof *none))
        return 0;
    return between(c, two, sizeof two / sizeof *two) ? 2 : 1;
}

/* Of a text that as_line has made. */
static int columns_of(const char *line, size_t size)
{
    int columns = 0;
    size_t n;
    for (size_t i = 0; i < size; i += n)
        columns += width_of(decode(line + i, size - i, &n));
    return columns;
}

int text_columns(const char *text)
{
    size_t size = strlen(text), n;
    int columns = 0;
    for (size_t i = 0; i < size; i += n) {
        char out[PIECE];
        size_t m = as_line(decode(text + i, size - i, &n), out);
        columns += columns_of(out, m);
    }
    return columns;
}

static char *next_buffer(void)
{
    static char ring[RING][SHORT];
    static unsigned next;
    return ring[next++ % RING];
}

const char *text_line(const char *text) { return text_in(next_buffer(), SHORT, TEXT_LINE, text); }

const char *text_cut(const char *text, int columns)
{
    char *buf = next_buffer(), out[PIECE];
    size_t size = strlen(text), used = 0, n;
    bool whole = text_columns(text) <= columns;
    int at = 0;
    for (size_t i = 0; i < size; i += n) {
        size_t m = as_line(decode(text + i, size - i, &n), out);
        int wide = columns_of(out, m);
        if (used + m + 4 > SHORT || (!whole && at + wide > columns - 1)) {
            used += puts_at(buf + used, "\u2026");
            break;
        }
        memcpy(buf + used, out, m);
        used += m;
        at += wide;
    }
    buf[used] = 0;
    return buf;
}

void text_cell(FILE *to, const char *text, int columns)
{
    const char *cut = text_cut(text, columns);
    int filled = text_columns(cut);
    fprintf(to, "%s%*s", cut, columns > filled ? columns - filled : 0, "");
}

void text_keep(struct text_kept *t, const char *text, size_t size)
{
    if (t->size + size > t->room) {
        size_t room = (t->size + size) * 2 + 1024;
        t->text = x_grow(t->text, room);
        t->room = room;
    }
    memcpy(t->text + t->size, text, size);
    t->size += size;
}

bool text_is_plain_name(const char *name)
{
    size_t size = strlen(name), n;
    for (size_t i = 0; i < size; i += n) {
        uint32_t c = decode(name + i, size - i, &n);
        if (is_control(c))
            return false;
    }
    return size > 0;
}
