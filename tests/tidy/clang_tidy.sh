#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over the sources of a build folder; .clang-tidy says which checks.
# usage: clang_tidy.sh BUILD_FOLDER
set -eu
build=$1
# What is in the compile database and of C, once each; test bodies are left to the compilers.
python3 -c '
import json, sys
files = {e["file"] for e in json.load(open(sys.argv[1] + "/compile_commands.json"))}
print("\n".join(sorted(f for f in files if f.endswith(".c") and "/tests/" not in f)))
' "$build" | xargs -r -n 4 -P "$(nproc)" clang-tidy --quiet -p "$build" 2>/dev/null
