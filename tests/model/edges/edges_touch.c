/* SPDX-License-Identifier: BSD-3-Clause */
/* The fourth part of edges_test.c: at which go statement of main, or wait behind them, memory is
 * touched for the first time. Every jolt is written down with where main is; what is wanted is
 * computed from Go's source:
 *
 *   sizes of a G       runtime/sizeof_test.go: 392 to 408 bytes up to 1.21, 424 to 440 up to 1.25,
 *                      456 from 1.26 on; sizeclasses.go makes 416, 448 and 480 of them, in spans of
 *                      8192 bytes, of which 128 say where pointers are from 1.22 on
 *                      (mbitmap.go heapBitsInSpan)
 *   Gs before          m0's gsignal, main, sysmon's g0 and gsignal, forcegchelper, bgsweep,
 *                      bgscavenge, g0 and gsignal of the M that runs while main is locked to its
 *                      own, the goroutine of finalizers; from 1.25 on updateMaxProcsGoroutine
 *   stacks             stackcacherefill takes 16 KB, eight of 2 KB; a span of them is 32 KB
 *                      (_StackCacheSize); that of main is given back when it has grown
 *   allgs              append doubles a full slice: at the 9th goroutine, the 17th, the 33rd
 *
 * Programs whose package os is linked show the same in the addresses of their Gs and stacks: the
 * first new span comes at go statement 10, 9, 9 and 6 with Go 1.19, 1.22, 1.23 and 1.26, the first
 * one of stacks at 13, 13, 13 and 12 with 1.19, 1.23, 1.24 and 1.26 (two Gs earlier where an M
 * more was made). */

enum { TOUCHES = 100, TOUCHED_MAX = 400, STACKS_OF_A_SPAN = 16, PAGE_BYTES = 4096 };

struct touch {
    int kind, at; /* 0: before main.main; n: the n-th go statement, or between it and the next */
};
static struct touch touches[TOUCHED_MAX];
static int ntouches, main_at;

static void note_jolt(int kind)
{
    if (!jolting)
        return;
    if (ntouches < TOUCHED_MAX)
        touches[ntouches++] = (struct touch){kind, main_at};
    if (kind == NOISE_boot || kind == NOISE_first_go) /* main begins; a go statement ends */
        main_at++;
}

static const char *list(char *text, size_t room, const int *at, int count)
{
    int n = 0;
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        n += snprintf(text + n, room - (size_t)n, " %d", at[i]);
    return text;
}

/* There was one of that kind at these go statements, in this order, and nowhere else in main. */
static void check_touched(int kind, const int *want, int count)
{
    char was[2048], wanted[2048];
    int at[TOUCHED_MAX], n = 0;
    for (int i = 0; i < ntouches; i++)
        if (touches[i].kind == kind && touches[i].at > 0)
            at[n++] = touches[i].at;
    CHECK_STR(list(was, sizeof was, at, n), list(wanted, sizeof wanted, want, count));
}

static void check_every(int kind, int first, int step)
{
    int want[TOUCHED_MAX], n = 0;
    for (int at = first; at <= TOUCHES; at += step)
        if (at > 0)
            want[n++] = at;
    check_touched(kind, want, n);
}

/* main: a goroutine that sends to it, and others of another function, which wait for ever. */
static void crowd(void)
{
    as_init(&a);
    int gate = as_object(&a, OBJ_CHAN, 0), done = as_object(&a, OBJ_CHAN, 0);
    int sends = as_func(&a, "sends", 0, 2);
    as_send(&a, done, 0);
    as_ret(&a);
    int waits = as_func(&a, "waits", 0, 2);
    as_recv(&a, gate, 0);
    as_ret(&a);
    as_func(&a, "main", 0, 2);
    as_go(&a, sends, 0, 0);
    for (int i = 1; i < TOUCHES; i++)
        as_go(&a, waits, 0, 0);
    as_recv(&a, done, 0);
    as_recv(&a, done, 0); /* so everybody gets to wait, and then nobody is left */
    as_ret(&a);
}

static void run_touched(int release)
{
    static struct profile profile;
    struct failure f = {0};
    struct host host = host_virt;
    host.core = &core_edges;
    CHECK(profile_init(&profile, release));
    const struct host_opts o = {.seed = 1,
                                .world = {.profile = &profile, .program = as_done(&a), .procs = 1}};
    ntouches = main_at = 0;
    jolting = true;
    bool opened = world_open(&host, &f, &o);
    if (opened)
        (void)host.run(UINT64_MAX);
    jolting = false;
    host.close();
    CHECK(opened);
}

static const struct {
    int release, g_bytes, bitmap_bytes, goroutines; /* those before main.main's first */
} of_release[] = {{19, 416, 0, 5},   {21, 416, 0, 5},   {22, 448, 128, 5}, {23, 448, 128, 5},
                  {24, 448, 128, 5}, {25, 448, 128, 6}, {26, 480, 128, 6}, {27, 480, 128, 6}};

TEST_CASE(FirstTouch, EachComesAtItsGoStatement)
{
    for (size_t i = 0; i < sizeof of_release / sizeof *of_release; i++) {
        int goroutines = of_release[i].goroutines, before = goroutines + 5; /* those of three Ms */
        int size = of_release[i].g_bytes, span = (8192 - of_release[i].bitmap_bytes) / size;
        crowd();
        run_touched(of_release[i].release);
        CHECK_EQ(main_at, TOUCHES + 1);
        check_every(NOISE_g_span, span - before + 1, span);
        check_every(NOISE_g_page, span + PAGE_BYTES / size - before + 1, span);
        check_every(NOISE_stack_refill, STACKS_OF_A_SPAN + 2 - goroutines, STACKS_OF_A_SPAN);
        check_every(NOISE_new_g, 1, 1);
        const int grown[] = {9 - goroutines, 17 - goroutines, 33 - goroutines, 65 - goroutines};
        check_touched(NOISE_allgs, grown, 4);
        /* from 1.22 on main's own objects; two functions' closures; then main waits, and somebody
         * else does */
        bool late = of_release[i].release >= 22;
        const int sizes[] = {1, 1, 2, TOUCHES + 1};
        check_touched(NOISE_new_size, sizes + !late, 3 + late);
        check_touched(NOISE_first_wait, (int[]){TOUCHES + 1, TOUCHES + 1}, 2);
        int flushes[TOUCHED_MAX] = {1, 1, 2}, n = 3;
        for (int at = span - before + 1; at <= TOUCHES && late; at += span)
            flushes[n++] = at;
        flushes[n++] = TOUCHES + 1;
        flushes[n++] = TOUCHES + 1;
        check_touched(NOISE_flush, flushes + !late, n - !late);
    }
}

/* netpoll.go netpollGenericInit: the first timer or descriptor of a program makes the poller. */
TEST_CASE(FirstTouch, ThePollerIsMadeOnce)
{
    for (int release = 14; release <= 27; release++) { /* before, timers have no poller */
        as_init(&a);
        as_func(&a, "main", 0, 2);
        as_sleep(&a, MS);
        as_sleep(&a, MS);
        as_ret(&a);
        run_touched(release);
        check_touched(NOISE_netpoll, (int[]){1}, 1);
        check_touched(NOISE_flush, (int[]){1, 1}, release >= 22 ? 2 : 1);
    }
}
