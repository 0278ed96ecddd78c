#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: a search and a check that ran in parts say what one machine says. Method: both, with parts
that were killed, are missing, or are of something else.

usage: parts_test.py GMPSIM
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
ABBA = {"name": "abba", "why": "test", "objects": {"a": "mutex", "b": "mutex", "wg": "waitgroup"},
        "funcs": {"one": [{"lock": "a"}, {"lock": "b"}, {"unlock": "b"}, {"unlock": "a"},
                          {"done": "wg"}],
                  "two": [{"lock": "b"}, {"lock": "a"}, {"unlock": "a"}, {"unlock": "b"},
                          {"done": "wg"}]},
        "main": [{"add": "wg", "n": 2}, {"go": "one"}, {"go": "two"}, {"wait": "wg"}]}
FINE = {**ABBA, "name": "fine", "funcs": {"one": ABBA["funcs"]["one"], "two": ABBA["funcs"]["one"]}}


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.write("abba.json", json.dumps(ABBA))
        self.write("fine.json", json.dumps(FINE))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as f:
            return f.read()

    def run_it(self, status, *args, env=None):
        done = subprocess.run([GMPSIM, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              cwd=self.folder, timeout=100, check=False,
                              env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, status, (done.stdout + done.stderr).decode())
        return done.stdout.decode(), done.stderr.decode()


class Explore(Case):
    def parts(self, file, n, *more):
        names = ["%d.jsonl" % i for i in range(1, n + 1)]
        for i, name in enumerate(names, 1):
            self.run_it(0, "explore", file, *self.ARGS, "--shard", "%d/%d" % (i, n), "--journal",
                        name, *more)
        return names

    ARGS = ["--strategy", "random", "--runs", "3", "--seeds", "1-20", "--granularity", "sync"]

    def both(self, file, status):
        """What one machine says, and what the parts say when they are put together."""
        one, _ = self.run_it(status, "explore", file, *self.ARGS, "--journal", "one.jsonl",
                             "--json")
        merged, _ = self.run_it(status, "merge", *self.parts(file, 3), "--into", "all.jsonl",
                                "--json")
        again, _ = self.run_it(status, "explore", file, *self.ARGS, "--journal", "all.jsonl",
                               "--json")
        one, again = json.loads(one), json.loads(again)
        one["seconds"] = again["seconds"] = 0
        self.assertEqual(again, one)
        return json.loads(merged), one

    def test_nothing_found(self):
        merged, one = self.both("fine.json", 0)
        self.assertEqual((merged["found"], merged["seeds"]), (False, 20))
        self.assertEqual(merged["runs"], 60)
        self.assertEqual(one["schedules"], 60)

    def test_a_finding_is_the_first_seed_s(self):
        merged, _ = self.both("abba.json", 1)
        self.assertTrue(merged["found"])
        text, _ = self.run_it(1, "merge", "3.jsonl", "1.jsonl", "2.jsonl")  # in any order
        self.assertIn("a finding with seed %s," % merged["seed"], text)
        self.run_it(1, "explore", "abba.json", "--strategy", "random", "--runs", "3",
                    "--granularity", "sync", "--seeds", merged["seed"])

    def test_what_is_missing_is_said(self):
        names = self.parts("fine.json", 3)
        _, err = self.run_it(2, "merge", names[0], names[2])
        self.assertIn("seed 2 is missing", err)
        lines = self.read(names[1]).splitlines(True)
        self.write(names[1], "".join(lines[:3]) + lines[3][:20])  # killed in the middle of a line
        self.run_it(2, "merge", *names)
        self.run_it(0, "explore", "fine.json", *self.ARGS, "--shard", "2/3", "--journal", names[1])
        out, _ = self.run_it(0, "merge", *names)
        self.assertEqual(out, "nothing found in 60 schedules of 20 seeds from 1\n")

    def test_mistakes(self):
        names = self.parts("fine.json", 2)
        self.run_it(0, "explore", "fine.json", "--strategy", "random", "--runs", "4", "--seeds",
                    "1-20", "--shard", "1/2", "--journal", "other.jsonl")
        for args, hint in ((["merge", names[0], "other.jsonl"], "of another search"),
                           (["merge", names[0], "no.jsonl"], "No such file"),
                           (["merge", "fine.json"], "no journal"),
                           (["explore", "fine.json", "--shard", "1/2"], "--journal FILE"),
                           (["explore", "fine.json", "--shard", "1/2", "--journal", "x", "--for",
                             "1s"], "without --for")):
            _, err = self.run_it(2, *args)
            self.assertIn(hint, err)


class Check(Case):
    FILES = ["a.json", "b.json", "bad.json", "c.json", "no.json"]

    def setUp(self):
        super().setUp()
        for i, name in enumerate("abc"):
            self.write(name + ".json", json.dumps(
                {"name": name, "why": "test", "profiles": ["go1.27", "go1.24"],
                 "main": [{"cpu": "%dus" % (i + 1)}]}))
        self.write("bad.json", json.dumps({"name": "bad", "why": "test", "main": [{"cpu": "1us"}],
                                           "expect": {"end": "deadlock"}}))
        self.write("no.json", '{"name": "no"')

    def parts(self, n):
        names = ["%d.jsonl" % i for i in range(1, n + 1)]
        for i, name in enumerate(names, 1):
            self.run_it(0, "scenarios", "check", *self.FILES, "--shard", "%d/%d" % (i, n),
                        "--journal", name)
        return names

    def test_the_same_in_parts(self):
        names = self.parts(3)
        one = self.run_it(2, "scenarios", "check", *self.FILES)
        self.assertEqual(self.run_it(2, "merge", *reversed(names)), one)
        self.assertIn("bad.json: go1.27: finished", one[0])
        self.assertIn("5 scenarios, 1 of 7 runs not as expected, 1 files refused", one[0])
        one = self.run_it(2, "scenarios", "check", *self.FILES, "--json")
        self.assertEqual(self.run_it(2, "merge", "--json", *names), one)

    def test_what_was_killed_goes_on(self):
        names = self.parts(2)
        whole = self.read(names[0])
        lines = whole.splitlines(True)
        self.write(names[0], lines[0] + lines[1] + lines[2][:30])
        _, err = self.run_it(2, "merge", *names)
        self.assertRegex(err, r"scenario \d of 5 is missing")
        out, _ = self.run_it(0, "scenarios", "check", *self.FILES, "--shard", "auto", "--journal",
                             names[0], env={"SLURM_ARRAY_TASK_ID": "4", "SLURM_ARRAY_TASK_MIN": "4",
                                            "SLURM_ARRAY_TASK_COUNT": "2"})
        self.assertIn("2 scenarios into", out)
        self.assertEqual(self.read(names[0]), whole)

    def test_mistakes(self):
        names = self.parts(2)
        self.run_it(0, "scenarios", "check", "a.json", "--shard", "1/1", "--journal", "o.jsonl")
        for args, hint in ((["merge", names[0], "o.jsonl"], "of other scenarios"),
                           (["merge", names[0], "no.jsonl"], "No such file"),
                           (["merge", "--into", "x", *names], "--into"),
                           (["scenarios", "check", "a.json", "--shard", "1/2"], "come together"),
                           (["scenarios", "check", "a.json", "--shard", "1/2", "--journal",
                             "o.jsonl", "--json"], "gmpsim merge has"),
                           (["scenarios", "check", "b.json", "--shard", "1/1", "--journal",
                             "o.jsonl"], "of other scenarios")):
            _, err = self.run_it(2, *args)
            self.assertIn(hint, err)
        self.write(names[0], self.read(names[0]).replace('"at":', '"tA":'))
        _, err = self.run_it(2, "merge", *names)
        self.assertIn("not a line of such a journal", err)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]] + sys.argv[1:])
