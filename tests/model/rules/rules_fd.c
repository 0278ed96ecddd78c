/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about fd.c: one reader and one writer at a time, what an operation does
 * when something is there, when nothing is, when the descriptor is closed; what the host is
 * told. */

/* ---- what a poll finds: what the case says, or what the host has ---- */

static const struct poll_event *events;
static int32_t nevents;
static int64_t waited_ns;

static void set_events(int32_t n, const struct poll_event *ev)
{
    nevents = n;
    events = ev;
}

static int32_t finds_events(int64_t ns, struct poll_event *ev, int32_t cap)
{
    int32_t n = nevents < cap ? nevents : cap;
    if (nevents == 0)
        return VM_CALL_(vm_netpoll_wait_(ns, ev, cap));
    waited_ns = ns;
    for (int32_t i = 0; i < n; i++)
        ev[i] = events[i];
    events += n;
    nevents -= n;
    return n;
}

/* ---- operations ---- */

enum { BACKLOG = 16, SOON = 1000000000 };
static const struct arrivals reads = {.kind = ARRIVE_POSTED, .mode = POLL_R},
                             writes = {.kind = ARRIVE_POSTED, .mode = POLL_W};

static struct pollfd *fd_with(const struct arrivals *process)
{
    struct pollfd *fd = netpoll_open(-1);
    fd->env.process = process;
    fd->env.backlog = BACKLOG;
    fd->env.stamp = host_alloc(BACKLOG * sizeof *fd->env.stamp, 8);
    return fd;
}

static void arrives(struct pollfd *fd, int64_t when)
{
    uint64_t n = a_peek(&fd->env.arrived);
    a_store(&fd->env.stamp[n % BACKLOG], when);
    a_store(&fd->env.arrived, n + 1);
}

/* A G that runs and is in no instruction. */
static struct g *user(struct m *mp)
{
    struct g *gp = g_of(Grunning);
    a_store(&mp->curg, gp);
    return gp;
}

static struct g *parked(struct pollfd *fd, struct g *gp, enum poll_mode mode, bool by_env)
{
    CHECK_EQ(a_peek(poll_word(&fd->pd, mode)), pdWait);
    CHECK_EQ(gp->nkont, 1);
    CHECK_EQ(gp->kont[0], STEP_fdBlocked);
    CHECK_EQ(gp->has_ext_wake, by_env); /* or it is a deadlock */
    CHECK_EQ(a_peek(&fd->mu.state), (mode == POLL_R ? FD_RLOCK : FD_WLOCK) + FD_REF);
    gp->nkont = 0;
    return gp;
}

static void is_done(const struct pollfd *fd, const struct g *gp, int64_t result)
{
    CHECK_EQ(gp->opval, result);
    CHECK_EQ(gp->nkont, 0);
    CHECK_EQ(a_peek(&fd->mu.state), 0); /* unlocked, no reference */
}

static void waits_for_mode(struct m *mp)
{
    const struct arrivals *const processes[] = {NULL, &reads, &writes};
    for (int i = 0; i < 3; i++) {
        struct pollfd *fd = fd_with(processes[i]);
        struct g *gp = user(mp);
        if (processes[i] == &writes) { /* writable when the process says so */
            CHECK_EQ(netpoll_wait_op(gp, fd, POLL_W), OP_MCALL);
            parked(fd, gp, POLL_W, true);
        } else {
            CHECK_EQ(netpoll_wait_op(gp, fd, POLL_W), OP_DONE);
            is_done(fd, gp, 0);
        }
        fd = fd_with(processes[i]);
        CHECK_EQ(netpoll_wait_op(gp = user(mp), fd, POLL_R), OP_MCALL);
        parked(fd, gp, POLL_R, processes[i] != NULL);
        fd = fd_with(processes[i]); /* an edge that came before: but is there anything? */
        a_store(&fd->pd.rg, pdReady);
        enum opres r = netpoll_wait_op(gp = user(mp), fd, POLL_R);
        if (processes[i] != NULL) {
            CHECK_EQ(r, OP_MCALL);
            parked(fd, gp, POLL_R, true);
        } else {
            CHECK_EQ(r, OP_DONE);
            is_done(fd, gp, 0);
        }
        CHECK_EQ(a_peek(&fd->pd.rg), processes[i] != NULL ? pdWait : pdNil);
    }
    struct pollfd *fd = fd_with(&reads);
    struct g *gp = user(mp);
    arrives(fd, 7);
    CHECK_EQ(netpoll_wait_op(gp, fd, POLL_R), OP_DONE);
    is_done(fd, gp, 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(FdRules, AWaitIsForWhatTheProcessSays) { each_release(waits_for_mode); }

static void takes_arrivals(struct m *mp)
{
    struct pollfd *fd = fd_with(&reads);
    struct g *gp = user(mp);
    arrives(fd, 7);
    a_store(&fd->pd.rg, pdReady);
    takes_told = 0;
    CHECK_EQ(netpoll_take_op(gp, fd), OP_DONE);
    is_done(fd, gp, 0);
    CHECK_EQ(takes_told, 1);             /* its message is read off the host's descriptor */
    CHECK_EQ(a_peek(&fd->pd.rg), pdNil); /* the edge is older than the operation */
    CHECK_EQ(netpoll_take_op(gp, fd), OP_MCALL);
    CHECK_EQ(takes_told, 1);
    parked(fd, gp, POLL_R, true);
    a_store(&fd->pd.rg, pdReady); /* woken, but somebody was faster; then it is there */
    CHECK_EQ(step_fdBlocked(gp), OP_MCALL);
    parked(fd, gp, POLL_R, true);
    arrives(fd, 9);
    a_store(&fd->pd.rg, pdReady);
    CHECK_EQ(step_fdBlocked(gp), OP_DONE);
    CHECK(!gp->has_ext_wake);
    CHECK_EQ(takes_told, 2);
    is_done(fd, gp, 0);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(FdRules, WhatHasArrivedIsTakenOnce) { each_release(takes_arrivals); }

/* It was to park when the close came: the word says that it waits, and nobody will come. */
static void comes_after_a_close(struct m *mp)
{
    struct pollfd *fd = fd_with(&reads);
    struct g *gp = user(mp);
    CHECK_EQ(netpoll_wait_op(gp, fd, POLL_R), OP_MCALL);
    parked(fd, gp, POLL_R, true);
    a_store(&fd->pd.atomicInfo, pollClosing);
    CHECK_EQ(step_fdBlocked(gp), OP_DONE);
    CHECK_EQ(a_peek(&fd->pd.rg), pdNil);
    is_done(fd, gp, -pollErrClosing);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(FdRules, AWaitEndsWithTheDescriptor) { each_release(comes_after_a_close); }

/* ---- the lock of descriptors ---- */

static void unlocks_no_lock(struct m *mp)
{
    (void)mp;
    struct pollfd *fd = fd_with(NULL);
    a_store(&fd->mu.state, FD_REF + FD_WLOCK);
    fd_rwunlock(fd, POLL_R);
}

static void unlocks_no_reference(struct m *mp)
{
    (void)mp;
    struct pollfd *fd = fd_with(NULL);
    a_store(&fd->mu.state, (uint64_t)FD_RLOCK);
    fd_rwunlock(fd, POLL_R);
}

TEST_CASE(FdRules, AnUnlockOfWhatIsNotLockedIsAThrow)
{
    void (*const bodies[])(struct m *) = {unlocks_no_lock, unlocks_no_reference};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, bodies[i]), END_THROWN);
        CHECK(strstr(host_virt.verdict()->text, "inconsistent poll.fdMutex") != NULL);
        host_virt.close();
    }
}

static void closes_fd(struct m *mp)
{
    enum { READERS = 3, WRITERS = 2 };
    struct pollfd *fd = fd_with(NULL);
    struct g *gp = user(mp);
    netpollGenericInit();
    unregistered = 0;
    a_store(&fd->mu.state, READERS * FD_RWAIT + WRITERS * FD_WWAIT);
    CHECK_EQ(netpoll_close_op(gp, fd), OP_DONE); /* nobody uses it: at once */
    CHECK_EQ(a_peek(&fd->mu.rsema), READERS);    /* all who wait for the lock are told */
    CHECK_EQ(a_peek(&fd->mu.wsema), WRITERS);
    CHECK_EQ(a_peek(&fd->mu.state), FD_CLOSED);
    CHECK_EQ(unregistered, 1);
    CHECK(gp->nkont == 1 && gp->kont[0] == STEP_fdClosed);
    gp->nkont = 0;
    gp->opval = 5;
    CHECK_EQ(step_fdClosed(gp), OP_DONE);
    CHECK_EQ(gp->opval, 0);
    CHECK_EQ(netpoll_close_op(gp, fd), OP_DONE); /* once more */
    CHECK_EQ(gp->opval, -pollErrClosing);
    CHECK_EQ(gp->nkont, 0);
    CHECK_EQ(a_peek(&fd->mu.state), FD_CLOSED);
    CHECK_EQ(netpoll_wait_op(gp, fd, POLL_R), OP_DONE);
    CHECK_EQ(gp->opval, -pollErrClosing);
    uint32_t ended = a_peek(&fd->csema);
    netpoll_set_deadline(fd, 1000, POLL_R); /* of what is closed: nothing */
    CHECK_EQ(a_peek(&fd->csema), ended);
    CHECK_EQ(fd->pd.rd, 0);
    CHECK_EQ(unregistered, 1);
    a_store(&mp->curg, (struct g *)NULL);
}

TEST_CASE(FdRules, ACloseEndsAllWhoWaitAndComesOnce) { each_release(closes_fd); }

/* ---- birth ---- */

static void opens(struct m *mp)
{
    struct netpoll *np = rt->netpoll;
    (void)mp;
    opened = 0;
    struct pollfd *early = fd_with(&writes);
    CHECK_EQ(opened, 0); /* before the program runs the host has none */
    CHECK_EQ(a_peek(&early->pd.open), 0);
    np->started = true;
    struct pollfd *fd = netpoll_open(-1);
    CHECK_EQ(opened, 1);
    CHECK_EQ(opened_fd, fd->pd.fd);
    CHECK_EQ(opened_mode, POLL_R);
    CHECK(a_peek(&fd->pd.open) != 0);
    CHECK(fd_of(fd->pd.fd) == fd);
    fd_begin(early);
    CHECK_EQ(opened, 2);
    CHECK_EQ(opened_mode, POLL_W);
    int32_t n = np->nfd;
    np->nfd = FD_CHUNK * FD_CHUNKS_MAX;
    CHECK(netpoll_open(-1) == NULL);
    np->nfd = n;
    CHECK(netpoll_open(-1) != NULL);
}

TEST_CASE(FdRules, TheHostHasADescriptorFromTheProgramsStart) { each_release(opens); }

/* ---- polls ---- */

/* With room for less than one event a poll still sees one at a time; more come the next time. */
static void polls_in_batches(struct m *mp)
{
    struct pollDesc *pd[3];
    struct poll_event ev[3];
    netpollGenericInit();
    for (int64_t batch = 0; batch <= 3; batch++) {
        for (int i = 0; i < 3; i++) {
            pd[i] = desc();
            a_store(&pd[i]->open, 1u);
            (void)parks_at(pd[i], POLL_R);
            ev[i] = (struct poll_event){.fd = pd[i]->fd, .mode = POLL_R};
        }
        a_store(&pd[1]->open, 0u); /* closed meanwhile: not its event */
        struct gList list = {0};
        world_prof.netpoll_batch = batch;
        set_events(3, ev);
        netpollAdjustWaiters(netpoll(0, &list));
        int32_t seen = batch < 2 ? 1 : (int32_t)batch;
        CHECK_EQ(nevents, 3 - seen);
        for (int i = 0; i < 3; i++)
            CHECK_EQ(a_peek(&pd[i]->rg) == pdReady, i != 1 && i < seen);
        nevents = 0;
    }
    (void)mp;
}

TEST_CASE(FdRules, APollSeesSoManyEventsAndNoneOfAClosedDescriptor)
{
    each_release(polls_in_batches);
}

/* ---- deadlines ---- */

/* A close, and a deadline that is taken back, leave no timer; the poller that is not there yet has
 * nothing to add to the waiters. */
static void ends_deadlines(struct m *mp)
{
    struct gList list = {0};
    (void)mp;
    CHECK_EQ(netpoll(0, &list), 0);
    a_store(&sched->nmspinning, 1);
    netpollGenericInit();
    for (int by_close = 0; by_close <= 1; by_close++) {
        struct pollDesc *pd = desc();
        pollSetDeadline(pd, 1, POLL_W); /* the nearest there is */
        CHECK_GT(pd->wd, 1);
        pollSetDeadline(pd, SOON, POLL_R);
        CHECK(pd->rrun && pd->wrun);
        if (by_close)
            pollUnblock(pd);
        else
            pollSetDeadline(pd, 0, POLL_RW);
        CHECK(!pd->rrun && !pd->wrun);
        CHECK(!timer_stop(&pd->rt)); /* it was stopped */
        CHECK(!timer_stop(&pd->wt));
    }
    struct pollDesc *pd = desc();
    pollUnblock(pd);
    a_store(&pd->rg, pdReady); /* an edge that nobody waits for is no user */
    a_store(&pd->wg, pdReady);
    pollClose(pd);
    CHECK_EQ(a_peek(&pd->open), 0);
}

TEST_CASE(FdRules, NoTimerOutlivesItsDeadline) { each_release(ends_deadlines); }

static void passes_no_deadline(struct m *mp)
{
    (void)mp;
    struct pollDesc *pd = desc();
    netpollGenericInit();
    pd->rrun = true;
    pd->rd = 0;
    netpollReadDeadline(pd, pd->rseq, 0);
}

TEST_CASE(FdRules, ATimerWithoutADeadlineIsAThrow)
{
    CHECK_EQ(world_until(UINT64_MAX, 27, PROCS, &(struct host_opts){0}, passes_no_deadline),
             END_THROWN);
    CHECK(strstr(host_virt.verdict()->text, "deadline") != NULL);
    host_virt.close();
}
