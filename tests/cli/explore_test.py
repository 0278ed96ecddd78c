#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gmpsim explore, replay and shrink as a person uses them: exit statuses, files, mistakes."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))

ABBA = {
    "name": "abba", "why": "two locks in two orders",
    "objects": {"a": "mutex", "b": "mutex", "wg": "waitgroup"},
    "funcs": {
        "one": [{"lock": "a"}, {"lock": "b"}, {"unlock": "b"}, {"unlock": "a"}, {"done": "wg"}],
        "two": [{"lock": "b"}, {"lock": "a"}, {"unlock": "a"}, {"unlock": "b"}, {"done": "wg"}]},
    "main": [{"add": "wg", "n": 2}, {"go": "one"}, {"go": "two"}, {"wait": "wg"}]}
FINE = dict(ABBA, name="fine", main=[{"add": "wg", "n": 2}, {"go": "one"}, {"go": "one"},
                                     {"wait": "wg"}], funcs={"one": ABBA["funcs"]["one"]})


class Explore(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("abba.json", ABBA)
        self.write("fine.json", FINE)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, what):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(what if isinstance(what, str) else json.dumps(what))

    def run_it(self, status, *words):
        done = subprocess.run([GMPSIM, *words], cwd=self.folder.name, capture_output=True,
                              text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_finds_repeats_and_shrinks(self):
        said = self.run_it(1, "explore", "abba.json", "--procs", "2")
        self.assertIn("all goroutines are asleep", said)
        self.assertIn("repeat: gmpsim replay abba.schedule", said)
        again = self.run_it(1, "replay", "abba.schedule")
        self.assertIn("the same run as recorded", again)
        self.assertIn("deadlock", self.run_it(1, "shrink", "abba.schedule", "--out", "s.schedule"))
        self.run_it(1, "replay", "s.schedule")

    def test_nothing_to_find(self):
        said = self.run_it(0, "explore", "fine.json", "--runs", "200")
        self.assertIn("nothing found in", said)
        self.run_it(4, "explore", "fine.json", "--runs", "200", "--strategy", "random", "--strict")
        self.run_it(1, "explore", "fine.json", "--runs", "200", "--expect", "finding")
        self.run_it(0, "explore", "abba.json", "--procs", "2", "--expect", "finding")

    def test_the_result_does_not_depend_on_the_day(self):
        words = ("explore", "abba.json", "--procs", "2", "--json", "--seeds", "0f3c9ab")
        first, second = json.loads(self.run_it(1, *words)), json.loads(self.run_it(1, *words))
        first["seconds"] = second["seconds"] = 0
        self.assertEqual(first, second)

    def test_refuses_another_program(self):
        self.run_it(1, "explore", "abba.json", "--procs", "2")
        said = self.run_it(2, "replay", "abba.schedule", "--scenario", "fine.json")
        self.assertIn("the program has changed", said)
        self.write("broken.schedule", "gmpsim-schedule 1\nanswers x\n")
        self.assertIn("broken.schedule:2", self.run_it(2, "replay", "broken.schedule"))
        self.assertIn("not a schedule", self.run_it(2, "replay", "abba.json"))

    def test_mistakes(self):
        for words in (("--strategy", "luck"), ("--memory", "x86"), ("--procs", "0"),
                      ("--start", "late"), ("--expect", "nothing"), ("--seeds", "9-3"),
                      ("--profile", "go1.99"), ("--rule", "nope=1")):
            self.run_it(2, "explore", "abba.json", *words)

    def test_run_says_that_it_does_not_search(self):
        self.assertIn("this is one schedule; `gmpsim explore fine.json` searches",
                      self.run_it(0, "run", "fine.json"))


if __name__ == "__main__":
    unittest.main()
