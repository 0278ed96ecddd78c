/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* mremap */
#include "sim/base/spill.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/base/alloc.h"

enum { STEP = 64 << 20, MUCH = 192 << 20 };
static const size_t FROM = 64 << 20;
static size_t from;

void spill_from(size_t size) { from = size; }

/* A file that is gone when it is closed, however the process ends; -1: none. */
static int nameless(void)
{
    char path[4096];
    const char *folder = getenv("TMPDIR");
    snprintf(path, sizeof path, "%.4000s/gmpsim-XXXXXX", folder != NULL ? folder : "/var/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* What is written to a mapped file that the disk has no room for ends the process: so the room is
 * taken before. */
static bool lengthen(int fd, size_t was, size_t size)
{
    return posix_fallocate(fd, (off_t)was, (off_t)(size - was)) == 0;
}

static void *map(int fd, size_t size)
{
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return p != MAP_FAILED ? p : NULL;
}

static bool to_file(struct spill *s, size_t size)
{
    int fd = nameless();
    void *p = fd >= 0 && lengthen(fd, 0, size) ? map(fd, size) : NULL;
    if (p == NULL) {
        if (fd >= 0)
            close(fd);
        s->refused = true;
        return false;
    }
    if (s->room > 0)
        memcpy(p, s->at, s->room);
    free(s->at);
    *s = (struct spill){.at = p, .room = size, .file = fd + 1};
    return true;
}

static bool grow_file(struct spill *s, size_t size)
{
    if (!lengthen(s->file - 1, s->room, size))
        return false;
    void *p = mremap(s->at, s->room, size, MREMAP_MAYMOVE);
    if (p == MAP_FAILED)
        return false;
    s->at = p;
    s->room = size;
    return true;
}

static void to_memory(struct spill *s, size_t size)
{
    void *p = x_malloc(size);
    memcpy(p, s->at, s->room);
    spill_free(s);
    *s = (struct spill){.at = p, .room = size, .refused = true};
}

static size_t in_steps(size_t size) { return (size + STEP - 1) / STEP * STEP; }

void spill_grow(struct spill *s, size_t size)
{
    if (size <= s->room)
        return;
    if (s->file == 0 && !s->refused && size >= (from != 0 ? from : FROM) &&
        to_file(s, in_steps(size)))
        return;
    if (s->file != 0 && grow_file(s, in_steps(size)))
        return;
    size_t more = s->room * 2 > size ? s->room * 2 : size;
    if (s->file != 0) {
        to_memory(s, more);
        return;
    }
    s->at = x_grow(s->at, more);
    s->room = more;
}

void spill_rest(const struct spill *s)
{
    if (s->file != 0)
        (void)madvise(s->at, s->room, MADV_DONTNEED);
}

void spill_free(struct spill *s)
{
    if (s->file != 0) {
        munmap(s->at, s->room);
        close(s->file - 1);
    } else {
        free(s->at);
    }
    *s = (struct spill){0};
}

/* The third number: pages of mapped files, of which the program's own are few. */
bool spill_is_much(void)
{
    char text[200] = "";
    unsigned long long shared = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0 || sscanf(text, "%*u %*u %llu", &shared) != 1)
        return true;
    return shared * (unsigned long long)sysconf(_SC_PAGESIZE) > MUCH;
}
