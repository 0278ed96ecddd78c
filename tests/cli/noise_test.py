#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: what noise adds comes where Go's allocator touches memory first. Method: cost tables in
which one kind of noise takes a millisecond each time and nothing else varies; what a run takes
longer than without it says how often it came.

usage: noise_test.py GMPSIM ROOT
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.abspath(sys.argv.pop())
GMPSIM = os.path.abspath(sys.argv.pop())
MS = 10 ** 6


def crowd(count):
    """So many goroutines that are all there at once."""
    return {"name": "crowd", "objects": {"gate": {"chan": 0}},
            "funcs": {"waiter": [{"recv": "gate"}]},
            "main": [{"go": "waiter", "count": count}, {"close": "gate"}]}


# While the first works, main starts a second for which a closure is needed.
BESIDE = {"name": "beside", "procs": 2, "host": {"cpus": 2},
          "funcs": {"works": [{"cpu": "50ms"}, {"print": "worked"}], "little": [{"cpu": "1us"}]},
          "main": [{"go": "works"}, {"sleep": "10ms"}, {"go": "little"}, {"sleep": "80ms"}]}


class Noise(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(os.path.join(ROOT, "costs", "reference.json"), encoding="utf-8") as f:
            self.kinds = json.load(f)["noise"]

    def write(self, name, value):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            json.dump(value, f)
        return name

    def ends(self, scenario, kind, ns, *options):
        """The makespan where that kind of noise takes so long, the others nothing."""
        noise = {k: {"source": "test", **({"permille": [1000] * 11} if "permille" in v else
                                          {"ps": [1000 * ns if k == kind else 0] * 11})}
                 for k, v in self.kinds.items()}
        noise["stall_gap"] = {"ps": [4 * 10 ** 9] * 11, "source": "test"}
        table = {"version": 1, "name": "one", "unit": "ps", "inherits": "reference", "noise": noise}
        done = subprocess.run([GMPSIM, "run", self.write("s.json", scenario), "--costs",
                               self.write("c.json", table), "--noise", "on", "--json", *options],
                              cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)["makespan_ns"]

    def often(self, count, kind, release):
        """How often in a crowd."""
        options = ("--procs", "1", "--profile", release)
        with_it, without = (self.ends(crowd(count), kind, ns, *options) for ns in (MS, 0))
        return round((with_it - without) / MS)

    def test_gs_come_in_spans_of_their_size(self):
        for release, size in (("go1.19", 19), ("go1.21", 19), ("go1.22", 18), ("go1.25", 18),
                              ("go1.26", 16), ("go1.27", 16)):
            for kind in ("g_span", "g_page"):
                first = self.often(10, kind, release)
                self.assertEqual(self.often(10 + 8 * size, kind, release) - first, 8,
                                 (release, kind))
                self.assertGreater(self.often(10 + 9 * size - 1, kind, release) - first, 7)
                self.assertLess(self.often(10 + 8 * size - 1, kind, release) - first, 9)

    def test_every_second_refill_of_stacks_needs_a_span(self):
        few, many = (self.often(n, "stack_refill", "go1.23") for n in (20, 20 + 16 * 5))
        self.assertEqual(many - few, 5)

    def test_the_list_of_all_gs_doubles(self):
        few, many = (self.often(n, "allgs", "go1.23") for n in (20, 20 * 16))
        self.assertEqual(many - few, 4)

    def test_main_makes_its_first_objects_beside_those_of_packages(self):
        """On P 0, from 1.22 on: one size more than before. They are in no table of spans."""
        old, new = (self.often(1, "new_size", release) for release in ("go1.21", "go1.22"))
        self.assertEqual(new - old, 1)

    def test_who_makes_new_memory_private_waits_for_those_who_run(self):
        alone, beside = (self.ends(BESIDE, "flush", MS, "--procs", str(n)) -
                         self.ends(BESIDE, "flush", 0, "--procs", str(n)) for n in (1, 2))
        self.assertEqual(alone, 0)  # at one P nobody else is on a CPU
        self.assertGreaterEqual(beside, MS)


if __name__ == "__main__":
    unittest.main()
