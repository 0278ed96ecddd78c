/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of runq_test.c: which of the run queue's orders are needed. Every part of an order that a
 * port's instruction has (an acquire, a SYNC, ...) is left out at one site at a time, and the
 * worlds of this test are searched for what goes wrong then. tests/explore/orders.py makes
 * docs/memory-orders.md of the same rows.
 */

enum { ORDERS_RUNS = 500, ORDERS_PREEMPTIONS = 2, ORDERS_STATES = 1 << 16 };

static const struct setup batch_then_get = {"bg", 1, false, 1, 0};
static const struct setup steal_twice = {"ppg", 1, true, 1, 1};

static struct orders_world {
    const char *name;
    const struct setup *setup; /* NULL: who looks whether the queue is empty */
} const orders_worlds[] = {
    {"put get", &put_get},         {"put put get", &three},    {"batch get", &batch_then_get},
    {"next next get", &next},      {"put put drain", &drain},  {"five puts", &overflow},
    {"steal twice", &steal_twice}, {"reuse of slots", &reuse}, {"looks", NULL},
};

static const struct {
    unsigned bit;
    const char *name;
} order_bits[] = {{MM_DRAIN, "drain"},
                  {MM_ACQ, "acquire"},
                  {MM_REL, "release"},
                  {MM_SYNC, "sync"},
                  {MM_LWSYNC, "lwsync"},
                  {MM_ISYNC, "isync"},
                  {MM_LWSYNC_AFTER, "lwsync after"}};

/* What the search of one world with one order less came to. */
struct order_row {
    const char *found; /* "nothing", or what went wrong */
    const char *world;
    uint32_t preemptions;
    uint64_t runs;
    bool whole; /* every schedule of every world within the bound */
};

static uint64_t orders_runs(void)
{
    const char *text = getenv("GMPSIM_ORDERS_RUNS");
    return text != NULL ? strtoull(text, NULL, 10) : ORDERS_RUNS;
}

static const char *search_world(const struct orders_world *w, enum mm_kind memory, uint32_t bound)
{
    const char *found;
    states_max = ORDERS_STATES;
    if (w->setup != NULL) {
        found = search_for(w->setup, memory, bound, orders_runs());
    } else {
        setup = &one_looks;
        found = search_with(
            (struct search){build_look, check_look, (void *)(uintptr_t)setup, orders_runs(), true},
            "looks", memory, bound);
    }
    states_max = 0;
    return found;
}

/* The fewest preemptions first: what is found is short. */
static struct order_row search_without(enum mm_kind memory)
{
    struct order_row r = {"nothing", "", 0, 0, true};
    for (uint32_t bound = 0; bound <= ORDERS_PREEMPTIONS; bound++)
        for (size_t i = 0; i < sizeof orders_worlds / sizeof *orders_worlds; i++) {
            const char *found = search_world(&orders_worlds[i], memory, bound);
            bool wrong = strcmp(found, "nothing") != 0;
            r.runs += wrong ? result.runs : schedules();
            r.preemptions = bound;
            if (wrong) {
                r.found = found;
                r.world = orders_worlds[i].name;
                return r;
            }
            if (bound == ORDERS_PREEMPTIONS)
                r.whole &= exhausted;
        }
    return r;
}

static bool is_of_queue(const struct ex_site *s)
{
    const char *slash = strrchr(s->file, '/');
    return strcmp(slash != NULL ? slash + 1 : s->file, "runq.c") == 0;
}

/* One of several sites of a function with this verb: the how manieth. */
static int which_of(const struct ex_site *s)
{
    int n = 1;
    for (uint32_t id = 1; id < s->id; id++) {
        const struct ex_site *o = site_get(id);
        n += o->verb == s->verb && strcmp(o->func, s->func) == 0;
    }
    return n;
}

static char orders_needed[4000];

static void told(const struct ex_site *s, enum mm_kind memory, const char *bit,
                 const struct order_row *r)
{
    const char *path = getenv("GMPSIM_ORDERS");
    bool needed = strcmp(r->found, "nothing") != 0;
    size_t n = strlen(orders_needed);
    if (needed)
        snprintf(orders_needed + n, sizeof orders_needed - n, "%s %s %d %s %s\n", s->func,
                 verb_name(s->verb), which_of(s), mm_kind_name(memory), bit);
    FILE *to = path != NULL ? fopen(path, "a") : NULL;
    if (to == NULL)
        return;
    fprintf(to, "%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%" PRIu32 "\t%" PRIu64 "\t%d\n", s->func,
            verb_name(s->verb), which_of(s), s->told.field, mm_kind_name(memory), bit, r->found,
            r->world, r->preemptions, r->runs, r->whole);
    fclose(to);
}

static void without_each(struct ex_site *s, enum mm_kind memory)
{
    unsigned has = verb_bits(port_of_memory(memory), s->verb);
    for (size_t i = 0; i < sizeof order_bits / sizeof *order_bits; i++) {
        if ((has & order_bits[i].bit) == 0)
            continue;
        s->without = (uint8_t)order_bits[i].bit;
        struct order_row r = search_without(memory);
        s->without = 0;
        told(s, memory, order_bits[i].name, &r);
    }
}

static void every_order(void)
{
    orders_needed[0] = 0;
    for (uint32_t id = 1; id <= site_count(); id++) {
        struct ex_site *s = site_get(id);
        for (int memory = MM_TSO; memory < MM_KINDS && is_of_queue(s); memory++)
            without_each(s, (enum mm_kind)memory);
    }
}

/* What publishes a slot, and what claims one. */
TEST_CASE(Runq, EveryOrderLeftOut)
{
    every_order();
    CHECK_HAS(orders_needed, "runqput store_rel 1 arm64 release\n");
    CHECK_HAS(orders_needed, "runqput store_rel 1 ppc64 lwsync\n");
}
