/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened in the last run, for people: one column per thread.
 *
 *      step       ns  M0                                  M1
 *         4        6  producer_put:33 store_rel tail := 1
 *         6       12                                      spinner:52 add spinning 1 -> 0
 *        11       12  ~ tail := 1 reaches memory
 */
#include <inttypes.h>
#include <string.h>

#include "sim/base/text.h"
#include "sim/explore/ex_int.h"

enum { LEFT = 20, CELL_MIN = 34, CELL_MAX = 120 };

void ex_trace(struct ex_event *events, size_t max)
{
    ex.trace = events;
    ex.trace_max = events != NULL ? max : 0;
    ex.trace_count = 0;
}

void ex_namer(bool (*fn)(const void *addr, char *buf, size_t size)) { ex.namer = fn; }

void ex_note_other_(int tid, enum ex_verb verb, const void *addr, uint64_t value)
{
    if (ex.trace_count >= ex.trace_max)
        return;
    ex.trace[ex.trace_count++] = (struct ex_event){
        .addr = addr,
        .value = value,
        .old = value,
        .step = ex_steps_(),
        .now = (int64_t)(ex_hot.now / 1000),
        .tid = (int16_t)tid,
        .verb = (uint8_t)verb,
    };
}

/* ---- words ---- */

/* A name, or the place in the world; false: not an address of the world. */
static bool address(const void *addr, char *buf, size_t size)
{
    if (ex.namer != NULL && ex.namer(addr, buf, size))
        return true;
    uint64_t off = (uintptr_t)addr - ex_hot.base;
    snprintf(buf, size, "+%" PRIx64, off);
    return off < ex_hot.size;
}

static const char *value(uint64_t v, char *buf, size_t size)
{
    if (v - ex_hot.base < ex_hot.size)
        address((const void *)(uintptr_t)v, buf, size);
    else if (v < 1000000)
        snprintf(buf, size, "%" PRIu64, v);
    else
        snprintf(buf, size, "0x%" PRIx64, v);
    return buf;
}

struct words {
    char at[64], name[64], value[64], old[64];
};

static void words_of(const struct ex_event *e, struct words *w)
{
    w->at[0] = w->name[0] = '\0';
    if (e->site != NULL)
        snprintf(w->at, sizeof(w->at), "%.40s:%u ", e->site->func, e->site->line);
    if (e->addr != NULL && !address(e->addr, w->name, sizeof(w->name)))
        snprintf(w->name, sizeof(w->name),
                 "?"); /* outside the world: an address would differ from run to run */
    value(e->value, w->value, sizeof(w->value));
    value(e->old, w->old, sizeof(w->old));
}

static void rmw_text(const struct ex_event *e, const struct words *w, char *buf, size_t size)
{
    if (e->wrote)
        snprintf(buf, size, "%s%s %s %s -> %s%s", w->at, verb_name((enum ex_verb)e->verb), w->name,
                 w->old, w->value, e->moved ? " (before a newer store)" : "");
    else
        snprintf(buf, size, "%s%s %s failed, saw %s%s", w->at, verb_name((enum ex_verb)e->verb),
                 w->name, w->old, e->stale ? " (not the newest)" : "");
}

static void other_text(const struct ex_event *e, const struct words *w, char *buf, size_t size)
{
    switch (e->verb) {
    case VERB_flush: snprintf(buf, size, "~ %s := %s reaches memory", w->name, w->value); break;
    case VERB_futexsleep:
        snprintf(buf, size, "futexsleep %s, which is %s", w->name, w->value);
        break;
    case VERB_futexwakeup: snprintf(buf, size, "futexwakeup %s", w->name); break;
    case VERB_wake: snprintf(buf, size, "wakes%s", e->value ? ", time out" : ""); break;
    case VERB_sleep: snprintf(buf, size, "usleep %s", w->value); break;
    case VERB_burst: snprintf(buf, size, "burst %s ns", w->value); break;
    case VERB_syscall: snprintf(buf, size, "syscall %s ns", w->value); break;
    case VERB_poll: snprintf(buf, size, "waits in netpoll"); break;
    case VERB_signal: snprintf(buf, size, "signals M%s", w->value); break;
    case VERB_start: snprintf(buf, size, "starts M%s", w->value); break;
    default: snprintf(buf, size, "%s", verb_name((enum ex_verb)e->verb)); break;
    }
}

static void event_text(const struct ex_event *e, char *buf, size_t size)
{
    struct words w;

    words_of(e, &w);
    switch (e->verb) {
    case VERB_load:
    case VERB_load_acq:
    case VERB_load_rlx:
        snprintf(buf, size, "%s%s %s = %s%s", w.at, verb_name((enum ex_verb)e->verb), w.name,
                 w.value, e->stale ? " (not the newest)" : "");
        break;
    case VERB_store:
    case VERB_store_rel:
    case VERB_store_rlx:
        snprintf(buf, size, "%s%s %s := %s%s", w.at, verb_name((enum ex_verb)e->verb), w.name,
                 w.value, e->moved ? " (before a newer store)" : "");
        break;
    case VERB_fence: snprintf(buf, size, "%sfence", w.at); break;
    default:
        if (e->verb < VERB_fence)
            rmw_text(e, &w, buf, size);
        else
            other_text(e, &w, buf, size);
    }
}

/* ---- rows ---- */

static bool same_event(const struct ex_event *a, const struct ex_event *b)
{
    return a->site == b->site && a->addr == b->addr && a->value == b->value && a->tid == b->tid &&
           a->verb == b->verb && a->wrote == b->wrote && a->stale == b->stale;
}

/* How many events from i on are the same: a thread that spins. */
static size_t repeats(size_t i)
{
    size_t n = 1;

    while (i + n < ex.trace_count && same_event(&ex.trace[i], &ex.trace[i + n]))
        n++;
    return n;
}

static void print_row(FILE *out, const struct ex_event *e, size_t times, int cell)
{
    char text[CELL_MAX + 200];

    event_text(e, text, sizeof(text) - 32);
    if (times > 1)
        snprintf(text + strlen(text), 32, " (%zu times)", times);
    if (cell == 0)
        fprintf(out, "%8" PRIu64 " %9" PRId64 "  M%-3d %s\n", e->step, e->now, e->tid, text);
    else
        fprintf(out, "%8" PRIu64 " %9" PRId64 "  %*s%s\n", e->step, e->now, e->tid * cell, "",
                text);
}

/* Width of a column; 0: the threads are too many for columns. */
static int cell_width(int width)
{
    int cell = ex.thread_count > 0 ? (width - LEFT) / ex.thread_count : 0;

    if (cell > CELL_MAX)
        cell = CELL_MAX;
    return cell < CELL_MIN ? 0 : cell;
}

static void print_head(FILE *out, int cell)
{
    fprintf(out, "%8s %9s  ", "step", "ns");
    for (int i = 0; i < ex.thread_count && cell > 0; i++)
        fprintf(out, "M%-*d", i + 1 < ex.thread_count ? cell - 1 : 1, i);
    fprintf(out, "\n");
}

static void print_waiting(FILE *out)
{
    for (int i = 0; i < ex.thread_count; i++) {
        const char *what = ex_waits(i);
        char name[64];
        if (what == NULL)
            continue;
        name[0] = '\0';
        if (ex.threads[i].futex != NULL)
            address(ex.threads[i].futex, name, sizeof(name));
        fprintf(out, "M%d waits: %s %s\n", i, what, name);
    }
}

void ex_trace_print(FILE *out, const struct ex_print *p)
{
    int cell = cell_width(p->width != 0 ? p->width : 120);
    size_t first = 0;

    if (p->rows_max != 0 && ex.trace_count > p->rows_max)
        first = ex.trace_count - p->rows_max;
    fprintf(out, "%s: ", world_end_name(ex.why));
    text_put(out, TEXT_LINES, ex.text); /* a panic's is the program's */
    fputc('\n', out);
    fprintf(out, "memory %s, %" PRIu64 " points, %zu answers, fingerprint %016" PRIx64 "\n",
            mm_kind_name(mm.kind), ex_steps(), ex.ch.count, ex_fingerprint());
    print_head(out, cell);
    if (first > 0)
        fprintf(out, "%8s (%zu operations before)\n", "...", first);
    for (size_t i = first, n; i < ex.trace_count; i += n) {
        n = repeats(i);
        print_row(out, &ex.trace[i], n, cell);
    }
    if (ex.trace_count == ex.trace_max)
        fprintf(out, "%8s (no room for more)\n", "...");
    print_waiting(out);
    if (p->replay != NULL)
        fprintf(out, "replay: %s\n", p->replay);
}
