/* SPDX-License-Identifier: BSD-3-Clause */
/* The recording's tables and tapes.
 *
 * A tape is a list of chunks in one array: 4 bytes the next one's number, 2 bytes how many are
 * used, 2 bytes how many there are, then entries. The first chunk of a goroutine is small, for
 * there may be a million of them; the ones after it double. An entry is a byte and one or two
 * numbers of seven bits a byte; it lies in one chunk. */
#include "replay/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/tape.h"
#include "replay/trace.h"
#include "sim/base/alloc.h"

enum { UNIT = 8, HEAD = 8, CHUNK_FIRST = 32, CHUNK_MAX = 4096, ENTRY_MAX = 24 };
enum { TAPES_FIRST = 1 << 16, WALK = CHUNK_MAX, RUNQ_MEMORY = 16 << 20 };

struct chunk {
    uint32_t next;
    uint16_t used, size; /* of the bytes behind */
};
_Static_assert(sizeof(struct chunk) == HEAD, "a chunk's head is one unit");

static struct chunk *chunk_at(const struct recording *r, uint32_t i)
{
    return (struct chunk *)(void *)((uint8_t *)r->memory->tapes.at + (size_t)i * UNIT);
}

static uint8_t *bytes_of(struct chunk *c) { return (uint8_t *)c + HEAD; }

/* Numbers begin at 1: 0 is none. */
static uint32_t chunk_new(struct recording *r, size_t size)
{
    size_t at = r->nbytes != 0 ? r->nbytes : UNIT;
    if (at + size > r->memory->tapes.room) {
        spill_grow(&r->memory->tapes, at + size + TAPES_FIRST);
        rec_rest(r);
    }
    r->nbytes = at + size;
    uint32_t i = (uint32_t)(at / UNIT);
    *chunk_at(r, i) = (struct chunk){.size = (uint16_t)(size - HEAD)};
    return i;
}

static struct chunk *chunk_for(struct recording *r, struct rec_g *g, size_t entry)
{
    struct chunk *c = g->last != 0 ? chunk_at(r, g->last) : NULL;
    if (c != NULL && (size_t)(c->size - c->used) >= entry)
        return c;
    size_t size = c != NULL ? 2 * ((size_t)c->size + HEAD) : CHUNK_FIRST;
    uint32_t i = chunk_new(r, size < CHUNK_MAX ? size : CHUNK_MAX);
    if (g->last != 0)
        chunk_at(r, g->last)->next = i;
    else
        g->first = i;
    g->last = i;
    return chunk_at(r, i);
}

static bool has_b(enum rec_what what) { return what == REC_SYS || what == REC_DEED; }
static bool has_a(enum rec_what what) { return what != REC_YIELD && what != REC_END; }

void rec_put(struct recording *r, uint32_t g, enum rec_what what, uint64_t a, uint64_t b)
{
    uint8_t entry[ENTRY_MAX], *at = entry;
    *at++ = (uint8_t)what;
    if (has_a(what))
        at = tape_put_number(at, a);
    if (has_b(what))
        at = tape_put_number(at, b);
    size_t size = (size_t)(at - entry);
    struct chunk *c = chunk_for(r, &r->gs[g], size);
    memcpy(bytes_of(c) + c->used, entry, size);
    c->used = (uint16_t)(c->used + size);
}

void rec_rewind(struct rec_reader *rd, const struct recording *r, uint32_t g)
{
    *rd = (struct rec_reader){r, r->gs[g].first, 0};
}

/* Whoever goes along tapes looks at their waits, too, which lie anywhere. */
static void walked(const struct recording *r, size_t bytes)
{
    r->memory->walked += bytes;
    if (r->memory->walked < WALK)
        return;
    r->memory->walked = 0;
    rec_rest(r);
}

bool rec_next(struct rec_reader *rd, struct rec_entry *e)
{
    if (rd->chunk == 0)
        return false;
    struct chunk *c = chunk_at(rd->r, rd->chunk);
    if (rd->at == c->used) {
        rd->chunk = c->next;
        rd->at = 0;
        walked(rd->r, c->used);
        return rec_next(rd, e);
    }
    const uint8_t *from = bytes_of(c) + rd->at, *at = from;
    *e = (struct rec_entry){.what = (enum rec_what) * at++};
    if (has_a(e->what))
        e->a = tape_number(&at);
    if (has_b(e->what))
        e->b = tape_number(&at);
    rd->at += (uint32_t)(at - from);
    return true;
}

uint64_t rec_entries(const struct recording *r)
{
    uint64_t n = 0;
    for (uint32_t g = 0; g < r->ngs; g++) {
        struct rec_reader rd;
        struct rec_entry e;
        rec_rewind(&rd, r, g);
        while (rec_next(&rd, &e))
            n++;
    }
    return n;
}

size_t rec_bytes(const struct recording *r)
{
    return r->ngs * sizeof *r->gs + r->nwaits * sizeof *r->waits + r->nsites * sizeof *r->sites +
           r->nobjects * sizeof *r->objects + r->nwrites * sizeof *r->writes +
           r->narms * sizeof *r->arms + r->nitems * sizeof *r->items +
           r->ncases * sizeof *r->cases + r->nloops * sizeof *r->loops + r->nios * sizeof *r->ios +
           r->nafters * sizeof *r->afters + r->nbytes;
}

struct rec_wait *rec_add_wait(struct recording *r)
{
    size_t size = ((size_t)r->nwaits + 1) * sizeof *r->waits;
    if (size > r->memory->waits.room) {
        spill_grow(&r->memory->waits, size);
        r->waits = r->memory->waits.at;
        rec_rest(r);
    }
    return &r->waits[r->nwaits++];
}

void rec_rest(const struct recording *r)
{
    const struct rec_memory *m = r->memory;
    if ((m->waits.file == 0 && m->tapes.file == 0) || !spill_is_much())
        return;
    spill_rest(&m->waits);
    spill_rest(&m->tapes);
}

uint32_t rec_add_object(struct recording *r, uint8_t kind, int64_t param, int level,
                        const char *name)
{
    X_ROOM(r->objects, r->nobjects, r->objects_room, 64);
    r->objects[r->nobjects] = (struct rec_object){
        .kind = kind, .level = (uint8_t)level, .param = param, .name = name, .first = REC_NONE};
    return r->nobjects++;
}

const char *rec_site_text(const struct recording *r, uint32_t site)
{
    static char text[4][300];
    static int turn;
    char *to = text[turn++ % 4];
    if (site >= r->nsites || r->sites[site].func[0] == 0)
        return "";
    const struct rec_place *s = &r->sites[site].told;
    const char *slash = strrchr(s->file, '/');
    snprintf(to, sizeof text[0], "%.180s %.80s:%llu", s->func, slash != NULL ? slash + 1 : s->file,
             (unsigned long long)s->line);
    return to;
}

struct recording *recording_new(void)
{
    struct failure f = {0};
    struct recording *r = x_alloc(sizeof *r);
    r->pool = pool_new();
    r->memory = x_alloc(sizeof *r->memory);
    r->main_g = REC_NONE;
    if (arena_init(&r->arena, RUNQ_MEMORY, 0, &f) != 0)
        x_failed();
    hist_init(&r->runq_wait, &r->arena, HIST_SAMPLES_DEFAULT);
    return r;
}

struct recording *recording_load(struct failure *f, const char *path, const struct rec_opts *o)
{
    struct trace *t = trace_open(f, path, NULL);
    if (t == NULL)
        return NULL;
    struct recording *r = recording_read(f, t, o);
    trace_close(t);
    if (r == NULL && f->code == E_TRACE && strncmp(f->text, path, strlen(path)) != 0)
        fail_prefix(f, "%s", path);
    return r;
}

void recording_free(struct recording *r)
{
    if (r == NULL)
        return;
    free(r->gs);
    free(r->sites);
    free(r->objects);
    free(r->writes);
    free(r->arms);
    free(r->loops);
    free(r->afters);
    free(r->kinds);
    free(r->ios);
    free(r->items);
    free(r->cases);
    free(r->regions);
    free(r->switches.ns);
    free(r->wakes.ns);
    free(r->handoffs.ns);
    spill_free(&r->memory->waits);
    spill_free(&r->memory->tapes);
    free(r->memory);
    arena_release(&r->arena);
    pool_free(r->pool);
    free(r);
}

bool rec_has_mutex(const struct recording *r, const struct rec_object *cond)
{
    return cond->param >= 0 && cond->param < r->nobjects &&
           r->objects[cond->param].kind == OBJ_MUTEX;
}

void rec_link_writes(const struct recording *r, uint32_t *at, uint32_t *next)
{
    memset(at, 0xff, (r->ngs + 1) * sizeof *at);
    for (uint32_t i = r->nwrites; i-- > 0;) {
        next[i] = at[r->writes[i].g];
        at[r->writes[i].g] = i;
    }
}

void rec_link_reads(const struct recording *r, uint32_t *at, uint32_t *next)
{
    memset(at, 0xff, (r->ngs + 1) * sizeof *at);
    for (uint32_t i = r->nios; i-- > 0;) {
        if (r->ios[i].takes == 0 || r->ios[i].wait != REC_NONE || r->ios[i].deed == REC_NONE)
            continue;
        next[i] = at[r->ios[i].g];
        at[r->ios[i].g] = i;
    }
}

int rec_lock_change(enum rec_deed deed)
{
    switch (deed) {
    case DEED_lock:
    case DEED_trylock:
    case DEED_rlock:
    case DEED_tryrlock:
    case DEED_wlock:
    case DEED_trywlock: return 1;
    case DEED_unlock:
    case DEED_runlock:
    case DEED_wunlock: return -1;
    default: return 0;
    }
}

bool rec_is_bare(enum rec_deed deed)
{
    switch (deed) {
    case DEED_lockslow:
    case DEED_locked:
    case DEED_oncebody:
    case DEED_oncedone:
    case DEED_selsend:
    case DEED_selrecv:
    case DEED_seldefault:
    case DEED_selected:
    case DEED_condnew:
    case DEED_fdread:
    case DEED_fdgot:
    case DEED_fdwrite: return true;
    default: return false;
    }
}

uint64_t rec_format_of(const char *category)
{
    static const char name[] = "gmpsim";
    if (strncmp(category, name, sizeof name - 1) != 0)
        return 0;
    const char *number = category + sizeof name - 1;
    if (number[0] == 0)
        return 1;
    uint64_t n = number[strspn(number, "0123456789")] == 0 ? strtoull(number, NULL, 10) : 0;
    return n > 1 ? n : 0;
}
