/* SPDX-License-Identifier: BSD-3-Clause */
/* Fuzz target: any program that passes program_check is safe to run, on every release.
 * libs: gmpsim_host_virt gmpsim_base
 *
 * Input: byte 0 release, byte 1 number of Ps, byte 2 how many instructions the first function has;
 * then an instruction per 8 bytes. Fields that an instruction does not have are cleared, so that a
 * mutation mostly changes what the program does and not whether it is accepted. */
#include <string.h>

#include "model/prog.h"
#include "run/host.h"
#include "sim/base/fail.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CODE_MAX = 256, CASES = 3 };

static const struct object_decl objects[] = {
    {"chan", 0, OBJ_CHAN},  {"buffered", 2, OBJ_CHAN}, {"mutex", 0, OBJ_MUTEX},
    {"rw", 0, OBJ_RWMUTEX}, {"wg", 0, OBJ_WAITGROUP},  {"cond", 2, OBJ_COND},
    {"once", 0, OBJ_ONCE},  {"sema", 2, OBJ_SEMA},     {"pool", 0, OBJ_POOL},
    {"var", 1, OBJ_VAR},    {"fd", -1, OBJ_FD},
};
static const struct select_case cases[CASES] = {
    {0, 0, 1, true}, {1, 0, 1, false}, {OBJ_REG, 2, 1, false}};
static const struct select_table selects[] = {{0, CASES, true}, {0, CASES, false}, {0, 1, true}};
static const char *const strings[] = {"%d", "text %s %t"}, *const names[] = {"name"};

static void clear_unused(struct insn *in)
{
    const struct op_info *o = &op_infos[in->op];
    in->a = o->a == N_ ? 0 : in->a;
    in->b = o->b == N_ ? 0 : in->b;
    in->c = o->c == N_ || (o->c == HR && in->d >= 0) ? 0 : in->c;
    in->d = o->d == N_ ? 0 : in->d;
    in->imm = o->imm == N_ ? 0 : in->imm;
    if (o->imm == HV && in->d >= 0)
        in->imm = 0;
}

/* 8 bytes: op a b c, then d and imm of 16 bits. */
static struct insn decode(const uint8_t *b)
{
    struct insn in = {(uint8_t)(b[0] % OPS),      b[1], b[2], b[3], (int16_t)(b[4] | b[5] << 8),
                      (int16_t)(b[6] | b[7] << 8)};
    clear_unused(&in);
    return in;
}

static uint32_t program_of(const uint8_t *data, size_t size, struct insn *code, struct func *funcs)
{
    uint32_t n = 0, first = data[2];
    for (size_t i = 3; i + 8 <= size && n < CODE_MAX - 2; i += 8) {
        if (n == first)
            code[n++] = (struct insn){OP_RET, NOREG, 0, 0, 0, 0};
        code[n++] = decode(data + i);
    }
    code[n++] = (struct insn){OP_RET, NOREG, 0, 0, 0, 0};
    uint32_t cut = first + 1 < n ? first + 1 : 0;
    funcs[0] = (struct func){"first", 0, cut != 0 ? cut : n, 6, 0, 0};
    funcs[1] = (struct func){"second", cut, n, 6, 1, 0};
    return n;
}

static void run(const struct program *p, int release, int procs)
{
    struct failure f = {0};
    struct profile prof;
    profile_init(&prof, release);
    const struct host_opts o = {.seed = 1,
                                .memory_max = (size_t)256 << 20,
                                .throws_end_process = true,
                                .world = {.profile = &prof, .program = p, .procs = procs}};
    if (!world_open(&host_virt, &f, &o))
        return;
    if (host_virt.run(500000000) == END_THROWN &&
        strstr(host_virt.verdict()->text, "memory") == NULL)
        __builtin_trap();
    host_virt.close();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct insn code[CODE_MAX];
    struct func funcs[2];
    char text[200];
    if (size < 3)
        return 0;
    struct program p = {.code = code,
                        .funcs = funcs,
                        .objects = objects,
                        .selects = selects,
                        .cases = cases,
                        .strings = strings,
                        .groups = names,
                        .spans = names,
                        .ncases = CASES,
                        .nobjects = sizeof objects / sizeof *objects,
                        .nselects = 3,
                        .nstrings = 2,
                        .ngroups = 1,
                        .nspans = 1,
                        .stack_max = 4096};
    p.ncode = program_of(data, size, code, funcs);
    p.nfuncs = funcs[0].end < p.ncode ? 2 : 1;
    if (!program_check(&p, text, sizeof text))
        return 0;
    run(&p, PROFILE_FIRST + data[0] % (PROFILE_LATEST - PROFILE_FIRST + 1), 1 + data[1] % 4);
    return 0;
}
