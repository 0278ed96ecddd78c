/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleep and wake-up on a counter (sema.go), and the ticket list of sync.Cond.
 *
 * A root holds the waiters of all addresses that hash to it. Go keeps the addresses in a treap,
 * whose shape nobody can see; here they are a list. Per address the waiters are a FIFO (LIFO on
 * request) chain. What the fields of a sudog say:
 *
 *   c         the address
 *   waitlink  the next waiter of the address
 *   next      of an address' first waiter: the first one of the next address
 *   prev      of an address' first waiter: the last of its chain
 *   ticket    1: the count was handed to this waiter
 *
 * The model keeps the sudog in gp->waiting in every release; Go does since 1.26. */
#include "sema.h"
#include "lock.h"
#include "objs.h"
#include "park.h"
#include "race.h"

/* Go: (address >> 3) % 251. Here the distance from a fixed object of the arena is the address. */
static struct semaRoot *rootFor(const semaword *addr)
{
    size_t offset = (size_t)((uintptr_t)addr - (uintptr_t)rt);
    return &rt->objs->semtable[(offset >> 3) % (size_t)prof->sema_roots];
}

static bool cansemacquire(semaword *addr)
{
    for (;;) {
        uint32_t v = a_load(addr);
        if (v == 0)
            return false;
        if (a_cas(addr, v, v - 1))
            return true;
    }
}

/* The place of addr's first waiter in the list of heads, or of the list's end. */
static struct sudog **sema_find(struct semaRoot *root, const semaword *addr)
{
    struct sudog **at = &root->heads;
    while (*at != NULL && (*at)->c != addr)
        at = &(*at)->next;
    return at;
}

/* sema.go queue. */
static void sema_queue(struct semaRoot *root, semaword *addr, struct sudog *s, bool lifo)
{
    struct sudog **at = sema_find(root, addr), *head = *at;
    s->c = addr;
    s->waitlink = NULL;
    s->next = NULL;
    s->prev = s;
    if (head == NULL) {
        *at = s;
    } else if (lifo) {
        s->next = head->next;
        s->prev = head->prev;
        s->waitlink = head;
        head->next = NULL;
        *at = s;
    } else {
        head->prev->waitlink = s;
        head->prev = s;
    }
}

/* sema.go dequeue: the first waiter, or NULL. */
static struct sudog *sema_dequeue(struct semaRoot *root, semaword *addr)
{
    struct sudog **at = sema_find(root, addr), *s = *at;
    if (s == NULL)
        return NULL;
    struct sudog *t = s->waitlink;
    if (t != NULL) {
        t->next = s->next;
        t->prev = s->prev;
        *at = t;
    } else {
        *at = s->next;
    }
    s->next = s->prev = s->waitlink = NULL;
    s->ticket = 0;
    return s;
}

/* One round of semacquire1's loop: the count, or the queue. nwait goes up before the look at the
 * count, so that a release which comes after the look sees a waiter. */
static enum opres semacquire_round(struct g *gp, struct sudog *s, semaword *addr)
{
    struct semaRoot *root = rootFor(addr);
    lock(&root->lock);
    a_add(&root->nwait, 1);
    if (cansemacquire(addr)) {
        a_add(&root->nwait, -1);
        unlock(&root->lock);
        gp->waiting = NULL;
        releaseSudog(s);
        return OP_DONE;
    }
    sema_queue(root, addr, s, s->index != 0);
    push_step(gp, STEP_semacquire);
    return goparkunlock(gp, &root->lock, (enum waitreason)s->val);
}

/* sema.go semacquire1. */
static enum opres semacquire1(struct g *gp, semaword *addr, bool lifo, enum waitreason reason)
{
    if (cansemacquire(addr))
        return OP_DONE;
    work(sema_op);
    struct sudog *s = acquireSudog();
    s->g = gp;
    s->ticket = 0;
    s->index = lifo;
    s->val = (int64_t)reason;
    gp->waiting = s;
    return semacquire_round(gp, s, addr);
}

static enum opres semacquire(struct g *gp, semaword *addr)
{
    return semacquire1(gp, addr, /*lifo*/ false, waitReasonSemacquire);
}

/* Woken: the count was handed over, or is there to be taken; somebody faster may have taken it,
 * then the wait begins again. */
static enum opres step_semacquire(struct g *gp)
{
    struct sudog *s = gp->waiting;
    semaword *addr = s->c;
    if (s->ticket == 0 && !cansemacquire(addr))
        return semacquire_round(gp, s, addr);
    gp->waiting = NULL;
    releaseSudog(s);
    return OP_DONE;
}

static void readyWithTime(struct sudog *s) { goready(s->g); }

/* The waiter to wake for one unit more, off its queue; NULL: nobody waits. */
static struct sudog *semrelease_waiter(semaword *addr)
{
    struct semaRoot *root = rootFor(addr);
    a_add(addr, 1);
    if (a_load(&root->nwait) == 0)
        return NULL; /* after the add, see semacquire_round */
    work(sema_op);
    lock(&root->lock);
    if (a_load(&root->nwait) == 0) {
        unlock(&root->lock);
        return NULL;
    }
    struct sudog *s = sema_dequeue(root, addr);
    if (s != NULL)
        a_add(&root->nwait, -1);
    unlock(&root->lock);
    return s;
}

/* sema.go semrelease1. handoff: the waiter gets the count, and the rest of our slice: we go to the
 * tail of the ring. */
static enum opres semrelease1(struct g *gp, semaword *addr, bool handoff)
{
    struct sudog *s = semrelease_waiter(addr);
    if (s == NULL)
        return OP_DONE;
    bool handed = handoff && cansemacquire(addr);
    if (handed)
        s->ticket = 1;
    readyWithTime(s); /* s belongs to the waiter from here on */
    if (!handed || gp == NULL || getm()->locks != 0 || !prof->handoff_yields)
        return OP_DONE;
    return goyield(gp);
}

static void semrelease(semaword *addr) { (void)semrelease1(NULL, addr, /*handoff*/ false); }

/* ---- notifyList: waiters take tickets, a signal is for the lowest ticket not yet notified ---- */

/* Both numbers wrap around. */
static bool ticket_less(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }

static uint32_t notifyListAdd(struct notifyList *l) { return a_add(&l->wait, 1) - 1; }

static enum opres notifyListWait(struct g *gp, struct notifyList *l, uint32_t t)
{
    lock(&l->lock);
    if (ticket_less(t, a_own(&l->notify))) {
        raceacquire(l);
        unlock(&l->lock);
        return OP_DONE;
    }
    struct sudog *s = acquireSudog();
    s->g = gp;
    s->ticket = t;
    gp->waiting = s;
    if (l->tail == NULL)
        l->head = s;
    else
        l->tail->next = s;
    l->tail = s;
    push_step(gp, STEP_notifyListWait);
    return goparkunlock(gp, &l->lock, waitReasonSyncCondWait);
}

static enum opres step_notifyListWait(struct g *gp)
{
    struct sudog *s = gp->waiting;
    gp->waiting = NULL;
    releaseSudog(s);
    return OP_DONE;
}

static bool nobody_new(struct notifyList *l)
{
    uint32_t wait = a_load(&l->wait);
    return wait == a_load(&l->notify);
}

static void notifyListNotifyAll(struct notifyList *l)
{
    if (nobody_new(l))
        return;
    lock(&l->lock);
    struct sudog *s = l->head;
    l->head = l->tail = NULL;
    uint32_t wait = a_load(&l->wait);
    racereleasemerge(l);
    a_store(&l->notify, wait);
    unlock(&l->lock);
    while (s != NULL) {
        struct sudog *next = s->next;
        s->next = NULL;
        racehandoff(s->g);
        readyWithTime(s);
        s = next;
    }
}

/* Takes the waiter with ticket t off the list. It may not be there yet: then it will not sleep. */
static struct sudog *notifyList_take(struct notifyList *l, uint32_t t)
{
    struct sudog *p = NULL, *s = l->head;
    for (; s != NULL && s->ticket != t; s = s->next)
        p = s;
    if (s == NULL)
        return NULL;
    if (p != NULL)
        p->next = s->next;
    else
        l->head = s->next;
    if (s->next == NULL)
        l->tail = p;
    s->next = NULL;
    return s;
}

static void notifyListNotifyOne(struct notifyList *l)
{
    if (nobody_new(l))
        return;
    lock(&l->lock);
    uint32_t t = a_own(&l->notify);
    if (t == a_load(&l->wait)) {
        unlock(&l->lock);
        return;
    }
    racereleasemerge(l);
    a_store(&l->notify, t + 1);
    struct sudog *s = notifyList_take(l, t);
    unlock(&l->lock);
    if (s == NULL)
        return;
    racehandoff(s->g);
    readyWithTime(s);
}
