/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim/explore/site.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A site for this file itself: the section, and so its start and stop symbols, always exist. */
static struct ex_site none = {"", "", 0, OP_COUNT, false, 0, {0}};
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
    return c != 0 ? c : (a->op > b->op) - (a->op < b->op);
}

/* Without the order, which stands beside it. */
static const char *verb_name(enum ex_op op)
{
    switch (op) {
    case OP_load_acq:
    case OP_load_rlx: return "load";
    case OP_store_rel:
    case OP_store_rlx: return "store";
    case OP_cas_rel: return "cas";
    default: return op_name(op);
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
        s[i]->told.op = verb_name((enum ex_op)s[i]->op);
    }
    done = true;
    return (uint32_t)n - 1;
}

struct ex_site *site_get(uint32_t id)
{
    return id >= 1 && id <= site_count() ? __start_gmpsim_sites[id] : NULL;
}

const char *op_name(enum ex_op op)
{
    static const char *const names[OP_COUNT] = {
#define OP(name, ...) #name,
#include "sim/explore/ops.def"
#undef OP
        "flush",   "futexsleep", "futexwakeup", "wake",  "sleep", "burst",
        "syscall", "poll",       "signal",      "start", "exit"};
    return op < OP_COUNT ? names[op] : "?";
}

void site_format(const struct ex_site *s, char *buf, size_t size)
{
    snprintf(buf, size, "%s:%u", base_name(s->file), s->line);
}

uint32_t site_weaken(const char *func, enum ex_op op, bool weakened)
{
    uint32_t found = 0;

    for (uint32_t id = 1; id <= site_count(); id++) {
        struct ex_site *s = site_get(id);
        if (s->op == op && (func == NULL || strcmp(s->func, func) == 0)) {
            s->weakened = weakened;
            found++;
        }
    }
    return found;
}
