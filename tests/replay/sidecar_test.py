#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What lies beside a trace decides what waking a thread costs, in every command that takes one.

usage: sidecar_test.py GMPSIM
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
HERE = os.path.dirname(os.path.abspath(__file__))
COSTS = os.path.join(HERE, "..", "..", "costs", "reference.json")
TRACE = os.path.join(HERE, "recorded", "workerpool-p2-go26.trace.zst")


class Sidecar(unittest.TestCase):
    def setUp(self):
        # pylint: disable=consider-using-with
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = shutil.copy(TRACE, self.folder.name)

    def makespan(self, verb):
        done = subprocess.run([GMPSIM, *verb, self.trace, "--json"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        j = json.loads(done.stdout)
        if "cells" in j:
            return j["cells"][0]["makespan_ns"]["mean"]
        m = j["makespan_ns"]
        return m["replayed"] if isinstance(m, dict) else m

    def beside(self, **fields):
        with open(self.trace + ".gmpsim.json", "w", encoding="utf-8") as f:
            json.dump({"version": 1, "go": "go1.26.1", **fields}, f)

    def test_a_dear_wake_makes_every_verb_slower(self):
        for verb in (["replay"], ["run"], ["whatif", "--procs", "2", "--runs", "1"]):
            with self.subTest(verb):
                self.beside(futex_wake_ns=1000, wake_latency_ns=1000)
                cheap = self.makespan(verb)
                self.beside(futex_wake_ns=900000, wake_latency_ns=900000)
                self.assertGreater(self.makespan(verb), cheap * 1.1)

    def test_a_late_sleep_has_the_wake_in_it(self):
        waking = {"futex_wake_ns": 5000, "wake_latency_ns": 20000, "wake_deep_ns": 30000,
                  "deep_after_ns": 50000}
        self.beside(**waking, sleep_late_ns=1)
        early = self.makespan(["run"])
        self.beside(**waking, sleep_late_ns=50000)
        self.assertEqual(self.makespan(["run"]), early)
        self.beside(**waking, sleep_late_ns=850000)
        self.assertGreater(self.makespan(["run"]), early)

    def test_spinning_takes_what_a_pause_takes(self):
        shutil.copy(os.path.join(HERE, "recorded", "ticks-deep-p2-go23.trace.zst"), self.trace)
        self.beside(futex_wake_ns=5000, wake_latency_ns=20000, pause_ps=1000)
        short = self.makespan(["run"])
        self.beside(futex_wake_ns=5000, wake_latency_ns=20000, pause_ps=100000)
        self.assertNotEqual(self.makespan(["run"]), short)

    def test_a_table_that_is_named_is_the_users(self):
        self.beside(futex_wake_ns=900000, wake_latency_ns=900000)
        self.assertLess(self.makespan(["run", "--costs", COSTS]), self.makespan(["run"]))

    def test_what_is_no_sidecar_is_said(self):
        with open(self.trace + ".gmpsim.json", "w", encoding="utf-8") as f:
            f.write("[1]")
        done = subprocess.run([GMPSIM, "run", self.trace], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"not what gmpsim record writes", done.stderr)


if __name__ == "__main__":
    unittest.main()
