#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The straight-line work of a runtime, fitted: what is between atomics, futexes and calls of the
system takes other times in Go's compiled runtime than in the C core.

Seven small programs, each of which does one thing often at one P, run on threads and in real Go
(gmpsim validate), and in virtual time with other and other `work`, until the sum of the squares of
the errors does not shrink any more. Entries that no program tells apart are scaled together.

usage: work.py GMPSIM --base TABLE [--go GO]... --threads OUT [--out-go OUT] [--programs FOLDER]
               [--measured FILE] [--anyway]
       TABLE: what `gmpsim calibrate --out` wrote. The work is fitted to the first Go; of the
       others it is measured what looking takes, which is their release's in OUT.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

N, CROWD, SEEDS, LOAD_PS = 20000, 5000, 1, 300
# What a Go program pays when it does something for the first time, and the C core never.
FIRST = """inits boot netpoll first_go first_wait new_g g_span g_page stack_refill new_size allgs
    flush""".split()
CROWDS = "new_g g_span g_page stack_refill allgs flush".split()  # of them, what a crowd pays


def loop(body):
    return [{"loop": N, "do": body}]


# Name, the entries that it decides, objects, functions, main.
PROGRAMS = [
    ("gosched", ["schedule", "execute", "gogo", "mcall", "findrunnable"], {"wg": "waitgroup"},
     {"f": loop([{"gosched": True}]) + [{"done": "wg"}]},
     [{"add": "wg", "n": 2}, {"go": "f"}, {"go": "f"}, {"wait": "wg"}]),
    ("buffered", ["chan_op"], {"c": {"chan": 128}, "wg": "waitgroup"},
     {"f": [{"range": "c", "do": []}, {"done": "wg"}]},
     [{"add": "wg", "n": 1}, {"go": "f"}] + loop([{"send": "c", "value": 1}]) +
     [{"close": "c"}, {"wait": "wg"}]),
    ("ping-pong", ["chan_wait"], {"a": "chan", "b": "chan"},
     {"f": [{"range": "a", "do": [{"send": "b", "value": 1}]}]},
     [{"go": "f"}] + loop([{"send": "a", "value": 1}, {"recv": "b"}])),
    ("spawn", ["newproc", "goexit"], {"c": "chan"}, {"f": [{"send": "c", "value": 1}]},
     loop([{"go": "f"}, {"recv": "c"}])),
    ("mutex", ["sema_op"], {"m": "mutex", "wg": "waitgroup"},
     {"f": loop([{"lock": "m"}, {"gosched": True}, {"unlock": "m"}]) + [{"done": "wg"}]},
     [{"add": "wg", "n": 2}, {"go": "f"}, {"go": "f"}, {"wait": "wg"}]),
    ("select", ["select_case"], {"a": {"chan": 1}, "b": {"chan": 1}},
     {}, loop([{"send": "a", "value": 1},
               {"select": [{"recv": "a", "do": []}, {"recv": "b", "do": []}]}])),
    ("crowd", ["malg"], {"c": "chan", "wg": "waitgroup"}, {"f": [{"recv": "c"}, {"done": "wg"}]},
     [{"add": "wg", "n": CROWD}, {"go": "f", "count": CROWD}, {"close": "c"}, {"wait": "wg"}]),
]


def scenario(p):
    name, _, objects, funcs, main = p
    return {"name": "work: " + name, "why": "fits the cost of straight-line work", "procs": 1,
            "objects": objects, "funcs": funcs, "main": main}


def virtual(gmpsim, path, table, profile, folder):
    """Nanoseconds of one run."""
    costs = os.path.join(folder, "try.json")
    with open(costs, "w", encoding="utf-8") as f:
        json.dump(table, f)
    took = 0
    for seed in range(1, SEEDS + 1):
        done = subprocess.run([gmpsim, "run", path, "--costs", costs, "--profile", profile,
                               "--noise", "on", "--seed", str(seed), "--json"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stderr)
        took += json.loads(done.stdout)["makespan_ns"] / SEEDS
    return took


def entries(table):
    """The work that the table says, or else the reference table."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "reference.json"), encoding="utf-8") as f:
        ps = {k: v["ps"] for k, v in json.load(f)["work"].items()}
    ps.update({k: v["ps"] for k, v in table.get("work", {}).items()})
    return ps


# What is not in the table (other programs had the machine) is as this one.
LIKE = {"load": "load_acq", "store": "store_rel", "cas": "xchg", "cas_rel": "xchg"}


def prepared(base, whose):
    table = json.loads(json.dumps(base))
    # New goroutines are all in malg, by the crowd; the others are Go's alone.
    zeros = {"ps": [0] * 11, "source": "fitted: none"}
    table["noise"] = {k: zeros for k in (FIRST if whose == "threads" else CROWDS)}
    # A table has what a load takes, not after how long its value can be used: nobody waits for it.
    for port in table["ports"].values():
        for k, like in LIKE.items():
            if k not in port and like in port:
                port[k] = {**port[like], "source": "as " + like}
        for k in ("load", "load_acq", "load_rlx", "store_rlx"):
            if k in port:
                port[k]["hit"] = min(port[k]["hit"], LOAD_PS)
                port[k]["source"] = ("estimate: three loads or stores a nanosecond, nobody waits "
                                     "for them; miss measured: gmpsim calibrate")
    return table


def fit(gmpsim, base, aims, profile, folder, whose):
    """base with work such that the programs take what they should, as far as work decides it: one
    group of entries after the other, up and down, as long as the squares of the errors shrink."""
    table, work = prepared(base, whose), entries(base)
    names = [p[0] for p in PROGRAMS if p[0] in aims]
    groups = [p[1] for p in PROGRAMS if p[1]]

    def took():
        table["work"] = {k: {"ps": v, "source": "fitted to " + whose} for k, v in work.items()
                         if any(k in g for g in groups)}
        return {n: virtual(gmpsim, os.path.join(folder, n + ".json"), table, profile, folder)
                for n in names}

    def badness():
        return sum(math.log(t / aims[n]) ** 2 for n, t in took().items())
    best, step = badness(), 0.5
    while step > 0.02:
        better = False
        for g in groups:
            for factor in (1 + step, 1 / (1 + step), 0):
                before = {k: work[k] for k in g}
                for k in g:
                    work[k] = round(before[k] * factor + (500 if factor > 1 else 0))
                now = badness()
                if now < best - 1e-6:
                    best, better = now, True
                    break
                work.update(before)
        step = step if better else step / 2
    for n, t in took().items():
        print("%-8s %-10s %8.0f us, wanted %8.0f: %+.1f %%" % (
            whose, n, t / 1e3, aims[n] / 1e3, 100 * (t / aims[n] - 1)))
    print(whose, {k: v["ps"] for k, v in table["work"].items()})
    return table


def looks(gmpsim, path, tables, go, options):
    """What it takes to look, once, on threads and in this Go, in ps: of a ping-pong's switch the
    wait holds two records, or events, more than what nobody watches."""
    line = [gmpsim, "validate", path, "--json", "--costs", tables["threads"],
            "--costs-go", tables["go"], *options]
    line += ["--go", go] if go else []
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(done.stderr)
    wait = {r["source"]: r["median"] for r in json.loads(done.stdout)["rows"]
            if r["metric"] == "wait_p50"}
    out = {}
    for source in wait:
        expected = wait.get("virtual" if source == "threads" else "virtual-go")
        if not source.startswith("virtual") and expected is not None:
            out[source] = max(0, round(1000 * (wait[source] - expected) / 2))
    return out


def write_looks(gmpsim, path, tables, gos, options):
    """The first Go's is the table's, what others take is of their release."""
    said = {t: load(t) for t in tables.values()}
    source = "measured: costs/measure/work.py, a ping-pong that is watched or not, %s"
    for table in said.values():  # a reader is not charged while it is measured
        table["work"]["record"] = {"ps": 0, "source": source % "none"}
        for release in table.get("releases", {}).values():
            release.pop("record", None)
    for name, table in said.items():
        keep(name, table)
    for go in gos or [None]:
        for who, ps in looks(gmpsim, path, tables, go, options).items():
            entry = {"ps": ps, "source": source % who}
            of = said[tables["threads" if who == "threads" else "go"]]
            if go == (gos or [None])[0]:
                of["work"]["record"] = entry
            if who != "threads" and len(gos) > 1:
                release = ".".join(who.split(".")[:2])
                of.setdefault("releases", {}).setdefault(release, {})["record"] = entry
    for name, table in said.items():
        if "releases" in table:
            table["releases"] = dict(sorted(table["releases"].items()))
        keep(name, table)


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def keep(path, table):
    with open(path, "w", encoding="utf-8") as f:
        f.write(json.dumps(table, indent=2) + "\n")


def validated(gmpsim, folder, args):
    """What validate says of the programs; what was measured earlier is taken."""
    if args.measured and os.path.exists(args.measured):
        return load(args.measured)
    line = [gmpsim, "validate", folder, "--json", "--costs", args.base, *options_of(args)]
    line += ["--go", args.go[0]] if args.go else []
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 4):
        sys.exit(done.stderr)
    said = json.loads(done.stdout)
    if args.measured and said["rows"]:
        keep(args.measured, said)
    return said


def options_of(args):
    return ((["--programs", args.programs] if args.programs else []) +
            (["--anyway"] if args.anyway else []))


def fit_all(gmpsim, said, folder, args):
    profile = said["comparisons"][0]["profile"]
    startup = {r["file"]: r["median"] for r in said["rows"]
               if r["source"] == "virtual" and r["metric"] == "startup"}
    for source, out in (("threads", args.threads), ("go", args.out_go)):
        aims = {os.path.basename(r["file"])[:-5]: r["median"] + startup[r["file"]]
                for r in said["rows"] if r["metric"] == "makespan" and
                (r["source"] == source or source == "go" and r["source"].startswith("go"))}
        if out is None or not aims:
            continue
        table = fit(gmpsim, load(args.base), aims, profile, folder, source)
        table["name"] = os.path.basename(out)[:-5]
        keep(out, table)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("gmpsim")
    parser.add_argument("--base", required=True)
    parser.add_argument("--go", action="append", default=[])
    parser.add_argument("--threads", required=True)
    parser.add_argument("--out-go")
    parser.add_argument("--programs")
    parser.add_argument("--measured", help="keeps what was measured there, and takes it")
    parser.add_argument("--anyway", action="store_true")
    return parser.parse_args()


def main():
    args = arguments()
    gmpsim = os.path.abspath(args.gmpsim)
    with tempfile.TemporaryDirectory() as folder:
        for p in PROGRAMS:
            keep(os.path.join(folder, p[0] + ".json"), scenario(p))
        said = validated(gmpsim, folder, args)
        if not said["rows"]:
            print("the machine was not quiet")
            return 4
        for c in said["comparisons"]:
            if c["skipped"]:
                print("%s: %s" % (c["file"], c["skipped"]))
        fit_all(gmpsim, said, folder, args)
        tables = {"threads": args.threads, "go": args.out_go if args.go else args.threads}
        write_looks(gmpsim, os.path.join(folder, "ping-pong.json"), tables, args.go,
                    options_of(args))
    return 0


if __name__ == "__main__":
    sys.exit(main())
