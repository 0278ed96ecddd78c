#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Goal: an installed gmpsim is complete, and works wherever it lies. Method: install into an empty
# folder and move that; look for every file that the package promises; build a program of our own
# against the static and the shared library, as C and C++, by hand, by pkg-config and by
# find_package; run it and the installed gmpsim, which finds its library of scenarios; uninstall.
# usage: install_test.sh CMAKE BUILD_FOLDER CC CXX
set -eu
cmake=$1 build=$2 cc=$3 cxx=$4
here=$(cd "$(dirname "$0")" && pwd)
first=$build/install-test-first stage=$build/install-test
rm -rf "$stage" "$first"
# --install writes its list of files into the build folder: a person's own is kept.
manifest=$build/install_manifest.txt
[ ! -e "$manifest" ] || cp "$manifest" "$manifest.kept"
"$cmake" --install "$build" --prefix "$first" >/dev/null
cp "$manifest" "$build/install-test.manifest"
cp -r "$first" "$stage"

fail() {
    echo "$*"
    exit 1
}

for file in bin/gmpsim include/gmpsim.h share/man/man1/gmpsim.1 share/doc/gmpsim/LICENSE \
    share/bash-completion/completions/gmpsim share/gmpsim/scenarios share/gmpsim/costs; do
    [ -e "$stage/$file" ] || fail "not installed: $file"
done
library=$(find "$stage" -name libgmpsim.a)
shared=$(find "$stage" -name libgmpsim.so)
pc=$(find "$stage" -name gmpsim.pc)
[ -n "$library" ] || fail "not installed: libgmpsim.a"
[ -n "$shared" ] || fail "not installed: libgmpsim.so"
[ -n "$pc" ] || fail "not installed: gmpsim.pc"
[ "$(find "$stage/include" -type f | wc -l)" = 1 ] || fail "more than one header"

# Only the public names are global, of both libraries, and the shared one says its version.
nm -g --defined-only "$library" | awk 'NF == 3 && $3 !~ /^gmpsim_/ {print "global: " $3; bad = 1}
    END {exit bad}'
nm -D --defined-only "$shared" |
    awk '$2 != "A" && $3 !~ /^gmpsim_.*@@GMPSIM_0[.]1$/ {print "exported: " $3; bad = 1}
    END {exit bad}'
wanted=$(grep -o 'gmpsim_[a-z_]*(' "$here/../../include/gmpsim.h" | sort -u | wc -l)
[ "$(nm -D --defined-only "$shared" | grep -c ' T gmpsim_')" -ge "$((wanted - 1))" ] ||
    fail "the shared library lacks functions of the header"

cd "$stage"
"$cc" -std=c11 -Wall -Wextra -Werror -Iinclude "$here/user.c" "$library" \
    -lcjson -lm -lpthread -o user
./user
"$cxx" -std=c++17 -Wall -Wextra -Werror -Iinclude -x c++ "$here/user.c" -x none "$library" \
    -lcjson -lm -lpthread -o user_cxx
./user_cxx
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH=$(dirname "$pc") && export PKG_CONFIG_PATH
    # shellcheck disable=SC2046 # words
    "$cc" -std=c11 "$here/user.c" $(pkg-config --cflags --libs gmpsim) -o user_pc
    LD_LIBRARY_PATH=$(dirname "$shared") ./user_pc
    [ "$(pkg-config --variable=includedir gmpsim | xargs realpath)" = "$(realpath include)" ] ||
        fail "gmpsim.pc leads elsewhere: $(pkg-config --variable=prefix gmpsim)"
fi
mkdir find && cp "$here/user.c" find
cat >find/CMakeLists.txt <<'END_CMAKE'
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(gmpsim 0.1 REQUIRED)
add_executable(user_shared user.c)
target_link_libraries(user_shared gmpsim::gmpsim)
add_executable(user_static user.c)
target_link_libraries(user_static gmpsim::static)
END_CMAKE
{
    "$cmake" -S find -B find/build -DCMAKE_PREFIX_PATH="$stage" -DCMAKE_C_COMPILER="$cc" &&
        "$cmake" --build find/build
} >find/log 2>&1 || { cat find/log && fail "find_package"; }
find/build/user_shared
find/build/user_static

bin/gmpsim --version
mkdir elsewhere && cd elsewhere
unset GMPSIM_SCENARIOS
../bin/gmpsim scenarios list | grep -q "$(realpath "$stage")/share/gmpsim" ||
    fail "gmpsim does not find the library that was installed with it"
../bin/gmpsim run http-service --until 10ms >report || [ $? = 1 ]
grep -q '^repeat: .*share/gmpsim/scenarios/everyday/http-service.json' report ||
    fail "no scenario by its name"

cp "$build/install-test.manifest" "$manifest"
"$cmake" -P "$build/gmpsim_uninstall.cmake" >/dev/null
left=$(find "$first" -type f -o -type l)
[ -z "$left" ] || fail "left after uninstall: $left"
[ ! -e "$first/share/gmpsim" ] || fail "share/gmpsim is left after uninstall"
rm -f "$manifest"
[ ! -e "$manifest.kept" ] || mv "$manifest.kept" "$manifest"
