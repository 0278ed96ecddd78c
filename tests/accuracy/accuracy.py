#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How well replays of recorded traces predict real Go: docs/accuracy.md.

Every program of src/cmd is built with each Go, run untraced at 1 and 2 Ps (the truth is the
median), and recorded at both between these runs, plain and deep: an hour later the machine is
another one. Each recording is replayed at both settings. All runs are of a real-time class where
that is allowed, so that other processes of the machine matter little.

usage: accuracy.py GMPSIM FOLDER [--go GO]... [--rounds N] [--only PROGRAM]... [--write PAGE]
                   [--cells FILE]
FOLDER keeps what was measured; what is there is not measured again.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Written after the passes and the rules; what they gave led to more of both.
AFTERWARDS = ("actors", "barrier", "batcher", "boundedbuf", "chat", "condqueue", "crawl", "futures",
              "logger", "lru", "mergesort", "netpipe", "parallelfor", "pipehttp", "ratelimit",
              "retry", "rwcache", "sessions", "sortpool", "tcplines", "tokens")
# Nobody looked at what these give while passes and rules were made. When somebody has, and changes
# one for it, they go up there and others are written.
UNSEEN = ("etl", "fanctx", "flight", "jobs", "topics", "wordcount")
LEVELS = ("plain", "deep")
QUOTA, PERIOD_US = 1, 10000  # CPUs; where a cgroup can be made
CROWD = (2, 4, 8)  # Ps on the CPUs that there are; without a real-time class, which does not share
P99_WITHIN = {"plain": 2, "deep": 1.5}
CLOCK_NS = 1000  # what the tracer takes of a wait: its events lie in it


class Bench:
    def __init__(self, args):
        self.gmpsim = os.path.abspath(args.gmpsim)
        self.folder = os.path.abspath(args.folder)
        self.rounds = args.rounds
        names = sorted(os.listdir(os.path.join(HERE, "src", "cmd")))
        self.programs = [n for n in names if not args.only or n in args.only]
        self.gos = args.go or [shutil.which("go")]
        self.first = ["chrt", "-f", "1"]
        if subprocess.run([*self.first, "true"], capture_output=True, check=False).returncode:
            self.first = []
        self.env = dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="", CGO_ENABLED="0")
        os.makedirs(self.folder, exist_ok=True)
        self.known = {}
        self.path = os.path.join(self.folder, "truth.json")
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as f:
                self.known = json.load(f)

    def call(self, args, **kw):
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              timeout=600, **kw)
        if done.returncode:
            sys.exit("%s: %s" % (" ".join(args), done.stderr.decode()))
        return done.stdout.decode()

    def release(self, go):
        return self.call([go, "env", "GOVERSION"], env=self.env).strip()

    def build(self, go, release, program):
        """The program three times: as it is, with a plain recorder, with a deep one."""
        paths = {}
        for how in ("untraced", *LEVELS):
            to = os.path.join(self.folder, "bin", release, program + "-" + how)
            paths[how] = to
            if os.path.exists(to):
                continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            command = [go, "build", "-trimpath", "-o", to, "./cmd/" + program]
            if how != "untraced":
                more = ["--shallow"] if how == "plain" else []
                command = [self.gmpsim, "record", *more, "--", *command]
            self.call(command, env=self.env, cwd=os.path.join(HERE, "src"))
        return paths

    def run(self, path, procs, trace=None, first=None):
        env = dict(self.env, GOMAXPROCS=str(procs))
        first = self.first if first is None else first
        if trace is not None:
            env["GMPSIM_TRACE"] = trace
        return json.loads(self.call([*first, path, "-tmp", self.folder], env=env))

    def sidecar(self, go, release):
        """What waking a thread costs here; measured once for each Go."""
        side = os.path.join(self.folder, release + ".gmpsim.json")
        if not os.path.exists(side):
            trace = os.path.join(self.folder, "side.trace")
            self.call([*self.first, self.gmpsim, "record", "--out", trace, "--", go, "run",
                       "./cmd/spawnstorm", "-size", "100"],
                      env=self.env, cwd=os.path.join(HERE, "src"))
            os.rename(trace + ".gmpsim.json", side)
            os.unlink(trace)
        return side

    def measure(self):
        for go in self.gos:
            release = self.release(go)
            side = self.sidecar(go, release)
            paths = {p: self.build(go, release, p) for p in self.programs}
            for program in self.programs:
                for procs in (1, 2):
                    self.measure_near(release, program, paths[program], procs, side)
            self.measure_cost(release, paths)
            self.measure_crowd(release, paths)
            self.measure_quota(release, paths)

    def measure_near(self, release, program, paths, procs, side):
        """The truth, and recordings in between. Where a recording is missing, truth and the other
        one are not of the same time: all of it is done."""
        traces = {level: self.trace(release, program, level, procs) for level in LEVELS}
        key = "%s %s %d" % (release, program, procs)
        missing = [] if all(map(os.path.exists, traces.values())) else list(LEVELS)
        have = [] if missing else self.known.get(key, [])
        while missing or len(have) < self.rounds:
            have.append(self.run(paths["untraced"], procs)["wall_ns"])
            if missing:
                level = missing.pop()
                self.run(paths[level], procs, traces[level])
                shutil.copy(side, traces[level] + ".gmpsim.json")
        self.known[key] = have
        with open(self.path, "w", encoding="utf-8") as f:
            json.dump(self.known, f)

    def measure_cost(self, release, paths):
        """What the overlay costs at 2 Ps: without a trace, with a plain one, with a deep one."""
        trace = os.path.join(self.folder, "cost.trace")
        hows = (("overlay", "deep", None), ("plain", "plain", trace), ("deep", "deep", trace),
                ("untraced", "untraced", None))
        for _ in range(self.rounds):
            for program in self.programs:
                for how, built, to in hows:
                    have = self.known.setdefault("cost %s %s %s" % (release, program, how), [])
                    if len(have) < self.rounds:
                        have.append(self.run(paths[program][built], 2, to)["wall_ns"])
        with open(self.path, "w", encoding="utf-8") as f:
            json.dump(self.known, f)

    def measure_crowd(self, release, paths):
        """More Ps than CPUs."""
        self.measure_shared("crowd %s %s %d", release, paths, CROWD, None)

    def measure_quota(self, release, paths):
        """At 2 Ps, with a quota of one CPU in periods that are short beside the programs."""
        self.measure_shared("quota %s %s", release, paths, (2,), QUOTA)

    def measure_shared(self, key, release, paths, crowd, quota):
        """Not of a real-time class, but in a cgroup that has nearly all of the CPUs if it wants
        them; without one a quota cannot be measured, and other processes disturb the rest."""
        group = cgroup(quota)
        if group is None and quota:
            return
        enter = []
        if group:
            enter = ["sh", "-c", "echo $$ > %s/cgroup.procs; exec \"$@\"" % group, "sh"]
        for _ in range(self.rounds):
            for program in self.programs:
                for procs in crowd:
                    name = (release, program, procs)[:key.count("%")]
                    have = self.known.setdefault(key % name, [])
                    if len(have) < self.rounds:
                        have.append(self.run(paths[program]["untraced"], procs,
                                             first=enter)["wall_ns"])
        if group:
            os.rmdir(group)
        with open(self.path, "w", encoding="utf-8") as f:
            json.dump(self.known, f)

    def runs_of(self, what):
        return min(len(v) for k, v in self.known.items() if k.startswith(what + " "))

    def quota(self):
        cells = []
        for go in self.gos:
            release = self.release(go)
            for program in self.programs:
                truth = self.known.get("quota %s %s" % (release, program))
                for level in LEVELS if truth else ():
                    j = self.replay(self.trace(release, program, level, 2), "--quota", str(QUOTA),
                                    "--period", "%dus" % PERIOD_US)
                    cells.append({"program": program, "level": level, "go": release,
                                  **said_of(j, statistics.median(truth))})
        return cells

    def replay(self, trace, *more):
        return json.loads(self.call([self.gmpsim, "replay", "--json", "--anyway", "--window",
                                     "measured", *more, trace]))

    def crowd(self):
        """T(4)/T(2) and T(8)/T(2) on two CPUs: predicted from the recording at 2 Ps, measured."""
        cells = []
        for go in self.gos:
            release = self.release(go)
            for program in self.programs:
                if "crowd %s %s %d" % (release, program, CROWD[0]) not in self.known:
                    continue
                truth = {n: statistics.median(self.known["crowd %s %s %d" % (
                    release, program, n)]) for n in CROWD}
                for level in LEVELS:
                    trace = self.trace(release, program, level, 2)
                    said = {n: self.replay(trace, "--procs", str(n), "--cpus", "2") for n in CROWD}
                    took = {n: j["makespan_ns"]["replayed"] for n, j in said.items()}
                    for n in CROWD[1:]:
                        cells.append({"go": release, "program": program, "level": level, "procs": n,
                                      "said": took[n] / took[2], "truth": truth[n] / truth[2],
                                      "worthless": said[n]["trust"]["worthless"]})
        return cells

    def releases(self):
        """Recorded on one release, asked about another, at the same Ps."""
        cells = []
        names = [self.release(go) for go in self.gos]
        for was, asked in ((a, b) for a in names for b in names if a != b):
            for program in self.programs:
                for level in LEVELS:
                    for procs in (1, 2):
                        j = self.replay(self.trace(was, program, level, procs), "--profile",
                                        ".".join(asked.split(".")[:2]))
                        truth = statistics.median(self.known["%s %s %d" % (asked, program, procs)])
                        cells.append({"was": was, "go": asked, "program": program, "level": level,
                                      "procs": procs, **said_of(j, truth)})
        return cells

    def costs(self):
        lines = ["| program | the overlay, no trace | plain trace | deep trace |",
                 "|---|---|---|---|"]
        for program in self.programs:
            row = []
            for how in ("overlay", "plain", "deep"):
                cells = []
                for go in self.gos:
                    of = [statistics.median(self.known["cost %s %s %s" % (
                        self.release(go), program, h)]) for h in (how, "untraced")]
                    cells.append(percent(of[0] / of[1] - 1))
                row.append(" / ".join(cells))
            lines.append("| %s | %s |" % (program, " | ".join(row)))
        return "\n".join(lines)

    def trace(self, release, program, level, procs):
        return os.path.join(self.folder, "%s-%s-%s-p%d.trace" % (release, program, level, procs))

    def predict(self):
        cells = []
        for go in self.gos:
            release = self.release(go)
            for program in self.programs:
                for level in LEVELS:
                    for was in (1, 2):
                        for procs in (1, 2):
                            cells.append(self.cell(release, program, level, was, procs))
        return cells

    def cell(self, release, program, level, was, procs):
        trace = self.trace(release, program, level, was)
        j = self.replay(trace, "--procs", str(procs))
        runs = self.known["%s %s %d" % (release, program, procs)]
        truth = statistics.median(runs)
        quarters = [min(runs), 0, max(runs)]
        if len(runs) > 3:
            quarters = statistics.quantiles(runs, n=4)
        return {"go": release, "program": program, "level": level, "was": was, "procs": procs,
                "noise": (quarters[2] - quarters[0]) / truth, **said_of(j, truth),
                "recorded": j["makespan_ns"]["recorded"],
                "verdict": j["verdict"], "left_out": j["left_out"],
                "wait_p99": j["wait_p99_ns"]["replayed"],
                "recorded_p99": j["wait_p99_ns"]["recorded"]}


def said_of(answer, truth):
    said = answer["makespan_ns"]["replayed"]
    return {"said": said, "truth": truth, "error": said / truth - 1, "trust": answer["trust"]}


def cgroup(quota):
    """A new one with nearly all shares of the CPUs, and the quota; None where none can be made."""
    v1, v2 = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup"
    is_v1 = os.path.exists(v1 + "/cpu.cfs_quota_us")
    group = os.path.join(v1 if is_v1 else v2, "gmpsim-accuracy")
    limits = (("cpu.shares", 262144), ("cpu.cfs_period_us", PERIOD_US),
              ("cpu.cfs_quota_us", quota * PERIOD_US if quota else -1))
    if not is_v1:
        limits = (("cpu.weight", 10000),
                  ("cpu.max", "%s %d" % (quota * PERIOD_US if quota else "max", PERIOD_US)))
    try:
        os.makedirs(group, exist_ok=True)
        for name, value in limits:
            with open(os.path.join(group, name), "w", encoding="ascii") as f:
                f.write(str(value))
    except OSError:
        return None
    return group


def percent(x):
    return "%+.1f" % (100 * x)


def table(cells, level, gos):
    moves = ((1, 1), (1, 2), (2, 1), (2, 2))
    lines = ["| program | " + " | ".join("%d > %d" % m for m in moves) + " |",
             "|---|" + "---|" * len(moves)]
    for program in sorted({c["program"] for c in cells}):
        row = []
        for was, procs in moves:
            of = [c for c in cells if (c["program"], c["level"], c["was"], c["procs"]) ==
                  (program, level, was, procs)]
            row.append(" / ".join(percent(c["error"]) for g in gos for c in of if c["go"] == g))
        lines.append("| %s | %s |" % (program, " | ".join(row)))
    for name, of in (("median", lambda e: "%.1f %%" % (100 * statistics.median(e))),
                     ("at most 7 %", lambda e: "%d of %d" % (sum(x <= .07 for x in e), len(e))),
                     ("at most 10 %", lambda e: "%d of %d" % (sum(x <= .10 for x in e), len(e)))):
        row = [of([abs(c["error"]) for c in cells
                   if (c["level"], c["was"], c["procs"]) == (level, was, procs)])
               for was, procs in moves]
        lines.append("| **%s** | %s |" % (name, " | ".join(row)))
    return "\n".join(lines)


def share(part, of):
    return "%d of %d (%.0f %%)" % (len(part), len(of), 100 * len(part) / len(of)) if of else "none"


def holds(cell):
    """Is the truth in the range that the answer states of itself?"""
    t = cell["trust"]
    return -t["below"] <= cell["truth"] / cell["said"] - 1 <= t["above"]


def width(cell):
    return max(cell["trust"]["below"], cell["trust"]["above"])


def ranges(cells):
    """How honest the stated ranges are, how wide, and what was refused."""
    lines = ["| | answers | within the stated range | median range | beyond 10 % | of these: "
             "within the range | said that they may be | said so though within 10 % | refused | "
             "refused though within 10 % |", "|---|---|---|---|---|---|---|---|---|---|"]
    for name, of in (("plain", [c for c in cells if c["level"] == "plain"]),
                     ("deep", [c for c in cells if c["level"] == "deep"]),
                     ("those written afterwards",
                      [c for c in cells if c["program"] in AFTERWARDS]),
                     ("all", cells)):
        if not of:
            continue
        given = [c for c in of if not c["trust"]["worthless"]]
        refused = [c for c in of if c["trust"]["worthless"]]
        beyond = [c for c in given if abs(c["error"]) > .10]
        near = [c for c in given if abs(c["error"]) <= .10]
        lines.append("| %s | %d | %s | -%.1f %% .. +%.1f %% | %d | %s | %s | %s | %d | %d |" % (
            name, len(given), share([c for c in given if holds(c)], given),
            100 * statistics.median(c["trust"]["below"] for c in given),
            100 * statistics.median(c["trust"]["above"] for c in given), len(beyond),
            share([c for c in beyond if holds(c)], beyond),
            share([c for c in beyond if width(c) > .10], beyond),
            share([c for c in near if width(c) > .10], near),
            len(refused), sum(abs(c["error"]) <= .10 for c in refused)))
    return "\n".join(lines)


def near(said, there, factor):
    """Within a factor; below a microsecond it is the tracer that is measured, not the program."""
    return 1 / factor <= said / there <= factor or abs(said - there) <= CLOCK_NS


def tails(cells):
    """The 99th percentile of waits for a P, against the recording made at the Ps asked about."""
    there = {(c["go"], c["program"], c["level"], c["was"]): c["recorded_p99"] for c in cells}
    lines = ["| | 1 > 1 | 1 > 2 | 2 > 1 | 2 > 2 |", "|---|---|---|---|---|"]
    for level in LEVELS:
        row = []
        for was, procs in ((1, 1), (1, 2), (2, 1), (2, 2)):
            of = [near(c["wait_p99"], there[c["go"], c["program"], level, procs],
                       P99_WITHIN[level])
                  for c in cells if (c["level"], c["was"], c["procs"]) == (level, was, procs) and
                  not c["trust"]["worthless"] and c["wait_p99"] > 0 and
                  there[c["go"], c["program"], level, procs] > 0]
            row.append("%d of %d" % (sum(of), len(of)))
        lines.append("| %s, within a factor of %g | %s |" % (level, P99_WITHIN[level],
                                                            " | ".join(row)))
    return "\n".join(lines)


def two_recordings(cells):
    """How near the two recordings of a program at the same settings, plain and deep, are to each
    other: no replay of one run can be nearer to another."""
    there = {}
    for c in cells:
        there.setdefault((c["go"], c["program"], c["was"]), {})[c["level"]] = c["recorded_p99"]
    lines = ["| | at 1 P | at 2 Ps |", "|---|---|---|"]
    for factor in sorted(P99_WITHIN.values()):
        row = []
        for procs in (1, 2):
            of = [near(*pair.values(), factor) for (_, _, was), pair in there.items()
                  if was == procs and len(pair) == 2 and min(pair.values()) > 0]
            row.append("%d of %d" % (sum(of), len(of)))
        lines.append("| within a factor of %g | %s |" % (factor, " | ".join(row)))
    return "\n".join(lines)


def crowded(cells, gos):
    lines = ["| program | T(4)/T(2) measured | from plain | from deep | T(8)/T(2) measured | "
             "from plain | from deep |", "|---|---|---|---|---|---|---|"]
    for program in sorted({c["program"] for c in cells}):
        row = []
        for n in CROWD[1:]:
            for level, what in (("plain", "truth"), ("plain", "said"), ("deep", "said")):
                row.append(" / ".join("%.2f" % c[what] for g in gos for c in cells
                                      if (c["go"], c["program"], c["level"], c["procs"]) ==
                                      (g, program, level, n)))
        lines.append("| %s | %s |" % (program, " | ".join(row)))
    for name, of in (("median error", lambda e: "%.1f %%" % (100 * statistics.median(e))),
                     ("at most 10 %", lambda e: "%d of %d" % (sum(x <= .1 for x in e), len(e)))):
        row = []
        for n in CROWD[1:]:
            row.append("")
            for level in LEVELS:
                row.append(of([abs(c["said"] / c["truth"] - 1) for c in cells
                               if (c["level"], c["procs"]) == (level, n) and not c["worthless"]]))
        lines.append("| **%s** (not refused) | %s |" % (name, " | ".join(row)))
    return "\n".join(lines)


def other_releases(cells):
    lines = ["| recorded on | asked about | level | Ps | median error | at most 10 % | within the "
             "stated range | refused |", "|---|---|---|---|---|---|---|---|"]
    for was, go in sorted({(c["was"], c["go"]) for c in cells}):
        for level in LEVELS:
            for procs in (1, 2):
                of = [c for c in cells if (c["was"], c["go"], c["level"], c["procs"]) ==
                      (was, go, level, procs)]
                given = [c for c in of if not c["trust"]["worthless"]]
                lines.append("| %s | %s | %s | %d | %.1f %% | %s | %s | %d |" % (
                    was, go, level, procs,
                    100 * statistics.median(abs(c["error"]) for c in given),
                    share([c for c in given if abs(c["error"]) <= .1], given),
                    share([c for c in given if holds(c)], given),
                    len(of) - len(given)))
    return "\n".join(lines)


def quota_rows(cells):
    if not cells:
        return "Not measured: no cgroup could be made."
    lines = ["| | median error | at most 10 % | within the stated range | refused |",
             "|---|---|---|---|---|"]
    for level in LEVELS:
        of = [c for c in cells if c["level"] == level]
        given = [c for c in of if not c["trust"]["worthless"]]
        lines.append("| %s | %.1f %% | %s | %s | %d |" % (
            level, 100 * statistics.median(abs(c["error"]) for c in given),
            share([c for c in given if abs(c["error"]) <= .1], given),
            share([c for c in given if holds(c)], given),
            len(of) - len(given)))
    return "\n".join(lines)


def medians(cells):
    lines = ["| | 1 > 1 | 1 > 2 | 2 > 1 | 2 > 2 | all predictions |", "|---|---|---|---|---|---|"]
    moves = ((1, 1), (1, 2), (2, 1), (2, 2))
    for level in LEVELS:
        for what, keep in (("all", lambda c: True),
                           ("not refused", lambda c: not c["trust"]["worthless"])):
            row = []
            for was in (*moves, None):
                e = [abs(c["error"]) for c in cells if c["level"] == level and keep(c) and
                     (was is None or (c["was"], c["procs"]) == was)]
                row.append("%.1f %%" % (100 * statistics.median(e)) if e else "none")
            lines.append("| %s, %s | %s |" % (level, what, " | ".join(row)))
    return "\n".join(lines)


def missed(cells):
    lines = ["| program | level | Go | Ps | truth, of the answer | stated |",
             "|---|---|---|---|---|---|"]
    for c in sorted(cells, key=lambda c: -abs(c["error"])):
        if not c["trust"]["worthless"] and not holds(c):
            lines.append("| %s | %s | %s | %d > %d | %s %% | -%.1f %% .. +%.1f %% |" % (
                c["program"], c["level"], c["go"], c["was"], c["procs"],
                percent(c["truth"] / c["said"] - 1), 100 * c["trust"]["below"],
                100 * c["trust"]["above"]))
    return "\n".join(lines)


def write(page, cells, bench):
    gos = sorted({c["go"] for c in cells})
    noise = [100 * c["noise"] for c in cells]
    with open(os.path.join(HERE, "page.txt"), encoding="utf-8") as f:
        text = f.read()
    unseen = [c for c in cells if c["program"] in UNSEEN]
    cells = [c for c in cells if c["program"] not in UNSEEN]
    crowd = bench.crowd()
    with open(page, "w", encoding="utf-8") as f:
        f.write(text % {
            "programs": len({c["program"] for c in cells}), "gos": ", ".join(gos),
            "gos_short": " / ".join(gos), "rounds": bench.rounds,
            "unseen_programs": len({c["program"] for c in unseen}),
            "unseen_medians": medians(unseen), "unseen_ranges": ranges(unseen),
            "unseen_plain": table(unseen, "plain", gos), "unseen_deep": table(unseen, "deep", gos),
            "unseen_missed": missed(unseen), "unseen_tails": tails(unseen),
            "noise": statistics.median(noise), "noisiest": max(noise),
            "medians": medians(cells), "ranges": ranges(cells), "unseen": ", ".join(UNSEEN),
            "afterwards": ", ".join(AFTERWARDS),
            "plain": table(cells, "plain", gos), "deep": table(cells, "deep", gos),
            "missed": missed(cells), "costs": bench.costs(), "tails": tails(cells),
            "two_recordings": two_recordings(cells),
            "crowded": crowded(crowd, gos),
            "gos_crowd": " / ".join(sorted({c["go"] for c in crowd})),
            "releases": other_releases(bench.releases()),
            "crowd_runs": bench.runs_of("crowd"), "cost_runs": bench.runs_of("cost"),
            "quota": quota_rows(bench.quota()), "cpus": QUOTA, "period": PERIOD_US // 1000,
            "gos_cost": " / ".join(bench.release(go) for go in bench.gos)})


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("gmpsim")
    p.add_argument("folder")
    p.add_argument("--go", action="append")
    p.add_argument("--only", action="append")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--write")
    p.add_argument("--cells")
    args = p.parse_args()
    bench = Bench(args)
    bench.measure()
    cells = bench.predict()
    if args.cells:
        with open(args.cells, "w", encoding="utf-8") as f:
            json.dump(cells, f, indent=1)
    gos = sorted({c["go"] for c in cells})
    if args.write:
        write(args.write, cells, bench)
        return
    for level in LEVELS:
        print(level, " / ".join(gos))
        print(table(cells, level, gos))
    print(medians(cells))
    print(ranges(cells))


if __name__ == "__main__":
    main()
