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
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def toolchains(given):
    """GMPSIM_GO is a recent one for this test alone."""
    wished = [os.environ[name] for name in ("GO", "GMPSIM_GO") if name in os.environ]
    found = given or wished[:1]
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


MODULE = {
    "go.mod": "module example.com/m\n\ngo 1.22\n",
    "lib/lib.go": "package lib\n\nfunc One() int { return 1 }\n",
    "lib/lib_test.go": "package lib\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\n"
                       "func TestOne(t *testing.T) {\n"
                       "\tif _, err := os.Stat(\"lib.go\"); err != nil || One() != 1 {\n"
                       "\t\tt.Fatal(err)\n\t}\n}\n",
    "two/two_test.go": "package two\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {}\n",
    "app/main.go": """package main

import (
	"fmt"
	"os"
	"runtime/trace"
	"time"

	"example.com/m/lib"
)

func main() {
	fmt.Println("begun")
	switch os.Args[lib.One()] {
	case "exit":
		os.Exit(3)
	case "panic":
		panic("now")
	case "own":
		fmt.Println(trace.Start(os.Stderr) != nil)
		trace.Stop()
	case "wait":
		time.Sleep(time.Minute)
	}
	c := make(chan int, 1)
	c <- 1
	<-c
}
"""}


def make_module(folder):
    for name, text in MODULE.items():
        path = os.path.join(folder, "m", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    return os.path.join(folder, "m")


def check_ways(gmpsim, go, folder):
    """Commands as people give them, and programs that end in other ways than by returning."""
    module, trace = make_module(folder), os.path.join(folder, "w.trace")
    deep = 0
    for cwd, ok, *command in (
            (folder, "", "run", "-C", module, "./app", "-"),
            (folder, "", "run", "-C=m", "app/main.go", "-"),
            (module, "", "run", "example.com/m/app", "exit"),
            (module, "" if release(go) > 22 else "left no trace",  # no hooks there in a panic
             "run", "-tags", "x", "-mod=mod", "./app", "panic"),
            (module, "", "run", "./app", "own"),
            (folder, "", "test", "-C", module, "-vet=all", "-v", "./lib/..."),
            (module, "2 packages, but one recording", "test", "./..."),
            (module, "no tests", "test", "./app"),
            (module, "no main package", "run", "./lib")):
        code, out, err = run(gmpsim, "record", "--out", trace, "--", go, *command, cwd=cwd,
                             env=environment(folder))
        assert code == (2 if ok else 0) and ok in err, (command, out, err)
        if "own" in command:
            assert "true" in out and "starts a trace of its own" in err, (out, err)
            code, out, err = run(gmpsim, "replay", "--anyway", "--json", trace)
            assert code == 0, err
            deep = json.loads(out)["deep"]
    assert deep > 2, deep  # it went on after the program's own Stop


def check_killed(gmpsim, go, folder):
    """^C comes to the program; what is left is a trace, or said not to be."""
    module, trace = make_module(folder), os.path.join(folder, "k.trace")
    for number in signal.SIGINT, signal.SIGTERM:
        with subprocess.Popen([gmpsim, "record", "--out", trace, "--", go, "run", "./app", "wait"],
                              cwd=module, env=environment(folder), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, start_new_session=True) as p:
            assert p.stdout.readline() == "begun\n"
            if number == signal.SIGINT:
                os.killpg(p.pid, number)
            else:
                p.send_signal(number)
            _, err = p.communicate(timeout=50)
            assert p.returncode in (0, 2) and str(128 + number) in err or "it failed" in err, err


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
        check_ways(gmpsim, gos[-1], folder)
        check_killed(gmpsim, gos[-1], folder)
        for go in gos:
            check(gmpsim, go, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
