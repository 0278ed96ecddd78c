/* SPDX-License-Identifier: BSD-3-Clause */
/* The third part of edges_test.c: how often each counter counts and each record is made, and what
 * the records say, in two programs in which everything happens. A statement that leaves a record or
 * counts something steers nothing, so nothing else would miss it.
 *
 * census.tsv has a row for each: the count, and of records a sum over all their fields. After a
 * change that is meant GMPSIM_CENSUS=FILE writes it anew. */

static const int census_releases[] = {13, 14, 16, 19, 22, 24, 25, 26, 27};
enum {
    CENSUSES = sizeof census_releases / sizeof *census_releases,
    CENSUS_SEEDS = 3,
    ROW_MAX = 1024
};

struct census {
    uint64_t counters[COUNTER_COUNT], records[EV_COUNT], sums[EV_COUNT], ns;
};
static struct census censuses[CENSUSES];

static void take_records(void *arg, const struct event_rec *recs, size_t count)
{
    struct census *c = arg;
    for (size_t i = 0; i < count; i++) {
        const struct event_rec *r = &recs[i];
        const uint64_t words[] = {r->a, r->b, r->g, r->c, r->m, r->p};
        uint64_t h = 0;
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            h = (h ^ words[k]) * UINT64_C(0x9e3779b97f4a7c15) >> 7 | h << 57;
        c->records[r->type]++;
        c->sums[r->type] += h;
    }
}

static void census_of(struct census *c, int release, uint64_t seed)
{
    static struct profile profile;
    struct failure f = {0};
    struct host host = host_virt;
    struct host_stats s;
    uint64_t counters[COUNTER_COUNT];
    host.core = &core_edges;
    CHECK(profile_init(&profile, release));
    CHECK_EQ(profile_set(&profile, "ring_len", 8), 0);
    CHECK_EQ(profile_set(&profile, "gfree_max", 4), 0);
    CHECK_EQ(profile_set(&profile, "gfree_keep", 2), 0);
    CHECK_EQ(profile_set(&profile, "sudog_cap", 4), 0);
    const struct host_opts o = {.seed = seed,
                                .throws_end_process = true,
                                .sink = take_records,
                                .sink_arg = c,
                                .moves = true,
                                .world = {.profile = &profile, .program = as_done(&a), .procs = 3}};
    CHECK(world_open(&host, &f, &o));
    CHECK_EQ(host.run(UINT64_MAX), END_STOPPED);
    host.stats(&s);
    core_edges.counters(counters);
    for (int i = 0; i < COUNTER_COUNT; i++)
        c->counters[i] += counters[i];
    c->ns += s.now_ps / 1000;
    host.close();
}

/* ---- the second program: what packages sync, time, context and net do ---- */

static const int64_t census_arrivals[] = {MS, MS, 2 * MS, 5 * MS};

static int census_worker(int mu, int rw, int ch, int buf, int sema, int once, int pool, int wg)
{
    int does = as_func(&a, "does", 0, 2);
    hog(5 * US);
    as_ret(&a);
    int sel = as_select(&a, false);
    as_case(&a, true, buf, 0, 0);
    as_case(&a, false, buf, 0, 1);
    as_case(&a, false, ch, 0, 1);
    int f = as_func(&a, "worker", 0, 6);
    as_const(&a, 3, 6);
    int l = as_here(&a);
    as_obj(&a, OP_LOCK, mu);
    hog(30 * US);
    as_obj(&a, OP_UNLOCK, mu);
    as_obj(&a, OP_RLOCK, rw);
    as_plain(&a, OP_GOSCHED);
    as_obj(&a, OP_RUNLOCK, rw);
    as_obj(&a, OP_WLOCK, rw);
    as_obj(&a, OP_WUNLOCK, rw);
    as_op(&a, OP_SELECT, NOREG, NOREG, 0, sel, 0);
    as_op(&a, OP_ACQUIRE, NOREG, 0, 0, sema, 2);
    as_sleep(&a, 20 * US);
    as_op(&a, OP_RELEASE, NOREG, 0, 0, sema, 2);
    as_op(&a, OP_ONCE, 0, 0, 0, once, does);
    as_op(&a, OP_POOLPUT, 3, 0, 0, pool, 0);
    as_op(&a, OP_POOLGET, 1, 2, 0, pool, 0);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    return f;
}

static int census_reader(int fd, int wg)
{
    int f = as_func(&a, "reader", 0, 6);
    as_const(&a, 3, 4);
    int l = as_here(&a);
    as_op(&a, OP_FDREAD, 1, 2, 0, fd, 0);
    as_op(&a, OP_FDWRITE, 4, 1, 0, fd, 0);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_op(&a, OP_FDDEADLINE, 3, NOREG, 0, fd, MS);
    as_op(&a, OP_FDREAD, 1, 2, 0, fd, 0);
    as_obj(&a, OP_FDCLOSE, fd);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    return f;
}

static int census_waiter(int mu, int cond, int wg)
{
    int f = as_func(&a, "waiter", 0, 3);
    as_obj(&a, OP_LOCK, mu);
    as_obj(&a, OP_CWAIT, cond);
    as_obj(&a, OP_UNLOCK, mu);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    return f;
}

static int census_panics(int wg)
{
    int recovers = as_func(&a, "recovers", 0, 2);
    as_op(&a, OP_RECOVER, 0, 1, 0, 0, 0);
    as_obj(&a, OP_WGDONE, wg);
    as_ret(&a);
    int f = as_func(&a, "panics", 0, 2);
    as_plain(&a, OP_LOCKOS);
    as_op(&a, OP_DEFER, 0, 0, 0, recovers, 0);
    as_plain(&a, OP_GOSCHED);
    as_op(&a, OP_PANIC, 0, 0, 0, -1, 0);
    as_ret(&a);
    return f;
}

static void census_timers(int late)
{
    as_op(&a, OP_TIMER, 1, NOREG, NOREG, -1, MS);
    as_op(&a, OP_TIMERC, 2, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_RECV, 4, NOREG, 2, OBJ_REG, 0);
    as_op(&a, OP_TRESET, NOREG, NOREG, 1, OBJ_REG, 10 * MS);
    as_op(&a, OP_TSTOP, NOREG, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_TICKER, 1, NOREG, 0, 0, 100 * US);
    as_op(&a, OP_TIMERC, 2, 0, 1, OBJ_REG, 0);
    as_const(&a, 3, 5);
    int l = as_here(&a);
    as_op(&a, OP_RECV, 4, NOREG, 2, OBJ_REG, 0);
    as_jump(&a, OP_LOOP, 3, 0, 0, l);
    as_op(&a, OP_TSTOP, NOREG, 0, 1, OBJ_REG, 0);
    as_op(&a, OP_TIMER, 1, NOREG, NOREG, late, MS);
    as_op(&a, OP_CTXTMO, 1, NOREG, NOREG, 0, MS);
    as_op(&a, OP_CTXNEW, 2, 1, 0, 0, 0);
    as_op(&a, OP_CTXDONE, 4, 0, 2, OBJ_REG, 0);
    as_op(&a, OP_RECV, 5, NOREG, 4, OBJ_REG, 0);
}

static void packages(void)
{
    const struct arrivals x = {
        .kind = ARRIVE_TIMES, .mode = 1, .times = census_arrivals, .ntimes = 4};
    as_init(&a);
    int mu = as_object(&a, OBJ_MUTEX, 0), rw = as_object(&a, OBJ_RWMUTEX, 0);
    int cmu = as_object(&a, OBJ_MUTEX, 0), cond = as_object(&a, OBJ_COND, cmu);
    int wg = as_object(&a, OBJ_WAITGROUP, 0), once = as_object(&a, OBJ_ONCE, 0);
    int sema = as_object(&a, OBJ_SEMA, 3), pool = as_object(&a, OBJ_POOL, 0);
    int ch = as_object(&a, OBJ_CHAN, 0), buf = as_object(&a, OBJ_CHAN, 2);
    int fd = as_object(&a, OBJ_FD, build_arrivals(&a.b, &x));
    build_span(&a.b, "span");
    int worker = census_worker(mu, rw, ch, buf, sema, once, pool, wg);
    int reader = census_reader(fd, wg), waiter = census_waiter(cmu, cond, wg);
    int panics = census_panics(wg), late = as_func(&a, "late", 0, 2);
    as_ret(&a);
    as_func(&a, "main", 0, 6);
    as_plain(&a, OP_TRACESTART);
    as_op(&a, OP_SPANB, NOREG, NOREG, 0, 0, 0);
    as_op(&a, OP_WGADD, NOREG, 0, 0, wg, 15);
    for (int i = 0; i < 10; i++)
        as_go(&a, worker, 0, 0);
    for (int i = 0; i < 2; i++)
        as_go(&a, waiter, 0, 0);
    as_go(&a, reader, 0, 0);
    for (int i = 0; i < 2; i++)
        as_go(&a, panics, 0, 0);
    census_timers(late);
    as_obj(&a, OP_CLOSE, ch);
    as_obj(&a, OP_CSIGNAL, cond);
    as_obj(&a, OP_CBROADCAST, cond);
    as_obj(&a, OP_WGWAIT, wg);
    as_op(&a, OP_MARK, NOREG, 0, 0, as_string(&a, "here"), 0);
    as_op(&a, OP_SPANE, NOREG, 0, 0, 0, 0);
    as_print1(&a, "%d", 3);
    as_plain(&a, OP_TRACESTOP);
    as_ret(&a);
}

/* ---- the table ---- */

static void census_row(char *row, const char *kind, const char *name, int what, bool of_records)
{
    size_t at = (size_t)snprintf(row, ROW_MAX, "%s\t%s", kind, name);
    for (int k = 0; k < CENSUSES; k++) {
        const struct census *c = &censuses[k];
        if (of_records)
            at += (size_t)snprintf(row + at, ROW_MAX - at, "\t%llu:%04llx",
                                   (unsigned long long)c->records[what],
                                   (unsigned long long)(c->sums[what] >> 48));
        else
            at += (size_t)snprintf(row + at, ROW_MAX - at, "\t%llu",
                                   (unsigned long long)(what < 0 ? c->ns : c->counters[what]));
    }
    CHECK_LT(at, ROW_MAX - 2);
    row[at++] = '\n';
    row[at] = 0;
}

/* Row i; false: there are no more. */
static bool census_row_at(char *row, int i)
{
    if (i == 0)
        census_row(row, "all", "ns", -1, false);
    else if (i <= COUNTER_COUNT)
        census_row(row, "counter", counter_names[i - 1], i - 1, false);
    else if (i <= COUNTER_COUNT + EV_COUNT)
        census_row(row, "record", event_infos[i - 1 - COUNTER_COUNT].name, i - 1 - COUNTER_COUNT,
                   true);
    return i <= COUNTER_COUNT + EV_COUNT;
}

static void census_compare(FILE *f, FILE *to)
{
    char want[ROW_MAX], row[ROW_MAX];
    int others = 0;
    for (int i = 0; census_row_at(row, i); i++) {
        do
            if (fgets(want, sizeof want, f) == NULL)
                want[0] = 0;
        while (want[0] == '#');
        if (to != NULL)
            fputs(row, to);
        else if (strcmp(row, want) != 0 && others++ < 5)
            fprintf(stderr, "census.tsv has\n  %snow it is\n  %s", want, row);
    }
    CHECK_EQ(others, 0);
}

TEST_CASE(Census, OfCountersAndRecords)
{
    memset(censuses, 0, sizeof censuses);
    for (int k = 0; k < CENSUSES; k++)
        for (int program = 0; program < 2; program++) {
            if (program == 0)
                everything(census_releases[k]);
            else
                packages();
            for (uint64_t seed = 1; seed <= CENSUS_SEEDS; seed++)
                census_of(&censuses[k], census_releases[k], seed);
        }
    const char *path = getenv("GMPSIM_CENSUS");
    FILE *to = path != NULL ? fopen(path, "w") : NULL;
    FILE *f = fopen(EDGES_DIR "/census.tsv", "r");
    CHECK(f != NULL);
    if (to != NULL)
        fputs("# what\tname\tgo1.13\t1.14\t1.16\t1.19\t1.22\t1.24\t1.25\t1.26\t1.27\n", to);
    census_compare(f, to);
    fclose(f);
    if (to != NULL)
        fclose(to);
}
