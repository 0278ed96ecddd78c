/* SPDX-License-Identifier: BSD-3-Clause */
/* A library to be preloaded: the n-th call of a kind fails, as it would on a machine that has run
 * out of something.
 *
 *     GMPSIM_FAULT=malloc:17      the 17th allocation returns NULL
 *     GMPSIM_FAULT=malloc:17+     ... and all that follow
 *     GMPSIM_FAULT_COUNT=FILE     nothing fails; FILE gets a line "kind count" per kind at the end
 *
 *     GMPSIM_FAULT=size:17        no file gets larger than 17 bytes (EFBIG)
 *
 * Kinds: malloc (malloc, calloc, realloc), map (mmap, mprotect), process (fork, clone through
 * pthread_create, posix_spawn), write (write, pwrite), sync (fsync, fdatasync), open (open,
 * fopen), poll (epoll_create1, epoll_ctl, eventfd, pipe2); size counts what the largest file got.
 * What the C library writes for a FILE is size's alone. Children are left in peace: what a pipe's
 * other end does is another program's concern. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { MALLOC, MAP, PROCESS, WRITE, SYNC, OPEN, POLL, SIZE, KINDS };
static const char *const names[KINDS] = {"malloc", "map",  "process", "write",
                                         "sync",   "open", "poll",    "size"};
static atomic_ulong calls[KINDS];
static enum kind failing = KINDS;
static unsigned long failing_at;
static bool and_later;
static const char *count_file;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

__attribute__((constructor)) static void begin(void)
{
    const char *fault = getenv("GMPSIM_FAULT");
    count_file = getenv("GMPSIM_FAULT_COUNT");
    for (int k = 0; fault != NULL && k < KINDS; k++) {
        size_t n = strlen(names[k]);
        if (strncmp(fault, names[k], n) == 0 && fault[n] == ':') {
            char *end;
            failing_at = strtoul(fault + n + 1, &end, 10);
            and_later = *end == '+';
            failing = (enum kind)k;
        }
    }
    if (failing == SIZE)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){failing_at, failing_at});
    for (int k = 0; k < KINDS; k++)
        atomic_store(&calls[k], 0);
    unsetenv("LD_PRELOAD");
}

/* Of all files below the folder. */
static unsigned long largest(const char *folder)
{
    unsigned long most = 0;
    struct stat st;
    DIR *d = opendir(folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || lstat(path, &st) != 0)
            continue;
        unsigned long size = S_ISDIR(st.st_mode)   ? largest(path)
                             : S_ISREG(st.st_mode) ? (unsigned long)st.st_size
                                                   : 0;
        most = size > most ? size : most;
    }
    if (d != NULL)
        closedir(d);
    return most;
}

__attribute__((destructor)) static void end(void)
{
    atomic_store(&calls[SIZE], largest("."));
    FILE *f = count_file != NULL ? fopen(count_file, "w") : NULL;
    for (int k = 0; f != NULL && k < KINDS; k++)
        fprintf(f, "%s %lu\n", names[k], atomic_load(&calls[k]));
    if (f != NULL)
        fclose(f);
}

static bool fails(enum kind k)
{
    unsigned long n = atomic_fetch_add(&calls[k], 1) + 1;
    return failing == k && (n == failing_at || (and_later && n > failing_at));
}

#define NEXT(name) (__extension__((__typeof__(&name))dlsym(RTLD_NEXT, #name)))
#define FAIL_WITH(kind, error, value) \
    do {                              \
        if (fails(kind)) {            \
            errno = (error);          \
            return value;             \
        }                             \
    } while (0)

void *malloc(size_t n)
{
    FAIL_WITH(MALLOC, ENOMEM, NULL);
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
    FAIL_WITH(MALLOC, ENOMEM, NULL);
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    FAIL_WITH(MALLOC, ENOMEM, NULL);
    return __libc_realloc(p, n);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    FAIL_WITH(MAP, ENOMEM, MAP_FAILED);
    return NEXT(mmap)(at, n, prot, flags, fd, off);
}

int mprotect(void *at, size_t n, int prot)
{
    FAIL_WITH(MAP, ENOMEM, -1);
    return NEXT(mprotect)(at, n, prot);
}

pid_t fork(void)
{
    FAIL_WITH(PROCESS, EAGAIN, -1);
    return NEXT(fork)();
}

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
    FAIL_WITH(PROCESS, EAGAIN, EAGAIN);
    return NEXT(pthread_create)(t, a, fn, arg);
}

ssize_t write(int fd, const void *p, size_t n)
{
    FAIL_WITH(WRITE, ENOSPC, -1);
    return NEXT(write)(fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    FAIL_WITH(WRITE, ENOSPC, -1);
    return NEXT(pwrite)(fd, p, n, at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at) __attribute__((alias("pwrite")));

int fsync(int fd)
{
    FAIL_WITH(SYNC, EIO, -1);
    return NEXT(fsync)(fd);
}

int fdatasync(int fd)
{
    FAIL_WITH(SYNC, EIO, -1);
    return NEXT(fdatasync)(fd);
}

int epoll_create1(int flags)
{
    FAIL_WITH(POLL, EMFILE, -1);
    return NEXT(epoll_create1)(flags);
}

int epoll_ctl(int ep, int op, int fd, struct epoll_event *event)
{
    FAIL_WITH(POLL, ENOSPC, -1);
    return NEXT(epoll_ctl)(ep, op, fd, event);
}

int eventfd(unsigned value, int flags)
{
    FAIL_WITH(POLL, EMFILE, -1);
    return NEXT(eventfd)(value, flags);
}

int pipe2(int ends[2], int flags)
{
    FAIL_WITH(POLL, EMFILE, -1);
    return NEXT(pipe2)(ends, flags);
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    FAIL_WITH(OPEN, EMFILE, -1);
    return NEXT(open)(path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    FAIL_WITH(OPEN, EMFILE, NULL);
    return NEXT(fopen)(path, mode);
}

/* The names for files of 64 bits, which are the same functions here. */
int open64(const char *path, int flags, ...) __attribute__((alias("open")));
FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
void *mmap64(void *at, size_t n, int prot, int flags, int fd, off_t off)
    __attribute__((alias("mmap")));
