/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/out.h"

void out_json(cJSON *o)
{
    char *text = cJSON_Print(o);
    if (text == NULL)
        cli_die(EXIT_USAGE, "the system has no more memory");
    puts(text);
    cJSON_free(text);
    cJSON_Delete(o);
}
