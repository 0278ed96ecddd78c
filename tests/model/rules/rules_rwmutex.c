/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about the runtime's rwmutex: who waits for whom, on threads of their own
 * that do one thing each and then go to sleep for good. */

enum { RW_US = 1000 };

struct rw_world {
    struct rtrwmutex rw;
    ATOMIC(uint32_t) in; /* who has it: a reader is 1, a writer 100 */
};
static struct rw_world *rww;

static void rw_reader(void *arg)
{
    (void)arg;
    rtrw_rlock(&rww->rw);
    a_add(&rww->in, 1);
    host_usleep(100);
    a_add(&rww->in, (uint32_t)-1);
    rtrw_runlock(&rww->rw);
}

static void rw_writer(void *arg)
{
    (void)arg;
    rtrw_lock(&rww->rw);
    a_add(&rww->in, 100);
    host_usleep(100);
    a_add(&rww->in, (uint32_t)-100);
    rtrw_unlock(&rww->rw);
}

static struct m *rw_thread(void (*what)(void *))
{
    struct m *mp = allocm(NULL, MSTART_LOOP, mReserveID());
    newosproc(&mp->host, what, mp);
    host_usleep(60); /* until it has done, or waits */
    return mp;
}

static void rw_fresh(void)
{
    rww = host_alloc(sizeof *rww, 64);
    lockInit(&rww->rw.rLock, lockRankLeaf);
    lockInit(&rww->rw.wLock, lockRankExecR);
}

/* rwmutex.go rlock: acquirem; a reader keeps its M until it has let go. */
static void pins(struct m *mp)
{
    int before = mp->locks;
    rw_fresh();
    rtrw_rlock(&rww->rw);
    CHECK_EQ(mp->locks, before + 1);
    rtrw_rlock(&rww->rw);
    CHECK_EQ(mp->locks, before + 2);
    CHECK_EQ(a_peek(&rww->rw.readerCount), 2);
    rtrw_runlock(&rww->rw);
    rtrw_runlock(&rww->rw);
    CHECK_EQ(mp->locks, before);
    CHECK_EQ(a_peek(&rww->rw.readerCount), 0);
}

TEST_CASE(RwmutexRules, AReaderKeepsItsM) { each_release(pins); }

/* The writer comes in when the last of those is gone that were there before it. */
static void writer_waits(struct m *mp)
{
    rw_fresh();
    rtrw_rlock(&rww->rw);
    rtrw_rlock(&rww->rw);
    struct m *writer = rw_thread(rw_writer);
    CHECK(rww->rw.writer == writer);
    CHECK_EQ(a_peek(&rww->rw.readerWait), 2);
    CHECK_EQ(a_peek(&rww->in), 0);
    rtrw_runlock(&rww->rw);
    host_usleep(60);
    CHECK_EQ(a_peek(&rww->rw.readerWait), 1);
    CHECK_EQ(a_peek(&rww->in), 0);
    rtrw_runlock(&rww->rw);
    host_usleep(60);
    CHECK_EQ(a_peek(&rww->in), 100);
    CHECK_EQ(a_peek(&rww->rw.readerCount), -RTRW_MAX_READERS);
    host_usleep(200);
    CHECK_EQ(a_peek(&rww->in), 0);
    CHECK_EQ(a_peek(&rww->rw.readerCount), 0);
    rtrw_lock(&rww->rw); /* nobody reads: at once */
    rtrw_unlock(&rww->rw);
    CHECK_EQ(mp->locks, 0);
}

TEST_CASE(RwmutexRules, AWriterWaitsForTheReadersBeforeIt) { each_release(writer_waits); }

/* Readers that come while somebody writes sleep, by Ms, and all go on when he has. */
static void readers_wait(struct m *mp)
{
    (void)mp;
    rw_fresh();
    rtrw_lock(&rww->rw);
    struct m *first = rw_thread(rw_reader), *second = rw_thread(rw_reader);
    CHECK(rww->rw.readers == second && second->schedlink == first && first->schedlink == NULL);
    CHECK_EQ(a_peek(&rww->in), 0);
    struct m *writer = rw_thread(rw_writer); /* behind wLock */
    CHECK_EQ(a_peek(&rww->in), 0);
    rtrw_unlock(&rww->rw);
    CHECK(rww->rw.readers == NULL);
    host_usleep(60);
    CHECK_EQ(a_peek(&rww->in), 2);
    CHECK(second->schedlink == NULL);
    CHECK(rww->rw.writer == writer);
    host_usleep(120);
    CHECK_EQ(a_peek(&rww->in), 100);
    host_usleep(200);
    CHECK_EQ(a_peek(&rww->in), 0);
}

TEST_CASE(RwmutexRules, ReadersWaitForTheWriter) { each_release(readers_wait); }

/* One that said it comes, and had not gone to sleep yet when the writer left, need not. */
static void late_reader(struct m *mp)
{
    rw_fresh();
    rtrw_lock(&rww->rw);
    a_add(&rww->rw.readerCount, 1); /* rlock's first step, on another M */
    rtrw_unlock(&rww->rw);
    CHECK_EQ(rww->rw.readerPass, 1);
    CHECK_EQ(a_peek(&rww->rw.readerCount), 1);
    a_store(&rww->rw.readerCount, -RTRW_MAX_READERS + 1); /* the next writer is there */
    rtrw_rlock(&rww->rw);
    CHECK_EQ(rww->rw.readerPass, 0);
    CHECK(rww->rw.readers == NULL);
    CHECK_EQ(a_peek(&rww->rw.readerCount), -RTRW_MAX_READERS + 2);
    releasem(mp);
    struct m *reader = rw_thread(rw_reader); /* one pass is one reader's */
    CHECK(rww->rw.readers == reader);
    lock(&rww->rw.wLock);
    rtrw_unlock(&rww->rw);
    host_usleep(300);
}

TEST_CASE(RwmutexRules, APassIsForOneReader) { each_release(late_reader); }

/* execLock is there in programs that execute others, and is held while anybody has it. */
static void held(struct m *mp)
{
    (void)mp;
    CHECK(rt->execLock != NULL);
    CHECK(!exec_is_held());
    exec_rlock();
    CHECK(exec_is_held());
    exec_rlock();
    CHECK(exec_is_held());
    exec_runlock();
    CHECK(exec_is_held());
    exec_runlock();
    CHECK(!exec_is_held());
    rtrw_lock(rt->execLock);
    CHECK(exec_is_held());
    rtrw_unlock(rt->execLock);
    CHECK(!exec_is_held());
}

static void none(struct m *mp)
{
    CHECK(rt->execLock == NULL);
    CHECK(!exec_is_held());
    exec_rlock();
    CHECK_EQ(mp->locks, 0);
    exec_runlock();
    CHECK_EQ(mp->locks, 0);
}

TEST_CASE(RwmutexRules, ItIsThereForProgramsThatExecute)
{
    static const struct insn code[] = {{.op = OP_NOP}, {.op = OP_EXEC}};
    static const struct program executes = {.code = code, .ncode = 2},
                                not = {.code = code, .ncode = 1};
    world_program = &executes;
    each_release(held);
    world_program = &not ;
    each_release(none);
    world_program = NULL;
}
