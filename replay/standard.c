/* SPDX-License-Identifier: BSD-3-Clause */
/* Which functions belong to Go: of the runtime, or of another package of the standard library. */
#include <string.h>

#include "replay/trace.h"

/* The first parts of import paths in Go's standard library. */
static const char *const standard[] = {
    "runtime",  "sync",    "internal", "net",    "os",      "io",       "time",     "syscall",
    "bufio",    "bytes",   "strings",  "fmt",    "reflect", "context",  "errors",   "sort",
    "slices",   "maps",    "math",     "log",    "crypto",  "encoding", "compress", "container",
    "database", "debug",   "embed",    "flag",   "go",      "hash",     "html",     "image",
    "index",    "iter",    "mime",     "path",   "plugin",  "regexp",   "strconv",  "testing",
    "text",     "unicode", "unique",   "unsafe", "weak",    "archive",  "expvar",   "cmp",
    "vendor",   "arena",   "simd",     NULL,
};

bool trace_is_standard(const char *func)
{
    size_t size = strcspn(func, "./");
    for (int i = 0; standard[i] != NULL; i++)
        if (strlen(standard[i]) == size && memcmp(standard[i], func, size) == 0)
            return true;
    return false;
}
