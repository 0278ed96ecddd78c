#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over the sources of a build folder; .clang-tidy says which checks.
# usage: clang_tidy.sh BUILD_FOLDER
set -eu
build=$1
# What is in the compile database and of C, once each. Tests and benchmarks are left to the
# compilers: the analyzer does not know what a failed check never returns from.
python3 -c '
import json, re, sys
files = {e["file"] for e in json.load(open(sys.argv[1] + "/compile_commands.json"))}
ours = re.compile(r"/(model|sim|scenarios|run|store|replay|plots|cli)/[^ ]*[.]c$")
# The files of model/ are read as one, with model.c.
part = re.compile(r"/model/(?!model[.]c|profile[.]c|prog[.]c)[^/]*[.]c$")
print("\n".join(sorted(f for f in files
                       if ours.search(f) and "/tests/" not in f and not part.search(f))))
' "$build" | xargs -r -n 4 -P "$(nproc)" clang-tidy --quiet -p "$build" 2>/dev/null
