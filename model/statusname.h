/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses in words, for people; as runtime2.go's names without their prefix. */
#ifndef MODEL_STATUSNAME_H
#define MODEL_STATUSNAME_H
#include "runtime2.h"

static const char *gstatus_name(uint32_t status)
{
    switch (status & ~(uint32_t)Gscan) {
    case Gidle: return "idle";
    case Grunnable: return "runnable";
    case Grunning: return "running";
    case Gsyscall: return "syscall";
    case Gwaiting: return "waiting";
    case Gdead: return "dead";
    case Gcopystack: return "copystack";
    case Gpreempted: return "preempted";
    case Gleaked: return "leaked";
    case Gdeadextra: return "deadextra";
    default: return "?";
    }
}

static const char *pstatus_name(uint32_t status)
{
    static const char *const names[] = {"idle", "running", "syscall", "gcstop", "dead"};
    return status < sizeof names / sizeof *names ? names[status] : "?";
}

#endif
