/* SPDX-License-Identifier: BSD-3-Clause */
#include "replay/sidecar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/alloc.h"

enum { PATH_LEN = 4200, SIZE_MAX_BYTES = 64 << 10, VERSION = 1 };

/* The numbers by name, for reading and writing. */
#define NUMBERS(X)     \
    X(futex_wake_ns)   \
    X(wake_latency_ns) \
    X(wake_deep_ns) X(deep_after_ns) X(sleep_late_ns) X(pause_ps) X(thread_run_ns) X(thread_wait_ns)
#define TEXTS(X) X(go) X(kernel) X(command) X(cpu_stat)

static void path_of(const char *trace, char *path)
{
    snprintf(path, PATH_LEN, "%.4000s.gmpsim.json", trace);
}

cJSON *sidecar_json(const struct sidecar *s)
{
    cJSON *j = cJSON_CreateObject();
    cJSON_AddNumberToObject(j, "version", VERSION);
    cJSON_AddNumberToObject(j, "procs", s->procs);
    cJSON_AddNumberToObject(j, "cpus", s->cpus);
    cJSON_AddNumberToObject(j, "threads", s->threads);
    cJSON_AddBoolToObject(j, "deep", s->deep);
#define WRITE(name) cJSON_AddNumberToObject(j, #name, (double)s->name);
    NUMBERS(WRITE)
#undef WRITE
#define WRITE(name) cJSON_AddStringToObject(j, #name, s->name);
    TEXTS(WRITE)
#undef WRITE
    return j;
}

bool sidecar_write(struct failure *f, const char *trace, const struct sidecar *s)
{
    char path[PATH_LEN];
    cJSON *j = sidecar_json(s);
    path_of(trace, path);
    char *text = cJSON_Print(j);
    FILE *out = fopen(path, "wb");
    bool ok = out != NULL && text != NULL && fprintf(out, "%s\n", text) > 0;
    if (out != NULL && fclose(out) != 0)
        ok = false;
    if (!ok)
        fail(f, E_IO, "%s: cannot write: %s", path, strerror(errno));
    free(text);
    cJSON_Delete(j);
    return ok;
}

static int64_t number(const cJSON *j, const char *name)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, name);
    double x = cJSON_IsNumber(v) ? v->valuedouble : 0;
    return x > 0 && x < 1e15 ? (int64_t)x : 0;
}

static void text(const cJSON *j, const char *name, char *out, size_t size)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(j, name);
    snprintf(out, size, "%s", cJSON_IsString(v) ? v->valuestring : "");
}

static void take(const cJSON *j, struct sidecar *s)
{
    s->procs = (int32_t)number(j, "procs");
    s->cpus = (int)(number(j, "cpus") < 65536 ? number(j, "cpus") : 0);
    s->threads = (int)(number(j, "threads") < INT32_MAX ? number(j, "threads") : 0);
    s->deep = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(j, "deep"));
#define READ(name) s->name = number(j, #name);
    NUMBERS(READ)
#undef READ
#define READ(name) text(j, #name, s->name, sizeof s->name);
    TEXTS(READ)
#undef READ
}

bool sidecar_read(struct failure *f, const char *trace, struct sidecar *s)
{
    char path[PATH_LEN];
    *s = (struct sidecar){0};
    path_of(trace, path);
    FILE *in = fopen(path, "rb");
    if (in == NULL && errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG)
        fail(f, E_IO, "%s: %s", path, strerror(errno));
    if (in == NULL)
        return false;
    char *bytes = x_alloc(SIZE_MAX_BYTES + 1);
    size_t n = fread(bytes, 1, SIZE_MAX_BYTES, in);
    fclose(in);
    cJSON *j = cJSON_ParseWithLength(bytes, n);
    bool ok = cJSON_IsObject(j) && number(j, "version") == VERSION;
    if (ok)
        take(j, s);
    else
        fail(f, E_TRACE, "%s: not what gmpsim record writes beside a trace", path);
    cJSON_Delete(j);
    free(bytes);
    return ok;
}
