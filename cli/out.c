/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/out.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/csv.h"
#include "sim/base/text.h"

void out_json(cJSON *o)
{
    if (csv_print(o)) {
        cJSON_Delete(o);
        return;
    }
    char *text = cJSON_Print(o);
    if (text == NULL)
        cli_die(EXIT_USAGE, "the system has no more memory");
    text_put(stdout, TEXT_JSON_WHOLE, text); /* cJSON copies what is no UTF-8 */
    putchar('\n');
    cJSON_free(text);
    cJSON_Delete(o);
}

void out_u64(cJSON *o, const char *name, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, v);
    cJSON_AddStringToObject(o, name, text);
}

void out_hash(cJSON *o, const char *name, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, v);
    cJSON_AddStringToObject(o, name, text);
}

void out_foreign(FILE *to, const char *text, size_t size)
{
    if (isatty(fileno(to)))
        text_put_n(to, TEXT_LINES, text, size);
    else
        fwrite(text, 1, size, to);
}

static bool has_colours(FILE *to)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return (no == NULL || *no == 0) && term != NULL && strcmp(term, "dumb") != 0 &&
           isatty(fileno(to));
}

const char *out_bold(FILE *to) { return has_colours(to) ? "\033[1m" : ""; }

const char *out_plain(FILE *to) { return has_colours(to) ? "\033[0m" : ""; }
