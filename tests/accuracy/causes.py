#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Why virtual time is off where it is: each cause is taken away, and the error with it.

A cause is a cost of the tables (taken away: virtual time without it is as far off as it was before
somebody knew it) or something that the system does (taken away: one CPU, so that nobody chooses
one). And which outcome turns over when a cost moves as far as it is uncertain.
"""
import itertools
import json
import os
import re
import subprocess
import tempfile

TURNS_OVER = 0.05  # of the makespan
SPREAD = 0.1       # of a cost that nobody measured an interval of
BETWEEN = re.compile(r"between (\d+) and (\d+) ps")
# Words; scenario, Ps, what is off; entries of the tables without which; changes of the scenario.
CAUSES = [
    ("what looking takes", "basics/ping-pong", 1, "wait_p50",
     ["work.record", "releases"], {}),
    ("what looking takes", "basics/ping-pong", 1, "watched",
     ["work.record", "releases"], {}),
    ("what the timer of a sleep takes", "everyday/bounded-queue", 1, "cpu",
     ["costs.usleep_busy"], {}),
    ("how fast Go marks, and page faults", "gc/assist", 1, "makespan", ["releases"], {}),
    ("how fast Go marks, and page faults", "gc/assist", 2, "makespan", ["releases"], {}),
    ("which CPU the system chooses", "threads/locked-ping-pong", 2, "makespan", [], {"cpus": 1}),
    ("which CPU the system chooses", "threads/locked-ping-pong", 4, "makespan", [], {"cpus": 1}),
    ("which CPU the system chooses", "everyday/fan-in", 2, "makespan", [], {"cpus": 1}),
    ("which CPU the system chooses", "sync/waitgroup-barrier", 4, "makespan", [], {"cpus": 1}),
    ("which CPU the system chooses", "everyday/pipeline", 4, "makespan", [], {"cpus": 1}),
]


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def keep(path, value):
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)
    return path


def without(table, names):
    """The table, less these entries: what it begins with has none of them."""
    out = json.loads(json.dumps(table))
    for name in names:
        part = out
        *path, last = name.split(".")
        for key in path:
            part = part[key]
        part.pop(last, None)
    return out


def on_another_machine(scenario, change):
    return {**scenario, "host": {**scenario.get("host", {}), **change}} if change else scenario


def ask(gmpsim, scenario, procs, tables, gos, programs):
    line = [gmpsim, "validate", scenario, "--procs", str(procs), "--json", "--anyway", "--runs",
            "7", "--costs", tables[0], "--costs-go", tables[1], "--programs", programs]
    for go in gos:
        line += ["--go", go]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def errors(said, metric):
    return {r["source"]: r["error"] for r in said["rows"]
            if r["metric"] == metric and r["error"] is not None}


def one_cause(gmpsim, cause, root, tables, gos, folder):
    words, name, procs, metric, entries, change = cause
    plain = load(os.path.join(root, "scenarios", name + ".json"))
    own = os.path.join(folder, "causes")
    os.makedirs(own, exist_ok=True)
    path = keep(os.path.join(own, name.replace("/", "-") + ".json"), plain)
    other = keep(os.path.join(own, name.replace("/", "-") + "-there.json"),
                 on_another_machine(plain, change))
    fewer = [keep(os.path.join(own, "fewer-%d.json" % i), without(load(t), entries))
             for i, t in enumerate(tables)]
    programs = os.path.join(folder, "programs")
    # A cost: it is in the tables now. A choice of the system: it is away on the other machine.
    there = ask(gmpsim, path, procs, fewer if entries else tables, gos, programs)
    away = ask(gmpsim, other, procs, tables, gos, programs)
    return {"words": words, "scenario": name, "procs": procs, "metric": metric,
            "with": errors(there, metric), "away": errors(away, metric), "quiet": there["quiet"] and
            away["quiet"], "how": ", ".join(entries) or json.dumps(change)}


def causes(gmpsim, root, tables, gos, folder):
    """Two calls of validate for each; what is there already is kept."""
    for i, cause in enumerate(CAUSES):
        out = os.path.join(folder, "cause-%02d.json" % i)
        if not os.path.exists(out):
            keep(out, one_cause(gmpsim, cause, root, tables, gos, folder))


# ---- which outcome turns over ------------------------------------------------------

def moved(table):
    """(cost, lower, higher): as far as each of the table's own entries is uncertain."""
    for part in ("costs", "work"):
        for name, entry in table[part].items():
            said = BETWEEN.search(entry["source"])
            low, high = (int(x) for x in said.groups()) if said else (
                round(entry["ps"] * (1 - SPREAD)), round(entry["ps"] * (1 + SPREAD)))
            if low != high:
                yield (part, name), min(low, entry["ps"]), max(high, entry["ps"])


def makespan(gmpsim, path, procs, cpus, costs):
    done = subprocess.run([gmpsim, "run", path, "--procs", str(procs), "--cpus", str(cpus),
                           "--costs", costs, "--noise", "off", "--json"],
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["makespan_ns"]


def sensitivity(gmpsim, root, table, names, all_procs, cpus, folder):
    """Virtual time alone: no quiet machine is needed."""
    whole, found = load(table), []
    with tempfile.TemporaryDirectory() as here:
        tables = {(): keep(os.path.join(here, "plain.json"), whole)}
        for (part, name), *ends in moved(whole):
            for ps in ends:
                entry = {**whole[part][name], "ps": ps}
                tables[(name, ps)] = keep(
                    os.path.join(here, "%s-%d.json" % (name, ps)),
                    {**whole, part: {**whole[part], name: entry}})
        for name, procs in itertools.product(names, all_procs):
            path = os.path.join(root, "scenarios", name + ".json")
            took = {of: makespan(gmpsim, path, procs, cpus, t) for of, t in tables.items()}
            base = took[()]
            for of, ns in took.items():
                if of and abs(ns / base - 1) > TURNS_OVER:
                    found.append({"scenario": name, "procs": procs, "base": base, "cost": of[0],
                                  "ps": of[1], "makespan": ns})
            found.append({"scenario": name, "procs": procs, "base": base, "cost": None,
                          "low": min(took.values()), "high": max(took.values())})
    keep(os.path.join(folder, "sensitivity.json"), found)
