/* SPDX-License-Identifier: BSD-3-Clause */
/* The scheduler's functions that other files of the model call before they are defined. */
#ifndef MODEL_PROC_H
#define MODEL_PROC_H
#include "step.h"

struct gcp;
struct syscallingThread;

/* Who takes the program's prints and the SCHED lines; set before the world runs (world.c). */
static void (*world_print)(void *arg, const char *text, size_t size);
static void (*world_sched_line)(void *arg, const char *text, size_t size);
static void *world_arg;

/* proc.c, newproc.c */
static void schedule(void);
static inline void execute(struct g *gp, bool inheritTime);
static inline void made_runnable(struct g *gp);
static bool pollWork(void);
static void gfpurge(struct p *pp);
static bool schedEnabled(const struct g *gp);
static void schedEnableUser(bool enable);
static void randomOrder_reset(struct randomOrder *ord, uint32_t count);
static struct g *newsysproc(enum step first, void *obj);

/* spin.c */
static void wakep(void);
static void handoffp(struct p *pp);
static void injectglist(struct gList *list);
static inline void nmspinning_dec(void);

/* park.c */
static inline struct m *acquirem(void);
static inline void releasem(struct m *mp);
static uint32_t curg_id(struct m *mp);
static inline void repoison_guard(struct m *mp);
static enum opres mcall(mcall_fn fn);
static void gopreempt_m(struct g *gp);
static enum opres goschedIfBusy(struct g *gp);

/* runq.c, globrunq.c */
static void runq_own(struct g *gp);
static bool runqempty(struct p *pp);
static inline void runqput(struct p *pp, struct g *gp, bool next);
static void globrunqputbatch(struct gQueue *batch);
static void globrunqput(struct g *gp);

/* mp.c */
static void newm(enum mstart_kind kind, struct p *pp, int64_t id);
static void mstart(struct m *mp);
static struct p *releasep(void);
static struct p *mp_p(struct m *mp);
static void tick(maskword *t);
static void take_nextp(struct m *mp);

/* oslock.c, syscall.c, preempt.c */
static COLD void stoplockedm(void);
static COLD void startlockedm(struct g *gp);
static void incidlelocked(int32_t v);
static void entersyscall(struct g *gp);
static void entersyscallblock(struct g *gp);
static enum opres exitsyscall(struct g *gp);
static COLD enum opres newstack(struct g *gp);
static COLD enum opres asyncPreempt2(struct g *gp);
static void LockOSThread(struct g *gp);
static void UnlockOSThread(struct g *gp);

/* stw.c */
static COLD void gcstopm(void);
static void gcstop_p(struct p *pp);
static void stopwait_dec(void);
static struct p *procresize(int32_t nprocs);
static COLD void runSafePointFn(void);
static void safepoint_done(struct p *pp);
static void stopTheWorldWithSema(uint16_t reason, bool pseudo_wait);
static void startTheWorldWithSema(uint16_t reason);
static void forEachP(void (*fn)(struct p *));

/* sysmon.c, checkdead.c, gomaxprocs.c, schedtrace.c */
static void sysmon(void);
static void checkdead(void);
static int32_t defaultGOMAXPROCS(void);
static void defaultGOMAXPROCSUpdateEnable(void);
static bool follows_quota(void);
static enum opres runtime_GOMAXPROCS(struct g *gp);
static enum opres runtime_ReadMemStats(struct g *gp);
static void sysmonUpdateGOMAXPROCS(void);
static void schedtrace(bool detailed);

/* gc.c, gcpacer.c */
static enum opres gcMarkDone(struct g *gp);
static void gc_revise(void);

/* trace.c */
static bool traceEnabled(void);
static COLD void trace_events(struct m *mp, uint32_t n);
static COLD struct g *traceReaderAvailable(void);
static COLD struct g *traceReader(void);
static enum opres traceStart(struct g *gp);
static enum opres traceStop(struct g *gp);
static void trace_world_init(void);

/* Is there a trace, or the end of one? */
static inline bool trace_active(void)
{
    return a_peek(&rt->trace.on) || a_peek(&rt->trace.shutdown);
}

/* lockrank.c, rand.c, note.c */
static void lockInit(struct mutex *l, enum lockrank rank);
static enum opres notetsleepg(struct g *gp, struct note *n, int64_t ns);
static inline void lockrank_acquire(struct m *mp, const struct mutex *l);
static inline void lockrank_release(struct m *mp, const struct mutex *l);
static uint32_t cheaprand(void);
static uint32_t cheaprandn(uint32_t n);
static uint32_t cheaprand_order(void);
#endif
