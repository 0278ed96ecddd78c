#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How near the orders of many seeds are to those that real Go was recorded in.

    spread.py GMPSIM [RECORDED]     RECORDED: default recorded.tsv

A row per program, release and GOMAXPROCS, with the share of the commonest order (recorded; that
same order's here; the commonest one's here), how many orders there are in as many runs as were
recorded, and how many recorded orders that came in 5 % of the runs do not come in 1000 seeds. A row
is near

    share    if the recorded order's share here is within 15 points
    top      if the share of the commonest is, whichever it is
    orders   if their number is within a factor of two
    often    if none is missing

Fails if fewer rows are near than FLOORS says, which is what was reached.
"""
import collections
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COSTS = os.path.join(HERE, "..", "..", "..", "costs", "zen5-vm-fifo.json")
# record.sh builds without a module: GODEBUG's defaults are then those of an old release.
GODEBUG = ("--rule", "update_max_procs=0")
SEEDS, POINTS, FACTOR, OFTEN = 1000, 15, 2, 20
FLOORS = {"share": 36, "top": 41, "orders": 45, "often": 29}


def recorded(path):
    rows = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                name, release, procs, count, order = line.rstrip("\n").split("\t")
                rows.setdefault((name, release, procs), {})[order] = int(count)
    return rows


def simulated(gmpsim, row):
    """The orders of all seeds, in the order of the seeds."""
    name, release, procs = row
    out = subprocess.run([gmpsim, "run", os.path.join(HERE, "scenarios", name + ".json"),
                          "--profile", release, "--procs", procs, "--costs", COSTS, "--prints",
                          "--sched", "fifo", "--runs", str(SEEDS), *GODEBUG],
                         stdout=subprocess.PIPE, text=True, check=True)
    orders = [line.strip() for line in out.stdout.splitlines() if line.strip()]
    assert len(orders) == SEEDS, (row, len(orders))
    return orders


def look(real, orders):
    """What is near, and the numbers."""
    runs, here = sum(real.values()), collections.Counter(orders)
    order, count = max(real.items(), key=lambda x: x[1])
    share, own = 100 * count / runs, 100 * here[order] / SEEDS
    top = 100 * max(here.values()) / SEEDS
    few = len(set(orders[:runs]))
    missing = sum(1 for o, n in real.items() if OFTEN * n >= runs and o not in here)
    near = {"share": abs(share - own) <= POINTS, "top": abs(share - top) <= POINTS,
            "orders": few <= FACTOR * len(real) and len(real) <= FACTOR * few,
            "often": missing == 0}
    return near, (share, own, top, len(real), few, missing)


def main(args):
    rows = recorded(args[1] if len(args) > 1 else os.path.join(HERE, "recorded.tsv"))
    reached = dict.fromkeys(FLOORS, 0)
    print("%-10s %-7s %s  near  %6s %5s %5s %7s %5s %8s" %
          ("program", "release", "P", "share", "here", "top", "orders", "here", "missing"))
    for row, real in rows.items():
        near, numbers = look(real, simulated(args[0], row))
        print("%-10s %-7s %s  %s  %6.1f %5.1f %5.1f %7d %5d %8d" %
              (row + ("".join("+" if n else "-" for n in near.values()),) + numbers))
        for what, is_near in near.items():
            reached[what] += is_near
    print("near of %d rows: " % len(rows) + ", ".join(f"{w} {n}" for w, n in reached.items()))
    return 1 if any(reached[what] < floor for what, floor in FLOORS.items()) else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
