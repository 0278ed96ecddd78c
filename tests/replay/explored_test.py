#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gmpsim explore on deep recordings of Go programs (explored/): each was recorded on a run that
went well. Those in bad/ have a bug that is found and told with the lines of the Go program; those
in good/ have none, and nothing is found.

usage: explored_test.py GMPSIM [GO]; with GO they are recorded anew, with that toolchain.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
GO = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else None
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "explored")

# What is found: how it ends, what is said, and lines of the program as a mark in its source.
BAD = {
    "abba": ("deadlock", "sync.Mutex.Lock", ["to.mu.Lock()"]),
    "addinside": ("panic", "send on closed channel", ["results <- i * i"]),
    "addlate": ("panic", "negative WaitGroup counter", ["wg.Done()"]),
    "besideonce": ("deadlock", "sync.Mutex.Lock", ["to.mu.Lock()"]),
    "closebefore": ("panic", "send on closed channel", ["c <- x"]),
    "condlocked": ("deadlock", "sync.Cond.Wait", ["c.Wait()"]),
    "condnolock": ("deadlock", "sync.Cond.Wait", ["x.c.Wait()"]),
    "handlers": ("deadlock", "a circle of locks", ["s.stats.Lock()", "s.mu.Lock()"]),
    "looksbefore": ("deadlock", "sync.Cond.Wait", ["c.Wait()", "<-done"]),
    "lostsignal": ("deadlock", "sync.Cond.Wait", ["ready.Wait()", "<-done"]),
    "mutexwg": ("deadlock", "sync.RWMutex.RLock", ["c.b.RLock()", "c.a.Lock()"]),
    "philosophers": ("deadlock", "sync.Mutex.Lock", ["right.Lock()"]),
    "readlocked": ("deadlock", "sync.Mutex.Lock", ["c.Read(make(", "mu.Lock()"]),
    "readtwice": ("deadlock", "sync.RWMutex.RLock", ["r.mu.RLock()", "r.mu.Lock()"]),
    "readylocked": ("deadlock", "chan receive", ["<-ready"]),
    "sendclosed": ("panic", "send on closed channel", ["events <- 1"]),
    "sendlocked": ("deadlock", "chan send", ["ch <- 1", "mu.Lock()"]),
    "trysend": ("deadlock", "chan receive", ["<-notify"]),
    "waitlocked": ("deadlock", "sync.WaitGroup.Wait", ["s.wg.Wait()", "s.mu.Lock()"]),
}


class Explored(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    # The folder is where the sources are: one question is about them.
    def run_it(self, *args, status=None, cwd=None):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=cwd or HERE, check=False, timeout=300)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout.decode(), done.stderr.decode()

    def file(self, name):
        return os.path.join(self.folder.name, name)

    def trace(self, kind, name):
        source = os.path.join(HERE, kind, name)
        if GO is None:
            return os.path.join(source, "go26.trace.zst")
        work = os.path.join(self.folder.name, name)
        os.makedirs(work)
        shutil.copy(os.path.join(source, "main.go"), work)
        shutil.copy(os.path.join(HERE, "go.mod"), work)
        trace = os.path.join(work, "trace.out")
        os.environ.update(GOTOOLCHAIN="local", GOFLAGS="", CGO_ENABLED="0")
        self.run_it("record", "--procs", "2", "--out", trace, "--", GO, "run", "-trimpath", ".",
                    cwd=work, status=0)
        return trace

    @staticmethod
    def places(name, mark):
        with open(os.path.join(HERE, "bad", name, "main.go"), encoding="utf-8") as f:
            return ["main.go:%d" % n for n, line in enumerate(f, 1) if mark in line]

    def test_every_bug_is_found_and_told_with_its_lines(self):
        self.assertEqual(sorted(BAD), sorted(os.listdir(os.path.join(HERE, "bad"))))
        for name, (verdict, says, marks) in BAD.items():
            with self.subTest(name):
                trace = self.trace("bad", name)
                found = json.loads(self.run_it("explore", trace, "--json", "--runs", "500",
                                               "--schedule", self.file("x.schedule"), status=1)[0])
                self.assertEqual(found["finding"]["verdict"], verdict)
                text = found["finding"]["text"]
                self.assertIn(says, text)
                for mark in marks:
                    self.assertTrue(any(p in text for p in self.places(name, mark)), (mark, text))
                self.assertNotIn("expected the run", text)
                self.assertIn("values are not in a recording", found["not_known"])
                again, _ = self.run_it("replay", self.file("x.schedule"), status=1)
                self.assertIn("the same run as recorded", again)

    def test_nothing_is_found_in_correct_programs(self):
        for name in sorted(os.listdir(os.path.join(HERE, "good"))):
            with self.subTest(name):
                out, _ = self.run_it("explore", self.trace("good", name), "--runs", "500",
                                     status=0)
                self.assertIn("nothing found", out)

    def test_a_trace_that_is_not_deep_is_refused(self):
        plain = os.path.join(os.path.dirname(HERE), "recorded", "pipeline-p1-go26.trace.zst")
        for args in (["explore", plain], ["trace", "import", plain]):
            _, err = self.run_it(*args, status=2)
            self.assertIn("not a deep recording", err)

    def test_what_is_imported_runs_and_names_its_places(self):
        for kind in "good", "bad":
            for name in sorted(os.listdir(os.path.join(HERE, kind))):
                with self.subTest(name):
                    self.run_it("trace", "import", self.trace(kind, name), "--out",
                                self.file("x.json"), status=0)
                    with open(self.file("x.json"), encoding="utf-8") as f:
                        text = f.read()
                    self.assertIn("main.main main.go:", str(json.loads(text)["main"]))
                    self.run_it("run", self.file("x.json"), status=0)
                    if GO is not None:
                        shutil.rmtree(os.path.join(self.folder.name, name))


if __name__ == "__main__":
    unittest.main()
