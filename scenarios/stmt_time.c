/* SPDX-License-Identifier: BSD-3-Clause */
/* Statements about timers, contexts and descriptors. */
#include "scenarios/gengo_int.h"

/* ---- timers and contexts ---- */

/* time.AfterFunc */
static void emit_after_func(struct cc *c, const struct stmt *s)
{
    const struct callee *f = s->part[0].callee;
    uint8_t t = emit_into(c, s, "timer", KIND(OBJ_TIMER));
    struct drawn d = emit_drawn(c, part_of(s, "after"));
    uint8_t first = emit_callee(c, f);
    struct func *to = &c->b.funcs[f->func];
    to->group = (uint32_t)build_group(&c->b, to->name) + 1;
    if (to->nparams == 0)
        first = NOREG;
    build_op(&c->b, OP_TIMER, t, d.b, first, f->func, d.imm);
}

static void go_after_func(struct gen *g, const struct stmt *s)
{
    const struct callee *f = s->part[0].callee;
    const struct part *timer = part_of(s, "timer");
    unsigned n = ++g->temps;
    gen_line(g, "d%u_ := int64(%s)", n, gen_show(g, gen_amount(g, part_of(s, "after")->amount), 1));
    gen_later_line(g, gen_text(g, "t%u_ := simNewTimer(d%u_, ", n, n), f);
    if (timer != NULL)
        gen_assign(g, timer->name, gen_leaf(g, gen_text(g, "t%u_", n)));
    else
        gen_line(g, "_ = t%u_", n);
}

static void emit_context(struct cc *c, const struct stmt *s)
{
    const struct part *parent = part_of(s, "parent"), *timeout = part_of(s, "timeout");
    uint8_t ctx = emit_into(c, s, "context", KIND(OBJ_CONTEXT)), p = NOREG;
    if (parent != NULL) {
        p = emit_value(c, parent->x);
        kind_want(&c->b, parent->at, p, KIND(OBJ_CONTEXT));
    }
    if (timeout == NULL) {
        build_op(&c->b, OP_CTXNEW, ctx, p, 0, 0, 0);
        return;
    }
    struct drawn d = emit_drawn(c, timeout);
    build_op(&c->b, OP_CTXTMO, ctx, p, d.b, 0, d.imm);
}

static void go_context(struct gen *g, const struct stmt *s)
{
    const struct part *parent = part_of(s, "parent"), *timeout = part_of(s, "timeout");
    struct node *p = parent != NULL ? gen_value(g, parent->x) : gen_leaf(g, "0"),
                *t = timeout != NULL ? gen_amount(g, timeout->amount) : gen_leaf(g, "-1");
    gen_assign(g, s->part[0].name, gen_call(g, "simNewContext", p, t, NULL));
}

static const struct statement timers_statements[] = {
    {.field = {NEW_NAME("timer", SLOT_A, KIND(OBJ_TIMER)), DRAWN("after")},
     .what = "time.NewTimer.",
     .example = "{\"timer\": \"t\", \"after\": \"1ms\"}, {\"recv\": \"t.C\"}",
     .op = OP_TIMER,
     .go = "simNewTimer({after:2}, nil)"},
    {.field = {DRAWN("after"), NAME("into", SLOT_A, KIND_RECV)},
     .what = "time.After: the name gets a channel that gets one value after the duration.",
     .example = "{\"after\": \"5ms\", \"into\": \"timeout\"}, {\"recv\": \"timeout\"}",
     .op = OP_AFTER,
     .go = "simAfter({after})"},
    {.field = {CALLEE("after_func"), DRAWN("after"), ARGS, OPTIONAL("arg", F_OF_CALLEE),
               NAME("timer", SLOT_A, KIND(OBJ_TIMER))},
     .what = "time.AfterFunc: starts the function after the duration. `timer` names it for `stop`; "
             "`args` are its arguments, `arg` the only one. A body in place is possible as well.",
     .example = "{\"after_func\": \"fire\", \"after\": \"1ms\", \"arg\": 7, \"timer\": \"t\"}",
     .op = OP_TIMER,
     .emit = emit_after_func,
     .gen = go_after_func},
    {.field = {NEW_NAME("ticker", SLOT_A, KIND(OBJ_TIMER)), DRAWN("every")},
     .what = "time.NewTicker.",
     .example = "{\"ticker\": \"tick\", \"every\": \"10ms\"}, {\"recv\": \"tick.C\"}",
     .op = OP_TICKER,
     .go = "simNewTicker({every})"},
    {.field = {OBJECT("stop", KIND(OBJ_TIMER)), NAME("into", SLOT_A, KIND_NUMBER)},
     .what = "Timer.Stop or Ticker.Stop; into gets whether it was in time.",
     .example = "{\"stop\": \"t\", \"into\": \"in_time\"}",
     .op = OP_TSTOP,
     .go = "simStop({=stop:2})"},
    {.field = {OBJECT("reset", KIND(OBJ_TIMER)), DRAWN("after"), NAME("into", SLOT_A, KIND_NUMBER)},
     .what = "Timer.Reset or Ticker.Reset.",
     .example = "{\"reset\": \"t\", \"after\": \"1ms\", \"into\": \"was_active\"}",
     .op = OP_TRESET,
     .go = "simReset({=reset:2}, {after:2})"},
    {.field = {NEW_NAME("context", SLOT_NONE, 0), OPTIONAL("parent", F_VALUE),
               OPTIONAL("timeout", F_DRAWN)},
     .what =
         "context.WithCancel, or WithTimeout. Without `timeout`: WithCancel; without `parent`: of "
         "the background.",
     .example = "{\"context\": \"query\", \"parent\": \"request\", \"timeout\": \"10ms\"}",
     .emit = emit_context,
     .gen = go_context},
    {.field = {OBJECT("cancel", KIND(OBJ_CONTEXT))},
     .what = "Calls a context's cancel function.",
     .example = "{\"cancel\": \"ctx\"}",
     .op = OP_CTXCANCEL,
     .go = "{cancel}.cancel()"},
};
GROUP(timers, "Timers and contexts");

/* ---- descriptors ---- */

static const char *const modes[] = {"read", "write", NULL}, *const deadlines[] = {"both", "read",
                                                                                  "write", NULL};
static const uint8_t mode_bits[] = {1, 2}, deadline_bits[] = {3, 1, 2};

static const struct statement descriptors_statements[] = {
    {.field = {OBJECT("read", KIND(OBJ_FD)), NAME("into", SLOT_A, KIND_NUMBER),
               NAME("time", SLOT_B, KIND_NUMBER)},
     .what = "Waits for the next arrival of a descriptor. `into` gets the arrival's number, -1 "
             "closed, -2 deadline; `time` when it came.",
     .example = "{\"read\": \"conn\", \"into\": \"n\", \"time\": \"arrived\"}",
     .op = OP_FDREAD,
     .go = "{read}.read()"},
    {.field = {OBJECT("write", KIND(OBJ_FD)), COUNT("value", SLOT_B, 0),
               NAME("into", SLOT_A, KIND_NUMBER)},
     .what =
         "Answers an arrival (value: its number). In a closed loop the client of that arrival goes "
         "on to think.",
     .example = "{\"write\": \"conn\", \"value\": \"n\", \"into\": \"err\"}",
     .op = OP_FDWRITE,
     .go = "{write}.write()"},
    {.field = {OBJECT("poll", KIND(OBJ_FD)), WORD("for", SLOT_B, modes, mode_bits),
               NAME("into", SLOT_A, KIND_NUMBER)},
     .what = "Waits until a descriptor is ready. `into` gets 0, -1 closed, -2 deadline.",
     .example = "{\"poll\": \"conn\", \"for\": \"read\", \"into\": \"err\"}",
     .op = OP_FDWAIT,
     .go = "{poll}.ready()"},
    {.field = {OBJECT("deadline", KIND(OBJ_FD)), DRAWN("after"),
               WORD("for", SLOT_A, deadlines, deadline_bits)},
     .what = "SetDeadline of a descriptor, that long from now. `for`: `both` (default), `read`, "
             "`write`.",
     .example = "{\"deadline\": \"conn\", \"after\": \"2ms\", \"for\": \"read\"}",
     .op = OP_FDDEADLINE,
     .go = "atomic.StoreInt64(&{deadline:2}.deadline, simNow()+{after:3})"},
};
GROUP(descriptors, "Descriptors");
