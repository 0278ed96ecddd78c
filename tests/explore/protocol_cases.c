/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Part of runq_test.c: the protocol of the run queue, an owner and two thieves around a ring of
 * four, with every schedule of up to three preemptions, for every release and memory. That takes
 * an hour: GMPSIM_PROTOCOL names a file that gets a row for each cell when it is done, and whose
 * cells are not done again as long as the queue does the same (tests/explore/orders.py protocol).
 * Every test run does a part of each. What comes after a state is searched once (states_max of
 * ex_opts) but under sc, where releases are compared by all that happens in all schedules of a
 * world: each verb of each thread, and its value.
 */
#include <time.h>

enum { PROTOCOL_PREEMPTIONS = 3, PROTOCOL_RUNS = 300, PROTOCOL_LINE = 200 };
enum { PROTOCOL_STATES = 1 << 27 }; /* 4 GB, if there are so many */

static const struct {
    const char *name;
    struct setup setup;
} protocol_worlds[] = {
    {"put get", {"pg", 2, false, 0, 0}},          {"next get", {"ng", 2, true, 0, 0}},
    {"two there, drain", {"2d", 2, false, 0, 0}}, {"batch get", {"bg", 2, false, 0, 0}},
    {"next next", {"nn", 2, true, 0, 0}},         {"two there, get put", {"2gp", 2, false, 0, 0}},
    {"four there, put", {"4p", 2, false, 0, 0}},
};
enum { PROTOCOL_WORLDS = sizeof protocol_worlds / sizeof *protocol_worlds };

struct cell {
    int release;
    size_t world;
    enum mm_kind memory;
    uint64_t seen; /* of its release in its world; 0: not known yet */
};

static void cell_name(const struct cell *c, char *buf, size_t size)
{
    snprintf(buf, size, "go1.%d\t%s\t%s\t%016" PRIx64 "\t", c->release,
             protocol_worlds[c->world].name, mm_kind_name(c->memory), c->seen);
}

static bool cell_is_done(const char *path, const char *name)
{
    char line[PROTOCOL_LINE];
    bool done = false;
    FILE *from = fopen(path, "r");
    while (from != NULL && !done && fgets(line, sizeof line, from) != NULL)
        done = strncmp(line, name, strlen(name)) == 0;
    if (from != NULL)
        fclose(from);
    return done;
}

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void tell_cell(const char *path, const char *name, double seconds, const char *found)
{
    FILE *to = fopen(path, "a");
    if (to == NULL)
        FAIL_CASE("%s: cannot be written", path);
    fprintf(to, "%s%" PRIu64 "\t%" PRIu64 "\t%.1f\t%s\t%s\n", name, schedules(), result.runs,
            seconds, exhausted ? "all" : "a part", found);
    fclose(to);
}

static void do_cell(const struct cell *c)
{
    const char *path = getenv("GMPSIM_PROTOCOL"), *most = getenv("GMPSIM_PROTOCOL_RUNS");
    char name[PROTOCOL_LINE];
    cell_name(c, name, sizeof name);
    if (path != NULL && c->memory != MM_SC && cell_is_done(path, name))
        return;
    double from = cpu_seconds();
    uint64_t runs = path == NULL ? PROTOCOL_RUNS : most == NULL ? 0 : strtoull(most, NULL, 10);
    release = c->release;
    states_max = c->memory != MM_SC ? PROTOCOL_STATES : 0;
    const char *found = search_for(&protocol_worlds[c->world].setup, c->memory,
                                   PROTOCOL_PREEMPTIONS, runs);
    release = PROFILE_LATEST;
    states_max = 0;
    if (path != NULL && !cell_is_done(path, name))
        tell_cell(path, name, cpu_seconds() - from, found);
    CHECK_STR(found, "nothing");
}

/* All that happens in all schedules under sc. */
static uint64_t seen_by(int r, size_t world)
{
    fp_init(&schedules_seen);
    do_cell(&(struct cell){r, world, MM_SC, 0});
    return fp_value(&schedules_seen);
}

/* Does a release do nothing else than a later one? seen: of all releases. */
static bool is_as_later(const uint64_t *seen, int r)
{
    for (int later = r + 1; later <= PROFILE_LATEST; later++)
        if (seen[later] == seen[r])
            return true;
    return false;
}

/* What is as a later release under sc is not searched again under the other memories. */
TEST_CASE(Runq, ProtocolWithinThreePreemptions)
{
    uint64_t seen[PROFILE_LATEST + 1];
    for (size_t i = 0; i < PROTOCOL_WORLDS; i++) {
        for (int r = PROFILE_LATEST; r >= PROFILE_FIRST; r--)
            seen[r] = seen_by(r, i);
        for (int r = PROFILE_LATEST; r >= PROFILE_FIRST; r--)
            for (int memory = MM_TSO; memory < MM_KINDS && !is_as_later(seen, r); memory++)
                do_cell(&(struct cell){r, i, (enum mm_kind)memory, seen[r]});
    }
}

/* ---- what comes after a state is searched once ---- */

enum { SAME_RUNS = 1000000, SAME_WEAK_RUNS = 3000 };

static uint32_t whole_searches;

static struct search_result searched(const struct setup *u, enum mm_kind memory, uint32_t bound,
                                     size_t states, uint64_t runs)
{
    states_max = states;
    search_for(u, memory, bound, runs);
    states_max = 0;
    return result;
}

/* Is something found? Where a loop may look for ever (an order is left out) not all can be
 * tried. */
static bool as_without_states(const struct setup *u, enum mm_kind memory, uint32_t bound,
                              uint64_t runs)
{
    struct search_result all = searched(u, memory, bound, 0, runs);
    bool all_tried = exhausted;
    struct search_result some = searched(u, memory, bound, 1 << 20, runs);
    if (!all.found && !all_tried)
        return false;
    CHECK_EQ(some.found, all.found);
    CHECK_STR(some.text, all.text);
    CHECK_EQ(some.fingerprint, all.fingerprint);
    CHECK_LE(some.runs, all.runs);
    if (!all.found) /* the last search was the one with states */
        CHECK_EQ(schedules(), all.runs);
    whole_searches += all_tried;
    return all.found;
}

/* Each part of each order left out, at each bound: the first schedule that goes wrong is the same
 * one, or there is none and all of them were tried. needs: how many are found with so many
 * preemptions and with none less. */
static void without_each_as_without_states(struct ex_site *s, enum mm_kind memory, uint32_t *needs)
{
    static const struct setup *const worlds[] = {&put_get, &next_steal, &batch_then_get};
    unsigned has = verb_bits(port_of_memory(memory), s->verb);
    for (unsigned bits = has; bits != 0; bits &= bits - 1) {
        bool found = false;
        s->without = (uint8_t)(bits & -bits);
        for (uint32_t bound = 0; bound <= PROTOCOL_PREEMPTIONS && !found; bound++) {
            for (size_t i = 0; i < sizeof worlds / sizeof *worlds && !found; i++)
                found = as_without_states(worlds[i], memory, bound, SAME_WEAK_RUNS);
            needs[bound] += found;
        }
        s->without = 0;
    }
}

TEST_CASE(Runq, StatesKeepEveryVerdict)
{
    uint32_t needs[PROTOCOL_PREEMPTIONS + 1] = {0};
    for (uint32_t id = 1; id <= site_count(); id++)
        for (int memory = MM_TSO; memory < MM_KINDS && is_of_queue(site_get(id)); memory++)
            without_each_as_without_states(site_get(id), (enum mm_kind)memory, needs);
    CHECK_GT(needs[0], 0);
    CHECK_GT(needs[1], 0);
    CHECK_GT(whole_searches, 100);
}

/* The worlds of the table, as far as they are small. */
TEST_CASE(Runq, StatesStandForEverySchedule)
{
    whole_searches = 0;
    for (size_t i = 0; i < 4; i++)
        for (int memory = MM_SC; memory < MM_KINDS; memory++)
            CHECK(
                !as_without_states(&protocol_worlds[i].setup, (enum mm_kind)memory, 2, SAME_RUNS));
    CHECK_EQ(whole_searches, 4 * MM_KINDS);
}
