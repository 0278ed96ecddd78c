#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""explore finds nothing in the scenarios of the library but the bugs that they describe.

    false_findings.py GMPSIM [--runs N] [--sample N --seed TEXT] [--granularity LIST]
        [--strategy LIST] [--seconds S] [--journal FILE]

Each file that is no kernel with a bug is explored by turns and by operations. --sample takes so
many files by the seed. No file takes much longer than --seconds for each granularity (0: as long
as it takes); what got fewer schedules than --runs is named at the end. --journal notes what is
done; the same line goes on there. --strategy random --runs 10000 --seconds 0 takes some hours."""
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


def journal(args):
    """How many schedules were done of what, as an earlier run noted."""
    if not args.journal or not os.path.exists(args.journal):
        return {}
    with open(args.journal, encoding="utf-8") as f:
        return {name: int(n) for name, n in (line.rstrip("\n").split("\t") for line in f)}


def explore(args, path, granularity, folder):
    """What is wrong with it, or None; and how many schedules."""
    steps = "2000" if granularity == "sync" else "200000"
    words = [args.gmpsim, "explore", str(path), "--json", "--no-shrink",
             "--granularity", granularity, "--strategy", args.strategy,
             "--runs", str(args.runs), "--max-steps", steps, "--seeds", args.seed,
             "--schedule", os.path.join(folder, "x.schedule")]
    if args.seconds:
        words += ["--for", "%ds" % args.seconds]
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
    p.add_argument("--strategy", default="time,fair,random,pct,pos")
    p.add_argument("--journal")
    p.add_argument("--seconds", type=int, default=60)
    args = p.parse_args()
    bad = 0
    counts = journal(args)
    with tempfile.TemporaryDirectory() as folder:
        for path in files(args):
            for granularity in args.granularity.split(","):
                name = "%s, %s" % (path.relative_to(LIBRARY), granularity)
                if name in counts:
                    continue
                wrong, counts[name] = explore(args, path, granularity, folder)
                if wrong is not None:
                    bad += 1
                    print("%s: %s" % (name, wrong), flush=True)
                elif args.journal:
                    with open(args.journal, "a", encoding="utf-8") as f:
                        f.write("%s\t%d\n" % (name, counts[name]))
    few = [n for n, c in sorted(counts.items()) if 0 < c < args.runs]
    print("%d schedules, %d findings that are none; %d searches, %d of them cut short%s" % (
        sum(counts.values()), bad, len(counts), len(few), "".join("\n  " + n for n in few)))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
