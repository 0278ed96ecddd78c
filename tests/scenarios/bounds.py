#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How near the bounds in `expect` are to what the runs of the library give.

    bounds.py GMPSIM [--seeds N] [FILE...]   a line per bound: the values, the slack; N: 4
    bounds.py GMPSIM --check [FILE...]       only those that are too wide; status 1 if there are any
    bounds.py GMPSIM --tighten [FILE...]     writes bounds a quarter above (below) the values

A bound on a time or a counter is there to notice a change. One that a quantity may double (or
halve) inside notices none: the value nearest to it, over the seeds and all releases of its entry,
has to be nearer than a factor of two. loose.tsv names those that cannot be, each with the reason.
Seed 1 is run as it is, the others with noise: the bounds hold for both.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(HERE, "..", "..", "scenarios")
LOOSE = os.path.join(HERE, "loose.tsv")
UNITS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
STATS = ("spans", "runq_wait")
NUMBERS = ("counters", "ps", "makespan", "throttled", "nr_throttled") + STATS
TWICE = 2
SEEDS = range(1, 5)
Bound = collections.namedtuple("Bound", "file profiles path text relation value")


def amount(text):
    """In ns, or as it is."""
    if text.endswith("%"):
        return float(text[:-1])
    parts = re.findall(r"([0-9.]+)([a-z]*)", text)
    return sum(float(n) * UNITS.get(unit, 1) for n, unit in parts)


def conditions(entry, path=()):
    for key, value in entry.items():
        if not path and key not in NUMBERS:
            continue
        if isinstance(value, dict):
            yield from conditions(value, path + (key,))
        else:
            yield path + (key,), value


def bounds_of(file, scenario):
    entries = scenario.get("expect", [])
    for entry in entries if isinstance(entries, list) else [entries]:
        profiles = entry.get("profiles", scenario.get("profiles", ["go1.27"]))
        profiles = profiles if isinstance(profiles, list) else [profiles]
        for path, text in conditions(entry):
            relation, value = re.match(r"([<>=]+) *(.*)", text).groups()
            if relation != "==":
                yield Bound(file, profiles, path, text, relation, amount(value))


def value_of(run, path):
    head, rest = path[0], path[1:]
    if head in ("makespan", "throttled"):
        return run[head + "_ns"]
    if head == "ps":
        return 100.0 * run["p_ns"][rest[0]] / max(1, sum(run["p_ns"].values()))
    at = run[head]
    for key in rest:
        at = at.get(key) if at is not None else None
    return at


def run(gmpsim, file, profile, seed):
    out = subprocess.run([gmpsim, "run", file, "--json", "--profile", profile, "--seed", str(seed),
                          "--noise", "off" if seed == 1 else "on"],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return json.loads(out)


def name(bound):
    return "%s\t%s" % (os.path.relpath(bound.file, LIBRARY), " ".join(bound.path))


def slack(bound, values):
    """By what factor the nearest value misses the bound; 0 on one side is infinitely far."""
    if bound.relation[0] == "<":
        return bound.value / max(values) if max(values) > 0 else float("inf")
    return min(values) / bound.value if bound.value > 0 else float("inf")


# ---- new bounds ----

ROUND = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9, 10)


def rounded(x, up):
    """The next number that a person would write."""
    scale = 1
    while x >= 10 * scale:
        scale *= 10
    steps = [n * scale for n in ROUND if n * scale == int(n * scale)]
    return min(n for n in steps if n >= x) if up else max(n for n in steps if n <= x)


def written(path, x):
    if path[0] == "ps":
        return "%d%%" % x
    if path[0] in ("counters", "nr_throttled") or path[-1] == "count":
        return "%d" % x
    unit = next(u for u in ("s", "ms", "us", "ns") if x % UNITS[u] == 0 or
                (x >= UNITS[u] and x * 10 % UNITS[u] == 0))
    return "%g%s" % (x / UNITS[unit], unit)


def tighter(bound, values):
    lo, hi = min(values), max(values)
    if bound.relation[0] == "<":
        if hi == 0:
            return "== 0"
        few = hi < 10 and bound.path[0] == "counters"
        return "<= " + written(bound.path, int(hi) if few else rounded(hi * 1.25, True))
    few = lo < 10 and bound.path[0] in ("counters", "nr_throttled")
    return ">= " + written(bound.path, int(lo) if few else rounded(lo * 0.8, False))


def tighten(bound, values):
    """Writes it; False if its text stands in the file more than once."""
    with open(bound.file, encoding="utf-8") as f:
        text = f.read()
    at = re.compile(r'("%s"\s*:\s*)"%s"' % (re.escape(bound.path[-1]), re.escape(bound.text)))
    if len(at.findall(text)) != 1:
        return False
    with open(bound.file, "w", encoding="utf-8") as f:
        f.write(at.sub(lambda m: '%s"%s"' % (m.group(1), tighter(bound, values)), text))
    return True


def read_loose():
    with open(LOOSE, encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
    return {"\t".join(r[:2]): r[2] for r in rows}


def is_wide(bound, values, loose):
    return (not values or slack(bound, values) >= TWICE) and name(bound) not in loose


def runs_of(gmpsim, file, wanted):
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(wanted, pool.map(lambda w: run(gmpsim, file, *w), wanted)))


def values_of(bound, runs):
    values = [value_of(r, bound.path) for (profile, _), r in runs.items()
              if profile in bound.profiles]
    return [v for v in values if v is not None]


def measure(gmpsim, files, seeds, quick, loose):
    """Yields (bound, values). Quick: of each entry's first and last release and one seed, where
    these are near."""
    for file in files:
        with open(file, encoding="utf-8") as f:
            bounds = list(bounds_of(file, json.load(f)))
        ends = {p for b in bounds for p in (b.profiles[0], b.profiles[-1])}
        every = {p for b in bounds for p in b.profiles}
        first = sorted(ends if quick else every)
        runs = runs_of(gmpsim, file, [(p, s) for p in first for s in seeds])
        if quick and any(is_wide(b, values_of(b, runs), loose) for b in bounds):
            runs = runs_of(gmpsim, file, [(p, s) for p in sorted(every) for s in SEEDS])
        for b in bounds:
            yield b, values_of(b, runs)


def main(args):
    check = "--check" in args
    seeds = 1 if check else len(SEEDS)
    if "--seeds" in args:
        seeds = int(args.pop(args.index("--seeds") + 1))
    gmpsim, *files = [a for a in args if not a.startswith("--")]
    files = files or sorted(glob.glob(os.path.join(LIBRARY, "*", "*.json")))
    loose, bad, seen = read_loose(), 0, 0
    for bound, values in measure(gmpsim, files, range(1, seeds + 1), check, loose):
        seen += 1
        by = slack(bound, values) if values else float("inf")
        wide = is_wide(bound, values, loose)
        bad += wide
        if wide and values and "--tighten" in args and not tighten(bound, values):
            print("%s\tnot once in the file, write by hand: %s"
                  % (name(bound), tighter(bound, values)))
        if wide or not check:
            shown = "%.6g" % min(values) if values else "none"
            if values and max(values) != min(values):
                shown += " .. %.6g" % max(values)
            print("%s\t%s\t%s\t%s\t%.2f%s"
                  % (name(bound), bound.text, ",".join(bound.profiles), shown, by,
                     "\ttoo wide" if wide else ""))
    print("%d bounds, %d too wide" % (seen, bad))
    return 1 if check and (bad or not seen) else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
