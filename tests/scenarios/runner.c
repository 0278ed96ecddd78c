/* SPDX-License-Identifier: BSD-3-Clause */
#include "runner.h"

#include <stdio.h>
#include <string.h>

#include "run/judge.h"

struct saying {
    struct verdict *v;
    int release;
};

static void say(void *arg, const char *text)
{
    struct saying *s = arg;
    size_t n = strlen(s->v->text);
    snprintf(s->v->text + n, sizeof s->v->text - n, "go1.%d: %s\n", s->release, text);
}

static void one(const struct scenario *s, int release, struct verdict *v, char *out, size_t size)
{
    static struct run r;
    struct failure f = {0};
    struct run_opts o;
    struct saying to = {v, release};
    v->runs++;
    if (!run_opts_of(&f, s, release, &o) || !run_all(&f, &r, &o)) {
        v->complaints++;
        say(&to, f.text);
        return;
    }
    v->complaints += scenario_check(s, release, &r.result, say, &to);
    v->fingerprint = (v->fingerprint ^ r.result.fingerprint) * UINT64_C(0x100000001b3);
    if (out != NULL)
        snprintf(out, size, "%.*s", (int)r.result.out_size, r.result.out);
    run_free(&r);
}

void run_scenario(const struct scenario *s, int release, struct verdict *v, char *out, size_t size)
{
    memset(v, 0, sizeof *v);
    v->fingerprint = UINT64_C(0xcbf29ce484222325);
    if (release != 0)
        one(s, release, v, out, size);
    for (int i = 0; release == 0 && i < s->nprofiles; i++)
        one(s, s->profiles[i], v, out, size);
}
