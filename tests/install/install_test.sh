#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Goal: an installed gmpsim is complete. Method: install into an empty folder, look for
# every file that the package promises, compile a program of our own against the header
# and the library alone, run it and the installed gmpsim.
# usage: install_test.sh CMAKE BUILD_FOLDER CC
set -eu
cmake=$1 build=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
stage=$build/install-test
rm -rf "$stage"
"$cmake" --install "$build" --prefix "$stage" >/dev/null

for file in bin/gmpsim include/gmpsim.h share/man/man1/gmpsim.1 share/doc/gmpsim/LICENSE \
    share/bash-completion/completions/gmpsim share/gmpsim/scenarios; do
    [ -e "$stage/$file" ] || { echo "not installed: $file" && exit 1; }
done
library=$(find "$stage" -name libgmpsim.a)
[ -n "$library" ] || { echo "not installed: libgmpsim.a" && exit 1; }
[ "$(find "$stage/include" -type f | wc -l)" = 1 ] || { echo "more than one header" && exit 1; }

# Only the public names are global.
nm -g --defined-only "$library" | awk 'NF == 3 && $3 !~ /^gmpsim_/ {print "global: " $3; bad = 1}
    END {exit bad}'

cd "$stage"
"$cc" -std=c11 -Wall -Wextra -Werror -Iinclude "$here/user.c" "$library" \
    -lcjson -lsqlite3 -lm -lpthread -o user
./user
bin/gmpsim --version
