#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far virtual time is from real threads and real Go, as a page: docs/validation.md.

usage: validation.py GMPSIM measure FOLDER [--go PATH]... [--with COMMAND] [VALIDATE OPTIONS]
       validation.py GMPSIM causes FOLDER --costs TABLE --costs-go TABLE [--go PATH]...
       validation.py GMPSIM sensitivity FOLDER --costs-go TABLE
       validation.py GMPSIM write FOLDER PAGE

measure runs gmpsim validate over the scenarios below, and random ones (holdout.py), and keeps what
it says in FOLDER; COMMAND, such as chrt, stands before each call. causes takes away what makes
virtual time be off, and sensitivity moves each cost as far as it is uncertain (causes.py). Each may
be stopped at any time: called again it does what is missing. write makes the page of it.
"""
import itertools
import json
import os
import statistics
import subprocess
import sys
import time

import causes
import holdout

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
# BUSY: dominated by their CPU bursts. No table of costs was fitted to any of them.
BUSY = """everyday/worker-pool steal/half-at-a-time sync/waitgroup-barrier everyday/errgroup
    steal/thieves-share-one-producer sysmon/no-safe-point""".split()
OTHERS = """basics/ping-pong basics/what-things-cost threads/locked-ping-pong everyday/spawn-storm
    everyday/fan-in everyday/bounded-queue everyday/singleflight everyday/pipeline
    everyday/mutex-convoy timers/timeout-in-select timers/ten-thousand-sleeps timers/afterfunc
    syscall/long gc/assist steal/what-stealing-costs""".split()
PROCS = (1, 2, 4)
TRIES = 3
HOLD_OUT = "hold-out"
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


def paths(folder):
    """The scenarios of the library, and the hold-out, which is written to the folder."""
    out = [os.path.join("scenarios", n + ".json") for n in sorted(BUSY + OTHERS)]
    os.makedirs(os.path.join(folder, HOLD_OUT), exist_ok=True)
    for seed in holdout.SEEDS:
        out.append(os.path.join(folder, HOLD_OUT, "%d.json" % seed))
        with open(out[-1], "w", encoding="utf-8") as f:
            json.dump(holdout.scenario(seed), f, indent=1)
    return out


def version(go):
    done = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=True,
                          env={**os.environ, "GOTOOLCHAIN": "local"})
    return done.stdout.strip()


def busy_ticks():
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system = f.readline().split()[1:4]
    return int(user) + int(nice) + int(system)


def wait_until_idle():
    """Half a minute at most."""
    for _ in range(100):
        before = busy_ticks()
        time.sleep(0.3)
        if busy_ticks() - before <= 1:
            return


def call(line, out, options):
    """One call of validate; False: other programs used the machine."""
    wait_until_idle()
    done = subprocess.run(line, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode not in (0, 1, 4):
        sys.exit(done.stderr)
    value = json.loads(done.stdout)
    if done.returncode != 4 or value["rows"]:  # rows: --anyway
        with open(out, "w", encoding="utf-8") as f:
            json.dump({**value, "options": options}, f)
        return True
    print("%s: the machine was not quiet (%.1f %%)" %
          (os.path.basename(out), value["cpu_permille"] / 10), flush=True)
    return False


def words_of(args):
    """The Gos, what stands before each call, and options of validate."""
    gos, options, before = [], [], []
    while args:
        word = args.pop(0)
        if word == "--go":
            gos.append(args.pop(0))
        elif word == "--with":
            before = args.pop(0).split()
        else:
            options.append(word)
    return gos, before, options


def table_of(options, name):
    """The file of a cost table that is given by name or path."""
    given = dict(zip(options, options[1:])).get(name, "reference")
    shipped = os.path.join(ROOT, "costs", given + ".json")
    return shipped if os.path.exists(shipped) else os.path.abspath(given)


def find_causes(gmpsim, folder, args):
    gos, _, options = words_of(args)
    tables = [table_of(options, o) for o in ("--costs", "--costs-go")]
    os.makedirs(folder, exist_ok=True)
    causes.causes(gmpsim, ROOT, tables, gos, folder)
    return 0


def find_sensitivity(gmpsim, folder, args):
    _, _, options = words_of(args)
    os.makedirs(folder, exist_ok=True)
    causes.sensitivity(gmpsim, ROOT, table_of(options, "--costs-go"), sorted(BUSY + OTHERS), PROCS,
                       len(os.sched_getaffinity(0)), folder)
    return 0


def measure(gmpsim, folder, args):
    """A call per Go, scenario and GOMAXPROCS, of a few seconds, tried again where the machine was
    not quiet; what is there already is kept."""
    gos, before, options = words_of(args)
    os.makedirs(folder, exist_ok=True)
    names = [(go, version(go)) for go in gos] or [(None, "none")]
    for (go, name), path, procs in itertools.product(names, paths(folder), PROCS):
        out = os.path.join(folder, "%s-%s-%d.json" % (
            name, short(path).replace("/", "."), procs))
        line = [*before, gmpsim, "validate", path, "--procs", str(procs), "--json", *options]
        if go:
            line += ["--go", go, "--programs", os.path.join(folder, "programs")]
        if not os.path.exists(out):
            any(call(line, out, options) for _ in range(TRIES))
    return 0


# ---- the page ----------------------------------------------------------------------

def is_held_out(path):
    return os.path.basename(os.path.dirname(path)) == HOLD_OUT


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
        self.name, self.rows, self.far, self.far_itself, self.said = name, {}, {}, {}, None
        for file in sorted(os.listdir(folder)):
            if not file.startswith(name + "-") or not file.endswith(".json"):
                continue
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                said = json.load(f)
            for r in said["rows"]:
                self.rows[(r["file"], r["procs"], r["source"], r["metric"])] = r
            for d in said["distances"]:
                place = (d["file"], d["procs"], d["source"], d["metric"])
                self.far[place], self.far_itself[place] = d["distance"], d.get("itself")
            if self.said is None:
                self.said = said
                continue
            self.said["comparisons"] += said["comparisons"]
            self.said["quiet"] &= said["quiet"]
            self.said["cpu_permille"] = min(self.said["cpu_permille"], said["cpu_permille"])

    def costs(self):
        """As the page says it."""
        said = dict(zip(self.said["options"], self.said["options"][1:]))
        threads = said.get("--costs", "the reference table")
        return "costs: %s for threads, %s for Go" % (threads, said.get("--costs-go", threads))

    def virtual(self, source):
        """The name of the virtual time that a source is compared with."""
        both = any(k[2] == "virtual-go" for k in self.rows)
        return "virtual-go" if source != "threads" and both else "virtual"

    def sources(self):
        return ["threads"] + ([self.name] if self.name.startswith("go") else [])

    def places(self):
        return sorted((c["file"], c["procs"]) for c in self.said["comparisons"]
                      if not c["skipped"])

    def errors(self, source, metric, held_out, key="error"):
        """(|error|, file, procs), counts of at most 100 left out."""
        out = []
        for file, procs in self.places():
            r = self.rows.get((file, procs, source, metric))
            if r is None or r["error"] is None or is_held_out(file) != held_out:
                continue
            if r["unit"] != "count" or r["median"] > 100:
                out.append((abs(r[key] or 0), file, procs))
        return out


def target_words(kind, metric, errors, room):
    target = TARGETS[kind].get(metric)
    if target:
        median, largest = (room * t for t in target)
        met = statistics.median(e[0] for e in errors) <= median and max(errors)[0] <= largest
        return "median %g %%, largest %g %%: %s" % (100 * median, 100 * largest,
                                                    "met" if met else "missed")
    if metric in MORE:
        inside = sum(e[0] <= room * MORE[metric] for e in errors)
        return "%g %%: %d of %d" % (100 * room * MORE[metric], inside, len(errors))
    return ""


def summary(m, source, held_out=False):
    lines = ["| | median | largest | where | comparisons | target | itself |",
             "|---|---|---|---|---|---|---|"]
    room = 1.5 if held_out else 1  # of the targets
    for metric, name in SHOWN:
        errors = m.errors(source, metric, held_out)
        if not errors:
            continue
        worst = max(errors)
        median = statistics.median(e[0] for e in errors)
        words = target_words("threads" if source == "threads" else "go", metric, errors, room)
        itself = ""
        if metric in MORE:
            own = m.errors(source, metric, held_out, "itself")
            itself = "%d of %d" % (sum(e[0] <= room * MORE[metric] for e in own), len(own))
        lines.append("| %s | %.1f %% | %.1f %% | %s, %d Ps | %d | %s | %s |" % (
            name, 100 * median, 100 * worst[0], short(worst[1]), worst[2], len(errors), words,
            itself))
    for which in ("wait", "wake"):
        far = [d for k, d in m.far.items() if k[2:] == (source, which) and d is not None and
               is_held_out(k[0]) == held_out]
        if far:
            most = 0.15 * room
            own = [d for k, d in m.far_itself.items() if k[2:] == (source, which) and
                   d is not None and is_held_out(k[0]) == held_out]
            row = "| K-S distance of %ss | %.2f | %.2f | | %d | %.2g: %d of %d | %d of %d |"
            lines.append(row % (
                which, statistics.median(far), max(far), len(far), most,
                sum(d <= most for d in far), len(far), sum(d <= most for d in own), len(own)))
    return lines


def table(m, source):
    columns = ["scenario", "Ps", source, "virtual", "makespan", "CPU time", "switches", "wait p50",
               "wait p99", "K-S"]
    lines = ["| %s |" % " | ".join(columns), "|" + "---|" * len(columns)]
    for file, procs in m.places():
        def error(metric, place=(file, procs)):
            r = m.rows.get((*place, source, metric))
            return percent(r["error"]) if r else "-"
        mine, virtual = (m.rows.get((file, procs, s, "makespan"))
                         for s in (source, m.virtual(source)))
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
of each source, interleaved, a comparison at a time. Errors are virtual over measured, less one;
{costs}. [validate.md](validate.md) says what each number is, and what is not compared.
"""
RANGE = """Where the virtual makespan itself spreads by more than a tenth over the seeds, the noise
of the costs turns the outcome over, and its median is one of several: {}."""
END = """## On your machine

`./dev validation --go GO` measures all of it, three minutes for each Go, and writes this page;
called again it measures what is missing, as after a time when the machine was not quiet;
`gmpsim validate FILE --procs 1,2 --go GO` one scenario in seconds, with every number that it has.
Both say so where other programs use the machine. `gmpsim calibrate --out here.json` and
`--costs here.json` put this machine's costs in place of the reference table's.

What the numbers do not show: more CPUs than this machine has; other architectures; programs that
work on memory (a burst has no cache misses); descriptors of the system under real Go."""


def para(text, **values):
    """A paragraph per line, as the pages of docs/ have them."""
    return [" ".join(p.split("\n")) if not p.startswith("#") else p
            for part in text.format(**values).strip().split("\n\n") for p in (part, "")]


HELD_OUT = """Six random programs (tests/accuracy/holdout.py: workers that compute, lock, yield,
sleep, start others and ask a server), to which nothing was fitted; the targets are one and a half
times those above."""


CAUSES = """Each cause with it and without it, by `./dev validation --causes`: of a cost, virtual
time without that entry of the tables and with it; of what the system does, two CPUs, and one, where
it has nothing to choose."""
TURNS = """Virtual time moves by more than 5 % when one cost is moved as far as it is uncertain (the
interval with which it was measured, a tenth up and down where none was), by `./dev validation
--sensitivity`. Of these the makespan is a range, and is judged as one: what was measured by {name}
is within it, or within 10 % of its ends, in {inside} of {all}."""
ITSELF = """*itself*: the same target, met by the odd runs of what was measured as against its own
even ones. Where the system alone makes that much difference, no model can come nearer."""


def cause_lines(folder):
    lines = ["| cause | taken away by | scenario | | against | with it | without |",
             "|---|---|---|---|---|---|---|"]
    for file in sorted(n for n in os.listdir(folder) if n.startswith("cause-")):
        with open(os.path.join(folder, file), encoding="utf-8") as f:
            c = json.load(f)
        for source in c["with"]:
            lines.append("| %s | `%s` | %s, %d Ps | %s | %s | %s | %s |" % (
                c["words"], c["how"], c["scenario"], c["procs"], c["metric"], source,
                percent(c["with"][source]), percent(c["away"].get(source))))
    return lines if len(lines) > 2 else []


def judged_as_ranges(m, turns, ends):
    """Of how many the measured makespan is in the range, or near it."""
    inside = 0
    for (name, procs), r in ends.items():
        mine = next((row["median"] for (file, p, source, metric), row in m.rows.items()
                     if short(file) == name and p == procs and source == m.name and
                     metric == "makespan"), None)
        start = r["base"] - next((row["median"] for (file, p, source, metric), row in
                                  m.rows.items() if short(file) == name and p == procs and
                                  source == m.virtual(m.name) and metric == "makespan"), r["base"])
        if mine is not None and (name, procs) in turns:
            inside += 0.9 * (r["low"] - start) <= mine <= 1.1 * (r["high"] - start)
    return inside


def sensitivity_lines(folder, ms):
    path = os.path.join(folder, "sensitivity.json")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as f:
        found = json.load(f)
    ends = {(r["scenario"], r["procs"]): r for r in found if r["cost"] is None}
    turns = {}
    for r in found:
        if r["cost"] is not None:
            turns.setdefault((r["scenario"], r["procs"]), []).append(r)
    m = ms[-1]
    lines = para(TURNS.format(name=m.name, all=len(turns),
                              inside=judged_as_ranges(m, turns, ends)))
    lines += ["| scenario | Ps | virtual | from | to | by |", "|---|---|---|---|---|---|"]
    for (name, procs), rows in sorted(turns.items()):
        r = ends[(name, procs)]
        most = sorted(rows, key=lambda x: -abs(x["makespan"] - x["base"]))[:3]
        lines.append("| %s | %d | %s | %s | %s | %s |" % (
            name, procs, time_text(r["base"]), time_text(r["low"]), time_text(r["high"]),
            ", ".join(dict.fromkeys(x["cost"] for x in most))))
    return lines + [""]


def write(folder, page):
    names = sorted({n.split("-")[0] for n in os.listdir(folder) if n.endswith(".json") and
                    n.split("-")[0] not in ("cause", "sensitivity.json")},
                   key=lambda n: [int(x) if x.isdigit() else 0 for x in n[2:].split(".")])
    ms = [Measured(folder, n) for n in names]
    first = ms[0].said
    lines = para(HEAD, all=len(BUSY + OTHERS), others=len(OTHERS), procs=", ".join(map(str, PROCS)),
                 cpus=max(c["cpus"] for c in first["comparisons"]), runs=first["runs"],
                 costs=ms[0].costs())
    lines += ["| against | comparisons | CPUs that were ours |", "|---|---|---|"]
    for m in ms:
        ours = "" if m.said["quiet"] else ", too few: not quiet"
        lines.append("| %s | %d of %d | %.1f %%%s |" % (
            m.name, len(m.said["comparisons"]),
            len(PROCS) * len(BUSY + OTHERS + list(holdout.SEEDS)),
            m.said["cpu_permille"] / 10, ours))
    lines += [""] + para(ITSELF)[:-1]
    for m in ms:
        for source in m.sources():
            title = "Threads, by the rules of %s" % m.name if source == "threads" else m.name
            lines += ["", "## " + title, ""] + summary(m, source)
    lines += ["", "## Programs that nobody looked at", ""] + para(HELD_OUT)[:-1]
    for m in ms:
        for source in m.sources():
            title = "Threads, rules of " + m.name if source == "threads" else m.name
            lines += ["", "### " + title, ""] + summary(m, source, held_out=True)
    far = ranges(ms)
    lines += ["", "## Those that are a range", ""]
    lines += para(RANGE.format("; ".join(far))) if far else ["None.", ""]
    turns = sensitivity_lines(folder, ms)
    if turns:
        lines += ["## Which cost turns an outcome over", ""] + turns
    away = cause_lines(folder)
    if away:
        lines += ["## Causes, taken away", ""] + para(CAUSES) + away + [""]
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
    do = {"measure": measure, "causes": find_causes, "sensitivity": find_sensitivity}.get(what)
    if do is not None:
        return do(gmpsim, folder, sys.argv[4:])
    write(folder, sys.argv[4])
    return 0


if __name__ == "__main__":
    sys.exit(main())
