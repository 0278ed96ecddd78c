#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: every command and query that the documentation shows works as it stands there.
Method: README, docs/*.md and the examples of --help are read for them: ```sh and ```sql blocks, and
lines of indented blocks that begin with gmpsim. Each document's are run one after the other in one
folder, where the files are that they speak of: service.json, runs.db, trace.out, and the library
as scenarios/.

usage: examples.py GMPSIM [--list] [WORD...]      WORDs choose documents
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GMPSIM = os.path.abspath(sys.argv[1])
SECONDS = 120
# A minute of stress is for people.
SHORTER = {"--for 1m": "--for 1s"}
# What they speak of is a deep recording, which takes a Go to make; here lies one.
DEEP = re.compile(r"^(gmpsim (?:explore|replay|whatif|trace import)) trace\.out")
RECORDED = os.path.join(ROOT, "tests", "fuzz", "corpus", "recorded", "abba")
# Examples that find something, on purpose.
FINDINGS = [r"^gmpsim explore deep", r"^gmpsim replay explore-out", r"^gmpsim record .*explore",
            r"^gmpsim explore .*kernels", r"^gmpsim (replay|shrink) tokens", r"--quota 0\.5$"]
# What is not everywhere.
NEEDS = {r"^gmpsim record": "go", r"^gmpsim plot": "gnuplot"}
# The environments in which docs/cluster.md has its commands run.
ENVIRONMENT = {"SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "8",
               "SLURM_ARRAY_TASK_MIN": "0"}
SERVICE = """{"name": "service", "why": "a small one", "procs": 2,
 "objects": {"wg": "waitgroup", "mu": "mutex"},
 "funcs": {"handle": [
   {"span": "request", "do": [{"cpu": {"exp": "30us"}}, {"lock": "mu"}, {"cpu": "1us"},
                              {"unlock": "mu"}, {"sleep": {"exp": "200us"}}]},
   {"done": "wg"}]},
 "main": [{"add": "wg", "n": 300},
          {"loop": 300, "do": [{"go": "handle", "group": "request"}, {"sleep": "20us"}]},
          {"wait": "wg"}]}
"""
SERVER = """package main

import (
    "fmt"
    "sync"
)

func main() {
    var wg sync.WaitGroup
    for i := 0; i < 10; i++ {
        wg.Add(1)
        go wg.Done()
    }
    wg.Wait()
    fmt.Println("done")
}
"""


POOL = """package pool

import (
    "sync"
    "testing"
)

func TestPool(t *testing.T) {
    var mu sync.Mutex
    var wg sync.WaitGroup
    n := 0
    for i := 0; i < 4; i++ {
        wg.Add(1)
        go func() {
            defer wg.Done()
            mu.Lock()
            n++
            mu.Unlock()
        }()
    }
    wg.Wait()
}
"""


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def is_whole(text):
    """A command goes on behind a backslash, and inside of quotes."""
    bare = re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", "", text, flags=re.S)
    return not text.endswith("\\") and "'" not in bare and '"' not in bare


def commands(lines):
    """The commands in lines of a shell: without prompts and what was printed."""
    found, now = [], ""
    for line in lines:
        line = line.rstrip()
        if not now:
            line = re.sub(r"^\s*(\$ )?", "", line)
            if not line.startswith("gmpsim "):
                continue
            if line.startswith("gmpsim: "):
                continue
        now += ("\n" if now else "") + line
        if is_whole(now):
            found.append(now)
            now = ""
    if now:
        sys.exit("examples: a command without its end: " + now)
    return found


def of_document(text):
    """Commands and queries in their order."""
    found = []
    parts = re.split(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)
    for plain, kind, block in zip(parts[::3], parts[1::3] + [""], parts[2::3] + [""]):
        found += commands(line for line in plain.split("\n") if line.startswith("    "))
        if kind == "sql":
            found.append('gmpsim query runs.db "%s"' % block.strip())
        elif kind in ("sh", ""):
            found += commands(block.split("\n"))
    return found


def of_help():
    out = subprocess.run([GMPSIM, "--help"], stdout=subprocess.PIPE, check=True).stdout.decode()
    found = []
    for verb in re.findall(r"^  ([a-z]+) ", out, re.M):
        text = subprocess.run([GMPSIM, verb, "--help"], stdout=subprocess.PIPE,
                              check=True).stdout.decode()
        example = re.search(r"^Examples?:\n((?:  .*\n)+)", text, re.M)
        if example is None:
            sys.exit("examples: %s --help has none" % verb)
        found += commands(example.group(1).split("\n"))
    return found


def documents():
    all_of_them = [("--help", of_help())]
    names = ["README.md"] + sorted("docs/" + n for n in os.listdir(os.path.join(ROOT, "docs"))
                                   if n.endswith(".md") and not n.startswith("story-"))
    for name in names:
        found = of_document(read(os.path.join(ROOT, name)))
        if found:
            all_of_them.append((name, found))
    return all_of_them


class Room:
    """A folder with what the examples speak of."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        bin_ = os.path.join(self.folder, "bin")
        os.mkdir(bin_)
        os.symlink(GMPSIM, os.path.join(bin_, "gmpsim"))
        os.symlink(os.path.realpath(os.path.join(ROOT, "scenarios")),
                   os.path.join(self.folder, "scenarios"))
        os.makedirs(os.path.join(self.folder, "cmd", "server"))
        os.mkdir(os.path.join(self.folder, "pool"))
        shutil.copy(os.path.join(ROOT, "tests", "fuzz", "corpus", "measured", "wrk.txt"),
                    self.folder)
        for name, text in (("service.json", SERVICE), ("go.mod", "module example\n"),
                           ("cmd/server/main.go", SERVER), ("pool/pool.go", "package pool\n"),
                           ("pool/pool_test.go", POOL)):
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        shutil.copy(RECORDED, os.path.join(self.folder, "deep.out"))
        os.mkdir(os.path.join(self.folder, "explore-out"))
        self.env = {**os.environ, **ENVIRONMENT, "PATH": bin_ + ":" + os.environ["PATH"]}
        http = "gmpsim run scenarios/everyday/http-service.json --until "
        for line in (http + "100ms --db runs.db", http + "100ms --seed 2 --db runs.db",
                     "gmpsim whatif service.json --procs 1,2 --db runs.db",
                     http + "2s --gotrace trace.out",
                     "gmpsim explore scenarios/kernels/etcd-7492.json",
                     "gmpsim explore scenarios/kernels/etcd-7492.json"
                     " --schedule explore-out/1-name.schedule"):
            self.run(line)

    def run(self, line):
        return subprocess.run(["sh", "-c", line], stdin=subprocess.DEVNULL, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.env,
                              timeout=SECONDS, check=False)

    def close(self):
        shutil.rmtree(self.folder)


def old_go():
    """A recording needs Go 1.22."""
    out = subprocess.run(["go", "env", "GOVERSION"], stdout=subprocess.PIPE, check=False).stdout
    version = re.match(rb"go1\.(\d+)", out)
    return version is None or int(version.group(1)) < 22


def missing(line):
    for pattern, program in NEEDS.items():
        if re.search(pattern, line) and shutil.which(program) is None:
            return program
        if re.search(pattern, line) and program == "go" and old_go():
            return "go of 1.22 or newer"
    for path in re.findall(r"--go (\S+)", line):
        if not os.access(path, os.X_OK):
            return path
    return None


def complaint(line, done):
    """None: it did what it is shown for."""
    allowed = (0, 1) if any(re.search(p, line, re.S) for p in FINDINGS) else (0,)
    if line.startswith(("gmpsim calibrate", "gmpsim validate")):
        allowed = (0, 4)  # other tests have the machine
    if done.returncode not in allowed:
        return "status %d" % done.returncode
    if re.search(r"^gmpsim query", line) and not done.stdout.strip():
        return "no rows"
    if re.search(r"\bwhy\b", line) and line.startswith("gmpsim query") and \
            not re.search(rb"waiting\t(?!\t)", done.stdout):
        return "a wait without its reason"
    return None


def check(name, lines):
    room, bad = Room(), 0
    try:
        for line in lines:
            absent = missing(line)
            if absent is not None:
                print("%s: not run, there is no %s: %s" % (name, absent, line))
                continue
            line = DEEP.sub(r"\1 deep.out", line)
            for long, short in SHORTER.items():
                line = line.replace(long, short)
            done = room.run(line)
            wrong = complaint(line, done)
            if wrong is not None:
                bad += 1
                print("%s: %s\n  %s\n%s%s" % (name, wrong, line, done.stdout[-2000:].decode(),
                                              done.stderr[-2000:].decode()))
    finally:
        room.close()
    return bad


def self_test():
    """Tests of the test: what is shown is found, and what does not work is seen."""
    text = ("    $ gmpsim a --x 'one\n      two' \\\n        three\n    printed\n"
            "    gmpsim: an error\n```sql\nSELECT 1\n```\n```sh\ngmpsim b \"\n  c\"\n```\n")
    assert of_document(text) == ["gmpsim a --x 'one\n      two' \\\n        three",
                                 'gmpsim query runs.db "SELECT 1"', 'gmpsim b "\n  c"'], \
        of_document(text)
    for wrong in ("gmpsim run no-such-scenario", "gmpsim query runs.db \"SELECT 1 WHERE 0\"",
                  "gmpsim query runs.db \"SELECT nothing FROM runs\""):
        assert check("self test", [wrong]) == 1, wrong


def main():
    words = [a for a in sys.argv[2:] if not a.startswith("--")]
    bad = ran = 0
    if "--list" not in sys.argv and not words:
        out, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")
        self_test()
        sys.stdout.close()
        sys.stdout = out
    for name, lines in documents():
        if words and not any(w in name for w in words):
            continue
        ran += len(lines)
        if "--list" in sys.argv:
            print("\n".join(lines))
        else:
            bad += check(name, lines)
    if ran < 20 and not words:
        sys.exit("examples: only %d were found" % ran)
    print("%d examples, %d do not work" % (ran, bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
