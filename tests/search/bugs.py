#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Defects that Go's scheduler had (or has) are found by searching its operations where the rule is
that of the release that had them, and not where it is that of the repair.

bugs.py GMPSIM [--for SECONDS]
                           the test: each row of bugs.tsv found within its budget, and nothing with
                           the repair in a few thousand schedules of three strategies; or in as
                           many as there are, up to a million, in so many seconds of each
bugs.py GMPSIM --write [ISSUE...]
                           measures the table of docs/exploration.md and puts it there: the first
                           schedule per strategy (up to 100,000), a million with the repair; a
                           tenth of it where --checks looks at every point. ISSUE: only its rows,
                           the others stay as they are
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
HISTORY = os.path.join(ROOT, "scenarios", "history")
PAGE = os.path.join(ROOT, "docs", "exploration.md")
BEGIN, END = "<!-- bugs.py --write -->\n", "<!-- bugs.py end -->\n"
STRATEGIES = ["random", "pct", "pos", "surw"]
AFTER_RUNS = 2000
MOST = 100000  # schedules of one strategy for the table; a tenth with --checks, which are slow


def rows():
    with open(os.path.join(HERE, "bugs.tsv"), encoding="utf-8") as f:
        return list(csv.DictReader(f, delimiter="\t"))


def explore(gmpsim, row, which, strategy, runs, *more):
    """which: before or after; a release, then rules that are not the release's."""
    release, *rules = row[which].split()
    with tempfile.TemporaryDirectory() as folder:
        command = [gmpsim, "explore", os.path.join(HISTORY, row["scenario"] + ".json"),
                   "--granularity", "op", "--strategy", strategy, "--runs", str(runs),
                   "--profile", release, "--late", row["late"], "--json",
                   "--schedule", os.path.join(folder, "x.schedule"), *more]
        for rule in rules:
            command += ["--rule", rule]
        if row["checks"]:
            command.append("--checks")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def is_right(gmpsim, row, seconds):
    """What is wrong with it, as text. seconds: of each search of the repair; None: AFTER_RUNS."""
    got = explore(gmpsim, row, "before", row["strategy"], row["budget"])
    if not got["found"]:
        yield "not found in %s" % row["before"]
    elif got["finding"]["verdict"] != row["verdict"]:
        yield "found, but as %s" % got["finding"]["verdict"]
    for strategy in sorted({row["strategy"], "pct", "random"}):
        budget = [10 * MOST, "--for", "%ss" % seconds] if seconds else [AFTER_RUNS]
        got = explore(gmpsim, row, "after", strategy, *budget)
        if got["found"]:
            yield "found in %s: %s" % (row["after"], got["finding"]["text"])
        if got["cut"] > got["schedules"] // 100:
            yield "%d schedules of %s were cut" % (got["cut"], row["after"])


def first(gmpsim, row, strategy):
    got = explore(gmpsim, row, "before", strategy, MOST // 10 if row["checks"] else MOST)
    return got if got["found"] else None


def rule_words(text):
    release, *rules = text.split()
    return release.removeprefix("go") + "".join(", `%s`" % r for r in rules)


def table(gmpsim, issues, known):
    """Of each row: the first schedule by each strategy, the shortest finding, the repair. known:
    lines of the rows that are not measured again."""
    yield ("| issue | scenario | with | " + " | ".join(STRATEGIES) + " | seconds | points | "
           "preemptions | without: random schedules, finding |\n")
    yield "|---" * (7 + len(STRATEGIES)) + "|\n"
    for row in rows():
        start = "| %s | [%s]" % (row["issue"], row["scenario"])
        line = next((k for k in known if k.startswith(start) and
                     "| %s |" % rule_words(row["before"]) in k), None)
        if issues and row["issue"] not in issues and line:
            yield line
            continue
        found = {s: first(gmpsim, row, s) for s in STRATEGIES}
        best = min((g for g in found.values() if g), key=lambda g: g["schedules_to_first"])
        f = best["finding"]
        runs = MOST // 10 if row["checks"] else 10 * MOST
        after = explore(gmpsim, row, "after", "random", runs)
        cells = [row["issue"],
                 "[{0}](../scenarios/history/{0}.json)".format(row["scenario"]),
                 rule_words(row["before"]),
                 *(str(found[s]["schedules_to_first"]) if found[s] else "-" for s in STRATEGIES),
                 "%.1f" % best["seconds"],
                 "%d -> %d" % (f["steps_before"], f["steps"]),
                 "%d -> %d" % (f["preemptions_before"], f["preemptions"]),
                 "%s: %d, %s" % (rule_words(row["after"]), after["schedules"],
                                 "**found**" if after["found"] else "none")]
        yield "| " + " | ".join(cells) + " |\n"


def write(gmpsim, issues):
    with open(PAGE, encoding="utf-8") as f:
        before, rest = f.read().split(BEGIN)
    known, after = rest.split(END)
    text = "".join(table(gmpsim, issues, known.splitlines(True)))
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + text + END + after)


def main():
    gmpsim = os.path.abspath(sys.argv[1])
    if sys.argv[2:3] == ["--write"]:
        write(gmpsim, sys.argv[3:])
        return 0
    seconds = sys.argv[3] if sys.argv[2:3] == ["--for"] else None
    bad = ["%s: %s" % (r["issue"], text) for r in rows() for text in is_right(gmpsim, r, seconds)]
    print("\n".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
