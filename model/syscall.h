/* SPDX-License-Identifier: BSD-3-Clause */
/* Entering and leaving system calls, and taking the P of one that lasts. */
#ifndef MODEL_SYSCALL_H
#define MODEL_SYSCALL_H
#include "step.h"

struct syscallingThread {
    struct g *gp;
    struct m *mp;
    struct p *pp;
    uint32_t status;
};

static void addGSyscallNoP(struct m *mp);
static void decGSyscallNoP(struct m *mp);
static void wake_sysmon_locked(void);
static bool setBlockOnExitSyscall(struct p *pp, struct syscallingThread *t);
static void syscalling_resume(const struct syscallingThread *t);
static void syscalling_takeP(const struct syscallingThread *t, enum ev_retake why);
static void syscalling_gcstopP(const struct syscallingThread *t);
static void entersyscall(struct g *gp);
static void entersyscallblock(struct g *gp);
static enum opres exitsyscall(struct g *gp);
#endif
