/* SPDX-License-Identifier: BSD-3-Clause */
/* The weighted semaphore of golang.org/x/sync: strictly FIFO, a large request holds up the small
 * ones behind it. */
#include "weighted.h"
#include "lock.h"
#include "objs.h"
#include "panic.h"
#include "park.h"
#include "race.h"
#include "sema.h"

static bool weighted_fits(const struct weighted *w, int64_t n) { return w->size - w->cur >= n; }

/* Go has a sync.Mutex here. */
static void weighted_lock(struct weighted *w)
{
    lock(&w->lock);
    raceacquire(w);
    racerelease(w);
}

static bool weighted_try(struct weighted *w, int64_t n)
{
    weighted_lock(w);
    bool ok = weighted_fits(w, n) && w->head == NULL;
    if (ok)
        w->cur += n;
    unlock(&w->lock);
    return ok;
}

/* Acquire with a background context. A request above the size never succeeds; it waits for its
 * context, for ever. */
static enum opres weighted_acquire(struct g *gp, struct weighted *w, int64_t n)
{
    work(sema_op);
    weighted_lock(w);
    if (weighted_fits(w, n) && w->head == NULL) {
        w->cur += n;
        unlock(&w->lock);
        return OP_DONE;
    }
    if (n > w->size) {
        unlock(&w->lock);
        return gopark(gp, NULL, NULL, waitReasonChanReceiveNilChan);
    }
    struct sudog *s = acquireSudog();
    s->g = gp;
    s->val = n;
    gp->waiting = s;
    if (w->tail == NULL)
        w->head = s;
    else
        w->tail->next = s;
    w->tail = s;
    push_step(gp, STEP_notifyListWait); /* woken: off the list, the weight is ours */
    return goparkunlock(gp, &w->lock, waitReasonSelect);
}

/* Release, notifyWaiters: from the front while the next one fits. */
static enum opres weighted_release(struct g *gp, struct weighted *w, int64_t n)
{
    weighted_lock(w);
    w->cur -= n;
    if (w->cur < 0) {
        unlock(&w->lock);
        return gopanic_text(gp, PANIC_sema_released);
    }
    struct sudog *first = NULL, **end = &first;
    while (w->head != NULL && weighted_fits(w, w->head->val)) {
        struct sudog *s = w->head;
        w->head = s->next;
        w->cur += s->val;
        s->next = NULL;
        *end = s;
        end = &s->next;
    }
    if (w->head == NULL)
        w->tail = NULL;
    unlock(&w->lock);
    for (struct sudog *next; first != NULL; first = next) {
        next = first->next;
        first->next = NULL;
        racehandoff(first->g);
        readyWithTime(first);
    }
    return OP_DONE;
}
