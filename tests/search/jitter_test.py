#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run --jitter finds what seeds alone do not, the line that it prints does it again, and a run
without it is what it was."""
import pathlib
import re
import subprocess
import sys

GMPSIM = sys.argv[1]
LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "scenarios"
BUG = str(LIBRARY / "kernels/kubernetes-1321.json")
LEAK = r"(\d+) +leak: .*first with seed (\d+)"


def run(*options):
    return subprocess.run([GMPSIM, "run", BUG, *options], capture_output=True, text=True,
                          check=False)


def main():
    many = ["--runs", "200", "--noise", "off"]  # the machine's noise is another jitter
    assert "leak" not in run(*many).stdout, "seeds alone find it: take another kernel"
    found = re.search(LEAK, run(*many, "--jitter", "20us").stdout)
    assert found and int(found.group(1)) >= 10, found
    seed = found.group(2)
    once = ["--seed", seed, "--jitter"]
    one = run(*once, "20us").stdout
    assert "sync.Mutex.Lock" in one and "--jitter 20us" in one and "--seed " + seed in one, one
    again = re.search(r"fingerprint (\w+)", one).group(1)
    assert again in run(*once, "20us").stdout
    assert again not in run(*once, "30us").stdout
    for bad, words in (("0", "jitter"), ("x", "jitter"), ("2h", "up to 1h")):
        done = run("--jitter", bad)
        assert done.returncode == 2 and words in done.stderr, (bad, done.returncode, done.stderr)
    print("%s of 200 with jitter, none without" % found.group(1))


main()
