#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: docs/story-http.md says what happens: a Go service is recorded, its replay asked, and the
answers compared with the service itself.

usage: story.py GMPSIM [--write PAGE] [--go GO] [--requests N] [--rounds N]

Method: everything is done anew, and the page is written from it. Without --write the page that
there is must have the same text but for its numbers (so every command of it works, and its output
has that form), and the answers must be what the tool promises of them: the replay agrees with the
recording, more Ps are not slower in it. Numbers of the machine are not judged, for tests run beside
others.
Exit status 77: there is no Go.
"""
import argparse
import glob
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(HERE, "..", "..", "docs", "story-http.md")
GROUP = "/sys/fs/cgroup/cpu/gmpsim-story"
SETTINGS = [("1 P", ["--procs", "1", "--cpus", "2"], 1, 0),
            ("2 Ps", ["--procs", "2", "--cpus", "2"], 2, 0),
            ("4 Ps", ["--procs", "4", "--cpus", "2"], 4, 0),
            ("8 Ps", ["--procs", "8", "--cpus", "2"], 8, 0),
            ("2 Ps, a quota of 1 CPU", ["--procs", "2", "--cpus", "2", "--quota", "1"], 2, 1)]


def is_new(go):
    """1.22 or newer: what gmpsim record knows, and whose loops have a variable per round."""
    env = dict(os.environ, GOTOOLCHAIN="local")
    p = subprocess.run([go, "env", "GOVERSION"], capture_output=True, check=False, env=env)
    found = re.match(rb"go1\.(\d+)", p.stdout)
    return p.returncode == 0 and found is not None and int(found.group(1)) >= 22


def find_go():
    places = ["/usr/local/go/bin/go", "/usr/lib/go-1.*/bin/go"]
    found = [shutil.which("go")] + [p for place in places for p in sorted(glob.glob(place))]
    new = [go for go in found if go and is_new(go)]
    if not new:
        return None
    return new[0] if new[0] == shutil.which("go") else new[-1]


class Story:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        bin_ = os.path.join(folder, "bin")
        os.mkdir(bin_)
        os.symlink(os.path.abspath(args.gmpsim), os.path.join(bin_, "gmpsim"))
        path = bin_ + ":" + os.path.dirname(os.path.abspath(args.go)) + ":" + os.environ["PATH"]
        self.env = dict(os.environ, PATH=path, GOTOOLCHAIN="local", GOFLAGS="-trimpath",
                        CGO_ENABLED="0", TMPDIR=folder)
        self.shop = os.path.join(folder, "shop")
        shutil.copytree(os.path.join(HERE, "story"), self.shop,
                        ignore=shutil.ignore_patterns("page.txt"))
        self.group = self.make_group()
        self.first = ["chrt", "-f", "1"]
        if subprocess.run([*self.first, "true"], capture_output=True, check=False).returncode:
            self.first = []

    def make_group(self):
        """A cgroup that has nearly all of the CPUs if it wants them."""
        try:
            os.makedirs(GROUP, exist_ok=True)
            self.put("cpu.shares", 262144)
            self.put("cpu.cfs_quota_us", -1)
            return True
        except OSError:
            return False

    def put(self, name, value):
        with open(os.path.join(GROUP, name), "w", encoding="ascii") as f:
            f.write(str(value))

    def remove_group(self):
        if self.group:
            os.rmdir(GROUP)

    def call(self, command, first=(), **more):
        p = subprocess.run([*first, "sh", "-c", command], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, cwd=self.shop, check=False, timeout=600,
                           env=dict(self.env, **more))
        if p.returncode:
            sys.exit("%s: %s" % (command, p.stderr.decode()))
        return p.stdout.decode()

    def block(self, command, lines=(0, 1000), wanted=None, first=()):
        """A command with its output, or a part of it."""
        out = self.call(command, first).splitlines()
        if wanted is not None:
            at = next(i for i, line in enumerate(out) if wanted in line)
            out = out[at + lines[0]:at + lines[1]]
        part = out[lines[0]:lines[1]] if wanted is None else out
        text = "\n".join(line.rstrip() for line in part).strip("\n")
        return "```\n$ %s\n%s\n```" % (command, text)

    def run(self, procs, quota):
        """No more Ps than CPUs: of a real-time class, which does not share. Else in the cgroup."""
        alone = self.first if procs <= 2 and not quota else []
        enter = "echo $$ > %s/cgroup.procs && " % GROUP if self.group and not alone else ""
        if self.group:
            self.put("cpu.cfs_quota_us", quota * 100000 if quota else -1)
        out = self.call(enter + "exec ./shop %d" % self.args.requests, alone,
                        GOMAXPROCS=str(procs))
        value, unit = re.search(r" in ([0-9.]+)(µs|ms|s)\n", out).groups()
        return float(value) * {"µs": 1e-3, "ms": 1, "s": 1e3}[unit]

    def predict(self, options):
        j = json.loads(self.call("gmpsim replay trace.out --window load --json --anyway "
                                 + " ".join(options)))
        return j["makespan_ns"]["replayed"] / 1e6, j["trust"]

    def recorded(self):
        j = json.loads(self.call("gmpsim replay trace.out --window load --json --anyway"))
        return j["makespan_ns"]["recorded"] / 1e6

    def table(self):
        asked = [s for s in SETTINGS if not s[3] or self.group]
        self.call("go build -o shop .")
        took = {s[0]: [] for s in asked}
        for _ in range(self.args.rounds):
            for what, _, procs, quota in asked:
                took[what].append(self.run(procs, quota))
        rows, worst, inside, recorded = [], 0, 0, self.recorded()
        self.cost = "%+.1f %%" % (100 * (recorded / statistics.median(took["2 Ps"]) - 1))
        self.answers = {}
        for what, options, _, _ in asked:
            said, trust = self.predict(options)
            truth = statistics.median(took[what])
            error = 100 * (said / truth - 1)
            self.answers[what] = said
            worst = max(worst, abs(error))
            inside += -trust["below"] <= truth / said - 1 <= trust["above"]
            rows.append("| %s | %.1f ms | %.1f ms | %+.1f %% | %s |" % (
                what, said, truth, error, "refused" if trust["worthless"]
                else "-%.1f %% .. +%.1f %%" % (100 * trust["below"], 100 * trust["above"])))
        self.words = ("The largest error is %.1f %%; %d of the %d lie within what the answer said"
                      " of itself." % (worst, inside, len(asked)))
        return "\n".join(["| | replay | really | error | stated range |", "|---|---|---|---|---|",
                          *rows])

    def write(self):
        n = self.args.requests
        with open(os.path.join(HERE, "story", "page.txt"), encoding="utf-8") as f:
            page = f.read()
        with open(os.path.join(HERE, "story", "main.go"), encoding="utf-8") as f:
            lines = len(f.read().splitlines())
        g = "gmpsim "
        parts = {
            "LINES": str(lines), "REQUESTS": str(n),
            "RECORD": self.block(g + "record --shallow --procs 2 -- go run . %d" % n,
                                 first=self.first),
            "INFO": self.block(g + "trace info trace.out | head -3") + "\n\n" + self.block(
                g + "trace info trace.out | grep -A 4 '^slow page'"),
            "EXPLAIN": self.block(g + "trace info trace.out --explain page | head -8"),
            "QUERY": self.block(g + "query trace.out \"SELECT name, count(*),"
                                " sum(end_time_ns IS NULL) FROM goroutines"
                                " GROUP BY name ORDER BY 2 DESC LIMIT 3\""),
            "REPLAY": self.block(g + "replay trace.out --window load", (0, 4), "recorded     ")
            + "\n\n" + self.block(g + "replay trace.out --window load | grep within"),
            "WHATIF": self.block(g + "whatif trace.out --procs 1,2,4,8 --cpus 2 --anyway 2>&1"
                                 " | grep -E '^go|^    load|^Best'"),
            "QUOTA": self.block(g + "whatif trace.out --procs 2,8 --cpus 8 --quota 2 --anyway 2>&1"
                                " | grep -E '^go|^    load|^Best'"),
            "TABLE": self.table(), "ROUNDS": str(self.args.rounds), "CPUS": str(os.cpu_count()),
            "HOW": "1 and 2 Ps of a real-time class; the others in a cgroup with nearly all"
                   " shares of the CPUs, beside what else ran" if self.group and self.first
                   else "beside what else ran",
        }
        parts["WORDS"] = self.words
        parts["COST"] = self.cost
        for name, text in parts.items():
            page = page.replace("@%s@" % name, text)
        return page


def form(page):
    """The text without what a machine decides: numbers, units and spaces, who was seen."""
    page = re.sub(r"```\n(\$ [^\n]*)\n.*?```", r"\1", page, flags=re.S)
    page = re.sub(r"^\| (\d Ps?[^|]*) \|.*$", r"\1", page, flags=re.M)
    page = re.sub(r"\((N and N|1 and 2 Ps|beside)[^)]*\)", "", page)
    return re.sub(r"[-+]?\d[\d.]*", "N", page)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gmpsim")
    p.add_argument("--write")
    p.add_argument("--go", default=find_go())
    p.add_argument("--requests", type=int, default=400)
    p.add_argument("--rounds", type=int, default=1)
    args = p.parse_args()
    if args.go is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        story = Story(args, folder)
        try:
            page = story.write()
        finally:
            story.remove_group()
    if args.write:
        with open(args.write, "w", encoding="utf-8") as f:
            f.write(page)
        return 0
    with open(PAGE, encoding="utf-8") as f:
        was = [line for line in form(f.read()).splitlines() if "a quota of N CPU" not in line]
    now = [line for line in form(page).splitlines() if "a quota of N CPU" not in line]
    wrong = [(a, b) for a, b in zip(was, now) if a != b]
    if len(was) != len(now) or wrong:
        print("the page is another: %s" % (wrong[:5] or (len(was), len(now))))
        return 1
    a = story.answers
    if not a["2 Ps"] < a["1 P"] or a["4 Ps"] > a["1 P"] or a["8 Ps"] > a["1 P"]:
        print("answers that cannot be: %s" % a)
        return 1
    return 0


sys.exit(main())
