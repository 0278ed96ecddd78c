/* SPDX-License-Identifier: BSD-3-Clause */
#include "recorded.h"

#include <stdio.h>
#include <string.h>

#include "harness.h"

void recorded_read(char *buf, size_t size, const char *file)
{
    char path[500];
    snprintf(path, sizeof path, GOLDEN_DIR "/%s", file);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        FAIL_CASE("cannot read %s", path);
    size_t n = fread(buf, 1, size - 1, f);
    fclose(f);
    buf[n] = 0;
    CHECK_LT(n, size - 1);
}

static void append(char *out, size_t size, const char *text, int n)
{
    size_t at = strlen(out);
    snprintf(out + at, size - at, "%.*s", n, text);
}

static bool is_message(const char *s)
{
    return strncmp(s, "fatal error: ", 13) == 0 || strncmp(s, "panic: ", 7) == 0 ||
           strncmp(s, "\tpanic: ", 8) == 0 || strncmp(s, "\tfatal error: ", 14) == 0;
}

void recorded_report(char *out, size_t size, const char *text)
{
    for (const char *s = text; *s != 0;) {
        int n = (int)strcspn(s, "\n"), id, skip = 0;
        if (sscanf(s, "goroutine %d %n[", &id, &skip) == 1) {
            append(out, size, id == 1 ? "goroutine 1 " : "goroutine ", 20);
            append(out, size, s + skip, n - skip - 1); /* without its colon */
            append(out, size, "\n", 1);
        } else if (is_message(s)) {
            append(out, size, s, n);
            append(out, size, "\n", 1);
        }
        s += n + (s[n] == '\n');
    }
}

int recorded_each(const char *program, void (*fn)(void *arg, int release, const char *file),
                  void *arg)
{
    char line[200], name[80], file[100];
    int release, rows = 0;
    FILE *index = fopen(GOLDEN_DIR "/index.tsv", "r");
    CHECK(index != NULL);
    while (fgets(line, sizeof line, index) != NULL)
        if (sscanf(line, "%79s go1.%d %99s", name, &release, file) == 3 &&
            strcmp(name, program) == 0) {
            fn(arg, release, file);
            rows++;
        }
    fclose(index);
    return rows;
}

struct scenario *recorded_scenario(const char *file)
{
    struct failure f = {0};
    char path[500];
    snprintf(path, sizeof path, GOLDEN_DIR "/%s", file);
    struct scenario *s = scenario_load_file(&f, path);
    if (s == NULL)
        FAIL_CASE("%s", f.text);
    return s;
}
