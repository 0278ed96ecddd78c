/* SPDX-License-Identifier: BSD-3-Clause */
/* A step backwards is a run from the beginning up to the stop before: the run is the same. A place
 * in it is how many operations and records were heard up to there. */
#include "cli/step.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "run/ops.h"

enum { RECORDS_SHOWN = 16, NS_PS = 1000 };

enum unit { UNIT_TIME, UNIT_OP, UNIT_RECORD };

struct session {
    const struct step_args *a;
    struct run_opts o;
    enum unit unit;
    int64_t step_ns, now_ns;
    struct traced_op op; /* the last one; number 0: none yet */
    struct event_rec records[RECORDS_SHOWN];
    int nrecords;     /* since the last operation */
    uint64_t heard;   /* operations and records so far */
    uint64_t place;   /* heard when this stop was asked for */
    uint64_t stop_at; /* ... or is to be; 0: nowhere */
    bool to_record;
};

static struct run world;

/* ---- listening ---- */

static void hear(struct session *s, bool wanted)
{
    s->heard++;
    if (s->heard != s->stop_at && !wanted)
        return;
    if (!run_stopped())
        s->place = s->heard;
    run_stop_now();
}

static void hear_op(void *arg, const struct traced_op *op)
{
    struct session *s = arg;
    s->op = *op;
    s->nrecords = 0;
    hear(s, false);
}

static void hear_record(void *arg, const struct event_rec *rec)
{
    struct session *s = arg;
    if (s->nrecords < RECORDS_SHOWN)
        s->records[s->nrecords++] = *rec;
    hear(s, s->to_record);
}

/* ---- going ---- */

static void begin(struct session *s)
{
    static struct traced_to to;
    struct failure f = {0};
    to = (struct traced_to){.op = hear_op, .event = hear_record, .arg = s};
    s->o.traced = &to;
    s->op.number = s->heard = s->place = 0;
    s->nrecords = 0;
    s->now_ns = 0;
    if (!run_start(&f, &world, &s->o))
        cli_fail(&f);
}

static void again(struct session *s)
{
    run_free(&world);
    begin(s);
}

static void over(struct session *s)
{
    s->now_ns = (int64_t)(run_now_ps() / NS_PS);
    puts("the run is over");
}

static void to_time(struct session *s, int64_t ns)
{
    if (ns < s->now_ns)
        again(s);
    s->now_ns = ns;
    s->place = 0;
    if (ns > 0 && !run_to(&world, (uint64_t)ns * NS_PS))
        over(s);
}

static void to_op(struct session *s, uint64_t number)
{
    if (number <= s->op.number)
        again(s);
    if (number > s->op.number && !run_after_op(&world, number)) {
        over(s);
        return;
    }
    s->place = s->heard;
    s->now_ns = (int64_t)(s->op.time_ps / NS_PS);
}

/* False: the run is over. */
static bool to_stop(struct session *s)
{
    bool there = run_after_op(&world, UINT64_MAX);
    s->to_record = false;
    s->stop_at = 0;
    s->now_ns = (int64_t)(s->op.time_ps / NS_PS);
    return there;
}

static bool to_next_record(struct session *s)
{
    s->to_record = true;
    return to_stop(s);
}

/* To the last stop at a record before this place. */
static void to_record_before(struct session *s)
{
    uint64_t here = s->place > 0 ? s->place : s->heard, before = 0;
    again(s);
    while (to_next_record(s) && s->place < here)
        before = s->place;
    again(s);
    s->stop_at = before;
    if (before > 0)
        to_stop(s);
}

static void forward(struct session *s)
{
    switch (s->unit) {
    case UNIT_TIME: to_time(s, s->now_ns + s->step_ns); break;
    case UNIT_OP: to_op(s, s->op.number + 1); break;
    case UNIT_RECORD:
        if (!to_next_record(s))
            over(s);
        break;
    }
}

static void back(struct session *s)
{
    switch (s->unit) {
    case UNIT_TIME: to_time(s, s->now_ns > s->step_ns ? s->now_ns - s->step_ns : 0); break;
    case UNIT_OP: to_op(s, s->op.number > 0 ? s->op.number - 1 : 0); break;
    case UNIT_RECORD: to_record_before(s); break;
    }
}

/* ---- showing ---- */

static void show(const struct session *s)
{
    if (s->unit != UNIT_TIME && s->op.number > 0)
        printf("%s\n", op_text(&s->op));
    for (int i = 0; i < s->nrecords && s->unit != UNIT_TIME; i++)
        printf("%s\n", op_event_text(&s->records[i]));
    look_print_short(&s->a->what, s->now_ns);
}

static const char help[] =
    "n or nothing: a step on       b: a step back\n"
    "step TIME | op | record: what a step is: so much time, one atomic operation, one record\n"
    "at TIME: to that instant      op N: to after that operation\n"
    "g: goroutines   m: threads    t: timers    q: the end\n";

/* ---- commands ---- */

static bool show_part(const struct session *s, const char *word)
{
    if (strcmp(word, "g") == 0)
        look_print_gs(&s->a->what, s->now_ns);
    else if (strcmp(word, "m") == 0)
        look_print_ms();
    else if (strcmp(word, "t") == 0)
        look_print_timers();
    else
        return false;
    return true;
}

static bool set_step(struct session *s, const char *argument)
{
    if (strcmp(argument, "op") == 0)
        s->unit = UNIT_OP;
    else if (strcmp(argument, "record") == 0)
        s->unit = UNIT_RECORD;
    else if (parse_time(argument, &s->step_ns) && s->step_ns > 0)
        s->unit = UNIT_TIME;
    else
        return false;
    return true;
}

static bool go(struct session *s, const char *word, const char *argument)
{
    int64_t n;
    if (strcmp(word, "n") == 0)
        forward(s);
    else if (strcmp(word, "b") == 0)
        back(s);
    else if (strcmp(word, "at") == 0 && argument != NULL && parse_time(argument, &n))
        to_time(s, n);
    else if (strcmp(word, "op") == 0 && argument != NULL && parse_int(argument, &n))
        to_op(s, (uint64_t)n);
    else
        return false;
    return true;
}

/* False: the end. */
static bool command(struct session *s, char *line)
{
    const char *word = strtok(line, " \t\n"), *argument = strtok(NULL, " \t\n");
    if (word != NULL && strcmp(word, "q") == 0)
        return false;
    if (word != NULL && show_part(s, word))
        return true;
    if (word != NULL && strcmp(word, "step") == 0 && argument != NULL && set_step(s, argument))
        return true;
    if (go(s, word != NULL ? word : "n", argument))
        show(s);
    else
        fputs(help, stdout);
    return true;
}

void step_through(const struct step_args *a)
{
    struct session s = {.a = a, .o = *a->o, .step_ns = a->step_ns};
    char line[256];
    s.unit = a->step_ns > 0 ? UNIT_TIME : a->after_op > 0 ? UNIT_OP : UNIT_RECORD;
    begin(&s);
    if (a->after_op > 0)
        to_op(&s, a->after_op);
    else
        to_time(&s, a->at_ns);
    show(&s);
    do {
        if (isatty(STDIN_FILENO))
            fputs("> ", stdout);
        fflush(stdout);
    } while (fgets(line, sizeof line, stdin) != NULL && command(&s, line));
    run_free(&world);
}
