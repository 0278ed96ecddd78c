#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/memory-orders.md: which orders of the run queue are needed.

usage: orders.py EXPLORE_RUNQ_TEST [RUNS]    RUNS: schedules of each world and bound (default 5000)

The test Runq.EveryOrderLeftOut leaves out one part of one site's order at a time and writes a row
for each (tests/explore/orders_cases.c); this puts them into a table.
"""
import csv
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "memory-orders.md")
COLUMNS = ["function", "verb", "number", "field", "memory", "part", "found", "world",
           "preemptions", "runs", "whole"]
HEAD = """# Memory orders

What Go's scheduler declares as the order of an atomic access becomes, on a port, parts of
instructions: on amd64 a locked instruction that drains the store buffer, on arm64 an acquire and a
release, on ppc64 SYNC, LWSYNC and ISYNC before and after. Here each part of each site of the run
queue (`model/runq.c`: a P's ring and runnext) is left out alone, and nine small worlds (an owner
who puts, gets and drains by a script, a thief who steals and takes from its own ring, somebody who
looks whether the queue is empty; a ring of four) are searched depth first, with no preemption, one
and two, under the memory model of the port. *Needed*: a G is lost, comes twice, or a slot is read
before it is written; the fewest preemptions, the world and the number of schedules until then are
said. *Redundant*: not in any schedule within the bound. *Nothing found*: not in so many schedules,
of more. Both are statements about these worlds: an order may be there for who comes through
another door (the stopped world, sysmon), for more Ms than two, or for no reason.

Under sc nothing can be left out: the search of the declared program alone is
`Runq.OwnerAndThiefEverySchedule` and the cases beside it in `tests/explore/runq_test.c`.

Made by `tests/explore/orders.py build/dev/bin/explore_runq_test 2000` with the profile of the
latest release; `Runq.EveryOrderLeftOut` checks in every test run that what is needed is found.

"""


def rows(test, runs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows")
        env = dict(os.environ, GMPSIM_ORDERS=path, GMPSIM_ORDERS_RUNS=str(runs))
        subprocess.run([test, "--gtest_filter=Runq.EveryOrderLeftOut"], env=env,
                       stdout=subprocess.DEVNULL, check=False)
        with open(path, encoding="utf-8") as f:
            return list(csv.DictReader(f, COLUMNS, delimiter="\t"))


def verdict(r):
    if r["found"] != "nothing":
        return "**needed**: %s (%s; %s preemptions, schedule %s)" % (
            r["found"].removeprefix("runq: "), r["world"], r["preemptions"], r["runs"])
    if r["whole"] == "1":
        return "redundant (all %s schedules)" % r["runs"]
    return "nothing found (%s schedules)" % r["runs"]


def main():
    got = rows(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else 5000)
    needed = sum(r["found"] != "nothing" for r in got)
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(HEAD)
        f.write("%d parts of orders were left out; %d are needed.\n\n" % (len(got), needed))
        f.write("| function | access | memory | left out | |\n|---|---|---|---|---|\n")
        for r in got:
            f.write("| %s | %s %s (%s) | %s | %s | %s |\n" % (
                r["function"], r["verb"], r["field"], r["number"], r["memory"], r["part"],
                verdict(r)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
