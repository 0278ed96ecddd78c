/* SPDX-License-Identifier: BSD-3-Clause */
/* A goroutine program: constant data that the interpreter (interp.c) runs. Host independent: the
 * scenario compiler and the trace importer write programs, program_check makes any of them safe to
 * interpret.
 *
 * A function's frame is nregs int64 registers; parameters are the first ones, the others start at
 * 0. Control stays inside a function's code [entry, end) and its last instruction is one that never
 * falls through. Functions are in the order of their code. Handles of objects are ordinary values,
 * so they go through registers, variables and channels; a wrong one is found at run time.
 * Everything a program points to belongs to whoever made it and stays valid as long as the world.
 */
#ifndef MODEL_PROG_H
#define MODEL_PROG_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* sim/base/dist.h: a distribution, and its value at probability p / 2^64. */
struct dist;
int64_t dist_quantile(const struct dist *d, uint64_t p);

enum op {
#define OP(name, a, b, c, d, imm, what) OP_##name,
#include "ops.def"
#undef OP
    OPS
};

/* A P's id fits 16 bits of a record, and one value says "none". */
enum { PROCS_MAX = 65000 };

/* A cond's lock is the RLocker of its RWMutex. */
#define COND_RLOCKER (INT64_C(1) << 32)

enum { NOREG = 255, OBJ_REG = -1, NREGS_MAX = 250, SELECT_CASES_MAX = 65535 };

struct insn {
    uint8_t op, a, b, c;
    int32_t d;
    int64_t imm;
};
_Static_assert(sizeof(struct insn) == 16, "four instructions to a cache line");

/* CPU's a: how preemption reaches the code. */
enum cpu_kind {
    CPU_normal,    /* calls functions: preemptible by request and by signal */
    CPU_tight,     /* a loop without calls: by signal only */
    CPU_nopreempt, /* no safe point until it ends */
    CPU_KINDS
};
enum { CALL_KINDS = 4 }; /* of SYSCALL: enum syscall_kind of the hosts */

enum object_kind {
    OBJ_CHAN = 1, /* param: capacity */
    OBJ_MUTEX,
    OBJ_RWMUTEX,
    OBJ_WAITGROUP,
    OBJ_COND, /* param: index of its lock (MAKE: the handle), of an RWMutex maybe + COND_RLOCKER */
    OBJ_ONCE,
    OBJ_SEMA, /* param: size */
    OBJ_POOL,
    OBJ_VAR, /* param: first value */
    OBJ_FD,  /* param: index of its arrival process, -1 none */
    /* The kinds above may be declared or made, those below come from their own instructions. */
    OBJ_DECLARED,
    OBJ_TIMER = OBJ_DECLARED,
    OBJ_CONTEXT,
    OBJ_CORO,
    OBJ_KINDS
};

/* Kinds of operands, as the columns of ops.def name them. */
enum operand {
    N_,
    RR,
    RO,
    RW,
    RX,
    RA,
    CT,
    HR,
    KI,
    IV,
    IP,
    IG,
    IF,
    HV,
    D_TG,
    D_FN,
    D_FO,
    D_DI,
    D_DO,
    D_ST,
    D_SO,
    D_SE,
    D_SP,
    D_OBJ, /* an object; the ones below say of which kind */
    D_CH,
    D_MU,
    D_RW,
    D_WG,
    D_CO,
    D_ON,
    D_SM,
    D_PO,
    D_VA,
    D_FD,
    D_TI,
    D_CX,
    D_CR
};

struct object_decl {
    const char *name;
    int64_t param;
    uint8_t kind;
};

/* Groups that no program declares: a goroutine of its function's name, and the ones in which
 * contexts end (package context is no part of the runtime, nor of the program). */
enum { GROUP_NONE = -1, GROUP_CONTEXT = -2 };

struct func {
    const char *name;
    uint32_t entry, end; /* its code */
    uint16_t nregs, nparams;
    uint32_t group; /* 1 + that of the goroutines in which timers run it; 0: none */
};

struct select_case {
    int32_t obj; /* channel object, or OBJ_REG: the handle is in hreg */
    uint8_t hreg;
    uint8_t reg; /* what to send, or where the received value goes (NOREG: nowhere) */
    bool send;
};

struct select_table {
    uint32_t first; /* into cases */
    uint16_t ncases;
    bool has_default;
};

/* How work arrives at a descriptor. Times are ns from the start of the world. */
enum arrival_kind {
    ARRIVE_EVERY,  /* one after each gap */
    ARRIVE_BURSTS, /* size at once after each gap */
    ARRIVE_TIMES,  /* at the times of the list */
    ARRIVE_CLOSED, /* size clients; each sends again a gap after its answer */
    ARRIVE_POSTED, /* when FDPOST says; at most size at a time that nobody has read */
    ARRIVE_KINDS
};

struct arrivals {
    uint8_t kind;
    uint8_t mode;     /* what becomes ready: 1 readable, 2 writable, 3 both */
    int32_t gap;      /* distribution; exponential makes a Poisson process */
    int64_t start_ns; /* nothing before */
    int64_t end_ns;   /* no new arrival at or after; 0: no end */
    int64_t count;    /* at most so many; 0: no limit */
    int64_t size;
    const int64_t *times; /* ascending */
    uint64_t ntimes;
};

struct program {
    const struct insn *code;
    const uint32_t *lines; /* per instruction its line in the source, or NULL */
    const struct func *funcs;
    const struct object_decl *objects;
    const struct select_table *selects;
    const struct select_case *cases;
    const char *const *strings;
    const struct dist *const *dists;
    const char *const *groups; /* names of goroutine groups */
    const char *const *spans;
    const struct arrivals *arrivals;
    uint32_t ncode, nfuncs, nobjects, nselects, ncases, nstrings, ndists, ngroups, nspans,
        narrivals;
    /* Recorded goroutines: all tapes one behind the other, and where each begins; the last entry
     * is where they end. NULL without any. */
    const uint8_t *tape;
    const uint64_t *tapes;
    uint64_t ntapes;
    uint64_t nevents;         /* EVWAIT and EVPOST have numbers below */
    const char *const *sites; /* places in the source of what was recorded, by TAPE_SITE */
    uint32_t nsites;
    uint32_t main;      /* function without parameters */
    uint32_t stack_max; /* registers of one goroutine's frames together; 0: STACK_WORDS_MAX */
};

/* Go's limit of 1 GB of stack, at 2 KB for the smallest Go frame chain we model. A power of two. */
enum { STACK_WORDS_MAX = 1 << 20 };

struct op_info {
    const char *name, *what;
    uint8_t a, b, c, d, imm; /* kinds of the operands (prog.c) */
};
extern const struct op_info op_infos[OPS];

/* True: safe to interpret. Otherwise a sentence is put in text (at most size bytes, always ended).
 */
bool program_check(const struct program *p, char *text, size_t size);
/* Function that contains pc, -1: none. */
int32_t program_func_at(const struct program *p, uint32_t pc);
#endif
