#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: calibrate measures, says how sure it is, and what it writes is a cost table. Method: few
samples, on whatever machine this is: nothing is said of how long anything takes, and a machine that
others use is one of the two ends.

usage: calibrate_test.py GMPSIM
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
HELLO = {"name": "hello", "why": "test", "main": [{"print": "hello"}]}


class Calibrate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_it(self, *args, status=(0,)):
        done = subprocess.run([GMPSIM, *args], cwd=self.folder, capture_output=True, text=True,
                              timeout=200, check=False)
        self.assertIn(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_what_it_writes_is_what_it_measured_and_a_cost_table(self):
        done = self.run_it("calibrate", "--samples", "20", "--out", "x.json", "--json",
                           status=(0, 4))
        said = json.loads(done.stdout)
        entries = {(e["name"], e["of"]): e for e in said["entries"]}
        self.assertEqual(len(entries), len(said["entries"]))
        self.assertEqual(said["quiet"], done.returncode == 0)
        self.assertEqual(said["quiet"], not any(e["disturbed"] for e in said["entries"]))
        for e in said["entries"]:
            self.assertLessEqual(e["low_ps"], e["median_ps"], e)
            self.assertLessEqual(e["median_ps"], e["high_ps"], e)
            self.assertGreaterEqual(e["samples"], 4, e)
            if (0 <= e["cpu_permille"] < 980 or e["moved_permille"] > 100 or
                    (e["spread_permille"] > 500 and e["median_ps"] > 1000)):
                self.assertTrue(e["disturbed"], e)
        for name in ("load", "cas", "xchg"):
            self.assertIn((name, "hit"), entries)
        for name in ("nanotime", "pause", "futex_wake_none", "epoll_poll"):
            self.assertIn((name, "cost"), entries)
        with open(os.path.join(self.folder, "x.json"), encoding="utf-8") as f:
            table = json.load(f)
        deep = table["costs"].pop("deep_after", None)
        self.assertEqual(deep is not None, "wake_latency_deep" in table["costs"])
        for name, cost in table["costs"].items():
            e = entries[(name, "cost")]
            self.assertFalse(e["disturbed"])
            self.assertEqual(cost["ps"], max(1, min(e["median_ps"], 4000000000)))
        for port in table["ports"].values():
            for name, cost in port.items():
                self.assertEqual(cost["hit"], max(1, entries[(name, "hit")]["median_ps"]))
                self.assertFalse(entries[(name, "miss")]["disturbed"])
        for name, noise in table["noise"].items():
            self.assertIn(name, table["costs"])
            self.assertEqual(len(noise["permille"]), 11)
            self.assertEqual(noise["permille"], sorted(noise["permille"]))
            self.assertEqual(noise["permille"][5], 1000)
        for name in ("futex_wake", "wake_latency", "timer_slack"):
            measured = name in table["costs"] and entries[(name, "cost")]["median_ps"] > 0
            self.assertEqual(name in table["noise"], measured)
        for e in said["entries"]:
            if e["disturbed"]:
                self.assertNotIn(e["name"], table["costs"])
                self.assertNotIn(e["name"], table["noise"])
        with open(os.path.join(self.folder, "hello.json"), "w", encoding="utf-8") as f:
            json.dump(HELLO, f)
        one = json.loads(self.run_it("run", "hello.json", "--costs", "x.json", "--json").stdout)
        two = json.loads(self.run_it("run", "hello.json", "--costs", "x.json", "--json").stdout)
        self.assertEqual(one["fingerprint"], two["fingerprint"])

    def test_mistakes_are_said(self):
        for args, why in ((["--sched", "rr"], "want other or fifo"),
                          (["--samples", "5"], "want 20 to"), (["x"], "calibrate")):
            self.assertIn(why, self.run_it("calibrate", *args, status=(2,)).stderr)
        done = self.run_it("calibrate", "--samples", "20", "--out", "no/x.json", status=(2,))
        self.assertIn("cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
