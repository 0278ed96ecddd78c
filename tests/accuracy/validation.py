#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far virtual time is from real threads and real Go, as a page: docs/validation.md.

usage: validation.py GMPSIM measure FOLDER [--go PATH]... [--with COMMAND] [VALIDATE OPTIONS]
       validation.py GMPSIM write FOLDER PAGE [COSTS]     COSTS: what the page says of them

measure runs gmpsim validate over the scenarios below and keeps what it says in FOLDER; COMMAND,
such as chrt, stands before each call. write makes the page of what lies there.
"""
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# BUSY: dominated by their CPU bursts. No table of costs was fitted to any of them.
BUSY = """everyday/worker-pool steal/half-at-a-time sync/waitgroup-barrier everyday/errgroup
    steal/thieves-share-one-producer sysmon/no-safe-point""".split()
OTHERS = """basics/ping-pong basics/what-things-cost threads/locked-ping-pong everyday/spawn-storm
    everyday/fan-in everyday/bounded-queue everyday/singleflight everyday/pipeline
    everyday/mutex-convoy timers/timeout-in-select timers/ten-thousand-sleeps timers/afterfunc
    syscall/long gc/assist steal/what-stealing-costs""".split()
PROCS = "1,2,4"
# Why it is off where it is: written by people, after runs in which the cause was away.
NOTES = os.path.join(ROOT, "tests", "accuracy", "validation.txt")
SHOWN = [("makespan", "makespan"), ("cpu", "CPU time"), ("switches", "switches"),
         ("parks", "parks"), ("preempted", "preempted"), ("taken", "taken"), ("steals", "steals"),
         ("spins", "spins"), ("thread_parks", "thread parks"), ("beside", "idle beside runnable"),
         ("wait_p50", "wait p50"), ("wait_p99", "wait p99"), ("wake_p50", "wake p50"),
         ("wake_p99", "wake p99")]
TARGETS = {"threads": {"makespan": (0.02, 0.10)}, "go": {"makespan": (0.04, 0.10)}}
MORE = {"switches": 0.02, "steals": 0.10, "parks": 0.10, "spins": 0.10, "wait_p50": 0.15,
        "wait_p99": 0.25}


def paths():
    return [os.path.join("scenarios", n + ".json") for n in sorted(BUSY + OTHERS)]


def version(go):
    done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True,
                          env={**os.environ, "GOTOOLCHAIN": "local"})
    return done.stdout.strip()


def measure(gmpsim, folder, args):
    """A call per Go, GOMAXPROCS and half of the scenarios, each well below a minute; what is there
    already is kept."""
    gos, options, before = [], [], []
    while args:
        word = args.pop(0)
        if word == "--go":
            gos.append(args.pop(0))
        elif word == "--with":
            before = args.pop(0).split()
        else:
            options.append(word)
    os.makedirs(folder, exist_ok=True)
    for go in gos or [None]:
        said = version(go) if go else "none"
        for procs in PROCS.split(","):
            for half in range(2):
                out = os.path.join(folder, "%s-%s-%d.json" % (said, procs, half))
                if os.path.exists(out):
                    continue
                line = [*before, gmpsim, "validate", *paths()[half::2], "--procs", procs,
                        "--json", *options]
                if go:
                    line += ["--go", go, "--programs", os.path.join(folder, "programs")]
                done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)
                if done.returncode not in (0, 1, 4):
                    sys.exit(done.stderr)
                value = json.loads(done.stdout)
                if done.returncode == 4:
                    print("%s: the machine was not quiet (%.1f %%)" %
                          (os.path.basename(out), value["cpu_permille"] / 10))
                if value["rows"]:
                    with open(out, "w", encoding="utf-8") as f:
                        f.write(done.stdout)
    return 0


# ---- the page ----------------------------------------------------------------------

def short(path):
    return "/".join(path.split("/")[-2:])[:-len(".json")]


def time_text(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return "%.3g %s" % (ns / size, unit)
    return "%.0f ns" % ns


def percent(x):
    return "-" if x is None else "%+.1f %%" % (100 * x)


class Measured:
    """What the calls of validate said about one Go."""

    def __init__(self, folder, name):
        self.name, self.rows, self.far, self.said = name, {}, {}, None
        for file in sorted(os.listdir(folder)):
            if not file.startswith(name + "-") or not file.endswith(".json"):
                continue
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                said = json.load(f)
            for r in said["rows"]:
                self.rows[(r["file"], r["procs"], r["source"], r["metric"])] = r
            for d in said["distances"]:
                self.far[(d["file"], d["procs"], d["source"], d["metric"])] = d["distance"]
            if self.said is None:
                self.said = said
                continue
            self.said["comparisons"] += said["comparisons"]
            self.said["quiet"] &= said["quiet"]
            self.said["cpu_permille"] = min(self.said["cpu_permille"], said["cpu_permille"])

    def sources(self):
        return ["threads"] + ([self.name] if self.name.startswith("go") else [])

    def places(self):
        return sorted((c["file"], c["procs"]) for c in self.said["comparisons"]
                      if not c["skipped"])

    def errors(self, source, metric, of=None):
        """(|error|, file, procs), counts of at most 100 left out."""
        out = []
        for file, procs in self.places():
            r = self.rows.get((file, procs, source, metric))
            if r is None or r["error"] is None or (of and short(file) not in of):
                continue
            if r["unit"] != "count" or r["median"] > 100:
                out.append((abs(r["error"]), file, procs))
        return out


def summary(m, source):
    lines = ["| | median | largest | where | comparisons | target |", "|---|---|---|---|---|---|"]
    kind = "threads" if source == "threads" else "go"
    for metric, name in SHOWN:
        errors = m.errors(source, metric)
        if not errors:
            continue
        worst = max(errors)
        median = statistics.median(e[0] for e in errors)
        target = TARGETS[kind].get(metric)
        if target:
            words = "median %g %%, largest %g %%: %s" % (
                100 * target[0], 100 * target[1],
                "met" if median <= target[0] and worst[0] <= target[1] else "missed")
        elif metric in MORE:
            inside = sum(e[0] <= MORE[metric] for e in errors)
            words = "%g %%: %d of %d" % (100 * MORE[metric], inside, len(errors))
        else:
            words = ""
        lines.append("| %s | %.1f %% | %.1f %% | %s, %d Ps | %d | %s |" % (
            name, 100 * median, 100 * worst[0], short(worst[1]), worst[2], len(errors), words))
    for which in ("wait", "wake"):
        far = [d for k, d in m.far.items() if k[2] == source and k[3] == which and d is not None]
        if far:
            lines.append("| K-S distance of %ss | %.2f | %.2f | | %d | 0.15: %d of %d |" % (
                which, statistics.median(far), max(far), len(far),
                sum(d <= 0.15 for d in far), len(far)))
    return lines


def table(m, source):
    columns = ["scenario", "Ps", source, "virtual", "makespan", "CPU time", "switches", "wait p50",
               "wait p99", "K-S"]
    lines = ["| %s |" % " | ".join(columns), "|" + "---|" * len(columns)]
    for file, procs in m.places():
        def error(metric, place=(file, procs)):
            r = m.rows.get((*place, source, metric))
            return percent(r["error"]) if r else "-"
        mine, virtual = (m.rows.get((file, procs, s, "makespan")) for s in (source, "virtual"))
        if mine is None:
            continue
        half = (mine["high"] - mine["low"]) / 2 / mine["median"] if mine["median"] else 0
        far = m.far.get((file, procs, source, "wait"))
        lines.append("| %s | %d | %s +-%.1f %% | %s | %s | %s | %s | %s | %s | %s |" % (
            short(file), procs, time_text(mine["median"]), 100 * half,
            time_text(virtual["median"]), error("makespan"), error("cpu"), error("switches"),
            error("wait_p50"), error("wait_p99"), "-" if far is None else "%.2f" % far))
    return lines


def ranges(ms):
    """Scenarios whose virtual makespan spreads: a point says little of them."""
    out = []
    for m in ms:
        for file, procs in m.places():
            r = m.rows.get((file, procs, "virtual", "makespan"))
            if r and r["median"] and (r["high"] - r["low"]) / r["median"] > 0.10:
                out.append("%s at %d Ps (%s: %s to %s)" % (
                    short(file), procs, m.name if m.name != "none" else "threads",
                    time_text(r["low"]), time_text(r["high"])))
    return out


HEAD = """# How far virtual time is from threads and from Go

Written by `./dev validation` (tests/accuracy/validation.py): {all} scenarios of the library, of
which {others} are not dominated by their CPU bursts, GOMAXPROCS {procs}, {cpus} CPUs, {runs} runs
of each source, interleaved. Errors are virtual over measured, less one; {costs}.
[validate.md](validate.md) says what each number is, and what is not compared.
"""
RANGE = """Where the virtual makespan itself spreads by more than a tenth over the seeds, the noise
of the costs turns the outcome over, and its median is one of several: {}."""
END = """## On your machine

`./dev validation --go GO` measures all of it, two minutes for each Go, and writes this page;
`gmpsim validate FILE --procs 1,2 --go GO` one scenario in seconds, with every number that it has.
Both say so where other programs use the machine. `gmpsim calibrate --out here.json` and
`--costs here.json` put this machine's costs in place of the reference table's.

What the numbers do not show: more CPUs than this machine has; other architectures; programs that
work on memory (a burst has no cache misses); descriptors of the system under real Go."""


def para(text, **values):
    """A paragraph per line, as the pages of docs/ have them."""
    return [" ".join(p.split("\n")) if not p.startswith("#") else p
            for part in text.format(**values).strip().split("\n\n") for p in (part, "")]


def write(folder, page, costs):
    names = sorted({n.split("-")[0] for n in os.listdir(folder) if n.endswith(".json")},
                   key=lambda n: [int(x) if x.isdigit() else 0 for x in n[2:].split(".")])
    ms = [Measured(folder, n) for n in names]
    first = ms[0].said
    lines = para(HEAD, all=len(BUSY + OTHERS), others=len(OTHERS), procs=PROCS.replace(",", ", "),
                 cpus=max(c["cpus"] for c in first["comparisons"]), runs=first["runs"],
                 costs=costs)
    lines += ["| against | CPUs that were ours |", "|---|---|"]
    for m in ms:
        ours = "" if m.said["quiet"] else ", too few: not quiet"
        lines.append("| %s | %.1f %%%s |" % (m.name, m.said["cpu_permille"] / 10, ours))
    for m in ms:
        for source in m.sources():
            title = "Threads, by the rules of %s" % m.name if source == "threads" else m.name
            lines += ["", "## " + title, ""] + summary(m, source)
    far = ranges(ms)
    lines += ["", "## Those that are a range", ""]
    lines += para(RANGE.format("; ".join(far))) if far else ["None.", ""]
    if os.path.exists(NOTES):
        with open(NOTES, encoding="utf-8") as f:
            lines += [f.read().strip(), ""]
    lines += para(END)[:-1]
    for m in ms:
        for source in m.sources():
            of = "threads, rules of " + m.name if source == "threads" else source
            lines += ["", "## Each: " + of, ""] + table(m, source)
    with open(page, "w", encoding="utf-8") as f:
        f.write("\n".join(lines) + "\n")


def main():
    gmpsim, what, folder = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
    if what == "measure":
        return measure(gmpsim, folder, sys.argv[4:])
    write(folder, sys.argv[4], sys.argv[5] if len(sys.argv) > 5 else "costs: the reference table")
    return 0


if __name__ == "__main__":
    sys.exit(main())
