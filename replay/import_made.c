/* SPDX-License-Identifier: BSD-3-Clause */
/* Whoever uses a channel has been told of it. A goroutine that was started by who made it, after
 * that, knows it from the beginning, and so do those that it starts. Any other was told by a value,
 * of a list under a lock say, and not before the maker gave something back after making it. In a
 * schedule in which it comes earlier than that the program would not have used this channel: when
 * everybody stands there, nobody knows whether they would. A channel that package context makes is
 * made by whoever asks for it first, and known to all.
 *
 * Such schedules say nothing, and where there are many channels nearly all are of that kind. So
 * what told the goroutine keeps its place: before it first uses the channel it took something (a
 * lock, an item) that the maker had given back after making it, and it takes that after the maker
 * gave it back in every schedule. */
#include <string.h>

#include "replay/import_int.h"

void imp_made(struct imp *t, uint32_t object, uint32_t site)
{
    const char *func = site != REC_NONE ? t->r->sites[site].func : "";
    if (strncmp(func, "context.", 8) == 0)
        return;
    t->objects[object].made_by = t->g;
    t->objects[object].made_deed = t->deed;
}

/* Was the goroutine, or who started it and so on, started after the channel was made there? */
static bool knows(const struct imp *t, uint32_t g, uint32_t object)
{
    const struct imp_object *o = &t->objects[object];
    for (uint32_t steps = 0; g != o->made_by; g = t->r->gs[g].creator, steps++) {
        uint32_t parent = t->r->gs[g].creator;
        if (parent == REC_NONE || steps > t->r->ngs)
            return false;
        if (parent == o->made_by)
            return t->started[g] >= o->made_deed;
    }
    return true;
}

void imp_uses(struct imp *t, uint32_t object)
{
    struct imp_object *o = &t->objects[object];
    o->told |= o->made_by != REC_NONE && !knows(t, t->g, object);
}

/* ---- what told whom ---- */

void imp_gives(struct imp *t, uint32_t object, int64_t time)
{
    if (t->o->readable)
        return;
    X_ROOM(t->given, t->ngiven, t->given_room, 64);
    t->given[t->ngiven++] = (struct imp_at){t->g, t->deed, object, time};
}

/* The first time that `g` gave `object` back after that deed; NULL: never. Given is in the order of
 * goroutines and deeds. */
static const struct imp_at *gave_back(const struct imp *t, uint32_t g, uint32_t after,
                                      uint32_t object)
{
    uint32_t low = 0, high = t->ngiven;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct imp_at *x = &t->given[mid];
        if (x->g < g || (x->g == g && x->deed <= after))
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < t->ngiven && t->given[low].g == g; low++)
        if (t->given[low].object == object)
            return &t->given[low];
    return NULL;
}

static void at_deed(struct imp *t, uint32_t g, uint32_t deed, uint32_t gate, bool opens)
{
    struct map_slot *s = map_put(&t->gates_at, g, deed);
    X_ROOM(t->gates, t->ngates, t->gates_room, 16);
    t->gates[t->ngates++] = (struct imp_gate){gate, s->a, opens};
    s->a = t->ngates;
}

void imp_learns(struct imp *t, uint32_t object, uint32_t through, uint32_t deed, int64_t time)
{
    const struct imp_object *o = &t->objects[object];
    if (t->o->readable || !o->told || knows(t, t->g, object) ||
        map_put(&t->learned, object, t->g)->a++ > 0 || through == REC_NONE)
        return;
    const struct imp_at *gift = gave_back(t, o->made_by, o->made_deed, through);
    if (gift == NULL || gift->time > time)
        return;
    struct map_slot *gate = map_put(&t->gate_of, object, through);
    if (gate->a == 0) {
        gate->a = ++t->told_ways;
        at_deed(t, o->made_by, gift->deed, gate->a, true);
    }
    at_deed(t, t->g, deed, gate->a, false);
}

void imp_gates(struct imp *t)
{
    const struct map_slot *s = map_find(&t->gates_at, t->g, t->deed);
    for (uint32_t i = s != NULL ? s->a : 0; i != 0; i = t->gates[i - 1].next) {
        const struct imp_gate *x = &t->gates[i - 1];
        imp_declare(t, "\"way%u\": \"chan\"", x->gate);
        if (x->opens) {
            imp_put(t, "\"close\": \"way%u\"", x->gate);
            continue;
        }
        t->gives_up |= t->o->explore;
        imp_put(t,
                t->o->explore ? "\"select\": [{\"recv\": \"way%u\"}, " IMP_CAN_STOP "]"
                              : "\"recv\": \"way%u\"",
                x->gate);
    }
}

/* ---- too early ---- */

void imp_is_made(struct imp *t, uint32_t object)
{
    if (t->o->explore && t->objects[object].told && t->nuntold < IMP_HELD)
        t->untold[t->nuntold++] = object;
}

void imp_tells(struct imp *t)
{
    for (int i = 0; i < t->nuntold; i++) {
        imp_declare(t, "\"told_%u\": \"var\"", t->untold[i]);
        imp_put(t, "\"atomic_add\": \"told_%u\"", t->untold[i]);
    }
    t->nuntold = 0;
}

void imp_was_told(struct imp *t, uint32_t object)
{
    if (!t->o->explore || object == REC_NONE || !t->objects[object].told ||
        knows(t, t->g, object) || map_put(&t->asked_told, object, t->g)->a++ > 0)
        return;
    t->early = t->gives_up = true;
    imp_declare(t, "\"told_%u\": \"var\"", object);
    imp_put(t, "\"load\": \"told_%u\", \"into\": \"told\", \"atomic\": true", object);
    imp_put(t, "\"if\": \"!told\", \"then\": [{\"atomic_add\": \"early\"}]");
}

/* Ten hours are over when everybody stands. If a channel was used early nobody knows what comes
 * next. Who waits for such a channel is not stuck for ever meanwhile: somebody holds it. */
void imp_giver(struct imp *t)
{
    imp_declare(t, "\"giveup\": \"chan\"");
    if (!t->early) {
        imp_put(t, "\"go\": [{\"sleep\": \"10h\"}, {\"close\": \"giveup\"}], \"group\": \"end\"");
        return;
    }
    imp_declare(t, "\"early\": \"var\"");
    imp_put(t, "\"go\": \"giver\", \"group\": \"end\"");
    t->to = &t->giver;
    imp_put(t, "\"sleep\": \"10h\"");
    imp_put(t, "\"load\": \"early\", \"into\": \"uses\", \"atomic\": true");
    imp_put(t, "\"if\": \"uses\", \"then\": [" IMP_CUT "]");
    imp_put(t, "\"close\": \"giveup\"");
    for (uint32_t i = 0; i < t->r->nobjects; i++)
        if (t->objects[i].told)
            imp_put(t, "\"if\": \"uses\", \"then\": [{\"send\": \"%s\"}, {\"recv\": \"%s\"}]",
                    imp_name(t, i), imp_name(t, i));
    t->to = &t->opening;
}
