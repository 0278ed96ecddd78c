/* SPDX-License-Identifier: BSD-3-Clause */
/* Goal: no text from outside gets out of the form it is put into. Method: hostile texts into every
 * form, compared with what each format's own rules say, and rules that hold for all forms checked
 * on every byte pair and on random bytes. */
#define _GNU_SOURCE /* open_memstream */
#include "sim/base/text.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sim/base/rng.h"

static const char *in(enum text_form form, const char *text)
{
    static char ring[4][400];
    static unsigned next;
    return text_in(ring[next++ % 4], sizeof ring[0], form, text);
}

#define IS(form, text, want) CHECK_STR(in(form, text), want)

TEST_CASE(Text, ALineIsOneLineAndSteersNoTerminal)
{
    IS(TEXT_LINE, "plain, \u00e4 \u4e2d", "plain, \u00e4 \u4e2d");
    IS(TEXT_LINE, "a\nb\tc\rd\033[31m\a\x7f", "a\\nb\\tc\\rd\\x1b[31m\\x07\\x7f");
    IS(TEXT_LINE,
       "\xc2\x9b"
       "31m",
       "\\x9b31m");
    IS(TEXT_LINE, "user\u202etxt.exe", "user\\u202etxt.exe");
    IS(TEXT_LINES, "a\nb\tc\033", "a\nb\tc\\x1b");
    IS(TEXT_GO_COMMENT, "x\nfunc init() {}", "x\\nfunc init() {}");
}

TEST_CASE(Text, BytesThatAreNoUtf8AreReplaced)
{
    IS(TEXT_LINE,
       "a\xff"
       "b",
       "a\ufffd"
       "b");
    IS(TEXT_LINE, "\xc3", "\ufffd");
    IS(TEXT_LINE, "\xc0\xaf", "\ufffd\ufffd");           /* overlong */
    IS(TEXT_LINE, "\xed\xa0\x80", "\ufffd\ufffd\ufffd"); /* surrogate */
    IS(TEXT_XML, "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd");
}

TEST_CASE(Text, TheFormsQuoteAsTheirFormatsDo)
{
    IS(TEXT_TSV, "a\tb\nc\\d", "a\\tb\\nc\\\\d");
    IS(TEXT_CSV, "plain", "plain");
    IS(TEXT_CSV, "a,b", "\"a,b\"");
    IS(TEXT_CSV, "say \"x\"", "\"say \"\"x\"\"\"");
    IS(TEXT_CSV, "a\nb", "\"a\nb\"");
    IS(TEXT_CSV, "=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0");
    IS(TEXT_JSON, "a\"b\\c\n</script>", "\"a\\\"b\\\\c\\n\\u003c/script\\u003e\"");
    IS(TEXT_JSON_WHOLE, "{\"a\":\n\t\"\x7f\xff\"}", "{\"a\":\n\t\"\\u007f\ufffd\"}");
    IS(TEXT_XML, "<script>alert('1') & \"2\"</script>",
       "&lt;script&gt;alert(&#39;1&#39;) &amp; &quot;2&quot;&lt;/script&gt;");
    IS(TEXT_XML, "\001\ufffe", "\\x01\\ufffe");
    IS(TEXT_DOT, "a\"]; evil [\\N&amp;\n", "\"a\\\"]; evil [\\\\N&amp;amp;\\\\n\"");
    IS(TEXT_GNUPLOT, "it's `id` \n", "'it''s `id` \\n'");
    IS(TEXT_FILE, "../../etc/passwd", "_._.._etc_passwd");
    IS(TEXT_FILE, "-rf", "_rf");
    IS(TEXT_FILE, "", "_");
}

TEST_CASE(Text, AShellGetsTheWordBack)
{
    IS(TEXT_SHELL, "a/b-1.json", "a/b-1.json");
    IS(TEXT_SHELL, "", "''");
    IS(TEXT_SHELL, "it's $(id)", "'it'\\''s $(id)'");
    IS(TEXT_SHELL, "a\nb'\033\xff\\", "$'a\\nb\\'\\x1b\\xff\\\\'");
}

TEST_CASE(Text, NothingIsCutInsideACharacter)
{
    char buf[40];
    text_in(buf, 20, TEXT_LINE, "\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d");
    CHECK_STR(buf, "\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u2026");
    text_in(buf, 16, TEXT_GNUPLOT, "''''''''''''''''");
    CHECK_STR(buf, "'''''''''''\u2026'"); /* a quote stays a pair */
    text_in(buf, 17, TEXT_LINE, "0123456789abcdef");
    CHECK_STR(buf, "0123456789abcdef"); /* what fits is whole */
    CHECK_STR(text_cut("0123456789", 10), "0123456789");
    CHECK_STR(text_cut("0123456789", 9), "01234567\u2026");
    CHECK_STR(text_cut("\u4e2d\u4e2d\u4e2d", 5), "\u4e2d\u4e2d\u2026");
    CHECK_STR(text_cut("\u4e2d\u4e2d\u4e2d", 4), "\u4e2d\u2026");
}

TEST_CASE(Text, ACellHasItsColumns)
{
    static const char *const texts[] = {"",
                                        "a",
                                        "\u4e2d\u6587\u5b57\u7b26",
                                        "e\u0301e\u0301",
                                        "a\nb",
                                        "a very long name that is wider than that"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *out;
        size_t size;
        FILE *to = open_memstream(&out, &size);
        text_cell(to, texts[i], 12);
        fclose(to);
        CHECK_EQ(text_columns(out), 12);
        free(out);
    }
    CHECK_EQ(text_columns("a\nb"), 4); /* as text_line shows it */
}

/* What every form promises, whatever goes in. */
static void check_any(enum text_form form, const char *text)
{
    const char *out = in(form, text);
    for (const char *s = out; *s != 0; s++) {
        unsigned char c = (unsigned char)*s;
        bool layout = (c == '\n' && (form == TEXT_LINES || form == TEXT_CSV)) ||
                      (c == '\t' && form == TEXT_LINES) ||
                      ((c == '\n' || c == '\t') && form == TEXT_JSON_WHOLE);
        CHECK(layout || (c >= ' ' && c != 0x7f));
        CHECK(!(c == 0xc2 && (unsigned char)s[1] < 0xa0)); /* C1 */
    }
    CHECK_STR(in(TEXT_LINES, out), out); /* well-formed: nothing left to replace */
    if (form == TEXT_FILE)
        CHECK(out[0] != '.' && out[0] != '-' && strchr(out, '/') == NULL);
    if (form == TEXT_XML)
        CHECK(strpbrk(out, "<>\"'") == NULL);
}

TEST_CASE(Text, EveryFormKeepsItsPromiseForAnyBytes)
{
    char text[9];
    struct rng r;
    for (int form = TEXT_LINE; form <= TEXT_FILE; form++) {
        for (int a = 1; a < 256; a++)
            for (int b = 1; b < 256; b += 3) {
                char two[3] = {(char)a, (char)b, 0};
                check_any((enum text_form)form, two);
            }
        rng_init(&r, 1, 2, (uint64_t)form);
        for (int i = 0; i < 3000; i++) {
            for (size_t k = 0; k + 1 < sizeof text; k++)
                text[k] = (char)(1 + rng_next(&r) % 255);
            text[sizeof text - 1] = 0;
            check_any((enum text_form)form, text);
        }
    }
}
