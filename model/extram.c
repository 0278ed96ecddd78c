/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that C made and that call into Go (proc.go: extra Ms). Such a thread needs an M with a G;
 * the ones not in use are a LIFO under a word lock: extraM.head is 1 while locked, else 0 or the id
 * of the first M plus 2.
 *
 * A foreign thread takes an M when it calls back. Up to 1.20 it gives the M back each time: between
 * callbacks the G is Gdead. Since 1.21 M and thread stay bound: the G stays in a system call, that
 * of the C code. In this model C makes a thread only when none of its threads rests, the one that
 * rested last goes first, and a thread gets its M when it is made: as Ms are handed out in the same
 * order, a thread without a bound M finds the one it had. Outside of callbacks an M that is not
 * bound has its G in Gdeadextra (Gdead up to 1.25); the G is locked to its M for ever, by
 * lockedInt. */
#include "extram.h"
#include "gstatus.h"
#include "mp.h"
#include "newproc.h"
#include "note.h"
#include "objs.h"
#include "oslock.h"
#include "park.h"
#include "race.h"
#include "stack.h"
#include "syscall.h"

enum { EXTRAM_LOCKED = 1, EXTRAM_ID = 2 };

static uint32_t gdeadextra(void) { return gdeadextra_exists() ? Gdeadextra : Gdead; }

/* proc.go lockextra, with nilok. NULL: locked, and the list is empty. */
static struct m *lockextra(void)
{
    for (;;) {
        uint64_t old = a_load(&rt->extraM.head);
        if (old != EXTRAM_LOCKED && a_cas(&rt->extraM.head, old, EXTRAM_LOCKED))
            return old == 0 ? NULL : rt->ms[old - EXTRAM_ID];
        osyield();
    }
}

/* proc.go unlockextra. mp is the new head. */
static void unlockextra(struct m *mp, int32_t delta)
{
    a_add(&rt->extraM.length, (uint32_t)delta);
    a_store(&rt->extraM.head, mp == NULL ? 0 : (uint64_t)mp->id + EXTRAM_ID);
}

/* proc.go getExtraM; NULL: there is none. */
static struct m *getExtraM(void)
{
    struct m *mp = lockextra();
    if (mp == NULL) {
        unlockextra(NULL, 0);
        return NULL;
    }
    a_add(&rt->extraM.inuse, 1);
    mp->needextram = mp->schedlink == NULL;
    unlockextra(mp->schedlink, -1);
    mp->schedlink = NULL;
    return mp;
}

/* proc.go addExtraM. */
static void addExtraM(struct m *mp)
{
    mp->schedlink = lockextra();
    unlockextra(mp, 1);
}

/* proc.go putExtraM. */
static void putExtraM(struct m *mp)
{
    a_add(&rt->extraM.inuse, (uint32_t)-1);
    addExtraM(mp);
}

/* proc.go oneNewExtraM. The M counts as one of Go's threads until it is in the list or in use. */
static struct m *oneNewExtraM(void)
{
    struct m *mp = allocm(NULL, MSTART_EXTRA, -1);
    struct g *gp = host_alloc(sizeof *gp, _Alignof(struct g));
    work(malg);
    casgstatus(gp, Gidle, gdeadextra());
    gp->goid = (uint32_t)a_add(&sched->goidgen, 1);
    gp->extra = true;
    a_store_rlx(&mp->curg, gp);
    mp->isExtraInC = true;
    mp->lockedInt++;
    mp->lockedg = gp;
    a_store_rlx(&gp->lockedm, mp);
    a_store_rlx(&gp->m, mp);
    allgadd(gp);
    a_add(&sched->ngsys, 1);
    return mp;
}

/* proc.go newextram. mstartm0 gives a program with cgo one from the start, which counts as running:
 * such a program is never found dead. */
static void newextram(void)
{
    if (a_load(&rt->extraM.length) == 0)
        addExtraM(oneNewExtraM());
}

/* C's threads that keep their Ms and rest: a list of C's own, changed under the same word. */
static void boundm_rest(struct m *mp)
{
    struct m *head = lockextra();
    mp->schedlink = rt->extraM.resting;
    rt->extraM.resting = mp;
    unlockextra(head, 0);
}

static struct m *boundm_get(void)
{
    struct m *head = lockextra(), *mp = rt->extraM.resting;
    if (mp != NULL)
        rt->extraM.resting = mp->schedlink;
    unlockextra(head, 0);
    return mp;
}

/* proc.go needm. */
static void needm(struct m *mp, struct g *gp)
{
    mp->isExtraInC = false;
    casgstatus(gp, gdeadextra(), Gsyscall);
    a_add(&sched->ngsys, -1);
    if (prof->sys_block_on_exit)
        addGSyscallNoP(mp);
    ev_g_create(rec_g(gp), gp->func, gp->group, rec_g(NULL), EV_born_foreign, EV_place_none);
}

/* proc.go dropm. The P, if nobody took it yet, stays with the M as in any system call. */
static void dropm(struct m *mp, struct g *gp)
{
    casgstatus(gp, Gsyscall, gdeadextra());
    a_store_rlx(&gp->preemptStop, false);
    a_add(&sched->ngsys, 1);
    if (prof->sys_block_on_exit)
        decGSyscallNoP(mp);
    if (prof->dropm_tick)
        mp->syscalltick--;
    putExtraM(mp);
}

/* cgocall.go cgocallbackg, coming from a foreign thread: exitsyscall finds a P or parks. */
static void foreign_callback(struct m *mp, struct g *gp)
{
    if (!mp->bound)
        needm(mp, gp);
    lockOSThread_internal(gp);
    mp->incgo = true;
    mp->exiting = false;
    push_step(gp, STEP_foreignCall);
    if (exitsyscall(gp) == OP_MCALL)
        mp->mcallfn(gp);
    mloop(mp);
    if (prof->cgo_m_bound) {
        mp->bound = true;
        boundm_rest(mp);
    } else {
        dropm(mp, gp);
    }
}

static enum opres step_foreignCall(struct g *gp)
{
    struct m *mp = getm();
    mp->incgo = mp->isExtraInC = false;
    a_store_rlx(&gp->stackguard0, GUARD_NORMAL);
    if (mp->needextram) { /* cgocallbackg1: it took the last one, the next thread needs one too */
        mp->needextram = false;
        newextram();
    }
    return OP_DONE;
}

static void foreign_m(struct g *gp) { (void)gp; }

/* The Go function has returned: back into C. */
static enum opres foreign_returns(struct g *gp)
{
    struct m *mp = getm();
    mp->incgo = true;
    unlockOSThread_internal(gp);
    mp->isExtraInC = true;
    entersyscall(gp);
    mp->incgo = false;
    mp->exiting = true; /* leaves mloop, not the thread */
    return mcall(foreign_m);
}

/* A thread made by C: gp->opval ns of C code, then the callback, then it waits for the next one. */
static void foreign_main(void *arg)
{
    host_enter();
    struct m *mp = arg;
    struct g *gp = mp->lockedg;
    for (;;) {
        syscall_body(gp->opval, SYSCALL_SPIN);
        foreign_callback(mp, gp);
        notesleep(&mp->park);
        noteclear(&mp->park);
    }
}

/* The program decides: one that calls C is linked with cgo. */
static bool program_uses_cgo(const struct program *p)
{
    for (uint32_t i = 0; i < p->ncode; i++)
        if (p->code[i].op == OP_CGOCALL || p->code[i].op == OP_CGOCB)
            return true;
    return false;
}

/* A C call that makes a foreign thread, or wakes one, and comes back at once. */
static enum opres cgo_foreign(struct g *gp, uint32_t func, int64_t ns, const int64_t *arg,
                              uint32_t nargs)
{
    struct m *mp = getm(), *foreign = prof->cgo_m_bound ? boundm_get() : NULL;
    if (foreign == NULL)
        foreign = getExtraM();
    if (foreign == NULL) { /* Go's thread would wait until another callback has made one */
        foreign = oneNewExtraM();
        a_add(&rt->extraM.inuse, 1);
    }
    struct g *extra = foreign->lockedg;
    extra->group = GROUP_NONE;
    extra->opval = ns;
    g_start_at(extra, func, arg, nargs);
    racehandoff(extra);
    entersyscall(gp);
    mp->incgo = true;
    if (foreign->signalg == NULL) { /* has no thread yet */
        foreign->signalg = extra;
        mp->counters[C_threads]++;
        ev_m_create(EV_thread_extra, rec_m(foreign));
        newosproc(&foreign->host, foreign_main, foreign);
    } else {
        notewakeup(&foreign->park);
    }
    mp->incgo = false;
    return exitsyscall(gp);
}
