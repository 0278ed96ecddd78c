/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The published models as axioms over candidate executions, enough of a "cat" interpreter for
 * straight-line programs:
 *
 *   sc     Lamport 1979; Alglave, Maranget, Tautschnig, "Herding cats", TOPLAS 2014, section 4.8
 *   tso    Owens, Sarkar, Sewell, "A better x86 memory model", TPHOLs 2009; herd's x86tso.cat
 *   arm64  Deacon, aarch64.cat, section B2.3 of the Arm ARM; Pulte et al., "Simplifying ARM
 *          concurrency", POPL 2018, with [range([A];amo;[L])]; po of the present text (a
 *          successful CASAL orders like a full barrier)
 *   ppc64  "Herding cats", figures 17, 18 and 25; herd's ppc.cat
 *
 * A candidate: what every load reads from (rf), the order of stores per location (co), and which
 * CAS succeeds. Values follow. A relation is an array of rows of bits.
 */
#include <assert.h>
#include <string.h>

#include "prog.h"

enum { EV_MAX = 32, FENCE_MAX = 32 };

struct event {
    int thread, pos; /* pos: in program order, fences count; init: thread -1 */
    int loc, reg;
    const struct lit_op *op;
    unsigned bits;
    bool read, write, amo;
    int mate; /* the other half of a read-modify-write, -1 */
};

struct fence {
    int thread, pos;
    unsigned bits;
    int read; /* ISYNC: the load whose value is branched on */
};

typedef uint32_t rel[EV_MAX];

static struct {
    const struct lit_prog *p;
    enum mm_kind kind;
    unsigned flags;
    int n, fences;
    struct event e[EV_MAX];
    struct fence f[FENCE_MAX];
    int rf[EV_MAX];    /* of reads */
    int co_at[EV_MAX]; /* of writes: place in the order of the location, init 0 */
    uint32_t value[EV_MAX];
    uint32_t R, W, A, L, AMO;
    rel po, po_loc, rf_rel, co, fr, rfe, coe, fre, rfi, rmw, ctrl;
    struct lit_set *out;
} x;

/* ---- relations ---- */

static void rel_union(rel to, const rel a)
{
    for (int i = 0; i < x.n; i++)
        to[i] |= a[i];
}

static void rel_seq(rel to, const rel a, const rel b)
{
    rel r = {0};

    for (int i = 0; i < x.n; i++)
        for (uint32_t m = a[i]; m != 0; m &= m - 1)
            r[i] |= b[__builtin_ctz(m)];
    memcpy(to, r, sizeof(rel));
}

static void rel_between(rel to, const rel a, uint32_t from, uint32_t dest)
{
    for (int i = 0; i < x.n; i++)
        to[i] = from >> i & 1 ? a[i] & dest : 0;
}

static void rel_close(rel a)
{
    for (int k = 0; k < x.n; k++)
        for (int i = 0; i < x.n; i++)
            if (a[i] >> k & 1)
                a[i] |= a[k];
}

static void rel_reflexive(rel a)
{
    for (int i = 0; i < x.n; i++)
        a[i] |= UINT32_C(1) << i;
}

static bool irreflexive(const rel a)
{
    for (int i = 0; i < x.n && i < EV_MAX; i++)
        if (a[i] >> i & 1)
            return false;
    return true;
}

static bool acyclic(const rel a)
{
    rel c;

    memcpy(c, a, sizeof(rel));
    rel_close(c);
    return irreflexive(c);
}

static bool same_rel(const rel a, const rel b)
{
    return memcmp(a, b, (size_t)x.n * sizeof(a[0])) == 0;
}

/* Pairs with a fence of these bits between them. */
static void rel_fence(rel to, unsigned bits)
{
    memset(to, 0, sizeof(rel));
    for (int f = 0; f < x.fences; f++)
        for (int i = 0; i < x.n; i++)
            for (int j = 0; j < x.n; j++)
                if ((x.f[f].bits & bits) && x.e[i].thread == x.f[f].thread &&
                    x.e[j].thread == x.f[f].thread && x.e[i].pos < x.f[f].pos &&
                    x.f[f].pos < x.e[j].pos)
                    to[i] |= UINT32_C(1) << j;
}

/* ---- the models ---- */

static void com(rel to)
{
    memcpy(to, x.rf_rel, sizeof(rel));
    rel_union(to, x.co);
    rel_union(to, x.fr);
}

static bool uniproc(void)
{
    rel r;

    com(r);
    rel_union(r, x.po_loc);
    return acyclic(r);
}

static bool atomic(void)
{
    rel r;

    rel_seq(r, x.fre, x.coe);
    for (int i = 0; i < x.n; i++)
        if (r[i] & x.rmw[i])
            return false;
    return true;
}

static bool sc_ok(void)
{
    rel r;

    com(r);
    rel_union(r, x.po);
    return acyclic(r);
}

static bool tso_ok(void)
{
    rel ghb, t, wr;
    uint32_t locked = 0, all = x.R | x.W;

    for (int i = 0; i < x.n; i++)
        if (x.e[i].bits & MM_DRAIN)
            locked |= UINT32_C(1) << i;
    rel_fence(ghb, MM_DRAIN);
    rel_between(t, x.po, x.R, all);
    rel_union(ghb, t);
    rel_between(t, x.po, x.W, x.W);
    rel_union(ghb, t);
    rel_between(wr, x.po, x.W, x.R);
    rel_between(t, wr, locked, all);
    rel_union(ghb, t);
    rel_between(t, wr, all, locked);
    rel_union(ghb, t);
    rel_union(ghb, x.rfe);
    rel_union(ghb, x.co);
    rel_union(ghb, x.fr);
    return acyclic(ghb);
}

static void arm_lob(rel lob)
{
    rel t;
    uint32_t all = x.R | x.W, amo_w = 0;

    for (int i = 0; i < x.n; i++)
        if (x.e[i].write && x.e[i].amo && (x.e[i].bits & (MM_ACQ | MM_REL)) == (MM_ACQ | MM_REL))
            amo_w |= UINT32_C(1) << i;
    rel_between(lob, x.po_loc, all, x.W); /* lws */
    rel_union(lob, x.rmw);                /* aob */
    rel_fence(t, MM_DMB);                 /* bob */
    rel_union(lob, t);
    rel_between(t, x.po, amo_w, all);
    rel_union(lob, t);
    rel_between(t, x.po, x.L, x.A);
    rel_union(lob, t);
    rel_between(t, x.po, x.A, all);
    rel_union(lob, t);
    rel_between(t, x.po, all, x.L);
    rel_union(lob, t);
    rel_between(t, x.ctrl, x.R, x.W); /* dob */
    rel_union(lob, t);
}

static bool arm_ok(void)
{
    rel ob = {0};

    arm_lob(ob);
    rel_union(ob, x.rfe);
    rel_union(ob, x.coe);
    rel_union(ob, x.fre);
    return acyclic(ob);
}

/* ctrl+isync, from the loads that the branch before an isync depends on. */
static void power_ctrlisync(rel to)
{
    memset(to, 0, sizeof(rel));
    for (int f = 0; f < x.fences; f++)
        for (int i = 0; i < x.n; i++) {
            if (!(x.f[f].bits & MM_ISYNC) || !x.e[i].read || x.e[i].thread != x.f[f].thread ||
                x.e[i].pos > x.f[f].pos || (!(x.flags & LIT_CTRL) && x.f[f].read != i))
                continue;
            for (int j = 0; j < x.n; j++)
                if (x.e[j].thread == x.f[f].thread && x.e[j].pos > x.f[f].pos)
                    to[i] |= UINT32_C(1) << j;
        }
}

static int grow(rel to, const rel a, const rel b)
{
    rel t, before;

    memcpy(before, to, sizeof(rel));
    rel_seq(t, a, b);
    rel_union(to, t);
    return !same_rel(before, to);
}

static int grow1(rel to, const rel a)
{
    rel before;

    memcpy(before, to, sizeof(rel));
    rel_union(to, a);
    return !same_rel(before, to);
}

static void power_ppo(rel ppo)
{
    rel ii, ic = {0}, ci, cc, t;
    int more = 1;

    rel_seq(ii, x.fre, x.rfe); /* rdw */
    for (int i = 0; i < x.n; i++)
        ii[i] &= x.po_loc[i];
    rel_union(ii, x.rfi);
    power_ctrlisync(ci);
    rel_seq(t, x.coe, x.rfe); /* detour */
    for (int i = 0; i < x.n; i++)
        t[i] &= x.po_loc[i];
    rel_union(ci, t);
    memcpy(cc, x.po_loc, sizeof(rel));
    rel_union(cc, x.ctrl);
    while (more > 0) {
        more = grow1(ii, ci) + grow(ii, ic, ci) + grow(ii, ii, ii);
        more += grow1(ic, ii) + grow1(ic, cc) + grow(ic, ic, cc) + grow(ic, ii, ic);
        more += grow(ci, ci, ii) + grow(ci, cc, ci);
        more += grow1(cc, ci) + grow(cc, ci, ic) + grow(cc, cc, cc);
    }
    rel_between(ppo, ii, x.R, x.R);
    rel_between(t, ic, x.R, x.W);
    rel_union(ppo, t);
}

static bool power_scxx(void)
{
    rel r = {0};

    rel_between(r, x.po, x.AMO, x.AMO);
    rel_union(r, x.co);
    return acyclic(r);
}

static bool power_ok(void)
{
    rel strong, fence = {0}, hb = {0}, hbs, t, u = {0}, base, bases, chapo, prop = {0};
    uint32_t all = x.R | x.W;

    rel_fence(strong, MM_SYNC);
    rel_fence(t, MM_LWSYNC);
    rel_between(fence, t, x.R, all);
    rel_between(u, t, x.W, x.W);
    rel_union(fence, u);
    rel_union(fence, strong);
    power_ppo(hb);
    rel_union(hb, fence);
    rel_union(hb, x.rfe);
    if (!acyclic(hb))
        return false;
    memcpy(hbs, hb, sizeof(rel));
    rel_close(hbs);
    rel_reflexive(hbs);
    rel_seq(base, x.rfe, fence);
    rel_union(base, fence);
    rel_seq(base, base, hbs);
    memcpy(bases, base, sizeof(rel));
    rel_close(bases);
    rel_reflexive(bases);
    memcpy(chapo, x.rfe, sizeof(rel));
    rel_union(chapo, x.fre);
    rel_union(chapo, x.coe);
    rel_seq(t, x.fre, x.rfe);
    rel_union(chapo, t);
    rel_seq(t, x.coe, x.rfe);
    rel_union(chapo, t);
    rel_reflexive(chapo);
    rel_seq(t, chapo, bases);
    rel_seq(t, t, strong);
    rel_seq(t, t, hbs);
    rel_between(prop, base, x.W, x.W);
    rel_union(prop, t);
    rel_seq(t, x.fre, prop);
    rel_seq(t, t, hbs);
    if (!irreflexive(t))
        return false;
    rel_union(prop, x.co);
    return acyclic(prop) && power_scxx();
}

static bool model_ok(void)
{
    rel r;

    if (x.flags & LIT_PORF) {
        memcpy(r, x.po, sizeof(rel));
        rel_union(r, x.rf_rel);
        if (!acyclic(r))
            return false;
    }
    if (!uniproc() || !atomic())
        return false;
    switch (x.kind) {
    case MM_SC: return sc_ok();
    case MM_TSO: return tso_ok();
    case MM_ARM: return arm_ok();
    case MM_POWER: return power_ok();
    case MM_KINDS: break;
    }
    return false;
}

/* ---- candidates ---- */

static bool is_cas(const struct event *e)
{
    return e->op != NULL && (e->op->op == VERB_cas || e->op->op == VERB_cas_rel);
}

static uint32_t written(const struct event *w, uint32_t old)
{
    switch (w->op->op) {
    case VERB_add: return old + w->op->value;
    case VERB_or: return old | w->op->value;
    case VERB_and: return old & w->op->value;
    default: return w->op->value;
    }
}

/* Values along rf; a read-modify-write that feeds itself has none (and no model allows it). */
static bool values(void)
{
    uint32_t known = 0;

    for (int round = 0; round <= x.n; round++)
        for (int i = 0; i < x.n; i++) {
            const struct event *e = &x.e[i];
            if (e->read && (known >> x.rf[i] & 1)) {
                x.value[i] = x.value[x.rf[i]];
            } else if (e->write && e->op == NULL) {
                x.value[i] = 0;
            } else if (e->write && (e->mate < 0 || (known >> e->mate & 1))) {
                x.value[i] = written(e, e->mate < 0 ? 0 : x.value[e->mate]);
            } else {
                continue;
            }
            known |= UINT32_C(1) << i;
        }
    for (int i = 0; i < x.n; i++)
        if (!(known >> i & 1) || (x.e[i].read && is_cas(&x.e[i]) &&
                                  (x.e[i].mate >= 0) != (x.value[i] == x.e[i].op->expect)))
            return false;
    return true;
}

static void derive(void)
{
    memset(x.rf_rel, 0, sizeof(rel));
    memset(x.co, 0, sizeof(rel));
    memset(x.fr, 0, sizeof(rel));
    for (int i = 0; i < x.n; i++)
        for (int j = 0; j < x.n; j++) {
            if (x.e[i].loc != x.e[j].loc)
                continue;
            if (x.e[j].read && x.rf[j] == i)
                x.rf_rel[i] |= UINT32_C(1) << j;
            if (x.e[i].write && x.e[j].write && x.co_at[i] < x.co_at[j])
                x.co[i] |= UINT32_C(1) << j;
            if (x.e[i].read && x.e[j].write && x.co_at[x.rf[i]] < x.co_at[j] && x.rf[i] != j)
                x.fr[i] |= UINT32_C(1) << j;
        }
    for (int i = 0; i < x.n; i++) {
        uint32_t mine = 0;
        for (int j = 0; j < x.n; j++)
            if (x.e[j].thread == x.e[i].thread && x.e[i].thread >= 0)
                mine |= UINT32_C(1) << j;
        x.rfe[i] = x.rf_rel[i] & ~mine;
        x.rfi[i] = x.rf_rel[i] & mine;
        x.coe[i] = x.co[i] & ~mine;
        x.fre[i] = x.fr[i] & ~mine;
    }
}

static lit_outcome outcome(void)
{
    int regs = lit_regs(x.p), last[LIT_LOCS_MAX] = {0};
    lit_outcome o = 0;

    for (int i = 0; i < x.n; i++) {
        if (x.e[i].read)
            o |= (lit_outcome)(is_cas(&x.e[i]) && x.e[i].mate < 0 ? 15 : x.value[i] & 15)
                 << 4 * x.e[i].reg;
        if (x.e[i].write && x.co_at[i] > x.co_at[last[x.e[i].loc]])
            last[x.e[i].loc] = i;
        else if (x.e[i].write && x.e[i].op == NULL)
            last[x.e[i].loc] = i;
    }
    for (int l = 0; l < x.p->locs; l++)
        o |= (lit_outcome)(x.value[last[l]] & 15) << 4 * (regs + l);
    return o;
}

static void check_candidate(void)
{
    x.out->runs++;
    if (!values())
        return;
    derive();
    if (model_ok())
        lit_add(x.out, outcome());
}

static void each_rf(int i)
{
    while (i < x.n && !x.e[i].read)
        i++;
    if (i == x.n) {
        check_candidate();
        return;
    }
    for (int w = 0; w < x.n; w++)
        if (x.e[w].write && x.e[w].loc == x.e[i].loc && w != x.e[i].mate) {
            x.rf[i] = w;
            each_rf(i + 1);
        }
}

/* Orders of the stores of location l: store i takes every free place. */
static void each_co(int i, uint32_t taken[LIT_LOCS_MAX])
{
    while (i < x.n && !(x.e[i].write && x.e[i].op != NULL))
        i++;
    if (i == x.n) {
        each_rf(0);
        return;
    }
    int l = x.e[i].loc, count = 0;
    for (int j = 0; j < x.n; j++)
        count += x.e[j].write && x.e[j].op != NULL && x.e[j].loc == l;
    for (int at = 1; at <= count; at++)
        if (!(taken[l] >> at & 1)) {
            taken[l] |= UINT32_C(1) << at;
            x.co_at[i] = at;
            each_co(i + 1, taken);
            taken[l] &= ~(UINT32_C(1) << at);
        }
}

/* ---- events ---- */

static int add_event(struct event e)
{
    assert(x.n < EV_MAX);
    x.e[x.n] = e;
    x.e[x.n].mate = -1;
    uint32_t b = UINT32_C(1) << x.n;
    x.R |= e.read ? b : 0;
    x.W |= e.write ? b : 0;
    x.A |= e.read && (e.bits & MM_ACQ) ? b : 0;
    x.L |= e.write && (e.bits & MM_REL) ? b : 0;
    x.AMO |= e.amo ? b : 0;
    return x.n++;
}

static void add_fence(int thread, int pos, unsigned bits, int read)
{
    assert(x.fences < FENCE_MAX);
    x.f[x.fences++] = (struct fence){thread, pos, bits, read};
}

/* One operation: fence before, load, store, fence after, at four places of program order. */
static void add_op(int t, int i, const struct lit_op *o, bool succeeds, int *reg)
{
    unsigned bits = lit_bits(x.kind, o->op);
    struct event e = {.thread = t, .loc = o->loc, .op = o, .bits = bits, .amo = lit_rmw(o->op)};
    int r = -1, w = -1;

    if (o->op == VERB_fence) {
        add_fence(t, 4 * i, bits, -1);
        return;
    }
    if (bits & (MM_SYNC | MM_LWSYNC))
        add_fence(t, 4 * i, bits & (MM_SYNC | MM_LWSYNC), -1);
    if (lit_reads(o->op)) {
        e.pos = 4 * i + 1;
        e.read = true;
        e.reg = (*reg)++;
        r = add_event(e);
    }
    if (lit_writes(o->op) && succeeds) {
        e.pos = 4 * i + 2;
        e.read = false;
        e.write = true;
        w = add_event(e);
    }
    if (r >= 0 && w >= 0) {
        x.e[r].mate = w;
        x.e[w].mate = r;
        x.rmw[r] |= UINT32_C(1) << w;
    }
    if (bits & (MM_LWSYNC_AFTER | MM_ISYNC))
        add_fence(t, 4 * i + 3, bits & MM_ISYNC ? MM_ISYNC : MM_LWSYNC, r);
}

static void add_orders(void)
{
    for (int i = 0; i < x.n; i++)
        for (int j = 0; j < x.n; j++)
            if (x.e[i].thread >= 0 && x.e[i].thread == x.e[j].thread && x.e[i].pos < x.e[j].pos) {
                x.po[i] |= UINT32_C(1) << j;
                if (x.e[i].loc == x.e[j].loc)
                    x.po_loc[i] |= UINT32_C(1) << j;
                if ((x.flags & LIT_CTRL) && x.e[i].read)
                    x.ctrl[i] |= UINT32_C(1) << j;
            }
}

/* `which` has a bit per CAS, in program order: does it succeed? */
static void with_successes(const struct lit_prog *p, enum mm_kind kind, unsigned flags,
                           uint32_t which, struct lit_set *out)
{
    uint32_t taken[LIT_LOCS_MAX] = {0};
    int reg = 0, cas = 0;

    memset(&x, 0, sizeof(x));
    x.p = p;
    x.kind = kind;
    x.flags = flags;
    x.out = out;
    for (int l = 0; l < p->locs; l++)
        add_event((struct event){.thread = -1, .loc = l, .write = true});
    for (int t = 0; t < p->threads; t++)
        for (int i = 0; i < p->ops[t]; i++) {
            const struct lit_op *o = &p->op[t][i];
            bool is = o->op == VERB_cas || o->op == VERB_cas_rel;
            add_op(t, i, o, !is || (which >> cas & 1), &reg);
            cas += is;
        }
    add_orders();
    each_co(0, taken);
}

void lit_axioms(const struct lit_prog *p, enum mm_kind kind, unsigned flags, struct lit_set *out)
{
    int cas = 0;

    out->count = 0;
    out->runs = 0;
    out->whole = true;
    for (int t = 0; t < p->threads; t++)
        for (int i = 0; i < p->ops[t]; i++)
            cas += p->op[t][i].op == VERB_cas || p->op[t][i].op == VERB_cas_rel;
    for (uint32_t which = 0; which < UINT32_C(1) << cas; which++)
        with_successes(p, kind, flags, which, out);
}
