/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/shard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* An environment variable that is a number. */
static bool env_number(const char *name, int64_t *v)
{
    const char *text = getenv(name);
    return text != NULL && parse_int(text, v);
}

/* Tries each scheduler's variables; false: none says which part this is, and of how many. */
static bool from_environment(struct shard *s)
{
    static const struct {
        const char *index, *count;
    } pairs[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                 {"PMI_RANK", "PMI_SIZE"},
                 {"SLURM_PROCID", "SLURM_NTASKS"}};
    int64_t first = 0, step = 1;
    if (env_number("SLURM_ARRAY_TASK_ID", &s->index) &&
        env_number("SLURM_ARRAY_TASK_COUNT", &s->count)) {
        if (env_number("SLURM_ARRAY_TASK_MIN", &first))
            s->index -= first;
        if (env_number("SLURM_ARRAY_TASK_STEP", &step) && step > 1) /* --array=1-15:2 */
            s->index /= step;
        return true;
    }
    /* Kubernetes does not say how many: the Job's completions, put into the environment. */
    if (env_number("JOB_COMPLETION_INDEX", &s->index) && env_number("GMPSIM_SHARDS", &s->count))
        return true;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (env_number(pairs[i].index, &s->index) && env_number(pairs[i].count, &s->count))
            return true;
    return false;
}

struct shard shard_of(const char *text)
{
    struct shard s = {0, 0};
    char index[24];
    if (text == NULL)
        return s;
    if (strcmp(text, "auto") == 0) {
        if (!from_environment(&s))
            cli_die(EXIT_USAGE,
                    "--shard auto: neither SLURM_ARRAY_TASK_ID and _COUNT, nor JOB_COMPLETION_INDEX"
                    " and GMPSIM_SHARDS, nor an MPI rank and size are in the environment");
    } else {
        const char *slash = strchr(text, '/');
        if (slash == NULL || (size_t)(slash - text) >= sizeof index)
            cli_die(EXIT_USAGE, "--shard: want I/N such as 2/8, or auto, got '%s'", text);
        snprintf(index, sizeof index, "%.*s", (int)(slash - text), text);
        if (!parse_int(index, &s.index) || !parse_int(slash + 1, &s.count))
            cli_die(EXIT_USAGE, "--shard: want I/N such as 2/8, or auto, got '%s'", text);
        s.index--; /* people count from 1 */
    }
    if (s.count < 1 || s.index < 0 || s.index >= s.count)
        cli_die(EXIT_USAGE, "--shard: part %" PRId64 " of %" PRId64 " does not exist", s.index + 1,
                s.count);
    return s;
}

bool shard_has(const struct shard *s, int64_t i)
{
    return s->count == 0 || i % s->count == s->index;
}
