#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Goal: the table of the automaxprocs package (a load balancer under a quota of 2 CPUs on 24, by
GOMAXPROCS) comes out of a what-if: its order, and its numbers within a factor of 1.5. Method: run
it with the costs of a machine of two sockets.

usage: automaxprocs_test.py GMPSIM ROOT
"""
import json
import os
import subprocess
import sys
import unittest

GMPSIM = os.path.abspath(sys.argv.pop(1))
FILE = os.path.join(os.path.abspath(sys.argv.pop(1)), "scenarios", "history",
                    "load-balancer-under-a-quota.json")
# GOMAXPROCS: requests per second, p50 and p99.9 in ms
PUBLISHED = {1: (28893.18, 1.46, 19.70), 2: (44715.07, 0.84, 26.38), 3: (44212.93, 0.66, 30.07),
             4: (41071.15, 0.57, 42.94), 8: (33111.69, 0.43, 64.32), 24: (22191.40, 0.45, 76.19)}


class Table(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        out = subprocess.run([GMPSIM, "whatif", FILE, "--profile", "go1.24", "--procs",
                              ",".join(map(str, PUBLISHED)), "--costs", "two-socket", "--until",
                              "1s", "--runs", "4", "--json"], stdout=subprocess.PIPE, check=True)
        cls.ours = {}
        for cell in json.loads(out.stdout)["cells"]:
            r = cell["series"]["request"]
            cls.ours[cell["procs"]] = (r["per_second"], r["p50"]["mean"] / 1e6,
                                       r["p99.9"]["mean"] / 1e6)

    def test_numbers(self):
        for procs, row in PUBLISHED.items():
            for i, want in enumerate(row):
                ratio = self.ours[procs][i] / want
                self.assertLess(max(ratio, 1 / ratio), 1.5, (procs, i, self.ours[procs]))

    def test_order(self):
        for i, name in enumerate(("requests per second", "p50", "p99.9")):
            orders = [sorted(t, key=lambda procs: t[procs][i]) for t in (PUBLISHED, self.ours)]
            self.assertEqual(*orders, name)


if __name__ == "__main__":
    unittest.main()
