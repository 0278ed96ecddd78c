/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of a trace, from a file, a pipe or memory; gzip and zstd are undone on the way. What a
 * compressed file holds is told from its first bytes, not from its name. */
#include "replay/trace_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "sim/base/alloc.h"

enum { PACKED_SIZE = 1 << 16 };

enum packing { PLAIN, GZIP, ZSTD };

struct input {
    int fd; /* -1: from memory */
    const uint8_t *bytes;
    size_t size, at;
    enum packing packing;
    z_stream gz;
    ZSTD_DStream *zs;
    bool open;     /* a compressed stream has begun and not ended */
    uint64_t done; /* compressed bytes taken */
    uint8_t packed[PACKED_SIZE];
    size_t npacked, packed_at;
};

/* Bytes as they lie in the file. */
static bool raw_read(struct input *in, struct failure *f, void *to, size_t size, size_t *got)
{
    if (in->fd < 0) {
        *got = size < in->size - in->at ? size : in->size - in->at;
        if (*got > 0)
            memcpy(to, in->bytes + in->at, *got);
        in->at += *got;
        return true;
    }
    for (;;) {
        ssize_t n = read(in->fd, to, size);
        if (n >= 0) {
            *got = (size_t)n;
            return true;
        }
        if (errno != EINTR) {
            fail(f, E_IO, "cannot read: %s", strerror(errno));
            return false;
        }
    }
}

/* More compressed bytes, if all were taken. */
static bool refill(struct input *in, struct failure *f)
{
    if (in->packed_at < in->npacked)
        return true;
    in->packed_at = 0;
    return raw_read(in, f, in->packed, sizeof in->packed, &in->npacked);
}

static enum packing packing_of(const uint8_t *b, size_t size)
{
    if (size >= 2 && b[0] == 0x1f && b[1] == 0x8b)
        return GZIP;
    if (size >= 4 && b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd)
        return ZSTD;
    return PLAIN;
}

/* Looks at the first bytes; they wait in `packed` whatever they are. */
static bool begin(struct input *in, struct failure *f)
{
    while (in->npacked < 16) {
        size_t got;
        if (!raw_read(in, f, in->packed + in->npacked, sizeof in->packed - in->npacked, &got))
            return false;
        if (got == 0)
            break;
        in->npacked += got;
    }
    in->packing = packing_of(in->packed, in->npacked);
    if (in->packing == GZIP && inflateInit2(&in->gz, 16 + MAX_WBITS) != Z_OK) {
        fail(f, E_LIMIT, "no memory to unpack");
        return false;
    }
    if (in->packing == ZSTD && (in->zs = ZSTD_createDStream()) == NULL) {
        fail(f, E_LIMIT, "no memory to unpack");
        return false;
    }
    in->open = in->packing != PLAIN;
    return true;
}

struct input *input_open(struct failure *f, const char *path)
{
    bool std = strcmp(path, "-") == 0;
    int fd = std ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fail(f, E_IO, "%s", strerror(errno));
        return NULL;
    }
    struct input *in = x_alloc(sizeof *in);
    memset(in, 0, offsetof(struct input, packed));
    in->npacked = in->packed_at = 0;
    in->fd = fd;
    if (!begin(in, f)) {
        input_close(in);
        return NULL;
    }
    return in;
}

struct input *input_bytes(const void *bytes, size_t size)
{
    struct input *in = x_alloc(sizeof *in);
    memset(in, 0, offsetof(struct input, packed));
    in->npacked = in->packed_at = 0;
    in->fd = -1;
    in->bytes = bytes;
    in->size = size;
    if (!begin(in, NULL)) {
        input_close(in);
        return NULL;
    }
    return in;
}

static bool gunzip(struct input *in, struct failure *f, void *to, size_t size, size_t *got)
{
    in->gz.next_out = to;
    in->gz.avail_out = (unsigned)size;
    while (in->gz.avail_out == size) {
        if (!refill(in, f))
            return false;
        if (in->npacked == 0) { /* the end; a member may have ended just before */
            if (in->open)
                fail(f, E_TRACE, "gzip: the file is cut at byte %llu",
                     (unsigned long long)in->done);
            *got = 0;
            return !in->open;
        }
        if (!in->open && inflateReset(&in->gz) == Z_OK)
            in->open = true;
        in->gz.next_in = in->packed + in->packed_at;
        in->gz.avail_in = (unsigned)(in->npacked - in->packed_at);
        int rc = inflate(&in->gz, Z_NO_FLUSH);
        in->done += in->npacked - in->packed_at - in->gz.avail_in;
        in->packed_at = in->npacked - in->gz.avail_in;
        if (rc == Z_STREAM_END) {
            in->open = false;
        } else if (rc != Z_OK) {
            fail(f, E_TRACE, "gzip: damaged at byte %llu: %s", (unsigned long long)in->done,
                 in->gz.msg != NULL ? in->gz.msg : "bad data");
            return false;
        }
    }
    *got = size - in->gz.avail_out;
    return true;
}

static bool unzstd(struct input *in, struct failure *f, void *to, size_t size, size_t *got)
{
    ZSTD_outBuffer out = {.dst = to, .size = size};
    while (out.pos == 0) {
        if (!refill(in, f))
            return false;
        if (in->npacked == 0) {
            if (in->open)
                fail(f, E_TRACE, "zstd: the file is cut at byte %llu",
                     (unsigned long long)in->done);
            *got = 0;
            return !in->open;
        }
        ZSTD_inBuffer from = {.src = in->packed, .size = in->npacked, .pos = in->packed_at};
        size_t rc = ZSTD_decompressStream(in->zs, &out, &from);
        in->done += from.pos - in->packed_at;
        in->packed_at = from.pos;
        if (ZSTD_isError(rc)) {
            fail(f, E_TRACE, "zstd: damaged at byte %llu: %s", (unsigned long long)in->done,
                 ZSTD_getErrorName(rc));
            return false;
        }
        in->open = rc != 0;
    }
    *got = out.pos;
    return true;
}

bool input_read(struct input *in, struct failure *f, void *to, size_t size, size_t *got)
{
    if (in->packing == GZIP)
        return gunzip(in, f, to, size, got);
    if (in->packing == ZSTD)
        return unzstd(in, f, to, size, got);
    if (in->packed_at == in->npacked)
        return raw_read(in, f, to, size, got);
    *got = size < in->npacked - in->packed_at ? size : in->npacked - in->packed_at;
    memcpy(to, in->packed + in->packed_at, *got);
    in->packed_at += *got;
    return true;
}

void input_close(struct input *in)
{
    if (in == NULL)
        return;
    if (in->packing == GZIP)
        inflateEnd(&in->gz);
    ZSTD_freeDStream(in->zs);
    if (in->fd > STDERR_FILENO)
        close(in->fd);
    free(in);
}

bool trace_looks_like(const void *bytes, size_t size)
{
    const char *b = bytes;
    if (packing_of(bytes, size) != PLAIN)
        return true;
    return size >= 16 && memcmp(b, "go 1.", 5) == 0 && memmem(b, 16, " trace", 6) != NULL;
}
