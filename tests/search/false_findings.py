#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""explore finds nothing in the scenarios of the library but the bugs that they describe.

    false_findings.py GMPSIM [--runs N] [--sample N --seed TEXT] [--granularity LIST]
        [--seconds S]

Each file that is no kernel with a bug is explored by turns and by operations. --sample takes so
many files by the seed. No file takes much longer than --seconds for each granularity."""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

LIBRARY = pathlib.Path(__file__).resolve().parents[2] / "scenarios"


def files(args):
    found = sorted(p for p in LIBRARY.glob("*/*.json") if "bug" not in json.loads(p.read_text()))
    if args.sample:
        found = sorted(random.Random(args.seed).sample(found, args.sample))
    return found


def explore(args, path, granularity, folder):
    """What is wrong with it, or None; and how many schedules."""
    steps = "2000" if granularity == "sync" else "200000"
    words = [args.gmpsim, "explore", str(path), "--json", "--no-shrink",
             "--granularity", granularity, "--strategy", "time,random,pct,pos",
             "--runs", str(args.runs), "--for", "%ds" % args.seconds, "--max-steps", steps,
             "--seeds", args.seed, "--schedule", os.path.join(folder, "x.schedule")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None, json.loads(done.stdout)["schedules"]
    if done.returncode == 2 and "granularity sync" in done.stderr:
        return None, 0
    if done.returncode != 1:
        return done.stderr.strip(), 0
    finding = json.loads(done.stdout)["finding"]
    return "%s: %s" % (finding["verdict"], finding["text"][:300]), 0


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gmpsim")
    p.add_argument("--runs", type=int, default=1000)
    p.add_argument("--sample", type=int, default=0)
    p.add_argument("--seed", default="1")
    p.add_argument("--granularity", default="sync,op")
    p.add_argument("--seconds", type=int, default=60)
    args = p.parse_args()
    bad = schedules = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in files(args):
            for granularity in args.granularity.split(","):
                wrong, n = explore(args, path, granularity, folder)
                schedules += n
                if wrong is not None:
                    bad += 1
                    name = path.relative_to(LIBRARY)
                    print("%s, %s: %s" % (name, granularity, wrong), flush=True)
    print("%d schedules, %d findings that are none" % (schedules, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
