/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
/* Runs a fuzz target once over the files of its corpus, without libFuzzer: so that
 * every input that ever mattered is a test with any compiler. Files go in the order
 * of their names, that a crash is found at the same place again. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size = 0;
    uint8_t *data;
    int ok;

    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
        perror(path);
        return 1;
    }
    /* Exactly as large as the input, so that ASan sees a read behind its end. */
    data = malloc((size_t)size + (size == 0));
    ok = data && fread(data, 1, (size_t)size, f) == (size_t)size;
    fclose(f);
    if (!ok)
        fprintf(stderr, "%s: cannot read\n", path);
    else
        LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return !ok;
}

static int run_folder(const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort), bad = 0, ran = 0;

    if (count < 0) {
        perror(folder);
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char path[4096];

        if (names[i]->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
            printf("%s\n", path);
            fflush(stdout);
            bad |= run_file(path);
            ran++;
        }
        free(names[i]);
    }
    free(names);
    printf("%d inputs\n", ran);
    return bad || ran == 0;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
        return 2;
    }
    return run_folder(argv[1]);
}
