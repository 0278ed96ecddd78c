/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory faults: the first write to a page of the common beginning goes on, and a wild pointer of
 * the explored program ends its run. */
#define _DEFAULT_SOURCE /* sigaltstack */
#include <signal.h>
#include <stddef.h>

#include "sim/explore/ex_int.h"

/* Code whose orders are too weak follows pointers that are not there yet. That is a verdict on the
 * run, not the end of the search. */
static unsigned char fault_stack[64 * 1024];
static struct sigaction old_segv, old_bus;
static stack_t old_stack;

static void on_fault(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (ex_start_touched_(info->si_addr))
        return;
    if (ex.running)
        ex_leave_(END_THROWN, sig == SIGBUS ? "bus error" : "memory fault: a wild pointer");
    signal(sig, SIG_DFL); /* not ours: it happens again and ends the process */
}

void ex_faults_catch_(void)
{
    stack_t st = {.ss_sp = fault_stack, .ss_size = sizeof(fault_stack)};
    struct sigaction sa = {.sa_sigaction = on_fault,
                           .sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO};

    if (!EX_CATCHES_FAULTS)
        return;
    sigaltstack(&st, &old_stack);
    sigaction(SIGSEGV, &sa, &old_segv);
    sigaction(SIGBUS, &sa, &old_bus);
}

void ex_faults_release_(void)
{
    if (!EX_CATCHES_FAULTS)
        return;
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS, &old_bus, NULL);
    sigaltstack(&old_stack, NULL);
}
