#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gmpsim record with real Go: the overlay fits every release that is here, what is recorded is
deep, replays to its end at other settings, and lies beside its sidecar.

usage: record_test.py GMPSIM [GO...]; exit status 77 where there is no Go.
"""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def toolchains(given):
    found = given or [os.environ["GO"]] if given or "GO" in os.environ else []
    if not found and shutil.which("go"):
        found = [shutil.which("go")]
    return found or sorted(glob.glob("/usr/lib/go-1.*/bin/go"))


def run(*args, **kw):
    r = subprocess.run(args, capture_output=True, text=True, timeout=600, **kw)
    return r.returncode, r.stdout, r.stderr


def release(go):
    _, out, _ = run(go, "env", "GOVERSION", cwd="/")
    return int(out.strip().split(".")[1]) if out.startswith("go1.") else 0


def environment(folder):
    return dict(os.environ, GOTOOLCHAIN="local", GOFLAGS="", CGO_ENABLED="0",
                GOCACHE=os.environ.get("GOCACHE", os.path.join(folder, "cache")))


def check_names(gmpsim, go, folder):
    """A file is the same one however it is named."""
    deep, trace = os.path.join(folder, "deep"), os.path.join(folder, "n.trace")
    for name in "main.go", "./main.go", "../deep/main.go", os.path.join(deep, "main.go"):
        code, _, err = run(gmpsim, "record", "--shallow", "--out", trace, "--", go, "run", name,
                           cwd=deep, env=environment(folder))
        assert code == 0, (name, err)


def check(gmpsim, go, folder):
    env = environment(folder)
    trace = os.path.join(folder, "t.trace")
    for more, deep, what in ((["--shallow"], False, "main.go"), ([], True, ".")):
        code, _, err = run(gmpsim, "record", "--procs", "2", "--out", trace, *more, "--", go, "run",
                           "-trimpath", what, cwd=os.path.join(folder, "deep"), env=env)
        assert code == 0, err
        side = json.load(open(trace + ".gmpsim.json"))
        assert side["deep"] is deep and side["procs"] == 2 and side["threads"] > 0, side
        assert side["go"].startswith("go1."), side
        for procs in ("1", "2", "8"):
            # A program of a millisecond, on a machine that others use: how far off is no matter.
            code, out, err = run(gmpsim, "replay", "--anyway", "--json", "--procs", procs, trace)
            assert code == 0, err
            j = json.loads(out)
            assert j["verdict"] == "finished", (procs, j)
            assert (j["deep"] > 0) is deep, j
    print("%s: recorded and replayed" % side["go"])


def main():
    gmpsim, gos = os.path.abspath(sys.argv[1]), toolchains(sys.argv[2:])
    gos = [go for go in gos if 22 <= release(go)]
    if not gos:
        print("no Go from 1.22 on")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(os.path.join(HERE, "deep"), os.path.join(folder, "deep"))
        check_names(gmpsim, gos[0], folder)
        for go in gos:
            check(gmpsim, go, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
