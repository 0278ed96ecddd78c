/* SPDX-License-Identifier: BSD-3-Clause */
/* Litmus programs on the explorer: the same verbs that the scheduler core uses. */
#include "sim/base/fail.h"

#include <host.h>

#include <stdio.h>
#include <stdlib.h>

#include "prog.h"
#include "sim/explore/explore.h"

static const struct lit_prog *prog;
static struct vars {
    ATOMIC(uint32_t) v[LIT_LOCS_MAX];
} * vars;
static uint32_t reg[LIT_REGS_MAX];

/* The value of the register; 0 for an operation without one. */
static uint32_t perform(const struct lit_op *o)
{
    uint32_t seen = 0;

    switch (o->op) {
    case VERB_load: return a_load(&vars->v[o->loc]);
    case VERB_load_acq: return a_load_acq(&vars->v[o->loc]);
    case VERB_load_rlx: return a_load_rlx(&vars->v[o->loc]);
    case VERB_store: a_store(&vars->v[o->loc], o->value); return 0;
    case VERB_store_rel: a_store_rel(&vars->v[o->loc], o->value); return 0;
    case VERB_store_rlx: a_store_rlx(&vars->v[o->loc], o->value); return 0;
    case VERB_xchg: return a_xchg(&vars->v[o->loc], o->value);
    case VERB_xchg8: return a_xchg8(&vars->v[o->loc], o->value);
    case VERB_add: seen = a_add(&vars->v[o->loc], o->value); return seen - o->value;
    case VERB_or: return a_or(&vars->v[o->loc], o->value);
    case VERB_and: return a_and(&vars->v[o->loc], o->value);
    case VERB_fence: a_fence(); return 0;
    /* The verb says only whether it worked; 15 stands for every value that did not fit. */
    case VERB_cas: return a_cas(&vars->v[o->loc], o->expect, o->value) ? o->expect : 15;
    case VERB_cas_rel: return a_cas_rel(&vars->v[o->loc], o->expect, o->value) ? o->expect : 15;
    default: abort();
    }
}

static void thread(void *arg)
{
    int t = (int)(intptr_t)arg, at = 0;

    for (int i = 0; i < t; i++)
        for (int j = 0; j < prog->ops[i]; j++)
            at += lit_reads(prog->op[i][j].op);
    for (int j = 0; j < prog->ops[t]; j++) {
        uint32_t v = perform(&prog->op[t][j]);
        if (lit_reads(prog->op[t][j].op))
            reg[at++] = v;
    }
}

static lit_outcome outcome(void)
{
    int regs = lit_regs(prog);
    lit_outcome o = 0;

    for (int i = 0; i < regs; i++)
        o |= (lit_outcome)(reg[i] & 15) << 4 * i;
    for (int l = 0; l < prog->locs; l++)
        o |= (lit_outcome)(a_peek(&vars->v[l]) & 15) << 4 * (regs + l);
    return o;
}

static void run_once(struct lit_set *out)
{
    vars = host_alloc(sizeof(*vars), 8);
    for (int l = 0; l < prog->locs; l++)
        a_init(&vars->v[l], 0);
    for (int t = 0; t < prog->threads; t++)
        ex_start(NULL, thread, (void *)(intptr_t)t);
    if (ex_run() != END_DONE || mm.stats.forgotten != 0)
        out->whole = false;
    lit_add(out, outcome());
    out->runs++;
}

void lit_explore(const struct lit_prog *p, enum mm_kind kind, bool ctrl, struct lit_set *out)
{
    static const enum cost_port ports[MM_KINDS] = {PORT_AMD64, PORT_AMD64, PORT_ARM64,
                                                   PORT_PPC64LE};
    static struct dfs_frame frames[1 << 12];
    struct ex_opts o = {.memory = kind,
                        .port = ports[kind],
                        .ctrl = ctrl,
                        .answers_max = 1 << 12,
                        .memory_max = 1 << 20,
                        .stack_size = 32 *
                                      1024}; /* small: AddressSanitizer cleans it for each start */
    struct failure f = {0};
    struct strategy_dfs dfs;

    prog = p;
    out->count = 0;
    out->runs = 0;
    out->whole = true;
    if (!ex_init(&f, &o)) {
        fprintf(stderr, "%s\n", f.text);
        abort();
    }
    strategy_dfs_init(&dfs, frames, sizeof(frames) / sizeof(frames[0]), DFS_UNBOUNDED);
    while (ex_begin(&dfs.s)) {
        run_once(out);
        ex_end();
    }
    out->whole &= dfs.exhausted && !dfs.pruned && !dfs.diverged;
    ex_free();
}
