#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the runs of the library with runs.tsv, so that none changes unnoticed.

    runs.py GMPSIM            says which scenarios run otherwise than runs.tsv has it
    runs.py GMPSIM --write    writes runs.tsv

A line per scenario: its file and the fingerprint of its runs on all its profiles together. That a
run is another one says nothing about whether it is better; CHANGELOG.md says what changed and why.
"""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "..", "..", "scenarios")
TABLE = os.path.join(HERE, "runs.tsv")
HEAD = "# scenario\tfingerprint of all its runs; ./dev runs --write\n"


def runs(gmpsim):
    out = subprocess.run([gmpsim, "scenarios", "check", LIBRARY, "--json"], stdout=subprocess.PIPE,
                         check=False).stdout
    files = {}
    for r in json.loads(out)["results"]:
        name = os.path.relpath(r["file"], LIBRARY)
        h = files.get(name, 0xcbf29ce484222325)
        files[name] = (h ^ int(r["fingerprint"], 16)) * 0x100000001b3 % (1 << 64)
    return {name: f"{h:016x}" for name, h in sorted(files.items())}


def main(args):
    now = runs(args[0])
    if "--write" in args:
        with open(TABLE, "w", encoding="utf-8") as f:
            f.write(HEAD + "".join(f"{name}\t{h}\n" for name, h in now.items()))
        return 0
    with open(TABLE, encoding="utf-8") as f:
        then = dict(line.rstrip("\n").split("\t") for line in f if not line.startswith("#"))
    bad = sorted(name for name in now.keys() | then.keys() if now.get(name) != then.get(name))
    for name in bad:
        print(f"{name}: runs otherwise than runs.tsv has it")
    if bad:
        print("If that is meant: ./dev runs --write, and a line in CHANGELOG.md.")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
