/* SPDX-License-Identifier: BSD-3-Clause */
/* gmpsim trace import: a deep recording as a scenario that a person can read and change. */
#include <errno.h>
#include <string.h>

#include "cli/trace.h"
#include "replay/import.h"
#include "replay/infer.h"
#include "replay/replay.h"
#include "sim/base/text.h"

static void write_it(const char *out, const struct imported *im)
{
    FILE *to = strcmp(out, "-") == 0 ? stdout : fopen(out, "wb");
    bool ok = to != NULL && fwrite(im->text, 1, im->size, to) == im->size;
    if (to != NULL && to != stdout && fclose(to) != 0)
        ok = false;
    if (!ok)
        cli_die(EXIT_USAGE, "%s: cannot write: %s", text_line(out), strerror(errno));
}

int trace_import(const char *path, const char *out, bool explore)
{
    struct failure f = {0};
    struct infer in = {0};
    struct imported im;
    struct recording *r = recording_load(&f, path, NULL);
    if (r == NULL)
        cli_fail(&f);
    infer_all(r, &in);
    const char *slash = strrchr(path, '/');
    struct import_opts o = {.name = slash != NULL ? slash + 1 : path, .explore = explore};
    bool ok = import_recording(&f, r, &o, &im);
    recording_free(r);
    if (!ok)
        cli_die(fail_exit_code(f.code), "%s: %s", text_line(path), f.text);
    write_it(out != NULL ? out : "-", &im);
    for (int i = 0; i < im.nnotes; i++)
        fprintf(stderr, "note: %s\n", im.notes[i]);
    imported_release(&im);
    return EXIT_CLEAN;
}
