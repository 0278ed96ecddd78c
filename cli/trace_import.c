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

/* A person who goes on from there wants to know how near it is. */
static void tell_end(const char *path, const struct imported *im)
{
    struct failure f = {0};
    struct import_end end;
    char recorded[40];
    if (!import_try(&f, im, path, &end)) {
        fprintf(stderr, "note: as written it does not run: %s\n", f.text);
        return;
    }
    snprintf(recorded, sizeof recorded, "%s", time_text(im->recorded_ns));
    fprintf(stderr, "note: as written it ends so: %s, after %s; recorded: %s%s\n",
            text_line(end.verdict), time_text(end.ns), recorded,
            end.finished ? "" : ". Values that are in no recording decide who meets whom");
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
    struct import_opts o = {
        .name = slash != NULL ? slash + 1 : path, .explore = explore, .readable = !explore};
    bool ok = import_recording(&f, r, &o, &im);
    recording_free(r);
    if (!ok)
        cli_die(fail_exit_code(f.code), "%s: %s", text_line(path), f.text);
    write_it(out != NULL ? out : "-", &im);
    for (int i = 0; i < im.nnotes; i++)
        fprintf(stderr, "note: %s\n", im.notes[i]);
    if (!explore)
        tell_end(o.name, &im);
    imported_release(&im);
    return EXIT_CLEAN;
}
