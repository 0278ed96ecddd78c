/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of rules_test.c about panic.c: the room of a deferred call, and the text of a crash. */

static void has_room_for_arguments(struct m *mp)
{
    (void)mp;
    for (uint32_t n = 0; n <= 60; n++) {
        uint32_t words = UINT32_C(1) << defer_order(n);
        uint32_t wants = (uint32_t)sizeof(struct deferRecord) / 8 + n;
        CHECK_GE(words, wants);
        CHECK(words == 16 || words / 2 < wants);
    }
}

TEST_CASE(PanicRules, ADeferredCallHasRoomForItsArguments)
{
    each_leak_world(27, has_room_for_arguments);
}

/* What does not fit is cut, and the end is there. */
static void cuts(struct m *mp)
{
    enum { PART = 1000 };
    static char part[PART + 1], text[CRASH_MAX + 1];
    struct crash c = {.text = text};
    (void)mp;
    memset(part, 'a', PART);
    memset(text, 'z', sizeof text);
    for (int i = 0; i <= CRASH_MAX / PART; i++)
        crash_text(&c, part);
    CHECK_EQ(strlen(crash_end(&c)), CRASH_MAX - 1);
    CHECK_EQ(text[CRASH_MAX], 'z');
}

TEST_CASE(PanicRules, ALongCrashIsCut) { each_leak_world(27, cuts); }

static const char *where(const struct program *p, struct g *gp, const char *state)
{
    static char text[400];
    struct crash c = {.text = text};
    rt->prog = p;
    crash_goroutine(&c, gp, state);
    return crash_end(&c);
}

static void says_where(struct m *mp)
{
    static const struct insn code[] = {{.op = OP_NOP}, {.op = OP_NOP}, {.op = OP_RET}};
    static const struct func named[] = {{"worker", 0, 3, 0, 0, 0}},
                             unnamed[] = {{NULL, 0, 3, 0, 0, 0}};
    static const uint32_t lines[] = {11, 22, 33};
    const struct program with = {
        .code = code, .ncode = 3, .funcs = named, .nfuncs = 1, .lines = lines};
    struct program without = with, nameless = with;
    struct g *gp = g_of(Grunning);
    without.lines = NULL;
    nameless.funcs = unnamed;
    gp->goid = 18;
    gp->func = 0;
    gp->pc = 1;
    uint32_t line = lines[shown_pc(&with, gp)];
    char wanted[200];
    snprintf(wanted, sizeof wanted, "\n\ngoroutine 18 [running]:\nmain.worker (line %u)", line);
    CHECK_STR(where(&with, gp, "running"), wanted);
    CHECK_STR(where(&without, gp, "select"), "\n\ngoroutine 18 [select]:\nmain.worker");
    CHECK_STR(where(&nameless, gp, "select"), "\n\ngoroutine 18 [select]:");
    gp->func = -1;
    CHECK_STR(where(&with, gp, "idle"), "\n\ngoroutine 18 [idle]:");
    a_store(&gp->lockedm, mp);
    CHECK_STR(where(&with, gp, "idle"), "\n\ngoroutine 18 [idle, locked to thread]:");
}

TEST_CASE(PanicRules, ACrashSaysWhereAGoroutineIs) { each_leak_world(27, says_where); }

/* panic.go printPreFatalDeferPanic: "panic: 7\n\tfatal error: ..."; a Goexit alone says nothing. */
static void tells_what_was_before(struct m *mp)
{
    char text[200];
    struct g *gp = g_of(Grunning);
    bool tells = prof->release >= 26;
    (void)mp;
    struct crash c = {.text = text};
    crash_panics_before(&c, gp);
    CHECK_STR(crash_end(&c), "");
    panic_push(gp, PANIC_KIND_GOEXIT, 0);
    crash_panics_before(&c, gp);
    CHECK_STR(crash_end(&c), tells ? "\t" : "");
    panic_push(gp, PANIC_KIND_INT, 7);
    struct crash d = {.text = text};
    crash_panics_before(&d, gp);
    CHECK_STR(crash_end(&d), tells ? "panic: 7\n\t" : "");
}

TEST_CASE(PanicRules, AFatalErrorSaysWhatWasBefore) { each_leak_world(13, tells_what_was_before); }
