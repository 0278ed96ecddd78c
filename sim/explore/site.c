/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/explore/site.h"

#include <stdlib.h>
#include <string.h>

/* A site for this file itself: the section, and so its start and stop symbols, always exist. */
static struct ex_site none = {"", "", 0, VERB_COUNT, false, 0, {0}};
static struct ex_site *const none_p __attribute__((used, section("gmpsim_sites"))) = &none;

extern struct ex_site *__start_gmpsim_sites[], *__stop_gmpsim_sites[];

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

/* Two verbs of one kind on one line keep the order that the linker gave them: equal in print too.
 */
static int by_place(const void *pa, const void *pb)
{
    const struct ex_site *a = *(struct ex_site *const *)pa, *b = *(struct ex_site *const *)pb;
    int c = strcmp(base_name(a->file), base_name(b->file));

    if (c == 0)
        c = (a->line > b->line) - (a->line < b->line);
    if (c == 0)
        c = strcmp(a->func, b->func);
    return c != 0 ? c : (a->verb > b->verb) - (a->verb < b->verb);
}

/* Without the order, which stands beside it. */
static const char *kind_name(enum ex_verb verb)
{
    switch (verb) {
    case VERB_load_acq:
    case VERB_load_rlx: return "load";
    case VERB_store_rel:
    case VERB_store_rlx: return "store";
    case VERB_cas_rel: return "cas";
    default: return verb_name(verb);
    }
}

/* Sorted in place once: the section is only ours. Insertion sort, so that ties keep their order. */
uint32_t site_count(void)
{
    size_t n = (size_t)(__stop_gmpsim_sites - __start_gmpsim_sites);
    struct ex_site **s = __start_gmpsim_sites;
    static bool done;

    if (done)
        return (uint32_t)n - 1;
    for (size_t i = 1; i < n; i++) {
        struct ex_site *x = s[i];
        size_t j = i;
        for (; j > 0 && by_place(&s[j - 1], &x) > 0; j--)
            s[j] = s[j - 1];
        s[j] = x;
    }
    for (size_t i = 0; i < n; i++) {
        s[i]->id = (uint32_t)i; /* `none` sorts first and is 0 */
        s[i]->told.verb = kind_name((enum ex_verb)s[i]->verb);
    }
    done = true;
    return (uint32_t)n - 1;
}

struct ex_site *site_get(uint32_t id)
{
    return id >= 1 && id <= site_count() ? __start_gmpsim_sites[id] : NULL;
}

const char *verb_name(enum ex_verb verb)
{
    static const char *const names[VERB_COUNT] = {
#define VERB(name, ...) #name,
#include "sim/explore/verbs.def"
#undef VERB
        "flush",   "futexsleep", "futexwakeup", "wake",  "sleep", "burst",
        "syscall", "poll",       "signal",      "start", "exit",  "fault"};
    return verb < VERB_COUNT ? names[verb] : "?";
}

uint32_t site_weaken(const char *func, enum ex_verb verb, bool weakened)
{
    uint32_t found = 0;

    for (uint32_t id = 1; id <= site_count(); id++) {
        struct ex_site *s = site_get(id);
        if (s->verb == verb && (func == NULL || strcmp(s->func, func) == 0)) {
            s->without = weakened ? UINT8_MAX : 0;
            found++;
        }
    }
    return found;
}
