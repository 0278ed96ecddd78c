#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Who is passed over for ever while others get on is called starvation by a search without options;
the same programs where he gets his turn are clean, also in schedules that are fair to all."""
import json
import pathlib
import subprocess
import sys
import tempfile

from kernels import WG, DONE, WAIT, aload, k, lock, unlock

GMPSIM = sys.argv[1]
BREAK = {"break": True}
YIELD = {"gosched": True}
SOON = 3000  # schedules
NEVER_HANDED_OVER = {"starve_ns": 1000000000000}  # as before Go 1.9


def forever(*do):
    return {"loop": "forever", "do": list(do)}


def when(condition, *then):
    return {"if": condition, "then": list(then)}


def starts(*names):
    return [{"add": "wg"}, *[{"go": n} for n in names], WAIT]


def hogs(loop):
    return k({**WG, "m": "mutex", "n": "var"}, starts("hog", "victim"),
             hog=[loop(*lock("m"), {"atomic_add": "n"}, *unlock("m"))],
             victim=[*lock("m"), *unlock("m"), DONE])


def readers():
    """A lock of the program's own."""
    return k({**WG, "m": "mutex", "readers": "var", "hits": "var"},
             [{"add": "wg"}, {"go": "reader", "count": 2}, {"go": "writer"}, WAIT],
             reader=[forever(*lock("m"), {"atomic_add": "readers"}, *unlock("m"),
                             {"atomic_add": "hits"}, *lock("m"),
                             {"atomic_add": "readers", "value": -1}, *unlock("m"))],
             writer=[forever(*lock("m"), aload("readers", "r"), when("r == 0", BREAK),
                             *unlock("m"), YIELD), *unlock("m"), DONE])


def serves(select):
    return k({**WG, "hi": {"chan": 1}, "lo": "chan", "n": "var"}, starts("serves", "sends", "low"),
             serves=[forever(select, {"atomic_add": "n"})],
             sends=[forever({"send": "hi"})], low=[{"send": "lo"}, DONE])


def tries(hog):
    return k({**WG, "m": "mutex", "tries": "var"}, starts("hog", "tries"),
             hog=[hog],
             tries=[forever({"trylock": "m", "into": "ok"}, when("ok == 1", BREAK),
                            {"atomic_add": "tries"}, YIELD), *unlock("m"), DONE])


LOW_FIRST = {"select": [{"recv": "lo"}, {"default": [{"select": [{"recv": "hi"}]}]}]}
HIGH_FIRST = {"select": [{"recv": "hi"},
                         {"default": [{"select": [{"recv": "hi"}, {"recv": "lo"}]}]}]}

# name: with, without
PROGRAMS = {
    "a mutex that is never handed over": (
        {**hogs(forever), "rules": NEVER_HANDED_OVER},
        hogs(lambda *do: {"loop": 20, "do": list(do)})),
    "readers that come and go": (
        readers(),
        k({**WG, "w": "rwmutex", "hits": "var"}, [{"add": "wg"}, {"go": "reader", "count": 2},
                                                  {"go": "writer"}, WAIT],
          reader=[{"loop": 20, "do": [{"rlock": "w"}, {"atomic_add": "hits"}, {"runlock": "w"}]}],
          writer=[*lock("w"), *unlock("w"), DONE])),
    "a channel that comes second": (serves(HIGH_FIRST), serves(LOW_FIRST)),
    "a lock that is tried at the wrong moment": (
        tries(forever(*lock("m"), YIELD, *unlock("m"))),
        tries({"loop": 20, "do": [*lock("m"), YIELD, *unlock("m")]})),
    "somebody who waits for two to be idle": (
        k({**WG, "a": "var", "b": "var"}, starts("one", "other", "victim"),
          one=[forever({"store": "a", "value": 1, "atomic": True}, YIELD,
                       {"store": "a", "value": 0, "atomic": True})],
          other=[forever({"store": "b", "value": 1, "atomic": True}, YIELD,
                         {"store": "b", "value": 0, "atomic": True})],
          victim=[forever(aload("a", "x"), aload("b", "y"), when("x == 0 && y == 0", BREAK), YIELD),
                  DONE]),
        k({**WG, "a": "var", "b": "var"}, starts("one", "victim"),
          one=[{"loop": 20, "do": [{"atomic_add": "a"}, YIELD, {"atomic_add": "a", "value": -1}]}],
          victim=[forever(aload("a", "x"), aload("b", "y"), when("x == 0 && y == 0", BREAK), YIELD),
                  DONE])),
}


def explore(folder, name, body, *options):
    path = pathlib.Path(folder) / "x.json"
    path.write_text(json.dumps({"name": name, **body}))
    done = subprocess.run([GMPSIM, "explore", str(path), "--json", "--no-shrink", "--schedule",
                           str(path) + ".schedule", *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), (name, done.stderr)
    return json.loads(done.stdout), path


def is_met_again(path):
    done = subprocess.run([GMPSIM, "replay", str(path) + ".schedule"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 1 and "starvation" in done.stdout, done.stdout + done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, (broken, right) in PROGRAMS.items():
            found, path = explore(folder, name, broken)
            assert found["found"] and found["finding"]["verdict"] == "starvation", (name, found)
            assert found["schedules_to_first"] <= SOON, (name, found["schedules_to_first"])
            is_met_again(path)
            for strategy in ("random", "pct", "pos", "fair", "states"):
                clean, path = explore(folder, name, right, "--granularity", "sync", "--strategy",
                                      strategy, "--runs", "300")
                assert not clean["found"], (name, strategy, clean)
            print("%-45s schedule %d" % (name, found["schedules_to_first"]))
        # A mutex of Go 1.9 and later is handed over to who waited for a millisecond, though the
        # other one goes on for ever.
        clean, path = explore(folder, "handed over", hogs(forever), "--runs", "300",
                              "--granularity", "sync")
        assert not clean["found"], clean


main()
