/* SPDX-License-Identifier: BSD-3-Clause */
/* A goroutine's tape as statements.
 *
 * For the explorer what decides a branch is asked again. A select has all its cases, and taking
 * another one than recorded ends the schedule; the recorded one is taken where it can be, for any
 * other says nothing. Who did not wait and succeeded (a select with a default, a TryLock) may have
 * asked often before: the statement waits, and gives up when nothing else goes on. That ends the
 * schedule, too, for the program would not stand still there. But a send that did not wait on a
 * channel without a buffer is lost when nobody receives: that is how such signals get lost. Where
 * items keep their recorded ways, no finding rests on that: who waits for one of those gives up,
 * too. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/prog.h"
#include "replay/import_int.h"
#include "replay/reason.h"

/* ---- channels ---- */

/* The channel that the deed is about: where items keep their ways, one of its own for each pair of
 * goroutines. */
static const char *channel(struct imp *t, uint32_t object, bool sends)
{
    static char name[80];
    const struct rec_item *items = t->r->items;
    uint32_t i = t->item;
    if (!t->objects[object].pinned || i == REC_NONE || items[i].object != object ||
        items[i].other == REC_NONE)
        return imp_name(t, object);
    const struct rec_item *o = &items[items[i].other];
    snprintf(name, sizeof name, "ch%u_%uto%u", object, sends ? t->g : o->g, sends ? o->g : t->g);
    imp_declare(t, "\"%s\": {\"chan\": %" PRId64 "}", name, t->r->objects[object].param);
    return name;
}

static void guarded_send(struct imp *t, uint32_t object)
{
    for (int i = 0; i < IMP_HELD && t->objects[object].guards[i] != 0; i++) {
        imp_declare(t, "\"sent_%u\": \"var\"", object);
        imp_put(t, "\"atomic_add\": \"sent_%u\"", object);
        return;
    }
}

/* A receive that found the channel closed, of one that others sent on: it is where a loop over the
 * items ends. */
static bool is_end(const struct imp *t, uint32_t object)
{
    const struct rec_object *o = &t->r->objects[object];
    return t->o->readable && o->closed && !o->timer && o->there[0] == 0 &&
           t->objects[object].sender != REC_NONE && t->item != REC_NONE &&
           t->r->items[t->item].other == REC_NONE;
}

static void operate(struct imp *t, uint32_t object, bool sends)
{
    imp_was_told(t, object);
    const char *what = sends ? "send" : "recv", *name = channel(t, object, sends);
    if (t->daemon && t->o->explore) {
        t->leaves = true;
        imp_put(t, "\"select\": [{\"%s\": \"%s\"}, " IMP_CAN_LEAVE "]", what, name);
    } else if (t->o->explore && t->objects[object].pinned) {
        t->gives_up = true;
        imp_put(t, "\"select\": [{\"%s\": \"%s\"}, " IMP_CAN_STOP "]", what, name);
    } else if (!sends && is_end(t, object)) {
        imp_put(t, "\"range\": \"%s\", \"do\": []", name);
    } else {
        imp_put(t, "\"%s\": \"%s\"", what, name);
    }
}

static void send(struct imp *t, uint32_t object)
{
    operate(t, object, true);
    if (t->o->explore && t->objects[object].guarded > 0)
        guarded_send(t, object);
}

/* A send or receive that did not wait, and succeeded. */
static void tried(struct imp *t, uint32_t object, bool sends)
{
    imp_was_told(t, object);
    const char *what = sends ? "send" : "recv", *name = channel(t, object, sends);
    t->tries++;
    if (!t->o->explore)
        operate(t, object, sends);
    else if (sends && t->r->objects[object].param == 0)
        imp_put(t, "\"select\": [{\"%s\": \"%s\"}, {\"default\": []}]", what, name);
    else {
        t->gives_up = true;
        imp_put(t, "\"select\": [{\"%s\": \"%s\"}, " IMP_CAN_STOP "]", what, name);
    }
}

static void closes(struct imp *t, uint32_t object)
{
    imp_was_told(t, object);
    if (t->o->explore && t->objects[object].guarded > 0) {
        t->guards++;
        imp_declare(t, "\"sent_%u\": \"var\"", object);
        imp_put(t, "\"load\": \"sent_%u\", \"into\": \"n\", \"atomic\": true", object);
        imp_put(t, "\"if\": \"n < %u\", \"then\": [" IMP_CUT "]", t->objects[object].guarded);
    }
    imp_put(t, "\"close\": \"%s\"", imp_name(t, object));
}

/* ---- select ---- */

static void add_case(struct imp *t, uint32_t object, bool sends)
{
    if (t->ncases < IMP_CASES)
        t->cases[t->ncases] = (struct imp_case){object, sends};
    t->ncases++;
}

/* The cases that were not taken: whoever takes one does what nobody has recorded. */
static void other_cases(struct imp *t, int64_t chosen, char *text, size_t size)
{
    text[0] = 0;
    for (int i = 0; i < t->ncases && i < IMP_CASES; i++) {
        const struct imp_case *c = &t->cases[i];
        size_t used = strlen(text);
        if (i != chosen && c->object != REC_NONE && !t->objects[c->object].pinned)
            snprintf(text + used, size - used, ", {\"%s\": \"%s\", \"do\": [%s]}",
                     c->sends ? "send" : "recv", imp_name(t, c->object),
                     t->o->readable ? "{\"return\": null}" : IMP_CUT);
    }
}

/* Could it have taken an item that another schedule gives to somebody else? */
static bool may_meet_others(const struct imp *t)
{
    for (int i = 0; i < t->ncases && i < IMP_CASES; i++)
        if (t->cases[i].object != REC_NONE && t->objects[t->cases[i].object].pinned)
            return true;
    return false;
}

/* It comes to the select late, when the case that it took is there, whatever else is: a schedule
 * like others, and what follows is known. Where everybody stands it takes what there is. */
static void select_ends(struct imp *t, int64_t chosen)
{
    char others[IMP_LINE - 1000], name[100];
    if (chosen < 0 || chosen >= t->ncases || chosen >= IMP_CASES)
        return;
    const struct imp_case *c = &t->cases[chosen];
    if (c->object == REC_NONE)
        return;
    t->selects++;
    if (!t->o->explore) {
        operate(t, c->object, c->sends);
        return;
    }
    if (t->has_default) {
        tried(t, c->object, c->sends);
        return;
    }
    for (int i = 0; i < t->ncases && i < IMP_CASES; i++)
        imp_was_told(t, t->cases[i].object);
    const char *what = c->sends ? "send" : "recv";
    snprintf(name, sizeof name, "%s", channel(t, c->object, c->sends));
    other_cases(t, chosen, others, sizeof others);
    if (t->daemon) {
        t->leaves = true;
        size_t used = strlen(others);
        snprintf(others + used, sizeof others - used, ", " IMP_CAN_LEAVE);
    }
    t->gives_up = true;
    if (may_meet_others(t))
        imp_put(t, "\"select\": [{\"%s\": \"%s\"}, " IMP_CAN_STOP "]", what, name);
    else
        imp_put(t,
                "\"select\": [{\"%s\": \"%s\"}, {\"recv\": \"giveup\", \"do\": [{\"select\": "
                "[{\"%s\": \"%s\"}%s]}]}]",
                what, name, what, name, others);
    if (c->sends && t->objects[c->object].guarded > 0)
        guarded_send(t, c->object);
}

/* The last select of a goroutine that something was done for and that did not run again before the
 * recording ended: who did it counts on it, and what comes after is not known. */
static void select_never_ends(struct imp *t)
{
    char cases[IMP_LINE - 1000];
    if (t->ncases == 0 || t->has_default)
        return;
    other_cases(t, -1, cases, sizeof cases);
    if (cases[0] != 0)
        imp_put(t, "\"select\": [%s]", cases + 2);
}

/* ---- locks and the like ---- */

static void on(struct imp *t, const char *word, uint32_t object)
{
    imp_put(t, "\"%s\": \"%s\"", word, imp_name(t, object));
}

static void try_lock(struct imp *t, const char *trying, const char *word, uint32_t object)
{
    t->tries++;
    if (!t->o->explore) {
        on(t, word, object);
        return;
    }
    imp_put(t, "\"%s\": \"%s\", \"into\": \"got\"", trying, imp_name(t, object));
    imp_put(t, "\"if\": \"!got\", \"then\": [" IMP_CUT "]");
}

static void wg_add(struct imp *t, uint32_t object, int64_t n)
{
    if (n == -1)
        imp_put(t, "\"done\": \"%s\"", imp_name(t, object));
    else
        imp_put(t, "\"add\": \"%s\", \"n\": %" PRId64, imp_name(t, object), n);
}

/* The wait follows on the tape; if signals cannot be lost, it is for the recorded one. */
static void cond_wait(struct imp *t, uint32_t cond)
{
    if (!rec_has_mutex(t->r, &t->r->objects[cond]))
        return;
    if (t->objects[cond].real_cond) {
        on(t, "wait", cond);
        return;
    }
    t->relock = (uint32_t)t->r->objects[cond].param;
    on(t, "unlock", t->relock);
}

/* The signal came before it slept: no wait follows, after which it takes the lock again. */
static void cond_is_over(struct imp *t)
{
    if (t->relock != REC_NONE)
        on(t, "lock", t->relock);
    t->relock = REC_NONE;
}

static void signals(struct imp *t, const char *word, uint32_t cond)
{
    if (rec_has_mutex(t->r, &t->r->objects[cond]) && t->objects[cond].real_cond)
        on(t, word, cond);
}

/* ---- Onces ---- */

static void once_call(struct imp *t, uint32_t object)
{
    t->objects[object].called = true;
    imp_put(t, "\"once\": \"%s\", \"do\": \"f_once%u\"", imp_name(t, object), object);
}

static void once_begins(struct imp *t, uint32_t object)
{
    if (t->nback == (int)(sizeof t->back / sizeof *t->back))
        return;
    once_call(t, object);
    t->back[t->nback++] = t->to;
    t->to = &t->once[object];
}

static void once_ends(struct imp *t)
{
    if (t->nback > 0)
        t->to = t->back[--t->nback];
}

/* ---- time ---- */

/* Who searches schedules may keep a receiver away for as long as he likes, and a ticker that drops
 * what nobody takes would have no ticks left for it. There a tick waits: the next one of Go's,
 * which may come at any time. */
static const char *ticks_drop(struct imp *t)
{
    t->leaves |= t->o->explore;
    return t->o->explore ? IMP_CAN_LEAVE : "{\"default\": []}";
}

/* Timers of one place of a goroutine come one after the other: they share a name. */
static void own_timer(struct imp *t, uint32_t object, enum rec_deed deed, uint64_t ns)
{
    uint32_t *alias = &t->objects[object].alias;
    if (deed == DEED_timer || deed == DEED_ticker) {
        struct map_slot *s = map_put(&t->timer_sites, t->site, t->g);
        s->a = s->a != 0 ? s->a : object + 1;
        *alias = (uint32_t)s->a - 1;
    }
    ns = ns > 0 ? ns : 1;
    switch (deed) {
    case DEED_timer:
        imp_put(t, "\"timer\": \"t%u\", \"after\": \"%" PRIu64 "ns\"", *alias, ns);
        break;
    case DEED_ticker:
        imp_put(t, "\"ticker\": \"t%u\", \"every\": \"%" PRIu64 "ns\"", *alias, ns);
        break;
    case DEED_treset:
        imp_put(t, "\"reset\": \"t%u\", \"after\": \"%" PRIu64 "ns\"", *alias, ns);
        break;
    default: imp_put(t, "\"stop\": \"t%u\"", *alias); break;
    }
}

static void ticker(struct imp *t, uint32_t object, uint64_t ns)
{
    imp_put(t,
            "\"go\": [{\"loop\": %u, \"do\": [{\"sleep\": \"%" PRIu64 "ns\"}, {\"select\": "
            "[{\"send\": \"%s\"}, %s]}]}], \"group\": \"ticker\"",
            t->objects[object].received + 2, ns > 0 ? ns : 1, imp_name(t, object), ticks_drop(t));
}

static void timer(struct imp *t, uint32_t object, uint64_t ns)
{
    imp_put(t,
            "\"go\": [{\"sleep\": \"%" PRIu64 "ns\"}, {\"select\": [{\"send\": \"%s\"}, "
            "{\"default\": []}]}], \"group\": \"timer\"",
            ns > 0 ? ns : 1, imp_name(t, object));
}

static void timer_deed(struct imp *t, uint32_t object, enum rec_deed deed, uint64_t ns)
{
    if (object != REC_NONE && imp_own_timer(t, object))
        own_timer(t, object, deed, ns);
    else if (deed == DEED_ticker)
        ticker(t, object, ns);
    else if (deed != DEED_tstop)
        timer(t, object, ns);
}

static void after_func(struct imp *t, const struct rec_after *a)
{
    if (a->child != REC_NONE && imp_plays(t, a->child))
        imp_put(t, "\"after_func\": \"%s\", \"after\": \"%" PRId64 "ns\"", imp_func(t, a->child),
                a->ns > 0 ? a->ns : 1);
}

/* ---- connections and pipes ---- */

static void reads(struct imp *t, uint32_t object, uint32_t writes)
{
    const char *name = imp_name(t, object);
    if (writes > 1)
        imp_put(t, "\"loop\": %u, \"do\": [{\"recv\": \"%s\"}]", writes, name);
    else
        imp_put(t, "\"recv\": \"%s\"", name);
}

/* A read that did not have to wait, and may have to: for what was written before it. */
static void will_read(struct imp *t)
{
    uint32_t i = t->read_at[t->g];
    if (i == REC_NONE || t->r->ios[i].deed + 1 != t->deed)
        return;
    t->read_at[t->g] = t->read_next[i];
    if (t->r->objects[t->r->ios[i].object].tokens)
        return;
    t->io = t->r->ios[i].object + 1;
    t->takes = t->r->ios[i].takes;
}

static void will_write(struct imp *t, uint32_t object, uint64_t bytes)
{
    const struct rec_object *o = object != REC_NONE ? &t->r->objects[object] : NULL;
    if (o == NULL || o->tokens || o->param == 0 || bytes == 0)
        return;
    t->io = object + 1;
    t->takes = 0;
}

/* Its deed has no stack. The system call has. */
static void io(struct imp *t, uint32_t site)
{
    uint32_t object = t->io - 1, before = t->site;
    if (t->io == 0)
        return;
    t->io = 0;
    t->site = site;
    if (t->takes > 0)
        reads(t, object, t->takes);
    else
        imp_put(t, "\"send\": \"%s\"", imp_name(t, object));
    t->site = before;
}

/* ---- deeds: a lone switch ---- */

/* Belongs to the deed before. */
static bool is_part(enum rec_deed deed)
{
    return deed == DEED_lockslow || deed == DEED_locked || deed == DEED_selsend ||
           deed == DEED_selrecv || deed == DEED_seldefault || deed == DEED_selected;
}

/* What the overlay of gmpsim record does itself, and what the program does when it exits. */
static bool is_recorders(const struct imp *t)
{
    static const char *const funcs[] = {"internal/runtime/exithook.", "runtime/trace.",
                                        "runtime.runExitHooks", NULL};
    if (t->site == REC_NONE)
        return false;
    const struct rec_site *s = &t->r->sites[t->site];
    for (int i = 0; funcs[i] != NULL; i++)
        if (strncmp(s->func, funcs[i], strlen(funcs[i])) == 0)
            return true;
    return strstr(s->file, "gmpsim_record.go") != NULL;
}

/* Deeds that are a statement of one word on their object. */
static const char *const words[DEED_COUNT] = {
    [DEED_lock] = "lock",       [DEED_unlock] = "unlock", [DEED_rlock] = "rlock",
    [DEED_runlock] = "runlock", [DEED_wlock] = "lock",    [DEED_wunlock] = "unlock",
    [DEED_wgwait] = "wait",
};

/* What others who come after it may learn from. */
static bool gives_back(enum rec_deed deed)
{
    return deed == DEED_unlock || deed == DEED_runlock || deed == DEED_wunlock ||
           deed == DEED_wgadd || deed == DEED_send || deed == DEED_trysend || deed == DEED_close ||
           deed == DEED_selected || deed == DEED_condwait || deed == DEED_oncedone;
}

static void add_deed(struct imp *t, uint64_t a, uint64_t b)
{
    enum rec_deed deed = (enum rec_deed)(a & 0xff);
    uint64_t n = a >> 8;
    uint32_t o = b != 0 ? (uint32_t)(b - 1) : REC_NONE;
    imp_item(t);
    if (is_recorders(t))
        return;
    imp_gates(t);
    cond_is_over(t);
    if (!is_part(deed))
        t->last = t->to->count;
    if (gives_back(deed))
        imp_tells(t);
    if (words[deed] != NULL)
        on(t, words[deed], o);
    switch (deed) {
    case DEED_trylock: try_lock(t, "trylock", "lock", o); break;
    case DEED_tryrlock: try_lock(t, "tryrlock", "rlock", o); break;
    case DEED_trywlock: try_lock(t, "trylock", "lock", o); break;
    case DEED_wgadd: wg_add(t, o, rec_signed(n)); break;
    case DEED_send:
        if (o != REC_NONE)
            send(t, o);
        break;
    case DEED_recv:
        if (o != REC_NONE)
            operate(t, o, false);
        break;
    case DEED_trysend: tried(t, o, true); break;
    case DEED_tryrecv: tried(t, o, false); break;
    case DEED_makechan: imp_is_made(t, o); break;
    case DEED_close: closes(t, o); break;
    case DEED_select:
        t->ncases = 0;
        t->has_default = false;
        break;
    case DEED_selsend: add_case(t, o, true); break;
    case DEED_selrecv: add_case(t, o, false); break;
    case DEED_seldefault: t->has_default = true; break;
    case DEED_selected:
        select_ends(t, rec_signed(n));
        t->ncases = 0;
        break;
    case DEED_condwait: cond_wait(t, o); break;
    case DEED_signal: signals(t, "signal", o); break;
    case DEED_broadcast: signals(t, "broadcast", o); break;
    case DEED_sleep: imp_put(t, "\"sleep\": \"%" PRIu64 "ns\"", n > 0 ? n : 1); break;
    case DEED_timer:
    case DEED_ticker:
    case DEED_treset:
    case DEED_tstop: timer_deed(t, o, deed, n); break;
    case DEED_afterfunc: after_func(t, &t->r->afters[b]); break;
    case DEED_once:
        if (t->r->objects[o].first != REC_NONE && t->r->objects[o].first != t->g)
            once_call(t, o);
        break;
    case DEED_oncebody: once_begins(t, o); break;
    case DEED_oncedone: once_ends(t); break;
    case DEED_fdread: will_read(t); break;
    case DEED_fdwrite: will_write(t, o, n); break;
    default: break;
    }
}

/* ---- waits without a deed ---- */

static bool is_ordered(const struct imp *t, const struct rec_wait *w)
{
    return w->how == HOW_TOKEN && w->waker != REC_NONE && imp_plays(t, w->waker) &&
           imp_plays(t, w->g) && w->woken != INT64_MAX;
}

static bool is_left_out(const struct imp *t, const struct rec_wait *w)
{
    return w->level == 3 || (w->cond && t->objects[w->object].real_cond);
}

/* Of a wait that nothing but its recorded wake is known of, a search may not conclude that it lasts
 * for ever: what ends it may come in another order. Where all others stand, it ends. The wait of a
 * Cond is known: for who signals. */
static void token(struct imp *t, uint32_t number)
{
    imp_declare(t, "\"wake%u\": {\"chan\": 1}", number);
    t->tokens++;
    if (t->o->explore && !t->r->waits[number].cond) {
        t->gives_up = true;
        imp_put(t, "\"select\": [{\"recv\": \"wake%u\"}, {\"recv\": \"giveup\"}]", number);
    } else {
        imp_put(t, "\"recv\": \"wake%u\"", number);
    }
}

static void waits(struct imp *t, uint32_t number)
{
    const struct rec_wait *w = &t->r->waits[number];
    if (is_left_out(t, w))
        return;
    t->site = w->site;
    if (is_ordered(t, w)) {
        token(t, number);
    } else if (w->how == HOW_NET && !t->r->objects[w->object].tokens) {
        reads(t, w->object, w->takes > 0 ? w->takes : 1);
    } else if (w->how == HOW_TIMER && w->sleep_ns > 0) {
        imp_put(t, "\"sleep\": \"%" PRId64 "ns\"", w->sleep_ns);
    } else {
        t->outside++;
    }
    if (w->cond && t->relock != REC_NONE)
        on(t, "lock", t->relock);
    t->relock = REC_NONE;
}

static void wakes(struct imp *t, uint32_t number)
{
    const struct rec_wait *w = &t->r->waits[number];
    if (is_left_out(t, w) || !is_ordered(t, w))
        return;
    imp_declare(t, "\"wake%u\": {\"chan\": 1}", number);
    imp_put(t, "\"send\": \"wake%u\"", number);
}

static void syscall(struct imp *t, uint64_t ns, uint32_t site)
{
    if (!t->o->explore)
        imp_put(t, "\"syscall\": \"%" PRIu64 "ns\"", ns > 0 ? ns : 1);
    if (t->r->sites[site].leaf != LEAF_WRITE || t->write_at[t->g] == REC_NONE)
        return;
    const struct rec_write *w = &t->r->writes[t->write_at[t->g]];
    t->write_at[t->g] = t->write_next[t->write_at[t->g]];
    if (w->object != REC_NONE)
        imp_put(t, "\"send\": \"%s\"", imp_name(t, w->object));
}

/* ---- a tape ---- */

/* The goroutine's wait was not over when the recording ended: what it was about to do is not known
 * to be done. What main would have done then nobody knows. */
static void never_over(struct imp *t, const struct rec_wait *w)
{
    bool is_last = w->level == 3 || w->cond;
    t->ncases = 0;
    if (is_last && t->last < t->to->count)
        t->to->count = t->last;
    if (t->g == t->root)
        imp_put(t, "\"exit\": 0");
}

static bool entry(struct imp *t, const struct rec_entry *e)
{
    if (e->what != REC_CPU && e->what != REC_SITE)
        io(t, e->what == REC_SYS ? (uint32_t)e->b : REC_NONE);
    switch (e->what) {
    case REC_CPU: t->cpu += (int64_t)e->a; return true;
    case REC_WAIT:
        if (t->r->waits[e->a].woken == INT64_MAX) {
            never_over(t, &t->r->waits[e->a]);
            return false;
        }
        waits(t, (uint32_t)e->a);
        return true;
    case REC_POST: wakes(t, (uint32_t)e->a); return true;
    case REC_GO:
        if (imp_plays(t, (uint32_t)e->a))
            imp_put(t, "\"go\": \"%s\"", imp_func(t, (uint32_t)e->a));
        return true;
    case REC_SYS: syscall(t, e->a, (uint32_t)e->b); return true;
    case REC_SITE: t->site = (uint32_t)e->a; return true;
    case REC_DEED: add_deed(t, e->a, e->b); return true;
    case REC_YIELD:
    case REC_BEGIN:
    case REC_FINISH:
    case REC_ALLOC:
    case REC_END:
    case REC_WHATS: break;
    }
    return true;
}

void imp_goroutine(struct imp *t, uint32_t g)
{
    struct rec_reader rd;
    struct rec_entry e;
    uint32_t w = t->r->gs[g].last_wait;
    t->g = g;
    t->site = REC_NONE;
    t->deed = t->last = 0;
    t->relock = REC_NONE;
    t->ncases = t->nback = t->nuntold = 0;
    t->io = 0;
    t->cpu = 0;
    t->to = &t->of[g];
    t->to->count = 0;
    t->daemon = g != t->root && t->r->gs[g].ended == INT64_MAX && w != REC_NONE &&
                t->r->waits[w].woken == INT64_MAX;
    t->daemons += t->daemon && !t->measures;
    for (rec_rewind(&rd, t->r, g); rec_next(&rd, &e);)
        if (!entry(t, &e))
            break;
    select_never_ends(t);
}

/* What there was when the recording began. */
void imp_there(struct imp *t)
{
    t->to = &t->opening;
    t->site = t->item = REC_NONE;
    t->daemon = false;
    for (uint32_t i = 0; i < t->r->nobjects; i++) {
        const struct rec_object *o = &t->r->objects[i];
        int32_t n = o->there[0];
        if (o->level != 3 || !t->objects[i].used)
            continue;
        if (o->kind == OBJ_WAITGROUP && n > 0)
            wg_add(t, i, n);
        if ((o->kind == OBJ_MUTEX || o->kind == OBJ_RWMUTEX) && n > 0)
            on(t, "lock", i);
        for (int32_t k = 0; o->kind == OBJ_RWMUTEX && n <= 0 && k < o->there[1]; k++)
            on(t, "rlock", i);
        for (int32_t k = 0; o->kind == OBJ_CHAN && k < n && n <= o->param; k++)
            imp_put(t, "\"send\": \"%s\"", imp_name(t, i));
        if (o->kind == OBJ_CHAN && n > o->param && !o->closed && !o->timer)
            imp_put(t, "\"close\": \"%s\"", imp_name(t, i));
    }
}
