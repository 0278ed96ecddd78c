/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/recorded.h"

#include <sqlite3.h>

#include "cli/trace_run.h"

enum { STEPS_BETWEEN_LOOKS = 100000 }; /* of SQLite's virtual machine */

static int still_reading(void *arg)
{
    struct progress *p = arg;
    if (progress_due(p))
        progress_draw(p, 0, 0, "reading, %.0f s", progress_seconds(p));
    return 0;
}

struct sqlite3 *recorded_open(struct recorded *r, const char *path, const struct opt_list *wanted,
                              int64_t *runs, int *nruns, int runs_max)
{
    struct failure f = {0};
    r->store = store_open(&f, store_of(path), STORE_READ);
    if (r->store == NULL)
        cli_fail(&f);
    if (wanted->count > runs_max)
        cli_die(EXIT_USAGE, "--run: more than %d", runs_max);
    for (int i = 0; i < wanted->count || i == 0; i++) {
        int64_t id = 0;
        if (wanted->count > 0 && (!parse_int(wanted->items[i], &id) || id == 0))
            cli_die(EXIT_USAGE, "--run: want a run's number, got '%s'", wanted->items[i]);
        if ((runs[(*nruns)++] = store_run_id(r->store, &f, id)) == 0)
            cli_fail(&f);
    }
    return store_db(r->store);
}

void recorded_read(struct recorded *r, const char *command)
{
    progress_begin(&r->reading, command);
    sqlite3_progress_handler(store_db(r->store), STEPS_BETWEEN_LOOKS, still_reading, &r->reading);
}

void recorded_close(struct recorded *r)
{
    progress_end(&r->reading);
    store_close(r->store);
}

cJSON *recorded_runs_json(const int64_t *runs, int nruns)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < nruns; i++)
        cJSON_AddItemToArray(list, cJSON_CreateNumber((double)runs[i]));
    return list;
}
