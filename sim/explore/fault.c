/* SPDX-License-Identifier: BSD-3-Clause */
/* Wild pointers: a fault of the explored program ends its run. */
#define _DEFAULT_SOURCE /* sigaltstack */
#include <signal.h>
#include <stddef.h>

#include "sim/explore/ex_int.h"

/* Code whose orders are too weak follows pointers that are not there yet. That is a verdict on the
 * run, not the end of the search. Sanitizers have handlers of their own and say more: they keep
 * them. */
#if defined(GMPSIM_ASAN) || defined(GMPSIM_TSAN)
enum { CATCH_FAULTS = 0 };
#else
enum { CATCH_FAULTS = 1 };
#endif
static unsigned char fault_stack[64 * 1024];
static struct sigaction old_segv, old_bus;
static stack_t old_stack;

static void on_fault(int sig)
{
    if (ex.running)
        ex_leave_(END_THROWN, sig == SIGBUS ? "bus error" : "memory fault: a wild pointer");
    signal(sig, SIG_DFL); /* not ours: it happens again and ends the process */
}

void ex_faults_catch_(void)
{
    stack_t st = {.ss_sp = fault_stack, .ss_size = sizeof(fault_stack)};
    struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER};

    if (!CATCH_FAULTS)
        return;
    sigaltstack(&st, &old_stack);
    sigaction(SIGSEGV, &sa, &old_segv);
    sigaction(SIGBUS, &sa, &old_bus);
}

void ex_faults_release_(void)
{
    if (!CATCH_FAULTS)
        return;
    sigaction(SIGSEGV, &old_segv, NULL);
    sigaction(SIGBUS, &old_bus, NULL);
    sigaltstack(&old_stack, NULL);
}
