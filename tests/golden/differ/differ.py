#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random scenarios, simulated and in real Go: both have to print the same.

usage: differ.py GMPSIM [SEED] [-n COUNT] [--gc] [--shrink] [--file SCENARIO]

Makes COUNT scenarios (programs.py) from SEED on, writes each as a Go program
(gmpsim scenarios gen-go), builds all as one executable and runs each with
GOMAXPROCS=1. A program whose runs differ among themselves, as they may where timers
and the load of the machine decide, says nothing and is not compared. With --gc programs collect,
and how long marking takes decides what real Go prints: of one whose runs differ, all that comes in
a tenth of them has to come here, too, in one of many runs, with marking that takes from nothing to
10 us per KB and sweeping that takes few turns or many. One that differs is run again, alone and
often, before it counts.

Go is the one that GO names, else the newest of PATH and of the usual places Debian
and golang.org install to. GOCACHE may name a directory for compiled packages.

Exit status: 0 all agree, 1 a difference (its seed is printed, with --shrink a small
scenario too), 2 wrong usage, 77 not compared (no Go, or too few programs were stable).
"""
import argparse
import collections
import difflib
import glob
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import programs
import shrink

PRELUDE = "// ---- what the program"  # where gen-go's own functions begin
RUNS, RUNS_OF_A_DIFFERENCE, RUNS_ALONE = 5, 20, 200
RUNS_OF_A_SET, OFTEN = 100, 10
MARKING = (0, 30, 100, 300, 1000, 3000, 10000)  # ns per KB
# What a small Go program has besides its goroutines, as measured in Go 1.19 to 1.27: variables of
# 150 to 220 KB (gcController.globalsScanWork), of which 23 are data; and 22 spans, of which the
# program's own allocations sweep some.
A_GO_PROGRAM = ("gc_data_kb=23", "gc_bss_kb=130", "gc_spans=22")
SPANS = (22, 9, 1, 26, 36, 48)  # the scavenger takes turns, too: as if there were more
SEEDS = range(1, 17)
RUN_SECONDS = 10
OUTPUT_SIZE = 1 << 20

# Prints go to memory: a write is a system call, in which a P may change hands.
MAIN = """
var simOut = simMap()
var simOutN int

func simMap() []byte {
	f, err := os.OpenFile(os.Args[2], os.O_RDWR, 0)
	if err != nil {
		panic(err)
	}
	const access = syscall.PROT_READ | syscall.PROT_WRITE
	m, err := syscall.Mmap(int(f.Fd()), 0, SIZE, access, syscall.MAP_SHARED)
	if err != nil {
		panic(err)
	}
	syscall.Close(int(f.Fd()))
	runtime.KeepAlive(f)
	return m
}

func simPrintf(format string, args ...any) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			simByte(format[i])
			continue
		}
		i++
		switch v := args[0].(type) {
		case int64:
			simNumber(v)
		case string:
			for j := 0; j < len(v); j++ {
				simByte(v[j])
			}
		default:
			simByte('?')
		}
		args = args[1:]
	}
}

func simByte(b byte) {
	simOut[simOutN] = b
	simOutN++
}

func simNumber(v int64) {
	if v < 0 {
		simByte('-')
		v = -v
	}
	if v > 9 {
		simNumber(v / 10)
	}
	simByte(byte('0' + v%10))
}

func main() {
	switch os.Args[1] {
ARMS	}
}
""".replace("SIZE", str(OUTPUT_SIZE))

# The last part of gen-go's functions imitates iter.Pull for old releases: the real one.
IMITATED_PULL = "// iter.Pull, for releases that have no such thing."
PULL = """
type simCoroutine struct {
	next  func() (int64, bool)
	stop_ func()
	yield func(int64) bool
}

var simCurrent sync.Map

func simPull(f func()) int64 {
	c := new(simCoroutine)
	c.next, c.stop_ = iter.Pull(func(yield func(int64) bool) {
		c.yield = yield
		simCurrent.Store(simGoid(), c)
		f()
	})
	return simAdd(c)
}

func (c *simCoroutine) get() (value, ok int64) {
	v, more := c.next()
	return v, simInt(more)
}

func (c *simCoroutine) stop() { c.stop_() }

func simYield(value int64) int64 {
	current, _ := simCurrent.Load(simGoid())
	return simInt(current.(*simCoroutine).yield(value))
}
"""


class Broken(Exception):
    """The comparison itself does not work: gen-go or go build refuses a program."""


# ---- the Go ----

def version(go):
    """(1, 22, 3) of a go command, None if it is not one."""
    try:
        text = subprocess.run([go, "version"], capture_output=True, text=True, check=False,
                              env=dict(os.environ, GOTOOLCHAIN="local")).stdout
    except OSError:
        return None
    found = re.search(r" go(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(n or 0) for n in found.groups()) if found else None


def find_go():
    if os.environ.get("GO"):
        places = [os.environ["GO"]]
    else:
        places = [shutil.which("go"), *glob.glob("/usr/lib/go-1.*/bin/go"), "/usr/local/go/bin/go"]
    found = [(version(g), g) for g in places if g and version(g)]
    return max(found) if found else (None, None)


# ---- running both ----

def normalise(report):
    """Of a crash report what the scheduler decides, as in ../lib.sh."""
    out = []
    for line in report.splitlines():
        goroutine = re.match(r"goroutine (\d+) (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?(\[.*\]):$", line)
        if re.match(r"\t*(fatal error|panic): ", line):
            out.append(line)
        elif goroutine:
            who = "goroutine 1" if goroutine[1] == "1" else "goroutine"
            out.append("%s %s" % (who, goroutine[2]))
    return "".join(line + "\n" for line in out)


class Differ:
    """Scenarios, one Go executable that has them all, and the simulator."""

    def __init__(self, gmpsim, go, release, work, gc=False):
        self.gmpsim, self.go, self.work = gmpsim, go, pathlib.Path(work)
        self.minor = release[1]
        # With GOGC=off the sums of what goroutines owe the collector overflow in real Go.
        self.gogc = "100" if gc else "off"
        self.rules = [word for rule in A_GO_PROGRAM if gc for word in ("--rule", rule)]
        self.profile = "go%d.%d" % release[:2]
        self.env = {"PATH": os.environ.get("PATH", ""), "HOME": str(work), "GOPATH": work + "/path",
                    "GOCACHE": os.environ.get("GOCACHE", work + "/cache"), "GOTOOLCHAIN": "local",
                    "GOENV": "off", "GOWORK": "off", "GO111MODULE": "on", "CGO_ENABLED": "0"}
        (self.work / "go.mod").write_text("module differ\n\ngo 1.%d\n" % self.minor)
        # Real-time priority, where allowed, keeps other load of the machine from looking
        # like a time slice that is used up.
        self.priority = ["chrt", "-f", "1"]
        try:
            subprocess.run(self.priority + ["true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            self.priority = []

    def path(self, i):
        return self.work / ("s%d.json" % i)

    def program(self, i, scenario):
        self.path(i).write_text(json.dumps(scenario, indent=1))
        p = subprocess.run([self.gmpsim, "scenarios", "gen-go", str(self.path(i))],
                           capture_output=True, text=True, check=False)
        if p.returncode != 0:
            raise Broken("gen-go: " + p.stderr + p.stdout)
        return p.stdout

    def accepts(self, scenario):
        try:
            return bool(self.program(0, scenario))
        except Broken:
            return False

    def build(self, scenarios):
        """One executable: the number of the scenario is its first argument."""
        bodies, arms, head, prelude = [], "", "", ""
        for i, scenario in enumerate(scenarios):
            text = self.program(i, scenario)
            at, end = text.index(")\n") + 2, text.index(PRELUDE)
            head, prelude = text[:at], text[end:]
            bodies.append(text[at:end].replace("func main() {", "func main_%d() {" % i))
            arms += '\tcase "%d":\n\t\tmain_%d()\n' % (i, i)
        if self.minor >= 23:
            head = head.replace('\t"io"\n', '\t"io"\n\t"iter"\n')
            prelude = prelude[:prelude.index(IMITATED_PULL)] + PULL
        text = (head + "".join(bodies) + prelude).replace("fmt.Printf(", "simPrintf(")
        (self.work / "main.go").write_text(text + MAIN.replace("ARMS", arms))
        p = subprocess.run([self.go, "build", "-o", "differ.exe", "main.go"], cwd=self.work,
                           env=self.env, capture_output=True, text=True, check=False)
        if p.returncode != 0:
            raise Broken("go build: " + p.stderr[:2000])

    def real(self, i):
        """What scenario i prints in real Go; None: it does not end."""
        out = self.work / "out"
        out.write_bytes(bytes(OUTPUT_SIZE))
        env = {"PATH": self.env["PATH"], "GOMAXPROCS": "1", "GOGC": self.gogc}
        try:
            p = subprocess.run(self.priority + ["./differ.exe", str(i), str(out)], cwd=self.work,
                               env=env, capture_output=True, timeout=RUN_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return None
        text = out.read_bytes().split(b"\0")[0].decode()
        if p.returncode or p.stderr:
            text += "exit %d\n" % p.returncode + normalise(p.stderr.decode())
        return text

    def simulated(self, i, *options):
        p = subprocess.run([self.gmpsim, "run", str(self.path(i)), "--profile", self.profile,
                            "--procs", "1", "--prints", *self.rules, *options],
                           capture_output=True, text=True, timeout=60, check=False)
        if p.returncode > 1:  # gmpsim refused it
            return p.stdout + p.stderr
        # A report of a crash is on standard error; Go exits with 2 then.
        return p.stdout + ("exit 2\n" + normalise(p.stderr) if p.stderr else "")

    def compare_sets(self, i):
        """Of a program that collects, whose runs differ: like compare, with an output that real Go
        prints often and the simulator never, beside what that prints mostly."""
        real = collections.Counter(self.real(i) for _ in range(RUNS_OF_A_SET))
        often = {text for text, count in real.items() if count >= OFTEN}
        if None in real or not often:
            return "unstable", None, None
        here = collections.Counter()
        for spans, ns in itertools.product(SPANS, MARKING):
            for seed in SEEDS:
                here[self.simulated(i, "--rule", "gc_mark_ns_per_kb=%d" % ns, "--rule",
                                    "gc_spans=%d" % spans, "--noise", "on",
                                    "--seed", str(seed))] += 1
            if often <= set(here):
                return "within", None, None
        return "differs", min(often - set(here)), here.most_common(1)[0][0]

    def compare(self, i, runs=RUNS_OF_A_DIFFERENCE):
        """("same" | "unstable" | "differs", real Go's prints, the simulator's)."""
        first = self.real(i)
        if first is None or any(self.real(i) != first for _ in range(RUNS - 1)):
            return "unstable", first, None
        simulated = self.simulated(i)
        if simulated == first:
            return "same", first, simulated
        if any(self.real(i) != first for _ in range(runs - RUNS)):
            return "unstable", first, None
        return "differs", first, simulated


# ---- reports ----

def show(differ, seed, real, simulated):
    print("DIFFERS  seed %s, %s" % (seed, differ.profile))
    sys.stdout.writelines(difflib.unified_diff(simulated.splitlines(True), real.splitlines(True),
                                               "simulated", "real Go", n=2))
    sys.stdout.flush()


def show_small(differ, scenario):
    def differs(scenarios):
        """Those that are programs still and differ."""
        valid = [s for s in scenarios if differ.accepts(s)]
        try:
            differ.build(shrink.rename(s, i) for i, s in enumerate(valid))
        except Broken:
            return []
        return [s for i, s in enumerate(valid) if differ.compare(i, RUNS)[0] == "differs"]

    small = shrink.shrink(scenario, differs)
    differ.build([small])
    _, real, simulated = differ.compare(0, RUNS)
    print(json.dumps(small, indent=1))
    print("---- real Go\n%s---- simulated\n%s" % (real, simulated), flush=True)


def alone(differ, scenario):
    """What it is when it is the only program. Real Go may be stable for how fast it marks."""
    differ.build([scenario])
    found = differ.compare(0, RUNS_ALONE)
    return found if found[0] == "same" else differ.compare_sets(0)


def again(differ, scenarios, found):
    """Programs that collect: how long marking takes depends on what else is in the executable."""
    first, found["differs"] = found["differs"], []
    for i in first:
        what, real, simulated = alone(differ, shrink.rename(scenarios[i], 0))
        print("the %s of them alone: %s" % (i + 1, what))
        found[what].append(i)
        if what == "differs":
            show(differ, i + 1, real, simulated)


def run(differ, scenarios, seeds, small, gc):
    differ.build(scenarios)
    found = {"same": [], "within": [], "unstable": [], "differs": []}
    lines = 0
    for i, seed in enumerate(seeds):
        what, real, simulated = differ.compare(i)
        if gc and what == "unstable":
            what, real, simulated = differ.compare_sets(i)
        found[what].append(i)
        if what == "differs":
            show(differ, seed, real, simulated)
        elif what == "same":
            lines += real.count("\n")
    if gc:
        again(differ, scenarios, found)
    print("%s: %d programs agree (%d lines), %d within what marking decides, %d unstable, %d differ"
          % (differ.profile, len(found["same"]), lines, len(found["within"]),
             len(found["unstable"]), len(found["differs"])), flush=True)
    if small:
        for i in found["differs"]:
            show_small(differ, shrink.rename(scenarios[i], 0))
    if found["differs"]:
        return 1
    return 0 if len(found["same"]) + len(found["within"]) > len(found["unstable"]) else 77


def main():
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("gmpsim")
    ap.add_argument("seed", type=int, nargs="?", default=1)
    ap.add_argument("-n", type=int, default=40, help="how many programs")
    ap.add_argument("--shrink", action="store_true", help="make those that differ small")
    ap.add_argument("--gc", action="store_true", help="programs that collect")
    ap.add_argument("--file", help="a scenario of yours instead")
    a = ap.parse_args()
    release, go = find_go()
    if not go:
        print("skipped: no Go is installed (set GO=/path/to/go)")
        return 77
    with tempfile.TemporaryDirectory() as work:
        differ = Differ(os.path.abspath(a.gmpsim), go, release, work, a.gc)
        if a.file:
            seeds = [a.file]
            scenarios = [shrink.rename(json.loads(pathlib.Path(a.file).read_text()), 0)]
        else:
            seeds = range(a.seed, a.seed + a.n)
            scenarios = [programs.scenario(seed, differ.minor, "s%d_" % i, a.gc)
                         for i, seed in enumerate(seeds)]
        try:
            return run(differ, scenarios, seeds, a.shrink, a.gc)
        except Broken as e:
            print(e)
            return 2


if __name__ == "__main__":
    sys.exit(main())
