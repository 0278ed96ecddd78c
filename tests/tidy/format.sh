#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Committed C sources are as clang-format would write them.
set -eu
git -c safe.directory='*' ls-files -- '*.c' '*.h' '*.cc' |
    xargs "${CLANG_FORMAT:-clang-format}" --dry-run -Werror
