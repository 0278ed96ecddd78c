/* SPDX-License-Identifier: BSD-3-Clause */
#include "store/owner.h"

#include <fcntl.h>
#include <unistd.h>

/* SQLite's locks are at 2^30, its files end before 2^48. */
static const int64_t first_byte = INT64_C(1) << 60;

int owner_open(const char *path) { return open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }

void owner_close(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Locks of the open file, not of the process: SQLite's own are of the process, and one kind knows
 * nothing of the other within a process. */
static bool lock(int fd, int command, short type, int64_t run, struct flock *l)
{
    *l = (struct flock){
        .l_type = type, .l_whence = SEEK_SET, .l_start = first_byte + run, .l_len = 1};
    return fd >= 0 && run > 0 && run < first_byte && fcntl(fd, command, l) == 0;
}

void owner_take(int fd, int64_t run)
{
    struct flock l;
    (void)lock(fd, F_OFD_SETLK, F_WRLCK, run, &l);
}

void owner_release(int fd, int64_t run)
{
    struct flock l;
    (void)lock(fd, F_OFD_SETLK, F_UNLCK, run, &l);
}

bool owner_is_alive(int fd, int64_t run)
{
    struct flock l;
    return !lock(fd, F_OFD_GETLK, F_WRLCK, run, &l) || l.l_type != F_UNLCK;
}
