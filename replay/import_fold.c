/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of which the rounds are not the same, for people who read the scenario.
 *
 * A loop begins each round at one place of the program. Where the rounds from there differ in
 * nothing but what is computed, in short locks and in system calls, one of several at random is as
 * good as the recorded order, as long as each comes as often at the end as at the beginning. What
 * sends, receives, starts or waits has to be the same in all of them: who counts on it must get as
 * much as before. A loop that receives from one channel until that is closed is a range, however
 * many items this goroutine got: that is how workers share them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/import_int.h"

enum {
    ROUNDS_MIN = 4,
    VARIANTS_MAX = 24,
    LOOPS_MAX = 16,
    SITES_MAX = 200,
    PHASE_MIN = 16,
    PERIOD_MAX = 8
};

/* ---- what a statement is ---- */

static bool begins(const char *text, const char *word)
{
    return strncmp(text + 2, word, strlen(word)) == 0; /* after {" */
}

static uint64_t hash_of(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text != 0 && *text != ','; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return h;
}

static bool is_cpu(const char *text) { return begins(text, "cpu\""); }

/* How a statement changes the sum of locks that are held; 0 if it is about none. */
static uint64_t change_of(const char *text)
{
    static const char *const words[] = {"lock\"", "unlock\"", "rlock\"", "runlock\""};
    for (uint64_t i = 0; i < 4; i++)
        if (begins(text, words[i])) {
            uint64_t h = hash_of(text + 2 + strlen(words[i])) * (1 + i / 2);
            return i % 2 == 0 ? h : 0 - h;
        }
    return 0;
}

/* Does nobody else count on how often it is done? */
static bool is_ones_own(const char *text)
{
    return is_cpu(text) || begins(text, "syscall\"") || begins(text, "sleep\"") ||
           change_of(text) != 0;
}

/* ---- rounds ---- */

struct rounds {
    struct imp *t;
    const struct imp_seq *s;
    uint32_t site;
    uint32_t *at, n, room; /* where rounds begin; the last one's end is not known */
    uint32_t *variant, variant_room;
    uint32_t from[VARIANTS_MAX], length[VARIANTS_MAX], times[VARIANTS_MAX], nvariants;
    /* the best so far */
    uint32_t best_site, first, end, gain;
};

static const char *text_at(const struct rounds *r, uint32_t i)
{
    return r->t->statements.text[r->s->ids[i]];
}

static void find_rounds(struct rounds *r)
{
    r->n = 0;
    for (uint32_t i = 0; i < r->s->count; i++)
        if (r->t->site_of[r->s->ids[i]] == r->site && !is_cpu(text_at(r, i))) {
            X_ROOM(r->at, r->n, r->room, 64);
            r->at[r->n++] = i;
        }
}

/* Is it what others count on, in the same order? */
static bool is_as(const struct rounds *r, uint32_t a, uint32_t b)
{
    uint32_t i = r->at[a], k = r->at[b], iend = r->at[a + 1], kend = r->at[b + 1];
    for (;; i++, k++) {
        while (i < iend && is_ones_own(text_at(r, i)))
            i++;
        while (k < kend && is_ones_own(text_at(r, k)))
            k++;
        if (i == iend || k == kend)
            return i == iend && k == kend;
        if (r->s->ids[i] != r->s->ids[k])
            return false;
    }
}

static bool gives_locks_back(const struct rounds *r, uint32_t round)
{
    uint64_t sum = 0;
    for (uint32_t i = r->at[round]; i < r->at[round + 1]; i++)
        sum += change_of(text_at(r, i));
    return sum == 0;
}

/* Its number among those seen; VARIANTS_MAX if there are too many. */
static uint32_t variant_of(struct rounds *r, uint32_t round)
{
    uint32_t from = r->at[round], length = r->at[round + 1] - from, i;
    const uint32_t *ids = r->s->ids;
    for (i = 0; i < r->nvariants; i++)
        if (r->length[i] == length &&
            memcmp(ids + r->from[i], ids + from, length * sizeof *ids) == 0)
            break;
    if (i == VARIANTS_MAX)
        return i;
    if (i == r->nvariants) {
        r->from[i] = from;
        r->length[i] = length;
        r->times[i] = 0;
        r->nvariants++;
    }
    r->times[i]++;
    return i;
}

/* From round `first` on as many as can be one loop; the first that cannot. */
static uint32_t stretch(struct rounds *r, uint32_t first, uint32_t most)
{
    uint32_t i = first;
    for (r->nvariants = 0; i + 1 < r->n && i < most; i++) {
        if (!is_as(r, first, i) || !gives_locks_back(r, i))
            break;
        X_REACH(r->variant, r->variant_room, i, i * 2 + 64);
        r->variant[i] = variant_of(r, i);
        if (r->variant[i] == VARIANTS_MAX)
            break;
    }
    return i;
}

/* The channel that a statement receives from, up to the comma behind it; NULL. */
static const char *receives_from(const char *text, const char *word)
{
    return begins(text, word) ? text + 2 + strlen(word) : NULL;
}

/* Is this loop over when the channel is closed that each of its rounds begins with? */
static bool ends_as_range(const struct rounds *r, uint32_t first, uint32_t end)
{
    const char *closed = receives_from(text_at(r, r->at[end]), "range\"");
    const char *from = receives_from(text_at(r, r->at[first]), "recv\"");
    return closed != NULL && from != NULL && strcspn(closed, ",") == strcspn(from, ",") &&
           strncmp(closed, from, strcspn(from, ",")) == 0;
}

/* Few rounds in a row, and then the same again: a loop as it is. */
static bool is_regular(const struct rounds *r, uint32_t first, uint32_t end)
{
    for (uint32_t period = 1; period <= PERIOD_MAX && first + 2 * period <= end; period++) {
        uint32_t i = first;
        while (i + period < end && r->variant[i] == r->variant[i + period])
            i++;
        if (i + period == end)
            return true;
    }
    return false;
}

static void look(struct rounds *r, uint32_t site)
{
    r->site = site;
    find_rounds(r);
    for (uint32_t first = 0, end; first + 1 < r->n; first = end > first ? end : first + 1) {
        uint32_t written = 0;
        end = stretch(r, first, UINT32_MAX);
        if (end == first)
            continue;
        uint32_t all = r->at[end] - r->at[first];
        for (uint32_t i = 0; i < r->nvariants; i++)
            written += r->length[i] + 2;
        bool range = ends_as_range(r, first, end);
        if (!range && (r->nvariants < 2 || end - first < ROUNDS_MIN || written > all / 2 ||
                       is_regular(r, first, end)))
            continue;
        uint32_t gain = range ? all + 1 : all - written;
        if (gain > r->gain) {
            r->gain = gain;
            r->best_site = site;
            r->first = first;
            r->end = end;
        }
    }
}

/* How unlikely it is that so many of each variant come among the first `n` of all by chance: chi
 * square. */
static double oddness(const struct rounds *r, const uint32_t *early, uint32_t n, uint32_t all)
{
    double sum = 0;
    for (uint32_t i = 0; i < r->nvariants; i++) {
        double want = (double)r->times[i] * n / all, off = early[i] - want;
        sum += off * off / (want * (1 - (double)n / all));
    }
    return sum;
}

/* Where a loop's rounds turn into others, as a cache's do that is empty at first: the end of the
 * first part, or of the loop. */
static uint32_t phase_end(struct rounds *r, uint32_t end)
{
    uint32_t early[VARIANTS_MAX] = {0}, n = end - r->first, best = end;
    double most = 0;
    (void)stretch(r, r->first, end);
    most = (r->nvariants + 3 * sqrt(2.0 * r->nvariants)) * 2; /* the oddest of many places */
    for (uint32_t i = 0; i + PHASE_MIN < n; i++) {
        double odd = i >= PHASE_MIN ? oddness(r, early, i, n) : 0;
        if (odd > most) {
            most = odd;
            best = r->first + i;
        }
        early[r->variant[r->first + i]]++;
    }
    return best;
}

/* ---- writing ---- */

static uint32_t same_at_front(const struct rounds *r)
{
    const uint32_t *ids = r->s->ids;
    for (uint32_t n = 0;; n++)
        for (uint32_t i = 0; i < r->nvariants; i++)
            if (n == r->length[i] || ids[r->from[i] + n] != ids[r->from[0] + n])
                return n;
}

static uint32_t same_at_back(const struct rounds *r, uint32_t front)
{
    const uint32_t *ids = r->s->ids;
    for (uint32_t n = 0;; n++)
        for (uint32_t i = 0; i < r->nvariants; i++)
            if (n + front == r->length[i] ||
                ids[r->from[i] + r->length[i] - 1 - n] != ids[r->from[0] + r->length[0] - 1 - n])
                return n;
}

static struct imp_seq slice(const struct imp_seq *s, uint32_t from, uint32_t count)
{
    return (struct imp_seq){.ids = s->ids + from, .count = count};
}

static uint32_t choice(struct rounds *r, uint32_t front, uint32_t back)
{
    struct imp_block b = {.head = "{\"random\": [", .tail = "]}"};
    char open[60];
    for (uint32_t i = 0; i < r->nvariants; i++) {
        snprintf(open, sizeof open, "{\"weight\": %u, \"do\": [", r->times[i]);
        imp_part(r->t, &b, open, slice(r->s, r->from[i] + front, r->length[i] - front - back),
                 i + 1 < r->nvariants ? "]}," : "]}");
    }
    return imp_block(r->t, &b);
}

/* The statements of a round. */
static void body(struct rounds *r, struct imp_seq *to)
{
    uint32_t front = same_at_front(r), back = r->nvariants > 1 ? same_at_back(r, front) : 0;
    for (uint32_t i = 0; i < front; i++)
        imp_add(to, r->s->ids[r->from[0] + i]);
    if (r->nvariants > 1)
        imp_add(to, choice(r, front, back));
    for (uint32_t i = back; i > 0; i--)
        imp_add(to, r->s->ids[r->from[0] + r->length[0] - i]);
}

static uint32_t loop(struct rounds *r, bool range)
{
    struct imp_seq round = {0};
    struct imp_block b = {.tail = "]}"};
    char head[IMP_LINE];
    body(r, &round);
    if (range) {
        const char *text = text_at(r, r->at[r->end]);
        snprintf(head, sizeof head, "%.*s[", (int)(strstr(text, "[]") - text), text);
    } else {
        snprintf(head, sizeof head, "{\"loop\": %u, \"do\": [", r->end - r->first);
    }
    b.head = head;
    imp_part(r->t, &b, "", slice(&round, range, round.count - range), "");
    uint32_t id = imp_block(r->t, &b);
    free(round.ids);
    return id;
}

static void replace(struct imp_seq *s, uint32_t from, uint32_t end, uint32_t id)
{
    s->ids[from] = id;
    memmove(s->ids + from + 1, s->ids + end, (s->count - end) * sizeof *s->ids);
    s->count -= end - from - 1;
}

static uint32_t sites_of(struct imp *t, const struct imp_seq *s, uint32_t *sites)
{
    struct map seen = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->count && n < SITES_MAX; i++) {
        uint32_t site = t->site_of[s->ids[i]];
        if (site != 0 && map_put(&seen, site, 0)->a++ == 1)
            sites[n++] = site;
    }
    map_release(&seen);
    return n;
}

static bool fold_one(struct imp *t, struct imp_seq *s)
{
    uint32_t sites[SITES_MAX], n = sites_of(t, s, sites);
    struct rounds r = {.t = t, .s = s};
    for (uint32_t i = 0; i < n; i++)
        look(&r, sites[i]);
    if (r.gain > 0) {
        r.site = r.best_site;
        find_rounds(&r);
        for (uint32_t end = 0; end != r.end;) {
            end = r.end;
            r.end = phase_end(&r, end);
        }
        (void)stretch(&r, r.first, r.end);
        bool range = ends_as_range(&r, r.first, r.end);
        uint32_t id = loop(&r, range), from = r.at[r.first];
        replace(s, from, r.at[r.end] + range, id);
    }
    free(r.at);
    free(r.variant);
    return r.gain > 0;
}

void imp_fold(struct imp *t, struct imp_seq *s)
{
    for (int i = 0; i < LOOPS_MAX && fold_one(t, s); i++) {}
}
