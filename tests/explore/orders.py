#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/memory-orders.md: which orders of the scheduler are needed; and the table of the run
queue's protocol in docs/exploration.md.

usage: orders.py queue EXPLORE_RUNQ_TEST [RUNS]
           of the run queue; RUNS: schedules of each world and bound (default 5000)
       orders.py rest SEARCH_ORDERS_TEST ROWS [RUNS]
           of everything else; RUNS: schedules of each world and strategy (default 500)
       orders.py protocol EXPLORE_RUNQ_TEST ROWS
           every schedule of the run queue's protocol with up to three preemptions

A test leaves out one part of one site's order at a time (or searches one cell) and writes a row for
each; this puts them into a table. ROWS is the file of rows: what is in it is not done again, so
the last two may be ended and started anew as one likes. They take minutes and hours.
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
looks whether the queue is empty; a ring of four; a thief's sleep before it takes runnext may end at
any time) are searched depth first, with no preemption, one
and two, under the memory model of the port. *Needed*: a G is lost, comes twice, or a slot is read
before it is written; the fewest preemptions, the world and the number of schedules until then are
said. *Redundant*: not in any schedule within the bound (what comes after a state is searched once,
and counted). *Nothing found*: not in so many schedules,
of more. Both are statements about these worlds: an order may be there for who comes through
another door (the stopped world, sysmon), for more Ms than two, or for no reason.

Under sc nothing can be left out: the search of the declared program alone is
`Runq.OwnerAndThiefEverySchedule` and the cases beside it in `tests/explore/runq_test.c`.

Made by `tests/explore/orders.py queue build/dev/bin/explore_runq_test 2000` with the profile of the
latest release; `Runq.EveryOrderLeftOut` checks in every test run that what is needed is found.

"""


REST = "## Everything else\n"
REST_HEAD = REST + """
The same of all sites of the model outside of the run queue that ten small programs come to
(`tests/search/orders`: locks, semaphores, channels, wake-ups, the poller, system calls, timers, a
stop of the world; two Ps). They are whole programs, too long to try every schedule: `random` and
`pos`, %s schedules of each program that has the site and strategy. *Needed*: a program does not
come to its end, or sees an old value; how, in which program, with how many preemptions after
shrinking, in which schedule. All others: nothing found in those schedules, which is less than
redundant.

Made by `tests/explore/orders.py rest build/release/bin/search_orders_test ROWS` with the latest
release; `Orders.NothingIsWrongWithAllOfThem` and `Orders.OneLeftOutIsFound` are in every test run.

"""
REST_COLUMNS = ["file", "function", "verb", "number", "field", "memory", "part", "found", "world",
                "preemptions", "runs"]
CELLS_PAGE = os.path.join(ROOT, "docs", "exploration.md")
CELLS_BEGIN, CELLS_END = "<!-- orders.py protocol -->\n", "<!-- orders.py end -->\n"
CELL_COLUMNS = ["release", "world", "memory", "seen", "schedules", "runs", "seconds", "whole",
                "found"]


def read(path, columns):
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(f, columns, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_run(test, case, env):
    subprocess.run([test, "--gtest_filter=" + case], env=dict(os.environ, **env),
                   stdout=subprocess.DEVNULL, check=False)


def rows(test, runs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows")
        test_run(test, "Runq.EveryOrderLeftOut",
                 {"GMPSIM_ORDERS": path, "GMPSIM_ORDERS_RUNS": str(runs)})
        return read(path, COLUMNS)


def verdict(r):
    if r["found"] != "nothing":
        return "**needed**: %s (%s; %s preemptions, schedule %s)" % (
            r["found"].removeprefix("runq: "), r["world"], r["preemptions"], r["runs"])
    if r["whole"] == "1":
        return "redundant (all %s schedules)" % r["runs"]
    return "nothing found (%s schedules)" % r["runs"]


def page():
    """The page's two parts."""
    with open(PAGE, encoding="utf-8") as f:
        queue, _, rest = f.read().partition(REST)
    return queue, REST + rest if rest else ""


def write_page(queue, rest):
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(queue.rstrip("\n") + "\n\n" + rest)


def queue_table(test, runs):
    got = rows(os.path.abspath(test), runs)
    needed = sum(r["found"] != "nothing" for r in got)
    yield "%d parts of orders were left out; %d are needed.\n\n" % (len(got), needed)
    yield "| function | access | memory | left out | |\n|---|---|---|---|---|\n"
    for r in got:
        yield "| %s | %s %s (%s) | %s | %s | %s |\n" % (
            r["function"], r["verb"], r["field"], r["number"], r["memory"], r["part"], verdict(r))


def by_file(got):
    """A line per file: so many parts, so many needed, most and fewest schedules of the others."""
    yield "| file | parts left out | needed | schedules of each of the others |\n"
    yield "|---|---|---|---|\n"
    for name in sorted({r["file"] for r in got}):
        of = [r for r in got if r["file"] == name]
        rest = [int(r["runs"]) for r in of if r["found"] == "nothing"]
        yield "| %s | %d | %d | %s |\n" % (
            name, len(of), len(of) - len(rest),
            "%d to %d" % (min(rest), max(rest)) if rest else "")


def rest_table(got):
    needed = [r for r in got if r["found"] != "nothing"]
    yield "%d parts of orders were left out; %d are needed.\n\n" % (len(got), len(needed))
    yield "| function | access | memory | left out | needed: what happens |\n"
    yield "|---|---|---|---|---|\n"
    for r in needed:
        yield "| %s | %s %s (%s) | %s | %s | %s (%s; %s preemptions, schedule %s) |\n" % (
            r["function"], r["verb"], r["field"], r["number"], r["memory"], r["part"],
            r["found"].removeprefix("invariant: "), r["world"], r["preemptions"], r["runs"])
    yield "\n"
    yield from by_file(got)


def cell(r):
    if r is None:
        return "not yet"
    if r["found"] != "nothing":
        return "**%s**" % r["found"]
    whole = "" if r["whole"] == "all" else "a part: "
    return "%s%s in %s s" % (whole, r["schedules"], r["seconds"])


def protocol_table(got):
    """A row per world and release, a column per memory; no row where the other memories are those
    of a later release."""
    memories = ["sc", "tso", "arm64", "ppc64"]
    by = {(r["release"], r["world"], r["memory"]): r for r in got}
    searched = {(r["release"], r["world"]) for r in got if r["memory"] != "sc"}
    yield "| owner | release | " + " | ".join(memories) + " |\n" + "|---" * 6 + "|\n"
    for world in dict.fromkeys(r["world"] for r in got):
        for release in dict.fromkeys(r["release"] for r in got):
            if (release, world) not in searched:
                continue
            yield "| %s | %s | %s |\n" % (world, release.removeprefix("go"), " | ".join(
                cell(by.get((release, world, m))) for m in memories))


def main():
    what, test, *more = sys.argv[1:]
    queue, rest = page()
    if what == "queue":
        write_page(HEAD + "".join(queue_table(test, more[0] if more else 5000)), rest)
    elif what == "rest":
        runs = more[1] if len(more) > 1 else "500"
        test_run(test, "Orders.OneLeftOutIsFound",
                 {"GMPSIM_ORDERS": more[0], "GMPSIM_ORDERS_RUNS": runs})
        write_page(queue, REST_HEAD % runs + "".join(rest_table(read(more[0], REST_COLUMNS))))
    else:
        test_run(test, "Runq.ProtocolWithinThreePreemptions", {"GMPSIM_PROTOCOL": more[0]})
        with open(CELLS_PAGE, encoding="utf-8") as f:
            before, after = f.read().split(CELLS_BEGIN)
        with open(CELLS_PAGE, "w", encoding="utf-8") as f:
            f.write(before + CELLS_BEGIN + "".join(protocol_table(read(more[0], CELL_COLUMNS))) +
                    CELLS_END + after.split(CELLS_END)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
