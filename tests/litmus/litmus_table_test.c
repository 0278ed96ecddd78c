/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Goal: the named litmus tests of the literature come out as published, outcome for outcome.
 * Method: a row lists all outcomes of sequential consistency and, one by one, the further outcomes
 * with the models that allow them. Every schedule is run; what was seen must equal the row exactly.
 * A row is written from the papers, not from a run; litmus_generated_test.c is the other,
 * independent check.
 *
 * Sources. tso: Owens, Sarkar, Sewell, TPHOLs 2009. arm64: Pulte, Flur, Deacon, French, Sarkar,
 * Sewell, "Simplifying ARM concurrency", POPL 2018, and the Arm ARM B2.3 with herd's aarch64.cat.
 * ppc64: Sarkar, Sewell, Alglave, Maranget, Williams, "Understanding POWER multiprocessors", PLDI
 * 2011; Maranget, Sarkar, Sewell, "A tutorial introduction to the ARM and POWER relaxed memory
 * models", 2012; Alglave, Maranget, Tautschnig, "Herding cats", TOPLAS 2014. What a Go verb is on a
 * port: sim/explore/verbs.def. "MP rel acq" is MP+popl+poap of the papers on arm64,
 * MP+lwsync+ctrlisync on ppc64, and has an XCHG and two MOVs on amd64.
 *
 * Models of a row: T tso; A arm64; B arm64 with a branch after every load; P ppc64 (always with
 * branches).
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "prog.h"

#define LDR(x)                 \
    {                          \
        VERB_load_rlx, x, 0, 0 \
    }
#define LDA(x)                 \
    {                          \
        VERB_load_acq, x, 0, 0 \
    }
#define LD(x)              \
    {                      \
        VERB_load, x, 0, 0 \
    }
#define STR(x, v)               \
    {                           \
        VERB_store_rlx, x, v, 0 \
    }
#define STL(x, v)               \
    {                           \
        VERB_store_rel, x, v, 0 \
    }
#define ST(x, v)            \
    {                       \
        VERB_store, x, v, 0 \
    }
#define CAS(x, e, v)      \
    {                     \
        VERB_cas, x, v, e \
    }
#define CASL(x, e, v)         \
    {                         \
        VERB_cas_rel, x, v, e \
    }
#define XCHG(x, v)         \
    {                      \
        VERB_xchg, x, v, 0 \
    }
#define ADD(x, v)         \
    {                     \
        VERB_add, x, v, 0 \
    }
#define F                   \
    {                       \
        VERB_fence, 0, 0, 0 \
    }
enum { X, Y, Z };

struct row {
    struct lit_prog p;
    const char *shown; /* final values in the outcome string: subset of "xyz" */
    const char *sc;    /* all outcomes of sc; a digit per register, then the final values; f: a CAS
                          that failed */
    const char
        *weak; /* "outcome:MODELS ..."; lower case: published as allowed there, and left out here */
};

#define P2(n, a, b, na, nb, l)      \
    {                               \
        n, 2, l, {na, nb}, { a, b } \
    }
#define T(...)      \
    {               \
        __VA_ARGS__ \
    }
#define SC_SB   "01 10 11"
#define SC_MP   "00 01 11"
#define SC_IRIW "0000 0001 0010 0011 0100 0101 0110 0111 1000 1001 1011 1100 1101 1110 1111"
#define SC_WRC  "000 001 010 011 100 101 111"

/* clang-format off */
static const struct row rows[] = {
    /* Store buffering: Owens et al. section 1 (n6 apart); PLDI 2011 SB+lwsyncs allowed,
     * SB+syncs forbidden. */
    {P2("SB", T(STR(X, 1), LDR(Y)), T(STR(Y, 1), LDR(X)), 2, 2, 2), "", SC_SB, "00:TABP"},
    {P2("SB fence", T(STR(X, 1), F, LDR(Y)), T(STR(Y, 1), F, LDR(X)), 3, 3, 2), "", SC_SB, ""},
    {P2("SB fence one side", T(STR(X, 1), F, LDR(Y)), T(STR(Y, 1), LDR(X)), 3, 2, 2),
     "", SC_SB, "00:TABP"},
    {P2("SB store load", T(ST(X, 1), LD(Y)), T(ST(Y, 1), LD(X)), 2, 2, 2), "", SC_SB, ""},
    {P2("SB rel acq", T(STL(X, 1), LDA(Y)), T(STL(Y, 1), LDA(X)), 2, 2, 2), "", SC_SB, "00:P"},
    {P2("SB rel rlx", T(STL(X, 1), LDR(Y)), T(STL(Y, 1), LDR(X)), 2, 2, 2), "", SC_SB, "00:ABP"},
    {P2("SB rlx acq", T(STR(X, 1), LDA(Y)), T(STR(Y, 1), LDA(X)), 2, 2, 2), "", SC_SB, "00:TABP"},
    /* A read-modify-write in place of the store: XCHG drains; SWPAL, CASAL, LDADDAL order like
     * DMB; LWSYNC does not order W to R. */
    {P2("SB xchg rlx", T(XCHG(X, 1), LDR(Y)), T(XCHG(Y, 1), LDR(X)), 2, 2, 2),
     "", "0001 0100 0101", "0000:P"},
    {P2("SB cas rlx", T(CAS(X, 0, 1), LDR(Y)), T(CAS(Y, 0, 1), LDR(X)), 2, 2, 2),
     "", "0001 0100 0101", "0000:P"},
    {P2("SB casrel load", T(CASL(X, 0, 1), LD(Y)), T(CASL(Y, 0, 1), LD(X)), 2, 2, 2),
     "", "0001 0100 0101", ""},
    {P2("SB add load", T(ADD(X, 1), LD(Y)), T(ADD(Y, 1), LD(X)), 2, 2, 2),
     "", "0001 0100 0101", ""},

    /* Message passing: PLDI 2011 MP, MP+syncs, MP+lwsync+ctrl allowed, MP+lwsync+ctrlisync
     * forbidden; POPL 2018 MP+popl+poap. */
    {P2("MP", T(STR(X, 1), STR(Y, 1)), T(LDR(Y), LDR(X)), 2, 2, 2), "", SC_MP, "10:ABP"},
    {P2("MP fence", T(STR(X, 1), F, STR(Y, 1)), T(LDR(Y), F, LDR(X)), 3, 3, 2), "", SC_MP, ""},
    {P2("MP rel acq", T(STR(X, 1), STL(Y, 1)), T(LDA(Y), LDR(X)), 2, 2, 2), "", SC_MP, ""},
    {P2("MP rel rlx", T(STR(X, 1), STL(Y, 1)), T(LDR(Y), LDR(X)), 2, 2, 2), "", SC_MP, "10:ABP"},
    {P2("MP rlx acq", T(STR(X, 1), STR(Y, 1)), T(LDA(Y), LDR(X)), 2, 2, 2), "", SC_MP, "10:ABP"},
    {P2("MP store load", T(STR(X, 1), ST(Y, 1)), T(LD(Y), LDR(X)), 2, 2, 2), "", SC_MP, ""},
    {P2("MP casrel acq", T(STR(X, 1), CASL(Y, 0, 1)), T(LDA(Y), LDR(X)), 2, 2, 2),
     "", "000 001 011", ""},
    {P2("MP xchg acq", T(STR(X, 1), XCHG(Y, 1)), T(LDA(Y), LDR(X)), 2, 2, 2),
     "", "000 001 011", ""},
    {P2("MP rel cas", T(STR(X, 1), STL(Y, 1)), T(CAS(Y, 1, 2), LDR(X)), 2, 2, 2),
     "", "f0 f1 11", ""},
    /* CasRel has nothing behind it on ppc64: a branch does not order loads. */
    {P2("MP rel casrel", T(STR(X, 1), STL(Y, 1)), T(CASL(Y, 1, 2), LDR(X)), 2, 2, 2),
     "", "f0 f1 11", "10:P"},
    {P2("MP rel xchg", T(STR(X, 1), STL(Y, 1)), T(XCHG(Y, 2), LDR(X)), 2, 2, 2),
     "", "00 01 11", ""},

    /* Load buffering: allowed by ARMv8 and POWER, seen on ARM; left out (no load sees a store
     * that is not yet executed). With branches it is forbidden. */
    {P2("LB", T(LDR(X), STR(Y, 1)), T(LDR(Y), STR(X, 1)), 2, 2, 2), "", "00 01 10", "11:a"},
    {P2("LB acq one side", T(LDA(X), STR(Y, 1)), T(LDR(Y), STR(X, 1)), 2, 2, 2),
     "", "00 01 10", "11:a"},
    {P2("LB rel", T(LDR(X), STL(Y, 1)), T(LDR(Y), STL(X, 1)), 2, 2, 2), "", "00 01 10", ""},
    {P2("LB acq", T(LDA(X), STR(Y, 1)), T(LDA(Y), STR(X, 1)), 2, 2, 2), "", "00 01 10", ""},
    {P2("LB fence", T(LDR(X), F, STR(Y, 1)), T(LDR(Y), F, STR(X, 1)), 3, 3, 2), "", "00 01 10", ""},

    /* S: r then final x. S+lwsync+ctrl, S+popl+ctrl forbidden; without the branch allowed on
     * ARM. */
    {P2("S", T(STR(X, 2), STR(Y, 1)), T(LDR(Y), STR(X, 1)), 2, 2, 2), "x", "01 02 11", "12:ABP"},
    {P2("S rel rlx", T(STR(X, 2), STL(Y, 1)), T(LDR(Y), STR(X, 1)), 2, 2, 2),
     "x", "01 02 11", "12:A"},
    {P2("S rel acq", T(STR(X, 2), STL(Y, 1)), T(LDA(Y), STR(X, 1)), 2, 2, 2), "x", "01 02 11", ""},
    {P2("S fence", T(STR(X, 2), F, STR(Y, 1)), T(LDR(Y), F, STR(X, 1)), 3, 3, 2),
     "x", "01 02 11", ""},
    {P2("S rel cas", T(STR(X, 2), STL(Y, 1)), T(CAS(Y, 1, 2), STR(X, 1)), 2, 2, 2),
     "x", "f1 f2 11", ""},

    /* R: r then final y. Herding cats: R+lwsync+sync allowed, R+syncs forbidden. */
    {P2("R", T(STR(X, 1), STR(Y, 1)), T(STR(Y, 2), LDR(X)), 2, 2, 2), "y", "01 11 12", "02:TABP"},
    {P2("R fence", T(STR(X, 1), F, STR(Y, 1)), T(STR(Y, 2), F, LDR(X)), 3, 3, 2),
     "y", "01 11 12", ""},
    {P2("R rel fence", T(STR(X, 1), STL(Y, 1)), T(STR(Y, 2), F, LDR(X)), 2, 3, 2),
     "y", "01 11 12", "02:P"},
    {P2("R store load", T(STR(X, 1), ST(Y, 1)), T(ST(Y, 2), LD(X)), 2, 2, 2), "y", "01 11 12", ""},
    {P2("R rel acq", T(STR(X, 1), STL(Y, 1)), T(STL(Y, 2), LDA(X)), 2, 2, 2),
     "y", "01 11 12", "02:P"},
    {P2("R casrel xchg", T(STR(X, 1), CASL(Y, 0, 1)), T(XCHG(Y, 2), LDR(X)), 2, 2, 2),
     "y", "0112 f002 f012", ""},

    /* 2+2W: final x, y. Herding cats: 2+2W+lwsyncs forbidden. */
    {P2("2+2W", T(STR(X, 1), STR(Y, 2)), T(STR(Y, 1), STR(X, 2)), 2, 2, 2),
     "xy", "12 21 22", "11:ABP"},
    {P2("2+2W rel", T(STR(X, 1), STL(Y, 2)), T(STR(Y, 1), STL(X, 2)), 2, 2, 2),
     "xy", "12 21 22", ""},
    {P2("2+2W rel one side", T(STR(X, 1), STL(Y, 2)), T(STR(Y, 1), STR(X, 2)), 2, 2, 2),
     "xy", "12 21 22", "11:ABP"},
    {P2("2+2W store", T(ST(X, 1), ST(Y, 2)), T(ST(Y, 1), ST(X, 2)), 2, 2, 2), "xy", "12 21 22", ""},
    {P2("2+2W fence", T(STR(X, 1), F, STR(Y, 2)), T(STR(Y, 1), F, STR(X, 2)), 3, 3, 2),
     "xy", "12 21 22", ""},

    /* Coherence: no model gives anything beyond sc (Herding cats, SC PER LOCATION). */
    {P2("CoRR", T(STR(X, 1)), T(LDR(X), LDR(X)), 1, 2, 1), "", "00 01 11", ""},
    {P2("CoRR two stores", T(STR(X, 1), STR(X, 2)), T(LDR(X), LDR(X)), 2, 2, 1),
     "", "00 01 02 11 12 22", ""},
    {P2("CoWR", T(STR(X, 1), LDR(X)), T(STR(X, 2)), 2, 1, 1), "x", "11 12 22", ""},
    {P2("CoRW", T(LDR(X), STR(X, 1)), T(STR(X, 2)), 2, 1, 1), "x", "01 02 21", ""},
    {P2("CoWW", T(STR(X, 1), STR(X, 2)), T(LDR(X)), 2, 1, 1), "x", "02 12 22", ""},
    /* Own stores are seen at once, through the buffer too (Owens et al.: n6 and the like). */
    {P2("SB own", T(STR(X, 1), LDR(X), LDR(Y)), T(STR(Y, 1), LDR(Y), LDR(X)), 3, 3, 2),
     "", "1011 1110 1111", "1010:TABP"},

    /* Atomicity. */
    {P2("two add", T(ADD(X, 1)), T(ADD(X, 1)), 1, 1, 1), "x", "012 102", ""},
    {P2("two cas", T(CAS(X, 0, 1)), T(CAS(X, 0, 2)), 1, 1, 1), "x", "0f1 f02", ""},
    {P2("add against store", T(ADD(X, 2)), T(STR(X, 1)), 1, 1, 1), "x", "01 13", ""},

    /* IRIW: PLDI 2011 IRIW+addrs allowed, IRIW+syncs forbidden; ARMv8 is multi-copy atomic. */
    {{"IRIW", 4, 2, {1, 1, 2, 2}, {T(STR(X, 1)), T(STR(Y, 1)), T(LDR(X), LDR(Y)),
        T(LDR(Y), LDR(X))}},
     "", SC_IRIW, "1010:ABP"},
    {{"IRIW acq", 4, 2, {1, 1, 2, 2}, {T(STR(X, 1)), T(STR(Y, 1)), T(LDA(X), LDA(Y)),
        T(LDA(Y), LDA(X))}},
     "", SC_IRIW, "1010:P"},
    {{"IRIW rel acq", 4, 2, {1, 1, 2, 2}, {T(STL(X, 1)), T(STL(Y, 1)), T(LDA(X), LDA(Y)),
        T(LDA(Y), LDA(X))}},
     "", SC_IRIW, "1010:P"},
    {{"IRIW load", 4, 2, {1, 1, 2, 2}, {T(STR(X, 1)), T(STR(Y, 1)), T(LD(X), LD(Y)),
        T(LD(Y), LD(X))}},
     "", SC_IRIW, ""},
    {{"IRIW fence", 4, 2, {1, 1, 3, 3}, {T(STR(X, 1)), T(STR(Y, 1)), T(LDR(X), F, LDR(Y)),
        T(LDR(Y), F, LDR(X))}},
     "", SC_IRIW, ""},

    /* WRC: PLDI 2011 WRC+addrs allowed, WRC+lwsync+addr forbidden (cumulativity). */
    {{"WRC", 3, 2, {1, 2, 2}, {T(STR(X, 1)), T(LDR(X), STR(Y, 1)), T(LDR(Y), LDR(X))}},
     "", SC_WRC, "110:ABP"},
    {{"WRC acq acq", 3, 2, {1, 2, 2}, {T(STR(X, 1)), T(LDA(X), STR(Y, 1)), T(LDA(Y), LDR(X))}},
     "", SC_WRC, "110:P"},
    {{"WRC rel acq", 3, 2, {1, 2, 2}, {T(STR(X, 1)), T(LDR(X), STL(Y, 1)), T(LDA(Y), LDR(X))}},
     "", SC_WRC, ""},
    {{"WRC fence", 3, 2, {1, 3, 3}, {T(STR(X, 1)), T(LDR(X), F, STR(Y, 1)), T(LDR(Y), F, LDR(X))}},
     "", SC_WRC, ""},
    {{"WRC cas acq", 3, 2, {1, 2, 2}, {T(STR(X, 1)), T(CAS(X, 1, 2), STL(Y, 1)),
        T(LDA(Y), LDR(X))}},
     "", "f00 f01 f10 f11 100 101 102 112", ""},

    /* ISA2: Tutorial section 5: ISA2+lwsync+addr+addr forbidden. */
    {{"ISA2", 3, 3, {2, 2, 2}, {T(STR(X, 1), STR(Y, 1)), T(LDR(Y), STR(Z, 1)), T(LDR(Z), LDR(X))}},
     "", SC_WRC, "110:ABP"},
    {{"ISA2 rel acq acq", 3, 3, {2, 2, 2}, {T(STR(X, 1), STL(Y, 1)), T(LDA(Y), STR(Z, 1)),
        T(LDA(Z), LDR(X))}},
     "", SC_WRC, ""},
    {{"ISA2 rel rlx acq", 3, 3, {2, 2, 2}, {T(STR(X, 1), STL(Y, 1)), T(LDR(Y), STR(Z, 1)),
        T(LDA(Z), LDR(X))}},
     "", SC_WRC, "110:A"},
    {{"ISA2 rel rel acq", 3, 3, {2, 2, 2}, {T(STR(X, 1), STL(Y, 1)), T(LDR(Y), STL(Z, 1)),
        T(LDA(Z), LDR(X))}},
     "", SC_WRC, ""},
    {{"ISA2 fence", 3, 3, {3, 3, 3}, {T(STR(X, 1), F, STR(Y, 1)), T(LDR(Y), F, STR(Z, 1)),
        T(LDR(Z), F, LDR(X))}},
     "", SC_WRC, ""},

    /* RWC, W+RWC: Tutorial: RWC+addr+sync and W+RWC+lwsync+addr+sync allowed on POWER. */
    {{"RWC acq fence", 3, 2, {1, 2, 3}, {T(STR(X, 1)), T(LDA(X), LDR(Y)), T(STR(Y, 1), F, LDR(X))}},
     "", "000 001 010 011 101 110 111", "100:P"},
    {{"RWC fence", 3, 2, {1, 3, 3}, {T(STR(X, 1)), T(LDR(X), F, LDR(Y)), T(STR(Y, 1), F, LDR(X))}},
     "", "000 001 010 011 101 110 111", ""},
    {{"W+RWC rel acq fence", 3, 3, {2, 2, 3}, {T(STR(X, 1), STL(Y, 1)), T(LDA(Y), LDR(Z)),
        T(STR(Z, 1), F, LDR(X))}},
     "", "000 001 010 011 101 110 111", "100:P"},
};
/* clang-format on */

static struct lit_set seen;

static char digit(lit_outcome o, int i)
{
    int v = (int)(o >> 4 * i & 15);
    return v == 15 ? 'f' : (char)('0' + v);
}

/* The outcome as a row writes it. */
static void as_text(const struct row *r, lit_outcome o, char *out)
{
    int regs = lit_regs(&r->p), n = 0;

    for (int i = 0; i < regs; i++)
        out[n++] = digit(o, i);
    for (const char *c = r->shown; *c != '\0'; c++)
        out[n++] = digit(o, regs + *c - 'x');
    out[n] = '\0';
}

static bool is_listed(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (at[n] == '\0' || at[n] == ' '))
            return true;
    return false;
}

/* The models behind an outcome of the weak list; "" if it is not there. */
static const char *weak_models(const struct row *r, const char *word, char buf[16])
{
    char key[32];

    snprintf(key, sizeof(key), "%s:", word);
    for (const char *at = strstr(r->weak, key); at != NULL; at = strstr(at + 1, key))
        if (at == r->weak || at[-1] == ' ') {
            sscanf(at + strlen(key), "%15[A-Za-z]", buf);
            return buf;
        }
    return "";
}

static bool expected(const struct row *r, const char *word, char model)
{
    char buf[16] = "";

    return is_listed(r->sc, word) || (model != 'S' && strchr(weak_models(r, word, buf), model));
}

static int count_words(const char *list)
{
    int n = *list != '\0';

    for (; *list != '\0'; list++)
        n += *list == ' ';
    return n;
}

static int count_expected(const struct row *r, char model)
{
    int n = count_words(r->sc);
    const char *at = r->weak;

    while (*at != '\0') {
        const char *end = at + strcspn(at, " ");
        const char *colon = strchr(at, ':');
        n += model != 'S' && memchr(colon, model, (size_t)(end - colon)) != NULL;
        at = *end == ' ' ? end + 1 : end;
    }
    return n;
}

/* Different outcomes as the row shows them; -1 after an unexpected one. */
static int distinct_expected(const struct row *r, char model)
{
    static char words[256][16];
    int n = 0;

    for (size_t i = 0; i < seen.count; i++) {
        bool is_new = true;
        char word[16];
        as_text(r, seen.at[i], word);
        if (!expected(r, word, model)) {
            fprintf(stderr, "%s, %c: %s is forbidden, and was seen\n", r->p.name, model, word);
            return -1;
        }
        for (int j = 0; j < n; j++)
            is_new &= strcmp(words[j], word) != 0;
        if (is_new)
            strcpy(words[n++], word);
    }
    return n;
}

static int check_model(enum mm_kind kind, char model, bool ctrl)
{
    int wrong = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        lit_explore(&r->p, kind, ctrl, &seen);
        int n = distinct_expected(r, model), want = count_expected(r, model);
        if (n >= 0 && n != want)
            fprintf(stderr, "%s, %c: %d outcomes, want %d\n", r->p.name, model, n, want);
        wrong += n != want || !seen.whole;
    }
    return wrong;
}

TEST_CASE(Table, Sc) { CHECK_EQ(check_model(MM_SC, 'S', false), 0); }

TEST_CASE(Table, Tso) { CHECK_EQ(check_model(MM_TSO, 'T', false), 0); }

TEST_CASE(Table, Arm64) { CHECK_EQ(check_model(MM_ARM, 'A', false), 0); }

TEST_CASE(Table, Arm64WithBranches) { CHECK_EQ(check_model(MM_ARM, 'B', true), 0); }

TEST_CASE(Table, Ppc64) { CHECK_EQ(check_model(MM_POWER, 'P', true), 0); }

/* What a model leaves out, the published model does allow: else the row would claim too much. */
TEST_CASE(Table, LeftOutIsLoadBufferingOnly)
{
    static struct lit_set published, porf;
    int left_out = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        lit_axioms(&rows[i].p, MM_ARM, 0, &published);
        lit_axioms(&rows[i].p, MM_ARM, LIT_PORF, &porf);
        bool marked = strchr(rows[i].weak, 'a') != NULL;
        CHECK_EQ(marked, !lit_equal(&published, &porf));
        CHECK(lit_subset(&porf, &published));
        left_out += marked;
    }
    CHECK_EQ(left_out, 2);
}
