/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime's own lock for readers and a writer (rwmutex.go), and what it is for here: nobody may
 * clone a thread while somebody executes another program (syscall.Exec). */
#ifndef MODEL_RWMUTEX_H
#define MODEL_RWMUTEX_H
#include "lock.h"

struct rtrwmutex {
    struct mutex rLock;  /* readers, readerPass, writer */
    struct m *readers;   /* that wait, by schedlink */
    uint32_t readerPass; /* pending readers that need not wait */
    struct mutex wLock;  /* between writers */
    struct m *writer;    /* that waits for the readers */
    ATOMIC(int32_t) readerCount, readerWait;
};

static void rtrw_rlock(struct rtrwmutex *rw);
static void rtrw_runlock(struct rtrwmutex *rw);
static void rtrw_lock(struct rtrwmutex *rw);
static void rtrw_unlock(struct rtrwmutex *rw);

/* rt->execLock, where the program has an exec: else nobody ever writes. */
static void exec_init(void);
static bool exec_is_held(void);
static void exec_rlock(void);
static void exec_runlock(void);
#endif
