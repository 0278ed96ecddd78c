/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as a schedule: what is accepted prints as itself and is read again; a refusal has a
 * place and a reason.
 * libs: gmpsim_explore */
#define _GNU_SOURCE /* open_memstream */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/fail.h"
#include "sim/explore/schedule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_again(const struct schedule *s)
{
    static struct schedule t;
    struct failure f = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL || schedule_print(s, out) != 0 || fclose(out) != 0)
        abort();
    schedule_init(&t);
    if (schedule_parse(&t, &f, "t", text, size) != 0 || t.count != s->count ||
        (t.count > 0 && memcmp(t.answers, s->answers, t.count * sizeof(t.answers[0])) != 0))
        abort();
    schedule_release(&t);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct schedule s;
    struct failure f = {0};
    int line, column;

    schedule_init(&s);
    int rc = schedule_parse(&s, &f, "t", (const char *)data, size);
    if (rc == 0 && s.count < 100000)
        read_again(&s);
    if (rc != 0 && f.code == E_SCHEDULE &&
        (sscanf(f.text, "t:%d:%d: ", &line, &column) != 2 || line < 1 || column < 1))
        abort();
    schedule_release(&s);
    return 0;
}
